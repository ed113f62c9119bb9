//! `fp8-matmul`: Y[m,n] = Σ over blocks of k of xs·ws·(Σ x·w), codes in fp8-e4m3 and a scale for each block of them.
//!
//! Scales differ along k, and so belong inside the sum. Kernels apply them to the sum of a block or to every code; the model
//! is that of the latter, which rounds more.
//!
//! In `w8a16+fp8` the codes of X are a part of the work: x / s to the nearest, s = max|x| / 448 of a block, as `quantize-fp8`
//! has them. Near a tie either code is right.

use super::matmul::{K, M, N, limit};
use super::quantize::{code, scale_of};
use super::quantize_fp8;
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Work};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "fp8-matmul",
    also: &["block-scaled-matmul"],
    about: "Y = X · Wᵀ, codes in fp8-e4m3 with a scale for each block along k",
    variants: &[
        Variant { name: "", about: "a scale for each block of a row of X, and for each block by block of W" },
        Variant { name: "square", about: "a scale for each block by block of X, and of W" },
    ],
    axes: &[M, N, Axis::new("block", "codes along k, and rows of W, that share a scale").usually(128), K],
    params: &[],
    precisions: &[
        Precision::W8A8,
        Precision::W8A8_F32,
        Precision::W8A16,
        Precision::W8A8_TC,
        Precision::W8A16_FP8,
    ],
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: "block >= 1",
    tensors,
    work: |case| {
        let [m, n, _, k] = sizes(case).map(|size| size as u64);
        let products = Counts { multiply_adds: k, ..Counts::default() };
        let work = whole::work(case, products, m.saturating_mul(n));
        // Scales meet the sums of blocks, or the codes.
        let sums = m.saturating_mul(n).saturating_mul(2 * blocks(case) as u64);
        let codes = if is_scaled(case) { m.saturating_add(n) } else { n }.saturating_mul(k);
        Work { simple: sums.min(codes), ..work }
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| products(all, wanted, RIGHT), reach }),
    mutants: &[
        mutant("the last block's scales for the whole sum", |all, _, wanted| {
            products(all, wanted, How { block: |_, blocks| blocks - 1, ..RIGHT })
        }),
        mutant("the first block's scales for the whole sum", |all, _, wanted| {
            products(all, wanted, How { block: |_, _| 0, ..RIGHT })
        }),
        mutant("the scales of the next block", |all, _, wanted| {
            products(all, wanted, How { block: |block, blocks| (block + 1) % blocks, ..RIGHT })
        }),
        mutant("scales of W transposed", |all, _, wanted| {
            products(all, wanted, How { of_w: |of| of.block * of.groups + of.group, ..RIGHT })
        }),
        mutant("a scale for each row of W, not for a block of them", |all, _, wanted| {
            products(all, wanted, How { of_w: |of| of.row % of.groups * of.blocks + of.block, ..RIGHT })
        }),
        mutant("the last block left out", |all, _, wanted| {
            products(all, wanted, How { terms: |k, block| ((k - 1) / block * block).max(1), ..RIGHT })
        }),
        Mutant {
            of: is_rounded,
            ..mutant("X as it is, not as codes", |all, _, wanted| {
                products(all, wanted, How { is_rounded: |_| false, ..RIGHT })
            })
        },
        Mutant {
            of: is_rounded,
            ..mutant("codes of X by the scale of the first block", |all, _, wanted| {
                products(all, wanted, How { coded_by: |_| 0, ..RIGHT })
            })
        },
    ],
};

fn sizes(case: &Case) -> [usize; 4] {
    ["m", "n", "block", "k"].map(|axis| case.axis(axis))
}

/// Blocks along k.
fn blocks(case: &Case) -> usize {
    case.axis("k").div_ceil(case.axis("block"))
}

/// Whether X has scales.
fn is_scaled(case: &Case) -> bool {
    case.dtype() == Dtype::Fp8E4m3
}

/// Whether X becomes codes on the way.
fn is_rounded(case: &Case) -> bool {
    case.precision.halfway.is_some()
}

/// Rows of X that share a scale.
fn shared(case: &Case) -> usize {
    if case.variant == "square" { case.axis("block") } else { 1 }
}

