//! Which output elements are judged: all of a small output, a secret sample of a large one.

use roofline_core::case::Case;
use roofline_core::philox::Draws;
use roofline_core::tensor::Tensor;
use std::collections::BTreeSet;

/// Most elements whose reference is computed for one launch.
const MOST_ELEMENTS: usize = 1 << 20;

/// Most operations that references for one launch may take.
const MOST_FLOPS: u64 = 100_000_000;

/// Most rows that are judged whole because a projection suspects them, and fewest.
const SUSPECTS: std::ops::RangeInclusive<u64> = 4..=16;

/// Every element when the reference of the whole output is cheap, else whole rows and, where an
/// output is a product, whole columns: the last of each, and others that nobody can predict.
pub fn for_gate(case: &Case, output: &Tensor, draws: &mut Draws) -> Vec<usize> {
    let (rows, cols) = lines(output);
    let flops = (case.operation.work)(case).flops();
    if is_whole(case, output) {
        return (0..output.elements()).collect();
    }
    let per_row = (flops / rows as u64).max(1);
    let affordable = (MOST_FLOPS / per_row).clamp(2, (MOST_ELEMENTS / cols).max(2) as u64) as usize;
    let is_product = case.judged().whole().is_some();
    let mut chosen_rows = choose(rows, if is_product { affordable / 2 } else { affordable }, draws);
    // The first row of planted inputs has its maximum at the very end. Of a product every row is met in a column.
    if !is_product && chosen_rows[0] != 0 {
        chosen_rows.insert(0, 0);
    }
    let mut wanted: Vec<usize> = chosen_rows.iter().flat_map(|row| row * cols..(row + 1) * cols).collect();
    if is_product {
        let per_column = (flops / cols as u64).max(1);
        let affordable = (MOST_FLOPS / 2 / per_column).clamp(2, 64) as usize;
        let columns = choose(cols, affordable, draws);
        wanted.extend(columns.iter().flat_map(|column| (0..rows).map(move |row| row * cols + column)));
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Whether the reference of the whole output is cheap.
pub fn is_whole(case: &Case, output: &Tensor) -> bool {
    output.elements() <= MOST_ELEMENTS && (case.operation.work)(case).flops() <= MOST_FLOPS
}

/// How many suspected rows of a product are judged whole.
pub fn suspects(case: &Case, output: &Tensor) -> usize {
    let per_row = ((case.operation.work)(case).flops() / lines(output).0 as u64).max(1);
    (MOST_FLOPS / per_row).clamp(*SUSPECTS.start(), *SUSPECTS.end()) as usize
}

/// Rows and columns of an output seen as a matrix.
pub fn lines(output: &Tensor) -> (usize, usize) {
    let cols = output.shape.last().copied().unwrap_or(1).max(1);
    ((output.elements() / cols).max(1), cols)
}

/// `count` different numbers below `bound`, the last one always, in ascending order.
fn choose(bound: usize, count: usize, draws: &mut Draws) -> Vec<usize> {
    if count >= bound {
        return (0..bound).collect();
    }
    let mut chosen = BTreeSet::from([bound - 1]);
    while chosen.len() < count {
        chosen.insert(draws.below(bound as u64) as usize);
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(id: &str) -> (usize, Vec<usize>) {
        let case: Case = id.parse().unwrap();
        let output = (case.operation.tensors)(&case).pop().unwrap();
        (output.elements(), for_gate(&case, &output, &mut Draws::new(1, 1)))
    }

    #[test]
    fn small_outputs_are_judged_whole() {
        for id in ["softmax/f32/rows=100,cols=100", "matmul/f32/m=1,n=1,k=5", "add/f32/rows=1,cols=1000"] {
            let (elements, gate) = sample(id);
            assert_eq!(gate.len(), elements, "{id}");
        }
    }

    #[test]
    fn large_outputs_are_judged_in_lines() {
        for id in [
            "matmul/f32/m=2048,n=2048,k=2048",
            "softmax/f32/rows=4096,cols=4096",
            "add/f32/rows=4096,cols=4096",
        ] {
            let (elements, gate) = sample(id);
            assert!(gate.len() < 2 << 20 && gate.len() > 8000, "{id}: {}", gate.len());
            assert!(gate.contains(&(elements - 1)), "the last element is always judged");
            assert!(gate[0] == 0 || id.starts_with("matmul"), "the first row is always judged");
            assert!(gate.is_sorted());
        }
    }
}
