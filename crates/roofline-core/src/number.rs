//! Numbers of a formula: what each is, how far a kernel may be from it, and what an emulated kernel gets.
//!
//! A formula is written once, over [`Number`]s, with the usual signs. Its f64 value, the model of a kernel's
//! internal error, its emulation in another precision and the count of its operations all follow from the same
//! steps. The model is a running error analysis: a step hands on what its operands may be off by and adds its
//! own rounding; sums add the walk of their roundings (`bound.rs`).

use crate::arithmetic::Arithmetic;
use crate::bound::{self, Walk};
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use std::borrow::Borrow;
use std::cell::Cell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// What all steps of one evaluation share.
#[derive(Debug)]
pub struct Steps {
    walk: Walk,
    unit: f64,
    tiny: f64,
    most: f64,
    /// Whether terms have few different values, which round alike again and again.
    repeats: bool,
    /// Rounds for the emulation; `None` leaves it out.
    emulated: Option<Arithmetic>,
    counts: Cell<Counts>,
}

/// Operations that were done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub multiply_adds: u64,
    pub simple: u64,
    pub special: u64,
}

impl Steps {
    /// For expected values.
    pub fn of(case: &Case, fill: Fill) -> Steps {
        let accumulator = case.precision.accumulator;
        Steps {
            walk: Walk { accumulator, order_matters: fill.order_matters() },
            unit: accumulator.unit_roundoff(),
            tiny: accumulator.smallest_subnormal(),
            most: accumulator.max_finite(),
            repeats: fill == Fill::Integers,
            emulated: None,
            counts: Cell::default(),
        }
    }

    /// For what a kernel of this arithmetic gets.
    pub fn emulating(case: &Case, fill: Fill, arithmetic: &Arithmetic) -> Steps {
        Steps { emulated: Some(*arithmetic), ..Steps::of(case, fill) }
    }

