//! The tile unit, in assembly: its intrinsics are not stable.
//!
//! A product of two tiles takes sixteen cycles at best and its sum can be used after some fifty, so
//! six accumulators keep the unit busy; two more tiles are the operands. Nothing is loaded.

use super::compute::{Loop, Unit, exponentials};
use super::x86::{F32_AVX512, I8_AVX512};
use crate::Isa;
use std::arch::asm;
use std::sync::LazyLock;

const ACCUMULATORS: u64 = 6;

/// Eight tiles of 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_per_row: [u16; 16],
    rows: [u8; 16],
}

static CONFIGURATION: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    bytes_per_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Products by `$name`, of `$operations` multiply-adds each, of tiles filled with `$a` and `$b`.
macro_rules! tiles {
    ($name:literal, $operations:literal, $a:literal, $b:literal) => {
        Loop {
            operations: $operations * ACCUMULATORS,
            run: |blocks: u64| {
                if blocks == 0 {
                    return;
                }
                let (a, b) = (Tile([$a; 1024]), Tile([$b; 1024]));
                // SAFETY: reads the configuration and two tiles of 1024 bytes; a unit is run where
                // its instructions were detected and the system allows them. No tile lives on.
                unsafe {
                    asm!(
                        "ldtilecfg [{configuration}]",
                        "tilezero tmm0",
                        "tilezero tmm1",
                        "tilezero tmm2",
                        "tilezero tmm3",
                        "tilezero tmm4",
                        "tilezero tmm5",
                        "tileloadd tmm6, [{a} + {stride}]",
                        "tileloadd tmm7, [{b} + {stride}]",
                        "2:",
                        concat!($name, " tmm0, tmm6, tmm7"),
                        concat!($name, " tmm1, tmm6, tmm7"),
                        concat!($name, " tmm2, tmm6, tmm7"),
                        concat!($name, " tmm3, tmm6, tmm7"),
                        concat!($name, " tmm4, tmm6, tmm7"),
                        concat!($name, " tmm5, tmm6, tmm7"),
                        "dec {blocks}",
                        "jnz 2b",
                        // A process with live tiles is slower to switch.
                        "tilerelease",
                        configuration = in(reg) &raw const CONFIGURATION,
                        a = in(reg) &raw const a,
                        b = in(reg) &raw const b,
                        stride = in(reg) 64usize,
                        blocks = inout(reg) blocks => _,
                        options(nostack, readonly),
                    );
                }
            },
        }
    };
}

#[repr(C, align(64))]
struct Tile([u8; 1024]);

pub(super) const BF16: Unit = Unit {
    // 0x3a3a in bf16 is about 7e-4: its square stays far from overflow however often it is summed.
    multiply_add: tiles!("tdpbf16ps", 8192, 0x3a, 0x3a),
    simple: F32_AVX512.simple,
    special: exponentials(Isa::Avx512),
    grain: 8,
};

pub(super) const I8: Unit = Unit {
    multiply_add: tiles!("tdpbssd", 16384, 1, 3),
    simple: I8_AVX512.simple,
    special: exponentials(Isa::Avx512),
    grain: 8,
};

pub(super) fn has_bf16() -> bool {
    AVAILABLE[0]
}

pub(super) fn has_i8() -> bool {
    AVAILABLE[1]
}

/// Whether there are products of bf16 and of i8.
static AVAILABLE: LazyLock<[bool; 2]> = LazyLock::new(|| {
    // The simple operations are done by AVX-512.
    if !Isa::Avx512.is_available() {
        return [false; 2];
    }
    let features = std::arch::x86_64::__cpuid_count(7, 0).edx;
    let has = |bit: u32| features & 1 << bit != 0;
    let tiles = has(24) && allowed();
    [tiles && has(22), tiles && has(25)]
});

/// Asks the system for the state of the tiles, which it gives to whoever asks, for all threads.
#[cfg(target_os = "linux")]
fn allowed() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
    const TILE_DATA: i64 = 18;
    let mut result = ARCH_PRCTL;
    // SAFETY: a system call that grants this process a larger register state, and no more.
    unsafe {
        asm!(
            "syscall",
            inout("rax") result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") TILE_DATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn allowed() -> bool {
    false
}
