//! The gate: every implementation of a case, before its first sample.
//!
//! First small shapes that the kernel has not seen, with every family of inputs; then the case
//! itself. Outputs are poisoned before each launch, data lies flush against unreadable pages, once
//! at the end and once at the start, and every judged element has its own derived bound.

use crate::cause;
use crate::checks::Check;
use crate::failure::{Failure, SeenOn, Stop};
use crate::instance::{Instance, Placement, draw_poison};
use crate::lane::Lane;
use crate::sample;
use crate::shapes;
use crate::stage::Stage;
use roofline_core::bound::flushed;
use roofline_core::case::Case;
use roofline_core::condition::Condition;
use roofline_core::fill::Fill;
use roofline_core::judge::{Judgement, judge};
use roofline_core::ops::Expected;
use roofline_core::philox::Draws;
use roofline_core::record::Status;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

/// A launch that takes longer than this is not repeated for the gate.
const SLOW: Duration = Duration::from_secs(1);

/// Takes the lanes of a case through the gate. Lanes that fail are out.
///
/// Lanes that require nothing share their shapes; those of a condition have shapes and places inside it.
pub fn pass(stage: &mut Stage, case: &Case, lanes: &mut [Lane]) -> Result<(), Stop> {
    for lane in lanes.iter_mut().filter(|lane| lane.is_live()) {
        shapes::note_what_is_weaker(case, lane);
    }
    for ground in shapes::grounds(lanes) {
        // A row meets the same shapes and contents whoever is beside it.
        let own = Draws::of(stage.options.seed, &format!("{case}, {ground}"));
        let shared = (!ground.is_empty()).then(|| std::mem::replace(&mut stage.draws, own));
        let passed = pass_on(stage, case, &ground, lanes);
        if let Some(shared) = shared {
            stage.draws = shared;
        }
        passed?;
    }
    Ok(())
}

/// The lanes of one ground.
fn pass_on(stage: &mut Stage, case: &Case, ground: &Condition, lanes: &mut [Lane]) -> Result<(), Stop> {
    let is_finite = lanes.iter().any(|lane| lane.condition.finite);
    let mut trial = |stage: &mut Stage, shape: &Case, placement: Placement, fills: &[Fill]| {
        trial(stage, &Trial { case, shape, ground, placement, fills }, lanes)
    };
    let end = Placement::FlushEnd { align: ground.align.unwrap_or(1) };
    let fills = case.operation.fills_of(case);
    if stage.options.checks.on(Check::OtherShapes) {
        for (number, shape) in shapes::other_shapes(case, ground, &mut stage.draws).iter().enumerate() {
            let placement = if number % 2 == 0 { end } else { Placement::FlushStart };
            trial(stage, shape, placement, &fills)?;
        }
    }
    trial(stage, case, end, &[Fill::Uniform, Fill::Normal])?;
    let others: Vec<Fill> = fills.into_iter().skip(2).collect();
    let mut other = vec![others[stage.draws.below(others.len() as u64) as usize]];
    if is_finite && other == [Fill::Nonfinite] {
        // Lanes that take finite inputs only see another one.
        other.extend(others.into_iter().find(|fill| *fill != Fill::Nonfinite));
    }
    trial(stage, case, Placement::FlushStart, &other)
}

/// One instance, of the case or of a shape drawn beside it, for the lanes of one ground.
struct Trial<'a> {
    case: &'a Case,
    shape: &'a Case,
    ground: &'a Condition,
    placement: Placement,
    fills: &'a [Fill],
}

/// Judges launches of all live lanes on one instance, one fill after the other.
fn trial(stage: &mut Stage, trial: &Trial, lanes: &mut [Lane]) -> Result<(), Stop> {
    let Trial { case, shape, ground, fills, .. } = *trial;
    let guarded = stage.options.checks.on(Check::Guards);
    let placement = if guarded { trial.placement } else { Placement::Aligned { offset: 0 } };
    let mut instance = Instance::new(shape, placement, &mut stage.draws)?;
    let in_trial =
        |lane: &Lane| lane.is_live() && !lane.slow && !lane.is_probe() && lane.condition.ground() == *ground;
    for lane in lanes.iter_mut().filter(|lane| in_trial(lane)) {
        let prepared =
            lane.attempt(stage, &shape.to_string(), |lane, stage| lane.prepare(stage, &instance))?;
        if prepared.is_none() {
            seen_on(lane, shape, placement, Fill::Uniform, 1);
            cause::tell(stage, case, shape, lane)?;
        } else if let (Placement::FlushEnd { align }, 1..) = (placement, instance.gap()) {
            let most = align - 1;
            let why =
                format!("aligned to {align} bytes, data ends up to {most} bytes before the unreadable page");
            lane.weaker(Check::Guards, why);
        }
    }
    let prepared: Vec<usize> = (0..lanes.len()).filter(|i| in_trial(&lanes[*i])).collect();
    for (number, fill) in fills.iter().enumerate() {
        if number > 0 && !stage.options.checks.on(Check::Families) {
            break;
        }
        let takes = |lane: &Lane| in_trial(lane) && !(lane.condition.finite && *fill == Fill::Nonfinite);
        if !prepared.iter().any(|index| takes(&lanes[*index])) {
            continue;
        }
        let seed = stage.fresh_seed();
        instance.fill(*fill, seed);
        let place = format!("{shape}, {fill} inputs, {}", place_name(placement));
        let exam = match Exam::new(&instance, *fill, &mut stage.draws) {
            Ok(exam) => exam,
            Err(failure) => {
                fail_all(stage, lanes, &failure.seen_in(&place));
                break;
            }
        };
        for index in &prepared {
            let lane = &mut lanes[*index];
            if !takes(lane) {
                continue;
            }
            let is_first = number == 0;
            let own = lane.condition.flushes_denormals.then(|| exam.of_flushed(shape));
            let exam = own.as_ref().unwrap_or(&exam);
            let sat =
                lane.attempt(stage, &place, |lane, stage| sit(stage, lane, &instance, exam, is_first))?;
            if sat.is_none() {
                seen_on(lane, shape, placement, *fill, seed);
                cause::tell(stage, case, shape, lane)?;
            }
        }
    }
    for index in prepared {
        let lane = &mut lanes[index];
        if lane.is_live() {
            lane.attempt(stage, &shape.to_string(), |lane, stage| lane.release(stage))?;
        }
    }
    Ok(())
}

