//! Every row does what the table says, and is honest where it does not cheat: a small gate of its
//! own, so that a saboteur that has gone soft is not taken for a gate that has grown sharp.

mod bench;

use bench::{Fall, Instance, Placement, Process};
use roofline_core::case::Case;
use roofline_core::condition::Condition;
use roofline_core::fill::Fill;
use roofline_core::philox::Draws;
use roofline_core::protocol::{Ask, Hello, Launched, VERSION, Visited};
use roofline_core::record::Status;
use serde::Deserialize;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long an answer may take, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same for answers that are not expected.
const IMPATIENCE: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Table {
    implementations: Vec<Row>,
    hellos: Vec<HelloRow>,
}

#[derive(Clone, Deserialize)]
struct Row {
    implementation: String,
    cases: Vec<String>,
    status: Status,
    plays: String,
    about: String,
    requires: String,
}

#[derive(Deserialize)]
struct HelloRow {
    hello: String,
    status: Status,
}

fn table() -> Table {
    let output = Command::new(env!("CARGO_BIN_EXE_saboteur")).arg("--table").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn row(name: &str) -> Row {
    let rows = table().implementations;
    rows.into_iter().find(|row| row.implementation == format!("saboteur/{name}")).unwrap()
}

/// What the small gate saw: judged answers in order, and how the conversation fell, if it did.
#[derive(Debug, Default)]
struct Seen {
    right: usize,
    wrong: usize,
    fall: Option<Fall>,
    float_mode_changed: bool,
}

impl Seen {
    /// The status, as far as outputs and the conversation tell.
    fn status(&self) -> Status {
        match &self.fall {
            _ if self.wrong > 0 => Status::Wrong,
            Some((status, _)) => *status,
            None => Status::Ok,
        }
    }
}

fn examine(row: &Row, case: &Case) -> Seen {
    let mut seen = Seen::default();
    let patience = if row.status == Status::Timeout { IMPATIENCE } else { PATIENCE };
    let process = Process::start(&[], patience);
    if let Err(fall) = sit(process, row, case, &mut seen) {
        seen.fall = Some(fall);
    }
    seen
}

/// Launches and visits until something is wrong, the case before another size of it.
fn sit(mut process: Process, row: &Row, case: &Case, seen: &mut Seen) -> Result<(), Fall> {
    let mut seed = 0;
    let implementation = row.implementation.as_str();
    let condition: Condition = row.requires.parse().unwrap();
    let is_large = case.sizes.iter().product::<u64>() > 1 << 20;
    let others: Vec<u64> = [5, 7, 9].into_iter().cycle().take(case.sizes.len()).collect();
    let names = case.operation.axis_names();
    let others = condition.near(&names, &case.sizes, &others, &mut Draws::new(1, 1));
    let others = case.operation.near(case, &others, &mut Draws::new(1, 1)).sizes;
    for case in [case.clone(), case.resized(&others)] {
        for placement in [Placement::End, Placement::Start, Placement::Between] {
            if condition.align.is_some() && matches!(placement, Placement::End) {
                continue;
            }
            let mut instance = Instance::new(&case, placement);
            instance.prepare(&mut process, implementation)?;
            let fills = if is_large && case.sizes != others { &[Fill::Uniform] } else { Fill::ALL };
            // What its condition leaves out is not brought to it; this judge knows no denormals that may be zero.
            let is_left_out = |fill: &Fill| match fill {
                Fill::Uniform | Fill::Normal => false,
                fill => condition.flushes_denormals || condition.finite && *fill == Fill::Nonfinite,
            };
            for fill in fills.iter().filter(|fill| !is_left_out(fill)) {
                let questions = [
                    Ask::Launch { count: 1 },
                    Ask::Launch { count: 2 },
                    Ask::Visit { warmup: 1, samples: 2, batch: 2 },
                ];
                // The edges are for launches: what happens in visits happens between canaries.
                let count = if matches!(placement, Placement::Between) { 3 } else { 2 };
                for question in questions.into_iter().take(count) {
                    seed += 1;
                    instance.renew(*fill, seed);
                    put(&mut process, question, seen)?;
                    if judge(&instance, seen) {
                        return Ok(());
                    }
                }
            }
        }
    }
    let mut instance = Instance::new(&case.resized(&others), Placement::Between);
    instance.prepare(&mut process, implementation)?;
    put(&mut process, Ask::Launch { count: 120 }, seen)?;
    instance.renew(Fill::Normal, 1);
    put(&mut process, Ask::Launch { count: 1 }, seen)?;
    judge(&instance, seen);
    Ok(())
}

fn put(process: &mut Process, ask: Ask, seen: &mut Seen) -> Result<(), Fall> {
    if let Ask::Visit { .. } = ask {
        let visited: Visited = process.ask(ask, &[])?;
        seen.float_mode_changed |= visited.float_mode_changed;
    } else {
        let launched: Launched = process.ask(ask, &[])?;
        seen.float_mode_changed |= launched.float_mode_changed;
    }
    Ok(())
}

/// Whether something was wrong.
fn judge(instance: &Instance, seen: &mut Seen) -> bool {
    let is_right = instance.is_right() && instance.is_clean();
    seen.right += usize::from(is_right);
    seen.wrong += usize::from(!is_right);
    !is_right
}

/// Rows that only isolation and limits give their status, which this bench has not: what they are here, and whether
/// that takes the rights of root.
const FREE: [(&str, Status, bool); 8] = [
    ("signals-others", Status::Crashed, false),
    ("reads-memory-of-others", Status::Crashed, true),
    ("raises-its-priority", Status::Crashed, true),
    ("takes-the-core", Status::Crashed, true),
    ("asks-the-network", Status::Crashed, false),
    ("writes-elsewhere", Status::Crashed, false),
    ("insists-on-the-network", Status::Ok, false),
    ("shares-memory", Status::Ok, false),
];

fn is_free(row: &Row) -> bool {
    FREE.iter().any(|(name, ..)| row.implementation == format!("saboteur/{name}"))
}

/// An escape that does not get out here proves nothing where it is held.
#[test]
fn escapes_get_out_where_nobody_holds_them() {
    use std::os::unix::fs::MetadataExt;
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    for (name, status, needs_root) in FREE {
        let row = row(name);
        let seen = examine(&row, &row.cases[0].parse().unwrap());
        if is_root || !needs_root {
            assert_eq!(seen.status(), status, "{name}: {seen:?}");
        }
    }
}

/// What these do is seen only by a conductor, which counts memory, stops others and knows sets.
const ELSEWHERE: [&str; 3] =
    ["saboteur/hides-memory", "saboteur/writes-while-others-sit", "saboteur/slow-until-timed"];

/// Every row of a status, on every one of its cases.
fn each(status: Status, check: impl Fn(&Row, &Case, &Seen)) {
    let rows = table().implementations;
    let is_meant = |row: &&Row| row.status == status && !is_free(row);
    for row in rows.iter().filter(is_meant).filter(|row| !ELSEWHERE.contains(&row.implementation.as_str())) {
        for case in &row.cases {
            let case: Case = case.parse().unwrap();
            let seen = examine(row, &case);
            check(row, &case, &seen);
        }
    }
}

#[test]
fn the_table_is_sound() {
    let table = table();
    let mut process = Process::start(&[], PATIENCE);
    let hello: Hello = process.ask(Ask::Hello { protocol: VERSION }, &[]).unwrap();
    let mut names: Vec<&str> = table.implementations.iter().map(|row| row.implementation.as_str()).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name stands twice");
    for row in &table.implementations {
        assert!(!row.about.is_empty() && row.plays.is_ascii());
        assert!(!row.cases.is_empty());
        for case in &row.cases {
            let parsed: Case = case.parse().unwrap();
            assert_eq!(parsed.to_string(), *case);
            let is_offered = hello.offers.iter().any(|offer| {
                offer.implementation == row.implementation
                    && offer.operation == parsed.form()
                    && offer.dtypes.iter().any(|id| id == parsed.precision.id)
            });
            assert!(is_offered, "{case}@{}", row.implementation);
        }
    }
    let statuses = |status| table.implementations.iter().filter(|row| row.status == status).count();
    for status in [Status::Ok, Status::Wrong, Status::Suspect, Status::Crashed, Status::Timeout] {
        assert!(statuses(status) > 2, "{status}");
    }
}

#[test]
fn honest_rows_pass() {
    each(Status::Ok, |row, case, seen| {
        assert_eq!(seen.status(), Status::Ok, "{case}@{}: {seen:?}", row.implementation);
        assert!(seen.right > 20 || !row.requires.is_empty() && seen.right > 5);
    });
    each(Status::Unsupported, |_, _, seen| assert_eq!(seen.status(), Status::Unsupported));
}

#[test]
fn wrong_rows_are_wrong() {
    // Right at the end of every question; `batches_are_cut_short` has them.
    // The others are honest here: in a process that has seen the gate, or where the whole output is poisoned.
    let hidden = [
        "saboteur/last-launch-only",
        "saboteur/scribbles-in-between",
        "saboteur/first-and-last-only",
        "saboteur/last-launch-only-in-sets",
        "saboteur/writes-between-visits",
        "saboteur/looks-at-the-last-element",
        "saboteur/looks-at-every-element",
        "saboteur/half-of-the-rows-but-for-the-last",
    ];
    // Honest at first: caught because of what they do later, or elsewhere.
    let honest_at_first = [
        "cached-by-pointer",
        "cached-by-content",
        "cached-by-shape",
        "cached-weights",
        "skips-after-10-calls",
        "repeats-after-10-calls",
        "skips-after-100-calls",
        "idle-when-timed",
        "replays-when-timed",
        "strays-when-timed",
        "large-sizes-only",
        "listed-shapes-only",
        "right-on-random-only",
        "nan-to-zero",
        "unstable-softmax",
    ];
    let _ = std::fs::remove_file(replay_file());
    each(Status::Wrong, |row, case, seen| {
        let name = row.implementation.strip_prefix("saboteur/").unwrap();
        if name == "scribbles-later" {
            // Right when it returns; whether the bench looks before or after the spoiling is chance.
            let is_right = || (0..8).any(|_| examine(row, case).right > 0);
            assert!(seen.right > 0 || is_right(), "{case}@{} was never right", row.implementation);
            return;
        }
        let expected = if hidden.contains(&row.implementation.as_str()) { Status::Ok } else { Status::Wrong };
        assert_eq!(seen.status(), expected, "{case}@{}: {seen:?}", row.implementation);
        if honest_at_first.contains(&name) {
            assert!(seen.right > 0, "{case}@{} was never right", row.implementation);
        }
    });
    let _ = std::fs::remove_file(replay_file());
}

fn replay_file() -> std::path::PathBuf {
    let case = row("file-replay").cases[0].replace(['/', ',', '='], "-");
    std::env::temp_dir().join(format!("roofline-saboteur-{case}"))
}

#[test]
fn crashing_rows_crash() {
    each(Status::Crashed, |row, case, seen| {
        assert_eq!(seen.status(), Status::Crashed, "{case}@{}: {seen:?}", row.implementation);
        let (_, how) = seen.fall.as_ref().unwrap();
        let expected = match row.implementation.strip_prefix("saboteur/").unwrap() {
            "writes-input" => return,
            "writes-after-end" | "writes-before-start" | "reads-after-end" | "aligned-loads-in-secret" => {
                "signal: 11"
            }
            "divides-by-zero" => "signal: 8",
            "aborts" | "overflows-the-stack" => "signal: 6",
            "illegal-instruction" => "signal: 4",
            "exits" => "exit status: 7",
            "exits-with-zero" | "answers-and-exits" => "exit status: 0",
            "raises-an-error" => "no plan",
            "panics" => "panicked",
            other => panic!("what does {other} die of?"),
        };
        assert!(how.contains(expected), "{}: {how}", row.implementation);
    });
}

#[test]
fn breaches_time_and_memory() {
    for status in [Status::Protocol, Status::Timeout, Status::OutOfMemory] {
        each(status, |row, case, seen| {
            // Nobody's child is a conductor's to find.
            let is_seen = row.implementation != "saboteur/shares-memory-elsewhere";
            assert!(!is_seen || seen.status() == status, "{case}@{}: {seen:?}", row.implementation);
        });
    }
}

#[test]
fn suspect_rows_compute_what_is_right() {
    each(Status::Suspect, |row, case, seen| {
        let name = row.implementation.as_str();
        assert_eq!(seen.status(), Status::Ok, "{case}@{name}: {seen:?}");
        assert_eq!(seen.float_mode_changed, name == "saboteur/changes-float-mode");
    });
}

#[test]
fn hellos_break() {
    for row in table().hellos {
        let patience = if row.status == Status::Timeout { IMPATIENCE } else { PATIENCE };
        let mut process = Process::start(&["--hello", &row.hello], patience);
        let answer = process.ask::<Hello>(Ask::Hello { protocol: VERSION }, &[]);
        assert_eq!(answer.unwrap_err().0, row.status, "{}", row.hello);
    }
}

/// A process with one row ready on its first case.
fn ready(name: &str) -> (Process, Instance) {
    let row = row(name);
    let case: Case = row.cases[0].parse().unwrap();
    let mut process = Process::start(&[], PATIENCE);
    let mut instance = Instance::new(&case, Placement::Between);
    instance.prepare(&mut process, &row.implementation).unwrap();
    instance.renew(Fill::Uniform, 1);
    (process, instance)
}

fn wall(process: &mut Process, count: u32) -> Duration {
    let start = Instant::now();
    let _: Launched = process.ask(Ask::Launch { count }, &[]).unwrap();
    start.elapsed()
}

#[test]
fn batches_are_cut_short() {
    for name in ["last-launch-only", "first-and-last-only"] {
        let (mut process, _instance) = ready(name);
        let one = (0..5).map(|_| wall(&mut process, 1)).min().unwrap();
        let many = (0..5).map(|_| wall(&mut process, 10_000)).min().unwrap();
        assert!(many < 100 * one, "{name}: {one:?} and {many:?}");
    }
}

#[test]
fn times_are_faked() {
    for (name, least) in [("halves-times", 1.8), ("tenths-of-times", 9.0), ("stopped-clock", 1000.0)] {
        let (mut process, _instance) = ready(name);
        let start = Instant::now();
        let visited: Visited = process.ask(Ask::Visit { warmup: 0, samples: 10, batch: 1 }, &[]).unwrap();
        let wall = start.elapsed().as_nanos() as f64;
        let claimed: f64 = visited.nanoseconds.iter().sum();
        assert!(wall > least * claimed, "{name}: {wall} ns, and {claimed} ns claimed");
    }
}

/// CPU time of all threads of a process, those that have ended included.
fn cpu_time(process: &Process) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(10 * ticks)
}

#[test]
fn idle_saboteurs_burn_or_rest() {
    let burnt = |name: &str| {
        let (mut process, _instance) = ready(name);
        wall(&mut process, 1);
        let before = cpu_time(&process);
        std::thread::sleep(Duration::from_millis(300));
        cpu_time(&process) - before
    };
    for name in ["burns-cpu", "spins-when-idle"] {
        let burnt = burnt(name);
        assert!(burnt > Duration::from_millis(40), "{name}: {burnt:?}");
    }
    assert!(burnt("honest") <= Duration::from_millis(20));
}

#[test]
fn helpers_and_children_are_there() {
    let count = |name: &str, folder: &str| {
        let (mut process, _instance) = ready(name);
        wall(&mut process, 1);
        let id = process.child.id();
        match folder {
            "task" => std::fs::read_dir(format!("/proc/{id}/task")).unwrap().count(),
            _ => {
                let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
                children.split_whitespace().count()
            }
        }
    };
    assert_eq!(count("honest", "task"), 1);
    assert_eq!(count("more-threads", "task"), 2);
    assert_eq!(count("burns-cpu", "task"), 3);
    assert_eq!(count("forks-a-child", "children"), 1);
    assert_eq!(count("honest", "children"), 0);
}
