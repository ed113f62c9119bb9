//! What an element of an input changes.

use super::Sizes;
use crate::operation::{Problem, Reach};

/// Where an element comes in.
struct Entry {
    layer: usize,
    /// Of one direction, or read by all.
    direction: Option<usize>,
    /// The step that reads it first.
    step: usize,
    /// Of one sequence, or of all.
    sequence: Option<usize>,
    /// The unit that alone has it at first, if one does.
    unit: Option<usize>,
}

/// What is read at a step reaches its sequence in the direction of reading: all units, but of what one unit alone reads,
/// or keeps, that one at first. Layers above read it all, and where they go both ways it reaches every step there. Where it
/// shows most comes first.
pub(super) fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let sizes = Sizes::of(problem.case);
    let Sizes { seq, layers, directions, hidden, .. } = sizes;
    let keeps = problem.inputs.len() > 6 + usize::from(layers > 1);
    let entry = entry(problem, sizes, keeps, tensor, element);
    let step = entry.step;
    let own_unit = |is_first: bool| entry.unit.filter(|_| is_first);
    let mut found = Vec::new();
    if entry.layer + 1 < layers {
        let all = 0..sizes.width();
        let earlier = if directions == 1 { 0..0 } else { 0..step };
        let steps = (step..seq).chain(earlier.rev());
        steps.for_each(|t| lines(&mut found, sizes, &entry, 0, t, all.clone(), None));
    } else {
        for direction in (0..directions).filter(|one| entry.direction.is_none_or(|own| own == *one)) {
            let half = direction * hidden..(direction + 1) * hidden;
            let mut put =
                |t: usize| lines(&mut found, sizes, &entry, 0, t, half.clone(), own_unit(t == step));
            match direction {
                0 => (step..seq).for_each(&mut put),
                _ => (0..step + 1).rev().for_each(&mut put),
            }
        }
    }
    for output in 1..if keeps { 3 } else { 2 } {
        for cell in entry.layer * directions..layers * directions {
            let (layer, direction) = (cell / directions, cell % directions);
            let is_own = layer == entry.layer;
            if is_own && entry.direction.is_some_and(|own| own != direction) {
                continue;
            }
            // A cell of one step alone has had no time to mix its units.
            let unit = own_unit(is_own && seq == 1);
            lines(&mut found, sizes, &entry, output, cell, 0..hidden, unit);
        }
    }
    found
}

/// Adds these units of the sequences that an element is of, or the one unit, in row `row` of an output.
fn lines(
    found: &mut Vec<Reach>,
    sizes: Sizes,
    entry: &Entry,
    output: usize,
    row: usize,
    units: std::ops::Range<usize>,
    unit: Option<usize>,
) {
    let length = if output == 0 { sizes.width() } else { sizes.hidden };
    let first = |b: usize| (row * sizes.batch + b) * length + units.start;
    let sequences = entry.sequence.map_or(0..sizes.batch, |b| b..b + 1);
    if let Some(unit) = unit {
        let first = first(sequences.start) + unit;
        found.push(Reach { output, first, step: length, count: sequences.len() });
    } else if units.len() == length {
        found.push(Reach { output, first: first(sequences.start), step: 1, count: sequences.len() * length });
    } else {
        found.extend(sequences.map(|b| Reach { output, first: first(b), step: 1, count: units.len() }));
    }
}

fn entry(problem: &Problem, sizes: Sizes, keeps: bool, tensor: usize, element: usize) -> Entry {
    let Sizes { seq, batch, layers, directions, hidden, input } = sizes;
    if tensor == 0 {
        let (step, b) = (element / (batch * input), element / input % batch);
        return Entry { layer: 0, direction: None, step, sequence: Some(b), unit: None };
    }
    let of_cell = |cell: usize, sequence: Option<usize>, unit: Option<usize>| {
        let direction = cell % directions;
        let step = if direction == 0 { 0 } else { seq - 1 };
        Entry { layer: cell / directions, direction: Some(direction), step, sequence, unit }
    };
    let is_kept = keeps && tensor == 2;
    if tensor == 1 || is_kept {
        let unit = Some(element % hidden).filter(|_| is_kept);
        return of_cell(element / (batch * hidden), Some(element / hidden % batch), unit);
    }
    let weights = tensor - usize::from(keeps);
    let rows = problem.inputs[4 + usize::from(keeps)].elements() / (layers * directions);
    let (row, first) = match weights {
        2 => (element / input, 0),
        3 => (element / hidden, 0),
        6 => (element / sizes.width(), directions),
        _ => (element, 0),
    };
    of_cell(first + row / rows, None, Some(row % rows % hidden))
}
