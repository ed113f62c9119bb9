//! The gate's self-test: wrong outputs that the judge must reject, right ones that it must pass.
//!
//! Each mutant is what a broken kernel would leave behind, made from an honest output on a small
//! instance. Mutants that need a process (writes out of bounds, caches, late writes) are the
//! saboteurs of `runners/saboteur`.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::judge::{Judgement, judge};
use crate::ops::{Arithmetic, Expected, Operation, Problem, Tensor, View};
use crate::philox::Draws;
use crate::protocol::Role;

/// Size of every axis of the self-test's instance: square, so that a product has 64 Ki elements at most.
const SIZE: u64 = 64;
/// The same for more than three axes.
const SMALL: u64 = 8;
/// Elements of a square tensor.
const SQUARE: usize = 64 * 64;

/// The outcome for one operation and precision.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfTest {
    /// Mutants that were rejected.
    pub rejected: Vec<String>,
    /// Mutants that passed, and honest outputs that did not: the gate is broken if there is one.
    pub broken: Vec<String>,
}

/// Runs every mutant that applies to the operation and precision of `case` through the judge.
///
/// `loosen` multiplies the bound; it is 1 but in the study that shows what the bound is for.
pub fn self_test(case: &Case, seed: u64, loosen: f64) -> SelfTest {
    let size = if case.sizes.len() > 3 { SMALL } else { SIZE };
    let case = case.resized(&vec![size; case.sizes.len()]);
    let mut outcome = SelfTest { rejected: Vec::new(), broken: Vec::new() };
    let uniform = Instance::new(&case, Fill::Uniform, seed);
    let honest = uniform.honest();

    let exact: Vec<f64> = uniform.expected.iter().map(|expected| expected.value).collect();
    let pairwise = Arithmetic { pairwise: true, ..Arithmetic::declared(&case) };
    let controls = [
        ("the rounded reference", exact),
        ("an honest kernel", honest.clone()),
        ("an honest kernel that sums in halves", uniform.emulate(&pairwise)),
    ];
    for (name, output) in controls {
        if uniform.judge(&output, loosen).failed > 0 {
            outcome.broken.push(format!("{name} was rejected"));
        }
    }

    let mut settle = |name: &str, instance: &Instance, output: &[f64]| {
        let judgement = instance.judge(output, loosen);
        if judgement.failed > 0 {
            outcome.rejected.push(name.to_owned());
        } else if instance.written(output) != instance.written(&instance.honest()) {
            outcome.broken.push(format!("the mutant `{name}` passed"));
        }
    };
    let of_squares = SQUARE_MUTANTS.iter().filter(|_| honest.len() == SQUARE);
    for (name, mutate) in OUTPUT_MUTANTS.iter().chain(of_squares) {
        settle(name, &uniform, &mutate(&honest, &uniform, seed));
    }
    for (name, arithmetic) in [
        ("next lower precision", Arithmetic::next_lower(&case)),
        (
            "accumulator as narrow as the output",
            Arithmetic { accumulator: narrow(&case), ..Arithmetic::declared(&case) },
        ),
    ] {
        settle(name, &uniform, &uniform.emulate(&arithmetic));
    }
    for (name, spoil) in INPUT_MUTANTS {
        settle(name, &uniform, &uniform.with_inputs(*spoil));
    }
    for mutant in case.operation.mutants {
        let instance = Instance::new(&case, mutant.fill, seed);
        settle(mutant.name, &instance, &(mutant.compute)(&instance.problem()));
    }
    if case.operation.fills_of(&case).contains(&Fill::Nonfinite) {
        let instance = Instance::new(&case, Fill::Nonfinite, seed);
        let cleaned: Vec<f64> = instance.honest().iter().map(|y| if y.is_nan() { 0.0 } else { *y }).collect();
        settle("NaN replaced by 0", &instance, &cleaned);
    }
    outcome
}

/// For operations whose bound is that tight: the element of median magnitude times 1.001, where the type has the
/// digits to tell.
pub(crate) fn nearly_right(problem: &Problem) -> Vec<f64> {
    let mut y = (problem.case.operation.emulate)(problem, &Arithmetic::declared(problem.case));
    if matches!(problem.case.dtype, Dtype::F32 | Dtype::F64) {
        let mut order: Vec<usize> = (0..y.len()).collect();
        order.sort_by(|one, other| y[*one].abs().total_cmp(&y[*other].abs()));
        y[order[order.len() / 2]] *= 1.001;
    }
    y
}

