//! Families of operations: a formula over one element or one line makes the whole operation.
//!
//! [`elementwise`] and [`rowwise`] turn a formula over [`Number`](crate::number::Number)s into expected values
//! with their bounds, into emulated kernels, reach and work. An ordinary operation is the formula, its name, and
//! what differs from the family's row. [`movement`] has places in place of a formula, and [`whole`] takes the inputs
//! as they are, for what is neither an element nor a line.

pub mod elementwise;
pub mod movement;
pub mod rowwise;
mod space;
pub mod whole;

pub use elementwise::Element;
pub use movement::Movement;
pub use rowwise::{Along, Line, Rowwise};
pub use space::Space;
pub use whole::Whole;

use crate::case::Case;
use crate::number::Counts;
use crate::operation::Work;
use crate::tensor::Role;
use crate::units::Bytes;

/// The product of sizes, or the largest number.
pub fn product(sizes: &[usize]) -> u64 {
    sizes.iter().fold(1, |product: u64, size| product.saturating_mul(*size as u64))
}

/// Work of `times` evaluations of a formula, with each input read and each output written once.
pub fn work(case: &Case, counts: Counts, times: u64) -> Work {
    let tensors = (case.operation.tensors)(case);
    let bytes = |is_meant: fn(Role) -> bool| {
        let meant = tensors.iter().filter(|tensor| is_meant(tensor.role));
        Bytes(meant.map(|tensor| tensor.walked() as u64).sum())
    };
    Work {
        multiply_adds: counts.multiply_adds.saturating_mul(times),
        simple: counts.simple.saturating_mul(times),
        special: counts.special.saturating_mul(times),
        read: bytes(Role::is_input),
        written: bytes(|role| role == Role::Output),
    }
}
