//! The figures that follow from a record's samples, as numbers: what CSV has in columns and JSON beside the samples.

use crate::row::Row;
use roofline_core::verdict::{Comparison, Ratio};
use serde::Serialize;

/// In SI units; what a row does not have is `None`, and a row without `ok` has none of them.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Derived {
    /// Of one launch, with its interval in this run.
    pub(crate) median_seconds: Option<f64>,
    pub(crate) median_low_seconds: Option<f64>,
    pub(crate) median_high_seconds: Option<f64>,
    /// Of the median, in its unit.
    pub(crate) rate: Option<f64>,
    pub(crate) rate_unit: Option<&'static str>,
    /// Share of the measured limit with its interval, and what limits.
    pub(crate) of_limit: Option<f64>,
    pub(crate) of_limit_low: Option<f64>,
    pub(crate) of_limit_high: Option<f64>,
    pub(crate) limiter: Option<&'static str>,
    /// The hub, how many times as fast as it with the interval, in a word, and the smallest relative difference that the
    /// sets could have shown.
    pub(crate) against: Option<String>,
    pub(crate) speed: Option<f64>,
    pub(crate) speed_low: Option<f64>,
    pub(crate) speed_high: Option<f64>,
    pub(crate) word: Option<&'static str>,
    pub(crate) smallest_effect: Option<f64>,
}

impl Derived {
    pub(crate) fn of(row: &Row) -> Derived {
        let interval = row.median_interval();
        let rate = row.rate();
        let ends = |ratio: Option<Ratio>| {
            (ratio.map(|ratio| ratio.value), ratio.map(|ratio| ratio.low), ratio.map(|ratio| ratio.high))
        };
        let share = row.of_limit();
        let (of_limit, of_limit_low, of_limit_high) = ends(share.map(|(share, _)| share));
        let comparison = row.comparison();
        let (speed, speed_low, speed_high) = ends(comparison.map(|Comparison { speed, .. }| speed));
        Derived {
            median_seconds: row.time(0.5).map(|time| time.0),
            median_low_seconds: interval.map(|(low, _)| low),
            median_high_seconds: interval.map(|(_, high)| high),
            rate: rate.map(|rate| rate.value()),
            rate_unit: rate.map(|rate| rate.unit()),
            of_limit,
            of_limit_low,
            of_limit_high,
            limiter: share.map(|(_, limiter)| limiter.name()),
            against: row.record.rounds.as_ref().map(|rounds| rounds.hub.clone()),
            speed,
            speed_low,
            speed_high,
            word: comparison.map(|comparison| comparison.word.name()),
            smallest_effect: comparison.map(|comparison| comparison.smallest),
        }
    }
}
