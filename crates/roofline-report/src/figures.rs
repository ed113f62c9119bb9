//! Ratios and shares for people, also when a damaged record makes them absurd.

use roofline_core::verdict::Ratio;

/// From this part of the value on, the half width of an interval says less than its ends do.
const WIDE: f64 = 0.2;

/// `93 % ±0.8`: the half width is in points; `14 to 41 %` where that is much.
pub(crate) fn share(ratio: Ratio) -> String {
    if ratio.half_width() > WIDE {
        return format!("{} to {} %", rough(100.0 * ratio.low), rough(100.0 * ratio.high));
    }
    format!("{} ±{}", percent(ratio.value), figure(50.0 * (ratio.high - ratio.low), 1))
}

/// `1.54× ±0.4 %`: the half width is a part of the value; `2.1 to 9.8×` where that is much.
pub(crate) fn speed(ratio: Ratio) -> String {
    if ratio.half_width() > WIDE {
        return format!("{} to {}×", rough(ratio.low), rough(ratio.high));
    }
    format!("{} ±{}", times(ratio.value), relative(ratio.half_width()))
}

/// `1.54×`.
pub(crate) fn times(value: f64) -> String {
    format!("{}×", figure(value, 2))
}

/// A share: `93 %`, and `4.2 %` where a whole number would say too little.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    format!("{} %", figure(percent, usize::from(percent.abs() < 9.95)))
}

/// A small part of something: `0.4 %`.
pub(crate) fn relative(part: f64) -> String {
    format!("{} %", figure(100.0 * part, 1))
}

/// A share with the digit that tells the ends of a narrow interval apart: `93.4 %`.
pub(crate) fn fine_percent(share: f64) -> String {
    let percent = 100.0 * share;
    if (0.095..1000.0).contains(&percent) { format!("{percent:.1} %") } else { relative(share) }
}

/// A part that matters only when it is not small: `under 0.01 %`.
pub(crate) fn cost(part: f64) -> String {
    if (0.0..1e-4).contains(&part) { "under 0.01 %".to_owned() } else { relative(part) }
}

/// `+12 %`.
pub(crate) fn signed_percent(change: f64) -> String {
    format!("{}{}", if change >= 0.0 { "+" } else { "" }, percent(change))
}

/// A mean of counts: `3`, `0.5`, `1024`.
pub(crate) fn number(value: f64) -> String {
    figure(value, usize::from(value.fract() != 0.0))
}

/// Two digits, for an end of a wide interval.
fn rough(value: f64) -> String {
    figure(value, if value.abs() < 0.995 { 2 } else { 1 })
}

/// A number with `places` decimals, fewer when it is large and two when it is very small.
fn figure(value: f64, places: usize) -> String {
    match value.abs() {
        size if size.is_nan() || size >= 99_999.5 => format!("{value:.1e}"),
        size if size >= 99.5 || places == 0 => format!("{value:.0}"),
        size if size >= 9.95 => format!("{value:.0$}", places - 1),
        size if size > 0.0 && size < 0.095 => format!("{value:.0$}", places.max(1) + 1),
        _ => format!("{value:.places$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_say_what_is_known() {
        let ratio = |value: f64, half: f64| Ratio { value, low: value - half, high: value + half };
        assert_eq!(share(ratio(0.93, 0.008)), "93 % ±0.8");
        assert_eq!(share(ratio(0.042, 0.0002)), "4.2 % ±0.02");
        assert_eq!(share(ratio(0.5, 0.09)), "50 % ±9.0");
        assert_eq!(share(ratio(0.275, 0.135)), "14 to 41 %");
        assert_eq!(speed(Ratio { value: 4.5, low: 2.1, high: 9.8 }), "2.1 to 9.8×");
        assert_eq!(speed(ratio(0.9, 0.4)), "0.50 to 1.3×");
        assert_eq!(speed(ratio(1.54, 0.006)), "1.54× ±0.4 %");
        assert_eq!(speed(ratio(123.4, 1.0)), "123× ±0.8 %");
        assert_eq!(speed(ratio(0.0123, 0.001)), "0.012× ±8.1 %");
        assert_eq!(signed_percent(-0.123), "-12 %");
        assert_eq!(relative(0.0), "0.0 %");
        assert!(times(f64::MAX).len() < 12 && percent(f64::INFINITY).len() < 12);
    }
}
