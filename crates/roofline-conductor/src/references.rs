//! References of operations that runners declare, each in a process of its own.
//!
//! The process is one more of the declaring runner, isolated alike, that no kernel runs in and nobody times. It is
//! asked by `prepare` and `launch` with a purpose: inputs as f64 in sealed files, outputs to write. Whatever goes wrong
//! is a reason in words; the core refuses the case with it.

use crate::failure::Stop;
use crate::isolation::Sandbox;
use crate::keeper::Keeper;
use crate::runners::RunnerSpec;
use crate::session::{Limits, Session};
use crate::stage::{Options, cores_for};
use crate::sys::memory::{Sealed, Shared};
use roofline_core::dtype::Dtype;
use roofline_core::operation::Problem;
use roofline_core::operation::own::{Declarer, Own, Purpose};
use roofline_core::ops;
use roofline_core::protocol::{Ask, Done, Hello, Launched, Place, Prepare, Prepared, Role};
use roofline_core::record::Status;
use roofline_core::tensor::Tensor;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Answers that are remembered: the same problem is judged by more than once.
const REMEMBERED: usize = 4;
const PAGE: usize = 4096;

/// Adds the operations that runners have declared: once, before the first case is read.
pub fn bring<'a>(hellos: impl IntoIterator<Item = (&'a str, &'a Hello)>) -> Result<(), String> {
    let mut rows = Vec::new();
    for (runner, hello) in hellos {
        for declaration in &hello.operations {
            let by = Declarer { runner: runner.to_owned(), version: hello.version.clone() };
            let own = Own::parse(declaration.clone(), by, ask)
                .map_err(|why| format!("operation `{}` of `{runner}`: {why}", declaration.name))?;
            rows.push(own.row());
        }
    }
    if rows.is_empty() { Ok(()) } else { ops::bring(rows) }
}

/// How the processes are started, and those that are there.
struct House {
    program: PathBuf,
    runners: Vec<RunnerSpec>,
    limits: Limits,
    sandbox: Sandbox,
    keeper: Option<Keeper>,
    rooms: BTreeMap<String, Room>,
    answers: VecDeque<(u64, Vec<Vec<f64>>)>,
}

/// A process, and the tensors that it has been given.
struct Room {
    session: Session,
    given: Option<Given>,
}

struct Given {
    case: String,
    purpose: Purpose,
    dtype: Dtype,
    inputs: Vec<(Tensor, Sealed)>,
    outputs: Vec<(String, usize, Shared)>,
}

static HOUSE: Mutex<Option<House>> = Mutex::new(None);

/// Says how references are asked for while a run goes on.
pub(crate) fn set_up(options: &Options) {
    let house = House {
        program: options.program.clone(),
        runners: options.runners.clone(),
        limits: options.limits,
        sandbox: options.sandbox,
        keeper: None,
        rooms: BTreeMap::new(),
        answers: VecDeque::new(),
    };
    *HOUSE.lock().unwrap_or_else(PoisonError::into_inner) = Some(house);
}

/// Ends the processes, if there are any.
pub(crate) fn end() {
    let house = HOUSE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(House { keeper: Some(mut keeper), rooms, .. }) = house else { return };
    for (_, mut room) in rooms {
        let told = room.session.bye();
        room.session.end(&mut keeper, told);
    }
}

