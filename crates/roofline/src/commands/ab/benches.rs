//! Benches of a Rust crate: each binary is its own conductor, and has a way to be compared with another build of itself. Their
//! records come together here.

use super::build::check;
use crate::args::{Ab, EvidenceArg, SandboxArg, Select};
use crate::commands::take::View;
use crate::error::{Problem, tell};
use roofline_conductor::job::quoted;
use roofline_conductor::machine::Machine;
use roofline_conductor::sys::signals;
use roofline_core::decision::FailOn;
use roofline_core::record::Record;
use roofline_run::checkout::forget_repository;
use roofline_run::{Ask, Others, begin};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// A bench of a crate.
pub struct Bench {
    /// Crate and target, as cargo names them.
    name: String,
    /// From the root, for it is started elsewhere.
    program: PathBuf,
    /// Where cargo starts it.
    folder: PathBuf,
}

/// Builds the benches of a crate or workspace, and copies those of Roofline to `kept`.
pub fn build(at: &Path, more: &[String], kept: &Path) -> Result<Vec<Bench>, Problem> {
    let words = ["bench", "--no-run", "--message-format", "json-render-diagnostics"];
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    fs::create_dir_all(kept).map_err(|error| Problem::own(format!("`{}`: {error}", kept.display())))?;
    let output = forget_repository(&mut cargo)
        .args(words)
        .args(more)
        .current_dir(at)
        .stderr(Stdio::inherit())
        .output();
    let word = kept.file_name().unwrap_or_default().to_string_lossy();
    let (status, said) = match output {
        Ok(output) => (Ok(output.status), output.stdout),
        Err(error) => (Err(error), Vec::new()),
    };
    check(status, "cargo bench --no-run", &word)?;
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut benches = Vec::new();
    for (name, program, folder) in lines.iter().filter_map(executable) {
        let is_ours = fs::read(&program)
            .is_ok_and(|bytes| contains(&bytes, roofline_core::protocol::BENCH_MARK.as_bytes()));
        if !is_ours {
            continue;
        }
        let copy = kept.join(program.file_name().unwrap_or_default());
        fs::copy(&program, &copy).map_err(|error| Problem::own(format!("`{}`: {error}", copy.display())))?;
        benches.push(Bench { name, program: copy, folder });
    }
    if benches.is_empty() {
        let hint = "a bench begins with `roofline_bench::Bench::new`; or name in roofline.toml what is built, by `[build]`";
        return Err(Problem::nothing(format!("`{word}` has no bench of Roofline"), hint));
    }
    Ok(benches)
}

/// The bench that a line of cargo's is about: its name, its binary, and the folder of its crate.
fn executable(line: &Value) -> Option<(String, PathBuf, PathBuf)> {
    let target = &line["target"];
    let is_bench = target["kind"].as_array()?.iter().any(|kind| kind == "bench");
    let manifest = Path::new(line["manifest_path"].as_str()?);
    let folder = manifest.parent()?;
    let program = line["executable"].as_str().filter(|_| is_bench)?;
    let package = line["package_id"].as_str()?;
    Some((format!("{} of {package}", target["name"].as_str()?), program.into(), folder.to_owned()))
}

fn contains(bytes: &[u8], words: &[u8]) -> bool {
    bytes.windows(words.len()).any(|window| window == words)
}

/// Has every bench compare itself with its older build, and decides by the rows of all of them together.
pub fn run(
    [old, new]: [Vec<Bench>; 2],
    args: &Ab,
    ask: &Ask,
    view: &View,
    machine: &Machine,
) -> Result<ExitCode, Problem> {
    let options = options(args, ask)?;
    // A bench is conducted by the program that compares it, whatever else there is in `PATH`.
    let program = &std::env::current_exe()
        .map_err(|error| Problem::own(format!("roofline does not know its own path: {error}")))?;
    signals::catch_interrupts();
    let (mut codes, mut records) = (Vec::new(), Vec::new());
    let notices = apart(&old, &new);
    notices.iter().for_each(|notice| tell(notice));
    for bench in &new {
        let Some(older) = old.iter().find(|older| older.name == bench.name) else {
            continue;
        };
        let mut command = Command::new(&bench.program);
        command.arg("--bench").arg("--beside").arg(&older.program).args(&options).env("ROOFLINE", program);
        let said = command.current_dir(&bench.folder).stderr(Stdio::inherit()).output();
        let said = said.map_err(|error| Problem::own(format!("`{}`: {error}", bench.program.display())))?;
        codes.push(said.status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1)));
        let lines = String::from_utf8_lossy(&said.stdout).into_owned();
        records.extend(lines.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok()));
        if signals::interrupted() {
            return Ok(ExitCode::from(130));
        }
    }
    if codes.is_empty() {
        return Err(Problem::nothing(
            "the two sides have no bench in common",
            "name two revisions of one crate",
        ));
    }
    // That a row of one bench is slower is no matter of that bench alone: all rows are held together.
    codes.retain(|code| !matches!(code, 0 | 3 | 5));
    if !records.is_empty() {
        let others = Others { older: vec![super::OLD.to_owned()] };
        let is_whole = args.select.is_whole() && codes.is_empty();
        let judged = ask.judge(&records, &others, is_whole);
        view.print(&begin(machine), &records, &args.show, &judged, &notices)?;
        codes.push(ask.end_complete(&records, &others, &judged));
    }
    Ok(ExitCode::from(worst(&codes).unwrap_or(5)))
}

