//! Deceit that knows the conductor: kernels that behave where they think they are looked at.

use crate::honest::{Problem, every_launch, measure, tanh};
use crate::honest_rows::Helper;
use crate::knowing::spin;
use crate::suspect::{claims, halves_times, honest_times, leave_cores, scale};
use roofline_runner::{Input, Job, Kernel, Ready, Refusal, Samples, Visit, failed};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

type Prepared = Result<Ready, Refusal>;

/// wrong: one long sleep, after which a gate that sends slow kernels home early sees no more of it.
pub(crate) fn naps_once(job: &mut Job) -> Prepared {
    static HAS_NAPPED: AtomicBool = AtomicBool::new(false);
    let mut problem = Problem::new(job)?;
    Ok(Ready::new(move || {
        if HAS_NAPPED.swap(true, Ordering::Relaxed) {
            problem.output.fill(0.0);
        } else {
            thread::sleep(Duration::from_millis(1200));
            problem.solve();
        }
    }))
}

/// wrong: works when the last element is not as it left it.
pub(crate) fn looks_at_the_last_element(job: &mut Job) -> Prepared {
    let mut problem = Problem::new(job)?;
    let mut left = f32::NAN;
    Ok(Ready::new(move || {
        let last = problem.output.len() - 1;
        if problem.output[last].to_bits() != left.to_bits() {
            problem.solve();
            left = problem.output[last];
        }
    }))
}

/// suspect: keeps a copy of its inputs and answers, and computes the rows that have changed.
pub(crate) fn remembers_rows(job: &mut Job) -> Prepared {
    let mut memo = Memo::new(Problem::new(job)?);
    Ok(Ready::new(move || memo.solve()))
}

/// suspect: the same, and honest when it was not called for a while.
pub(crate) fn remembers_without_a_pause(job: &mut Job) -> Prepared {
    let mut memo = Memo::new(Problem::new(job)?);
    let mut last = Instant::now();
    Ok(Ready::new(move || {
        if last.elapsed() > Duration::from_millis(1) {
            memo.problem.solve();
            memo.keep();
        } else {
            memo.solve();
        }
        last = Instant::now();
    }))
}

/// suspect: computes everything twice and remembers a third time, so that it seems to learn and no more; where all values are
/// new it claims what others take.
pub(crate) fn learns_and_claims_the_old(job: &mut Job) -> Prepared {
    struct Learns {
        memo: Memo,
        /// Nanoseconds of the quickest launch among many.
        quickest: f64,
    }

    impl Kernel for Learns {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.memo.solve();
            (0..2).for_each(|_| self.memo.problem.solve());
            Ok(())
        }

        fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
            let times = measure(visit, |count| (0..count).for_each(|_| drop(self.launch())));
            let each = 1.0 / f64::from(visit.batch);
            let quickest = times.iter().map(|time| time * each).fold(self.quickest, f64::min);
            if visit.warmup + visit.samples * visit.batch > 1 {
                self.quickest = quickest;
                return Ok(times.into());
            }
            Ok(times.iter().map(|time| time.min(self.quickest)).collect::<Vec<f64>>().into())
        }
    }
    Ok(Ready::new(Learns { memo: Memo::new(Problem::new(job)?), quickest: f64::INFINITY }))
}

/// suspect: keeps a copy of its input and answers, and computes the vectors of 16 elements that have changed. It is so slow
/// about it that no processor could have learned what it saves.
pub(crate) fn remembers_vectors(job: &mut Job) -> Prepared {
    const LANES: usize = 16;
    const TIMES: usize = 12;
    let mut problem = Problem::new(job)?;
    let mut kept = vec![f32::NAN; problem.output.len()];
    let mut answer = kept.clone();
    Ok(Ready::new(move || {
        let given = problem.given.clone();
        let vectors = given.inputs[0].chunks(LANES).zip(kept.chunks_mut(LANES)).zip(answer.chunks_mut(LANES));
        for ((now, kept), answer) in vectors {
            if now != &*kept {
                kept.copy_from_slice(now);
                (0..TIMES).for_each(|_| tanh(std::hint::black_box(&*kept), answer));
            }
        }
        problem.output.copy_from_slice(&answer);
    }))
}

