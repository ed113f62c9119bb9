//! Patterns of sparse matrices: which row and which column each value stands in.
//!
//! Values are numbered row by row. Where a row begins is a function of its number and of the sizes alone, so that each
//! tensor of a matrix (offsets, rows, columns) is drawn by itself and they fit each other.

use crate::fill::{Fill, Filling};
use crate::tensor::Content;

/// How values are spread over a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Everywhere alike.
    Uniform,
    /// Each row's values side by side around the diagonal: the band is as wide as a row has values.
    Banded,
    /// The first share s of the rows has the share ⁴√s of all values.
    PowerLaw,
    /// Blocks of 4×4 values.
    Blocks,
    /// One row in the middle has half of all values, or one in every column.
    DenseRow,
    /// Of three rows the last alone has values.
    EmptyRows,
}

/// What a tensor says of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Where the values of each row begin, and the number of all.
    Offsets,
    /// The row of each value.
    Rows,
    /// The column of each value.
    Columns,
}

/// A part of a sparse matrix of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparse {
    pub pattern: Pattern,
    pub part: Part,
    pub rows: u64,
    pub cols: u64,
    pub nnz: u64,
}

/// Sides of the blocks of [`Pattern::Blocks`].
const SIDE: u64 = 4;

impl Pattern {
    /// Names, in the order of [`ALL`](Pattern::ALL).
    pub const NAMES: &'static [&'static str] =
        &["uniform", "banded", "power-law", "blocks", "dense-row", "empty-rows"];
    pub const ALL: &'static [Pattern] = &[
        Pattern::Uniform,
        Pattern::Banded,
        Pattern::PowerLaw,
        Pattern::Blocks,
        Pattern::DenseRow,
        Pattern::EmptyRows,
    ];
}

impl Sparse {
    /// What the tensor holds where no pattern is drawn.
    pub fn plain(&self) -> Content {
        match self.part {
            Part::Offsets => Content::Offsets { total: self.nnz },
            Part::Rows => Content::Indices { below: self.rows, none: None },
            Part::Columns => Content::Indices { below: self.cols, none: None },
        }
    }

    /// What the tensor holds: families that rise, go to the ends or plant have contents of their own.
    pub fn content(self) -> Content {
        if self.pattern == Pattern::Uniform { self.plain() } else { Content::Sparse(self) }
    }

    /// Element `index`, if the family draws; `bits` are its random bits.
    pub(crate) fn value(&self, filling: &Filling, index: usize, bits: u64) -> Option<f64> {
        if matches!(filling.fill, Fill::Ramp | Fill::OneHot | Fill::Extreme | Fill::Planted) {
            return None;
        }
        let index = index as u64;
        Some(match self.part {
            Part::Offsets => self.start(index),
            Part::Rows => self.row(index),
            Part::Columns => self.column(index, bits, |block| filling.lot(block)),
        } as f64)
    }

    /// Values of the rows before this one.
    fn start(&self, row: u64) -> u64 {
        let Sparse { rows, nnz, .. } = *self;
        let spread = |row: u64, values: u64| row * values / rows.max(1);
        match self.pattern {
            _ if row >= rows => nnz,
            Pattern::Uniform | Pattern::Banded => spread(row, nnz),
            // Roots are exact everywhere, powers are not.
            Pattern::PowerLaw => ((row as f64 / rows as f64).sqrt().sqrt() * nnz as f64) as u64,
            Pattern::Blocks => {
                let (group, within) = (row / SIDE, row % SIDE);
                let [before, beyond] = [group, group + 1].map(|group| self.blocks_before(group));
                SIDE * SIDE * before + within * SIDE * (beyond - before)
            }
            Pattern::DenseRow => {
                let dense = self.dense();
                spread(row, nnz - dense) + if row > rows / 2 { dense } else { 0 }
            }
            Pattern::EmptyRows => spread(row - row % 3, nnz),
        }
    }

    /// Blocks of the groups of rows before this one.
    fn blocks_before(&self, group: u64) -> u64 {
        group * (self.nnz / (SIDE * SIDE)) / self.rows.div_ceil(SIDE).max(1)
    }

    /// Values of the dense row.
    fn dense(&self) -> u64 {
        self.cols.min(self.nnz / 2)
    }

    /// The last row that begins at the value or before it.
    fn row(&self, value: u64) -> u64 {
        let (mut row, mut beyond) = (0, self.rows.max(1));
        while beyond - row > 1 {
            let middle = row.midpoint(beyond);
            if self.start(middle) <= value { row = middle } else { beyond = middle }
        }
        row
    }

    /// The column of a value, from its random bits or those of its block.
    fn column(&self, value: u64, bits: u64, of_block: impl Fn(u64) -> u64) -> u64 {
        let cols = self.cols.max(1);
        let below = |bits: u64, most: u64| ((u128::from(bits) * u128::from(most)) >> 64) as u64;
        let within = |row: u64| value - self.start(row);
        match self.pattern {
            Pattern::Uniform | Pattern::PowerLaw | Pattern::EmptyRows => below(bits, cols),
            Pattern::Banded => {
                let row = self.row(value);
                let length = self.start(row + 1) - self.start(row);
                let first = (row * cols / self.rows).saturating_sub(length / 2);
                (first.min(cols.saturating_sub(length)) + within(row)) % cols
            }
            Pattern::Blocks if cols < SIDE => value % cols,
            Pattern::Blocks => {
                let row = self.row(value);
                let block = self.blocks_before(row / SIDE) + within(row) / SIDE;
                SIDE * below(of_block(block), cols / SIDE) + within(row) % SIDE
            }
            Pattern::DenseRow => match self.row(value) {
                row if row == self.rows / 2 => within(row) % cols,
                _ => below(bits, cols),
            },
        }
    }

