//! How the threads of the device share rows: the launcher's half of `rows.cuh`.
//!
//! A row of few packs is given to part of a warp, one of some thousands to a block, one of more to a
//! cluster of blocks, so that it is read once and stays in registers. What no cluster can hold goes
//! to a kernel that walks the row more than once.
//!
//! Of rows that take most of a multiprocessor one would be read while none is written: their blocks walk from row to row, and
//! the next one is on its way. So do those of rows that lie anywhere beside weights, which are shifted once for all.

use crate::catalog::{Implementation, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{Rows, blocks};
use crate::stream::Stream;
use crate::{bf16, f16};

const WARP: usize = 32;
const MOST_THREADS: usize = 1024;
/// Threads of a block that is shared by short rows.
const SHORT_BLOCK: usize = 128;

/// What a kernel asks for beside the row itself, which decides how much of a row a thread can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Nothing, or one shared row.
    Light,
    /// Two shared rows: fewer threads find registers.
    Heavy,
    /// A second row and a second output, or more steps between reading and writing: a thread holds half as much.
    Heaviest,
}

impl Weight {
    /// Packs of sixteen bytes that a thread holds at most.
    fn most_packs(self) -> usize {
        if self == Weight::Heaviest { 4 } else { 8 }
    }

    /// Rows that all rows share, at most, where kernels can walk.
    fn kept(self) -> Option<usize> {
        match self {
            Weight::Light => Some(1),
            Weight::Heavy => Some(2),
            Weight::Heaviest => None,
        }
    }

    /// Blocks that should find room beside each other. Several, so that some read while others
    /// write; the more a thread holds, the fewer threads there are.
    fn blocks(self, threads: usize, packs: usize) -> usize {
        let resident = match (self, packs) {
            (_, ..=3) => 1408,
            (Weight::Light, 4) => 2048,
            (Weight::Light, 6) => 1056,
            _ => 1024,
        };
        (resident / threads).clamp(1, 16)
    }
}

/// Packs a thread, by the packs of a row (or of a block's share of one) and by how it lies.
fn packs_a_thread(needed: usize, aligned: bool, weight: Weight) -> usize {
    let packs = match needed {
        ..=32 => 1,
        33..=96 => needed.div_ceil(WARP),
        129..=192 => needed.div_ceil(WARP),
        97..=256 => 2,
        257..=512 if weight == Weight::Light => 2,
        // Fewer threads look at the ends of rows.
        513..=6144 if !aligned => 6,
        513..=3072 if weight == Weight::Light => 3,
        257..=2048 => 4,
        3073..=4096 if weight == Weight::Light => 4,
        _ => weight.most_packs(),
    };
    packs.min(weight.most_packs())
}

/// Who holds what of a row: the constants that the kernels are compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// Threads of one block for one row.
    pub threads: u32,
    /// Packs of sixteen bytes a thread.
    pub packs: u32,
    /// Rows a block.
    pub rows: u32,
    /// Blocks a row.
    pub cluster: u32,
    /// Every row begins and ends at a multiple of sixteen bytes.
    pub aligned: bool,
    /// Blocks that find registers beside each other on a multiprocessor.
    pub blocks: u32,
    /// How blocks go from row to row; `None` where each has its own rows.
    pub walk: Option<Walk>,
}

/// Blocks that walk: each has every so many-th row, with the next ones on their way to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Rows on their way.
    pub depth: u32,
    /// Rows that are kept in shared memory beside them, for all.
    pub kept: u32,
    /// Blocks of the launch, at most. If rows lie anywhere, each block's all begin as far beyond a multiple of sixteen bytes.
    pub grid: u32,
}

impl Walk {
    /// Rows on their way and rows that are kept.
    fn stages(self) -> usize {
        self.depth as usize + self.kept as usize
    }
}

/// What of a device decides how blocks walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) multiprocessors: usize,
    /// Shared memory of a multiprocessor.
    pub(crate) shared_bytes: usize,
}

impl Room {
    fn of(stream: &Stream) -> Room {
        let info = stream.device().info();
        Room { multiprocessors: info.multiprocessors, shared_bytes: info.shared_bytes }
    }
}