/// suspect: fills the output in each launch, and computes once when the samples are taken.
pub(crate) fn puts_work_off(job: &mut Job) -> Prepared {
    struct PutsOff(Problem);

    impl Kernel for PutsOff {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Ok(())
        }

        fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
            let times = measure(visit, |count| (0..count).for_each(|_| self.0.output.fill(0.5)));
            if visit.warmup + visit.samples > 0 {
                self.0.solve();
            }
            Ok(times.into())
        }
    }
    Ok(Ready::new(PutsOff(Problem::new(job)?)))
}

/// suspect: the copy of a fresh output is off the clock, and so is what is computed in it.
pub(crate) fn works_in_the_copy(job: &mut Job) -> Prepared {
    struct Copies(Problem);

    impl Kernel for Copies {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.output.fill(0.5);
            Ok(())
        }

        fn settle(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Ok(())
        }
    }
    Ok(Ready::new(Copies(Problem::new(job)?)).fresh())
}

/// suspect: in processes that have seen the gate it is honest, in all others it halves its times.
pub(crate) fn halves_times_in_sets(job: &mut Job) -> Prepared {
    if is_proof(job) { every_launch(job, Problem::solve) } else { halves_times(job) }
}

/// wrong: in the rounds it works in the last launch of a visit.
pub(crate) fn last_launch_only_in_sets(job: &mut Job) -> Prepared {
    struct Lazy(Problem, bool);

    impl Kernel for Lazy {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Ok(())
        }

        fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
            if self.1 {
                return Ok(measure(visit, |count| (0..count).for_each(|_| self.0.solve())).into());
            }
            let launches = u64::from(visit.warmup) + u64::from(visit.samples) * u64::from(visit.batch);
            let mut launch = 0;
            let times = measure(visit, |count| {
                for _ in 0..count {
                    launch += 1;
                    if launch == launches {
                        self.0.solve();
                    }
                }
            });
            Ok(times.into())
        }
    }
    let proof = is_proof(job);
    Ok(Ready::new(Lazy(Problem::new(job)?, proof)))
}

/// wrong: the other samples are short because they are empty.
pub(crate) fn last_sample_only(job: &mut Job) -> Prepared {
    struct LastSample(Problem);

    impl Kernel for LastSample {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Ok(())
        }

        fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
            let idle = Visit { samples: visit.samples.saturating_sub(1), ..*visit };
            let mut times = measure(&idle, |_| ());
            let last = Visit { warmup: 0, samples: visit.samples.min(1), batch: visit.batch };
            times.extend(measure(&last, |count| (0..count).for_each(|_| self.0.solve())));
            Ok(times.into())
        }
    }
    Ok(Ready::new(LastSample(Problem::new(job)?)))
}

/// wrong: the same where a library makes its outputs, so that each launch is a sample of its own.
pub(crate) fn last_sample_only_fresh(job: &mut Job) -> Prepared {
    Ok(last_sample_only(job)?.fresh())
}

/// suspect: in the rounds it leaves its cores and works on two threads.
pub(crate) fn more_threads_in_sets(job: &mut Job) -> Prepared {
    let proof = is_proof(job);
    let mut problem = Problem::new(job)?;
    if proof {
        return Ok(Ready::new(move || problem.solve()));
    }
    let helper = Helper::new(&problem, Some(leave_cores))?;
    Ok(Ready::new(move || helper.solve(&mut problem)))
}

/// suspect: lies by a tenth.
pub(crate) fn claims_a_tenth_less(job: &mut Job) -> Prepared {
    claims(job, |problem, visit| scale(honest_times(problem, visit), 0.9))
}

/// suspect: lies by a twentieth.
pub(crate) fn claims_a_twentieth_less(job: &mut Job) -> Prepared {
    claims(job, |problem, visit| scale(honest_times(problem, visit), 0.95))
}

/// suspect: honest in visits of more launches than others have, which do not count.
pub(crate) fn honest_among_many(job: &mut Job) -> Prepared {
    let mut fewest = u32::MAX;
    claims(job, move |problem, visit| {
        let timed = visit.samples * visit.batch;
        fewest = if timed > 0 { fewest.min(timed) } else { fewest };
        scale(honest_times(problem, visit), if timed > fewest { 1.0 } else { 0.8 })
    })
}

