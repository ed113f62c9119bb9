//! `q4-matmul`: Y[m,n] = X[m,k] · Wᵀ, with weights in blocks of 32 codes of four bits and a scale in f16, as GGML's Q4_0 has
//! them: byte i of a block has the code of element i in its low half and that of element i + 16 in its high half, and a
//! code q stands for q − 8.
//!
//! A row of W is whole blocks, and codes beyond k stand for nothing, whatever they are.

use super::q8_matmul::{self, BLOCK, FIXED, How, byte, judged, mutant, products, tensors, without_remainder};
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::format::power_of_two;
use crate::operation::{Operation, Variant};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "q4-matmul",
    also: &["q4-0-matmul"],
    about: "Y = X · Wᵀ, weights in blocks of 32 codes of four bits with a scale in f16 (Q4_0)",
    variants: &[
        Variant { name: "", about: "scales s[n,blocks] and pairs of codes q[n,16·blocks] apart" },
        Variant { name: "raw", about: "w[n,18·blocks], the bytes of each scale before its codes" },
        FIXED,
    ],
    tensors: |case| {
        let [n, k] = ["n", "k"].map(|axis| case.axis(axis));
        let codes = Tensor::input("q", Dtype::I8, &[n, BYTES * k.div_ceil(BLOCK)]);
        tensors(case, BYTES, codes.holding(Content::Codes))
    },
    judged: judged::<BYTES>(|all, _, wanted| products(all, wanted, RIGHT)),
    mutants: &[
        mutant::<BYTES>("the halves of a byte exchanged", Fill::Normal, |all, _, wanted| {
            let code = |codes: &[f64], element| code(codes, (element + BYTES) % BLOCK);
            products(all, wanted, How { code, ..RIGHT })
        }),
        mutant::<BYTES>("neighbours in one byte", Fill::Normal, |all, _, wanted| {
            let code = |codes: &[f64], element: usize| code(codes, element / 2 + element % 2 * BYTES);
            products(all, wanted, How { code, ..RIGHT })
        }),
        mutant::<BYTES>("codes from zero, not from minus eight", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { code: |codes, element| code(codes, element) + 8.0, ..RIGHT })
        }),
        mutant::<BYTES>("codes of two's complement", Fill::Normal, |all, _, wanted| {
            let code = |codes: &[f64], element| (code(codes, element) + 16.0) % 16.0 - 8.0;
            products(all, wanted, How { code, ..RIGHT })
        }),
        mutant::<BYTES>("the scale of the next block", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { block: |block, blocks| (block + 1) % blocks, ..RIGHT })
        }),
        mutant::<BYTES>("the last block's scale for the whole sum", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { block: |_, blocks| blocks - 1, ..RIGHT })
        }),
        mutant::<BYTES>("denormal scales taken for zero", Fill::Extreme, |all, _, wanted| {
            let scale = |s: f64| if s.abs() < power_of_two(-14) { 0.0 } else { s };
            products(all, wanted, How { scale, ..RIGHT })
        }),
        mutant::<BYTES>("remainder of k left out", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { terms: without_remainder, ..RIGHT })
        }),
    ],
    ..q8_matmul::OPERATION
};

/// Bytes of the codes of a block.
const BYTES: usize = BLOCK / 2;

const RIGHT: How = How { bytes: BYTES, code, ..q8_matmul::RIGHT };

/// What the code of an element stands for.
fn code(codes: &[f64], element: usize) -> f64 {
    f64::from(byte(codes, element % BYTES) >> (4 * (element / BYTES)) & 15) - 8.0
}
