//! Units as types: a number that leaves a function carries what it counts.
//!
//! Rates and times print with three significant digits and SI prefixes; sizes of memory print with
//! binary prefixes. The two are never mixed.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&si(self.0, $unit))
            }
        }
    };
}

quantity!(
    /// A duration.
    Seconds,
    "s"
);
quantity!(
    /// A rate of memory traffic, counting compulsory bytes.
    BytesPerSecond,
    "B/s"
);
quantity!(
    /// A rate of arithmetic, a fused multiply-add counting as two.
    FlopsPerSecond,
    "FLOP/s"
);
quantity!(
    /// The same of whole numbers.
    OpsPerSecond,
    "OP/s"
);

impl Seconds {
    pub fn from_nanoseconds(nanoseconds: f64) -> Self {
        Seconds(nanoseconds * 1e-9)
    }

    /// As a duration, whatever the number: what is no time is none, and more than a day is a day.
    pub fn duration(self) -> Duration {
        const DAY: Duration = Duration::from_secs(86_400);
        if self.0 > 0.0 {
            Duration::try_from_secs_f64(self.0).unwrap_or(DAY).min(DAY)
        } else {
            Duration::ZERO
        }
    }
}

/// An amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl std::ops::Add for Bytes {
    type Output = Bytes;

    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl Bytes {
    /// The rate at which these bytes move when they take `time`.
    pub fn per(self, time: Seconds) -> BytesPerSecond {
        BytesPerSecond(self.0 as f64 / time.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIXES: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let mut value = self.0 as f64;
        let mut prefix = 0;
        while value >= 1024.0 && prefix + 1 < PREFIXES.len() {
            value /= 1024.0;
            prefix += 1;
        }
        f.pad(&format!("{} {}", digits(value), PREFIXES[prefix]))
    }
}

/// `value` with an SI prefix and three significant digits, as `5.31 ms`.
fn si(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 8] =
        [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")];
    if value == 0.0 || !value.is_finite() {
        return format!("{value} {unit}");
    }
    // The factor 0.9995 keeps 999.6 from printing as 1000 of the smaller unit.
    let (scale, prefix) = PREFIXES
        .into_iter()
        .find(|(scale, _)| value.abs() >= scale * 0.9995)
        .unwrap_or(PREFIXES[PREFIXES.len() - 1]);
    format!("{} {prefix}{unit}", digits(value / scale))
}

/// Three significant digits for numbers below 1000, whole numbers above.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_three_digits_and_the_right_prefix() {
        assert_eq!(Seconds(0.00531).to_string(), "5.31 ms");
        assert_eq!(Seconds(0.000_999_9).to_string(), "1.00 ms");
        assert_eq!(Seconds::from_nanoseconds(318.0).to_string(), "318 ns");
        assert_eq!(BytesPerSecond(25.3e9).to_string(), "25.3 GB/s");
        assert_eq!(FlopsPerSecond(1.186e12).to_string(), "1.19 TFLOP/s");
        assert_eq!(Bytes(3 << 20).to_string(), "3.00 MiB");
        assert_eq!(Bytes(512).to_string(), "512 B");
    }
}
