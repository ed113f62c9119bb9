//! A kernel on a device: what it needs, and how it is launched.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::compile::Origin;
use crate::error::Result;
use crate::stream::Stream;
use crate::sys::Function;

/// Blocks and threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Shared memory beyond what the kernel declares.
    pub shared_bytes: u32,
    /// Neighbouring blocks that can see each other's shared memory.
    pub cluster: u32,
}

impl Geometry {
    /// Blocks in a line, threads in a line.
    pub fn line(blocks: u32, threads: u32) -> Geometry {
        Geometry { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, cluster: 1 }
    }

    pub fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }
}

/// A value that a kernel is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    Address(u64),
    I64(i64),
    I32(i32),
    F32(f32),
    F64(f64),
    /// A struct of three words.
    Words([u64; 3]),
}

impl Argument {
    pub(crate) fn size(&self) -> usize {
        match self {
            Argument::Address(_) | Argument::I64(_) | Argument::F64(_) => 8,
            Argument::I32(_) | Argument::F32(_) => 4,
            Argument::Words(_) => 24,
        }
    }

    pub(crate) fn address(&self) -> *const c_void {
        match self {
            Argument::Address(value) => std::ptr::from_ref(value).cast(),
            Argument::I64(value) => std::ptr::from_ref(value).cast(),
            Argument::I32(value) => std::ptr::from_ref(value).cast(),
            Argument::F32(value) => std::ptr::from_ref(value).cast(),
            Argument::F64(value) => std::ptr::from_ref(value).cast(),
            Argument::Words(value) => std::ptr::from_ref(value).cast(),
        }
    }
}

/// What a kernel takes of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Registers a thread.
    pub registers: usize,
    /// Shared memory a block, without what a launch adds.
    pub shared_bytes: usize,
    /// Memory a thread for what found no register: a spill, or an array that is indexed at run time.
    pub local_bytes: usize,
    pub constant_bytes: usize,
    /// The largest block it can be launched with.
    pub max_threads: usize,
}

/// Machine code that is loaded on a device.
#[derive(Debug)]
pub struct Kernel {
    function: Function,
    resources: Resources,
    origin: Origin,
    /// What it took until it could be launched.
    took: Duration,
    /// Of its first launch.
    geometry: OnceLock<Geometry>,
}

impl Kernel {
    pub(crate) fn new(function: Function, origin: Origin, began: Instant) -> Result<Kernel> {
        let resources = function.resources()?;
        Ok(Kernel { function, resources, origin, took: began.elapsed(), geometry: OnceLock::new() })
    }

    /// What it took to compile it, or to take it from the cache, and to load it.
    pub fn took(&self) -> Duration {
        self.took
    }

    pub fn resources(&self) -> Resources {
        self.resources
    }

    /// The geometry of its first launch, once there was one.
    pub fn geometry(&self) -> Option<&Geometry> {
        self.geometry.get()
    }

    /// Whether it was compiled now or came from the cache.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Share of a multiprocessor's threads that are at work with this geometry, from 0 to 1.
    pub fn occupancy(&self, geometry: &Geometry, threads_per_multiprocessor: usize) -> Result<f64> {
        let blocks = self.function.blocks_per_multiprocessor(geometry)?;
        let threads = blocks * geometry.threads_per_block() as usize;
        Ok(threads as f64 / threads_per_multiprocessor.max(1) as f64)
    }

    /// Bytes of each of its parameters.
    pub fn parameters(&self) -> &[usize] {
        self.function.parameters()
    }

    /// Launches a kernel of somebody else. Number and sizes of the arguments are checked; what it does with addresses
    /// among them is its own affair, and shows in the process that it does it in.
    pub fn run(&self, stream: &Stream, geometry: &Geometry, arguments: &[Argument]) -> Result<()> {
        self.launch(stream, geometry, arguments)
    }

    pub(crate) fn launch(&self, stream: &Stream, geometry: &Geometry, arguments: &[Argument]) -> Result<()> {
        if geometry.shared_bytes > 0 {
            self.function.allow_shared(geometry.shared_bytes)?;
        }
        let _ = self.geometry.set(*geometry);
        self.function.launch(stream.raw(), geometry, arguments)
    }
}
