//! `moe-route`: the experts of each token, the likeliest first, and their shares, which add up to 1.
//!
//! The shares of all experts are softmax(x); those of the chosen ones are divided by their sum. Experts whose shares an
//! honest kernel cannot tell apart may stand for each other, and weights are held to the experts that were chosen.

use crate::bound::MARGIN;
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::judge::score;
use crate::number::{Counts, Number, Steps};
use crate::operation::family::{rowwise, work};
use crate::operation::{Axis, Expected, Judged, Mutant, Operation, Problem, Property, Wrong};
use crate::tensor::{Tensor, View};

pub const OPERATION: Operation = Operation {
    name: "moe-route",
    also: &["moe-gate"],
    about: "at = the experts of the largest x of each row in falling order, w = softmax(x) of these over its sum",
    axes: &[
        Axis::new("rows", "tokens"),
        Axis::new("experts", "experts to choose among"),
        Axis::new("top", "experts of a token"),
    ],
    legal: "experts >= top, top >= 1, experts <= 2147483647",
    fills: Fill::FINITE,
    tensors: |case| {
        let [rows, experts, top] = sizes(case);
        vec![
            Tensor::input("x", case.dtype(), &[rows, experts]).limit(LIMIT).rising(16.0).sorted_by(),
            Tensor::output("w", case.precision.output, &[rows, top]),
            Tensor::output("at", Dtype::I32, &[rows, top]),
        ]
    },
    // A look at every number, its exponential and a sum.
    work: |case| {
        let [rows, experts, _] = sizes(case).map(|size| size as u64);
        let each = Counts { simple: 3, special: 1, ..Counts::default() };
        work(case, each, rows.saturating_mul(experts))
    },
    judged: Judged::Property(Property { check, example: |problem| routed(problem, RIGHT) }),
    mutants: &[
        mutant("exponentials not divided by their sum", |problem| {
            routed(problem, How { over: |_| 1.0, ..RIGHT })
        }),
        mutant("experts counted from 1", |problem| {
            routed(problem, How { named: |at, experts| (at + 1) % experts, ..RIGHT })
        }),
        mutant("the largest after all others", |problem| routed(problem, How { first: 1, ..RIGHT })),
        mutant("the smallest in place of the largest", |problem| {
            routed(problem, How { rank: |x| -x, ..RIGHT })
        }),
        mutant("weights the other way round", |problem| {
            let mut outputs = routed(problem, RIGHT);
            outputs[0].chunks_mut(problem.case.axis("top")).for_each(<[f64]>::reverse);
            outputs
        }),
    ],
    ..rowwise::UNARY
};

/// Exponentials of differences stay far above what f32 has.
const LIMIT: f64 = 30.0;

/// How a kernel goes about it: what mutants change.
#[derive(Clone, Copy)]
struct How {
    /// The place that it begins with.
    first: usize,
    /// What experts are sorted by.
    rank: fn(f64) -> f64,
    /// What an expert is called, of so many.
    named: fn(usize, usize) -> usize,
    /// What weights are divided by, of the powers of the chosen.
    over: fn(&[f64]) -> f64,
}

const RIGHT: How = How { first: 0, rank: |x| x, named: |at, _| at, over: |chosen| chosen.iter().sum() };

fn sizes(case: &Case) -> [usize; 3] {
    ["rows", "experts", "top"].map(|axis| case.axis(axis))
}

fn routed(problem: &Problem, how: How) -> Vec<Vec<f64>> {
    let [rows, experts, top] = sizes(problem.case);
    let of_row = |row: usize| {
        let x = problem.inputs[0].line(row * experts, 1, experts);
        let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = x.iter().map(|x| (x - most).exp()).collect();
        let mut falling: Vec<usize> = (0..experts).collect();
        falling.sort_by(|one, other| (how.rank)(x[*other]).total_cmp(&(how.rank)(x[*one])));
        falling.rotate_left(how.first % experts);
        let places = falling[..top].to_vec();
        let chosen: Vec<f64> = places.iter().map(|at| powers[*at]).collect();
        let over = (how.over)(&chosen);
        chosen.into_iter().zip(places).map(move |(power, at)| (power / over, (how.named)(at, experts) as f64))
    };
    let (w, at) = (0..rows).flat_map(of_row).unzip();
    vec![w, at]
}

fn check(problem: &Problem, outputs: &[View]) -> Result<(), String> {
    let fault = |row: usize| Some((row, fault(problem, outputs, row)?));
    let faults: Vec<(usize, String)> = (0..problem.case.axis("rows")).filter_map(fault).collect();
    let Some((row, why)) = faults.first() else { return Ok(()) };
    Err(format!("{} rows; in row {row} {why}", faults.len()))
}

