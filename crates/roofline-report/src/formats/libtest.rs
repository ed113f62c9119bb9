//! Lines of `cargo bench` as libtest prints them, which Criterion's `bencher` prints too.
//!
//! `bench:` has the median of all samples for one launch and their standard deviation, as Criterion has it, in
//! whole nanoseconds. A row that was proved and not measured is `ok`, one that failed is `FAILED`, one that does
//! not apply is `ignored`.

use super::criterion::{deviation, times};
use crate::foreign::{name_of, unique};
use crate::order::shown;
use crate::row::Row;
use crate::text::escape;
use crate::{Report, Style};
use roofline_core::record::Status;
use roofline_core::stats::median;

const NAME: &str = "libtest";

pub(super) fn write(report: &Report, _: Style) -> String {
    let rows = shown(report);
    let names = unique(rows.iter().map(|row| escape(&name_of(row.record, NAME))), usize::MAX, " #");
    let line = |(row, name): (&Row, String)| format!("test {name} ... {}\n", outcome(row));
    rows.iter().zip(names).map(line).collect()
}

fn outcome(row: &Row) -> String {
    let times = times(row);
    match median(&times) {
        Some(median) => {
            let (time, spread) = (nanoseconds(median), nanoseconds(deviation(&times)));
            format!("bench: {time:>11} ns/iter (+/- {spread})")
        }
        None if row.record.status == Status::Ok => "ok".to_owned(),
        None if row.record.status.is_failure() => "FAILED".to_owned(),
        None => "ignored".to_owned(),
    }
}

/// Whole nanoseconds, with commas between thousands.
fn nanoseconds(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let texts = [0.4, 12.5, 999.0, 1234.0, 1e6].map(nanoseconds);
        assert_eq!(texts, ["0", "12", "999", "1,234", "1,000,000"]);
    }
}
