//! The keeper: it starts runners, each under a warden, and ends all when the conductor is gone.
//!
//! A small process of the same binary that answers one request at a time. Wardens end when the keeper
//! lets go of them, by request or because it ended itself, in whatever way; with them all that is theirs.

use crate::channel::{Channel, ReceiveError};
use crate::isolation::Isolation;
use crate::sys;
use crate::warden::{self, Apart, Warden, Word, end_descendants};
use roofline_core::protocol::Hello;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What to start, with everything that it may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub command: Vec<String>,
    /// The whole environment.
    pub environment: BTreeMap<String, String>,
    pub folder: PathBuf,
    pub cores: Vec<u32>,
    /// Limit of address space for private memory, in bytes.
    pub data_limit: u64,
    /// Limit of memory; what it keeps in files of shared memory is bounded by it too.
    pub memory: u64,
    /// Whether it is isolated, and the folders that it may write to then.
    pub isolated: bool,
    pub writable: Vec<PathBuf>,
}

/// A process that was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub pid: i32,
    /// Its parent, to which everything comes that it leaves behind.
    pub warden: i32,
    pub isolation: Isolation,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Exit(i32),
    Signal(i32),
}

#[derive(Debug, Serialize, Deserialize)]
enum Request {
    /// Comes with two descriptors: the runner's channel, and where its output goes.
    Start(Start),
    /// Waits up to `milliseconds` for the process to end.
    Wait { pid: i32, milliseconds: u64 },
    /// Ends the process and everything that descends from it.
    Kill { pid: i32 },
}

#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Started(Started),
    Ended(Option<End>),
    Failed(String),
}

/// The conductor's side.
#[derive(Debug)]
pub struct Keeper {
    channel: Channel,
    /// What runners last said of themselves, by name: the line, and what it means. A run starts many processes of one
    /// runner, which say the same, and hundreds of offers take longer to understand than a short row to launch.
    pub(crate) greetings: BTreeMap<String, (Vec<u8>, Arc<Hello>)>,
}

impl Keeper {
    /// Starts the keeper: `program keeper`.
    pub fn start(program: &Path) -> io::Result<Keeper> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.arg("keeper").stdin(Stdio::null()).stdout(Stdio::null());
        sys::process::spawn(&mut command, theirs.into(), &[], None, None)?;
        Ok(Keeper { channel: Channel::new(ours, 1 << 20), greetings: BTreeMap::new() })
    }

    /// Starts a process with `channel` as its descriptor 3 and `output` as its stdout and stderr.
    pub fn spawn(&mut self, start: Start, channel: BorrowedFd, output: BorrowedFd) -> io::Result<Started> {
        match self.ask(&Request::Start(start), &[channel, output])? {
            Reply::Started(started) => Ok(started),
            Reply::Failed(why) => Err(io::Error::other(why)),
            Reply::Ended(_) => Err(io::Error::other("the keeper answered another question")),
        }
    }

    /// How the process ended, or `None` if it still runs after `patience`.
    pub fn wait(&mut self, pid: i32, patience: Duration) -> io::Result<Option<End>> {
        let request = Request::Wait { pid, milliseconds: patience.as_millis() as u64 };
        match self.ask(&request, &[])? {
            Reply::Ended(end) => Ok(end),
            other => Err(io::Error::other(format!("the keeper answered {other:?}"))),
        }
    }

    /// Ends the process and all that descends from it.
    pub fn kill(&mut self, pid: i32) -> io::Result<Option<End>> {
        match self.ask(&Request::Kill { pid }, &[])? {
            Reply::Ended(end) => Ok(end),
            other => Err(io::Error::other(format!("the keeper answered {other:?}"))),
        }
    }

    fn ask(&mut self, request: &Request, fds: &[BorrowedFd]) -> io::Result<Reply> {
        let line = serde_json::to_string(request).map_err(io::Error::other)?;
        let gone = |why: String| {
            io::Error::new(
                io::ErrorKind::BrokenPipe,
                format!("the keeper is gone, and all runners with it: {why}"),
            )
        };
        self.channel.send(&line, fds).map_err(|error| gone(error.to_string()))?;
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            return match self.channel.receive(deadline, Duration::from_secs(1), || true) {
                Ok(line) => serde_json::from_slice(&line).map_err(io::Error::other),
                // The keeper answers at once; an interrupt is handled where rows are.
                Err(ReceiveError::Interrupted) => continue,
                Err(error) => Err(gone(error.to_string())),
            };
        }
    }
}

