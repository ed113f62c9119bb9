//! Cooley and Tukey's transform: that of a line from those of its parts, taken in turns.

use super::Form;
use crate::Real;
use std::f64::consts::FRAC_PI_2;
use std::ops::Range;

/// Real and imaginary part.
type Complex<T> = [T; 2];

/// Transforms of one length and form to come.
///
/// ```
/// use roofline_cpu::fft::{Form, Plan};
///
/// let mut y = [0.0; 6];
/// Plan::new(4, Form::Real).run(&[1.0, 2.0, 3.0, 4.0], &mut y);
/// assert_eq!(y, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
/// let mut x = [0.0; 4];
/// Plan::new(4, Form::RealInverse).run(&y, &mut x);
/// assert_eq!(x, [1.0, 2.0, 3.0, 4.0]);
/// ```
pub struct Plan<T> {
    form: Form,
    factors: Vec<usize>,
    /// e^(±2πi·j/n) for each j.
    roots: Vec<Complex<T>>,
    /// The line as complex numbers, and its transform.
    line: Vec<Complex<T>>,
    transformed: Vec<Complex<T>>,
    /// As many numbers as the largest factor has.
    terms: Vec<Complex<T>>,
}

impl<T: Real> Plan<T> {
    /// Computes what hangs on the length alone.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn new(n: usize, form: Form) -> Self {
        assert!(n > 0, "a line of no numbers has no transform");
        let sign = if form.is_inverse() { 1.0 } else { -1.0 };
        let roots = (0..n).map(|j| root(j, n, sign).map(T::of)).collect();
        let line = vec![[T::default(); 2]; n];
        let factors = factors(n);
        let terms = vec![[T::default(); 2]; factors.iter().copied().max().unwrap_or(0)];
        Self { form, factors, roots, transformed: line.clone(), line, terms }
    }

    /// Bytes that it keeps.
    pub fn bytes(&self) -> usize {
        3 * size_of_val::<[Complex<T>]>(&self.roots) + size_of_val::<[Complex<T>]>(&self.terms)
    }

    /// Transforms each line of `x` to one of `y`.
    ///
    /// # Panics
    /// If they do not hold as many whole lines.
    pub fn run(&mut self, x: &[T], y: &mut [T]) {
        let n = self.line.len();
        let [before, after] = self.form.lengths(n);
        assert!(
            x.len().is_multiple_of(before) && y.len() == x.len() / before * after,
            "lengths for transforms of {n}"
        );
        let scale = if self.form.is_inverse() { T::of(n as f64).recip() } else { T::of(1.0) };
        for (x, y) in x.chunks_exact(before).zip(y.chunks_exact_mut(after)) {
            self.read(x);
            if n.is_power_of_two() {
                self.by_halves();
            } else {
                part(&self.line, 0, 1, &self.factors, &self.roots, &mut self.transformed, &mut self.terms);
            }
            match self.form {
                Form::RealInverse => y.iter_mut().zip(&self.transformed).for_each(|(y, z)| *y = z[0] * scale),
                _ => {
                    let parts = self.transformed.iter().flatten();
                    y.iter_mut().zip(parts).for_each(|(y, z)| *y = *z * scale);
                }
            }
        }
    }

    /// The n complex numbers that a line stands for.
    fn read(&mut self, x: &[T]) {
        let n = self.line.len();
        for (j, z) in self.line.iter_mut().enumerate() {
            *z = match self.form {
                Form::Forward | Form::Inverse => [x[2 * j], x[2 * j + 1]],
                Form::Real => [x[j], T::default()],
                Form::RealInverse if (2 * j).is_multiple_of(n) => [x[2 * j], T::default()],
                Form::RealInverse if 2 * j < n => [x[2 * j], x[2 * j + 1]],
                Form::RealInverse => [x[2 * (n - j)], -x[2 * (n - j) + 1]],
            };
        }
    }

    /// In the order of reversed bits, halves that belong together lie side by side.
    fn by_halves(&mut self) {
        let n = self.line.len();
        for (j, z) in self.line.iter().enumerate() {
            let reversed = if n == 1 { 0 } else { j.reverse_bits() >> (usize::BITS - n.ilog2()) };
            self.transformed[reversed] = *z;
        }
        let mut half = 1;
        while half < n {
            for both in self.transformed.chunks_exact_mut(2 * half) {
                let (low, high) = both.split_at_mut(half);
                for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                    let turned = product(*b, self.roots[k * (n / (2 * half))]);
                    (*a, *b) = ([a[0] + turned[0], a[1] + turned[1]], [a[0] - turned[0], a[1] - turned[1]]);
                }
            }
            half *= 2;
        }
    }
}

/// The transform of every `step`-th number from `first` on, from those of as many parts as the first factor says.
fn part<T: Real>(
    x: &[Complex<T>],
    first: usize,
    step: usize,
    factors: &[usize],
    roots: &[Complex<T>],
    y: &mut [Complex<T>],
    terms: &mut [Complex<T>],
) {
    let Some((&p, rest)) = factors.split_first() else { return y[0] = x[first] };
    let m = y.len() / p;
    for (r, y) in y.chunks_exact_mut(m).enumerate() {
        part(x, first + r * step, step * p, rest, roots, y, terms);
    }
    // The parts are done with it.
    let terms = &mut terms[..p];
    for k in 0..m {
        for (r, term) in terms.iter_mut().enumerate() {
            *term = product(y[r * m + k], roots[r * k * step]);
        }
        for q in 0..p {
            y[q * m + k] = sum(0..p, &|r| product(terms[r], roots[r * q % p * m * step]));
        }
    }
}

/// In halves: the error of a long sum in sequence would be more than that of all other steps.
fn sum<T: Real>(range: Range<usize>, term: &impl Fn(usize) -> Complex<T>) -> Complex<T> {
    let add = |a: Complex<T>, b: Complex<T>| [a[0] + b[0], a[1] + b[1]];
    if range.len() <= 8 {
        return range.map(term).fold([T::default(); 2], add);
    }
    let middle = range.start + range.len() / 2;
    add(sum(range.start..middle, term), sum(middle..range.end, term))
}

fn product<T: Real>([a, b]: Complex<T>, [c, d]: Complex<T>) -> Complex<T> {
    [a * c - b * d, a * d + b * c]
}

/// e^(sign·2πi·j/n), from an angle within a quarter of a turn, so that its zeros and ones are exact.
fn root(j: usize, n: usize, sign: f64) -> Complex<f64> {
    let (quarter, rest) = (4 * j / n, 4 * j % n);
    let (sin, cos) = (FRAC_PI_2 * (rest as f64 / n as f64)).sin_cos();
    let [re, im] = match quarter {
        0 => [cos, sin],
        1 => [-sin, cos],
        2 => [-cos, -sin],
        _ => [sin, -cos],
    };
    [re, sign * im]
}

/// Prime factors, ascending.
fn factors(mut n: usize) -> Vec<usize> {
    let (mut factors, mut factor) = (Vec::new(), 2);
    while factor * factor <= n {
        while n.is_multiple_of(factor) {
            factors.push(factor);
            n /= factor;
        }
        factor += 1;
    }
    factors.extend((n > 1).then_some(n));
    factors
}
