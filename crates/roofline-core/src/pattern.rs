//! What a set of wrong elements looks like: the hint that leads to the bug.

use crate::judge::coordinates;
use crate::operation::Expected;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One wrong element: its place in the list that was judged, its index in the output, its value.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    pub place: usize,
    pub index: usize,
    pub got: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The output still holds what it held before the launch.
    Stale,
    AllZero,
    /// Zeros where the smallest normal number is larger than what is expected.
    DenormalsFlushed,
    Nan,
    /// Each wrong element is the expected value of a neighbour.
    ShiftedByOne,
    /// Wrong elements are their expected values times this.
    ConstantFactor(f64),
    /// Every wrong element lies in this column or later.
    TailOfARow {
        from: usize,
        of: usize,
    },
    /// Wrong elements fill one box: first and last coordinates.
    OneTile {
        first: Vec<usize>,
        last: Vec<usize>,
    },
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Stale => write!(f, "stale: these elements were not written"),
            Pattern::AllZero => write!(f, "all zero"),
            Pattern::DenormalsFlushed => write!(
                f,
                "denormals flushed: results below the smallest normal number are zero. -ffast-math and -Ofast link \
                 crtfastmath.o, which does that to the whole process; build without it, or declare `flushes denormals`"
            ),
            Pattern::Nan => write!(f, "all NaN"),
            Pattern::ShiftedByOne => write!(f, "shifted by one: each holds its neighbour's value"),
            Pattern::ConstantFactor(factor) => write!(f, "a constant factor of {factor:.6}"),
            Pattern::TailOfARow { from, of } => {
                write!(
                    f,
                    "the tail of a row: only columns {from} and later of {of}; look at the last partial vector"
                )
            }
            Pattern::OneTile { first, last } => write!(f, "one tile, {first:?} to {last:?}"),
        }
    }
}