fn tensors(case: &Case) -> Vec<Tensor> {
    let [m, n, block, k] = sizes(case);
    let scale =
        |name, rows: usize| Tensor::input(name, Dtype::F32, &[rows, blocks(case)]).holding(Content::Scales);
    // Seen in a long sum that is rounded to bf16.
    let step = ((k as f64).sqrt() / 64.0).clamp(1.0, 200.0);
    let mut tensors = vec![
        Tensor::input("x", case.dtype(), &[m, k]).limit(limit(case, k)).step(step),
        Tensor::input("w", case.precision.weights, &[n, k]).step(step),
    ];
    tensors.extend(is_scaled(case).then(|| scale("xs", m.div_ceil(shared(case)))));
    tensors.push(scale("ws", n.div_ceil(block)));
    tensors.push(Tensor::output("y", case.precision.output, &[m, n]));
    tensors
}

/// Whose scale is wanted: a row of W, the group of rows that it is in, and a block along k, of so many.
#[derive(Clone, Copy)]
struct Of {
    row: usize,
    group: usize,
    block: usize,
    groups: usize,
    blocks: usize,
}

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// The block along k whose scales it takes for one, of so many.
    block: fn(usize, usize) -> usize,
    /// Where it looks for a scale of W.
    of_w: fn(Of) -> usize,
    /// Terms of its sums, of so many in blocks of so many.
    terms: fn(usize, usize) -> usize,
    /// Whether it makes codes of X, and by the scale of which block for one.
    is_rounded: fn(&Case) -> bool,
    coded_by: fn(usize) -> usize,
}

const RIGHT: How = How {
    block: |block, _| block,
    of_w: |of| of.group * of.blocks + of.block,
    terms: |k, _| k,
    is_rounded,
    coded_by: |block| block,
};

/// The wanted elements.
fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let case = all.case();
    let [_, n, block, k] = sizes(case);
    let (terms, blocks, groups) = ((how.terms)(k, block), blocks(case), n.div_ceil(block));
    let of_block = |term: usize| (how.block)(term / block, blocks);
    let scales_of_w = 2 + usize::from(is_scaled(case));
    let x = |row: usize| {
        let scales: Vec<Number> = match (how.is_rounded)(case) {
            true => (0..blocks).map(|block| scale_of_x(all, row, block)).collect(),
            false => Vec::new(),
        };
        let x = |term: usize| {
            let x = all.x(0, row * k + term);
            if (how.is_rounded)(case) {
                let code = code(x, scales[(how.coded_by)(term / block)], case, quantize_fp8::RIGHT);
                return code * scales[of_block(term)].written(Dtype::F32);
            }
            if is_scaled(case) { x * all.x(2, row / shared(case) * blocks + of_block(term)) } else { x }
        };
        (0..terms).map(x).collect()
    };
    let w = |row: usize| {
        let w = |term: usize| {
            let of = Of { row, group: row / block, block: of_block(term), groups, blocks };
            all.x(1, row * k + term) * all.x(scales_of_w, (how.of_w)(of))
        };
        (0..terms).map(w).collect()
    };
    all.products(wanted, n, x, w)
}

/// The scale that a block of X gets on the way.
fn scale_of_x<'a>(all: &All<'a>, row: usize, block: usize) -> Number<'a> {
    let [m, _, length, k] = sizes(all.case());
    let shared = shared(all.case());
    let rows = row / shared * shared..m.min((row / shared + 1) * shared);
    let columns = block * length..k.min((block + 1) * length);
    let elements = rows.flat_map(|row| columns.clone().map(move |column| row * k + column));
    let most = all.max(elements.map(|element| all.x(0, element).abs()));
    scale_of(most, all.number(1.0), all.case(), quantize_fp8::RIGHT)
}

