//! Samples of a visit, held to each other: no place among them takes much longer than the others, visit after visit.
//!
//! A clock that is honest about a visit as a whole says nothing of launches that do no work as long as one of them does
//! it all, and the middle of the samples is then the time of nothing.

use roofline_core::record::Sample;
use roofline_core::stats::{median, quantile_interval};

/// A sample in some place takes at most so many times the middle of its visit; the first may find everything cold.
const MOST: f64 = 2.0;
const MOST_OF_FIRST: f64 = 10.0;
/// Samples of a visit that have a middle, and the error probability of "at the least".
const FEWEST: usize = 4;
const ALPHA: f64 = 0.02;

/// Refuses samples of which those in one place of their visits do the others' work.
pub fn hold(samples: &[Sample]) -> Result<(), String> {
    let mut places: Vec<Vec<f64>> = Vec::new();
    for visit in samples.chunk_by(|one, next| (one.set, one.visit) == (next.set, next.visit)) {
        let times: Vec<f64> = visit.iter().map(Sample::per_launch).collect();
        let Some(middle) = median(&times).filter(|middle| times.len() >= FEWEST && *middle > 0.0) else {
            continue;
        };
        places.resize_with(places.len().max(times.len()), Vec::new);
        places.iter_mut().zip(&times).for_each(|(place, time)| place.push(time / middle));
    }
    for (number, ratios) in places.iter().enumerate() {
        let most = if number == 0 { MOST_OF_FIRST } else { MOST };
        let least = quantile_interval(ratios, 0.5, ALPHA).map(|(least, _)| least);
        if let Some(least) = least.filter(|least| *least > most) {
            return Err(format!(
                "sample {} of its visits takes {least:.1} times as long as the others: not all of them work",
                number + 1
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits of eight samples that take these times.
    fn visits(time: impl Fn(u32, u32) -> f64) -> Vec<Sample> {
        let sample = |visit, place| Sample { set: 0, visit, batch: 2, nanoseconds: time(visit, place) };
        (0..20).flat_map(|visit| (0..8).map(move |place| (visit, place))).map(|(v, p)| sample(v, p)).collect()
    }

    #[test]
    fn one_sample_does_not_work_for_all() {
        let why = hold(&visits(|_, place| if place == 7 { 300.0 } else { 30.0 })).unwrap_err();
        assert!(why.contains("sample 8 of its visits takes 10.0 times as long"), "{why}");
        let why = hold(&visits(|_, place| if place == 0 { 900.0 } else { 30.0 })).unwrap_err();
        assert!(why.contains("sample 1 of its visits takes 30.0 times as long"), "{why}");
    }

    #[test]
    fn noise_a_cold_start_and_few_samples_are_no_reason() {
        // Disturbed in any place, now and then.
        assert_eq!(hold(&visits(|visit, place| if visit % 8 == place { 5000.0 } else { 30.0 })), Ok(()));
        assert_eq!(hold(&visits(|_, place| if place == 0 { 150.0 } else { 30.0 })), Ok(()));
        let alone = |visit| Sample { set: 1, visit, batch: 1, nanoseconds: f64::from(visit) };
        assert_eq!(hold(&(0..40).map(alone).collect::<Vec<_>>()), Ok(()));
        assert_eq!(hold(&visits(|_, _| 0.0)), Ok(()));
        assert_eq!(hold(&[]), Ok(()));
    }
}
