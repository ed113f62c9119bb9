//! The checks of a row: how many held, which had nothing to be made on, which were weaker, and why.

use roofline_core::check::{Checked, Standing};
use roofline_core::record::Record;

/// Lines of a record that lists its checks.
pub(super) fn lines(record: &Record) -> Vec<(&'static str, String)> {
    let checks = &record.evidence.checks;
    if checks.is_empty() {
        return Vec::new();
    }
    let of = |standing| checks.iter().filter(move |checked| checked.standing == standing);
    let said =
        |checked: &Checked| format!("{}: {} ({})", checked.standing.name(), checked.check, checked.why);
    let held = of(Standing::Held).count();
    let mut lines = vec![("checks", format!("{held} of {} held", checks.len()))];
    let others = of(Standing::Weaker).chain(of(Standing::NotApplicable));
    lines.extend(others.map(|checked| ("", said(checked))));
    lines
}
