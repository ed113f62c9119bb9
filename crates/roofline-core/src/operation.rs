//! What an operation is: axes, parameters, precisions, tensors, and how its outputs are judged.
//!
//! Those of the house stand in [`ops`](crate::ops), most of them as a formula on the row of a [`family`]; those of a user
//! come as [declarations](own).

pub mod family;
mod judged;
pub mod own;

pub use judged::{Elements, Expected, Judged, Mutant, Problem, Property, Reach, WholeCheck, Wrong};

pub use crate::names::form;
pub use roofline_protocol::work::Work;

use crate::case::{Case, number};
use crate::condition::{Condition, Sizes};
use crate::fill::{Fill, Filling};
use crate::names::{is_kebab, is_operation};
use crate::philox::Draws;
use crate::precision::Precision;
use crate::tensor::{Role, Tensor};

/// One operation. Plain functions over a case: nothing here knows an implementation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub name: &'static str,
    /// Other names that people know it by: what is read may have them, what is printed has `name`.
    pub also: &'static [&'static str],
    /// The formula in one line.
    pub about: &'static str,
    /// Forms that share the mathematics and differ in layout or a detail; the first is the plain one, "".
    pub variants: &'static [Variant],
    pub axes: &'static [Axis],
    /// Numbers of the formula that a case may give: in its id where they are not the default.
    pub params: &'static [Param],
    /// The first is the usual one.
    pub precisions: &'static [Precision],
    /// Families in its domain; the first is the one that is timed.
    pub fills: &'static [Fill],
    pub rate: RateUnit,
    /// Sizes that it is defined for, as a [`Condition`] says it.
    pub legal: &'static str,
    /// Inputs, then outputs.
    pub tensors: fn(&Case) -> Vec<Tensor>,
    pub work: fn(&Case) -> Work,
    pub judged: Judged,
    /// Wrong kernels that only this operation can have.
    pub mutants: &'static [Mutant],
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
    /// Its size where none is given.
    pub usual: Option<Usual>,
}

/// The size of an axis that most cases have: ids leave it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    Size(u64),
    /// That of another axis, which has no usual one.
    As(&'static str),
}

impl Axis {
    pub const fn new(name: &'static str, about: &'static str) -> Axis {
        Axis { name, about, usual: None }
    }

    pub const fn usually(self, size: u64) -> Axis {
        Axis { usual: Some(Usual::Size(size)), ..self }
    }

    pub const fn usually_as(self, axis: &'static str) -> Axis {
        Axis { usual: Some(Usual::As(axis)), ..self }
    }
}

/// A number of the formula that is no size.
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub about: &'static str,
    pub default: f64,
    /// What it may be, both ends included.
    pub range: (f64, f64),
    /// Names of its values, from 0 on, where it says what inputs hold: implementations take them all.
    pub words: &'static [&'static str],
}

impl Param {
    pub const fn new(name: &'static str, about: &'static str, default: f64, range: (f64, f64)) -> Param {
        Param { name, about, default, range, words: &[] }
    }

    /// One of several kinds of content, usually the first.
    pub const fn of_content(
        name: &'static str,
        about: &'static str,
        words: &'static [&'static str],
    ) -> Param {
        Param { name, about, default: 0.0, range: (0.0, words.len() as f64 - 1.0), words }
    }

    /// A value as ids have it.
    pub fn text(&self, value: f64) -> String {
        self.words.get(value as usize).map_or_else(|| number(value), |word| (*word).to_owned())
    }

    /// What it may be, for people.
    pub fn choice(&self) -> String {
        match self.words {
            [] => format!("{} to {}", number(self.range.0), number(self.range.1)),
            words => words.join(", "),
        }
    }
}

/// What the rate column of a table counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUnit {
    Bytes,
    Flops,
}

impl Operation {
    /// All names that it is known by, its own first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }

