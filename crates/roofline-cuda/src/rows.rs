//! How the threads of the device share rows: the launcher's half of `rows.cuh`.
//!
//! A row of few packs is given to part of a warp, one of some thousands to a block, one of more to a
//! cluster of blocks, so that it is read once and stays in registers. What no cluster can hold goes
//! to a kernel that walks the row twice.

use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::shape::{Rows, blocks};
use crate::stream::Stream;

/// Packs of sixteen bytes that a thread holds: enough in flight to keep memory busy, few enough that
/// three blocks find registers beside each other.
const PACKS: usize = 4;
const WARP: usize = 32;
const MOST_THREADS: usize = 1024;
/// Threads of a block that is shared by short rows.
const SHORT_BLOCK: usize = 128;

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
}

impl RowPlan {
    /// The plan for rows of so many elements; `None` where they are too long for registers.
    pub fn new(cols: usize, per_pack: usize, aligned: bool, largest_cluster: u32) -> Option<RowPlan> {
        // A row that begins inside a pack can touch one pack more.
        let needed = if aligned { cols.div_ceil(per_pack) } else { (cols + per_pack - 1).div_ceil(per_pack) };
        let needed = needed.max(1);
        let cluster = needed.div_ceil(MOST_THREADS * PACKS).next_power_of_two();
        if cluster > largest_cluster as usize {
            return None;
        }
        let each = needed.div_ceil(cluster);
        let threads =
            if each <= WARP { each.next_power_of_two() } else { each.div_ceil(PACKS).next_multiple_of(WARP) };
        let rows = if threads <= WARP { SHORT_BLOCK / threads } else { 1 };
        let [threads, packs, rows, cluster] =
            [threads, each.div_ceil(threads), rows, cluster].map(|number| number as u32);
        Some(RowPlan { threads, packs, rows, cluster, aligned })
    }

    /// What the kernel is compiled with.
    pub fn constants(&self) -> [(&'static str, u32); 5] {
        [
            ("THREADS", self.threads),
            ("PACKS", self.packs),
            ("ROWS", self.rows),
            ("CLUSTER", self.cluster),
            ("ALIGNED", u32::from(self.aligned)),
        ]
    }

    /// The launch for so many rows.
    pub fn geometry(&self, rows: usize) -> Result<Geometry> {
        let groups = blocks("rows of one launch", rows.div_ceil(self.rows as usize))?;
        let grid = blocks("blocks of all rows", groups as usize * self.cluster as usize)?;
        Ok(Geometry {
            grid: [grid, 1, 1],
            block: [self.threads, self.rows, 1],
            shared_bytes: 0,
            cluster: self.cluster,
        })
    }
}

/// The rungs of an operation over rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowKernels {
    /// One thread a row.
    pub(crate) plain: Source,
    /// A row in registers.
    pub(crate) registers: Source,
    /// Any length, a block a row.
    pub(crate) long: Source,
}

/// The threads of a block that walks a long row.
pub(crate) const LONG_THREADS: u32 = 512;

/// Which rung, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRung {
    /// One thread a row, the mathematics as it is written.
    Plain,
    /// The row in registers, shared as the plan says.
    Registers(RowPlan),
    /// A block a row, which it reads twice.
    Long,
}

impl RowRung {
    /// The fastest for a shape, whose tensors begin at these addresses.
    pub fn best<T: Element>(stream: &Stream, shape: Rows, addresses: &[u64]) -> RowRung {
        let aligned =
            shape.cols.is_multiple_of(T::PER_PACK) && addresses.iter().all(|at| at.is_multiple_of(16));
        let plan = RowPlan::new(shape.cols, T::PER_PACK, aligned, stream.device().largest_cluster());
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
    if shape.rows == 0 || shape.cols == 0 {
        return Ok(());
    }
    let (source, constants, geometry) = match rung {
        RowRung::Plain => {
            (&kernels.plain, Vec::new(), Geometry::line(blocks("rows", shape.rows.div_ceil(128))?, 128))
        }
        RowRung::Registers(plan) => {
            (&kernels.registers, plan.constants().to_vec(), plan.geometry(shape.rows)?)
        }
        RowRung::Long => {
            let constants = vec![("THREADS", LONG_THREADS)];
            (&kernels.long, constants, Geometry::line(blocks("rows", shape.rows)?, LONG_THREADS))
        }
    };
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

    proptest! {
        #[test]
        fn every_element_is_held_once(
            rows in 1usize..9,
            cols in prop_oneof![1usize..300, 300usize..70_000],
            per_pack in prop_oneof![Just(4usize), Just(8)],
            phase in 0usize..8,
        ) {
            let aligned = phase == 0 && cols.is_multiple_of(per_pack);
            let plan = RowPlan::new(cols, per_pack, aligned, 8).unwrap();
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
        ) {
            let Some(plan) = RowPlan::new(cols, per_pack, aligned, largest) else {
                let most = MOST_THREADS * PACKS * largest as usize * per_pack;
                prop_assert!(cols + per_pack > most, "a row of {cols} fits");
                return Ok(());
            };
            let threads = plan.threads * plan.rows;
            prop_assert!((1..=1024).contains(&threads) && threads.is_multiple_of(32), "{plan:?}");
            prop_assert!(plan.threads >= 32 || plan.threads.is_power_of_two(), "{plan:?}");
            prop_assert!(plan.threads < 32 || plan.threads.is_multiple_of(32), "{plan:?}");
            prop_assert!((1..=PACKS as u32).contains(&plan.packs), "{plan:?}");
            prop_assert!(plan.cluster <= largest && plan.cluster.is_power_of_two(), "{plan:?}");
        }
    }

    #[test]
    fn more_rows_than_a_grid_has_are_refused() {
        let plan = RowPlan::new(128_256, 4, true, 8).unwrap();
        assert_eq!(plan.cluster, 8);
        assert!(plan.geometry(1 << 28).is_err());
        assert!(plan.geometry(1 << 27).is_ok());
    }
}
