//! The runner: every name of the knob for every operation that it has.
#![forbid(unsafe_code)]

use knob::{Form, NAMES, Task};
use roofline_cpu::{Cpu, Isa, Pool};
use roofline_runner::protocol::{VERSION, cpu};
use roofline_runner::{Hello, Job, Offer, Ready, Refusal, Runner, serve, unsupported};
use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    serve(Knob)
}

struct Knob;

impl Runner for Knob {
    fn hello(&self) -> Hello {
        let offer = |operation: &str, (name, extra): &(&str, usize)| Offer {
            about: format!("computes {extra} % of the rows twice"),
            parallel: operation == "add",
            ..Offer::new(&format!("knob/{name}"), operation, &["f32"])
        };
        let offers = ["add", "softmax", "matmul"].iter();
        Hello {
            protocol: VERSION,
            runner: "knob".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            devices: cpu(),
            offers: offers.flat_map(|form| NAMES.iter().map(|name| offer(form, name))).collect(),
            operations: Vec::new(),
            notes: BTreeMap::new(),
        }
    }

    fn prepare(&mut self, mut job: Job) -> Result<Ready, Refusal> {
        job.require(&["f32".to_owned()])?;
        let missing = || unsupported(format!("`{}` has no `{}`", job.implementation, job.form()));
        let name = NAMES.iter().find(|(name, _)| job.implementation == format!("knob/{name}"));
        let extra = name.ok_or_else(missing)?.1;
        let (form, cols, inputs, output) = match job.form().as_str() {
            "add" => (Form::Add, "cols", &["x", "y"][..], "z"),
            "softmax" => (Form::Softmax, "cols", &["x"][..], "y"),
            "matmul" => (Form::Matmul { k: job.axis("k")? }, "n", &["a", "b"][..], "c"),
            _ => return Err(missing()),
        };
        let cols = job.axis(cols)?;
        let inputs: Vec<_> = inputs.iter().map(|name| job.input::<f32>(name)).collect::<Result<_, _>>()?;
        let mut output = job.output::<f32>(output)?;
        let mut cpu = Cpu::with(Isa::detect(), pool(&job, form == Form::Add));
        Task::configure(form, 3 * size_of_val(&*output), &mut cpu);
        let threads = cpu.pool.threads() as u32;
        let launch = move || {
            let x: &[f32] = &inputs[0];
            let y: &[f32] = inputs.get(1).map_or(&[], |y| y);
            Task { form, cols, x, y, extra }.launch(&cpu, &mut output);
        };
        Ok(Ready::new(launch).threads(threads))
    }
}

/// One thread a core, where threads are of use.
fn pool(job: &Job, parallel: bool) -> Pool {
    let threads = if parallel { job.threads as usize } else { 1 };
    let cores: Vec<usize> = job.cores.iter().map(|core| *core as usize).take(threads).collect();
    if cores.is_empty() { Pool::new(threads) } else { Pool::on_cores(&cores) }
}
