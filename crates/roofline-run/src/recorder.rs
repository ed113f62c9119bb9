//! Progress on standard error, and every record to the store at once.

use crate::progress::Progress;
use roofline_conductor::conduct::{Forecast, Observer, Step};
use roofline_conductor::plan::Plan;
use roofline_conductor::spent::Spent;
use roofline_core::case::Case;
use roofline_core::record::Record;
use roofline_core::turn::Turn;
use roofline_store::{Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

/// Says how far the run is, keeps the records, and stores each as it comes.
pub struct Recorder<'a> {
    store: &'a Store,
    run: String,
    /// The rows that were asked for; probes of limits come beside them.
    planned: BTreeSet<String>,
    /// Of the run, of which the plan may be a part.
    progress: &'a mut Progress,
    /// The command that shows a row again, where it is not the conductor's.
    pub reproduce: Option<&'a dyn Fn(&Record) -> String>,
    /// The place of each row among all that the run planned.
    pub places: BTreeMap<String, u32>,
    pub records: Vec<Record>,
    /// What the time went into.
    pub spent: Spent,
    /// Why the store refused a record.
    refused: Option<StoreError>,
}

impl<'a> Recorder<'a> {
    /// `records` are those that the run has already.
    pub fn new(
        store: &'a Store,
        run: &str,
        plan: &Plan,
        records: Vec<Record>,
        progress: &'a mut Progress,
    ) -> Recorder<'a> {
        let planned = plan.cases.iter().flat_map(|planned| {
            planned.rows.iter().map(|row| format!("{}@{}", planned.case, row.implementation))
        });
        let (run, planned) = (run.to_owned(), planned.collect());
        Recorder {
            store,
            run,
            planned,
            progress,
            reproduce: None,
            places: BTreeMap::new(),
            records,
            spent: Spent::default(),
            refused: None,
        }
    }

    /// How many of the planned rows have a record.
    pub fn finished(&self) -> usize {
        self.records.iter().filter(|record| self.planned.contains(&record.row())).count()
    }

    /// Remembers why the store refused something; the run ends with it.
    fn keep(&mut self, stored: Result<(), StoreError>) -> io::Result<()> {
        stored.map_err(|error| {
            let message = error.to_string();
            self.refused = Some(error);
            io::Error::other(message)
        })
    }

    /// Why the store refused something, or does not have what it took. Without this a run is not finished.
    pub fn confirm(&mut self) -> Result<(), StoreError> {
        match self.refused.take() {
            Some(error) => Err(error),
            None => {
                let ids: Vec<&str> = self.records.iter().map(|record| record.id.as_str()).collect();
                self.store.confirm(&self.run, &ids)
            }
        }
    }
}

impl Observer for Recorder<'_> {
    fn begin(&mut self, step: Step, case: &Case) {
        let message = match step {
            Step::Gate => format!("proving  {case}"),
            Step::Set(set) => format!("timing, set {}  {case}", set + 1),
        };
        self.progress.begin(message);
    }

    fn turn(&mut self, turn: &Turn) -> io::Result<()> {
        let stored = self.store.append_turn(turn);
        self.keep(stored)
    }

    fn record(&mut self, mut record: Record) -> io::Result<()> {
        if let Some(command) = self.reproduce {
            record.reproduce = command(&record);
        }
        record.place = self.places.get(&record.row()).copied();
        let stored = self.store.append(&record);
        if self.planned.contains(&record.row()) {
            self.progress.done();
        }
        self.records.push(record);
        self.keep(stored)
    }

    fn end(&mut self, case: &Case) -> io::Result<()> {
        let dropped = self.store.drop_turns(&self.run, &case.to_string());
        self.keep(dropped)
    }

    fn forecast(&mut self, forecast: Forecast) {
        let Forecast { sets, suffices, time } = forecast;
        let doubt = if suffices { "" } else { ", which may not be enough" };
        let again = "as long again for a row that is slower by then";
        let line = match sets {
            0 => format!("the first sets are enough; {again}"),
            _ => format!("it takes {sets} more sets{doubt}: about {}; {again}", roughly(time)),
        };
        self.progress.tell(&line);
    }

    fn spent(&mut self, spent: Spent) {
        self.spent.add(spent);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_sort_by_time_and_times_are_to_the_millisecond() {
        let (first, second) = (new_id(), new_id());
        assert!(first < second, "{first} {second}");
        let now = now();
        let fraction =
            now.strip_suffix('Z').and_then(|now| now.split_once('.')).map_or("", |(_, digits)| digits);
        assert!(now.ends_with('Z') && fraction.len() <= 3, "{now}");
    }

    #[test]
    fn durations_for_people() {
        let roughly = |milliseconds| roughly(Duration::from_millis(milliseconds));
        assert_eq!([roughly(250), roughly(90_000), roughly(600_000)], ["250 ms", "90 s", "10 min"]);
    }
}
