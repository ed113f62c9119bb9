//! The arithmetic units of x86-64, AMX apart.
//!
//! Twelve accumulators: two instructions a cycle with a latency of up to six.

use super::compute::{F64_SPECIAL, Loop, Unit, exponentials};
use crate::Isa;
use std::arch::asm;

const ACCUMULATORS: u64 = 12;

/// Blocks of about a third of a microsecond.
const GRAIN: u64 = 128;

/// An instruction for each accumulator. `accumulate`: acc += a · b. `add`: acc = acc + a.
macro_rules! step {
    (accumulate $name:literal $w:literal $acc:literal) => {
        concat!($name, " ", $w, "mm", $acc, ", ", $w, "mm12, ", $w, "mm13")
    };
    (add $name:literal $w:literal $acc:literal) => {
        concat!($name, " ", $w, "mm", $acc, ", ", $w, "mm", $acc, ", ", $w, "mm12")
    };
    // Products of 16 bits, summed in pairs: what there is without VNNI.
    (pairs $name:literal $w:literal $acc:literal) => {
        concat!($name, " ymm14, ymm12, ymm13\n vpaddd ymm", $acc, ", ymm", $acc, ", ymm14")
    };
}

/// A loop of `$operations` for each accumulator over registers of width `$w`: y(mm) or z(mm). The
/// operands repeat the patterns `$a` and `$b` of 64 bits: numbers whose sum stays finite.
macro_rules! chains {
    ($form:ident $name:literal $w:literal, $operations:literal, $a:literal, $b:literal) => {
        Loop {
            operations: $operations * ACCUMULATORS,
            run: |blocks: u64| {
                if blocks == 0 {
                    return;
                }
                // SAFETY: registers only. A unit is run where its instructions were detected.
                unsafe {
                    asm!(
                        "vmovq xmm12, {a}",
                        "vmovq xmm13, {b}",
                        concat!("vpbroadcastq ", $w, "mm12, xmm12"),
                        concat!("vpbroadcastq ", $w, "mm13, xmm13"),
                        "vpxor xmm0, xmm0, xmm0",
                        "vpxor xmm1, xmm1, xmm1",
                        "vpxor xmm2, xmm2, xmm2",
                        "vpxor xmm3, xmm3, xmm3",
                        "vpxor xmm4, xmm4, xmm4",
                        "vpxor xmm5, xmm5, xmm5",
                        "vpxor xmm6, xmm6, xmm6",
                        "vpxor xmm7, xmm7, xmm7",
                        "vpxor xmm8, xmm8, xmm8",
                        "vpxor xmm9, xmm9, xmm9",
                        "vpxor xmm10, xmm10, xmm10",
                        "vpxor xmm11, xmm11, xmm11",
                        ".p2align 5",
                        "2:",
                        step!($form $name $w "0"),
                        step!($form $name $w "1"),
                        step!($form $name $w "2"),
                        step!($form $name $w "3"),
                        step!($form $name $w "4"),
                        step!($form $name $w "5"),
                        step!($form $name $w "6"),
                        step!($form $name $w "7"),
                        step!($form $name $w "8"),
                        step!($form $name $w "9"),
                        step!($form $name $w "10"),
                        step!($form $name $w "11"),
                        "dec {blocks}",
                        "jnz 2b",
                        "vzeroupper",
                        blocks = inout(reg) blocks => _,
                        a = in(reg) $a as u64,
                        b = in(reg) $b as u64,
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                        out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                        out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                        out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                        options(nomem, nostack),
                    );
                }
            },
        }
    };
}

// 1 and 2⁻¹⁰, or small integers, in each format.
const ADD_F32_AVX2: Loop = chains!(add "vaddps" "y", 8, 0x3a80_0000_3a80_0000u64, 0);
const ADD_F32_AVX512: Loop = chains!(add "vaddps" "z", 16, 0x3a80_0000_3a80_0000u64, 0);
const ADD_F64_AVX2: Loop = chains!(add "vaddpd" "y", 4, 0x3f50_0000_0000_0000u64, 0);
const ADD_F64_AVX512: Loop = chains!(add "vaddpd" "z", 8, 0x3f50_0000_0000_0000u64, 0);
const ADD_I32_AVX2: Loop = chains!(add "vpaddd" "y", 8, 0x0000_0003_0000_0003u64, 0);
const ADD_I32_AVX512: Loop = chains!(add "vpaddd" "z", 16, 0x0000_0003_0000_0003u64, 0);

