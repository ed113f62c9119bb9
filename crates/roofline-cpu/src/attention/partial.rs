//! What is known of rows after some of their keys: the largest product, the sum of powers, and values times powers.

use crate::lanes::Lanes;
use crate::math::exp;
use crate::{Element, Vectorize};

/// Numbers beside the values: the largest product and the sum, in the place of a whole vector of any level.
pub(super) const HEAD: usize = 16;

/// One row of a partial result.
pub(super) struct Partial<'a> {
    pub(super) largest: &'a mut f32,
    pub(super) sum: &'a mut f32,
    pub(super) values: &'a mut [f32],
}

impl<'a> Partial<'a> {
    /// In so many numbers: [`HEAD`] more than a row of values.
    pub(super) fn of(numbers: &'a mut [f32]) -> Partial<'a> {
        let (head, values) = numbers.split_at_mut(HEAD);
        let [largest, sum, ..] = head else { unreachable!("a head has {HEAD} numbers") };
        Partial { largest, sum, values }
    }

    /// Of no key.
    pub(super) fn clear(&mut self) {
        (*self.largest, *self.sum) = (f32::NEG_INFINITY, 0.0);
        self.values.fill(0.0);
    }
}

/// A row of the output from its partial results, which lie behind each other, so many numbers each, and from a sink.
/// Zeros where there was no key. The first partial result serves as scratch.
pub(super) struct Merge<'a, T> {
    pub(super) partials: &'a mut [f32],
    pub(super) length: usize,
    pub(super) sink: Option<f32>,
    pub(super) y: &'a mut [T],
}

impl<T: Element> Vectorize for Merge<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Merge { partials, length, sink, y } = self;
        let sink = sink.unwrap_or(f32::NEG_INFINITY);
        let most = partials.chunks_exact(length).fold(sink, |most, part| most.max(part[0]));
        if most == f32::NEG_INFINITY {
            return y.fill(T::narrow(0.0));
        }
        let power = |x: f32| lanes.largest(exp(lanes, lanes.splat(x - most)));
        let mut sum = power(sink);
        for part in partials.chunks_exact_mut(length) {
            // A part that has no key has no largest product.
            part[0] = power(part[0]);
            sum += part[0] * part[1];
        }
        for (first, y) in (HEAD..).step_by(L::LANES).zip(y.chunks_mut(L::LANES)) {
            let mut all = lanes.splat(0.0);
            for part in partials.chunks_exact(length) {
                all = lanes.mul_add(lanes.load_f32(&part[first..]), lanes.splat(part[0]), all);
            }
            let mean = lanes.div(all, lanes.splat(sum));
            if y.len() == L::LANES {
                T::store(lanes, mean, y);
            } else {
                T::store_partial(lanes, mean, y);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;

    /// Partial results of a largest product, a sum and one value each.
    fn merged(parts: &[[f32; 3]], sink: Option<f32>) -> f32 {
        let mut of_level = Vec::new();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut partials = Vec::new();
            for [largest, sum, value] in parts {
                let mut numbers = vec![f32::NAN; HEAD + 16];
                let part = Partial::of(&mut numbers);
                (*part.largest, *part.sum, part.values[0]) = (*largest, *sum, *value);
                partials.extend(numbers);
            }
            let mut y = [f32::NAN];
            isa.run(Merge { partials: &mut partials, length: HEAD + 16, sink, y: &mut y });
            of_level.push(y[0]);
        }
        assert!(of_level.windows(2).all(|two| (two[0] - two[1]).abs() < 1e-6), "{of_level:?}");
        of_level[0]
    }

    #[test]
    fn parts_count_by_their_largest_product() {
        assert_eq!(merged(&[[3.0, 2.0, 8.0]], None), 4.0);
        assert_eq!(merged(&[[3.0, 1.0, 8.0], [3.0, 1.0, 2.0]], None), 5.0);
        // e to the power of -200 is nothing.
        assert_eq!(merged(&[[-100.0, 5.0, 8.0], [100.0, 2.0, 6.0]], None), 3.0);
        let half = merged(&[[0.0, 1.0, 1.0], [2.0f32.ln(), 1.0, 4.0]], None);
        assert!((half - 3.0).abs() < 1e-6, "{half}");
    }

    #[test]
    fn a_part_without_keys_counts_for_nothing() {
        assert_eq!(merged(&[[f32::NEG_INFINITY, 0.0, 0.0], [-3.0, 1.0, 7.0]], None), 7.0);
        assert_eq!(merged(&[[f32::NEG_INFINITY, 0.0, 0.0]; 2], None), 0.0);
    }

    #[test]
    fn a_sink_takes_its_share() {
        assert_eq!(merged(&[[1.0, 1.0, 6.0]], Some(1.0)), 3.0);
        assert_eq!(merged(&[[f32::NEG_INFINITY, 0.0, 0.0]], Some(1.0)), 0.0);
        assert_eq!(merged(&[[1.0, 1.0, 6.0]], Some(300.0)), 0.0);
    }
}
