//! A bench beside its baseline, as JUnit has it.

use super::*;

/// A bench beside its baseline: one kernel slower, one undecided, one that is new, and a peer of the house.
fn beside_a_baseline() -> Vec<Record> {
    let beside = |name: &str, rounds: Rounds| timed(SOFTMAX, name, 1, 8.0, rounds);
    let older = |hub: &str| Rounds { to_hub: vec![0.0; 12], ..rounds(hub, 0.0, 12) };
    let undecided = (0..6).map(|i| -0.01 + 0.02 * f64::from(i % 3)).collect();
    let again = |rounds: Rounds| Rounds {
        before: Some(Before { to_hub: rounds.to_hub.clone(), alpha: rounds.alpha, spent: None }),
        ..rounds
    };
    vec![
        beside("mine/slow", again(rounds("main/slow", 0.2, 12))),
        beside("main/slow", older("main/slow")),
        beside("mine/unsure", Rounds { to_hub: undecided, ..rounds("main/unsure", 0.0, 6) }),
        beside("main/unsure", older("main/unsure")),
        Record { rounds: None, ..beside("mine/new", older("main/new")) },
        beside("cpu/plain", again(rounds("main/slow", 0.5, 12))),
    ]
}

#[test]
fn a_slower_row_fails_in_junit_where_that_was_asked() {
    let records = beside_a_baseline();
    let junit = |arguments: &str| {
        let arguments = arguments.split(' ').map(str::to_owned).collect();
        let run = Run { arguments, ..run() };
        let report = Report::new(Some(&run), &records);
        (Format::find("junit").unwrap().write)(&report, Style::default())
    };
    hold("baseline.junit", &junit("kernels --bench --baseline main"));
    for asked in ["-b main", "--baseline=main", "--baseline-lenient main", "--fail-on slower"] {
        assert_eq!(junit(asked), junit("kernels --bench --baseline main"), "{asked}");
    }
    for other in ["roofline run --against main", "kernels --bench --save-baseline main"] {
        assert!(!junit(other).contains("<failure "), "{other}");
    }
}
