//! Streams, events and graphs.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent, CUgraph, CUgraphExec, CUstream, CUstreamCaptureMode};

use super::driver::{Context, check};
use crate::error::Result;

/// A queue of work on a device.
#[derive(Debug)]
pub(crate) struct RawStream {
    raw: CUstream,
    owned: bool,
    pub(super) context: Arc<Context>,
}

// SAFETY: streams may be used from any thread; the driver locks.
unsafe impl Send for RawStream {}
// SAFETY: as above.
unsafe impl Sync for RawStream {}

impl RawStream {
    pub(crate) fn new(context: &Arc<Context>) -> Result<RawStream> {
        context.bind()?;
        let mut raw: CUstream = std::ptr::null_mut();
        // Not blocking: work that others queue on the default stream is none of its business.
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: writes one handle, which `drop` destroys.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut raw, flags) })?;
        Ok(RawStream { raw, owned: true, context: context.clone() })
    }

    /// A stream of somebody else in this process, who keeps it alive.
    pub(crate) fn foreign(context: &Arc<Context>, raw: usize) -> RawStream {
        RawStream { raw: raw as CUstream, owned: false, context: context.clone() }
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    pub(crate) fn wait(&self) -> Result<()> {
        self.context.bind()?;
        // SAFETY: the stream is alive.
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw) })
    }

    pub(crate) fn wait_for(&self, event: &RawEvent) -> Result<()> {
        self.context.bind()?;
        // SAFETY: both are alive.
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(self.raw, event.raw, 0) })
    }

    /// Records what `work` queues instead of running it.
    pub(crate) fn capture(&self, work: impl FnOnce() -> Result<()>) -> Result<RawGraph> {
        self.context.bind()?;
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is alive.
        check("cuStreamBeginCapture", unsafe { sys::cuStreamBeginCapture_v2(self.raw, mode) })?;
        let worked = work();
        let mut graph: CUgraph = std::ptr::null_mut();
        // SAFETY: writes one handle, or null where the capture failed. It must end in any case, or
        // the stream stays in capture.
        let ended = check("cuStreamEndCapture", unsafe { sys::cuStreamEndCapture(self.raw, &raw mut graph) });
        worked?;
        ended?;
        let mut exec: CUgraphExec = std::ptr::null_mut();
        // SAFETY: the graph is alive until it is destroyed below; the executable form is a copy.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, 0) };
        // SAFETY: ended above, destroyed once.
        _ = unsafe { sys::cuGraphDestroy(graph) };
        check("cuGraphInstantiate", made)?;
        Ok(RawGraph { exec, context: self.context.clone() })
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        if self.owned && self.context.bind().is_ok() {
            // SAFETY: made in `new`, destroyed once; work that is queued still runs.
            _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// A mark in a stream, with the time at which the device reached it.
#[derive(Debug)]
pub(crate) struct RawEvent {
    raw: CUevent,
    context: Arc<Context>,
}

// SAFETY: events may be used from any thread; the driver locks.
unsafe impl Send for RawEvent {}
// SAFETY: as above.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    pub(crate) fn new(context: &Arc<Context>) -> Result<RawEvent> {
        context.bind()?;
        let mut raw: CUevent = std::ptr::null_mut();
        // SAFETY: writes one handle, which `drop` destroys.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut raw, 0) })?;
        Ok(RawEvent { raw, context: context.clone() })
    }

    pub(crate) fn record(&self, stream: &RawStream) -> Result<()> {
        self.context.bind()?;
        // SAFETY: both are alive.
        check("cuEventRecord", unsafe { sys::cuEventRecord(self.raw, stream.raw) })
    }

    pub(crate) fn wait(&self) -> Result<()> {
        self.context.bind()?;
        // SAFETY: the event is alive.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.raw) })
    }

    pub(crate) fn milliseconds_since(&self, earlier: &RawEvent) -> Result<f32> {
        self.context.bind()?;
        let mut elapsed = 0.0;
        // SAFETY: writes one float; both are alive.
        let answer = unsafe { sys::cuEventElapsedTime_v2(&raw mut elapsed, earlier.raw, self.raw) };
        check("cuEventElapsedTime", answer)?;
        Ok(elapsed)
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made in `new`, destroyed once.
            _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}

/// Recorded work, ready to be launched again and again.
#[derive(Debug)]
pub(crate) struct RawGraph {
    exec: CUgraphExec,
    context: Arc<Context>,
}

// SAFETY: a graph may be launched from any thread, one at a time: `launch` takes it mutably.
unsafe impl Send for RawGraph {}

impl RawGraph {
    pub(crate) fn launch(&mut self, stream: &RawStream) -> Result<()> {
        self.context.bind()?;
        // SAFETY: both are alive.
        check("cuGraphLaunch", unsafe { sys::cuGraphLaunch(self.exec, stream.raw) })
    }
}

impl Drop for RawGraph {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made once, destroyed once; a launch under way keeps what it needs.
            _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
        }
    }
}
