//! Operations: the mathematics that implementations are held to.
//!
//! An operation is one row of [`OPERATIONS`]: axes, tensors, f64 reference, work, bound, input
//! families, and which outputs an input element reaches. To add one, write `ops/<name>.rs` and add
//! its line here; `docs/design/why-operation.md` shows how other kinds of operation fit the row. A
//! program with operations of its own [brings](bring) them along.

pub mod add;
pub mod matmul;
pub mod rms_norm;
pub mod softmax;

use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::{Content, Fill};
use crate::format::Format;
use crate::nearest::nearest;
use crate::protocol::{Role, is_kebab};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Every operation, in the order of `roofline list ops`.
pub const OPERATIONS: &[&Operation] =
    &[&add::OPERATION, &softmax::OPERATION, &rms_norm::OPERATION, &matmul::OPERATION];

/// What [`bring`] added.
static BROUGHT: OnceLock<Vec<Operation>> = OnceLock::new();

/// Every operation that this program knows: those of the house, then its own.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().copied().chain(BROUGHT.get().into_iter().flatten())
}

/// Adds operations of a program's own: once, before the first case is read.
///
/// Refuses what the gate could not work with, and says why.
pub fn bring(operations: Vec<Operation>) -> Result<(), String> {
    for (index, operation) in operations.iter().enumerate() {
        let known = OPERATIONS.iter().copied().chain(&operations[..index]);
        operation.check(known).map_err(|why| format!("operation `{}`: {why}", operation.name))?;
    }
    BROUGHT.set(operations).map_err(|_| "operations were brought already".to_owned())
}

/// One operation. Plain functions over a case: nothing here knows an implementation.
#[derive(Debug)]
pub struct Operation {
    pub name: &'static str,
    /// The formula in one line.
    pub about: &'static str,
    /// Forms that share the mathematics and differ in layout or a detail; the first is the plain one, "".
    pub variants: &'static [Variant],
    pub axes: &'static [Axis],
    /// Input type and accumulator of each precision class.
    pub precisions: &'static [(Dtype, Dtype)],
    /// Families in its domain; the first is the one that is timed.
    pub fills: &'static [Fill],
    pub rate: RateUnit,
    /// Inputs, then outputs.
    pub tensors: fn(&Case) -> Vec<Tensor>,
    pub work: fn(&Case) -> Work,
    /// Largest magnitude of an input for which no accumulator overflows.
    pub limit: fn(&Case) -> f64,
    /// Expected values of the chosen elements of the output, in ascending order of index.
    pub reference: fn(&Problem, &[usize]) -> Vec<Expected>,
    /// Outputs that depend on element `element` of input `tensor`.
    pub reach: fn(&Case, tensor: usize, element: usize) -> Reach,
    /// The whole output in emulated arithmetic: for calibration and mutants, never for judging.
    pub emulate: fn(&Problem, &Arithmetic) -> Vec<f64>,
    /// Wrong kernels that only this operation can have.
    pub mutants: &'static [Mutant],
    /// A look at the whole output that costs less than its reference; for operations that have one.
    pub whole: Option<WholeCheck>,
}

/// A look at the whole output, read a row at a time: returns the rows by how suspicious they are, the
/// worst first. It accuses nobody: what it names is then judged.
pub type WholeCheck = fn(&Problem, output: Dtype, row: &dyn Fn(usize) -> Vec<f64>, draws: u64) -> Vec<usize>;

/// A wrong kernel, told by one of the operation's families.
#[derive(Debug)]
pub struct Mutant {
    pub name: &'static str,
    pub fill: Fill,
    pub compute: fn(&Problem) -> Vec<f64>,
}

#[derive(Debug)]
pub struct Variant {
    pub name: &'static str,
    pub about: &'static str,
}

#[derive(Debug)]
pub struct Axis {
    pub name: &'static str,
    pub about: &'static str,
}

/// What the rate column of a table counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUnit {
    Bytes,
    Flops,
}

/// One tensor of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: &'static str,
    pub role: Role,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
}