    pub fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// An element of an input, which is what it is.
    pub fn input(&self, value: f64) -> Number<'_> {
        let emulated = self.emulated.map_or(value, |arithmetic| arithmetic.input(value));
        Number { value, inherited: 0.0, rounding: 0.0, emulated, steps: self }
    }

    /// A constant of the formula, which the accumulator may have to round.
    pub fn constant(&self, value: f64) -> Number<'_> {
        let held = self.walk.accumulator.format.map_or(value, |format| format.round(value));
        let inherited = if held == value { 0.0 } else { self.unit * value.abs() };
        let emulated = self.emulated.map_or(value, |arithmetic| arithmetic.round(value));
        Number { value, inherited, rounding: 0.0, emulated, steps: self }
    }

    /// A constant that kernels compute themselves, in f64 and so far off at most, before the accumulator holds it.
    pub fn within(&self, value: f64, error: f64) -> Number<'_> {
        let constant = self.constant(value);
        Number { inherited: constant.inherited + error, ..constant }
    }

    /// The sum of terms, in whatever order.
    ///
    /// Terms may come one by one: a sum over all of a large tensor does not hold them.
    pub fn sum<'a, T: Borrow<Number<'a>>>(&'a self, terms: impl IntoIterator<Item = T>) -> Number<'a> {
        self.total(terms.into_iter().map(|term| *term.borrow()), |counts| counts.simple += 1)
    }

    /// The sum of products, fused.
    pub fn dot<'a, T: Borrow<Number<'a>>>(
        &'a self,
        left: impl IntoIterator<Item = T>,
        right: impl IntoIterator<Item = T>,
    ) -> Number<'a> {
        let products = left.into_iter().zip(right).map(|(a, b)| {
            let (a, b) = (a.borrow(), b.borrow());
            let inherited = a.value.abs() * b.error() + b.value.abs() * a.error();
            let emulated = a.emulated * b.emulated;
            Number { value: a.value * b.value, inherited, rounding: 0.0, emulated, steps: self }
        });
        self.total(products, |counts| counts.multiply_adds += 1)
    }

    /// Sums of products of one line of inputs with each of several as long, fused: the same as one by one, and sooner.
    pub fn dots(&self, line: &[f64], others: &[Vec<f64>]) -> Vec<Number<'_>> {
        if self.emulated.is_some() || self.repeats {
            let inputs = |line: &[f64]| line.iter().map(|x| self.input(*x)).collect::<Vec<_>>();
            let line = inputs(line);
            return others.iter().map(|other| self.dot(&line, &inputs(other))).collect();
        }
        let mut dots = Vec::with_capacity(others.len());
        let mut side_by_side = vec![[0.0; bound::LANES]; line.len()];
        for group in others.chunks(bound::LANES) {
            for (lane, other) in group.iter().enumerate() {
                side_by_side.iter_mut().zip(other).for_each(|(lanes, x)| lanes[lane] = *x);
            }
            let walked = bound::dots(self.walk, line, &side_by_side).into_iter().take(group.len());
            dots.extend(walked.map(|walked| {
                let inherited = if line.len() > 1 { walked.error() + self.tiny } else { 0.0 };
                Number { value: walked.sum, inherited, rounding: 0.0, emulated: walked.sum, steps: self }
                    .held()
            }));
        }
        self.count(|counts| counts.multiply_adds += (line.len() * others.len()) as u64);
        dots
    }

    /// Sums of products of one line of numbers with rows of weights, fused.
    ///
    /// What the numbers are off by are deviations that steps before left in them, and weights are drawn with either sign:
    /// together they are off by the root of the sum of squares. A bound that added them up, or took each for as large as
    /// it may be, would double from step to step of a recurrence that in truth forgets.
    pub fn weighted<'a>(&'a self, line: &[Number<'a>], rows: &Rows) -> Vec<Number<'a>> {
        let values: Vec<f64> = line.iter().map(|number| number.value).collect();
        let squares: Vec<f64> = line.iter().map(|number| number.error() * number.error()).collect();
        let order_matters = self.walk.order_matters || self.repeats;
        let mut sums = Vec::with_capacity(rows.count);
        for group in &rows.groups {
            let mut handed_on = [0.0; bound::LANES];
            for (square, weights) in squares.iter().zip(group) {
                handed_on.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight * weight * square);
            }
            let walked = bound::dots(self.walk, &values, group).into_iter().zip(handed_on);
            sums.extend(walked.take(rows.count - sums.len()).map(|(walked, handed_on)| {
                let own = if line.len() > 1 { walked.error_where(order_matters) + self.tiny } else { 0.0 };
                let inherited = handed_on.sqrt() + own;
                Number { value: walked.sum, inherited, rounding: 0.0, emulated: walked.sum, steps: self }
                    .held()
            }));
        }
        if let Some(arithmetic) = self.emulated {
            for (row, sum) in sums.iter_mut().enumerate() {
                let products = line.iter().zip(rows.row(row)).map(|(x, w)| x.emulated * arithmetic.input(w));
                sum.emulated = arithmetic.sum(&products.collect::<Vec<_>>());
            }
        }
        self.count(|counts| counts.multiply_adds += (line.len() * rows.count) as u64);
        sums
    }

    fn total<'a>(&'a self, terms: impl Iterator<Item = Number<'a>>, count: fn(&mut Counts)) -> Number<'a> {
        let mut walked = self.walk.start();
        let (mut errors, mut squares, mut is_whole) = (0.0, 0.0, true);
        let mut kept: Vec<f64> = Vec::new();
        let mut length = 0;
        for term in terms {
            length += 1;
            self.count(count);
            if self.emulated.is_some() {
                kept.push(term.emulated);
            }
            walked.step(term.value);
            is_whole &= term.value.fract() == 0.0;
            let error = term.error();
            errors += error;
            squares += error * error;
        }
        // Few values round alike again and again; sums of whole numbers are exact.
        let order_matters = self.walk.order_matters || self.repeats && !is_whole;
        // Errors of terms that nothing ties together cancel as roundings do.
        let together = bound::Z * (squares / 3.0_f64).sqrt();
        let inherited = if order_matters { errors } else { together.min(errors) };
        let emulated = match self.emulated {
            Some(arithmetic) => arithmetic.sum(&kept),
            None => walked.sum,
        };
        // One term alone is no sum; what underflows in one is lost.
        let own = if length > 1 { walked.error_where(order_matters) + self.tiny } else { 0.0 };
        let inherited = inherited + own;
        Number { value: walked.sum, inherited, rounding: 0.0, emulated, steps: self }.held()
    }

    /// The largest, with NaN carried along; minus infinity of none.
    pub fn max<'a, T: Borrow<Number<'a>>>(&'a self, terms: impl IntoIterator<Item = T>) -> Number<'a> {
        terms.into_iter().fold(self.input(f64::NEG_INFINITY), |most, term| most.max(*term.borrow()))
    }

    /// What leads another way to a result that is counted already.
    pub fn uncounted<T>(&self, compute: impl FnOnce() -> T) -> T {
        let counts = self.counts();
        let result = compute();
        self.counts.set(counts);
        result
    }

    fn count(&self, add: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        add(&mut counts);
        self.counts.set(counts);
    }
}