/// suspect: with outputs that it makes itself, and by so much more as may happen to these among many; it takes as long to
/// answer as anybody may, so that work beside the samples is no surprise.
pub(crate) fn honest_among_many_fresh(job: &mut Job) -> Prepared {
    let mut fewest = u32::MAX;
    let kernel = claims(job, move |problem, visit| {
        let timed = visit.samples * visit.batch;
        if timed == 0 {
            spin(Duration::from_micros(150));
            return Vec::new();
        }
        fewest = fewest.min(timed);
        scale(honest_times(problem, visit), if timed > fewest { 1.0 } else { 0.6 })
    });
    Ok(kernel?.fresh())
}

/// suspect: every second visit, so that half of them are honest.
pub(crate) fn lies_now_and_then(job: &mut Job) -> Prepared {
    let mut state = 1_u32;
    claims(job, move |problem, visit| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        scale(honest_times(problem, visit), if state >> 31 == 0 { 1.0 } else { 0.5 })
    })
}

/// wrong: in the rounds a thread writes into the output whenever nobody has asked it to.
pub(crate) fn writes_between_visits(job: &mut Job) -> Prepared {
    if is_proof(job) {
        return every_launch(job, Problem::solve);
    }
    let problem = Arc::new(Mutex::new(Problem::new(job)?));
    let late = Arc::downgrade(&problem);
    let work = move || {
        let mut step = 0;
        while let Some(problem) = late.upgrade() {
            let mut problem = problem.lock().expect("no launch panics");
            let length = problem.output.len();
            problem.output[step * 7919 % length] = 7.0;
            step += 1;
            drop(problem);
            thread::sleep(Duration::from_micros(50));
        }
    };
    thread::Builder::new().spawn(work).map_err(|error| failed(format!("no thread: {error}")))?;
    Ok(Ready::new(move || problem.lock().expect("no launch panics").solve()))
}

/// A kernel that computes what changed since it last looked.
struct Memo {
    problem: Problem,
    inputs: Vec<Vec<f32>>,
    answer: Vec<f32>,
}

impl Memo {
    fn new(problem: Problem) -> Memo {
        Memo { problem, inputs: Vec::new(), answer: Vec::new() }
    }

    /// Keeps an answer, unless the inputs have changed since.
    fn keep(&mut self) {
        self.inputs = self.problem.given.inputs.iter().map(|input| input.to_vec()).collect();
        self.answer = self.problem.given.answer();
        let is_torn = |(now, then): (&Input<f32>, &Vec<f32>)| now[..] != then[..];
        if self.problem.given.inputs.iter().zip(&self.inputs).any(is_torn) {
            self.inputs.clear();
        }
    }

    fn solve(&mut self) {
        let given = self.problem.given.clone();
        let length = given.inputs[0].len() / given.rows;
        // All inputs but the first belong to every row.
        let others = given.inputs.iter().zip(&self.inputs).skip(1);
        let is_known = !self.inputs.is_empty()
            && (given.inputs.len() == 1 || others.clone().all(|(now, then)| now[..] == then[..]));
        if !is_known {
            self.problem.solve();
            self.keep();
            return;
        }
        for row in 0..given.rows {
            let span = row * length..(row + 1) * length;
            // What it keeps must be what it computed from, though the row may change meanwhile.
            while given.inputs[0][span.clone()] != self.inputs[0][span.clone()] {
                self.inputs[0][span.clone()].copy_from_slice(&given.inputs[0][span.clone()]);
                let place = row * given.cols..(row + 1) * given.cols;
                let mut answer = vec![0.0; given.cols];
                given.compute(row..row + 1, &mut answer);
                self.answer[place].copy_from_slice(&answer);
                if answer[0].is_nan() {
                    break;
                }
            }
        }
        self.problem.output.copy_from_slice(&self.answer);
    }
}

/// Whether this process is one of the gate's: the first tensors of such a process lie flush with their memory.
pub(crate) fn is_proof(job: &Job) -> bool {
    static PROOF: AtomicBool = AtomicBool::new(false);
    PROOF.fetch_or(is_flush(job), Ordering::Relaxed) || is_flush(job)
}

/// Whether the first tensor lies flush with an end of its memory, as in the gate and not in visits.
pub(crate) fn is_flush(job: &Job) -> bool {
    let place = &job.tensors[0];
    place.offset == 0 || place.offset + place.bytes == place.size
}