/// Rows of so many bytes are read while none is written, unless their blocks walk.
const LONG_ROW: usize = 40 << 10;
/// Threads of blocks that walk beside each other, at most, and shared memory of each that is not for rows.
const WALKING: usize = 1056;
const BESIDE: usize = 2 << 10;
/// Rows on their way, at most: more are never waited for.
const MOST_DEPTH: usize = 3;

impl RowPlan {
    /// The plan for rows of so many elements; `None` where they are too long for registers.
    pub fn new(
        cols: usize,
        per_pack: usize,
        aligned: bool,
        largest_cluster: u32,
        weight: Weight,
    ) -> Option<RowPlan> {
        let needed = packs_of(cols, per_pack, aligned);
        let most = MOST_THREADS * weight.most_packs();
        // A cluster has all the blocks it may: many small ones are scheduled more easily than few
        // that take a multiprocessor each.
        let cluster = if needed <= most { 1 } else { largest_cluster as usize };
        let each = needed.div_ceil(cluster);
        if each > most {
            return None;
        }
        // A part of a cluster holds as much as it can, so that the parts are few.
        let packs = if cluster > 1 { weight.most_packs() } else { packs_a_thread(each, aligned, weight) };
        let threads = match each.div_ceil(packs) {
            few if few <= WARP => few.next_power_of_two(),
            more => more.next_multiple_of(WARP),
        };
        let packs = each.div_ceil(threads);
        // Rows of one pack a thread are short work; longer ones end together the better the smaller
        // their block.
        let most_rows = if packs == 1 { SHORT_BLOCK } else { 2 };
        let rows = (SHORT_BLOCK / threads).clamp(1, most_rows);
        // The ends of rows and the exchange of a cluster together leave registers for one block.
        let crowded = cluster > 1 && !aligned;
        let blocks = if crowded { 1 } else { weight.blocks(threads * rows, packs) };
        let [threads, packs, rows, cluster, blocks] =
            [threads, packs, rows, cluster, blocks].map(|number| number as u32);
        Some(RowPlan { threads, packs, rows, cluster, aligned, blocks, walk: None })
    }

    /// The same with blocks that walk, if that is worth it and there is room.
    fn walking(self, cols: usize, per_pack: usize, weight: Weight, room: Room) -> RowPlan {
        let Some(kept) = weight.kept() else { return self };
        let row = self.threads as usize * self.packs as usize * 16;
        let shifts = !self.aligned && weight == Weight::Heavy && self.threads >= 128;
        if self.cluster > 1 || self.rows > 1 || !(shifts || cols.div_ceil(per_pack) * 16 >= LONG_ROW) {
            return self;
        }
        let most = (WALKING / self.threads as usize).clamp(1, 4);
        let beside = |blocks: &usize| (room.shared_bytes / blocks).saturating_sub(BESIDE) / row;
        let Some(blocks) = (1..=most).rev().find(|blocks| beside(blocks) > kept) else { return self };
        let depth = (beside(&blocks) - kept).min(MOST_DEPTH);
        // Rows lie alike every so many rows.
        let alike = if self.aligned { 1 } else { per_pack };
        let grid = room.multiprocessors * blocks / alike * alike;
        let [depth, kept, grid, blocks] = [depth, kept, grid, blocks].map(|number| number as u32);
        if grid == 0 { self } else { RowPlan { blocks, walk: Some(Walk { depth, kept, grid }), ..self } }
    }

    /// Whether it holds every element of such rows, at such addresses: a plan can be anybody's.
    fn holds(&self, cols: usize, per_pack: usize, addresses: &[u64]) -> bool {
        let small = |number: u32| (1..=MOST_THREADS).contains(&(number as usize));
        if ![self.threads, self.packs, self.rows, self.cluster, self.blocks].into_iter().all(small) {
            return false;
        }
        let held = self.threads as usize * self.packs as usize * self.cluster as usize;
        let block = self.threads * self.rows;
        // Threads of a warp exchange what they found: no row may have half of one, nor the block.
        let whole_rows = self.threads.is_multiple_of(32) || self.threads.is_power_of_two();
        let whole_warps = whole_rows && block.is_multiple_of(32) && block as usize <= MOST_THREADS;
        let lies_as_said = !self.aligned || lies_well(cols, per_pack, addresses);
        let alike = |walk: Walk| self.aligned || walk.grid.is_multiple_of(per_pack as u32);
        let walks = self.walk.is_none_or(|walk| {
            let is_room = walk.depth >= 1 && walk.grid >= 1 && walk.stages() <= MOST_DEPTH + 2;
            is_room && alike(walk) && self.rows == 1 && self.cluster == 1
        });
        walks && held >= packs_of(cols, per_pack, self.aligned) && whole_warps && lies_as_said
    }

