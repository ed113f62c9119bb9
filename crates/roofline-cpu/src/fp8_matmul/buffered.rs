//! Blocks of W through two small buffers: while one is multiplied, the next is decoded and the codes after it are asked for.
//!
//! Over [`tiles`](super::tiles): X is packed once, in strips as high as the register tile, and W travels as bytes from
//! memory to the first cache, where a block of as many columns as the register tile has lies decoded. Sums of a block stay in
//! registers; scales are looked up where a strip ends.

use super::Blocks;
use super::activations::{Activations, DECODED};
use crate::lanes::Lanes;
use crate::matmul::block::Block;
use crate::matmul::tile::RegisterTile;
use crate::scratch::Scratch;
use crate::{Cpu, Product, Scalar, Vectorize, bf16};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Product, fp8_matmul::{Blocks, buffered::fp8_matmul}};
///
/// let x = [1.0, 2.0, 3.0].map(Fp8E4m3::from_f32);
/// let x = Blocks { codes: &x, scales: &[1.0, 0.5], rows: 1, block: 2 };
/// let mut y = [0.0f32];
/// fp8_matmul(&Cpu::serial(), x, x, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y, [5.0 + 0.25 * 9.0]);
/// ```
pub fn fp8_matmul<O: Scalar<Wide = f32>>(cpu: &Cpu, x: Blocks, w: Blocks, y: &mut [O], shape: Product) {
    multiply::<O, false>(cpu, Activations::Codes(x), w, y, shape);
}

/// The same of an X in bf16, which has no scales.
pub fn fp8_matmul_bf16(cpu: &Cpu, x: &[bf16], w: Blocks, y: &mut [bf16], shape: Product) {
    multiply::<bf16, false>(cpu, Activations::Bf16(x), w, y, shape);
}

/// Packed numbers that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// With `HELD`, scales are laid out beforehand in the order of their use, and those of W stay in registers for a block.
pub(super) fn multiply<O: Scalar<Wide = f32>, const HELD: bool>(
    cpu: &Cpu,
    x: Activations,
    w: Blocks,
    y: &mut [O],
    shape: Product,
) {
    let Product { m, n, k } = shape;
    x.check(m, k, w.block);
    w.check(n, k);
    if k == 0 {
        return y.fill(O::narrow(0.0));
    }
    let (strip, width) = cpu.isa.run(RegisterTile);
    let rows = m.next_multiple_of(strip);
    let mut packed = Scratch::<f32>::take(rows * k);
    cpu.pool.run_pieces(&mut packed, strip * k, PIECE, |offset, strips| {
        for (index, packed) in strips.chunks_exact_mut(strip * k).enumerate() {
            pack(x, m, k, offset / k + index * strip, packed, strip);
        }
    });
    let blocks = k.div_ceil(w.block);
    let mut of_x = Scratch::<f32>::take(if HELD { blocks * rows } else { 0 });
    if HELD {
        for (block, of_x) in of_x.chunks_exact_mut(rows).enumerate() {
            of_x.iter_mut().enumerate().for_each(|(row, s)| *s = x.scale(row.min(m - 1), block, blocks));
        }
    }
    let y = Block::new(y, m, n);
    cpu.pool.run(n.div_ceil(width), |panel| {
        let cols = panel * width..n.min((panel + 1) * width);
        // SAFETY: every task is run once, and the columns of two tasks do not overlap.
        let y = unsafe { y.part(0..m, cols.clone()) };
        cpu.isa.run(Panel::<O, HELD> { x, packed: &packed, of_x: &of_x, w, k, col: cols.start, y });
    });
}

/// Some rows of X, side by side for each step of the sums; zeros for rows beyond the last.
fn pack(x: Activations, m: usize, k: usize, first: usize, packed: &mut [f32], strip: usize) {
    for row in 0..strip {
        let places = packed.iter_mut().skip(row).step_by(strip);
        match first + row < m {
            true => places.zip((first + row) * k..).for_each(|(to, from)| *to = x.get(from)),
            false => places.for_each(|to| *to = 0.0),
        }
    }
}

/// All rows of Y in as many columns as the register tile has, from this one on.
struct Panel<'a, O, const HELD: bool> {
    x: Activations<'a>,
    /// X in strips.
    packed: &'a [f32],
    /// The scales of X, block after block, where they are held.
    of_x: &'a [f32],
    w: Blocks<'a>,
    k: usize,
    col: usize,
    y: Block<'a, O>,
}

