//! What a kernel runs on: an instruction set level and a thread pool.

use crate::{Isa, Pool};

/// The first argument of every implementation. Serial ones ignore the pool,
/// plain ones ignore the level too.
///
/// ```
/// use roofline_cpu::{Cpu, Isa};
///
/// let cpu = Cpu::new(2);
/// assert_eq!(cpu.pool.threads(), 2);
/// assert_eq!(cpu.isa, Isa::detect());
/// ```
#[derive(Debug)]
pub struct Cpu {
    /// The level that vector kernels use.
    pub isa: Isa,
    /// The threads that parallel kernels use.
    pub pool: Pool,
    /// A call that moves more bytes than this streams its output past the
    /// caches, because nothing would keep it. An ordinary store first reads the
    /// line it writes; a streaming store saves that, but its result is far
    /// from whoever reads it next.
    pub stream_above: usize,
}

impl Cpu {
    /// The highest level of this processor and `threads` threads.
    pub fn new(threads: usize) -> Self {
        Self::with(Isa::detect(), Pool::new(threads))
    }

    /// The highest level of this processor and one thread, the caller.
    pub fn serial() -> Self {
        Self::new(1)
    }

    /// Exactly this level and this pool.
    pub fn with(isa: Isa, pool: Pool) -> Self {
        Self { isa, pool, stream_above: 32 << 20 }
    }

    /// Whether a call that moves `bytes` should stream its output.
    pub(crate) fn streams(&self, bytes: usize) -> bool {
        bytes > self.stream_above
    }
}
