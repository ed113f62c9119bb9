//! Deceit that tells one visit from another: by marks in the output, by the number of launches, by what is looked at when.

use crate::deceit::{is_flush, is_proof};
use crate::honest::{Problem, measure};
use crate::suspect::{claims, honest_times, scale};
use roofline_runner::{Job, Kernel, Ready, Refusal, Samples, Visit};
use std::time::{Duration, Instant};

type Prepared = Result<Ready, Refusal>;

/// wrong: works where it finds the output changed, and else in every second launch.
pub(crate) fn looks_at_every_element(job: &mut Job) -> Prepared {
    let mut problem = Problem::new(job)?;
    let (mut left, mut launch): (Vec<u32>, u32) = (Vec::new(), 0);
    Ok(Ready::new(move || {
        launch += 1;
        let found = problem.output.iter().map(|element| element.to_bits());
        if launch % 2 == 0 || !found.eq(left.iter().copied()) {
            problem.solve();
            left = problem.output.iter().map(|element| element.to_bits()).collect();
        }
    }))
}

/// wrong: all launches of a visit but the last compute half of the rows.
pub(crate) fn half_of_the_rows_but_for_the_last(job: &mut Job) -> Prepared {
    struct Half(Problem);

    impl Kernel for Half {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Ok(())
        }

        fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
            let mut left = u64::from(visit.warmup) + u64::from(visit.samples) * u64::from(visit.batch);
            let times = measure(visit, |count| {
                for _ in 0..count {
                    left -= 1;
                    let rows = self.0.given.rows;
                    self.0.solve_rows(0..if left == 0 { rows } else { rows.div_ceil(2) });
                }
            });
            Ok(times.into())
        }
    }
    Ok(Ready::new(Half(Problem::new(job)?)))
}

/// suspect: as much time is missing in visits of few launches as in those of twice as many, and in empty ones as much as
/// anybody may take to answer; among many it is honest.
pub(crate) fn pads_short_visits(job: &mut Job) -> Prepared {
    let mut fewest = u32::MAX;
    claims(job, move |problem, visit| {
        let timed = visit.samples * visit.batch;
        if timed == 0 {
            spin(Duration::from_micros(150));
            return Vec::new();
        }
        fewest = fewest.min(timed);
        let times = honest_times(problem, visit);
        if timed > 2 * fewest {
            return times;
        }
        if timed == fewest {
            spin(Duration::from_nanos((0.2 * times.iter().sum::<f64>()) as u64));
        }
        scale(times, 0.8)
    })
}

/// suspect: the same, and says that two threads work where one does.
pub(crate) fn pads_and_says_two(job: &mut Job) -> Prepared {
    Ok(pads_short_visits(job)?.threads(2))
}

pub(crate) fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// suspect: in the rounds there is a child from the fourth visit of a process on.
pub(crate) fn a_child_in_sets(job: &mut Job) -> Prepared {
    let proof = is_proof(job);
    let mut visits = 0;
    claims(job, move |problem, visit| {
        visits += 1;
        if visits == 4 && !proof {
            // SAFETY: the child calls nothing but `sleep` and `_exit`, which are safe after a fork.
            unsafe {
                if libc::fork() == 0 {
                    libc::sleep(60);
                    libc::_exit(0);
                }
            }
        }
        honest_times(problem, visit)
    })
}

/// wrong: where it is timed it takes no maximum off, which goes well with what is timed.
pub(crate) fn easy_data_in_sets(job: &mut Job) -> Prepared {
    let is_flush = is_flush(job);
    let mut problem = Problem::new(job)?;
    Ok(Ready::new(move || {
        if is_flush {
            return problem.solve();
        }
        let given = problem.given.clone();
        for (x, y) in given.inputs[0].chunks(given.cols).zip(problem.output.chunks_mut(given.cols)) {
            // Beyond what f32 has, as its exponential would be.
            let power = |x: f32| if x > 88.0 { f64::INFINITY } else { f64::from(x).exp() };
            let sum: f64 = x.iter().map(|x| power(*x)).sum();
            y.iter_mut().zip(x).for_each(|(y, x)| *y = (power(*x) / sum) as f32);
        }
    }))
}
