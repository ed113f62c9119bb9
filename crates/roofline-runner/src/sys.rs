//! What the type system cannot see: mapped memory, the heap, the float mode, an inherited descriptor,
//! a library of the user.

pub(crate) mod float_mode;
pub mod heap;
#[cfg(feature = "house")]
pub(crate) mod library;
pub(crate) mod mapping;
pub(crate) mod tensor;

use rustix::fs::FileType;
use rustix::io::FdFlags;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};

const CONVERSATION: i32 = 3;

/// Descriptor 3 if it is a socket, closed in what this process starts. To be called once, first.
pub(crate) fn inherited_socket() -> Option<OwnedFd> {
    // SAFETY: the borrow ends with this function, and a number that is not open is answered by
    // EBADF, which is what the question is for.
    let inherited = unsafe { BorrowedFd::borrow_raw(CONVERSATION) };
    let status = rustix::fs::fstat(inherited).ok()?;
    if FileType::from_raw_mode(status.st_mode) != FileType::Socket {
        return None;
    }
    rustix::io::fcntl_setfd(inherited, FdFlags::CLOEXEC).ok()?;
    // SAFETY: by the protocol the conversation's descriptor belongs to the runner, and nothing else
    // in this process has opened a socket before this first call.
    Some(unsafe { OwnedFd::from_raw_fd(CONVERSATION) })
}
