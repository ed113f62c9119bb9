//! `roofline man FOLDER`.

use crate::args::Line;
use crate::error::Problem;
use clap::CommandFactory;
use std::path::Path;
use std::process::ExitCode;

pub fn run(folder: &Path) -> Result<ExitCode, Problem> {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Line::command().disable_help_subcommand(true), folder));
    written.map_err(|error| {
        Problem::own(format!("pages cannot be written into {}: {error}", folder.display()))
            .with_hint("name a folder that you may write to, as `~/.local/share/man/man1`")
    })?;
    super::show(&format!("pages are in {0}; `man {0}/roofline.1` shows the first\n", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
