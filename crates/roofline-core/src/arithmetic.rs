//! Formats that an emulated kernel rounds to: its inputs, every step.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::format::{self, Format};

#[derive(Clone, Copy, Debug)]
pub struct Arithmetic {
    /// Format that inputs are rounded to before use; `None` takes them as they are.
    pub input: Option<Format>,
    /// Format of the accumulator; `None` is exact (integers).
    pub accumulator: Option<Format>,
    /// So many terms are summed in it, and their sums in f32.
    pub promoted: Option<usize>,
    /// Sums wrap or saturate at this magnitude; for integer accumulators that are too narrow.
    pub saturate: f64,
    /// Sum in halves instead of in sequence: another honest order.
    pub pairwise: bool,
}

impl Arithmetic {
    /// The declared precision of a case.
    pub fn declared(case: &Case) -> Arithmetic {
        let accumulator = case.precision.accumulator;
        Arithmetic {
            input: None,
            accumulator: accumulator.format,
            promoted: accumulator.promoted,
            saturate: f64::INFINITY,
            pairwise: false,
        }
    }

    /// The next lower precision class, which must be called wrong. Sums that are kept in a narrow type already
    /// have none below that their own bound could tell.
    pub fn next_lower(case: &Case) -> Option<Arithmetic> {
        let declared = Arithmetic::declared(case);
        let lower = match case.dtype() {
            Dtype::F64 => Arithmetic { accumulator: Some(format::F32), ..declared },
            Dtype::F32 => Arithmetic { input: Some(format::TF32), ..declared },
            Dtype::I8 | Dtype::U8 | Dtype::I32 => Arithmetic { saturate: 32767.0, ..declared },
            narrow => Arithmetic { accumulator: narrow.format(), promoted: None, ..declared },
        };
        (!case.precision.is_narrow()).then_some(lower)
    }

    pub fn input(&self, x: f64) -> f64 {
        self.input.map_or(x, |format| format.round(x))
    }

    pub fn round(&self, x: f64) -> f64 {
        let x = x.clamp(-self.saturate, self.saturate);
        self.accumulator.map_or(x, |format| format.round(x))
    }

    /// The sum of `terms` with every step rounded.
    pub fn sum(&self, terms: &[f64]) -> f64 {
        match self.promoted {
            Some(block) => {
                terms.chunks(block).fold(0.0, |sum, block| format::F32.round(sum + self.sum_in_place(block)))
            }
            None => self.sum_in_place(terms),
        }
    }

    fn sum_in_place(&self, terms: &[f64]) -> f64 {
        match terms {
            [] => 0.0,
            [one] => self.round(*one),
            _ if self.pairwise => {
                let (low, high) = terms.split_at(terms.len() / 2);
                self.round(self.sum_in_place(low) + self.sum_in_place(high))
            }
            _ => terms.iter().fold(0.0, |sum, term| self.round(sum + term)),
        }
    }
}
