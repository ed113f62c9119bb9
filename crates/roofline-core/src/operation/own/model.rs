//! Models of a kernel's error that a declaration can name. `METHODOLOGY.md` derives them.

use super::expression::Expression;
use super::signature::{Declared, Signature};
use super::words::Words;
use super::{Own, Purpose, raise};
use crate::bound::{Z, roundings};
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::nearest::nearest;
use crate::operation::{Expected, Problem};
use crate::philox::Draws;
use crate::precision::Accumulator;
use crate::tensor::{Tensor, View};

/// Roundings of an elementwise operation that does not say how many.
const ROUNDINGS: u32 = 4;
const MOST_ROUNDINGS: u32 = 64;
/// Evaluations of a calibrated bound, and the multiple of their error that is allowed.
const EVALUATIONS: u64 = 6;
const MULTIPLE: f64 = 16.0;
/// The first of them whose inputs are moved by a unit in the last place.
const NUDGED: u64 = 2;

/// How far an honest kernel may be off, beyond the rounding to the output's type.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Not at all.
    Exact,
    /// So many roundings one after the other, of which none cancels.
    Elementwise(u32),
    /// A sum of so many terms, each rounded.
    Sum(Expression),
    /// A sum of so many products, whose rounding is that of the sum.
    Dot(Expression),
    /// By as much as the reference says.
    PerElement,
    /// By a multiple of what evaluations at the same precision are off, in other orders along these axes; along those
    /// that no output has, where none is named.
    Calibrated(Vec<String>),
}

impl Model {
    const NAMES: [&str; 6] =
        ["exact", "elementwise", "elementwise(4)", "sum(n)", "dot(k)", "per-element or calibrated"];

    pub(super) fn parse(text: &str) -> Result<Model, String> {
        let (name, inner) = match text.trim().split_once('(') {
            Some((name, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| format!("`{text}` lacks its `)`"))?;
                (name.trim(), Some(inner))
            }
            None => (text.trim(), None),
        };
        match (name, inner) {
            ("exact", None) => Ok(Model::Exact),
            ("elementwise", None) => Ok(Model::Elementwise(ROUNDINGS)),
            ("elementwise", Some(count)) => {
                let count = count.trim().parse().ok().filter(|count| (1..=MOST_ROUNDINGS).contains(count));
                let why = || format!("`{text}` does not say how many roundings, 1 to {MOST_ROUNDINGS}");
                count.map(Model::Elementwise).ok_or_else(why)
            }
            ("sum", Some(count)) => Expression::parse(count).map(Model::Sum),
            ("dot", Some(count)) => Expression::parse(count).map(Model::Dot),
            ("sum" | "dot", None) => {
                Err(format!("`{name}` does not say over how many terms: `{name}(cols)`"))
            }
            ("per-element", None) => Ok(Model::PerElement),
            ("calibrated", None) => Ok(Model::Calibrated(Vec::new())),
            ("calibrated", Some(axes)) => {
                let mut words = Words::of(axes)?;
                let mut axes = vec![words.name("an axis")?.to_owned()];
                while words.takes(",") {
                    axes.push(words.name("an axis")?.to_owned());
                }
                if words.is_done() {
                    Ok(Model::Calibrated(axes))
                } else {
                    Err(format!("`{text}` is no bound"))
                }
            }
            _ => {
                let name: String = name.chars().take(40).collect();
                let near = nearest(&name, Model::NAMES).map(|near| format!("did you mean `{near}`? "));
                Err(format!(
                    "there is no `{}`; {}bounds are {}",
                    name.escape_debug(),
                    near.unwrap_or_default(),
                    Model::NAMES.join(", ")
                ))
            }
        }
    }

    pub(super) fn check(&self, axes: &[String], signature: &Signature) -> Result<(), String> {
        for axis in self.terms().into_iter().flat_map(Expression::axes) {
            super::known_axis(axis, axes)?;
        }
        let Model::Calibrated(named) = self else { return Ok(()) };
        for axis in named {
            super::known_axis(axis, axes)?;
            if !signature.inputs().any(|tensor| place_of(tensor, axis).is_some()) {
                return Err(format!("`{axis}` is no dimension of an input, to be taken in another order"));
            }
        }
        if named.is_empty() && summed(axes, signature).is_empty() {
            let why = "outputs have every axis; say which can be taken in any order: `calibrated(cols)`";
            return Err(why.to_owned());
        }
        Ok(())
    }

    /// How many terms it sums, where it does.
    pub(super) fn terms(&self) -> Option<&Expression> {
        match self {
            Model::Sum(count) | Model::Dot(count) => Some(count),
            _ => None,
        }
    }

    /// Whether the conductor computes the bound by a derived model.
    pub fn is_derived(&self) -> bool {
        !matches!(self, Model::PerElement | Model::Calibrated(_))
    }

    /// Outputs that a reference writes behind those of the operation: the errors.
    pub fn has_errors(&self) -> bool {
        *self == Model::PerElement
    }

    /// Whether the reference is asked for at the accumulator's precision as well.
    pub fn evaluates(&self) -> bool {
        matches!(self, Model::Calibrated(_))
    }
}

