//! What all rows of a run share: the keeper, the runner processes, the options, the secrets.

use crate::audit::{self, Account, Times};
use crate::checks::{Check, Checks};
use crate::device::{self, Owner, Process};
use crate::failure::{Failure, Stop};
use crate::instance::{Instance, Placement};
use crate::isolation::Sandbox;
use crate::keeper::Keeper;
use crate::runners::RunnerSpec;
use crate::session::{Limits, Session};
use crate::spent::{Ledger, Part};
use crate::sys::process::cpu_time;
use crate::sys::signals;
use roofline_core::case::{Case, Device};
use roofline_core::decision::FailOn;
use roofline_core::philox::Draws;
use roofline_core::protocol::device::State;
use roofline_core::protocol::{Answerable, Ask};
use roofline_core::record::Status;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How a run is conducted.
#[derive(Clone, Debug)]
pub struct Options {
    /// The roofline binary, for the keeper and the built-in runner.
    pub program: PathBuf,
    pub runners: Vec<RunnerSpec>,
    /// Source of every fill, sample and place; unknown to runners.
    pub seed: u64,
    pub limits: Limits,
    /// Time for one row's comparison with the hub; `None` checks and measures nothing.
    pub budget: Option<Duration>,
    /// Time after which a run takes no further set.
    pub total_budget: Option<Duration>,
    /// Shorter blocks, as many sets.
    pub quick: bool,
    /// A difference below this counts as none.
    pub delta: f64,
    /// The difference that every comparison is to show: instead of budgets and looks, the first sets say how many it takes.
    pub detect: Option<f64>,
    /// What the run fails on: rows that it would fail by are measured again before it does.
    pub fail_on: Option<FailOn>,
    pub checks: Checks,
    /// Whether runners are isolated.
    pub sandbox: Sandbox,
    /// Whether a row with a check that is weaker than it should be fails.
    pub require_held: bool,
}

impl Options {
    /// Every check, nothing timed.
    pub fn new(program: PathBuf, runners: Vec<RunnerSpec>, limits: Limits, seed: u64) -> Options {
        Options {
            program,
            runners,
            seed,
            limits,
            budget: None,
            total_budget: None,
            quick: false,
            delta: roofline_core::verdict::DELTA,
            detect: None,
            fail_on: None,
            checks: Checks::default(),
            sandbox: Sandbox::default(),
            require_held: false,
        }
    }
}

/// One runner process per implementation, device and thread count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat {
    /// Name of the runner that hosts it: two may offer the same implementation.
    pub runner: String,
    pub implementation: String,
    pub device: Device,
    pub threads: u32,
}

impl Seat {
    pub fn of(case: &Case, runner: &str, implementation: &str) -> Seat {
        let (runner, implementation) = (runner.to_owned(), implementation.to_owned());
        Seat { runner, implementation, device: case.device, threads: case.threads }
    }

    /// The cores of its process: as many as it has threads, the same for everybody, where those do the work; whoever asks
    /// a device for it may use them all.
    pub fn cores(&self) -> Option<Vec<u32>> {
        if device::of(self.device).works_in_process {
            cores_for(self.threads)
        } else {
            Some(available_cores())
        }
    }
}

pub struct Stage<'a> {
    pub options: &'a Options,
    pub draws: Draws,
    keeper: Keeper,
    sessions: BTreeMap<Seat, Session>,
    /// Processes that were started for sets to come: each seat's, the next one first.
    ahead: BTreeMap<Seat, VecDeque<Session>>,
    /// Processes that own the tensors of devices.
    owners: BTreeMap<Device, Owner>,
    /// Who was last asked to use a device, and those who have left something running there when another's turn came.
    at_the_device: Option<Seat>,
    left_running: BTreeSet<Seat>,
    account: Account,
    pub ledger: Ledger,
}

