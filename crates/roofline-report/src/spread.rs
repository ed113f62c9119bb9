//! What the samples of a row look like, set by set: drift, two heaps, strays. All are kept; these
//! say what to think of them.

use roofline_core::record::{Record, Sample};
use roofline_core::stats;
use std::collections::BTreeMap;

/// Error probability of the interval of a median.
pub(crate) const MEDIAN_ALPHA: f64 = 0.05;

pub(crate) struct Spread {
    /// Relative change of the visits' medians from the beginning of a set to its end, in the middle
    /// of the sets: one set that began in a bad moment is no drift.
    pub(crate) drift: Option<f64>,
    /// Whether the visits' medians fall in two heaps in at least half of the sets.
    pub(crate) is_bimodal: bool,
    /// Samples far off the others of their set, of all.
    pub(crate) outliers: usize,
    pub(crate) samples: usize,
}

impl Spread {
    pub(crate) fn of(record: &Record) -> Spread {
        // Visits of a set in order; batches are alike within a set, levels between sets are not.
        let mut sets: BTreeMap<u32, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
        for sample in &record.samples {
            let time = Sample::per_launch(sample);
            if time.is_finite() && time >= 0.0 {
                sets.entry(sample.set).or_default().entry(sample.visit).or_default().push(time);
            }
        }
        let (mut drifts, mut bimodal, mut outliers, mut samples) = (Vec::new(), 0, 0, 0);
        for visits in sets.values() {
            let medians: Vec<f64> = visits.values().filter_map(|times| stats::median(times)).collect();
            let times: Vec<f64> = visits.values().flatten().copied().collect();
            drifts.extend(stats::drift(&medians).filter(|drift| drift.is_finite()));
            bimodal += usize::from(stats::is_bimodal(&medians));
            outliers += stats::outliers(&times);
            samples += times.len();
        }
        let is_bimodal = bimodal > 0 && bimodal * 2 >= sets.len();
        Spread { drift: stats::median(&drifts), is_bimodal, outliers, samples }
    }
}
