//! Contents of tensors that hold no plain values: indices, offsets, scales, seeds, codes, numbers of a domain.
//!
//! Families choose among what is legal: extremes are the ends of it, ramps rise, the rest is drawn.

use super::{Fill, Filling};
use crate::format::power_of_two;
use crate::tensor::{Content, power};

/// Of the elements that may stand for none or be masked, one in so many does.
const NONES: u64 = 8;
/// Of the rows after the first that may be masked, one in so many is.
const MASKED: u32 = 4;

impl Filling {
    /// Element `index` of a tensor of other content than values, from its random bits.
    pub(super) fn meant(&self, index: usize, bits: u64) -> Option<f64> {
        let at_an_end = self.fill == Fill::Extreme;
        let rises = matches!(self.fill, Fill::Ramp | Fill::OneHot);
        let unit = (bits >> 11) as f64 * power_of_two(-53);
        match self.content {
            Content::Values { .. } => None,
            Content::Masked { .. } => self.is_masked(index, bits).then_some(f64::NEG_INFINITY),
            Content::Ties { most } => (self.fill == Fill::Integers).then(|| self.tie(index, bits, most)),
            Content::Within { low, .. } if at_an_end && bits & 1 == 0 => Some(low),
            Content::Within { high, .. } if at_an_end => Some(high),
            Content::Within { low, high } => Some(low + unit * (high - low)),
            Content::Indices { none: Some(none), .. }
                if self.fill != Fill::Uniform && bits >> 8 & (NONES - 1) == 0 =>
            {
                Some(f64::from(none))
            }
            Content::Indices { below, .. } => Some(match below.max(1) {
                below if at_an_end => {
                    if bits & 1 == 0 {
                        0.0
                    } else {
                        (below - 1) as f64
                    }
                }
                below if rises => (index as u64 % below) as f64,
                below => ((u128::from(bits) * u128::from(below)) >> 64) as f64,
            }),
            Content::Order { below } => Some(self.turn(index, below, rises)),
            Content::Offsets { total } => Some(self.offset(index, total, at_an_end, unit)),
            Content::Sparse(sparse) => sparse
                .value(self, index, bits)
                .or_else(|| Filling { content: sparse.plain(), ..*self }.meant(index, bits)),
            Content::Scales => {
                let exponent = if at_an_end { (bits & 15) as i32 - 8 } else { 0 };
                Some((0.5 + unit) * power_of_two(exponent))
            }
            // At the extreme the least of all, or one that is far from the largest number times any code.
            Content::Powers if at_an_end => Some(if bits & 1 == 0 { 0.0 } else { f64::from(191u8 as i8) }),
            Content::Powers => Some(power(bits)),
            Content::ScaledBlocks { bytes, scales } => {
                let place = index % bytes;
                let is_high = place % 2 == 1 && place < 2 * scales;
                Some(match is_high {
                    // From a half to two; at the extreme, denormal numbers and those just below two.
                    true if at_an_end => f64::from(u8::from(bits >> 8 & 1 == 0) * 0x3f),
                    true => f64::from(0x38 + (bits >> 8 & 7) as u8),
                    false => f64::from((bits >> 56) as i8),
                })
            }
            Content::Seed => Some((bits >> 33) as f64),
            Content::Codes => Some(f64::from((bits >> 56) as i8)),
        }
    }

    /// Random bits that a block of a sparse matrix has in common.
    pub(crate) fn lot(&self, block: u64) -> u64 {
        let [low, high, ..] = self.words(block as usize, 10);
        u64::from(high) << 32 | u64::from(low)
    }

    fn is_masked(&self, index: usize, bits: u64) -> bool {
        let row = self.number(index);
        matches!(self.fill, Fill::Nonfinite | Fill::Planted)
            && (bits >> 8 & (NONES - 1) == 0 || row > 0 && self.words(row, 4)[0].is_multiple_of(MASKED))
    }

    /// One of the numbers below a bound, each of which comes once: halves of an index of twice as many bits as it takes
    /// are mixed into each other, and what lies beyond the bound is mixed again.
    fn turn(&self, index: usize, below: u64, rises: bool) -> f64 {
        let below = below.max(1);
        let index = index as u64 % below;
        if rises {
            return index as f64;
        }
        let half = (u64::BITS - (below - 1).leading_zeros()).div_ceil(2).max(1);
        let mask = (1 << half) - 1;
        let mix = |index: u64| {
            let round = |[left, right]: [u64; 2], round: u32| {
                let word = u64::from(self.words(right as usize, 6 + round)[0]);
                [right, (left ^ word) & mask]
            };
            let [left, right] = (0..4).fold([index >> half, index & mask], round);
            left << half | right
        };
        let mut turned = mix(index);
        while turned >= below {
            turned = mix(turned);
        }
        turned as f64
    }

    /// A half up to `most`, which every 32nd is; every fourth row is of zeros.
    fn tie(&self, index: usize, bits: u64, most: f64) -> f64 {
        match self.place(index) {
            _ if self.number(index) % 4 == 3 => 0.0,
            place if place.is_multiple_of(32) => most,
            _ => (bits % (4 * most as u64 + 1)) as f64 / 2.0 - most,
        }
    }

