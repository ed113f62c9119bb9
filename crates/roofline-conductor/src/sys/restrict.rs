//! Taking on restrictions between fork and exec: system calls only, nothing allocated.

use crate::isolation::{KEPT, Restrictions};
use std::io;
use std::os::fd::AsRawFd;

/// The version of Landlock that this system has; 0 for none.
pub fn landlock_version() -> i32 {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call reads no memory and returns a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    version.max(0) as i32
}

/// Whether filters of system calls can be installed.
pub fn has_filters() -> bool {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: reads one number, which lives as long as the call.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 }
}

/// Restricts the calling process and all that will descend from it.
pub fn apply(restrictions: &Restrictions) -> io::Result<()> {
    drop_rights();
    // SAFETY: sets a flag of the calling thread.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    if let Some(ruleset) = &restrictions.ruleset {
        // SAFETY: takes a descriptor that lives as long as the call, and no memory.
        check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })?;
    }
    if let Some(filter) = &restrictions.filter {
        let program =
            libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut().cast() };
        // Without this flag some systems turn on a mitigation with the filter, and every load becomes slower.
        let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
        // SAFETY: the kernel copies the program, which has the C layout and lives as long as the call.
        check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &program) })?;
    }
    Ok(())
}

/// Takes from the next exec what root may do beyond its own files. An ordinary user has none of it, and may not
/// even give it up; where root may not, that was said when the restrictions were built.
fn drop_rights() {
    for right in (0..64).filter(|right| KEPT.bits() & 1 << right == 0) {
        // SAFETY: takes a bit from a set of the calling thread; one that does not exist is an error.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, right, 0, 0, 0) };
    }
    // SAFETY: empties a set of the calling thread.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
}

fn check(result: i64) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