/// The dimension of a tensor that is an axis and nothing else.
fn place_of(tensor: &Declared, axis: &str) -> Option<usize> {
    tensor.dimensions.iter().position(|size| size.axis() == Some(axis))
}

/// Axes that no output has: what is summed over can be summed in any order.
fn summed(axes: &[String], signature: &Signature) -> Vec<String> {
    let has = |tensor: &Declared, axis: &str| {
        tensor.dimensions.iter().flat_map(Expression::axes).any(|known| known == axis)
    };
    let is_summed = |axis: &&String| {
        !signature.outputs().any(|tensor| has(tensor, axis))
            && signature.inputs().any(|tensor| place_of(tensor, axis).is_some())
    };
    axes.iter().filter(is_summed).cloned().collect()
}

impl Own {
    /// Expected values of the wanted elements of an output, with what the model allows.
    pub(crate) fn expected(&self, problem: &Problem, output: usize, wanted: &[usize]) -> Vec<Expected> {
        let all = self.ask(problem, Purpose::Reference);
        let values: Vec<f64> = wanted.iter().map(|index| all[output][*index]).collect();
        let place = || format!("for {}, {} inputs", problem.case, problem.fill);
        let may_be_nan = self.declaration.may_be_nan || problem.fill == Fill::Nonfinite;
        if let Some(at) = values.iter().position(|value| value.is_nan()).filter(|_| !may_be_nan) {
            raise(format!(
                "the reference of `{}` gave NaN at element {}, {}",
                self.declaration.name,
                wanted[at],
                place()
            ));
        }
        let softs = self.softs(problem, output, wanted, &values, &all);
        let expected = values.iter().zip(softs).map(|(value, soft)| Expected { value: *value, soft });
        let expected: Vec<Expected> = expected.collect();
        // Nothing is added to a value that is not finite.
        let is_bad = |expected: &Expected| {
            expected.value.is_finite() && !(0.0..f64::INFINITY).contains(&expected.soft)
        };
        if let Some(at) = expected.iter().position(is_bad) {
            raise(format!(
                "the reference of `{}` gave {} as the error of element {}, {}",
                self.declaration.name,
                expected[at].soft,
                wanted[at],
                place()
            ));
        }
        expected
    }

    fn softs(
        &self,
        problem: &Problem,
        output: usize,
        wanted: &[usize],
        values: &[f64],
        all: &[Vec<f64>],
    ) -> Vec<f64> {
        let accumulator = problem.case.precision.accumulator;
        if accumulator.unit_roundoff() == 0.0 {
            return vec![0.0; wanted.len()];
        }
        match &self.model {
            Model::Exact => vec![0.0; wanted.len()],
            Model::Elementwise(count) => {
                values.iter().map(|value| roundings(accumulator, *count as usize, *value)).collect()
            }
            Model::Sum(count) | Model::Dot(count) => {
                let terms = self.size(count, &problem.case.sizes);
                let rounded = if matches!(self.model, Model::Sum(_)) { 3 } else { 0 };
                let magnitudes = self.magnitudes(problem, output);
                let soft = |(value, index): (&f64, &usize)| {
                    // A kernel that is right at a finite value has summed finite terms.
                    let magnitude = Some(magnitudes[*index].abs()).filter(|m| m.is_finite());
                    let magnitude = magnitude.unwrap_or(0.0).max(value.abs());
                    walk(accumulator, terms, *value, magnitude, problem.fill.order_matters())
                        + roundings(accumulator, rounded, magnitude)
                };
                values.iter().zip(wanted).map(soft).collect()
            }
            Model::PerElement => {
                let errors = &all[all.len() / 2 + output];
                wanted.iter().map(|index| errors[*index]).collect()
            }
            Model::Calibrated(axes) => {
                let errors = self.errors(problem, output, axes, &all[output]);
                let known: Vec<f64> = errors.iter().copied().filter(|error| error.is_finite()).collect();
                let squares: f64 = known.iter().map(|error| error * error).sum();
                // An element may be right by luck in all evaluations: none is allowed less than is usual.
                let usual = (squares / known.len().max(1) as f64).sqrt();
                wanted
                    .iter()
                    .map(|index| {
                        MULTIPLE * Some(errors[*index]).filter(|e| e.is_finite()).unwrap_or(0.0).max(usual)
                    })
                    .collect()
            }
        }
    }

    /// The reference at the magnitudes of the inputs: for sums of products of them, the sum of the magnitudes.
    fn magnitudes(&self, problem: &Problem, output: usize) -> Vec<f64> {
        let inputs = self.changed(problem, true, f64::abs);
        self.ask(&with_inputs(problem, &inputs), Purpose::Reference).swap_remove(output)
    }

