//! Measures the roofs of this machine, through runner processes like every kernel.
//!
//! A point is a case whose traffic or work is the one wanted, and every probe of the family on it:
//! each in a process of its own, on the same memory, visited in turn. What counts is the fastest
//! probe's median. Nothing is judged, as probes compute nothing.

use crate::failure::{Failure, Stop};
use crate::instance::Placement;
use crate::lane::Lane;
use crate::plan::{LIMIT, is_limit};
use crate::shape::Shape;
use crate::stage::{Options, Seat, Stage, available_cores};
use crate::visit;
use roofline_core::case::{Case, Device};
use roofline_core::operation::Work;
use roofline_core::record::{Limiter, Status};
use roofline_core::roofs::{Bandwidth, MAX_TEXT, Mix, Peak, Roofs, SCHEMA};
use roofline_core::stats::median;
use roofline_core::units::{Bytes, FlopsPerSecond, Seconds};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a visit is at least, and how many a probe gets of a point at most.
const VISIT: Duration = Duration::from_micros(500);
const PASSES: usize = 15;

/// Larger working sets leave nothing in a cache for the next launch.
const LARGE: Bytes = Bytes(128 << 20);

/// All of it is over by then on a machine that is not too busy.
const TOTAL: Duration = Duration::from_secs(20);

/// Probes slower than the fastest by this factor are not visited again.
const HOPELESS: f64 = 1.3;

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Sizes of working sets, in bytes.
    pub sets: Vec<u64>,
    /// Time for the visits of one point, once every probe was seen.
    pub budget: Duration,
    pub quick: bool,
}

impl Extent {
    /// From the first cache to memory, as far as a quarter of `memory` goes: under half a minute.
    pub fn full(memory: u64) -> Extent {
        let sets = [14, 16, 18, 19, 20, 21, 22, 24, 26, 29].map(|bits| 1 << bits);
        let sets = sets.into_iter().filter(|set| *set <= memory / 4).collect();
        Extent { sets, budget: Duration::from_millis(100), quick: false }
    }

    /// Two sizes and no time: for a look, and for tests.
    pub fn quick() -> Extent {
        Extent { sets: vec![1 << 14, 1 << 20], budget: Duration::from_millis(2), quick: true }
    }
}

/// Measures on one thread and on all cores. `progress` is told what comes next, and of how many.
pub fn measure(
    options: &Options,
    extent: &Extent,
    (machine, now): (String, String),
    mut progress: impl FnMut(&str, usize, usize),
) -> Result<Roofs, Stop> {
    let mut stage = Stage::new(options)?;
    let cores = available_cores().len().max(1) as u32;
    let threads = if cores == 1 { vec![1] } else { vec![1, cores] };
    let probes = probes(&mut stage)?;
    let of = |family: Limiter| -> Vec<(&String, &str)> {
        let known = probes.iter().filter_map(|probe| Some((probe, Limiter::of_probe(probe)?)));
        known.filter(|(_, (own, _))| *own == family).map(|(probe, (_, how))| (probe, how)).collect()
    };
    let (traffic, compute) = (of(Limiter::Traffic), of(Limiter::Compute));
    let traffic: Vec<String> = traffic.into_iter().map(|(probe, _)| probe.clone()).collect();
    let steps = threads.len() * (extent.sets.len() * Mix::ALL.len() + compute.len());
    let mut roofs = Roofs {
        schema: SCHEMA,
        machine,
        measured: now,
        quick: extent.quick,
        bandwidth: Vec::new(),
        peaks: Vec::new(),
        fork_join: None,
        wake_up: None,
    };
    let start = Instant::now();
    let mut step = 0;
    // Time for the next point: its share of what is left.
    let mut next = |what: String| {
        step += 1;
        progress(&what, step, steps);
        let left = TOTAL.saturating_sub(start.elapsed()) / (steps - step + 1) as u32;
        left.min(extent.budget)
    };
    for &threads in &threads {
        let is_other = |probe: &&String| threads > 1 || !probe.ends_with("-alone");
        let traffic: Vec<String> = traffic.iter().filter(is_other).cloned().collect();
        for &set in &extent.sets {
            for mix in Mix::ALL {
                let budget = next(format!("{} of {}", mix.name(), Bytes(set)));
                let case = moving(mix, set, threads)?;
                let Some(fastest) = fastest(&mut stage, &case, &traffic, budget)? else { continue };
                let rate = work_of(&case).traffic().per(fastest.time);
                let set = Bytes(set);
                roofs.bandwidth.push(Bandwidth { mix, set, threads, rate, probe: fastest.probe });
                roofs.fork_join = fastest.fork_join.or(roofs.fork_join);
                roofs.wake_up = fastest.wake_up.or(roofs.wake_up);
            }
        }
        for (probe, unit) in &compute {
            let unit: &str = unit;
            let budget = next(unit.to_owned());
            let case = multiplying(unit, threads)?;
            let one = std::slice::from_ref(*probe);
            let Some(fastest) = fastest(&mut stage, &case, one, budget)? else { continue };
            let rate = FlopsPerSecond(work_of(&case).flops() as f64 / fastest.time.0);
            roofs.peaks.push(Peak { unit: unit.to_owned(), threads, rate });
        }
        // No process of other threads beside those that are measured.
        stage.clear_all();
    }
    Ok(roofs)
}