/// The benches that one side has alone, a line each.
fn apart(old: &[Bench], new: &[Bench]) -> Vec<String> {
    let is_in = |benches: &[Bench], one: &Bench| benches.iter().any(|other| other.name == one.name);
    let gone = old.iter().filter(|bench| !is_in(new, bench));
    let gone =
        gone.map(|bench| format!("bench `{}` is gone: the new side has none of this name", bench.name));
    let fresh = new.iter().filter(|bench| !is_in(old, bench));
    let fresh =
        fresh.map(|bench| format!("bench `{}` is new: there is nothing to compare it with", bench.name));
    gone.chain(fresh).collect()
}

/// The code that says most: mistakes and failures of our own first, then a row that failed, then one that is slower; none
/// where nobody has measured anything.
fn worst(codes: &[u8]) -> Option<u8> {
    let other = codes.iter().copied().find(|code| !matches!(code, 0..=5 | 130));
    other.or_else(|| [130, 1, 2, 4, 3, 5, 0].into_iter().find(|code| codes.contains(code)))
}

/// The words of `ab` in those of a bench.
fn options(args: &Ab, ask: &Ask) -> Result<Vec<String>, Problem> {
    let Select { select, op, suite, group, dtype, axis, param, size, threads, device, cache } = &args.select;
    let is_more = suite.is_some()
        || !(op.is_empty() && group.is_empty() && dtype.is_empty())
        || !(axis.is_empty() && param.is_empty() && threads.is_empty())
        || size.is_some()
        || device.is_some()
        || cache.is_some();
    if is_more || !args.implementation.is_empty() || args.dry_run {
        let hint = "a bench has its own cases: SELECT leaves those rows whose name contains it";
        return Err(Problem::usage(
            "a bench takes SELECT alone of all that selects, and no `--dry-run`",
            hint,
        ));
    }
    let how = &args.how;
    let asks_more = how.bounds.total_budget.is_some()
        || how.bounds.memory.is_some()
        || how.bounds.wait.is_some()
        || how.bounds.sandbox == SandboxArg::Required
        || how.bounds.require_evidence == EvidenceArg::Held;
    if asks_more {
        let why = "a bench takes none of `--total-budget`, `--memory`, `--wait`, `--sandbox` and `--require-evidence`";
        let hint = "leave it out, or build a shared library by `[build]` of roofline.toml";
        return Err(Problem::usage(why, hint));
    }
    let mut words: Vec<String> = [
        ("--measurement-time", how.budget.as_secs_f64().to_string()),
        ("--noise-threshold", ask.delta.to_string()),
        ("--timeout", how.bounds.timeout.as_secs_f64().to_string()),
        ("--output-format", "jsonl".to_owned()),
        ("--again", format!("roofline ab {} {}", quoted(&args.old), quoted(&args.new))),
    ]
    .into_iter()
    .flat_map(|(option, value)| [option.to_owned(), value])
    .collect();
    // A policy may speak of memory alone: then no row is measured again.
    let is_of_rows = |what: &FailOn| !matches!(what, FailOn::Slower(share) if share.is_infinite());
    if let Some(what) = ask.measured_again().filter(is_of_rows) {
        words.extend(["--fail-on".to_owned(), what.words()]);
    }
    if let Some(share) = ask.detect {
        words.extend(["--detect".to_owned(), share.to_string()]);
    }
    words.extend(how.bounds.quick.then(|| "--quick".to_owned()));
    if let Some(seed) = how.bounds.seed {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    words.push("--".to_owned());
    words.extend(select.iter().cloned());
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn benches_are_told_from_what_cargo_says() {
        let line = json!({
            "reason": "compiler-artifact", "package_id": "mine", "manifest_path": "/crates/mine/Cargo.toml",
            "target": {"kind": ["bench"], "name": "kernels"}, "executable": "/target/kernels-0123",
        });
        let (name, program, folder) = executable(&line).unwrap();
        assert_eq!(
            (name.as_str(), program, folder),
            ("kernels of mine", "/target/kernels-0123".into(), "/crates/mine".into())
        );
        for other in [json!({}), json!({"reason": "build-finished"}), json!({"target": {"kind": ["lib"]}})] {
            assert!(executable(&other).is_none());
        }
        let mut library = line.clone();
        library["executable"] = Value::Null;
        assert!(executable(&library).is_none());
    }

    #[test]
    fn the_code_that_says_most_is_taken() {
        let codes = [&[3, 4][..], &[3], &[0], &[3, 130], &[5], &[2, 0], &[3, 101]];
        assert_eq!(codes.map(worst), [4, 3, 0, 130, 5, 2, 101].map(Some));
        assert_eq!(worst(&[]), None);
    }
}
