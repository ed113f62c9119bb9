//! The processor: who made it, how many of what, its caches and its instruction sets.

use super::Answers;
use super::source::{Source, clean, parse_size, value, values};
use roofline_core::units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Where Linux describes its processors.
const CPUS: &str = "sys/devices/system/cpu";

/// Instruction sets that kernels ask for, by our name and by the kernel's.
const INSTRUCTION_SETS: [(&str, &str); 13] = [
    ("avx2", "avx2"),
    ("fma", "fma"),
    ("f16c", "f16c"),
    ("avx512f", "avx512f"),
    ("avx512bw", "avx512bw"),
    ("avx512vl", "avx512vl"),
    ("avx512dq", "avx512dq"),
    ("avx512vnni", "avx512_vnni"),
    ("avx512bf16", "avx512_bf16"),
    ("avx512fp16", "avx512_fp16"),
    ("amx-tile", "amx_tile"),
    ("amx-bf16", "amx_bf16"),
    ("amx-int8", "amx_int8"),
];

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Processor {
    pub name: Option<String>,
    pub vendor: Option<String>,
    pub family: Option<u32>,
    pub model: Option<u32>,
    pub stepping: Option<u32>,
    pub microcode: Option<String>,
    pub sockets: Option<u32>,
    /// Physical cores with at least one thread online.
    pub cores: Option<u32>,
    /// Hardware threads online.
    pub threads: Option<u32>,
    /// Hardware threads that this program may use.
    pub allowed_threads: Option<u32>,
    /// Whether cores run more than one thread.
    pub smt: Option<bool>,
    /// Nodes of memory with their own distance.
    pub nodes: Option<u32>,
    /// By level, then kind; empty when not visible.
    pub caches: Vec<Cache>,
    pub instructions: Instructions,
}

/// All caches of one kind, size and sharing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    pub level: u32,
    pub kind: CacheKind,
    pub size: Bytes,
    /// Hardware threads that share one.
    pub shared_by: u32,
    /// How many there are.
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    Data,
    Instruction,
    Unified,
}

/// Instruction sets that a program can use here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Instructions {
    /// Those that kernels ask for, in a fixed order; `None` when not visible.
    pub sets: Option<Vec<String>>,
    pub tiles: Option<Tiles>,
}

/// How far a program comes with the tile unit (AMX).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tiles {
    /// The processor has none.
    Absent,
    /// The processor has it, the kernel has not switched its registers on (XCR0).
    Disabled,
    /// The registers are on, but the kernel gives no program the permission.
    Refused,
    /// A program gets it for the asking.
    Permitted,
}

/// Hardware threads that are online, whoever may use them.
pub(super) fn online(source: &Source) -> Option<Vec<u32>> {
    source.cpus(format!("{CPUS}/online"))
}

impl Processor {
    pub(super) fn read(source: &Source, answers: &Answers) -> Processor {
        let text = source.text("proc/cpuinfo").unwrap_or_default();
        let number = |key| value(&text, key).and_then(|number| number.parse().ok());
        let online = online(source);
        let listed = values(&text, "processor").filter(|number| number.parse::<u32>().is_ok()).count();
        let cpus = online.clone().unwrap_or_default();
        Processor {
            name: value(&text, "model name").and_then(clean),
            vendor: value(&text, "vendor_id").and_then(clean),
            family: number("cpu family"),
            model: number("model"),
            stepping: number("stepping"),
            microcode: value(&text, "microcode").and_then(clean),
            sockets: distinct(&cpus, |cpu| {
                source.fact(format!("{CPUS}/cpu{cpu}/topology/physical_package_id"))
            }),
            cores: distinct(&cpus, |cpu| thread_siblings(source, cpu)),
            threads: online.map(|online| online.len()).or((listed > 0).then_some(listed)).map(count),
            allowed_threads: allowed_threads(source),
            smt: smt(source),
            nodes: source.cpus("sys/devices/system/node/online").map(|nodes| count(nodes.len())),
            caches: caches(source, &cpus),
            instructions: Instructions::from_flags(value(&text, "flags"), answers),
        }
    }
}