impl<'a> Stage<'a> {
    pub fn new(options: &'a Options) -> io::Result<Stage<'a>> {
        let keeper = Keeper::start(&options.program)?;
        Ok(Stage {
            options,
            draws: Draws::new(options.seed, 1),
            keeper,
            sessions: BTreeMap::new(),
            ahead: BTreeMap::new(),
            owners: BTreeMap::new(),
            at_the_device: None,
            left_running: BTreeSet::new(),
            account: Account::of_this_thread(),
            ledger: Ledger::begin(),
        })
    }

    /// The owner of a device's tensors, started if there is none or its last one failed; none for the CPU.
    pub fn owner(&mut self, device: Device) -> Result<Option<Owner>, Stop> {
        if device == Device::Cpu {
            return Ok(None);
        }
        self.owners.retain(|_, owner| owner.borrow().fault().is_none());
        if !self.owners.contains_key(&device) {
            let _starts = self.ledger.enter(Part::Starts);
            let mut process = Process::start(&mut self.keeper, &self.options.program, device)?;
            process.ledger = Some(self.ledger.clone());
            self.owners.insert(device, Rc::new(RefCell::new(process)));
        }
        Ok(self.owners.get(&device).cloned())
    }

    /// What a device of this run does right now.
    pub fn look_at(&self, device: Device) -> Option<State> {
        self.owners.get(&device)?.borrow_mut().look()
    }

    /// Why tensors on a device are not what they should be, if an owner has failed.
    pub fn device_fault(&self) -> Option<Failure> {
        self.owners.values().find_map(|owner| owner.borrow().fault())
    }

    /// Whether a kernel of a seat still runs on a device, which others have not been given since.
    pub fn keeps_device_busy(&self, seat: &Seat) -> bool {
        self.at_the_device.as_ref() == Some(seat) && self.is_device_busy()
    }

    /// Whether a kernel still runs on a device of this run: then the least takes its turn after it, every time.
    fn is_device_busy(&self) -> bool {
        let is_busy = |(device, owner): (&Device, &Owner)| {
            let idle = device::of(*device).idle;
            (0..3).all(|_| owner.borrow_mut().nudge().is_some_and(|time| time > idle))
        };
        self.owners.iter().any(is_busy)
    }

    /// Gives the devices of this run to a seat. What runs there still is of whoever had them before: the process of that one
    /// is ended, and with it what it left.
    fn give_devices(&mut self, seat: &Seat) -> Result<(), Failure> {
        if self.owners.is_empty() || !self.options.checks.on(Check::Idle) {
            return Ok(());
        }
        let deadline = Instant::now() + LONGEST_WORK_LEFT;
        if let Some(before) = self.at_the_device.replace(seat.clone()).filter(|before| before != seat) {
            while self.is_device_busy() {
                if Instant::now() > deadline {
                    self.clear(&before);
                    self.left_running.insert(before);
                    break;
                }
            }
        }
        self.check_devices(seat)
    }

    /// Refuses a seat that did not leave a device when it was another's turn.
    pub fn check_devices(&self, seat: &Seat) -> Result<(), Failure> {
        if self.left_running.contains(seat) {
            let why = "left something running on the device when it was another's turn";
            return Err(Failure::new(Status::Suspect, why));
        }
        Ok(())
    }

    /// The memory of a case, on its device.
    pub fn instance(&mut self, case: &Case, placement: Placement) -> Result<Instance, Stop> {
        let mut draws = self.draws.clone();
        let instance = self.instance_by(case, placement, &mut draws);
        self.draws = draws;
        instance
    }

    /// The same by draws of its own.
    pub fn instance_by(
        &mut self,
        case: &Case,
        placement: Placement,
        draws: &mut Draws,
    ) -> Result<Instance, Stop> {
        let owner = self.owner(case.device)?;
        Ok(Instance::owned(owner.as_ref(), case, placement, 1, draws)?)
    }

    /// The memory that a case is timed on, so many bytes into a page: several sets where those make it cold.
    pub fn timed_instance(&mut self, case: &Case, offset: usize) -> Result<Instance, Stop> {
        let owner = self.owner(case.device)?;
        let sets = device::sets(case, owner.as_ref().map(|owner| owner.borrow().facts.clone()).as_ref());
        Ok(Instance::owned(owner.as_ref(), case, Placement::Aligned { offset }, sets, &mut self.draws)?)
    }

    /// The process of a seat, started if there is none.
    pub fn seat(&mut self, seat: &Seat) -> Result<&Session, Stop> {
        if !self.sessions.contains_key(seat) {
            let _starts = self.ledger.enter(Part::Starts);
            let (started, spec) = self.spawn(seat)?;
            let session = started.introduced(&mut self.keeper, spec)?;
            self.sessions.insert(seat.clone(), session);
        }
        Ok(&self.sessions[seat])
    }

    /// Starts the processes of many seats at a device side by side: a library may take seconds to load. Those that work in
    /// their process have the same cores, on which they would only wait for each other. Whoever fails says so when it is its turn.
    pub fn seat_all<'s>(&mut self, seats: impl IntoIterator<Item = &'s Seat>) {
        let _starts = self.ledger.enter(Part::Starts);
        let mut started = BTreeMap::new();
        for seat in seats {
            let is_wanted = !device::of(seat.device).works_in_process && !self.sessions.contains_key(seat);
            if is_wanted && !started.contains_key(seat) {
                started.extend(self.spawn(seat).ok().map(|process| (seat.clone(), process)));
            }
        }
        for (seat, (process, spec)) in started {
            let session = process.introduced(&mut self.keeper, spec);
            self.sessions.extend(session.ok().map(|session| (seat, session)));
        }
    }