/// Rows of weights that are used again and again, beside each other.
#[derive(Debug)]
pub struct Rows {
    count: usize,
    groups: Vec<Vec<[f64; bound::LANES]>>,
}

impl Rows {
    /// So many rows, one after the other.
    pub fn new(count: usize, weights: &[f64]) -> Rows {
        let length = weights.len() / count.max(1);
        let row = |row: usize| weights.get(row * length..(row + 1) * length);
        let beside = |group: usize| {
            let at = |place: usize| {
                std::array::from_fn(|lane| row(group * bound::LANES + lane).map_or(0.0, |row| row[place]))
            };
            (0..length).map(at).collect()
        };
        Rows { count, groups: (0..count.div_ceil(bound::LANES)).map(beside).collect() }
    }

    fn row(&self, row: usize) -> impl Iterator<Item = f64> {
        self.groups[row / bound::LANES].iter().map(move |lanes| lanes[row % bound::LANES])
    }
}

/// A number in the middle of a formula.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    pub value: f64,
    /// What the last step took over from its operands.
    inherited: f64,
    /// What the last step rounded off itself.
    rounding: f64,
    /// What a kernel of the emulated arithmetic has here.
    pub emulated: f64,
    steps: &'a Steps,
}

impl<'a> Number<'a> {
    /// How far a kernel may be off, the last rounding included.
    pub fn error(&self) -> f64 {
        self.inherited + self.rounding
    }

    /// The model of the error of a result: its last rounding is that of the output where the types are one.
    pub fn soft(&self, rounds_to_output: bool) -> f64 {
        // In f64 the value that it is held to is rounded too, and not always to the same side.
        let is_rounded_twice = self.steps.unit <= Dtype::F64.unit_roundoff() && self.inherited > 0.0;
        let is_last = rounds_to_output && !is_rounded_twice;
        let error = if is_last { self.inherited } else { self.error() };
        // What passes every number of the accumulator is infinite there, or nearly what it is.
        if error.is_finite() { error } else { 8.0 * self.steps.unit * self.value.abs() }
    }

