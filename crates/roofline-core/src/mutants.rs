//! The gate's self-test: wrong outputs that the judge must reject, right ones that it must pass.
//!
//! Each mutant is what a broken kernel would leave behind, made from an honest output on a small
//! instance. Mutants that need a process (writes out of bounds, caches, late writes) are the
//! saboteurs of `runners/saboteur`.

use crate::arithmetic::Arithmetic;
use crate::bound::{MARGIN, Z, rounding};
use crate::case::{Cache, Case, Device};
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::instance::{Instance, POISON};
use crate::judge::{Judgement, allowed};
use crate::operation::{Expected, Judged, Mutant, Operation, Usual};
use crate::ops::OPERATIONS;
use crate::philox::Draws;
use crate::tensor::Tensor;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Size of every axis of the self-test's instance: square, so that a product has 64 Ki elements at most.
const SIZE: u64 = 64;
/// The same for more than three axes.
const SMALL: u64 = 8;
/// Elements of outputs that are judged together, in as many instances as it takes: of one number alone, luck decides
/// what it shows.
const TOGETHER: usize = 48;
/// Instances on which a mutant may show: of one scale alone, the largest magnitude is the maximum half of the time.
const TRIES: u64 = 12;
/// Elements of a square tensor.
const SQUARE: usize = 64 * 64;

/// The outcome for one operation and precision.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfTest {
    /// Mutants that were rejected.
    pub rejected: Vec<String>,
    /// Mutants that passed, and honest outputs that did not: the gate is broken if there is one.
    pub broken: Vec<String>,
    /// Mutants that nobody could reject: what they left was right on these inputs.
    pub unseen: Vec<String>,
}

/// Runs every mutant that applies to the operation and precision of `case` through the judge.
///
/// Parameters can hide a mistake: dropout that keeps half keeps the other half if its mask is inverted. What is found with
/// the usual ones is then no hole of the gate, and counts as unseen. `loosen` multiplies the bound; it is 1 but in the
/// study that shows what the bound is for.
pub fn self_test(case: &Case, seed: u64, loosen: f64) -> SelfTest {
    let (mut outcome, mut missed) = try_mutants(case, seed, loosen);
    if !missed.is_empty() && case.given().next().is_some() {
        let params = case.operation.params.iter().map(|param| param.default).collect();
        let (_, usual) = try_mutants(&Case { params, ..case.clone() }, seed, loosen);
        let hidden = missed.extract_if(.., |name| !usual.contains(name));
        outcome.unseen.extend(hidden);
    }
    outcome.broken.extend(missed.iter().map(|name| format!("the mutant `{name}` passed")));
    outcome
}

