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
        ("gelu/bf16/rows=8,cols=8", &["the form with tanh", "the quick form"]),
        ("gelu-tanh/bf16/rows=8,cols=8", &["the form with erf"]),
        ("max.all/f32/rows=8,cols=8", &["maximum from zero"]),
        ("max.columns/bf16/rows=8,cols=8", &["maximum from zero", "remainder left out"]),
        ("logsumexp/f16/rows=8,cols=8", &["maximum not subtracted", "maximum from zero"]),
        ("mean.all/bf16/rows=8,cols=8", &["mean over a padded length"]),
        ("cross-entropy/bf16/rows=8,cols=8", &["rows that do not count counted"]),
        ("transpose/bf16/rows=8,cols=8", &["remainder left as it was"]),
        ("focal/f16/rows=8,cols=8", &["logarithm of p times t"]),
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

/// Whether no lower class can be told: the declared sums are as narrow already, nothing is rounded, or what is rounded
/// once in f32 and once more at the output is the same as in the narrow type itself.
fn is_the_same_lower(case: &Case, fill: Fill) -> bool {
    let instance = Instance::new(case, fill, 5);
    let work = (case.operation.work)(case);
    let steps = work.multiply_adds + work.simple + work.special;
    let sizes: Vec<usize> = instance.outputs.iter().map(Tensor::elements).collect();
    let is_exact =
        |output: usize, index| instance.expected(output, index).is_some_and(|expected| expected.soft == 0.0);
    let rounds_nothing =
        sizes.iter().enumerate().all(|(output, size)| (0..*size).all(|index| is_exact(output, index)));
    let rounds_once = case.dtype().size() == 2 && steps <= sizes.iter().sum::<usize>() as u64;
    case.precision.is_narrow() || rounds_nothing || rounds_once
}

/// Others of which no lower class can be told: their angles are those of f64 whatever the class.
const NO_LOWER: &[&str] = &["rope-tables/f32"];

#[test]
fn the_bound_is_calibrated() {
    let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
    for (case, fill) in policed() {
        let calibration = calibrate(&case, fill, 5);
        assert!(calibration.is_sound(), "{case} {fill}: {calibration:?}");
        let id = format!("{}/{}", case.form(), case.precision);
        if calibration.has_lower {
            with.insert(id);
        } else if !is_the_same_lower(&case, fill) {
            without.insert(id);
        }
    }
    let never: Vec<&str> = without.difference(&with).map(String::as_str).collect();
    assert_eq!(never, NO_LOWER);
}

#[test]
fn a_bound_a_million_times_too_wide_is_noticed() {
    let is_rounded = |tensor: &Tensor| !tensor.role.is_input() && tensor.dtype.format().is_some();
    let has_bound = |case: &Case| {
        case.dtype().format().is_some()
            && (case.operation.tensors)(case).iter().any(is_rounded)
            && !matches!(case.judged(), Judged::Property(_))
    };
    for case in cases().filter(has_bound) {
        assert!(!self_test(&case, 1, 1e6).broken.is_empty(), "{case}");
    }
}
