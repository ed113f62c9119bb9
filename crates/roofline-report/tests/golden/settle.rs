//! The command of `explain` that would settle a comparison.

use super::*;

#[test]
fn what_settles_a_comparison_is_a_command_that_can_be_given() {
    let unsure = compared().into_iter().find(|record| record.implementation == "cpu/unsure").unwrap();
    for (reproduce, settle) in [
        (
            "roofline ab old.so new.so add -i plain --seed 7",
            "roofline ab old.so new.so add -i plain --seed 7 --delta 1",
        ),
        (
            "roofline ab old.so new.so add -i plain --detect 1 --seed 7",
            "roofline ab old.so new.so add -i plain --seed 7 --delta 1",
        ),
        (
            "roofline run add -i mine/plain --baseline before --delta 2",
            "roofline run add -i mine/plain --baseline before --delta 2",
        ),
        (
            "roofline run add -i mine/plain --quick --budget 1s",
            "roofline run add -i mine/plain,torch/eager --against torch/eager --delta 1",
        ),
    ] {
        let record = Record { reproduce: reproduce.to_owned(), ..unsure.clone() };
        let explained = explain(&record, Style::default());
        assert!(explained.contains(&format!("settle    {settle} --budget 4s\n")), "{explained}");
    }
    let bench = "cargo bench --bench sums -- --exact add@sums/plain --against cpu";
    let explained = explain(&Record { reproduce: bench.to_owned(), ..unsure }, Style::default());
    assert!(
        explained.contains(&format!("settle    {bench} --measurement-time 4 --noise-threshold 0.01\n")),
        "{explained}"
    );
}