/// The same with these parameters alone, and the mutants that passed though they show.
fn try_mutants(case: &Case, seed: u64, loosen: f64) -> (SelfTest, Vec<String>) {
    let case = instance_of(case, seed);
    let mut outcome = SelfTest { rejected: Vec::new(), broken: Vec::new(), unseen: Vec::new() };
    let mut filled = Filled { case: &case, seed, by: BTreeMap::new() };
    let uniform = filled.with(Fill::Uniform);

    let pairwise = Arithmetic { pairwise: true, ..Arithmetic::declared(&case) };
    for instance in &*uniform {
        let mut controls = vec![
            ("an honest kernel", instance.honest().to_vec()),
            ("an honest kernel that sums in halves", instance.emulate(&pairwise)),
        ];
        controls.extend(instance.exact().map(|exact| ("the rounded reference", exact)));
        for (name, outputs) in controls {
            if instance.judge(&outputs, loosen).failed > 0 {
                outcome.broken.push(format!("{name} was rejected"));
            }
        }
    }

    let mut missed = Vec::new();
    let mut settle = |name: &str, instances: &[Instance], wrong: &Leaves| {
        let mut passed = Vec::new();
        for instance in instances {
            let Some(outputs) = wrong(instance) else { continue };
            if instance.judge(&outputs, loosen).failed > 0 {
                outcome.rejected.push(name.to_owned());
                return;
            }
            passed.push((instance, outputs));
        }
        let spread = spread(instances);
        if passed.iter().any(|(instance, outputs)| instance.shows(outputs, &spread)) {
            missed.push(name.to_owned());
        } else if !passed.is_empty() {
            outcome.unseen.push(name.to_owned());
        }
    };
    for (index, output) in uniform[0].outputs.iter().enumerate() {
        let is_square = output.elements() == SQUARE && output.row() == 64;
        let of_squares = SQUARE_MUTANTS.iter().filter(|_| is_square);
        for (name, mutate) in OUTPUT_MUTANTS.iter().chain(of_squares) {
            settle(name, &uniform, &|instance| {
                let mut outputs = instance.honest().to_vec();
                outputs[index] = mutate(&instance.honest()[index], instance, index, seed);
                Some(outputs)
            });
        }
    }
    if let Some(lower) = Arithmetic::next_lower(&case) {
        let narrow = Arithmetic { accumulator: narrow(&case), ..Arithmetic::declared(&case) };
        let arithmetics = [("next lower precision", lower), ("accumulator as narrow as the output", narrow)];
        for (name, arithmetic) in arithmetics.iter().filter(|(_, other)| told(&uniform, other).is_some()) {
            settle(name, &uniform, &|instance| Some(instance.emulate(arithmetic)));
        }
    }
    for (name, spoil) in INPUT_MUTANTS {
        settle(name, &uniform, &|instance| instance.with_input(*spoil));
    }
    for mutant in own(&case) {
        let instances = filled.with(mutant.fill);
        settle(mutant.name, &instances, &|instance| Some(mutant.wrong.outputs(&instance.problem())));
    }
    if case.operation.fills_of(&case).contains(&Fill::Nonfinite) {
        let clean = |output: &Vec<f64>| output.iter().map(|y| if y.is_nan() { 0.0 } else { *y }).collect();
        settle("NaN replaced by 0", &filled.with(Fill::Nonfinite), &|instance| {
            Some(instance.honest().iter().map(clean).collect())
        });
    }
    (outcome, missed)
}

/// Whether the judge rejects an operation's own mutant of this name on one of a few instances that follow from the seed,
/// as the gate has several; `None` where the case has none of the name.
pub fn caught(case: &Case, name: &str, seed: u64) -> Option<bool> {
    let case = instance_of(case, seed);
    let mutant = own(&case).find(|mutant| mutant.name == name)?;
    let is_rejected = |instance: &Instance| {
        let outputs = mutant.wrong.outputs(&instance.problem());
        instance.judge(&outputs, 1.0).failed > 0
    };
    let is_caught = |again: u64| instances(&case, mutant.fill, seed + (again << 32)).iter().any(is_rejected);
    Some((0..TRIES).any(is_caught))
}

/// The mutants of its operation that a case can have.
pub fn own(case: &Case) -> impl Iterator<Item = &'static Mutant> {
    case.operation.mutants.iter().filter(|mutant| (mutant.of)(case))
}

/// Small sizes of many axes: two where there usually is one, and others than those that an axis is usually as large as.
fn telling(operation: &Operation) -> Vec<u64> {
    let mut sizes = vec![SMALL; operation.axes.len()];
    for (place, axis) in operation.axes.iter().enumerate() {
        let tried: &[u64] = match axis.usual {
            None => &[SMALL],
            Some(Usual::Size(_)) => &[2],
            Some(Usual::As(_)) => &[SMALL / 2, 2 * SMALL],
        };
        let fits = |size: &&u64| {
            let with = [&sizes[..place], &[**size], &sizes[place + 1..]].concat();
            operation.takes_sizes(&with).is_ok()
        };
        sizes[place] = *tried.iter().find(fits).unwrap_or(&SMALL);
    }
    sizes
}

/// The case at the self-test's size.
fn instance_of(case: &Case, seed: u64) -> Case {
    let axes = case.sizes.len();
    let near = |wanted: Vec<u64>| case.operation.near(case, &wanted, &mut Draws::new(seed, 11));
    if axes > 3 {
        return near(telling(case.operation));
    }
    let square = near(vec![SIZE; axes]);
    if axes < 3 || largest_output(&square) <= SQUARE {
        return square;
    }
    // Outputs of three dimensions: few lines, as many elements as a square has.
    let mut wanted = vec![SMALL; axes];
    wanted[axes - 1] = SIZE;
    near(wanted)
}

