//! The gate: every implementation of a case, before its first sample.
//!
//! First small shapes that the kernel has not seen, with every family of inputs; then the case
//! itself. Outputs are poisoned before each launch, data lies flush against unreadable pages, once
//! at the end and once at the start, and every judged element has its own derived bound.

use crate::cause;
use crate::checks::Check;
use crate::device;
use crate::failure::{Failure, SeenOn, Stop};
use crate::instance::{Instance, Placement, Poison, Spot};
use crate::lane::Lane;
use crate::sample;
use crate::shapes;
use crate::spent::Part;
use crate::stage::Stage;
use roofline_core::bound::flushed;
use roofline_core::case::Case;
use roofline_core::condition::Condition;
use roofline_core::fill::Fill;
use roofline_core::judge::{Judgement, judge};
use roofline_core::operation::{Expected, Judged};
use roofline_core::philox::Draws;
use roofline_core::record::Status;
use roofline_core::tensor::View;
use std::ops::Range;
use std::panic::resume_unwind;
use std::time::Duration;

/// Elements below which one thread is as quick as several.
const FEW: usize = 4096;

/// Takes the lanes of a case that `takes_part` names through the gate. Lanes that fail are out.
///
/// Lanes that require nothing share their shapes; those of a condition have shapes and places inside it.
pub fn pass(
    stage: &mut Stage,
    case: &Case,
    lanes: &mut [Lane],
    takes_part: &dyn Fn(&Lane) -> bool,
) -> Result<(), Stop> {
    for lane in lanes.iter_mut().filter(|lane| lane.is_live()) {
        shapes::note_what_is_weaker(case, lane);
    }
    for ground in shapes::grounds(lanes) {
        // A row meets the same shapes and contents whoever is beside it.
        let own = Draws::of(stage.options.seed, &format!("{case}, {ground}"));
        let shared = (!ground.is_empty()).then(|| std::mem::replace(&mut stage.draws, own));
        let passed = pass_on(stage, case, &ground, lanes, takes_part);
        if let Some(shared) = shared {
            stage.draws = shared;
        }
        passed?;
    }
    if let Some(why) = no_projection(case) {
        lanes.iter_mut().for_each(|lane| lane.not_applicable(Check::Projection, why));
    }
    Ok(())
}

/// The lanes of one ground.
fn pass_on(
    stage: &mut Stage,
    case: &Case,
    ground: &Condition,
    lanes: &mut [Lane],
    takes_part: &dyn Fn(&Lane) -> bool,
) -> Result<(), Stop> {
    let is_finite = lanes.iter().any(|lane| lane.condition.finite);
    let mut trial = |stage: &mut Stage, shape: &Case, placement: Placement, fills: &[Fill]| {
        trial(stage, &Trial { case, shape, ground, placement, fills, takes_part }, lanes)
    };
    let end = Placement::FlushEnd { align: device::align(case.device, ground) };
    let fills = case.operation.fills_of(case);
    if stage.options.checks.on(Check::OtherShapes) {
        for (number, shape) in shapes::other_shapes(case, ground, &mut stage.draws).iter().enumerate() {
            let placement = if number % 2 == 0 { end } else { Placement::FlushStart };
            trial(stage, shape, placement, &fills)?;
        }
    }
    trial(stage, case, end, &[Fill::Uniform, Fill::Normal])?;
    let mut others = match stage.options.checks.on(Check::Families) {
        true => others(case, &mut stage.draws),
        false => vec![Fill::Uniform],
    };
    if is_finite && others == [Fill::Nonfinite] {
        // Lanes that take finite inputs only see another one.
        others.extend(fills.into_iter().skip(2).find(|fill| *fill != Fill::Nonfinite));
    }
    trial(stage, case, Placement::FlushStart, &others)
}

