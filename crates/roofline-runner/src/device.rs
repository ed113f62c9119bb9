//! The device process: `roofline device cuda:0`, trusted owner of the tensors on a device.
//!
//! No kernel under test runs here. It makes memory that runners map, copies between that and the
//! [mirror](roofline_protocol::device) that it shares with the conductor, poisons, hashes and searches it
//! where it lies, and empties the device's caches. What a device does behind that is a [`Driver`]: CUDA, or the
//! [stand-in](stand_in) over the host's memory with which all of it is tested where there is no device.

mod cuda;
pub(crate) mod stand_in;

use crate::channel::{Broken, Channel};
use crate::sys::mapping::{Mapping, page_size};
use crate::sys::tensor::{Input, Output};
use roofline_protocol::device::{Done, Facts, MAX_LINE, Part, Reply, State, Step};
use stand_in::StandIn;
use std::collections::BTreeMap;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// What a device must be able to do with memory. Bounds were checked by whoever calls.
pub(crate) trait Driver {
    type Memory;

    fn facts(&self) -> Facts;
    /// New memory, and a descriptor that other processes map it by.
    fn make(&mut self, bytes: usize) -> Result<(Self::Memory, OwnedFd), Fault>;
    /// Copies parts of `from` to the same places.
    fn push(&mut self, to: &mut Self::Memory, from: &[u8], parts: &[Part]) -> Result<(), Fault>;
    /// Copies parts to the same places of `to`.
    fn pull(&mut self, from: &Self::Memory, to: &mut [u8], parts: &[Part]) -> Result<(), Fault>;
    fn repeat(&mut self, to: &mut Self::Memory, start: u64, code: &[u8], count: u64) -> Result<(), Fault>;
    fn hash(&mut self, of: &Self::Memory, part: Part) -> Result<u64, Fault>;
    fn find(&mut self, of: &Self::Memory, start: u64, code: &[u8], count: u64) -> Result<Option<u64>, Fault>;
    fn chill(&mut self) -> Result<(), Fault>;
    fn nudge(&mut self) -> Result<f64, Fault>;
    fn look(&mut self) -> State;
}

/// Why a step was not done.
#[derive(Debug)]
pub(crate) enum Fault {
    OutOfMemory(String),
    Failed(String),
}

impl Fault {
    pub(crate) fn failed(why: impl ToString) -> Fault {
        Fault::Failed(why.to_string())
    }
}

/// Owns the tensors of a device until the conductor leaves: of `cuda:N`, or of the host's memory in its place, where work
/// goes on while the lock of a file is held.
pub fn serve(device: &str, stand_in: Option<PathBuf>) -> ExitCode {
    let ended = match (ordinal(device), stand_in) {
        (None, _) => Err(Broken::Breach(format!("`{device}` is no device of this process: write `cuda:0`"))),
        (_, Some(lock)) => converse(StandIn { lock }),
        (Some(ordinal), None) => match cuda::Cuda::open(ordinal) {
            Ok(driver) => converse(driver),
            Err(why) => refuse(&why.to_string()),
        },
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(broken) => {
            let _ = writeln!(std::io::stderr(), "error: {broken}");
            ExitCode::from(2)
        }
    }
}

fn ordinal(device: &str) -> Option<usize> {
    device.strip_prefix("cuda:").and_then(|number| number.parse().ok())
}

/// Prints what a device is, for a conductor that has to know before it begins; without a context on it.
pub fn tell(device: &str, stand_in: Option<PathBuf>) -> ExitCode {
    let facts = match (ordinal(device), stand_in) {
        (Some(_), Some(lock)) => Some(StandIn { lock }.facts()),
        (Some(ordinal), None) => {
            roofline_cuda::devices().ok().and_then(|all| all.get(ordinal).map(|info| cuda::facts_of(info, 0)))
        }
        (None, _) => None,
    };
    let Some(facts) = facts else { return ExitCode::from(5) };
    let text = serde_json::to_string(&facts).expect("facts are plain data");
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

/// The devices that this process may see, a line each; or in one line why there is none.
pub fn list() -> Result<Vec<(String, String)>, String> {
    let devices = roofline_cuda::devices().map_err(|why| why.to_string())?;
    let told = devices.iter().map(|device| {
        let about = format!(
            "{}, {}, {} SMs, CUDA {}",
            device.name, device.uuid, device.multiprocessors, device.driver
        );
        (format!("cuda:{}", device.ordinal), about)
    });
    Ok(told.collect())
}

/// Answers every line by the same reason.
fn refuse(why: &str) -> Result<(), Broken> {
    let mut channel = Channel::open()?.with_longest(MAX_LINE);
    while channel.receive()?.is_some() {
        channel.send(&line(&Reply::Failed(why.to_owned())))?;
    }
    Ok(())
}

fn converse(driver: impl Driver) -> Result<(), Broken> {
    let mut channel = Channel::open()?.with_longest(MAX_LINE);
    let mut owner = Owner { driver, tensors: BTreeMap::new(), next: 0 };
    while let Some(message) = channel.receive()? {
        let steps: Vec<Step> = serde_json::from_slice(&message.line)
            .map_err(|error| Broken::Breach(format!("no list of steps: {error}")))?;
        let (reply, files) = owner.work(steps, message.files);
        let files: Vec<BorrowedFd> = files.iter().map(AsFd::as_fd).collect();
        channel.send_with(&line(&reply), &files)?;
    }
    Ok(())
}

fn line(reply: &Reply) -> Vec<u8> {
    let mut line = serde_json::to_vec(reply).expect("an answer is plain data");
    line.push(b'\n');
    line
}

/// All tensors of a device.
struct Owner<D: Driver> {
    driver: D,
    tensors: BTreeMap<u32, Owned<D::Memory>>,
    next: u32,
}

struct Owned<M> {
    memory: M,
    mirror: Mirror,
    size: u64,
}

/// The host's side of a tensor: that of an input is sealed, and can only be read here.
enum Mirror {
    Sealed(Input<u8>),
    Open(Output<u8>),
}

impl Mirror {
    fn map(file: &OwnedFd, size: usize) -> Result<Mirror, Fault> {
        if let Ok(mapping) = Mapping::new(file, size, true) {
            return Ok(Mirror::Open(Output::new(Arc::new(mapping), 0, size)));
        }
        let mapping =
            Mapping::new(file, size, false).map_err(|error| Fault::failed(format!("mirror: {error}")))?;
        Ok(Mirror::Sealed(Input::new(Arc::new(mapping), 0, size)))
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Mirror::Sealed(input) => input,
            Mirror::Open(output) => output,
        }
    }
}