    /// What the kernel is compiled with.
    pub fn constants(&self) -> [(&'static str, u32); 7] {
        [
            ("DEPTH", self.walk.map_or(0, |walk| walk.depth)),
            ("THREADS", self.threads),
            ("PACKS", self.packs),
            ("ROWS", self.rows),
            ("CLUSTER", self.cluster),
            ("ALIGNED", u32::from(self.aligned)),
            ("BLOCKS", self.blocks),
        ]
    }

    /// The launch for so many rows.
    pub fn geometry(&self, rows: usize) -> Result<Geometry> {
        let groups = blocks("rows of one launch", rows.div_ceil(self.rows.max(1) as usize))?;
        let grid = blocks("blocks of all rows", groups as usize * self.cluster as usize)?;
        let grid = self.walk.map_or(grid, |walk| grid.min(walk.grid));
        let row = self.threads as usize * self.packs as usize * 16;
        Ok(Geometry {
            grid: [grid, 1, 1],
            block: [self.threads, self.rows, 1],
            shared_bytes: self.walk.map_or(0, |walk| walk.stages() * row) as u32,
            cluster: self.cluster,
        })
    }
}

/// Packs that a row of at least one element touches; one that begins inside a pack can touch one more.
fn packs_of(cols: usize, per_pack: usize, aligned: bool) -> usize {
    let elements = if aligned { cols } else { cols.saturating_add(per_pack - 1) };
    elements.div_ceil(per_pack).max(1)
}

fn lies_well(cols: usize, per_pack: usize, addresses: &[u64]) -> bool {
    cols.is_multiple_of(per_pack) && addresses.iter().all(|at| at.is_multiple_of(16))
}

/// The rungs of an operation over rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowKernels {
    pub(crate) weight: Weight,
    /// One thread a row.
    pub(crate) plain: Source,
    /// A row in registers.
    pub(crate) registers: Source,
    /// Any length, a block a row.
    pub(crate) long: Source,
    /// What tells the operation from others of the same sources.
    pub(crate) form: &'static [(&'static str, u32)],
}

/// The threads of a block that walks a long row.
pub(crate) const LONG_THREADS: u32 = 512;

/// Kernels count inside a row with an int, and go one window beyond its end.
const MOST_COLS: usize = (1 << 31) - (1 << 20);

pub(crate) fn check_cols(cols: usize) -> Result<()> {
    if cols > MOST_COLS {
        return Err(CudaError::TooLarge { what: "the length of a row", got: cols, most: MOST_COLS });
    }
    Ok(())
}

/// The forms of the rung in registers: part of a warp, a warp, some warps, a full block, a cluster; rows that lie well
/// and rows that do not.
pub(crate) fn registers(kernels: &RowKernels, largest_cluster: u32) -> Vec<Variant> {
    fn of<T: Element>(largest_cluster: u32, kernels: &RowKernels) -> impl Iterator<Item = Variant> {
        const LENGTHS: [usize; 9] = [1, 31, 768, 1024, 8191, 16_384, 32_768, 65_535, 128_256];
        // As of a card of Hopper's, where a block of so many threads can walk.
        const ROOM: Room = Room { multiprocessors: 132, shared_bytes: 227 << 10 };
        LENGTHS.into_iter().flat_map(move |cols| {
            let aligned = cols.is_multiple_of(T::PER_PACK);
            let plan = RowPlan::new(cols, T::PER_PACK, aligned, largest_cluster, kernels.weight);
            let walking = plan.map(|plan| plan.walking(cols, T::PER_PACK, kernels.weight, ROOM));
            let plans = plan.into_iter().chain(walking.filter(|walking| walking.walk.is_some()));
            plans.map(|plan| Variant::of::<T>(&[&plan.constants(), kernels.form].concat()))
        })
    }
    let singles = of::<f32>(largest_cluster, kernels);
    singles.chain(of::<bf16>(largest_cluster, kernels)).chain(of::<f16>(largest_cluster, kernels)).collect()
}

