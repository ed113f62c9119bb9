//! Watched batches: each launch of a visit must write the output, and rightly, not only the last.
//!
//! One element at a drawn place is poisoned. As soon as it has its right value it is poisoned again,
//! until the visit is over. An honest batch puts it right once a launch.
//!
//! A kernel may keep intermediate values in its output. Looks that find such a value say that something is
//! written, and the right one may be there too shortly to be seen: then fewer launches need to be seen, and the
//! evidence says so.

use crate::failure::Stop;
use crate::gate;
use crate::instance::{Instance, Spot};
use crate::lane::Lane;
use crate::marks;
use crate::pilot;
use crate::shape::Shape;
use crate::stage::Stage;
use crate::visit;
use roofline_core::fill::Fill;
use roofline_core::judge;
use roofline_core::protocol::OutputMode;
use roofline_core::stats::median;
use roofline_core::tensor::Tensor;
use roofline_core::turn::Watched;
use std::time::{Duration, Instant};

/// Share of the launches that must be seen, and of a kernel whose output holds other values in between.
const LEAST_SEEN: f64 = 0.75;
const LEAST_SEEN_OF_SCRATCH: f64 = 0.15;
/// So many looks in a launch must have found a value that is neither poison nor right. Who writes once a launch has
/// none of them.
const SCRATCH: f64 = 0.05;
/// Looks at other values without which it is no wonder that the right one was never there: some kernels have it for a
/// twentieth of their time.
const FEWEST_OTHERS: u64 = 200;
/// Launches and visits without which nothing is said.
const FEWEST_LAUNCHES: u64 = 8;
const FEWEST_VISITS: usize = 4;
/// Time without a look that costs no launch.
const SHORT_ABSENCE: Duration = Duration::from_micros(20);

/// One watched visit. Outputs that a library makes itself can be seen once a sample.
pub fn watch(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &Instance,
    shape: Shape,
) -> Result<Option<Watched>, Stop> {
    let sizes: Vec<usize> = instance.outputs().map(Tensor::elements).collect();
    let Some(output) =
        (0..sizes.len()).max_by_key(|output| sizes[*output]).filter(|output| sizes[*output] > 0)
    else {
        return Ok(None);
    };
    let index = stage.draws.below(sizes[output] as u64) as usize;
    let spot = [Spot { output, index }];
    let launch = stage.draws.below(2) as usize;
    let poison = instance.draw_poison(launch, &mut stage.draws);
    // Where only a property holds, no element is right or wrong by itself.
    let expected = gate::reference(instance, Fill::Uniform, output, &[index])?;
    let Some(expected) = expected.first() else { return Ok(None) };
    let loosen = stage.options.checks.loosen();
    let dtype = instance.output(output).dtype;
    // What is worked on in place is the input in between, which says nothing of the kernel.
    let start = instance.starts_as(output, index).map(f64::to_bits);
    let read = || instance.read_output(output, &[index])[0];
    let is_right = |got: f64| judge::score(dtype, got, expected, loosen) <= 1.0;
    // A value that is right by itself tells nothing.
    instance.poison_at(&spot, &poison);
    let poisoned = read();
    if is_right(poisoned) {
        return Ok(None);
    }
    pilot::flush_if_cold(instance);
    let (tick, _pinned) = stage.beside(&lane.seat);
    // Between a launch and the copy for the next, the right value is there too shortly for looks that are apart.
    if instance.case.is_restored() && !tick.is_zero() {
        return Ok(None);
    }
    let (mut looks, mut seen, mut others) = (0_u64, 0_u64, 0_u64);
    let (mut last, mut longest) = (None::<Instant>, Duration::ZERO);
    let visit = visit::converse(stage, lane, shape, tick, || {
        looks += 1;
        let now = Instant::now();
        longest = longest.max(last.replace(now).map_or(Duration::ZERO, |last| now - last));
        // Read once: between two looks the launch may have come by.
        let got = read();
        if is_right(got) {
            seen += 1;
            instance.poison_at(&spot, &poison);
        } else if got.to_bits() != poisoned.to_bits() && Some(got.to_bits()) != start {
            others += 1;
        }
    })?;
    seen += u64::from(is_right(read()));
    marks::check_canaries(stage, instance)?;
    let launches = match lane.evidence.output {
        OutputMode::InPlace => u64::from(shape.launches()),
        OutputMode::Fresh => u64::from(shape.samples),
    };
    // A conductor that was away for long has missed launches: such a visit says nothing.
    if tick.is_zero() && longest > SHORT_ABSENCE.max(visit.wall / shape.launches().max(1) / 4) {
        return Ok(None);
    }
    // Between two looks any number of launches may pass, and the first look may come late; looks at a kernel that
    // waited for a core see nothing.
    let running = (visit.cpu.as_secs_f64() / visit.wall.as_secs_f64().max(1e-9)).min(1.0);
    let launches = launches.min((looks as f64 * running / 2.0) as u64);
    let watched = Watched { launches, seen: seen.min(launches), others };
    Ok(Some(watched).filter(|watched| watched.launches > 0))
}

