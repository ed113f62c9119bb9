//! `allocate`: blocks of memory that are held at once, marked, read again and given back.
//!
//! Where blocks lie is the allocator's own affair: it is judged by property. No two of them may share a byte, what was
//! written to one must still stand there when all have been written, and where the form asks for it they begin at cache
//! lines. Addresses are the kernel's word; that the marks stand is not, since blocks that overlap lose theirs. What a launch
//! takes it gives back, or its process grows until the run ends it.

use super::csr_to_coo::INTEGERS;
use crate::case::Case;
use crate::dtype::Dtype::{F64, I32};
use crate::fill::Fill;
use crate::number::Counts;
use crate::operation::family::whole;
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, Property, RateUnit, Variant, Wrong};
use crate::tensor::{Content, Tensor, View};

pub const OPERATION: Operation = Operation {
    name: "allocate",
    also: &["malloc"],
    about: "blocks that are held at once: at = their addresses, y = what stands at the places that were marked",
    variants: &[
        Variant { name: "", about: "the first and the last byte of each block are marked" },
        Variant { name: "aligned", about: "the same, and each block begins at a multiple of 64 bytes" },
        Variant { name: "touch", about: "a byte in every 4096 and the last one are marked" },
    ],
    axes: &[Axis::new("count", "blocks").usually(1), Axis::new("bytes", "bytes of each block")],
    params: &[],
    precisions: INTEGERS,
    fills: Fill::FINITE,
    rate: RateUnit::Bytes,
    legal: "count >= 1, count <= 65536, bytes >= 1, bytes <= 1073741824",
    tensors: |case| {
        let count = case.axis("count");
        vec![
            Tensor::input("marks", I32, &[count]).holding(Content::Indices { below: 128, none: None }),
            // Addresses have up to 48 bits, which f64 has exactly.
            Tensor::output("at", F64, &[count]),
            Tensor::output("y", I32, &[count]),
        ]
    },
    work: |case| {
        let counts = Counts { simple: places(case).count() as u64, ..Counts::default() };
        whole::work(case, counts, case.axis("count") as u64)
    },
    judged: Judged::Property(Property { check, example: |problem| laid_out(problem, 0, 1.0) }),
    mutants: &[
        mutant(
            "a block for all",
            |case| case.axis("count") > 1,
            |problem| {
                let mut outputs = laid_out(problem, 0, 1.0);
                let first = outputs[0][0];
                outputs[0].fill(first);
                outputs
            },
        ),
        // As far apart as the one before is long, but for its last byte.
        mutant("blocks a byte too short", |case| case.axis("count") > 1, |problem| laid_out(problem, 1, 1.0)),
        mutant(
            "marks of the last block in all",
            |case| case.axis("count") > 1,
            |problem| {
                let mut outputs = laid_out(problem, 0, 1.0);
                let last = outputs[1][outputs[1].len() - 1];
                outputs[1].fill(last);
                outputs
            },
        ),
        mutant("no block at all", |_| true, |problem| laid_out(problem, 0, 0.0)),
        mutant(
            "beginnings of words, not of lines",
            |case| case.variant == "aligned",
            |problem| {
                let mut outputs = laid_out(problem, 0, 1.0);
                outputs[0].iter_mut().for_each(|at| *at += 8.0);
                outputs
            },
        ),
    ],
};

/// Bytes of a block that are marked.
fn places(case: &Case) -> impl Iterator<Item = usize> {
    let bytes = case.axis("bytes");
    let step = if case.variant == "touch" { PAGE } else { bytes };
    (0..bytes)
        .step_by(step.max(1))
        .chain(Some(bytes.saturating_sub(1)).filter(move |last| last % step.max(1) != 0))
}

/// A page of the machine, or a part of one.
const PAGE: usize = 4096;
/// A cache line.
const LINE: usize = 64;

/// What stands in a block is the sum of its marks.
fn due(problem: &Problem, block: usize) -> f64 {
    problem.inputs[0].get(block) * places(problem.case).count() as f64
}

fn check(problem: &Problem, outputs: &[View]) -> Result<(), String> {
    let (count, bytes) = (problem.case.axis("count"), problem.case.axis("bytes") as f64);
    let mut blocks: Vec<(f64, usize)> = (0..count).map(|block| (outputs[0].get(block), block)).collect();
    for (at, block) in &blocks {
        if !(*at > 0.0 && at.fract() == 0.0 && at.is_finite()) {
            return Err(format!("block {block} is at {at}, which is no address"));
        }
        if problem.case.variant == "aligned" && at % LINE as f64 != 0.0 {
            return Err(format!("block {block} is at {at}, which is no multiple of {LINE}"));
        }
        let (found, due) = (outputs[1].get(*block), due(problem, *block));
        if found != due {
            return Err(format!("the marks of block {block} add up to {found}, and {due} was written"));
        }
    }
    blocks.sort_by(|one, other| one.0.total_cmp(&other.0));
    match blocks.windows(2).find(|pair| pair[1].0 - pair[0].0 < bytes) {
        Some(pair) => Err(format!("blocks {} and {} share bytes", pair[0].1, pair[1].1)),
        None => Ok(()),
    }
}

/// Blocks behind each other at whole lines, each so many bytes into the one before, at addresses times a factor.
fn laid_out(problem: &Problem, into: usize, factor: f64) -> Vec<Vec<f64>> {
    let (count, bytes) = (problem.case.axis("count"), problem.case.axis("bytes"));
    let apart = if into == 0 { bytes.next_multiple_of(LINE) } else { bytes - into };
    let at = (0..count).map(|block| factor * (LINE + block * apart) as f64);
    vec![at.collect(), (0..count).map(|block| due(problem, block)).collect()]
}

const fn mutant(name: &'static str, of: fn(&Case) -> bool, outputs: fn(&Problem) -> Vec<Vec<f64>>) -> Mutant {
    Mutant { name, fill: Fill::Normal, of, wrong: Wrong::Outputs(outputs) }
}
