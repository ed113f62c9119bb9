//! Every implementation, in ladder order, with the forms that its source is compiled to.

use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::rows::{LONG_THREADS, RowKernels, RowPlan, Weight};
use crate::{add, bf16, cross_entropy, f16, layer_norm, matmul, probe, rms_norm, softmax, tend};

/// One way to compute an operation.
#[derive(Clone, Copy, Debug)]
pub struct Implementation {
    pub operation: &'static str,
    /// The technique.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    pub source: Source,
    /// Whether it is there for its speed: then nothing may spill.
    pub fast: bool,
    /// Forms that stand for all: every class of shape.
    pub variants: fn(largest_cluster: u32) -> Vec<Variant>,
}

/// The row of an operation and an implementation.
pub fn find(operation: &str, name: &str) -> Option<&'static Implementation> {
    IMPLEMENTATIONS.iter().find(|row| row.operation == operation && row.name == name)
}

const fn row(
    operation: &'static str,
    name: &'static str,
    about: &'static str,
    source: Source,
    fast: bool,
    variants: fn(u32) -> Vec<Variant>,
) -> Implementation {
    Implementation { operation, name, about, source, fast, variants }
}

const ADD: &str = "add";
const SOFTMAX: &str = "softmax";
const RMS: &str = "rms-norm";
const LAYER: &str = "layer-norm";
const LOSS: &str = "cross-entropy";
const MATMUL: &str = "matmul.nn";

const S: RowKernels = softmax::KERNELS;
const R: RowKernels = rms_norm::KERNELS;
const L: RowKernels = layer_norm::KERNELS;

/// All of them. `probe` is no operation: it is what the others are read beside.
pub const IMPLEMENTATIONS: &[Implementation] = &[
    row("probe", "copy", "reads and writes, and computes nothing", probe::COPY, true, copies),
    row("probe", "traffic", "reads and writes several tensors", probe::TRAFFIC, true, copies),
    row("probe", "fma", "multiply-adds from registers", probe::FMA, true, flops),
    row("tend", "tend", "what an owner of tensors does with their bytes", tend::SCATTER, false, bare),
    row(ADD, "plain", "one element a thread", add::PLAIN, false, elements),
    row(ADD, "stream", "sixteen bytes an access, several in flight", add::STREAM, true, tiles),
    row(SOFTMAX, "plain", "one thread a row, three walks", S.plain, false, elements),
    row(SOFTMAX, "online", "a block a row of any length, two walks", S.long, true, long),
    row(SOFTMAX, "registers", "the row in registers, one exchange", S.registers, true, light),
    row(RMS, "plain", "one thread a row, two walks", R.plain, false, elements),
    row(RMS, "long", "a block a row of any length, two walks", R.long, true, long),
    row(RMS, "registers", "the row in registers, one exchange", R.registers, true, light),
    row(LAYER, "plain", "one thread a row, three walks", L.plain, false, elements),
    row(LAYER, "long", "a block a row of any length, two walks", L.long, true, long),
    row(LAYER, "registers", "the row in registers, one exchange", L.registers, true, heavy),
    row(LOSS, "plain", "one thread a row, two walks", cross_entropy::PLAIN, false, elements),
    row(LOSS, "online", "a block a row of any length, one walk", cross_entropy::ONLINE, true, losses),
    row(MATMUL, "plain", "one element of C a thread", matmul::PLAIN, false, elements),
    row(MATMUL, "tiled", "tiles in shared memory, 8 × 8 elements a thread", matmul::TILED, true, elements),
];

fn of_each(constants: &[(&'static str, u32)]) -> Vec<Variant> {
    vec![Variant::of::<f32>(constants), Variant::of::<bf16>(constants), Variant::of::<f16>(constants)]
}

fn elements(_: u32) -> Vec<Variant> {
    of_each(&[])
}

fn tiles(_: u32) -> Vec<Variant> {
    of_each(&add::Tile::BEST.constants())
}

fn copies(_: u32) -> Vec<Variant> {
    vec![Variant::bare(&add::Tile::BEST.constants())]
}

fn flops(_: u32) -> Vec<Variant> {
    vec![Variant::bare(&[("THREADS", 256)])]
}

fn bare(_: u32) -> Vec<Variant> {
    vec![Variant::bare(&[])]
}

fn long(_: u32) -> Vec<Variant> {
    of_each(&[("THREADS", LONG_THREADS)])
}

fn losses(_: u32) -> Vec<Variant> {
    fn of<T: Element>() -> impl Iterator<Item = Variant> {
        [1000, 32_000].into_iter().map(|cols| Variant::of::<T>(&cross_entropy::constants::<T>(cols)))
    }
    of::<f32>().chain(of::<bf16>()).chain(of::<f16>()).collect()
}

fn light(largest_cluster: u32) -> Vec<Variant> {
    plans(largest_cluster, Weight::Light)
}

fn heavy(largest_cluster: u32) -> Vec<Variant> {
    plans(largest_cluster, Weight::Heavy)
}

/// Part of a warp, a warp, some warps, a full block, a cluster; rows that lie well and rows that do not.
fn plans(largest_cluster: u32, weight: Weight) -> Vec<Variant> {
    fn of<T: Element>(largest_cluster: u32, weight: Weight) -> impl Iterator<Item = Variant> {
        const LENGTHS: [usize; 9] = [1, 31, 768, 1024, 8191, 16_384, 32_768, 65_535, 128_256];
        LENGTHS.into_iter().filter_map(move |cols| {
            let aligned = cols.is_multiple_of(T::PER_PACK);
            let plan = RowPlan::new(cols, T::PER_PACK, aligned, largest_cluster, weight)?;
            Some(Variant::of::<T>(&plan.constants()))
        })
    }
    let singles = of::<f32>(largest_cluster, weight);
    singles.chain(of::<bf16>(largest_cluster, weight)).chain(of::<f16>(largest_cluster, weight)).collect()
}
