//! One run at a time on a machine: two would measure each other.
//!
//! The lock is a name in the system's abstract socket space: it belongs to the whole machine and to
//! no folder, needs no permission, and is free again whatever happens to the process that held it.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

const NAME: &str = "roofline-run";

/// Variable that names another lock: for tests that must not wait for a run beside them.
const VARIABLE: &str = "ROOFLINE_LOCK";

/// Held for the length of a run.
#[derive(Debug)]
pub struct Lock {
    _socket: UnixListener,
}

/// Takes the machine's lock. `waiting` is told once, with what is known of the holder.
pub fn take(waiting: impl FnMut(&str)) -> io::Result<Lock> {
    take_name(name().as_bytes(), waiting)
}

/// Takes the machine's lock if it is free; else what is known of the holder.
pub fn try_take() -> io::Result<Result<Lock, String>> {
    let address = SocketAddr::from_abstract_name(name().as_bytes())?;
    match UnixListener::bind_addr(&address) {
        Ok(socket) => Ok(Ok(Lock { _socket: socket })),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(Err(holder(&address))),
        Err(error) => Err(error),
    }
}

fn name() -> String {
    std::env::var(VARIABLE).unwrap_or_else(|_| NAME.to_owned())
}

fn take_name(name: &[u8], mut waiting: impl FnMut(&str)) -> io::Result<Lock> {
    let address = SocketAddr::from_abstract_name(name)?;
    let mut told = false;
    loop {
        match UnixListener::bind_addr(&address) {
            Ok(socket) => return Ok(Lock { _socket: socket }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                if !told {
                    waiting(&holder(&address));
                    told = true;
                }
                std::thread::sleep(Duration::from_millis(100));
                if crate::sys::signals::interrupted() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Who holds the lock, as far as the system tells.
fn holder(address: &SocketAddr) -> String {
    let credentials = UnixStream::connect_addr(address)
        .and_then(|stream| Ok(rustix::net::sockopt::socket_peercred(&stream)?));
    match credentials {
        Ok(holder) => format!("process {}", holder.pid.as_raw_nonzero()),
        Err(_) => "a process that the system does not name".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_waits_for_the_first_and_knows_it() {
        let name = format!("roofline-test-{}", std::process::id());
        let first = take_name(name.as_bytes(), |_| panic!("nobody else holds it")).unwrap();
        let mut told = String::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(150));
                drop(first);
            });
            take_name(name.as_bytes(), |holder| told = holder.to_owned()).unwrap();
        });
        assert_eq!(told, format!("process {}", std::process::id()));
    }
}
