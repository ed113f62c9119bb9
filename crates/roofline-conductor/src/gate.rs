//! The gate: every implementation of a case, before its first sample.
//!
//! First small shapes that the kernel has not seen, with every family of inputs; then the case
//! itself. Outputs are poisoned before each launch, data lies flush against unreadable pages, once
//! at the end and once at the start, and every judged element has its own derived bound.

use crate::checks::Check;
use crate::failure::{Failure, Stop};
use crate::instance::{Instance, Placement, draw_poison};
use crate::lane::Lane;
use crate::sample;
use crate::stage::Stage;
use roofline_core::case::Case;
use roofline_core::fill::Fill;
use roofline_core::judge::{Judgement, judge};
use roofline_core::ops::Expected;
use roofline_core::philox::Draws;
use roofline_core::record::Status;
use std::panic::resume_unwind;
use std::time::Duration;

/// Takes the lanes of a case that `takes_part` names through the gate. Lanes that fail are out.
pub fn pass(
    stage: &mut Stage,
    case: &Case,
    lanes: &mut [Lane],
    takes_part: &dyn Fn(&Lane) -> bool,
) -> Result<(), Stop> {
    if stage.options.checks.on(Check::OtherShapes) {
        for (number, shape) in other_shapes(case, &mut stage.draws).into_iter().enumerate() {
            let placement = if number % 2 == 0 { Placement::FlushEnd } else { Placement::FlushStart };
            let fills = case.operation.fills_of(case);
            trial(stage, &shape, placement, &fills, lanes, takes_part)?;
        }
    }
    trial(stage, case, Placement::FlushEnd, &[Fill::Uniform, Fill::Normal], lanes, takes_part)?;
    let others = match stage.options.checks.on(Check::Families) {
        true => others(case, &mut stage.draws),
        false => vec![Fill::Uniform],
    };
    trial(stage, case, Placement::FlushStart, &others, lanes, takes_part)?;
    if let Some(why) = no_projection(case) {
        lanes.iter_mut().for_each(|lane| lane.not_applicable(Check::Projection, why));
    }
    Ok(())
}

