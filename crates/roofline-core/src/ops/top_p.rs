//! `top-p`: a column of each row by lot, among the likeliest that reach p together.
//!
//! The columns are taken in falling order of their shares, softmax(x / temperature), up to the first at which the sum of shares
//! reaches p; of `top-p.k` no more than k, whose shares add up to 1. The lot u, of this sum, falls on one of them: the first
//! at which the sum of shares is above u times the sum of all that were taken.
//!
//! What is judged: the column named is among those taken, and its part of the sum holds u times their sum. Both may be off by
//! what the shares of an honest kernel are, in all; of columns whose shares such a kernel cannot tell apart, each may stand
//! for the other. Draws of a kernel's own cannot be held to anything for one row, and are no form of this.

use crate::bound::MARGIN;
use crate::case::Case;
use crate::dtype::Dtype::{F32, I32};
use crate::fill::Fill;
use crate::number::{Counts, Number, Steps};
use crate::operation::family::{rowwise, work};
use crate::operation::{Judged, Mutant, Operation, Param, Problem, Property, Variant, Wrong};
use crate::tensor::{Content, Tensor, View};

pub const OPERATION: Operation = Operation {
    name: "top-p",
    also: &["nucleus"],
    about: "at = the column of each row that the lot u falls on, among the likeliest that reach p together",
    variants: &[
        Variant { name: "", about: "at[rows] of x[rows,cols] and lots u[rows]" },
        Variant { name: "k", about: "of the k largest alone" },
    ],
    params: &[
        Param::new("p", "sum of the shares to choose among", 0.9, (0.0, 1.0)),
        Param::new("temperature", "what x is divided by", 0.7, (0.01, 100.0)),
        Param::new("k", "of `k`: columns at most", 20.0, (1.0, 2e9)),
    ],
    legal: "cols >= 1, cols <= 2147483647",
    fills: Fill::FINITE,
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).limit(60.0).rising(16.0).sorted_by(),
            Tensor::input("u", F32, &[rows]).holding(Content::Within { low: 0.0, high: 1.0 }),
            Tensor::output("at", I32, &[rows]),
        ]
    },
    // A maximum, a difference, an exponential and a sum at least.
    work: |case| {
        let [rows, cols] = ["rows", "cols"].map(|axis| case.axis(axis) as u64);
        work(case, Counts { simple: 3, special: 1, ..Counts::default() }, rows.saturating_mul(cols))
    },
    judged: Judged::Property(Property { check, example: |problem| chosen(problem, RIGHT) }),
    mutants: &[
        mutant("a set one short", |problem| {
            let reaching = |falling: &Falling, p| falling.reaching(p).saturating_sub(1).max(1);
            chosen(problem, How { reaching, ..RIGHT })
        }),
        mutant("a set one too long", |problem| {
            let reaching = |falling: &Falling, p| (falling.reaching(p) + 1).min(falling.taken);
            chosen(problem, How { reaching, ..RIGHT })
        }),
        mutant("p ignored", |problem| chosen(problem, How { reaching: |falling, _| falling.taken, ..RIGHT })),
        mutant("the lot not of the set's sum", |problem| chosen(problem, How { target: |u, _| u, ..RIGHT })),
        mutant("temperature forgotten", |problem| chosen(problem, How { temperature: |_| 1.0, ..RIGHT })),
        mutant("always the likeliest", |problem| chosen(problem, How { target: |_, _| 0.0, ..RIGHT })),
        Mutant {
            of: |case| case.variant == "k",
            ..mutant("k ignored", |problem| chosen(problem, How { most: |case| case.axis("cols"), ..RIGHT }))
        },
    ],
    ..rowwise::UNARY
};

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    temperature: fn(&Case) -> f64,
    /// Columns to choose among, p aside.
    most: fn(&Case) -> usize,
    /// How many of them reach p.
    reaching: fn(&Falling, f64) -> usize,
    /// What the sum of shares must pass, by the lot and the sum of those that reach p.
    target: fn(f64, f64) -> f64,
}

const RIGHT: How = How {
    temperature: |case| case.param("temperature"),
    most: |case| match case.variant {
        "k" => case.axis("cols").min(case.param("k") as usize),
        _ => case.axis("cols"),
    },
    reaching: Falling::reaching,
    target: |u, sum| u * sum,
};

