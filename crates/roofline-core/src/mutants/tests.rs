//! Every operation of the registry, by name nowhere.

use super::*;
use std::collections::BTreeSet;

fn cases() -> impl Iterator<Item = Case> {
    OPERATIONS.iter().flat_map(|operation| forms(operation))
}

#[test]
fn every_mutant_of_every_operation_is_rejected() {
    for case in cases() {
        for seed in 0..3 {
            let outcome = self_test(&case, seed, 1.0);
            assert_eq!(outcome.broken, Vec::<String>::new(), "{case} seed {seed}");
            assert!(outcome.rejected.len() >= 5, "{case}: {:?}", outcome.rejected);
        }
    }
}

/// What an operation names as its own mistakes is wrong, and not just honest in disguise.
#[test]
fn mutants_of_an_operation_are_no_honest_kernels() {
    for case in cases() {
        let own = case.operation.mutants.iter().filter(|mutant| (mutant.of)(&case));
        let mut missing: Vec<&str> = own.map(|mutant| mutant.name).collect();
        for seed in 0..4 {
            let rejected = self_test(&case, seed, 1.0).rejected;
            missing.retain(|name| !rejected.iter().any(|rejected| rejected == name));
        }
        assert!(missing.is_empty(), "{case}: {missing:?}");
    }
}

/// What once got a time is among them.
#[test]
fn everyday_bugs_are_among_the_rejected() {
    for (id, bugs) in [
        ("softmax/bf16/rows=8,cols=8", &["maximum from zero", "maximum without the last vector"][..]),
        ("rms-norm/f16/rows=8,cols=8", &["epsilon forgotten", "mean over a padded length"]),
        ("rms-norm/f32/rows=8,cols=8", &["epsilon outside the root", "one element by a thousandth"]),
        ("add/bf16/rows=8,cols=8", &["remainder copied"]),
        ("matmul/f32/m=8,n=8,k=8", &["remainder of k left out", "one element by a thousandth"]),
    ] {
        for seed in 0..20 {
            let rejected = self_test(&id.parse().unwrap(), seed, 1.0).rejected;
            let missing: Vec<_> =
                bugs.iter().filter(|bug| !rejected.iter().any(|name| name == **bug)).collect();
            assert!(missing.is_empty(), "{id} seed {seed}: {missing:?}");
        }
    }
}

/// Forms and precisions of which no lower class can be told: one rounding is the same in all of them, or the
/// declared sums are as narrow already.
const NO_LOWER: &[&str] = &[
    "add/bf16",
    "add/f16",
    "div/bf16",
    "div/f16",
    "exp/bf16",
    "exp/f16",
    "matmul/f16+f16",
    "matmul.fixed/f16+f16",
    "matmul.nn/f16+f16",
    "relu/bf16",
    "relu/f16",
    "relu/f64",
    "sub/bf16",
    "sub/f16",
];

#[test]
fn the_bound_is_calibrated() {
    let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
    for (case, fill) in policed() {
        let calibration = calibrate(&case, fill, 5);
        assert!(calibration.is_sound(), "{case} {fill}: {calibration:?}");
        let id = format!("{}/{}", case.form(), case.precision);
        if calibration.has_lower() {
            with.insert(id)
        } else {
            without.insert(id)
        };
    }
    let never: Vec<&str> = without.difference(&with).map(String::as_str).collect();
    let mut listed = NO_LOWER.to_vec();
    listed.sort_unstable();
    assert_eq!(never, listed);
}

#[test]
fn a_bound_a_million_times_too_wide_is_noticed() {
    let has_bound = |case: &Case| case.dtype() != Dtype::I8 && !matches!(case.judged(), Judged::Property(_));
    for case in cases().filter(has_bound) {
        assert!(!self_test(&case, 1, 1e6).broken.is_empty(), "{case}");
    }
}
