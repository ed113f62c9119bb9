//! Memos by content: whoever remembers results is quicker on inputs that it has seen.
//!
//! Two visits in a row, alike but for what is written to the inputs while they run: in the one every
//! independent unit of the work (a row; a row of A and a column of B) gets a new value, over and over,
//! in the other the same lines get the values that they have. A kernel that computes takes as long
//! either way. Before it the visit has its marks as any other has, so there is nothing to know it by; and before the one
//! with the same values there is a visit like all others, for what new values left behind is new to its first launch.

use crate::device;
use crate::failure::Stop;
use crate::instance::Instance;
use crate::lane::Lane;
use crate::marks::{Asked, Marks};
use crate::shape::Shape;
use crate::stage::Stage;
use crate::{pilot, visit};
use roofline_core::fill::Fill;
use roofline_core::philox::Draws;
use roofline_core::stats::{median, quantile_interval, t_interval};

/// Most elements that one pass over an input writes.
const MOST_UNITS: usize = 1 << 14;
/// An input of one row, or of few, has at least so many elements written.
const FEWEST_UNITS: usize = 64;
/// Where every element is a unit, so many are written, which any part of a large input that is remembered by itself has
/// some of; but no more than one in so many, for those that a branch foretells would take many times as long.
const MANY_UNITS: usize = 1 << 12;
const APART: usize = 64;

/// A row may take so much longer with new values; with few pairs, so much.
const LEAST_MEMO: f64 = 0.05;
const LEAST_MEMO_OF_FEW: f64 = 0.3;
/// Branches that depend on values are foretold when these come again: a kernel with one for each element has been seen to
/// take half as long again on new ones. Beyond this it is the kernel that remembers.
const MOST_LEARNED: f64 = 1.0;
const FEW: usize = 4;
const FEWEST: usize = 10;
const ALPHA: f64 = 2e-3;
const ALPHA_OF_MEAN: f64 = 5e-4;
const ALPHA_OF_CLAIMS: f64 = 0.02;

/// One pair: ln(time with new values / time with the same values). `None` if the conductor had no core of
/// its own at the time, or no input may change meanwhile, and so nothing was written.
pub fn pair(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    shape: Shape,
) -> Result<Option<f64>, Stop> {
    let new_first = stage.draws.below(2) == 0;
    let first = rewritten(stage, lane, instance, shape, new_first)?;
    let second = rewritten(stage, lane, instance, shape, !new_first)?;
    let Some((first, second)) = first.zip(second) else { return Ok(None) };
    let ratio = if new_first { (first / second).ln() } else { (second / first).ln() };
    Ok(Some(ratio).filter(|ratio| ratio.is_finite()))
}

/// The time of a visit during which the units of all inputs are written again and again: CPU time where the
/// processor computes, for whoever waits for a core takes no longer to compute.
fn rewritten(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    shape: Shape,
    is_new: bool,
) -> Result<Option<f64>, Stop> {
    if !is_new {
        visit::take(stage, lane, instance, shape)?;
    }
    let units = units(instance, &instance.changeable_in_use(), &mut stage.draws);
    let mut bits = stage.draws.bits() | 1;
    let marks = Marks::set(stage, instance, lane.gate.visits);
    pilot::flush_if_cold(instance);
    let (tick, _pinned) = stage.beside(&lane.seat);
    let mut passes = 0_u32;
    let seen = visit::converse(stage, lane, shape, tick, || {
        passes = passes.saturating_add(1);
        for &(tensor, element) in &units {
            // A value that nobody has seen; the other visit draws it too, so that both write as often.
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            instance.renew_input(tensor, element, bits, is_new);
        }
    })?;
    // A launch may have found values old or new, unless they stay the same.
    let asked = match is_new {
        true => Asked::Changing,
        false => Asked::by(visit::judging_lot(stage, lane, seen.wall)),
    };
    let seen = visit::settle(stage, lane, instance, seen, &marks, asked)?;
    let by_cpu = device::of(instance.case.device).works_in_process;
    let time = if by_cpu { seen.cpu.as_secs_f64() } else { seen.claimed_total() };
    Ok(Some(time).filter(|_| passes > 0 && !units.is_empty()))
}

