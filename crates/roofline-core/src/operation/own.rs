//! Operations that a runner declares beside its kernels: a few texts here, and a reference in a process of its own.
//!
//! A [`Declaration`] arrives as hostile bytes; [`Own::parse`] makes of it what can be meant, or says what cannot.
//! What stands for the reference is a function that asks its process; the error that a kernel may make is
//! computed here, by the [model](model::Model) that the declaration names.

mod expression;
mod model;
mod reach;
mod signature;
mod words;

use crate::arithmetic::Arithmetic;
use crate::case::Case;
use crate::condition::Condition;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::names::is_operation;
use crate::nearest::nearest;
use crate::operation::{Axis, Judged, Operation, Param, Problem, RateUnit, Variant, Work};
use crate::philox::Draws;
use crate::precision::Precision;
use crate::tensor::{Content, Tensor, View};
use crate::units::Bytes;
use expression::Expression;
pub use model::Model;
pub use roofline_protocol::declaration::{Declaration, Purpose};
use signature::{Declared, Signature};
use words::Words;

pub use reach::check_reach;

/// Longest text of a declaration, in bytes.
const LONGEST: usize = 1024;
const MOST_AXES: usize = 8;
const MOST_PARAMS: usize = 8;
/// Types that a declared operation may be in.
const DTYPES: [Dtype; 6] = [Dtype::F32, Dtype::Bf16, Dtype::F16, Dtype::F64, Dtype::I8, Dtype::I32];

/// Whether the formula of a declared operation takes a number of this name.
pub fn has_param(declaration: &Declaration, name: &str) -> bool {
    parse_params(&declaration.params).is_ok_and(|params| params.iter().any(|param| param.name == name))
}

/// Asks the process of an operation for whole outputs, and behind them for their errors where the
/// [model](Model::PerElement) has them; says why it has none.
pub type Asked = fn(&Own, &Problem, Purpose) -> Result<Vec<Vec<f64>>, String>;

/// The runner that declares an operation, and whose process is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarer {
    pub runner: String,
    pub version: String,
}

/// A parameter as it was declared.
#[derive(Clone, Debug, PartialEq)]
struct Number {
    name: String,
    default: f64,
    range: (f64, f64),
}

/// A declaration that can be meant.
#[derive(Debug)]
pub struct Own {
    pub declaration: Declaration,
    pub by: Declarer,
    pub model: Model,
    signature: Signature,
    axes: Vec<String>,
    flops: Option<Expression>,
    legal: Condition,
    params: Vec<Number>,
    precisions: Vec<Precision>,
    ask: Asked,
}

impl Own {
    /// Understands a declaration of a runner, or says what is wrong with it.
    pub fn parse(declaration: Declaration, by: Declarer, ask: Asked) -> Result<Own, String> {
        let of_field = |field: &str, why: String| format!("its {field}: {why}");
        check_lengths(&declaration)?;
        if !is_operation(&declaration.name) {
            return Err("a name is letters, digits, `-` and `_`".to_owned());
        }
        let signature = Signature::parse(&declaration.signature).map_err(|why| of_field("signature", why))?;
        let axes: Vec<String> = signature.axes().into_iter().map(str::to_owned).collect();
        check_axes(&signature, &axes).map_err(|why| of_field("signature", why))?;
        let model = Model::parse(&declaration.bound).map_err(|why| of_field("bound", why))?;
        model.check(&axes, &signature).map_err(|why| of_field("bound", why))?;
        let flops = (!declaration.flops.trim().is_empty()).then(|| Expression::parse(&declaration.flops));
        let flops = flops.transpose().map_err(|why| of_field("flops", why))?;
        for axis in
            flops.iter().flat_map(Expression::axes).chain(declaration.independent.iter().map(String::as_str))
        {
            known_axis(axis, &axes)?;
        }
        let legal: Condition =
            declaration.legal.parse().map_err(|error| of_field("legal sizes", format!("{error}")))?;
        let names: Vec<&str> = axes.iter().map(String::as_str).collect();
        legal.check_axes(&names).map_err(|why| of_field("legal sizes", why))?;
        let params = parse_params(&declaration.params).map_err(|why| of_field("parameters", why))?;
        let precisions = parse_dtypes(&declaration.dtypes)?;
        let own = Own { declaration, by, model, signature, axes, flops, legal, params, precisions, ask };
        own.check_independent()?;
        own.check_shapes()?;
        Ok(own)
    }

