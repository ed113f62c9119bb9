//! Honest kernels with needs: each declared, and some of them undeclared, to see that the cause is told.

use crate::honest::{Problem, every_launch};
use roofline_runner::{Job, Ready, Refusal, unsupported};

type Prepared = Result<Ready, Refusal>;

/// ok: sizes that it is not meant for are not brought to it.
pub(crate) fn whole_vectors(job: &mut Job) -> Prepared {
    let cols = job.axis("cols")?;
    if cols % 16 != 0 {
        return Err(unsupported(format!("{cols} columns are no whole vectors")));
    }
    every_launch(job, Problem::solve)
}

/// unsupported: the case is not among its sizes.
pub(crate) fn whole_vectors_elsewhere(job: &mut Job) -> Prepared {
    whole_vectors(job)
}

/// unsupported: the case is among its sizes, shapes of the gate are not, and nobody was told.
pub(crate) fn whole_vectors_in_secret(job: &mut Job) -> Prepared {
    whole_vectors(job)
}

/// ok, the shapes of the gate being few: one width, and an error for every other.
pub(crate) fn one_width(job: &mut Job) -> Prepared {
    assert!(job.axis("cols")? == 1000, "a table for 1000 columns");
    every_launch(job, Problem::solve)
}

/// ok: loads that fault where the address is no multiple of 32.
pub(crate) fn aligned_loads(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        load_aligned(problem.given.inputs[0].as_ptr());
        problem.solve();
    })
}

/// crashed: the same, undeclared.
pub(crate) fn aligned_loads_in_secret(job: &mut Job) -> Prepared {
    aligned_loads(job)
}

/// ok: an infinity or NaN of one row reaches another, as in products by tiles.
pub(crate) fn finite_only(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        if problem.given.inputs[0].iter().any(|x| !x.is_finite()) {
            problem.output.fill(f32::NAN);
        }
    })
}

/// ok: denormals are zero while it computes.
pub(crate) fn flushes(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let mode = flush_to_zero();
        problem.solve();
        set_mode(mode);
    })
}

/// wrong: the same, undeclared.
pub(crate) fn flushes_in_secret(job: &mut Job) -> Prepared {
    flushes(job)
}

#[cfg(target_arch = "x86_64")]
fn load_aligned(first: *const f32) {
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: an aligned vector crosses no page, so the whole of it can be read where its first element
        // can; an address that is not aligned is to end the process.
        unsafe { std::arch::asm!("vmovaps ymm0, [{0}]", in(reg) first, out("ymm0") _, options(nostack)) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn load_aligned(_: *const f32) {}

/// Flush-to-zero and denormals-are-zero; returns the mode before.
#[cfg(target_arch = "x86_64")]
fn flush_to_zero() -> u32 {
    let mut mode = 0u32;
    // SAFETY: stores MXCSR to the four bytes of `mode`.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut mode, options(nostack, preserves_flags)) };
    set_mode(mode | 0x8040);
    mode
}

#[cfg(target_arch = "x86_64")]
fn set_mode(mode: u32) {
    // SAFETY: a mode that was read, or two known bits more; the caller puts it back.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &mode, options(nostack, preserves_flags, readonly)) };
}

#[cfg(not(target_arch = "x86_64"))]
fn flush_to_zero() -> u32 {
    0
}

#[cfg(not(target_arch = "x86_64"))]
fn set_mode(_: u32) {}
