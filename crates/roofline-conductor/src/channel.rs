//! A socket that carries lines of bounded length, with descriptors beside them.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Most descriptors that travel with one line.
const MOST_FDS: usize = 16;

#[derive(Debug)]
pub struct Channel {
    socket: UnixStream,
    /// Bytes received and not yet returned as a line.
    pending: Vec<u8>,
    /// How many of them are known to hold no newline.
    searched: usize,
    fds: Vec<OwnedFd>,
    longest: usize,
}

/// Why no line came.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The other side closed; these bytes of an unfinished line were there.
    #[error("the channel was closed")]
    Closed(Vec<u8>),
    #[error("a line is longer than {0} bytes")]
    TooLong(usize),
    #[error("no answer in time")]
    Deadline,
    #[error("interrupted")]
    Interrupted,
    #[error("the channel failed: {0}")]
    Io(#[from] io::Error),
}

impl Channel {
    pub fn new(socket: UnixStream, longest: usize) -> Channel {
        Channel { socket, pending: Vec::new(), searched: 0, fds: Vec::new(), longest }
    }

    /// Sends one line, which must not contain a newline, with descriptors.
    pub fn send(&mut self, line: &str, fds: &[BorrowedFd]) -> io::Result<()> {
        let mut bytes = line.as_bytes().to_vec();
        bytes.push(b'\n');
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::Error::other(format!("more than {MOST_FDS} descriptors in one message")));
        }
        let mut sent = 0;
        while sent < bytes.len() {
            match sendmsg(&self.socket, &[IoSlice::new(&bytes[sent..])], &mut ancillary, SendFlags::NOSIGNAL)
            {
                Ok(count) => {
                    sent += count;
                    ancillary.clear();
                }
                Err(Errno::INTR) if !crate::sys::signals::interrupted() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The next line without its newline. `tick` is called every `every` until it is whole, also while it
    /// arrives byte by byte, and ends the wait when it returns false.
    pub fn receive(
        &mut self,
        deadline: Instant,
        every: Duration,
        mut tick: impl FnMut() -> bool,
    ) -> Result<Vec<u8>, ReceiveError> {
        let mut due = Instant::now() + every;
        loop {
            let new = &self.pending[self.searched..];
            if let Some(end) = new.iter().position(|byte| *byte == b'\n') {
                let rest = self.pending.split_off(self.searched + end + 1);
                self.searched = 0;
                let mut line = std::mem::replace(&mut self.pending, rest);
                line.pop();
                return if line.len() < self.longest {
                    Ok(line)
                } else {
                    Err(ReceiveError::TooLong(self.longest))
                };
            }
            self.searched = self.pending.len();
            if self.pending.len() >= self.longest {
                return Err(ReceiveError::TooLong(self.longest));
            }
            let now = Instant::now();
            let left = deadline.saturating_duration_since(now);
            if left.is_zero() {
                return Err(ReceiveError::Deadline);
            }
            if now >= due {
                if !tick() {
                    return Err(ReceiveError::Deadline);
                }
                due = Instant::now() + every;
            }
            // Asked anew: a wait of however little sleeps for as long as timers take.
            match self.wait(left.min(due.saturating_duration_since(Instant::now()))) {
                Ok(true) => self.take_bytes()?,
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    if crate::sys::signals::interrupted() {
                        return Err(ReceiveError::Interrupted);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether bytes are there that nobody asked for.
    pub fn has_unread(&mut self) -> bool {
        if self.pending.is_empty() && matches!(self.wait(Duration::ZERO), Ok(true)) {
            let _ = self.take_bytes();
        }
        !self.pending.is_empty()
    }

    /// The socket, to wait on.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Descriptors that came with the lines received so far.
    pub fn take_fds(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.fds)
    }

    fn wait(&self, time: Duration) -> io::Result<bool> {
        let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        let mut fds = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        Ok(poll(&mut fds, Some(&timeout))? > 0)
    }

    fn take_bytes(&mut self) -> Result<(), ReceiveError> {
        let mut bytes = [0; 16384];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut buffers = [IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let count = match recvmsg(&self.socket, &mut buffers, &mut ancillary, flags) {
            Ok(received) => received.bytes,
            Err(Errno::INTR) => return Ok(()),
            Err(Errno::CONNRESET) => 0,
            Err(error) => return Err(ReceiveError::Io(error.into())),
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                for fd in fds {
                    // The others are closed: nobody else's descriptors are to fill this process's table.
                    if self.fds.len() < MOST_FDS {
                        self.fds.push(fd);
                    }
                }
            }
        }
        if count == 0 {
            self.searched = 0;
            return Err(ReceiveError::Closed(std::mem::take(&mut self.pending)));
        }
        self.pending.extend_from_slice(&bytes[..count]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(longest: usize) -> (Channel, Channel) {
        let (a, b) = UnixStream::pair().unwrap();
        (Channel::new(a, longest), Channel::new(b, longest))
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(200)
    }

    fn receive(channel: &mut Channel) -> Result<Vec<u8>, ReceiveError> {
        channel.receive(soon(), Duration::from_millis(10), || true)
    }

    #[test]
    fn lines_and_descriptors_arrive() {
        let (mut a, mut b) = pair(1000);
        let file = std::fs::File::open("/dev/null").unwrap();
        a.send("one", &[file.as_fd()]).unwrap();
        a.send("two", &[]).unwrap();
        assert_eq!(receive(&mut b).unwrap(), b"one");
        assert_eq!(b.take_fds().len(), 1);
        assert!(b.has_unread());
        assert_eq!(receive(&mut b).unwrap(), b"two");
        assert!(!b.has_unread());
    }

    #[test]
    fn descriptors_are_bounded() {
        let (mut a, mut b) = pair(1000);
        let file = std::fs::File::open("/dev/null").unwrap();
        for _ in 0..5 {
            a.send("x", &[file.as_fd(); MOST_FDS]).unwrap();
            receive(&mut b).unwrap();
        }
        assert_eq!(b.take_fds().len(), MOST_FDS);
    }

    #[test]
    fn hostile_lines_end_the_wait() {
        let (mut a, mut b) = pair(100);
        assert!(matches!(receive(&mut b), Err(ReceiveError::Deadline)));
        a.send(&"x".repeat(5000), &[]).unwrap();
        assert!(matches!(receive(&mut b), Err(ReceiveError::TooLong(100))));
        let (a, mut b) = pair(100);
        rustix::io::write(&a.socket, b"half a li").unwrap();
        drop(a);
        match receive(&mut b) {
            Err(ReceiveError::Closed(rest)) => assert_eq!(rest, b"half a li"),
            other => panic!("{other:?}"),
        }
        let (a, mut b) = pair(1000);
        let mut ticks = 0;
        let dripping = std::thread::spawn(move || {
            for _ in 0..100 {
                rustix::io::write(&a.socket, b"x").unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
            a
        });
        let dripped = b.receive(soon(), Duration::from_millis(5), || {
            ticks += 1;
            true
        });
        assert!(matches!(dripped, Err(ReceiveError::Deadline)) && ticks > 1, "{dripped:?}, {ticks} ticks");
        drop(dripping.join());
        let (_a, mut b) = pair(100);
        let stopped = b.receive(soon() + Duration::from_secs(60), Duration::from_millis(1), || false);
        assert!(matches!(stopped, Err(ReceiveError::Deadline)));
    }
}