    /// The row for the registry, which lasts as long as the program.
    pub fn row(self) -> Operation {
        let own: &'static Own = Box::leak(Box::new(self));
        let about = |name: &String| {
            let has = |tensor: &&Declared| tensor.dimensions.iter().any(|size| size.axis() == Some(name));
            let of: Vec<&str> =
                own.signature.tensors.iter().filter(has).map(|tensor| tensor.name.as_str()).collect();
            format!("a size of {}", if of.is_empty() { "the operation".to_owned() } else { of.join(" and ") })
        };
        let axes: Vec<Axis> =
            own.axes.iter().map(|name| Axis::new(name, String::leak(about(name)))).collect();
        let param = |number: &'static Number| {
            Param::new(&number.name, "a number of the formula", number.default, number.range)
        };
        let params: Vec<Param> = own.params.iter().map(param).collect();
        Operation {
            name: &own.declaration.name,
            also: &[],
            about: &own.declaration.about,
            variants: &[Variant { name: "", about: "the plain form" }],
            axes: Vec::leak(axes),
            params: Vec::leak(params),
            precisions: &own.precisions,
            fills: Fill::ALL,
            rate: RateUnit::Bytes,
            legal: &own.declaration.legal,
            tensors: |case| of_case(case).tensors(case),
            work: |case| of_case(case).work(case),
            judged: Judged::Own(own),
            mutants: &[],
        }
    }

    /// Whole outputs of a problem.
    pub(crate) fn ask(&self, problem: &Problem, purpose: Purpose) -> Vec<Vec<f64>> {
        (self.ask)(self, problem, purpose)
            .unwrap_or_else(|why| raise(format!("the reference of `{}` {why}", self.declaration.name)))
    }

    /// A kernel in the given arithmetic, as far as a reference alone tells: its inputs and its result rounded.
    pub(crate) fn emulate(&self, problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
        let inputs = self.changed(problem, arithmetic.input.is_some(), |x| arithmetic.input(x));
        let views = problem.inputs.iter().zip(&inputs);
        let inputs = views.map(|(view, bytes)| View { dtype: view.dtype, bytes }).collect();
        let outputs = self.ask(&Problem { inputs, ..*problem }, Purpose::Reference);
        let round = |output: Vec<f64>| output.into_iter().map(|y| arithmetic.round(y)).collect();
        outputs.into_iter().take(self.signature.outputs().count()).map(round).collect()
    }

    /// The bytes of the inputs with every value changed, or as they are.
    fn changed(&self, problem: &Problem, is_changed: bool, change: impl Fn(f64) -> f64) -> Vec<Vec<u8>> {
        let changed = |input: &View| {
            let mut bytes = input.bytes.to_vec();
            if is_changed {
                (0..input.elements()).for_each(|i| input.dtype.write(&mut bytes, i, change(input.get(i))));
            }
            bytes
        };
        problem.inputs.iter().map(changed).collect()
    }

    fn tensors(&'static self, case: &Case) -> Vec<Tensor> {
        let precision = case.precision;
        let usual_limit = precision.accumulator.max_finite().sqrt().sqrt() / 2.0;
        let size = |expression| self.size(expression, &case.sizes);
        // A change that is seen in a sum of so many terms.
        let terms = self.model.terms().map_or(1, size);
        let step = (16.0 * terms as f64 * precision.accumulator.unit_roundoff()).max(1.0);
        let tensor = |declared: &'static Declared| {
            let shape: Vec<usize> = declared.dimensions.iter().map(size).collect();
            let usual = if declared.is_input() { precision.dtype } else { precision.output };
            let dtype = declared.dtype.unwrap_or(usual);
            let tensor =
                Tensor { role: declared.role, ..Tensor::input(&declared.name, dtype, &shape) }.step(step);
            // Nobody says what becomes of whole numbers: what they are indices of may be counted first.
            let tensor = if dtype.format().is_none() { tensor.sorted_by() } else { tensor };
            match declared.within {
                Some((low, high)) => tensor.holding(Content::Within { low, high }),
                None => tensor.limit(declared.limit.unwrap_or(usual_limit)),
            }
        };
        self.signature.tensors.iter().map(tensor).collect()
    }

    /// What an expression is for sizes; 1 where it has no value, which [`Own::check_shapes`] rules out for those that
    /// are legal.
    fn size(&self, expression: &Expression, sizes: &[u64]) -> usize {
        self.value(expression, sizes).and_then(|value| usize::try_from(value).ok()).unwrap_or(1).max(1)
    }

    fn value(&self, expression: &Expression, sizes: &[u64]) -> Option<u64> {
        let place = |name: &str| self.axes.iter().position(|axis| axis == name);
        expression.value(&|name| sizes.get(place(name)?).copied())
    }

    /// Every input read and every output written once, and the operations that are declared or follow from the model.
    fn work(&'static self, case: &Case) -> Work {
        let tensors = self.tensors(case);
        let bytes = |is_input: bool| {
            let meant = tensors.iter().filter(|tensor| tensor.role.is_input() == is_input);
            Bytes(meant.map(|tensor| tensor.bytes() as u64).sum())
        };
        let outputs = tensors.iter().filter(|tensor| !tensor.role.is_input());
        let elements: u64 = outputs.map(|tensor| tensor.elements() as u64).sum();
        let terms = |count: &Expression| self.value(count, &case.sizes).unwrap_or(0).saturating_mul(elements);
        let flops = self.flops.as_ref().and_then(|flops| self.value(flops, &case.sizes));
        let (multiply_adds, simple) = match (&self.model, flops) {
            (Model::Dot(_), Some(flops)) => (flops / 2, 0),
            (_, Some(flops)) => (0, flops),
            (Model::Dot(count), None) => (terms(count), 0),
            (Model::Sum(count), None) => (0, terms(count)),
            (Model::Elementwise(count), None) => (0, elements.saturating_mul(u64::from(*count))),
            _ => (0, 0),
        };
        Work { multiply_adds, simple, special: 0, read: bytes(true), written: bytes(false) }
    }

    /// An axis that is called independent must stand alone on both sides.
    fn check_independent(&self) -> Result<(), String> {
        for axis in &self.declaration.independent {
            let has = |tensor: &Declared| tensor.dimensions.iter().any(|size| size.axis() == Some(axis));
            if !self.signature.inputs().any(has) || !self.signature.outputs().any(has) {
                return Err(format!("`{axis}` is independent only as a dimension of inputs and of outputs"));
            }
        }
        Ok(())
    }

    /// Every size that the gate may draw must give tensors: tried at small ones.
    fn check_shapes(&self) -> Result<(), String> {
        let names: Vec<&str> = self.axes.iter().map(String::as_str).collect();
        let mut draws = Draws::new(1, 15);
        let legal_sizes = |wanted: Vec<u64>, draws: &mut Draws| {
            let sizes = self.legal.near(&names, &wanted, &wanted, draws);
            let is_legal = self.legal.holds(crate::condition::Sizes { names: &names, values: &sizes });
            is_legal.is_ok().then_some(sizes)
        };
        let mut is_tried = false;
        for trial in 0..64u64 {
            let wanted = match trial {
                0 => vec![1; names.len()],
                1 => vec![64; names.len()],
                _ => names.iter().map(|_| 1 + draws.below(if trial % 2 == 0 { 8 } else { 100 })).collect(),
            };
            let Some(sizes) = legal_sizes(wanted, &mut draws) else { continue };
            is_tried = true;
            for tensor in &self.signature.tensors {
                let is_good = |size: &&Expression| self.value(size, &sizes).is_some_and(|size| size > 0);
                if let Some(size) = tensor.dimensions.iter().find(|size| !is_good(size)) {
                    let at: Vec<String> =
                        names.iter().zip(&sizes).map(|(name, size)| format!("{name}={size}")).collect();
                    return Err(format!(
                        "tensor `{}`: `{size}` is no size for {}; `legal` says which sizes there are",
                        tensor.name,
                        at.join(",")
                    ));
                }
            }
        }
        if is_tried { Ok(()) } else { Err("no small sizes are legal; the gate needs some".to_owned()) }
    }
}

