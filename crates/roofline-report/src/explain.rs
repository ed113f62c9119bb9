//! Why a row is as it is: the facts behind its status, in words.

mod checks;
mod measured;

use crate::Style;
use crate::figures;
use crate::plot::plot;
use crate::row::{Row, grade, seconds, worst};
use crate::text::{Colour, count, escape, paint, plural, spelled, wrap};
use roofline_core::protocol::{Allocations, OutputMode};
use roofline_core::record::{Grade, Imported, Record, Status};

/// Columns of the plot when the terminal is wide enough.
const PLOT: usize = 64;
/// Labels stand left of this column.
const INDENT: usize = 10;

/// A record in words: status and reason, gate, what its time means and how it was measured, evidence,
/// origin, samples as a plot, and the commands that settle an open question or show the same again.
pub fn explain(record: &Record, style: Style) -> String {
    let row = Row::new(record);
    let style = Style { width: Some(style.width.unwrap_or(80)), ..style };
    let mut text = String::new();
    for line in wrap(&escape(&record.row()), style, "", "  ").lines() {
        text += &(paint(line, Colour::Bold, style.colour) + "\n");
    }
    let mut say = |label: &str, words: String| {
        let first = format!("{label:INDENT$}");
        text += &wrap(&escape(&words), style, &first, &" ".repeat(INDENT));
    };
    say("status", status(&row));
    for (label, words) in faults(record) {
        say(label, words);
    }
    say("gate", gate(record));
    for (label, words) in measured::lines(&row) {
        say(label, words);
    }
    say("evidence", evidence(&row));
    for (label, words) in checks::lines(record) {
        say(label, words);
    }
    say("source", source(record));
    for (name, note) in &record.provenance.notes {
        say("", format!("{name}: {note}"));
    }
    say("samples", samples(&row));
    if matches!(record.status, Status::Ok | Status::Suspect) {
        let columns = PLOT.min(usize::from(style.width.unwrap_or(80)).saturating_sub(INDENT));
        for line in plot(&row.times(), columns) {
            text += &wrap(&line, style, &" ".repeat(INDENT), &" ".repeat(INDENT));
        }
    }
    // Not wrapped, so that they can be copied.
    if let Some(command) = measured::settle(&row) {
        text += &format!("{:INDENT$}{}\n", "settle", spelled(&escape(&command), style));
    }
    if !record.reproduce.is_empty() {
        text += &format!("{:INDENT$}{}\n", "reproduce", spelled(&escape(&record.reproduce), style));
    }
    if !record.gate.replay.is_empty() {
        text += &format!("{:INDENT$}{}\n", "by hand", spelled(&escape(&record.gate.replay), style));
    }
    text
}

fn status(row: &Row) -> String {
    let record = row.record;
    let meaning = match record.status {
        Status::Ok if record.is_imported() => "so its file says; nothing was judged here",
        Status::Ok => "every element that was checked lies within its bound",
        Status::Wrong => "an output is outside its bound, so that the row has no time",
        Status::Suspect => "its times or resources cannot be believed",
        Status::Unsupported => "the runner says no, or the case is outside what it requires",
        Status::Refused => "Roofline says no",
        Status::Crashed => "the runner ended or raised an error",
        Status::Timeout => "the runner did not answer in time",
        Status::OutOfMemory => "the runner passed its limit of memory",
        Status::Protocol => "the runner broke the protocol",
    };
    let why = if record.why.is_empty() { String::new() } else { format!("; {}", record.why) };
    format!("{}: {meaning}{why}", record.status)
}

/// The worst element, what the faults look like, where they were seen.
fn faults(record: &Record) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(fault) = &record.gate.fault {
        let (failed, checked) = (count(fault.failed), count(fault.checked));
        lines.push(("worst", format!("{failed} of {checked} outside the bound; {}", worst(fault))));
        if let Some(pattern) = &fault.pattern {
            lines.push(("pattern", pattern.to_string()));
        }
    }
    if !record.gate.seen_in.is_empty() {
        lines.push(("seen in", record.gate.seen_in.clone()));
    }
    lines
}

fn gate(record: &Record) -> String {
    let gate = &record.gate;
    if gate.launches == 0 {
        return "no launch was judged".to_owned();
    }
    let mut facts = vec![
        format!("{} judged", launches(gate.launches)),
        format!("{} checked", plural(gate.checked, "element")),
    ];
    if gate.failed > 0 {
        facts.push(format!("{} outside the bound", count(gate.failed)));
    }
    facts.push(format!("at most {:.2} % of the bound used where it passed", 100.0 * gate.score));
    facts.push(match gate.deterministic {
        Some(true) => "repeated launches gave the same bits".to_owned(),
        Some(false) => "repeated launches gave different bits".to_owned(),
        None => "determinism not tried".to_owned(),
    });
    facts.push(match (gate.judged_visits, gate.visits) {
        (0, _) => "no timed visit judged".to_owned(),
        (judged, visits) if visits > judged => {
            format!("{} of {} judged", count(judged.into()), plural(visits.into(), "timed visit"))
        }
        (judged, _) => format!("{} judged", plural(judged.into(), "timed visit")),
    });
    facts.join(", ")
}