    /// Has processes of seats at a device load what they need for the next set, and for up to `sets` sets while there are no
    /// more of them than half of the cores: nobody waits for them then. They are asked nothing before it is their turn, and hold nothing of a device.
    pub fn start_ahead<'s>(&mut self, seats: impl IntoIterator<Item = &'s Seat>, sets: usize) {
        let seats: BTreeSet<&Seat> =
            seats.into_iter().filter(|seat| !device::of(seat.device).works_in_process).collect();
        let room = available_cores().len() / 2;
        let sets = sets.min((room / seats.len().max(1)).max(1));
        for seat in seats {
            for _ in self.ahead.get(seat).map_or(0, VecDeque::len)..sets {
                let Ok((process, _)) = self.start(seat) else { break };
                self.ahead.entry(seat.clone()).or_default().push_back(process);
            }
        }
    }

    /// A process of a seat, which loads what it needs: one that was started ahead, or a new one.
    fn spawn(&mut self, seat: &Seat) -> Result<(Session, &'a RunnerSpec), Stop> {
        match self.ahead.get_mut(seat).and_then(VecDeque::pop_front) {
            Some(process) => Ok((process, self.spec(seat)?)),
            None => self.start(seat),
        }
    }

    fn spec(&self, seat: &Seat) -> Result<&'a RunnerSpec, Failure> {
        self.options
            .runners
            .iter()
            .find(|spec| spec.name == seat.runner)
            .ok_or_else(|| Failure::new(Status::Refused, format!("there is no runner `{}`", seat.runner)))
    }

    fn start(&mut self, seat: &Seat) -> Result<(Session, &'a RunnerSpec), Stop> {
        let (options, spec) = (self.options, self.spec(seat)?);
        let cores = seat.cores().ok_or_else(|| {
            let why = format!("{} threads on {} cores", seat.threads, available_cores().len());
            Failure::new(Status::Refused, why)
        })?;
        let sandbox = if options.checks.on(Check::Sandbox) { options.sandbox } else { Sandbox::Off };
        let session = Session::spawn(&mut self.keeper, spec, seat.threads, &cores, options.limits, sandbox)?;
        Ok((session, spec))
    }

    pub fn session(&self, seat: &Seat) -> Option<&Session> {
        self.sessions.get(seat)
    }

    /// Asks the process of a seat; a failure of the process empties the seat.
    pub fn ask<T: Answerable>(&mut self, seat: &Seat, ask: Ask, fds: &[BorrowedFd]) -> Result<T, Stop> {
        self.ask_while(seat, ask, fds, self.options.limits.patience, Duration::from_millis(50), || {})
    }

    pub fn ask_while<T: Answerable>(
        &mut self,
        seat: &Seat,
        ask: Ask,
        fds: &[BorrowedFd],
        patience: Duration,
        tick: Duration,
        meanwhile: impl FnMut(),
    ) -> Result<T, Stop> {
        if matches!(ask, Ask::Prepare(_) | Ask::Launch { .. } | Ask::Visit { .. }) {
            self.give_devices(seat)?;
        }
        let launches = matches!(ask, Ask::Launch { .. } | Ask::Visit { .. });
        let _part = self.ledger.enter(if launches { Part::Launches } else { Part::Preparing });
        let Some(session) = self.sessions.get_mut(seat) else {
            return Err(Failure::new(Status::Crashed, "the runner is gone").into());
        };
        session.ask_while(&mut self.keeper, ask, fds, patience, tick, meanwhile)
    }

    /// What the first thread of a seat's process, and what this thread, have run and waited for a core so far.
    pub fn accounts(&self, seat: &Seat) -> [Times; 2] {
        let runner = self.session(seat).map(|session| session.account.read());
        [runner.unwrap_or_default(), self.account.read()]
    }

    /// CPU clocks of all processes but that of `seat`, in the order of seats.
    pub fn clocks_of_others(&self, seat: &Seat) -> Vec<Duration> {
        self.others(seat).map(|(_, session)| cpu_time(session.pid).unwrap_or_default()).collect()
    }

    /// Those whose clocks have moved on by more than `least` since [`Stage::clocks_of_others`].
    pub fn moved(&self, seat: &Seat, since: &[Duration], least: Duration) -> Vec<Seat> {
        let now = self.clocks_of_others(seat);
        let others = self.others(seat).zip(now.into_iter().zip(since));
        let moved = others.filter(|(_, (now, then))| now.saturating_sub(**then) > least);
        moved.map(|((seat, _), _)| seat.clone()).collect()
    }

    /// Stops every other process, or lets it go on.
    pub fn stop_others(&self, seat: &Seat, stop: bool) {
        let signal = if stop { Signal::STOP } else { Signal::CONT };
        for pid in self.others(seat).filter_map(|(_, session)| Pid::from_raw(session.pid)) {
            let _ = kill_process(pid, signal);
        }
        // One of its threads has to run before the others stop, and on a busy machine that takes its time.
        let deadline = Instant::now() + LONGEST_STOP;
        let is_stopped = || self.others(seat).all(|(_, session)| audit::is_stopped(session.pid));
        while stop && !is_stopped() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    fn others(&self, seat: &Seat) -> impl Iterator<Item = (&Seat, &Session)> {
        self.sessions.iter().filter(move |(other, _)| *other != seat)
    }

    /// Gets ready to work beside a runner: how often, and on cores of the conductor's own while the guard
    /// lives. Without such a core only now and then, for what is taken from the runner slows it down.
    pub fn beside(&self, seat: &Seat) -> (Duration, Option<OwnCores>) {
        let runner = cores_for(seat.threads).unwrap_or_default();
        let own: Vec<u32> = available_cores().into_iter().filter(|core| !runner.contains(core)).collect();
        if own.is_empty() { (SHARED_TICK, None) } else { (Duration::ZERO, OwnCores::take(&own)) }
    }

    /// Ends the process of a seat, so that nothing of a failed row lives on.
    pub fn clear(&mut self, seat: &Seat) {
        self.left_running.remove(seat);
        if let Some(mut session) = self.sessions.remove(seat) {
            let told = session.bye();
            session.end(&mut self.keeper, told);
        }
    }

    /// Ends every process that has a seat.
    pub fn clear_all(&mut self) {
        let _starts = self.ledger.enter(Part::Starts);
        let mut sessions: Vec<Session> = std::mem::take(&mut self.sessions).into_values().collect();
        let told: Vec<bool> = sessions.iter_mut().map(Session::bye).collect();
        for (session, told) in sessions.iter_mut().zip(told) {
            session.end(&mut self.keeper, told);
        }
    }

    /// A number for a fill, new each time.
    pub fn fresh_seed(&mut self) -> u64 {
        self.draws.bits()
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // Whoever was interrupted does not wait for goodbyes: the keeper ends all that is left.
        if !signals::interrupted() {
            self.clear_all();
            // Who was never asked anything still loads, and would hear a goodbye late.
            for mut process in std::mem::take(&mut self.ahead).into_values().flatten() {
                process.end(&mut self.keeper, false);
            }
        }
    }
}

