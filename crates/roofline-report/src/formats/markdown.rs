//! A table in GitHub's Markdown, then a list of the rows that failed, and of those that a run failed on; then the targets.

use crate::columns::{STATUS, columns};
use crate::notes::load;
use crate::order::shown;
use crate::regressions::regressions;
use crate::row::{LONGEST_STATUS, Row, not_offered, summary, worst};
use crate::text::escape;
use crate::{Report, Style, targets};
use roofline_core::policy::Finding;
use roofline_core::record::Status;

pub(super) fn write(report: &Report, _: Style) -> String {
    let all = shown(report);
    let (counted, rows): (Vec<Row>, Vec<Row>) =
        all.into_iter().partition(|row| !report.all && row.is_not_offered());
    let columns = columns(&rows, |row| row.notes_text());
    let mut text = String::new();
    if !rows.is_empty() {
        let headers = columns.iter().map(|column| literal(&column.header)).chain([STATUS.to_owned()]);
        text += &line(headers);
        let rules = columns.iter().map(|column| if column.right { "---:" } else { "---" }).chain(["---"]);
        text += &line(rules.map(str::to_owned));
        for row in &rows {
            let cells = columns
                .iter()
                .map(|column| (column.cell)(row))
                .chain([row.status_text(LONGEST_STATUS, Style::default())]);
            text += &line(cells.map(|cell| literal(&cell)));
        }
        text.push('\n');
    }
    if let Some(line) = not_offered(&counted) {
        text += &format!("{}.\n\n", literal(&line.replace('`', "")));
    }
    if let Some(load) = load(&rows) {
        text += &format!("{}.\n\n", literal(&load.replace('`', "")));
    }
    let rows: Vec<Row> = rows.into_iter().chain(counted).collect();
    text += &format!("{}.\n", summary(&rows));
    let failed: Vec<&Row> = rows.iter().filter(|row| row.has_details(LONGEST_STATUS)).collect();
    let regressed = regressions(report);
    let is_said = !report.findings.is_empty() || !report.notices.is_empty();
    if !failed.is_empty() || !regressed.is_empty() || is_said {
        text.push('\n');
    }
    for row in failed {
        let record = row.record;
        text += &format!("- {} is {}", code(&record.row()), record.status);
        if !record.why.is_empty() {
            text += &format!(": {}", literal(&escape(&record.why)));
        }
        if let Some(fault) = &record.gate.fault {
            text += &format!("; worst {}", literal(&escape(&worst(fault))));
            if let Some(pattern) = &fault.pattern {
                text += &format!("; {}", literal(&escape(&pattern.to_string())));
            }
        }
        if !record.reproduce.is_empty() {
            text += &format!(". Reproduce: {}", code(&record.reproduce));
        }
        text.push('\n');
    }
    for record in &regressed {
        let row = Row::new(record);
        text += &format!("- {} is ", code(&record.row()));
        text += &match row.against() {
            Some(found) => format!("{} beside its hub: {}", found.word.name(), literal(&row.against_whom())),
            None if record.status == Status::Ok => "not compared".to_owned(),
            None => format!("{}, and was not: {}", record.status, literal(&escape(&record.why))),
        };
        if !record.reproduce.is_empty() {
            text += &format!(". Reproduce: {}", code(&record.reproduce));
        }
        text.push('\n');
    }
    for Finding { row, what, reproduce, .. } in report.findings {
        text += &format!("- policy: {}: {}", code(row), literal(&escape(what)));
        if !reproduce.is_empty() {
            text += &format!(". Reproduce: {}", code(reproduce));
        }
        text.push('\n');
    }
    text.extend(report.notices.iter().map(|notice| format!("- {}\n", literal(&escape(notice)))));
    if !report.targets.is_empty() {
        text += &format!("\n{}", line(targets::HEADS.map(str::to_owned).into_iter()));
        text += &line(targets::HEADS.map(|_| "---".to_owned()).into_iter());
        for reached in report.targets {
            text += &line(targets::cells(reached).map(|cell| literal(&cell)).into_iter());
        }
    }
    if let Some(run) = report.run {
        text += &format!("\nRun {}\n", code(&run.id));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// Text that Markdown leaves as it is, also within a table.
fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' => escaped.extend(['\\', c]),
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A code span, fenced by more backticks than the text has in a row.
fn code(text: &str) -> String {
    let text = escape(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
