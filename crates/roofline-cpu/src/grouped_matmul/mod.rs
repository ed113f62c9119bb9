//! `grouped-matmul`: C\[i\] = A\[i\]·B\[e\]ᵀ, where the rows of expert e lie from offsets\[e\] up to offsets\[e + 1\].
//!
//! One [`matmul`](crate::matmul) a group: its rungs, its threads, its sums.

use crate::bind::Multiply;
use crate::catalog::{Implementation, Kernel, Launch};
use crate::matmul::{self, Factor, packed, packed_parallel, plain};
use crate::{Args, Cpu, Datum, Mismatch, Product, bf16, f16};

/// The kernels of one generic function, for the types that follow it.
macro_rules! groups {
    ($kernel:expr, $($type:ident)+) => {
        &[$(Kernel::new(stringify!($type), |_, args| prepare::<$type, _>(args, $kernel)),)+]
    };
}

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("grouped-matmul", groups!(plain::matmul, f32 bf16 f16 f64)),
    Implementation::new(
        "grouped-matmul",
        "packed",
        "one group after the other, by packed panels and a register tile",
        groups!(packed::matmul, f32 bf16 f16),
    )
    .vector(),
    Implementation::new(
        "grouped-matmul",
        "packed-parallel",
        "one group after the other, each on all threads",
        groups!(packed_parallel::matmul, f32 bf16 f16),
    )
    .vector()
    .parallel(),
    Implementation::new(
        "grouped-matmul",
        "auto",
        "one group after the other, by the rung that suits type, shape, processor and threads",
        groups!(matmul::matmul, f32 bf16 f16),
    )
    .vector()
    .parallel(),
];

fn prepare<'a, T: Datum, O: Datum>(
    mut args: Args<'a>,
    kernel: Multiply<T, O>,
) -> Result<Launch<'a>, Mismatch> {
    let (a, b, offsets, mut c) =
        (args.take("a")?, args.take("b")?, args.take("offsets")?, args.take_out("c")?);
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    Ok(Launch::new(move |cpu| each(cpu, &a, &b, &offsets, &mut c, shape, kernel)))
}

/// A kernel for each group that has rows.
fn each<T, O>(
    cpu: &Cpu,
    a: &[T],
    b: &[T],
    offsets: &[i32],
    c: &mut [O],
    shape: Product,
    kernel: Multiply<T, O>,
) {
    let Product { m, n, k } = shape;
    let experts = offsets.len().saturating_sub(1);
    assert!(
        [a.len(), b.len(), c.len()] == [m * k, experts * n * k, m * n],
        "lengths for {experts} groups of {shape:?}"
    );
    for (expert, rows) in offsets.windows(2).enumerate().filter(|(_, rows)| rows[0] < rows[1]) {
        let (first, end) = (rows[0] as usize, rows[1] as usize);
        let weights = &b[expert * n * k..][..n * k];
        let of_group = Product { m: end - first, ..shape };
        kernel(cpu, &a[first * k..end * k], weights, &mut c[first * n..end * n], of_group);
    }
}

/// C = A·Bᵀ for each group of rows and its own B, by the rung that suits type, processor and threads.
///
/// ```
/// use roofline_cpu::{Cpu, Product, grouped_matmul};
///
/// let mut c = [0.0f32; 3];
/// let shape = Product { m: 3, n: 1, k: 1 };
/// grouped_matmul(&Cpu::serial(), &[1.0, 2.0, 3.0], &[10.0, 100.0], &[0, 1, 3], &mut c, shape);
/// assert_eq!(c, [10.0, 200.0, 300.0]);
/// ```
pub fn grouped_matmul<T: Factor>(
    cpu: &Cpu,
    a: &[T],
    b: &[T],
    offsets: &[i32],
    c: &mut [T::Output],
    shape: Product,
) {
    each(cpu, a, b, offsets, c, shape, matmul::matmul);
}
