//! One file a verb.

pub mod completions;
pub mod explain;
pub mod job;
pub mod list;
pub mod machine;
pub mod measure;
pub mod offers;
pub mod runners;

use roofline_report::Style;
use std::io::{self, IsTerminal, Write};

/// As wide as the terminal and in colour there; plain and unwrapped elsewhere.
pub fn style() -> Style {
    let stdout = io::stdout();
    let width = stdout.is_terminal().then(terminal_width).flatten();
    Style { colour: anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never, width }
}

fn terminal_width() -> Option<u16> {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.or_else(|| terminal_size::terminal_size().map(|(width, _)| width.0))
}

/// Writes a result to standard output. A reader that has seen enough is no failure.
pub fn print(text: &str) -> Result<(), crate::error::Problem> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(crate::error::Problem::own(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}