const FMA_F64_AVX2: Loop =
    chains!(accumulate "vfmadd231pd" "y", 4, 0x3ff0_0000_0000_0000u64, 0x3f50_0000_0000_0000u64);
const FMA_F64_AVX512: Loop =
    chains!(accumulate "vfmadd231pd" "z", 8, 0x3ff0_0000_0000_0000u64, 0x3f50_0000_0000_0000u64);
const DOT_I8_PAIRS: Loop =
    chains!(pairs "vpmaddwd" "y", 16, 0x0001_0001_0001_0001u64, 0x0003_0003_0003_0003u64);
const DOT_I8_VEX: Loop =
    chains!(accumulate "{{vex}} vpdpbusd" "y", 32, 0x0101_0101_0101_0101u64, 0x0303_0303_0303_0303u64);

const fn of_f32(multiply_add: Loop, simple: Loop, isa: Isa) -> Unit {
    Unit { multiply_add, simple, special: exponentials(isa), grain: GRAIN }
}

const fn of_f64(multiply_add: Loop, simple: Loop) -> Unit {
    let special = Loop { operations: multiply_add.operations / F64_SPECIAL, ..multiply_add };
    Unit { multiply_add, simple, special, grain: GRAIN }
}

pub(super) const F32_AVX2: Unit = of_f32(
    chains!(accumulate "vfmadd231ps" "y", 8, 0x3f80_0000_3f80_0000u64, 0x3a80_0000_3a80_0000u64),
    ADD_F32_AVX2,
    Isa::Avx2,
);
pub(super) const F32_AVX512: Unit = of_f32(
    chains!(accumulate "vfmadd231ps" "z", 16, 0x3f80_0000_3f80_0000u64, 0x3a80_0000_3a80_0000u64),
    ADD_F32_AVX512,
    Isa::Avx512,
);
pub(super) const F64_AVX2: Unit = of_f64(FMA_F64_AVX2, ADD_F64_AVX2);
pub(super) const F64_AVX512: Unit = of_f64(FMA_F64_AVX512, ADD_F64_AVX512);
pub(super) const F16_AVX512: Unit = of_f32(
    chains!(accumulate "vfmadd231ph" "z", 32, 0x3c00_3c00_3c00_3c00u64, 0x1400_1400_1400_1400u64),
    ADD_F32_AVX512,
    Isa::Avx512,
);
pub(super) const BF16_AVX512: Unit = of_f32(
    chains!(accumulate "vdpbf16ps" "z", 32, 0x3f80_3f80_3f80_3f80u64, 0x3a80_3a80_3a80_3a80u64),
    ADD_F32_AVX512,
    Isa::Avx512,
);
/// VNNI in its AVX form where there is one.
pub(super) const I8_AVX2: Unit = Unit {
    multiply_add: Loop {
        operations: DOT_I8_VEX.operations,
        run: |blocks| {
            if is_x86_feature_detected!("avxvnni") {
                (DOT_I8_VEX.run)(blocks);
            } else {
                (DOT_I8_PAIRS.run)(2 * blocks);
            }
        },
    },
    simple: ADD_I32_AVX2,
    special: exponentials(Isa::Avx2),
    grain: GRAIN,
};
pub(super) const I8_AVX512: Unit = Unit {
    multiply_add: chains!(accumulate "vpdpbusd" "z", 64, 0x0101_0101_0101_0101u64, 0x0303_0303_0303_0303u64),
    simple: ADD_I32_AVX512,
    special: exponentials(Isa::Avx512),
    grain: GRAIN,
};

pub(super) fn has_avx2() -> bool {
    Isa::Avx2.is_available()
}

pub(super) fn has_avx512() -> bool {
    Isa::Avx512.is_available()
}

pub(super) fn has_fp16() -> bool {
    has_avx512() && is_x86_feature_detected!("avx512fp16")
}

pub(super) fn has_bf16() -> bool {
    has_avx512() && is_x86_feature_detected!("avx512bf16")
}

pub(super) fn has_vnni() -> bool {
    has_avx512() && is_x86_feature_detected!("avx512vnni")
}
