//! A prepared case as an implementation sees it: the question, and its tensors in memory.
//!
//! Everything that the question says of memory is checked before anything is mapped.

use crate::kernel::{failed, out_of_memory, unsupported};
use crate::restore::Restore;
use crate::sys::mapping::{self, Mapping};
use crate::sys::tensor::{Element, Input, Output};
use roofline_protocol::messages::{Place, Prepare, Refusal, Role};
use roofline_protocol::names;
use roofline_protocol::precision::Accumulator;
use rustix::fs::{Mode, OFlags};
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Most tensors that a case may have, and most axes of a tensor.
pub(crate) const MAX_TENSORS: usize = 32;
const MAX_AXES: usize = 16;

/// Inputs and outputs as bytes.
pub type InAndOut = (Vec<Input<u8>>, Vec<Output<u8>>);

/// A case to get ready for: the fields of its [`Prepare`], and its tensors by name.
pub struct Job {
    request: Prepare,
    /// Beside each place its memory; an output's is taken once.
    memory: Vec<Option<Arc<Mapping>>>,
    /// Outputs that are copies of inputs before every launch.
    restores: Vec<Restore>,
}

impl Deref for Job {
    type Target = Prepare;

    fn deref(&self) -> &Prepare {
        &self.request
    }
}

impl Job {
    /// Checks the question and maps its tensors, from `files` or, where it names them, by path.
    pub fn new(request: Prepare, files: Vec<OwnedFd>) -> Result<Job, Refusal> {
        check(&request)?;
        let files = if files.is_empty() { open(&request.tensors)? } else { files };
        if files.len() != request.tensors.len() {
            return Err(failed(format!(
                "{} descriptors came with {} tensors",
                files.len(),
                request.tensors.len()
            )));
        }
        let places = request.tensors.iter().zip(&files);
        let memory = places.map(|(place, file)| map(place, file).map(Some)).collect::<Result<_, _>>()?;
        let mut job = Job { request, memory, restores: Vec::new() };
        job.restores = job.restores_from(&files)?;
        Ok(job)
    }

    fn restores_from(&self, files: &[OwnedFd]) -> Result<Vec<Restore>, Refusal> {
        let started = self.tensors.iter().zip(files).filter(|(place, _)| place.starts_as.is_some());
        let restore = |(place, file): (&Place, &OwnedFd)| {
            let input =
                self.tensors.iter().zip(&self.memory).find(|(input, _)| {
                    Some(&input.name) == place.starts_as.as_ref() && input.role.is_input()
                });
            let input = input.filter(|(input, _)| input.bytes == place.bytes);
            let (input, memory) = input
                .ok_or_else(|| failed(format!("tensor `{}` starts as no input of its size", place.name)))?;
            let from = memory.clone().expect("inputs are not taken");
            Ok(Restore {
                from: Input::new(from, input.offset as usize, input.bytes as usize),
                to: Output::new(map(place, file)?, place.offset as usize, place.bytes as usize),
            })
        };
        started.map(restore).collect()
    }

    /// What is to be restored before every launch; the session does it.
    pub(crate) fn take_restores(&mut self) -> Vec<Restore> {
        std::mem::take(&mut self.restores)
    }

    /// `operation` or `operation.variant`.
    pub fn form(&self) -> String {
        names::form(&self.operation, &self.variant)
    }

    /// The value of an axis.
    pub fn axis(&self, name: &str) -> Result<usize, Refusal> {
        let value = self.axes.get(name).copied();
        let value = value.ok_or_else(|| failed(format!("`{}` has no axis `{name}`", self.case)))?;
        usize::try_from(value).map_err(|_| failed(format!("axis `{name}` of {value} is too large")))
    }

    /// A parameter of the case.
    pub fn param(&self, name: &str) -> Result<f64, Refusal> {
        let value = self.params.get(name).copied();
        value.ok_or_else(|| failed(format!("`{}` has no parameter `{name}`", self.case)))
    }

    /// Id of the precision.
    pub fn precision(&self) -> String {
        match self.request.precision.as_str() {
            // The last protocol had types alone.
            "" if self.accumulator == Accumulator::of(self.dtype).name => self.dtype.name().to_owned(),
            "" => format!("{}+{}", self.dtype, self.accumulator),
            id => id.to_owned(),
        }
    }

