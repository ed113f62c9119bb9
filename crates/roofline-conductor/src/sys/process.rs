//! Starting processes with everything set before they begin: channel, cores, limits, group.

use crate::isolation::Restrictions;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;

/// Descriptor on which a child finds its channel.
pub const CHANNEL: i32 = 3;

/// Starts `command` in a process group of its own with `channel` as descriptor 3.
///
/// `cores` pins it, unless empty; `data_limit` bounds its private memory; `restrictions` are taken on last.
pub fn spawn(
    command: &mut Command,
    channel: OwnedFd,
    cores: &[u32],
    data_limit: Option<u64>,
    restrictions: Option<Restrictions>,
) -> io::Result<Child> {
    let mut set = CpuSet::new();
    cores.iter().for_each(|core| set.set(*core as usize));
    let pinned = !cores.is_empty();
    let prepare = move || {
        if channel.as_raw_fd() == CHANNEL {
            fcntl_setfd(&channel, FdFlags::empty())?;
        } else {
            // SAFETY: dup2 onto a descriptor that nobody in the child uses before exec.
            let copied = unsafe { libc::dup2(channel.as_raw_fd(), CHANNEL) };
            if copied < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if pinned {
            sched_setaffinity(None, &set)?;
        }
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        if data_limit.is_some() {
            setrlimit(Resource::Data, Rlimit { current: data_limit, maximum: data_limit })?;
        }
        restrictions.as_ref().map_or(Ok(()), super::restrict::apply)
    };
    // SAFETY: between fork and exec `prepare` makes system calls only; it allocates nothing and
    // takes no lock.
    unsafe { command.process_group(0).pre_exec(prepare) };
    command.spawn()
}

/// Takes the descriptor that a parent left as channel.
pub fn take_channel() -> OwnedFd {
    use std::os::fd::FromRawFd;
    // SAFETY: called once, by the keeper at its start, which owns descriptor 3 by contract.
    unsafe { OwnedFd::from_raw_fd(CHANNEL) }
}

/// Forks the calling process, into new namespaces where `flags` name some.
///
/// The child is told by a pid of 0. It must be the only thread of its process that goes on: the caller has one.
pub fn fork_into(flags: i32) -> io::Result<i32> {
    // SAFETY: without shared memory and without a stack this is a fork. The keeper has one thread, so no lock is
    // held by anybody else, and the child may do whatever the parent could.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags | libc::SIGCHLD, 0, 0, 0, 0) };
    if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid as i32) }
}

/// Closes every descriptor from 3 on that is not in `kept`.
pub fn close_all_but(kept: &[RawFd]) {
    let mut kept: Vec<u32> = kept.iter().map(|fd| *fd as u32).filter(|fd| *fd > 2).collect();
    kept.sort_unstable();
    let mut first = 3;
    for fd in kept.into_iter().chain([u32::MAX]) {
        if first < fd {
            // SAFETY: closes numbers only. Called right after a fork, by a child that touches nothing of what it
            // inherited but `kept`.
            unsafe { libc::syscall(libc::SYS_close_range, first, fd - 1, 0) };
        }
        first = fd.saturating_add(1);
    }
}

/// Ends the process without running what its parent has to clean up.
pub fn exit_at_once(code: i32) -> ! {
    // SAFETY: _exit does not return and touches no memory.
    unsafe { libc::_exit(code) }
}

/// CPU time of all threads that a process has ever had, those that ended included.
pub fn cpu_time(pid: i32) -> Option<Duration> {
    let mut clock = 0;
    // SAFETY: writes a clock id into a local; a pid that does not exist gives an error.
    if unsafe { libc::clock_getcpuclockid(pid, &mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes a time into a local; a process that has ended gives an error.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return None;
    }
    Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}
