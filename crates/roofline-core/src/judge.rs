//! The judge: outputs against their expected values, element by element.
//!
//! An element passes when it lies within the output rounding plus [`MARGIN`] times the soft bound,
//! and special values match. No averaged metric: one wrong element in a billion is wrong.

use crate::bound::{MARGIN, rounding};
use crate::dtype::Dtype;
use crate::operation::Expected;
use crate::pattern::{Pattern, Sighting};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the judge found in one output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    pub checked: usize,
    pub failed: usize,
    /// Largest score among the elements that passed.
    pub score: f64,
    pub fault: Option<Fault>,
}

impl Judgement {
    /// Both together; of two faults the first.
    pub fn and(self, other: Judgement) -> Judgement {
        Judgement {
            checked: self.checked + other.checked,
            failed: self.failed + other.failed,
            score: self.score.max(other.score),
            fault: self.fault.or(other.fault),
        }
    }
}

/// The worst element outside its bound, and what the faults look like together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Place in the output, one number a dimension.
    pub at: Vec<usize>,
    /// Numbers as text, because JSON has neither NaN nor infinity.
    pub got: String,
    pub expected: String,
    /// Largest difference allowed here.
    pub bound: String,
    pub failed: u64,
    pub checked: u64,
    pub pattern: Option<Pattern>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} outside the bound; worst at {:?}: got {}, expected {} ± {}",
            self.failed, self.checked, self.at, self.got, self.expected, self.bound
        )?;
        match &self.pattern {
            Some(pattern) => write!(f, "; {pattern}"),
            None => Ok(()),
        }
    }
}

/// Judges the elements `wanted` of an output of this type and shape; `got` are their values.
///
/// `poison` is what the output held before the launch, for telling stale from wrong. `loosen`
/// multiplies every bound: 1 but for the study that shows the bound is needed.
pub fn judge(
    output: Dtype,
    shape: &[usize],
    wanted: &[usize],
    got: &[f64],
    expected: &[Expected],
    poison: Option<f64>,
    loosen: f64,
) -> Judgement {
    let mut judgement = Judgement { checked: wanted.len(), ..Judgement::default() };
    let mut sightings = Vec::new();
    let mut worst: Option<(f64, usize)> = None;
    for (place, ((&index, &got), expected)) in wanted.iter().zip(got).zip(expected).enumerate() {
        let score = score(output, got, expected, loosen);
        if score <= 1.0 {
            judgement.score = judgement.score.max(score);
            continue;
        }
        judgement.failed += 1;
        if worst.is_none_or(|(most, _)| score > most) {
            worst = Some((score, place));
        }
        if sightings.len() < MOST_SIGHTINGS {
            sightings.push(Sighting { place, index, got });
        }
    }
    judgement.fault = worst.map(|(_, place)| Fault {
        at: coordinates(wanted[place], shape),
        got: number(got[place]),
        expected: number(expected[place].value),
        bound: number(allowed(output, &expected[place])),
        failed: judgement.failed as u64,
        checked: judgement.checked as u64,
        pattern: Pattern::of(
            &sightings,
            judgement.failed,
            wanted,
            expected,
            shape,
            poison,
            output.smallest_normal(),
        ),
    });
    judgement
}

/// Faults kept for telling the pattern.
const MOST_SIGHTINGS: usize = 100_000;