/// The forms of the rung that walks.
pub(crate) fn long(kernels: &RowKernels) -> Vec<Variant> {
    of_each(&[&[("THREADS", LONG_THREADS)], kernels.form].concat())
}

/// Which rung, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRung {
    /// One thread a row, the mathematics as it is written.
    Plain,
    /// The row in registers, shared as the plan says.
    Registers(RowPlan),
    /// A block a row, which it reads more than once.
    Long,
}

impl RowRung {
    /// The one that a row of the catalogue names; refused where rows are too long for it.
    pub(crate) fn of_row<T: Element>(
        row: &Implementation,
        stream: &Stream,
        shape: Rows,
        addresses: &[u64],
        weight: Weight,
    ) -> Result<RowRung> {
        match (row.name, RowRung::best::<T>(stream, shape, addresses, weight)) {
            ("plain", _) => Ok(RowRung::Plain),
            ("registers", rung @ RowRung::Registers(_)) => Ok(rung),
            ("registers", _) => {
                Err(CudaError::Unsupported(format!("a row of {} does not fit into registers", shape.cols)))
            }
            _ => Ok(RowRung::Long),
        }
    }

    /// The fastest for a shape, whose tensors begin at these addresses.
    pub fn best<T: Element>(stream: &Stream, shape: Rows, addresses: &[u64], weight: Weight) -> RowRung {
        let aligned = lies_well(shape.cols, T::PER_PACK, addresses);
        let plan = RowPlan::new(shape.cols, T::PER_PACK, aligned, stream.device().largest_cluster(), weight);
        let plan = plan.map(|plan| plan.walking(shape.cols, T::PER_PACK, weight, Room::of(stream)));
        plan.map_or(RowRung::Long, RowRung::Registers)
    }
}

/// Launches a rung. The launcher has seen to it that each address has the elements of the shape.
pub(crate) fn launch<T: Element>(
    stream: &Stream,
    kernels: &RowKernels,
    rung: RowRung,
    addresses: &[u64],
    shape: Rows,
    rest: &[Argument],
) -> Result<()> {
    launch_sides::<T>(stream, kernels, rung, addresses, shape, 1, rest)
}

