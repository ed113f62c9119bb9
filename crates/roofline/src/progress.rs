//! Progress on standard error, and every record to the store at once.

use indicatif::{ProgressBar, ProgressStyle};
use roofline_conductor::conduct::Observer;
use roofline_core::case::Case;
use roofline_core::record::Record;
use roofline_store::{Store, StoreError};
use std::io;
use std::time::Duration;

/// Shows a bar on a terminal, keeps the records, and stores each as it comes.
pub struct Recorder<'a> {
    store: &'a Store,
    bar: ProgressBar,
    pub records: Vec<Record>,
    /// Why the store refused a record.
    pub refused: Option<StoreError>,
}

impl<'a> Recorder<'a> {
    pub fn new(store: &'a Store, rows: usize) -> Recorder<'a> {
        let bar = ProgressBar::new(rows as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} rows  {elapsed}  {wide_msg}") {
            bar.set_style(style);
        }
        // Draws only between rows: nothing moves on the terminal while something is timed.
        bar.tick();
        Recorder { store, bar, records: Vec::new(), refused: None }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Recorder<'_> {
    fn begin(&mut self, _number: usize, case: &Case) {
        self.bar.set_message(case.to_string());
    }

    fn record(&mut self, record: Record) -> io::Result<()> {
        let stored = self.store.append(&record);
        self.records.push(record);
        self.bar.inc(1);
        stored.map_err(|error| {
            let message = error.to_string();
            self.refused = Some(error);
            io::Error::other(message)
        })
    }

    fn stamp(&mut self) -> (String, String) {
        (new_id(), now())
    }
}

/// An identifier that sorts by time.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Now, as RFC 3339.
pub fn now() -> String {
    jiff::Timestamp::now()
        .round(jiff::Unit::Millisecond)
        .unwrap_or_else(|_| jiff::Timestamp::now())
        .to_string()
}

/// A duration for people.
pub fn roughly(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}
