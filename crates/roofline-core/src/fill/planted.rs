//! `planted`: rows of eight kinds, each the everyday content that a common bug cannot bear.
//!
//! The first row has its maximum at the very end. The others take the kinds in turn, from one that
//! is drawn, so that nine rows have them all whatever the seed. What is not planted is normal.

use super::{Filling, normal};
use crate::format::power_of_two;

/// Largest magnitude that is planted, where the operation bears it: its exponential overflows f64,
/// that of its negative vanishes.
pub(super) const MOST: f64 = 1024.0;

/// Kinds of rows.
const KINDS: u64 = 8;

/// What holds for all elements of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// One dominating value, at this place.
    Dominated { at: usize, value: f64 },
    /// Every eighth element or so, and the one at this place, is the maximum.
    Repeated { at: usize },
    /// All far below zero.
    Deep,
    /// All far below zero, and one at this place not as far.
    DeepBut { at: usize },
    /// All so small that a square is nothing beside 10⁻⁶.
    Tiny,
    /// Blocks of 64 elements, each scaled by a power of two of its own.
    Blocks { exponents: u32 },
}

/// The row of one index, drawn once and used for all of its elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    kind: Kind,
    most: f64,
}

impl Row {
    /// Row `number` of a tensor; `words` are its own random bits, `start` those of the tensor.
    pub(super) fn new(content: &Filling, number: usize, words: [u32; 4], start: u32) -> Row {
        let (last, most) = (content.row - 1, content.limit().min(MOST));
        // Anywhere in the last 64: whatever a vector's length, in the part that does not fill one.
        let near_the_end = last - words[0] as usize % content.row.min(64);
        let border = border(content.row, words);
        let sign = if words[3] & 1 == 0 { 1.0 } else { -1.0 };
        let turn = (number as u64 + u64::from(start)) % KINDS;
        let kind = match turn {
            _ if number == 0 => Kind::Dominated { at: last, value: most },
            // Other inputs stay of one size, so that what the first one shows is not scaled away.
            _ if content.tensor > 0 && !content.alike => Kind::Dominated { at: border, value: sign * most },
            0 => Kind::Dominated { at: last, value: most },
            1 => Kind::Dominated { at: near_the_end, value: most },
            2 => Kind::Dominated { at: border, value: sign * most },
            3 => Kind::Repeated { at: border },
            4 => Kind::Deep,
            5 => Kind::DeepBut { at: near_the_end },
            6 => Kind::Tiny,
            _ => Kind::Blocks { exponents: words[0] },
        };
        Row { kind, most }
    }

    /// The element in column `at`, with its random bits.
    #[inline]
    pub(super) fn value(&self, at: usize, bits: u64) -> f64 {
        let (most, noise) = (self.most, normal(bits));
        match self.kind {
            Kind::Dominated { at: place, value } => {
                if at == place {
                    value
                } else {
                    noise
                }
            }
            Kind::Repeated { at: place } => {
                if at == place || bits & 7 == 0 {
                    most
                } else {
                    noise
                }
            }
            Kind::Deep => noise - most,
            Kind::DeepBut { at: place } => {
                if at == place {
                    -most / 4.0
                } else {
                    noise - most
                }
            }
            Kind::Tiny => noise * power_of_two(-12),
            Kind::Blocks { exponents } => {
                let exponent = exponents >> (at / 64 % 8 * 4) & 15;
                noise * most * power_of_two(-3 - exponent as i32)
            }
        }
    }

    /// The same for codes of an integer type.
    pub(super) fn code(&self, at: usize, bits: u64) -> f64 {
        let noise = (normal(bits) * 4.0).round_ties_even();
        match self.kind {
            Kind::Dominated { at: place, value } if at == place => {
                if value > 0.0 {
                    127.0
                } else {
                    -128.0
                }
            }
            Kind::Repeated { at: place } if at == place || bits & 7 == 0 => 127.0,
            Kind::DeepBut { at: place } if at == place => -25.0,
            Kind::Deep | Kind::DeepBut { .. } => noise - 100.0,
            Kind::Tiny => f64::from(u8::from(bits & 7 == 0)),
            _ => noise,
        }
    }
}

/// A place where loops begin and end: the ends of the row, and around multiples of vectors and tiles.
fn border(row: usize, words: [u32; 4]) -> usize {
    let length = 4 << (words[1] % 5);
    let whole = row / length;
    // The end of the last whole vector as often as all other multiples together.
    let multiple = if words[1] & 1 << 31 == 0 { whole } else { words[2] as usize % (whole + 1) };
    let beside = (multiple * length + (words[3] >> 8) as usize % 3).saturating_sub(1);
    beside.min(row - 1)
}
