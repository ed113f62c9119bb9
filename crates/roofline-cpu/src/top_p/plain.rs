//! The definition: each row sorted, its exponentials added up in f64.

use super::Among;
use crate::scratch::Scratch;
use crate::{Cpu, Real, Rows, Scalar};

/// The column of each row of `x` that the lot `u` falls on, among the likeliest whose softmax adds up to p.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, top_p, top_p::Among};
///
/// // Shares of 0.2, 0.5 and 0.3: the last two reach 0.7, and the lots fall on the one and on the other.
/// let x = [2.0f64, 5.0, 3.0, 2.0, 5.0, 3.0].map(f64::ln);
/// let mut at = [0; 2];
/// let among = Among { p: 0.7, temperature: 1.0, most: 3 };
/// top_p(&Cpu::serial(), &x, &[0.6, 0.7], &mut at, Rows { rows: 2, cols: 3 }, among);
/// assert_eq!(at, [1, 2]);
/// ```
pub fn top_p<T: Scalar>(_cpu: &Cpu, x: &[T], u: &[f32], at: &mut [i32], shape: Rows, among: Among) {
    let Rows { rows, cols } = shape;
    assert!([x.len(), u.len(), at.len()] == [rows * cols, rows, rows], "lengths for {shape:?}");
    let mut order = Scratch::<i32>::take(cols);
    for (x, (u, at)) in x.chunks(cols.max(1)).zip(u.iter().zip(at)) {
        order.iter_mut().zip(0..).for_each(|(place, column)| *place = column);
        order.sort_unstable_by(|one, other| {
            let [one, other] = [one, other].map(|column| x[*column as usize].wide().in_f64());
            other.total_cmp(&one)
        });
        let scaled = |column: i32| x[column as usize].wide().in_f64() / among.temperature;
        let power = |column: i32| (scaled(column) - scaled(order[0])).exp();
        let taken = &order[..among.most.clamp(1, cols)];
        let enough = among.p * taken.iter().map(|column| power(*column)).sum::<f64>();
        // As many as reach p, and what they add up to.
        let (mut sum, mut count) = (0.0, 0);
        while count < taken.len() && (count == 0 || sum < enough) {
            sum += power(taken[count]);
            count += 1;
        }
        let target = f64::from(*u) * sum;
        let mut passed = 0.0;
        let mut is_hit = |column: &&i32| {
            passed += power(**column);
            passed > target
        };
        *at = *taken[..count].iter().find(&mut is_hit).unwrap_or(&taken[count - 1]);
    }
}
