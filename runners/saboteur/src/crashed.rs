//! Kernels that end their process, or say that they failed.

use crate::honest::{Problem, every_launch, measure};
use crate::protocol::leave;
use roofline_runner::{Job, Kernel, Ready, Refusal, Samples, Visit, failed};
use std::hint::black_box;

type Prepared = Result<Ready, Refusal>;

/// C2 3, A5 20, crashed: inputs are mapped for reading only.
pub(crate) fn writes_input(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let input = problem.given.inputs[0].as_ptr().cast_mut();
        // SAFETY: none; the page cannot be written, and the process is to be killed for it.
        unsafe {
            let kept = input.read_volatile();
            input.write_volatile(0.0);
            input.write_volatile(kept);
        }
        problem.solve();
    })
}

/// A5 19, crashed: an unreadable page follows the last element.
pub(crate) fn writes_after_end(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        let end = problem.output.as_mut_ptr_range().end;
        // SAFETY: none; the process is to be killed for it. What lies there is kept otherwise.
        unsafe { end.write_volatile(end.read_volatile()) };
    })
}

/// A5 19, crashed: an unreadable page precedes the first element.
pub(crate) fn writes_before_start(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        let before = problem.output.as_mut_ptr().wrapping_sub(1);
        // SAFETY: none; the process is to be killed for it. What lies there is kept otherwise.
        unsafe { before.write_volatile(before.read_volatile()) };
    })
}

/// crashed: a vector load that goes past the tail.
pub(crate) fn reads_after_end(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        let end = problem.given.inputs[0].as_ptr_range().end;
        // SAFETY: none; the process is to be killed for it.
        black_box(unsafe { end.read_volatile() });
    })
}

/// crashed.
pub(crate) fn overflows_the_stack(job: &mut Job) -> Prepared {
    fn deeper(level: u64) -> u64 {
        let frame = black_box([level; 512]);
        if frame[0] == u64::MAX { 0 } else { deeper(level + 1) + frame[1] }
    }
    every_launch(job, |_| {
        black_box(deeper(0));
    })
}

/// crashed: Rust checks its own divisions, so the instruction is written out.
pub(crate) fn divides_by_zero(job: &mut Job) -> Prepared {
    every_launch(job, |_| {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: none; the process is to be killed by SIGFPE.
        unsafe {
            std::arch::asm!("idiv {0:e}", in(reg) 0, inout("eax") 1 => _, inout("edx") 0 => _);
        }
    })
}

/// crashed.
pub(crate) fn aborts(job: &mut Job) -> Prepared {
    every_launch(job, |_| std::process::abort())
}

/// C2 10, crashed.
pub(crate) fn exits(job: &mut Job) -> Prepared {
    every_launch(job, |_| leave(7))
}

/// C2 10, crashed: gone in the middle of a visit, with a good conscience.
pub(crate) fn exits_with_zero(job: &mut Job) -> Prepared {
    struct Leaves(Problem);

    impl Kernel for Leaves {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Ok(())
        }

        fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
            measure(visit, |count| (0..count).for_each(|_| self.0.solve()));
            leave(0)
        }
    }
    Ok(Ready::new(Leaves(Problem::new(job)?)))
}

/// crashed.
pub(crate) fn illegal_instruction(job: &mut Job) -> Prepared {
    every_launch(job, |_| {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: none; the process is to be killed by SIGILL.
        unsafe {
            std::arch::asm!("ud2");
        }
    })
}

/// crashed: an error that the implementation raises itself.
pub(crate) fn raises_an_error(job: &mut Job) -> Prepared {
    struct Raises(Problem);

    impl Kernel for Raises {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Err(failed("the library has no plan for this size"))
        }
    }
    Ok(Ready::new(Raises(Problem::new(job)?)))
}

/// crashed: a panic is an error that the implementation raises.
pub(crate) fn panics(job: &mut Job) -> Prepared {
    every_launch(job, |_| panic!("index out of bounds"))
}
