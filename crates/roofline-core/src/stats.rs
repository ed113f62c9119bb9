//! Statistics of samples and of sets. Only what has a caller.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Median of finite numbers; `None` for none.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Quantile `q` in [0, 1] by linear interpolation between order statistics.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
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

/// Student's interval of error probability `alpha` for the mean; `None` below two finite values.
pub fn t_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    let (mean, error, freedom) = mean_and_error(values)?;
    Some(Interval { mean, half: t_quantile(1.0 - alpha / 2.0, freedom)? * error })
}

/// The smallest true mean that an interval of `alpha` over such values finds nine times in ten.
pub fn smallest_effect(values: &[f64], alpha: f64) -> Option<f64> {
    let (_, error, freedom) = mean_and_error(values)?;
    Some((t_quantile(1.0 - alpha / 2.0, freedom)? + t_quantile(0.9, freedom)?) * error)
}

/// Mean, its standard error, and degrees of freedom.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64, f64)> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((mean, (squares / (n - 1.0) / n).sqrt(), n - 1.0))
}

/// Quantile of Student's distribution.
fn t_quantile(q: f64, freedom: f64) -> Option<f64> {
    if !(q > 0.0 && q < 1.0) {
        return None;
    }
    StudentsT::new(0.0, 1.0, freedom).ok().map(|t| t.inverse_cdf(q))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_small_samples() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.25), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0], 1.0), Some(2.0));
    }

    #[test]
    fn the_constants_of_the_looks() {
        for (sets, alpha, constant) in [(6, 0.002, 5.89), (12, 0.003, 3.79), (24, 0.005, 3.10)] {
            let t = t_quantile(1.0 - alpha / 2.0, f64::from(sets - 1)).unwrap();
            assert!((t - constant).abs() < 0.01, "{t} {constant}");
        }
    }
}