/// At most 1 when `got` is allowed: the share of the soft bound that it uses.
pub fn score(output: Dtype, got: f64, expected: &Expected, loosen: f64) -> f64 {
    let value = expected.value;
    if value.is_nan() || got.is_nan() {
        return if value.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got.is_infinite() || value.is_infinite() {
        let overflows = value.abs() > output.max_finite() * (1.0 - output.unit_roundoff());
        let right = got == value || (overflows && got.is_infinite() && got.signum() == value.signum());
        return if right { 0.0 } else { f64::INFINITY };
    }
    let free = if loosen > 1.0 { rounding(output, value) * loosen } else { free(output, expected) };
    let over = (got - value).abs() - free;
    if over <= 0.0 {
        0.0
    } else if expected.soft > 0.0 {
        over / (MARGIN * expected.soft * loosen)
    } else {
        f64::INFINITY
    }
}

/// Largest difference from the reference that passes.
pub fn allowed(output: Dtype, expected: &Expected) -> f64 {
    if expected.value.is_finite() { free(output, expected) + MARGIN * expected.soft } else { 0.0 }
}

/// What the rounding to the output's type may take: nothing of a number that the type has and nothing else is done
/// to, such as a copy or a maximum.
fn free(output: Dtype, expected: &Expected) -> f64 {
    let is_held = |value: f64| output.format().is_none_or(|format| format.round(value) == value);
    if expected.soft == 0.0 && is_held(expected.value) { 0.0 } else { rounding(output, expected.value) }
}

/// Place of a flat index, one number a dimension.
pub fn coordinates(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut at: Vec<usize> = Vec::with_capacity(shape.len());
    for size in shape.iter().rev() {
        at.push(index % size);
        index /= size;
    }
    at.reverse();
    at
}

/// A number for people: enough digits to see what it is.
fn number(x: f64) -> String {
    match x.abs() {
        size if !x.is_finite() || x.fract() == 0.0 && size < 1e9 => format!("{x}"),
        size if (1e-3..1e6).contains(&size) => format!("{x:.7}"),
        _ => format!("{x:.4e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score_of(got: f64, value: f64, soft: f64) -> f64 {
        score(Dtype::F32, got, &Expected { value, soft }, 1.0)
    }

    #[test]
    fn rounding_is_free_and_the_soft_part_has_margin() {
        let u = Dtype::F32.unit_roundoff();
        let between = 1.0 + u / 2.0;
        assert_eq!(score_of(between + u, between, 0.0), 0.0);
        assert_eq!(score_of(between + 3.0 * u, between, 0.0), f64::INFINITY);
        assert_eq!(score_of(1.0 - u, 1.0, 0.0), f64::INFINITY, "a number of the type is itself");
        assert!(score_of(1.0 + 5.0 * u, 1.0, u) <= 1.0 + 1e-2);
        assert!(score_of(1.0 + 6.0 * u, 1.0, u) > 1.0);
        assert!(score_of(0.0, 4e-6, 0.0) > 1.0, "no absolute tolerance");
    }

    #[test]
    fn special_values_must_match() {
        assert_eq!(score_of(f64::NAN, f64::NAN, 0.0), 0.0);
        assert!(score_of(0.0, f64::NAN, 1e9) > 1.0, "a NaN in the reference is no wildcard");
        assert!(score_of(f64::NAN, 1.0, 1e9) > 1.0);
        assert_eq!(score_of(f64::INFINITY, f64::INFINITY, 0.0), 0.0);
        assert!(score_of(f64::NEG_INFINITY, f64::INFINITY, 0.0) > 1.0);
        assert!(score_of(f64::INFINITY, 1.0, 1e9) > 1.0);
        assert_eq!(score_of(-0.0, 0.0, 0.0), 0.0);
        // Overflow at the output conversion.
        let overflow = Expected { value: 70000.0, soft: 0.0 };
        assert_eq!(score(Dtype::F16, f64::INFINITY, &overflow, 1.0), 0.0);
        assert!(score(Dtype::F16, f64::NEG_INFINITY, &overflow, 1.0) > 1.0);
    }

    #[test]
    fn the_worst_element_is_named() {
        let expected: Vec<Expected> = [1.0, 2.0, 3.0, 4.0].map(|value| Expected { value, soft: 1e-6 }).into();
        let got = [1.0, 2.0, 9.0, 4.5];
        let judgement = judge(Dtype::F32, &[2, 2], &[0, 1, 2, 3], &got, &expected, None, 1.0);
        assert_eq!((judgement.checked, judgement.failed), (4, 2));
        let fault = judgement.fault.unwrap();
        assert_eq!(fault.at, [1, 0]);
        assert_eq!((fault.got.as_str(), fault.expected.as_str()), ("9", "3"));
    }
}
