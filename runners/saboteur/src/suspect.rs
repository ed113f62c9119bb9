//! Right outputs whose times or resources cannot be believed.

use crate::honest::{Problem, every_launch, measure};
use crate::honest_rows::Helper;
use roofline_runner::{Job, Kernel, Ready, Refusal, Samples, Visit, failed};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

type Prepared = Result<Ready, Refusal>;

/// C2 7 to 12, suspect: whatever way a clock is bent, the times come out shorter.
pub(crate) fn halves_times(job: &mut Job) -> Prepared {
    claims(job, |problem, visit| scale(honest_times(problem, visit), 0.5))
}

/// C2 7 to 12, suspect.
pub(crate) fn tenths_of_times(job: &mut Job) -> Prepared {
    claims(job, |problem, visit| scale(honest_times(problem, visit), 0.1))
}

/// C2 7 to 12, suspect: faster than the limit, and slower than what no hardware does.
pub(crate) fn fiftieths_of_times(job: &mut Job) -> Prepared {
    claims(job, |problem, visit| scale(honest_times(problem, visit), 0.02))
}

/// C2 7 and 24, suspect.
pub(crate) fn stopped_clock(job: &mut Job) -> Prepared {
    claims(job, |problem, visit| vec![1.0; honest_times(problem, visit).len()])
}

/// C2 21, suspect: all launches are done, one is timed.
pub(crate) fn times_one_of_many(job: &mut Job) -> Prepared {
    claims(job, |problem, visit| {
        (0..visit.warmup).for_each(|_| problem.solve());
        let sample = |problem: &mut Problem| {
            (1..visit.batch).for_each(|_| problem.solve());
            let start = Instant::now();
            problem.solve();
            start.elapsed().as_nanos() as f64
        };
        (0..visit.samples).map(|_| sample(problem)).collect()
    })
}

/// suspect: two threads on two cores where one thread is allowed.
pub(crate) fn more_threads(job: &mut Job) -> Prepared {
    let mut problem = Problem::new(job)?;
    let helper = Helper::new(&problem, Some(leave_cores))?;
    Ok(Ready::new(move || helper.solve(&mut problem)))
}

/// suspect: threads that are gone when somebody looks.
pub(crate) fn short_lived_threads(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let given = &problem.given;
        let half = given.rows / 2;
        let (low, high) = problem.output.split_at_mut(half * given.cols);
        thread::scope(|scope| {
            scope.spawn(|| {
                leave_cores();
                given.compute(half..given.rows, high);
            });
            given.compute(0..half, low);
        });
    })
}

/// C2 41, suspect: cores that the neighbours are measured on.
pub(crate) fn burns_cpu(job: &mut Job) -> Prepared {
    let mut problem = Problem::new(job)?;
    let alive = Arc::new(AtomicBool::new(true));
    for _ in 0..2 {
        spin_while(Arc::downgrade(&alive), leave_cores)?;
    }
    Ok(Ready::new(move || {
        alive.store(true, Ordering::Relaxed);
        problem.solve();
    }))
}

/// C2 41, suspect: the way of a thread pool that waits for its next task.
pub(crate) fn spins_when_idle(job: &mut Job) -> Prepared {
    let mut problem = Problem::new(job)?;
    let idle = Arc::new(AtomicBool::new(true));
    spin_while(Arc::downgrade(&idle), || ())?;
    Ok(Ready::new(move || {
        idle.store(false, Ordering::Relaxed);
        problem.solve();
        idle.store(true, Ordering::Relaxed);
    }))
}

/// C2 41, suspect: quiet while it is looked at.
pub(crate) fn spins_after_visits(job: &mut Job) -> Prepared {
    struct Restless {
        problem: Problem,
        idle: Arc<AtomicBool>,
    }
    impl Kernel for Restless {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.idle.store(false, Ordering::Relaxed);
            self.problem.solve();
            Ok(())
        }

        fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
            self.idle.store(false, Ordering::Relaxed);
            let times = honest_times(&mut self.problem, visit);
            self.idle.store(true, Ordering::Relaxed);
            Ok(times.into())
        }
    }
    let idle = Arc::new(AtomicBool::new(false));
    spin_while(Arc::downgrade(&idle), || ())?;
    Ok(Ready::new(Restless { problem: Problem::new(job)?, idle }))
}

/// C2 24, suspect: a child that holds the conversation and the tensors open.
pub(crate) fn forks_a_child(job: &mut Job) -> Prepared {
    let mut has_forked = false;
    every_launch(job, move |problem| {
        problem.solve();
        if std::mem::replace(&mut has_forked, true) {
            return;
        }
        // SAFETY: the child calls nothing but `sleep` and `_exit`, which are safe after a fork.
        unsafe {
            if libc::fork() == 0 {
                libc::sleep(60);
                libc::_exit(0);
            }
        }
    })
}

/// C2 40, suspect: flush-to-zero and denormals-are-zero stay on after each launch, not during it.
pub(crate) fn changes_float_mode(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        set_float_mode(0x1f80);
        problem.solve();
        set_float_mode(0x1f80 | 1 << 15 | 1 << 6);
    })
}

/// Sets MXCSR; 0x1f80 is what a process starts with.
fn set_float_mode(mode: u32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: sets control bits that exist; all exceptions stay masked.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &mode);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = mode;
}

/// An honest kernel with times of its own making.
struct Claims<F> {
    problem: Problem,
    visit: F,
}

impl<F: FnMut(&mut Problem, &Visit) -> Vec<f64>> Kernel for Claims<F> {
    fn launch(&mut self) -> Result<(), Refusal> {
        self.problem.solve();
        Ok(())
    }

    fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
        Ok((self.visit)(&mut self.problem, visit).into())
    }
}

pub(crate) fn claims(
    job: &mut Job,
    visit: impl FnMut(&mut Problem, &Visit) -> Vec<f64> + 'static,
) -> Prepared {
    Ok(Ready::new(Claims { problem: Problem::new(job)?, visit }))
}

pub(crate) fn honest_times(problem: &mut Problem, visit: &Visit) -> Vec<f64> {
    measure(visit, |count| (0..count).for_each(|_| problem.solve()))
}

pub(crate) fn scale(times: Vec<f64>, factor: f64) -> Vec<f64> {
    times.into_iter().map(|time| time * factor).collect()
}

/// Takes every core for the calling thread, whatever it was pinned to.
pub(crate) fn leave_cores() {
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|core| all.set(core));
    let _ = sched_setaffinity(None, &all);
}

/// A thread that spins while the flag is up, rests while it is down, and ends with its kernel.
pub(crate) fn spin_while(flag: Weak<AtomicBool>, before: fn()) -> Result<(), Refusal> {
    let work = move || {
        before();
        while let Some(flag) = flag.upgrade() {
            if flag.load(Ordering::Relaxed) {
                (0..1000).for_each(|_| std::hint::spin_loop());
            } else {
                thread::sleep(Duration::from_millis(1));
            }
        }
    };
    thread::Builder::new().spawn(work).map_err(|error| failed(format!("no thread: {error}")))?;
    Ok(())
}
