//! A matrix product as every peer gets it: C[m,n] = A[m,k] · B, with B's steps by the case's form.

use roofline_runner::{Dtype, Element, Entry, Input, Job, Output, Ready, Refusal, failed};

pub struct Product<T> {
    pub a: Input<T>,
    pub b: Input<T>,
    pub c: Output<T>,
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// `matmul.nn`: B lies as [k,n]; else as [n,k].
    pub is_nn: bool,
    pub threads: usize,
}

impl<T: Element> Product<T> {
    pub fn of(job: &mut Job) -> Result<Product<T>, Refusal> {
        Ok(Product {
            a: job.input("a")?,
            b: job.input("b")?,
            c: job.output("c")?,
            m: job.axis("m")?,
            n: job.axis("n")?,
            k: job.axis("k")?,
            is_nn: job.variant == "nn",
            threads: threads(job)?,
        })
    }

    /// Between rows and between columns of B as a [k,n] matrix.
    pub fn steps_of_b(&self) -> (isize, isize) {
        if self.is_nn { (self.n as isize, 1) } else { (1, self.k as isize) }
    }
}

/// The threads of the case, which those of the pools must be.
pub fn threads(job: &Job) -> Result<usize, Refusal> {
    let (pool, wanted) = (rayon::current_num_threads(), job.threads as usize);
    if pool == wanted {
        return Ok(wanted);
    }
    Err(failed(format!(
        "the pool has {pool} threads for a case of {wanted}; start it with RAYON_NUM_THREADS={wanted}"
    )))
}

/// The two rows of a peer that multiplies in f32 and f64.
pub const fn entries(
    implementation: &'static str,
    about: &'static str,
    dtypes: &'static [Dtype],
    prepare: fn(&mut Job) -> Result<Ready, Refusal>,
) -> [Entry; 2] {
    let entry = Entry::new(implementation, "matmul", dtypes, prepare).about(about).parallel();
    [entry, entry.operation("matmul.nn")]
}

pub const F32_F64: &[Dtype] = &[Dtype::F32, Dtype::F64];
