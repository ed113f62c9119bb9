//! The conversation of a runner: questions in, answers out.

use crate::channel::{Broken, Channel, Message};
use crate::in_turn::InTurn;
use crate::job::Job;
use crate::kernel::{Ready, Runner, Samples, Visit, failed};
use crate::restore::Restored;
use crate::sys::{float_mode, heap};
use roofline_protocol::messages::{
    Answer, Ask, Launched, MAX_SAMPLES, OutputMode, Place, Prepare, Question, Refusal, Visited, excerpt,
};
use serde_json::Value;
use std::any::Any;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Most sets of tensors that launches take turns with.
const MOST_SETS: u64 = 4096;

/// Hosts a runner until the conductor says `bye` or leaves. This is the whole of `main`.
pub fn serve(runner: impl Runner) -> ExitCode {
    note_places();
    let end = Channel::open().map_err(Broken::from);
    match end.and_then(|channel| Session::new(runner).converse(channel)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(broken) => {
            let _ = writeln!(std::io::stderr(), "error: {broken}");
            ExitCode::from(2)
        }
    }
}

/// Answers every question by the same refusal: for a runner that cannot be, and says why.
pub fn refuse(refusal: Refusal) -> ExitCode {
    let told = Channel::open().map_err(Broken::from).and_then(|mut channel| {
        while let Some(message) = channel.receive()? {
            let Ok(Question { id, ask }) = serde_json::from_slice(&message.line) else { break };
            let answer = Answer { id, ok: None, error: Some(refusal.clone()) };
            let mut line = serde_json::to_vec(&answer).expect("an answer is plain data");
            line.push(b'\n');
            channel.send(&line)?;
            if ask == Ask::Bye {
                break;
            }
        }
        Ok(())
    });
    let why = told.err().map_or(refusal.message, |broken| broken.to_string());
    let _ = writeln!(std::io::stderr(), "error: {why}");
    ExitCode::from(2)
}

/// The state of a conversation: which implementation is ready, if one is.
pub struct Session<R> {
    runner: R,
    ready: Option<Ready>,
    /// Whether outputs are restored before its launches.
    restores: bool,
}

/// An answer as a line, and whether it was the last one.
#[derive(Debug)]
pub struct Answered {
    pub line: Vec<u8>,
    pub last: bool,
}

impl<R: Runner> Session<R> {
    pub fn new(runner: R) -> Session<R> {
        Session { runner, ready: None, restores: false }
    }

    /// Answers every question of a channel.
    pub fn converse(mut self, mut channel: Channel) -> Result<(), Broken> {
        while let Some(message) = channel.receive()? {
            let answered = self.answer(message)?;
            channel.send(&answered.line)?;
            if answered.last {
                break;
            }
        }
        Ok(())
    }

    /// Does what a line asks. Every numbered question has an answer; other lines end the session.
    pub fn answer(&mut self, message: Message) -> Result<Answered, Broken> {
        let line = &message.line;
        let breach = |why: String| Broken::Breach(format!("{why}; the line began {}", excerpt(line)));
        let value: Value =
            serde_json::from_slice(line).map_err(|error| breach(format!("not a question: {error}")))?;
        let id = value.get("id").and_then(Value::as_u64);
        let id = id.ok_or_else(|| breach("a question without a number".to_owned()))?;
        let (result, last) = match serde_json::from_value::<Question>(value) {
            Ok(question) => {
                let last = question.ask == Ask::Bye;
                (self.obey(question.ask, message.files), last)
            }
            Err(error) => (Err(failed(format!("not understood: {error}"))), false),
        };
        let answer = match result {
            Ok(ok) => Answer { id, ok: Some(ok), error: None },
            Err(refusal) => Answer { id, ok: None, error: Some(refusal) },
        };
        let mut line = serde_json::to_vec(&answer).expect("an answer is plain data");
        line.push(b'\n');
        Ok(Answered { line, last })
    }

