//! `fft`: the discrete Fourier transform along the last axis, of complex numbers as pairs of real and imaginary part.
//!
//! Forward unnormalised, back with 1/n, as most libraries have it. The bound is that of fast transforms and is
//! normwise: an output is a sum of all inputs, turned but not scaled, so that each of the log₂ n steps between
//! rounds numbers whose mean square is that of the outputs, ‖x‖². Errors of random contents walk; their deviation is
//! u·√(steps / 3)·‖x‖ in each part. A mean that is not 0 stays together in few numbers, as large as the sum, on all
//! of the way, and what is rounded off them need not end in the largest output. Contents with an order of their own
//! get what is proved for every input: u·steps·Σ|x|.

pub(super) mod transform;

use crate::arithmetic::Arithmetic;
use crate::bound::Z;
use crate::case::Case;
use crate::dtype::Dtype::{F32, F64};
use crate::fill::Fill;
use crate::number::Counts;
use crate::operation::family::whole;
use crate::operation::{
    Axis, Elements, Expected, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Wrong,
};
use crate::precision::Precision;
use crate::tensor::Tensor;
use std::f64::consts::SQRT_2;
use transform::{Complex, Plan, factors, root};

pub const OPERATION: Operation = Operation {
    name: "fft",
    also: &["dft"],
    about: "y[k] = Σ x[j] · e^(−2πi·jk/n) along the last axis, complex numbers as pairs",
    variants: &[
        Variant { name: "", about: "y[batch,n,2] of x[batch,n,2], not normalised" },
        Variant { name: "inverse", about: "the other sign, and divided by n" },
        Variant { name: "real", about: "y[batch,n/2+1,2] of x[batch,n]: the rest is its mirror image" },
        Variant {
            name: "real-inverse",
            about: "y[batch,n] of x[batch,n/2+1,2], whose parts that a real y cannot have do not count: the imaginary \
                    ones of the first number, and of the last where n is even",
        },
    ],
    axes: &[Axis::new("batch", "transforms").usually(1), Axis::new("n", "length of a transform")],
    params: &[],
    precisions: &[Precision::of(F32), Precision::of(F64)],
    // An infinity is NaN or infinite in the outputs by the steps that a kernel leaves out: products with 0 and 1.
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: "",
    tensors,
    work: |case| {
        let n = case.axis("n") as f64;
        // As everyone counts: log₂ n times n/2 pairs, of a product and two sums; half of it where one side is real.
        let shared = if matches!(case.variant, "real" | "real-inverse") { 2.0 } else { 1.0 };
        let pairs = (n * n.log2() / 2.0 / shared).round() as u64;
        let pair = Counts { multiply_adds: 2, simple: 6, ..Counts::default() };
        whole::work(case, pair, pairs.saturating_mul(case.axis("batch") as u64))
    },
    judged: Judged::Elements(Elements { reference, reach, emulate, whole: None }),
    mutants: &[
        Mutant {
            name: "not divided by n",
            fill: Fill::Normal,
            of: |case| is_inverse(case),
            wrong: Wrong::Outputs(|problem| {
                let n = problem.case.axis("n") as f64;
                honest(problem).map(|y| y.into_iter().map(|y| y * n).collect()).into()
            }),
        },
        Mutant {
            name: "the other sign of the exponent",
            fill: Fill::Normal,
            of: |_| true,
            wrong: Wrong::Outputs(|problem| emulated(problem, &declared(problem), -1.0, 0)),
        },
        Mutant {
            name: "twiddle factors of the neighbour",
            fill: Fill::Normal,
            of: |_| true,
            wrong: Wrong::Outputs(|problem| emulated(problem, &declared(problem), 1.0, 1)),
        },
        Mutant {
            name: "outputs in the order of reversed bits",
            fill: Fill::Normal,
            of: |case| !is_real(case),
            wrong: Wrong::Outputs(|problem| {
                let n = problem.case.axis("n");
                let place = |index: usize| (index / (2 * n) * n + reversed(index / 2 % n, n)) * 2 + index % 2;
                honest(problem).map(|y| (0..y.len()).map(|index| y[place(index)]).collect()).into()
            }),
        },
        Mutant {
            name: "a number too far",
            fill: Fill::Normal,
            of: |case| case.variant == "real",
            wrong: Wrong::Outputs(|problem| {
                let full = Lines::of(problem.case);
                let shifted = |y: &[f64]| [&y[2..], &y[..2]].concat();
                honest(problem).map(|y| y.chunks(full.output).flat_map(shifted).collect()).into()
            }),
        },
        Mutant {
            name: "the first number counted twice",
            fill: Fill::Normal,
            of: |case| case.variant == "real-inverse",
            wrong: Wrong::Outputs(|problem| {
                let (full, n) = (Lines::of(problem.case), problem.case.axis("n") as f64);
                let twice = |(index, y): (usize, f64)| {
                    y + problem.inputs[0].get(index / full.output * full.input) / n
                };
                honest(problem).map(|y| y.into_iter().enumerate().map(twice).collect()).into()
            }),
        },
    ],
};

