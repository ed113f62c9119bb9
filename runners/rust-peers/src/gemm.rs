//! gemm: products through its one generic function.

use crate::product::{self, F32_F64, Product};
use ::gemm::Parallelism;
use roofline_runner::{Dtype, Element, Entry, Job, Ready, Refusal};

pub const ENTRIES: &[Entry] =
    &product::entries("rust-peers/gemm", "gemm::gemm on the given memory", F32_F64, prepare);

fn prepare(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => multiply::<f64>(job, 0.0, 1.0),
        _ => multiply::<f32>(job, 0.0, 1.0),
    }
}

fn multiply<T: Element>(job: &mut Job, zero: T, one: T) -> Result<Ready, Refusal> {
    let mut p = Product::<T>::of(job)?;
    let (threads, (b_row, b_column)) = (p.threads, p.steps_of_b());
    let parallelism = if threads == 1 { Parallelism::None } else { Parallelism::Rayon(threads) };
    let launch = move || {
        let (m, n, k) = (p.m, p.n, p.k);
        let (a, b, c) = (p.a.as_ptr(), p.b.as_ptr(), p.c.as_mut_ptr());
        // SAFETY: with these sizes and steps exactly the elements of the three tensors are reached.
        unsafe {
            ::gemm::gemm(
                m,
                n,
                k,
                c,
                1,
                n as isize,
                false,
                a,
                1,
                k as isize,
                b,
                b_column,
                b_row,
                zero,
                one,
                false,
                false,
                false,
                parallelism,
            );
        }
    };
    Ok(Ready::new(launch).threads(threads as u32))
}
