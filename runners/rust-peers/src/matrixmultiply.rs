//! matrixmultiply: sgemm and dgemm.

use crate::product::{self, F32_F64, Product};
use roofline_runner::{Dtype, Entry, Job, Ready, Refusal};

pub const ENTRIES: &[Entry] = &product::entries(
    "rust-peers/matrixmultiply",
    "matrixmultiply's sgemm and dgemm on the given memory",
    F32_F64,
    prepare,
);

/// Threads that it uses of those that it may: it divides its work by halves, twice at most.
pub fn used(threads: usize) -> u32 {
    match threads {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => 4,
    }
}

fn prepare(job: &mut Job) -> Result<Ready, Refusal> {
    macro_rules! multiply {
        ($element:ty, $function:path) => {{
            let mut p = Product::<$element>::of(job)?;
            let (threads, (b_row, b_column)) = (used(p.threads), p.steps_of_b());
            let launch = move || {
                let (m, n, k) = (p.m, p.n, p.k);
                let (a, b, c) = (p.a.as_ptr(), p.b.as_ptr(), p.c.as_mut_ptr());
                // SAFETY: with these sizes and steps exactly the elements of the three tensors are reached.
                unsafe {
                    $function(m, k, n, 1.0, a, k as isize, 1, b, b_row, b_column, 0.0, c, n as isize, 1)
                };
            };
            Ok(Ready::new(launch).threads(threads))
        }};
    }
    match job.dtype {
        Dtype::F64 => multiply!(f64, ::matrixmultiply::dgemm),
        _ => multiply!(f32, ::matrixmultiply::sgemm),
    }
}
