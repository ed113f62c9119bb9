//! ndarray: `general_mat_mul`, and `Zip` for sums.

use crate::matrixmultiply::used;
use crate::product::{self, F32_F64, Product, threads};
use ::ndarray::linalg::general_mat_mul;
use ::ndarray::{ArrayView2, ArrayViewMut2, LinalgScalar, ShapeError, Zip};
use roofline_runner::{Dtype, Element, Entry, Job, Ready, Refusal};
use std::ops::Add;

const ABOUT: &str = "ndarray's general_mat_mul on the given memory";
const PRODUCTS: [Entry; 2] = product::entries("rust-peers/ndarray", ABOUT, F32_F64, prepare);

pub const ENTRIES: &[Entry] = &[
    Entry::new("rust-peers/ndarray", "add", F32_F64, prepare_add)
        .about("ndarray's Zip on the given memory")
        .parallel(),
    PRODUCTS[0],
    PRODUCTS[1],
];

/// Shapes are those of the case, so that a view of them can be had.
fn fits<V>(view: Result<V, ShapeError>) -> V {
    view.unwrap_or_else(|error| panic!("{error}"))
}

fn prepare(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => multiply::<f64>(job),
        _ => multiply::<f32>(job),
    }
}

fn multiply<T: Element + LinalgScalar>(job: &mut Job) -> Result<Ready, Refusal> {
    let mut p = Product::<T>::of(job)?;
    // It multiplies by matrixmultiply where that is the faster way.
    let threads = used(p.threads);
    let launch = move || {
        let (m, n, k) = (p.m, p.n, p.k);
        let a = fits(ArrayView2::from_shape((m, k), &p.a));
        let b = match p.is_nn {
            true => fits(ArrayView2::from_shape((k, n), &p.b)),
            false => fits(ArrayView2::from_shape((n, k), &p.b)).reversed_axes(),
        };
        let mut c = fits(ArrayViewMut2::from_shape((m, n), &mut p.c));
        general_mat_mul(T::one(), &a, &b, T::zero(), &mut c);
    };
    Ok(Ready::new(launch).threads(threads))
}

fn prepare_add(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => add::<f64>(job),
        _ => add::<f32>(job),
    }
}

fn add<T: Element + Add<Output = T>>(job: &mut Job) -> Result<Ready, Refusal> {
    let (x, y) = (job.input::<T>("x")?, job.input::<T>("y")?);
    let mut z = job.output::<T>("z")?;
    let (shape, threads) = ((job.axis("rows")?, job.axis("cols")?), threads(job)?);
    let launch = move || {
        let x = fits(ArrayView2::from_shape(shape, &x));
        let y = fits(ArrayView2::from_shape(shape, &y));
        let z = fits(ArrayViewMut2::from_shape(shape, &mut z));
        let zip = Zip::from(z).and(x).and(y);
        let sum = |z: &mut T, x: &T, y: &T| *z = *x + *y;
        if threads == 1 { zip.for_each(sum) } else { zip.par_for_each(sum) }
    };
    Ok(Ready::new(launch).threads(threads as u32))
}