    /// By how much evaluations at the accumulator's precision are off, the worst for each element.
    fn errors(&self, problem: &Problem, output: usize, named: &[String], values: &[f64]) -> Vec<f64> {
        let axes = if named.is_empty() { summed(&self.axes, &self.signature) } else { named.to_vec() };
        let tensors = (problem.case.operation.tensors)(problem.case);
        let (inputs, outputs): (Vec<&Declared>, Vec<&Declared>) =
            self.signature.tensors.iter().partition(|tensor| tensor.is_input());
        let unit = problem.case.precision.accumulator.unit_roundoff();
        let mut worst = vec![0.0f64; values.len()];
        for trial in 0..EVALUATIONS {
            let mut bytes: Vec<Vec<u8>> = problem.inputs.iter().map(|view| view.bytes.to_vec()).collect();
            let mut orders = Vec::new();
            for (number, axis) in axes.iter().enumerate() {
                let size =
                    self.axes.iter().position(|known| known == axis).map_or(1, |at| problem.case.sizes[at]);
                let order = order(size as usize, trial, &mut Draws::new(trial, 16 + number as u32));
                for (index, declared) in inputs.iter().enumerate() {
                    if let Some(dimension) = place_of(declared, axis) {
                        bytes[index] = moved(
                            &bytes[index],
                            tensors[index].dtype.size(),
                            &tensors[index],
                            dimension,
                            &order,
                        );
                    }
                }
                orders.push((axis, order));
            }
            let mut problem = with_inputs(problem, &bytes);
            let nudged: Vec<Vec<u8>>;
            if trial >= NUDGED {
                let mut draws = Draws::new(trial, 15);
                nudged = problem.inputs.iter().map(|view| nudge(view, unit, &mut draws)).collect();
                problem.inputs = nudged.iter().map(|bytes| View { dtype: Dtype::F64, bytes }).collect();
            }
            let mut got = self.ask(&problem, Purpose::Evaluate).swap_remove(output);
            let tensor = &tensors[inputs.len() + output];
            for (axis, order) in &orders {
                if let Some(dimension) = place_of(outputs[output], axis) {
                    got = back(&got, tensor, dimension, order);
                }
            }
            for (worst, (got, value)) in worst.iter_mut().zip(got.iter().zip(values)) {
                *worst = worst.max((got - value).abs());
            }
        }
        worst
    }
}

fn with_inputs<'a>(problem: &Problem<'a>, bytes: &'a [Vec<u8>]) -> Problem<'a> {
    let views = problem.inputs.iter().zip(bytes);
    let inputs = views.map(|(view, bytes)| View { dtype: view.dtype, bytes }).collect();
    Problem { inputs, ..*problem }
}

/// Error of a sum of `terms` products, of which the sum and the sum of magnitudes are known.
///
/// Prefix sums drift towards the sum and walk around it: their squares add up to about n·S²/3 for the drift, and for
/// terms of a deviation of up to twice their mean magnitude M/n to no more than 2·M² for the walk.
fn walk(accumulator: Accumulator, terms: usize, sum: f64, magnitude: f64, order_matters: bool) -> f64 {
    let (u, n) = (accumulator.unit_roundoff(), terms as f64);
    let walked = if order_matters {
        u * n * magnitude
    } else {
        Z * u * ((n * sum * sum / 3.0 + 2.0 * magnitude * magnitude) / 3.0).sqrt()
    };
    walked + n * accumulator.smallest_subnormal()
}

/// Values moved by a unit in the accumulator's last place, up or down by lot: an element that few terms make may come
/// out right in every order, and another kernel still rounds on its way.
fn nudge(view: &View, unit: f64, draws: &mut Draws) -> Vec<u8> {
    let nudged = (0..view.elements()).flat_map(|i| {
        let by = if draws.bits() & 1 == 0 { 1.0 + 2.0 * unit } else { 1.0 - 2.0 * unit };
        (view.get(i) * by).to_le_bytes()
    });
    nudged.collect()
}

/// Where each place of an axis is taken from: as it is, from behind, then by lot.
fn order(size: usize, trial: u64, draws: &mut Draws) -> Vec<usize> {
    let mut order: Vec<usize> = (0..size).collect();
    match trial {
        0 => {}
        1 => order.reverse(),
        _ => (1..size).for_each(|i| order.swap(i, draws.below(i as u64 + 1) as usize)),
    }
    order
}

/// Elements of a tensor taken in another order along a dimension: by place, where the new one comes from.
fn places<'a>(tensor: &'a Tensor, dimension: usize, order: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
    let inner: usize = tensor.shape[dimension + 1..].iter().product();
    let size = tensor.shape[dimension];
    (0..tensor.elements()).map(move |index| {
        let (outer, at, rest) = (index / (inner * size), index / inner % size, index % inner);
        (outer * size + order[at]) * inner + rest
    })
}

fn moved(bytes: &[u8], size: usize, tensor: &Tensor, dimension: usize, order: &[usize]) -> Vec<u8> {
    places(tensor, dimension, order)
        .flat_map(|from| bytes[from * size..(from + 1) * size].iter().copied())
        .collect()
}

/// Undoes an order.
fn back(values: &[f64], tensor: &Tensor, dimension: usize, order: &[usize]) -> Vec<f64> {
    let mut original = vec![0.0; values.len()];
    for (value, to) in values.iter().zip(places(tensor, dimension, order)) {
        original[to] = *value;
    }
    original
}
