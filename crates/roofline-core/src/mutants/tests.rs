//! Every operation of the registry, by name nowhere.

use super::*;
use std::collections::BTreeSet;
use std::ops::Range;

fn cases() -> impl Iterator<Item = Case> {
    OPERATIONS.iter().flat_map(|operation| forms(operation))
}

/// Mutants of every operation that some operations cannot show, and why. Those of an operation's own are all seen.
const UNSEEN: &[(&str, &str)] = &[
    ("NaN replaced by 0", "nothing comes out NaN: places, inputs of a domain"),
    ("a slice of the first input counted twice", "the largest of a line stands where it stood"),
    ("first input transposed", "it is no square, or its elements are of no order"),
    ("index overflow", "fewer elements come out than the period has"),
    ("last column of the first input left out", "no window reaches it, or the largest stands elsewhere"),
    ("one element", "what is judged by a property has no bound to be beyond"),
    ("one element by a thousandth", "the type has not the digits, or the bound is wider"),
    ("race", "one number comes out, which no other can take the place of"),
    ("remainder copied", "the first input is of another shape, or copied anyway"),
    ("right on one element in a hundred", "one number comes out, and that is the right one"),
    ("scaled", "places and codes are whole numbers, which a small factor leaves as they are"),
    (
        "truncated at the output",
        "half a unit of f32 is less than sums are off by; codes have rules of their own",
    ),
    ("wrong on one element in a hundred", "sums are so large that 1 is less than their rounding"),
];

/// Whether tests take all that they otherwise take a part of: `EVERY_CASE=1`, which takes minutes more.
fn takes_every_case() -> bool {
    std::env::var_os("EVERY_CASE").is_some()
}

/// The seeds that a test takes: `SEEDS=100` for more than are usual.
fn seeds(usual: u64) -> Range<u64> {
    let asked = std::env::var("SEEDS").ok().map(|seeds| seeds.parse().expect("SEEDS is a number"));
    0..usual.max(asked.unwrap_or(0))
}

/// Of all cases the test takes one in so many at three seeds; the others at the first, and at the second and third where
/// that shows too little.
const PART: usize = 5;
/// What shows at none of these seeds is known not to.
const TELLING: u64 = 3;

#[test]
fn every_mutant_of_every_operation_is_rejected() {
    let mut unseen = BTreeSet::new();
    for (number, case) in cases().enumerate() {
        let mut never: Option<BTreeSet<String>> = None;
        let seeds = seeds(TELLING);
        for seed in seeds.clone() {
            let is_known = |name: &String| UNSEEN.iter().any(|(known, _)| known == name);
            let is_enough = never.as_ref().is_some_and(|never| never.iter().all(is_known));
            let takes_all = number.is_multiple_of(PART) || takes_every_case() || seeds.end > TELLING;
            if is_enough && !takes_all {
                break;
            }
            let outcome = self_test(&case, seed, 1.0);
            assert_eq!(outcome.broken, Vec::<String>::new(), "{case} seed {seed}");
            assert!(outcome.rejected.len() >= 5, "{case}: {:?}", outcome.rejected);
            let hidden = outcome.unseen.into_iter().filter(|name| !outcome.rejected.contains(name));
            let hidden: BTreeSet<String> = hidden.collect();
            if seed >= TELLING {
                continue;
            }
            never = Some(never.map_or_else(|| hidden.clone(), |never| &never & &hidden));
        }
        let never = never.unwrap_or_default();
        let silent: Vec<&String> =
            never.iter().filter(|name| !UNSEEN.iter().any(|(known, _)| known == name)).collect();
        assert!(silent.is_empty(), "{case} shows nothing of {silent:?}");
        unseen.extend(never);
    }
    assert!(UNSEEN.iter().map(|(name, _)| *name).eq(unseen.iter().map(String::as_str)), "{unseen:?}");
}