    /// Parts of about one length; of a length that rises where contents rise; at the extreme all but the first are
    /// empty. Planted, two of three are empty and one by lot, dense beside the others, has half of all.
    fn offset(&self, index: usize, total: u64, at_an_end: bool, unit: f64) -> f64 {
        let last = self.elements.saturating_sub(1);
        let share = |parts: f64| parts / last as f64;
        let share = match self.fill {
            _ if index == 0 => 0.0,
            _ if index >= last || at_an_end => 1.0,
            Fill::Ramp | Fill::OneHot => share(index as f64) * share(index as f64),
            Fill::Planted => {
                let dense = self.words(0, 5)[0] as usize % last;
                let before = share((index - index % 3) as f64) / 2.0;
                if index > dense { before + 0.5 } else { before }
            }
            // Each within its own part, so that they rise whatever is drawn.
            _ => share(index as f64 + unit - 0.5),
        };
        (share * total as f64).floor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;

    fn values(fill: Fill, content: Content, elements: usize) -> Vec<f64> {
        let dtype =
            if matches!(content, Content::Scales | Content::Within { .. }) { Dtype::F32 } else { Dtype::I32 };
        let filling =
            Filling { fill, seed: 5, tensor: 0, dtype, row: 7, apart: 1, alike: false, elements, content };
        let mut bytes = vec![0; elements * dtype.size()];
        filling.write(0..elements, &mut bytes);
        (0..elements).map(|i| dtype.read(&bytes, i)).collect()
    }

    #[test]
    fn rows_are_masked_in_part_and_whole() {
        let masked = |fill| {
            let filling = Filling {
                fill,
                seed: 5,
                tensor: 0,
                dtype: Dtype::F32,
                row: 7,
                apart: 1,
                alike: false,
                elements: 700,
                content: Content::Masked { limit: 100.0 },
            };
            let mut bytes = vec![0; 2800];
            filling.write(0..700, &mut bytes);
            let is_masked = |i: usize| Dtype::F32.read(&bytes, i) == f64::NEG_INFINITY;
            let in_row = |row: usize| (7 * row..7 * row + 7).filter(|i| is_masked(*i)).count();
            let rows: Vec<usize> = (0..100).map(in_row).collect();
            (rows[0], rows.iter().filter(|count| **count == 7).count(), rows.iter().sum::<usize>())
        };
        assert_eq!(masked(Fill::Uniform), (0, 0, 0));
        let (first, whole, all) = masked(Fill::Planted);
        assert!(first < 7 && (10..50).contains(&whole) && all > 7 * whole + 20, "{whole} rows, {all} in all");
    }

    #[test]
    fn every_family_is_legal() {
        for fill in Fill::ALL {
            let indices = values(*fill, Content::Indices { below: 10, none: Some(-100) }, 500);
            assert!(
                indices.iter().all(|x| *x == -100.0 || (0.0..10.0).contains(x) && x.fract() == 0.0),
                "{fill}"
            );
            assert!(indices.iter().filter(|x| **x >= 0.0).count() > 300, "{fill}");
            let mut order = values(*fill, Content::Order { below: 510 }, 500);
            let is_even = |step: &[f64]| step[1] - step[0] == order[1] - order[0];
            let steps = order.windows(2).filter(|step| is_even(step)).count();
            assert!(steps < 20 || matches!(fill, Fill::Ramp | Fill::OneHot), "{fill}: {steps} steps alike");
            order.sort_by(f64::total_cmp);
            order.dedup();
            assert!(order.len() == 500 && order[0] >= 0.0 && order[499] < 510.0, "{fill}");
            let offsets = values(*fill, Content::Offsets { total: 900 }, 101);
            assert!(offsets.is_sorted() && offsets[0] == 0.0 && offsets[100] == 900.0, "{fill}: {offsets:?}");
            let lengths: Vec<f64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let empty = lengths.iter().filter(|length| **length == 0.0).count();
            let most = lengths.iter().copied().fold(0.0, f64::max);
            match fill {
                Fill::Extreme => assert_eq!((empty, lengths[0]), (99, 900.0)),
                Fill::Planted => assert!(empty > 60 && most >= 450.0, "{empty} empty, at most {most}"),
                _ => assert!(empty < 20 && most < 30.0, "{fill}: {empty} empty, at most {most}"),
            }
            let within = values(*fill, Content::Within { low: 0.01, high: 10.0 }, 500);
            assert!(within.iter().all(|x| (0.0099..=10.0).contains(x)), "{fill}");
            assert!(values(*fill, Content::Scales, 100).iter().all(|x| *x > 0.0 && *x < 400.0), "{fill}");
            let powers = values(*fill, Content::Powers, 100);
            let exponents = powers.iter().map(|byte| i32::from(*byte as i8 as u8) - 127);
            assert!(exponents.clone().all(|e| (-127..65).contains(&e)), "{fill}");
            assert!(exponents.max() > Some(0) && powers.iter().any(|byte| *byte >= 0.0), "{fill}");
            // Scales that are finite and of no sign, whatever their low bytes.
            for scales in [1, 2] {
                let blocks = values(*fill, Content::ScaledBlocks { bytes: 34, scales }, 340);
                let high = blocks.chunks(34).flat_map(|block| block[..2 * scales].iter().skip(1).step_by(2));
                assert!(high.clone().count() == 10 * scales, "{fill}");
                assert!(high.clone().all(|x| (0.0..124.0).contains(x)), "{fill}");
                assert!(blocks.iter().all(|x| (-128.0..128.0).contains(x)), "{fill}");
            }
            assert!(values(*fill, Content::Seed, 100).iter().all(|x| *x >= 0.0), "{fill}");
        }
    }
}
