//! What the time of a run goes into, for whoever wonders why it takes as long as it does.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What the conductor does, or waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Starts,
    Preparing,
    Launches,
    Resting,
    Filling,
    Judging,
    Device,
    /// All else: statistics, records, looking at processes.
    Own,
}

impl Part {
    const ALL: [Part; 8] = [
        Part::Starts,
        Part::Preparing,
        Part::Launches,
        Part::Resting,
        Part::Filling,
        Part::Judging,
        Part::Device,
        Part::Own,
    ];

    fn name(self) -> &'static str {
        match self {
            Part::Starts => "starts of processes",
            Part::Preparing => "preparing",
            Part::Launches => "launches",
            Part::Resting => "waiting for rest",
            Part::Filling => "inputs",
            Part::Judging => "references and judging",
            Part::Device => "the device process",
            Part::Own => "all else",
        }
    }
}

/// Time by what it went into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent([Duration; Part::ALL.len()]);

impl Spent {
    pub fn add(&mut self, other: Spent) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, time)| *sum += time);
    }
}

/// Less than this share is not worth a word.
const LEAST: f64 = 0.02;

impl fmt::Display for Spent {
    /// The largest first: `starts of processes 61 %, launches 20 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.iter().sum::<Duration>().as_secs_f64().max(1e-9);
        let mut shares: Vec<(f64, Part)> =
            self.0.iter().zip(Part::ALL).map(|(time, part)| (time.as_secs_f64() / all, part)).collect();
        shares.retain(|(share, _)| *share >= LEAST);
        shares.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let words: Vec<String> =
            shares.iter().map(|(share, part)| format!("{} {:.0} %", part.name(), 100.0 * share)).collect();
        f.write_str(&words.join(", "))
    }
}

/// Where a run's time is written down: each moment is of one part, the innermost that was entered.
#[derive(Clone, Debug)]
pub struct Ledger(Rc<Cell<(Spent, Part, Instant)>>);

impl Ledger {
    pub fn begin() -> Ledger {
        Ledger(Rc::new(Cell::new((Spent::default(), Part::Own, Instant::now()))))
    }

    /// What follows is of a part, until the answer is dropped.
    #[must_use]
    pub fn enter(&self, part: Part) -> Entry {
        Entry { ledger: self.clone(), before: self.switch(part) }
    }

    /// Closes the account of what went on so far; answers with what that was.
    fn switch(&self, part: Part) -> Part {
        let ((mut spent, before, since), now) = (self.0.get(), Instant::now());
        spent.0[before as usize] += now.duration_since(since);
        self.0.set((spent, part, now));
        before
    }

    pub fn so_far(&self) -> Spent {
        let part = self.switch(Part::Own);
        self.switch(part);
        self.0.get().0
    }
}

/// A part that goes on.
#[derive(Debug)]
pub struct Entry {
    ledger: Ledger,
    before: Part,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.ledger.switch(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_is_of_the_innermost_part() {
        let pause = || std::thread::sleep(Duration::from_millis(5));
        let ledger = Ledger::begin();
        let outer = ledger.enter(Part::Launches);
        {
            let _inner = ledger.enter(Part::Device);
            pause();
        }
        assert_eq!(ledger.0.get().1, Part::Launches, "what went on goes on");
        drop(outer);
        pause();
        let spent = ledger.so_far();
        let of = |part: Part| spent.0[part as usize];
        assert!(of(Part::Device) >= Duration::from_millis(5) && of(Part::Own) >= Duration::from_millis(5));
        assert!(of(Part::Launches) < of(Part::Device), "{spent:?}");
    }

    #[test]
    fn the_largest_part_comes_first_and_the_least_is_left_out() {
        let mut spent = Spent::default();
        for (part, seconds) in [(Part::Launches, 20), (Part::Starts, 79), (Part::Own, 1)] {
            spent.0[part as usize] = Duration::from_secs(seconds);
        }
        assert_eq!(spent.to_string(), "starts of processes 79 %, launches 20 %");
        let mut sum = Spent::default();
        (0..2).for_each(|_| sum.add(spent));
        assert_eq!(sum.to_string(), spent.to_string());
        assert_eq!(Spent::default().to_string(), "");
    }
}
