//! The conductor's side of a device process: `roofline device cuda:0`.

use crate::channel::{Channel, ReceiveError};
use crate::failure::{Failure, Stop};
use crate::keeper::{Keeper, Start};
use crate::spent::{Ledger, Part};
use roofline_core::case::Device;
use roofline_core::protocol::device::{Done, Facts, MAX_LINE, Reply, State, Step};
use roofline_core::record::Status;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A device process, shared by the instances that have tensors there.
pub type Owner = Rc<RefCell<Process>>;

/// Variable that puts the host's memory in a device's place: for tests where there is none. It names a file by whose lock
/// a runner keeps that device at work.
const STAND_IN: &str = "ROOFLINE_STAND_IN";

/// What a device process sees of the user's environment; which cards there are, and where the compiler is.
const PASSED: [&str; 6] =
    ["PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "XDG_CACHE_HOME", "ROOFLINE_NVRTC"];

/// Copies of gigabytes and the compiler's first work take seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a device is, asked of a process that ends with its answer: for whoever has to know before a run begins. `None`
/// for the CPU, and where there is none.
pub fn facts(program: &Path, device: Device) -> Option<Facts> {
    if device == Device::Cpu {
        return None;
    }
    let (device, stand_in) = words(device);
    let mut asked = Command::new(program);
    asked.arg("device").arg(device).arg("--tell").args(stand_in);
    let told = asked.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    serde_json::from_slice(&told.stdout).ok()
}

/// What the program is told of a device, and of what stands in for it.
fn words(device: Device) -> (String, Vec<String>) {
    let stand_in = std::env::var(STAND_IN).ok();
    (device.to_string(), stand_in.into_iter().flat_map(|lock| ["--stand-in".to_owned(), lock]).collect())
}

/// A process that owns the tensors of a device.
#[derive(Debug)]
pub struct Process {
    channel: Channel,
    pub facts: Facts,
    /// What went wrong first: after that nothing is done any more, and no row is judged by what is not there.
    fault: Option<Fault>,
    /// Where the time that its answers take is written down.
    pub ledger: Option<Ledger>,
}

/// What went wrong in a device process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    OutOfMemory(String),
    Failed(String),
}

impl Process {
    /// Starts the owner of a device's tensors and asks what the device is.
    pub fn start(keeper: &mut Keeper, program: &Path, device: Device) -> Result<Process, Stop> {
        let (ours, theirs) = UnixStream::pair()?;
        let (name, stand_in) = words(device);
        let mut command = vec![program.display().to_string(), "device".to_owned(), name];
        command.extend(stand_in);
        let environment: BTreeMap<String, String> =
            PASSED.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))).collect();
        let start = Start {
            command,
            environment,
            folder: "/".into(),
            cores: crate::stage::available_cores(),
            data_limit: u64::MAX,
            memory: u64::MAX,
            isolated: false,
            writable: Vec::new(),
        };
        keeper.spawn(start, theirs.as_fd(), io::stderr().as_fd())?;
        drop(theirs);
        let mut process = Process {
            channel: Channel::new(ours, MAX_LINE),
            facts: Facts::default(),
            fault: None,
            ledger: None,
        };
        match process.ask(&[Step::Tell], &[]).map(|(mut done, _)| done.pop()) {
            Ok(Some(Done::Told(facts))) => process.facts = *facts,
            Ok(_) => {
                return Err(
                    Failure::new(Status::Refused, format!("`{device}` says nothing of itself")).into()
                );
            }
            Err(Fault::OutOfMemory(why) | Fault::Failed(why)) => {
                return Err(
                    Failure::new(Status::Refused, format!("there is no device `{device}`: {why}")).into()
                );
            }
        }
        Ok(process)
    }

    /// Has steps done, in order.
    pub fn ask(&mut self, steps: &[Step], fds: &[BorrowedFd]) -> Result<(Vec<Done>, Vec<OwnedFd>), Fault> {
        let _device = self.ledger.as_ref().map(|ledger| ledger.enter(Part::Device));
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let asked = self.converse(steps, fds);
        // Too little memory is the case's own, and nothing was changed; anything else is the end.
        self.fault = asked.as_ref().err().filter(|fault| matches!(fault, Fault::Failed(_))).cloned();
        asked
    }

    fn converse(&mut self, steps: &[Step], fds: &[BorrowedFd]) -> Result<(Vec<Done>, Vec<OwnedFd>), Fault> {
        let lost = |why: String| Fault::Failed(format!("the device process is lost: {why}"));
        let line = serde_json::to_string(steps).map_err(|error| lost(error.to_string()))?;
        self.channel.send(&line, fds).map_err(|error| lost(error.to_string()))?;
        let deadline = Instant::now() + PATIENCE;
        let line = loop {
            match self.channel.receive(deadline, PATIENCE, || true) {
                Ok(line) => break line,
                // Its answers are short; an interrupt is handled where rows are.
                Err(ReceiveError::Interrupted) => {}
                Err(error) => return Err(lost(error.to_string())),
            }
        };
        match serde_json::from_slice(&line).map_err(|error| lost(error.to_string()))? {
            Reply::Done(done) if done.len() == steps.len() => Ok((done, self.channel.take_fds())),
            Reply::Done(_) => Err(lost("another number of answers".to_owned())),
            Reply::OutOfMemory(why) => Err(Fault::OutOfMemory(why)),
            Reply::Failed(why) => Err(Fault::Failed(why)),
        }
    }

    /// What has gone wrong, if anything has.
    pub fn fault(&self) -> Option<Failure> {
        let why = match self.fault.as_ref()? {
            Fault::OutOfMemory(why) | Fault::Failed(why) => why,
        };
        Some(Failure::new(Status::Refused, format!("the device failed: {why}")))
    }

    /// What the device does right now.
    pub fn look(&mut self) -> Option<State> {
        match self.ask(&[Step::Look], &[]).ok()?.0.pop() {
            Some(Done::Seen(state)) => Some(state),
            _ => None,
        }
    }

    /// How long the device takes to do next to nothing.
    pub fn nudge(&mut self) -> Option<Duration> {
        match self.ask(&[Step::Nudge], &[]).ok()?.0.pop() {
            Some(Done::Nanoseconds(time)) => Some(Duration::from_nanos(time as u64)),
            _ => None,
        }
    }
}
