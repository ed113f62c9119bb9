//! The definition: one token after the other, and for each of its places the largest that is left.

use crate::{Cpu, Float, Rows, Scalar};

/// The experts of the largest numbers of each row of `x`, as many as `at` has for each, and softmax(x) of these over its sum.
/// Of equal ones the first are taken.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, moe_route};
///
/// let (mut w, mut at) = ([0.0; 2], [0; 2]);
/// moe_route(&Cpu::serial(), &[1.0, 5.0, 5.0], &mut w, &mut at, Rows { rows: 1, cols: 3 });
/// assert_eq!((w, at), ([0.5, 0.5], [1, 2]));
/// ```
///
/// # Panics
/// If lengths do not fit, or a token has more places than there are experts.
pub fn moe_route<T: Scalar>(_cpu: &Cpu, x: &[T], w: &mut [T], at: &mut [i32], shape: Rows) {
    let Rows { rows, cols: experts } = shape;
    let top = at.len() / rows.max(1);
    assert!([x.len(), w.len(), at.len()] == [shape.len(), rows * top, rows * top], "lengths for {shape:?}");
    assert!(top <= experts, "{top} of {experts} experts");
    if top == 0 {
        return;
    }
    for (x, (w, at)) in x.chunks(experts).zip(w.chunks_mut(top).zip(at.chunks_mut(top))) {
        for place in 0..top {
            let is_left = |expert: &usize| !at[..place].contains(&(*expert as i32));
            let larger = |best: usize, expert: usize| {
                if x[expert].wide() > x[best].wide() { expert } else { best }
            };
            at[place] = (0..experts).filter(is_left).reduce(larger).unwrap_or(0) as i32;
        }
        let largest = x[at[0] as usize].wide();
        let power = |at: &i32| (x[*at as usize].wide() - largest).exp();
        let sum: T::Wide = at.iter().map(power).sum();
        w.iter_mut().zip(&*at).for_each(|(w, at)| *w = T::narrow(power(at) / sum));
    }
}
