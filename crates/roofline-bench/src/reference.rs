//! References of the user's own operations, computed in a process of their own.
//!
//! The bench binary starts itself as `reference` and asks over a socket on that process's standard input. A question is
//! a head in JSON with its length before it, then the bytes of the inputs that changed since the last question, then
//! the wanted indices; an answer is the values with their bounds, or a text. The process is trusted and may
//! still fail: a panic comes back as text, and whoever dies or hangs is ended and started anew for the next question.

use crate::operation::Own;
use roofline_core::case::Case;
use roofline_core::fill::Fill;
use roofline_core::operation::{Expected, Problem};
use roofline_core::tensor::View;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Longest head of a question, and longest text of an answer.
const MOST_BYTES: usize = 1 << 20;
/// Inputs are compared with what was sent in pieces of this size.
const PIECE: usize = 4096;
/// More changes than this are sent as whole tensors.
const MOST_CHANGES: usize = 1000;

/// How the process is started: this binary, and how long an answer may take.
#[derive(Debug)]
struct Way {
    program: PathBuf,
    patience: Duration,
}

static WAY: OnceLock<Way> = OnceLock::new();
static PROCESS: Mutex<Option<Process>> = Mutex::new(None);
static FAILURE: OnceLock<String> = OnceLock::new();

/// Says once how references are asked for.
pub(crate) fn set_up(program: PathBuf, patience: Duration) {
    let _ = WAY.set(Way { program, patience });
}

/// The first failure of a reference in this run.
pub(crate) fn failure() -> Option<&'static str> {
    FAILURE.get().map(String::as_str)
}

/// Ends the process, if there is one.
pub(crate) fn end() {
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner).take();
}

/// The reference of every operation that a bench brings. A failure goes up as a panic that nobody prints: the
/// conductor refuses the case with its text.
pub(crate) fn ask(problem: &Problem, output: usize, wanted: &[usize]) -> Vec<Expected> {
    let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = converse(&mut process, problem, output, wanted);
    let answer = answer.unwrap_or_else(|broken| {
        let end = process.take().map(Process::end).unwrap_or_default();
        Err(match broken.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                let seconds = WAY.get().map_or(0, |way| way.patience.as_secs());
                format!("gave no answer within {seconds} s; `--timeout` gives it more")
            }
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                format!("ended its process: {end}")
            }
            _ => format!("could not be asked: {broken}"),
        })
    });
    drop(process);
    answer.unwrap_or_else(|why| {
        let why = format!("the reference of `{}` {why}", problem.case.operation.name);
        let _ = FAILURE.set(why.clone());
        resume_unwind(Box::new(why))
    })
}

/// What a question begins with.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    case: String,
    fill: Fill,
    output: usize,
    wanted: usize,
    /// Tensor, offset and length of each change, whose bytes follow in this order.
    changes: Vec<(usize, usize, usize)>,
}

/// The conversation with one process.
struct Process {
    child: Child,
    socket: UnixStream,
    /// The case of the last question, and its inputs as they were sent.
    case: String,
    sent: Vec<Vec<u8>>,
}

impl Process {
    fn start() -> io::Result<Process> {
        let way = WAY.get().ok_or_else(|| io::Error::other("nobody said how"))?;
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(way.patience))?;
        ours.set_write_timeout(Some(way.patience))?;
        let mut command = Command::new(&way.program);
        // Standard output is the bench's result; what a reference prints is talk.
        command.arg("reference").stdin(Stdio::from(OwnedFd::from(theirs))).stdout(io::stderr());
        Ok(Process { child: command.spawn()?, socket: ours, case: String::new(), sent: Vec::new() })
    }

    /// Ends the process and says how it ended by itself, if it did.
    fn end(mut self) -> String {
        // Whoever closed the conversation is about to end; the moment tells its own signal from ours.
        let mut waits = 0..50;
        let ended = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status.to_string(),
                _ if waits.next().is_none() => break "it would not".to_owned(),
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let _ = self.child.kill();
        let _ = self.child.wait();
        ended
    }

    /// What differs from what was sent, and is sent now.
    fn changes(&mut self, problem: &Problem) -> Vec<(usize, usize, usize)> {
        let case = problem.case.to_string();
        if self.case != case || self.sent.len() != problem.inputs.len() {
            self.case = case;
            self.sent = problem.inputs.iter().map(|_| Vec::new()).collect();
        }
        let mut changes: Vec<(usize, usize, usize)> = Vec::new();
        for (tensor, (input, sent)) in problem.inputs.iter().zip(&mut self.sent).enumerate() {
            let before = changes.len();
            for at in (0..input.bytes.len()).step_by(PIECE) {
                let end = (at + PIECE).min(input.bytes.len());
                if sent.get(at..end) == Some(&input.bytes[at..end]) {
                    continue;
                }
                match changes[before..].last_mut() {
                    Some((_, start, length)) if *start + *length == at => *length += end - at,
                    _ => changes.push((tensor, at, end - at)),
                }
            }
            if changes.len() - before > MOST_CHANGES {
                changes.truncate(before);
                changes.push((tensor, 0, input.bytes.len()));
            }
            sent.resize(input.bytes.len(), 0);
            for (_, at, length) in &changes[before..] {
                sent[*at..at + length].copy_from_slice(&input.bytes[*at..at + length]);
            }
        }
        changes
    }
}