/// How long a device may work on for one after another was to have it.
const LONGEST_WORK_LEFT: Duration = Duration::from_millis(100);

/// How long processes are waited for that were told to stop.
const LONGEST_STOP: Duration = Duration::from_secs(1);

/// How often the conductor works beside a runner with which it shares a core.
const SHARED_TICK: Duration = Duration::from_micros(200);

/// Keeps the calling thread off the runner's cores for as long as it lives.
#[derive(Debug)]
pub struct OwnCores(CpuSet);

impl OwnCores {
    fn take(cores: &[u32]) -> Option<OwnCores> {
        let before = sched_getaffinity(None).ok()?;
        let mut set = CpuSet::new();
        cores.iter().for_each(|core| set.set(*core as usize));
        sched_setaffinity(None, &set).ok()?;
        Some(OwnCores(before))
    }
}

impl Drop for OwnCores {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.0);
    }
}

/// Cores that this process may use.
pub fn available_cores() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).map(|core| core as u32).collect()
}

/// The last `threads` cores, so that the conductor keeps the first for itself as long as it can.
pub fn cores_for(threads: u32) -> Option<Vec<u32>> {
    let mut cores = available_cores();
    let first = cores.len().checked_sub(threads as usize)?;
    let mut chosen = cores.split_off(first);
    chosen.reverse();
    Some(chosen)
}
