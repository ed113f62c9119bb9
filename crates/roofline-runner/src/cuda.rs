//! The built-in runner over the kernels of `roofline-cuda`: `roofline runner cuda`.
//!
//! Tensors are device memory of the [device process](crate::device), mapped here: inputs for reading alone. A launch is
//! one call of a launcher; a visit queues its launches, each on the next set of tensors, between two events, as a graph
//! where that is recorded already. What the device says is a claim; what asking for a launch takes the host is noted
//! beside it. An error that sticks ends the process: the driver would answer nothing else from then on.

mod file;
mod kernels;
mod queue;

use crate::channel::{Broken, Channel, Message};
use crate::kernel::{failed, out_of_memory, unsupported};
use crate::session::refuse;
use file::CudaFile;
use kernels::{offers, prepare};
use queue::Queue;
use roofline_core::protocol::{
    Answer, Ask, Hello, Launched, MAX_SAMPLES, Place, Prepare, Prepared, Question, Refusal, VERSION, Visited,
};
use roofline_cuda::{Access, CudaError, Device, SharedMemory, Stream};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Hosts the kernels until the conductor leaves. Where there is no device, it offers nothing and says why.
pub fn serve() -> ExitCode {
    host(None)
}

/// The same with the kernels of a user's file.
pub fn serve_file(path: &Path) -> ExitCode {
    match CudaFile::read(path) {
        Ok(file) => host(Some(file)),
        Err(why) => refuse(failed(why)),
    }
}

fn host(file: Option<CudaFile>) -> ExitCode {
    let end = Channel::open().map_err(Broken::from).and_then(|channel| converse(channel, file));
    match end {
        Ok(code) => code,
        Err(broken) => {
            let _ = writeln!(std::io::stderr(), "error: {broken}");
            ExitCode::from(2)
        }
    }
}