/// What the built-in runner offers for products, on which every probe can be run.
fn probes(stage: &mut Stage) -> Result<Vec<String>, Stop> {
    let (runner, implementation) = ("cpu".to_owned(), LIMIT.to_owned());
    let seat = Seat { runner, implementation, device: Device::Cpu, threads: 1 };
    let offers = stage.seat(&seat)?.hello.offers.clone();
    stage.clear(&seat);
    let of_products = offers.into_iter().filter(|offer| offer.operation == "matmul");
    Ok(of_products.map(|offer| offer.implementation).filter(|name| is_limit(name)).collect())
}

/// A case that reads and writes about `set` bytes in f32.
fn moving(mix: Mix, set: u64, threads: u32) -> Result<Case, Stop> {
    // A vector by a matrix reads the matrix. Whole lines, so that no probe has edges.
    let lines = |tensors: u64| (set / 64 / tensors).max(1) * 16;
    let id = match mix {
        Mix::Triad => format!("add/f32/rows=1,cols={}", lines(3)),
        Mix::Copy => format!("softmax/f32/rows=1,cols={}", lines(2)),
        Mix::Read => {
            let k = if set < 1 << 18 { 64 } else { 1024 };
            format!("matmul/f32/m=1,n={},k={k}", (set / 4 / k).max(1))
        }
    };
    with_threads(&id, threads)
}

/// A product in the type that a unit is named after: long beside a call of all threads, short beside the
/// time for which others may take a core. A tile unit does several times as much in that time.
fn multiplying(unit: &str, threads: u32) -> Result<Case, Stop> {
    let dtype = unit.rsplit('-').next().unwrap_or_default();
    let size = if unit.starts_with("amx-") { 512 } else { 256 };
    with_threads(&format!("matmul/{dtype}/m={size},n={size},k={size}"), threads)
}

fn with_threads(id: &str, threads: u32) -> Result<Case, Stop> {
    let case: Case = id.parse().map_err(|error| io::Error::other(format!("{error}")))?;
    Ok(Case { threads, ..case })
}

fn work_of(case: &Case) -> Work {
    (case.operation.work)(case)
}

struct Fastest {
    probe: String,
    time: Seconds,
    fork_join: Option<Seconds>,
    wake_up: Option<Seconds>,
}

/// A probe at work on a point.
struct Candidate {
    lane: Lane,
    /// Seconds of the first launch that was timed, which decides whether it is seen again.
    first: f64,
    times: Vec<f64>,
}

impl Candidate {
    fn time(&self) -> f64 {
        median(&self.times).unwrap_or(self.first)
    }
}

