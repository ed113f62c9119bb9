//! The launches of a case, queued and timed by the device.

use super::kernels::Launch;
use roofline_cuda::{CudaError, Event, Graph, SharedMemory, Stream};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Batches up to this are recorded as a graph; what is longer hides what asking takes behind its own work.
const LARGEST_GRAPH: u32 = 4096;
const MOST_GRAPHS: usize = 8;
/// Launches that say what asking for one takes.
const ASKED: usize = 16;

/// A case at work: launch number n of a sample is on set n mod the number of sets.
pub(super) struct Queue {
    // Dropped in this order: what is recorded goes before the tensors that it works on.
    /// By the number of launches: visits of several lengths take turns.
    graphs: BTreeMap<u32, Graph>,
    sets: Vec<Launch>,
    events: [Event; 2],
    stream: Arc<Stream>,
    /// Nanoseconds that asking for a launch takes the host.
    host: f64,
    /// Keeps the tensors mapped.
    _memory: Vec<SharedMemory>,
}

impl Queue {
    /// Launches every set once, so that all is compiled and loaded, and sees what asking takes.
    pub(super) fn new(
        stream: &Arc<Stream>,
        sets: Vec<Launch>,
        memory: Vec<SharedMemory>,
    ) -> Result<Queue, CudaError> {
        let event = || Event::new(stream.device());
        let events = [event()?, event()?];
        let stream = stream.clone();
        let mut queue = Queue { graphs: BTreeMap::new(), sets, events, stream, host: 0.0, _memory: memory };
        let sets = queue.sets.len() as u32;
        queue.launch(sets)?;
        let mut times = Vec::new();
        for number in 0..ASKED as u32 {
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

    /// Plain launches, waited for.
    pub(super) fn launch(&mut self, count: u32) -> Result<(), CudaError> {
        (0..count).try_for_each(|number| self.ask(number))?;
        self.stream.wait()
    }

    /// Launches that are not timed, then samples between events: by graph, so that the host keeps up.
    pub(super) fn visit(&mut self, warmup: u32, samples: u32, batch: u32) -> Result<Vec<f64>, CudaError> {
        let is_graph = (2..=LARGEST_GRAPH).contains(&batch);
        if is_graph && !self.graphs.contains_key(&batch) {
            if self.graphs.len() >= MOST_GRAPHS {
                self.graphs.clear();
            }
            let (sets, stream) = (&mut self.sets, &self.stream);
            let count = sets.len();
            let graph = stream.capture(|stream| {
                (0..batch as usize).try_for_each(|number| (sets[number % count])(stream))
            })?;
            self.graphs.insert(batch, graph);
        }
        (0..warmup).try_for_each(|number| self.ask(number))?;
        let mut nanoseconds = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            self.events[0].record(&self.stream)?;
            match self.graphs.get_mut(&batch).filter(|_| is_graph) {
                Some(graph) => graph.launch(&self.stream)?,
                None => (0..batch).try_for_each(|number| self.ask(number))?,
            }
            self.events[1].record(&self.stream)?;
            // Waited for and asked after every sample: an error is this sample's.
            self.events[1].wait()?;
            nanoseconds.push(self.events[1].microseconds_since(&self.events[0])? * 1e3);
        }
        self.stream.wait()?;
        Ok(nanoseconds)
    }

    /// What the record should know of the kernel that was launched last.
    pub(super) fn notes(&self) -> Result<BTreeMap<String, String>, CudaError> {
        let mut notes = BTreeMap::from([
            ("host".to_owned(), format!("{:.1} µs a launch", self.host * 1e-3)),
            ("queued".to_owned(), format!("graphs of launches on {} set(s) of tensors", self.sets.len())),
        ]);
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
        note("compiled", format!("{:?}", kernel.origin()).to_lowercase());
        if let Some(geometry) = kernel.geometry() {
            let occupancy = kernel.occupancy(geometry, self.stream.device().info().threads)?;
            note("occupancy", format!("{:.0} %", 100.0 * occupancy));
        }
        Ok(notes)
    }
}