fn converse(mut channel: Channel, file: Option<CudaFile>) -> Result<ExitCode, Broken> {
    let mut runner = CudaRunner { file, devices: BTreeMap::new(), ready: None };
    while let Some(Message { line, files }) = channel.receive()? {
        let question: Question = serde_json::from_slice(&line)
            .map_err(|error| Broken::Breach(format!("not a question: {error}")))?;
        let last = question.ask == Ask::Bye;
        let (answer, is_over) = match runner.obey(question.ask, files) {
            Ok(ok) => (Answer { id: question.id, ok: Some(ok), error: None }, false),
            Err(refusal) => {
                let is_over = sticks(&refusal.message);
                (Answer { id: question.id, ok: None, error: Some(refusal) }, is_over)
            }
        };
        let mut line = serde_json::to_vec(&answer).expect("an answer is plain data");
        line.push(b'\n');
        channel.send(&line)?;
        if last || is_over {
            // Destructors would ask a driver that answers nothing any more.
            return Ok(if is_over { ExitCode::from(3) } else { ExitCode::SUCCESS });
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Errors after which a context is of no use.
fn sticks(message: &str) -> bool {
    const STICKY: [&str; 8] = [
        "ILLEGAL_ADDRESS",
        "MISALIGNED_ADDRESS",
        "ILLEGAL_INSTRUCTION",
        "INVALID_ADDRESS_SPACE",
        "INVALID_PC",
        "HARDWARE_STACK_ERROR",
        "LAUNCH_FAILED",
        "LAUNCH_TIMEOUT",
    ];
    STICKY.iter().any(|name| message.contains(name))
}

struct CudaRunner {
    /// A user's, in the place of the house's own kernels.
    file: Option<CudaFile>,
    /// A stream of each device that was asked for.
    devices: BTreeMap<String, Arc<Stream>>,
    ready: Option<Queue>,
}

/// What the driver says, as a refusal.
pub(crate) fn refusal(error: CudaError) -> Refusal {
    let text = error.to_string();
    match error {
        CudaError::Unsupported(why) => unsupported(why),
        _ if text.contains("OUT_OF_MEMORY") => out_of_memory(text),
        _ => failed(text),
    }
}

impl CudaRunner {
    fn obey(&mut self, ask: Ask, files: Vec<OwnedFd>) -> Result<Value, Refusal> {
        match ask {
            Ask::Hello { .. } => Ok(plain(self.hello())),
            Ask::Prepare(request) => {
                self.ready = None;
                self.prepare(&request, &files).map(plain)
            }
            Ask::Launch { count } => {
                let ready = self.ready.as_mut().ok_or_else(|| failed("nothing is prepared"))?;
                ready.launch(count).map_err(refusal)?;
                Ok(plain(Launched::default()))
            }
            Ask::Visit { warmup, samples, batch } => {
                if samples > MAX_SAMPLES || batch == 0 {
                    return Err(failed(format!("a visit of {samples} samples of {batch} launches")));
                }
                let ready = self.ready.as_mut().ok_or_else(|| failed("nothing is prepared"))?;
                let nanoseconds = ready.visit(warmup, samples, batch).map_err(refusal)?;
                Ok(plain(Visited { nanoseconds, ..Visited::default() }))
            }
            Ask::Release | Ask::Bye => {
                self.ready = None;
                Ok(json!({}))
            }
        }
    }

    fn prepare(&mut self, request: &Prepare, files: &[OwnedFd]) -> Result<Prepared, Refusal> {
        let stream = self.stream(&request.device)?;
        if files.len() != request.tensors.len() {
            return Err(failed(format!(
                "{} descriptors came with {} tensors",
                files.len(),
                request.tensors.len()
            )));
        }
        let map = |(place, file): (&Place, &OwnedFd)| {
            let access = if place.role.is_input() { Access::ReadOnly } else { Access::ReadWrite };
            SharedMemory::import(stream.device(), file.as_fd(), place.size as usize, access).map_err(refusal)
        };
        let memory: Vec<SharedMemory> =
            request.tensors.iter().zip(files).map(map).collect::<Result<_, Refusal>>()?;
        let launches = match &self.file {
            Some(file) => file.prepare(&stream, request, &memory)?,
            None => prepare(request, &memory)?,
        };
        let queue = Queue::new(&stream, launches, memory).map_err(refusal)?;
        let notes = queue.notes().map_err(refusal)?;
        self.ready = Some(queue);
        Ok(Prepared { threads: 1, notes, ..Prepared::default() })
    }

    fn hello(&self) -> Hello {
        let mut hello = hello();
        if let Some(file) = &self.file {
            hello.offers = file.offers();
            hello.runner.clone_from(&file.provider);
            hello
                .notes
                .insert("launcher".to_owned(), "the house's: no host code of the file runs".to_owned());
        }
        hello
    }

    fn stream(&mut self, device: &str) -> Result<Arc<Stream>, Refusal> {
        if let Some(stream) = self.devices.get(device) {
            return Ok(stream.clone());
        }
        let ordinal = device.strip_prefix("cuda:").and_then(|number| number.parse().ok());
        let ordinal = ordinal.ok_or_else(|| unsupported(format!("`cuda` has no device `{device}`")))?;
        let stream = Device::open(ordinal).and_then(|device| Stream::new(&device)).map_err(refusal)?;
        let stream = Arc::new(stream);
        self.devices.insert(device.to_owned(), stream.clone());
        Ok(stream)
    }
}

/// Who this is, without a word with the driver, which takes long to start: the devices are those whose files are there
/// and that the user may see.
pub fn known() -> Hello {
    let is_card = |name: &str| name.strip_prefix("nvidia").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let files = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let there = files.filter(|file| is_card(&file.file_name().to_string_lossy())).count();
    let visible = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    let visible = visible.map_or(there, |list| list.split(',').filter(|one| !one.trim().is_empty()).count());
    let devices = (0..there.min(visible)).map(|number| format!("cuda:{number}")).collect();
    Hello { devices, notes: BTreeMap::new(), ..told(Vec::new(), String::new()) }
}

/// Who this is; the devices are those that the driver says there are.
fn hello() -> Hello {
    let (devices, note) = match roofline_cuda::devices() {
        Ok(devices) => {
            let names: Vec<String> =
                devices.iter().map(|device| format!("{} {}", device.name, device.uuid)).collect();
            (devices.iter().map(|device| format!("cuda:{}", device.ordinal)).collect(), names.join(", "))
        }
        Err(why) => (Vec::new(), why.to_string()),
    };
    told(devices, note)
}

fn told(devices: Vec<String>, note: String) -> Hello {
    Hello {
        protocol: VERSION,
        runner: "cuda".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        offers: offers(),
        devices,
        operations: Vec::new(),
        notes: BTreeMap::from([("device".to_owned(), note)]),
    }
}

fn plain(answer: impl serde::Serialize) -> Value {
    serde_json::to_value(answer).expect("answers are plain data")
}
