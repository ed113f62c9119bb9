//! Arrays of eight numbers that the compiler maps to whatever the target has.

use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};

use super::Lanes;

/// Plain Rust; available everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

const LANES: usize = 8;
type Floats = [f32; LANES];
type Integers = [i32; LANES];

#[inline(always)]
fn zip<T: Copy>(a: [T; LANES], b: [T; LANES], f: impl Fn(T, T) -> T) -> [T; LANES] {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

impl Lanes for Portable {
    const LANES: usize = LANES;
    const TILE_ROWS: usize = 4;

    type F = Floats;
    type I = Integers;
    type M = [bool; LANES];
    type Tile<V: Copy> = [V; 4];
    type Square<V: Copy> = [V; LANES];

    #[inline(always)]
    fn square<V: Copy>(self, value: V) -> [V; LANES] {
        [value; LANES]
    }
    #[inline(always)]
    fn transpose(self, rows: [Floats; LANES]) -> [Floats; LANES] {
        std::array::from_fn(|row| std::array::from_fn(|lane| rows[lane][row]))
    }
    #[inline(always)]
    fn transpose_i32(self, rows: [Integers; LANES]) -> [Integers; LANES] {
        std::array::from_fn(|row| std::array::from_fn(|lane| rows[lane][row]))
    }

    #[inline(always)]
    fn tile<V: Copy>(self, value: V) -> [V; 4] {
        [value; 4]
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Floats {
        [value; LANES]
    }
    #[inline(always)]
    fn add(self, a: Floats, b: Floats) -> Floats {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: Floats, b: Floats) -> Floats {
        zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn div(self, a: Floats, b: Floats) -> Floats {
        zip(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self, v: Floats) -> Floats {
        zip(v, v, |v, _| v.sqrt())
    }
    #[inline(always)]
    fn mul(self, a: Floats, b: Floats) -> Floats {
        zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn mul_add(self, a: Floats, b: Floats, c: Floats) -> Floats {
        // `f32::mul_add` would be a library call where the target has no FMA.
        self.add(self.mul(a, b), c)
    }
    #[inline(always)]
    fn max(self, a: Floats, b: Floats) -> Floats {
        zip(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, a: Floats, b: Floats) -> Floats {
        zip(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn round(self, v: Floats) -> Floats {
        // At 1.5·2²³ the spacing of f32 is one, so the sum is rounded to an integer.
        const SHIFT: f32 = 12_582_912.0;
        v.map(|v| (v + SHIFT) - SHIFT)
    }
    #[inline(always)]
    fn scale(self, v: Floats, n: Floats) -> Floats {
        // Two factors, because 2ⁿ itself may be out of range. Only the second
        // product can round. NaN in `v` or `n` ends as NaN in `v`.
        zip(v, n, |v, n| {
            let n = n as i32;
            let half = n >> 1;
            v * power_of_two(half) * power_of_two(n - half)
        })
    }
    #[inline(always)]
    fn fused(self, a: Floats, b: Floats, c: Floats) -> Floats {
        // A product of f32 is exact in f64.
        std::array::from_fn(|lane| (f64::from(a[lane]) * f64::from(b[lane]) + f64::from(c[lane])) as f32)
    }
    #[inline(always)]
    fn less(self, a: Floats, b: Floats) -> [bool; LANES] {
        std::array::from_fn(|lane| a[lane] < b[lane])
    }
    #[inline(always)]
    fn select(self, which: [bool; LANES], a: Floats, b: Floats) -> Floats {
        std::array::from_fn(|lane| if which[lane] { a[lane] } else { b[lane] })
    }
    #[inline(always)]
    fn interleave(self, a: Floats, b: Floats) -> [Floats; 2] {
        let of = |lane: usize| if lane.is_multiple_of(2) { a[lane / 2] } else { b[lane / 2] };
        [std::array::from_fn(of), std::array::from_fn(|lane| of(LANES + lane))]
    }
    #[inline(always)]
    fn swap_pairs(self, v: Floats) -> Floats {
        std::array::from_fn(|lane| v[lane ^ 1])
    }
    #[inline(always)]
    fn all(self, which: [bool; LANES]) -> bool {
        which == [true; LANES]
    }
    #[inline(always)]
    fn to_bits(self, v: Floats) -> Integers {
        v.map(|v| v.to_bits().cast_signed())
    }
    #[inline(always)]
    fn of_bits(self, v: Integers) -> Floats {
        v.map(|v| f32::from_bits(v.cast_unsigned()))
    }
    #[inline(always)]
    fn of_i32(self, v: Integers) -> Floats {
        v.map(|v| v as f32)
    }
    #[inline(always)]
    fn sum(self, v: Floats) -> f32 {
        ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]))
    }
    #[inline(always)]
    fn largest(self, v: Floats) -> f32 {
        v.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }

    #[inline(always)]
    fn load_f32(self, x: &[f32]) -> Floats {
        x[..LANES].try_into().expect("LANES elements")
    }
    #[inline(always)]
    fn store_f32(self, v: Floats, y: &mut [f32]) {
        y[..LANES].copy_from_slice(&v);
    }
    #[inline(always)]
    fn load_bf16(self, x: &[u16]) -> Floats {
        let x = &x[..LANES];
        std::array::from_fn(|lane| f32::from_bits(u32::from(x[lane]) << 16))
    }
    #[inline(always)]
    fn store_bf16(self, v: Floats, y: &mut [u16]) {
        y[..LANES].copy_from_slice(&v.map(|v| bf16::from_f32(v).to_bits()));
    }
    #[inline(always)]
    fn load_f16(self, x: &[u16]) -> Floats {
        widen(x[..LANES].reinterpret_cast())
    }
    #[inline(always)]
    fn store_f16(self, v: Floats, y: &mut [u16]) {
        narrow(v, y[..LANES].reinterpret_cast_mut());
    }

    #[inline(always)]
    fn splat_i32(self, value: i32) -> Integers {
        [value; LANES]
    }
    #[inline(always)]
    fn add_i32(self, a: Integers, b: Integers) -> Integers {
        zip(a, b, i32::wrapping_add)
    }
    #[inline(always)]
    fn sub_i32(self, a: Integers, b: Integers) -> Integers {
        zip(a, b, i32::wrapping_sub)
    }
    #[inline(always)]
    fn mul_wide(self, a: Integers, b: Integers) -> [Integers; 2] {
        let wide = |lane: usize| u64::from(a[lane].cast_unsigned()) * u64::from(b[lane].cast_unsigned());
        [std::array::from_fn(|lane| wide(lane) as i32), std::array::from_fn(|lane| (wide(lane) >> 32) as i32)]
    }
    #[inline(always)]
    fn below(self, a: Integers, b: Integers) -> [bool; LANES] {
        std::array::from_fn(|lane| a[lane].cast_unsigned() < b[lane].cast_unsigned())
    }
    #[inline(always)]
    fn and_i32(self, a: Integers, b: Integers) -> Integers {
        zip(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn or_i32(self, a: Integers, b: Integers) -> Integers {
        zip(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn xor_i32(self, a: Integers, b: Integers) -> Integers {
        zip(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn shift_left(self, v: Integers, count: i32) -> Integers {
        v.map(|v| v << count)
    }
    #[inline(always)]
    fn shift_right(self, v: Integers, count: i32) -> Integers {
        v.map(|v| (v.cast_unsigned() >> count).cast_signed())
    }
    #[inline(always)]
    fn load_i32(self, x: &[i32]) -> Integers {
        x[..LANES].try_into().expect("LANES elements")
    }
    #[inline(always)]
    fn store_i32(self, v: Integers, y: &mut [i32]) {
        y[..LANES].copy_from_slice(&v);
    }
    #[inline(always)]
    fn load_u16(self, x: &[u16]) -> Integers {
        let x = &x[..LANES];
        std::array::from_fn(|lane| i32::from(x[lane]))
    }
    #[inline(always)]
    fn store_u16(self, v: Integers, y: &mut [u16]) {
        y[..LANES].copy_from_slice(&v.map(|v| v as u16));
    }
    #[inline(always)]
    fn load_pairs(self, x: &[i8]) -> Integers {
        let x = &x[..2 * LANES];
        let wide = |index: usize| i32::from(x[index]);
        std::array::from_fn(|lane| (wide(2 * lane) & 0xffff) | (wide(2 * lane + 1) << 16))
    }
    #[inline(always)]
    fn load_pairs_of(self, first: &[i8], second: &[i8]) -> Integers {
        let (first, second) = (&first[..LANES], &second[..LANES]);
        std::array::from_fn(|lane| (i32::from(first[lane]) & 0xffff) | (i32::from(second[lane]) << 16))
    }
    #[inline(always)]
    fn load_i8(self, x: &[i8]) -> Integers {
        let x = &x[..LANES];
        std::array::from_fn(|lane| i32::from(x[lane]))
    }
    #[inline(always)]
    fn store_i8(self, v: Integers, y: &mut [i8]) {
        y[..LANES].copy_from_slice(&v.map(|v| v as i8));
    }
    #[inline(always)]
    fn look_up(self, numbers: [Floats; 2], places: Integers) -> Floats {
        places.map(|place| numbers[(place >> 3 & 1) as usize][(place & 7) as usize])
    }
    #[inline(always)]
    fn sum_i32(self, v: Integers) -> i32 {
        v.into_iter().fold(0, i32::wrapping_add)
    }
    #[inline(always)]
    fn dot_pairs(self, acc: Integers, a: Integers, b: Integers) -> Integers {
        let low = |pair: i32| i32::from(pair as i16);
        let products = zip(a, b, |a, b| (low(a) * low(b)).wrapping_add((a >> 16) * (b >> 16)));
        self.add_i32(acc, products)
    }
}

/// 2ⁿ for n of a normal number.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

/// Not inlined: without an instruction for it this is long, and whether there is one is asked each time.
#[inline(never)]
fn widen(x: &[f16]) -> Floats {
    let mut v = [0.0; LANES];
    x.convert_to_f32_slice(&mut v);
    v
}

/// The way back.
#[inline(never)]
fn narrow(v: Floats, y: &mut [f16]) {
    y.convert_from_f32_slice(&v);
}
