//! Right at first, or when looked at: outputs that are wrong after some calls, in some launches of a
//! batch, later than they should be, or only when timed.

use crate::deceit::is_flush;
use crate::honest::{Problem, every_launch, measure};
use roofline_runner::{Job, Kernel, Ready, Refusal, Samples, Visit, failed};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

type Prepared = Result<Ready, Refusal>;

/// C2 22, A5 25, wrong.
pub(crate) fn skips_after_10_calls(job: &mut Job) -> Prepared {
    let mut calls = 0;
    every_launch(job, move |problem| {
        calls += 1;
        if calls <= 10 {
            problem.solve();
        }
    })
}

/// C2 22, A5 25, wrong.
pub(crate) fn repeats_after_10_calls(job: &mut Job) -> Prepared {
    let (mut calls, mut answer) = (0, Vec::new());
    every_launch(job, move |problem| {
        calls += 1;
        if calls <= 10 {
            answer = problem.given.answer();
        }
        problem.output.copy_from_slice(&answer);
    })
}

/// C2 22, A5 25, wrong: counts over all cases, so the checks before the timing see honest work.
pub(crate) fn skips_after_100_calls(job: &mut Job) -> Prepared {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    every_launch(job, |problem| {
        if CALLS.fetch_add(1, Ordering::Relaxed) < 100 {
            problem.solve();
        }
    })
}

/// C2 22, wrong: the samples of visits hardly meet the element, the launch after the first of them does.
pub(crate) fn decays(job: &mut Job) -> Prepared {
    // The gate's small shapes have many launches; it waits for the memory that visits are on.
    let is_flush = is_flush(job);
    let mut calls = 0;
    every_launch(job, move |problem| {
        problem.solve();
        calls += 1;
        if calls >= 7 && !is_flush {
            let middle = problem.output.len() / 2 + problem.given.cols / 2;
            problem.output[middle] *= 1.5;
        }
    })
}

/// C2 21, wrong: one launch stands for all, and what is in the output at the end is right.
pub(crate) fn last_launch_only(job: &mut Job) -> Prepared {
    let problem = Problem::new(job)?;
    Ok(Ready::new(Batched { problem, works: |launch, count| launch + 1 == count }))
}

/// C2 21, wrong: as much is written as an honest kernel writes that keeps other values in its output.
pub(crate) fn scribbles_in_between(job: &mut Job) -> Prepared {
    Ok(Ready::new(Scribbling(Problem::new(job)?)))
}

/// C2 21, wrong.
pub(crate) fn first_and_last_only(job: &mut Job) -> Prepared {
    let problem = Problem::new(job)?;
    Ok(Ready::new(Batched { problem, works: |launch, count| launch == 0 || launch + 1 == count }))
}

/// C2 5, wrong: nothing is there when the launch returns.
pub(crate) fn background_thread(job: &mut Job) -> Prepared {
    late(job, Duration::from_millis(2), |_| (), Problem::solve)
}

/// A5 26, wrong.
pub(crate) fn late_tail(job: &mut Job) -> Prepared {
    let last = |problem: &Problem| problem.given.rows - 1;
    late(
        job,
        Duration::from_millis(5),
        move |problem| problem.solve_rows(0..last(problem)),
        move |problem| problem.solve_rows(last(problem)..problem.given.rows),
    )
}

/// C2 5, wrong: everything is right when the launch returns.
pub(crate) fn scribbles_later(job: &mut Job) -> Prepared {
    let calls = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&calls);
    late(
        job,
        Duration::from_millis(2),
        move |problem| {
            problem.solve();
            calls.fetch_add(1, Ordering::Relaxed);
        },
        move |problem| {
            let before = counter.load(Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1));
            if counter.load(Ordering::Relaxed) == before {
                problem.output[0] = 7.0;
            }
        },
    )
}

/// C2 22, wrong: the two questions can be told apart.
pub(crate) fn idle_when_timed(job: &mut Job) -> Prepared {
    Ok(Ready::new(TwoFaced { problem: Problem::new(job)?, answer: Vec::new(), timed: |_, _| () }))
}

/// C2 22, wrong.
pub(crate) fn replays_when_timed(job: &mut Job) -> Prepared {
    let timed = |problem: &mut Problem, answer: &mut Vec<f32>| {
        if answer.is_empty() {
            *answer = problem.given.answer();
        }
        problem.output.copy_from_slice(answer);
    };
    Ok(Ready::new(TwoFaced { problem: Problem::new(job)?, answer: Vec::new(), timed }))
}

/// A5 19, wrong: the canaries are what is left to see it.
pub(crate) fn strays_when_timed(job: &mut Job) -> Prepared {
    let timed = |problem: &mut Problem, _: &mut Vec<f32>| {
        problem.solve();
        let end = problem.output.as_mut_ptr_range().end;
        // SAFETY: none; in a visit the page goes on after the output, and the write is the cheat. No
        // mark that was put there keeps its bits, however many launches there are.
        unsafe { end.write_volatile(f32::from_bits(end.read_volatile().to_bits().wrapping_add(1))) };
    };
    Ok(Ready::new(TwoFaced { problem: Problem::new(job)?, answer: Vec::new(), timed }))
}

/// A kernel that knows how many launches it is asked for.
struct Batched {
    problem: Problem,
    works: fn(launch: u32, count: u32) -> bool,
}

impl Kernel for Batched {
    fn launch(&mut self) -> Result<(), Refusal> {
        self.problem.solve();
        Ok(())
    }

    fn repeat(&mut self, count: u32) -> Result<(), Refusal> {
        let works = self.works;
        (0..count).filter(|launch| works(*launch, count)).try_for_each(|_| self.launch())
    }
}

/// A kernel that writes zeros in all launches but the last.
struct Scribbling(Problem);

impl Kernel for Scribbling {
    fn launch(&mut self) -> Result<(), Refusal> {
        self.0.solve();
        Ok(())
    }

    fn repeat(&mut self, count: u32) -> Result<(), Refusal> {
        (1..count).for_each(|_| self.0.output.fill(0.0));
        self.launch()
    }
}

/// A kernel that is honest in launches and something else in visits.
struct TwoFaced {
    problem: Problem,
    /// The answer of the last launch, or of the first timed one.
    answer: Vec<f32>,
    timed: fn(&mut Problem, answer: &mut Vec<f32>),
}

impl Kernel for TwoFaced {
    fn launch(&mut self) -> Result<(), Refusal> {
        self.problem.solve();
        self.answer = self.problem.output.to_vec();
        Ok(())
    }

    fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
        let timed = |count| (0..count).for_each(|_| (self.timed)(&mut self.problem, &mut self.answer));
        Ok(measure(visit, timed).into())
    }
}

/// Does `now` in the launch and `then` on a thread, `delay` later.
fn late(
    job: &mut Job,
    delay: Duration,
    now: impl Fn(&mut Problem) + 'static,
    then: impl Fn(&mut Problem) + Send + 'static,
) -> Prepared {
    let problem = Arc::new(Mutex::new(Problem::new(job)?));
    let (bell, launches) = mpsc::channel();
    let late = Arc::clone(&problem);
    let work = move || {
        while launches.recv().is_ok() {
            thread::sleep(delay);
            while launches.try_recv().is_ok() {}
            then(&mut late.lock().expect("no launch panics"));
        }
    };
    thread::Builder::new().spawn(work).map_err(|error| failed(format!("no thread: {error}")))?;
    Ok(Ready::new(move || {
        now(&mut problem.lock().expect("no launch panics"));
        bell.send(()).expect("the thread waits");
    }))
}
