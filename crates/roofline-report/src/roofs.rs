//! A machine's roofs as tables.

use crate::text::{NONE, width};
use roofline_core::roofs::{Mix, Peak, Roofs};
use std::fmt::Write;

/// Bandwidth by working set and mix, peaks by unit, and what threads cost.
pub fn roofs_table(roofs: &Roofs) -> String {
    let threads = roofs.threads();
    let mut text = format!("roofs, measured {}\n", roofs.measured);
    for &threads in &threads {
        let mut lines = vec![vec![format!("working set, {}", of_threads(threads))]];
        lines[0].extend(Mix::ALL.map(|mix| mix.name().to_owned()));
        for set in roofs.sets() {
            let mut line = vec![set.to_string()];
            let rate = |mix| roofs.point(mix, set, threads).map(|point| point.rate.to_string());
            line.extend(Mix::ALL.map(|mix| rate(mix).unwrap_or(NONE.to_owned())));
            lines.push(line);
        }
        let _ = write!(text, "\n{}", columns(&lines));
    }
    let mut peaks = vec![vec!["unit".to_owned()]];
    peaks[0].extend(threads.iter().map(|threads| of_threads(*threads)));
    let mut units: Vec<&str> = Vec::new();
    for Peak { unit, .. } in &roofs.peaks {
        if !units.contains(&unit.as_str()) {
            units.push(unit);
        }
    }
    for unit in units {
        let mut line = vec![unit.to_owned()];
        line.extend(threads.iter().map(|threads| {
            let peak = roofs.peaks.iter().find(|peak| peak.unit == unit && peak.threads == *threads);
            peak.map_or(NONE.to_owned(), Peak::rate_text)
        }));
        peaks.push(line);
    }
    let _ = write!(text, "\n{}", columns(&peaks));
    let costs = [("fork-join", roofs.fork_join), ("wake-up", roofs.wake_up)];
    let costs = costs.into_iter().filter_map(|(name, time)| Some(format!("{name} {}", time?)));
    let costs = costs.collect::<Vec<_>>().join(", ");
    if let (Some(most), false) = (threads.last(), costs.is_empty()) {
        let _ = write!(text, "\nan empty call on {}: {costs}\n", of_threads(*most));
    }
    text
}

pub(crate) fn of_threads(threads: u32) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// The first column to the left, numbers to the right.
fn columns(lines: &[Vec<String>]) -> String {
    let mut text = String::new();
    let widest =
        |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| width(cell)).max();
    for line in lines {
        for (column, cell) in line.iter().enumerate() {
            let space = " ".repeat(widest(column).unwrap_or(0) - width(cell));
            let _ = match column {
                0 => write!(text, "{cell}{space}"),
                _ => write!(text, "  {space}{cell}"),
            };
        }
        text.push('\n');
    }
    text
}
