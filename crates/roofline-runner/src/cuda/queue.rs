//! The launches of a case, queued and timed by the device.

use super::kernels::Launch;
use roofline_cuda::{CudaError, Event, Graph, SharedMemory, Stream, tend};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Launches that are recorded together, at least. A sample of any length is some of these and a rest, or repeats what was
/// recorded for a shorter one: a graph for every length would be made in the visit that first needs it, and be slower there
/// than ever after.
const PART: usize = 64;
/// Graphs that make a sample, at most, where longer ones would do.
const MOST_REPEATS: usize = 16;
/// Launches that say what asking for one takes.
const ASKED: usize = 16;
/// How long the device sleeps at least, and at most, before a sample, while the host asks for what the sample begins with.
const SLEEP: [Duration; 2] = [Duration::from_micros(10), Duration::from_micros(100)];

/// A case at work: launch number n of a sample is on set n mod the number of sets.
pub(super) struct Queue {
    // Dropped in this order: what is recorded goes before the tensors that it works on.
    /// By the number of launches.
    graphs: BTreeMap<usize, Graph>,
    sets: Vec<Launch>,
    /// What makes the outputs of each set a copy of what they start as, where kernels work in place; else nothing.
    restores: Vec<Launch>,
    events: [Event; 2],
    stream: Arc<Stream>,
    /// Nanoseconds that asking for a launch takes the host.
    host: f64,
    /// The longest that asking for a graph took.
    graph: Duration,
    /// Nanoseconds that copies of a sample of the last visit took.
    copies: Option<f64>,
    /// Keeps the tensors mapped.
    _memory: Vec<SharedMemory>,
}

/// What a sample is made of: so many launches, so often, and a rest. All but the rest go round all sets.
fn pieces(
    batch: usize,
    sets: usize,
    recorded: impl DoubleEndedIterator<Item = usize>,
) -> (usize, usize, usize) {
    let repeats = |count: &usize| {
        count.is_multiple_of(sets) && batch.is_multiple_of(*count) && batch / count <= MOST_REPEATS
    };
    match recorded.rev().find(repeats) {
        Some(count) => (count, batch / count, 0),
        None => {
            let part = sets * PART.div_ceil(sets).next_power_of_two();
            (part, batch / part, batch % part)
        }
    }
}

impl Queue {
    /// Launches every set once, so that all is compiled and loaded, and sees what asking takes.
    pub(super) fn new(
        stream: &Arc<Stream>,
        sets: Vec<Launch>,
        restores: Vec<Launch>,
        memory: Vec<SharedMemory>,
    ) -> Result<Queue, CudaError> {
        let event = || Event::new(stream.device());
        let events = [event()?, event()?];
        let stream = stream.clone();
        // Loaded before any kernel of the case, which is the one that the notes tell of.
        tend::sleep(&stream, Duration::ZERO)?;
        let (graphs, graph) = (BTreeMap::new(), Duration::ZERO);
        let copies = None;
        let mut queue =
            Queue { graphs, sets, restores, events, stream, host: 0.0, graph, copies, _memory: memory };
        let sets = queue.sets.len() as u32;
        queue.launch(sets)?;
        let mut times = Vec::new();
        for number in 0..ASKED as u32 {
            queue.restore(number)?;
            let start = Instant::now();
            queue.ask(number)?;
            times.push(start.elapsed().as_nanos() as f64);
        }
        times.sort_by(f64::total_cmp);
        queue.host = times[times.len() / 2];
        queue.stream.wait()?;
        Ok(queue)
    }

    fn ask(&mut self, number: u32) -> Result<(), CudaError> {
        let set = number as usize % self.sets.len();
        (self.sets[set])(&self.stream)
    }

    /// Before a kernel that works in place: its outputs become what they start as.
    fn restore(&mut self, number: u32) -> Result<(), CudaError> {
        let set = number as usize % self.sets.len();
        self.restores.get_mut(set).map_or(Ok(()), |restore| restore(&self.stream))
    }

    /// Plain launches, each on restored outputs.
    fn ask_restored(&mut self, count: u32) -> Result<(), CudaError> {
        (0..count).try_for_each(|number| self.restore(number).and_then(|()| self.ask(number)))
    }

    /// The same, waited for.
    pub(super) fn launch(&mut self, count: u32) -> Result<(), CudaError> {
        self.ask_restored(count)?;
        self.stream.wait()
    }

    /// Records so many launches and runs them once: that brings them to the device.
    fn record(&mut self, count: usize) -> Result<(), CudaError> {
        if count == 0 || self.graphs.contains_key(&count) {
            return Ok(());
        }
        let sets = &mut self.sets;
        let turns = sets.len();
        let mut graph =
            self.stream.capture(|stream| (0..count).try_for_each(|number| (sets[number % turns])(stream)))?;
        graph.launch(&self.stream)?;
        self.stream.wait()?;
        // A second time, for the first one takes longer.
        let start = Instant::now();
        graph.launch(&self.stream)?;
        self.graph = self.graph.max(start.elapsed());
        self.stream.wait()?;
        self.graphs.insert(count, graph);
        Ok(())
    }

    /// As long as asking for the first of a sample takes, and as much again: the events around it then have nothing of the
    /// host between them.
    fn asleep(&self, batch: u32) -> Duration {
        let asking = if batch > 1 { self.graph } else { Duration::from_nanos(self.host as u64) };
        (2 * asking).clamp(SLEEP[0], SLEEP[1])
    }