/// What belongs to rows of X reaches these rows of Y, what belongs to rows of W these columns.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let case = problem.case;
    let [m, n, block, k] = sizes(case);
    let rows = |first: usize, count: usize| {
        let count = count.min(m - first);
        vec![Reach { output: 0, first: first * n, step: 1, count: count * n }]
    };
    let columns = |first: usize, count: usize| {
        let columns = first..(first + count).min(n);
        columns.map(|column| Reach { output: 0, first: column, step: n, count: m }).collect()
    };
    match tensor {
        0 if is_rounded(case) => rows(element / k / shared(case) * shared(case), shared(case)),
        0 => rows(element / k, 1),
        1 => columns(element / k, 1),
        2 if is_scaled(case) => rows(element / blocks(case) * shared(case), shared(case)),
        _ => columns(element / blocks(case) * block, block),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{BF16, FP8_E4M3};
    use crate::philox::Draws;
    use crate::tensor::View;

    const M: usize = 48;
    const N: usize = 160;
    const K: usize = 600;
    const BLOCK: usize = 128;

    /// Rows of normal numbers in bf16, each block of a row with a factor of its own.
    fn drawn(rows: usize, stream: u32, factor: fn(usize, usize) -> f64) -> Vec<f64> {
        let mut draws = Draws::new(42, stream);
        let mut unit = || draws.bits() as f64 / 2f64.powi(64) - 0.5;
        let mut normal = || (0..12).map(|_| unit()).sum::<f64>();
        let places = (0..rows * K).map(|i| (i / K / BLOCK, i % K / BLOCK));
        places.map(|(row, block)| BF16.round(0.5 * factor(row, block) * normal())).collect()
    }

    /// Codes of W, and a scale for each block by block.
    fn coded(w: &[f64]) -> [Vec<f64>; 2] {
        let blocks = K.div_ceil(BLOCK);
        let mut scales = vec![0.0; N.div_ceil(BLOCK) * blocks];
        let at = |i: usize| i / K / BLOCK * blocks + i % K / BLOCK;
        w.iter().enumerate().for_each(|(i, w)| scales[at(i)] = f64::max(scales[at(i)], w.abs()));
        scales.iter_mut().for_each(|s| *s = f64::from((*s / 448.0) as f32));
        let codes =
            w.iter().enumerate().map(|(i, w)| FP8_E4M3.round((w / scales[at(i)]).clamp(-448.0, 448.0)));
        [codes.collect(), scales]
    }

    /// What an operation makes of these inputs.
    fn value(id: &str, inputs: &[&[f64]], formula: whole::Formula) -> Vec<f64> {
        let case: Case = format!("{id}/m={M},n={N},k={K}").parse().expect("a case");
        let tensors = (case.operation.tensors)(&case);
        let written = |(tensor, values): (&Tensor, &&[f64])| {
            let mut bytes = vec![0; tensor.bytes()];
            values.iter().enumerate().for_each(|(i, x)| tensor.dtype.write(&mut bytes, i, *x));
            bytes
        };
        let bytes: Vec<Vec<u8>> = tensors.iter().zip(inputs).map(written).collect();
        let views = tensors.iter().zip(&bytes).map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes });
        let problem = Problem { case: &case, fill: Fill::Normal, inputs: views.collect() };
        let all: Vec<usize> = (0..M * N).collect();
        let whole = Judged::Whole(Whole { formula, reach });
        whole.reference(&problem, 0, &all).iter().map(|expected| expected.value).collect()
    }

    /// The error of a product in norm, beside that of the numbers as they were before they became codes.
    fn lost(factor: fn(usize, usize) -> f64, formula: whole::Formula) -> f64 {
        let (x, w) = (drawn(M, 1, factor), drawn(N, 2, factor));
        let [codes, scales] = coded(&w);
        let got = value("fp8-matmul/w8a16+fp8", &[&x, &codes, &scales], formula);
        let exact = |i: usize| -> f64 { (0..K).map(|k| x[i / N * K + k] * w[i % N * K + k]).sum() };
        let (mut error, mut norm) = (0.0, 0.0);
        for (i, got) in got.iter().enumerate() {
            error += (got - exact(i)).powi(2);
            norm += exact(i).powi(2);
        }
        (error / norm).sqrt()
    }

    const RECIPE: whole::Formula = |all, _, wanted| products(all, wanted, RIGHT);
    const LAST: whole::Formula =
        |all, _, wanted| products(all, wanted, How { block: |_, blocks| blocks - 1, ..RIGHT });

    /// The second criterion, against the numbers before they became codes. That a kernel is next to the recipe, element by
    /// element, is the gate's business; that the recipe is within a twentieth of the product is its own.
    #[test]
    fn the_recipe_is_within_a_twentieth_of_the_product_in_norm() {
        let alike = lost(|_, _| 1.0, RECIPE);
        let unlike = lost(|row, block| [1.0, 16.0, 0.25][(row + block) % 3], RECIPE);
        for lost in [alike, unlike] {
            assert!((0.02..=0.05).contains(&lost), "{alike} {unlike}");
        }
        // A twentieth tells scales that are far from each other, and not those that are nearly the same: it alone is no gate.
        assert!(lost(|row, block| [1.0, 16.0, 0.25][(row + block) % 3], LAST) > 0.5);
        let nearly = lost(|_, _| 1.0, LAST);
        assert!(nearly < 0.5, "{nearly}");
    }
}
