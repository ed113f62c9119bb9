//! What a runner may do to the world outside it: next to nothing, and what is missing of that is said.
//!
//! Three layers, each of the kernel's own. Namespaces: a runner and all that descends from it see only each
//! other, and end together. Landlock: no writing but below a few folders, no signals, memory or sockets of other
//! processes. A filter of system calls: no network, no other priority or scheduler, no looking into processes.
//! Libraries run in it as they are; what a system lacks makes the row's evidence weaker.

use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope,
};
use rustix::thread::{CapabilitySet, capabilities};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Whether runners are isolated, and what becomes of one that cannot be in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// As far as the system allows; what is missing makes the evidence weaker.
    #[default]
    BestEffort,
    /// A row that would run without all of it is `refused`.
    Required,
    /// Not at all: for studies, which ask what it costs and what it is for.
    Off,
}

/// How a process is isolated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// What is missing, each with what it leaves open. Nothing: it is isolated in full.
    pub missing: Vec<String>,
}

impl Isolation {
    pub fn off() -> Isolation {
        Isolation { missing: vec!["isolation is off".to_owned()] }
    }

    /// What is missing, as one sentence; `None` where nothing is.
    pub fn weakness(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| self.missing.join("; "))
    }
}

/// Restrictions that are ready to be taken on between fork and exec, where nothing may be allocated.
#[derive(Debug)]
pub struct Restrictions {
    pub ruleset: Option<OwnedFd>,
    pub filter: Option<BpfProgram>,
}

impl Restrictions {
    /// Builds what this system has; `missing` gets what it lacks. `is_apart`: the process will be in
    /// namespaces of its own, where it cannot name the processes outside.
    pub fn build(writable: &[PathBuf], is_apart: bool, missing: &mut Vec<String>) -> Restrictions {
        let abi = crate::sys::restrict::landlock_version();
        missing.extend(lacks(abi, is_apart).map(str::to_owned));
        // Names of threads are written there, and CUDA does not start without. Where the table is not the runner's own,
        // only somebody who is not root may: nothing in it but their own is theirs.
        let own_table = is_apart || !rustix::process::geteuid().is_root();
        let table = own_table.then(|| PathBuf::from("/proc"));
        let writable: Vec<PathBuf> = writable.iter().cloned().chain(table).collect();
        let ruleset = ruleset(&writable).unwrap_or_else(|error| {
            missing.push(format!("files can be written anywhere: {error}"));
            None
        });
        let filter = match filter() {
            Ok(filter) if crate::sys::restrict::has_filters() => Some(filter),
            Ok(_) => {
                missing.push("network and priorities are open: no seccomp filters".to_owned());
                None
            }
            Err(why) => {
                missing.push(format!("network and priorities are open: {why}"));
                None
            }
        };
        if keeps_rights() {
            missing.push("the rights of root are kept: they cannot be given up here".to_owned());
        }
        Restrictions { ruleset, filter }
    }
}

/// What a version of Landlock leaves open; 0 stands for none.
fn lacks(abi: i32, is_apart: bool) -> impl Iterator<Item = &'static str> {
    let lacks = [
        (abi < 1, "files can be written anywhere: no Landlock (Linux 5.13)"),
        ((1..3).contains(&abi), "files can be emptied anywhere: Landlock before Linux 6.2"),
        ((1..5).contains(&abi), "devices can be controlled: Landlock before Linux 6.10"),
        (abi < 6 && !is_apart, "signals reach other processes: no scopes of Landlock (Linux 6.12)"),
        (abi < 6, "abstract sockets of others can be reached: no scopes of Landlock (Linux 6.12)"),
        (abi < 1 && !is_apart, "memory of other processes can be read: no Landlock"),
    ];
    lacks.into_iter().filter(|(lacks, _)| *lacks).map(|(_, what)| what)
}

/// Devices that programs write to or control: the usual ones, terminals, and accelerators.
const DEVICES: [&str; 8] = ["null", "zero", "full", "random", "urandom", "tty", "kfd", "dri"];

/// Rules for files: reading and executing stay as they are, writing is below `writable` only.
fn ruleset(writable: &[PathBuf]) -> Result<Option<OwnedFd>, RulesetError> {
    let writing = AccessFs::from_write(ABI::V5);
    let mut ruleset = Ruleset::default()
        .handle_access(writing)?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name)).chain(nvidia());
    for path in writable.iter().cloned().chain(devices) {
        // What is not there cannot be written to.
        let Ok(fd) = PathFd::new(&path) else { continue };
        let access = if path.is_dir() { writing } else { writing & AccessFs::from_file(ABI::V5) };
        ruleset = ruleset.add_rule(PathBeneath::new(fd, access))?;
    }
    Ok(ruleset.into())
}

fn nvidia() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("nvidia"))
        .map(|entry| entry.path())
}

/// Calls that are answered with "not permitted".
const DENIED: &[i64] = &[
    // Looking into other processes, and taking what is theirs.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Another priority or scheduler than the neighbours have.
    libc::SYS_setpriority,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_ioprio_set,
    // Calls by a ring are seen by no filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other namespaces and mounts than it was given.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
];

fn filter() -> Result<BpfProgram, String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let is_foreign =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, libc::AF_UNIX as u64);
    let rule =
        is_foreign.and_then(|foreign| SeccompRule::new(vec![foreign])).map_err(|error| error.to_string())?;
    rules.insert(libc::SYS_socket, vec![rule]);
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied.clone(), arch);
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(|error| error.to_string())?;
    Ok(one_table_only(denied).into_iter().chain(program).collect())
}

/// On x86-64 the same calls have a second set of numbers, from this one on, which nobody uses and no rule names.
fn one_table_only(denied: SeccompAction) -> Vec<sock_filter> {
    const SECOND: u32 = 0x4000_0000;
    let step = |code: u32, jf: u8, k: u32| sock_filter { code: code as u16, jt: 0, jf, k };
    let number = step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0);
    let is_second = step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, SECOND);
    vec![number, is_second, step(libc::BPF_RET | libc::BPF_K, 0, denied.into())]
}

/// Capabilities that a runner of root keeps: files of other users stay readable, and memory can be locked.
pub const KEPT: CapabilitySet =
    CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH).union(CapabilitySet::IPC_LOCK);

/// Whether this process has rights that it cannot take from its children.
fn keeps_rights() -> bool {
    let Ok(sets) = capabilities(None) else { return false };
    let is_root = rustix::process::geteuid().is_root();
    is_root && !sets.effective.contains(CapabilitySet::SETPCAP) && !(sets.permitted - KEPT).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_system_lacks_is_said() {
        assert_eq!(lacks(6, true).count(), 0);
        assert_eq!(lacks(7, false).count(), 0);
        assert!(lacks(5, false).any(|lack| lack.contains("signals")));
        assert!(!lacks(5, true).any(|lack| lack.contains("signals")));
        assert!(lacks(0, true).next().is_some_and(|lack| lack.contains("files")));
        assert_eq!(Isolation::default().weakness(), None);
        assert!(Isolation::off().weakness().is_some());
    }
}