/// Why no projection of a case's output is looked at.
fn no_projection(case: &Case) -> Option<&'static str> {
    let output = (case.operation.tensors)(case).pop()?;
    if case.judged().whole().is_none() {
        Some("only products have one")
    } else if sample::is_whole(case, &output) {
        Some("the whole output is judged")
    } else {
        None
    }
}

/// Families that the case itself is judged with, beside the two of mean 0: one by lot, and the planted one
/// where the operation has it, since a tail that only long rows have is missed at the case's own size or never.
fn others(case: &Case, draws: &mut Draws) -> Vec<Fill> {
    let others: Vec<Fill> = case.operation.fills_of(case).into_iter().skip(2).collect();
    let drawn = others[draws.below(others.len() as u64) as usize];
    let mut chosen: Vec<Fill> = others.into_iter().filter(|fill| *fill == Fill::Planted).collect();
    chosen.extend(Some(drawn).filter(|drawn| !chosen.contains(drawn)));
    chosen
}

/// One instance, of the case or of a shape drawn beside it, for the lanes of one ground.
struct Trial<'a> {
    case: &'a Case,
    shape: &'a Case,
    ground: &'a Condition,
    placement: Placement,
    fills: &'a [Fill],
    takes_part: &'a dyn Fn(&Lane) -> bool,
}

/// Judges launches of all live lanes on one instance, one fill after the other.
fn trial(stage: &mut Stage, trial: &Trial, lanes: &mut [Lane]) -> Result<(), Stop> {
    let Trial { case, shape, ground, fills, takes_part, .. } = *trial;
    let guarded = stage.options.checks.on(Check::Guards);
    let placement = if guarded { trial.placement } else { Placement::Aligned { offset: 0 } };
    let mut instance = stage.instance(shape, placement)?;
    let takes_part = |lane: &Lane| {
        lane.is_live() && !lane.is_probe() && takes_part(lane) && lane.condition.ground() == *ground
    };
    // Whoever is slow sits out, and makes up for it should that change.
    for lane in lanes.iter_mut().filter(|lane| takes_part(lane) && lane.is_slow()) {
        lane.missed.extend([Check::Guards, Check::Families, Check::LateWrites]);
        lane.missed.extend((shape.sizes != case.sizes).then_some(Check::OtherShapes));
    }
    let in_trial = |lane: &Lane| takes_part(lane) && !lane.is_slow();
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
        let filling = stage.ledger.enter(Part::Filling);
        instance.fill(*fill, seed);
        drop(filling);
        if instance.has_constants() {
            // What preparation may have packed is something else now, the first time too: nothing was filled then.
            for index in
                prepared.iter().filter(|index| in_trial(&lanes[**index])).copied().collect::<Vec<_>>()
            {
                let lane = &mut lanes[index];
                lane.attempt(stage, &shape.to_string(), |lane, stage| {
                    lane.release(stage)?;
                    lane.prepare(stage, &instance)
                })?;
            }
        }
        let place = format!("{shape}, {fill} inputs, {}", place_name(placement));
        let exam = match Exam::new(stage, &instance, *fill) {
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
            let own = exam.of_lane(lane, shape);
            let exam = own.as_ref().unwrap_or(&exam);
            let sat = lane.attempt(stage, &place, |lane, stage| {
                lane.fairly(stage, |lane, stage| sit(stage, lane, &instance, exam, is_first))
            })?;
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
    /// By output.
    questions: Vec<Questions>,
    inputs: u64,
    /// Whether denormals may be taken for zero.
    flushes: bool,
}

/// Elements of one output, in ascending order.
#[derive(Clone)]
struct Questions {
    wanted: Vec<usize>,
    expected: Vec<Expected>,
}

impl Exam {
    /// Draws the sample and computes its reference, on as many threads as there are cores.
    pub fn new(stage: &mut Stage, instance: &Instance, fill: Fill) -> Result<Exam, Failure> {
        let _judging = stage.ledger.enter(Part::Judging);
        let mut questions = Vec::new();
        for (output, tensor) in instance.outputs().enumerate() {
            let wanted = sample::for_gate(&instance.case, tensor, &mut stage.draws);
            let expected = reference(instance, fill, output, &wanted)?;
            questions.push(Questions { wanted, expected });
        }
        Ok(Exam { fill, questions, inputs: instance.hash_inputs(), flushes: false })
    }

    /// The same for a kernel that takes denormals for zero, and may.
    pub fn of_lane(&self, lane: &Lane, case: &Case) -> Option<Exam> {
        let questions = self.questions.iter().map(|questions| Questions {
            expected: widened(questions.expected.clone(), case, true),
            wanted: questions.wanted.clone(),
        });
        lane.condition.flushes_denormals.then(|| Exam {
            questions: questions.collect(),
            flushes: true,
            ..*self
        })
    }
}

/// What may come out where denormals `flushes`: what underflows is lost whole.
fn widened(mut expected: Vec<Expected>, case: &Case, flushes: bool) -> Vec<Expected> {
    let lost = if flushes { flushed(case.precision.accumulator) } else { 0.0 };
    expected.iter_mut().for_each(|expected| expected.soft += lost);
    expected
}

/// Without expected values nothing can be judged: all lanes end with the reason.
pub fn fail_all(stage: &mut Stage, lanes: &mut [Lane], failure: &Failure) {
    for lane in lanes.iter_mut().filter(|lane| lane.is_live() && !lane.is_probe()) {
        lane.fail(stage, failure.clone());
    }
}

/// Expected values of the chosen elements. A reference that panics, as one that a program brought along
/// may, refuses the case.
pub fn reference(
    instance: &Instance,
    fill: Fill,
    output: usize,
    wanted: &[usize],
) -> Result<Vec<Expected>, Failure> {
    catch(|| compute_reference(instance, fill, output, wanted))
        .map_err(|why| Failure::new(Status::Refused, why))
}

/// What a computation of the core gives, or what its panic says.
pub fn catch<T>(compute: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(compute)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        text.unwrap_or("the reference panicked without a message").to_owned()
    })
}