/// The declaration of a case's operation, which is one.
fn of_case(case: &Case) -> &'static Own {
    match case.operation.judged {
        Judged::Own(own) => own,
        _ => unreachable!("`{}` is not declared by a runner", case.operation.name),
    }
}

/// Goes up as a panic that nobody prints: the conductor refuses the case with its text.
fn raise(why: String) -> ! {
    std::panic::resume_unwind(Box::new(why))
}

fn check_lengths(declaration: &Declaration) -> Result<(), String> {
    let Declaration { name, about, signature, bound, dtypes, independent, legal, params, flops, .. } =
        declaration;
    let texts = [name, about, signature, bound, legal, params, flops];
    let all = texts.into_iter().chain(dtypes).chain(independent);
    match all.map(String::len).find(|length| *length > LONGEST) {
        Some(length) => Err(format!("a text of {length} bytes; {LONGEST} is the limit")),
        None if dtypes.len().max(independent.len()) > 2 * MOST_AXES => {
            Err("too many dtypes or axes".to_owned())
        }
        None => Ok(()),
    }
}

fn check_axes(signature: &Signature, axes: &[String]) -> Result<(), String> {
    if axes.is_empty() {
        return Err("no tensor has an axis; sizes are names such as `rows`".to_owned());
    }
    if axes.len() > MOST_AXES {
        return Err(format!("{} axes; {MOST_AXES} is the limit", axes.len()));
    }
    let of_inputs: Vec<&str> =
        signature.inputs().flat_map(|tensor| &tensor.dimensions).flat_map(Expression::axes).collect();
    for output in signature.outputs() {
        let mut axes = output.dimensions.iter().flat_map(Expression::axes);
        if let Some(axis) = axes.find(|axis| !of_inputs.contains(axis)) {
            let hint = match nearest(axis, of_inputs.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the axes are {}", of_inputs.join(", ")),
            };
            return Err(format!("no input has the axis `{axis}` of `{}`; {hint}", output.name));
        }
    }
    Ok(())
}

