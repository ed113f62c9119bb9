//! How lanes decode the groups: neighbours share a byte, so that elements of even places come first, then those of odd ones.

use super::Weights;
use crate::Element;
use crate::coded::{Coded, RUN, SHARE, Scales, look_up};
use crate::lanes::Lanes;

/// Rows of groups that are whole parts, or the whole row.
#[derive(Clone, Copy)]
pub(super) struct Groups<'a, T> {
    w: Weights<'a, T>,
    k: usize,
}

impl<'a, T: Element> Groups<'a, T> {
    /// `None` where a group ends within a part.
    #[track_caller]
    pub(super) fn new(w: Weights<'a, T>, rows: usize, k: usize) -> Option<Self> {
        w.check(rows, k);
        (w.group.is_multiple_of(SHARE) || w.group >= k).then_some(Self { w, k })
    }
}

impl<T: Element> Coded for Groups<'_, T> {
    const PART: usize = SHARE;
    const BYTES: usize = SHARE / 2;

    #[inline(always)]
    fn element(place: usize) -> usize {
        place % Self::BYTES * 2 + place / Self::BYTES
    }
    #[inline(always)]
    fn scales<L: Lanes>(self, lanes: L, row: usize, run: usize, scales: &mut Scales) {
        let groups = self.k.div_ceil(self.w.group);
        let mut narrow = [T::default(); RUN / SHARE];
        let parts = run * (RUN / SHARE)..self.k.div_ceil(SHARE).min((run + 1) * (RUN / SHARE));
        for ((narrow, zero), part) in narrow.iter_mut().zip(&mut scales.offset).zip(parts) {
            let group = row * groups + part * SHARE / self.w.group;
            *narrow = self.w.scales[group];
            *zero = -f32::from(self.w.zeros[group]);
        }
        for at in (0..RUN / SHARE).step_by(L::LANES) {
            let wide = T::load(lanes, &narrow[at..]);
            let offset = lanes.mul(lanes.load_f32(&scales.offset[at..]), wide);
            lanes.store_f32(wide, &mut scales.scale[at..]);
            lanes.store_f32(offset, &mut scales.offset[at..]);
        }
    }
    #[inline(always)]
    fn codes(&self, row: usize, part: usize) -> &[i8] {
        let of_row = self.k.div_ceil(2);
        let bytes = part * Self::BYTES..of_row.min((part + 1) * Self::BYTES);
        &self.w.codes[row * of_row..][bytes]
    }
    #[inline(always)]
    fn numbers<L: Lanes>(lanes: L, codes: &[i8], scales: &Scales, part: usize, place: usize) -> L::F {
        look_up(lanes, codes, Self::BYTES, scales, part, place)
    }
}
