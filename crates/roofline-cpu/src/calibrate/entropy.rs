//! The scale that loses the least of what a histogram tells.

use super::plain::over;
use crate::Scalar;

const BINS: usize = 2048;
/// Codes of one sign, with zero.
const LEVELS: usize = 128;
/// Cuts are tried every so many bins.
const EVERY: usize = 16;

/// Of cuts of the histogram of |x| in 2048 bins the one that diverges least from itself in 128 levels, over 127; 1 of zeros.
///
/// What lies beyond a cut counts in its last bin, and a level spreads what it holds over the bins that held something.
///
/// ```
/// use roofline_cpu::calibrate::calibrate_entropy;
///
/// // Most are near zero, where levels are needed; one number far out is given up for them.
/// let mut x: Vec<f32> = (0..4096).map(|i| (i as f32 / 4096.0).powi(3)).collect();
/// x[0] = 10.0;
/// assert!(calibrate_entropy(&x) < 5.0 / 127.0);
/// ```
pub fn calibrate_entropy<T: Scalar<Wide = f32>>(x: &[T]) -> f32 {
    let most = x.iter().fold(0.0, |most: f32, x| most.max(x.wide().abs()));
    if most == 0.0 {
        return over(most);
    }
    let width = most / BINS as f32;
    let mut counts = [0u64; BINS];
    for x in x {
        counts[((x.wide().abs() / width) as usize).min(BINS - 1)] += 1;
    }
    let cuts = (LEVELS..=BINS).step_by(EVERY).map(|cut| (cut, lost(&counts, cut)));
    let best = cuts.filter(|(_, lost)| !lost.is_nan()).min_by(|one, other| one.1.total_cmp(&other.1));
    over(most * (best.map_or(BINS, |(cut, _)| cut) as f32 / BINS as f32))
}

/// Σ p·ln(p / q) of shares p before and q after, infinite where nothing is left of something.
fn lost(counts: &[u64; BINS], cut: usize) -> f64 {
    let (kept, beyond) = counts.split_at(cut);
    let beyond: u64 = beyond.iter().sum();
    let in_cut = kept.iter().sum::<u64>() as f64;
    let all = in_cut + beyond as f64;
    let mut lost = 0.0;
    for level in 0..LEVELS {
        let [start, end] = [level, level + 1].map(|level| (level * cut).div_ceil(LEVELS));
        let bins = &kept[start..end];
        let filled = bins.iter().filter(|count| **count > 0).count();
        let each = bins.iter().sum::<u64>() as f64 / filled.max(1) as f64 / in_cut;
        for (bin, count) in (start..).zip(bins) {
            let held = count + if bin + 1 == cut { beyond } else { 0 };
            let share = held as f64 / all;
            if held > 0 {
                lost += share * (share / if *count > 0 { each } else { 0.0 }).ln();
            }
        }
    }
    lost
}
