//! On a terminal: colours, a bar, and no line wider than it.

use crate::scene::Scene;

/// Runs the program on a terminal of 80 columns, or of what `SIZE` says; `out` instead of `all` gives only its standard error
/// that terminal, and standard output a pipe, whose content comes last.
const TERMINAL: &str = r#"
import fcntl, os, pty, struct, subprocess, sys, termios
program, what, *words = sys.argv[1:]
ours, theirs = pty.openpty()
lines, columns = map(int, os.environ.get("SIZE", "24,80").split(","))
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
stdout = theirs if what == "all" else subprocess.PIPE
child = subprocess.Popen([program, *words], stdin=theirs, stdout=stdout, stderr=theirs)
os.close(theirs)
seen = b""
while True:
    try:
        more = os.read(ours, 65536)
    except OSError:
        break
    if not more:
        break
    seen += more
piped = child.stdout.read() if child.stdout else b""
code = child.wait()
sys.stdout.buffer.write(seen + b"\n-- piped --\n" + piped)
sys.exit(code)
"#;

/// What the terminal saw, and what went to the pipe.
fn on_terminal(scene: &Scene, what: &str, environment: &str, words: &str, code: i32) -> (String, String) {
    let script = scene.write("terminal.py", TERMINAL);
    let line = format!(
        "export TERM=xterm-256color {environment}; python3 {} \"$(command -v roofline)\" {what} {words} --store store.db",
        script.display()
    );
    let text = scene.shell(&line).exits(code).stdout;
    let (seen, piped) = text.split_once("\n-- piped --\n").unwrap();
    (seen.replace("\r\n", "\n"), piped.to_owned())
}

/// Text without escape sequences, each line as it stood at its end.
fn plain(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut kept = String::new();
        let mut rest = line.rsplit('\r').next().unwrap().chars();
        while let Some(c) = rest.next() {
            if c == '\x1b' {
                while rest.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            } else {
                kept.push(c);
            }
        }
        lines.push(kept);
    }
    lines
}

#[test]
fn colours_a_bar_and_the_width_of_the_terminal() {
    let scene = Scene::alone();
    let words = "check softmax/f32/rows=4,cols=1000 softmax/f32/rows=0,cols=1000";
    // Some terminals do not know how many lines they have, and some know nothing.
    for environment in ["", "COLUMNS=80", "SIZE=0,80", "SIZE=0,0"] {
        let (seen, _) = on_terminal(&scene, "all", environment, words, 0);
        assert!(seen.contains("/6 rows"), "a bar: {seen:?}");
        assert!(seen.contains("\x1b[32m"), "green: {seen:?}");
        let lines = plain(&seen);
        let table: Vec<&String> = lines.iter().skip_while(|line| !line.contains("implementation")).collect();
        assert!(table.len() > 6, "{lines:?}");
        for line in table.iter().filter(|line| !line.contains("reproduce")) {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        assert_eq!(*table[table.len() - 2], "6 rows: 3 ok, 3 refused");
        assert!(table[table.len() - 1].starts_with("run "), "{table:?}");
    }
    let (narrow, _) = on_terminal(&scene, "all", "COLUMNS=50", words, 0);
    let lines = plain(&narrow);
    let from = lines.iter().rposition(|line| line.contains("/6 rows")).map_or(0, |at| at + 1);
    for line in lines[from..].iter().filter(|line| !line.contains("reproduce")) {
        assert!(line.chars().count() <= 50, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn no_colour_when_the_user_wants_none() {
    let scene = Scene::new();
    let (seen, _) = on_terminal(&scene, "all", "NO_COLOR=1", "check add/f32/rows=2,cols=2", 0);
    for colour in ["\x1b[1m", "\x1b[3", "\x1b[9"] {
        assert!(!seen.contains(colour), "{seen:?}");
    }
    let (seen, _) = on_terminal(&scene, "all", "NO_COLOR=1", "explain add/f32/rows=2,cols=2@cpu/plain", 0);
    assert!(!seen.contains('\x1b'), "{seen:?}");
    let (seen, _) = on_terminal(&scene, "all", "", "explain add/f32/rows=2,cols=2@cpu/plain", 0);
    assert!(seen.contains("\x1b[1m"), "{seen:?}");
}

#[test]
fn the_result_goes_to_the_pipe_and_the_bar_to_the_terminal() {
    let scene = Scene::new();
    let (seen, piped) = on_terminal(&scene, "out", "", "check add/f32/rows=2,cols=2 --format jsonl", 0);
    assert!(seen.contains("/3 rows") && !seen.contains("\"case\""), "{seen:?}");
    assert_eq!(piped.lines().filter(|line| line.starts_with("{\"schema\"")).count(), 3, "{piped}");
    assert!(!piped.contains('\x1b'), "{piped:?}");
}

#[test]
fn messages_fit_the_terminal_too() {
    let scene = Scene::new();
    scene.write("mine.toml", "[[cases]]\noperatoin = \"add\"\n");
    let (seen, _) = on_terminal(&scene, "all", "", "check --suite mine.toml", 2);
    let text = plain(&seen).join("\n");
    assert!(text.contains("mine.toml:2:1") && text.contains("did you mean `operation`?"), "{text}");
    assert!(text.contains("operatoin = \"add\""), "the line itself is shown: {text}");
}
