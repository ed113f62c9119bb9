//! An operation of the user's own, as a type; the core has it as a row of plain functions.

use crate::reference;
use roofline_core::arithmetic::Arithmetic;
use roofline_core::case::Case;
use roofline_core::dtype::Dtype;
use roofline_core::fill::Fill;
use roofline_core::operation::{
    self, Axis, Elements, Expected, Judged, Param, Problem, Property, RateUnit, Reach, Variant, Work,
};
use roofline_core::precision::Precision;
use roofline_core::tensor::{Content, Tensor, View};
use roofline_core::units::Bytes;

/// Mathematics that implementations are held to. What has no default is the mathematics itself.
///
/// All functions but [`reference`](Operation::reference) are small and run in the bench's own process; the
/// reference runs in one of its own.
pub trait Operation: 'static {
    /// Lowercase letters, digits and `-`: the first word of its cases.
    const NAME: &'static str;
    /// The formula in one line.
    const ABOUT: &'static str;
    /// Its sizes, in the order of case ids.
    const AXES: &'static [Axis];
    /// What it is defined for: types, each with what its sums are kept in.
    const PRECISIONS: &'static [Precision] = &[Precision::of(Dtype::F32)];
    /// Numbers of the formula that a case may give, and that are no sizes.
    const PARAMS: &'static [Param] = &[];
    /// Sizes that it is defined for, such as `cols % 2 == 0`; empty for all.
    const LEGAL: &'static str = "";
    /// Forms that differ in layout or a detail; the plain one, "", comes first.
    const VARIANTS: &'static [Variant] = &[Variant { name: "", about: "the plain form" }];
    /// Families of inputs in its domain, after the uniform and the normal one.
    const FILLS: &'static [Fill] = Fill::ALL;
    /// What the rate counts.
    const RATE: RateUnit = RateUnit::Bytes;
    /// Whether finite inputs may give NaN, as a logarithm does. Else a reference that gives NaN has failed.
    const MAY_BE_NAN: bool = false;
    /// What must hold of the outputs as wholes, where elements have no one right value, as of places or of a sample.
    /// It takes the place of [`reference`](Operation::reference).
    const PROPERTY: Option<Property> = None;

    /// Inputs, then outputs. Shapes are products of axes. Values are at most [`limit`](Operation::limit).
    fn tensors(case: &Case) -> Vec<Tensor>;

    /// What a case must do whatever the implementation, for its limit: operations, and [the traffic](traffic).
    fn work(case: &Case) -> Work;

    /// Values of the elements `wanted`, which ascend, of an output, counted from 0; in f64 from the inputs as they are,
    /// and beside each the model of a kernel's internal error, from [`bound`](crate::bound). The rounding to the
    /// output's type is added by the judge. One that gives nothing is refused, unless there is a property.
    fn reference(problem: &Problem, output: usize, wanted: &[usize]) -> Vec<Expected> {
        let _ = (problem, output, wanted);
        Vec::new()
    }

    /// Largest magnitude of an input for which no accumulator overflows. Enough for products of up to four inputs.
    fn limit(case: &Case) -> f64 {
        case.precision.accumulator.max_finite().sqrt().sqrt() / 2.0
    }

    /// Outputs that depend on an element of an input, those where a change shows most first: all, unless told better.
    /// The better it is told, the sooner a kernel that keeps old results is caught.
    fn reach(case: &Case, tensor: usize, element: usize) -> Vec<Reach> {
        let _ = (tensor, element);
        let tensors = Self::tensors(case);
        let outputs = tensors.iter().filter(|tensor| !tensor.role.is_input()).enumerate();
        outputs
            .map(|(output, tensor)| Reach { output, first: 0, step: 1, count: tensor.elements() })
            .collect()
    }

    /// Bytes of all inputs read and of the outputs written, once each; no arithmetic.
    fn traffic(case: &Case) -> Work {
        let tensors = Self::tensors(case);
        let bytes = |is_input: bool| {
            let meant = tensors.iter().filter(|tensor| tensor.role.is_input() == is_input);
            Bytes(meant.map(|tensor| tensor.walked() as u64).sum())
        };
        Work { read: bytes(true), written: bytes(false), ..Work::default() }
    }
}

/// What the process of the references needs of an operation.
#[derive(Clone, Copy)]
pub(crate) struct Own {
    pub(crate) name: &'static str,
    pub(crate) may_be_nan: bool,
    pub(crate) reference: fn(&Problem, usize, &[usize]) -> Vec<Expected>,
    /// The row for the core, whose reference asks that process.
    pub(crate) row: fn() -> operation::Operation,
}

impl Own {
    pub(crate) const fn of<O: Operation>() -> Own {
        Own { name: O::NAME, may_be_nan: O::MAY_BE_NAN, reference: O::reference, row: row::<O> }
    }
}

fn row<O: Operation>() -> operation::Operation {
    operation::Operation {
        name: O::NAME,
        also: &[],
        about: O::ABOUT,
        variants: O::VARIANTS,
        axes: O::AXES,
        params: O::PARAMS,
        precisions: O::PRECISIONS,
        fills: O::FILLS,
        rate: O::RATE,
        legal: O::LEGAL,
        tensors: limited::<O>,
        work: O::work,
        judged: O::PROPERTY.map_or(
            Judged::Elements(Elements {
                reference: reference::ask,
                reach: |problem, tensor, element| O::reach(problem.case, tensor, element),
                emulate,
                whole: None,
            }),
            Judged::Property,
        ),
        mutants: &[],
    }
}

/// Tensors whose values no accumulator overflows of.
fn limited<O: Operation>(case: &Case) -> Vec<Tensor> {
    let limit = O::limit(case);
    let limited = |tensor: Tensor| match tensor.content {
        Content::Values { limit: own } => tensor.limit(own.min(limit)),
        _ => tensor,
    };
    O::tensors(case).into_iter().map(limited).collect()
}

/// A kernel in the given arithmetic, as far as a reference alone tells: its inputs and its results rounded.
fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
    let rounded: Vec<Vec<u8>> = problem.inputs.iter().map(|input| rounded(input, arithmetic)).collect();
    let inputs = problem.inputs.iter().zip(&rounded);
    let inputs = inputs.map(|(view, bytes)| View { dtype: view.dtype, bytes }).collect();
    let problem = Problem { inputs, ..*problem };
    let tensors = (problem.case.operation.tensors)(problem.case);
    let outputs = tensors.iter().filter(|tensor| !tensor.role.is_input()).enumerate();
    let emulated = |(output, tensor): (usize, &Tensor)| {
        let wanted: Vec<usize> = (0..tensor.elements()).collect();
        let expected = reference::ask(&problem, output, &wanted);
        expected.iter().map(|expected| arithmetic.round(expected.value)).collect()
    };
    outputs.map(emulated).collect()
}

fn rounded(input: &View, arithmetic: &Arithmetic) -> Vec<u8> {
    let mut bytes = input.bytes.to_vec();
    if arithmetic.input.is_some() {
        (0..input.elements()).for_each(|i| input.dtype.write(&mut bytes, i, arithmetic.input(input.get(i))));
    }
    bytes
}
