//! Every saboteur gets its status through the whole conductor, and every check is needed.

use roofline_conductor::checks::{Check, Checks};
use roofline_core::check::{Checked, Standing};
use roofline_core::pattern::Pattern;
use roofline_core::record::{Record, Status};
use std::sync::{Mutex, MutexGuard};
use studies::bench::{Bench, Saboteur};
use studies::gate_mutations::{BUDGET, budget_without, face, with_those_behind};

/// One at a time: what is measured here must not be disturbed from here.
static TURN: Mutex<()> = Mutex::new(());

fn take_turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Those whom outputs and clocks both give away: which of the two sees them first is chance.
const EITHER: &[&str] = &[
    "saboteur/last-launch-only",
    "saboteur/scribbles-in-between",
    "saboteur/first-and-last-only",
    "saboteur/last-launch-only-in-sets",
    "saboteur/last-sample-only",
    "saboteur/puts-work-off",
    "saboteur/remembers-rows",
    "saboteur/remembers-without-a-pause",
];

/// All saboteurs that must get `status`; a list of those that got another.
///
/// What is left to lots and clocks catches most and not all: where one of the statuses that they give is missed at the
/// first seed, it must be met at two of three others.
fn face_all(status: &str) {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    let saboteurs = bench.saboteurs().unwrap();
    let mut wrong = Vec::new();
    let mut faced = 0;
    let is_by_lot = matches!(status, "wrong" | "suspect" | "ok");
    for saboteur in saboteurs.iter().filter(|saboteur| saboteur.status == status) {
        for case in &saboteur.cases {
            faced += 1;
            let mut misses = Vec::from_iter(miss(&bench, saboteur, case, 7));
            if !misses.is_empty() && is_by_lot {
                misses.extend((8..11).filter_map(|seed| miss(&bench, saboteur, case, seed)));
            }
            if misses.len() > if is_by_lot { 2 } else { 0 } {
                wrong.extend(misses);
            }
        }
    }
    assert!(faced > 0, "no saboteur must be {status}");
    assert!(wrong.is_empty(), "not {status}:\n{}", wrong.join("\n"));
}

/// What a saboteur got at a seed, if it is not its status.
fn miss(bench: &Bench, saboteur: &Saboteur, case: &str, seed: u64) -> Option<String> {
    let record = face(bench, saboteur, case, seed, Some(BUDGET), Checks::default()).unwrap();
    let either = EITHER.contains(&saboteur.implementation.as_str())
        && matches!(record.status, Status::Wrong | Status::Suspect);
    if record.status != Status::Ok {
        assert!(record.samples.is_empty(), "{} has a time", record.row());
    }
    // On a machine that is taken away clocks say too little, and the row says how much that is.
    let says_so = |checked: &Checked| checked.check == Check::WallClock && checked.why.contains("can tell");
    let is_told = saboteur.status == "suspect"
        && record.status == Status::Ok
        && record.evidence.checks.iter().any(says_so);
    let is_right = record.status.name() == saboteur.status || either || is_told;
    (!is_right).then(|| format!("{}: seed {seed}: {}: {}", record.row(), record.status, record.why))
}

#[test]
fn wrong_outputs_are_wrong() {
    face_all("wrong");
}

#[test]
fn crashes_name_their_signal() {
    face_all("crashed");
}

#[test]
fn unbelievable_times_and_resources_are_suspect() {
    face_all("suspect");
}

#[test]
fn broken_lines_are_protocol() {
    face_all("protocol");
}

#[test]
fn silence_is_a_timeout() {
    face_all("timeout");
}

#[test]
fn greed_is_out_of_memory() {
    face_all("out-of-memory");
}

#[test]
fn odd_but_honest_ones_are_ok() {
    face_all("ok");
    face_all("unsupported");
}

/// The record of one saboteur, which must have its status: that of an honest one at one of three seeds, as clocks may
/// refuse it a time.
fn record_of(bench: &Bench, name: &str) -> Record {
    let saboteurs = bench.saboteurs().unwrap();
    let saboteur = saboteurs.iter().find(|one| one.implementation == format!("saboteur/{name}")).unwrap();
    let at = |seed| face(bench, saboteur, &saboteur.cases[0], seed, Some(BUDGET), Checks::default()).unwrap();
    let is_doubted = |record: &Record| saboteur.status == "ok" && record.status == Status::Suspect;
    let record = (7..9).map(at).find(|record| !is_doubted(record)).unwrap_or_else(|| at(9));
    assert_eq!(record.status.name(), saboteur.status, "{name}: {}", record.why);
    record
}

#[test]
fn needs_that_are_declared_are_noted_and_make_checks_weaker() {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    for (name, requires, weaker) in [
        ("whole-vectors", "cols % 16 == 0", None),
        ("one-width", "cols == 1000", Some((Check::OtherShapes, "leaves 0 other sizes of cols"))),
        ("aligned-loads", "align 32", Some((Check::Guards, "before the unreadable page"))),
        ("finite-only", "finite", Some((Check::Families, "requires finite inputs"))),
        ("flushes", "flushes denormals", Some((Check::Bound, "flushes denormals"))),
    ] {
        let record = record_of(&bench, name);
        assert_eq!(record.provenance.notes["requires"], requires, "{name}");
        let checks = record.evidence.checks.iter().filter(|checked| checked.standing == Standing::Weaker);
        let found: Vec<_> = checks.map(|checked| (checked.check, checked.why.as_str())).collect();
        match weaker {
            None => {
                assert!(!found.iter().any(|(check, _)| *check == Check::OtherShapes), "{name}: {found:?}");
            }
            Some((check, why)) => {
                let holds = |found: &(Check, &str)| found.0 == check && found.1.contains(why);
                assert!(found.iter().any(holds), "{name}: {found:?}");
            }
        }
    }
}