/// Notes the instance that a lane has just failed on.
fn seen_on(lane: &mut Lane, shape: &Case, placement: Placement, fill: Fill, seed: u64) {
    if let Some(failure) = &mut lane.failure {
        failure.seen_on = Some(Box::new(SeenOn { case: shape.to_string(), placement, fill, seed }));
    }
}

fn place_name(placement: Placement) -> &'static str {
    match placement {
        Placement::FlushEnd { align: 1 } => "data flush with the end of its memory",
        Placement::FlushEnd { .. } => "aligned data near the end of its memory",
        Placement::FlushStart => "data flush with the start of its memory",
        Placement::Aligned { .. } => "data between canaries",
    }
}

/// Questions with their answers: the elements to judge on one instance and one fill.
pub struct Exam {
    pub fill: Fill,
    pub wanted: Vec<usize>,
    pub expected: Vec<Expected>,
    inputs: u64,
}

impl Exam {
    /// Draws the sample and computes its reference, on as many threads as there are cores.
    pub fn new(instance: &Instance, fill: Fill, draws: &mut Draws) -> Result<Exam, Failure> {
        let wanted = sample::for_gate(&instance.case, instance.output(), draws);
        let expected = reference(instance, fill, &wanted)?;
        Ok(Exam { fill, wanted, expected, inputs: instance.hash_inputs() })
    }

    /// The same for a kernel that takes denormals for zero, and may: what underflows is lost whole.
    fn of_flushed(&self, case: &Case) -> Exam {
        let lost = flushed(case.accumulator);
        let widen = |expected: &Expected| Expected { soft: expected.soft + lost, ..*expected };
        Exam { expected: self.expected.iter().map(widen).collect(), wanted: self.wanted.clone(), ..*self }
    }
}

/// Without expected values nothing can be judged: all lanes end with the reason.
pub fn fail_all(stage: &mut Stage, lanes: &mut [Lane], failure: &Failure) {
    for lane in lanes.iter_mut().filter(|lane| lane.is_live() && !lane.is_probe()) {
        lane.fail(stage, failure.clone());
    }
}

/// Expected values of the chosen elements. A reference that panics, as one that a program brought along
/// may, refuses the case.
pub fn reference(instance: &Instance, fill: Fill, wanted: &[usize]) -> Result<Vec<Expected>, Failure> {
    catch(|| compute_reference(instance, fill, wanted)).map_err(|why| Failure::new(Status::Refused, why))
}

/// What a computation of the core gives, or what its panic says.
pub fn catch<T>(compute: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(compute)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        text.unwrap_or("the reference panicked without a message").to_owned()
    })
}

fn compute_reference(instance: &Instance, fill: Fill, wanted: &[usize]) -> Vec<Expected> {
    let problem = instance.problem(fill);
    let compute = instance.case.operation.reference;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if wanted.len() < 4096 || threads == 1 {
        return compute(&problem, wanted);
    }
    // Parts begin where a row begins, so that no row's work is done twice.
    let (_, cols) = sample::lines(instance.output());
    let parts: Vec<&[usize]> = split_at_rows(wanted, wanted.len().div_ceil(threads), cols);
    std::thread::scope(|scope| {
        let problem = &problem;
        let running: Vec<_> =
            parts.into_iter().map(|part| scope.spawn(move || compute(problem, part))).collect();
        let parts = running.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        parts.flatten().collect()
    })
}

