//! Whole machines from fixtures: one text file holds the files of a tree, `== path` before each.

use super::*;
use roofline_core::units::Bytes;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const GUEST: &str = include_str!("../../tests/fixtures/machine/guest.txt");
const DESKTOP: &str = include_str!("../../tests/fixtures/machine/desktop.txt");

/// Both tile registers on, and the permission to be had.
const TILES: u64 = 0b11 << 17;

#[test]
fn a_guest_is_read_whole() {
    let machine = guest();
    let processor = &machine.processor;
    assert_eq!(processor.name.as_deref(), Some("Intel(R) Xeon(R) Processor"));
    assert_eq!((processor.family, processor.model, processor.stepping), (Some(6), Some(143), Some(8)));
    assert_eq!(processor.microcode.as_deref(), Some("0x1"));
    assert_eq!((processor.sockets, processor.cores, processor.threads), (Some(1), Some(2), Some(2)));
    assert_eq!((processor.smt, processor.nodes), (Some(false), Some(1)));
    let cache =
        |level, kind, size, shared_by, count| Cache { level, kind, size: Bytes(size), shared_by, count };
    assert_eq!(
        processor.caches,
        [cache(1, CacheKind::Data, 48 << 10, 1, 2), cache(3, CacheKind::Unified, 105 << 20, 2, 1)]
    );
    assert_eq!(
        processor.instructions.sets.as_ref().map(|sets| sets.join(" ")).as_deref(),
        Some(
            "avx2 fma f16c avx512f avx512bw avx512vl avx512dq avx512vnni avx512bf16 avx512fp16 amx-tile amx-bf16 amx-int8"
        )
    );
    assert_eq!(processor.instructions.tiles, Some(Tiles::Permitted));
    assert_eq!(machine.memory.total, Some(Bytes(24_682_416 << 10)));
    assert_eq!(machine.memory.transparent_huge_pages.as_deref(), Some("madvise"));
    assert_eq!(machine.memory.shared_huge_pages.as_deref(), Some("never"));
    assert_eq!(machine.system.kernel.as_deref(), Some("6.18.44"));
    assert_eq!(machine.system.load, Some([0.40, 0.34, 0.16]));
    assert_eq!(machine.system.virtualization, Some(Virtualization::Guest(Some("KVM".to_string()))));
    assert_eq!(machine.system.quota, None);
}

#[test]
fn the_tightest_quota_counts() {
    let version_1 = "== proc/self/cgroup\n3:cpu,cpuacct:/job\n2:memory:/job\n\
                     == sys/fs/cgroup/cpu/job/cpu.cfs_quota_us\n50000\n\
                     == sys/fs/cgroup/cpu/job/cpu.cfs_period_us\n100000\n";
    let unlimited = "== proc/self/cgroup\n0::/job\n== sys/fs/cgroup/job/cpu.max\nmax 100000\n";
    let hostile = "== proc/self/cgroup\n0::/../../job\n== sys/fs/cgroup/job/cpu.max\n100000 0\n";
    assert_eq!(machine(DESKTOP, &Answers::default()).system.quota, Some(1.5));
    assert_eq!(machine(version_1, &Answers::default()).system.quota, Some(0.5));
    assert_eq!(machine(unlimited, &Answers::default()).system.quota, None);
    assert_eq!(machine(hostile, &Answers::default()).system.quota, None);
}

#[test]
fn warnings_name_what_disturbs_and_what_to_do() {
    let desktop = machine(DESKTOP, &Answers::default());
    assert_eq!(
        warnings_beside_the_compiler(&desktop),
        [
            Warning::Loaded { load: 3.71, threads: Some(4) },
            Warning::Confined { allowed: 2, threads: 4 },
            Warning::Quota { processors: 1.5 },
            Warning::Governor { governors: vec!["performance".to_string(), "powersave".to_string()] },
            Warning::TurboOn,
            Warning::SmtOn,
            Warning::ClockSource { name: "hpet".to_string() },
            Warning::SmallPages { setting: "never".to_string() },
        ]
    );
    assert_eq!(
        warnings_beside_the_compiler(&guest()),
        [
            Warning::FrequencyNotVisible,
            Warning::VirtualMachine { hypervisor: Some("KVM".to_string()) },
            Warning::SmallSharedPages { setting: "never".to_string() },
        ]
    );
    for warning in desktop.warnings().iter().chain(&guest().warnings()) {
        let text = format!("{warning}; {}", warning.advice());
        assert!(!text.ends_with('.') && !text.contains('\n'), "{text}");
    }
}

