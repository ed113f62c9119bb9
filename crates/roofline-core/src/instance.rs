//! A case with content, what its outputs must be, and the judge over all of them.

use crate::arithmetic::Arithmetic;
use crate::bound::rounding;
use crate::case::Case;
use crate::fill::Fill;
use crate::format;
use crate::judge::{Judgement, judge};
use crate::operation::{Expected, Judged, Problem};
use crate::tensor::{Tensor, View};
use std::sync::OnceLock;

/// A value that no operation here gives on these inputs: what outputs hold before a kernel writes them.
pub const POISON: f64 = -96.0;

/// A case whose inputs are filled and whose outputs are known.
pub struct Instance<'a> {
    pub case: &'a Case,
    fill: Fill,
    /// The inputs, with their content.
    pub inputs: Vec<(Tensor, Vec<u8>)>,
    pub outputs: Vec<Tensor>,
    /// By output; none where only a property holds.
    expected: Vec<Vec<Expected>>,
    /// What an honest kernel leaves: asked for again and again, emulated once.
    honest: OnceLock<Vec<Vec<f64>>>,
}

impl<'a> Instance<'a> {
    /// Fills the inputs and computes the outputs.
    pub fn new(case: &'a Case, fill: Fill, seed: u64) -> Instance<'a> {
        let operation = case.operation;
        let (tensors, outputs): (Vec<Tensor>, Vec<Tensor>) =
            (operation.tensors)(case).into_iter().partition(|tensor| tensor.role.is_input());
        let inputs = tensors.into_iter().enumerate().map(|(index, tensor)| {
            let mut bytes = vec![0; tensor.bytes()];
            operation.filling(fill, seed, index, &tensor).write(0..tensor.elements(), &mut bytes);
            (tensor, bytes)
        });
        let (inputs, honest) = (inputs.collect(), OnceLock::new());
        let mut instance = Instance { case, fill, inputs, outputs, expected: Vec::new(), honest };
        let expected = instance.outputs.iter().enumerate().map(|(output, tensor)| {
            let all: Vec<usize> = (0..tensor.elements()).collect();
            case.judged().reference(&instance.problem(), output, &all)
        });
        instance.expected = expected.collect();
        instance
    }

    /// What references work on.
    pub fn problem(&self) -> Problem<'_> {
        let inputs = self.inputs.iter().map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes });
        Problem { case: self.case, fill: self.fill, inputs: inputs.collect() }
    }

    /// What an output holds before a launch: poison, or the input that it starts as.
    pub fn before(&self, output: &Tensor) -> Vec<f64> {
        let start =
            output.starts_as.and_then(|name| self.inputs.iter().find(|(input, _)| input.name == name));
        match start {
            Some((input, bytes)) => (0..input.elements()).map(|i| input.dtype.read(bytes, i)).collect(),
            None => vec![POISON; output.elements()],
        }
    }

    /// What a kernel of this arithmetic leaves.
    pub fn emulate(&self, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
        self.case.judged().emulate(&self.problem(), arithmetic)
    }

    /// What a kernel of the declared precision leaves.
    pub fn honest(&self) -> &[Vec<f64>] {
        self.honest.get_or_init(|| self.emulate(&Arithmetic::declared(self.case)))
    }

    /// The expected values themselves; `None` where there are none.
    pub fn exact(&self) -> Option<Vec<Vec<f64>>> {
        let values = |expected: &Vec<Expected>| expected.iter().map(|expected| expected.value).collect();
        let is_judged = !matches!(self.case.judged(), Judged::Property(_));
        is_judged.then(|| self.expected.iter().map(values).collect())
    }

    /// Expected values and bounds of all outputs, to the last bit that every machine computes alike.
    pub fn expected_bits(&self) -> impl Iterator<Item = u64> {
        // Functions of the system's library differ in their last bits.
        let rounded = |x: f64| (x as f32).to_bits().into();
        self.expected
            .iter()
            .flatten()
            .flat_map(move |expected| [rounded(expected.value), rounded(expected.soft)])
    }

    /// What an element must be; `None` where only a property holds.
    pub fn expected(&self, output: usize, index: usize) -> Option<Expected> {
        self.expected[output].get(index).copied()
    }

    /// What an honest kernel gives for a spoiled first input; `None` where that holds no values.
    pub fn with_input(&self, spoil: fn(&mut Vec<f64>, &Tensor)) -> Option<Vec<Vec<f64>>> {
        let (first, bytes) = self.inputs.first()?;
        if !first.content.is_values() {
            return None;
        }
        let mut values: Vec<f64> = (0..first.elements()).map(|i| first.dtype.read(bytes, i)).collect();
        spoil(&mut values, first);
        let mut bytes = vec![0; first.bytes()];
        values.iter().enumerate().for_each(|(i, x)| first.dtype.write(&mut bytes, i, *x));
        let mut problem = self.problem();
        problem.inputs[0].bytes = &bytes;
        Some(self.case.judged().emulate(&problem, &Arithmetic::declared(self.case)))
    }

    /// The bytes that a kernel with these results leaves behind.
    pub fn written(&self, outputs: &[Vec<f64>]) -> Vec<Vec<u8>> {
        let write = |(tensor, values): (&Tensor, &Vec<f64>)| {
            let mut bytes = vec![0; tensor.bytes()];
            values.iter().enumerate().for_each(|(i, y)| tensor.dtype.write(&mut bytes, i, *y));
            bytes
        };
        self.outputs.iter().zip(outputs).map(write).collect()
    }

    /// The squared errors of an output's elements that have one, together, and how many those are.
    pub(crate) fn squares(&self, output: usize, values: &[f64]) -> (f64, usize) {
        let errors = values.iter().zip(&self.expected[output]).map(|(y, expected)| y - expected.value);
        let squares = errors.map(|error| error * error).filter(|square| square.is_finite());
        squares.fold((0.0, 0), |(all, count), square| (all + square, count + 1))
    }

    /// Whether outputs are wrong by more than the rounding to their type and a spread that is given for each. What is
    /// less may pass, whoever leaves it.
    pub(crate) fn shows(&self, outputs: &[Vec<f64>], spread: &[f64]) -> bool {
        if self.expected.iter().all(Vec::is_empty) {
            return self.differing(outputs, self.honest()) > 0;
        }
        let written = self.written(outputs);
        let shows = |output: usize, tensor: &Tensor| {
            let is_wrong = |(index, expected): (usize, &Expected)| {
                let (got, value) = (tensor.dtype.read(&written[output], index), expected.value);
                let right = tensor.dtype.format().map_or(value, |format| format.round(value));
                if got == right || got.is_nan() && right.is_nan() {
                    return false;
                }
                // Of two codes near a tie either is right: the soft part is what lies between them.
                if tensor.dtype.size() == 1 && (got - value).abs() <= expected.soft {
                    return false;
                }
                let is_finite = got.is_finite() && right.is_finite();
                !is_finite || (got - value).abs() > rounding(tensor.dtype, value) + spread[output]
            };
            self.expected[output].iter().enumerate().any(is_wrong)
        };
        self.outputs.iter().enumerate().any(|(output, tensor)| shows(output, tensor))
    }

    /// Elements that two kernels leave otherwise; one NaN is as good as another.
    pub fn differing(&self, one: &[Vec<f64>], other: &[Vec<f64>]) -> usize {
        let (one, other) = (self.written(one), self.written(other));
        let counts = self.outputs.iter().zip(one.iter().zip(&other)).map(|(tensor, (one, other))| {
            let differs = |i: &usize| {
                let [one, other] = [one, other].map(|bytes| tensor.dtype.read(bytes, *i));
                one.to_bits() != other.to_bits() && !(one.is_nan() && other.is_nan())
            };
            (0..tensor.elements()).filter(differs).count()
        });
        counts.sum()
    }

    /// Judges whole outputs; `loosen` multiplies the bound.
    pub fn judge(&self, outputs: &[Vec<f64>], loosen: f64) -> Judgement {
        let written = self.written(outputs);
        let views: Vec<View> = self
            .outputs
            .iter()
            .zip(&written)
            .map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes })
            .collect();
        if let Judged::Property(property) = self.case.judged() {
            let held = (property.check)(&self.problem(), &views);
            return Judgement { checked: 1, failed: usize::from(held.is_err()), ..Judgement::default() };
        }
        let mut all = Judgement::default();
        for ((tensor, view), expected) in self.outputs.iter().zip(&views).zip(&self.expected) {
            let wanted: Vec<usize> = (0..tensor.elements()).collect();
            let got: Vec<f64> = wanted.iter().map(|i| view.get(*i)).collect();
            let Tensor { dtype, shape, .. } = tensor;
            all = all.and(judge(*dtype, shape, &wanted, &got, expected, Some(POISON), loosen));
        }
        all
    }

    /// An output of numbers next to the right ones towards zero.
    pub fn truncated(&self, output: usize) -> Option<Vec<f64>> {
        let format = self.outputs[output].dtype.format().unwrap_or(format::F64);
        let truncate = |expected: &Expected| {
            let rounded = format.round(expected.value);
            if rounded.abs() <= expected.value.abs() {
                return rounded;
            }
            let spacing = 2.0 * format.unit_roundoff() * rounded.abs();
            format.round(rounded - (spacing / 2.0).copysign(rounded))
        };
        let expected = self.expected.get(output).filter(|expected| !expected.is_empty())?;
        Some(expected.iter().map(truncate).collect())
    }
}
