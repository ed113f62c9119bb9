//! A small run of the study: everyday bugs are found whatever the seed.

use std::time::Duration;
use studies::bench::Bench;
use studies::seeds_study::{EVERYDAY, describe, study};

#[test]
fn everyday_bugs_are_found_with_every_seed() {
    // A product of 2048³ takes too long for what is built for tests.
    let bugs: Vec<_> = EVERYDAY.iter().copied().filter(|(_, case)| !case.contains("k=2048")).collect();
    // Mutants compute as the formula stands, which takes them a while where others compute as well.
    let bench = Bench::new().unwrap().with_patience(Duration::from_secs(30));
    let counts = study(&bench, &bugs, 20..23, |_| {}).unwrap();
    assert_eq!(counts.iter().map(|count| count.tried).sum::<u64>(), 3 * bugs.len() as u64);
    assert!(counts.iter().all(|count| count.through.is_empty()), "{}", describe(&counts));
}