/// The columns of a row in falling order.
struct Falling {
    columns: Vec<usize>,
    /// Their shares, of which those of the first `taken` add up to 1, and how far off each may be, of itself.
    shares: Vec<f64>,
    apart: Vec<f64>,
    /// Sums of the first shares, none of them first.
    sums: Vec<f64>,
    taken: usize,
    /// How far off these sums may be.
    error: f64,
}

impl Falling {
    fn of(problem: &Problem, row: usize, how: How) -> Falling {
        let (case, cols) = (problem.case, problem.case.axis("cols"));
        let steps = Steps::of(case, problem.fill);
        let x = problem.inputs[0].line(row * cols, 1, cols);
        let mut columns: Vec<usize> = (0..cols).collect();
        columns.sort_by(|one, other| x[*other].total_cmp(&x[*one]));
        let scaled = |column: &usize| steps.input(x[*column]) / (how.temperature)(case);
        let most = scaled(&columns[0]);
        let powers: Vec<Number> = columns.iter().map(|column| (scaled(column) - most).exp()).collect();
        let taken = (how.most)(case);
        let total = steps.sum(&powers[..taken]);
        let mut sums = vec![0.0];
        for power in &powers {
            sums.push(sums[sums.len() - 1] + power.value / total.value);
        }
        // What is so small that it may be lost stands apart from nothing.
        let apart = |power: &Number| (2.0 * MARGIN * power.error() / power.value).min(1.0);
        Falling {
            apart: powers.iter().map(apart).collect(),
            shares: powers.iter().map(|power| power.value / total.value).collect(),
            columns,
            sums,
            taken,
            // Of a sum and of what it is divided by.
            error: 2.0 * MARGIN * total.error() / total.value,
        }
    }

    /// How many of the first have shares that reach p.
    fn reaching(&self, p: f64) -> usize {
        (1..self.taken).find(|count| self.sums[*count] >= p).unwrap_or(self.taken)
    }

    /// What is wrong with a choice.
    fn fault(&self, column: f64, u: f64, p: f64) -> Option<&'static str> {
        let is_it = |known: &usize| *known as f64 == column;
        let Some(place) = self.columns.iter().position(is_it) else {
            return Some("it is no column");
        };
        let (share, apart) = (self.shares[place], self.apart[place]);
        let before = self.shares.partition_point(|other| *other > share * (1.0 + apart));
        let after = self.shares.partition_point(|other| *other >= share * (1.0 - apart));
        let [fewest, most] = [-self.error, self.error].map(|error| self.reaching(p + error));
        if before >= most {
            return Some("it is not among those that reach p");
        }
        let [low, high] = [fewest, most].map(|count| u * self.sums[count]);
        let is_hit =
            self.sums[before] <= high + self.error && self.sums[after.min(self.taken)] >= low - self.error;
        (!is_hit).then_some("the lot does not fall on it")
    }
}

fn check(problem: &Problem, outputs: &[View]) -> Result<(), String> {
    let p = problem.case.param("p");
    let fault = |row: usize| {
        let (column, u) = (outputs[0].get(row), problem.inputs[1].get(row));
        Some((row, column, Falling::of(problem, row, RIGHT).fault(column, u, p)?))
    };
    let faults: Vec<(usize, f64, &str)> = (0..problem.case.axis("rows")).filter_map(fault).collect();
    let Some((row, column, why)) = faults.first() else { return Ok(()) };
    Err(format!("{} rows; row {row} names column {column}: {why}", faults.len()))
}

fn chosen(problem: &Problem, how: How) -> Vec<Vec<f64>> {
    let of_row = |row: usize| {
        let falling = Falling::of(problem, row, how);
        let count = (how.reaching)(&falling, problem.case.param("p"));
        let target = (how.target)(problem.inputs[1].get(row), falling.sums[count]);
        let place = (0..count).find(|place| falling.sums[place + 1] > target).unwrap_or(count - 1);
        falling.columns[place] as f64
    };
    vec![(0..problem.case.axis("rows")).map(of_row).collect()]
}

const fn mutant(name: &'static str, outputs: fn(&Problem) -> Vec<Vec<f64>>) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Outputs(outputs) }
}
