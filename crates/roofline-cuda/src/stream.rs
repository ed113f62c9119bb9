//! Streams, events and graphs: the order of work on a device.

use crate::device::Device;
use crate::error::Result;
use crate::sys::{RawEvent, RawGraph, RawStream};

/// A queue of work. What one stream is given runs in that order; between streams only an [`Event`]
/// orders anything.
#[derive(Debug)]
pub struct Stream {
    raw: RawStream,
    device: Device,
}

impl Stream {
    pub fn new(device: &Device) -> Result<Stream> {
        Ok(Stream { raw: RawStream::new(device.context())?, device: device.clone() })
    }

    /// The stream of another library in this process, by its handle (0 is the default stream).
    ///
    /// # Safety
    /// The handle is a stream of this device, and stays one as long as this value is used.
    pub unsafe fn from_handle(device: &Device, handle: usize) -> Stream {
        Stream { raw: RawStream::foreign(device.context(), handle), device: device.clone() }
    }

    pub fn device(&self) -> &Device {
        &self.device
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
    /// must outlive the graph's last launch. Kernels must have been launched once before: a module
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