    /// Says `unsupported` unless the precision is one of these.
    pub fn require(&self, ids: &[String]) -> Result<(), Refusal> {
        let own = self.precision();
        if ids.contains(&own) {
            return Ok(());
        }
        Err(unsupported(format!("`{}` has no {own}", self.implementation)))
    }

    /// An input of the case.
    pub fn input<T: Element>(&self, name: &str) -> Result<Input<T>, Refusal> {
        let (place, index) = self.find::<T>(name, Role::Input)?;
        let memory = self.memory[index].clone().expect("inputs are not taken");
        Ok(Input::new(memory, place.offset as usize, place.bytes as usize))
    }

    /// An output of the case; each can be had once.
    pub fn output<T: Element>(&mut self, name: &str) -> Result<Output<T>, Refusal> {
        let (place, index) = self.find::<T>(name, Role::Output)?;
        let (offset, bytes) = (place.offset as usize, place.bytes as usize);
        let memory = self.memory[index].take();
        let memory = memory.ok_or_else(|| failed(format!("output `{name}` is already in use")))?;
        Ok(Output::new(memory, offset, bytes))
    }

    /// All inputs, of one type, and the output, which can be had once.
    pub fn tensors<T: Element, O: Element>(&mut self) -> Result<(Vec<Input<T>>, Output<O>), Refusal> {
        let names = |role: Role| -> Vec<String> {
            let places = self.request.tensors.iter().filter(|place| place.role.is_input() == role.is_input());
            places.map(|place| place.name.clone()).collect()
        };
        let (inputs, outputs) = (names(Role::Input), names(Role::Output));
        let inputs = inputs.iter().map(|name| self.input(name)).collect::<Result<_, _>>()?;
        match outputs.as_slice() {
            [name] => Ok((inputs, self.output(name)?)),
            names => Err(failed(format!("{} outputs, not one", names.len()))),
        }
    }

    /// The inputs and the outputs as bytes, whatever their dtypes; outputs can be had once.
    pub fn bytes(&mut self) -> Result<InAndOut, Refusal> {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (place, memory) in self.request.tensors.iter().zip(&mut self.memory) {
            let (offset, bytes) = (place.offset as usize, place.bytes as usize);
            if place.role.is_input() {
                let memory = memory.clone().expect("inputs are not taken");
                inputs.push(Input::new(memory, offset, bytes));
            } else {
                let memory = memory.take();
                let taken = || failed(format!("output `{}` is already in use", place.name));
                outputs.push(Output::new(memory.ok_or_else(taken)?, offset, bytes));
            }
        }
        Ok((inputs, outputs))
    }

    /// The same with of each tensor what a launch reads or writes: a part where that is so, and nothing of an input where an
    /// output starts as it and is read instead.
    #[cfg(feature = "limit")]
    pub(crate) fn walked(&mut self) -> Result<InAndOut, Refusal> {
        let (inputs, outputs) = self.bytes()?;
        let is_read =
            |place: &Place| !self.tensors.iter().any(|output| output.starts_as.as_ref() == Some(&place.name));
        let walked = inputs.into_iter().zip(&self.tensors).filter(|(_, place)| is_read(place));
        let length = |place: &Place| place.walked.unwrap_or(place.bytes) as usize;
        let walked = walked.map(|(input, place)| input.first(length(place))).collect();
        let of_output = self.tensors.iter().filter(|place| !place.role.is_input());
        let written = outputs.into_iter().zip(of_output).map(|(output, place)| output.first(length(place)));
        Ok((walked, written.collect()))
    }

    fn find<T: Element>(&self, name: &str, role: Role) -> Result<(&Place, usize), Refusal> {
        let index = self
            .tensors
            .iter()
            .position(|place| place.name == name && place.role.is_input() == role.is_input());
        let index = index.ok_or_else(|| {
            let kind = if role == Role::Input { "input" } else { "output" };
            failed(format!("`{}` has no {kind} `{name}`", self.case))
        })?;
        let place = &self.tensors[index];
        if place.dtype != T::DTYPE {
            return Err(unsupported(format!("tensor `{name}` is {}, not {}", place.dtype, T::DTYPE)));
        }
        Ok((place, index))
    }
}

