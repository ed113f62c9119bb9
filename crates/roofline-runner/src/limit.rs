//! Probes of a case's limits, as implementations: `limit/traffic-4`, `limit/compute-avx512-f32`.
//!
//! Every form of every operation has them, for they know nothing of the mathematics: a traffic
//! probe sees the tensors of the case as bytes, a compute probe the amount of its work. What they
//! write is not the result of the operation, and they are not judged by it.

use crate::job::Job;
use crate::kernel::{Ready, Runner, failed, unsupported};
use crate::session::serve as host;
use roofline_core::case::Case;
use roofline_core::operation::Operation;
use roofline_core::ops::operations;
use roofline_core::protocol::{Hello, Offer, Prepare, Refusal, VERSION, cpu};
use roofline_lanes::probe::{self, Amount, Entry, PROBES, Probe, Way};
use roofline_lanes::{Cpu, Isa, Pool};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::OnceLock;

/// What the names of probes begin with.
pub(crate) const PROVIDER: &str = "limit/";

/// Hosts the probes alone, for benches outside.
pub fn serve() -> ExitCode {
    host(LimitRunner)
}

/// Offers every probe; where there are kernels of the house, their runner does.
pub struct LimitRunner;

impl Runner for LimitRunner {
    fn hello(&self) -> Hello {
        hello(Vec::new())
    }

    fn prepare(&mut self, job: Job) -> Result<Ready, Refusal> {
        prepare(job)
    }
}

/// What the runner `cpu` says of itself: these offers, and the probes.
pub(crate) fn hello(kernels: Vec<Offer>) -> Hello {
    Hello {
        protocol: VERSION,
        runner: "cpu".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        devices: cpu(),
        offers: kernels.into_iter().chain(offers()).collect(),
        operations: Vec::new(),
        notes: BTreeMap::from([("isa".to_owned(), name_of(Isa::detect()))]),
    }
}

/// Every probe that this processor can run, for every form of every operation.
fn offers() -> impl Iterator<Item = Offer> {
    let forms = operations().flat_map(|operation| operation.forms().map(move |form| (operation, form)));
    forms.flat_map(|(operation, form)| {
        let available = PROBES.iter().filter(|probe| (probe.available)());
        available.filter_map(move |probe| offer(probe, operation, &form))
    })
}

fn offer(probe: &Probe, operation: &Operation, form: &str) -> Option<Offer> {
    let bounded =
        operation.precisions.iter().filter(|precision| probe.dtypes.contains(&precision.dtype.name()));
    let ids: Vec<&str> = bounded.map(|precision| precision.id).collect();
    // One that bounds no dtype at all is there for the peaks of the machine.
    let is_of_use = !ids.is_empty() || probe.dtypes.is_empty();
    is_of_use.then(|| Offer {
        about: probe.about.to_owned(),
        parallel: true,
        params: operation.params.iter().map(|param| param.name.to_owned()).collect(),
        ..Offer::new(&format!("{PROVIDER}{}", probe.name), form, &ids)
    })
}

/// A probe on the tensors or the work of a case, whatever its dtype.
pub(crate) fn prepare(mut job: Job) -> Result<Ready, Refusal> {
    let name = job.implementation.strip_prefix(PROVIDER).unwrap_or_default();
    let probe = probe::find(name).filter(|probe| (probe.available)());
    let probe =
        probe.ok_or_else(|| unsupported(format!("this processor has no `{}`", job.implementation)))?;
    let cpu = Cpu::with(Isa::detect(), pool(&job, true));
    let threads = cpu.pool.threads();
    let costs = (threads > 1).then(|| Costs::of(&cpu.pool));
    let ready = match probe.entry {
        Entry::Traffic(way) => {
            let isa = cpu.isa;
            let is_read = |name: &String| {
                job.tensors.iter().any(|input| input.name == *name && input.walked != Some(0))
            };
            let is_in_place = job.tensors.iter().any(|place| place.starts_as.as_ref().is_some_and(is_read));
            let (inputs, mut outputs) = job.walked()?;
            let count = inputs.len();
            // What works in place must have read what it writes: an ordinary store reads the line, one past the
            // caches does not.
            let way = Way { nontemporal: way.nontemporal && !is_in_place, ..way };
            if count > MAX_INPUTS {
                return Err(unsupported(format!("{count} inputs; probes know {MAX_INPUTS} at most")));
            }
            // What is only moved is read beside the output that it goes to; otherwise all is read beside the first output,
            // and the others are written after it.
            let sizes = [
                inputs.iter().map(|input| input.len()).sum(),
                outputs.iter().map(|output| output.len()).sum::<usize>(),
            ];
            let is_moved = sizes[0] == sizes[1];
            let ready = Ready::new(move || {
                // On the stack: a launch takes nothing from the heap.
                let mut left: [&[u8]; MAX_INPUTS] = [&[]; MAX_INPUTS];
                for (left, input) in left.iter_mut().zip(&inputs) {
                    *left = input;
                }
                for output in &mut outputs {
                    let read = take(&mut left, if is_moved { output.len() } else { usize::MAX });
                    way.walk(&cpu, &read[..count], output);
                }
            });
            ready.note("unit", name_of(isa))
        }
        Entry::Compute(unit) => {
            let amount = amount(&job)?;
            let ready = Ready::new(move || unit.compute(&cpu, amount));
            ready.note("unit", probe.name.trim_start_matches("compute-"))
        }
    };
    let ready = ready.threads(threads as u32);
    Ok(match costs {
        Some(Costs { fork_join, wake_up }) => {
            let nanoseconds = |seconds: f64| format!("{:.0} ns", seconds * 1e9);
            ready.note("fork-join", nanoseconds(*fork_join)).note("wake-up", nanoseconds(*wake_up))
        }
        None => ready,
    })
}

/// The next `bytes` of what is left of the inputs.
fn take<'a>(left: &mut [&'a [u8]; MAX_INPUTS], mut bytes: usize) -> [&'a [u8]; MAX_INPUTS] {
    std::array::from_fn(|input| {
        let (now, later) = left[input].split_at(bytes.min(left[input].len()));
        left[input] = later;
        bytes -= now.len();
        now
    })
}

/// Most inputs whose traffic is modelled.
const MAX_INPUTS: usize = 8;

fn amount(job: &Job) -> Result<Amount, Refusal> {
    let work = match job.work {
        Some(work) => work,
        None => {
            let case: Case = job.case.parse().map_err(|error| failed(format!("{error}")))?;
            (case.operation.work)(&case)
        }
    };
    Ok(Amount { multiply_adds: work.multiply_adds, simple: work.simple, special: work.special })
}

/// What threads cost, in seconds. A process has one number of threads, so it is measured once.
struct Costs {
    fork_join: f64,
    wake_up: f64,
}

impl Costs {
    fn of(pool: &Pool) -> &'static Costs {
        static COSTS: OnceLock<Costs> = OnceLock::new();
        COSTS.get_or_init(|| Costs { fork_join: probe::fork_join(pool), wake_up: probe::wake_up(pool) })
    }
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