pub(super) fn is_inverse(case: &Case) -> bool {
    matches!(case.variant, "inverse" | "real-inverse")
}

/// Whether one side holds real numbers.
pub(super) fn is_real(case: &Case) -> bool {
    matches!(case.variant, "real" | "real-inverse")
}

/// Elements of one transform, before it and after.
struct Lines {
    input: usize,
    output: usize,
}

impl Lines {
    fn of(case: &Case) -> Lines {
        let n = case.axis("n");
        let (all, half) = (n.saturating_mul(2), (n / 2 + 1).saturating_mul(2));
        match case.variant {
            "real" => Lines { input: n, output: half },
            "real-inverse" => Lines { input: half, output: n },
            _ => Lines { input: all, output: all },
        }
    }
}

fn tensors(case: &Case) -> Vec<Tensor> {
    let (batch, n) = (case.axis("batch"), case.axis("n"));
    let (complex, half, real) = ([batch, n, 2], [batch, n / 2 + 1, 2], [batch, n]);
    let (x, y): (&[usize], &[usize]) = match case.variant {
        "real" => (&real, &half),
        "real-inverse" => (&half, &real),
        _ => (&complex, &complex),
    };
    // Transforms of prime lengths multiply two transforms before they scale, and each is n times as large as its input.
    let limit = case.precision.accumulator.max_finite() / (n as f64).powi(2) / 16.0;
    // Real and imaginary parts are a line each, as long as the transform.
    let runs = x.len() - 2;
    vec![
        Tensor::input("x", case.dtype(), x).limit(limit).running(runs),
        Tensor::output("y", case.precision.output, y),
    ]
}

/// Transform number `row` as its input stands for it: n complex numbers.
fn full(problem: &Problem, row: usize) -> Vec<Complex> {
    let (n, input) = (problem.case.axis("n"), Lines::of(problem.case).input);
    let x = problem.inputs[0].line(row * input, 1, input);
    let pair = |k: usize| [x[2 * k], x[2 * k + 1]];
    match problem.case.variant {
        "real" => x.into_iter().map(|x| [x, 0.0]).collect(),
        "real-inverse" => {
            let of = |k: usize| match pair(k.min(n - k)) {
                [re, _] if (2 * k).is_multiple_of(n) => [re, 0.0],
                [re, im] if 2 * k < n => [re, im],
                [re, im] => [re, -im],
            };
            (0..n).map(of).collect()
        }
        _ => (0..n).map(pair).collect(),
    }
}

/// The sign of the exponent.
pub(super) fn sign(case: &Case) -> f64 {
    if is_inverse(case) { 1.0 } else { -1.0 }
}

/// Elements of a transform's output as the output holds them.
fn held(case: &Case, y: Vec<Complex>) -> Vec<f64> {
    let length = Lines::of(case).output;
    match case.variant {
        "real-inverse" => y.into_iter().map(|[re, _]| re).collect(),
        _ => y.into_iter().flatten().take(length).collect(),
    }
}

fn reference(problem: &Problem, _output: usize, wanted: &[usize]) -> Vec<Expected> {
    let case = problem.case;
    let n = case.axis("n");
    let length = Lines::of(case).output;
    let plan = Plan::exact(n, sign(case));
    let scale = if is_inverse(case) { 1.0 / n as f64 } else { 1.0 };
    let mut expected = Vec::with_capacity(wanted.len());
    for of_row in wanted.chunk_by(|one, next| one / length == next / length) {
        let x = full(problem, of_row[0] / length);
        let soft = scale * error(problem, &x, n, steps(n));
        let y = held(case, plan.run(&x));
        let lost = if soft > 0.0 { case.precision.accumulator.smallest_subnormal() } else { 0.0 };
        expected.extend(of_row.iter().map(|index| {
            let y = y[index % length];
            Expected { value: if is_inverse(case) { y / n as f64 } else { y }, soft: soft + lost }
        }));
    }
    expected
}

