//! candle: tensors over the given memory in, tensors of its own out.

use crate::product::{F32_F64, Product, threads};
use candle_core::{Device, Storage, Tensor, WithDType};
use roofline_runner::{Dtype, Element, Entry, Input, Job, Kernel, Output, Ready, Refusal, failed};
use std::mem::ManuallyDrop;
use std::ops::Deref;

const NAME: &str = "rust-peers/candle";

pub const ENTRIES: &[Entry] = &[
    entry("add", &[Dtype::F32, Dtype::F64, Dtype::F16, Dtype::Bf16], "x + y of candle's tensors", false, add),
    entry("softmax", F32_F64, "candle_nn::ops::softmax_last_dim", true, softmax),
    entry("rms-norm", &[Dtype::F32], "candle_nn::ops::rms_norm", true, rms_norm),
    entry("matmul", F32_F64, "candle's Tensor::matmul", true, matmul),
    entry("matmul.nn", F32_F64, "candle's Tensor::matmul", true, matmul),
];

const fn entry(
    operation: &'static str,
    dtypes: &'static [Dtype],
    about: &'static str,
    parallel: bool,
    prepare: fn(&mut Job) -> Result<Ready, Refusal>,
) -> Entry {
    let entry = Entry::new(NAME, operation, dtypes, prepare).about(about);
    if parallel { entry.parallel() } else { entry }
}

/// A number that both candle and the protocol have.
trait Number: Element + WithDType {}
impl<T: Element + WithDType> Number for T {}

/// A tensor over memory that candle does not own.
struct Borrowed<T> {
    tensor: ManuallyDrop<Tensor>,
    _memory: Input<T>,
}

impl<T: Number> Borrowed<T> {
    fn new(memory: Input<T>, shape: &[usize]) -> Result<Borrowed<T>, Refusal> {
        assert_eq!(memory.len(), shape.iter().product::<usize>(), "the shape is that of the memory");
        let length = memory.len();
        // SAFETY: the vector is never dropped, which `ManuallyDrop` sees to, and never grown or written, as
        // candle's storage is not; it is read as long as `_memory` holds the mapping.
        let elements = unsafe { Vec::from_raw_parts(memory.as_ptr().cast_mut(), length, length) };
        let tensor = Tensor::from_vec(elements, shape, &Device::Cpu).map_err(told)?;
        Ok(Borrowed { tensor: ManuallyDrop::new(tensor), _memory: memory })
    }
}

/// Used as a whole, so that a closure that captures it holds the memory as well.
impl<T> Deref for Borrowed<T> {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

fn told(error: candle_core::Error) -> Refusal {
    failed(error.to_string())
}

/// A computation whose result candle allocates. It is copied into the given memory off the clock.
struct Fresh<T, F> {
    compute: F,
    result: Option<Tensor>,
    output: Output<T>,
}

impl<T: Number, F: Fn() -> candle_core::Result<Tensor>> Kernel for Fresh<T, F> {
    fn launch(&mut self) -> Result<(), Refusal> {
        // Freed on the clock, once a launch, as by whoever has used the last result before the next.
        self.result = None;
        self.result = Some((self.compute)().map_err(told)?);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Refusal> {
        let Some(result) = &self.result else { return Ok(()) };
        let (storage, layout) = result.storage_and_layout();
        let (Storage::Cpu(storage), Some((start, end))) = (&*storage, layout.contiguous_offsets()) else {
            return Err(failed("a result that does not lie in one piece in this memory"));
        };
        self.output.copy_from_slice(&storage.as_slice::<T>().map_err(told)?[start..end]);
        Ok(())
    }
}

fn fresh<T: Number>(
    output: Output<T>,
    threads: usize,
    compute: impl Fn() -> candle_core::Result<Tensor> + 'static,
) -> Ready {
    Ready::new(Fresh { compute, result: None, output }).threads(threads as u32).fresh()
}

/// Calls a generic function with the element type of the job.
macro_rules! by_dtype {
    ($function:ident, $job:ident) => {
        match $job.dtype {
            Dtype::F64 => $function::<f64>($job),
            Dtype::F16 => $function::<half::f16>($job),
            Dtype::Bf16 => $function::<half::bf16>($job),
            _ => $function::<f32>($job),
        }
    };
}

fn add(job: &mut Job) -> Result<Ready, Refusal> {
    by_dtype!(add_of, job)
}

fn add_of<T: Number>(job: &mut Job) -> Result<Ready, Refusal> {
    let shape = [job.axis("rows")?, job.axis("cols")?];
    let x = Borrowed::<T>::new(job.input("x")?, &shape)?;
    let y = Borrowed::<T>::new(job.input("y")?, &shape)?;
    Ok(fresh::<T>(job.output("z")?, 1, move || &*x + &*y))
}

fn softmax(job: &mut Job) -> Result<Ready, Refusal> {
    by_dtype!(softmax_of, job)
}

fn softmax_of<T: Number>(job: &mut Job) -> Result<Ready, Refusal> {
    let x = Borrowed::<T>::new(job.input("x")?, &[job.axis("rows")?, job.axis("cols")?])?;
    let threads = threads(job)?;
    Ok(fresh::<T>(job.output("y")?, threads, move || candle_nn::ops::softmax_last_dim(&x)))
}

fn rms_norm(job: &mut Job) -> Result<Ready, Refusal> {
    let (rows, cols, threads) = (job.axis("rows")?, job.axis("cols")?, threads(job)?);
    let x = Borrowed::<f32>::new(job.input("x")?, &[rows, cols])?;
    let w = Borrowed::<f32>::new(job.input("w")?, &[cols])?;
    Ok(fresh::<f32>(job.output("y")?, threads, move || candle_nn::ops::rms_norm(&x, &w, 1e-6)))
}

fn matmul(job: &mut Job) -> Result<Ready, Refusal> {
    by_dtype!(matmul_of, job)
}

fn matmul_of<T: Number>(job: &mut Job) -> Result<Ready, Refusal> {
    let Product { a, b, c, m, n, k, is_nn, threads } = Product::<T>::of(job)?;
    let a = Borrowed::new(a, &[m, k])?;
    let b = Borrowed::new(b, &if is_nn { [k, n] } else { [n, k] })?;
    Ok(fresh::<T>(c, threads, move || if is_nn { a.matmul(&b) } else { a.matmul(&b.t()?) }))
}
