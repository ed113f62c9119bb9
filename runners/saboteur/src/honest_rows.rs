//! What must pass: honest kernels, some of them odd.

use crate::honest::{Problem, every_launch, maximum};
use roofline_runner::{Job, Ready, Refusal, failed, unsupported};
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A5, ok: the definition.
pub(crate) fn honest(job: &mut Job) -> Result<Ready, Refusal> {
    every_launch(job, Problem::solve)
}

/// A5, ok: the positive control, the same sums in another order and in the declared precision.
pub(crate) fn honest_in_another_order(job: &mut Job) -> Result<Ready, Refusal> {
    let is_product = job.operation == "matmul";
    let k = if is_product { job.axis("k")? } else { 0 };
    every_launch(job, move |problem| {
        let given = problem.given.clone();
        for (row, y) in problem.output.chunks_mut(given.cols).enumerate() {
            if is_product {
                let a = &given.inputs[0][row * k..(row + 1) * k];
                for (c, b) in y.iter_mut().zip(given.inputs[1].chunks(k)) {
                    *c = a.iter().zip(b).rev().fold(0.0, |sum, (a, b)| a.mul_add(*b, sum));
                }
            } else {
                let x = &given.inputs[0][row * given.cols..(row + 1) * given.cols];
                let max = maximum(x) as f32;
                let sum = x.iter().rev().fold(0.0, |sum, x| sum + (x - max).exp());
                y.iter_mut().zip(x).for_each(|(y, x)| *y = (x - max).exp() / sum);
            }
        }
    })
}

/// ok: slower than the others by far.
pub(crate) fn honest_ten_times(job: &mut Job) -> Result<Ready, Refusal> {
    every_launch(job, |problem| (0..10).for_each(|_| problem.solve()))
}

/// ok: keeps what it has so far in its output, which so is right for the shorter part of each launch.
pub(crate) fn scratch_in_the_output(job: &mut Job) -> Result<Ready, Refusal> {
    every_launch(job, |problem| {
        let given = problem.given.clone();
        problem.output.copy_from_slice(&given.inputs[0]);
        for y in problem.output.chunks_mut(given.cols) {
            let max = maximum(y) as f32;
            y.iter_mut().for_each(|y| *y -= max);
        }
        problem.output.iter_mut().for_each(|y| *y = y.exp());
        for y in problem.output.chunks_mut(given.cols) {
            let sum: f32 = y.iter().sum();
            y.iter_mut().for_each(|y| *y /= sum);
        }
    })
}

/// ok: the control for the thread audit. A second thread waits in a channel and takes half the rows.
pub(crate) fn honest_on_two_threads(job: &mut Job) -> Result<Ready, Refusal> {
    let threads = job.threads.min(2);
    let mut problem = Problem::new(job)?;
    if threads == 1 {
        return Ok(Ready::new(move || problem.solve()));
    }
    let helper = Helper::new(&problem, None)?;
    Ok(Ready::new(move || helper.solve(&mut problem)).threads(threads))
}

/// ok: a pool as libraries ship it, which spins for its next task before it goes to sleep.
pub(crate) fn spins_for_its_next_task(job: &mut Job) -> Result<Ready, Refusal> {
    let threads = job.threads.min(2);
    let mut problem = Problem::new(job)?;
    if threads == 1 {
        return Ok(Ready::new(move || problem.solve()));
    }
    let helper = Helper::with_patience(&problem, Duration::from_millis(10), None)?;
    Ok(Ready::new(move || helper.solve(&mut problem)).threads(threads))
}

/// ok: a library that starts and joins a thread for each launch, never more than two at a time.
pub(crate) fn thread_per_launch(job: &mut Job) -> Result<Ready, Refusal> {
    let threads = job.threads.min(2);
    let mut problem = Problem::new(job)?;
    let solve = move || {
        let given = &problem.given;
        let half = given.rows / threads as usize;
        let (low, high) = problem.output.split_at_mut(half * given.cols);
        thread::scope(|scope| {
            if !high.is_empty() {
                scope.spawn(|| given.compute(half..given.rows, high));
            }
            given.compute(0..half, low);
        });
    };
    Ok(Ready::new(solve).threads(threads))
}

/// C2 10, ok: stdout and stderr are a kernel's own, whatever it prints.
pub(crate) fn noisy_stdout(job: &mut Job) -> Result<Ready, Refusal> {
    let mut is_first = true;
    every_launch(job, move |problem| {
        problem.solve();
        if std::mem::take(&mut is_first) {
            let noise = r#"{"id":1,"ok":{"nanoseconds":[1]}}"#.repeat(64) + "\n";
            for _ in 0..1024 {
                let _ = std::io::stdout().write_all(noise.as_bytes());
                let _ = std::io::stderr().write_all(noise.as_bytes());
            }
        }
    })
}

/// C2 23, ok: a slow start must neither lower the number of samples nor show in them.
pub(crate) fn sleeps_in_warm_up(job: &mut Job) -> Result<Ready, Refusal> {
    let mut naps = 3;
    every_launch(job, move |problem| {
        if naps > 0 {
            naps -= 1;
            thread::sleep(Duration::from_millis(20));
        }
        problem.solve();
    })
}

/// ok: what is prepared is not timed.
pub(crate) fn slow_start(job: &mut Job) -> Result<Ready, Refusal> {
    thread::sleep(Duration::from_millis(500));
    every_launch(job, Problem::solve)
}

/// Waits for a bell, spinning at first; whether it is still held by somebody.
fn is_rung(bell: &mpsc::Receiver<()>, patience: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < patience {
        match bell.try_recv() {
            Ok(()) => return true,
            Err(mpsc::TryRecvError::Disconnected) => return false,
            Err(mpsc::TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
    bell.recv().is_ok()
}

/// unsupported: a gap, not a failure.
pub(crate) fn says_unsupported(_: &mut Job) -> Result<Ready, Refusal> {
    Err(unsupported("not today"))
}

/// A second thread that computes the second half of the rows.
pub(crate) struct Helper {
    wake: mpsc::Sender<()>,
    rows: mpsc::Receiver<Vec<f32>>,
}

impl Helper {
    /// Starts the thread, `before` being its first act.
    pub(crate) fn new(problem: &Problem, before: Option<fn()>) -> Result<Helper, Refusal> {
        Helper::with_patience(problem, Duration::ZERO, before)
    }

    /// The same, spinning for so long before it sleeps.
    fn with_patience(problem: &Problem, patience: Duration, before: Option<fn()>) -> Result<Helper, Refusal> {
        let given = problem.given.clone();
        let (wake, bell) = mpsc::channel();
        let (answer, rows) = mpsc::channel();
        let work = move || {
            before.iter().for_each(|before| before());
            while is_rung(&bell, patience) {
                let half = given.rows / 2..given.rows;
                let mut y = vec![0.0; half.len() * given.cols];
                given.compute(half, &mut y);
                if answer.send(y).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new().spawn(work).map_err(|error| failed(format!("no thread: {error}")))?;
        Ok(Helper { wake, rows })
    }

    /// Computes the answer on both threads.
    pub(crate) fn solve(&self, problem: &mut Problem) {
        let half = problem.given.rows / 2;
        self.wake.send(()).expect("the helper waits");
        problem.solve_rows(0..half);
        let rows = self.rows.recv().expect("the helper answers");
        let start = half * problem.given.cols;
        problem.output[start..].copy_from_slice(&rows);
    }
}
