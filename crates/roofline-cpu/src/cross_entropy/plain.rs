//! The definition, row after row.

use super::IGNORED;
use crate::log_softmax::plain::parts;
use crate::reduce::Line;
use crate::{Cpu, Real, Rows, Scalar};

/// The mean loss of the rows whose target is not [`IGNORED`]; NaN where there is none.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cross_entropy::plain::cross_entropy};
///
/// let mut y = [0.0];
/// cross_entropy(&Cpu::serial(), &[0.0, 0.0, 9.0, 5.0], &[1, -100], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2f64.ln()]);
/// ```
pub fn cross_entropy<T: Scalar>(_cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    assert!([x.len(), t.len(), y.len()] == [shape.len(), shape.rows, 1], "lengths for {shape:?}");
    let counted = t.iter().filter(|t| **t != IGNORED).count();
    let sum: T::Wide = losses(x, t, shape).sum();
    y[0] = T::narrow(sum / T::Wide::of(counted as f64));
}

/// The loss of each row; 0 where its target is [`IGNORED`].
pub fn cross_entropy_none<T: Scalar>(_cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    assert!([x.len(), t.len(), y.len()] == [shape.len(), shape.rows, shape.rows], "lengths for {shape:?}");
    for (y, loss) in y.iter_mut().zip(losses(x, t, shape)) {
        *y = T::narrow(loss);
    }
}

fn losses<'a, T: Scalar>(x: &'a [T], t: &'a [i32], shape: Rows) -> impl Iterator<Item = T::Wide> + 'a {
    x.chunks(shape.cols.max(1)).zip(t).map(|(x, t)| match *t {
        IGNORED => T::Wide::of(0.0),
        t => {
            let (largest, log) = parts(Line::row(x));
            log - (x[t as usize].wide() - largest)
        }
    })
}
