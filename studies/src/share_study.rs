//! How still a share of the limit stands while raw times drift: the same rows, again and again over an hour.

use crate::page::publish;
use roofline_core::record::{Limiter, Record};
use roofline_core::stats::quantile;
use std::collections::BTreeMap;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

/// One row for each kind of limit: traffic, multiply-adds, tile registers.
const ROWS: [(&str, &str); 3] = [
    ("add/f32/rows=4096,cols=4096", "cpu/parallel"),
    ("matmul/f32/m=1024,n=1024,k=1024", "cpu/packed"),
    ("matmul/bf16/m=1024,n=1024,k=1024", "cpu/amx"),
];

/// Time for a row in each run: what is left of the noise between sets then is not what is asked for here.
const BUDGET: &str = "10s";

/// A share may move by this much of what the raw times move by, from the 5 % to the 95 % quantile.
const MOST_SPREAD: f64 = 0.25;

/// What one row showed in one run.
#[derive(Clone, Copy, Debug)]
struct Seen {
    share: f64,
    by: Limiter,
    seconds: f64,
}

/// What the study found: by row, one entry a run.
#[derive(Debug, Default)]
pub struct Outcome {
    rows: BTreeMap<String, Vec<Seen>>,
}

/// Measures every row `runs` times, evenly over `time`.
pub fn study(runs: u32, time: Duration, mut report: impl FnMut(&str)) -> io::Result<Outcome> {
    let binaries = crate::bench::build(&["-p", "roofline"])?;
    let folder = std::env::temp_dir().join(format!("roofline-share-study-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let start = Instant::now();
    let mut outcome = Outcome::default();
    for run in 0..runs {
        let due = time * run / runs;
        std::thread::sleep(due.saturating_sub(start.elapsed()));
        for (case, implementation) in ROWS {
            let output = Command::new(binaries.join("roofline"))
                .args(["run", case, "-i", implementation, "--budget", BUDGET, "--format", "jsonl", "--store"])
                .arg(folder.join("store.db"))
                .output()?;
            let records = String::from_utf8_lossy(&output.stdout);
            let records = records.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok());
            for record in records.filter(|record| record.implementation == implementation) {
                let Some(((share, by), time)) = record.of_limit().zip(record.median()) else { continue };
                let seen = Seen { share: share.value, by, seconds: time.0 };
                report(&format!(
                    "{} of {runs}: {}: {:.1} % ±{:.1}, {time}",
                    run + 1,
                    record.row(),
                    100.0 * share.value,
                    100.0 * share.half_width()
                ));
                outcome.rows.entry(record.row()).or_default().push(seen);
            }
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(outcome)
}

/// Median, and the distance from the 5 % to the 95 % quantile as a share of it.
fn spread(values: &[f64]) -> (f64, f64) {
    let [low, middle, high] = [0.05, 0.5, 0.95].map(|q| quantile(values, q).unwrap_or(f64::NAN));
    (middle, (high - low) / middle)
}

impl Outcome {
    /// Whether every share stood still enough beside its raw times.
    pub fn is_still(&self) -> bool {
        self.rows.len() == ROWS.len() && self.rows.values().all(|seen| Line::of(seen).ratio() <= MOST_SPREAD)
    }

    /// What is asked of the shares, and which rows fall short of it.
    fn goals(&self) -> String {
        let short: Vec<String> = self
            .rows
            .iter()
            .map(|(row, seen)| (row, Line::of(seen).ratio()))
            .filter(|(_, ratio)| *ratio > MOST_SPREAD)
            .map(|(row, ratio)| format!("- short: {row}, {ratio:.2}\n"))
            .collect();
        let short = if short.is_empty() { "All rows hold it.\n".to_owned() } else { short.concat() };
        format!("\n## Goals\n\nShares move by at most {MOST_SPREAD} of what times move by.\n\n{short}")
    }

    /// Writes the page under `results/` and returns it.
    pub fn publish(&self, command: &str) -> io::Result<String> {
        let mut page = "Shares of the limit beside raw times, run after run. Spreads go from the 5 % to the 95 % quantile, as \
                        a share of the median.\n\n\
                        | row | runs | limit | share | spread of shares | time | spread of times | shares / times |\n\
                        |---|---|---|---|---|---|---|---|\n"
            .to_owned();
        for (row, seen) in &self.rows {
            let line = Line::of(seen);
            page += &format!(
                "| {row} | {} | {} | {:.1} % | {:.1} % | {} | {:.1} % | {:.2} |\n",
                seen.len(),
                line.by.name(),
                100.0 * line.share.0,
                100.0 * line.share.1,
                roofline_core::units::Seconds(line.time.0),
                100.0 * line.time.1,
                line.ratio()
            );
        }
        page += &self.goals();
        publish("share-study", "Share study", command, &page)
    }
}

/// A row of the page: medians and spreads.
struct Line {
    by: Limiter,
    share: (f64, f64),
    time: (f64, f64),
}

impl Line {
    fn of(seen: &[Seen]) -> Line {
        let shares: Vec<f64> = seen.iter().map(|seen| seen.share).collect();
        let times: Vec<f64> = seen.iter().map(|seen| seen.seconds).collect();
        Line {
            by: seen.first().map_or(Limiter::Traffic, |seen| seen.by),
            share: spread(&shares),
            time: spread(&times),
        }
    }

    fn ratio(&self) -> f64 {
        self.share.1 / self.time.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_compared() {
        let seen = |share, seconds| Seen { share, by: Limiter::Traffic, seconds };
        let still: Vec<Seen> =
            (0..20).map(|i| seen(0.9 + 0.001 * f64::from(i % 2), 1.0 + 0.02 * f64::from(i))).collect();
        assert!(Line::of(&still).ratio() < MOST_SPREAD);
        let restless: Vec<Seen> = still.iter().map(|one| seen(one.seconds, one.seconds)).collect();
        assert!((Line::of(&restless).ratio() - 1.0).abs() < 1e-9);
        let mut outcome = Outcome::default();
        outcome.rows.insert("still".to_owned(), still);
        assert!(outcome.goals().ends_with("All rows hold it.\n"));
        outcome.rows.insert("restless".to_owned(), restless);
        assert!(outcome.goals().ends_with("- short: restless, 1.00\n"), "{}", outcome.goals());
    }
}