#[test]
fn needs_that_are_not_are_told_by_their_cause() {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    let record = record_of(&bench, "whole-vectors-elsewhere");
    assert_eq!(record.why, "needs cols % 16 == 0; cols is 1000");
    let record = record_of(&bench, "whole-vectors-in-secret");
    for part in ["a size that only the gate tries", "no whole vectors", "requires = \"cols % 16 == 0\""] {
        assert!(record.why.contains(part), "{}", record.why);
    }
    let record = record_of(&bench, "aligned-loads-in-secret");
    assert!(record.why.contains("SIGSEGV") && record.why.contains("declare `align 32`"), "{}", record.why);
    assert!(record.gate.replay.contains(" --placement end --fill "), "{}", record.gate.replay);
    let record = record_of(&bench, "flushes-in-secret");
    let pattern = record.gate.fault.unwrap().pattern.unwrap();
    assert_eq!(pattern, Pattern::DenormalsFlushed);
    assert!(pattern.to_string().contains("crtfastmath.o"), "{pattern}");
    // A read past the end is no matter of alignment or size.
    let record = record_of(&bench, "reads-after-end");
    assert!(!record.why.contains("align") && !record.why.contains("declare"), "{}", record.why);
}

/// For each check one saboteur that it alone catches, or it and those that [`with_those_behind`] names.
const NEEDED: &[(Check, &str)] = &[
    (Check::Bound, "scaled"),
    (Check::Guards, "reads-after-end"),
    (Check::Canaries, "strays-when-timed"),
    (Check::Poison, "last-tile-missing"),
    (Check::Families, "unstable-softmax"),
    (Check::OtherShapes, "listed-shapes-only"),
    (Check::ChangedInputs, "cached-by-content"),
    (Check::Memos, "remembers-rows"),
    (Check::JudgedVisits, "replays-when-timed"),
    (Check::WatchedBatch, "last-launch-only"),
    (Check::LateWrites, "scribbles-later"),
    (Check::AfterTiming, "decays"),
    (Check::Projection, "wrong-element"),
    (Check::WallClock, "halves-times"),
    (Check::Unclaimed, "puts-work-off"),
    (Check::Copies, "works-in-the-copy"),
    (Check::Ceiling, "stopped-clock"),
    (Check::Threads, "more-threads"),
    (Check::Idle, "spins-after-visits"),
    (Check::Children, "forks-a-child"),
    (Check::FloatMode, "changes-float-mode"),
    (Check::Sandbox, "insists-on-the-network"),
];

#[test]
fn without_a_check_its_saboteur_gets_through() {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    let saboteurs = bench.saboteurs().unwrap();
    assert_eq!(NEEDED.len(), Check::ALL.len(), "a check has no saboteur");
    let find = |name: &str| -> &Saboteur {
        let name = format!("saboteur/{name}");
        saboteurs.iter().find(|saboteur| saboteur.implementation == name).expect("a saboteur of that name")
    };
    let mut caught = Vec::new();
    for (check, name) in NEEDED {
        let saboteur = find(name);
        // What is left to chance elsewhere may catch it without the check, but not every time.
        let mut whys = Vec::new();
        let gets_through = saboteur.cases.iter().flat_map(|case| (0..8).map(move |seed| (case, seed))).any(
            |(case, seed)| {
                let record = {
                    let budget = budget_without(*check);
                    let checks = Checks::without(with_those_behind(*check));
                    face(&bench, saboteur, case, seed, budget, checks).unwrap()
                };
                whys.push(format!("{}: {}", record.status, record.why));
                record.status == Status::Ok
            },
        );
        if !gets_through {
            caught.push(format!("{name} is caught without {check:?}: {}", whys.join("; ")));
        }
    }
    assert!(caught.is_empty(), "{}", caught.join("\n"));
}

/// Rows of one run, by implementation.
fn run_together(case: &str, names: &[&str], seed: u64) -> Vec<(String, Status, String)> {
    let bench = Bench::new().unwrap();
    let names: Vec<String> = names.iter().map(|name| format!("saboteur/{name}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let case = case.parse().unwrap();
    let records = bench.run(&case, &names, seed, Some(BUDGET), Checks::default()).unwrap();
    records.into_iter().map(|record| (record.implementation, record.status, record.why)).collect()
}

#[test]
fn one_row_s_fault_is_no_other_row_s() {
    let _turn = take_turn();
    for cheat in ["strays-when-timed", "writes-between-visits"] {
        // An honest row may lack a time on a machine that is taken away, but not at every seed.
        let refused = |seed| {
            let names = ["honest", cheat, "honest-in-another-order"];
            let mut rows = run_together("softmax/f32/rows=64,cols=1000", &names, seed);
            rows.retain(|(_, status, _)| *status != Status::Ok);
            assert!(rows.iter().any(|(name, ..)| name.ends_with(cheat)), "{cheat} has a time");
            (rows.len() > 1).then_some(rows)
        };
        let refused: Vec<_> = (7..10).map_while(refused).collect();
        assert!(refused.len() < 3, "beside {cheat}: {refused:?}");
    }
}
