//! How threads share attention of few queries: the launcher's half of `split.cuh`.

use crate::stream::{PARTS_BYTES, PARTS_GROUPS};

/// As `split.cuh` has it.
const MOST_SPLITS: usize = 64;
/// What a block's start and end take, and what it takes to put parts together, without a share for each of them: in eighths
/// of the time in which a multiprocessor reads 64 KiB.
const START: usize = 6;
const TOGETHER: usize = 8;
/// Shared memory that is not for keys on their way.
const BESIDE: usize = 24 << 10;
/// Turns that are on their way at a time; more are never waited for.
const MOST_DEPTH: usize = 6;

/// What a block holds of heads and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Heads of queries a block.
    pub tile: u32,
    pub warps: u32,
    /// Parts of a head that are compiled for: sixty-fours on the matrix unit, in f32 packs of each lane.
    parts: u32,
    /// Lanes that share a head, in f32.
    lanes: u32,
    /// Keys that a warp takes at a time.
    turn: u32,
    /// Blocks that find room beside each other.
    resident: u32,
    /// Turns of a warp whose keys are on their way to shared memory; none where they go to registers.
    depth: u32,
    /// Every head begins and ends at a multiple of sixteen bytes.
    aligned: bool,
    /// It has as many elements as is compiled for.
    whole: bool,
    is_f32: bool,
}

impl Cut {
    /// For heads of at most 256 elements, so many of which look at the same keys, on a device with so much shared memory a
    /// block.
    pub(super) fn new(dim: usize, rows: usize, per_pack: usize, aligned: bool, shared_bytes: usize) -> Cut {
        let is_f32 = per_pack == 4;
        let lanes = if is_f32 && dim <= 64 { 16 } else { 32 };
        let part = if is_f32 { 4 * lanes } else { 64 };
        let parts = dim.div_ceil(part).max(1);
        let (is_long, whole) = (parts * part > 128, aligned && dim == parts * part);
        let tile = match is_f32 {
            true => rows.next_power_of_two().clamp(1, if is_long { 4 } else { 8 }),
            false => 8,
        };
        let is_crowded = !whole && dim > 64 && !is_long;
        let resident = if is_f32 || !aligned || is_crowded { 1 } else { 2 };
        let turn = if is_f32 { 4 * (32 / lanes) } else { 16 };
        let warps = if is_long { 4 } else { 8 };
        // What a turn reads of keys and values, for a part of a head: 4 KiB a warp.
        let depth = match is_f32 && aligned {
            true => (shared_bytes.saturating_sub(BESIDE) / ((warps * parts) << 12)).clamp(1, MOST_DEPTH),
            false => 0,
        };
        let [tile, warps, parts, lanes, turn, depth] =
            [tile, warps, parts, lanes, turn, depth].map(|number| number as u32);
        Cut { tile, warps, parts, lanes, turn, resident, depth, aligned, whole, is_f32 }
    }

    /// With a mask to read there are registers for one block of the matrix unit.
    pub(super) fn masked(self, is_masked: bool) -> Cut {
        Cut { resident: if is_masked && !self.is_f32 { 1 } else { self.resident }, ..self }
    }

    /// With half as many warps a block, and twice as many blocks beside each other: none begins when another ends.
    fn halved(self) -> Option<Cut> {
        (self.depth > 0).then_some(Cut { warps: self.warps / 2, resident: 2 * self.resident, ..self })
    }