    /// Launches that are not timed, then samples between events: by graph, so that the host keeps up.
    pub(super) fn visit(&mut self, warmup: u32, samples: u32, batch: u32) -> Result<Vec<f64>, CudaError> {
        if !self.restores.is_empty() {
            return self.visit_restored(warmup, samples, batch);
        }
        let (part, parts, rest) = pieces(batch as usize, self.sets.len(), self.graphs.keys().copied());
        if batch > 1 {
            self.record(if parts > 0 { part } else { 0 })?;
            self.record(rest)?;
        }
        (0..warmup).try_for_each(|number| self.ask(number))?;
        let mut nanoseconds = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            tend::sleep(&self.stream, self.asleep(batch))?;
            self.events[0].record(&self.stream)?;
            if batch > 1 {
                for count in std::iter::repeat_n(part, parts).chain([rest]) {
                    self.graphs.get_mut(&count).map_or(Ok(()), |graph| graph.launch(&self.stream))?;
                }
            } else {
                self.ask(0)?;
            }
            self.events[1].record(&self.stream)?;
            // Waited for and asked after every sample: an error is this sample's.
            self.events[1].wait()?;
            nanoseconds.push(self.events[1].microseconds_since(&self.events[0])? * 1e3);
        }
        self.stream.wait()?;
        Ok(nanoseconds)
    }

    /// The same in place: all sets are restored off the clock, then launched once each, until the sample is whole.
    fn visit_restored(&mut self, warmup: u32, samples: u32, batch: u32) -> Result<Vec<f64>, CudaError> {
        let round = batch.min(self.sets.len() as u32);
        let (rounds, rest) = (batch / round, batch % round);
        for count in [round, rest].into_iter().filter(|count| *count > 1) {
            self.record(count as usize)?;
        }
        self.ask_restored(warmup)?;
        let (mut nanoseconds, mut copies) = (Vec::with_capacity(samples as usize), 0.0);
        for _ in 0..samples {
            let mut sample = 0.0;
            for count in std::iter::repeat_n(round, rounds as usize).chain([rest]).filter(|count| *count > 0)
            {
                let begun = Instant::now();
                (0..count).try_for_each(|number| self.restore(number))?;
                self.stream.wait()?;
                copies += begun.elapsed().as_nanos() as f64;
                tend::sleep(&self.stream, self.asleep(count))?;
                self.events[0].record(&self.stream)?;
                match self.graphs.get_mut(&(count as usize)).filter(|_| count > 1) {
                    Some(graph) => graph.launch(&self.stream)?,
                    None => self.ask(0)?,
                }
                self.events[1].record(&self.stream)?;
                self.events[1].wait()?;
                sample += self.events[1].microseconds_since(&self.events[0])? * 1e3;
            }
            nanoseconds.push(sample);
        }
        self.stream.wait()?;
        self.copies = (samples > 0).then(|| copies / f64::from(samples));
        Ok(nanoseconds)
    }

    /// Nanoseconds that copies took beside a sample of the last visit, on average, where there were any.
    pub(super) fn copies(&self) -> Option<f64> {
        self.copies
    }

    /// Nanoseconds that asking for a launch takes the host.
    pub(super) fn host(&self) -> f64 {
        self.host
    }

    /// What the record should know of the kernel that was launched last.
    pub(super) fn notes(&self) -> Result<BTreeMap<String, String>, CudaError> {
        let mut notes = BTreeMap::from([(
            "queued".to_owned(),
            format!("graphs of launches on {} set(s) of tensors, behind a sleeping kernel", self.sets.len()),
        )]);
        let Some((name, kernel)) = self.stream.device().last_kernel() else { return Ok(notes) };
        let of = kernel.resources();
        let spills = match of.local_bytes {
            0 => "none".to_owned(),
            bytes => format!("{bytes} bytes a thread"),
        };
        let mut note = |name: &str, value: String| notes.insert(name.to_owned(), value);
        note("kernel", name);
        note("registers", of.registers.to_string());
        note("shared memory", format!("{} bytes a block", of.shared_bytes));
        note("spills", spills);
        note("created", format!("{:.2} ms", 1e3 * kernel.took().as_secs_f64()));
        note("compiled", format!("{:?}", kernel.origin()).to_lowercase());
        if let Some(geometry) = kernel.geometry() {
            let occupancy = kernel.occupancy(geometry, self.stream.device().info().threads)?;
            note("occupancy", format!("{:.0} %", 100.0 * occupancy));
        }
        Ok(notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_sample_repeats_what_was_recorded_for_a_shorter_one() {
        let of = |batch, sets, recorded: &[usize]| pieces(batch, sets, recorded.iter().copied());
        assert_eq!(of(16, 2, &[]), (64, 0, 16), "a first one is recorded as it is");
        assert_eq!(of(32, 2, &[16]), (16, 2, 0));
        assert_eq!(of(128, 2, &[16]), (16, 8, 0));
        assert_eq!(of(688, 86, &[]), (86, 8, 0));
        assert_eq!(of(688 * 8, 86, &[86]), (86, 64, 0), "parts, however many");
        assert_eq!(of(100, 3, &[]), (96, 1, 4));
        assert_eq!(of(20, 8, &[10]), (64, 0, 20), "ten launches end in the middle of the sets");
        assert_eq!(of(64, 1, &[2]), (64, 1, 0), "longer graphs cost less");
    }
}