/// What is wrong with the choice for a token.
fn fault(problem: &Problem, outputs: &[View], row: usize) -> Option<String> {
    let [_, experts, top] = sizes(problem.case);
    let steps = Steps::of(problem.case, problem.fill);
    let x = problem.inputs[0].line(row * experts, 1, experts);
    let most = steps.input(x.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let powers: Vec<Number> = x.iter().map(|x| (steps.input(*x) - most).exp()).collect();
    let [w, at] = [0, 1].map(|output| outputs[output].line(row * top, 1, top));
    let is_named = |at: &f64| *at >= 0.0 && *at < experts as f64;
    if let Some(at) = at.iter().find(|at| !is_named(at)) {
        return Some(format!("{at} is no expert"));
    }
    let at: Vec<usize> = at.iter().map(|at| *at as usize).collect();
    let mut left = vec![true; experts];
    at.iter().for_each(|at| left[*at] = false);
    if left.iter().filter(|is_left| !**is_left).count() < top {
        return Some("an expert is chosen twice".to_owned());
    }
    // Whether one may be taken for larger than the other.
    let may_lead = |one: usize, other: usize| {
        let apart = |at: usize| 2.0 * MARGIN * powers[at].error();
        powers[one].value + apart(one) >= powers[other].value - apart(other)
    };
    if let Some(pair) = at.windows(2).find(|pair| !may_lead(pair[0], pair[1])) {
        return Some(format!("expert {} comes before {}, which is likelier", pair[0], pair[1]));
    }
    let last = at[top - 1];
    if let Some(better) = (0..experts).find(|at| left[*at] && !may_lead(last, *at)) {
        return Some(format!("expert {last} is chosen and {better} is not, which is likelier"));
    }
    // By the longer way, over the sum of all: whoever takes the shorter one is nearer.
    let all = steps.sum(&powers);
    let shares: Vec<Number> = at.iter().map(|at| powers[*at] / all).collect();
    let sum = steps.sum(&shares);
    let dtype = problem.case.precision.output;
    let is_wrong = |(share, w): (&Number, &f64)| {
        let weight = *share / sum;
        let expected = Expected { value: weight.value, soft: weight.soft(false) };
        (score(dtype, *w, &expected, 1.0) > 1.0).then(|| format!("a weight is {w} and not {}", weight.value))
    };
    shares.iter().zip(&w).find_map(is_wrong)
}

const fn mutant(name: &'static str, outputs: fn(&Problem) -> Vec<Vec<f64>>) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Outputs(outputs) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(dtype: Dtype, values: &[f64]) -> Vec<u8> {
        let mut bytes = vec![0; values.len() * dtype.size()];
        values.iter().enumerate().for_each(|(i, value)| dtype.write(&mut bytes, i, *value));
        bytes
    }

    /// A token of four experts, of which two are alike: either is right, and weights are those of the chosen.
    #[test]
    fn ties_are_either_and_shares_are_those_of_the_chosen() {
        let case: Case = "moe-route/f64/rows=1,experts=4,top=2".parse().unwrap();
        let x = bytes(Dtype::F64, &[1.0, 3.0, 2.0, 2.0]);
        let inputs = vec![View { dtype: Dtype::F64, bytes: &x }];
        let problem = Problem { case: &case, fill: Fill::Uniform, inputs };
        let verdict = |w: [f64; 2], at: [f64; 2]| {
            let (w, at) = (bytes(Dtype::F64, &w), bytes(Dtype::I32, &at));
            let outputs = [View { dtype: Dtype::F64, bytes: &w }, View { dtype: Dtype::I32, bytes: &at }];
            check(&problem, &outputs).err().unwrap_or_default()
        };
        let share = 1.0 / (1.0 + (-1.0f64).exp());
        let (right, all) = ([share, 1.0 - share], 1.0 + 2.0 * (-1.0f64).exp() + (-2.0f64).exp());
        assert_eq!([verdict(right, [1.0, 2.0]), verdict(right, [1.0, 3.0])], ["", ""]);
        for (w, at, why) in [
            (right, [1.0, 0.0], "0 is chosen and 2 is not"),
            (right, [2.0, 1.0], "2 comes before 1"),
            (right, [1.0, 1.0], "twice"),
            (right, [1.0, 4.0], "no expert"),
            ([1.0 / all, (-1.0f64).exp() / all], [1.0, 2.0], "a weight is"),
        ] {
            assert!(verdict(w, at).contains(why), "{}", verdict(w, at));
        }
    }
}