    /// A step that is rounded to the nearest number, whatever its operands.
    fn rounded(self, value: f64, inherited: f64, emulated: f64) -> Number<'a> {
        self.step(value, inherited, self.steps.unit, emulated)
    }

    /// A step that errs by `relative` of its result.
    fn step(self, value: f64, inherited: f64, relative: f64, emulated: f64) -> Number<'a> {
        let steps = self.steps;
        let inherited = if inherited.is_nan() { 0.0 } else { inherited };
        let rounding = if value.is_finite() { relative * value.abs() + steps.tiny } else { 0.0 };
        let emulated = steps.emulated.map_or(emulated, |arithmetic| arithmetic.round(emulated));
        Number { value, inherited, rounding, emulated, steps }.held()
    }

    /// What overflows the accumulator is infinite in a kernel that does as the formula says.
    fn held(self) -> Number<'a> {
        if self.value.is_finite() && self.value.abs() > self.steps.most {
            return Number { inherited: f64::INFINITY, ..self };
        }
        self
    }

    /// A function of one number: its value here, its slope, and by how many units the kernel's own may be off.
    fn function(
        self,
        function: impl Fn(f64) -> f64,
        slope: impl Fn(f64, f64) -> f64,
        units: f64,
    ) -> Number<'a> {
        self.steps.count(|counts| counts.special += 1);
        self.uncounted(function, slope, units)
    }

    /// The same, whose work is counted elsewhere.
    fn uncounted(
        self,
        function: impl Fn(f64) -> f64,
        slope: impl Fn(f64, f64) -> f64,
        units: f64,
    ) -> Number<'a> {
        let value = function(self.value);
        let error = self.error();
        let inherited = if error == 0.0 { 0.0 } else { slope(self.value, value).abs() * error };
        // A product of 0 and infinity: the function is flat where its argument has no bound.
        let inherited = if inherited.is_nan() { 0.0 } else { inherited };
        let own = (units - 1.0) * self.steps.unit * value.abs();
        let emulated = if self.steps.emulated.is_some() { function(self.emulated) } else { value };
        self.rounded(value, inherited + if own.is_nan() { 0.0 } else { own }, emulated)
    }

    /// Kernels' exponentials err in proportion to the argument too.
    pub fn exp(self) -> Number<'a> {
        let units = 3.0 + if self.value.is_finite() { self.value.abs() } else { 0.0 };
        self.function(f64::exp, |_, y| y, units)
    }

    pub fn ln(self) -> Number<'a> {
        self.function(f64::ln, |x, _| 1.0 / x, 3.0)
    }

    pub fn sin(self) -> Number<'a> {
        self.function(f64::sin, |x, _| x.cos(), 3.0)
    }

    pub fn cos(self) -> Number<'a> {
        self.function(f64::cos, |x, _| x.sin(), 3.0)
    }

    pub fn tanh(self) -> Number<'a> {
        let steepest = self.nearest_zero().tanh();
        self.function(f64::tanh, |_, _| 1.0 - steepest * steepest, 4.0).between_ones()
    }

    pub fn erf(self) -> Number<'a> {
        let steepest = self.nearest_zero();
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-steepest * steepest).exp();
        self.function(libm::erf, |_, _| slope, 4.0).between_ones()
    }

    /// Of what a kernel may have here, that which is nearest to zero.
    fn nearest_zero(&self) -> f64 {
        (self.value.abs() - self.error()).max(0.0)
    }

    /// Off by no more than numbers between -1 and 1 can be.
    fn between_ones(self) -> Number<'a> {
        self.off_by_at_most(2.0)
    }

    /// Off by no more than the range that a formula has its results in.
    pub fn off_by_at_most(self, range: f64) -> Number<'a> {
        Number { inherited: self.inherited.min(range), ..self }
    }

    /// Units for roots, and for quotients, work beside those that add and multiply: it counts as little.
    pub fn sqrt(self) -> Number<'a> {
        self.steps.count(|counts| counts.simple += 1);
        self.uncounted(f64::sqrt, |_, y| 0.5 / y, 1.0)
    }

    /// Kernels take it as the exponential of a logarithm, and err with it.
    pub fn pow(self, exponent: f64) -> Number<'a> {
        let argument = (exponent * self.value.abs().ln()).abs();
        let units = 4.0 + if argument.is_finite() { argument } else { 0.0 };
        // Whole powers are products, and of those below zero the reciprocal.
        let products = exponent.abs().max(1.0).log2().ceil() as u64 + u64::from(exponent < 0.0);
        self.steps.count(|counts| match exponent.fract() == 0.0 {
            true => counts.simple += products,
            false => counts.special += 1,
        });
        self.uncounted(|x| x.powf(exponent), |x, _| exponent * x.powf(exponent - 1.0), units)
    }

    /// 1 / (1 + e⁻ˣ), which kernels compute as it stands.
    pub fn sigmoid(self) -> Number<'a> {
        (1.0 / ((-self).exp() + 1.0)).off_by_at_most(1.0)
    }

    pub fn max(self, other: Number<'a>) -> Number<'a> {
        self.steps.count(|counts| counts.simple += 1);
        let pick = |a: f64, b: f64| if a >= b || a.is_nan() { a } else { b };
        Number {
            value: pick(self.value, other.value),
            inherited: self.error().max(other.error()),
            rounding: 0.0,
            emulated: pick(self.emulated, other.emulated),
            steps: self.steps,
        }
    }

    /// Rounded to this type on the way, to whichever side a kernel's own error takes it.
    pub fn rounded_to(self, dtype: Dtype) -> Number<'a> {
        let round = |x: f64| dtype.format().map_or(x, |format| format.round(x));
        let rounding = bound::rounding(dtype, self.value);
        Number { inherited: self.error(), rounding, emulated: round(self.emulated), ..self }
    }

    /// Rounded by a rule on the way, to a code. Where a kernel's own error, with the room that bounds give it, reaches over
    /// a border between two, either is right.
    pub fn coded(self, round: impl Fn(f64) -> f64) -> Number<'a> {
        let error = bound::MARGIN * self.error();
        let apart = round(self.value + error) - round(self.value - error);
        let (value, emulated) = (round(self.value), round(self.emulated));
        Number { value, inherited: apart, rounding: 0.0, emulated, steps: self.steps }
    }

    /// Held between two ends, which brings numbers closer together and never further apart.
    pub fn between(self, low: f64, high: f64) -> Number<'a> {
        Number { value: self.value.clamp(low, high), emulated: self.emulated.clamp(low, high), ..self }
    }

    /// As it is, where a formula knows that nothing was rounded: over a power of two.
    pub fn exact(self) -> Number<'a> {
        Number { inherited: 0.0, rounding: 0.0, ..self }
    }

    /// As a kernel reads it again that wrote it in this type.
    pub fn written(self, dtype: Dtype) -> Number<'a> {
        let round = |x: f64| dtype.format().map_or(x, |format| format.round(x));
        Number { value: round(self.value), emulated: round(self.emulated), ..self }
    }

    /// Where honest kernels differ in the way to it: what lies between the two is right, and what is as near to
    /// either as its own error says. The emulated kernel goes the first way.
    pub fn either(self, other: Number<'a>) -> Number<'a> {
        if self.value == other.value || !self.value.is_finite() || !other.value.is_finite() {
            return self;
        }
        let apart = (self.value - other.value).abs() / 2.0;
        let inherited = self.inherited.max(other.inherited) + apart;
        Number { value: self.value + (other.value - self.value) / 2.0, inherited, ..self }
    }

    pub fn abs(self) -> Number<'a> {
        Number { value: self.value.abs(), emulated: self.emulated.abs(), ..self }
    }
}