/// How an operation's bound fits its arithmetic on one instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Largest score of the declared precision, in two orders of summation.
    pub declared: f64,
    /// Elements of the next lower precision that are outside the bound.
    pub lower_failed: usize,
    pub elements: usize,
}

impl Calibration {
    /// The declared precision has a margin of four and the next lower one is seen.
    pub fn is_sound(&self) -> bool {
        self.declared <= 0.25 && self.lower_failed * 100 >= self.elements
    }
}

/// Emulates the declared precision of `case` and the next lower one at the case's own size.
pub fn calibrate(case: &Case, fill: Fill, seed: u64) -> Calibration {
    let instance = Instance::new(case, fill, seed);
    let score = |arithmetic: &Arithmetic| instance.judge(&instance.emulate(arithmetic), 1.0);
    let declared = Arithmetic::declared(case);
    let orders = [declared, Arithmetic { pairwise: true, ..declared }].map(|arithmetic| score(&arithmetic));
    let worst = |judgement: &Judgement| if judgement.failed > 0 { f64::INFINITY } else { judgement.score };
    Calibration {
        declared: orders.iter().map(worst).fold(0.0, f64::max),
        lower_failed: score(&Arithmetic::next_lower(case)).failed,
        elements: instance.output.elements(),
    }
}

/// Cases and fills on which the precision class is policed: zero mean, sums of 64 to 1024 terms.
///
/// An addition in a narrow type is one rounding whatever the class, so only the wide types have a
/// lower one; codes of a normal i8 are too small to overflow a short sum in 16 bits.
pub fn policed() -> Vec<(String, Fill)> {
    let mut cases = Vec::new();
    for fill in [Fill::Uniform, Fill::Normal] {
        for dtype in ["f32", "bf16", "f16", "f64"] {
            for length in [64, 256, 1024] {
                cases.push((format!("softmax/{dtype}/rows=8,cols={length}"), fill));
                cases.push((format!("rms-norm/{dtype}/rows=8,cols={length}"), fill));
                cases.push((format!("matmul/{dtype}/m=12,n=12,k={length}"), fill));
                cases.push((format!("matmul.nn/{dtype}/m=12,n=12,k={length}"), fill));
            }
        }
        cases.extend(["f32", "f64"].map(|dtype| (format!("add/{dtype}/rows=8,cols=64"), fill)));
    }
    cases.extend([64, 256, 1024].map(|k| (format!("matmul/i8/m=12,n=12,k={k}"), Fill::Uniform)));
    cases
}

type OutputMutant = fn(&[f64], &Instance, u64) -> Vec<f64>;

/// Spoiled copies of an honest output.
const OUTPUT_MUTANTS: &[(&str, OutputMutant)] = &[
    ("zeros", |y, _, _| vec![0.0; y.len()]),
    ("stale", |y, _, _| vec![POISON; y.len()]),
    ("one element", one_element),
    ("accumulated into", |y, _, _| y.iter().map(|y| 2.0 * y).collect()),
    ("scaled", |y, instance, _| {
        let factor = match instance.output.dtype {
            Dtype::Bf16 => 1.0 + 1.0 / 32.0,
            Dtype::F16 => 1.0 + 1.0 / 256.0,
            _ => 1.0 + 1.0 / 512.0,
        };
        y.iter().map(|y| y * factor).collect()
    }),
    ("race", |y, _, seed| {
        let mut draws = Draws::new(seed, 9);
        let mut y = y.to_vec();
        for _ in 0..4.min(y.len() - 1) {
            let at = draws.below(y.len() as u64 - 1) as usize;
            y[at] = y[at + 1];
        }
        y
    }),
    ("right on one element in a hundred", |y, _, _| {
        by_column(y, |i, y| if i % 100 == 0 { y } else { y + 1.0 })
    }),
    ("wrong on one element in a hundred", |y, _, _| {
        by_column(y, |i, y| if i % 100 == 0 { y + 1.0 } else { y })
    }),
    ("index overflow", |y, _, _| (0..y.len()).map(|i| y[i % 1021]).collect()),
    ("truncated at the output", |y, instance, _| match instance.output.dtype {
        // Only where half a unit is more than the soft bound hides.
        Dtype::F16 | Dtype::Bf16 => instance.expected.iter().map(|e| instance.truncate(e.value)).collect(),
        _ => y.to_vec(),
    }),
];

