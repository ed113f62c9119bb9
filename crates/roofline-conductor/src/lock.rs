//! One run at a time on a machine: two would measure each other.
//!
//! The lock is a name in the system's abstract socket space: it belongs to the whole machine and to
//! no folder, needs no permission, and is free again whatever happens to the process that held it.
//!
//! Whoever waits holds a second name, the place next in line, and nobody takes the lock without having
//! held that one: runs that follow each other without a gap cannot keep a third waiting for ever. A
//! waiting process is connected to the holder's socket, and so wakes when that is gone.

use crate::sys::signals;
use roofline_core::case::Device;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::{Duration, Instant};

const NAME: &str = "roofline-run";

/// Variable that names another lock: for tests that must not wait for a run beside them.
const VARIABLE: &str = "ROOFLINE_LOCK";

/// How often a waiting process looks whether it was interrupted or has waited long enough.
const TICK: Duration = Duration::from_millis(100);
/// How often it says that it waits.
const REMINDER: Duration = Duration::from_secs(60);
/// Longest command line of a holder that is shown.
const LONGEST_COMMAND: usize = 100;

/// Held for the length of a run.
#[derive(Debug)]
pub struct Lock {
    _socket: UnixListener,
}

/// Takes the lock of the machine's processor or of another device; a `uuid` names that whatever its number is for this
/// user. `waiting` is told who holds it, once and then every minute.
///
/// After `patience` it is an error of the kind `TimedOut`, after an interrupt of the kind `Interrupted`.
pub fn take(
    device: Device,
    uuid: Option<&str>,
    patience: Option<Duration>,
    waiting: impl FnMut(&str),
) -> io::Result<Lock> {
    take_name(&name(device, uuid), patience, waiting)
}

/// Takes the machine's lock if it is free; else what is known of the holder.
pub fn try_take() -> io::Result<Result<Lock, String>> {
    let name = name(Device::Cpu, None);
    Ok(bind(&name)?.ok_or_else(|| holder(&name)))
}

/// Every device has a lock of its own: runs on different ones do not wait for each other. Its number will not do, for
/// what is `cuda:0` to one user may be `cuda:1` to another.
fn name(device: Device, uuid: Option<&str>) -> String {
    let name = std::env::var(VARIABLE).unwrap_or_else(|_| NAME.to_owned());
    match (device, uuid) {
        (Device::Cpu, _) => name,
        (_, Some(uuid)) => format!("{name}-{uuid}"),
        (_, None) => format!("{name}-{device}"),
    }
}

fn take_name(name: &str, patience: Option<Duration>, waiting: impl FnMut(&str)) -> io::Result<Lock> {
    let mut wait = Wait { name, start: Instant::now(), patience, told: None, waiting };
    let next_in_line = wait.until_free(&format!("{name}-next"))?;
    let lock = wait.until_free(name)?;
    drop(next_in_line);
    Ok(lock)
}

/// The lock of this name; `None` where another process holds it.
fn bind(name: &str) -> io::Result<Option<Lock>> {
    match UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?) {
        Ok(socket) => Ok(Some(Lock { _socket: socket })),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(error),
    }
}

/// Waiting for a run to end.
struct Wait<'a, F> {
    /// Of the lock itself, whatever is waited for.
    name: &'a str,
    start: Instant,
    patience: Option<Duration>,
    told: Option<Instant>,
    waiting: F,
}

impl<F: FnMut(&str)> Wait<'_, F> {
    fn until_free(&mut self, name: &str) -> io::Result<Lock> {
        // One connection for the whole wait: nobody accepts any, and a queue has an end.
        let mut connection = None;
        loop {
            if let Some(lock) = bind(name)? {
                return Ok(lock);
            }
            if self.told.is_none_or(|told| told.elapsed() >= REMINDER) {
                (self.waiting)(&holder(self.name));
                self.told = Some(Instant::now());
            }
            if self.patience.is_some_and(|patience| self.start.elapsed() >= patience) {
                let why = format!("{} holds it", holder(self.name));
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            connection = pause(connection.or_else(|| reach(name).ok()));
            if signals::interrupted() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
    }
}

/// Waits for a tick, or until the other end of a connection is gone; the connection, if it still is one.
fn pause(connection: Option<OwnedFd>) -> Option<OwnedFd> {
    let Some(stream) = connection else {
        // It has just ended, or so many wait that no more can be connected.
        std::thread::sleep(TICK / 10);
        return None;
    };
    let timeout = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
    // Nothing is ever said on it: all there is to hear is the end.
    let mut fds = [PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::IN)];
    let has_ended = poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0);
    (!has_ended).then_some(stream)
}

/// A connection to whoever holds a name, without waiting for it.
fn reach(name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&stream, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    Ok(stream)
}

/// Who holds a lock, as far as the system tells.
fn holder(name: &str) -> String {
    match reach(name).and_then(|stream| sockopt::socket_peercred(&stream)) {
        Ok(holder) => {
            let pid = holder.pid.as_raw_nonzero();
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
            let command = words.collect::<Vec<_>>().join(" ");
            let command: String =
                command.trim().chars().filter(|c| !c.is_control()).take(LONGEST_COMMAND).collect();
            if command.is_empty() { format!("process {pid}") } else { format!("process {pid}, `{command}`") }
        }
        Err(_) => "a process that the system does not name".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn own(test: &str) -> String {
        format!("roofline-test-{}-{test}", std::process::id())
    }

    #[test]
    fn a_card_has_one_lock_whatever_its_number() {
        let (here, there) = (Some("GPU-4f2c"), Some("GPU-77aa"));
        assert_eq!(name(Device::Cuda(0), here), name(Device::Cuda(1), here));
        let names = [name(Device::Cpu, here), name(Device::Cuda(0), here), name(Device::Cuda(0), there)];
        assert!(names[0] != names[1] && names[1] != names[2], "{names:?}");
        assert_ne!(name(Device::Cuda(0), None), name(Device::Cuda(1), None));
    }

    #[test]
    fn the_second_waits_for_the_first_and_knows_it() {
        let name = own("second");
        let first = take_name(&name, None, |_| panic!("nobody else holds it")).unwrap();
        let mut told = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(150));
                drop(first);
            });
            take_name(&name, None, |holder| told.push(holder.to_owned())).unwrap();
        });
        let [told] = told.as_slice() else { panic!("told {} times", told.len()) };
        assert!(told.starts_with(&format!("process {}, `", std::process::id())), "{told}");
    }

    #[test]
    fn runs_without_a_gap_let_others_in() {
        let name = own("gapless");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let held = take_name(&name, None, |_| {}).unwrap();
            scope.spawn(|| {
                let mut held = Some(held);
                while !done.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(20));
                    drop(held.take());
                    held = take_name(&name, None, |_| {}).ok();
                }
            });
            let waited = take_name(&name, Some(Duration::from_secs(20)), |_| {});
            done.store(true, Ordering::Relaxed);
            waited.unwrap();
        });
    }

    #[test]
    fn patience_ends_and_names_the_holder() {
        let name = own("patience");
        let _held = take_name(&name, None, |_| {}).unwrap();
        let error = take_name(&name, Some(Duration::from_millis(50)), |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        assert!(try_take_name(&name).unwrap_err().contains("process"));
    }

    fn try_take_name(name: &str) -> Result<Lock, String> {
        bind(name).unwrap().ok_or_else(|| holder(name))
    }
}
