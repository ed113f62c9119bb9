//! Streams, events and graphs: the order of work on a device.

use std::sync::OnceLock;

use crate::device::Device;
use crate::error::Result;
use crate::sys::{Memory, RawEvent, RawGraph, RawStream};

/// A queue of work. What one stream is given runs in that order; between streams only an [`Event`]
/// orders anything.
#[derive(Debug)]
pub struct Stream {
    raw: RawStream,
    device: Device,
    /// Where the blocks of a launch leave what the last of them puts together.
    scratch: OnceLock<Memory>,
    /// The same for blocks that leave much.
    parts: OnceLock<Memory>,
}

/// Blocks of a launch that can leave something there, two numbers each.
pub(crate) const SCRATCH_BLOCKS: usize = 2048;
/// Groups of blocks that can put together parts, and bytes that all of them can leave.
pub(crate) const PARTS_GROUPS: usize = 1024;
pub(crate) const PARTS_BYTES: usize = 9 << 20;

impl Stream {
    pub fn new(device: &Device) -> Result<Stream> {
        let raw = RawStream::new(device.context())?;
        Ok(Stream { raw, device: device.clone(), scratch: OnceLock::new(), parts: OnceLock::new() })
    }

    /// The stream of another library in this process, by its handle (0 is the default stream).
    ///
    /// # Safety
    /// The handle is a stream of this device, and stays one as long as this value is used.
    pub unsafe fn from_handle(device: &Device, handle: usize) -> Stream {
        let raw = RawStream::foreign(device.context(), handle);
        Stream { raw, device: device.clone(), scratch: OnceLock::new(), parts: OnceLock::new() }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Memory that `together.cuh` works with: zeros, as every launch leaves them. Launches of one stream take turns with it.
    pub(crate) fn scratch(&self) -> Result<u64> {
        self.zeros(&self.scratch, 16 + SCRATCH_BLOCKS * 2 * size_of::<f32>())
    }

    /// Memory that blocks leave parts of a result in, behind a counter for each group of them: the same rules.
    pub(crate) fn parts(&self) -> Result<u64> {
        self.zeros(&self.parts, PARTS_GROUPS * size_of::<u32>() + PARTS_BYTES)
    }

    fn zeros(&self, kept: &OnceLock<Memory>, bytes: usize) -> Result<u64> {
        if let Some(memory) = kept.get() {
            return Ok(memory.address());
        }
        let memory = Memory::new(self.device.context(), bytes)?;
        // SAFETY: as many bytes as were asked for.
        unsafe { self.raw.fill(memory.address(), 0, bytes)? };
        self.raw.wait()?;
        Ok(kept.get_or_init(|| memory).address())
    }

    pub(crate) fn raw(&self) -> &RawStream {
        &self.raw
    }

    /// Waits until all that was queued is done. A kernel's fault shows here.
    pub fn wait(&self) -> Result<()> {
        self.raw.wait()
    }

    /// Lets what is queued from now on wait for an event.
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.raw.wait_for(&event.0)
    }

    /// Records the launches of `work` as a graph instead of running them. The memory that they use
    /// must outlive the graph's last launch, and so must this stream; reductions of two streams must not run at once through graphs of one. Kernels must have been launched once before: a module
    /// cannot be loaded while a graph is recorded.
    pub fn capture(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<Graph> {
        self.raw.capture(|| work(self)).map(Graph)
    }
}

/// A mark in a stream, with the time at which the device reached it.
#[derive(Debug)]
pub struct Event(RawEvent);

impl Event {
    pub fn new(device: &Device) -> Result<Event> {
        RawEvent::new(device.context()).map(Event)
    }

    /// Puts the mark behind what the stream was given so far.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.0.record(stream.raw())
    }

    /// Waits until the device has reached it.
    pub fn wait(&self) -> Result<()> {
        self.0.wait()
    }

    /// Time on the device from an earlier mark to this one, both reached.
    pub fn microseconds_since(&self, earlier: &Event) -> Result<f64> {
        self.0.milliseconds_since(&earlier.0).map(|elapsed| f64::from(elapsed) * 1e3)
    }
}

/// Launches recorded once, to be run again and again at the cost of one.
#[derive(Debug)]
pub struct Graph(RawGraph);

impl Graph {
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        self.0.launch(stream.raw())
    }
}
