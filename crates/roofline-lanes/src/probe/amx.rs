//! The tile unit, in assembly: its intrinsics are not stable.
//!
//! A product of two tiles takes sixteen cycles at best and its sum can be used after some fifty, so
//! six accumulators keep the unit busy; two more tiles are the operands. Nothing is loaded.

use super::compute::{Loop, Unit, exponentials};
use super::x86::{F32_AVX512, I8_AVX512};
use crate::Isa;
use crate::tiles::Tiles;
use std::arch::asm;

const ACCUMULATORS: u64 = 6;

/// Products by `$name`, of `$operations` multiply-adds each, of tiles filled with `$a` and `$b`.
macro_rules! tiles {
    ($name:literal, $operations:literal, $a:literal, $b:literal) => {
        Loop {
            operations: $operations * ACCUMULATORS,
            run: |blocks: u64| {
                let Some(tiles) = Tiles::detect().filter(|_| blocks > 0) else { return };
                let _configured = tiles.configure();
                let (a, b) = (Tile([$a; 1024]), Tile([$b; 1024]));
                // SAFETY: reads two tiles of 1024 bytes, on a thread whose tiles are configured.
                unsafe {
                    asm!(
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

pub(super) fn is_available() -> bool {
    Tiles::detect().is_some()
}
