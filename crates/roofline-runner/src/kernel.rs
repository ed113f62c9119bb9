//! What an implementor writes: a runner, and kernels that are ready to launch.

use crate::clock;
use crate::job::Job;
use roofline_protocol::messages::{Hello, OutputMode, Prepared, Refusal, RefusalKind};

/// A process that hosts implementations. [`Table`](crate::Table) is the plain one.
pub trait Runner {
    /// Who this is and what it offers.
    fn hello(&self) -> Hello;

    /// Makes one implementation ready for one case: plans, packs, compiles, starts threads.
    fn prepare(&mut self, job: Job) -> Result<Ready, Refusal>;
}

/// An implementation that is ready to run on its tensors. Every `FnMut()` is one.
pub trait Kernel {
    /// Computes the outputs once.
    fn launch(&mut self) -> Result<(), Refusal>;

    /// Launches `count` times; when it returns, the outputs of all are written. A device that runs
    /// behind its caller waits here, on the clock.
    fn repeat(&mut self, count: u32) -> Result<(), Refusal> {
        for _ in 0..count {
            self.launch()?;
        }
        Ok(())
    }

    /// Takes the samples of a visit, and settles after each. To be replaced where the device has a clock.
    fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
        clock::samples(visit, self)
    }

    /// Called off the clock, after the launches of a question and after every sample of a visit: copies a
    /// [fresh](Ready::fresh) result into the given memory.
    fn settle(&mut self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Whether what it allocates goes through this program's allocator and is counted there.
    fn uses_our_heap(&self) -> bool {
        true
    }
}

impl<F: FnMut()> Kernel for F {
    fn launch(&mut self) -> Result<(), Refusal> {
        self();
        Ok(())
    }
}

/// What a visit is asked for: `warmup` launches, then `samples` samples of `batch` launches each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    pub warmup: u32,
    pub samples: u32,
    pub batch: u32,
}

/// What a visit took, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Every sample.
    pub nanoseconds: Vec<f64>,
    /// Settling, all samples together.
    pub settling: f64,
}

/// Times of a kernel that has nothing to settle.
impl From<Vec<f64>> for Samples {
    fn from(nanoseconds: Vec<f64>) -> Samples {
        Samples { nanoseconds, settling: 0.0 }
    }
}

/// A kernel, and what the record should know of it.
pub struct Ready {
    pub prepared: Prepared,
    pub kernel: Box<dyn Kernel>,
}

impl Ready {
    /// A kernel of one thread that writes into the given memory.
    pub fn new(kernel: impl Kernel + 'static) -> Ready {
        let prepared = Prepared { threads: 1, ..Prepared::default() };
        Ready { prepared, kernel: Box::new(kernel) }
    }

    /// Threads that work at a time, the caller included.
    pub fn threads(mut self, threads: u32) -> Ready {
        self.prepared.threads = threads;
        self
    }

    /// Bytes that the implementation holds beside the tensors.
    pub fn workspace(mut self, bytes: u64) -> Ready {
        self.prepared.workspace_bytes = bytes;
        self
    }

    /// The library allocates its result, and [`Kernel::settle`] copies it.
    pub fn fresh(mut self) -> Ready {
        self.prepared.output = OutputMode::Fresh;
        self
    }

    /// Something that was chosen for this case: instruction set, tile, algorithm.
    pub fn note(mut self, name: &str, value: impl ToString) -> Ready {
        self.prepared.notes.insert(name.to_owned(), value.to_string());
        self
    }
}

/// This runner does not have it: a gap, not a failure.
pub fn unsupported(message: impl Into<String>) -> Refusal {
    Refusal { kind: RefusalKind::Unsupported, message: message.into() }
}

/// The implementation raised an error.
pub fn failed(message: impl Into<String>) -> Refusal {
    Refusal { kind: RefusalKind::Failed, message: message.into() }
}

/// Memory could not be had.
pub fn out_of_memory(message: impl Into<String>) -> Refusal {
    Refusal { kind: RefusalKind::OutOfMemory, message: message.into() }
}