/// Gives every unit a new value, once, while nobody is reading it.
pub fn renew(stage: &mut Stage, instance: &mut Instance) {
    for (tensor, element) in units(instance, &instance.changeable(), &mut stage.draws) {
        let bits = stage.draws.bits();
        // Orders and offsets have none of their own.
        match instance.input_tensor(tensor).renewed(bits) {
            Some(value) => instance.set_input(tensor, element, value),
            None => instance.change_input(tensor, element, bits),
        }
    }
}

/// One element of each independent unit of some inputs, at a drawn place in it: tensor and element.
fn units(instance: &Instance, inputs: &[usize], draws: &mut Draws) -> Vec<(usize, usize)> {
    let problem = instance.problem(Fill::Uniform);
    let mut units = Vec::new();
    for &tensor in inputs {
        let (elements, cols) =
            (instance.input_tensor(tensor).elements(), instance.input_tensor(tensor).row());
        let rows = elements / cols;
        // All that an element reaches; where a change shows most is part of it.
        let reach = |element| instance.case.judged().reach(&problem, tensor, element).pop();
        let is_elementwise = reach(0).is_none_or(|reach| reach.count == 1);
        let mut below = |bound: usize| draws.below(bound as u64) as usize;
        if is_elementwise || reach(0) == reach(cols - 1) {
            // Rows are the units; where every element is one, long rows are taken in parts.
            let parts = match is_elementwise {
                true => {
                    let many = MANY_UNITS.div_ceil(rows).min(cols / APART);
                    FEWEST_UNITS.div_ceil(rows).min(cols).max(many)
                }
                false => 1,
            };
            let length = cols / parts;
            let count = rows * parts;
            let step = count.div_ceil(MOST_UNITS);
            let first = below(step);
            let places = (first..count).step_by(step).map(|unit| {
                let (row, part) = (unit / parts, unit % parts);
                (tensor, row * cols + part * length + below(length))
            });
            units.extend(places);
        } else {
            // Where columns are few, as parts of complex numbers are, each is taken in parts of its own: what the
            // rows of a batch reach are units too.
            let parts = FEWEST_UNITS.div_ceil(cols).min(rows);
            let (count, length) = (cols * parts, rows / parts);
            let step = count.div_ceil(MOST_UNITS);
            let first = below(step);
            units.extend((first..count).step_by(step).map(|unit| {
                let (part, col) = (unit / cols, unit % cols);
                (tensor, (part * length + below(length)) * cols + col)
            }));
        }
    }
    units
}

/// What the pairs of a row show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes as long whatever the values, or too little was seen to say otherwise.
    Nothing,
    /// It is quicker on values that it has seen, by no more than a processor learns of its branches.
    Learns,
    /// It is so much quicker that it does not compute them again.
    Remembers,
}

/// How much longer new values take, and what that means.
pub fn verdict(ratios: &[f64]) -> (Option<f64>, Verdict) {
    let Some(middle) = median(ratios) else { return (None, Verdict::Nothing) };
    // Either will do: the one knows no distribution, the other forgives a pair that went astray.
    let by_order = quantile_interval(ratios, 0.5, ALPHA).map(|(least, _)| least);
    let by_mean = t_interval(ratios, ALPHA_OF_MEAN).map(|interval| interval.mean - interval.half);
    let for_sure = by_order.unwrap_or(f64::MIN).max(by_mean.unwrap_or(f64::MIN));
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let is_memo = match ratios.len() {
        FEWEST.. => middle > LEAST_MEMO.ln_1p() && for_sure > 0.0,
        FEW.. => middle > LEAST_MEMO_OF_FEW.ln_1p() && least > 2.0 * LEAST_MEMO,
        _ => false,
    };
    let verdict = match is_memo {
        true if middle > MOST_LEARNED.ln_1p() => Verdict::Remembers,
        true => Verdict::Learns,
        false => Verdict::Nothing,
    };
    (Some(middle.exp_m1()), verdict)
}

/// Share of a launch among many on values that it has seen, which one on others takes at least; and share of what it was
/// seen to take longer on these.
const LEAST_NEW: f64 = 0.95;
const LEAST_OF_MEMORY: f64 = 0.9;
/// In visits of so many launches values that were new to the first of them are old to most.
const MANY_ON_SEEN: u32 = 8;

