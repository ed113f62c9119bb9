//! Probes of the machine's limits: what no kernel can be faster than.
//!
//! A case must move its bytes and do its operations. A *traffic* probe moves the bytes and computes
//! nothing; a *compute* probe does the operations and touches no memory. Each family has several
//! members, since which way is fastest depends on the machine and on the case; the fastest is the
//! limit.
//!
//! ```
//! use roofline_lanes::{Cpu, probe::{Entry, find}};
//!
//! let probe = find("traffic-4").unwrap();
//! let Entry::Traffic(way) = probe.entry else { panic!("a traffic probe") };
//! let mut copy = [0; 300];
//! way.walk(&Cpu::serial(), &[&[7; 300]], &mut copy);
//! assert_eq!(copy, [7; 300]);
//! ```
//!
//! To add a member: a row in [`PROBES`].

mod compute;
mod line;
mod portable;
mod threads;
mod traffic;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use compute::{Amount, Unit};
pub use threads::{fork_join, wake_up};
pub use traffic::Way;

/// One probe.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// The family and the member: `traffic-nt-4`, `compute-avx512-f32`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// The element types of cases that it bounds. Precision is part of a case: a product of f16 that
    /// is accumulated in f32 is not bounded by a unit that accumulates in f16.
    pub dtypes: &'static [&'static str],
    /// Whether this processor can run it.
    pub available: fn() -> bool,
    pub entry: Entry,
}

/// What a probe does, which is its family.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    Traffic(Way),
    Compute(Unit),
}

/// The probe of a name.
pub fn find(name: &str) -> Option<&'static Probe> {
    PROBES.iter().find(|probe| probe.name == name)
}

const EVERY: &[&str] = &["f64", "f32", "f16", "bf16", "fp8-e4m3", "fp8-e5m2", "i8", "i32"];
/// What is computed in f32.
const SINGLE: &[&str] = &["f32", "f16", "bf16", "fp8-e4m3", "fp8-e5m2"];
const DOUBLE: &[&str] = &["f64"];

const fn traffic(name: &'static str, about: &'static str, way: Way) -> Probe {
    Probe { name, about, dtypes: EVERY, available: always, entry: Entry::Traffic(way) }
}

/// A way on all threads.
const fn way(streams: usize, nontemporal: bool) -> Way {
    Way { streams, nontemporal, alone: false, by_system: false }
}

const ALONE: Way = Way { alone: true, ..way(1, false) };

const fn compute(
    name: &'static str,
    about: &'static str,
    dtypes: &'static [&'static str],
    available: fn() -> bool,
    unit: Unit,
) -> Probe {
    Probe { name, about, dtypes, available, entry: Entry::Compute(unit) }
}

fn always() -> bool {
    true
}

/// All probes: traffic, then compute from the plainest unit up.
pub static PROBES: &[Probe] = &[
    traffic("traffic-1", "reads and writes the bytes, one stream a thread", way(1, false)),
    traffic("traffic-alone", "one stream, on one thread", ALONE),
    traffic("traffic-system", "the system's own copy, on one thread", Way { by_system: true, ..ALONE }),
    traffic("traffic-4", "reads and writes the bytes, 4 streams a thread", way(4, false)),
    traffic("traffic-8", "reads and writes the bytes, 8 streams a thread", way(8, false)),
    traffic("traffic-nt-1", "one stream a thread, stores past the caches", way(1, true)),
    traffic("traffic-nt-4", "4 streams a thread, stores past the caches", way(4, true)),
    traffic("traffic-nt-8", "8 streams a thread, stores past the caches", way(8, true)),
    compute("compute-portable-f64", "f64 in plain Rust", DOUBLE, always, portable::F64),
    compute("compute-portable-f32", "f32 in plain Rust", SINGLE, always, portable::F32),
    #[cfg(target_arch = "aarch64")]
    compute("compute-neon-f64", "f64 multiply-adds of NEON", DOUBLE, always, neon::F64),
    #[cfg(target_arch = "aarch64")]
    compute("compute-neon-f32", "f32 multiply-adds of NEON", SINGLE, always, neon::F32),
    #[cfg(target_arch = "x86_64")]
    compute("compute-avx2-f64", "f64 multiply-adds of AVX2", DOUBLE, x86::has_avx2, x86::F64_AVX2),
    #[cfg(target_arch = "x86_64")]
    compute("compute-avx2-f32", "f32 multiply-adds of AVX2", SINGLE, x86::has_avx2, x86::F32_AVX2),
    #[cfg(target_arch = "x86_64")]
    compute(
        "compute-avx2-i8",
        "i8 products of AVX2, by VNNI where it is",
        &["i8"],
        x86::has_avx2,
        x86::I8_AVX2,
    ),
    #[cfg(target_arch = "x86_64")]
    compute("compute-avx512-f64", "f64 multiply-adds of AVX-512", DOUBLE, x86::has_avx512, x86::F64_AVX512),
    #[cfg(target_arch = "x86_64")]
    compute("compute-avx512-f32", "f32 multiply-adds of AVX-512", SINGLE, x86::has_avx512, x86::F32_AVX512),
    #[cfg(target_arch = "x86_64")]
    compute(
        "compute-avx512-f16",
        "f16 multiply-adds, accumulated in f16",
        &[],
        x86::has_fp16,
        x86::F16_AVX512,
    ),
    #[cfg(target_arch = "x86_64")]
    compute(
        "compute-avx512-bf16",
        "bf16 products of AVX-512 BF16",
        &["bf16"],
        x86::has_bf16,
        x86::BF16_AVX512,
    ),
    #[cfg(target_arch = "x86_64")]
    compute("compute-avx512-i8", "i8 products of AVX-512 VNNI", &["i8"], x86::has_vnni, x86::I8_AVX512),
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    compute("compute-amx-bf16", "bf16 products of AMX tiles", &["bf16"], amx::is_available, amx::BF16),
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    compute("compute-amx-i8", "i8 products of AMX tiles", &["i8"], amx::is_available, amx::I8),
];

#[cfg(test)]
mod tests;
