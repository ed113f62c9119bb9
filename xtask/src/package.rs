//! `cargo xtask package`: what people install without Rust, under `target/dist`. A wheel that carries the command, and an
//! archive with the program, its man pages and completions; both for any Linux with glibc 2.17, of 2012, or later.
//!
//! Not a static program: that could open no library, and so neither a kernel nor CUDA. maturin makes the wheel and holds it to
//! the symbols of that glibc, for which zig links.

use crate::step::{self, Failure};
use crate::test::system_python;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const TOOLS: [&str; 2] = ["maturin==1.16.0", "ziglang==0.17.0"];
const GLIBC: &str = "manylinux2014";
const SHELLS: [&str; 3] = ["bash", "fish", "zsh"];
const HINT: &str = "see the message above; pip and cargo must reach their registries";

pub(crate) fn run(_: &[String]) -> Result<ExitCode, Failure> {
    let root = step::workspace_root();
    let folder = step::target_folder(&root).join("dist");
    let python = step::timed("tools", || environment(&folder.join("tools"), &TOOLS))?;
    let wheel = step::timed("wheel", || wheel(&root, &folder, &python))?;
    let program = step::timed("try it", || try_it(&root, &folder, &wheel))?;
    let archive = step::timed("archive", || archive(&root, &folder, &program))?;
    step::timed("try the archive", || try_archive(&root, &folder, &archive))?;
    println!("\n{}\n{}", wheel.display(), archive.display());
    Ok(ExitCode::SUCCESS)
}

/// A Python environment that has these packages.
fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf, Failure> {
    let make = ["-m", "venv", "--clear"];
    step::command("environment", Command::new(system_python()?).args(make).arg(folder), HINT)?;
    let python = folder.join("bin/python");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    step::command("environment", Command::new(&python).args(install).args(packages), HINT)?;
    Ok(python)
}

fn wheel(root: &Path, folder: &Path, python: &Path) -> Result<PathBuf, Failure> {
    let wheels = folder.join("wheels");
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).map_err(|error| unusable(&wheels, &error))?;
    }
    // maturin looks for zig in the path.
    let bin = python.parent().unwrap_or(python).display();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let mut build = Command::new(python);
    build.env("PATH", path).args([
        "-m",
        "maturin",
        "build",
        "--release",
        "--locked",
        "--zig",
        "--compatibility",
        GLIBC,
    ]);
    build.arg("--target-dir").arg(folder.join("build")).arg("--out").arg(&wheels);
    step::command("wheel", build.current_dir(root.join("crates/roofline")), HINT)?;
    let found = std::fs::read_dir(&wheels).into_iter().flatten().flatten().next();
    let missing = || Failure::new("wheel", format!("nothing in {}", wheels.display()), HINT);
    found.map(|entry| entry.path()).ok_or_else(missing)
}

/// Installs the wheel as people do and has it prove and time a kernel, then all that the first hour has; answers with the
/// installed program.
fn try_it(root: &Path, folder: &Path, wheel: &Path) -> Result<PathBuf, Failure> {
    let place = folder.join("tried");
    environment(&place, &[&wheel.display().to_string()])?;
    let program = place.join("bin/roofline");
    let mut run = Command::new(&program);
    run.args(["run", "add/f32/rows=64,cols=1000", "--quick", "--store"]).arg(place.join("store.db"));
    step::command("try it", run.current_dir(&place), "the packaged program does not work here")?;
    first_hour(root, &program)?;
    Ok(program)
}

/// The same with what the archive holds.
fn try_archive(root: &Path, folder: &Path, archive: &Path) -> Result<(), Failure> {
    let place = folder.join("unpacked");
    std::fs::create_dir_all(&place).map_err(|error| unusable(&place, &error))?;
    let mut tar = Command::new("tar");
    tar.arg("--extract").arg("--gzip").arg("--file").arg(archive).args(["--strip-components", "1"]);
    step::command("try the archive", tar.arg("--directory").arg(&place), "`tar` and `gzip` must be there")?;
    first_hour(root, &place.join("roofline"))
}

/// The page of the first hour, followed with this program.
fn first_hour(root: &Path, program: &Path) -> Result<(), Failure> {
    let mut test = step::cargo(root);
    test.args([
        "test",
        "--package",
        "roofline",
        "--test",
        "bring_your_own",
        "--",
        "--exact",
        "the_first_hour",
    ]);
    let hint = "docs/first-hour.md says what each command should do";
    step::command("first hour", test.env("ROOFLINE_PROGRAM", program), hint)
}

fn archive(root: &Path, folder: &Path, program: &Path) -> Result<PathBuf, Failure> {
    let name = format!("roofline-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let content = folder.join(&name);
    let completions = content.join("completions");
    let copy = |from: &Path| {
        let name = from.file_name().unwrap_or_default();
        std::fs::copy(from, content.join(name)).map(|_| ())
    };
    std::fs::create_dir_all(&completions)
        .and_then(|()| copy(program))
        .and_then(|()| ["LICENSE-MIT", "LICENSE-APACHE"].iter().try_for_each(|file| copy(&root.join(file))))
        .map_err(|error| unusable(&content, &error))?;
    step::command("man pages", Command::new(program).arg("man").arg(content.join("man")), HINT)?;
    for shell in SHELLS {
        let script = step::answer(Command::new(program).args(["completions", shell]));
        let script =
            script.ok_or_else(|| Failure::new("archive", format!("no completions of {shell}"), HINT))?;
        // zsh finds a function by the name of its file.
        let file = if shell == "zsh" { "_roofline".to_owned() } else { format!("roofline.{shell}") };
        let file = completions.join(file);
        std::fs::write(&file, script + "\n").map_err(|error| unusable(&file, &error))?;
    }
    let packed = folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("--create").arg("--gzip").arg("--file").arg(&packed).arg("--directory").arg(folder).arg(&name);
    step::command("archive", &mut tar, "`tar` and `gzip` must be there")?;
    Ok(packed)
}

fn unusable(place: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        "package",
        format!("{}: {error}", place.display()),
        "make room for it, or remove that folder",
    )
}
