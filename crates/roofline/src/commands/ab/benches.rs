//! Benches of a Rust crate: each binary is its own conductor, and has a way to be compared with another build of itself.

use super::build::check;
use crate::args::{Ab, Select};
use crate::error::{Problem, tell};
use roofline_conductor::sys::signals;
use roofline_run::BENCH_MARK;
use serde_json::Value;
use std::fs;
use std::io;
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
    let output = cargo.args(words).args(more).current_dir(at).stderr(Stdio::inherit()).output();
    let output = output.and_then(|output| check_output(output, kept));
    let word = kept.file_name().unwrap_or_default().to_string_lossy();
    let (status, lines) = match output {
        Ok((status, lines)) => (Ok(status), lines),
        Err(error) => (Err(error), Vec::new()),
    };
    check(status, "cargo bench --no-run", &word)?;
    let mut benches = Vec::new();
    for (name, program, folder) in lines.iter().filter_map(executable) {
        let is_ours = fs::read(&program).is_ok_and(|bytes| contains(&bytes, BENCH_MARK.as_bytes()));
        if !is_ours {
            continue;
        }
        let copy = absolute(&kept.join(program.file_name().unwrap_or_default()))?;
        fs::copy(&program, &copy).map_err(|error| Problem::own(format!("`{}`: {error}", copy.display())))?;
        benches.push(Bench { name, program: copy, folder });
    }
    if benches.is_empty() {
        let hint =
            "docs/bring-your-own/rust.md writes one; or name in roofline.toml what is built, by `[build]`";
        return Err(Problem::nothing(format!("`{word}` has no bench of Roofline"), hint));
    }
    Ok(benches)
}

/// What cargo said, line by line; the folder for copies is made on the way.
fn check_output(
    output: std::process::Output,
    kept: &Path,
) -> io::Result<(std::process::ExitStatus, Vec<Value>)> {
    fs::create_dir_all(kept)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok((output.status, text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()))
}

/// The bench that a line of cargo's is about: its name, its binary, and the folder of its crate.
fn executable(line: &Value) -> Option<(String, PathBuf, PathBuf)> {
    let target = &line["target"];
    let is_bench = target["kind"].as_array()?.iter().any(|kind| kind == "bench");
    let manifest = Path::new(line["manifest_path"].as_str()?);
    let folder = manifest.parent()?;
    let program = line["executable"].as_str().filter(|_| is_bench)?;
    let package = folder.file_name().unwrap_or_default().to_string_lossy();
    Some((format!("{package}/{}", target["name"].as_str()?), program.into(), folder.to_owned()))
}

fn contains(bytes: &[u8], words: &[u8]) -> bool {
    bytes.windows(words.len()).any(|window| window == words)
}

/// Has every bench compare itself with its older build.
pub fn run([old, new]: [Vec<Bench>; 2], args: &Ab) -> Result<ExitCode, Problem> {
    let options = options(args)?;
    signals::catch_interrupts();
    let mut codes = Vec::new();
    for bench in &new {
        let Some(older) = old.iter().find(|older| older.name == bench.name) else {
            tell(&format!("bench `{}` is new: there is nothing to compare it with", bench.name));
            continue;
        };
        let mut command = Command::new(&bench.program);
        command.arg("--bench").arg("--beside").arg(&older.program).args(&options);
        let status = command.current_dir(&bench.folder).status();
        let status =
            status.map_err(|error| Problem::own(format!("`{}`: {error}", bench.program.display())))?;
        codes.push(status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1)));
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
    Ok(ExitCode::from(worst(&codes)))
}

fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path).map_err(|error| Problem::own(format!("`{}`: {error}", path.display())))
}

/// The code that says most: mistakes and failures of our own first, then a row that failed, then one that is slower.
fn worst(codes: &[u8]) -> u8 {
    [130, 1, 2, 4, 3, 5]
        .into_iter()
        .find(|code| codes.contains(code))
        .or(codes.iter().copied().max())
        .unwrap_or(0)
}

/// The words of `ab` in those of a bench.
fn options(args: &Ab) -> Result<Vec<String>, Problem> {
    let Select { select, suite, dtype, axis, param, size, threads, device, cache } = &args.select;
    let is_more = suite.is_some()
        || !(dtype.is_empty() && axis.is_empty() && param.is_empty() && threads.is_empty())
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
    let mut words = vec![
        "--fail-on".to_owned(),
        args.fail_on.words(),
        "--measurement-time".to_owned(),
        how.budget.as_secs_f64().to_string(),
        "--noise-threshold".to_owned(),
        (how.delta / 100.0).to_string(),
        "--timeout".to_owned(),
        how.timeout.as_secs_f64().to_string(),
        "--output-format".to_owned(),
        args.show.format.clone(),
    ];
    words.extend(how.quick.then(|| "--quick".to_owned()));
    if let Some(seed) = how.seed {
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
            "reason": "compiler-artifact", "manifest_path": "/crates/mine/Cargo.toml",
            "target": {"kind": ["bench"], "name": "kernels"}, "executable": "/target/kernels-0123",
        });
        let (name, program, folder) = executable(&line).unwrap();
        assert_eq!(
            (name.as_str(), program, folder),
            ("mine/kernels", "/target/kernels-0123".into(), "/crates/mine".into())
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
        assert_eq!([worst(&[0, 3, 4]), worst(&[0, 3]), worst(&[0, 0]), worst(&[3, 130])], [4, 3, 0, 130]);
    }
}