/// The reference of every declared operation.
fn ask(own: &Own, problem: &Problem, purpose: Purpose) -> Result<Vec<Vec<f64>>, String> {
    let mut house = HOUSE.lock().unwrap_or_else(PoisonError::into_inner);
    let house = house.as_mut().ok_or("could not be asked: nobody said how")?;
    let key = key(own, problem, purpose);
    if let Some((_, answer)) = house.answers.iter().find(|(known, _)| *known == key) {
        return Ok(answer.clone());
    }
    let answer = house.ask(own, problem, purpose).map_err(|stop| {
        house.dismiss(&own.by.runner);
        let place = format!("for {}, {} inputs", problem.case, problem.fill);
        match stop {
            Stop::Row(failure) => match failure.status {
                Status::Timeout => format!("gave {}, {place}; `--timeout` gives it more", failure.why),
                Status::Wrong => format!("{}, {place}", failure.why),
                _ => format!("failed, {place}: {}", failure.why),
            },
            Stop::Interrupted => "was interrupted".to_owned(),
            Stop::Own(error) => format!("could not be asked: {error}"),
        }
    })?;
    house.answers.truncate(REMEMBERED - 1);
    house.answers.push_front((key, answer.clone()));
    Ok(answer)
}

/// A number for all that an answer depends on.
fn key(own: &Own, problem: &Problem, purpose: Purpose) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&own.by.runner, problem.case.to_string(), purpose).hash(&mut hasher);
    problem.inputs.iter().for_each(|input| input.bytes.hash(&mut hasher));
    hasher.finish()
}

impl House {
    fn ask(&mut self, own: &Own, problem: &Problem, purpose: Purpose) -> Result<Vec<Vec<f64>>, Stop> {
        if self.keeper.is_none() {
            self.keeper = Some(Keeper::start(&self.program)?);
        }
        let Some(keeper) = &mut self.keeper else { return Err(Stop::Interrupted) };
        let runner = &own.by.runner;
        if !self.rooms.contains_key(runner) {
            let spec = self.runners.iter().find(|spec| spec.name == *runner);
            let spec = spec.ok_or_else(|| std::io::Error::other(format!("there is no runner `{runner}`")))?;
            let cores = cores_for(1).unwrap_or_default();
            let started = Session::spawn(keeper, spec, 1, &cores, self.limits, self.sandbox)?;
            let session = started.introduced(keeper, spec)?;
            self.rooms.insert(runner.clone(), Room { session, given: None });
        }
        let Some(room) = self.rooms.get_mut(runner) else { return Err(Stop::Interrupted) };
        room.ask(keeper, own, problem, purpose, self.limits)
    }

    /// Ends a process that failed: the next question has one that knows nothing of it.
    fn dismiss(&mut self, runner: &str) {
        if let (Some(mut room), Some(keeper)) = (self.rooms.remove(runner), &mut self.keeper) {
            let told = room.session.bye();
            room.session.end(keeper, told);
        }
    }
}

impl Room {
    fn ask(
        &mut self,
        keeper: &mut Keeper,
        own: &Own,
        problem: &Problem,
        purpose: Purpose,
        limits: Limits,
    ) -> Result<Vec<Vec<f64>>, Stop> {
        let patience = limits.patience_at_start();
        let case = problem.case.to_string();
        let is_ready = |given: &Given| given.case == case && given.purpose == purpose;
        if !self.given.as_ref().is_some_and(is_ready) {
            if self.given.take().is_some() {
                let _: Done = self.session.ask(keeper, Ask::Release, &[], patience)?;
            }
            let given = Given::new(own, problem, purpose)?;
            let ask = Ask::Prepare(Box::new(given.question(own, problem)));
            let _: Prepared = self.session.ask(keeper, ask, &given.fds(), patience)?;
            self.given = Some(given);
        }
        let Some(given) = &mut self.given else { return Err(Stop::Interrupted) };
        given.fill(problem);
        let _: Launched = self.session.ask(keeper, Ask::Launch { count: 1 }, &[], patience)?;
        given.read()
    }
}

