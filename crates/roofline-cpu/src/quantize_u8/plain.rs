//! The definition: the ends of each row, and a quotient for each element.

use crate::{Cpu, Rows, Scalar};

/// Codes q = round(x / s) + z, the scale s = (most − least) / 255 and the code z of zero of each row, where zero counts among
/// its elements; of zeros s is 1 and z is 0.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, quantize_u8};
///
/// let (mut q, mut s, mut z) = ([0; 3], [0.0], [0]);
/// let shape = Rows { rows: 1, cols: 3 };
/// quantize_u8(&Cpu::serial(), &[-55.0f32, 455.0, 1.0], &mut q, &mut s, &mut z, shape);
/// assert_eq!((q, s, z), ([0, 255, 28], [2.0], [28]));
/// ```
pub fn quantize_u8<T: Scalar<Wide = f32>>(
    _cpu: &Cpu,
    x: &[T],
    q: &mut [u8],
    s: &mut [f32],
    z: &mut [u8],
    shape: Rows,
) {
    assert!([x.len(), q.len()] == [shape.len(); 2], "lengths for {shape:?}");
    assert!([s.len(), z.len()] == [shape.rows; 2], "lengths for {shape:?}");
    let rows = x.chunks(shape.cols.max(1)).zip(q.chunks_mut(shape.cols.max(1)));
    for ((x, q), (s, z)) in rows.zip(s.iter_mut().zip(z)) {
        let ends = |(least, most): (f32, f32), x: &T| (least.min(x.wide()), most.max(x.wide()));
        let (least, most) = x.iter().fold((0.0, 0.0), ends);
        *s = if least == most { 1.0 } else { (most - least) / 255.0 };
        *z = (-least / *s).round_ties_even().clamp(0.0, 255.0) as u8;
        for (x, q) in x.iter().zip(q) {
            *q = ((x.wide() / *s).round_ties_even() + f32::from(*z)).clamp(0.0, 255.0) as u8;
        }
    }
}