    /// Columns that have a value, at least: so much of what the matrix is multiplied with is read.
    pub fn columns_met(&self) -> u64 {
        let drawn = |cols: u64, lots: u64| {
            let (cols, lots) = (cols as f64, lots as f64);
            if cols <= 1.0 {
                return cols as u64;
            }
            (-cols * (lots * (-1.0 / cols).ln_1p()).exp_m1()).floor() as u64
        };
        let Sparse { cols, nnz, .. } = *self;
        match self.pattern {
            Pattern::Uniform | Pattern::PowerLaw | Pattern::EmptyRows => drawn(cols, nnz),
            // Bands of neighbours may lie over each other at the borders.
            Pattern::Banded => cols.min(nnz) / 2,
            Pattern::Blocks => SIDE * drawn(cols / SIDE, nnz / (SIDE * SIDE)),
            Pattern::DenseRow => self.dense(),
        }
        .max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use std::collections::{BTreeMap, BTreeSet};

    fn values(fill: Fill, sparse: Sparse) -> Vec<u64> {
        let elements = if sparse.part == Part::Offsets { sparse.rows + 1 } else { sparse.nnz } as usize;
        let (dtype, content) = (Dtype::I32, sparse.content());
        let filling =
            Filling { fill, seed: 5, tensor: 1, dtype, row: 7, apart: 1, alike: false, elements, content };
        let mut bytes = vec![0; elements * dtype.size()];
        filling.write(0..elements, &mut bytes);
        (0..elements).map(|i| dtype.read(&bytes, i) as u64).collect()
    }

    fn of(pattern: Pattern, rows: u64, cols: u64, nnz: u64) -> impl Fn(Fill, Part) -> Vec<u64> {
        move |fill, part| values(fill, Sparse { pattern, part, rows, cols, nnz })
    }

    /// Every family of every pattern is a matrix, at odd sizes too, and where a pattern is drawn all its parts agree.
    #[test]
    fn parts_of_a_pattern_fit_each_other() {
        for pattern in Pattern::ALL {
            for (rows, cols, nnz) in
                [(1, 1, 1), (2, 3, 40), (3, 2, 1), (9, 4, 31), (64, 64, 640), (1000, 100, 5003)]
            {
                let draw = of(*pattern, rows, cols, nnz);
                for fill in Fill::ALL {
                    let place = format!("{pattern:?} {fill} {rows} {cols} {nnz}");
                    let offsets = draw(*fill, Part::Offsets);
                    assert!(offsets.is_sorted() && offsets[0] == 0, "{place}: {offsets:?}");
                    assert_eq!(*offsets.last().unwrap(), nnz, "{place}");
                    assert!(draw(*fill, Part::Columns).iter().all(|column| *column < cols), "{place}");
                    let row_of = draw(*fill, Part::Rows);
                    assert!(row_of.iter().all(|row| *row < rows), "{place}");
                    let is_drawn = *pattern != Pattern::Uniform && *fill == Fill::Uniform;
                    let fits = |(value, row): (usize, &u64)| {
                        (offsets[*row as usize]..offsets[*row as usize + 1]).contains(&(value as u64))
                    };
                    assert!(!is_drawn || row_of.iter().enumerate().all(fits), "{place}");
                }
            }
        }
    }

    #[test]
    fn patterns_are_what_they_say() {
        let lengths = |pattern, cols, nnz| {
            let offsets = of(pattern, 1000, cols, nnz)(Fill::Uniform, Part::Offsets);
            offsets.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<u64>>()
        };
        let places = |pattern| {
            let draw = of(pattern, 1000, 1000, 8000);
            let rows = draw(Fill::Uniform, Part::Rows);
            rows.into_iter().zip(draw(Fill::Uniform, Part::Columns)).collect::<Vec<_>>()
        };
        assert!(places(Pattern::Banded).iter().all(|(row, column)| row.abs_diff(*column) <= 8));
        assert_eq!(BTreeSet::from_iter(places(Pattern::Banded)).len(), 8000);
        let rows = lengths(Pattern::PowerLaw, 1000, 8000);
        assert!(rows[0] > 1400 && rows[999] < 4 && rows[..10].iter().sum::<u64>() > 2500, "{rows:?}");
        let mut blocks = BTreeMap::new();
        places(Pattern::Blocks).iter().for_each(|(row, column)| {
            *blocks.entry((row / 4, column / 4)).or_insert(0) += 1;
        });
        assert!(blocks.values().all(|count| count % 16 == 0), "{blocks:?}");
        let rows = lengths(Pattern::DenseRow, 1000, 8000);
        assert!(rows[500] >= 1000 && rows.iter().filter(|length| **length > 8).count() == 1);
        let rows = lengths(Pattern::EmptyRows, 1000, 8000);
        assert!(rows.iter().filter(|length| **length == 0).count() > 600);
    }

    #[test]
    fn no_more_columns_are_counted_than_are_met() {
        for pattern in Pattern::ALL {
            for (rows, cols, nnz) in
                [(1000, 1000, 100), (1000, 1000, 5000), (100, 1000, 5000), (5000, 10, 5000)]
            {
                let met =
                    BTreeSet::from_iter(of(*pattern, rows, cols, nnz)(Fill::Uniform, Part::Columns)).len();
                let counted =
                    Sparse { pattern: *pattern, part: Part::Columns, rows, cols, nnz }.columns_met();
                // Lots fall a little apart from what is expected of them.
                let is_right = counted as f64 <= 1.05 * met as f64 && counted as f64 >= 0.3 * met as f64;
                assert!(is_right, "{pattern:?} {rows} {cols} {nnz}: {counted} of {met}");
            }
        }
    }
}
