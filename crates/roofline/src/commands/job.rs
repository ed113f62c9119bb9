//! `roofline job ROW`: a conversation and its tensors as files.

use crate::args::Job;
use crate::error::Problem;
use crate::places;
use roofline_conductor::conduct::refusal;
use roofline_conductor::job;
use roofline_core::case::parse_row;
use std::process::ExitCode;

pub fn run(args: &Job) -> Result<ExitCode, Problem> {
    let (case, implementation) =
        parse_row(&args.row).map_err(|error| Problem::usage(error.to_string(), error.hint))?;
    if let Some(why) = refusal(&case, u64::MAX) {
        return Err(Problem::usage(format!("`{case}` {why}"), "choose another case"));
    }
    let runner = implementation.split('/').next().unwrap_or_default();
    let specs = places::runners(&args.places)?;
    let spec = roofline_conductor::runners::find(&specs, runner).map_err(|near| {
        let hint =
            near.map_or("`roofline runners` shows them".to_owned(), |near| format!("did you mean `{near}`?"));
        Problem::nothing(format!("there is no runner `{runner}`"), hint)
    })?;
    let path = job::write(&case, &implementation, &args.to, args.seed, args.launches.max(1))
        .map_err(|error| Problem::own(format!("`{}`: {error}", args.to.display())))?;
    let environment: Vec<String> =
        spec.own_environment(case.threads).iter().map(|(name, value)| format!("{name}={value} ")).collect();
    let command: Vec<String> = spec.command.iter().map(|part| quoted(part)).collect();
    super::print(&format!(
        "cd {} && {}{} < {}\n",
        quoted(&spec.folder.display().to_string()),
        environment.concat(),
        command.join(" "),
        quoted(&path.display().to_string())
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
