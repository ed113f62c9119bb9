//! What a kernel runs on: an instruction set level and a thread pool.

use std::sync::LazyLock;

use crate::{Isa, Pool};

/// The first argument of every implementation. Serial ones ignore the pool,
/// plain ones ignore the level too.
///
/// ```
/// use roofline_lanes::{Cpu, Isa};
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
        let stream_above = kept_bytes(pool.threads());
        Self { isa, pool, stream_above }
    }

    /// Whether a call that moves `bytes` should stream its output.
    pub fn streams(&self, bytes: usize) -> bool {
        bytes > self.stream_above
    }
}

/// Bytes that the caches of `threads` cores keep from one call to the next.
///
/// Processors with second caches of 2 MiB and vectors of 512 bits share a last cache among dozens of cores, and it is
/// hardly faster than memory: there, what is past the second caches is past all that helps. Elsewhere the last cache
/// serves well.
fn kept_bytes(threads: usize) -> usize {
    const LAST: usize = 32 << 20;
    const LARGE_SECOND: usize = 2 << 20;
    static SECOND: LazyLock<usize> = LazyLock::new(second_cache);
    match *SECOND {
        second if second >= LARGE_SECOND && Isa::Avx512.is_available() => second * threads * 5 / 4,
        _ => LAST,
    }
}

/// Bytes of a core's second cache, as the processor says; zero where it does not.
#[cfg(target_arch = "x86_64")]
fn second_cache() -> usize {
    use std::arch::x86_64::__cpuid_count;
    /// The list of caches, which ends with one of no type.
    const CACHES: u32 = 4;
    if __cpuid_count(0, 0).eax < CACHES {
        return 0;
    }
    let caches = (0..8).map(|index| __cpuid_count(CACHES, index));
    let mut present = caches.take_while(|cache| cache.eax & 0x1f != 0);
    let second = present.find(|cache| (cache.eax >> 5) & 7 == 2);
    second.map_or(0, |cache| {
        let field = |from: u32, bits: u32| ((cache.ebx >> from) & ((1 << bits) - 1)) as usize + 1;
        field(22, 10) * field(12, 10) * field(0, 12) * (cache.ecx as usize + 1)
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn second_cache() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_keep_no_less() {
        let kept: Vec<usize> = (1..5).map(kept_bytes).collect();
        assert!(kept[0] >= 1 << 20 && kept.is_sorted(), "{kept:?}");
    }
}
