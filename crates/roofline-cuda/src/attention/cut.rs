//! How threads share attention of few queries: the launcher's half of `split.cuh`.

use crate::stream::{PARTS_BYTES, PARTS_GROUPS};

/// As `split.cuh` has it.
const MOST_SPLITS: usize = 64;
/// What a block's start and end take, in turns of its warps.
const START: usize = 1;

/// What a block holds of heads and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Heads of queries a block.
    pub tile: u32,
    pub warps: u32,
    /// Parts of a head that are compiled for: sixty-fours on the matrix unit, in f32 packs of each lane.
    parts: u32,
    /// Keys that a warp takes at a time.
    turn: u32,
    /// Blocks that find registers beside each other.
    resident: u32,
    /// Every head begins and ends at a multiple of sixteen bytes.
    aligned: bool,
    /// It has as many elements as is compiled for.
    whole: bool,
    is_f32: bool,
}

impl Cut {
    /// For heads of at most 256 elements, so many of which look at the same keys.
    pub(super) fn new(dim: usize, rows: usize, per_pack: usize, aligned: bool) -> Cut {
        let is_f32 = per_pack == 4;
        let part = if is_f32 { 128 } else { 64 };
        let parts = dim.div_ceil(part).max(1);
        let (is_long, whole) = (parts * part > 128, aligned && dim == parts * part);
        let tile = match is_f32 {
            true => rows.next_power_of_two().clamp(1, if is_long { 4 } else { 8 }),
            false => 8,
        };
        let is_crowded = if is_f32 { tile == 8 } else { !whole && dim > 64 && !is_long };
        let resident = if !aligned || is_crowded { 1 } else { 2 };
        let (warps, turn) = (if is_long { 4 } else { 8 }, if is_f32 { 4 } else { 16 });
        let [tile, parts] = [tile, parts].map(|number| number as u32);
        Cut { tile, warps, parts, turn, resident, aligned, whole, is_f32 }
    }

    /// With a mask to read there are registers for one block of the matrix unit.
    pub(super) fn masked(self, is_masked: bool) -> Cut {
        Cut { resident: if is_masked && !self.is_f32 { 1 } else { self.resident }, ..self }
    }

    pub(super) fn constants(&self) -> [(&'static str, u32); 6] {
        [
            ("TILE", self.tile),
            (if self.is_f32 { "PACKS" } else { "DIMS" }, self.parts),
            ("WARPS", self.warps),
            ("BLOCKS", self.resident),
            ("ALIGNED", u32::from(self.aligned)),
            ("WHOLE", u32::from(self.whole)),
        ]
    }

    /// Numbers that a block leaves for the one that puts them together.
    fn left(&self) -> usize {
        let columns = self.parts as usize * if self.is_f32 { 128 } else { 64 };
        self.tile as usize * (columns + 2)
    }

    /// Over how many blocks the keys of each of so many groups are split: the fewest that end as early as any.
    pub(super) fn splits(&self, groups: usize, keys: usize, multiprocessors: usize) -> usize {
        let room = PARTS_BYTES / (self.left() * size_of::<f32>() * groups);
        let turns = keys.div_ceil(self.turn as usize);
        let most = if groups > PARTS_GROUPS { 1 } else { room.min(turns).clamp(1, MOST_SPLITS) };
        let slots = (multiprocessors * self.resident as usize).max(1);
        let time = |splits: &usize| {
            let of_warp = turns.div_ceil(*splits).div_ceil(self.warps as usize) + START;
            (groups * splits).div_ceil(slots) * of_warp
        };
        (1..=most).min_by_key(time).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_have_room_and_counters(
            dim in 1usize..=256,
            rows in 1usize..100,
            groups in 1usize..5000,
            keys in 0usize..1 << 20,
            per_pack in prop_oneof![Just(4usize), Just(8)],
            aligned in any::<bool>(),
        ) {
            let cut = Cut::new(dim, rows, per_pack, aligned);
            let splits = cut.splits(groups, keys, 132);
            prop_assert!((1..=MOST_SPLITS).contains(&splits));
            prop_assert!(splits == 1 || groups <= PARTS_GROUPS, "{groups} groups have no counter each");
            prop_assert!(splits == 1 || groups * splits * cut.left() * 4 <= PARTS_BYTES, "{splits} splits");
            prop_assert!(dim <= cut.parts as usize * if cut.is_f32 { 128 } else { 64 }, "{cut:?}");
        }
    }

    #[test]
    fn keys_are_split_where_there_are_few_heads() {
        let cut = Cut::new(128, 4, 8, true);
        // Every slot of the device has a block, whose warps have two turns each.
        assert_eq!(cut.splits(8, 8192, 132), 32);
        assert_eq!(cut.splits(256, 4096, 132), 1);
        assert_eq!(cut.splits(8, 1, 132), 1);
    }
}