/// Asks one question, and starts the process if there is none.
fn converse(
    process: &mut Option<Process>,
    problem: &Problem,
    output: usize,
    wanted: &[usize],
) -> io::Result<Result<Vec<Expected>, String>> {
    let process = match process {
        Some(process) => process,
        none => none.insert(Process::start()?),
    };
    let changes = process.changes(problem);
    let case = problem.case.to_string();
    let head = Head { case, fill: problem.fill, output, wanted: wanted.len(), changes };
    let mut socket = &process.socket;
    send_text(socket, &serde_json::to_vec(&head).map_err(io::Error::other)?)?;
    for (tensor, at, length) in &head.changes {
        socket.write_all(&problem.inputs[*tensor].bytes[*at..at + length])?;
    }
    let indices: Vec<u8> = wanted.iter().flat_map(|index| (*index as u64).to_le_bytes()).collect();
    socket.write_all(&indices)?;
    let mut kind = [0; 1];
    socket.read_exact(&mut kind)?;
    if kind == [GOOD] {
        let mut bytes = vec![0; wanted.len() * 16];
        socket.read_exact(&mut bytes)?;
        let expected = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let numbers: Vec<f64> = expected.collect();
        let pair = |pair: &[f64; 2]| Expected { value: pair[0], soft: pair[1] };
        return Ok(Ok(numbers.as_chunks::<2>().0.iter().map(pair).collect()));
    }
    let text = receive_text(socket)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(Err(String::from_utf8_lossy(&text).into_owned()))
}

const GOOD: u8 = 0;
const BAD: u8 = 1;

fn send_text(mut socket: &UnixStream, text: &[u8]) -> io::Result<()> {
    let text = &text[..text.len().min(MOST_BYTES)];
    socket.write_all(&(text.len() as u32).to_le_bytes())?;
    socket.write_all(text)
}

/// A text with its length before it; `None` when the other side has left.
fn receive_text(mut socket: &UnixStream) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if socket.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    socket.read_exact(&mut length[1..])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_BYTES {
        return Err(io::Error::other(format!("a text of {length} bytes; {MOST_BYTES} is the limit")));
    }
    let mut text = vec![0; length];
    socket.read_exact(&mut text)?;
    Ok(Some(text))
}

/// The role `reference`: answers until the bench leaves.
pub(crate) fn serve(own: &[Own]) -> ExitCode {
    leave_with_parent();
    note_panics();
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    match socket.and_then(|socket| answer_all(&socket, own)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            roofline_run::terminal::tell(&format!("error: reference: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn answer_all(mut socket: &UnixStream, own: &[Own]) -> io::Result<()> {
    let mut inputs: Vec<Vec<u8>> = Vec::new();
    let mut last = String::new();
    while let Some(head) = receive_text(socket)? {
        let head: Head = serde_json::from_slice(&head)?;
        let case: Case = head.case.parse().map_err(io::Error::other)?;
        let tensors = (case.operation.tensors)(&case);
        if head.case != last {
            let are = tensors.iter().filter(|tensor| tensor.role.is_input());
            inputs = are.map(|tensor| vec![0; tensor.bytes()]).collect();
            last.clone_from(&head.case);
        }
        for (tensor, at, length) in head.changes {
            let piece = inputs.get_mut(tensor).and_then(|input| input.get_mut(at..at + length));
            socket.read_exact(piece.ok_or_else(|| io::Error::other("a change outside of its tensor"))?)?;
        }
        let mut indices = vec![0; head.wanted * 8];
        socket.read_exact(&mut indices)?;
        let indices = indices.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes) as usize);
        let wanted: Vec<usize> = indices.collect();
        let views = tensors.iter().zip(&inputs);
        let views = views.map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes }).collect();
        let own = own.iter().find(|own| own.name == case.operation.name);
        let own = own.ok_or_else(|| io::Error::other(format!("no operation of `{case}`")))?;
        let problem = Problem { case: &case, fill: head.fill, inputs: views };
        match compute(own, &problem, head.output, &wanted) {
            Ok(expected) => {
                let numbers = expected.iter().flat_map(|expected| [expected.value, expected.soft]);
                let bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
                socket.write_all(&[GOOD])?;
                socket.write_all(&bytes)?;
            }
            Err(why) => {
                socket.write_all(&[BAD])?;
                send_text(socket, why.as_bytes())?;
            }
        }
    }
    Ok(())
}