/// The same for so many sets of tensors of one shape, which the kernel tells apart by its block's second number.
pub(crate) fn launch_sides<T: Element>(
    stream: &Stream,
    kernels: &RowKernels,
    rung: RowRung,
    addresses: &[u64],
    shape: Rows,
    sides: u32,
    rest: &[Argument],
) -> Result<()> {
    check_cols(shape.cols)?;
    if shape.rows == 0 || shape.cols == 0 {
        return Ok(());
    }
    // Blocks that walk count rows of one side.
    let rung = match rung {
        RowRung::Registers(plan) if sides > 1 => RowRung::Registers(RowPlan { walk: None, ..plan }),
        rung => rung,
    };
    let (source, constants, geometry) = match rung {
        RowRung::Plain => {
            (&kernels.plain, Vec::new(), Geometry::line(blocks("rows", shape.rows.div_ceil(128))?, 128))
        }
        RowRung::Registers(plan) if !plan.holds(shape.cols, T::PER_PACK, addresses) => {
            return Err(CudaError::Plan { cols: shape.cols, plan: format!("{plan:?}") });
        }
        RowRung::Registers(plan) => {
            (&kernels.registers, plan.constants().to_vec(), plan.geometry(shape.rows)?)
        }
        RowRung::Long => {
            let constants = vec![("THREADS", LONG_THREADS)];
            (&kernels.long, constants, Geometry::line(blocks("rows", shape.rows)?, LONG_THREADS))
        }
    };
    let geometry = Geometry { grid: [geometry.grid[0], sides, 1], ..geometry };
    let constants = [constants, kernels.form.to_vec()].concat();
    let kernel = stream.device().kernel(source, &Variant::of::<T>(&constants))?;
    let mut arguments: Vec<Argument> = addresses.iter().map(|&address| Argument::Address(address)).collect();
    arguments.extend([Argument::I64(shape.rows as i64), Argument::I64(shape.cols as i64)]);
    arguments.extend(rest);
    kernel.launch(stream, &geometry, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Elements of each row that the threads of a launch hold, as `begin_of` in `rows.cuh` says.
    fn held(plan: &RowPlan, rows: usize, cols: usize, per_pack: i64, phase: i64) -> Vec<Vec<u32>> {
        let geometry = plan.geometry(rows).unwrap();
        let mut times = vec![vec![0; cols]; rows];
        for block in 0..geometry.grid[0] {
            for y in 0..geometry.block[1] {
                let row = (block / plan.cluster * plan.rows + y) as usize;
                if row >= rows {
                    continue;
                }
                for (x, p) in (0..geometry.block[0]).flat_map(|x| (0..plan.packs).map(move |p| (x, p))) {
                    let thread = block % plan.cluster * plan.threads * plan.packs + x + p * plan.threads;
                    let begin = i64::from(thread) * per_pack - phase;
                    for i in (begin..begin + per_pack).filter(|i| (0..cols as i64).contains(i)) {
                        times[row][i as usize] += 1;
                    }
                }
            }
        }
        times
    }

    fn weights() -> impl Strategy<Value = Weight> {
        prop_oneof![Just(Weight::Light), Just(Weight::Heavy), Just(Weight::Heaviest)]
    }

    proptest! {
        #[test]
        fn every_element_is_held_once(
            rows in 1usize..9,
            cols in prop_oneof![1usize..300, 300usize..70_000],
            per_pack in prop_oneof![Just(4usize), Just(8)],
            phase in 0usize..8,
            weight in weights(),
        ) {
            let aligned = phase == 0 && cols.is_multiple_of(per_pack);
            let plan = RowPlan::new(cols, per_pack, aligned, 8, weight).unwrap();
            let phase = phase % per_pack;
            let times = held(&plan, rows, cols, per_pack as i64, phase as i64);
            prop_assert!(times.iter().flatten().all(|&times| times == 1), "{plan:?}");
        }

        #[test]
        fn a_plan_is_one_that_devices_take(
            cols in 1usize..2_000_000,
            per_pack in prop_oneof![Just(4usize), Just(8)],
            aligned in any::<bool>(),
            largest in prop_oneof![Just(1u32), Just(8)],
            weight in weights(),
        ) {
            let Some(plan) = RowPlan::new(cols, per_pack, aligned, largest, weight) else {
                let most = MOST_THREADS * weight.most_packs() * largest as usize * per_pack;
                prop_assert!(cols + per_pack > most, "a row of {cols} fits");
                return Ok(());
            };
            let threads = plan.threads * plan.rows;
            prop_assert!((1..=1024).contains(&threads) && threads.is_multiple_of(32), "{plan:?}");
            prop_assert!(plan.threads >= 32 || plan.threads.is_power_of_two(), "{plan:?}");
            prop_assert!(plan.threads < 32 || plan.threads.is_multiple_of(32), "{plan:?}");
            prop_assert!((1..=weight.most_packs() as u32).contains(&plan.packs), "{plan:?}");
            prop_assert!(plan.cluster <= largest && plan.cluster.is_power_of_two(), "{plan:?}");
            prop_assert!(plan.blocks * threads <= 2048, "{plan:?}");
            let address = if aligned { 16 } else { 2 };
            let whole = if aligned { cols.next_multiple_of(per_pack) } else { cols };
            prop_assert!(plan.holds(whole, per_pack, &[address]), "{plan:?}");
        }
    }

    proptest! {
        #[test]
        fn blocks_that_walk_find_room_and_rows_that_lie_alike(
            cols in 1usize..70_000,
            per_pack in prop_oneof![Just(4usize), Just(8)],
            aligned in any::<bool>(),
            multiprocessors in 1usize..200,
            shared_bytes in prop_oneof![Just(99usize << 10), Just(163 << 10), Just(227 << 10)],
            weight in weights(),
        ) {
            let cols = if aligned { cols.next_multiple_of(per_pack) } else { cols };
            let plan = RowPlan::new(cols, per_pack, aligned, 8, weight).unwrap();
            let room = Room { multiprocessors, shared_bytes };
            let plan = plan.walking(cols, per_pack, weight, room);
            let Some(walk) = plan.walk else { return Ok(()) };
            prop_assert!(plan.holds(cols, per_pack, &[if aligned { 16 } else { 2 }]), "{plan:?}");
            prop_assert!(aligned || (walk.grid as usize * cols).is_multiple_of(per_pack), "{plan:?}");
            prop_assert!(walk.grid as usize <= multiprocessors * plan.blocks as usize, "{plan:?}");
            prop_assert!(plan.threads * plan.blocks <= 2048, "{plan:?}");
            let geometry = plan.geometry(100_000).unwrap();
            prop_assert_eq!(geometry.grid[0], walk.grid);
            prop_assert!((geometry.shared_bytes as usize + BESIDE) * plan.blocks as usize <= shared_bytes, "{plan:?}");
        }
    }

    #[test]
    fn long_rows_and_shifted_weights_are_walked() {
        let room = Room { multiprocessors: 132, shared_bytes: 227 << 10 };
        let of = |cols: usize, per_pack: usize, weight| {
            let aligned = cols.is_multiple_of(per_pack);
            let plan = RowPlan::new(cols, per_pack, aligned, 8, weight).unwrap();
            let plan = plan.walking(cols, per_pack, weight, room);
            plan.walk.map(|walk| (plan.blocks, walk.depth, walk.grid))
        };
        assert_eq!(of(8191, 8, Weight::Heavy), Some((4, 1, 528)));
        assert_eq!(of(8191, 4, Weight::Heavy), Some((2, 1, 264)));
        assert_eq!(of(32_768, 8, Weight::Light), Some((1, 2, 132)));
        assert_eq!(of(32_768, 8, Weight::Heavy), Some((1, 1, 132)));
        assert_eq!(of(8191, 8, Weight::Light), None);
        assert_eq!(of(8192, 8, Weight::Heavy), None);
        assert_eq!(of(128_256, 8, Weight::Light), None, "a cluster has them");
    }

    #[test]
    fn a_plan_for_other_rows_is_refused() {
        let plan = RowPlan::new(1024, 8, true, 8, Weight::Light).unwrap();
        assert!(plan.holds(1024, 8, &[16, 32]));
        assert!(!plan.holds(1024, 8, &[16, 34]), "it counts on alignment");
        assert!(!plan.holds(1032, 8, &[16]), "the last elements are nobody's");
        assert!(!RowPlan { threads: 48, ..plan }.holds(8, 8, &[16]), "half a warp would wait for the other");
        assert!(!RowPlan { threads: 0, ..plan }.holds(8, 8, &[16]));
        let walks = |cols: usize, grid| {
            let plan = RowPlan::new(cols, 8, cols.is_multiple_of(8), 8, Weight::Light).unwrap();
            RowPlan { walk: Some(Walk { depth: 1, kept: 2, grid }), ..plan }.holds(cols, 8, &[16])
        };
        assert!(walks(8192, 3) && walks(8191, 16));
        assert!(!walks(8191, 3), "rows of a block lie each otherwise");
        assert!(!walks(1024, 3), "a block has two rows");
        assert!(!RowPlan { packs: u32::MAX, cluster: u32::MAX, ..plan }.holds(8, 8, &[16]));
    }

    #[test]
    fn more_rows_than_a_grid_has_are_refused() {
        let plan = RowPlan::new(128_256, 4, true, 8, Weight::Light).unwrap();
        assert_eq!(plan.cluster, 8);
        assert!(plan.geometry(1 << 28).is_err());
        assert!(plan.geometry(1 << 27).is_ok());
    }
}
