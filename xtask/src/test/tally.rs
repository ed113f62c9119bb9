//! What test runners print, counted.

/// Counts over all test runners.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    /// What tests that passed say they have left out.
    pub(super) left_out: Vec<String>,
    /// Tests of cargo that failed.
    pub(super) fallen: Vec<String>,
}

impl Tally {
    /// What another has counted as well.
    pub(super) fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.left_out.extend(other.left_out);
        self.fallen.extend(other.fallen);
    }

    /// `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`, and
    /// `skipped: no torch` of a test that passes without what it needs.
    pub(super) fn add_cargo(&mut self, line: &str) {
        // A test that says so may stand in the middle of its line.
        let said = line.rsplit(" ... ").next().unwrap_or(line);
        if said.starts_with("skipped: ") {
            self.skipped += 1;
            self.left_out.push(said.to_owned());
        }
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.fallen.push(name.to_owned());
        }
        let Some(result) = line.trim().strip_prefix("test result: ") else { return };
        let counts = result.split_once(". ").map_or("", |(_, counts)| counts);
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else { continue };
            let number: u64 = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.skipped += number,
                _ => {}
            }
        }
    }

    /// `Ran 12 tests in 0.3s`, then `OK`, `OK (skipped=1)` or `FAILED (failures=1, errors=2, skipped=1)`.
    pub(super) fn add_unittest(&mut self, line: &str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Ran ") {
            self.passed += rest.split(' ').next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        } else if line.starts_with("FAILED (") || line.starts_with("OK (") {
            let counts = line.split_once('(').map_or("", |(_, counts)| counts).trim_end_matches(')');
            for (what, number) in counts.split(", ").filter_map(|count| count.split_once('=')) {
                let number: u64 = number.parse().unwrap_or(0);
                match what {
                    "failures" | "errors" | "unexpected successes" => self.failed += number,
                    "skipped" => self.skipped += number,
                    _ => continue,
                }
                self.passed = self.passed.saturating_sub(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_both_runners_add_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "skipped: no MKL; a page says where it comes from",
            "test peers::torch ... skipped: no torch",
            "test that_lines_with_skipped: are_counted ... ok",
            "test clocks::tell ... FAILED",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ] {
            tally.add_cargo(line);
        }
        let said = ["skipped: no MKL; a page says where it comes from", "skipped: no torch"];
        let (left_out, fallen) = (said.map(str::to_owned).to_vec(), vec!["clocks::tell".to_owned()]);
        assert_eq!(tally, Tally { passed: 15, failed: 2, skipped: 3, left_out, fallen });
        (tally.left_out, tally.fallen) = Default::default();
        for line in ["Ran 10 tests in 0.300s", "", "FAILED (failures=1, errors=2, skipped=1)"] {
            tally.add_unittest(line);
        }
        assert_eq!(tally, Tally { passed: 21, failed: 5, skipped: 4, ..Tally::default() });
        for line in ["Ran 2 tests in 0.300s", "", "OK (skipped=1)", "Ran 1 test in 0.0s", "OK"] {
            tally.add_unittest(line);
        }
        assert_eq!(tally, Tally { passed: 23, failed: 5, skipped: 5, ..Tally::default() });
    }
}