/// Visits the probes in turn until the budget is spent; the fastest by its median.
fn fastest(
    stage: &mut Stage,
    case: &Case,
    probes: &[String],
    budget: Duration,
) -> Result<Option<Fastest>, Stop> {
    let instance = stage.instance(case, Placement::Aligned { offset: 0 })?;
    let mut candidates = Vec::new();
    // Pages are there before the first launch; what no cache keeps needs no other warming.
    let warmup = u32::from(work_of(case).traffic() < LARGE);
    for probe in probes {
        let mut lane = Lane::new(probe, "cpu", case, stage.options.seed);
        let first = lane.attempt(stage, PLACE, |lane, stage| {
            lane.prepare(stage, &instance)?;
            visit(stage, lane, (warmup, 1))
        })?;
        // A probe that fails bounds nothing; another member of the family may.
        candidates.extend(first.map(|first| Candidate { lane, first, times: Vec::new() }));
    }
    let least =
        |candidates: &[Candidate]| candidates.iter().map(Candidate::time).fold(f64::INFINITY, f64::min);
    let batch = (VISIT.as_secs_f64() / least(&candidates)).ceil().clamp(1.0, 1e6) as u32;
    let shape = (warmup, batch);
    let start = Instant::now();
    for pass in 0..PASSES {
        // One launch alone says little of a short one.
        let hopeless = least(&candidates) * if pass == 0 { 3.0 * HOPELESS } else { HOPELESS };
        for Candidate { lane, times, .. } in candidates.iter_mut().filter(|one| one.time() <= hopeless) {
            times.extend(lane.attempt(stage, PLACE, |lane, stage| visit(stage, lane, shape))?);
        }
        candidates.retain(|one| one.lane.is_live());
        if start.elapsed() >= budget {
            break;
        }
    }
    for Candidate { lane, .. } in &mut candidates {
        lane.attempt(stage, PLACE, Lane::release)?;
    }
    candidates.retain(|one| !one.times.is_empty());
    let fastest = candidates.iter().min_by(|a, b| a.time().total_cmp(&b.time()));
    Ok(fastest.map(|one| Fastest {
        probe: one.lane.seat.implementation.clone(),
        time: Seconds(one.time()),
        fork_join: cost(&one.lane, "fork-join"),
        wake_up: cost(&one.lane, "wake-up"),
    }))
}

/// Where a failure was seen, for its message.
const PLACE: &str = "roofs";

/// Seconds of a launch, by one sample of `batch` launches after `warmup` others.
fn visit(stage: &mut Stage, lane: &mut Lane, (warmup, batch): (u32, u32)) -> Result<f64, Stop> {
    let shape = Shape::new(warmup, 1, batch);
    let seen = visit::converse(stage, lane, shape, Duration::from_millis(50), || {})?;
    match seen.claimed.first() {
        Some(sample) if *sample > 0.0 => Ok(sample * 1e-9 / f64::from(batch)),
        _ => Err(Failure::new(Status::Suspect, "took no time").into()),
    }
}

/// What a probe notes of its threads, as `350 ns`.
fn cost(lane: &Lane, name: &str) -> Option<Seconds> {
    let nanoseconds = lane.notes.get(name)?.strip_suffix(" ns")?.parse().ok()?;
    Some(Seconds::from_nanoseconds(nanoseconds)).filter(|time| time.0.is_finite() && time.0 > 0.0)
}

/// The roofs of `machine` in a file. `None` where there is none; why not, where it is no good.
pub fn read(path: &Path, machine: &str) -> Option<Result<Roofs, String>> {
    let text = || -> io::Result<Vec<u8>> {
        // A pipe would be waited for.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MAX_TEXT + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match text() {
        Ok(bytes) => Some(Roofs::parse(&bytes, machine)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// Writes the roofs to a file, which has all of them or is as it was.
pub fn write(roofs: &Roofs, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&beside, serde_json::to_string_pretty(roofs).map_err(io::Error::other)? + "\n")?;
    std::fs::rename(&beside, path)
}
