//! `roofline job ROW`: a conversation and its tensors as files.

use crate::args::Job;
use crate::commands::offers;
use crate::error::Problem;
use crate::places;
use roofline_conductor::conduct::refusal;
use roofline_conductor::job::{self, Contents, quoted};
use roofline_conductor::machine::Machine;
use roofline_conductor::runners::RunnerSpec;
use roofline_core::case::{Case, parse_row};
use roofline_core::nearest::nearest;
use roofline_core::protocol::Offer;
use std::process::ExitCode;

pub fn run(args: &Job) -> Result<ExitCode, Problem> {
    if parse_row(&args.row).is_err() {
        offers::bring_named(&args.places, Some(offers::HELLO))?;
    }
    let (case, implementation) =
        parse_row(&args.row).map_err(|error| Problem::usage(error.to_string(), error.hint))?;
    let memory = roofline_run::half_of_memory(&Machine::read());
    if let Some(why) = refusal(&case, memory) {
        return Err(Problem::usage(format!("`{case}` {why}"), "choose another case"));
    }
    let runner = implementation.split('/').next().unwrap_or_default();
    let specs = places::runners(&args.places)?;
    let spec = roofline_conductor::runners::find(&specs, runner).map_err(|near| {
        let hint =
            near.map_or("`roofline runners` shows them".to_owned(), |near| format!("did you mean `{near}`?"));
        Problem::nothing(format!("there is no runner `{runner}`"), hint)
    })?;
    offered(args, spec, &case, &implementation)?;
    let contents = Contents { placement: args.placement, fill: args.fill, seed: args.seed };
    let path = job::write(&case, &implementation, &args.to, contents, args.launches.max(1))
        .map_err(|error| Problem::own(format!("`{}`: {error}", args.to.display())))?;
    let environment: Vec<String> = spec
        .own_environment(case.threads)
        .iter()
        .map(|(name, value)| format!("{name}={} ", quoted(value)))
        .collect();
    let command: Vec<String> = spec.command.iter().map(|part| quoted(part)).collect();
    super::show(&format!(
        "cd {} && {}{} < {}\n",
        quoted(&spec.folder.display().to_string()),
        environment.concat(),
        command.join(" "),
        quoted(&path.display().to_string())
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// What a runner is known not to have is no job for it; one that was never asked is taken at its word.
fn offered(args: &Job, spec: &RunnerSpec, case: &Case, implementation: &str) -> Result<(), Problem> {
    let Some(hello) = offers::known(spec, &args.places) else { return Ok(()) };
    if !hello.devices.contains(&case.device.to_string()) {
        let why = format!("`{}`: there is no device `{}`", spec.name, case.device);
        return Err(Problem::usage(why, format!("it has {}", hello.devices.join(", "))));
    }
    let (form, kind) = (case.form(), case.device.kind());
    let is_there = |offer: &&Offer| offer.devices.iter().any(|device| device == kind);
    let of_form = || hello.offers.iter().filter(|offer| offer.operation == form).filter(is_there);
    let Some(offer) = of_form().find(|offer| offer.implementation == implementation) else {
        let names: Vec<&str> = of_form().map(|offer| offer.implementation.as_str()).collect();
        let hint = match nearest(implementation, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`roofline list implementations` shows them".to_owned(),
        };
        return Err(Problem::usage(format!("there is no `{implementation}` for `{form}`"), hint));
    };
    case.is_taken_by(offer).map_err(|lacks| {
        let why = format!("`{implementation}` {lacks}");
        Problem::usage(why, format!("it has {}", offer.dtypes.join(", ")))
    })
}
