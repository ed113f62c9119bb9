//! What differs between devices: where tensors live, which clocks tell of a launch, what cold means, which limits
//! nothing passes. The rest of the conductor asks here and knows no device by name.
//!
//! The CPU's tensors are memory files of the conductor itself. Those of another device belong to a
//! [process](process) without kernels under test, and every [instance](crate::instance::Instance) there has a
//! [`Twin`] beside its files. `docs/design/why-device.md` says why.

mod card;
mod process;
mod twin;

pub use card::Card;
pub use process::{Owner, Process, facts};
pub use twin::Twin;

use roofline_core::case::{Cache, Case, Device};
use roofline_core::condition::Condition;
use std::time::Duration;

/// What holds for every case on a kind of device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    /// Whether threads of the runner itself do the work: then its CPU clock tells of launches, its threads and cores
    /// are held to what was allowed, and the conductor can look on while they run.
    pub works_in_process: bool,
    /// Bytes and operations a second beyond what any hardware does today. A claim beyond is not fast, it is impossible.
    pub ceiling: Ceiling,
    /// Data in the gate begins at multiples of this where a row declares nothing else: libraries take another way below it.
    pub usual_align: usize,
    /// How launches are asked for, where one alone would be mostly asking and waiting.
    pub queue: Option<Queue>,
    /// Whether its caches can be emptied.
    pub has_flush: bool,
    /// A process in which nothing of a launch is left running answers a nudge within this.
    pub idle: Duration,
}

/// The most that hardware does: for each core, or in all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    pub bytes: f64,
    pub flops: f64,
    pub is_per_core: bool,
}

/// How launches are queued: a sample of many, after some that are not timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    pub sample: Duration,
    pub warmup: u32,
}

/// The data path of two vector loads and a store a cycle, and the widest matrix unit of a core.
const CPU: Traits = Traits {
    works_in_process: true,
    ceiling: Ceiling { bytes: 1e12, flops: 2e13, is_per_core: true },
    usual_align: 1,
    queue: None,
    has_flush: cfg!(target_arch = "x86_64"),
    idle: Duration::ZERO,
};

/// A GPU's second cache, and its matrix units on the narrowest type.
const CUDA: Traits = Traits {
    works_in_process: false,
    ceiling: Ceiling { bytes: 5e13, flops: 5e16, is_per_core: false },
    usual_align: 16,
    queue: Some(Queue { sample: Duration::from_millis(2), warmup: 2 }),
    has_flush: true,
    // Two processes take turns of milliseconds; alone, next to nothing takes tens of microseconds.
    idle: Duration::from_millis(1),
};

/// The multiple of bytes at which tensors of a row begin in the gate: what it declares, or what is usual there.
pub fn align(device: Device, condition: &Condition) -> usize {
    condition.align.unwrap_or(of(device).usual_align)
}

pub const fn of(device: Device) -> &'static Traits {
    match device {
        Device::Cpu => &CPU,
        Device::Cuda(_) => &CUDA,
    }
}

/// Sets of tensors that a cold case on a device takes turns with: so many that all together are `CACHES` times its
/// cache, and two at least, so that no launch of a batch can count on the last one's.
pub fn sets(case: &Case, facts: Option<&roofline_core::protocol::device::Facts>) -> usize {
    let Some(facts) = facts.filter(|_| case.cache == Cache::Cold) else { return 1 };
    let bytes: usize = (case.operation.tensors)(case).iter().map(|tensor| tensor.bytes()).sum();
    let wanted = (CACHES * facts.cache as usize).div_ceil(bytes.max(1)).clamp(2, MOST_SETS);
    let room = (facts.memory / SHARE_OF_MEMORY) as usize / bytes.max(1);
    wanted.min(room.max(1))
}

/// About `wanted` launches that take each of so many sets equally often, a power of two times: samples of any length are
/// then repetitions of few recordings. Not where that would be far more than was wanted.
pub fn in_rounds(wanted: u32, sets: usize) -> u32 {
    let near = |launches: f64| 2f64.powf(launches.max(1.0).log2().round()) as u32;
    match sets as u32 {
        sets if wanted.saturating_mul(LONGEST_ROUND) < sets => near(f64::from(wanted)),
        sets if wanted > 1 => sets * near(f64::from(wanted) / f64::from(sets)),
        _ => wanted,
    }
}

/// A sample may take so many times as long as it is to, so that every set is in it.
const LONGEST_ROUND: u32 = 4;
const CACHES: usize = 3;
const MOST_SETS: usize = 256;
const SHARE_OF_MEMORY: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use roofline_core::protocol::device::Facts;

    #[test]
    fn what_is_declared_is_drawn_on_every_device() {
        for (condition, cpu, cuda) in
            [("", 1, 16), ("align 1", 1, 1), ("align 4", 4, 4), ("align 64", 64, 64)]
        {
            let condition = condition.parse().unwrap();
            assert_eq!(align(Device::Cpu, &condition), cpu);
            assert_eq!(align(Device::Cuda(0), &condition), cuda);
        }
    }

    #[test]
    fn a_sample_goes_round_all_sets() {
        for (wanted, sets, launches) in [
            (1, 8, 1),
            (92, 8, 128),
            (531, 86, 688),
            (19, 2, 16),
            (20, 60, 60),
            (20, 256, 16),
            (1000, 1, 1024),
            (2, 8, 8),
        ] {
            assert_eq!(in_rounds(wanted, sets), launches, "{wanted} on {sets} sets");
        }
    }

    #[test]
    fn sets_fill_the_cache_three_times_and_fit() {
        let facts = Facts { cache: 50 << 20, memory: 140 << 30, ..Facts::default() };
        let sets = |id: &str| sets(&id.parse().unwrap(), Some(&facts));
        assert_eq!(sets("add/f32/rows=1024,cols=1024/cache=cold/device=cuda:0"), 13);
        assert_eq!(sets("add/f32/rows=8192,cols=8192/cache=cold/device=cuda:0"), 2);
        assert_eq!(sets("add/f32/rows=1,cols=8/cache=cold/device=cuda:0"), MOST_SETS);
        assert_eq!(sets("add/f32/rows=1024,cols=1024/device=cuda:0"), 1);
        let small = Facts { memory: 64 << 20, ..facts.clone() };
        let case: Case = "add/f32/rows=1024,cols=1024/cache=cold/device=cuda:0".parse().unwrap();
        assert_eq!(super::sets(&case, Some(&small)), 1, "what does not fit is not asked for");
        assert_eq!(super::sets(&case, None), 1);
    }
}
