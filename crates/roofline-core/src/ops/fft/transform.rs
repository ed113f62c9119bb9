//! The discrete Fourier transform as expected values and emulated kernels compute it: any length, by its prime factors.

use crate::arithmetic::Arithmetic;
use std::f64::consts::FRAC_PI_4;

/// Real and imaginary part.
pub(in crate::ops) type Complex = [f64; 2];

/// Largest prime factor that is summed as it is defined; above, [`chirped`] sums are exact enough and far quicker.
const SUMMED: usize = 64;

/// e^(sign · 2πi · index / n): of an angle below an eighth of a turn, so that its zeros and ones are exact.
pub(in crate::ops) fn root(index: usize, n: usize, sign: f64) -> Complex {
    // u128: eight times the largest index.
    let (eighths, n) = (8 * (index % n) as u128, n as u128);
    let (octant, rest) = (eighths / n, eighths % n);
    // Odd octants are seen from their other end.
    let part = if octant % 2 == 0 { rest } else { n - rest };
    let (sin, cos) = (FRAC_PI_4 * (part as f64 / n as f64)).sin_cos();
    let [re, im] = match octant {
        0 => [cos, sin],
        1 => [sin, cos],
        2 => [-sin, cos],
        3 => [-cos, sin],
        4 => [-cos, -sin],
        5 => [-sin, -cos],
        6 => [sin, -cos],
        _ => [cos, -sin],
    };
    [re, sign * im]
}