/// Refuses claims for launches on `new` values that lack what the row was seen to take longer on them, by CPU time, than
/// on those that it has `seen` in visits of so many `launches`: whoever knows the visits that count may claim for them what
/// the others take.
pub fn hold_new(new: &[f64], seen: &[f64], launches: u32, memory: Option<f64>) -> Result<(), String> {
    let Some((claim, usual)) = median(new).zip(median(seen)) else { return Ok(()) };
    if claim < LEAST_NEW * usual {
        return Err("claims less for launches on new values than for many on the same".to_owned());
    }
    let memory = memory.filter(|_| launches >= MANY_ON_SEEN).unwrap_or(0.0);
    let bounds =
        quantile_interval(new, 0.5, ALPHA_OF_CLAIMS).zip(quantile_interval(seen, 0.5, ALPHA_OF_CLAIMS));
    let lacks =
        |((_, most), (least, _)): ((f64, f64), (f64, f64))| most < LEAST_OF_MEMORY * (1.0 + memory) * least;
    if memory > 0.0 && bounds.is_some_and(lacks) {
        return Err(format!(
            "claims {:.0} % more for launches on new values, which take {:.0} % longer",
            100.0 * (claim / usual - 1.0),
            100.0 * memory
        ));
    }
    Ok(())
}

/// Whether the pairs are enough for five per cent.
pub fn is_conclusive(ratios: &[f64]) -> bool {
    ratios.len() >= FEWEST
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Placement;
    use std::collections::BTreeSet;

    #[test]
    fn every_unit_is_written() {
        for (id, outputs) in [
            ("softmax/f32/rows=7,cols=50", 350),
            ("rms-norm/f32/rows=7,cols=50", 350),
            ("matmul/f32/m=5,n=6,k=7", 30),
            ("matmul.nn/f32/m=5,n=6,k=7", 30),
            ("add/f32/rows=300,cols=3", 300),
            ("fft/f32/batch=5,n=64", 5 * 64),
            ("add/f32/rows=1,cols=1000", 60),
            ("tanh/f32/rows=64,cols=4096", 4096),
            ("pow-scalar/f32/rows=3,cols=100000", 4096),
        ] {
            let case = id.parse().unwrap();
            let instance = Instance::new(&case, Placement::FlushStart, &mut Draws::new(1, 1)).unwrap();
            let units = units(&instance, &instance.changeable(), &mut Draws::new(2, 2));
            let reached: BTreeSet<usize> = units
                .iter()
                .flat_map(|(tensor, element)| {
                    let problem = instance.problem(Fill::Uniform);
                    let reach = instance.case.judged().reach(&problem, *tensor, *element);
                    reach.into_iter().flat_map(|reach| (0..reach.count).map(move |i| reach.nth(i)))
                })
                .collect();
            assert!(reached.len() >= outputs, "{id}: {}", reached.len());
        }
    }

    #[test]
    fn what_a_memo_saves_is_not_claimed_for_new_values() {
        let claims = |time: f64| (0..20).map(|i| time + 0.01 * f64::from(i % 3)).collect::<Vec<f64>>();
        let of = |new: f64, launches| hold_new(&claims(new), &claims(1.0), launches, Some(0.5));
        assert_eq!(of(1.6, 14), Ok(()));
        assert!(
            of(1.0, 14).unwrap_err().contains("claims 0 % more for launches on new values, which take 50 %")
        );
        assert!(of(0.9, 14).unwrap_err().contains("claims less"));
        assert_eq!(of(1.0, 1), Ok(()), "a launch or two after new values these are not old");
        assert_eq!(hold_new(&claims(1.0), &claims(1.0), 14, None), Ok(()));
    }

    #[test]
    fn a_memo_shows_and_noise_does_not() {
        let noise: Vec<f64> = (0..12).map(|i| if i % 2 == 0 { 0.12 } else { -0.08 }).collect();
        let of = |ratios: &[f64]| verdict(ratios).1;
        assert_eq!(of(&noise), Verdict::Nothing);
        assert_eq!(of(&[0.08; 12]), Verdict::Learns);
        let mut astray: Vec<f64> = (0..14).map(|i| 1.2 + 0.01 * f64::from(i)).collect();
        astray[3] = -0.1;
        assert_eq!(of(&astray), Verdict::Remembers, "one pair that went astray hides nothing");
        assert_eq!(of(&[0.02; 12]), Verdict::Nothing);
        assert_eq!(of(&[0.5, 0.4, 0.6, 0.5]), Verdict::Learns);
        assert_eq!([of(&[0.5, 0.01, 0.6, 0.5]), of(&[0.5])], [Verdict::Nothing; 2]);
    }
}