/// The keeper's own main function. Returns when the conductor is gone and nothing is left.
pub fn serve() -> io::Result<()> {
    // What a warden leaves that was killed itself becomes a child of the keeper.
    set_child_subreaper(Some(getpid()))?;
    let socket = UnixStream::from(sys::process::take_channel());
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    let mut channel = Channel::new(socket, 1 << 20);
    let forever = Duration::from_secs(3600 * 24 * 365);
    let mut house = House { apart: Apart::Namespaces, wardens: BTreeMap::new() };
    while let Ok(line) = channel.receive(Instant::now() + forever, forever, || true) {
        let fds = channel.take_fds();
        let reply = match serde_json::from_slice(&line) {
            Ok(request) => house.answer(request, fds),
            Err(error) => Reply::Failed(error.to_string()),
        };
        let reply = serde_json::to_string(&reply).map_err(io::Error::other)?;
        if channel.send(&reply, &[]).is_err() {
            break;
        }
    }
    house.wardens.clear();
    end_descendants();
    Ok(())
}

/// What the keeper keeps.
struct House {
    /// As far apart as this system has turned out to allow.
    apart: Apart,
    /// By the number of their runner.
    wardens: BTreeMap<i32, Warden>,
}

impl House {
    fn answer(&mut self, request: Request, fds: Vec<OwnedFd>) -> Reply {
        match request {
            Request::Start(start) => match self.launch(&start, fds) {
                Ok(started) => Reply::Started(started),
                Err(error) => Reply::Failed(error.to_string()),
            },
            Request::Wait { pid, milliseconds } => {
                Reply::Ended(self.wait_for(pid, Duration::from_millis(milliseconds.min(60_000))))
            }
            Request::Kill { pid } => {
                let end = self.wait_for(pid, Duration::ZERO);
                self.dismiss(pid);
                Reply::Ended(end)
            }
        }
    }

    fn launch(&mut self, start: &Start, fds: Vec<OwnedFd>) -> io::Result<Started> {
        let Ok([channel, output]) = <[OwnedFd; 2]>::try_from(fds) else {
            return Err(io::Error::other("a start comes with two descriptors"));
        };
        let mut apart = if start.isolated { self.apart.clone() } else { Apart::No(String::new()) };
        loop {
            let why = match warden::fork(start, channel.as_fd(), output.as_fd(), &apart) {
                Ok(mut warden) => match warden.hear(PATIENCE) {
                    Ok(Word::Started { pid, isolation }) => {
                        if start.isolated {
                            self.apart = apart;
                        }
                        let started = Started { pid, warden: warden.pid, isolation };
                        self.wardens.insert(pid, warden);
                        return Ok(started);
                    }
                    Ok(Word::NotApart(why)) => {
                        dismiss(warden);
                        why
                    }
                    Ok(Word::Failed(why)) => {
                        dismiss(warden);
                        return Err(io::Error::other(why));
                    }
                    other => {
                        dismiss(warden);
                        return Err(io::Error::other(format!("its warden did not begin: {other:?}")));
                    }
                },
                Err(error) => error.to_string(),
            };
            apart = apart.next(why.clone()).ok_or_else(|| io::Error::other(why))?;
        }
    }

    /// Ends what is left of a runner.
    fn dismiss(&mut self, pid: i32) {
        if let Some(warden) = self.wardens.remove(&pid) {
            dismiss(warden);
        }
    }

    fn wait_for(&mut self, pid: i32, patience: Duration) -> Option<End> {
        let end = match self.wardens.get_mut(&pid)?.hear(patience) {
            Ok(Word::Ended(end)) => end,
            Err(ReceiveError::Closed(_)) => End::Signal(libc::SIGKILL),
            _ => return None,
        };
        self.dismiss(pid);
        Some(end)
    }
}

/// Lets go of a warden and waits until nothing of it is left.
fn dismiss(warden: Warden) {
    let Some(pid) = Pid::from_raw(warden.pid) else { return };
    drop(warden);
    let start = Instant::now();
    // One that the system itself holds fast ends when it lets go; whoever waits has other things to do.
    while let Ok(None) = waitpid(Some(pid), WaitOptions::NOHANG)
        && start.elapsed() < 2 * PATIENCE
    {
        if start.elapsed() > PATIENCE {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// For what a warden does at once, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(12);
