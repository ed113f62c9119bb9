//! The warden: the one parent of one runner, which ends with it, and with which everything of it ends.
//!
//! A fork of the keeper. Where the system allows it, it is the first process of namespaces of its own: whatever
//! descends from the runner is in them, and the kernel ends all of it with the warden, however that ends. Elsewhere
//! it is a subreaper that ends what it finds. It watches two things, the runner and its link to the keeper, and
//! whichever ends first ends all.

use crate::channel::{Channel, ReceiveError};
use crate::isolation::{Isolation, Restrictions};
use crate::keeper::{End, Start};
use crate::sys::process;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change, mount_remount};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getegid, geteuid, getpid, kill_process, pidfd_open,
    set_child_subreaper, waitpid,
};
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How far a warden and its runner are apart from other processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Apart {
    /// Namespaces of processes, mounts and System V memory: root may make them.
    Namespaces,
    /// The same inside a namespace of users, which ordinary users may make on many systems.
    OfUser,
    /// None, and why.
    No(String),
}

impl Apart {
    fn flags(&self) -> i32 {
        let own = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
        match self {
            Apart::Namespaces => own,
            Apart::OfUser => own | libc::CLONE_NEWUSER,
            Apart::No(_) => 0,
        }
    }

    /// What to try where this one cannot be had, and why it cannot.
    pub fn next(&self, why: String) -> Option<Apart> {
        match self {
            Apart::Namespaces => Some(Apart::OfUser),
            Apart::OfUser => Some(Apart::No(why)),
            Apart::No(_) => None,
        }
    }

    fn is_apart(&self) -> bool {
        !matches!(self, Apart::No(_))
    }
}

/// What a warden tells the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub enum Word {
    /// The runner's number, as the processes outside know it, and how it is isolated.
    Started {
        pid: i32,
        isolation: Isolation,
    },
    /// The namespaces are there and cannot be furnished.
    NotApart(String),
    Failed(String),
    Ended(End),
}

/// The keeper's side of a warden.
#[derive(Debug)]
pub struct Warden {
    pub pid: i32,
    /// Closing it ends the warden, and all that is its.
    pub link: Channel,
}

impl Warden {
    /// The next word, if it comes in time.
    pub fn hear(&mut self, patience: Duration) -> Result<Word, ReceiveError> {
        // At least one look: a word may have come long ago.
        let patience = patience.max(Duration::from_millis(1));
        let line = self.link.receive(Instant::now() + patience, patience, || true)?;
        serde_json::from_slice(&line).map_err(|error| ReceiveError::Io(error.into()))
    }
}

