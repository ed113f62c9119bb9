//! The built-in runner over the kernels of `roofline-cpu`: `roofline runner cpu`.

use crate::job::Job;
use crate::kernel::{Ready, Runner, unsupported};
use crate::limit;
use crate::session::serve as host;
use crate::sys::tensor::Element;
use roofline_core::dtype::Dtype;
use roofline_core::protocol::{Hello, Offer, Prepare, Refusal, VERSION, cpu};
use roofline_cpu::catalog::{self, Implementation, Kernel, Mismatch, Tensor, TensorMut};
use roofline_cpu::{Cpu, Isa, Pool, bf16, f16};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Hosts the kernels until the conductor leaves.
pub fn serve() -> ExitCode {
    host(CpuRunner)
}

/// Offers every implementation of the catalog that this processor can run, as `cpu/<name>`, and
/// beside them the [probes](crate::limit) of its limits, as `limit/<name>`.
pub struct CpuRunner;

impl Runner for CpuRunner {
    fn hello(&self) -> Hello {
        let available = catalog::implementations().filter(|row| (row.available)());
        Hello {
            protocol: VERSION,
            runner: "cpu".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            devices: cpu(),
            offers: available.map(offer).chain(limit::offers()).collect(),
            notes: BTreeMap::from([("isa".to_owned(), name_of(Isa::detect()))]),
        }
    }

    fn prepare(&mut self, job: Job) -> Result<Ready, Refusal> {
        if job.implementation.starts_with(limit::PROVIDER) {
            return limit::prepare(job);
        }
        let name = job.implementation.strip_prefix("cpu/").unwrap_or_default();
        let row = catalog::find(&job.form(), name).filter(|row| (row.available)());
        let missing = || unsupported(format!("`{}` has no `{}`", job.implementation, job.form()));
        let row = row.ok_or_else(missing)?;
        job.require(&offer(row).dtypes)?;
        match job.dtype {
            Dtype::F32 => ready::<f32, f32>(job, row, |x| Tensor::F32(x), |y| TensorMut::F32(y)),
            Dtype::Bf16 => ready::<bf16, bf16>(job, row, |x| Tensor::Bf16(x), |y| TensorMut::Bf16(y)),
            Dtype::F16 => ready::<f16, f16>(job, row, |x| Tensor::F16(x), |y| TensorMut::F16(y)),
            Dtype::I8 => ready::<i8, i32>(job, row, |x| Tensor::I8(x), |y| TensorMut::I32(y)),
            _ => Err(missing()),
        }
    }
}

fn offer(row: &Implementation) -> Offer {
    Offer {
        about: row.about.to_owned(),
        parallel: row.parallel,
        ..Offer::new(&format!("cpu/{}", row.name), row.operation, &row.dtypes().collect::<Vec<_>>())
    }
}

/// The kernel for inputs of `T` and an output of `O`, on the threads of the job.
fn ready<T: Element, O: Element>(
    mut job: Job,
    row: &Implementation,
    input: fn(&[T]) -> Tensor<'_>,
    output: fn(&mut [O]) -> TensorMut<'_>,
) -> Result<Ready, Refusal> {
    let kernel = row.kernel(T::DTYPE.name());
    let kernel: Kernel = kernel.ok_or_else(|| unsupported(format!("no {}", T::DTYPE)))?;
    let axes: Vec<usize> = kernel.axes().iter().map(|axis| job.axis(axis)).collect::<Result<_, _>>()?;
    let (inputs, mut result) = job.tensors::<T, O>()?;
    let isa = Isa::detect();
    let cpu = Cpu::with(isa, pool(&job, row.parallel));
    let threads = cpu.pool.threads() as u32;
    let ready = Ready::new(move || {
        let launched = match inputs.as_slice() {
            [x] => kernel.launch(&cpu, &[input(x)], output(&mut result), &axes),
            [x, y] => kernel.launch(&cpu, &[input(x), input(y)], output(&mut result), &axes),
            _ => Err(Mismatch),
        };
        launched.unwrap_or_else(|mismatch| panic!("{mismatch}"));
    });
    let ready = ready.threads(threads);
    Ok(if row.vector { ready.note("isa", name_of(isa)) } else { ready })
}

/// One thread a core, as many as the implementation may use.
pub(crate) fn pool(request: &Prepare, parallel: bool) -> Pool {
    let threads = if parallel { request.threads as usize } else { 1 };
    let cores: Vec<usize> = request.cores.iter().map(|core| *core as usize).take(threads).collect();
    if cores.is_empty() { Pool::new(threads) } else { Pool::on_cores(&cores) }
}

pub(crate) fn name_of(isa: Isa) -> String {
    format!("{isa:?}").to_lowercase()
}
