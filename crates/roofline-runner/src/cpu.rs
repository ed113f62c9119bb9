//! The built-in runner over the kernels of `roofline-cpu`: `roofline runner cpu`.

use crate::job::Job;
use crate::kernel::{Ready, Runner, failed, unsupported};
use crate::limit::{self, name_of, pool};
use crate::session::serve as host;
use crate::sys::tensor::Element;
use roofline_cpu::catalog::{self, Implementation};
use roofline_cpu::{Args, Cpu, Datum, Fp8E4m3, Fp8E5m2, Isa, bf16, f16};
use roofline_protocol::dtype::Dtype;
use roofline_protocol::messages::{Hello, Offer, Refusal, Role};
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
        limit::hello(available.map(offer).collect())
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
        ready(job, row)
    }
}

fn offer(row: &Implementation) -> Offer {
    Offer {
        about: row.about.to_owned(),
        parallel: row.parallel,
        params: row.params.iter().map(|&name| name.to_owned()).collect(),
        requires: row.requires.to_owned(),
        ..Offer::new(&format!("cpu/{}", row.name), row.operation, &row.precisions().collect::<Vec<_>>())
    }
}

/// The kernel of the job's precision, on its tensors and threads.
fn ready(mut job: Job, row: &Implementation) -> Result<Ready, Refusal> {
    let precision = job.precision();
    let kernel = row.kernel(&precision).ok_or_else(|| unsupported(format!("no {precision}")))?;
    let isa = Isa::detect();
    let cpu = Cpu::with(isa, pool(&job, row.parallel));
    let threads = cpu.pool.threads() as u32;
    let mut launch = (kernel.prepare)(&cpu, args(&mut job)?).map_err(|why| failed(why.to_string()))?;
    let workspace = launch.workspace as u64;
    let ready = Ready::new(move || launch.run(&cpu)).threads(threads).workspace(workspace);
    Ok(if row.vector { ready.note("isa", name_of(isa)) } else { ready })
}

/// The job as kernels take it: sizes, parameters and tensors by name.
fn args(job: &mut Job) -> Result<Args<'static>, Refusal> {
    let mut args = Args::new();
    let axes: Vec<String> = job.axes.keys().cloned().collect();
    for name in axes {
        args = args.size(&name, job.axis(&name)?);
    }
    for (name, value) in &job.params {
        args = args.param(name, *value);
    }
    let places: Vec<_> =
        job.tensors.iter().map(|place| (place.name.clone(), place.role, place.dtype)).collect();
    for (name, role, dtype) in places {
        args = match dtype {
            Dtype::F64 => give::<f64>(args, job, &name, role)?,
            Dtype::F32 => give::<f32>(args, job, &name, role)?,
            Dtype::Bf16 => give::<bf16>(args, job, &name, role)?,
            Dtype::F16 => give::<f16>(args, job, &name, role)?,
            Dtype::Fp8E4m3 => give::<Fp8E4m3>(args, job, &name, role)?,
            Dtype::I32 => give::<i32>(args, job, &name, role)?,
            Dtype::I8 => give::<i8>(args, job, &name, role)?,
            Dtype::U8 => give::<u8>(args, job, &name, role)?,
            Dtype::Fp8E5m2 => give::<Fp8E5m2>(args, job, &name, role)?,
        };
    }
    Ok(args)
}

fn give<T: Element + Datum>(
    args: Args<'static>,
    job: &mut Job,
    name: &str,
    role: Role,
) -> Result<Args<'static>, Refusal> {
    Ok(match role.is_input() {
        true => args.input(name, job.input::<T>(name)?),
        false => args.output(name, job.output::<T>(name)?),
    })
}
