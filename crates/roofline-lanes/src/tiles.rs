//! Tile registers: the matrix unit of x86 processors, AMX.
//!
//! Eight registers of 16 rows of 64 bytes, and an instruction that multiplies
//! two of them and adds the product to a third. The instructions are written
//! as text, because the compiler has no stable functions for them. A value of
//! [`Tiles`] is a token, like those of [`crate::lanes`]: it exists only where
//! the processor has the unit and the system lets this process use it.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::marker::PhantomData;
use std::sync::LazyLock;

use crate::lanes::Avx512;

/// Rows of a tile.
pub const TILE_ROWS: usize = 16;
/// Numbers of 32 bits in a tile.
pub const TILE: usize = TILE_ROWS * 16;

/// Token: AMX with bf16 and int8 was detected and permitted, AVX-512 detected.
#[derive(Clone, Copy, Debug)]
pub struct Tiles(());

impl Tiles {
    /// The token, where the instructions may be used. The first call asks the
    /// system: the state of the tiles is large, and only a process that asked
    /// gets room for it.
    pub fn detect() -> Option<Self> {
        static USABLE: LazyLock<bool> =
            LazyLock::new(|| Avx512::detect().is_some() && is_enabled() && ask_permission());
        USABLE.then_some(Self(()))
    }

    /// Sets up all tiles of the calling thread in full size.
    pub fn configure(self) -> Configured {
        let mut config =
            Config { palette: 1, start_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
        config.row_bytes[..8].fill(64);
        config.rows[..8].fill(16);
        // SAFETY: the token proves AMX; `config` is a valid configuration of 64
        // bytes, with zeros for the eight tiles that do not exist.
        unsafe { asm!("ldtilecfg [{0}]", in(reg) &raw const config, options(nostack, readonly)) };
        Configured { thread: PhantomData }
    }
}

/// The tiles of this thread are in use, until this is dropped.
pub struct Configured {
    /// A configuration belongs to the thread that loaded it.
    thread: PhantomData<*const ()>,
}

impl Drop for Configured {
    fn drop(&mut self) {
        // Tiles in use make every switch to another thread save 8 KiB.
        // SAFETY: the tiles of this thread were configured.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}

/// What `ldtilecfg` reads.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// Whether the processor has the unit and the system saves its state.
fn is_enabled() -> bool {
    const BF16_TILE_INT8: u32 = 1 << 22 | 1 << 24 | 1 << 25;
    const TILE_STATE: u64 = 1 << 17 | 1 << 18;
    if __cpuid(0).eax < 7 || __cpuid_count(7, 0).edx & BF16_TILE_INT8 != BF16_TILE_INT8 {
        return false;
    }
    // SAFETY: AVX-512 was detected first, which needs the same instruction.
    let saved = unsafe { _xgetbv(0) };
    saved & TILE_STATE == TILE_STATE
}

/// `arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)`; threads inherit the answer.
fn ask_permission() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
    const XTILEDATA: i64 = 18;
    let result: i64;
    // SAFETY: the call touches no memory of ours, and the registers that a
    // system call changes are declared.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XTILEDATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == 0
}

/// Products of tiles of one type of factors.
pub trait TileProduct {
    /// What sums are kept in.
    type Sum;

