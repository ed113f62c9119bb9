//! Why the gate stopped a row, where the reason is a need that nobody declared: found out by trying again.

use crate::device;
use crate::failure::{SeenOn, Stop};
use crate::instance::Placement;
use crate::lane::Lane;
use crate::stage::{Seat, Stage};
use roofline_core::case::Case;
use roofline_core::condition::{ALIGNMENTS, suggestion};
use roofline_core::fill::Fill;
use roofline_core::philox::Draws;
use roofline_core::record::Status;

/// Adds the cause to what is said of a lane that has just failed on `shape`, one of the gate's instances of
/// `case`. Each try is a process of its own.
pub fn tell(stage: &mut Stage, case: &Case, shape: &Case, lane: &mut Lane) -> Result<(), Stop> {
    let Some(failure) = lane.failure.clone() else { return Ok(()) };
    let told = match failure.status {
        Status::Crashed if is_fault(&failure.why) => match &failure.seen_on {
            Some(seen) => match misaligned(stage, lane, shape, seen)? {
                Some(told) => Some(format!("{}; {told}", failure.why)),
                None => sizes(stage, case, shape, lane, &failure.why)?,
            },
            None => None,
        },
        Status::Crashed | Status::Unsupported => sizes(stage, case, shape, lane, &failure.why)?,
        _ => None,
    };
    match (told, &mut lane.failure) {
        (Some(told), Some(failure)) => failure.why = told,
        // A plain no has nothing to look at by hand.
        (None, Some(failure)) if failure.status == Status::Unsupported => failure.seen_on = None,
        _ => {}
    }
    Ok(())
}

/// A fault of the processor, or one that a device's driver tells.
fn is_fault(why: &str) -> bool {
    let told_by_driver = why.to_ascii_lowercase().replace('_', " ").contains("misaligned address");
    told_by_driver || ["ended by SIGSEGV", "ended by SIGBUS"].iter().any(|end| why.starts_with(end))
}

/// Tensors that begin where only their elements are aligned, with room on either side: whoever dies there
/// and not at multiples of more bytes needs those.
fn misaligned(stage: &mut Stage, lane: &Lane, shape: &Case, seen: &SeenOn) -> Result<Option<String>, Stop> {
    let size = (shape.operation.tensors)(shape).iter().map(|tensor| tensor.dtype.size()).max().unwrap_or(1);
    let had = device::align(shape.device, &lane.condition).max(size);
    let mut survives = |offset: usize| {
        comes_back(stage, &lane.seat, shape, Placement::Aligned { offset }, seen.fill, seen.seed)
    };
    if had >= 128 || survives(had)? {
        return Ok(None);
    }
    for bytes in ALIGNMENTS.into_iter().filter(|bytes| *bytes > had) {
        if survives(bytes)? {
            return Ok(Some(format!(
                "its tensors were aligned to {had} bytes only, and where they are aligned to {bytes} it comes back: \
                 if it needs that, declare `align {bytes}`"
            )));
        }
    }
    Ok(None)
}

/// A size that only the gate tries, where the case itself is taken.
fn sizes(
    stage: &mut Stage,
    case: &Case,
    shape: &Case,
    lane: &Lane,
    why: &str,
) -> Result<Option<String>, Stop> {
    let align = device::align(case.device, &lane.condition);
    let is_drawn = shape.sizes != case.sizes;
    if !is_drawn || !comes_back(stage, &lane.seat, case, Placement::FlushEnd { align }, Fill::Uniform, 1)? {
        return Ok(None);
    }
    let names = case.operation.axis_names();
    let axes = names.iter().zip(&shape.sizes).map(|(name, size)| format!("{name}={size}"));
    let axes = axes.collect::<Vec<_>>().join(",");
    let example =
        suggestion(&names, &case.sizes, &shape.sizes).unwrap_or_else(|| "cols % 16 == 0".to_owned());
    let does = match lane.failure.as_ref().map(|failure| failure.status) {
        Some(Status::Unsupported) => "says no to",
        _ => "fails on",
    };
    Ok(Some(format!(
        "{does} {axes}, a size that only the gate tries, and takes the case: {why}; if it is meant for some sizes \
         only, declare them, as in requires = \"{example}\""
    )))
}

/// Whether one launch on such memory comes back, in a process of its own.
fn comes_back(
    stage: &mut Stage,
    seat: &Seat,
    case: &Case,
    placement: Placement,
    fill: Fill,
    seed: u64,
) -> Result<bool, Stop> {
    stage.clear(seat);
    let mut instance = stage.instance_by(case, placement, &mut Draws::new(seed, 2))?;
    instance.fill(fill, seed);
    let mut scratch = Lane::new(&seat.implementation, &seat.runner, case, stage.options.seed);
    let outcome = scratch.prepare(stage, &instance).and_then(|()| scratch.launch(stage, 1));
    stage.clear(seat);
    match outcome {
        Ok(()) => Ok(true),
        Err(Stop::Row(_)) => Ok(false),
        Err(other) => Err(other),
    }
}
