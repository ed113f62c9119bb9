//! sprs: products of a matrix in rows, a view of the given memory at each launch.

use crate::product::F32_F64;
use ::ndarray::{ArrayView2, ArrayViewMut2};
use ::sprs::prod::{csr_mulacc_dense_rowmaj, mul_acc_mat_vec_csr};
use ::sprs::{CompressedStorage, CsMatViewI, MulAcc};
use realfft::num_traits::Zero;
use roofline_runner::{Dtype, Element, Entry, Input, Job, Output, Ready, Refusal};

const NAME: &str = "rust-peers/sprs";

pub const ENTRIES: &[Entry] = &[
    Entry::new(NAME, "spmv", F32_F64, vector).about("sprs::prod::mul_acc_mat_vec_csr, onto zeros"),
    Entry::new(NAME, "spmm", F32_F64, matrix).about("sprs::prod::csr_mulacc_dense_rowmaj, onto zeros"),
];

/// A matrix with the columns of a row in no order, which sprs makes only where it is told to trust.
struct Matrix<T> {
    values: Input<T>,
    columns: Input<i32>,
    offsets: Input<i32>,
    shape: (usize, usize),
}

impl<T: Element> Matrix<T> {
    fn of(job: &mut Job) -> Result<Matrix<T>, Refusal> {
        let shape = (job.axis("rows")?, job.axis("cols")?);
        Ok(Matrix {
            values: job.input("values")?,
            columns: job.input("columns")?,
            offsets: job.input("offsets")?,
            shape,
        })
    }

    fn view(&self) -> CsMatViewI<'_, T, i32, i32> {
        // SAFETY: offsets rise from 0 to the number of values, and columns are below the width, as the case says; the order
        // of columns, which is not as sprs has it, decides nothing in products with what is dense.
        unsafe {
            CsMatViewI::new_unchecked(
                CompressedStorage::CSR,
                self.shape,
                &*self.offsets,
                &*self.columns,
                &*self.values,
            )
        }
    }
}

fn vector(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => vector_of::<f64>(job),
        _ => vector_of::<f32>(job),
    }
}

fn vector_of<T: Element + Zero + MulAcc>(job: &mut Job) -> Result<Ready, Refusal> {
    let matrix = Matrix::<T>::of(job)?;
    let (x, mut y): (Input<T>, Output<T>) = (job.input("x")?, job.output("y")?);
    Ok(Ready::new(move || {
        y.fill(T::zero());
        mul_acc_mat_vec_csr(matrix.view(), &x[..], &mut y[..]);
    }))
}

fn matrix(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => matrix_of::<f64>(job),
        _ => matrix_of::<f32>(job),
    }
}

fn matrix_of<T: Element + Zero + MulAcc>(job: &mut Job) -> Result<Ready, Refusal> {
    let matrix = Matrix::<T>::of(job)?;
    let (x, mut y): (Input<T>, Output<T>) = (job.input("x")?, job.output("y")?);
    let (rows, cols, n) = (job.axis("rows")?, job.axis("cols")?, job.axis("n")?);
    Ok(Ready::new(move || {
        y.fill(T::zero());
        let x = ArrayView2::from_shape((cols, n), &x[..]).expect("x has the sizes of the case");
        let y = ArrayViewMut2::from_shape((rows, n), &mut y[..]).expect("y has the sizes of the case");
        csr_mulacc_dense_rowmaj(matrix.view(), x, y);
    }))
}