fn compute_reference(instance: &Instance, fill: Fill, output: usize, wanted: &[usize]) -> Vec<Expected> {
    let problem = instance.problem(fill);
    let judged = instance.case.judged();
    let compute = |problem, wanted| judged.reference(problem, output, wanted);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // A process that is asked gives whole outputs.
    if wanted.len() < FEW || threads == 1 || matches!(judged, Judged::Own(_)) {
        return compute(&problem, wanted);
    }
    // Parts begin where a row begins, so that no row's work is done twice.
    let (_, cols) = sample::lines(instance.output(output));
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
    let poison = instance.draw_poison(lane.gate.launches as usize, &mut lane.draws);
    if stage.options.checks.on(Check::Poison) {
        instance.poison(&poison);
    }
    lane.launch(stage, 1)?;
    let judgement = judge_output(stage, instance, exam, &poison, lane.draws.bits())?;
    lane.settle(judgement)?;
    let hash = instance.hash_outputs();
    check_memory(stage, instance, exam)?;
    if is_first && lane.is_slow() {
        lane.missed.insert(Check::LateWrites);
    }
    if !is_first || lane.is_slow() {
        return Ok(());
    }
    if stage.options.checks.on(Check::LateWrites) {
        std::thread::sleep(Duration::from_millis(5));
        if instance.hash_outputs() != hash {
            return Err(
                Failure::new(Status::Wrong, "the output changed after the launch had returned").into()
            );
        }
    }
    // Further launches on the same inputs: an output that is added to, a result that differs.
    let repeats = 1 + lane.draws.below(3) as u32;
    lane.launch(stage, repeats)?;
    let same = instance.hash_outputs() == hash;
    lane.gate.deterministic = Some(lane.gate.deterministic.unwrap_or(true) && same);
    let judgement = judge_output(stage, instance, exam, &poison, lane.draws.bits())?;
    lane.settle(judgement)?;
    Ok(())
}

