//! What a product needs to know about its types.
//!
//! A [`Term`] is the type of A and B; a [`Factor`] one that is packed; a [`Number`] is the 32-bit type it is
//! packed and summed in. bf16 and f16 become f32, two i8 become a pair of i16
//! in an i32, so that f32 and i32 are all that the inner loops know.

use half::{bf16, f16};

use super::Form;
use super::block::Block;
use super::fixed::Tensors;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::{amx, fixed};
use crate::catalog::Launch;
use crate::lanes::Lanes;
use crate::scratch::Plain;
use crate::{Cpu, Datum, Element, Product};

/// A type whose products plain kernels sum.
pub trait Term: Datum {
    /// What sums are kept in.
    type Total: Copy + Default;
    /// What C holds.
    type Output: Datum;

    /// sum + a · b
    fn add_product(sum: Self::Total, a: Self, b: Self) -> Self::Total;
    /// The one rounding of a sum to an element of C.
    fn round(sum: Self::Total) -> Self::Output;
}

macro_rules! terms {
    ($($type:ident: $total:ident as $output:ident, $product:expr, $round:expr;)*) => {$(
        impl Term for $type {
            type Total = $total;
            type Output = $output;
            #[inline(always)]
            fn add_product(sum: $total, a: $type, b: $type) -> $total {
                sum + $product(a, b)
            }
            #[inline(always)]
            fn round(sum: $total) -> $output {
                $round(sum)
            }
        }
    )*};
}

terms! {
    f64: f64 as f64, |a, b| a * b, std::convert::identity;
    f32: f32 as f32, |a, b| a * b, std::convert::identity;
    bf16: f32 as bf16, |a: bf16, b: bf16| a.to_f32() * b.to_f32(), bf16::from_f32;
    f16: f32 as f16, |a: f16, b: f16| a.to_f32() * b.to_f32(), f16::from_f32;
    i8: i32 as i32, |a, b| i32::from(a) * i32::from(b), std::convert::identity;
}

/// A type whose products are packed and summed in lanes: f32, bf16 and f16 in f32, i8 in i32.
#[expect(private_bounds, private_interfaces, reason = "the trait is closed")]
pub trait Factor: Term<Total: Number> {
    /// Elements of a sum in one packed number.
    const DEPTH: usize;

    /// Packs `first`, and `second` too where `DEPTH` is 2.
    fn pack(first: Self, second: Self) -> Self::Total;
    /// The first `LANES` packed numbers of a row of `LANES * DEPTH` elements.
    fn load<L: Lanes>(lanes: L, row: &[Self]) -> <Self::Total as Number>::Vector<L>;
    /// `LANES` packed numbers of as many columns: of `first` alone, and of the row below it too where `DEPTH` is 2.
    fn load_columns<L: Lanes>(
        lanes: L,
        first: &[Self],
        second: &[Self],
    ) -> <Self::Total as Number>::Vector<L>;
    /// C itself as the place of the sums, where it has their type.
    fn in_place<'a>(c: &'a mut Block<'_, Self::Output>) -> Option<Block<'a, Self::Total>>;
    /// Rounds a row of sums to a row of C.
    fn round_row<L: Lanes>(lanes: L, sums: &[Self::Total], c: &mut [Self::Output]);
    /// The product by tile registers; `false` where the type or the processor has none.
    fn by_tiles(
        _cpu: &Cpu,
        _form: Form,
        _a: &[Self],
        _b: &[Self],
        _c: &mut [Self::Output],
        _shape: Product,
    ) -> bool {
        false
    }
    /// The product with a B that is packed for tile registers beforehand; the tensors again where the type or the processor has
    /// none.
    fn on_strips<'a>(_cpu: &Cpu, tensors: Tensors<'a, Self>) -> Result<Launch<'a>, Tensors<'a, Self>> {
        Err(tensors)
    }
}