    /// Names of its axes, in order.
    pub fn axis_names(&self) -> Vec<&'static str> {
        self.axes.iter().map(|axis| axis.name).collect()
    }

    /// The sizes of all axes, those that are not given being the usual ones; else the axis that is lacking.
    pub fn complete(&self, given: &[Option<u64>]) -> Result<Vec<u64>, &'static Axis> {
        let axes: &'static [Axis] = self.axes;
        let size = |axis| self.usual(axis, |place| given[place]);
        axes.iter().zip(given).map(|(axis, given)| given.or_else(|| size(axis)).ok_or(axis)).collect()
    }

    /// The usual size of an axis, if it has one, beside given sizes by place.
    pub fn usual(&self, axis: &Axis, given: impl Fn(usize) -> Option<u64>) -> Option<u64> {
        match axis.usual? {
            Usual::Size(size) => Some(size),
            Usual::As(other) => given(self.axes.iter().position(|axis| axis.name == other)?),
        }
    }

    /// The precision of an id.
    pub fn precision(&self, id: &str) -> Option<&'static Precision> {
        let precisions: &'static [Precision] = self.precisions;
        precisions.iter().find(|precision| precision.id == id)
    }

    /// Ids of its precisions, for people.
    pub fn precision_ids(&self) -> String {
        self.precisions.iter().map(|precision| precision.id).collect::<Vec<_>>().join(", ")
    }

    /// The sizes that it is defined for.
    pub fn legal(&self) -> Condition {
        self.legal.parse().unwrap_or_default()
    }

    /// What is wrong with a row that was not written here.
    pub(crate) fn check<'a>(&self, known: impl Iterator<Item = &'a Operation> + Clone) -> Result<(), String> {
        let names: Vec<&str> = self
            .axes
            .iter()
            .map(|axis| axis.name)
            .chain(self.params.iter().map(|param| param.name))
            .collect();
        let is_new = |(index, name): (usize, &&str)| is_kebab(name) && !names[..index].contains(name);
        if !self.names().all(is_operation) {
            return Err("a name is letters, digits, `-` and `_`".to_owned());
        }
        // Names that differ by how they are written alone would be taken for each other.
        let read = |name: &str| name.to_ascii_lowercase().replace('_', "-");
        let taken = |name: &str| known.clone().flat_map(Operation::names).find(|own| read(own) == read(name));
        if let Some(name) = self.names().find_map(taken) {
            return Err(format!("there is one of the name `{name}` already; choose another"));
        }
        if self.axes.is_empty() || !names.iter().enumerate().all(is_new) {
            return Err("it needs axes, each with a name of its own in lowercase letters".to_owned());
        }
        let needed: Vec<Option<u64>> =
            self.axes.iter().map(|axis| axis.usual.is_none().then_some(1)).collect();
        if let Err(axis) = self.complete(&needed) {
            return Err(format!("the usual size of `{}` is that of no axis that must be given", axis.name));
        }
        if needed.iter().all(Option::is_none) {
            return Err("it needs an axis whose size must be given: ids would have none".to_owned());
        }
        if self.variants.is_empty() || self.precisions.is_empty() {
            return Err("it needs a variant, the plain one is \"\", and a precision".to_owned());
        }
        if self.fills.len() < 3 || self.fills[..2] != [Fill::Uniform, Fill::Normal] {
            return Err("its families are uniform, normal and at least one more, in this order".to_owned());
        }
        let legal: Condition = self.legal.parse().map_err(|error| format!("its legal sizes: {error}"))?;
        legal.check_axes(&self.axis_names()).map_err(|why| format!("its legal sizes: {why}"))
    }

    /// What is wrong with the tensors of a case, if anything: inputs, then outputs.
    pub fn check_tensors(&self, case: &Case) -> Result<(), String> {
        let tensors = (self.tensors)(case);
        if !tensors.is_sorted_by_key(|tensor| !tensor.role.is_input()) {
            return Err("its tensors are inputs and then outputs".to_owned());
        }
        let is_twice = |(index, tensor): (usize, &Tensor)| {
            tensors[..index].iter().any(|other| other.name == tensor.name)
        };
        if tensors.iter().enumerate().any(is_twice) {
            return Err("two of its tensors share a name".to_owned());
        }
        let starts = |output: &Tensor| {
            let Some(name) = output.starts_as else { return true };
            let is_it = |tensor: &Tensor| tensor.role == Role::Input && tensor.name == name;
            let input = tensors.iter().find(|tensor| is_it(tensor));
            input.is_some_and(|input| (input.dtype, &input.shape) == (output.dtype, &output.shape))
        };
        if !tensors.iter().all(starts) {
            return Err("what an output starts as is no input of its type and shape".to_owned());
        }
        if tensors.is_empty() && !matches!(case.judged(), Judged::Property(_)) {
            return Err("it has no tensor to judge".to_owned());
        }
        Ok(())
    }

    /// Names with their variants: `matmul`, `matmul.nn`.
    pub fn forms(&self) -> impl Iterator<Item = String> {
        self.variants.iter().map(|variant| form(self.name, variant.name))
    }

    /// Families for a case: integers have no infinities.
    pub fn fills_of(&self, case: &Case) -> Vec<Fill> {
        let float = case.dtype().format().is_some();
        self.fills.iter().copied().filter(|fill| float || *fill != Fill::Nonfinite).collect()
    }

    /// The content of input number `index` of a case.
    pub fn filling(&self, fill: Fill, seed: u64, index: usize, tensor: &Tensor) -> Filling {
        let (row, apart) = tensor.lines();
        Filling {
            fill,
            seed,
            tensor: index as u32,
            dtype: tensor.dtype,
            row,
            apart,
            alike: tensor.alike,
            elements: tensor.elements(),
            content: tensor.content,
        }
    }

    /// A case of it at sizes near the wanted ones that it is defined for.
    pub fn near(&self, case: &Case, wanted: &[u64], draws: &mut Draws) -> Case {
        let names = self.axis_names();
        let own = case.sizes.clone();
        case.resized(&self.legal().near(&names, &own, wanted, draws))
    }

    /// Whether it is defined for sizes; otherwise what it needs.
    pub fn takes_sizes(&self, sizes: &[u64]) -> Result<(), String> {
        self.legal().holds(Sizes { names: &self.axis_names(), values: sizes })
    }
}
