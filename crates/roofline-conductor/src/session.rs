//! A conversation with one runner process: questions with deadlines, and a reason for every end.

use crate::audit::{self, Account};
use crate::channel::{Channel, ReceiveError};
use crate::clocks::Habits;
use crate::failure::{Failure, Stop};
use crate::isolation::{Isolation, Sandbox};
use crate::keeper::{End, Keeper, Start};
use crate::runners::{self, RunnerSpec};
use crate::sys::signals;
use roofline_core::protocol::{
    Answerable, Ask, Hello, MAX_LINE, Question, Refusal, RefusalKind, VERSION, excerpt, parse_answer,
};
use roofline_core::record::Status;
use roofline_core::units::Bytes;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a runner may take, and how much it may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For one launch.
    pub patience: Duration,
    /// Private memory.
    pub memory: u64,
}

impl Limits {
    /// For starting and saying hello: a framework may take seconds to load, whatever a launch may take.
    pub fn patience_at_start(&self) -> Duration {
        self.patience.max(self.patience.saturating_mul(10).min(Duration::from_secs(60)))
    }
}

/// One runner process.
#[derive(Debug)]
pub struct Session {
    pub pid: i32,
    pub hello: Arc<Hello>,
    /// What the implementations of a side are called in the run, and by the runner itself.
    names: Vec<(String, String)>,
    /// How it is kept from the world outside.
    pub isolation: Isolation,
    /// Its parent, to which what it leaves behind comes.
    warden: i32,
    /// Bytes of the tensors that it holds, and the most that it ever held.
    given: (u64, u64),
    channel: Channel,
    next: u64,
    limits: Limits,
    log: Log,
    /// How long its first thread has waited for a core.
    pub account: Account,
    /// What is usual for its kind of program.
    pub habits: Habits,
}

impl Session {
    /// Starts a runner for `threads` threads on `cores` and does not wait for it: it loads what it needs before it is
    /// [asked who it is](Session::introduced).
    pub fn spawn(
        keeper: &mut Keeper,
        spec: &RunnerSpec,
        threads: u32,
        cores: &[u32],
        limits: Limits,
        sandbox: Sandbox,
    ) -> Result<Session, Stop> {
        let (ours, theirs) = UnixStream::pair()?;
        let (reader, writer) = io::pipe()?;
        let start = Start {
            command: spec.command.clone(),
            environment: spec.environment_for(threads),
            folder: spec.folder.clone(),
            cores: cores.to_vec(),
            // A backstop above the watched limit: address space that is reserved and never touched
            // counts here, so there is room for it.
            data_limit: limits.memory.saturating_mul(4),
            memory: limits.memory,
            isolated: spec.isolated && sandbox != Sandbox::Off,
            writable: spec.writable_folders(threads),
        };
        let started = keeper.spawn(start, theirs.as_fd(), writer.as_fd()).map_err(|error| {
            if error.kind() == io::ErrorKind::BrokenPipe {
                return Stop::Own(error);
            }
            let why = format!("`{}` could not be started: {error}; {}", spec.command[0], spec.hint);
            Failure::new(Status::Crashed, why).into()
        })?;
        drop((theirs, writer));
        let channel = Channel::new(ours, MAX_LINE);
        let hello = Hello {
            protocol: 0,
            runner: String::new(),
            version: String::new(),
            devices: Vec::new(),
            offers: Vec::new(),
            operations: Vec::new(),
            notes: Default::default(),
        };
        let pid = started.pid;
        let mut session = Session {
            pid,
            hello: Arc::new(hello),
            names: Vec::new(),
            isolation: started.isolation,
            warden: started.warden,
            given: (0, 0),
            channel,
            next: 1,
            limits,
            log: Log::follow(reader),
            account: Account::of(pid),
            habits: Habits::INTERPRETED,
        };
        if let (Sandbox::Required, Some(weakness)) = (sandbox, session.isolation.weakness()) {
            let why = format!("cannot be isolated in full, as `--sandbox required` demands: {weakness}");
            return Err(session.fail(keeper, Failure::new(Status::Refused, why)));
        }
        Ok(session)
    }

    /// Asks a runner that was started who it is.
    pub fn introduced(mut self, keeper: &mut Keeper, spec: &RunnerSpec) -> Result<Session, Stop> {
        self.hello = self.greet(keeper, &spec.name).inspect_err(|_| {
            // One that refuses to say who it is lives on otherwise.
            let _ = keeper.kill(self.pid);
        })?;
        // By now whoever starts others has started them: `env`, a shell that ends in `exec`.
        if runners::is_native(self.pid) {
            self.habits = Habits::NATIVE;
        }
        if let Err(breach) = spec.may_offer(&self.hello) {
            let told = self.bye();
            self.end(keeper, told);
            return Err(Failure::new(Status::Protocol, format!("the runner {breach}")).into());
        }
        self.names = spec.names(&self.hello);
        Ok(self)
    }

