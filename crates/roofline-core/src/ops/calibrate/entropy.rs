//! The scale that loses the least of what a tensor tells: of histograms that are cut at a magnitude and brought to as many
//! levels as there are codes, the one that diverges least from what it was.
//!
//! Magnitudes are counted in bins of max / 2048 of f32, by a quotient of f32, so that every kernel counts the same. A cut keeps so
//! many bins, and what lies beyond counts in its last one; levels spread what they hold over the bins that held something.
//! Kernels may try more cuts than are asked for here, and find a better one.

use crate::operation::Problem;
use crate::tensor::View;

const BINS: usize = 2048;
/// Codes of one sign, with zero.
const LEVELS: usize = 128;
/// Cuts that are tried: every so many bins, from one for each level on.
const EVERY: usize = 16;
/// How much more than the least may be lost: kernels may take logarithms in f32.
const MORE: f64 = 1.001;
const ROUNDING: f64 = 1e-5;

/// What mutants change.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// Whether what lies beyond a cut counts in its last bin.
    pub beyond: bool,
    /// Whether levels leave bins empty that were.
    pub only_filled: bool,
}

pub(super) const RIGHT: How = How { beyond: true, only_filled: true };

/// The counts of magnitudes, and the largest.
fn histogram(problem: &Problem) -> (Vec<u64>, f32) {
    let x = problem.inputs[0];
    let sizes: Vec<f32> = x.line(0, 1, x.elements()).into_iter().map(|x| x.abs() as f32).collect();
    let most = sizes.iter().fold(0.0, |most: f32, size| most.max(*size));
    let width = most / BINS as f32;
    let mut counts = vec![0; BINS];
    for size in sizes {
        counts[((size / width) as usize).min(BINS - 1)] += 1;
    }
    (counts, most)
}

/// What is lost by a cut after so many bins: Σ p·ln(p / q), which is infinite where a level has nothing for what is there.
fn lost(counts: &[u64], cut: usize, how: How) -> f64 {
    let kept: u64 = counts[..cut].iter().sum();
    let beyond: u64 = if how.beyond { counts[cut..].iter().sum() } else { 0 };
    let all = (kept + beyond) as f64;
    let mut lost = 0.0;
    for level in 0..LEVELS {
        let [start, end] = [level, level + 1].map(|level| (level * cut).div_ceil(LEVELS));
        let bins = &counts[start..end];
        let filled =
            if how.only_filled { bins.iter().filter(|count| **count > 0).count() } else { bins.len() };
        let each = bins.iter().sum::<u64>() as f64 / filled.max(1) as f64 / kept as f64;
        for (bin, count) in (start..).zip(bins) {
            let held = count + if bin + 1 == cut { beyond } else { 0 };
            if held > 0 {
                let share = held as f64 / all;
                lost += share * (share / if *count > 0 || !how.only_filled { each } else { 0.0 }).ln();
            }
        }
    }
    lost
}

/// The cut that loses the least, and what it loses.
fn best(counts: &[u64], how: How) -> (usize, f64) {
    let cuts = (LEVELS..=BINS).step_by(EVERY).map(|cut| (cut, lost(counts, cut, how)));
    cuts.filter(|(_, lost)| !lost.is_nan())
        .min_by(|one, other| one.1.total_cmp(&other.1))
        .unwrap_or((BINS, 0.0))
}

fn scale(most: f32, cut: usize) -> f64 {
    f64::from(most) * cut as f64 / BINS as f64 / 127.0
}

/// The scale that a kernel finds which does so; 1 of zeros.
pub(super) fn found(problem: &Problem, how: How) -> Vec<Vec<f64>> {
    let (counts, most) = histogram(problem);
    vec![vec![if most == 0.0 { 1.0 } else { scale(most, best(&counts, how).0) }]]
}

pub(super) fn check(problem: &Problem, outputs: &[View]) -> Result<(), String> {
    let ((counts, most), s) = (histogram(problem), outputs[0].get(0));
    if most == 0.0 {
        return if s == 1.0 { Ok(()) } else { Err(format!("s is {s} where all is zero, and 1 is due")) };
    }
    let bins = s * 127.0 * BINS as f64 / f64::from(most);
    let cut = bins.round();
    let is_cut = (bins - cut).abs() < 0.01 && (LEVELS as f64..=BINS as f64).contains(&cut);
    if !is_cut {
        return Err(format!("s is {s}, which cuts after {bins:.3} bins and not after {LEVELS} to {BINS}"));
    }
    let (at, least) = best(&counts, RIGHT);
    let lost = lost(&counts, cut as usize, RIGHT);
    if lost <= MORE * least + ROUNDING {
        return Ok(());
    }
    Err(format!("a cut after {cut} bins loses {lost:.6}, one after {at} {least:.6}"))
}
