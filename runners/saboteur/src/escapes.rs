//! Attempts to reach beyond the process. Those that isolation makes fail compute honestly then: their rows are `ok`
//! because nothing came of it, and `crashed` where something does.

use crate::honest::{Problem, every_launch};
use roofline_runner::{Job, Ready, Refusal, failed, out_of_memory};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::process::{Pid, test_kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

type Prepared = Result<Ready, Refusal>;

/// ok: what stops a sibling asks for the same permission first.
pub(crate) fn signals_others(job: &mut Job) -> Prepared {
    attempts(job, || {
        others().find(|pid| test_kill_process(*pid).is_ok()).map(|pid| format!("signals reach {pid}"))
    })
}

/// ok: the conductor's memory holds the expected values.
pub(crate) fn reads_memory_of_others(job: &mut Job) -> Prepared {
    attempts(job, || {
        let opens = |pid: &Pid| std::fs::File::open(format!("/proc/{pid}/mem")).is_ok();
        let mut byte = 0u8;
        let mut reads = |pid: &Pid| {
            let here = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
            let there = libc::iovec { iov_base: 0x40_0000 as *mut _, iov_len: 1 };
            // SAFETY: writes at most one byte, into a local.
            let read = unsafe { libc::process_vm_readv(pid.as_raw_nonzero().get(), &here, 1, &there, 1, 0) };
            read >= 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
        };
        others().find(|pid| opens(pid) || reads(pid)).map(|pid| format!("the memory of {pid} is open"))
    })
}

/// ok: faster than its neighbours because it is served first.
pub(crate) fn raises_its_priority(job: &mut Job) -> Prepared {
    attempts(job, || {
        // SAFETY: asks for another priority of the calling process; takes no memory.
        succeeds("nice -20", unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) }.into())
    })
}

/// ok: a scheduler that lets nobody else have the core.
pub(crate) fn takes_the_core(job: &mut Job) -> Prepared {
    attempts(job, || {
        let first = libc::sched_param { sched_priority: 1 };
        // SAFETY: reads a structure that lives as long as the call.
        succeeds("SCHED_FIFO", unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &first) }.into())
    })
}

/// ok: answers from elsewhere.
pub(crate) fn asks_the_network(job: &mut Job) -> Prepared {
    attempts(job, || {
        let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET, libc::AF_VSOCK];
        families
            .iter()
            .find_map(|family| socket(*family).ok().map(|()| format!("a socket of family {family}")))
    })
}

/// ok: notes for the next process, or for whoever comes by.
pub(crate) fn writes_elsewhere(job: &mut Job) -> Prepared {
    attempts(job, || {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let folders =
            ["/", "/tmp", "/var/tmp", "/proc/sys/kernel"].map(PathBuf::from).into_iter().chain(home);
        let name = format!("roofline-saboteur-{}", std::process::id());
        let written = |folder: PathBuf| {
            let path = folder.join(&name);
            let made = std::fs::write(&path, "was here").is_ok();
            let _ = std::fs::remove_file(&path);
            made.then(|| format!("`{}` can be written", path.display()))
        };
        let own = std::env::temp_dir();
        assert!(std::fs::write(own.join(&name), "mine").is_ok(), "`{}` cannot be written", own.display());
        let sysctl = std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches");
        folders.into_iter().find_map(written).or(sysctl.is_ok().then(|| "caches can be dropped".to_owned()))
    })
}

/// crashed: computes only if it gets a socket, so that whoever lets it have one sees it get through.
pub(crate) fn insists_on_the_network(job: &mut Job) -> Prepared {
    socket(libc::AF_INET).map_err(|error| failed(format!("no network: {error}")))?;
    every_launch(job, Problem::solve)
}

/// suspect: its only thread may run wherever it likes.
pub(crate) fn leaves_its_cores(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let mut all = CpuSet::new();
        (0..CpuSet::MAX_CPU).for_each(|core| all.set(core));
        let _ = sched_setaffinity(None, &all);
        problem.solve();
    })
}

