//! `sum`: y = Σ x, over each row, each column (`sum.columns`) or all (`sum.all`).
//! bf16 and f16 are computed in f32.
//! `sum-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod compensated;
pub mod plain;
pub mod tree;

use crate::bind::{floats, middle, unary};
use crate::catalog::{Implementation, Kernel};
pub use plain::{sum, sum_all, sum_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sum", floats!(unary, plain::sum)),
    Implementation::plain("sum.columns", floats!(unary, plain::sum_columns)),
    Implementation::plain("sum-axis", floats!(middle, plain::sum_columns)),
    Implementation::plain("sum.all", floats!(unary, plain::sum_all)),
    compensated("sum", floats!(unary, compensated::sum)),
    compensated("sum.columns", floats!(unary, compensated::sum_columns)),
    compensated("sum.all", floats!(unary, compensated::sum_all)),
    Implementation::new("sum.all", "tree", "blocks added in halves", floats!(unary, tree::sum_all))
        .parallel(),
];

const fn compensated(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "compensated", "what is rounded away is added up too", kernels)
}