/// Judges the outputs: the sample, what was never written, and the whole where that is cheap.
pub fn judge_output(
    stage: &Stage,
    instance: &Instance,
    exam: &Exam,
    poison: &Poison,
    secret: u64,
) -> Result<Judgement, Failure> {
    let _judging = stage.ledger.enter(Part::Judging);
    if matches!(instance.case.judged(), Judged::Property(_)) {
        return judge_property(instance, exam.fill);
    }
    let mut all = Judgement::default();
    for (output, questions) in exam.questions.iter().enumerate() {
        all = all.and(judge_one(stage, instance, exam, output, questions, poison, secret)?);
    }
    Ok(all)
}

/// The same for one output.
fn judge_one(
    stage: &Stage,
    instance: &Instance,
    exam: &Exam,
    output: usize,
    questions: &Questions,
    poison: &Poison,
    secret: u64,
) -> Result<Judgement, Failure> {
    let tensor = instance.output(output);
    let Questions { wanted, expected } = questions;
    let judgement = judge_elements(stage, instance, output, wanted, expected, poison);
    if judgement.failed > 0 || wanted.len() == tensor.elements() {
        return Ok(judgement);
    }
    let (_, cols) = sample::lines(tensor);
    let unwritten = match stage.options.checks.on(Check::Poison) {
        true => instance.first_unwritten(output, poison).map(|index| index / cols),
        false => None,
    };
    // A row that is suspected is judged whole: only elements outside their bounds make it wrong.
    let mut suspected = projected(stage, instance, exam, output, secret);
    suspected.extend(unwritten);
    if suspected.is_empty() {
        return Ok(judgement);
    }
    suspected.sort_unstable();
    suspected.dedup();
    let wanted: Vec<usize> = suspected.iter().flat_map(|row| row * cols..(row + 1) * cols).collect();
    let expected = reference(instance, exam.fill, output, &wanted)?;
    let expected = widened(expected, &instance.case, exam.flushes);
    Ok(judgement.and(judge_elements(stage, instance, output, &wanted, &expected, poison)))
}

/// Holds the whole outputs to the operation's property.
fn judge_property(instance: &Instance, fill: Fill) -> Result<Judgement, Failure> {
    let Judged::Property(property) = instance.case.judged() else { return Ok(Judgement::default()) };
    let outputs = instance.whole_outputs();
    let views: Vec<View> = outputs.iter().map(|(dtype, bytes)| View { dtype: *dtype, bytes }).collect();
    let checked = views.iter().map(View::elements).sum();
    let held = catch(|| (property.check)(&instance.problem(fill), &views));
    match held.map_err(|why| Failure::new(Status::Refused, why))? {
        Ok(()) => Ok(Judgement { checked, ..Judgement::default() }),
        Err(why) => Err(Failure::new(Status::Wrong, why)),
    }
}

/// The rows that a projection of the whole output finds most suspicious, as many as can be judged whole.
fn projected(stage: &Stage, instance: &Instance, exam: &Exam, output: usize, secret: u64) -> Vec<usize> {
    match instance.case.judged().whole() {
        Some(project) if stage.options.checks.on(Check::Projection) && projects(exam.fill) => {
            let tensor = instance.output(output);
            let (_, cols) = sample::lines(tensor);
            instance.bring(output);
            let row = |row| instance.output_row(output, row, cols);
            let mut rows = project(&instance.problem(exam.fill), tensor.dtype, &row, secret);
            rows.truncate(sample::suspects(&instance.case, tensor));
            rows
        }
        _ => Vec::new(),
    }
}