fn split_at_rows(wanted: &[usize], length: usize, cols: usize) -> Vec<&[usize]> {
    let mut parts = Vec::new();
    let mut rest = wanted;
    while rest.len() > length {
        let row = rest[length] / cols;
        let before = rest.partition_point(|index| *index / cols < row);
        // A row longer than a part stays whole.
        let cut = if before > 0 { before } else { rest.partition_point(|index| *index / cols <= row) };
        let (part, after) = rest.split_at(cut);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// One lane's judged launch.
fn sit(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &Instance,
    exam: &Exam,
    is_first: bool,
) -> Result<(), Stop> {
    let poison = draw_poison(instance.output().dtype, lane.gate.launches as usize, &mut lane.draws);
    if stage.options.checks.on(Check::Poison) {
        instance.poison(poison);
    }
    let start = Instant::now();
    lane.launch(stage, 1)?;
    lane.slow = start.elapsed() > SLOW;
    let judgement = judge_output(stage, instance, exam, poison, lane.draws.bits())?;
    lane.settle(judgement)?;
    let hash = instance.hash_output();
    check_memory(stage, instance, exam)?;
    if !is_first || lane.slow {
        return Ok(());
    }
    if stage.options.checks.on(Check::LateWrites) {
        std::thread::sleep(Duration::from_millis(5));
        if instance.hash_output() != hash {
            return Err(
                Failure::new(Status::Wrong, "the output changed after the launch had returned").into()
            );
        }
    }
    // Further launches on the same inputs: an output that is added to, a result that differs.
    let repeats = 1 + lane.draws.below(3) as u32;
    lane.launch(stage, repeats)?;
    let same = instance.hash_output() == hash;
    lane.gate.deterministic = Some(lane.gate.deterministic.unwrap_or(true) && same);
    let judgement = judge_output(stage, instance, exam, poison, lane.draws.bits())?;
    lane.settle(judgement)?;
    Ok(())
}

/// Judges the output: the sample, what was never written, and the whole where that is cheap.
pub fn judge_output(
    stage: &Stage,
    instance: &Instance,
    exam: &Exam,
    poison: f64,
    secret: u64,
) -> Result<Judgement, Failure> {
    let tensor = instance.output();
    let judgement = judge_elements(stage, instance, &exam.wanted, &exam.expected, poison);
    if judgement.failed > 0 || exam.wanted.len() == tensor.elements() {
        return Ok(judgement);
    }
    let (_, cols) = sample::lines(tensor);
    let unwritten = match stage.options.checks.on(Check::Poison) {
        true => instance.first_unwritten(poison).map(|index| index / cols),
        false => None,
    };
    let projected = match instance.case.operation.whole {
        Some(project) if stage.options.checks.on(Check::Projection) && projects(exam.fill) => {
            let row = |row| instance.output_row(row, cols);
            project(&instance.problem(exam.fill), tensor.dtype, &row, secret)
        }
        _ => Vec::new(),
    };
    // A row that is suspected is judged whole: only elements outside their bounds make it wrong.
    let suspected: Vec<usize> = projected.into_iter().chain(unwritten).take(4).collect();
    suspected.into_iter().try_fold(judgement, |sum, row| {
        let wanted: Vec<usize> = (row * cols..(row + 1) * cols).collect();
        let expected = reference(instance, exam.fill, &wanted)?;
        let more = judge_elements(stage, instance, &wanted, &expected, poison);
        Ok(Judgement {
            checked: sum.checked + more.checked,
            failed: sum.failed + more.failed,
            score: sum.score.max(more.score),
            fault: sum.fault.or(more.fault),
        })
    })
}

/// Judges chosen elements of the output.
pub fn judge_elements(
    stage: &Stage,
    instance: &Instance,
    wanted: &[usize],
    expected: &[Expected],
    poison: f64,
) -> Judgement {
    let tensor = instance.output();
    let got = instance.read_output(wanted);
    judge(tensor.dtype, &tensor.shape, wanted, &got, expected, Some(poison), stage.options.checks.loosen())
}

/// The projection's tolerance holds for contents of mean 0 that overflow no output type.
fn projects(fill: Fill) -> bool {
    matches!(fill, Fill::Uniform | Fill::Normal)
}

fn check_memory(stage: &Stage, instance: &Instance, exam: &Exam) -> Result<(), Failure> {
    if let Some(why) = instance.broken_canary().filter(|_| stage.options.checks.on(Check::Canaries)) {
        return Err(Failure::new(Status::Wrong, why));
    }
    // The files are sealed; this holds even where a system does not honour that.
    if instance.hash_inputs() != exam.inputs {
        return Err(Failure::new(Status::Wrong, "an input was changed by the launch"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_begin_at_rows() {
        let wanted: Vec<usize> = (0..100).collect();
        let parts = split_at_rows(&wanted, 34, 10);
        assert_eq!(parts.concat(), wanted);
        assert!(parts.iter().all(|part| part[0] % 10 == 0));
        // A sampled column: every element in a row of its own.
        let column: Vec<usize> = (0..100).map(|row| row * 10 + 3).collect();
        assert_eq!(split_at_rows(&column, 34, 10).concat(), column);
        // One long row cannot be cut.
        assert_eq!(split_at_rows(&wanted, 30, 1000).concat(), wanted);
    }
}
