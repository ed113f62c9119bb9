//! Results on standard output, talk on standard error.

use roofline_report::Style;
use std::io::{self, IsTerminal, Write};

/// As wide as the terminal and in colour there; plain and unwrapped elsewhere.
pub fn style() -> Style {
    let stdout = io::stdout();
    let width = stdout.is_terminal().then(width).flatten();
    Style { colour: anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never, width }
}

fn width() -> Option<u16> {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.or_else(|| terminal_size::terminal_size().map(|(width, _)| width.0))
}

/// Writes a result to standard output. A reader that has seen enough is no failure.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Says something on standard error. That nobody can read it changes nothing.
pub fn tell(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}
