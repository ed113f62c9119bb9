//! What on this machine disturbs measuring, each with advice.
//!
//! Visits in turn spread what moves slowly over all rows; these are the things that make samples
//! scatter, times unrepeatable, or rows wrong about the machine.

use super::{Machine, Tiles, Virtualization};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Runnable programs, on average over a minute, from which a machine does not count as idle.
const IDLE_LOAD: f64 = 0.5;

/// A condition that disturbs measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warning {
    Loaded { load: f64, threads: Option<u32> },
    FewThreads { threads: u32 },
    Confined { allowed: u32, threads: u32 },
    Quota { processors: f64 },
    Governor { governors: Vec<String> },
    FrequencyNotVisible,
    TurboOn,
    SmtOn,
    VirtualMachine { hypervisor: Option<String> },
    ClockSource { name: String },
    SmallPages { setting: String },
    SmallSharedPages { setting: String },
    TilesWithheld { tiles: Tiles },
    Unoptimized { opt_level: String },
}

impl Machine {
    /// Everything that is known to disturb, in the order of what helps most; unknown facts warn only
    /// where not knowing is itself a disturbance.
    pub fn warnings(&self) -> Vec<Warning> {
        let Machine { processor, frequency, memory, system, compiler } = self;
        let threads = processor.threads;
        let usable = processor.allowed_threads.or(threads);
        let load = system.load.map(|load| load[0]).filter(|&load| load > IDLE_LOAD);
        let confined = processor.allowed_threads.zip(threads).filter(|(allowed, threads)| allowed < threads);
        let slow_governor = frequency.governors.iter().any(|governor| governor != "performance");
        let never = |setting: &Option<String>, names: &[&str]| {
            setting.clone().filter(|setting| names.contains(&setting.as_str()))
        };
        let tiles = processor.instructions.tiles;
        [
            compiler
                .opt_level
                .clone()
                .filter(|level| matches!(level.as_str(), "0" | "1"))
                .map(|opt_level| Warning::Unoptimized { opt_level }),
            load.map(|load| Warning::Loaded { load, threads }),
            usable.filter(|&threads| threads < 2).map(|threads| Warning::FewThreads { threads }),
            confined.map(|(allowed, threads)| Warning::Confined { allowed, threads }),
            system.quota.map(|processors| Warning::Quota { processors }),
            slow_governor.then(|| Warning::Governor { governors: frequency.governors.clone() }),
            (frequency.governors.is_empty() || frequency.turbo.is_none())
                .then_some(Warning::FrequencyNotVisible),
            (frequency.turbo == Some(true)).then_some(Warning::TurboOn),
            (processor.smt == Some(true)).then_some(Warning::SmtOn),
            match &system.virtualization {
                Some(Virtualization::Guest(hypervisor)) => {
                    Some(Warning::VirtualMachine { hypervisor: hypervisor.clone() })
                }
                _ => None,
            },
            system
                .clock_source
                .clone()
                .filter(|name| !matches!(name.as_str(), "tsc" | "kvm-clock" | "arch_sys_counter"))
                .map(|name| Warning::ClockSource { name }),
            never(&memory.transparent_huge_pages, &["never"]).map(|setting| Warning::SmallPages { setting }),
            never(&memory.shared_huge_pages, &["never", "deny"])
                .map(|setting| Warning::SmallSharedPages { setting }),
            tiles
                .filter(|tiles| matches!(tiles, Tiles::Disabled | Tiles::Refused))
                .map(|tiles| Warning::TilesWithheld { tiles }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Warning {
    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Warning::Loaded { .. } => "end other work, or expect medians that differ from run to run",
            Warning::FewThreads { .. } => {
                "measure on a machine with two or more, so that Roofline itself does not share the kernel's core"
            }
            Warning::Confined { .. } => {
                "start Roofline without `taskset` or a cpuset, or read times as those of a part"
            }
            Warning::Quota { .. } => {
                "lift the CPU limit of the container or control group: it stops programs mid-call"
            }
            Warning::Governor { .. } => "set it with `cpupower frequency-set -g performance`",
            Warning::FrequencyNotVisible => "compare medians of one table only, not times of different runs",
            Warning::TurboOn => {
                "for times that repeat, write 1 to `/sys/devices/system/cpu/intel_pstate/no_turbo` or 0 to `/sys/devices/system/cpu/cpufreq/boost`"
            }
            Warning::SmtOn => {
                "write `off` to `/sys/devices/system/cpu/smt/control`, or keep sibling threads idle"
            }
            Warning::VirtualMachine { .. } => {
                "other guests cannot be seen from here; repeat the run before trusting a small difference of medians"
            }
            Warning::ClockSource { .. } => {
                "start the kernel with `tsc=reliable` if the processor's TSC is constant"
            }
            Warning::SmallPages { .. } => {
                "write `madvise` to `/sys/kernel/mm/transparent_hugepage/enabled`, so that libraries that ask for huge pages get them"
            }
            Warning::SmallSharedPages { .. } => {
                "write `advise` to `/sys/kernel/mm/transparent_hugepage/shmem_enabled`, so that tensors can lie in huge pages"
            }
            Warning::TilesWithheld { .. } => "use a kernel from 5.16 on with AMX enabled",
            Warning::Unoptimized { .. } => "build with `cargo build --release`",
        }
    }
}

/// What is the case and what it does; `advice` says what to do.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Loaded { load, threads: Some(threads) } => {
                write!(f, "the load is {load:.2} on {threads} threads: other work shares the machine")
            }
            Warning::Loaded { load, threads: None } => {
                write!(f, "the load is {load:.2}: other work shares the machine")
            }
            Warning::FewThreads { threads } => {
                write!(
                    f,
                    "only {threads} hardware thread is usable: Roofline and the kernel take turns on it"
                )
            }
            Warning::Confined { allowed, threads } => {
                write!(f, "only {allowed} of {threads} hardware threads may be used")
            }
            Warning::Quota { processors } => {
                write!(f, "a control group allows {processors:.2} processors' worth of time")
            }
            Warning::Governor { governors } => {
                write!(
                    f,
                    "the frequency governor is `{}`: the first calls run slower",
                    governors.join("`, `")
                )
            }
            Warning::FrequencyNotVisible => {
                write!(f, "frequency governor or turbo is not visible: frequency can change unseen")
            }
            Warning::TurboOn => write!(f, "turbo is on: frequency depends on temperature and on busy cores"),
            Warning::SmtOn => write!(f, "SMT is on: a busy sibling thread slows a core"),
            Warning::VirtualMachine { hypervisor: Some(name) } => {
                write!(f, "this is a virtual machine ({name})")
            }
            Warning::VirtualMachine { hypervisor: None } => write!(f, "this is a virtual machine"),
            Warning::ClockSource { name } => {
                write!(f, "the clock source is `{name}`: reading the clock is slow or coarse")
            }
            Warning::SmallPages { setting } => {
                write!(f, "transparent huge pages are set to `{setting}`")
            }
            Warning::SmallSharedPages { setting } => {
                write!(f, "huge pages for shared memory are set to `{setting}`: tensors lie in small pages")
            }
            Warning::TilesWithheld { tiles } => write!(f, "the processor's tile unit (AMX) is {tiles}"),
            Warning::Unoptimized { opt_level } => {
                write!(f, "this program was compiled with opt-level {opt_level}: its own kernels are slow")
            }
        }
    }
}