fn evidence(row: &Row) -> String {
    let evidence = &row.record.evidence;
    let mut facts = vec![match evidence.grade {
        _ if row.record.samples.is_empty() => "no times".to_owned(),
        Grade::Claimed if row.record.is_imported() => {
            format!("so its file says, and nothing else ({})", grade(evidence.grade))
        }
        Grade::Claimed => format!("so its runner's own clock says alone ({})", grade(evidence.grade)),
        Grade::Corroborated => format!("Roofline's own clock agrees ({})", grade(evidence.grade)),
    }];
    if let Some(wall) = evidence.wall_per_launch {
        facts.push(format!("{} a launch by Roofline's clock", seconds(wall)));
    }
    if let Some(cpu) = evidence.cpu_per_launch {
        facts.push(format!("{} by the CPU clock of its process", seconds(cpu)));
    }
    if let Some(room) = evidence.room {
        facts.push(format!("{} less than that would have been refused", figures::percent(room)));
    }
    if let Some(memory) = evidence.memory_of_content {
        facts.push(format!("new values everywhere change that by {:+.1} %", 100.0 * memory));
    }
    if let Some(watched) = evidence.watched {
        facts.push(format!("{} of watched launches seen to write", figures::percent(watched)));
    }
    if row.threads().is_some() {
        let limit = row.thread_limit().map_or(String::new(), |limit| format!(", limit {limit}"));
        let announced = plural(evidence.threads.into(), "thread");
        let seen = match row.record.is_imported() {
            true => String::new(),
            false => format!(", {} seen working", evidence.threads_seen),
        };
        facts.push(format!("{announced} announced{seen}{limit}"));
    }
    if let Some(share) = evidence.cpu_share {
        facts.push(format!("CPU time {share:.2} of wall time"));
    }
    if let Some(peak) = evidence.peak_memory {
        facts.push(format!("peak memory {peak}"));
    }
    if evidence.workspace.0 > 0 {
        facts.push(format!("workspace {}", evidence.workspace));
    }
    if let Some(allocations) = evidence.allocations {
        let Allocations { count, bytes } = allocations;
        facts.push(format!(
            "{} allocations of {} B a launch",
            figures::number(count),
            figures::number(bytes)
        ));
    }
    if let Some(steal) = evidence.steal {
        facts.push(format!("{} of the machine's time given to others by its host", figures::percent(steal)));
    }
    if let Some(others) = evidence.others {
        facts.push(format!("{} of it used by other programs", figures::percent(others)));
    }
    if let Some(switches) = evidence.switches {
        facts.push(format!("taken off its core {}", plural(switches, "time")));
    }
    if let Some(prepare) = evidence.prepare {
        facts.push(format!("prepared in {}", seconds(prepare)));
    }
    if !row.record.is_imported() {
        facts.push(match evidence.output {
            OutputMode::InPlace => "wrote into the given memory".to_owned(),
            OutputMode::Fresh => {
                let time = evidence.copy.map(|copy| format!(" in {copy}")).unwrap_or_default();
                format!("allocated its output, copied off the clock{time}")
            }
        });
    }
    facts.join("; ")
}

fn source(record: &Record) -> String {
    let provenance = &record.provenance;
    if let Some(Imported { format, file }) = &provenance.imported {
        let read = format!("{file}, {format}, read by Roofline {}", provenance.roofline);
        return [read, format!("run {}", record.run), record.at.clone()].join(", ");
    }
    let mut facts = vec![
        format!("Roofline {}", provenance.roofline),
        format!("runner {} {}", provenance.runner, provenance.runner_version),
        format!("machine {}", provenance.machine),
        format!("seed {}", provenance.seed),
        format!("run {}", record.run),
        record.at.clone(),
    ];
    facts.extend(provenance.definition.iter().map(|definition| format!("definition {definition}")));
    facts.join(", ")
}

fn samples(row: &Row) -> String {
    let samples = &row.record.samples;
    let (Some(least), Some(most)) =
        (samples.iter().map(|sample| sample.batch).min(), samples.iter().map(|sample| sample.batch).max())
    else {
        return "none".to_owned();
    };
    let mut visits: Vec<(u32, u32)> = samples.iter().map(|sample| (sample.set, sample.visit)).collect();
    visits.sort_unstable();
    visits.dedup();
    let batch = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    let mut words = format!(
        "n = {} in {}, {batch} {} a sample",
        samples.len(),
        plural(visits.len() as u64, "visit"),
        if most == 1 { "launch" } else { "launches" }
    );
    match row.record.status {
        Status::Ok => {}
        Status::Suspect => words += "; they cannot be believed",
        _ => words += "; not shown, because the row has no time",
    }
    let odd = samples.len() - row.times().len();
    if odd > 0 {
        words += &format!("; {odd} of them are no times");
    }
    words
}

fn launches(n: u32) -> String {
    format!("{} {}", count(n.into()), if n == 1 { "launch" } else { "launches" })
}