impl Pattern {
    /// The first pattern that all sightings share, from the most telling to the least.
    ///
    /// `normal` is the smallest normal number of the output's type.
    pub fn of(
        sightings: &[Sighting],
        failed: usize,
        wanted: &[usize],
        expected: &[Expected],
        shape: &[usize],
        poison: Option<f64>,
        normal: f64,
    ) -> Option<Pattern> {
        if sightings.is_empty() {
            return None;
        }
        let all = |test: &dyn Fn(&Sighting) -> bool| sightings.iter().all(test);
        // A poison that is NaN tells nothing here: a kernel that overflows computes one too.
        if poison.is_some_and(|poison| all(&|seen| seen.got == poison)) {
            return Some(Pattern::Stale);
        }
        if all(&|seen| is_flushed(seen, expected, normal)) {
            return Some(Pattern::DenormalsFlushed);
        }
        if all(&|seen| seen.got == 0.0) {
            return Some(Pattern::AllZero);
        }
        if all(&|seen| seen.got.is_nan()) {
            return Some(Pattern::Nan);
        }
        if sightings.len() >= 3 {
            for step in [1isize, -1] {
                if all(&|seen| is_neighbour(seen, step, wanted, expected)) {
                    return Some(Pattern::ShiftedByOne);
                }
            }
            if let Some(factor) = constant_factor(sightings, expected) {
                return Some(Pattern::ConstantFactor(factor));
            }
        }
        // Where the faults lie says little when nearly everything is wrong.
        if failed * 2 > wanted.len() || failed > sightings.len() {
            return None;
        }
        tail_of_a_row(sightings, shape).or_else(|| one_tile(sightings, shape))
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-3 * b.abs().max(1e-30)
}

fn is_flushed(seen: &Sighting, expected: &[Expected], normal: f64) -> bool {
    let value = expected[seen.place].value;
    seen.got == 0.0 && value != 0.0 && value.abs() < normal
}

fn is_neighbour(seen: &Sighting, step: isize, wanted: &[usize], expected: &[Expected]) -> bool {
    let Some(place) = seen.place.checked_add_signed(step) else { return true };
    match (wanted.get(place), seen.index.checked_add_signed(step)) {
        (Some(neighbour), Some(index)) if *neighbour == index => close(seen.got, expected[place].value),
        // The edge of a sampled stretch has no neighbour to compare with.
        _ => true,
    }
}

fn constant_factor(sightings: &[Sighting], expected: &[Expected]) -> Option<f64> {
    let mut ratios = sightings
        .iter()
        .filter(|seen| expected[seen.place].value != 0.0)
        .map(|seen| seen.got / expected[seen.place].value);
    let first = ratios.next().filter(|ratio| ratio.is_finite() && *ratio != 0.0)?;
    ratios.all(|ratio| close(ratio, first)).then_some(first)
}

fn tail_of_a_row(sightings: &[Sighting], shape: &[usize]) -> Option<Pattern> {
    let of = *shape.last()?;
    let from = sightings.iter().map(|seen| seen.index % of).min()?;
    (from > 0 && of - from <= 64.min(of / 2)).then_some(Pattern::TailOfARow { from, of })
}

fn one_tile(sightings: &[Sighting], shape: &[usize]) -> Option<Pattern> {
    let mut first = coordinates(sightings[0].index, shape);
    let mut last = first.clone();
    for seen in sightings {
        for (d, x) in coordinates(seen.index, shape).into_iter().enumerate() {
            first[d] = first[d].min(x);
            last[d] = last[d].max(x);
        }
    }
    let volume: usize = first.iter().zip(&last).map(|(a, b)| b - a + 1).product();
    let whole: usize = shape.iter().product();
    (sightings.len() >= 4 && volume * 4 <= whole).then_some(Pattern::OneTile { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pattern of `got` against the row-major numbers 1, 2, 3, ... of `shape`.
    fn pattern(shape: &[usize], poison: Option<f64>, got: impl Fn(usize) -> f64) -> Option<Pattern> {
        let count: usize = shape.iter().product();
        let value = |i: usize| (i * i % 97) as f64 + 1.0;
        let wanted: Vec<usize> = (0..count).collect();
        let expected: Vec<Expected> =
            wanted.iter().map(|&i| Expected { value: value(i), soft: 0.0 }).collect();
        let sightings: Vec<Sighting> = wanted
            .iter()
            .map(|&i| Sighting { place: i, index: i, got: got(i) })
            .filter(|seen| seen.got != value(seen.index))
            .collect();
        Pattern::of(&sightings, sightings.len(), &wanted, &expected, shape, poison, 1e-3)
    }

    fn right(i: usize) -> f64 {
        (i * i % 97) as f64 + 1.0
    }

    #[test]
    fn each_pattern_is_told() {
        let shape = [8, 100];
        assert_eq!(pattern(&shape, None, |_| 0.0), Some(Pattern::AllZero));
        let expected = [Expected { value: 1e-40, soft: 0.0 }, Expected { value: 2e-38, soft: 0.0 }];
        let zero = |place| Sighting { place, index: place, got: 0.0 };
        let flushed =
            |seen: &[Sighting]| Pattern::of(seen, seen.len(), &[0, 1], &expected, &[2], None, 1.18e-38);
        assert_eq!(flushed(&[zero(0)]), Some(Pattern::DenormalsFlushed));
        assert_eq!(flushed(&[zero(0), zero(1)]), Some(Pattern::AllZero));
        assert_eq!(pattern(&shape, None, |_| f64::NAN), Some(Pattern::Nan));
        assert_eq!(pattern(&shape, Some(f64::NAN), |_| f64::NAN), Some(Pattern::Nan));
        assert_eq!(pattern(&shape, Some(-7.5), |_| -7.5), Some(Pattern::Stale));
        assert_eq!(pattern(&shape, None, |i| right(i + 1)), Some(Pattern::ShiftedByOne));
        let Some(Pattern::ConstantFactor(factor)) = pattern(&shape, None, |i| 2.0 * right(i)) else {
            panic!("no constant factor")
        };
        assert_eq!(factor, 2.0);
        let tail = pattern(&shape, None, |i| if i % 100 >= 96 { i as f64 + 0.5 } else { right(i) });
        assert_eq!(tail, Some(Pattern::TailOfARow { from: 96, of: 100 }));
        let in_tile = |i: usize| (2..4).contains(&(i / 100)) && (16..32).contains(&(i % 100));
        let tile = pattern(&shape, None, |i| if in_tile(i) { i as f64 + 0.5 } else { right(i) });
        assert_eq!(tile, Some(Pattern::OneTile { first: vec![2, 16], last: vec![3, 31] }));
        assert_eq!(pattern(&shape, None, |i| (i % 7) as f64 + 0.25), None);
    }
}