fn known_axis(axis: &str, axes: &[String]) -> Result<(), String> {
    if axes.iter().any(|known| known == axis) {
        return Ok(());
    }
    let hint = match nearest(axis, axes.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the axes are {}", axes.join(", ")),
    };
    Err(format!("there is no axis `{axis}`; {hint}"))
}

/// Reads `eps = 1e-5 within 0 1, alpha = 2`.
fn parse_params(text: &str) -> Result<Vec<Number>, String> {
    let mut words = Words::of(text)?;
    let mut params = Vec::new();
    while !words.is_done() {
        if !params.is_empty() {
            words.needs(",")?;
        }
        let name = words.name("the name of a parameter")?.to_owned();
        words.needs("=")?;
        let default = words.number()?;
        let mut range = (-1e30, 1e30);
        if matches!(words.peek(), Some(words::Word::Name("within"))) {
            words.next();
            range = (words.number()?, words.number()?);
        }
        if !(range.0..=range.1).contains(&default) {
            return Err(format!("`{name}` is {default}, which is not within {} {}", range.0, range.1));
        }
        params.push(Number { name, default, range });
    }
    match params.len() {
        count if count > MOST_PARAMS => Err(format!("{count} parameters; {MOST_PARAMS} is the limit")),
        _ => Ok(params),
    }
}

fn parse_dtypes(ids: &[String]) -> Result<Vec<Precision>, String> {
    if ids.is_empty() {
        return Ok(vec![Precision::of(Dtype::F32)]);
    }
    let precision = |id: &String| {
        let dtype = DTYPES.into_iter().find(|dtype| dtype.name() == id);
        let all = || DTYPES.map(Dtype::name).join(", ");
        dtype
            .map(Precision::of)
            .ok_or_else(|| format!("its dtypes: `{}` is none of {}", id.escape_debug(), all()))
    };
    ids.iter().map(precision).collect()
}

#[cfg(test)]
mod tests;