impl<O: Scalar<Wide = f32>, const HELD: bool> Vectorize for Panel<'_, O, HELD> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let Panel { x, packed, of_x, w, k, .. } = self;
        let (m, width, blocks) = (self.y.rows(), 2 * L::LANES, k.div_ceil(w.block));
        let rows = m.next_multiple_of(L::TILE_ROWS);
        let mut sums = Scratch::<f32>::take(rows * width);
        sums.fill(0.0);
        let length = w.block.min(k) * width;
        let (mut now, mut next) = (Scratch::<f32>::take(length), Scratch::<f32>::take(length));
        self.decode(lanes, 0, &mut now);
        for block in 0..blocks {
            if block + 1 < blocks {
                self.decode(lanes, block + 1, &mut next);
            }
            let steps = w.block.min(k - block * w.block);
            let held = self.scales(lanes, block, blocks);
            for (strip, sums) in sums.chunks_exact_mut(L::TILE_ROWS * width).enumerate() {
                let start = (strip * k + block * w.block) * L::TILE_ROWS;
                let tile = products(lanes, &packed[start..][..steps * L::TILE_ROWS], &now[..steps * width]);
                let of_w = if HELD { held } else { self.scales(lanes, block, blocks) };
                for (row, (of_block, sums)) in
                    tile.as_ref().iter().zip(sums.chunks_exact_mut(width)).enumerate()
                {
                    let row = strip * L::TILE_ROWS + row;
                    let of_x = match HELD {
                        true => of_x[block * rows + row],
                        false => x.scale(row.min(m - 1), block, blocks),
                    };
                    let of_x = lanes.splat(of_x);
                    for ((of_block, of_w), sums) in
                        of_block.iter().zip(of_w).zip(sums.chunks_exact_mut(L::LANES))
                    {
                        let sum = lanes.mul_add(*of_block, lanes.mul(of_x, of_w), lanes.load_f32(sums));
                        lanes.store_f32(sum, sums);
                    }
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        for (row, sums) in sums.chunks_exact(width).take(m).enumerate() {
            self.y.row(row).iter_mut().zip(sums).for_each(|(y, sum)| *y = O::narrow(*sum));
        }
    }
}

impl<O: Scalar<Wide = f32>, const HELD: bool> Panel<'_, O, HELD> {
    /// A block of the columns, side by side for each step, zeros for those beyond the last; and the codes of the block after
    /// it on their way.
    #[inline(always)]
    fn decode<L: Lanes>(&self, lanes: L, block: usize, decoded: &mut [f32]) {
        let (width, w) = (2 * L::LANES, self.w);
        let (first, last) = (block * w.block, self.k.min((block + 1) * w.block));
        let cols = self.y.cols();
        for column in 0..width {
            let places = decoded.iter_mut().skip(column).step_by(width).take(last - first);
            if column >= cols {
                places.for_each(|to| *to = 0.0);
                continue;
            }
            let codes = &w.codes[(self.col + column) * self.k + first..][..last - first];
            for line in (0..w.block).step_by(LINE) {
                lanes.prefetch(codes.as_ptr().wrapping_add(w.block + line));
            }
            places.zip(codes).for_each(|(to, code)| *to = DECODED[usize::from(code.0)]);
        }
    }

    /// The scales of a block of each column.
    #[inline(always)]
    fn scales<L: Lanes>(&self, lanes: L, block: usize, blocks: usize) -> [L::F; 2] {
        let (mut scales, last) = ([0.0; 2 * crate::lanes::MAX_LANES], self.col + self.y.cols() - 1);
        for (column, scale) in scales.iter_mut().take(2 * L::LANES).enumerate() {
            *scale = self.w.scales[(self.col + column).min(last) / self.w.rows * blocks + block];
        }
        [lanes.load_f32(&scales), lanes.load_f32(&scales[L::LANES..])]
    }
}

/// Codes in a cache line.
const LINE: usize = 64;

/// The sums of a block: over its steps, a column of the strip times a row of the panel.
#[inline(always)]
pub(crate) fn products<L: Lanes>(lanes: L, strip: &[f32], panel: &[f32]) -> L::Tile<[L::F; 2]> {
    let mut tile = lanes.tile([lanes.splat(0.0); 2]);
    for (x, w) in strip.chunks_exact(L::TILE_ROWS).zip(panel.chunks_exact(2 * L::LANES)) {
        let w = [lanes.load_f32(w), lanes.load_f32(&w[L::LANES..])];
        for (sums, x) in tile.as_mut().iter_mut().zip(x) {
            let x = lanes.splat(*x);
            *sums = [lanes.mul_add(x, w[0], sums[0]), lanes.mul_add(x, w[1], sums[1])];
        }
    }
    tile
}