impl Tensor {
    pub fn input(name: &'static str, dtype: Dtype, shape: &[usize]) -> Tensor {
        Tensor { name, role: Role::Input, dtype, shape: shape.to_vec() }
    }

    pub fn output(name: &'static str, dtype: Dtype, shape: &[usize]) -> Tensor {
        Tensor { name, role: Role::Output, dtype, shape: shape.to_vec() }
    }

    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn bytes(&self) -> usize {
        self.elements() * self.dtype.size()
    }
}

/// What a case must do whatever the implementation: operations by kind, compulsory traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Fused multiply-adds; each counts as two operations.
    pub multiply_adds: u64,
    /// Additions, multiplications, comparisons that stand alone.
    pub simple: u64,
    /// Exponentials, divisions, roots.
    pub special: u64,
    pub read: Bytes,
    pub written: Bytes,
}

impl Work {
    pub fn flops(&self) -> u64 {
        2u64.saturating_mul(self.multiply_adds).saturating_add(self.simple).saturating_add(self.special)
    }

    pub fn traffic(&self) -> Bytes {
        self.read + self.written
    }
}

/// A tensor's content, as the judge sees it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub dtype: Dtype,
    pub bytes: &'a [u8],
}

impl View<'_> {
    #[inline]
    pub fn get(&self, index: usize) -> f64 {
        self.dtype.read(self.bytes, index)
    }

    pub fn elements(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    /// `count` elements from `first`, `step` apart.
    pub fn line(&self, first: usize, step: usize, count: usize) -> Vec<f64> {
        let places = (0..count).map(|i| first + i * step);
        // The type is looked at once for the two that large products have most of.
        match self.dtype {
            Dtype::F32 => places.map(|i| Dtype::F32.read(self.bytes, i)).collect(),
            Dtype::Bf16 => places.map(|i| Dtype::Bf16.read(self.bytes, i)).collect(),
            dtype => places.map(|i| dtype.read(self.bytes, i)).collect(),
        }
    }
}

/// A case with content.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    pub case: &'a Case,
    pub fill: Fill,
    pub inputs: Vec<View<'a>>,
}

/// What an output element must be: the f64 value, and the model of the internal error.
///
/// The rounding to the output type is not part of `soft`; the judge adds it without margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    pub value: f64,
    pub soft: f64,
}

/// An arithmetic progression of output elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    pub first: usize,
    pub step: usize,
    pub count: usize,
}

impl Reach {
    pub fn nth(&self, i: usize) -> usize {
        self.first + i * self.step
    }
}

/// Formats that an emulated kernel rounds to: its inputs, every accumulator step.
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic {
    /// Format that inputs are rounded to before use; `None` takes them as they are.
    pub input: Option<Format>,
    /// Format of the accumulator; `None` is exact (integers).
    pub accumulator: Option<Format>,
    /// Sums wrap or saturate at this magnitude; for integer accumulators that are too narrow.
    pub saturate: f64,
    /// Sum in halves instead of in sequence: another honest order.
    pub pairwise: bool,
}

impl Arithmetic {
    /// The declared precision of a case.
    pub fn declared(case: &Case) -> Arithmetic {
        Arithmetic {
            input: None,
            accumulator: case.accumulator.format(),
            saturate: f64::INFINITY,
            pairwise: false,
        }
    }

    /// The next lower precision class, which must be called wrong.
    pub fn next_lower(case: &Case) -> Arithmetic {
        let declared = Arithmetic::declared(case);
        match case.dtype {
            Dtype::F64 => Arithmetic { accumulator: Some(crate::format::F32), ..declared },
            Dtype::F32 => Arithmetic { input: Some(crate::format::TF32), ..declared },
            Dtype::I8 | Dtype::I32 => Arithmetic { saturate: 32767.0, ..declared },
            narrow => Arithmetic { accumulator: narrow.format(), ..declared },
        }
    }

    pub fn input(&self, x: f64) -> f64 {
        self.input.map_or(x, |format| format.round(x))
    }

    pub fn round(&self, x: f64) -> f64 {
        let x = x.clamp(-self.saturate, self.saturate);
        self.accumulator.map_or(x, |format| format.round(x))
    }

