//! `grouped-matmul`: rows that lie sorted by their expert, each group times the weights of its own.

use super::matmul::{K, N, limit};
use crate::case::Case;
use crate::dtype::Dtype::{self, Bf16, F16, F32, F64};
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Operation, Problem, RateUnit, Reach, Variant};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "grouped-matmul",
    also: &["moe-matmul"],
    about: "C[i] = A[i] · B[e]ᵀ for the rows i from offsets[e] up to offsets[e + 1]",
    variants: &[Variant { name: "", about: "A[m,k] sorted by expert, B[experts,n,k], offsets[experts + 1]" }],
    axes: &[
        Axis::new("experts", "groups, each with weights of its own"),
        Axis::new("m", "rows of A and C, of all experts together"),
        N,
        K,
    ],
    params: &[],
    precisions: &[Precision::of(F32), Precision::of(Bf16), Precision::of(F16), Precision::of(F64)],
    fills: Fill::ALL,
    rate: RateUnit::Flops,
    legal: "m <= 2147483647",
    tensors: |case| {
        let [experts, m, n, k] = sizes(case);
        let limit = limit(case, k);
        // The weights of experts without rows are not read: of few rows, half may share an expert.
        let met = if m / 2 >= experts { experts } else { m.div_ceil(2) };
        let read = met.saturating_mul(n).saturating_mul(k);
        vec![
            Tensor::input("a", case.dtype(), &[m, k]).limit(limit),
            Tensor::input("b", case.dtype(), &[experts, n, k]).limit(limit).read_in_part(read),
            Tensor::input("offsets", Dtype::I32, &[experts.saturating_add(1)])
                .holding(Content::Offsets { total: m as u64 }),
            Tensor::output("c", case.precision.output, &[m, n]),
        ]
    },
    work: |case| {
        let [_, m, n, k] = sizes(case).map(|size| size as u64);
        whole::work(case, Counts { multiply_adds: k, ..Counts::default() }, m.saturating_mul(n))
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| products(all, wanted, expert_of), reach }),
    mutants: &[
        mutant("the first weights for all", |all, _, wanted| products(all, wanted, |_, _| 0)),
        mutant("the last row of a group to the next", |all, _, wanted| {
            products(all, wanted, |offsets, row| expert_of(offsets, row + 1))
        }),
        mutant("groups of one length", |all, _, wanted| {
            products(all, wanted, |offsets, row| {
                let (experts, rows) = (offsets.len() - 1, offsets[offsets.len() - 1].max(1));
                (row / rows.div_ceil(experts)).min(experts - 1)
            })
        }),
    ],
};

fn sizes(case: &Case) -> [usize; 4] {
    ["experts", "m", "n", "k"].map(|axis| case.axis(axis))
}

/// The expert of a row: the last one whose group has begun. Those without rows end where they begin.
fn expert_of(offsets: &[usize], row: usize) -> usize {
    offsets.partition_point(|first| *first <= row).saturating_sub(1).min(offsets.len() - 2)
}

/// The wanted elements, a row of C at a time, by the weights that a kernel takes for a row.
fn products<'a>(all: &All<'a>, wanted: &[usize], expert: fn(&[usize], usize) -> usize) -> Vec<Number<'a>> {
    let [experts, _, n, k] = sizes(all.case());
    let offsets: Vec<usize> = (0..=experts).map(|at| all.raw(2, at) as usize).collect();
    let of_row = |wanted: &[usize]| {
        let row = wanted[0] / n;
        let expert = expert(&offsets, row);
        let columns = wanted.iter().map(|index| (expert * n + index % n) * k);
        all.dots((0, row * k..(row + 1) * k), (1, columns, 1))
    };
    wanted.chunk_by(|one, next| one / n == next / n).flat_map(of_row).collect()
}

/// A row of A reaches its row of C, a weight a column of its expert's rows; offsets say whose rows are whose.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [_, m, n, k] = sizes(problem.case);
    match tensor {
        0 => vec![Reach { output: 0, first: element / k * n, step: 1, count: n }],
        1 => {
            let (expert, column) = (element / (n * k), element / k % n);
            let [first, end] = [0, 1].map(|at| problem.inputs[2].get(expert + at) as usize);
            let reach = Reach { output: 0, first: first * n + column, step: n, count: end - first };
            Some(reach).filter(|reach| reach.count > 0).into_iter().collect()
        }
        _ => vec![Reach { output: 0, first: 0, step: 1, count: m * n }],
    }
}