/// How far a kernel may be off in each part of an output that is not normalised, after so many steps, of which those
/// along rows of this length come first.
pub(super) fn error(problem: &Problem, x: &[Complex], row: usize, steps: f64) -> f64 {
    let u = problem.case.precision.accumulator.unit_roundoff();
    // What is squared would overflow where an element nearly does.
    let most = x.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    if most == 0.0 {
        return 0.0;
    }
    // In f64 the expected values are rounded as often.
    let is_f64 = u <= F64.unit_roundoff();
    if problem.fill.order_matters() {
        let sizes: f64 = x.iter().map(|[re, im]| (re / most).hypot(im / most)).sum();
        return u * steps * most * sizes * if is_f64 { 2.0 } else { 1.0 };
    }
    let squares: f64 = x.iter().flatten().map(|x| (x / most).powi(2)).sum();
    let add = |[re, im]: Complex, x: &Complex| [re + x[0] / most, im + x[1] / most];
    let sums: Vec<Complex> = x.chunks(row).map(|row| row.iter().fold([0.0; 2], add)).collect();
    // Means of rows need not be of one sign: they stay together in one number each, and walk from there on.
    let of_sums: f64 = if sums.len() > 1 { sums.iter().flatten().map(|sum| sum.powi(2)).sum() } else { 0.0 };
    let [re, im] = sums.iter().fold([0.0; 2], |[re, im], sum| [re + sum[0], im + sum[1]]);
    let together = if steps > 0.0 { re.hypot(im) } else { 0.0 };
    u * most
        * (Z * (steps / 3.0 * squares.max(of_sums)).sqrt() + together)
        * if is_f64 { SQRT_2 } else { 1.0 }
}

/// Roundings on the way from an input to an output: log₂ n, and for a large prime factor two transforms more, of twice
/// its length or four times.
pub(super) fn steps(n: usize) -> f64 {
    let largest = factors(n).last().copied().unwrap_or(1);
    let around = if largest > 13 { 2.0 * ((largest as f64).log2() + 2.0) } else { 0.0 };
    (n as f64).log2() + around
}

/// Places of a line at which the cosine or the sine of an angle is not zero: of so many n-ths of a turn, by place, which
/// come again after a period. As progressions, and there are few of them.
pub(super) fn turned(
    angle: impl Fn(usize) -> u128,
    n: usize,
    period: usize,
    is_sine: bool,
    line: Reach,
) -> Vec<Reach> {
    let shows = |place: usize| {
        let [cos, sin] = root((angle(place) % n as u128) as usize, n, 1.0);
        if is_sine { sin != 0.0 } else { cos != 0.0 }
    };
    let from = |first: usize, step: usize, count: usize| Reach {
        first: line.nth(first),
        step: line.step * step,
        count,
        ..line
    };
    if period * period <= line.count {
        let count = |first: usize| (line.count - first).div_ceil(period);
        let firsts = (0..period).filter(|first| shows(*first));
        return firsts.map(|first| from(first, period, count(first))).collect();
    }
    let shown: Vec<usize> = (0..line.count).filter(|place| shows(*place)).collect();
    shown.chunk_by(|one, next| one + 1 == *next).map(|run| from(run[0], 1, run.len())).collect()
}

pub(super) fn greatest_common(a: usize, b: usize) -> usize {
    if a == 0 { b } else { greatest_common(b % a, a) }
}

/// All outputs of its transform, but those that it is turned away from: the real part of the first number changes
/// no imaginary part.
fn reach(problem: &Problem, _tensor: usize, element: usize) -> Vec<Reach> {
    let case = problem.case;
    let (n, lines) = (case.axis("n"), Lines::of(case));
    let (first, within) = (element / lines.input * lines.output, element % lines.input);
    let line = |part: usize| Reach { output: 0, first: first + part, step: 2, count: lines.output / 2 };
    let (own, part) = if case.variant == "real" { (within, 0) } else { (within / 2, within % 2) };
    let of = |is_sine: bool, line: Reach| {
        turned(|place| own as u128 * place as u128, n, n / greatest_common(own, n), is_sine, line)
    };
    match case.variant {
        "real-inverse" => of(part == 1, Reach { step: 1, count: n, ..line(0) }),
        _ => [of(false, line(part)), of(true, line(1 - part))].concat(),
    }
}

fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
    emulated(problem, arithmetic, 1.0, 0)
}

/// With the sign of the exponent times another, and twiddle factors so far off.
fn emulated(problem: &Problem, arithmetic: &Arithmetic, other: f64, slip: usize) -> Vec<Vec<f64>> {
    let case = problem.case;
    let n = case.axis("n");
    let plan = Plan::emulating(n, other * sign(case), arithmetic, slip);
    let of_row = |row: usize| {
        let x: Vec<Complex> =
            full(problem, row).into_iter().map(|x| x.map(|x| arithmetic.input(x))).collect();
        let scale = |y: f64| if is_inverse(case) { arithmetic.round(y / n as f64) } else { y };
        held(case, plan.run(&x)).into_iter().map(scale)
    };
    vec![(0..case.axis("batch")).flat_map(of_row).collect()]
}

fn declared(problem: &Problem) -> Arithmetic {
    Arithmetic::declared(problem.case)
}

/// What an honest kernel leaves.
fn honest(problem: &Problem) -> [Vec<f64>; 1] {
    emulated(problem, &declared(problem), 1.0, 0).try_into().expect("one output")
}

/// A place with the digits of its mixed radix in the other order: of a power of two, its bits.
fn reversed(mut place: usize, n: usize) -> usize {
    factors(n).into_iter().fold(0, |reversed, factor| {
        let digit = place % factor;
        place /= factor;
        reversed * factor + digit
    })
}