    /// The sum of `terms` with every step rounded.
    pub fn sum(&self, terms: &[f64]) -> f64 {
        match terms {
            [] => 0.0,
            [one] => self.round(*one),
            _ if self.pairwise => {
                let (low, high) = terms.split_at(terms.len() / 2);
                self.round(self.sum(low) + self.sum(high))
            }
            _ => terms.iter().fold(0.0, |sum, term| self.round(sum + term)),
        }
    }
}

impl Operation {
    /// The operation of a name, or the nearest name there is.
    pub fn find(name: &str) -> Result<&'static Operation, Option<&'static str>> {
        operations()
            .find(|operation| operation.name == name)
            .ok_or_else(|| nearest(name, operations().map(|operation| operation.name)))
    }

    /// Names of its axes, in order.
    pub fn axis_names(&self) -> Vec<&'static str> {
        self.axes.iter().map(|axis| axis.name).collect()
    }

    /// What is wrong with a row that was not written here.
    fn check<'a>(&self, mut known: impl Iterator<Item = &'a Operation>) -> Result<(), String> {
        let names: Vec<&str> = self.axes.iter().map(|axis| axis.name).collect();
        let is_new = |(index, name): (usize, &&str)| is_kebab(name) && !names[..index].contains(name);
        if !is_kebab(self.name) {
            return Err("a name is lowercase letters, digits and `-`".to_owned());
        }
        if known.any(|known| known.name == self.name) {
            return Err("there is one of this name already; choose another".to_owned());
        }
        if names.is_empty() || !names.iter().enumerate().all(is_new) {
            return Err("it needs axes, each with a name of its own in lowercase letters".to_owned());
        }
        if self.variants.is_empty() || self.precisions.is_empty() {
            return Err("it needs a variant, the plain one is \"\", and a precision".to_owned());
        }
        if self.fills.len() < 3 || self.fills[..2] != [Fill::Uniform, Fill::Normal] {
            return Err("its families are uniform, normal and at least one more, in this order".to_owned());
        }
        Ok(())
    }

    /// What is wrong with the tensors of a case, if anything: inputs, then one output.
    pub fn check_tensors(&self, case: &Case) -> Result<(), String> {
        let tensors = (self.tensors)(case);
        let Some((last, inputs)) = tensors.split_last() else { return Err("it has no tensor".to_owned()) };
        if last.role != Role::Output || inputs.is_empty() || inputs.iter().any(|t| t.role == Role::Output) {
            return Err("its tensors are one or more inputs and then one output".to_owned());
        }
        let mut names: Vec<&str> = tensors.iter().map(|tensor| tensor.name).collect();
        names.sort_unstable();
        names.dedup();
        if names.len() < tensors.len() { Err("two of its tensors share a name".to_owned()) } else { Ok(()) }
    }

    /// Names with their variants: `matmul`, `matmul.nn`.
    pub fn forms(&self) -> impl Iterator<Item = String> {
        self.variants.iter().map(|variant| form(self.name, variant.name))
    }

    pub fn takes(&self, dtype: Dtype, accumulator: Dtype) -> bool {
        self.precisions.contains(&(dtype, accumulator))
    }

    /// Families for a case: integers have no infinities.
    pub fn fills_of(&self, case: &Case) -> Vec<Fill> {
        let float = case.dtype.format().is_some();
        self.fills.iter().copied().filter(|fill| float || *fill != Fill::Nonfinite).collect()
    }

    /// The content of input `tensor` of a case.
    pub fn content(&self, case: &Case, fill: Fill, seed: u64, index: usize, tensor: &Tensor) -> Content {
        Content {
            fill,
            seed,
            tensor: index as u32,
            dtype: tensor.dtype,
            row: tensor.shape.last().copied().unwrap_or(1).max(1),
            limit: (self.limit)(case).min(tensor.dtype.max_finite() / 2.0),
        }
    }
}

/// `operation` or `operation.variant`.
pub fn form(operation: &str, variant: &str) -> String {
    if variant.is_empty() { operation.to_owned() } else { format!("{operation}.{variant}") }
}

#[cfg(test)]
mod tests;
