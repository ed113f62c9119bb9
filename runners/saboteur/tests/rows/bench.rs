//! A conductor for tests: starts the saboteur, asks, and says how an answer failed.

use roofline_core::case::Case;
use roofline_core::fill::Fill;
use roofline_core::judge::judge;
use roofline_core::operation::Problem;
use roofline_core::protocol::{
    Answerable, Ask, MAX_LINE, Place, Prepare, Question, RefusalKind, Role, parse_answer,
};
use roofline_core::record::Status;
use roofline_core::tensor::{Tensor, View};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::IoSlice;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use std::fs::File;
use std::io::{Read, Seek};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PAGE: usize = 4096;

/// Why an answer did not come, as a status, and a sentence.
pub(crate) type Fall = (Status, String);

pub(crate) struct Process {
    pub(crate) child: Child,
    socket: UnixStream,
    stderr: File,
    next: u64,
}

impl Process {
    /// Starts the saboteur with its conversation on descriptor 3 and 512 MiB of memory.
    pub(crate) fn start(arguments: &[&str], patience: Duration) -> Process {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(patience)).unwrap();
        let stderr = tempfile::tempfile().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_saboteur"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(stderr.try_clone().unwrap()).process_group(0);
        let raw = theirs.as_raw_fd();
        // SAFETY: `dup2`, `fcntl` and `setrlimit` are safe between fork and exec.
        unsafe {
            command.pre_exec(move || {
                let limit = Some(1 << 29);
                setrlimit(Resource::Data, Rlimit { current: limit, maximum: limit })?;
                set_parent_process_death_signal(Some(Signal::KILL))?;
                setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
                let placed = if raw == 3 { libc::fcntl(3, libc::F_SETFD, 0) } else { libc::dup2(raw, 3) };
                if placed < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
            });
        }
        let child = command.spawn().unwrap();
        Process { child, socket: ours, stderr, next: 0 }
    }

    pub(crate) fn ask<T: Answerable>(&mut self, ask: Ask, files: &[File]) -> Result<T, Fall> {
        self.next += 1;
        let id = self.next;
        let question = Question { id, ask };
        let line = serde_json::to_string(&question).unwrap() + "\n";
        let rights: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(&rights)));
        }
        let bytes = &[IoSlice::new(line.as_bytes())];
        if rustix::net::sendmsg(&self.socket, bytes, &mut control, SendFlags::NOSIGNAL).is_err() {
            return Err(self.ended());
        }
        let line = self.line()?;
        let answer = parse_answer(&line, &question).map_err(|breach| (Status::Protocol, breach.0))?;
        answer.map_err(|refusal| match refusal.kind {
            RefusalKind::Unsupported => (Status::Unsupported, refusal.message),
            RefusalKind::Failed => (Status::Crashed, refusal.message),
            RefusalKind::OutOfMemory => (Status::OutOfMemory, refusal.message),
        })
    }

    fn line(&mut self) -> Result<Vec<u8>, Fall> {
        let mut line = Vec::new();
        let mut piece = [0; 1 << 16];
        loop {
            match self.socket.read(&mut piece) {
                Ok(0) if line.is_empty() => return Err(self.ended()),
                Ok(0) => return Err((Status::Protocol, "ended in a line".to_owned())),
                Ok(count) => line.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    return Err((Status::Timeout, format!("{} bytes and then nothing", line.len())));
                }
                Err(_) if line.is_empty() => return Err(self.ended()),
                Err(error) => return Err((Status::Protocol, format!("{error} in a line"))),
            }
            if line.len() > MAX_LINE {
                return Err((Status::Protocol, "too long".to_owned()));
            }
            if line.ends_with(b"\n") {
                // A second answer in the same breath stays for the next question.
                let end = line.iter().position(|byte| *byte == b'\n').unwrap() + 1;
                return if end == line.len() { Ok(line) } else { Err((Status::Protocol, "two".to_owned())) };
            }
        }
    }

    /// What became of a process that has left the conversation.
    fn ended(&mut self) -> Fall {
        let start = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if start.elapsed() > Duration::from_secs(10) => {
                    return (Status::Protocol, "left the conversation and lives on".to_owned());
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let mut talk = String::new();
        self.stderr.rewind().unwrap();
        let _ = self.stderr.read_to_string(&mut talk);
        let short = talk.contains("memory allocation of");
        (if short { Status::OutOfMemory } else { Status::Crashed }, status.to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The group too: one of them forks.
        let group = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Placement {
    End,
    Start,
    Between,
}

/// A case with memory.
pub(crate) struct Instance {
    pub(crate) case: Case,
    tensors: Vec<Tensor>,
    places: Vec<Place>,
    files: Vec<File>,
    fill: Fill,
}

impl Instance {
    pub(crate) fn new(case: &Case, placement: Placement) -> Instance {
        let tensors = (case.operation.tensors)(case);
        let place = |tensor: &Tensor| {
            let bytes = tensor.bytes();
            let (offset, size) = match placement {
                Placement::End => (bytes.next_multiple_of(PAGE) - bytes, bytes.next_multiple_of(PAGE)),
                Placement::Start => (0, bytes.next_multiple_of(PAGE)),
                Placement::Between => (PAGE, bytes.next_multiple_of(PAGE) + 2 * PAGE),
            };
            tensor.place(offset, size)
        };
        let places: Vec<Place> = tensors.iter().map(place).collect();
        let file = |place: &Place| {
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let file = File::from(rustix::fs::memfd_create("tensor", flags).unwrap());
            file.set_len(place.size).unwrap();
            rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).unwrap();
            file
        };
        let files = places.iter().map(file).collect();
        Instance { case: case.clone(), tensors, places, files, fill: Fill::Uniform }
    }

    pub(crate) fn prepare(&self, process: &mut Process, implementation: &str) -> Result<(), Fall> {
        let case = &self.case;
        let request = Prepare {
            threads: case.threads,
            cores: vec![0],
            ..case.question(implementation, self.places.clone())
        };
        let _: roofline_core::protocol::Prepared =
            process.ask(Ask::Prepare(Box::new(request)), &self.files)?;
        Ok(())
    }

    /// New content and a poisoned output.
    pub(crate) fn renew(&mut self, fill: Fill, seed: u64) {
        self.fill = fill;
        let case = &self.case;
        for (index, ((tensor, place), file)) in
            self.tensors.iter().zip(&self.places).zip(&self.files).enumerate()
        {
            let mut bytes = vec![0xff; tensor.bytes()];
            if tensor.role == Role::Input {
                let content = case.operation.filling(fill, seed, index, tensor);
                content.write(0..tensor.elements(), &mut bytes);
            }
            file.write_all_at(&bytes, place.offset).unwrap();
        }
    }

    /// Whether the output is right, in the chosen rows of large products and everywhere else.
    pub(crate) fn is_right(&self) -> bool {
        let contents: Vec<Vec<u8>> = self
            .places
            .iter()
            .zip(&self.files)
            .map(|(place, file)| {
                let mut bytes = vec![0; place.bytes as usize];
                file.read_exact_at(&mut bytes, place.offset).unwrap();
                bytes
            })
            .collect();
        let view = |i: usize| View { dtype: self.tensors[i].dtype, bytes: &contents[i] };
        let last = contents.len() - 1;
        let inputs = (0..last).map(view).collect();
        let problem = Problem { case: &self.case, fill: self.fill, inputs };
        let (rows, cols) = (self.tensors[last].shape[0], self.tensors[last].shape[1]);
        let judged = if rows * cols > 1 << 19 { rows / 3..rows / 3 + 20 } else { 0..rows };
        let wanted: Vec<usize> = (judged.start * cols..judged.end * cols).collect();
        let expected = self.case.judged().reference(&problem, 0, &wanted);
        let got = view(last).line(wanted[0], 1, wanted.len());
        let Tensor { dtype, shape, .. } = &self.tensors[last];
        let judgement = judge(*dtype, shape, &wanted, &got, &expected, None, 1.0);
        judgement.failed == 0
    }

    /// Whether the memory beside the output is as it was made.
    pub(crate) fn is_clean(&self) -> bool {
        let (place, file) = (self.places.last().unwrap(), self.files.last().unwrap());
        let end = place.offset + place.bytes;
        let mut before = vec![1; place.offset as usize];
        let mut after = vec![1; (place.size - end) as usize];
        file.read_exact_at(&mut before, 0).unwrap();
        file.read_exact_at(&mut after, end).unwrap();
        before.iter().chain(&after).all(|byte| *byte == 0)
    }
}