impl Instructions {
    fn from_flags(flags: Option<&str>, answers: &Answers) -> Instructions {
        let flags: Option<BTreeSet<&str>> = flags.map(|flags| flags.split_whitespace().collect());
        let sets = flags.as_ref().map(|flags| {
            let present = INSTRUCTION_SETS.iter().filter(|(_, flag)| flags.contains(flag));
            present.map(|(name, _)| name.to_string()).collect()
        });
        // CPUID is asked first: the kernel hides the flag of a unit that it has not switched on.
        let has_tiles = answers.tiles.or(flags.map(|flags| flags.contains("amx_tile")));
        Instructions { sets, tiles: has_tiles.and_then(|has_tiles| tiles(has_tiles, answers)) }
    }
}

fn tiles(has_tiles: bool, answers: &Answers) -> Option<Tiles> {
    /// Configuration and data of the tiles: bits 17 and 18 of XCR0; permission is asked for the second.
    const REGISTERS: u64 = 0b11 << 17;
    const DATA: u64 = 1 << 18;
    if !has_tiles {
        return Some(Tiles::Absent);
    }
    if answers.enabled_states? & REGISTERS != REGISTERS {
        return Some(Tiles::Disabled);
    }
    Some(if answers.permitted_states? & DATA == DATA { Tiles::Permitted } else { Tiles::Refused })
}

fn thread_siblings(source: &Source, cpu: u32) -> Option<String> {
    // Kernels before 5.3 have only the second name.
    ["core_cpus_list", "thread_siblings_list"]
        .iter()
        .find_map(|name| source.fact(format!("{CPUS}/cpu{cpu}/topology/{name}")))
}

fn smt(source: &Source) -> Option<bool> {
    match source.fact(format!("{CPUS}/smt/active"))?.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

fn allowed_threads(source: &Source) -> Option<u32> {
    let status = source.text("proc/self/status")?;
    let allowed = super::source::parse_cpus(value(&status, "Cpus_allowed_list")?)?;
    Some(count(allowed.len()))
}

fn caches(source: &Source, cpus: &[u32]) -> Vec<Cache> {
    // No processor has so many kinds of caches; the bound ends a walk over a strange tree.
    const MOST_CACHES: u32 = 16;
    let mut seen = BTreeSet::new();
    for &cpu in cpus {
        for index in 0..MOST_CACHES {
            let folder = format!("{CPUS}/cpu{cpu}/cache/index{index}");
            let Some(level) = source.number::<u32>(format!("{folder}/level")) else { break };
            let kind = source.fact(format!("{folder}/type")).and_then(|kind| CacheKind::parse(&kind));
            let size = source.text(format!("{folder}/size")).and_then(|size| parse_size(&size));
            let sharing = source.cpus(format!("{folder}/shared_cpu_list"));
            if let (Some(kind), Some(size @ 1..), Some(sharing)) = (kind, size, sharing) {
                seen.insert((level, kind, size, sharing));
            }
        }
    }
    let mut alike: BTreeMap<_, u32> = BTreeMap::new();
    for (level, kind, size, sharing) in seen {
        *alike.entry((level, kind, size, count(sharing.len()))).or_default() += 1;
    }
    let cache =
        |((level, kind, size, shared_by), count)| Cache { level, kind, size: Bytes(size), shared_by, count };
    alike.into_iter().map(cache).collect()
}

/// How many different answers the processors give; `None` unless each gives one.
fn distinct(cpus: &[u32], answer: impl Fn(u32) -> Option<String>) -> Option<u32> {
    let answers: BTreeSet<String> = cpus.iter().map(|&cpu| answer(cpu)).collect::<Option<_>>()?;
    (!answers.is_empty()).then(|| count(answers.len()))
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl CacheKind {
    fn parse(text: &str) -> Option<CacheKind> {
        match text {
            "Data" => Some(CacheKind::Data),
            "Instruction" => Some(CacheKind::Instruction),
            "Unified" => Some(CacheKind::Unified),
            _ => None,
        }
    }
}

impl fmt::Display for CacheKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CacheKind::Data => "d",
            CacheKind::Instruction => "i",
            CacheKind::Unified => "",
        })
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tiles::Absent => "none",
            Tiles::Disabled => "switched off by the kernel",
            Tiles::Refused => "on, but the kernel permits no program to use it",
            Tiles::Permitted => "permitted to programs that ask",
        })
    }
}
