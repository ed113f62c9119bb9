//! The keeper: parent of all runners, which ends every descendant when the conductor is gone.
//!
//! A small process of the same binary. It is a child subreaper, so that whatever a runner leaves
//! behind becomes its child; it answers one request at a time; when its channel closes, for
//! whatever reason, it kills all that descends from it and ends.

use crate::channel::{Channel, ReceiveError};
use crate::sys;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, set_child_subreaper,
    waitpid,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What to start, with everything that it may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub command: Vec<String>,
    /// The whole environment.
    pub environment: BTreeMap<String, String>,
    pub folder: PathBuf,
    pub cores: Vec<u32>,
    /// Limit of private memory, in bytes.
    pub data_limit: u64,
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
    /// Kills the process, its group, and everything that was orphaned to the keeper.
    Kill { pid: i32 },
}

#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Started(i32),
    Ended(Option<End>),
    Failed(String),
}

/// The conductor's side.
#[derive(Debug)]
pub struct Keeper {
    channel: Channel,
}

impl Keeper {
    /// Starts the keeper: `program keeper`.
    pub fn start(program: &Path) -> io::Result<Keeper> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.arg("keeper").stdin(Stdio::null()).stdout(Stdio::null());
        sys::process::spawn(&mut command, theirs.into(), &[], None)?;
        Ok(Keeper { channel: Channel::new(ours, 1 << 20) })
    }

    /// Starts a process with `channel` as its descriptor 3 and `output` as its stdout and stderr.
    pub fn spawn(&mut self, start: Start, channel: BorrowedFd, output: BorrowedFd) -> io::Result<i32> {
        match self.ask(&Request::Start(start), &[channel, output])? {
            Reply::Started(pid) => Ok(pid),
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
        self.channel.send(&line, fds)?;
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            return match self.channel.receive(deadline, Duration::from_secs(1), || true) {
                Ok(line) => serde_json::from_slice(&line).map_err(io::Error::other),
                // The keeper answers at once; an interrupt is handled where rows are.
                Err(ReceiveError::Interrupted) => continue,
                Err(error) => Err(io::Error::other(format!("the keeper is gone: {error}"))),
            };
        }
    }
}

/// The keeper's own main function. Returns when the conductor is gone and nothing is left.
pub fn serve() -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let socket = UnixStream::from(sys::process::take_channel());
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    let mut channel = Channel::new(socket, 1 << 20);
    let forever = Duration::from_secs(3600 * 24 * 365);
    let mut runners = Vec::new();
    while let Ok(line) = channel.receive(Instant::now() + forever, forever, || true) {
        let fds = channel.take_fds();
        let reply = match serde_json::from_slice(&line) {
            Ok(request) => answer(request, fds, &mut runners),
            Err(error) => Reply::Failed(error.to_string()),
        };
        let reply = serde_json::to_string(&reply).map_err(io::Error::other)?;
        if channel.send(&reply, &[]).is_err() {
            break;
        }
    }
    kill_children(|_| true);
    Ok(())
}

/// `runners` are the processes that were started here and have not ended.
fn answer(request: Request, fds: Vec<OwnedFd>, runners: &mut Vec<i32>) -> Reply {
    match request {
        Request::Start(start) => match launch(&start, fds) {
            Ok(pid) => {
                runners.push(pid);
                Reply::Started(pid)
            }
            Err(error) => Reply::Failed(error.to_string()),
        },
        Request::Wait { pid, milliseconds } => {
            let end = wait_for(pid, Duration::from_millis(milliseconds.min(60_000)));
            if end.is_some() {
                runners.retain(|runner| *runner != pid);
            }
            Reply::Ended(end)
        }
        Request::Kill { pid } => {
            let end = wait_for(pid, Duration::ZERO);
            if let Some(pid) = Pid::from_raw(pid) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            let end = end.or_else(|| wait_for(pid, Duration::from_secs(10)));
            runners.retain(|runner| *runner != pid);
            kill_children(|child| !runners.contains(&child));
            Reply::Ended(end)
        }
    }
}

fn launch(start: &Start, fds: Vec<OwnedFd>) -> io::Result<i32> {
    let Ok([channel, output]) = <[OwnedFd; 2]>::try_from(fds) else {
        return Err(io::Error::other("a start comes with two descriptors"));
    };
    let program = start.command.first().ok_or_else(|| io::Error::other("an empty command"))?;
    let mut command = Command::new(program);
    command
        .args(&start.command[1..])
        .env_clear()
        .envs(&start.environment)
        .current_dir(&start.folder)
        .stdin(Stdio::null())
        .stdout(output.as_fd().try_clone_to_owned()?)
        .stderr(output);
    let child = sys::process::spawn(&mut command, channel, &start.cores, Some(start.data_limit))?;
    Ok(child.id() as i32)
}

fn wait_for(pid: i32, patience: Duration) -> Option<End> {
    let pid = Pid::from_raw(pid)?;
    let deadline = Instant::now() + patience;
    loop {
        match waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => return end_of(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            _ => return None,
        }
    }
}

fn end_of(status: WaitStatus) -> Option<End> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(End::Exit(code)),
        (_, Some(signal)) => Some(End::Signal(signal)),
        _ => None,
    }
}

/// Children of this process, read from the process table.
pub fn children_of(parent: i32) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name stands in parentheses and may hold anything.
    stat[stat.rfind(')')? + 1..].split_whitespace().nth(1)?.parse().ok()
}

/// Ends the children that `chosen` picks, and theirs: an orphan becomes a child when its parent ends.
fn kill_children(chosen: impl Fn(i32) -> bool) {
    let me = getpid().as_raw_nonzero().get();
    loop {
        let children: Vec<i32> = children_of(me).into_iter().filter(|pid| chosen(*pid)).collect();
        if children.is_empty() {
            return;
        }
        for pid in children.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}
