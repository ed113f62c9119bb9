//! Instruction set levels, and the one place where a level is chosen.
//!
//! [`Isa`] names a level, [`Vectorize`] is code written for any of them, and
//! [`Isa::run`] compiles that code once per level, inside a function that has
//! the level's features, and calls the right one.

#[cfg(target_arch = "x86_64")]
use crate::lanes::{Avx2, Avx512};
use crate::lanes::{Lanes, Portable};

/// A level of vector instructions, in rising order.
///
/// ```
/// use roofline_lanes::Isa;
///
/// assert!(Isa::detect().is_available());
/// assert!(Isa::Portable.is_available());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Plain Rust that the compiler vectorises for its baseline.
    Portable,
    /// AVX2, FMA and F16C: eight lanes.
    Avx2,
    /// AVX-512 F, BW, VL and DQ: sixteen lanes.
    Avx512,
}

impl Isa {
    /// Every level this crate knows, lowest first.
    pub const ALL: [Isa; 3] = [Isa::Portable, Isa::Avx2, Isa::Avx512];

    /// The highest level of this processor.
    pub fn detect() -> Isa {
        let mut available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
        available.next_back().unwrap_or(Isa::Portable)
    }

    /// Whether this processor has the level.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => false,
        }
    }

    /// Runs `code` on this level; on the portable one where the processor
    /// lacks it.
    #[inline]
    pub fn run<V: Vectorize>(self, code: V) -> V::Output {
        #[cfg(target_arch = "x86_64")]
        match self {
            Isa::Portable => {}
            Isa::Avx2 => {
                if let Some(lanes) = Avx2::detect() {
                    // SAFETY: the token proves the features of `run_avx2`.
                    return unsafe { run_avx2(lanes, code) };
                }
            }
            Isa::Avx512 => {
                if let Some(lanes) = Avx512::detect() {
                    // SAFETY: the token proves the features of `run_avx512`.
                    return unsafe { run_avx512(lanes, code) };
                }
            }
        }
        run_portable(code)
    }
}

/// Code written once for all levels: its arguments are the fields of the
/// implementing type. `run` must be `#[inline(always)]`, so that its body ends
/// up in a function that has the level's features.
pub trait Vectorize {
    /// What the code returns.
    type Output;
    /// The code.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Apart from its callers, as the others are: they would each have a copy of the code, and it is the longest of the three.
#[inline(never)]
fn run_portable<V: Vectorize>(code: V) -> V::Output {
    code.run(Portable)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn run_avx2<V: Vectorize>(lanes: Avx2, code: V) -> V::Output {
    code.run(lanes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
fn run_avx512<V: Vectorize>(lanes: Avx512, code: V) -> V::Output {
    code.run(lanes)
}
