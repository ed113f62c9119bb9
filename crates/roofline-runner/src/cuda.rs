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
use kernels::{offers, prepare, restores};
use queue::Queue;
use roofline_cuda::{Access, CudaError, Device, SharedMemory, Stream};
use roofline_protocol::messages::{
    Answer, Ask, Hello, Launched, MAX_SAMPLES, Place, Prepare, Prepared, Question, Refusal, VERSION, Visited,
};
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
    const STICKY: [&str; 9] = [
        "ERROR_ASSERT",
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
        // A size beyond what its grid or its counters hold: a gap, which another kernel may fill.
        CudaError::TooLarge { .. } => unsupported(text),
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
                let (host_nanoseconds, copy_nanoseconds) = (Some(ready.host()), ready.copies());
                Ok(plain(Visited { nanoseconds, host_nanoseconds, copy_nanoseconds, ..Visited::default() }))
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
        // A probe reads what an output starts as in its place.
        let restores = match request.implementation.starts_with("limit/") {
            true => Vec::new(),
            false => restores(request, &memory)?,
        };
        let queue = Queue::new(&stream, launches, restores, memory).map_err(refusal)?;
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
    let devices = 0..visible.map_or(there, |list| visible_of(&list, there));
    let devices = devices.map(|number| format!("cuda:{number}")).collect();
    Hello { devices, notes: BTreeMap::new(), ..told(Vec::new(), String::new()) }
}

/// How many of the cards that are there a list of the user's leaves: the driver stops at the first name that it does not
/// know, and at one that is there a second time it has none at all.
fn visible_of(list: &str, there: usize) -> usize {
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    let is_known = |name: &&&str| match name.parse::<usize>() {
        Ok(number) => number < there,
        Err(_) => name.starts_with("GPU-") || name.starts_with("MIG-"),
    };
    let known: Vec<&&str> = names.iter().take_while(is_known).collect();
    let is_twice = (1..known.len()).any(|index| known[..index].contains(&known[index]));
    if is_twice { 0 } else { known.len().min(there) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use roofline_protocol::messages::RefusalKind;

    #[test]
    fn what_the_user_lets_be_seen_is_counted_as_the_driver_does() {
        for (list, count) in [
            ("", 0),
            ("-1", 0),
            ("NoDevFiles", 0),
            ("0", 1),
            (" 1 , 0 ", 2),
            ("0,-1,1", 1),
            ("0,7", 1),
            ("7", 0),
            ("1,1", 0),
            ("GPU-4f2c,GPU-77aa", 2),
            ("GPU-4f2c,,GPU-77aa", 1),
            ("0,1,GPU-4f2c", 2),
        ] {
            assert_eq!(visible_of(list, 2), count, "{list:?}");
        }
    }

    #[test]
    fn what_a_context_does_not_get_over_ends_the_process() {
        for name in ["CUDA_ERROR_ASSERT", "CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED"] {
            assert!(sticks(&format!("cuStreamSynchronize: {name}: device-side assert triggered")), "{name}");
        }
        for name in ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_NOT_READY"] {
            assert!(!sticks(&format!("cuMemAlloc: {name}: no")), "{name}");
        }
    }

    #[test]
    fn a_size_that_is_too_large_is_a_gap_and_a_wrong_length_a_failure() {
        let too_large = refusal(CudaError::TooLarge { what: "the length of a row", got: 9, most: 8 });
        assert_eq!(too_large.kind, RefusalKind::Unsupported);
        assert!(
            too_large.message.contains("the length of a row is 9, and 8 is the most"),
            "{}",
            too_large.message
        );
        let length = refusal(CudaError::Length { what: "x", got: 9, wanted: 8 });
        assert_eq!(length.kind, RefusalKind::Failed);
    }
}