fn check(request: &Prepare) -> Result<(), Refusal> {
    let tensors = &request.tensors;
    if tensors.len() > MAX_TENSORS {
        return Err(failed(format!("{} tensors; {MAX_TENSORS} is the limit", tensors.len())));
    }
    if request.threads == 0 {
        return Err(failed("`threads` is 0; a launch needs one"));
    }
    if !tensors.is_sorted_by_key(|place| place.role == Role::Output) {
        return Err(failed("an input stands after an output"));
    }
    for (i, place) in tensors.iter().enumerate() {
        let wrong = |why: String| failed(format!("tensor `{}`: {why}", place.name));
        if tensors[..i].iter().any(|other| other.name == place.name) {
            return Err(wrong("named twice".to_owned()));
        }
        check_place(place).map_err(wrong)?;
        if place.starts_as.is_some() && place.role != Role::Output {
            return Err(wrong("only an output starts as an input".to_owned()));
        }
        if place.walked.is_some_and(|walked| walked > place.bytes) {
            return Err(wrong("more bytes are walked than it has".to_owned()));
        }
    }
    Ok(())
}

fn check_place(place: &Place) -> Result<(), String> {
    let Place { shape, offset, bytes, size, dtype, .. } = place;
    if shape.len() > MAX_AXES {
        return Err(format!("{} axes; {MAX_AXES} is the limit", shape.len()));
    }
    let element = dtype.size() as u64;
    let expected = shape.iter().try_fold(element, |product, extent| product.checked_mul(*extent));
    if expected != Some(*bytes) {
        return Err(format!("`bytes` is {bytes}, but {shape:?} of {dtype} is not"));
    }
    let page = mapping::page_size() as u64;
    if *size == 0 || *size % page != 0 || *size > isize::MAX as u64 / 2 {
        return Err(format!("`size` is {size}, not a positive multiple of the page of {page} bytes"));
    }
    if offset % element != 0 {
        return Err(format!("`offset` {offset} is not a multiple of the {element} bytes of {dtype}"));
    }
    let beyond = place.sets.map_or(Some(0), |sets| sets.count.saturating_sub(1).checked_mul(sets.stride));
    match beyond.and_then(|beyond| offset.checked_add(*bytes)?.checked_add(beyond)) {
        Some(end) if end <= *size => Ok(()),
        _ => Err(format!("{bytes} bytes at `offset` {offset} do not fit in a file of {size}")),
    }
}

/// Opens the files of a conversation by hand.
fn open(places: &[Place]) -> Result<Vec<OwnedFd>, Refusal> {
    let open = |place: &Place| {
        let path = place.path.as_deref().ok_or_else(|| {
            failed(format!("tensor `{}` came with neither a descriptor nor a `path`", place.name))
        })?;
        let access = if place.role.is_input() { OFlags::RDONLY } else { OFlags::RDWR };
        rustix::fs::open(path, access | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| failed(format!("tensor `{}`: cannot open `{path}`: {error}", place.name)))
    };
    places.iter().map(open).collect()
}

fn map(place: &Place, file: &OwnedFd) -> Result<Arc<Mapping>, Refusal> {
    let wrong = |why: String| failed(format!("tensor `{}`: {why}", place.name));
    let status = rustix::fs::fstat(file).map_err(|error| wrong(format!("cannot ask its size: {error}")))?;
    // A page beyond the end of the file would answer a read with SIGBUS.
    if (status.st_size as u64) < place.size {
        return Err(wrong(format!("the file has {} bytes, not {}", status.st_size, place.size)));
    }
    let writable = place.role == Role::Output;
    Mapping::new(file, place.size as usize, writable).map(Arc::new).map_err(|error| {
        let why = wrong(format!("cannot map {} bytes: {error}", place.size));
        let short = error.kind() == std::io::ErrorKind::OutOfMemory;
        if short { out_of_memory(why.message) } else { why }
    })
}