    /// What the runner itself calls an implementation.
    pub fn own_name<'a>(&'a self, implementation: &'a str) -> &'a str {
        let own = self.names.iter().find(|(name, _)| name == implementation);
        own.map_or(implementation, |(_, own)| own)
    }

    /// Asks who it is.
    fn greet(&mut self, keeper: &mut Keeper, runner: &str) -> Result<Arc<Hello>, Stop> {
        let (ask, patience) = (Ask::Hello { protocol: VERSION }, self.limits.patience_at_start());
        let (question, line) = self.exchange(keeper, ask, &[], patience, TICK, || {})?;
        if let Some((known, hello)) = keeper.greetings.get(runner)
            && *known == line
        {
            return Ok(Arc::clone(hello));
        }
        let hello = Arc::new(self.understand(keeper, &question, &line)?);
        keeper.greetings.insert(runner.to_owned(), (line, Arc::clone(&hello)));
        Ok(hello)
    }

    /// Asks one question and reads its answer. Whatever goes wrong ends the process.
    pub fn ask<T: Answerable>(
        &mut self,
        keeper: &mut Keeper,
        ask: Ask,
        fds: &[BorrowedFd],
        patience: Duration,
    ) -> Result<T, Stop> {
        self.ask_while(keeper, ask, fds, patience, TICK, || {})
    }

    /// As [`Session::ask`], with `meanwhile` called every `tick` until the answer is there.
    pub fn ask_while<T: Answerable>(
        &mut self,
        keeper: &mut Keeper,
        ask: Ask,
        fds: &[BorrowedFd],
        patience: Duration,
        tick: Duration,
        meanwhile: impl FnMut(),
    ) -> Result<T, Stop> {
        let (question, line) = self.exchange(keeper, ask, fds, patience, tick, meanwhile)?;
        self.understand(keeper, &question, &line)
    }

    /// Asks one question and takes the line that comes.
    fn exchange(
        &mut self,
        keeper: &mut Keeper,
        ask: Ask,
        fds: &[BorrowedFd],
        patience: Duration,
        tick: Duration,
        mut meanwhile: impl FnMut(),
    ) -> Result<(Question, Vec<u8>), Stop> {
        if signals::interrupted() {
            return Err(Stop::Interrupted);
        }
        let id = self.next;
        self.next += 1;
        if self.channel.has_unread() {
            return Err(self.fail(keeper, Failure::new(Status::Protocol, "spoke without being asked")));
        }
        self.hand_over(&ask, fds);
        let is_visit = matches!(ask, Ask::Visit { .. });
        let question = Question { id, ask };
        let line = serde_json::to_string(&question).map_err(io::Error::other)?;
        if self.channel.send(&line, fds).is_err() {
            let failure = self.classify_end(keeper, &[])?;
            return Err(self.fail(keeper, failure));
        }
        let mut greedy = None;
        let (pid, warden, limit, given) = (self.pid, self.warden, self.limits.memory, self.given.1);
        let look = || audit::own_memory(pid, warden, given).filter(|memory| *memory > limit);
        let mut last_look = Instant::now();
        let received = self.channel.receive(Instant::now() + patience, tick, || {
            meanwhile();
            if last_look.elapsed() >= TICK {
                last_look = Instant::now();
                greedy = look();
            }
            // A signal that came before the wait does not interrupt it.
            greedy.is_none() && !signals::interrupted()
        });
        // What was taken between two looks may be held ever after.
        if received.is_ok() && !is_visit {
            greedy = look();
        }
        let failure = match received {
            Ok(_) | Err(ReceiveError::Deadline) if greedy.is_some() => {
                let (held, limit) = (Bytes(greedy.unwrap_or_default()), Bytes(limit));
                Failure::new(
                    Status::OutOfMemory,
                    format!("held {held} of memory of its own; {limit} is the limit"),
                )
            }
            Ok(_) if !self.channel.take_fds().is_empty() => {
                Failure::new(Status::Protocol, "sent descriptors, which nobody asked for")
            }
            Ok(line) => return Ok((question, line)),
            Err(ReceiveError::Interrupted) => return Err(Stop::Interrupted),
            Err(ReceiveError::Deadline) if signals::interrupted() => return Err(Stop::Interrupted),
            Err(ReceiveError::Deadline) => {
                Failure::new(Status::Timeout, format!("no answer within {patience:.1?}"))
            }
            Err(ReceiveError::TooLong(most)) => {
                Failure::new(Status::Protocol, format!("sent a line longer than {most} bytes"))
            }
            Err(ReceiveError::Closed(rest)) => self.classify_end(keeper, &rest)?,
            Err(ReceiveError::Io(error)) => return Err(error.into()),
        };
        Err(self.fail(keeper, failure))
    }