    /// Adds the products of a strip of A, two tiles high, and a strip of B, two
    /// tiles wide, to four tiles of sums (upper left, upper right, lower left,
    /// lower right); starts from zero unless `add`. A strip is a sequence of
    /// pairs of tiles, one pair for each step. A row of a tile of A holds
    /// factors of one row of A; a row of a tile of B holds for each of 16
    /// columns the factors that meet one 32-bit number of A.
    ///
    /// What is in `ahead` is asked for meanwhile.
    fn sum(tiles: &Configured, a: &[i32], b: &[i32], ahead: &Ahead, add: bool, sums: &mut [Self::Sum]);
}

/// Cache lines to ask for while sums are made, a few in each step: all at once
/// would fill the queue of misses and stall. They may be at any address.
pub struct Ahead {
    /// The first of four lines a step that will be read.
    pub read: *const i32,
    /// Two a step that will be written.
    pub written: [*const u8; 2 * MAX_STEPS],
}

/// Steps of one call of [`TileProduct::sum`], at most.
pub const MAX_STEPS: usize = 64;

/// Asks for the 16 lines of a tile at an address and a distance.
macro_rules! ask_for_tile {
    ($address:literal, $distance:literal) => {
        concat!(
            ".irp line, 0, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960\n",
            "prefetcht0 [{",
            $address,
            "} + ",
            $distance,
            " + \\line]\n",
            ".endr",
        )
    };
}

/// The body of `sum`, which differs in one instruction only. Each tile that is
/// loaded meets two others; four sums keep the unit busy, as each product
/// waits for the one before it in its sum.
macro_rules! sum_of_products {
    ($product:literal, $a:ident, $b:ident, $ahead:ident, $add:ident, $sums:ident) => {{
        let steps = $a.len() / (2 * TILE);
        assert!($b.len() >= steps * 2 * TILE && $sums.len() >= 4 * TILE);
        assert!((1..=MAX_STEPS).contains(&steps));
        // SAFETY: `Configured` proves AMX and tiles of full size; the strips
        // hold `steps` pairs of tiles of 1024 bytes each, `sums` four tiles and
        // `ahead` two addresses a step. Asking for a line never faults.
        unsafe {
            asm!(
                "test {add:e}, {add:e}",
                "jz 2f",
                "tileloadd tmm0, [{sums} + {line}]",
                "tileloadd tmm1, [{sums} + {line} + 1024]",
                "tileloadd tmm2, [{sums} + {line} + 2048]",
                "tileloadd tmm3, [{sums} + {line} + 3072]",
                "jmp 3f",
                "2:",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "3:",
                "tileloadd tmm4, [{a} + {line}]",
                "tileloadd tmm6, [{b} + {line}]",
                ask_for_tile!("a", 4096),
                concat!($product, " tmm0, tmm4, tmm6"),
                "tileloadd tmm7, [{b} + {line} + 1024]",
                ask_for_tile!("b", 4096),
                concat!($product, " tmm1, tmm4, tmm7"),
                "tileloadd tmm5, [{a} + {line} + 1024]",
                ask_for_tile!("a", 5120),
                concat!($product, " tmm2, tmm5, tmm6"),
                ask_for_tile!("b", 5120),
                concat!($product, " tmm3, tmm5, tmm7"),
                "prefetcht1 [{next}]",
                "prefetcht1 [{next} + 64]",
                "prefetcht1 [{next} + 128]",
                "prefetcht1 [{next} + 192]",
                "add {next}, 256",
                "mov {line_to_write}, [{written}]",
                "prefetchw [{line_to_write}]",
                "mov {line_to_write}, [{written} + 8]",
                "prefetchw [{line_to_write}]",
                "add {written}, 16",
                "add {a}, 2048",
                "add {b}, 2048",
                "dec {steps}",
                "jnz 3b",
                "tilestored [{sums} + {line}], tmm0",
                "tilestored [{sums} + {line} + 1024], tmm1",
                "tilestored [{sums} + {line} + 2048], tmm2",
                "tilestored [{sums} + {line} + 3072], tmm3",
                a = inout(reg) $a.as_ptr() => _,
                b = inout(reg) $b.as_ptr() => _,
                next = inout(reg) $ahead.read => _,
                written = inout(reg) $ahead.written.as_ptr() => _,
                line_to_write = out(reg) _,
                steps = inout(reg) steps => _,
                sums = in(reg) $sums.as_mut_ptr(),
                line = in(reg) 64usize,
                add = in(reg) u32::from($add),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }};
}

impl TileProduct for half::bf16 {
    type Sum = f32;
    fn sum(_: &Configured, a: &[i32], b: &[i32], ahead: &Ahead, add: bool, sums: &mut [f32]) {
        sum_of_products!("tdpbf16ps", a, b, ahead, add, sums);
    }
}

impl TileProduct for i8 {
    type Sum = i32;
    fn sum(_: &Configured, a: &[i32], b: &[i32], ahead: &Ahead, add: bool, sums: &mut [i32]) {
        sum_of_products!("tdpbssd", a, b, ahead, add, sums);
    }
}
