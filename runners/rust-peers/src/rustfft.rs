//! rustfft and realfft: plans that are made while preparing, executed over lines of the given memory.

use crate::product::F32_F64;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;
use roofline_runner::{Dtype, Element, Entry, Input, Job, Output, Ready, Refusal};
use rustfft::{FftNum, FftPlanner};

const NAME: &str = "rust-peers/rustfft";

pub const ENTRIES: &[Entry] = &[
    Entry::new(NAME, "fft", F32_F64, complex).about("rustfft's Fft::process_immutable_with_scratch"),
    Entry::new(NAME, "fft.inverse", F32_F64, complex)
        .about("the same with the other sign, multiplied by 1/n"),
    Entry::new(NAME, "fft.real", F32_F64, real)
        .about("realfft's forward plan, on a copy: it destroys its input"),
    Entry::new(NAME, "fft.real-inverse", F32_F64, real_inverse)
        .about("realfft's inverse plan, on a copy of which no part counts that a real result cannot have"),
];

/// A number of rustfft that is in memory as the cases hold it.
trait Number: Element + FftNum {
    fn reciprocal(n: usize) -> Self;
}

impl Number for f32 {
    fn reciprocal(n: usize) -> f32 {
        1.0 / n as f32
    }
}

impl Number for f64 {
    fn reciprocal(n: usize) -> f64 {
        1.0 / n as f64
    }
}

/// Pairs of real and imaginary part, as the complex numbers that they are.
fn pairs<T>(numbers: &[T]) -> &[Complex<T>] {
    // SAFETY: a complex number is two of its parts, one behind the other, and no more aligned than they are.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len() / 2) }
}

fn pairs_mut<T>(numbers: &mut [T]) -> &mut [Complex<T>] {
    // SAFETY: as above; the borrow is handed on.
    unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), numbers.len() / 2) }
}

fn complex(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => complex_of::<f64>(job),
        _ => complex_of::<f32>(job),
    }
}

fn complex_of<T: Number>(job: &mut Job) -> Result<Ready, Refusal> {
    let (x, mut y): (Input<T>, Output<T>) = (job.input("x")?, job.output("y")?);
    let (n, is_inverse) = (job.axis("n")?, job.variant == "inverse");
    let mut planner = FftPlanner::new();
    let plan = if is_inverse { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) };
    let mut scratch = vec![Complex::new(T::zero(), T::zero()); plan.get_immutable_scratch_len()];
    let workspace = size_of_val(&scratch[..]);
    let launch = move || {
        plan.process_immutable_with_scratch(pairs(&x), pairs_mut(&mut y), &mut scratch);
        if is_inverse {
            y.iter_mut().for_each(|part| *part = *part * T::reciprocal(n));
        }
    };
    Ok(Ready::new(launch).workspace(workspace as u64))
}

fn real(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => real_of::<f64>(job),
        _ => real_of::<f32>(job),
    }
}

fn real_of<T: Number>(job: &mut Job) -> Result<Ready, Refusal> {
    let (x, mut y): (Input<T>, Output<T>) = (job.input("x")?, job.output("y")?);
    let n = job.axis("n")?;
    let plan = RealFftPlanner::new().plan_fft_forward(n);
    let (mut line, mut scratch) = (plan.make_input_vec(), plan.make_scratch_vec());
    let workspace = size_of_val(&line[..]) + size_of_val(&scratch[..]);
    let launch = move || {
        for (x, y) in x.chunks_exact(n).zip(pairs_mut(&mut y).chunks_exact_mut(n / 2 + 1)) {
            line.copy_from_slice(x);
            plan.process_with_scratch(&mut line, y, &mut scratch)
                .expect("buffers are as long as the plan says");
        }
    };
    Ok(Ready::new(launch).workspace(workspace as u64))
}

fn real_inverse(job: &mut Job) -> Result<Ready, Refusal> {
    match job.dtype {
        Dtype::F64 => real_inverse_of::<f64>(job),
        _ => real_inverse_of::<f32>(job),
    }
}

fn real_inverse_of<T: Number>(job: &mut Job) -> Result<Ready, Refusal> {
    let (x, mut y): (Input<T>, Output<T>) = (job.input("x")?, job.output("y")?);
    let n = job.axis("n")?;
    let plan = RealFftPlanner::new().plan_fft_inverse(n);
    let (mut line, mut scratch) = (plan.make_input_vec(), plan.make_scratch_vec());
    let workspace = size_of_val(&line[..]) + size_of_val(&scratch[..]);
    let launch = move || {
        for (x, y) in pairs(&x).chunks_exact(n / 2 + 1).zip(y.chunks_exact_mut(n)) {
            line.copy_from_slice(x);
            // realfft says so where they are not zero.
            line[0].im = T::zero();
            if n % 2 == 0 {
                line[n / 2].im = T::zero();
            }
            plan.process_with_scratch(&mut line, y, &mut scratch)
                .expect("buffers are as long as the plan says");
            y.iter_mut().for_each(|part| *part = *part * T::reciprocal(n));
        }
    };
    Ok(Ready::new(launch).workspace(workspace as u64))
}
