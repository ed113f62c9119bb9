//! What a level adds over arithmetic, against scalar code: masks, codes, integers, reciprocals.

use super::{Lanes, MAX_LANES};
use crate::{Isa, Vectorize};

const A: [f32; MAX_LANES] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    3.0e-39,
    1.0e30,
    -1.0e-30,
    7.0,
    -7.0,
    0.1,
    65_504.0,
    1.000_001,
    -123.456,
];
const B: [f32; MAX_LANES] =
    [-0.0, 0.0, 2.0, -1.5, 1.0, 1.0, 0.0, 1.0e-39, 1.0e29, 1.0, 7.0, f32::NAN, 0.2, -1.0, 1.0, -123.0];
const I: [i32; MAX_LANES] = [
    0,
    1,
    -1,
    i32::MAX,
    i32::MIN,
    12_345,
    -98_765,
    0x5555_5555,
    16_777_216,
    77,
    -2,
    3,
    1 << 30,
    -(1 << 24),
    9,
    10,
];
const BYTES: [i8; MAX_LANES] = [0, 1, -1, 127, -128, 5, -6, 77, 8, -9, 10, -11, 12, -13, 14, -15];

/// Every operation on every vector of the lists.
struct Check;

impl Vectorize for Check {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for at in (0..MAX_LANES).step_by(L::LANES) {
            let (a, b, i) = (lanes.load_f32(&A[at..]), lanes.load_f32(&B[at..]), lanes.load_i32(&I[at..]));
            let j = lanes.to_bits(b);
            let less = lanes.less(a, b);
            let floats = |v: L::F| {
                let mut list = [0.0; MAX_LANES];
                lanes.store_f32(v, &mut list);
                list.map(f32::to_bits)
            };
            let integers = |v: L::I| {
                let mut list = [0; MAX_LANES];
                lanes.store_i32(v, &mut list);
                list
            };
            let chosen = floats(lanes.select(less, a, b));
            let codes = integers(lanes.to_bits(a));
            let back = floats(lanes.of_bits(lanes.to_bits(a)));
            let numbers = floats(lanes.of_i32(i));
            let sums = [lanes.add_i32(i, j), lanes.sub_i32(i, j)].map(integers);
            let logic = [lanes.and_i32(i, j), lanes.or_i32(i, j), lanes.xor_i32(i, j)].map(integers);
            let shifts = [lanes.shift_left(i, 5), lanes.shift_right(i, 5)].map(integers);
            let pairs = integers(lanes.load_pairs_of(&BYTES[at..], &BYTES[..L::LANES]));
            let halves = lanes.and_i32(i, lanes.splat_i32(0xffff));
            let mut low = [0; MAX_LANES];
            lanes.store_u16(halves, &mut low);
            assert_eq!(integers(lanes.load_u16(&low)), integers(halves));
            let turned = lanes.interleave(a, b).map(floats);
            let swapped = floats(lanes.swap_pairs(a));
            let wide = lanes.mul_wide(i, j).map(integers);
            let lower = floats(lanes.select(lanes.below(i, j), a, b));
            let widened = integers(lanes.load_i8(&BYTES[at..]));
            let mut bytes = [0; MAX_LANES];
            lanes.store_i8(i, &mut bytes);
            let sixteen = [lanes.load_f32(&NORMAL), lanes.load_f32(&NORMAL[MAX_LANES - L::LANES..])];
            let found = floats(lanes.look_up(sixteen, i));
            let inverse = floats(lanes.reciprocal(lanes.load_f32(&NORMAL[at..])));
            let all = (at..at + L::LANES).all(|at| A[at] < B[at]);
            assert_eq!(lanes.all(less), all);
            assert!(lanes.all(lanes.less(lanes.splat(1.0), lanes.splat(2.0))));
            let total = I[at..at + L::LANES].iter().fold(0i32, |sum, i| sum.wrapping_add(*i));
            assert_eq!(lanes.sum_i32(i), total);
            for lane in 0..L::LANES {
                let (a, b, i) = (A[at + lane], B[at + lane], I[at + lane]);
                let j = b.to_bits().cast_signed();
                assert_eq!(chosen[lane], if a < b { a } else { b }.to_bits());
                assert_eq!((codes[lane].cast_unsigned(), back[lane]), (a.to_bits(), a.to_bits()));
                assert_eq!(numbers[lane], (i as f32).to_bits());
                assert_eq!(sums.map(|v| v[lane]), [i.wrapping_add(j), i.wrapping_sub(j)]);
                assert_eq!(logic.map(|v| v[lane]), [i & j, i | j, i ^ j]);
                let down = (i.cast_unsigned() >> 5).cast_signed();
                assert_eq!(shifts.map(|v| v[lane]), [i << 5, down]);
                let (first, second) = (i32::from(BYTES[at + lane]), i32::from(BYTES[lane]));
                assert_eq!(pairs[lane], (first & 0xffff) | (second << 16));
                assert_eq!(low[lane], i as u16);
                let by_turns = turned[lane / (L::LANES / 2)][2 * lane % L::LANES..][..2].to_vec();
                assert_eq!(by_turns, [a, b].map(f32::to_bits));
                assert_eq!(swapped[lane], A[at + (lane ^ 1)].to_bits());
                let product = u64::from(i.cast_unsigned()) * u64::from(j.cast_unsigned());
                assert_eq!(wide.map(|v| v[lane].cast_unsigned()), [product as u32, (product >> 32) as u32]);
                let is_below = i.cast_unsigned() < j.cast_unsigned();
                assert_eq!(lower[lane], if is_below { a } else { b }.to_bits());
                assert_eq!((widened[lane], bytes[lane]), (first, i as i8));
                assert_eq!(found[lane], NORMAL[(i & 15) as usize].to_bits());
                let exact = 1.0 / NORMAL[at + lane];
                assert!(inverse[lane].abs_diff(exact.to_bits()) <= 1, "1 / {}", NORMAL[at + lane]);
            }
        }
    }
}

/// Numbers whose reciprocals are normal.
const NORMAL: [f32; MAX_LANES] = [
    1.0,
    2.0,
    3.0,
    -7.0,
    0.1,
    1.0e30,
    -1.0e-30,
    1.999_999_9,
    1.5,
    10.0,
    9.999,
    1.000_001,
    123.456,
    0.3,
    65_504.0,
    5.0,
];

#[test]
fn every_level_agrees_with_scalar_code() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        isa.run(Check);
    }
}
