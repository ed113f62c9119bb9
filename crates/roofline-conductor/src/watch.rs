//! Watched batches: each launch of a visit must write the output, and rightly, not only the last.
//!
//! One element at a drawn place is poisoned. As soon as it has its right value it is poisoned again,
//! until the visit is over. An honest batch puts it right once a launch.

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

/// Share of the launches that must be seen, and launches without which nothing is said.
const LEAST_SEEN: f64 = 0.75;
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
    let is_right = || {
        let got = instance.read_output(output, &[index])[0];
        judge::score(dtype, got, expected, loosen) <= 1.0
    };
    // A value that is right by itself tells nothing.
    instance.poison_at(&spot, &poison);
    if is_right() {
        return Ok(None);
    }
    pilot::flush_if_cold(instance);
    let (tick, _pinned) = stage.beside(&lane.seat);
    let (mut looks, mut seen) = (0_u64, 0_u64);
    let (mut last, mut longest) = (None::<Instant>, Duration::ZERO);
    let visit = visit::converse(stage, lane, shape, tick, || {
        looks += 1;
        let now = Instant::now();
        longest = longest.max(last.replace(now).map_or(Duration::ZERO, |last| now - last));
        if is_right() {
            seen += 1;
            instance.poison_at(&spot, &poison);
        }
    })?;
    seen += u64::from(is_right());
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
    Ok(Some(Watched { launches, seen: seen.min(launches) }).filter(|watched| watched.launches > 0))
}

/// What the watched visits of a row show: the share that was seen in the middle one, and whether launches were
/// left out. A visit in which the conductor was late makes nobody lazy.
pub fn verdict(visits: &[Watched]) -> (Option<f64>, bool) {
    let launches: u64 = visits.iter().map(|visit| visit.launches).sum();
    let shares: Vec<f64> =
        visits.iter().map(|visit| visit.seen as f64 / visit.launches.max(1) as f64).collect();
    let share = median(&shares).filter(|_| visits.len() >= FEWEST_VISITS && launches >= FEWEST_LAUNCHES);
    (share, share.is_some_and(|share| share < LEAST_SEEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_launches_is_not_enough() {
        let visits = |seen: &[u64]| -> Vec<Watched> {
            seen.iter().map(|seen| Watched { launches: 10, seen: *seen }).collect()
        };
        assert_eq!(verdict(&visits(&[5, 5, 5, 6])), (Some(0.5), true));
        assert_eq!(verdict(&visits(&[10, 9, 1, 10, 9])), (Some(0.9), false));
        assert_eq!(verdict(&visits(&[0, 0])), (None, false));
    }
}
