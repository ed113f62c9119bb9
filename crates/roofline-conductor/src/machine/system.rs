//! The kernel and what it does to time: frequency control, hypervisor, quota, load, clocks.

use super::Answers;
use super::source::{Source, value};
use roofline_core::units::Seconds;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const CPUS: &str = "sys/devices/system/cpu";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frequency {
    /// `performance`, `powersave`, …; several, where processors differ.
    pub governors: Vec<String>,
    /// Whether the processor may run above its base frequency.
    pub turbo: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct System {
    /// Release of the kernel.
    pub kernel: Option<String>,
    pub virtualization: Option<Virtualization>,
    /// Processors' worth of time that this program's control group may use.
    pub quota: Option<f64>,
    /// Programs that wanted to run, on average over 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    pub clock_source: Option<String>,
    /// Time that one reading of the clock takes.
    pub clock_reading: Option<Seconds>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Virtualization {
    /// Nothing says that another system lies below.
    Bare,
    /// A guest of this hypervisor, where it names itself.
    Guest(Option<String>),
}

impl Frequency {
    pub(super) fn read(source: &Source) -> Frequency {
        let cpus = source.cpus(format!("{CPUS}/online")).unwrap_or_default();
        let governor = |cpu| source.fact(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"));
        let governors: BTreeSet<String> = cpus.into_iter().filter_map(governor).collect();
        let no_turbo = source.number::<u8>(format!("{CPUS}/intel_pstate/no_turbo"));
        let boost = source.number::<u8>(format!("{CPUS}/cpufreq/boost"));
        let turbo = match (no_turbo, boost) {
            (Some(0), _) | (None, Some(1)) => Some(true),
            (Some(1), _) | (None, Some(0)) => Some(false),
            _ => None,
        };
        Frequency { governors: governors.into_iter().collect(), turbo }
    }
}

impl System {
    pub(super) fn read(source: &Source, answers: &Answers) -> System {
        System {
            kernel: source.fact("proc/sys/kernel/osrelease"),
            virtualization: virtualization(source, answers),
            quota: quota(source),
            load: load(source),
            clock_source: source.fact("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock_reading: answers.clock_reading,
        }
    }
}

fn virtualization(source: &Source, answers: &Answers) -> Option<Virtualization> {
    if let Some(vendor) = &answers.hypervisor {
        return Some(Virtualization::Guest(Some(vendor.clone())));
    }
    let text = source.text("proc/cpuinfo")?;
    let is_guest = value(&text, "flags")?.split_whitespace().any(|flag| flag == "hypervisor");
    Some(if is_guest {
        Virtualization::Guest(source.fact("sys/class/dmi/id/sys_vendor"))
    } else {
        Virtualization::Bare
    })
}

/// The tightest quota of this program's control group and those above it, version 2 or version 1.
fn quota(source: &Source) -> Option<f64> {
    let groups = source.text("proc/self/cgroup")?;
    let quotas = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, group) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
        let version_1 = controllers.is_some_and(|names| names.split(',').any(|name| name == "cpu"));
        let version_2 = controllers == Some("");
        // A control group is a folder; each prefix of its path may set a limit of its own.
        let folders = std::path::Path::new(group).ancestors().take(64);
        folders.filter_map(move |folder| {
            let folder = folder.display();
            match (version_2, version_1) {
                (true, _) => quota_of_version_2(&source.text(format!("sys/fs/cgroup/{folder}/cpu.max"))?),
                (_, true) => {
                    let number =
                        |name| source.number::<f64>(format!("sys/fs/cgroup/cpu/{folder}/cpu.cfs_{name}_us"));
                    share(number("quota")?, number("period")?)
                }
                _ => None,
            }
        })
    });
    quotas.min_by(f64::total_cmp)
}

/// `150000 100000` is one and a half processors, `max 100000` no limit.
fn quota_of_version_2(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota.parse().ok()?, period.parse().ok()?)
}

fn share(quota: f64, period: f64) -> Option<f64> {
    let share = quota / period;
    (quota > 0.0 && period > 0.0 && share.is_finite()).then_some(share)
}

fn load(source: &Source) -> Option<[f64; 3]> {
    let text = source.text("proc/loadavg")?;
    let mut numbers = text
        .split_whitespace()
        .map(|number| number.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0));
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// Median distance of neighbouring readings.
pub(super) fn time_of_a_clock_reading() -> Option<Seconds> {
    const READINGS: usize = 129;
    let nanoseconds = || {
        let now = clock_gettime(ClockId::Monotonic);
        i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
    };
    let readings: Vec<i128> = (0..READINGS).map(|_| nanoseconds()).collect();
    let mut distances: Vec<i128> = readings.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_unstable();
    let median = distances[distances.len() / 2];
    (median > 0).then(|| Seconds::from_nanoseconds(median as f64))
}
