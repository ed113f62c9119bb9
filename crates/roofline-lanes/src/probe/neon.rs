//! The vector unit of AArch64.
//!
//! Sixteen accumulators: four instructions a cycle with a latency of four.

use super::compute::{F64_SPECIAL, Loop, Unit, exponentials};
use crate::Isa;
use std::arch::asm;

const ACCUMULATORS: u64 = 16;
const GRAIN: u64 = 128;

/// An instruction for each accumulator. `accumulate`: acc += a · b. `add`: acc = acc + a.
macro_rules! step {
    (accumulate $lanes:literal $acc:literal) => {
        concat!("fmla v", $acc, ".", $lanes, ", v16.", $lanes, ", v17.", $lanes)
    };
    (add $lanes:literal $acc:literal) => {
        concat!("fadd v", $acc, ".", $lanes, ", v", $acc, ".", $lanes, ", v17.", $lanes)
    };
}

/// A loop over vectors of `$lanes`; the operands repeat the patterns `$a` and `$b` of 64 bits.
macro_rules! chains {
    ($form:ident $lanes:literal, $operations:literal, $a:literal, $b:literal) => {
        Loop {
            operations: $operations * ACCUMULATORS,
            run: |blocks: u64| {
                if blocks == 0 {
                    return;
                }
                // SAFETY: registers only, and every AArch64 processor of Rust's targets has these.
                unsafe {
                    asm!(
                        "dup v16.2d, {a}",
                        "dup v17.2d, {b}",
                        "2:",
                        step!($form $lanes "0"),
                        step!($form $lanes "1"),
                        step!($form $lanes "2"),
                        step!($form $lanes "3"),
                        step!($form $lanes "4"),
                        step!($form $lanes "5"),
                        step!($form $lanes "6"),
                        step!($form $lanes "7"),
                        step!($form $lanes "8"),
                        step!($form $lanes "9"),
                        step!($form $lanes "10"),
                        step!($form $lanes "11"),
                        step!($form $lanes "12"),
                        step!($form $lanes "13"),
                        step!($form $lanes "14"),
                        step!($form $lanes "15"),
                        "subs {blocks}, {blocks}, #1",
                        "b.ne 2b",
                        blocks = inout(reg) blocks => _,
                        a = in(reg) $a as u64,
                        b = in(reg) $b as u64,
                        out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                        out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                        out("v8") _, out("v9") _, out("v10") _, out("v11") _,
                        out("v12") _, out("v13") _, out("v14") _, out("v15") _,
                        out("v16") _, out("v17") _,
                        options(nomem, nostack),
                    );
                }
            },
        }
    };
}

const FMA_F64: Loop = chains!(accumulate "2d", 2, 0x3ff0_0000_0000_0000u64, 0x3f50_0000_0000_0000u64);

pub(super) const F32: Unit = Unit {
    multiply_add: chains!(accumulate "4s", 4, 0x3f80_0000_3f80_0000u64, 0x3a80_0000_3a80_0000u64),
    simple: chains!(add "4s", 4, 0, 0x3a80_0000_3a80_0000u64),
    special: exponentials(Isa::Portable),
    grain: GRAIN,
};

pub(super) const F64: Unit = Unit {
    multiply_add: FMA_F64,
    simple: chains!(add "2d", 2, 0, 0x3f50_0000_0000_0000u64),
    special: Loop { operations: FMA_F64.operations / F64_SPECIAL, ..FMA_F64 },
    grain: GRAIN,
};
