//! `cargo xtask gpu`: what is carried to a machine that has a GPU and no Rust.
//!
//! A release binary, the example that runs every kernel against f64, and the saboteur, under `target/gpu`. Beside a
//! checkout of the same revision, `studies/gpu/run.sh PART` runs there what the card has to show, a part at a time.

use crate::step::{self, Failure};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(_: &[String]) -> Result<ExitCode, Failure> {
    let root = step::workspace_root();
    step::timed("build", || {
        let arguments = ["build", "--release", "-p", "roofline", "-p", "saboteur"];
        step::command("build", step::cargo(&root).args(arguments), "mend the errors above")
    })?;
    step::timed("verify", || {
        let arguments = ["build", "--release", "-p", "roofline-cuda", "--example", "verify"];
        step::command("verify", step::cargo(&root).args(arguments), "mend the errors above")
    })?;
    let target = step::target_folder(&root);
    let folder = target.join("gpu");
    let carried = ["release/roofline", "release/saboteur", "release/examples/verify"];
    let copied = std::fs::create_dir_all(&folder).and_then(|()| {
        carried.iter().try_for_each(|file| {
            let name = Path::new(file).file_name().unwrap_or_default();
            std::fs::copy(target.join(file), folder.join(name)).map(|_| ())
        })
    });
    copied
        .map_err(|error| Failure::new("gpu", format!("{}: {error}", folder.display()), "make room for it"))?;
    println!("carry `{}` beside a checkout, and run `bash studies/gpu/run.sh all` there", folder.display());
    Ok(ExitCode::SUCCESS)
}