/// Why no projection of a case's output is looked at.
fn no_projection(case: &Case) -> Option<&'static str> {
    let output = (case.operation.tensors)(case).pop()?;
    if case.operation.whole.is_none() {
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

/// Judges launches of all live lanes on one instance, one fill after the other.
fn trial(
    stage: &mut Stage,
    case: &Case,
    placement: Placement,
    fills: &[Fill],
    lanes: &mut [Lane],
    takes_part: &dyn Fn(&Lane) -> bool,
) -> Result<(), Stop> {
    let guarded = stage.options.checks.on(Check::Guards);
    let placement = if guarded { placement } else { Placement::Aligned { offset: 0 } };
    let mut instance = Instance::new(case, placement, &mut stage.draws)?;
    let takes_part = |lane: &Lane| lane.is_live() && !lane.is_probe() && takes_part(lane);
    // Whoever is slow sits out, and makes up for it should that change.
    lanes.iter_mut().filter(|lane| takes_part(lane) && lane.is_slow()).for_each(|lane| lane.missed = true);
    let in_trial = |lane: &Lane| takes_part(lane) && !lane.is_slow();
    for lane in lanes.iter_mut().filter(|lane| in_trial(lane)) {
        lane.attempt(stage, &case.to_string(), |lane, stage| lane.prepare(stage, &instance))?;
    }
    let prepared: Vec<usize> = (0..lanes.len()).filter(|i| in_trial(&lanes[*i])).collect();
    for (number, fill) in fills.iter().enumerate() {
        if number > 0 && !stage.options.checks.on(Check::Families) {
            break;
        }
        if !prepared.iter().any(|index| in_trial(&lanes[*index])) {
            break;
        }
        instance.fill(*fill, stage.fresh_seed());
        let place = format!("{case}, {fill} inputs, {}", place_name(placement));
        let exam = match Exam::new(&instance, *fill, &mut stage.draws) {
            Ok(exam) => exam,
            Err(failure) => {
                fail_all(stage, lanes, &failure.seen_in(&place));
                break;
            }
        };
        for index in &prepared {
            let lane = &mut lanes[*index];
            if !in_trial(lane) {
                continue;
            }
            let is_first = number == 0;
            lane.attempt(stage, &place, |lane, stage| sit(stage, lane, &instance, &exam, is_first))?;
        }
    }
    for index in prepared {
        let lane = &mut lanes[index];
        if lane.is_live() {
            lane.attempt(stage, &case.to_string(), |lane, stage| lane.release(stage))?;
        }
    }
    Ok(())
}

fn place_name(placement: Placement) -> &'static str {
    match placement {
        Placement::FlushEnd => "data flush with the end of its memory",
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
    lane.launch(stage, 1)?;
    let judgement = judge_output(stage, instance, exam, poison, lane.draws.bits())?;
    lane.settle(judgement)?;
    let hash = instance.hash_output();
    check_memory(stage, instance, exam)?;
    lane.missed |= is_first && lane.is_slow();
    if !is_first || lane.is_slow() {
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
    // A row that is suspected is judged whole: only elements outside their bounds make it wrong.
    let mut suspected = projected(stage, instance, exam, secret);
    suspected.extend(unwritten);
    if suspected.is_empty() {
        return Ok(judgement);
    }
    suspected.sort_unstable();
    suspected.dedup();
    let wanted: Vec<usize> = suspected.iter().flat_map(|row| row * cols..(row + 1) * cols).collect();
    let expected = reference(instance, exam.fill, &wanted)?;
    let more = judge_elements(stage, instance, &wanted, &expected, poison);
    Ok(Judgement {
        checked: judgement.checked + more.checked,
        failed: more.failed,
        score: judgement.score.max(more.score),
        fault: more.fault,
    })
}

/// The rows that a projection of the whole output finds most suspicious, as many as can be judged whole.
fn projected(stage: &Stage, instance: &Instance, exam: &Exam, secret: u64) -> Vec<usize> {
    match instance.case.operation.whole {
        Some(project) if stage.options.checks.on(Check::Projection) && projects(exam.fill) => {
            let (_, cols) = sample::lines(instance.output());
            let row = |row| instance.output_row(row, cols);
            let mut rows = project(&instance.problem(exam.fill), instance.output().dtype, &row, secret);
            rows.truncate(sample::suspects(&instance.case, instance.output()));
            rows
        }
        _ => Vec::new(),
    }
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

/// The projection ranks rows by a model of contents of mean 0 that overflow no output type.
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

/// Three small shapes: a tiny one, one drawn freely, one with the case's own remainders after 64; with
/// more than three axes they are smaller, so that all stay cheap. The free one has odd sizes: no vector
/// divides a row of it, nor all of its elements together.
fn other_shapes(case: &Case, draws: &mut Draws) -> Vec<Case> {
    let (tile, least, spread) = if case.sizes.len() > 3 { (8, 3, 14) } else { (64, 9, 89) };
    let tiny: Vec<u64> = case.sizes.iter().map(|_| 1 + draws.below(8)).collect();
    let free: Vec<u64> = case.sizes.iter().map(|_| (least + draws.below(spread)) | 1).collect();
    let close: Vec<u64> = case
        .sizes
        .iter()
        .map(|size| {
            let near = if *size > 2 * tile { tile + size % tile } else { *size };
            (near + 1).saturating_sub(draws.below(3)).max(1)
        })
        .collect();
    vec![case.resized(&tiny), case.resized(&free), case.resized(&close)]
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

    #[test]
    fn other_shapes_are_small_and_keep_the_remainder_class() {
        let case: Case = "matmul/f32/m=2048,n=4097,k=1".parse().unwrap();
        for seed in 0..50 {
            for shape in other_shapes(&case, &mut Draws::new(seed, 0)) {
                assert!(shape.sizes.iter().all(|size| (1..=130).contains(size)), "{shape}");
            }
            let free = &other_shapes(&case, &mut Draws::new(seed, 0))[1];
            assert!(free.sizes.iter().all(|size| size % 2 == 1 && *size >= 9), "{free}");
        }
    }
}
