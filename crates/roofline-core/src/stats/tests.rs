use super::*;
use crate::philox::Draws;

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

#[test]
fn what_is_not_finite_is_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut values: Vec<f64> = (0..60).map(|i| if i < 15 { 1.0 } else { 2.0 }).collect();
        assert!(is_bimodal(&values));
        values[20] = bad;
        assert_eq!(median(&values), None);
        assert_eq!(quantile(&values, 0.1), None);
        assert_eq!(mad(&values), None);
        assert_eq!(median_interval(&values, 0.05), None);
        assert_eq!(outliers(&values), 0);
        assert_eq!(drift(&values), None);
        assert_eq!(t_interval(&values, 0.05), None);
        assert_eq!(smallest_effect(&values, 0.05), None);
        assert!(!is_bimodal(&values));
    }
    assert_eq!(quantile(&[1.0], f64::NAN), None);
    for alpha in [f64::NAN, -0.1, 1.5] {
        assert_eq!(t_interval(&[1.0, 2.0], alpha), None, "{alpha}");
    }
    assert_eq!(median_interval(&[1.0; 9], f64::NAN), None);
}

#[test]
fn interval_of_the_median_needs_enough_values() {
    // 1 / 2^5 on each side is more than 2.5 %, 1 / 2^6 is less.
    assert_eq!(median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05), None);
    assert_eq!(median_interval(&[6.0, 2.0, 3.0, 4.0, 5.0, 1.0], 0.05), Some((1.0, 6.0)));
    let nine: Vec<f64> = (1..=9).map(f64::from).collect();
    assert_eq!(median_interval(&nine, 0.05), Some((2.0, 8.0)));
}

#[test]
fn outliers_are_far_from_a_robust_middle() {
    let mut values: Vec<f64> = (0..100).map(|i| 100.0 + f64::from(i % 5)).collect();
    assert_eq!(outliers(&values), 0);
    values[3] = 150.0;
    values[50] = 1.0;
    assert_eq!(outliers(&values), 2);
    // No spread to go by.
    assert_eq!(outliers(&[5.0, 5.0, 5.0, 5.4, 5.6, 5.0, 5.0, 4.4]), 2);
    assert_eq!(outliers(&[]), 0);
}

#[test]
fn drift_is_from_the_first_third_to_the_last() {
    let rising: Vec<f64> = (0..30).map(|i| 1.0 + 0.01 * f64::from(i / 10)).collect();
    assert!((drift(&rising).unwrap() - 0.02).abs() < 1e-12);
    assert_eq!(drift(&[1.0; 8]), None);
    assert_eq!(drift(&[0.0; 9]), None);
}

/// About normal: a sum of twelve even draws.
fn normal(draws: &mut Draws) -> f64 {
    (0..12).map(|_| even(draws)).sum::<f64>() - 6.0
}

/// Even in [0, 1).
fn even(draws: &mut Draws) -> f64 {
    draws.bits() as f64 / 2f64.powi(64)
}

#[test]
fn two_heaps_are_told_from_one() {
    // In how many of 100 draws of `size` times with these logarithms two heaps are seen.
    let seen = |size: usize, logarithm: fn(&mut Draws) -> f64| {
        let mut draws = Draws::new(1, 0);
        let mut times = || (0..size).map(|_| logarithm(&mut draws).exp()).collect::<Vec<f64>>();
        (0..100).filter(|_| is_bimodal(&times())).count()
    };
    for size in [50, 200, 1000] {
        assert!(seen(size, |draws| 0.1 * normal(draws)) <= 2);
        assert!(seen(size, even) <= 2);
        assert!(seen(size, |draws| -0.1 * (1.0 - even(draws)).ln()) <= 2);
        assert!(seen(size, |draws| 0.01 * normal(draws) + 0.08 * (draws.below(3) / 2) as f64) >= 98);
        // Twice as many sigmas apart, but nobody would care.
        assert_eq!(seen(size, |draws| 0.001 * normal(draws) + 0.02 * (draws.below(3) / 2) as f64), 0);
    }
    // One heap with a long tail, as times have.
    let tailed = |draws: &mut Draws| {
        let tail = if draws.below(7) == 0 { 0.05 + 0.3 * even(draws) } else { 0.0 };
        0.003 * normal(draws) + tail
    };
    assert!(seen(500, tailed) <= 2);
    assert!(!is_bimodal(&[]) && !is_bimodal(&[1.0; 100]) && !is_bimodal(&[-1.0; 100]));
}