impl Given {
    fn new(own: &Own, problem: &Problem, purpose: Purpose) -> Result<Given, Stop> {
        let dtype = match (purpose, problem.case.precision.accumulator.name) {
            (Purpose::Evaluate, "f32") => Dtype::F32,
            _ => Dtype::F64,
        };
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let size = |elements: usize| (elements * dtype.size()).next_multiple_of(PAGE);
        let (read, written): (Vec<Tensor>, Vec<Tensor>) = (problem.case.operation.tensors)(problem.case)
            .into_iter()
            .partition(|tensor| tensor.role.is_input());
        for tensor in read {
            let memory = Sealed::new(tensor.name, size(tensor.elements()))?;
            inputs.push((tensor, memory));
        }
        let has_errors = own.model.has_errors() && purpose == Purpose::Reference;
        let names = written.iter().map(|tensor| tensor.name.to_owned());
        let errors = written.iter().filter(|_| has_errors).map(|tensor| format!("{}-error", tensor.name));
        let all = names.chain(errors).zip(written.iter().cycle());
        for (name, tensor) in all {
            let memory = Shared::new(&name, size(tensor.elements()))?;
            outputs.push((name, tensor.elements(), memory));
        }
        Ok(Given { case: problem.case.to_string(), purpose, dtype, inputs, outputs })
    }

    fn question(&self, own: &Own, problem: &Problem) -> Prepare {
        let place = |name: &str, role: Role, shape: &[usize], size: usize| Place {
            name: name.to_owned(),
            role,
            dtype: self.dtype,
            shape: shape.iter().map(|extent| *extent as u64).collect(),
            offset: 0,
            bytes: (shape.iter().product::<usize>() * self.dtype.size()) as u64,
            size: size as u64,
            path: None,
            starts_as: None,
            walked: None,
            sets: None,
        };
        let tensors = (problem.case.operation.tensors)(problem.case);
        let shapes: Vec<&[usize]> =
            tensors.iter().filter(|tensor| !tensor.role.is_input()).map(|tensor| &tensor.shape[..]).collect();
        let read = self.inputs.iter();
        let read = read.map(|(tensor, memory)| place(tensor.name, Role::Input, &tensor.shape, memory.size()));
        let written = self.outputs.iter().zip(shapes.iter().cycle());
        let written =
            written.map(|((name, _, memory), shape)| place(name, Role::Output, shape, memory.size()));
        Prepare {
            purpose: Some(self.purpose),
            cores: cores_for(1).unwrap_or_default(),
            ..problem.case.question(&format!("{}/reference", own.by.runner), read.chain(written).collect())
        }
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let inputs = self.inputs.iter().map(|(_, memory)| memory.fd());
        inputs.chain(self.outputs.iter().map(|(_, _, memory)| memory.fd())).collect()
    }

    /// Writes the inputs, and into the outputs what no reference gives.
    fn fill(&mut self, problem: &Problem) {
        let dtype = self.dtype;
        for ((_, memory), view) in self.inputs.iter_mut().zip(&problem.inputs) {
            let bytes = memory.bytes_mut();
            (0..view.elements()).for_each(|i| dtype.write(bytes, i, view.get(i)));
        }
        let poison = poison(dtype);
        for (_, elements, memory) in &self.outputs {
            memory.write(0, &poison.repeat(*elements));
        }
    }

    /// What was written, all of it.
    fn read(&self) -> Result<Vec<Vec<f64>>, Stop> {
        let (poison, size) = (poison(self.dtype), self.dtype.size());
        let mut outputs = Vec::new();
        for (name, elements, memory) in &self.outputs {
            let mut bytes = vec![0; elements * size];
            memory.copy(0..bytes.len(), &mut bytes);
            if let Some(at) = bytes.chunks_exact(size).position(|element| element == poison) {
                let why = format!("left element {at} of `{name}` unwritten");
                return Err(crate::failure::Failure::new(Status::Wrong, why).into());
            }
            outputs.push((0..*elements).map(|i| self.dtype.read(&bytes, i)).collect());
        }
        Ok(outputs)
    }
}

/// The bytes of a NaN that no computation makes.
fn poison(dtype: Dtype) -> Vec<u8> {
    match dtype {
        Dtype::F32 => 0x7fc5_a5a5u32.to_le_bytes().into(),
        _ => 0x7ffc_a5a5_5a5a_c3c3u64.to_le_bytes().into(),
    }
}