/// Legal parameters that hide a mistake refuse no case.
#[test]
fn parameters_that_hide_a_mutant_are_no_hole() {
    for id in [
        "dropout.free/f16/rows=127,cols=64,p=0.5",
        "rope-tables/f64/seq=251,dim=2,base=1,angle-bits=24",
        "attention/f16/seq=1,kv=2,heads=32,dim=15,scale=1000",
    ] {
        let case: Case = id.parse().unwrap();
        let (_, missed) = try_mutants(&case, 0, 1.0);
        let outcome = self_test(&case, 0, 1.0);
        assert!(outcome.broken.is_empty(), "{id}: {:?}", outcome.broken);
        assert!(missed.iter().all(|name| outcome.unseen.contains(name)), "{id}: {missed:?}");
    }
}

/// What an operation names as its own mistakes is wrong at every seed, not by luck and not honest in disguise.
#[test]
fn every_mutant_of_its_own_is_caught_at_every_seed() {
    let mut through = Vec::new();
    for case in cases() {
        let case = instance_of(&case, 0);
        for mutant in own(&case) {
            let missed: Vec<u64> =
                seeds(2).filter(|seed| caught(&case, mutant.name, *seed) != Some(true)).collect();
            if !missed.is_empty() {
                through.push(format!("{case}: `{}` at {missed:?}", mutant.name));
            }
        }
    }
    assert_eq!(through, Vec::<String>::new());
}

#[test]
fn every_operation_has_mutants_of_its_own() {
    let without = OPERATIONS.iter().filter(|operation| operation.mutants.is_empty());
    let without: Vec<&str> = without.map(|operation| operation.name).collect();
    assert_eq!(without, Vec::<&str>::new());
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
        for seed in seeds(20) {
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

/// Others of which no lower class can be told: codes whose ends are ties, near which either is right; angles that are those of f64
/// whatever the class; values that are only moved.
const NO_LOWER: &[&str] =
    &["coo-to-csr-values.csc/f32", "coo-to-csr-values/f32", "quantize.full/f32", "rope-tables/f32"];

#[test]
fn the_bound_is_calibrated() {
    let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
    // Of a form's three lengths with two fills each a third comes first, by turns; the others where that tells no lower
    // class.
    let is_first = |number: usize| number % 3 == number / 6 % 3;
    let (first, others): (Vec<_>, Vec<_>) =
        policed().into_iter().enumerate().partition(|(number, _)| is_first(*number));
    for (number, (case, fill)) in first.into_iter().chain(others) {
        let id = format!("{}/{}", case.form(), case.precision);
        if !is_first(number) && with.contains(&id) && !takes_every_case() {
            continue;
        }
        let calibration = calibrate(&case, fill, 5);
        assert!(calibration.is_sound(), "{case} {fill}: {calibration:?}");
        if calibration.lower.is_some() {
            with.insert(id);
        } else if !is_the_same_lower(&case, fill) {
            without.insert(id);
        }
    }
    let never: Vec<&str> = without.difference(&with).map(String::as_str).collect();
    assert_eq!(never, NO_LOWER);
}

#[test]
fn a_lower_precision_is_seen_in_the_few_codes_that_it_changes() {
    let case = "swiglu-quantize/f32/rows=12,cols=256".parse().unwrap();
    let of_seed = |seed| {
        let calibration = calibrate(&case, Fill::Uniform, seed);
        assert!(calibration.is_sound(), "seed {seed}: {calibration:?}");
        calibration
    };
    let told: Vec<Calibration> = (0..100).map(of_seed).filter(|one| one.lower.is_some()).collect();
    // It changes about one in a hundred of 12 · 256 codes and 12 scales: luck decides whether that is told, and not what it asks.
    let elements = 12 * 256 + 12;
    assert!(told.iter().any(|one| one.lower_failed * 100 < elements), "{told:?}");
}

#[test]
fn a_bound_a_million_times_too_wide_is_noticed() {
    let is_rounded = |tensor: &Tensor| !tensor.role.is_input() && tensor.dtype.format().is_some();
    let has_bound = |case: &Case| {
        case.dtype().format().is_some()
            && (case.operation.tensors)(case).iter().any(is_rounded)
            && !matches!(case.judged(), Judged::Property(_))
    };
    // A form of an operation has the bound of the others.
    let mut seen = BTreeSet::new();
    let is_new = move |case: &Case| seen.insert((case.operation.name, case.precision.id));
    for case in cases().filter(has_bound).filter(is_new) {
        assert!(!self_test(&case, 1, 1e6).broken.is_empty(), "{case}");
    }
}
