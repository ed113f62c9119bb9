//! rten: its matrix product, which is a crate of its own.

use crate::product::{self, Product};
use roofline_runner::{Dtype, Entry, Job, Ready, Refusal};
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmUninitOptions};
use rten_tensor::NdTensorView;
use std::mem::MaybeUninit;

const ABOUT: &str = "rten-gemm's GemmExecutor on the given memory";
pub const ENTRIES: &[Entry] = &product::entries("rust-peers/rten", ABOUT, &[Dtype::F32], prepare);

fn prepare(job: &mut Job) -> Result<Ready, Refusal> {
    let mut p = Product::<f32>::of(job)?;
    let (threads, executor) = (p.threads, GemmExecutor::<f32>::new());
    let kernel = executor.kernel_name().to_owned();
    let launch = move || {
        let a = NdTensorView::from_data([p.m, p.k], &*p.a);
        let b = match p.is_nn {
            true => NdTensorView::from_data([p.k, p.n], &*p.b),
            false => NdTensorView::from_data([p.n, p.k], &*p.b).transposed(),
        };
        let (a, b) = (GemmInputA::Unpacked(a), GemmInputB::Unpacked(b));
        let product = executor.gemm_uninit(as_uninit(&mut p.c), a, b, GemmUninitOptions::default());
        product.unwrap_or_else(|error| panic!("{error:?}"));
    };
    Ok(Ready::new(launch).threads(threads as u32).note("kernel", kernel))
}

fn as_uninit(values: &mut [f32]) -> &mut [MaybeUninit<f32>] {
    // SAFETY: the same memory; what is borrowed this way is only ever written with values.
    unsafe { &mut *(std::ptr::from_mut(values) as *mut [MaybeUninit<f32>]) }
}
