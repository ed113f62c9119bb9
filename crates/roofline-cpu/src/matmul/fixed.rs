//! `matmul.fixed`: what its rungs pack while they get ready, because B stays what it is.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::amx::TileFactor;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::prepacked::TileWeights;
use super::prepacked::Weights;
use super::{FEW_ROWS_BESIDE_TILES, Factor, few_rows_parallel, packed_parallel};
use crate::catalog::Launch;
use crate::{Args, Cpu, In, Mismatch, Out, Product};

/// A, B and C, and the sizes of their product.
pub(super) type Tensors<'a, T> = (In<'a, T>, In<'a, T>, Out<'a, <T as super::Term>::Output>, Product);

fn take<T: Factor>(mut args: Args<'_>) -> Result<Tensors<'_, T>, Mismatch> {
    let (a, b, c) = (args.take("a")?, args.take::<T>("b")?, args.take_out("c")?);
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    Ok((a, b, c, shape))
}

/// Panels, on one thread.
pub(super) fn prepacked<'a, T: Factor>(cpu: &Cpu, args: Args<'a>) -> Result<Launch<'a>, Mismatch> {
    let (a, b, mut c, shape) = take::<T>(args)?;
    let weights = Weights::<T>::new(cpu, &b, shape.n, shape.k);
    let bytes = weights.bytes();
    Ok(Launch::new(move |_| weights.matmul_alone(&a, &mut c, shape.m)).keeping(bytes))
}

/// Panels, on all threads.
pub(super) fn prepacked_parallel<'a, T: Factor>(cpu: &Cpu, args: Args<'a>) -> Result<Launch<'a>, Mismatch> {
    Ok(on_panels(cpu, take::<T>(args)?))
}

fn on_panels<'a, T: Factor>(cpu: &Cpu, (a, b, mut c, shape): Tensors<'a, T>) -> Launch<'a> {
    let weights = Weights::<T>::new(cpu, &b, shape.n, shape.k);
    let bytes = weights.bytes();
    Launch::new(move |cpu| weights.matmul(cpu, &a, &mut c, shape.m)).keeping(bytes)
}

/// Strips for tile registers.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) fn amx<'a, T: TileFactor>(cpu: &Cpu, args: Args<'a>) -> Result<Launch<'a>, Mismatch> {
    Ok(on_strips(cpu, take::<T>(args)?).unwrap_or_else(|tensors| on_panels(cpu, tensors)))
}

/// The same of tensors, which come back where there are no tile registers. Products in which subnormal numbers could show are
/// left to panels that are packed for the call.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) fn on_strips<'a, T: TileFactor>(
    cpu: &Cpu,
    (a, b, mut c, shape): Tensors<'a, T>,
) -> Result<Launch<'a>, Tensors<'a, T>> {
    let Some(weights) = TileWeights::new(cpu, &b, shape.n, shape.k) else { return Err((a, b, c, shape)) };
    let bytes = weights.bytes();
    let launch = Launch::new(move |cpu| {
        if !weights.matmul(cpu, &a, &mut c, shape.m) {
            packed_parallel::matmul(cpu, &a, &b, &mut c, shape);
        }
    });
    Ok(launch.keeping(bytes))
}

/// What suits type, shape, processor and threads; nothing is packed for a few rows.
pub(super) fn auto<'a, T: Factor>(cpu: &Cpu, args: Args<'a>) -> Result<Launch<'a>, Mismatch> {
    let tensors = take::<T>(args)?;
    if tensors.3.m <= FEW_ROWS_BESIDE_TILES {
        let (a, b, mut c, shape) = tensors;
        return Ok(Launch::new(move |cpu| few_rows_parallel::matmul(cpu, &a, &b, &mut c, shape)));
    }
    Ok(T::on_strips(cpu, tensors).unwrap_or_else(|tensors| on_panels(cpu, tensors)))
}
