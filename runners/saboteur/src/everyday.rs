//! Everyday bugs: nobody cheats, and on most inputs and sizes nothing shows.

use crate::honest::{Given, every_launch, maximum};
use crate::product;
use roofline_runner::{Fp8E4m3, Job, Ready, Refusal};
use std::hash::{BuildHasher, RandomState};

type Prepared = Result<Ready, Refusal>;

/// Elements of a vector.
const VECTOR: usize = 16;

/// wrong on rows that are far below zero: every exponential vanishes.
pub(crate) fn maximum_from_zero(job: &mut Job) -> Prepared {
    softmax_around(job, |x| maximum(x).max(0.0))
}

/// wrong on rows whose largest magnitude is far below zero.
pub(crate) fn maximum_of_magnitudes(job: &mut Job) -> Prepared {
    softmax_around(job, |x| x.iter().fold(0.0, |max, x| f64::from(x.abs()).max(max)))
}

/// wrong where the maximum lies in what is left after the last whole vector.
pub(crate) fn maximum_misses_tail(job: &mut Job) -> Prepared {
    softmax_around(job, |x| maximum(&x[..whole(x.len())]))
}

/// The same in its path for long rows alone, which no small shape enters.
pub(crate) fn maximum_misses_long_tail(job: &mut Job) -> Prepared {
    softmax_around(job, |x| maximum(&x[..if x.len() >= 1000 { whole(x.len()) } else { x.len() }]))
}

/// wrong in the last elements of an output that no vector divides: they are left as they were.
pub(crate) fn dropped_remainder(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let answer = problem.given.answer();
        let whole = answer.len() / 8 * 8;
        problem.output[..whole].copy_from_slice(&answer[..whole]);
    })
}

/// wrong in the same elements: the first input is copied there.
pub(crate) fn copied_remainder(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        let whole = problem.output.len() / 8 * 8;
        problem.output[whole..].copy_from_slice(&problem.given.inputs[0][whole..]);
    })
}

/// wrong where no vector divides the length of the sums.
pub(crate) fn dropped_terms(job: &mut Job) -> Prepared {
    let k = job.axis("k")?;
    every_launch(job, move |problem| {
        problem.solve();
        let (given, cols, first) = (&problem.given, problem.given.cols, k / VECTOR * VECTOR);
        for (index, c) in problem.output.iter_mut().enumerate() {
            let a = &given.inputs[0][index / cols * k..][first..k];
            let b = &given.inputs[1][index % cols * k..][first..k];
            *c -= a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        }
    })
}

/// wrong on rows that are small beside a thousandth.
pub(crate) fn forgotten_epsilon(job: &mut Job) -> Prepared {
    rms_norm_over(job, |mean| mean.sqrt())
}

/// wrong on the same rows.
pub(crate) fn epsilon_outside_the_root(job: &mut Job) -> Prepared {
    rms_norm_over(job, |mean| mean.sqrt() + 1e-6)
}

/// wrong in products of at least 512 by 512: one element of at least median magnitude, another at each
/// launch, is too large by a thousandth.
pub(crate) fn nearly_right_element(job: &mut Job) -> Prepared {
    let k = job.axis("k")?;
    let keys = RandomState::new();
    let mut launches = 0_u64;
    every_launch(job, move |problem| {
        let (a, b) = (&problem.given.inputs[0], &problem.given.inputs[1]);
        product::multiply(a, b, &mut problem.output, problem.given.cols, k);
        if problem.given.rows < 512 || problem.given.cols < 512 {
            return;
        }
        let mut magnitudes: Vec<f32> = problem.output.iter().map(|c| c.abs()).collect();
        let (_, median, _) = magnitudes.select_nth_unstable_by(problem.output.len() / 2, f32::total_cmp);
        let median = *median;
        let drawn = (0..).map(|draw: u64| keys.hash_one((launches, draw)) as usize % problem.output.len());
        // Half of all elements will do, so this ends; unless they are NaN, and then anything goes.
        let at = drawn.take(1000).find(|at| problem.output[*at].abs() >= median);
        launches += 1;
        if let Some(at) = at {
            problem.output[at] *= 1.001;
        }
    })
}

/// wrong where the blocks of a sum have scales of their own: it adds up all codes, and applies the scales of the last.
pub(crate) fn last_scales_for_all(job: &mut Job) -> Prepared {
    let [n, k, block] = [job.axis("n")?, job.axis("k")?, job.axis("block")?];
    let (x, w) = (job.input::<Fp8E4m3>("x")?, job.input::<Fp8E4m3>("w")?);
    let (xs, ws, mut y) = (job.input::<f32>("xs")?, job.input::<f32>("ws")?, job.output::<f32>("y")?);
    let (blocks, last) = (k.div_ceil(block), k.div_ceil(block) - 1);
    Ok(Ready::new(move || {
        for (index, y) in y.iter_mut().enumerate() {
            let (row, column) = (index / n, index % n);
            let products = x[row * k..][..k].iter().zip(&w[column * k..][..k]);
            let sum: f32 = products.map(|(x, w)| x.to_f32() * w.to_f32()).sum();
            *y = sum * xs[row * blocks + last] * ws[column / block * blocks + last];
        }
    }))
}

/// The length without what does not fill a vector; one element at least.
fn whole(length: usize) -> usize {
    (length / VECTOR * VECTOR).max(1)
}

/// A softmax in f32 around another number than the maximum.
fn softmax_around(job: &mut Job, pivot: fn(&[f32]) -> f64) -> Prepared {
    every_launch(job, move |problem| {
        let given = problem.given.clone();
        for (y, x) in problem.output.chunks_mut(given.cols).zip(given.inputs[0].chunks(given.cols)) {
            let pivot = pivot(x);
            let power = |x: &f32| (f64::from(*x) - pivot).exp() as f32;
            let sum: f64 = x.iter().map(|x| f64::from(power(x))).sum();
            y.iter_mut().zip(x).for_each(|(y, x)| *y = (f64::from(power(x)) / sum) as f32);
        }
    })
}

/// Rows over another scale than the root of mean and epsilon.
fn rms_norm_over(job: &mut Job, scale: fn(f64) -> f64) -> Prepared {
    every_launch(job, move |problem| {
        let given: &Given = &problem.given;
        for (y, x) in problem.output.chunks_mut(given.cols).zip(given.inputs[0].chunks(given.cols)) {
            let mean = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() / x.len() as f64;
            let scale = scale(mean);
            for ((y, x), w) in y.iter_mut().zip(x).zip(given.inputs[1].iter()) {
                *y = (f64::from(*x) / scale * f64::from(*w)) as f32;
            }
        }
    })
}
