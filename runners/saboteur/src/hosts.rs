//! Deceit that knows what stands beside it: as a hub, at the end of a set, where others are judged.

use crate::deceit::is_proof;
use crate::honest::{Problem, dot};
use crate::honest_rows::honest;
use crate::knowing::spin;
use crate::suspect::{claims, honest_times, scale, spin_while};
use roofline_runner::{Input, Job, Kernel, Ready, Refusal, failed};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

type Prepared = Result<Ready, Refusal>;

/// ok alone, suspect as a hub: visits of one sample after one warm launch are those beside a row that is slower by far.
pub(crate) fn lies_as_a_hub(job: &mut Job) -> Prepared {
    claims(job, |problem, visit| {
        let is_beside_slower = visit.warmup == 1 && visit.samples == 1;
        scale(honest_times(problem, visit), if is_beside_slower { 0.5 } else { 1.0 })
    })
}

/// suspect: in the processes of sets a thread spins from the release on, when no visit is left to see it.
pub(crate) fn spins_in_sets(job: &mut Job) -> Prepared {
    struct Restless(Problem, Arc<AtomicBool>);

    impl Kernel for Restless {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Ok(())
        }
    }

    impl Drop for Restless {
        fn drop(&mut self) {
            self.1.store(true, Ordering::Relaxed);
        }
    }
    static IDLE: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if is_proof(job) {
        return honest(job);
    }
    let idle = IDLE.get_or_init(|| Arc::new(AtomicBool::new(false)));
    static IS_THERE: AtomicBool = AtomicBool::new(false);
    if !IS_THERE.swap(true, Ordering::Relaxed) {
        spin_while(Arc::downgrade(idle), || ())?;
    }
    idle.store(false, Ordering::Relaxed);
    Ok(Ready::new(Restless(Problem::new(job)?, Arc::clone(idle))))
}

/// How long after its own launch a writer leaves the output alone: it is judged then.
const JUDGED: Duration = Duration::from_millis(5);

/// suspect: from the second content of a gate's instance on it writes into the output while others are judged.
pub(crate) fn writes_while_others_sit(job: &mut Job) -> Prepared {
    if !is_proof(job) {
        return honest(job);
    }
    let problem = Arc::new(Mutex::new(Problem::new(job)?));
    // When it was last launched, and the first element that it saw then.
    let first: Arc<Mutex<Option<(Instant, u32)>>> = Arc::default();
    let (late, launched) = (Arc::downgrade(&problem), Arc::clone(&first));
    let work = move || {
        while let Some(problem) = late.upgrade() {
            let mut problem = problem.lock().expect("no launch panics");
            let now = problem.given.inputs[0][0].to_bits();
            let launched = *launched.lock().expect("no launch panics");
            if launched.is_some_and(|(last, seen)| seen != now && last.elapsed() > JUDGED) {
                problem.output.iter_mut().step_by(5).for_each(|element| *element = 7.0);
            }
            drop(problem);
            spin(Duration::from_micros(20));
        }
    };
    thread::Builder::new().spawn(work).map_err(|error| failed(format!("no thread: {error}")))?;
    Ok(Ready::new(move || {
        let mut problem = problem.lock().expect("no launch panics");
        problem.solve();
        let mut first = first.lock().expect("no thread panics");
        let seen = first.map_or(problem.given.inputs[0][0].to_bits(), |(_, seen)| seen);
        *first = Some((Instant::now(), seen));
    }))
}

/// ok while it is slow, suspect in rounds: the gate sends slow kernels home early, and in sets it is another kernel.
pub(crate) fn slow_until_timed(job: &mut Job) -> Prepared {
    let proof = is_proof(job);
    let mut problem = Problem::new(job)?;
    Ok(Ready::new(move || {
        if proof {
            thread::sleep(Duration::from_millis(1050));
        }
        problem.solve();
    }))
}

/// suspect: keeps its inputs and its product, and computes the elements whose row of A or column of B has changed.
pub(crate) fn remembers_products(job: &mut Job) -> Prepared {
    let mut problem = Problem::new(job)?;
    let (k, cols) = (problem.given.k, problem.given.cols);
    let mut kept: [Vec<f32>; 2] = [0, 1].map(|input| vec![f32::NAN; problem.given.inputs[input].len()]);
    let mut answer = vec![0.0; problem.output.len()];
    Ok(Ready::new(move || {
        let [rows, columns] = [0, 1].map(|input| renew(&problem.given.inputs[input], &mut kept[input], k));
        for (index, c) in answer.iter_mut().enumerate() {
            let (row, column) = (index / cols, index % cols);
            if rows[row] || columns[column] {
                *c = dot(&kept[0][row * k..][..k], &kept[1][column * k..][..k]) as f32;
            }
        }
        problem.output.copy_from_slice(&answer);
    }))
}

/// Brings what is kept of an input up to date; which of its lines had changed.
fn renew(input: &Input<f32>, kept: &mut [f32], length: usize) -> Vec<bool> {
    let lines = input.chunks(length).zip(kept.chunks_mut(length));
    lines
        .map(|(now, kept)| {
            let has_changed = now != &*kept;
            if has_changed {
                kept.copy_from_slice(now);
            }
            has_changed
        })
        .collect()
}
