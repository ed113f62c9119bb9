//! One run at a time on a machine: two would measure each other.

use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Held for the length of a run; the system frees it whatever happens to the process.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the machine's lock. `waiting` is told once, with what is known of the holder.
pub fn take(mut waiting: impl FnMut(&str)) -> io::Result<Lock> {
    let path = path();
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
    let mut told = false;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(rustix::io::Errno::WOULDBLOCK) => {
                if !told {
                    let mut holder = String::new();
                    let _ = file.read_to_string(&mut holder);
                    waiting(holder.trim());
                    told = true;
                }
                std::thread::sleep(Duration::from_millis(100));
                if crate::sys::signals::interrupted() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "process {}", std::process::id())?;
    Ok(Lock { _file: file })
}

fn path() -> PathBuf {
    std::env::temp_dir().join(format!("roofline-{}.lock", rustix::process::getuid().as_raw()))
}
