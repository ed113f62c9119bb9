//! In lanes: the largest magnitude of a group, then its codes, by the bits of each quotient.

use crate::lanes::Lanes;
use crate::quantize::vector::{Coding, by_groups};
use crate::{Cpu, Element, Fp8E4m3, Fp8E5m2, Pool, Rows};

/// Codes q = round(x / s) and the scale s = max|x| / 448 of each `block` elements of a row; of zeros it is 1.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Rows, quantize_fp8::vector::quantize_fp8};
///
/// let (mut q, mut s) = ([Fp8E4m3(0); 4], [0.0; 2]);
/// let x = [224.0f32, -8.5, 0.0, 0.0];
/// quantize_fp8(&Cpu::serial(), &x, &mut q, &mut s, Rows { rows: 2, cols: 2 }, 2);
/// assert_eq!((q.map(Fp8E4m3::to_f32), s), ([448.0, -16.0, 0.0, 0.0], [0.5, 1.0]));
/// ```
pub fn quantize_fp8<T: Element>(
    cpu: &Cpu,
    x: &[T],
    q: &mut [Fp8E4m3],
    s: &mut [f32],
    shape: Rows,
    block: usize,
) {
    by_groups(Pool::alone(), cpu, x, q, s, shape, block, E4m3);
}

/// The same in fp8-e5m2, with s = max|x| / 57344.
pub fn quantize_fp8_e5m2<T: Element>(
    cpu: &Cpu,
    x: &[T],
    q: &mut [Fp8E5m2],
    s: &mut [f32],
    shape: Rows,
    block: usize,
) {
    by_groups(Pool::alone(), cpu, x, q, s, shape, block, E5m2);
}

#[derive(Clone, Copy)]
pub(crate) struct E4m3;

impl Coding for E4m3 {
    type Code = Fp8E4m3;
    const MOST: f32 = Fp8E4m3::MAX;
    #[inline(always)]
    fn code<L: Lanes>(self, lanes: L, quotient: L::F) -> L::I {
        code::<L, 3, 7>(lanes, quotient, Fp8E4m3::MAX)
    }
}

#[derive(Clone, Copy)]
pub(super) struct E5m2;

impl Coding for E5m2 {
    type Code = Fp8E5m2;
    const MOST: f32 = Fp8E5m2::MAX;
    #[inline(always)]
    fn code<L: Lanes>(self, lanes: L, quotient: L::F) -> L::I {
        code::<L, 2, 15>(lanes, quotient, Fp8E5m2::MAX)
    }
}

/// The code of each number within ±`most`, in a format of so many bits of mantissa whose exponents are counted from this far
/// below zero, rounded to nearest even.
#[inline(always)]
fn code<L: Lanes, const MANTISSA: i32, const BIAS: i32>(lanes: L, v: L::F, most: f32) -> L::I {
    let shift = 23 - MANTISSA;
    let bits = lanes.to_bits(lanes.max(lanes.min(v, lanes.splat(most)), lanes.splat(-most)));
    let sign = lanes.and_i32(bits, lanes.splat_i32(i32::MIN));
    let bits = lanes.xor_i32(bits, sign);
    // Half a step less the least bit, or half a step where the number is odd: a tie then goes to the even one.
    let odd = lanes.and_i32(lanes.shift_right(bits, shift), lanes.splat_i32(1));
    let half = lanes.add_i32(odd, lanes.splat_i32((1 << (shift - 1)) - 1));
    let rounded = lanes.shift_right(lanes.add_i32(bits, half), shift);
    let normal = lanes.sub_i32(rounded, lanes.splat_i32((127 - BIAS) << MANTISSA));
    // Below the smallest normal number steps are as long as there: a sum with the number that has such steps is rounded to one.
    let smallest = f32::from_bits(((127 + 1 - BIAS) as u32) << 23);
    let steps = f32::from_bits(((127 + 1 - BIAS + shift) as u32) << 23);
    let magnitude = lanes.of_bits(bits);
    let subnormal = lanes.sub_i32(
        lanes.to_bits(lanes.add(magnitude, lanes.splat(steps))),
        lanes.splat_i32(steps.to_bits().cast_signed()),
    );
    let is_subnormal = lanes.less(magnitude, lanes.splat(smallest));
    let code = lanes.to_bits(lanes.select(is_subnormal, lanes.of_bits(subnormal), lanes.of_bits(normal)));
    lanes.or_i32(code, lanes.shift_right(sign, 24))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Isa, Vectorize};

    struct Code<'a, C>(&'a [f32], &'a mut [i8], C);

    impl<C: Coding> Vectorize for Code<'_, C> {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) {
            for (x, y) in self.0.chunks_exact(L::LANES).zip(self.1.chunks_exact_mut(L::LANES)) {
                lanes.store_i8(self.2.code(lanes, lanes.load_f32(x)), y);
            }
        }
    }

    /// Every number of a format, the ties between two and what lies beside them.
    fn check(coding: impl Coding, number: fn(u8) -> f32, code: fn(f32) -> u8) {
        let mut numbers: Vec<f32> = (0..=255).map(number).filter(|number| number.is_finite()).collect();
        numbers.sort_by(f32::total_cmp);
        let ties = numbers.windows(2).map(|two| (two[0] + two[1]) / 2.0).collect::<Vec<_>>();
        numbers.extend(ties.iter().flat_map(|tie| [tie.next_down(), *tie, tie.next_up()]));
        numbers.resize(numbers.len().next_multiple_of(16), 0.0);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut codes = vec![0; numbers.len()];
            isa.run(Code(&numbers, &mut codes, coding));
            for (number, found) in numbers.iter().zip(codes) {
                assert_eq!(found as u8, code(*number), "{number:e} on {isa:?}");
            }
        }
    }

    #[test]
    fn every_code_and_every_tie_between_codes() {
        check(E4m3, |code| Fp8E4m3(code).to_f32(), |number| Fp8E4m3::from_f32(number).0);
        check(E5m2, |code| Fp8E5m2(code).to_f32(), |number| Fp8E5m2::from_f32(number).0);
    }
}