/// Judges chosen elements of any outputs, in ascending order.
pub fn judge_spots(
    stage: &Stage,
    instance: &Instance,
    fill: Fill,
    spots: &[Spot],
    poison: &Poison,
    flushes: bool,
) -> Result<Judgement, Failure> {
    if matches!(instance.case.judged(), Judged::Property(_)) {
        return judge_property(instance, fill);
    }
    let mut all = Judgement::default();
    for group in spots.chunk_by(|one, next| one.output == next.output) {
        let (output, wanted) = (group[0].output, group.iter().map(|spot| spot.index).collect::<Vec<_>>());
        let expected = widened(reference(instance, fill, output, &wanted)?, &instance.case, flushes);
        all = all.and(judge_elements(stage, instance, output, &wanted, &expected, poison));
    }
    Ok(all)
}

/// Judges chosen elements of an output.
fn judge_elements(
    stage: &Stage,
    instance: &Instance,
    output: usize,
    wanted: &[usize],
    expected: &[Expected],
    poison: &Poison,
) -> Judgement {
    let tensor = instance.output(output);
    let got = instance.read_output(output, wanted);
    let (poison, loosen) = (Some(poison.of(output)), stage.options.checks.loosen());
    let judge = |part: Range<usize>| {
        let (wanted, got, expected) = (&wanted[part.clone()], &got[part.clone()], &expected[part]);
        judge(tensor.dtype, &tensor.shape, wanted, got, expected, poison, loosen)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if wanted.len() < FEW || threads == 1 {
        return judge(0..wanted.len());
    }
    let length = wanted.len().div_ceil(threads);
    let all = std::thread::scope(|scope| {
        let part = |first| scope.spawn(move || judge(first..wanted.len().min(first + length)));
        let running: Vec<_> = (0..wanted.len()).step_by(length).map(part).collect();
        let parts = running.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        parts.fold(Judgement::default(), Judgement::and)
    });
    // What is wrong is told by one look at all of it.
    if all.failed > 0 { judge(0..wanted.len()) } else { all }
}

/// The projection ranks rows by a model of contents of mean 0 that overflow no output type.
fn projects(fill: Fill) -> bool {
    matches!(fill, Fill::Uniform | Fill::Normal)
}

/// Says what was written beside the output, and puts it right for whoever comes next.
pub fn check_canaries(stage: &Stage, instance: &Instance) -> Result<(), Failure> {
    let Some(why) = instance.broken_canary() else { return Ok(()) };
    instance.mend_canaries();
    if stage.options.checks.on(Check::Canaries) { Err(Failure::new(Status::Wrong, why)) } else { Ok(()) }
}

fn check_memory(stage: &Stage, instance: &Instance, exam: &Exam) -> Result<(), Failure> {
    check_canaries(stage, instance)?;
    // The files are sealed; this holds even where a system does not honour that.
    if instance.hash_inputs() != exam.inputs {
        return Err(Failure::new(Status::Wrong, "an input was changed by the launch"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

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

    #[test]
    fn the_case_itself_meets_planted_inputs() {
        for id in ["softmax/f32/rows=9,cols=9", "matmul/i8/m=9,n=9,k=9"] {
            let case: Case = id.parse().unwrap();
            let drawn: Vec<Vec<Fill>> = (0..50).map(|seed| others(&case, &mut Draws::new(seed, 0))).collect();
            assert!(drawn.iter().all(|fills| fills[0] == Fill::Planted && fills.len() <= 2), "{id}");
            let seen: BTreeSet<Fill> = drawn.concat().into_iter().collect();
            assert_eq!(seen.len(), case.operation.fills_of(&case).len() - 2, "{id}: all have their turn");
        }
    }

    #[test]
    fn large_products_alone_have_a_projection() {
        let why = |id: &str| no_projection(&id.parse().unwrap());
        assert_eq!(why("softmax/f32/rows=4096,cols=4096"), Some("only products have one"));
        assert_eq!(why("matmul/f32/m=64,n=64,k=64"), Some("the whole output is judged"));
        assert_eq!(why("matmul/f32/m=512,n=512,k=512"), None);
    }
}