    fn understand<T: Answerable>(
        &mut self,
        keeper: &mut Keeper,
        question: &Question,
        line: &[u8],
    ) -> Result<T, Stop> {
        match parse_answer(line, question) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(refusal)) => Err(self.refused(refusal)),
            Err(breach) => Err(self.fail(keeper, Failure::new(Status::Protocol, breach.to_string()))),
        }
    }

    /// Says goodbye; whoever has many to part from says it to all before waiting for one.
    pub fn bye(&mut self) -> bool {
        let line = serde_json::to_string(&Question { id: self.next, ask: Ask::Bye }).unwrap_or_default();
        self.channel.send(&line, &[]).is_ok()
    }

    /// Makes sure that nothing is left of a process that was told to end.
    pub fn end(&mut self, keeper: &mut Keeper, told: bool) {
        let polite = told && keeper.wait(self.pid, Duration::from_millis(300)).is_ok_and(|end| end.is_some());
        if !polite {
            let _ = keeper.kill(self.pid);
        }
    }

    /// Processes that the runner has started and that are still there, those whose parents have ended included.
    pub fn left_running(&self) -> usize {
        let orphans = audit::children_of(self.warden).into_iter().filter(|pid| *pid != self.pid);
        orphans.count() + audit::children_of(self.pid).len()
    }

    /// Keeps account of the tensors that a runner holds.
    fn hand_over(&mut self, ask: &Ask, fds: &[BorrowedFd]) {
        if matches!(ask, Ask::Release) {
            self.given.0 = 0;
        }
        let sizes = fds.iter().filter_map(|fd| u64::try_from(rustix::fs::fstat(fd).ok()?.st_size).ok());
        self.given.0 += sizes.sum::<u64>();
        // Memory may be given back a while after it was asked for.
        self.given.1 = self.given.1.max(self.given.0);
    }

    /// What a process that closed its channel died of.
    fn classify_end(&mut self, keeper: &mut Keeper, rest: &[u8]) -> Result<Failure, Stop> {
        // Without the keeper there are no runners; that is no fault of theirs.
        let end = keeper.wait(self.pid, Duration::from_secs(1))?;
        let words = end.as_ref().map(|_| self.log.last_line()).unwrap_or_default();
        let said = if words.is_empty() { String::new() } else { format!("; its last words: {words}") };
        let out_of_memory = self.log.says("memory allocation of") || self.log.says("MemoryError");
        Ok(match end {
            Some(End::Signal(_) | End::Exit(_)) if out_of_memory => {
                Failure::new(Status::OutOfMemory, format!("could not allocate{said}"))
            }
            Some(End::Signal(signal)) => {
                Failure::new(Status::Crashed, format!("ended by {}{said}", signals::name(signal)))
            }
            _ if !rest.is_empty() => {
                Failure::new(Status::Protocol, format!("left a line unfinished: {}", excerpt(rest)))
            }
            Some(End::Exit(code)) => {
                Failure::new(Status::Crashed, format!("exited with code {code} instead of answering{said}"))
            }
            None => Failure::new(Status::Protocol, "closed its channel instead of answering"),
        })
    }

    fn refused(&self, refusal: Refusal) -> Stop {
        let status = match refusal.kind {
            RefusalKind::Unsupported => Status::Unsupported,
            RefusalKind::Failed => Status::Crashed,
            RefusalKind::OutOfMemory => Status::OutOfMemory,
        };
        let message: String =
            refusal.message.chars().filter(|c| !c.is_control() || *c == '\n').take(2000).collect();
        Failure::new(status, message).into()
    }

    fn fail(&mut self, keeper: &mut Keeper, failure: Failure) -> Stop {
        let _ = keeper.kill(self.pid);
        failure.into()
    }
}

/// How often a waiting conductor looks at a runner's memory.
const TICK: Duration = Duration::from_millis(50);

/// The end of what a process writes, drained so that it never blocks.
#[derive(Debug)]
struct Log {
    tail: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
}

impl Log {
    const KEPT: usize = 16 * 1024;
    /// What a dead process wrote has come by then, unless a child of it holds the pipe open.
    const PATIENCE: Duration = Duration::from_millis(500);

    fn follow(mut pipe: io::PipeReader) -> Log {
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&tail);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut bytes) {
                let mut tail = kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                tail.extend(&bytes[..count]);
                let excess = tail.len().saturating_sub(Log::KEPT);
                tail.drain(..excess);
            }
        });
        Log { tail, reader }
    }

    /// Whether the last that it wrote contains `text`.
    fn says(&self, text: &str) -> bool {
        let tail = self.tail.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let end: Vec<u8> = tail.iter().skip(tail.len().saturating_sub(2048)).copied().collect();
        String::from_utf8_lossy(&end).contains(text)
    }

    /// The last line of a process that ended that says something, without control characters.
    fn last_line(&self) -> String {
        let deadline = Instant::now() + Log::PATIENCE;
        while !self.reader.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let tail = self.tail.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let bytes: Vec<u8> = tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        line.chars().filter(|c| !c.is_control()).take(300).collect()
    }
}