impl<'a> Neg for Number<'a> {
    type Output = Number<'a>;
    fn neg(self) -> Number<'a> {
        Number { value: -self.value, emulated: -self.emulated, ..self }
    }
}

impl<'a> Add for Number<'a> {
    type Output = Number<'a>;
    fn add(self, other: Number<'a>) -> Number<'a> {
        self.steps.count(|counts| counts.simple += 1);
        let error = self.error() + other.error();
        self.rounded(self.value + other.value, error, self.emulated + other.emulated)
    }
}

impl<'a> Sub for Number<'a> {
    type Output = Number<'a>;
    fn sub(self, other: Number<'a>) -> Number<'a> {
        self + -other
    }
}

impl<'a> Mul for Number<'a> {
    type Output = Number<'a>;
    fn mul(self, other: Number<'a>) -> Number<'a> {
        self.steps.count(|counts| counts.simple += 1);
        let (a, b) = (self, other);
        let error = a.value.abs() * b.error() + b.value.abs() * a.error() + a.error() * b.error();
        a.rounded(a.value * b.value, error, a.emulated * b.emulated)
    }
}

impl<'a> Div for Number<'a> {
    type Output = Number<'a>;
    fn div(self, other: Number<'a>) -> Number<'a> {
        self.steps.count(|counts| counts.simple += 1);
        let (a, b) = (self, other);
        let value = a.value / b.value;
        let size = b.value.abs();
        let error = if b.error().is_infinite() {
            // Over what overflowed, a kernel has zero.
            a.value.abs() / self.steps.most
        } else if b.error() >= size && b.error() > 0.0 {
            f64::INFINITY
        } else {
            (a.error() + value.abs() * b.error()) / (size - b.error())
        };
        a.rounded(value, error, a.emulated / b.emulated)
    }
}

macro_rules! with_constants {
    ($($operator:ident $method:ident),*) => {$(
        impl<'a> $operator<f64> for Number<'a> {
            type Output = Number<'a>;
            fn $method(self, constant: f64) -> Number<'a> {
                $operator::$method(self, self.steps.constant(constant))
            }
        }
        impl<'a> $operator<Number<'a>> for f64 {
            type Output = Number<'a>;
            fn $method(self, number: Number<'a>) -> Number<'a> {
                $operator::$method(number.steps.constant(self), number)
            }
        }
    )*};
}

with_constants!(Add add, Sub sub, Mul mul, Div div);