#[test]
fn one_thread_and_an_unoptimized_program_are_warned_of() {
    let mut machine = guest();
    machine.processor.allowed_threads = Some(1);
    machine.compiler.opt_level = Some("0".to_string());
    let warnings = machine.warnings();
    assert!(warnings.contains(&Warning::FewThreads { threads: 1 }));
    assert!(warnings.contains(&Warning::Unoptimized { opt_level: "0".to_string() }));
}

#[test]
fn tiles_need_registers_and_permission() {
    let tiles = |tiles, enabled, permitted| {
        let answers = Answers {
            tiles: Some(tiles),
            enabled_states: enabled,
            permitted_states: permitted,
            ..Answers::default()
        };
        machine(GUEST, &answers).processor.instructions.tiles
    };
    assert_eq!(tiles(false, None, None), Some(Tiles::Absent));
    assert_eq!(tiles(true, Some(0b111), Some(TILES)), Some(Tiles::Disabled));
    assert_eq!(tiles(true, Some(TILES), Some(0)), Some(Tiles::Refused));
    assert_eq!(tiles(true, Some(TILES), Some(TILES)), Some(Tiles::Permitted));
    assert_eq!(tiles(true, None, Some(TILES)), None);
    assert_eq!(tiles(true, Some(TILES), None), None);
}

#[test]
fn an_empty_tree_is_not_visible_and_not_an_error() {
    let machine = machine("", &Answers::default());
    assert_eq!(Machine { compiler: Compiler::default(), ..machine.clone() }, Machine::default());
    assert!(machine.to_string().contains("processor            not visible"), "{machine}");
    assert_eq!(warnings_beside_the_compiler(&machine), [Warning::FrequencyNotVisible]);
}

#[test]
fn garbage_is_not_visible() {
    let hostile: [&[u8]; 9] = [
        b"",
        b"\n\n\n",
        b"\xff\xfe\x00\x01garbage\x80",
        b"99999999999999999999999999999999",
        b"-1",
        b"nan inf -1e308",
        b"0-4294967295,0-4294967295",
        b"[",
        &[b'9'; 100_000],
    ];
    for content in hostile {
        let tree = TempDir::new().expect("temporary folder");
        for path in paths_of(GUEST).chain(paths_of(DESKTOP)) {
            write(tree.path(), path, content);
        }
        let machine = Machine::from_source(&Source::new(tree.path()), &Answers::default());
        assert_eq!(machine.processor.threads, None, "{content:?}");
        assert_eq!(machine.processor.cores, None);
        assert_eq!(machine.processor.caches, []);
        assert_eq!(machine.memory.total, None);
        assert_eq!(machine.system.load, None);
        assert_eq!(machine.system.quota, None);
        assert_eq!(machine.frequency.turbo, None);
        // Whatever was believed still prints on its line and survives a record.
        let lines = machine.to_string();
        assert!(lines.lines().all(|line| line.chars().count() < 300 && !line.contains('\u{0}')));
        assert_eq!(round_trip(&machine), machine);
    }
}

#[test]
fn numbers_out_of_range_are_not_visible() {
    let huge = GUEST.replace("24682416", "99999999999999999999").replace("107520K", "18446744073709551615K");
    let machine = machine(&huge, &Answers::default());
    assert_eq!(machine.memory.total, None);
    assert_eq!(machine.processor.caches.len(), 1);
}

#[test]
fn a_folder_in_place_of_a_file_is_not_visible() {
    let tree = TempDir::new().expect("temporary folder");
    fs::create_dir_all(tree.path().join("proc/cpuinfo")).expect("folder");
    let machine = Machine::from_source(&Source::new(tree.path()), &Answers::default());
    assert_eq!(machine.processor, Processor::default());
}

