//! What isolation costs: one kernel inside and outside of it, as two rows of one case; and what a conversation with it
//! takes.

use crate::bench::{Kept, build};
use crate::noise_study::KINDS;
use crate::page;
use roofline_conductor::conduct::{Finish, RunFacts, conduct};
use roofline_conductor::plan::{Plan, PlannedCase, PlannedRow};
use roofline_conductor::runners::{self, RunnerSpec};
use roofline_conductor::session::Limits;
use roofline_conductor::stage::Options;
use roofline_core::record::Record;
use roofline_core::stats::median;
use roofline_core::units::Seconds;
use roofline_core::verdict::Ratio;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A difference that isolation may make at most.
const MOST: f64 = 0.003;

/// What as many sets are taken for as it needs: an interval that fits into the former, where there is no difference.
const DETECTED: f64 = 2.0 * MOST;

/// What a visit may take besides its launches.
const LONGEST_CONVERSATION: Seconds = Seconds(100e-6);

/// The hub, inside; and the same code under another name, inside and outside.
const HUB: &str = "knob/a";
const OTHER: &str = "knob/b";
const OUTSIDE: &str = "outside";

/// What one kind showed.
#[derive(Clone, Debug)]
pub struct Line {
    kind: &'static str,
    /// Speed outside over speed inside; and, as a control, of the same code inside over inside.
    outside: Result<Ratio, String>,
    inside: Result<Ratio, String>,
    /// A visit without a launch, inside, by the conductor's clock.
    conversation: Option<Seconds>,
}

/// Measures every kind once, in as many sets as it takes, of which 24 take `budget`.
pub fn study(budget: Duration, seed: u64, mut report: impl FnMut(&str)) -> io::Result<Vec<Line>> {
    let binaries = build(&["-p", "roofline", "-p", "knob"])?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("knob");
    let inside = runners::read(&folder, &binaries).map_err(io::Error::other)?;
    let mut outside = inside.clone();
    outside.name = OUTSIDE.to_owned();
    outside.isolated = false;
    let row = |implementation: &str, spec: &RunnerSpec| PlannedRow {
        implementation: implementation.to_owned(),
        runner: spec.name.clone(),
        lacks: None,
        requires: Default::default(),
        is_compared: false,
    };
    let mut lines = Vec::new();
    for kind in &KINDS {
        let case = kind.case.parse().map_err(io::Error::other)?;
        let rows = vec![row(HUB, &inside), row(OTHER, &inside), row(OTHER, &outside)];
        let against = Some(HUB.to_owned());
        let plan =
            Plan { cases: vec![PlannedCase { case, rows, against, probes: Vec::new(), has_device: true }] };
        let limits = Limits { patience: Duration::from_secs(10), memory: 2 << 30 };
        let options = Options {
            budget: Some(budget),
            delta: MOST,
            detect: Some(DETECTED),
            ..Options::new(binaries.join("roofline"), vec![inside.clone(), outside.clone()], limits, seed)
        };
        let facts = RunFacts { run: "sandbox-study".to_owned(), machine: String::new() };
        let mut kept = Kept::default();
        if conduct(&plan, &options, &facts, &[], &mut kept)? == Finish::Interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let ratio = |runner: &str| {
            let own = |record: &&Record| record.implementation == OTHER && record.provenance.runner == runner;
            let record = kept.records.iter().find(own).ok_or("no record")?;
            let comparison = record.rounds.as_ref().and_then(|rounds| rounds.comparison());
            comparison
                .map(|comparison| comparison.speed)
                .ok_or_else(|| format!("{}: {}", record.status, record.why))
        };
        let lanes = kept.turns.iter().flat_map(|turn| &turn.lanes).filter(|lane| lane.runner == inside.name);
        let empty: Vec<f64> = lanes.flat_map(|lane| &lane.account.empty).map(|visit| visit.wall).collect();
        let line = Line {
            kind: kind.name,
            outside: ratio(OUTSIDE),
            inside: ratio(&inside.name),
            conversation: median(&empty).map(Seconds),
        };
        report(&describe(std::slice::from_ref(&line)));
        lines.push(line);
    }
    Ok(lines)
}

/// Whether every kind is as fast inside as outside, as far as its interval tells, and soon answered.
pub fn is_free(lines: &[Line]) -> bool {
    lines.iter().all(|line| {
        line.outside.as_ref().is_ok_and(|ratio| verdict(ratio) == WITHIN)
            && line.conversation.is_some_and(|time| time.0 < LONGEST_CONVERSATION.0)
    })
}

const WITHIN: &str = "within";

fn verdict(ratio: &Ratio) -> &'static str {
    let (off, half) = ((ratio.value - 1.0).abs(), ratio.half_width());
    if off + half <= MOST {
        WITHIN
    } else if off - half > MOST {
        "outside"
    } else {
        "not decided"
    }
}

/// Writes the page under `results/` and returns it.
pub fn publish(lines: &[Line], command: &str) -> io::Result<String> {
    let text = format!(
        "Isolation may cost {:.1} %, and a conversation take {LONGEST_CONVERSATION}. The code inside over itself is the control.\n\n\
         | kind | outside over inside | inside over inside | conversation |\n|---|---|---|---|\n{}\n",
        100.0 * MOST,
        describe(lines)
    );
    page::publish("sandbox-study", "What isolation costs", command, &text)
}

/// A row of the table for each kind.
pub fn describe(lines: &[Line]) -> String {
    let show = |ratio: &Result<Ratio, String>| match ratio {
        Ok(ratio) => format!(
            "{:+.2} % ±{:.2}, {} ±{:.1} %",
            100.0 * (ratio.value - 1.0),
            100.0 * ratio.half_width(),
            verdict(ratio),
            100.0 * MOST
        ),
        Err(why) => why.clone(),
    };
    let line = |line: &Line| {
        format!(
            "| {} | {} | {} | {} |",
            line.kind,
            show(&line.outside),
            show(&line.inside),
            line.conversation.map_or_else(|| "unknown".to_owned(), |time| time.to_string())
        )
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
