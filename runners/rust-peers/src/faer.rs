//! faer: `linalg::matmul`.

use crate::product::{self, F32_F64, Product};
use ::faer::linalg::matmul::matmul;
use ::faer::traits::RealField;
use ::faer::{Accum, MatMut, MatRef, Par};
use roofline_runner::{Dtype, Element, Entry, Job, Ready, Refusal};

pub const ENTRIES: &[Entry] =
    &product::entries("rust-peers/faer", "faer::linalg::matmul on the given memory", F32_F64, prepare);

fn prepare(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => multiply::<f64>(job, 1.0),
        _ => multiply::<f32>(job, 1.0),
    }
}

fn multiply<T: Element + RealField>(job: &mut Job, one: T) -> Result<Ready, Refusal> {
    let mut p = Product::<T>::of(job)?;
    let threads = p.threads;
    let parallelism = if threads == 1 { Par::Seq } else { Par::rayon(threads) };
    let launch = move || {
        let (m, n, k) = (p.m, p.n, p.k);
        let a = MatRef::from_row_major_slice(&p.a, m, k);
        let b = match p.is_nn {
            true => MatRef::from_row_major_slice(&p.b, k, n),
            false => MatRef::from_column_major_slice(&p.b, k, n),
        };
        let c = MatMut::from_row_major_slice_mut(&mut p.c, m, n);
        matmul(c, Accum::Replace, a, b, one, parallelism);
    };
    Ok(Ready::new(launch).threads(threads as u32))
}
