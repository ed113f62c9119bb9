//! Legal sizes near given ones: what the gate draws inside a condition.

use super::{Clause, Condition, Sizes};
use crate::philox::Draws;

/// Legal sizes of an axis that are looked at for one wanted size.
const CANDIDATES: usize = 64;
/// How far from a wanted size they are looked for, and how far where they are only counted.
const FAR: u64 = 1 << 16;
const FARTHEST: u64 = 1 << 20;
/// Combinations that are tried where clauses tie axes together.
const TRIES: u64 = 2000;
/// The same for each size that is only counted.
const FEW_TRIES: u64 = 256;
/// A condition that leaves at least so many other sizes of an axis leaves enough.
pub const ENOUGH: usize = 8;

impl Condition {
    /// Sizes that fit, near `wanted`; `own` are some that fit, and what is left where no others are found.
    pub fn near(&self, names: &[&str], own: &[u64], wanted: &[u64], draws: &mut Draws) -> Vec<u64> {
        if self.holds(Sizes { names, values: wanted }).is_ok() {
            return wanted.to_vec();
        }
        // Most conditions tie no axes together, and looking for all choices of each takes long.
        let first = |axis: usize| self.legal_near(names, axis, wanted[axis], FAR).next();
        let nearest: Option<Vec<u64>> = (0..names.len()).map(first).collect();
        if let Some(nearest) = nearest
            && self.holds(Sizes { names, values: &nearest }).is_ok()
        {
            return nearest;
        }
        let choices: Vec<Vec<u64>> = (0..names.len())
            .map(|axis| {
                // Axes that are tied together may have to meet at the size of one of them.
                let others =
                    wanted.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, size)| *size);
                let around = std::iter::once(wanted[axis]).chain(others);
                let mut found: Vec<u64> = around
                    .flat_map(|size| self.legal_near(names, axis, size, FAR).take(CANDIDATES))
                    .collect();
                found.push(own[axis]);
                found
            })
            .collect();
        let nearest: Vec<u64> = choices.iter().map(|choices| choices[0]).collect();
        let mended = self.mend(names, nearest, &choices, draws);
        mended.or_else(|| self.combine(names, &choices, TRIES, draws)).unwrap_or_else(|| own.to_vec())
    }

    /// The first axis of which the condition leaves fewer than [`ENOUGH`] sizes other than `own` within a
    /// factor of 2, with their number; `None` where it leaves enough, or as many as there are.
    pub fn scarce(&self, names: &[&str], own: &[u64]) -> Option<(usize, usize)> {
        let mut draws = Draws::new(0, 0);
        let near = |axis: usize| {
            std::iter::once(own[axis])
                .chain(self.legal_near(names, axis, own[axis], FAR).take(CANDIDATES))
                .collect()
        };
        let choices: Vec<Vec<u64>> = (0..names.len()).map(near).collect();
        (0..names.len()).find_map(|axis| {
            let range = own[axis].div_ceil(2).max(1)..=own[axis].saturating_mul(2);
            let all = range.end().saturating_sub(*range.start()).min(ENOUGH as u64) as usize;
            let fits = |size: &u64| {
                let mut choices = choices.clone();
                // Axes that are tied together often grow together.
                let grown = |other: usize| own[other].saturating_mul(*size) / own[axis].max(1);
                choices.iter_mut().enumerate().for_each(|(other, choices)| choices.insert(1, grown(other)));
                choices[axis] = vec![*size];
                self.combine(names, &choices, FEW_TRIES, &mut draws).is_some()
            };
            let legal = self.legal_near(names, axis, own[axis], FARTHEST.min(own[axis]) + 1);
            let others = legal.filter(|size| *size != own[axis] && range.contains(size)).take(1 << 12);
            let left = others.filter(fits).take(ENOUGH).count();
            (left < all).then_some((axis, left))
        })
    }

    /// Sizes of one axis that its own clauses allow, nearest first.
    fn legal_near(&self, names: &[&str], axis: usize, wanted: u64, far: u64) -> impl Iterator<Item = u64> {
        let name = &names[axis..=axis];
        let of_this_axis = |clause: &&Clause| clause.axes().all(|named| named == name[0]);
        let clauses: Vec<&Clause> = self.sizes.iter().filter(of_this_axis).collect();
        (0..far)
            .flat_map(move |step| [wanted.checked_sub(step), wanted.checked_add(step).filter(|_| step > 0)])
            .flatten()
            .filter(|size| (1..=u64::from(u32::MAX)).contains(size))
            .filter(move |size| {
                clauses.iter().all(|clause| clause.holds(Sizes { names: name, values: &[*size] }))
            })
    }

    /// The nearest sizes, of which an axis of a clause that does not hold takes another choice, again and again: what many
    /// axes must meet in is not found by lot for all of them at once.
    fn mend(
        &self,
        names: &[&str],
        mut sizes: Vec<u64>,
        choices: &[Vec<u64>],
        draws: &mut Draws,
    ) -> Option<Vec<u64>> {
        for attempt in 0..TRIES {
            let broken = self.sizes.iter().find(|clause| !clause.holds(Sizes { names, values: &sizes }));
            let Some(broken) = broken else { return Some(sizes) };
            let axes: Vec<&str> = broken.axes().collect();
            let chosen = axes.get(draws.below(axes.len() as u64) as usize)?;
            let axis = names.iter().position(|name| name == chosen)?;
            let among = (2 + attempt / 4).min(choices[axis].len() as u64);
            sizes[axis] = choices[axis][draws.below(among) as usize];
        }
        None
    }

    /// One choice of each axis so that all clauses hold: the nearest first, then ever farther ones by lot.
    fn combine(
        &self,
        names: &[&str],
        choices: &[Vec<u64>],
        tries: u64,
        draws: &mut Draws,
    ) -> Option<Vec<u64>> {
        (0..tries).find_map(|attempt| {
            let pick = |choices: &Vec<u64>| {
                let among = (1 + attempt / 4).min(choices.len() as u64);
                choices.get(draws.below(among.max(1)) as usize).copied()
            };
            let sizes: Vec<u64> = choices.iter().map(pick).collect::<Option<_>>()?;
            self.holds(Sizes { names, values: &sizes }).is_ok().then_some(sizes)
        })
    }
}

/// A condition that a kernel may have meant which takes `own` sizes and not `refused` ones: the last axis,
/// along which vectors lie, on which they differ in a power of two, else the last that is smaller.
pub fn suggestion(names: &[&str], own: &[u64], refused: &[u64]) -> Option<String> {
    let axes = || names.iter().zip(own.iter().zip(refused)).rev();
    let multiple = axes().find_map(|(name, (own, refused))| {
        let power = 1 << own.trailing_zeros().min(4);
        (refused % power != 0).then(|| format!("{name} % {power} == 0"))
    });
    // A kernel of vectors is more often for whole ones than for many.
    multiple.or_else(|| {
        let (name, (own, refused)) = axes().find(|(_, (own, refused))| refused < own)?;
        Some(format!("{name} >= {}", (refused + 1).next_power_of_two().min(*own)))
    })
}