/// f32, or i32 that is a sum on one side and a pair of i16 on the other.
pub(super) trait Number: Plain + Default {
    /// A vector of these numbers.
    type Vector<L: Lanes>: Copy;
    /// The same number in every lane.
    fn splat<L: Lanes>(lanes: L, value: Self) -> Self::Vector<L>;
    /// Reads one vector.
    fn load<L: Lanes>(lanes: L, x: &[Self]) -> Self::Vector<L>;
    /// Rows become columns.
    fn transpose<L: Lanes>(lanes: L, rows: L::Square<Self::Vector<L>>) -> L::Square<Self::Vector<L>>;
    /// acc + a · b
    fn multiply_add<L: Lanes>(
        lanes: L,
        a: Self::Vector<L>,
        b: Self::Vector<L>,
        acc: Self::Vector<L>,
    ) -> Self::Vector<L>;
    /// The sum of all lanes.
    fn sum<L: Lanes>(lanes: L, v: Self::Vector<L>) -> Self;
    /// Writes a vector of sums, or as much of it as `y` can hold; adds to what
    /// is there if `add`.
    fn put<L: Lanes>(lanes: L, v: Self::Vector<L>, add: bool, y: &mut [Self]);
}

impl Number for f32 {
    type Vector<L: Lanes> = L::F;
    #[inline(always)]
    fn splat<L: Lanes>(lanes: L, value: f32) -> L::F {
        lanes.splat(value)
    }
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, x: &[f32]) -> L::F {
        lanes.load_f32(x)
    }
    #[inline(always)]
    fn transpose<L: Lanes>(lanes: L, rows: L::Square<L::F>) -> L::Square<L::F> {
        lanes.transpose(rows)
    }
    #[inline(always)]
    fn multiply_add<L: Lanes>(lanes: L, a: L::F, b: L::F, acc: L::F) -> L::F {
        lanes.mul_add(a, b, acc)
    }
    #[inline(always)]
    fn sum<L: Lanes>(lanes: L, v: L::F) -> f32 {
        lanes.sum(v)
    }
    #[inline(always)]
    fn put<L: Lanes>(lanes: L, v: L::F, add: bool, y: &mut [f32]) {
        if y.len() >= L::LANES {
            let v = if add { lanes.add(lanes.load_f32(y), v) } else { v };
            lanes.store_f32(v, y);
        } else {
            let v = if add { lanes.add(lanes.load_partial_f32(y, 0.0), v) } else { v };
            lanes.store_partial_f32(v, y);
        }
    }
}

impl Number for i32 {
    type Vector<L: Lanes> = L::I;
    #[inline(always)]
    fn splat<L: Lanes>(lanes: L, value: i32) -> L::I {
        lanes.splat_i32(value)
    }
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, x: &[i32]) -> L::I {
        lanes.load_i32(x)
    }
    #[inline(always)]
    fn transpose<L: Lanes>(lanes: L, rows: L::Square<L::I>) -> L::Square<L::I> {
        lanes.transpose_i32(rows)
    }
    #[inline(always)]
    fn multiply_add<L: Lanes>(lanes: L, a: L::I, b: L::I, acc: L::I) -> L::I {
        lanes.dot_pairs(acc, a, b)
    }
    #[inline(always)]
    fn sum<L: Lanes>(lanes: L, v: L::I) -> i32 {
        lanes.sum_i32(v)
    }
    #[inline(always)]
    fn put<L: Lanes>(lanes: L, v: L::I, add: bool, y: &mut [i32]) {
        if y.len() >= L::LANES {
            let v = if add { lanes.add_i32(lanes.load_i32(y), v) } else { v };
            lanes.store_i32(v, y);
        } else {
            let v = if add { lanes.add_i32(lanes.load_partial_i32(y), v) } else { v };
            lanes.store_partial_i32(v, y);
        }
    }
}

#[expect(private_interfaces, reason = "the trait is closed")]
impl Factor for f32 {
    const DEPTH: usize = 1;

    #[inline(always)]
    fn pack(first: f32, _second: f32) -> f32 {
        first
    }
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, row: &[f32]) -> L::F {
        lanes.load_f32(row)
    }
    #[inline(always)]
    fn load_columns<L: Lanes>(lanes: L, first: &[f32], _second: &[f32]) -> L::F {
        <f32 as Factor>::load(lanes, first)
    }
    fn in_place<'a>(c: &'a mut Block<'_, f32>) -> Option<Block<'a, f32>> {
        Some(c.reborrow())
    }
    #[inline(always)]
    fn round_row<L: Lanes>(_lanes: L, sums: &[f32], c: &mut [f32]) {
        c.copy_from_slice(sums);
    }
}

