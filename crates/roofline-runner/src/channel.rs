//! Lines and descriptors between runner and conductor.

use crate::job::MAX_TENSORS;
use crate::sys;
use roofline_protocol::messages::MAX_LINE;
use rustix::io::{Errno, IoSliceMut, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, sendmsg,
};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// One end of a conversation.
pub struct Channel {
    way: Way,
    /// What has arrived of the next line.
    buffer: Vec<u8>,
    files: Vec<OwnedFd>,
    longest: usize,
}

enum Way {
    Socket(OwnedFd),
    Streams { from: OwnedFd, to: OwnedFd },
}

/// A line without its newline, and the descriptors that came with it.
pub struct Message {
    pub line: Vec<u8>,
    pub files: Vec<OwnedFd>,
}

/// The conversation cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("cannot read or write the conversation: {0}")]
    Io(#[from] io::Error),
    #[error("the conductor broke the protocol: {0}")]
    Breach(String),
}

impl Channel {
    /// Descriptor 3 if that is a socket, else standard input and output.
    ///
    /// In the second case what kernels print goes to standard error from here on, and they read
    /// nothing.
    pub fn open() -> io::Result<Channel> {
        if let Some(socket) = sys::inherited_socket() {
            return Ok(Channel::over_socket(socket));
        }
        let from = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let to = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(Channel::over_streams(from, to))
    }

    pub fn over_socket(socket: OwnedFd) -> Channel {
        Channel { way: Way::Socket(socket), buffer: Vec::new(), files: Vec::new(), longest: MAX_LINE }
    }

    pub fn over_streams(from: OwnedFd, to: OwnedFd) -> Channel {
        Channel { way: Way::Streams { from, to }, buffer: Vec::new(), files: Vec::new(), longest: MAX_LINE }
    }

    /// The same with lines of other lengths.
    pub fn with_longest(self, longest: usize) -> Channel {
        Channel { longest, ..self }
    }

    /// The next line, or `None` when the other side has left.
    pub fn receive(&mut self) -> Result<Option<Message>, Broken> {
        let mut searched = 0;
        loop {
            let end = self.buffer[searched..].iter().position(|byte| *byte == b'\n');
            let length = end.map_or(self.buffer.len(), |end| searched + end + 1);
            if length > self.longest {
                return Err(Broken::Breach(format!("a line of more than {} bytes", self.longest)));
            }
            if end.is_some() {
                let rest = self.buffer.split_off(length);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.pop();
                return Ok(Some(Message { line, files: std::mem::take(&mut self.files) }));
            }
            searched = length;
            if self.fill()? == 0 {
                return match searched {
                    0 => Ok(None),
                    _ => Err(Broken::Breach(format!(
                        "the conversation ended in a line, after {searched} bytes"
                    ))),
                };
            }
        }
    }

    /// Sends bytes as they are: a line, its newline included.
    pub fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let to = match &self.way {
            Way::Socket(socket) => socket,
            Way::Streams { to, .. } => to,
        };
        while !bytes.is_empty() {
            let written = retry_on_intr(|| rustix::io::write(to, bytes))?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Sends a line with descriptors, over a socket.
    pub fn send_with(&mut self, bytes: &[u8], files: &[BorrowedFd]) -> io::Result<()> {
        let Way::Socket(socket) = &self.way else { return self.send(bytes) };
        if files.is_empty() {
            return self.send(bytes);
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_TENSORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(io::Error::other(format!("more than {MAX_TENSORS} descriptors with one line")));
        }
        let whole = [IoSlice::new(bytes)];
        let sent = retry_on_intr(|| sendmsg(socket, &whole, &mut ancillary, SendFlags::NOSIGNAL))?;
        self.send(&bytes[sent..])
    }

    fn fill(&mut self) -> Result<usize, Broken> {
        let mut piece = [0; 16 << 10];
        let count = match &self.way {
            Way::Streams { from, .. } => {
                retry_on_intr(|| rustix::io::read(from, &mut piece)).map_err(io::Error::from)?
            }
            Way::Socket(socket) => receive_with_files(socket, &mut piece, &mut self.files)?,
        };
        self.buffer.extend_from_slice(&piece[..count]);
        Ok(count)
    }
}

fn receive_with_files(socket: &OwnedFd, piece: &mut [u8], files: &mut Vec<OwnedFd>) -> Result<usize, Broken> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_TENSORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = retry_on_intr(|| {
        let into = &mut [IoSliceMut::new(piece)];
        rustix::net::recvmsg(socket, into, &mut control, RecvFlags::CMSG_CLOEXEC)
    });
    let received = match received {
        Ok(received) => received,
        Err(Errno::CONNRESET) => return Ok(0),
        Err(error) => return Err(Broken::Io(error.into())),
    };
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            files.extend(rights);
        }
    }
    if received.flags.contains(ReturnFlags::CTRUNC) || files.len() > MAX_TENSORS {
        return Err(Broken::Breach(format!("more than {MAX_TENSORS} descriptors with one line")));
    }
    Ok(received.bytes)
}