#[test]
fn the_fingerprint_holds_through_an_ordinary_day() {
    let machine = guest();
    let name = machine.fingerprint();
    assert_eq!(name.len(), 12);
    assert!(name.chars().all(|digit| digit.is_ascii_hexdigit()));

    let busy = GUEST
        .replace("0.40 0.34 0.16", "9.00 8.00 7.00")
        .replace("2000.000", "3500.000")
        .replace("4000.00", "7000.00")
        .replace("[madvise] never", "madvise [never]")
        .replace("6.18.44", "6.19.1")
        .replace("24682416", "24600000");
    assert_eq!(self::machine(&busy, &answers()).fingerprint(), name);

    let mut updated = machine.clone();
    updated.compiler.version = Some("rustc 9.9.9".to_string());
    updated.frequency.governors = vec!["powersave".to_string()];
    updated.frequency.turbo = Some(true);
    updated.system.clock_reading = None;
    assert_eq!(updated.fingerprint(), name);
}

#[test]
fn the_fingerprint_tells_machines_apart() {
    let name = guest().fingerprint();
    for (old, new) in [
        ("stepping	: 8", "stepping	: 6"),
        ("microcode	: 0x1", "microcode	: 0x2"),
        ("107520K", "61440K"),
        ("24682416", "49364832"),
        ("cpu/online\n0-1", "cpu/online\n0"),
        ("avx512_fp16", ""),
    ] {
        assert!(GUEST.contains(old), "{old}");
        assert_ne!(machine(&GUEST.replace(old, new), &answers()).fingerprint(), name, "{old}");
    }
    // Written down, because records carry it: a change here renames every machine.
    assert_eq!(name, "f9c15fbc645d");
}

#[test]
fn people_get_aligned_lines() {
    let text = guest().to_string();
    for line in text.lines() {
        let (name, fact) = line.split_at(21);
        assert!(name.ends_with("  ") && !fact.starts_with(' ') && !fact.is_empty(), "{line}");
    }
    assert!(text.contains("cores                2 cores, 2 threads online, 1 socket, SMT off\n"), "{text}");
    assert!(text.contains("cache L1d            2 × 48.0 KiB, shared by 1 thread\n"), "{text}");
    assert!(text.contains("governor             not visible\n"), "{text}");
}

#[test]
fn descriptions_survive_a_record_and_older_ones_are_read() {
    let machine = guest();
    assert_eq!(round_trip(&machine), machine);
    let old: Machine =
        serde_json::from_str(r#"{"processor": {"name": "Old"}, "gone": 1}"#).expect("readable");
    assert_eq!(old.processor.name.as_deref(), Some("Old"));
}

#[test]
fn this_machine_is_read_without_failing() {
    let machine = Machine::read();
    assert_eq!(machine.fingerprint(), Machine::read().fingerprint());
    assert!(machine.compiler.version.is_some_and(|version| version.starts_with("rustc ")));
    assert!(machine.memory.page_size.is_some_and(|size| size.0.is_power_of_two()));
}

fn guest() -> Machine {
    machine(GUEST, &answers())
}

fn answers() -> Answers {
    Answers {
        hypervisor: Some("KVM".to_string()),
        tiles: Some(true),
        enabled_states: Some(TILES | 0b111),
        permitted_states: Some(TILES),
        page_size: Some(4096),
        clock_reading: Some(Seconds::from_nanoseconds(33.0)),
    }
}

fn machine(fixture: &str, answers: &Answers) -> Machine {
    let tree = TempDir::new().expect("temporary folder");
    for file in fixture.split("== ").skip(1) {
        let (path, content) = file.split_once('\n').expect("a path on its own line");
        write(tree.path(), path, content.as_bytes());
    }
    Machine::from_source(&Source::new(tree.path()), answers)
}

fn paths_of(fixture: &str) -> impl Iterator<Item = &str> {
    fixture.lines().filter_map(|line| line.strip_prefix("== "))
}

fn write(root: &Path, path: &str, content: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
    fs::write(path, content).expect("file");
}

fn round_trip(machine: &Machine) -> Machine {
    serde_json::from_str(&serde_json::to_string(machine).expect("JSON")).expect("readable")
}

/// The program under test is compiled by whoever runs the tests.
fn warnings_beside_the_compiler(machine: &Machine) -> Vec<Warning> {
    let mut warnings = machine.warnings();
    warnings.retain(|warning| !matches!(warning, Warning::Unoptimized { .. }));
    warnings
}