/// The prime factors of a number, ascending; none of 1.
pub(in crate::ops) fn factors(mut n: usize) -> Vec<usize> {
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

/// How one transform is computed.
pub(in crate::ops) struct Plan {
    factors: Vec<usize>,
    roots: Vec<Complex>,
    /// Rounds every step; `None` computes in f64.
    emulated: Option<Arithmetic>,
    /// Places that the twiddle factors of the last step are off by: 0 but in a mutant.
    slip: usize,
}

impl Plan {
    /// In f64, for expected values.
    pub(in crate::ops) fn exact(n: usize, sign: f64) -> Plan {
        let roots = (0..n).map(|index| root(index, n, sign)).collect();
        Plan { factors: factors(n), roots, emulated: None, slip: 0 }
    }

    /// In another arithmetic, and by the factors in the other order.
    pub(in crate::ops) fn emulating(n: usize, sign: f64, arithmetic: &Arithmetic, slip: usize) -> Plan {
        let mut plan = Plan { emulated: Some(*arithmetic), slip, ..Plan::exact(n, sign) };
        plan.factors.reverse();
        plan.roots.iter_mut().for_each(|root| *root = root.map(|x| arithmetic.round(x)));
        plan
    }

    pub(in crate::ops) fn run(&self, x: &[Complex]) -> Vec<Complex> {
        let mut y = vec![[0.0; 2]; x.len()];
        let mut terms = vec![[0.0; 2]; self.factors.iter().copied().max().unwrap_or(1)];
        self.part(x, 0, 1, &self.factors, &mut y, &mut terms);
        y
    }

    /// The transform of every `step`-th number from `first` on: of p parts, each put together from a number of all.
    fn part(
        &self,
        x: &[Complex],
        first: usize,
        step: usize,
        factors: &[usize],
        y: &mut [Complex],
        terms: &mut [Complex],
    ) {
        let Some((&p, rest)) = factors.split_first() else { return y[0] = x[first] };
        let m = y.len() / p;
        for (r, part) in y.chunks_exact_mut(m).enumerate() {
            self.part(x, first + r * step, step * p, rest, part, terms);
        }
        if p == 2 && self.emulated.is_none() {
            // Of most lengths most of the work.
            let (low, high) = y.split_at_mut(m);
            for ((a, b), turn) in low.iter_mut().zip(high).zip(self.roots.iter().step_by(step)) {
                let turned = product(*b, *turn);
                (*a, *b) = ([a[0] + turned[0], a[1] + turned[1]], [a[0] - turned[0], a[1] - turned[1]]);
            }
            return;
        }
        let slip = if step == 1 { self.slip } else { 0 };
        let terms = &mut terms[..p];
        for k in 0..m {
            for (r, term) in terms.iter_mut().enumerate() {
                let turn = self.roots[r * (k + slip) % (m * p) * step];
                let number = y[r * m + k];
                *term = if r * (k + slip) == 0 { number } else { self.sum(&[number], |_| turn) };
            }
            if p > SUMMED && self.emulated.is_none() {
                let sign = self.roots[self.roots.len() / p][1].signum();
                chirped(terms, sign).into_iter().enumerate().for_each(|(q, sum)| y[q * m + k] = sum);
                continue;
            }
            for q in 0..p {
                y[q * m + k] = self.sum(terms, |r| self.roots[r * q % p * m * step]);
            }
        }
    }

    /// The sum of products with roots.
    fn sum(&self, terms: &[Complex], root: impl Fn(usize) -> Complex) -> Complex {
        let Some(arithmetic) = self.emulated else {
            let add = |[re, im]: Complex, (r, [a, b]): (usize, &Complex)| {
                let [c, d] = root(r);
                [re + (a * c - b * d), im + (a * d + b * c)]
            };
            return terms.iter().enumerate().fold([0.0; 2], add);
        };
        let products = |part: fn(Complex, Complex) -> [f64; 2]| -> Vec<f64> {
            let products = terms.iter().enumerate().flat_map(|(r, term)| part(*term, root(r)));
            products.map(|product| arithmetic.round(product)).collect()
        };
        let re = products(|[a, b], [c, d]| [a * c, -b * d]);
        let im = products(|[a, b], [c, d]| [a * d, b * c]);
        [arithmetic.sum(&re), arithmetic.sum(&im)]
    }
}

fn product([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

/// A transform of any length as a convolution, whose own transforms have a power of two: with
/// rq = (r² + q² − (q − r)²) / 2, each term is turned by half its square.
fn chirped(terms: &[Complex], sign: f64) -> Vec<Complex> {
    let p = terms.len();
    let length = (2 * p).next_power_of_two();
    let turn = |r: usize, sign: f64| root((r as u128 * r as u128 % (2 * p) as u128) as usize, 2 * p, sign);
    let mut turned = vec![[0.0; 2]; length];
    let mut chirp = vec![[0.0; 2]; length];
    for (r, term) in terms.iter().enumerate() {
        turned[r] = product(*term, turn(r, sign));
        chirp[r] = turn(r, -sign);
        chirp[(length - r) % length] = chirp[r];
    }
    let forth = Plan::exact(length, -1.0);
    let both = forth.run(&turned).into_iter().zip(forth.run(&chirp));
    let both: Vec<Complex> = both.map(|(one, other)| product(one, other)).collect();
    let back = Plan::exact(length, 1.0).run(&both).into_iter().take(p);
    back.enumerate().map(|(q, sum)| product(sum.map(|x| x / length as f64), turn(q, sign))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, with angles of the right size.
    fn defined(x: &[Complex], sign: f64) -> Vec<Complex> {
        let n = x.len();
        let of = |k: usize| {
            x.iter().enumerate().fold([0.0; 2], |[re, im], (j, x)| {
                let [a, b] = product(*x, root(j * k % n, n, sign));
                [re + a, im + b]
            })
        };
        (0..n).map(of).collect()
    }

    #[test]
    fn roots_are_those_of_the_circle_and_its_quarters_exact() {
        for n in [1, 2, 3, 4, 8, 12, 100, 1009] {
            for index in 0..2 * n {
                let (sin, cos) = (std::f64::consts::TAU * index as f64 / n as f64).sin_cos();
                let [re, im] = root(index, n, 1.0);
                assert!((re - cos).abs() < 1e-14 && (im - sin).abs() < 1e-14, "{index} of {n}");
            }
        }
        assert_eq!([0, 1, 2, 3].map(|index| root(index, 4, 1.0)), [[1., 0.], [0., 1.], [-1., 0.], [0., -1.]]);
        assert_eq!(root(3, 12, -1.0), [0.0, -1.0]);
    }

    #[test]
    fn every_length_is_the_definition() {
        for n in [1, 2, 3, 4, 6, 30, 49, 64, 97, 127, 131, 262, 1000] {
            let x: Vec<Complex> =
                (0..n).map(|j| [(j as f64 * 0.7).sin(), (j as f64 * j as f64).cos()]).collect();
            for sign in [-1.0, 1.0] {
                let (fast, slow) = (Plan::exact(n, sign).run(&x), defined(&x, sign));
                let apart = fast.iter().zip(&slow).map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]));
                let most = apart.fold(0.0, f64::max);
                assert!(most < 1e-14 * n as f64, "{n}: {most}");
            }
        }
    }
}