#[expect(private_interfaces, reason = "the trait is closed")]
impl Factor for bf16 {
    const DEPTH: usize = 1;

    #[inline(always)]
    fn pack(first: bf16, _second: bf16) -> f32 {
        f32::from_bits(u32::from(first.to_bits()) << 16)
    }
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, row: &[bf16]) -> L::F {
        <bf16 as Element>::load(lanes, row)
    }
    #[inline(always)]
    fn load_columns<L: Lanes>(lanes: L, first: &[bf16], _second: &[bf16]) -> L::F {
        <bf16 as Factor>::load(lanes, first)
    }
    fn in_place<'a>(_c: &'a mut Block<'_, bf16>) -> Option<Block<'a, f32>> {
        None
    }
    #[inline(always)]
    fn round_row<L: Lanes>(lanes: L, sums: &[f32], c: &mut [bf16]) {
        narrow_row(lanes, sums, c);
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn by_tiles(cpu: &Cpu, form: Form, a: &[bf16], b: &[bf16], c: &mut [bf16], shape: Product) -> bool {
        amx::is_available() && amx::multiply(cpu, form, a, b, c, shape)
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn on_strips<'a>(cpu: &Cpu, tensors: Tensors<'a, bf16>) -> Result<Launch<'a>, Tensors<'a, bf16>> {
        fixed::on_strips(cpu, tensors)
    }
}

#[expect(private_interfaces, reason = "the trait is closed")]
impl Factor for f16 {
    const DEPTH: usize = 1;

    #[inline(always)]
    fn pack(first: f16, _second: f16) -> f32 {
        first.to_f32()
    }
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, row: &[f16]) -> L::F {
        <f16 as Element>::load(lanes, row)
    }
    #[inline(always)]
    fn load_columns<L: Lanes>(lanes: L, first: &[f16], _second: &[f16]) -> L::F {
        <f16 as Factor>::load(lanes, first)
    }
    fn in_place<'a>(_c: &'a mut Block<'_, f16>) -> Option<Block<'a, f32>> {
        None
    }
    #[inline(always)]
    fn round_row<L: Lanes>(lanes: L, sums: &[f32], c: &mut [f16]) {
        narrow_row(lanes, sums, c);
    }
}

#[expect(private_interfaces, reason = "the trait is closed")]
impl Factor for i8 {
    const DEPTH: usize = 2;

    #[inline(always)]
    fn pack(first: i8, second: i8) -> i32 {
        (i32::from(first) & 0xffff) | (i32::from(second) << 16)
    }
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, row: &[i8]) -> L::I {
        lanes.load_pairs(row)
    }
    #[inline(always)]
    fn load_columns<L: Lanes>(lanes: L, first: &[i8], second: &[i8]) -> L::I {
        lanes.load_pairs_of(first, second)
    }
    fn in_place<'a>(c: &'a mut Block<'_, i32>) -> Option<Block<'a, i32>> {
        Some(c.reborrow())
    }
    #[inline(always)]
    fn round_row<L: Lanes>(lanes: L, sums: &[i32], c: &mut [i32]) {
        for (sums, c) in sums.chunks(L::LANES).zip(c.chunks_mut(L::LANES)) {
            <i32 as Number>::put(lanes, lanes.load_partial_i32(sums), false, c);
        }
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn by_tiles(cpu: &Cpu, form: Form, a: &[i8], b: &[i8], c: &mut [i32], shape: Product) -> bool {
        amx::is_available() && amx::multiply(cpu, form, a, b, c, shape)
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn on_strips<'a>(cpu: &Cpu, tensors: Tensors<'a, i8>) -> Result<Launch<'a>, Tensors<'a, i8>> {
        fixed::on_strips(cpu, tensors)
    }
}

#[inline(always)]
fn narrow_row<L: Lanes, T: Element>(lanes: L, sums: &[f32], c: &mut [T]) {
    let mut sums = sums.chunks_exact(L::LANES);
    let mut c = c.chunks_exact_mut(L::LANES);
    for (sums, c) in (&mut sums).zip(&mut c) {
        T::store(lanes, lanes.load_f32(sums), c);
    }
    if !sums.remainder().is_empty() {
        let tail = lanes.load_partial_f32(sums.remainder(), 0.0);
        T::store_partial(lanes, tail, c.into_remainder());
    }
}
