//! Watched batches: each launch of a visit must write the output, and rightly, not only the last.
//!
//! One element at a drawn place is poisoned. As soon as it has its right value it is poisoned again,
//! until the visit is over. An honest batch puts it right once a launch.

use crate::failure::Stop;
use crate::gate;
use crate::instance::{Instance, draw_poison};
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
use roofline_core::turn::Watched;
use std::time::{Duration, Instant};

/// Share of the launches that must be seen, and launches without which nothing is said.
const LEAST_SEEN: f64 = 0.75;
const FEWEST_LAUNCHES: u64 = 8;
const FEWEST_VISITS: usize = 4;
/// Time without a look that costs no launch.
const SHORT_ABSENCE: Duration = Duration::from_micros(20);
/// Share of a visit that must be looked at for it to say anything.
const LEAST_WATCHED: f64 = 0.5;

/// One watched visit. Outputs that a library makes itself can be seen once a sample.
pub fn watch(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &Instance,
    shape: Shape,
) -> Result<Option<Watched>, Stop> {
    let output = instance.output();
    let place = stage.draws.below(output.elements() as u64) as usize;
    let poison = draw_poison(output.dtype, stage.draws.below(2) as usize, &mut stage.draws);
    let expected = gate::reference(instance, Fill::Uniform, &[place])?[0];
    let loosen = stage.options.checks.loosen();
    let is_right = || {
        let got = instance.read_output(&[place])[0];
        judge::score(output.dtype, got, &expected, loosen) <= 1.0
    };
    // A value that is right by itself tells nothing.
    instance.poison_at(&[place], poison);
    if is_right() {
        return Ok(None);
    }
    pilot::flush_if_cold(instance);
    let (tick, _pinned) = stage.beside(&lane.seat);
    let (mut looks, mut seen) = (0_u64, 0_u64);
    let (mut last, mut gaps) = (None::<Instant>, Vec::new());
    let visit = visit::converse(stage, lane, shape, tick, || {
        looks += 1;
        let now = Instant::now();
        let gap = last.replace(now).map_or(Duration::ZERO, |last| now - last);
        if gap > SHORT_ABSENCE {
            gaps.push(gap);
        }
        if is_right() {
            seen += 1;
            instance.poison_at(&[place], poison);
        }
    })?;
    seen += u64::from(is_right());
    marks::check_canaries(stage, instance)?;
    let launches = match lane.evidence.output {
        OutputMode::InPlace => u64::from(shape.launches()),
        OutputMode::Fresh => u64::from(shape.samples),
    };
    // A conductor that was away has missed launches; one that was away for long can say nothing.
    let of_a_launch = visit.wall / shape.launches().max(1) / 4;
    let absent: Duration = gaps.into_iter().filter(|gap| *gap > of_a_launch).sum();
    let watched = 1.0 - absent.as_secs_f64() / visit.wall.as_secs_f64().max(1e-9);
    if tick.is_zero() && watched < LEAST_WATCHED {
        return Ok(None);
    }
    let launches = if tick.is_zero() { (launches as f64 * watched) as u64 } else { launches };
    // Between two looks any number of launches may pass, and the first look may come late.
    let launches = launches.min(looks / 2);
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
