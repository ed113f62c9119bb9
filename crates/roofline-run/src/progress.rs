//! How far a run is: a bar on a terminal, and where there is none a line now and then.

use crate::roughly;
use crate::terminal::{is_hushed, tell};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

const TELL_EVERY: Duration = Duration::from_secs(30);

/// Counts over the whole of what goes on, in however many parts that is done.
pub struct Progress {
    bar: ProgressBar,
    what: &'static str,
    begun: Instant,
    told: Instant,
}

impl Progress {
    /// Of `all` such things, of which `done` are done already.
    pub fn new(what: &'static str, done: usize, all: usize) -> Progress {
        let bar = if is_hushed() { ProgressBar::hidden() } else { ProgressBar::new(all as u64) };
        let template = format!("{{bar:24}} {{pos}}/{{len}} {what}  {{elapsed}}  {{wide_msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.set_length(all as u64);
        bar.set_position(done as u64);
        // Draws only between steps: nothing moves on the terminal while something is timed.
        bar.tick();
        let now = Instant::now();
        Progress { bar, what, begun: now, told: now }
    }

    /// Whether there is a terminal that shows the bar.
    pub fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Says what comes next.
    pub fn begin(&mut self, message: String) {
        if self.bar.is_hidden()
            && let Some(line) = self.line(Instant::now(), &message)
        {
            tell(&line);
        }
        self.bar.set_message(message);
    }

    /// The line for somebody without a terminal, where the last one is long enough ago.
    fn line(&mut self, now: Instant, message: &str) -> Option<String> {
        if now.duration_since(self.told) < TELL_EVERY {
            return None;
        }
        self.told = now;
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
        let time = roughly(now.duration_since(self.begun));
        Some(format!("{time}: {done}/{all} {}  {message}", self.what))
    }

    /// One more is done.
    pub fn done(&self) {
        self.bar.inc(1);
    }

    /// So many are done, of so many.
    pub fn reach(&self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
    }

    /// Says something that stays, above the bar.
    pub fn tell(&self, line: &str) {
        self.bar.suspend(|| tell(line));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_now_and_then_counts_over_the_whole() {
        let mut progress = Progress::new("rows", 1, 8);
        let begun = progress.begun;
        let mut at = |seconds, message: &str| progress.line(begun + Duration::from_secs(seconds), message);
        assert_eq!(at(29, "proving  add"), None);
        assert_eq!(at(31, "proving  add").as_deref(), Some("31 s: 1/8 rows  proving  add"));
        assert_eq!(at(59, "timing  add"), None);
        progress.done();
        let mut at = |seconds, message: &str| progress.line(begun + Duration::from_secs(seconds), message);
        assert_eq!(at(62, "timing  add").as_deref(), Some("62 s: 2/8 rows  timing  add"));
    }
}