/// The reference's values, if they can be judged by.
fn compute(own: &Own, problem: &Problem, output: usize, wanted: &[usize]) -> Result<Vec<Expected>, String> {
    let place = || format!("for {}, {} inputs", problem.case, problem.fill);
    let expected =
        catch_unwind(AssertUnwindSafe(|| (own.reference)(problem, output, wanted))).map_err(|_| {
            let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
            format!("panicked {}: {panic}", place())
        })?;
    if expected.len() != wanted.len() {
        let (given, wanted) = (expected.len(), wanted.len());
        return Err(format!("gave {given} values where {wanted} were wanted, {}", place()));
    }
    let may_be_nan = own.may_be_nan || problem.fill == Fill::Nonfinite;
    for (index, Expected { value, soft }) in wanted.iter().zip(&expected) {
        if value.is_nan() && !may_be_nan {
            return Err(format!("gave NaN at element {index}, {}", place()));
        }
        // Nothing is added to a value that is not finite.
        if value.is_finite() && (soft.is_nan() || *soft < 0.0) {
            return Err(format!("gave {soft} as the bound of element {index}, {}", place()));
        }
    }
    Ok(expected)
}

static PANIC: Mutex<String> = Mutex::new(String::new());

/// Keeps what a panic says, with its line, for the answer.
fn note_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{at}: ")).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or("without a message");
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = format!("{place}{text}");
    }));
}

/// A reference that hangs must not outlive its bench.
fn leave_with_parent() {
    let parent = std::os::unix::process::parent_id();
    std::thread::spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(Duration::from_millis(500));
        }
        std::process::exit(1);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `compute` says of a reference, on a case with two elements.
    fn judged(
        fill: Fill,
        may_be_nan: bool,
        reference: fn(&Problem, usize, &[usize]) -> Vec<Expected>,
    ) -> Result<Vec<Expected>, String> {
        let case: Case = "add/f32/rows=1,cols=2".parse().unwrap();
        let own = Own { name: "add", may_be_nan, reference, row: || unreachable!("not asked for") };
        compute(&own, &Problem { case: &case, fill, inputs: Vec::new() }, 0, &[0, 1])
    }

    const NAN: Expected = Expected { value: f64::NAN, soft: 0.0 };
    const RIGHT: Expected = Expected { value: 1.0, soft: 0.5 };

    #[test]
    fn values_that_cannot_be_judged_by_are_refused() {
        assert_eq!(judged(Fill::Uniform, false, |_, _, _| vec![RIGHT; 2]), Ok(vec![RIGHT; 2]));
        let few = judged(Fill::Uniform, false, |_, _, _| vec![RIGHT]).unwrap_err();
        assert!(few.contains("1 values where 2 were wanted"), "{few}");
        let nan = judged(Fill::Uniform, false, |_, _, _| vec![RIGHT, NAN]).unwrap_err();
        assert!(nan.contains("NaN at element 1, for add/f32/rows=1,cols=2, uniform inputs"), "{nan}");
        let negative = judged(Fill::Uniform, false, |_, _, _| vec![Expected { soft: -1.0, ..RIGHT }, RIGHT]);
        assert!(negative.unwrap_err().contains("-1 as the bound of element 0"));
        assert!(
            judged(Fill::Uniform, false, |_, _, _| vec![Expected { soft: f64::NAN, ..RIGHT }, RIGHT])
                .is_err()
        );
    }

    #[test]
    fn nan_is_right_where_the_inputs_or_the_operation_have_it() {
        assert!(judged(Fill::Nonfinite, false, |_, _, _| vec![NAN; 2]).is_ok());
        assert!(judged(Fill::Uniform, true, |_, _, _| vec![NAN; 2]).is_ok());
    }

    #[test]
    fn texts_are_bounded_and_an_end_is_an_end() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        send_text(&ours, b"a text").unwrap();
        assert_eq!(receive_text(&theirs).unwrap().unwrap(), b"a text");
        ours.write_all(&u32::MAX.to_le_bytes()).unwrap();
        assert!(receive_text(&theirs).unwrap_err().to_string().contains("the limit"));
        drop(ours);
        assert!(receive_text(&theirs).unwrap().is_none());
    }
}
