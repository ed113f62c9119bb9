//! Rounding, flush-to-zero and exception masks of the calling thread.

/// The control bits, without the sticky flags that every inexact sum sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloatMode(u32);

#[cfg(target_arch = "x86_64")]
impl FloatMode {
    const FLAGS: u32 = 0x3f;

    pub(crate) fn now() -> FloatMode {
        let mut register = 0u32;
        // SAFETY: stores MXCSR to the four bytes of `register` and touches nothing else.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &mut register, options(nostack, preserves_flags));
        }
        FloatMode(register & !Self::FLAGS)
    }

    pub(crate) fn set(self) {
        // SAFETY: loads a value that `now` has read, so no reserved bit is set.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &self.0, options(nostack, preserves_flags, readonly));
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl FloatMode {
    pub(crate) fn now() -> FloatMode {
        FloatMode(0)
    }

    pub(crate) fn set(self) {}
}

/// Runs `work` and says whether it left the mode changed, which is then put back.
pub(crate) fn guard<T>(work: impl FnOnce() -> T) -> (T, bool) {
    let before = FloatMode::now();
    let result = work();
    let changed = FloatMode::now() != before;
    if changed {
        before.set();
    }
    (result, changed)
}