impl<D: Driver> Owner<D> {
    /// Does steps in order, as far as they can be done.
    fn work(&mut self, steps: Vec<Step>, files: Vec<OwnedFd>) -> (Reply, Vec<OwnedFd>) {
        let (mut mirrors, mut made) = (files.into_iter(), Vec::new());
        let done = steps.into_iter().map(|step| self.step(step, &mut mirrors, &mut made)).collect();
        let reply = match done {
            Ok(done) => Reply::Done(done),
            Err(Fault::OutOfMemory(why)) => Reply::OutOfMemory(why),
            Err(Fault::Failed(why)) => Reply::Failed(why),
        };
        if !matches!(reply, Reply::Done(_)) {
            made.clear();
        }
        (reply, made)
    }

    fn step(
        &mut self,
        step: Step,
        mirrors: &mut impl Iterator<Item = OwnedFd>,
        made: &mut Vec<OwnedFd>,
    ) -> Result<Done, Fault> {
        match step {
            Step::Tell => return Ok(Done::Told(Box::new(self.driver.facts()))),
            Step::Make { size } => {
                let mirror =
                    mirrors.next().ok_or_else(|| Fault::failed("a tensor came without its mirror"))?;
                return self.make(size, &mirror, made);
            }
            Step::Drop { tensor } => drop(self.tensors.remove(&tensor)),
            Step::Push { tensor, parts } => {
                let owned = find(&mut self.tensors, tensor)?;
                parts.iter().try_for_each(|part| owned.check(*part))?;
                self.driver.push(&mut owned.memory, owned.mirror.bytes(), &parts)?;
            }
            Step::Pull { tensor, parts } => {
                let owned = find(&mut self.tensors, tensor)?;
                parts.iter().try_for_each(|part| owned.check(*part))?;
                let Mirror::Open(mirror) = &mut owned.mirror else {
                    return Err(Fault::failed("the mirror of an input is sealed"));
                };
                self.driver.pull(&owned.memory, mirror, &parts)?;
            }
            Step::Repeat { tensor, start, code, count } => {
                let owned = find(&mut self.tensors, tensor)?;
                owned.check(elements(start, &code, count)?)?;
                self.driver.repeat(&mut owned.memory, start, &code, count)?;
            }
            Step::Hash { tensor, part } => {
                let owned = find(&mut self.tensors, tensor)?;
                owned.check(part)?;
                return Ok(Done::Hash(self.driver.hash(&owned.memory, part)?));
            }
            Step::Find { tensor, start, code, count } => {
                let owned = find(&mut self.tensors, tensor)?;
                owned.check(elements(start, &code, count)?)?;
                return Ok(Done::Found(self.driver.find(&owned.memory, start, &code, count)?));
            }
            Step::Chill => self.driver.chill()?,
            Step::Nudge => return Ok(Done::Nanoseconds(self.driver.nudge()?)),
            Step::Look => return Ok(Done::Seen(self.driver.look())),
        }
        Ok(Done::Nothing)
    }

    fn make(&mut self, size: u64, mirror: &OwnedFd, made: &mut Vec<OwnedFd>) -> Result<Done, Fault> {
        let facts = self.driver.facts();
        let bytes =
            usize::try_from(size).ok().filter(|bytes| *bytes > 0 && bytes.is_multiple_of(page_size()));
        let bytes = bytes.filter(|_| size.is_multiple_of(facts.granule.max(1)));
        let bytes = bytes.ok_or_else(|| {
            Fault::failed(format!("{size} bytes are no multiple of the granule of {}", facts.granule))
        })?;
        let mirror = Mirror::map(mirror, bytes)?;
        let (memory, file) = self.driver.make(bytes)?;
        let number = self.next;
        self.next += 1;
        self.tensors.insert(number, Owned { memory, mirror, size });
        made.push(file);
        Ok(Done::Made(number))
    }
}

fn find<M>(tensors: &mut BTreeMap<u32, Owned<M>>, number: u32) -> Result<&mut Owned<M>, Fault> {
    tensors.get_mut(&number).ok_or_else(|| Fault::failed(format!("there is no tensor {number}")))
}

/// The bytes of some elements.
fn elements(start: u64, code: &[u8], count: u64) -> Result<Part, Fault> {
    let length = (code.len() as u64).checked_mul(count).filter(|_| matches!(code.len(), 1 | 2 | 4 | 8));
    Ok((start, length.ok_or_else(|| Fault::failed("elements of 1, 2, 4 or 8 bytes"))?))
}

impl<M> Owned<M> {
    fn check(&self, (start, length): Part) -> Result<(), Fault> {
        match start.checked_add(length) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(Fault::failed(format!("{length} bytes from {start} on, of {}", self.size))),
        }
    }
}

#[cfg(test)]
mod tests;
