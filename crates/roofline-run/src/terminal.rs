//! Results on standard output, talk on standard error.

use roofline_report::{Style, to_ascii};
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// As wide as the terminal and in colour there; plain and unwrapped elsewhere.
pub fn style() -> Style {
    let stdout = io::stdout();
    let width = stdout.is_terminal().then(width);
    let colour = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    Style { colour, width, ascii: has_only_ascii() }
}

/// Whether the locale has no characters beyond ASCII: the first of these variables that is set says so. Where none
/// is, as in many containers, nothing is known against them.
fn is_ascii(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| variable(name).filter(|locale| !locale.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).map(|locale| locale.to_lowercase());
    locale.is_some_and(|locale| !locale.contains("utf-8") && !locale.contains("utf8"))
}

/// What a terminal has that does not say how wide it is, as those of `script` and some containers.
const USUAL_WIDTH: u16 = 80;

/// Columns of the terminal. How many lines it has is no matter, and some know their columns alone.
fn width() -> u16 {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let told = || rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| size.ws_col);
    asked.or_else(told).filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH)
}

/// Writes a result to standard output. A reader that has seen enough is no failure.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Whether somebody wants to hear only of what goes wrong.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on progress and remarks are not said.
pub fn hush() {
    QUIET.store(true, Ordering::Relaxed);
}

pub fn is_hushed() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Says something in passing on standard error. That nobody can read it changes nothing.
pub fn tell(line: &str) {
    if !is_hushed() {
        complain(line);
    }
}

/// Says on standard error what went wrong.
pub fn complain(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", spelled(line));
}

/// What people read, in the characters that their locale has.
pub fn spelled(text: &str) -> Cow<'_, str> {
    if has_only_ascii() { Cow::Owned(to_ascii(text)) } else { Cow::Borrowed(text) }
}

fn has_only_ascii() -> bool {
    is_ascii(|name| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_locale() {
        let ascii = |set: &[(&str, &str)]| {
            is_ascii(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(!ascii(&[]));
        assert!(ascii(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]));
        assert!(!ascii(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(ascii(&[("LANG", "en_US.ISO-8859-1")]));
    }
}
