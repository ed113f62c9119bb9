//! A kernel that is right at the declared precision is never called wrong, and one precision lower always is.

use crate::bench::Bench;
use roofline_conductor::checks::Checks;
use roofline_core::case::Case;
use roofline_core::dtype::Dtype;
use roofline_core::mutants::{calibrate, forms, policed};
use roofline_core::ops::{OPERATIONS, Operation};
use roofline_core::philox::Draws;
use std::io;

/// What the study found.
#[derive(Debug, Default)]
pub struct Outcome {
    pub shapes: usize,
    /// Rows of built-in implementations, each through all families of its operation.
    pub honest_rows: usize,
    /// Rows that were not `ok`.
    pub false_alarms: Vec<String>,
    /// Rows with the accumulation one precision lower, on policed cases.
    pub lower_rows: usize,
    /// Those that passed.
    pub missed: Vec<String>,
}

/// Draws `shapes` shapes and takes every built-in implementation through the gate on each.
pub fn study(bench: &Bench, shapes: usize, seed: u64, mut report: impl FnMut(&str)) -> io::Result<Outcome> {
    let mut draws = Draws::new(seed, 3);
    let mut outcome = Outcome { shapes, ..Outcome::default() };
    let offers = bench.offers()?;
    for number in 0..shapes {
        let operation = OPERATIONS[number % OPERATIONS.len()];
        let case = draw_case(operation, &mut draws);
        let form = case.form();
        let names: Vec<&str> = offers
            .iter()
            .filter(|offer| offer.operation == form && offer.takes(&case).is_ok())
            .map(|offer| offer.implementation.as_str())
            .collect();
        for record in bench.run(&case, &names, draws.bits(), None, Checks::default())? {
            outcome.honest_rows += 1;
            if record.status.name() != "ok" {
                outcome.false_alarms.push(format!("{}: {}: {}", record.row(), record.status, record.why));
            }
        }
        if number % 10 == 9 {
            report(&format!(
                "{} of {shapes} shapes, {} false alarms",
                number + 1,
                outcome.false_alarms.len()
            ));
        }
    }
    for (case, fill) in policed() {
        let calibration = calibrate(&case, fill, draws.bits());
        outcome.lower_rows += usize::from(calibration.has_lower);
        if !calibration.is_sound() {
            outcome.missed.push(format!("{case}, {fill} inputs, emulated: {calibration:?}"));
        }
    }
    for (implementation, id) in LOWER {
        let case: Case = id.parse().map_err(io::Error::other)?;
        for record in bench.run(&case, &[implementation], draws.bits(), None, Checks::default())? {
            outcome.lower_rows += 1;
            if record.status.name() != "wrong" {
                outcome.missed.push(format!("{}: {}: {}", record.row(), record.status, record.why));
            }
        }
    }
    Ok(outcome)
}

/// A case of small primes, ones, tile sizes and their neighbours, or of anything up to a few hundred.
fn draw_case(operation: &'static Operation, draws: &mut Draws) -> Case {
    const NASTY: [u64; 16] = [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 257];
    let forms: Vec<Case> = forms(operation).filter(|case| case.dtype() != Dtype::F64).collect();
    let case = &forms[draws.below(forms.len() as u64) as usize];
    let sizes = operation.axes.iter().map(|_| match draws.below(3) {
        0 => 1 + draws.below(700),
        _ => NASTY[draws.below(NASTY.len() as u64) as usize],
    });
    let sizes: Vec<u64> = sizes.collect();
    Case { threads: 1 + draws.below(2) as u32, ..operation.near(case, &sizes, draws) }
}

/// Kernels that really compute one precision lower, through the whole gate.
const LOWER: &[(&str, &str)] = &[
    ("saboteur/tf32-inputs", "matmul/f32/m=24,n=40,k=64"),
    ("saboteur/tf32-inputs", "matmul/f32/m=24,n=40,k=1024"),
    ("saboteur/bf16-accumulator", "matmul/bf16/m=24,n=40,k=64"),
    ("saboteur/bf16-accumulator", "matmul/bf16/m=24,n=40,k=1024"),
    ("saboteur/bf16-inside", "softmax/f32/rows=16,cols=64"),
    ("saboteur/bf16-inside", "softmax/f32/rows=16,cols=1024"),
];

/// The study in words.
pub fn describe(outcome: &Outcome) -> String {
    let mut text = format!(
        "{} shapes, {} rows of built-in implementations: {} false alarms\n{} rows one precision lower: {} missed\n",
        outcome.shapes,
        outcome.honest_rows,
        outcome.false_alarms.len(),
        outcome.lower_rows,
        outcome.missed.len()
    );
    for line in outcome.false_alarms.iter().chain(&outcome.missed) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}
