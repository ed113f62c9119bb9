//! Statistics of samples and of sets. Only what has a caller.
//!
//! A number that is not finite is no time and no ratio: whatever it stands among is refused.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// Scaled by this, the median absolute deviation of normal values is their standard deviation.
const TO_SIGMA: f64 = 1.4826;
/// Fewer values are not trimmed.
const TRIMMED_FROM: usize = 12;

/// Median; `None` for none.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Quantile `q` in [0, 1] by linear interpolation between order statistics.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if q.is_nan() { None } else { quantile_of_sorted(&sorted(values)?, q) }
}

/// Median absolute deviation from the median, not scaled.
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&deviations)
}

/// The two order statistics that hold the median with error probability `alpha`, whatever the
/// distribution: each side is wrong when too many fair coins fall alike. `None` for too few values.
pub fn median_interval(values: &[f64], alpha: f64) -> Option<(f64, f64)> {
    quantile_interval(values, 0.5, alpha)
}

/// The same for quantile `q`: coins that fall low with probability `q`.
pub fn quantile_interval(values: &[f64], q: f64, alpha: f64) -> Option<(f64, f64)> {
    let sorted = sorted(values)?;
    if !(alpha > 0.0 && alpha < 1.0 && q > 0.0 && q < 1.0) {
        return None;
    }
    // At most `outside` values may be left out on a side.
    let outside =
        |q| Binomial::new(q, sorted.len() as u64).ok().map(|coins| coins.inverse_cdf(alpha / 2.0) as usize);
    let (low, high) = (outside(q)?.checked_sub(1)?, outside(1.0 - q)?.checked_sub(1)?);
    Some((sorted[low], sorted[sorted.len() - 1 - high]))
}

/// How many values lie more than five scaled median absolute deviations, and a tenth of the median,
/// from the median: where most values agree to a hair, those that do not are no outliers yet.
pub fn outliers(values: &[f64]) -> usize {
    let (Some(middle), Some(mad)) = (median(values), mad(values)) else { return 0 };
    let far = (5.0 * TO_SIGMA * mad).max(0.1 * middle.abs());
    values.iter().filter(|value| (*value - middle).abs() > far).count()
}

/// Relative change of the median from the first to the last third of values in the order of time;
/// `None` below nine values.
pub fn drift(values: &[f64]) -> Option<f64> {
    if values.len() < 9 || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let third = values.len() / 3;
    let (first, last) = (median(&values[..third])?, median(&values[values.len() - third..])?);
    (first != 0.0).then(|| last / first - 1.0)
}

/// Whether times fall into two heaps, as where a machine has two speeds.
///
/// The logarithms are split where the absolute deviations from the two medians are smallest. There
/// are two heaps when
/// - each has at least a tenth of the values, and their medians are 5 % apart,
/// - Ashman's D = √2 · distance / √(spread₁² + spread₂²), with scaled median absolute deviations for
///   spreads, is above 3.5: halves of a normal heap have 2.3, of an even one 2.7,
/// - the middle third between the medians has at most a tenth of the values of the smaller heap.
///
/// Below 50 values chance makes heaps, and nothing is said.
pub fn is_bimodal(values: &[f64]) -> bool {
    const LEAST: usize = 50;
    const ASHMAN: f64 = 3.5;
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let Some(sorted) = sorted(&logarithms).filter(|sorted| sorted.len() >= LEAST) else { return false };
    let (low, high) = sorted.split_at(best_split(&sorted));
    let ends = (quantile_of_sorted(low, 0.5), quantile_of_sorted(high, 0.5), mad(low), mad(high));
    let (Some(from), Some(to), Some(spread_low), Some(spread_high)) = ends else { return false };
    let distance = to - from;
    let is_between = |value: &&f64| (*value - from) * 3.0 > distance && (to - *value) * 3.0 > distance;
    distance > 1.05_f64.ln()
        && distance * 2.0_f64.sqrt() > ASHMAN * TO_SIGMA * spread_low.hypot(spread_high)
        && sorted.iter().filter(is_between).count() * 10 <= low.len().min(high.len())
}

