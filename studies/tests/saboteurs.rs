//! Every saboteur gets its status through the whole conductor, and every check is needed.

use roofline_conductor::checks::{Check, Checks};
use roofline_core::check::{Checked, Standing};
use roofline_core::pattern::Pattern;
use roofline_core::record::{Record, Status};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use studies::bench::{Bench, Saboteur};
use studies::gate_mutations::{
    BUDGET, budget_without, face, is_suspect_or_says_why_not, misjudged, with_those_behind,
};

/// One at a time: what is measured here must not be disturbed from here.
static TURN: Mutex<()> = Mutex::new(());

fn take_turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// All saboteurs that must get `status`.
fn face_all(status: &str) {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    // Who says nothing is waited for to the end.
    let bench = if status == "timeout" { bench.with_patience(Duration::from_secs(1)) } else { bench };
    let saboteurs = bench.saboteurs().unwrap();
    let of_status = saboteurs.iter().filter(|saboteur| saboteur.status == status);
    let rows = of_status.flat_map(|saboteur| saboteur.cases.iter().map(move |case| (saboteur, case)));
    let faced: Vec<Vec<String>> =
        rows.map(|(saboteur, case)| misjudged(&bench, saboteur, case, 7, |_| ()).unwrap()).collect();
    assert!(!faced.is_empty(), "no saboteur must be {status}");
    let wrong = faced.concat();
    assert!(wrong.is_empty(), "not {status}:\n{}", wrong.join("\n"));
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

/// What its second thread spins before a visit is not of the visit.
#[test]
fn a_pool_that_spins_between_visits_takes_no_more_than_its_cores() {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    let saboteurs = bench.saboteurs().unwrap();
    let pool = saboteurs.iter().find(|one| one.implementation == "saboteur/spins-for-its-next-task").unwrap();
    let two = pool.cases.iter().find(|case| case.ends_with("/threads=2")).unwrap();
    let at = |seed| face(&bench, pool, two, seed, Some(BUDGET), Checks::default()).unwrap();
    // One visit that the host cut short says nothing.
    let shares: Vec<f64> = (7..10).map(|seed| at(seed).evidence.cpu_share.unwrap()).collect();
    assert!(shares.iter().any(|share| *share < 2.2), "{shares:?} cores were at work");
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
    for cheat in ["strays-when-timed", "writes-between-visits", "writes-while-others-sit"] {
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

/// Whether `holds` of a saboteur's record at two of three seeds: what clocks refuse is left to chance on a busy machine.
fn at_most_seeds(what: &str, record_at: impl Fn(u64) -> Record, holds: impl Fn(&Record) -> bool) {
    let records: Vec<Record> = (7..10).map(record_at).collect();
    let held = records.iter().filter(|record| holds(record)).count();
    let found: Vec<String> =
        records.iter().map(|record| format!("{}: {}", record.status, record.why)).collect();
    assert!(held >= 2, "{what}: {}", found.join("; "));
}

#[test]
fn a_hub_is_held_in_the_shape_of_every_row() {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    let case = "softmax/f32/rows=36,cols=100".parse().unwrap();
    let record_at = |seed| {
        let names = ["saboteur/honest", "saboteur/lies-as-a-hub", "saboteur/honest-ten-times"];
        let mut planned = bench.plan(&case, &names);
        planned.against = Some(names[1].to_owned());
        let records = bench.conduct(vec![planned], seed, Some(BUDGET), Checks::default()).unwrap();
        records.into_iter().find(|record| record.implementation == names[1]).unwrap()
    };
    at_most_seeds("as a hub", record_at, is_suspect_or_says_why_not);
}

#[test]
fn who_is_slow_in_the_gate_and_fast_in_sets_has_no_time() {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    // Where it stays slow it has a time, and says what it sat out.
    let record = record_of(&bench, "slow-until-timed");
    let weaker = |check| {
        let is_it = |checked: &&Checked| checked.check == check;
        record.evidence.checks.iter().find(is_it).unwrap().standing == Standing::Weaker
    };
    for check in [Check::Guards, Check::Families, Check::OtherShapes, Check::LateWrites, Check::AfterTiming] {
        assert!(weaker(check), "{check} is held");
    }
    let case = "softmax/f32/rows=64,cols=1000".parse().unwrap();
    let names = ["saboteur/slow-until-timed"];
    // Its clocks may tell first, where a machine wakes up slowly.
    let is_told = (7..10).any(|seed| {
        let records =
            bench.run(&case, &names, seed, Some(Duration::from_secs(4)), Checks::default()).unwrap();
        let (status, why) = (records[0].status, &records[0].why);
        assert!(status == Status::Suspect, "{status}: {why}");
        why.contains("the gate was not passed")
    });
    assert!(is_told, "it was not told that the gate was not passed");
}

#[test]
fn what_is_faster_than_the_probe_of_its_limit_has_no_time() {
    let _turn = take_turn();
    let bench = Bench::new().unwrap();
    // It claims about 2 µs, and less than one.
    for case in ["add/f32/rows=32,cols=2000", "add/f32/rows=4,cols=2000"] {
        let case = case.parse().unwrap();
        let record_at = |seed| {
            let names = ["saboteur/fiftieths-of-times"];
            let mut planned = bench.plan(&case, &names);
            planned.probes = bench.probes(&case).unwrap();
            assert!(!planned.probes.is_empty(), "{case} has no probes");
            // Clocks would tell first.
            let checks = Checks::without(&[Check::WallClock, Check::Unclaimed]);
            let records = bench.conduct(vec![planned], seed, Some(BUDGET), checks).unwrap();
            records.into_iter().find(|record| record.implementation == names[0]).unwrap()
        };
        at_most_seeds(&case.to_string(), record_at, |record| {
            record.status == Status::Suspect && record.why.contains("faster than the hardware's own probe")
        });
    }
}