    pub(super) fn constants(&self) -> [(&'static str, u32); 8] {
        [
            ("LANES", self.lanes),
            ("TILE", self.tile),
            (if self.is_f32 { "PACKS" } else { "DIMS" }, self.parts),
            ("WARPS", self.warps),
            ("BLOCKS", self.resident),
            ("DEPTH", self.depth),
            ("ALIGNED", u32::from(self.aligned)),
            ("WHOLE", u32::from(self.whole)),
        ]
    }

    fn columns(&self) -> usize {
        (self.parts * if self.is_f32 { 4 * self.lanes } else { 64 }) as usize
    }

    /// Numbers that a block leaves for the one that puts them together.
    fn left(&self) -> usize {
        let tile = self.tile as usize;
        tile * self.columns() + (2 * tile).next_multiple_of(4)
    }

    /// Shared memory of a launch: keys on their way, and later what warps found.
    pub(super) fn shared_bytes(&self) -> usize {
        let found = self.warps as usize * self.tile as usize * (self.columns() + 4 + 3) * size_of::<f32>();
        let fetched = ((self.depth * self.warps * self.parts) as usize) << 12;
        found.max(fetched)
    }

    /// Over how many blocks the keys of each of so many groups are split, and what that takes: the fewest that end as early
    /// as any. A turn counts by what it reads.
    fn splits(&self, groups: usize, keys: usize, multiprocessors: usize) -> (usize, usize) {
        let room = PARTS_BYTES / (self.left() * size_of::<f32>() * groups);
        let turns = keys.div_ceil(self.turn as usize);
        let most = if groups > PARTS_GROUPS { 1 } else { room.min(turns).clamp(1, MOST_SPLITS) };
        let slots = (multiprocessors * self.resident as usize).max(1);
        let eighths = ((self.parts * self.warps * self.resident) as usize).div_ceil(2);
        // Nothing is on its way to registers while a block begins and ends: that takes as long as a turn.
        let (start, together) = if self.depth > 0 { (START, TOGETHER) } else { (eighths, 0) };
        let time = |splits: usize| {
            let of_warp = turns.div_ceil(splits).div_ceil(self.warps as usize);
            let together = if splits == 1 { 0 } else { together + splits / 4 };
            (groups * splits).div_ceil(slots) * (eighths * of_warp + start) + together
        };
        (1..=most).map(|splits| (splits, time(splits))).min_by_key(|(_, time)| *time).unwrap_or((1, 0))
    }

    /// The cut that ends first, and over how many blocks it splits the keys of each of so many groups.
    pub(super) fn best(self, groups: usize, keys: usize, multiprocessors: usize) -> (Cut, usize) {
        let cuts = [Some(self), self.halved()].into_iter().flatten();
        let timed = cuts.map(|cut| (cut, cut.splits(groups, keys, multiprocessors)));
        let (cut, (splits, _)) = timed.min_by_key(|(_, (_, time))| *time).unwrap_or((self, (1, 0)));
        (cut, splits)
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
            shared in prop_oneof![Just(99usize << 10), Just(163 << 10), Just(227 << 10)],
        ) {
            let cut = Cut::new(dim, rows, per_pack, aligned, shared);
            let (cut, splits) = cut.best(groups, keys, 132);
            prop_assert!((1..=MOST_SPLITS).contains(&splits));
            prop_assert!(splits == 1 || groups <= PARTS_GROUPS, "{groups} groups have no counter each");
            prop_assert!(splits == 1 || groups * splits * cut.left() * 4 <= PARTS_BYTES, "{splits} splits");
            prop_assert!(dim <= cut.columns(), "{cut:?}");
            prop_assert!((1..=8).contains(&cut.warps) && cut.turn * cut.warps >= 1, "{cut:?}");
            prop_assert!(cut.shared_bytes() * cut.resident as usize + (8 << 10) <= shared, "{cut:?}");
        }
    }

    #[test]
    fn keys_are_split_where_there_are_few_heads() {
        let best = |groups, keys| {
            let (cut, splits) = Cut::new(128, 4, 8, true, 227 << 10).best(groups, keys, 132);
            (cut.warps, cut.depth, splits)
        };
        // Every slot of the device has a block, whose warps have two turns each.
        assert_eq!(best(8, 8192), (8, 0, 32));
        assert_eq!(best(256, 4096), (8, 0, 1));
        assert_eq!(best(8, 1), (8, 0, 1));
    }
}