/// Where to cut sorted values so that their absolute deviations from the medians of both parts are
/// smallest, each part having a tenth of them.
fn best_split(sorted: &[f64]) -> usize {
    let mut sums = vec![0.0];
    for value in sorted {
        sums.push(sums[sums.len() - 1] + value);
    }
    // What lies above the median of a part less what lies below it.
    let deviations = |from: usize, to: usize| {
        let half = (to - from) / 2;
        (sums[to] - sums[to - half]) - (sums[from + half] - sums[from])
    };
    let (n, least) = (sorted.len(), sorted.len().div_ceil(10));
    let cost = |at: &usize| deviations(0, *at) + deviations(*at, n);
    (least..=n - least).min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(least)
}

/// The values in order; `None` if one is not finite.
fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.iter().all(|value| value.is_finite()).then_some(sorted)
}

fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let (low, share) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(last);
    Some(sorted[low] + (sorted[high] - sorted[low]) * share)
}

/// A mean, and how far it may be off to either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub mean: f64,
    pub half: f64,
}

/// Student's interval of error probability `alpha` for the trimmed mean; `None` below two finite values, and for what a
/// record may have that is no probability.
pub fn t_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    let (mean, error, freedom) = trimmed_mean(values).filter(|_| (0.0..=1.0).contains(&alpha))?;
    Some(Interval { mean, half: t_quantile(1.0 - alpha / 2.0, freedom)? * error })
}

/// The mean of several series, place by place, as far as all of them go.
pub fn mean_of_series(series: &[Vec<f64>]) -> Vec<f64> {
    let shortest = series.iter().map(Vec::len).min().unwrap_or(0);
    let at = |place: usize| mean(&series.iter().map(|values| values[place]).collect::<Vec<f64>>());
    (0..shortest).map(at).collect()
}

/// The chance that the trimmed mean of such values lies so far above `least` if the true one does not; `None` below two
/// finite values.
pub fn chance_above(values: &[f64], least: f64) -> Option<f64> {
    let (mean, error, freedom) = trimmed_mean(values)?;
    if error == 0.0 {
        return Some(if mean > least { 0.0 } else { 1.0 });
    }
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.sf((mean - least) / error))
}

/// The smallest true mean that an interval of `alpha` over such values finds nine times in ten.
pub fn smallest_effect(values: &[f64], alpha: f64) -> Option<f64> {
    let (_, error, freedom) = trimmed_mean(values)?;
    Some((t_quantile(1.0 - alpha / 2.0, freedom)? + t_quantile(0.9, freedom)?) * error)
}

/// How many values like these it takes until an interval of `alpha` over them tells `effect` from nothing, and nothing
/// from it, about nine times in ten; no fewer than there are, and `most` at most.
pub fn values_needed(values: &[f64], alpha: f64, effect: f64, most: usize) -> Option<usize> {
    let (_, error, _) = trimmed_mean(values)?;
    let spread = error * (values.len() as f64).sqrt();
    let is_enough = |count: &usize| {
        let quantiles = [1.0 - alpha / 2.0, 0.975].map(|q| t_quantile(q, *count as f64 - 1.0));
        let [Some(sure), Some(found)] = quantiles else { return false };
        (sure + found) * spread / (*count as f64).sqrt() <= effect
    };
    (values.len()..most).find(is_enough).or(Some(most))
}

/// Mean, its standard error, and degrees of freedom, by Yuen: from twelve values on, the sixth at each
/// end is left out of the mean, and counts for the error as if it lay where the rest ends. Now and then a
/// whole set goes astray by several percent; fewer values cannot spare any.
fn trimmed_mean(values: &[f64]) -> Option<(f64, f64, f64)> {
    let sorted = sorted(values).filter(|sorted| sorted.len() >= 2)?;
    let cut = if sorted.len() < TRIMMED_FROM { 0 } else { sorted.len() / 6 };
    let kept = &sorted[cut..sorted.len() - cut];
    let (low, high) = (kept[0], kept[kept.len() - 1]);
    let drawn_in: Vec<f64> = sorted.iter().map(|value| value.clamp(low, high)).collect();
    let middle = mean(&drawn_in);
    let squares: f64 = drawn_in.iter().map(|value| (value - middle) * (value - middle)).sum();
    let freedom = kept.len() as f64 - 1.0;
    Some((mean(kept), (squares / freedom / kept.len() as f64).sqrt(), freedom))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Quantile of Student's distribution.
fn t_quantile(q: f64, freedom: f64) -> Option<f64> {
    if !(q > 0.0 && q < 1.0) {
        return None;
    }
    StudentsT::new(0.0, 1.0, freedom).ok().map(|t| t.inverse_cdf(q))
}

#[cfg(test)]
mod tests;