    fn obey(&mut self, ask: Ask, files: Vec<OwnedFd>) -> Result<Value, Refusal> {
        match ask {
            Ask::Hello { .. } => Ok(plain(self.runner.hello())),
            Ask::Prepare(request) => {
                self.ready = None;
                let sets = request.tensors.iter().map(Place::count).max().unwrap_or(1);
                let ready = if sets > 1 {
                    self.prepare_sets(&request, files, sets)?
                } else {
                    self.prepare(*request, files)?
                };
                let answer = plain(&ready.prepared);
                self.ready = Some(ready);
                Ok(answer)
            }
            Ask::Launch { count } => {
                let (allocations, float_mode_changed) = self.run(|Ready { kernel, .. }| {
                    let (launched, counted) = heap::counted(count, || kernel.repeat(count));
                    launched?;
                    if count > 0 {
                        kernel.settle()?;
                    }
                    Ok(counted.filter(|_| kernel.uses_our_heap()))
                })?;
                Ok(plain(Launched { float_mode_changed, allocations }))
            }
            Ask::Visit { warmup, samples, batch } => {
                if samples > MAX_SAMPLES || batch == 0 {
                    return Err(failed(format!(
                        "a visit of {samples} samples of {batch} launches; at most {MAX_SAMPLES} of at least 1"
                    )));
                }
                let visit = Visit { warmup, samples, batch };
                let ((taken, output), float_mode_changed) =
                    self.run(|ready| Ok((ready.kernel.visit(&visit)?, ready.prepared.output)))?;
                let Samples { nanoseconds, settling } = taken;
                let copies = (output == OutputMode::Fresh || self.restores) && samples > 0;
                let copy_nanoseconds = copies.then(|| settling / f64::from(samples));
                Ok(plain(Visited { nanoseconds, copy_nanoseconds, float_mode_changed, ..Visited::default() }))
            }
            Ask::Release | Ask::Bye => {
                let ready = self.ready.take();
                catch(|| {
                    drop(ready);
                    Ok(())
                })?;
                Ok(Value::Object(serde_json::Map::new()))
            }
        }
    }

    /// Makes an implementation ready on one set of tensors.
    fn prepare(&mut self, request: Prepare, files: Vec<OwnedFd>) -> Result<Ready, Refusal> {
        let mut job = Job::new(request, files)?;
        let outputs = job.take_restores();
        let mut ready = catch(|| self.runner.prepare(job))?;
        self.restores = !outputs.is_empty();
        if self.restores {
            ready.kernel = Box::new(Restored { kernel: ready.kernel, outputs });
        }
        Ok(ready)
    }

    /// The same on several, which launches take turns with.
    fn prepare_sets(&mut self, request: &Prepare, files: Vec<OwnedFd>, sets: u64) -> Result<Ready, Refusal> {
        if sets > MOST_SETS {
            return Err(failed(format!("{sets} sets of tensors; {MOST_SETS} is the limit")));
        }
        let mut all = Vec::new();
        for set in 0..sets {
            let tensors = request.tensors.iter().map(|place| place.of_set(set)).collect();
            let again = files.iter().map(OwnedFd::try_clone).collect::<std::io::Result<_>>();
            let again = again.map_err(|error| failed(format!("descriptors of set {set}: {error}")))?;
            all.push(self.prepare(Prepare { tensors, ..request.clone() }, again)?);
        }
        let prepared = all[0].prepared.clone();
        let kernels = all.into_iter().map(|ready| ready.kernel).collect();
        Ok(Ready { prepared, kernel: Box::new(InTurn::new(kernels)) })
    }

    /// Lets the kernel work, and says beside its result whether it left the float mode changed.
    fn run<T>(&mut self, work: impl FnOnce(&mut Ready) -> Result<T, Refusal>) -> Result<(T, bool), Refusal> {
        let mut ready = self.ready.take().ok_or_else(|| failed("nothing is prepared"))?;
        let (result, changed) = float_mode::guard(|| catch(|| work(&mut ready)));
        // A kernel that panicked or raised an error is not trusted with another launch.
        let result = result?;
        self.ready = Some(ready);
        Ok((result, changed))
    }
}

/// A panic is a failure of the implementation, not of the runner.
fn catch<T>(work: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(failed(message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let place = std::mem::take(&mut *PLACE.lock().unwrap_or_else(PoisonError::into_inner));
    let place = if place.is_empty() { place } else { format!(", at {place}") };
    format!("panicked: {}{place}", text.unwrap_or("without a message"))
}

/// The line of the last panic: its author looks for it.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Keeps the place of a panic, which its message does not have.
fn note_places() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
        print(panic);
    }));
}

fn plain(answer: impl serde::Serialize) -> Value {
    serde_json::to_value(answer).expect("answers are plain data")
}