/// Spoiled copies of an honest output of 64 rows and 64 columns.
const SQUARE_MUTANTS: &[(&str, OutputMutant)] = &[
    ("last tile not written", |y, _, _| by_column(y, |i, y| if i % 64 >= 48 { POISON } else { y })),
    ("transposed", |y, _, _| (0..y.len()).map(|i| y[i % 64 * 64 + i / 64]).collect()),
    ("two rows exchanged", |y, _, _| {
        let mut y = y.to_vec();
        for i in 0..64 {
            y.swap(7 * 64 + i, 8 * 64 + i);
        }
        y
    }),
    ("every row is row 0", |y, _, _| (0..y.len()).map(|i| y[i % 64]).collect()),
    ("row means", |y, _, _| y.chunks(64).flat_map(|row| [row.iter().sum::<f64>() / 64.0; 64]).collect()),
];

/// A value that no operation here gives on these inputs.
const POISON: f64 = -96.0;

fn by_column(y: &[f64], spoil: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    y.iter().enumerate().map(|(i, y)| spoil(i, *y)).collect()
}

fn one_element(y: &[f64], instance: &Instance, seed: u64) -> Vec<f64> {
    let mut y = y.to_vec();
    let at = Draws::new(seed, 8).below(y.len() as u64) as usize;
    let expected = instance.expected[at];
    let least = if instance.output.dtype.format().is_none() { 1.0 } else { 0.0 };
    let allowed = crate::judge::allowed(instance.output.dtype, &expected);
    y[at] = expected.value + (3.0 * allowed).max(least);
    y
}

type InputMutant = fn(&mut Vec<f64>, &Tensor);

/// Honest kernels that read their first input wrongly.
const INPUT_MUTANTS: &[(&str, InputMutant)] = &[
    ("last column of the first input left out", |x, tensor| {
        let row = tensor.shape.last().copied().unwrap_or(1);
        x.iter_mut().skip(row - 1).step_by(row).for_each(|x| *x = 0.0);
    }),
    ("a slice of the first input counted twice", |x, tensor| {
        let row = tensor.shape.last().copied().unwrap_or(1);
        x.iter_mut().enumerate().filter(|(i, _)| i % row < 32).for_each(|(_, x)| *x *= 2.0);
    }),
    ("first input transposed", |x, _| {
        if x.len() == SQUARE {
            let original = x.clone();
            x.iter_mut().enumerate().for_each(|(i, x)| *x = original[i % 64 * 64 + i / 64]);
        }
    }),
];

fn narrow(case: &Case) -> Option<crate::format::Format> {
    case.dtype.format().filter(|_| case.dtype != case.accumulator).or(case.accumulator.format())
}

/// A case with content, its expected values, and its one output.
struct Instance<'a> {
    case: &'a Case,
    fill: Fill,
    tensors: Vec<Tensor>,
    inputs: Vec<Vec<u8>>,
    output: Tensor,
    expected: Vec<Expected>,
}

