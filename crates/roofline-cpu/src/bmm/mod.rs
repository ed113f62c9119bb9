//! `bmm`: C\[i\] = A\[i\]·B\[i\]ᵀ for each i of a batch; `bmm.nn`: C\[i\] = A\[i\]·B\[i\]; `bmm.tn` and
//! `bmm.tt`: the same of A\[i\]ᵀ.
//!
//! One [`matmul`](crate::matmul) after the other: its rungs, its threads, its sums.

use crate::bind::Multiply;
use crate::catalog::{Implementation, Kernel, Launch};
use crate::matmul::{self, Factor, packed, packed_parallel, plain};
use crate::{Args, Cpu, Datum, Mismatch, Product, bf16, f16};

/// The kernels of one generic function, for the types that follow it.
macro_rules! batches {
    ($kernel:expr, $($type:ident)+) => {
        &[$(Kernel::new(stringify!($type), |_, args| prepare::<$type, _>(args, $kernel)),)+]
    };
}

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("bmm", batches!(plain::matmul, f32 bf16 f16 f64 i8)),
    Implementation::new("bmm", "packed", PACKED, batches!(packed::matmul, f32 bf16 f16 i8)).vector(),
    Implementation::new(
        "bmm",
        "packed-parallel",
        PARALLEL,
        batches!(packed_parallel::matmul, f32 bf16 f16 i8),
    )
    .vector()
    .parallel(),
    Implementation::new("bmm", "auto", AUTO, batches!(matmul::matmul, f32 bf16 f16 i8)).vector().parallel(),
    Implementation::plain("bmm.nn", batches!(plain::matmul_nn, f32 bf16 f16 f64 i8)),
    Implementation::new("bmm.nn", "packed", PACKED, batches!(packed::matmul_nn, f32 bf16 f16 i8)).vector(),
    Implementation::new(
        "bmm.nn",
        "packed-parallel",
        PARALLEL,
        batches!(packed_parallel::matmul_nn, f32 bf16 f16 i8),
    )
    .vector()
    .parallel(),
    Implementation::new("bmm.nn", "auto", AUTO, batches!(matmul::matmul_nn, f32 bf16 f16 i8))
        .vector()
        .parallel(),
    Implementation::plain("bmm.tn", batches!(plain::matmul_tn, f32 bf16 f16 f64 i8)),
    Implementation::new("bmm.tn", "turned", TURNED, batches!(matmul::matmul_tn, f32 bf16 f16 i8))
        .vector()
        .parallel(),
    Implementation::plain("bmm.tt", batches!(plain::matmul_tt, f32 bf16 f16 f64 i8)),
    Implementation::new("bmm.tt", "turned", TURNED, batches!(matmul::matmul_tt, f32 bf16 f16 i8))
        .vector()
        .parallel(),
];

const PACKED: &str = "one product after the other, by packed panels and a register tile";
const TURNED: &str = "each A turned once, and then as the other forms";
const AUTO: &str = "one product after the other, by the rung that suits type, shape, processor and threads";
const PARALLEL: &str = "one product after the other, each on all threads";

fn prepare<'a, T: Datum, O: Datum>(
    mut args: Args<'a>,
    kernel: Multiply<T, O>,
) -> Result<Launch<'a>, Mismatch> {
    let (a, b, mut c) = (args.take("a")?, args.take("b")?, args.take_out("c")?);
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    let batch = args.axis("batch")?;
    Ok(Launch::new(move |cpu| each(cpu, &a, &b, &mut c, batch, shape, kernel)))
}

/// A kernel for each product of a batch.
fn each<T, O>(
    cpu: &Cpu,
    a: &[T],
    b: &[T],
    c: &mut [O],
    batch: usize,
    shape: Product,
    kernel: Multiply<T, O>,
) {
    let Product { m, n, k } = shape;
    assert!(
        [a.len(), b.len(), c.len()] == [m * k, n * k, m * n].map(|one| batch * one),
        "lengths for {batch} products of {shape:?}"
    );
    for i in 0..batch {
        kernel(cpu, &a[i * m * k..][..m * k], &b[i * n * k..][..n * k], &mut c[i * m * n..][..m * n], shape);
    }
}

/// C = A·Bᵀ for each of a batch, by the rung that suits type, processor and threads.
///
/// ```
/// use roofline_cpu::{Cpu, Product, bmm};
///
/// let mut c = [0.0f32; 2];
/// bmm(&Cpu::serial(), &[1.0, 2.0], &[3.0, 4.0], &mut c, 2, Product { m: 1, n: 1, k: 1 });
/// assert_eq!(c, [3.0, 8.0]);
/// ```
pub fn bmm<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], batch: usize, shape: Product) {
    each(cpu, a, b, c, batch, shape, matmul::matmul);
}

/// C = A·B for each of a batch, likewise.
pub fn bmm_nn<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], batch: usize, shape: Product) {
    each(cpu, a, b, c, batch, shape, matmul::matmul_nn);
}
