//! Cosines and sines of a position's angles, each once for all heads.
//!
//! Frequencies are powers, taken once a call. The angle is a product in f64, and so is all that becomes of it: π/2 is
//! three numbers, of which the first two have so few bits that their products with a number of quarter turns below 2³¹
//! are exact, and what is left is in reach of short series. The loop has no branch, so that the compiler turns it to
//! vectors of whatever level it is inlined to.

use super::Tables;

/// Where the angles of positions come from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a, W> {
    /// The base of their frequencies.
    Base(f64),
    /// Rows of tables.
    Tables(Tables<'a, W>),
    /// Rows of tables, and the base for positions that have none.
    Beyond(Tables<'a, W>, f64),
}

impl<W> Source<'_, W> {
    /// Writes the frequency of each pair, if any is computed.
    pub(super) fn frequencies(&self, frequencies: &mut [f64]) {
        if let Source::Base(base) | Source::Beyond(_, base) = self {
            write_frequencies(*base, frequencies);
        }
    }
}

impl Source<'_, f32> {
    /// Writes cosine and sine of each pair at a position.
    #[inline(always)]
    pub(super) fn turns(&self, position: i32, frequencies: &[f64], [cos, sin]: [&mut [f32]; 2]) {
        let pairs = cos.len();
        let row = match self {
            Source::Base(_) => None,
            Source::Tables(tables) => {
                Some(row(*tables, position, pairs).expect("a row of the tables for each position"))
            }
            Source::Beyond(tables, _) => row(*tables, position, pairs),
        };
        match row {
            Some([of_cos, of_sin]) => {
                cos.copy_from_slice(of_cos);
                sin.copy_from_slice(of_sin);
            }
            None => turns(position, frequencies, [cos, sin]),
        }
    }
}

/// The rows of a position in the tables, if they have them.
#[inline(always)]
fn row(tables: Tables<'_, f32>, position: i32, pairs: usize) -> Option<[&[f32]; 2]> {
    let from = usize::try_from(position).ok()?.checked_mul(pairs)?;
    Some([tables[0].get(from..from + pairs)?, tables[1].get(from..from + pairs)?])
}

/// base^(−2i/dim) for pair i.
pub(crate) fn write_frequencies(base: f64, frequencies: &mut [f64]) {
    let dim = 2 * frequencies.len();
    for (i, frequency) in frequencies.iter_mut().enumerate() {
        *frequency = base.powf(-2.0 * i as f64 / dim as f64);
    }
}

/// Adding it rounds to an integer: the spacing of f64 at 1.5·2⁵² is one. The low bits of the sum are those of the integer.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
const HALF_PI: [f64; 3] = [1.570_796_012_878_418, 3.139_164_164_167_596e-7, 6.223_372_171_896_613e-14];
/// (sin r - r) / r³ in r².
const SINE: [f64; 6] =
    [1.0 / 6_227_020_800.0, -1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0];
/// (cos r - 1) / r² in r².
const COSINE: [f64; 7] = [
    -1.0 / 87_178_291_200.0,
    1.0 / 479_001_600.0,
    -1.0 / 3_628_800.0,
    1.0 / 40_320.0,
    -1.0 / 720.0,
    1.0 / 24.0,
    -0.5,
];

/// cos φ and sin φ for φ = position · frequency of each pair.
#[inline(always)]
pub(crate) fn turns(position: i32, frequencies: &[f64], [cos, sin]: [&mut [f32]; 2]) {
    // Quarter turns of larger frequencies, which have a base below 1, may be too many.
    if frequencies.last().is_some_and(|frequency| *frequency > 1.0) {
        return turns_of_any(position, frequencies, [cos, sin]);
    }
    let position = f64::from(position);
    for ((frequency, cos), sin) in frequencies.iter().zip(cos).zip(sin) {
        let angle = position * frequency;
        let sum = angle * std::f64::consts::FRAC_2_PI + ROUNDER;
        let (quarter, n) = (sum.to_bits(), sum - ROUNDER);
        let r = ((angle - n * HALF_PI[0]) - n * HALF_PI[1]) - n * HALF_PI[2];
        let square = r * r;
        let mut of_sine = SINE[0];
        for term in &SINE[1..] {
            of_sine = of_sine * square + term;
        }
        let mut of_cosine = COSINE[0];
        for term in &COSINE[1..] {
            of_cosine = of_cosine * square + term;
        }
        let (of_sine, of_cosine) = (of_sine * square * r + r, of_cosine * square + 1.0);
        let is_odd = quarter & 1 == 1;
        let (of_cos, of_sin) = if is_odd { (of_sine, of_cosine) } else { (of_cosine, of_sine) };
        let signed = |value: f64, quarter: u64| f64::from_bits(value.to_bits() ^ (quarter & 2) << 62);
        *cos = signed(of_cos, quarter.wrapping_add(1)) as f32;
        *sin = signed(of_sin, quarter) as f32;
    }
}

#[cold]
#[inline(never)]
fn turns_of_any(position: i32, frequencies: &[f64], [cos, sin]: [&mut [f32]; 2]) {
    for ((frequency, cos), sin) in frequencies.iter().zip(cos).zip(sin) {
        let angle = f64::from(position) * frequency;
        (*cos, *sin) = (angle.cos() as f32, angle.sin() as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the operation has it: angles are right to sixteen units of f64, cosines and sines rounded to f32.
    #[test]
    fn angles_of_the_largest_positions_are_as_exact_as_those_of_small_ones() {
        for (base, dim) in [(1e4, 128), (5e5, 64), (1.0, 2), (1e7, 256), (0.5, 8)] {
            let mut frequencies = vec![0.0; dim / 2];
            write_frequencies(base, &mut frequencies);
            let (mut cos, mut sin) = (vec![0.0; dim / 2], vec![0.0; dim / 2]);
            let spread = (0..31).flat_map(|bit| [1 << bit, (1 << bit) + 1, (1 << bit) / 2 * 3]);
            for position in spread.chain([0, -1, -4097, i32::MAX, i32::MIN]).chain(0..5000) {
                turns(position, &frequencies, [&mut cos, &mut sin]);
                for (i, frequency) in frequencies.iter().enumerate() {
                    let angle = f64::from(position) * frequency;
                    for (got, exact) in [(cos[i], angle.cos()), (sin[i], angle.sin())] {
                        let room = 8.0 * f64::EPSILON * angle.abs() + 1.000_01 * exact.abs() * 2f64.powi(-24);
                        let error = (f64::from(got) - exact).abs();
                        assert!(error <= room, "{position}, base {base}, pair {i}: {got}, not {exact}");
                    }
                }
            }
        }
    }
}