/// Elements of the largest output of a case.
fn largest_output(case: &Case) -> usize {
    let tensors = (case.operation.tensors)(case);
    let outputs = tensors.iter().filter(|tensor| !tensor.role.is_input());
    outputs.map(Tensor::elements).max().unwrap_or(0)
}

/// As many instances as have [`TOGETHER`] elements of outputs.
fn instances(case: &Case, fill: Fill, seed: u64) -> Vec<Instance<'_>> {
    let first = Instance::new(case, fill, seed);
    let elements: usize = first.outputs.iter().map(Tensor::elements).sum();
    let more = TOGETHER.div_ceil(elements.max(1)) as u64;
    let others = (1..more).map(|number| Instance::new(case, fill, seed + 1000 * number));
    std::iter::once(first).chain(others).collect()
}

/// The instances of one self-test: mutants of one family share theirs.
struct Filled<'a> {
    case: &'a Case,
    seed: u64,
    by: BTreeMap<Fill, Rc<[Instance<'a>]>>,
}

impl<'a> Filled<'a> {
    fn with(&mut self, fill: Fill) -> Rc<[Instance<'a>]> {
        self.by.entry(fill).or_insert_with(|| instances(self.case, fill, self.seed).into()).clone()
    }
}

/// By output: the deviations and the margin that a bound gives an honest kernel, from how far one is off here.
fn spread(instances: &[Instance]) -> Vec<f64> {
    let of = |output: usize| {
        let squares = instances.iter().map(|one| one.squares(output, &one.honest()[output]));
        let (squares, count) = squares.fold((0.0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        Z * MARGIN * (squares / count.max(1) as f64).sqrt()
    };
    (0..instances[0].outputs.len()).map(of).collect()
}

/// In how many elements another arithmetic differs from an honest kernel, where it can be told from one: in one of a
/// hundred at least, and by more than the deviations and the margin that a bound gives the declared one.
///
/// Where it cannot, as in the logarithm of a long sum, no bound that honest kernels pass can tell the two apart.
fn told(instances: &[Instance], other: &Arithmetic) -> Option<usize> {
    let squares = |instance: &Instance, outputs: &[Vec<f64>]| -> f64 {
        let errors = (0..outputs.len()).map(|output| instance.squares(output, &outputs[output]).0);
        errors.sum()
    };
    let (mut differing, mut elements, mut declared, mut others) = (0, 0, 0.0, 0.0);
    for instance in instances {
        let (honest, other) = (instance.honest(), instance.emulate(other));
        differing += instance.differing(&other, honest);
        elements += instance.outputs.iter().map(Tensor::elements).sum::<usize>();
        declared += squares(instance, honest);
        others += squares(instance, &other);
    }
    let is_told = 100 * differing >= elements && others > (Z * MARGIN).powi(2) * declared;
    is_told.then_some(differing)
}

/// How an operation's bound fits its arithmetic on one instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Largest score of the declared precision, in two orders of summation.
    pub declared: f64,
    /// Elements in which the next lower precision differs; `None` where it does not by more than a bound of the declared
    /// one must allow.
    pub lower: Option<usize>,
    /// Elements of the next lower precision that are outside the bound.
    pub lower_failed: usize,
}

impl Calibration {
    /// The declared precision has a margin of four, and the next lower one is seen wherever it differs: of the elements
    /// that it changes one in a hundred is outside the bound at least. Of codes it changes few, those near a border.
    pub fn is_sound(&self) -> bool {
        let is_seen = |differing| self.lower_failed > 0 && self.lower_failed * 100 >= differing;
        self.declared <= 0.25 && self.lower.is_none_or(is_seen)
    }
}

/// Emulates the declared precision of `case` and the next lower one at the case's own size.
pub fn calibrate(case: &Case, fill: Fill, seed: u64) -> Calibration {
    let declared = Arithmetic::declared(case);
    let lower = Arithmetic::next_lower(case).unwrap_or(declared);
    let worst = |judgement: Judgement| if judgement.failed > 0 { f64::INFINITY } else { judgement.score };
    let instances = instances(case, fill, seed);
    let mut calibration = Calibration { declared: 0.0, lower: told(&instances, &lower), lower_failed: 0 };
    for instance in &instances {
        let honest = instance.honest();
        let in_halves = instance.emulate(&Arithmetic { pairwise: true, ..declared });
        for outputs in [honest, &in_halves] {
            calibration.declared = calibration.declared.max(worst(instance.judge(outputs, 1.0)));
        }
        let lower = instance.emulate(&lower);
        calibration.lower_failed += instance.judge(&lower, 1.0).failed;
    }
    calibration
}

/// Cases and fills on which the precision class is policed: zero mean, lines of 64 to 1024 elements. Every form
/// and precision of every operation that is judged by elements.
pub fn policed() -> Vec<(Case, Fill)> {
    let mut cases = Vec::new();
    let forms = OPERATIONS.iter().flat_map(|operation| forms(operation));
    for case in forms.filter(|case| !matches!(case.judged(), Judged::Property(_))) {
        for length in [64, 256, 1024] {
            let near = |lines: u64| {
                let mut wanted = vec![lines; case.sizes.len()];
                wanted[case.sizes.len() - 1] = length;
                case.operation.near(&case, &wanted, &mut Draws::new(length, 12))
            };
            // Outputs of three dimensions have lines enough with fewer.
            let case = Some(near(12)).filter(|case| largest_output(case) <= 12 * length as usize);
            let case = case.unwrap_or_else(|| near(4));
            cases.extend([Fill::Uniform, Fill::Normal].map(|fill| (case.clone(), fill)));
        }
    }
    cases
}

/// A small case of every form and precision of an operation, all of the same sizes.
pub fn forms(operation: &'static Operation) -> impl Iterator<Item = Case> {
    let wanted = vec![8; operation.axes.len()];
    let names = operation.axis_names();
    // Legal sizes are searched for, which takes longer than all the rest.
    let sizes = operation.legal().near(&names, &wanted, &wanted, &mut Draws::new(1, 13));
    operation.variants.iter().flat_map(move |variant| {
        let sizes = sizes.clone();
        operation.precisions.iter().map(move |precision| Case {
            operation,
            variant: variant.name,
            precision,
            sizes: sizes.clone(),
            params: operation.params.iter().map(|param| param.default).collect(),
            threads: 1,
            cache: Cache::Warm,
            device: Device::Cpu,
        })
    })
}

/// What a wrong kernel leaves on an instance; `None` where it has none of its own.
type Leaves<'a> = dyn Fn(&Instance) -> Option<Vec<Vec<f64>>> + 'a;

/// An honest output, its instance and its number, and a seed: a spoiled copy of it.
type OutputMutant = fn(&[f64], &Instance, usize, u64) -> Vec<f64>;

/// Spoiled copies of an honest output.
const OUTPUT_MUTANTS: &[(&str, OutputMutant)] = &[
    ("zeros", |y, _, _, _| vec![0.0; y.len()]),
    ("stale", |y, _, _, _| vec![POISON; y.len()]),
    ("one element", one_element),
    ("one element by a thousandth", nearly_right),
    ("accumulated into", |y, _, _, _| y.iter().map(|y| 2.0 * y).collect()),
    ("scaled", |y, instance, output, _| {
        let factor = match instance.outputs[output].dtype {
            _ if instance.case.precision.is_narrow() => 1.5,
            Dtype::Bf16 => 1.0 + 1.0 / 32.0,
            Dtype::F16 => 1.0 + 1.0 / 256.0,
            _ => 1.0 + 1.0 / 512.0,
        };
        y.iter().map(|y| y * factor).collect()
    }),
    ("race", |y, _, _, seed| {
        let mut draws = Draws::new(seed, 9);
        let mut y = y.to_vec();
        for _ in 0..4.min(y.len() - 1) {
            let at = draws.below(y.len() as u64 - 1) as usize;
            y[at] = y[at + 1];
        }
        y
    }),
    ("right on one element in a hundred", |y, _, _, _| {
        by_column(y, |i, y| if i % 100 == 0 { y } else { y + 1.0 })
    }),
    ("wrong on one element in a hundred", |y, _, _, _| {
        by_column(y, |i, y| if i % 100 == 0 { y + 1.0 } else { y })
    }),
    ("index overflow", |y, _, _, _| (0..y.len()).map(|i| y[i % 1021]).collect()),
    ("remainder copied", |y, instance, output, _| {
        let cols = instance.outputs[output].row();
        match instance.inputs.first() {
            Some((input, bytes)) if input.shape == instance.outputs[output].shape => {
                by_column(y, |i, y| if i % cols + 3 < cols { y } else { input.dtype.read(bytes, i) })
            }
            _ => y.to_vec(),
        }
    }),
    ("truncated at the output", |y, instance, output, _| match instance.outputs[output].dtype {
        // Only where half a unit is more than the soft bound hides.
        Dtype::F16 | Dtype::Bf16 if !instance.case.precision.is_narrow() => {
            instance.truncated(output).unwrap_or_else(|| y.to_vec())
        }
        _ => y.to_vec(),
    }),
];

/// Spoiled copies of an honest output of 64 rows and 64 columns.
const SQUARE_MUTANTS: &[(&str, OutputMutant)] = &[
    ("last tile not written", |y, _, _, _| by_column(y, |i, y| if i % 64 >= 48 { POISON } else { y })),
    ("transposed", |y, _, _, _| (0..y.len()).map(|i| y[i % 64 * 64 + i / 64]).collect()),
    ("two rows exchanged", |y, _, _, _| {
        let mut y = y.to_vec();
        for i in 0..64 {
            y.swap(7 * 64 + i, 8 * 64 + i);
        }
        y
    }),
    ("every row is row 0", |y, _, _, _| (0..y.len()).map(|i| y[i % 64]).collect()),
    ("row means", |y, _, _, _| y.chunks(64).flat_map(|row| [row.iter().sum::<f64>() / 64.0; 64]).collect()),
];

fn by_column(y: &[f64], spoil: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    y.iter().enumerate().map(|(i, y)| spoil(i, *y)).collect()
}

fn one_element(y: &[f64], instance: &Instance, output: usize, seed: u64) -> Vec<f64> {
    let mut y = y.to_vec();
    let drawn = Draws::new(seed, 8).below(y.len() as u64) as usize;
    // One that has a bound to be beyond, if there is any: not a sum of nothing.
    let is_rounded = |at: &usize| instance.expected(output, *at).is_some_and(|expected| expected.soft > 0.0);
    let at = (drawn..y.len()).chain(0..drawn).find(is_rounded).unwrap_or(drawn);
    let dtype = instance.outputs[output].dtype;
    let least = if dtype.format().is_none() { 1.0 } else { 0.0 };
    if let Some(expected) = instance.expected(output, at) {
        let least = rounding(dtype, expected.value).max(least);
        y[at] = expected.value + (3.0 * allowed(dtype, &expected)).max(3.0 * least);
    }
    y
}

/// The element of median magnitude times 1.001, where the type has the digits to tell and the bound is that tight.
fn nearly_right(y: &[f64], instance: &Instance, output: usize, _seed: u64) -> Vec<f64> {
    let mut y = y.to_vec();
    let dtype = instance.outputs[output].dtype;
    let mut order: Vec<usize> = (0..y.len()).collect();
    order.sort_by(|one, other| y[*one].abs().total_cmp(&y[*other].abs()));
    let at = order[order.len() / 2];
    let is_told = |expected: Expected| allowed(dtype, &expected) < 4e-4 * expected.value.abs();
    if instance.expected(output, at).is_some_and(is_told) {
        y[at] *= 1.001;
    }
    y
}

type InputMutant = fn(&mut Vec<f64>, &Tensor);

/// Honest kernels that read their first input wrongly.
const INPUT_MUTANTS: &[(&str, InputMutant)] = &[
    ("last column of the first input left out", |x, tensor| {
        let row = tensor.row();
        x.iter_mut().skip(row - 1).step_by(row).for_each(|x| *x = 0.0);
    }),
    ("a slice of the first input counted twice", |x, tensor| {
        let row = tensor.row();
        x.iter_mut().enumerate().filter(|(i, _)| i % row < 32).for_each(|(_, x)| *x *= 2.0);
    }),
    // What is one line has no other side.
    ("first input transposed", |x, tensor| {
        if x.len() == SQUARE && tensor.beside.len() > 1 {
            let original = x.clone();
            x.iter_mut().enumerate().for_each(|(i, x)| *x = original[i % 64 * 64 + i / 64]);
        }
    }),
];

fn narrow(case: &Case) -> Option<crate::format::Format> {
    let accumulator = case.precision.accumulator.format;
    case.dtype().format().filter(|own| Some(*own) != accumulator).or(accumulator)
}

#[cfg(test)]
mod tests;
