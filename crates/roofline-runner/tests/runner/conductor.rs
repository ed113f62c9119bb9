//! The other side of the conversation, as small as a test needs it.

use roofline_core::case::Case;
use roofline_core::protocol::{Answerable, parse_answer};
use roofline_runner::protocol::{Ask, Place, Prepare, Question, Refusal, Role};
use roofline_runner::{Dtype, Entry, Job, Output, Ready, Refusal as No, Samples, Table, Visit, failed};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::IoSlice;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

pub(crate) const PAGE: u64 = 4096;

/// Asks and reads answers.
pub(crate) struct Conductor {
    to: OwnedFd,
    from: BufReader<File>,
    next: u64,
}

impl Conductor {
    pub(crate) fn new(to: OwnedFd, from: OwnedFd) -> Conductor {
        Conductor { to, from: BufReader::new(from.into()), next: 0 }
    }

    /// A conductor and the runner's end of its socket.
    pub(crate) fn over_socket() -> (Conductor, OwnedFd) {
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        let again = ours.try_clone().unwrap();
        (Conductor::new(ours, again), theirs)
    }

    pub(crate) fn ask<T: Answerable>(&mut self, ask: Ask) -> Result<T, Refusal> {
        self.ask_with(ask, &[])
    }

    pub(crate) fn ask_with<T: Answerable>(&mut self, ask: Ask, files: &[&File]) -> Result<T, Refusal> {
        self.next += 1;
        let id = self.next;
        let question = Question { id, ask };
        let line = serde_json::to_string(&question).unwrap();
        self.send(&format!("{line}\n"), files);
        parse_answer(&self.receive(), &question).unwrap()
    }

    pub(crate) fn send(&mut self, text: &str, files: &[&File]) {
        if files.is_empty() {
            return File::from(self.to.try_clone().unwrap()).write_all(text.as_bytes()).unwrap();
        }
        let rights: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(64))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&rights)));
        let bytes = &[IoSlice::new(text.as_bytes())];
        let sent = rustix::net::sendmsg(&self.to, bytes, &mut control, SendFlags::empty()).unwrap();
        assert_eq!(sent, text.len());
    }

    pub(crate) fn receive(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.from.read_until(b'\n', &mut line).unwrap();
        line
    }
}

/// A memory file of whole pages; an input is sealed against writing, as the conductor's are.
pub(crate) fn memory(size: u64, offset: u64, values: &[f32], role: Role) -> File {
    let file = rustix::fs::memfd_create("tensor", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&file, size).unwrap();
    let file = File::from(file);
    write(&file, offset, values);
    let mut seals = SealFlags::SHRINK | SealFlags::GROW;
    if role == Role::Input {
        seals |= SealFlags::FUTURE_WRITE;
    }
    rustix::fs::fcntl_add_seals(&file, seals).unwrap();
    file
}

pub(crate) fn write(file: &File, offset: u64, values: &[f32]) {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    file.write_all_at(&bytes, offset).unwrap();
}

pub(crate) fn read(file: &File, offset: u64, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; 4 * count];
    file.read_exact_at(&mut bytes, offset).unwrap();
    bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// `z = x + y` of `cols` elements, flush against the end of its pages.
pub(crate) fn add(implementation: &str, cols: u64) -> Prepare {
    let size = (4 * cols).next_multiple_of(PAGE);
    let place = |name: &str, role| Place {
        name: name.to_owned(),
        role,
        dtype: Dtype::F32,
        shape: vec![1, cols],
        offset: size - 4 * cols,
        bytes: 4 * cols,
        size,
        path: None,
        starts_as: None,
        walked: None,
        sets: None,
    };
    let case: Case = format!("add/f32/rows=1,cols={cols}").parse().unwrap();
    let tensors = vec![place("x", Role::Input), place("y", Role::Input), place("z", Role::Output)];
    Prepare { cores: vec![0], ..case.question(implementation, tensors) }
}

/// A runner with one honest row and some that are not.
pub(crate) fn table() -> Table {
    Table::new("test", "1.2.3", ENTRIES).note("compiler", "rustc")
}

const fn entry(implementation: &'static str, prepare: fn(&mut Job) -> Result<Ready, No>) -> Entry {
    Entry::new(implementation, "add", &[Dtype::F32], prepare)
}

const ENTRIES: &[Entry] = &[
    entry("test/sum", sum),
    entry("test/fresh", |job| Ok(Ready::new(Fresh { result: None, z: job.output("z")? }).fresh())),
    entry("test/panic", |_| Ok(Ready::new(|| panic!("at element {}", 3)))),
    entry("test/panic-early", |_| panic!("while packing")),
    entry("test/error", |_| Ok(Ready::new(Raises))),
    #[cfg(target_arch = "x86_64")]
    entry("test/float-mode", |_| Ok(Ready::new(crate::sys::flush_to_zero))),
    entry("test/twice", |job| {
        let _first = job.output::<f32>("z")?;
        job.output::<f32>("z").map(|_| Ready::new(|| ()))
    }),
    entry("test/types", |job| job.input::<f64>("x").map(|_| Ready::new(|| ()))),
];

fn sum(job: &mut Job) -> Result<Ready, No> {
    let (x, y) = (job.input::<f32>("x")?, job.input::<f32>("y")?);
    let mut z = job.output::<f32>("z")?;
    assert_eq!((job.axis("cols")?, x.len(), z.len()), (x.len(), y.len(), y.len()));
    Ok(Ready::new(move || {
        for ((z, x), y) in z.iter_mut().zip(&*x).zip(&*y) {
            *z = x + y;
        }
    })
    .note("order", "as they come"))
}

/// Settling adds the result of the last launch to the output, which so tells how often that was done.
struct Fresh {
    result: Option<f32>,
    z: Output<f32>,
}

impl roofline_runner::Kernel for Fresh {
    fn launch(&mut self) -> Result<(), No> {
        self.result = Some(1.0);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), No> {
        let result = self.result.take().ok_or_else(|| failed("settled without a launch"))?;
        self.z.iter_mut().for_each(|z| *z += result);
        Ok(())
    }
}

struct Raises;

impl roofline_runner::Kernel for Raises {
    fn launch(&mut self) -> Result<(), No> {
        Err(failed("no plan for this size"))
    }

    fn visit(&mut self, visit: &Visit) -> Result<Samples, No> {
        Err(failed(format!("no clock for {} samples", visit.samples)))
    }
}
