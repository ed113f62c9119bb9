//! Shapes that the gate draws beside the case, and what a condition leaves of that.

use crate::checks::Check;
use crate::lane::Lane;
use roofline_core::case::Case;
use roofline_core::condition::{Condition, ENOUGH};
use roofline_core::fill::Fill;
use roofline_core::philox::Draws;
use std::collections::BTreeSet;

/// What the shapes and places of live lanes depend on, each once. Lanes that require nothing come first.
pub fn grounds(lanes: &[Lane]) -> BTreeSet<Condition> {
    let judged = lanes.iter().filter(|lane| lane.is_live() && !lane.is_probe());
    judged.map(|lane| lane.condition.ground()).collect()
}

/// Three small shapes: a tiny one, one drawn freely, one with the case's own remainders after 64; with
/// more than three axes they are smaller, so that all stay cheap. The free one has odd sizes: no vector
/// divides a row of it, nor all of its elements together. Each is the nearest that the condition admits; where
/// it admits the case alone, there are none.
pub fn other_shapes(case: &Case, condition: &Condition, draws: &mut Draws) -> Vec<Case> {
    let (tile, least, spread) = if case.sizes.len() > 3 { (8, 3, 14) } else { (64, 9, 89) };
    let tiny: Vec<u64> = case.sizes.iter().map(|_| 1 + draws.below(8)).collect();
    let free: Vec<u64> = case.sizes.iter().map(|_| (least + draws.below(spread)) | 1).collect();
    let close: Vec<u64> = case
        .sizes
        .iter()
        .map(|size| {
            let near = if *size > 2 * tile { tile + size % tile } else { *size };
            (near + 1).saturating_sub(draws.below(3)).max(1)
        })
        .collect();
    let names = case.operation.axis_names();
    let condition = &condition.and(&case.operation.legal());
    let legal = |wanted: Vec<u64>| condition.near(&names, &case.sizes, &wanted, draws);
    let shapes = [tiny, free, close].map(legal).into_iter();
    // The case itself is tried in any event; a drawn shape may equal it by chance alone.
    shapes
        .filter(|sizes| condition.is_empty() || *sizes != case.sizes)
        .map(|sizes| case.resized(&sizes))
        .collect()
}

/// Notes which checks a lane's condition takes something from.
pub fn note_what_is_weaker(case: &Case, lane: &mut Lane) {
    let condition = lane.condition.clone();
    let names = case.operation.axis_names();
    if let Some((axis, left)) = condition.scarce(&names, &case.sizes) {
        let why = format!(
            "`{condition}` leaves {left} other sizes of {} within a factor of 2; {ENOUGH} are wanted",
            names[axis]
        );
        lane.weaker(Check::OtherShapes, why);
    }
    if condition.finite && case.operation.fills_of(case).contains(&Fill::Nonfinite) {
        lane.weaker(Check::Families, "it requires finite inputs: none were infinite or NaN");
    }
    if condition.flushes_denormals && case.precision.accumulator.smallest_normal() > 0.0 {
        lane.weaker(Check::Bound, "it flushes denormals: what underflows may be lost whole");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(case: &str, condition: &str, seed: u64) -> Vec<Case> {
        let case: Case = case.parse().unwrap();
        other_shapes(&case, &condition.parse().unwrap(), &mut Draws::new(seed, 0))
    }

    #[test]
    fn other_shapes_are_small_and_keep_the_remainder_class() {
        for seed in 0..50 {
            let shapes = shapes("matmul/f32/m=2048,n=4097,k=1", "", seed);
            assert_eq!(shapes.len(), 3);
            for shape in &shapes {
                assert!(shape.sizes.iter().all(|size| (1..=130).contains(size)), "{shape}");
            }
            assert!(shapes[1].sizes.iter().all(|size| size % 2 == 1 && *size >= 9), "{}", shapes[1]);
        }
    }

    #[test]
    fn shapes_stay_inside_a_condition() {
        for seed in 0..50 {
            for shape in shapes("softmax/f32/rows=64,cols=1008", "cols % 16 == 0, rows >= 2", seed) {
                assert!(shape.sizes[1] % 16 == 0 && shape.sizes[0] >= 2, "{shape}");
                assert!(shape.sizes.iter().all(|size| *size <= 144), "{shape}");
            }
            let shapes = shapes("softmax/f32/rows=64,cols=1000", "cols == 1000", seed);
            assert!(!shapes.is_empty() && shapes.iter().all(|shape| shape.sizes[1] == 1000), "{shapes:?}");
        }
        assert_eq!(shapes("softmax/f32/rows=64,cols=1000", "cols == 1000, rows == 64", 1).len(), 0);
    }

    #[test]
    fn a_narrow_condition_is_noted() {
        let case: Case = "softmax/f32/rows=64,cols=1000".parse().unwrap();
        let weaker = |condition: &str| -> Vec<String> {
            let mut lane = Lane::new("mine/fast", "mine", &case, 1);
            lane.condition = condition.parse().unwrap();
            note_what_is_weaker(&case, &mut lane);
            let checks = lane.checks().into_iter().filter(|checked| !checked.why.is_empty());
            checks.map(|checked| format!("{}: {}", checked.check, checked.why)).collect()
        };
        assert_eq!(weaker("cols % 16 == 8, align 64"), [""; 0]);
        assert!(
            weaker("cols == 1000")[0]
                .starts_with("other-shapes: `cols == 1000` leaves 0 other sizes of cols")
        );
        assert!(weaker("finite")[0].starts_with("families: "));
        assert!(weaker("flushes denormals")[0].starts_with("bound: "));
    }
}
