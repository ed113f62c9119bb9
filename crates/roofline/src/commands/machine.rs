//! `roofline machine`: what it is, what disturbs measuring on it, and its roofs.

use crate::args::Machine as Args;
use crate::commands::style;
use crate::error::{Problem, tell};
use crate::places;
use roofline_conductor::failure::Stop;
use roofline_conductor::isolation::Isolation;
use roofline_conductor::lock;
use roofline_conductor::machine::Machine;
use roofline_conductor::machine::roofs::{self, Extent};
use roofline_conductor::runners::RunnerSpec;
use roofline_conductor::session::Limits;
use roofline_conductor::stage::Options;
use roofline_conductor::sys::signals;
use roofline_core::roofs::Roofs;
use roofline_report::{roofline_plot, roofline_svg, roofs_table};
use roofline_run::{Progress, half_of_memory, now, secret_seed, terminal};
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

pub fn run(args: &Args) -> Result<ExitCode, Problem> {
    let machine = Machine::read();
    let (roofs, code) = match roofs_of(&machine, args)? {
        Found::Roofs(roofs) => (Some(roofs), ExitCode::SUCCESS),
        Found::None => (None, ExitCode::SUCCESS),
        Found::Interrupted => (None, ExitCode::from(130)),
    };
    if let Some(path) = &args.svg {
        let Some(svg) = roofs.as_ref().and_then(roofline_svg) else {
            let hint = "`roofline machine --measure` measures them when no other run is going on";
            return Err(Problem::nothing("there are no roofs to draw", hint));
        };
        std::fs::write(path, svg).map_err(|error| Problem::own(format!("{}: {error}", path.display())))?;
    }
    let isolation = isolation()?;
    let text = if args.json {
        json(&machine, roofs.as_ref(), &isolation)
    } else {
        // Everything in it keeps its width.
        terminal::spelled(&text(&machine, roofs.as_ref(), &isolation)).into_owned()
    };
    super::print(&text)?;
    Ok(code)
}

/// How a runner is isolated here: the one inside this binary shows it.
fn isolation() -> Result<Isolation, Problem> {
    let program = places::program()?;
    let limits = Limits { patience: Duration::from_secs(10), memory: 1 << 30 };
    roofline_conductor::offers::isolation(&program, &RunnerSpec::built_in(&program), limits)
        .map_err(|why| Problem::own(format!("the runner inside this binary does not start: {why}")))
}

fn json(machine: &Machine, roofs: Option<&Roofs>, isolation: &Isolation) -> String {
    let fingerprint = machine.fingerprint();
    let value = serde_json::json!({
        "fingerprint": fingerprint, "machine": machine, "isolation": isolation, "roofs": roofs,
    });
    format!("{value:#}\n")
}

fn text(machine: &Machine, roofs: Option<&Roofs>, isolation: &Isolation) -> String {
    let mut text = machine.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    if isolation.missing.is_empty() {
        text.push_str("\nrunners are isolated in full\n");
    } else {
        text.push_str("\nwhat isolation of runners lacks here\n");
    }
    for missing in &isolation.missing {
        let _ = writeln!(text, "- {missing}");
    }
    let warnings = machine.warnings();
    if !warnings.is_empty() {
        text.push_str("\nwhat disturbs measuring here\n");
    }
    for warning in warnings {
        let _ = writeln!(text, "- {warning}; {}", warning.advice());
    }
    if let Some(roofs) = roofs {
        let _ = write!(text, "\n{}\n{}", roofs_table(roofs), roofline_plot(roofs, style()));
    }
    text
}

enum Found {
    Roofs(Roofs),
    None,
    Interrupted,
}

/// The roofs that are known, or that are measured now. What stands in the way is said and is no failure.
fn roofs_of(machine: &Machine, args: &Args) -> Result<Found, Problem> {
    let fingerprint = machine.fingerprint();
    let path = places::roofs_file(&args.store, &fingerprint);
    let known = match roofs::read(&path, &fingerprint) {
        Some(Ok(roofs)) => Some(roofs),
        Some(Err(why)) => {
            tell(&format!("`{}` is no use, the roofs are measured again: {why}", path.display()));
            None
        }
        None => None,
    };
    let enough = |roofs: &Roofs| !args.measure && (args.quick || !roofs.quick);
    let known = match known {
        Some(roofs) if enough(&roofs) => return Ok(Found::Roofs(roofs)),
        known => known,
    };
    signals::catch_interrupts();
    let lock = lock::try_take()
        .map_err(|error| Problem::own(format!("the machine's lock cannot be taken: {error}")))?;
    let _lock = match lock {
        Ok(lock) => lock,
        Err(holder) => {
            let then = match &known {
                Some(roofs) => format!("shown are the roofs of {}", roofs.measured),
                None => "the roofs can be measured when it has ended".to_owned(),
            };
            tell(&format!("another run is going on ({holder}); {then}"));
            return Ok(known.map_or(Found::None, Found::Roofs));
        }
    };
    match measure(machine, fingerprint, args.quick)? {
        Ok(roofs) => {
            // The memory only saves time; a place that cannot be written to costs that time and no more.
            if let Err(error) = roofs::write(&roofs, &path) {
                tell(&format!("the roofs are not remembered: `{}`: {error}", path.display()));
            }
            Ok(Found::Roofs(roofs))
        }
        Err(Stop::Interrupted) => {
            tell("interrupted: the roofs were not measured");
            Ok(Found::Interrupted)
        }
        Err(Stop::Row(failure)) => {
            tell(&format!("the roofs were not measured: {}", failure.why));
            Ok(Found::None)
        }
        Err(Stop::Own(error)) => Err(Problem::own(format!("the roofs were not measured: {error}"))),
    }
}

fn measure(machine: &Machine, fingerprint: String, quick: bool) -> Result<Result<Roofs, Stop>, Problem> {
    let memory = half_of_memory(machine);
    let program = places::program()?;
    let limits = Limits { patience: Duration::from_secs(10), memory };
    let options = Options::new(program.clone(), vec![RunnerSpec::built_in(&program)], limits, secret_seed());
    let extent = if quick { Extent::quick() } else { Extent::full(memory) };
    let mut progress = Progress::new("roofs", 0, 0);
    if !progress.is_shown() && !quick {
        tell("the roofs of this machine are measured, once: about half a minute");
    }
    let roofs = roofs::measure(&options, &extent, (fingerprint, now()), |what, step, steps| {
        progress.reach(step, steps);
        progress.begin(what.to_owned());
    });
    progress.finish();
    Ok(roofs)
}
