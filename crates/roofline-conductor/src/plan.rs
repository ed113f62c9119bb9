//! A plan: which rows a run has. Cases come from a selection, implementations from runners' offers.

use roofline_core::case::Case;
use roofline_core::protocol::Offer;

#[derive(Clone, Debug)]
pub struct Plan {
    pub cases: Vec<PlannedCase>,
}

#[derive(Clone, Debug)]
pub struct PlannedCase {
    pub case: Case,
    pub rows: Vec<PlannedRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRow {
    pub implementation: String,
    pub runner: String,
    /// Whether the runner has it for the case's dtype; the row is `unsupported` otherwise.
    pub offered: bool,
}

/// What one runner offers.
#[derive(Clone, Debug)]
pub struct RunnerOffers {
    pub runner: String,
    pub offers: Vec<Offer>,
}

impl Plan {
    /// Every case with every implementation of its form that one of `patterns` matches.
    ///
    /// No pattern matches all. Cases that no implementation has are left out.
    pub fn new(cases: Vec<Case>, runners: &[RunnerOffers], patterns: &[String]) -> Plan {
        let cases = cases.into_iter().map(|case| PlannedCase { rows: rows(&case, runners, patterns), case });
        Plan { cases: cases.filter(|planned| !planned.rows.is_empty()).collect() }
    }

    pub fn rows(&self) -> usize {
        self.cases.iter().map(|planned| planned.rows.len()).sum()
    }
}

fn rows(case: &Case, runners: &[RunnerOffers], patterns: &[String]) -> Vec<PlannedRow> {
    let mut rows: Vec<PlannedRow> = Vec::new();
    for runner in runners {
        let form = case.form();
        for offer in runner.offers.iter().filter(|offer| offer.operation == form) {
            let wanted =
                patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, &offer.implementation));
            let offered = offer.dtypes.contains(&case.dtype);
            let same = |row: &&mut PlannedRow| {
                row.implementation == offer.implementation && row.runner == runner.runner
            };
            match rows.iter_mut().find(same) {
                Some(row) => row.offered |= offered,
                None if wanted => rows.push(PlannedRow {
                    implementation: offer.implementation.clone(),
                    runner: runner.runner.clone(),
                    offered,
                }),
                None => {}
            }
        }
    }
    rows
}

/// Whether `text` matches a pattern in which `*` stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roofline_core::dtype::Dtype;

    #[test]
    fn globs() {
        for (pattern, text, expected) in [
            ("cpu/*", "cpu/plain", true),
            ("*", "x", true),
            ("*/plain", "cpu/plain", true),
            ("c*/*n", "cpu/plain", true),
            ("cpu/plain", "cpu/plain", true),
            ("cpu", "cpu/plain", false),
            ("cpu/*x", "cpu/plain", false),
            ("a*a", "a", false),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn an_offer_without_the_dtype_is_a_row_that_says_so() {
        let offer = |dtypes: &[Dtype]| Offer {
            implementation: "numpy/ufunc".to_owned(),
            operation: "add".to_owned(),
            dtypes: dtypes.to_vec(),
            about: String::new(),
            parallel: false,
        };
        let runners = [RunnerOffers { runner: "numpy".to_owned(), offers: vec![offer(&[Dtype::F32])] }];
        let cases = |dtype: &str| vec![format!("add/{dtype}/rows=1,cols=1").parse().unwrap()];
        assert!(Plan::new(cases("f32"), &runners, &[]).cases[0].rows[0].offered);
        assert!(!Plan::new(cases("bf16"), &runners, &[]).cases[0].rows[0].offered);
        assert_eq!(Plan::new(cases("f32"), &runners, &["cpu/*".to_owned()]).rows(), 0);
    }
}