/// What the watched visits of a row show. A visit in which the conductor was late makes nobody lazy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Too little was seen to say anything.
    Nothing,
    /// This share of the launches was seen, in the middle visit.
    Held(f64),
    /// The same where the output holds other values between launches.
    Scratch(f64),
    /// Launches were left out.
    LeftOut(f64),
}

impl Verdict {
    /// The share that was seen.
    pub fn share(self) -> Option<f64> {
        match self {
            Verdict::Nothing => None,
            Verdict::Held(share) | Verdict::Scratch(share) | Verdict::LeftOut(share) => Some(share),
        }
    }
}

pub fn verdict(visits: &[Watched]) -> Verdict {
    let launches: u64 = visits.iter().map(|visit| visit.launches).sum();
    let per_launch = |count: fn(&Watched) -> u64| -> Vec<f64> {
        visits.iter().map(|visit| count(visit) as f64 / visit.launches.max(1) as f64).collect()
    };
    let share = median(&per_launch(|visit| visit.seen));
    let is_scratch = median(&per_launch(|visit| visit.others)).is_some_and(|others| others >= SCRATCH);
    // The last launch of a visit is seen in any case.
    let early: u64 = visits.iter().map(|visit| visit.seen.saturating_sub(1)).sum();
    let others: u64 = visits.iter().map(|visit| visit.others).sum();
    match share.filter(|_| visits.len() >= FEWEST_VISITS && launches >= FEWEST_LAUNCHES) {
        None => Verdict::Nothing,
        Some(share) if share >= LEAST_SEEN => Verdict::Held(share),
        Some(share) if is_scratch && share >= LEAST_SEEN_OF_SCRATCH && early >= 2 => Verdict::Scratch(share),
        Some(_) if is_scratch && others < FEWEST_OTHERS => Verdict::Nothing,
        Some(share) => Verdict::LeftOut(share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_launches_is_not_enough() {
        let visits = |seen: &[u64], others: u64| -> Vec<Watched> {
            seen.iter().map(|seen| Watched { launches: 10, seen: *seen, others }).collect()
        };
        assert_eq!(verdict(&visits(&[5, 5, 5, 6], 0)), Verdict::LeftOut(0.5));
        assert_eq!(verdict(&visits(&[10, 9, 1, 10, 9], 0)), Verdict::Held(0.9));
        assert_eq!(verdict(&visits(&[0, 0], 0)), Verdict::Nothing);
        // An output that holds other values in between; and one that never holds the right one.
        assert_eq!(verdict(&visits(&[5, 5, 5, 6], 40)), Verdict::Scratch(0.5));
        assert_eq!(verdict(&visits(&[1, 1, 1, 1], 60)), Verdict::LeftOut(0.1));
        // Few looks, as where the conductor shares a core with the kernel.
        assert_eq!(verdict(&visits(&[1, 1, 1, 1], 9)), Verdict::Nothing);
        let rarely: Vec<Watched> =
            [1, 1, 2, 1, 1, 2, 1].map(|seen| Watched { launches: 3, seen, others: 7 }).into();
        assert_eq!(verdict(&rarely), Verdict::Scratch(1.0 / 3.0));
    }
}