impl<'a> Instance<'a> {
    fn new(case: &'a Case, fill: Fill, seed: u64) -> Instance<'a> {
        let operation: &Operation = case.operation;
        let (tensors, outputs): (Vec<Tensor>, Vec<Tensor>) =
            (operation.tensors)(case).into_iter().partition(|tensor| tensor.role == Role::Input);
        let output = outputs.into_iter().next().expect("an operation has an output");
        let inputs = tensors
            .iter()
            .enumerate()
            .map(|(index, tensor)| {
                let mut bytes = vec![0; tensor.bytes()];
                operation.content(case, fill, seed, index, tensor).write(0..tensor.elements(), &mut bytes);
                bytes
            })
            .collect();
        let mut instance = Instance { case, fill, tensors, inputs, output, expected: Vec::new() };
        let wanted: Vec<usize> = (0..instance.output.elements()).collect();
        instance.expected = (operation.reference)(&instance.problem(), &wanted);
        instance
    }

    fn problem(&self) -> Problem<'_> {
        let inputs = self.tensors.iter().zip(&self.inputs);
        let inputs = inputs.map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes }).collect();
        Problem { case: self.case, fill: self.fill, inputs }
    }

    fn emulate(&self, arithmetic: &Arithmetic) -> Vec<f64> {
        (self.case.operation.emulate)(&self.problem(), arithmetic)
    }

    fn honest(&self) -> Vec<f64> {
        self.emulate(&Arithmetic::declared(self.case))
    }

    /// What an honest kernel gives for spoiled inputs.
    fn with_inputs(&self, spoil: InputMutant) -> Vec<f64> {
        let first = &self.tensors[0];
        let mut values: Vec<f64> =
            (0..first.elements()).map(|i| first.dtype.read(&self.inputs[0], i)).collect();
        spoil(&mut values, first);
        let mut bytes = vec![0; first.bytes()];
        values.iter().enumerate().for_each(|(i, x)| first.dtype.write(&mut bytes, i, *x));
        let mut problem = self.problem();
        problem.inputs[0].bytes = &bytes;
        (self.case.operation.emulate)(&problem, &Arithmetic::declared(self.case))
    }

    /// The bytes that a kernel with these results leaves behind.
    fn written(&self, output: &[f64]) -> Vec<u8> {
        let mut bytes = vec![0; self.output.bytes()];
        output.iter().enumerate().for_each(|(i, y)| self.output.dtype.write(&mut bytes, i, *y));
        bytes
    }

    fn judge(&self, output: &[f64], loosen: f64) -> Judgement {
        let bytes = self.written(output);
        let wanted: Vec<usize> = (0..self.output.elements()).collect();
        let got: Vec<f64> = wanted.iter().map(|i| self.output.dtype.read(&bytes, *i)).collect();
        let Tensor { dtype, shape, .. } = &self.output;
        judge(*dtype, shape, &wanted, &got, &self.expected, Some(POISON), loosen)
    }

    /// The number of the output type next to `value` towards zero.
    fn truncate(&self, value: f64) -> f64 {
        let format = self.output.dtype.format().unwrap_or(crate::format::F64);
        let rounded = format.round(value);
        if rounded.abs() <= value.abs() {
            return rounded;
        }
        let spacing = 2.0 * format.unit_roundoff() * rounded.abs();
        format.round(rounded - (spacing / 2.0).copysign(rounded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OPERATIONS;

    fn cases() -> impl Iterator<Item = Case> {
        OPERATIONS.iter().flat_map(|operation| {
            operation.forms().flat_map(move |form| {
                operation.precisions.iter().map(move |(dtype, _)| {
                    let axes: Vec<String> =
                        operation.axes.iter().map(|axis| format!("{}=8", axis.name)).collect();
                    format!("{form}/{dtype}/{}", axes.join(",")).parse().unwrap()
                })
            })
        })
    }

    #[test]
    fn every_mutant_of_every_operation_is_rejected() {
        for case in cases() {
            for seed in 0..3 {
                let outcome = self_test(&case, seed, 1.0);
                assert_eq!(outcome.broken, Vec::<String>::new(), "{case} seed {seed}");
                assert!(outcome.rejected.len() >= 17, "{case}: {:?}", outcome.rejected);
            }
        }
    }

    /// What once got a time has a mutant, and the mutant is wrong and not just honest in disguise.
    #[test]
    fn everyday_bugs_are_among_the_rejected() {
        for (id, bugs) in [
            ("softmax/bf16/rows=8,cols=8", &["maximum from zero", "maximum without the last vector"][..]),
            ("softmax/f64/rows=8,cols=8", &["maximum from zero", "maximum without the last vector"]),
            ("rms-norm/f16/rows=8,cols=8", &["epsilon forgotten", "mean over a padded length"]),
            ("rms-norm/f32/rows=8,cols=8", &["epsilon outside the root", "one element by a thousandth"]),
            ("add/bf16/rows=8,cols=8", &["remainder copied"]),
            ("matmul/f32/m=8,n=8,k=8", &["remainder of k left out", "one element by a thousandth"]),
            ("matmul.nn/i8/m=8,n=8,k=8", &["remainder of k left out"]),
        ] {
            for seed in 0..20 {
                let rejected = self_test(&id.parse().unwrap(), seed, 1.0).rejected;
                let missing: Vec<_> =
                    bugs.iter().filter(|bug| !rejected.iter().any(|name| name == **bug)).collect();
                assert!(missing.is_empty(), "{id} seed {seed}: {missing:?}");
            }
        }
    }

    #[test]
    fn the_bound_is_calibrated() {
        for (id, fill) in policed() {
            let calibration = calibrate(&id.parse().unwrap(), fill, 5);
            assert!(calibration.is_sound(), "{id} {fill}: {calibration:?}");
        }
    }

    #[test]
    fn a_bound_a_million_times_too_wide_is_noticed() {
        for case in cases().filter(|case| case.dtype != Dtype::I8) {
            assert!(!self_test(&case, 1, 1e6).broken.is_empty(), "{case}");
        }
    }
}