/// suspect: a child of nobody, in a session of its own.
pub(crate) fn double_forks(job: &mut Job) -> Prepared {
    let mut has_forked = false;
    every_launch(job, move |problem| {
        problem.solve();
        if std::mem::replace(&mut has_forked, true) {
            return;
        }
        // SAFETY: the children call nothing but what is safe after a fork; the parent waits for the first.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::setsid();
                if libc::fork() == 0 {
                    libc::sleep(60);
                }
                libc::_exit(0);
            }
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
    })
}

/// out-of-memory: shared memory that no private account shows.
pub(crate) fn shares_memory(job: &mut Job) -> Prepared {
    static TAKEN: OnceLock<Result<(), String>> = OnceLock::new();
    TAKEN.get_or_init(take_shared_memory).clone().map_err(out_of_memory)?;
    every_launch(job, Problem::solve)
}

/// out-of-memory: the same by a process that is nobody's child.
pub(crate) fn shares_memory_elsewhere(job: &mut Job) -> Prepared {
    static TAKEN: OnceLock<Result<(), String>> = OnceLock::new();
    TAKEN.get_or_init(share_memory_elsewhere).clone().map_err(out_of_memory)?;
    every_launch(job, Problem::solve)
}

/// Waits until the other process has its memory.
fn share_memory_elsewhere() -> Result<(), String> {
    let (mut reader, writer) = io::pipe().map_err(|error| error.to_string())?;
    // SAFETY: the children call nothing but what is safe after a fork; the parent waits for the first.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            if libc::fork() == 0 {
                let taken = take_shared_memory();
                libc::write(writer.as_raw_fd(), [u8::from(taken.is_ok())].as_ptr().cast(), 1);
                libc::sleep(60);
            }
            libc::_exit(0);
        }
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    drop(writer);
    let mut answer = [0];
    io::Read::read_exact(&mut reader, &mut answer).map_err(|error| error.to_string())
}

/// out-of-memory: a file of memory that is written to and never mapped is in no account of a process's pages.
pub(crate) fn hides_memory(job: &mut Job) -> Prepared {
    static HIDDEN: OnceLock<Result<File, String>> = OnceLock::new();
    HIDDEN.get_or_init(hide_memory).as_ref().map_err(|error| out_of_memory(error.clone()))?;
    every_launch(job, Problem::solve)
}

fn hide_memory() -> Result<File, String> {
    let block = vec![1; 1 << 20];
    let file = memfd_create("hoard", MemfdFlags::CLOEXEC).map_err(|error| error.to_string())?;
    let mut file = File::from(file);
    (0..1536).try_for_each(|_| file.write_all(&block)).map_err(|error| error.to_string())?;
    Ok(file)
}

fn take_shared_memory() -> Result<(), String> {
    const SIZE: usize = 3 << 29;
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a new map at no particular place, which lasts as long as the process.
    let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), SIZE, protection, flags) };
    let memory = memory.map_err(|error| error.to_string())?.cast::<u8>();
    for page in (0..SIZE).step_by(4096) {
        // SAFETY: inside the map, which nobody else uses.
        unsafe { memory.add(page).write_volatile(1) };
    }
    Ok(())
}

/// Honest launches, each after an attempt that must come to nothing.
fn attempts(job: &mut Job, mut attempt: impl FnMut() -> Option<String> + Send + 'static) -> Prepared {
    every_launch(job, move |problem| {
        if let Some(success) = attempt() {
            panic!("{success}");
        }
        problem.solve();
    })
}

fn succeeds(what: &str, result: i64) -> Option<String> {
    (result == 0).then(|| format!("{what} was granted"))
}

fn socket(family: i32) -> io::Result<()> {
    // SAFETY: asks for a descriptor, which is closed again; takes no memory.
    let fd = unsafe { libc::socket(family, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was made here and is used nowhere else.
    unsafe { libc::close(fd) };
    Ok(())
}

/// Every process that can be named, but this one.
fn others() -> impl Iterator<Item = Pid> {
    let own = std::process::id() as i32;
    let entries = std::fs::read_dir(Path::new("/proc")).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(move |pid| *pid != own).filter_map(Pid::from_raw)
}