/// Forks a warden that starts a runner.
pub fn fork(start: &Start, channel: BorrowedFd, output: BorrowedFd, apart: &Apart) -> io::Result<Warden> {
    let (ours, theirs) = UnixStream::pair()?;
    let outside = rustix::fs::open("/proc", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // Inside a new namespace nobody is anybody until it is said who they are.
    let user = (geteuid().as_raw(), getegid().as_raw());
    let pid = process::fork_into(apart.flags())?;
    if pid == 0 {
        // Above all the ends of the keeper: as long as one of them is open, nobody notices that it is gone.
        let kept = [channel.as_raw_fd(), output.as_raw_fd(), theirs.as_raw_fd(), outside.as_raw_fd()];
        process::close_all_but(&kept);
        // The runner's channel will come to descriptor 3; until then nothing else may, and be overwritten.
        let _ = rustix::io::dup(&outside).map(IntoRawFd::into_raw_fd);
        let link = Channel::new(theirs, 1 << 16);
        let mut post = Post { link, outside, apart: apart.clone(), user, temporary: None };
        let done = post.stand(start, channel, output);
        process::exit_at_once(i32::from(done.is_err()));
    }
    Ok(Warden { pid, link: Channel::new(ours, 1 << 16) })
}

/// The warden itself, in its own process.
struct Post {
    link: Channel,
    /// The process table of the world outside.
    outside: OwnedFd,
    apart: Apart,
    /// The user and the group that it runs for.
    user: (u32, u32),
    /// A folder that has to be removed at the end.
    temporary: Option<PathBuf>,
}

impl Post {
    fn stand(&mut self, start: &Start, channel: BorrowedFd, output: BorrowedFd) -> io::Result<()> {
        if !self.apart.is_apart() {
            set_child_subreaper(Some(getpid()))?;
        } else if let Err(error) = furnish(&self.apart, self.user, start.memory) {
            return self.tell(&Word::NotApart(error.to_string()));
        }
        let (runner, isolation) = match self.start(start, channel, output) {
            Ok(started) => started,
            Err(error) => return self.tell(&Word::Failed(error.to_string())),
        };
        // Its channel and its output end with the runner: nobody else holds them.
        process::close_all_but(&[self.link.as_fd().as_raw_fd(), self.outside.as_raw_fd()]);
        let pidfd = pidfd_open(runner, PidfdFlags::empty())?;
        let pid = self.number_outside(&pidfd)?;
        self.tell(&Word::Started { pid, isolation })?;
        let end = self.watch(runner, &pidfd);
        if !self.apart.is_apart() {
            end_descendants();
        }
        if let Some(folder) = &self.temporary {
            let _ = std::fs::remove_dir_all(folder);
        }
        end.map_or(Ok(()), |end| self.tell(&Word::Ended(end)))
    }

    fn start(
        &mut self,
        start: &Start,
        channel: BorrowedFd,
        output: BorrowedFd,
    ) -> io::Result<(Pid, Isolation)> {
        let mut environment = start.environment.clone();
        let (restrictions, isolation) = if start.isolated {
            let temporary = self.temporary_folder()?;
            let mut writable = start.writable.clone();
            writable.extend([temporary.clone(), PathBuf::from(SHARED)]);
            environment.insert("TMPDIR".to_owned(), temporary.display().to_string());
            let mut isolation = Isolation::default();
            if let Apart::No(why) = &self.apart {
                isolation.missing.push(format!("{NOT_APART}: {why}"));
            }
            let is_apart = self.apart.is_apart();
            (Some(Restrictions::build(&writable, is_apart, &mut isolation.missing)), isolation)
        } else {
            (None, Isolation::off())
        };
        let program = start.command.first().ok_or_else(|| io::Error::other("an empty command"))?;
        let mut command = Command::new(program);
        command
            .args(&start.command[1..])
            .env_clear()
            .envs(&environment)
            .current_dir(&start.folder)
            .stdin(Stdio::null())
            .stdout(output.try_clone_to_owned()?)
            .stderr(output.try_clone_to_owned()?);
        let channel = channel.try_clone_to_owned()?;
        let child =
            process::spawn(&mut command, channel, &start.cores, Some(start.data_limit), restrictions)?;
        let pid =
            Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("a child without a number"))?;
        Ok((pid, isolation))
    }

    /// A folder for temporary files that ends with the runner.
    fn temporary_folder(&mut self) -> io::Result<PathBuf> {
        let folder = if self.apart.is_apart() {
            Path::new(SHARED).join("tmp")
        } else {
            let name = format!("roofline-runner-{}", getpid());
            self.temporary.insert(std::env::temp_dir().join(name)).clone()
        };
        std::fs::create_dir(&folder)?;
        Ok(folder)
    }

    /// The number by which the processes outside know a process.
    fn number_outside(&self, pidfd: &OwnedFd) -> io::Result<i32> {
        let path = format!("self/fdinfo/{}", pidfd.as_raw_fd());
        let info = rustix::fs::openat(&self.outside, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut text = String::new();
        std::fs::File::from(info).read_to_string(&mut text)?;
        let pid = text.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
        pid.filter(|pid| *pid > 0).ok_or_else(|| io::Error::other("a process that nobody outside knows"))
    }

    /// Waits until the runner ends, and says how; or until the keeper lets go.
    fn watch(&mut self, runner: Pid, pidfd: &OwnedFd) -> Option<End> {
        loop {
            let mut fds = [
                PollFd::from_borrowed_fd(self.link.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN),
            ];
            if poll(&mut fds, None).is_err() {
                continue;
            }
            if !fds[1].revents().is_empty() {
                let ended = waitpid(Some(runner), WaitOptions::NOHANG).ok().flatten();
                return ended.and_then(|(_, status)| end_of(status));
            }
            if !fds[0].revents().is_empty() {
                return None;
            }
        }
    }

    fn tell(&mut self, word: &Word) -> io::Result<()> {
        self.link.send(&serde_json::to_string(word).map_err(io::Error::other)?, &[])
    }
}

const NOT_APART: &str =
    "other processes can be seen, and what a runner leaves behind must be looked for: no namespaces";

/// Where memory that programs share by name lies.
const SHARED: &str = "/dev/shm";

/// Settings of the whole machine in the process table: a runner may write there what is its own, and none of these.
const SETTINGS: [&str; 5] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"];

/// Makes new namespaces fit to live in: a process table of their own, and shared memory that ends with them.
fn furnish(apart: &Apart, (user, group): (u32, u32), memory: u64) -> io::Result<()> {
    let said = |what: &'static str| {
        move |error: rustix::io::Errno| io::Error::other(format!("{what}: {}", io::Error::from(error)))
    };
    if *apart == Apart::OfUser {
        // The user stays who they are. Groups must be given up first, or the kernel lets nobody map theirs.
        let outside = |id: u32| format!("{id} {id} 1");
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/gid_map", outside(group))?;
        std::fs::write("/proc/self/uid_map", outside(user))?;
    }
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).map_err(said("mounts"))?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV;
    mount("proc", "/proc", "proc", safe | MountFlags::NOEXEC, None).map_err(said("/proc"))?;
    for path in SETTINGS.iter().filter(|path| Path::new(path).exists()) {
        let fixed = safe | MountFlags::NOEXEC | MountFlags::RDONLY | MountFlags::BIND;
        mount_bind(*path, *path).and_then(|()| mount_remount(*path, fixed, c"")).map_err(said(path))?;
    }
    let options = CString::new(format!("mode=1777,size={memory}"))?;
    mount("roofline", SHARED, "tmpfs", safe, options.as_c_str()).map_err(said(SHARED))
}

/// Ends every process that descends from this one: an orphan becomes a child when its parent ends.
pub fn end_descendants() {
    let deadline = Instant::now() + Duration::from_secs(10);
    let me = getpid().as_raw_nonzero().get();
    while Instant::now() < deadline {
        let all: Vec<Pid> = descendants(me).into_iter().filter_map(Pid::from_raw).collect();
        // One that is stopped has no further children, however fast it was.
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in &all {
                let _ = kill_process(*pid, signal);
            }
        }
        while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
        if all.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Every living descendant of a process, read from the process table.
fn descendants(root: i32) -> Vec<i32> {
    let parents = crate::audit::parents();
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

fn end_of(status: WaitStatus) -> Option<End> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(End::Exit(code)),
        (_, Some(signal)) => Some(End::Signal(signal)),
        _ => None,
    }
}
