//! Codes of four bits: the sixteen numbers that they can stand for lie in a register, and a code is a place there.

use super::Scales;
use crate::lanes::Lanes;

/// What codes are before scale and offset.
const CODES: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];

/// The numbers of `LANES` codes, by the scale and the offset of this index: of the low halves of the first `length` bytes, then
/// of their high halves, from this place on.
#[inline(always)]
pub(crate) fn look_up<L: Lanes>(
    lanes: L,
    codes: &[i8],
    length: usize,
    scales: &Scales,
    scale: usize,
    place: usize,
) -> L::F {
    let (scale, offset) = (lanes.splat(scales.scale[scale]), lanes.splat(scales.offset[scale]));
    let low = lanes.mul_add(lanes.load_f32(&CODES), scale, offset);
    let high = lanes.mul_add(lanes.load_f32(&CODES[16 - L::LANES..]), scale, offset);
    let places = match place < length {
        true => lanes.load_i8(&codes[place..]),
        false => lanes.shift_right(lanes.load_i8(&codes[place - length..]), 4),
    };
    lanes.look_up([low, high], places)
}
