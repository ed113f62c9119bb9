//! Which cases look as if several threads were worth it, by their size alone, and whether they were.
//!
//! The rules are those that people go by before they measure: enough operations, tokens and heads, and memory rather than
//! arithmetic as what holds a kernel up. What was measured says how far they hold here.

use super::{Family, fastest, limit_of};
use roofline_core::case::Case;
use roofline_core::record::Limiter;

/// From so much on a case looks worth it, and below so much it does not.
struct Rule {
    of: fn(&Case) -> Option<u64>,
    good: u64,
    poor: u64,
}

const RULES: [Rule; 3] = [
    Rule {
        of: |case| Some((case.operation.work)(case).flops()).filter(|flops| *flops > 0),
        good: 1000,
        poor: 100,
    },
    Rule { of: |case| axis(case, "seq"), good: 128, poor: 32 },
    Rule { of: |case| axis(case, "heads"), good: 16, poor: 8 },
];

fn axis(case: &Case, name: &str) -> Option<u64> {
    let mut sizes = case.operation.axes.iter().zip(&case.sizes);
    sizes.find(|(axis, _)| axis.name == name).map(|(_, size)| *size)
}

/// Whether a case looks worth several threads; nothing where the rules do not say.
fn looks_good(case: &Case, by: Option<Limiter>) -> Option<bool> {
    // What is too large for any memory is too large to count its steps.
    case.footprint()?;
    let sizes = || RULES.iter().filter_map(|rule| Some((rule, (rule.of)(case)?)));
    let is_good = sizes().all(|(rule, size)| size >= rule.good) && by != Some(Limiter::Compute);
    let is_poor = sizes().any(|(rule, size)| size < rule.poor);
    (is_good != is_poor).then_some(is_good)
}

/// A line for the cases that look worth it, and one for those that do not, each with those where that is wrong.
pub(super) fn lines(families: &[Family]) -> Vec<String> {
    let seen: Vec<(String, bool, bool)> = families
        .iter()
        .filter_map(|family| {
            let row = fastest(family.parallel.iter().filter(|row| limit_of(row) > 1))?;
            let limiter = fastest(family.serial.iter()).and_then(|row| row.record.of_limit());
            let looks = looks_good(&family.case, limiter.map(|(_, by)| by))?;
            Some((family.case.to_string(), looks, family.speed_up(row)?.pays()))
        })
        .collect();
    let line = |looks: bool, words: &str| {
        let alike: Vec<&(String, bool, bool)> = seen.iter().filter(|(_, own, _)| *own == looks).collect();
        let wrong: Vec<&str> =
            alike.iter().filter(|(.., pays)| *pays != looks).map(|(case, ..)| case.as_str()).collect();
        let but = if wrong.is_empty() { String::new() } else { format!("; but not {}", wrong.join(", ")) };
        let right = alike.len() - wrong.len();
        (!alike.is_empty()).then(|| format!("{words}: {right} of {}{but}", alike.len()))
    };
    let good = line(true, "by their size worth several threads, and they were");
    let poor = line(false, "by their size not worth several threads, and they were not");
    good.into_iter().chain(poor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_look_poor_and_large_ones_good() {
        let looks = |case: &str, by| looks_good(&case.parse().unwrap(), by);
        assert_eq!(looks("attention/f32/seq=128,heads=16,dim=64", None), Some(true));
        assert_eq!(looks("attention/f32/seq=128,heads=16,dim=64", Some(Limiter::Traffic)), Some(true));
        assert_eq!(looks("attention/f32/seq=128,heads=16,dim=64", Some(Limiter::Compute)), None);
        assert_eq!(looks("attention/f32/seq=16,heads=16,dim=64", None), Some(false));
        assert_eq!(looks("attention/f32/seq=64,heads=8,dim=64", None), None, "in between");
        assert_eq!(looks("add/f32/rows=1,cols=50", None), Some(false));
        assert_eq!(looks("softmax/f32/rows=64,cols=256", None), Some(true));
    }
}
