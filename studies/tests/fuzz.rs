//! Whole conversations with a runner whose answers are spoilt by lot. Whatever it says, its row has a
//! record that can be kept, the conductor does not panic, and the run ends in time.
//!
//! `ROOFLINE_FUZZ=FROM..TO` takes other seeds, and more.

use roofline_conductor::checks::Checks;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use studies::bench::Bench;
use studies::gate_mutations::BUDGET;

const SEEDS: Range<u64> = 0..100;
/// For one seed, on a machine that is busy with other things.
const LONGEST: Duration = Duration::from_secs(30);

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("ROOFLINE_FUZZ") else { return SEEDS };
    let bounds = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    bounds.expect("ROOFLINE_FUZZ is FROM..TO")
}

#[test]
fn no_answer_costs_more_than_its_row() {
    let case = "add/f32/rows=2,cols=3".parse().unwrap();
    let bench = Bench::new().unwrap().with_patience(Duration::from_millis(100));
    let mut statuses: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in seeds() {
        let hostile = bench.with_words(&["--fuzz".to_owned(), seed.to_string()]);
        let start = Instant::now();
        let run = || hostile.run(&case, &["saboteur/honest"], seed, Some(BUDGET), Checks::default());
        let records = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(records)) => records,
            Ok(Err(error)) => panic!("seed {seed} ended the run: {error}"),
            Err(_) => panic!("seed {seed} made the conductor panic"),
        };
        let [record] = records.as_slice() else { panic!("seed {seed} has {} records", records.len()) };
        assert!(start.elapsed() < LONGEST, "seed {seed} took {:?}", start.elapsed());
        assert!(record.why.len() < 10_000, "seed {seed}: {} bytes of why", record.why.len());
        *statuses.entry(record.status.name()).or_default() += 1;
    }
    // Else nothing was spoilt, or all of it alike.
    let expected = ["ok", "protocol", "timeout"];
    let missing = expected.iter().filter(|name| !statuses.contains_key(**name)).count();
    assert!(missing == 0 || seeds() != SEEDS, "{statuses:?}");
}
