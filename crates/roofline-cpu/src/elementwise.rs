//! The loops of elementwise kernels: plain ones, and over lanes.

use crate::lanes::Lanes;
use crate::scalar::InLanes;
use crate::{Cpu, Element, Rows, Scalar, Vectorize};

/// y = f(x).
#[track_caller]
pub(crate) fn map<T: Scalar>(x: &[T], y: &mut [T], shape: Rows, f: impl Fn(T::Wide) -> T::Wide) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    for (x, y) in x.iter().zip(y) {
        *y = T::narrow(f(x.wide()));
    }
}

/// z = f(x, y).
#[track_caller]
pub(crate) fn zip<T: Scalar>(
    x: &[T],
    y: &[T],
    z: &mut [T],
    shape: Rows,
    f: impl Fn(T::Wide, T::Wide) -> T::Wide,
) {
    assert!([x.len(), y.len(), z.len()] == [shape.len(); 3], "lengths for {shape:?}");
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        *z = T::narrow(f(x.wide(), y.wide()));
    }
}

/// A formula of `N` numbers, a vector of each at a time. `of` must be `#[inline(always)]`, as [`Vectorize::run`].
pub trait Formula<const N: usize>: Copy {
    /// What it makes of them.
    fn of<L: Lanes>(self, lanes: L, x: [L::F; N]) -> L::F;
}

/// y = f(x, …) over lanes; false, and nothing done, where the type has none.
#[track_caller]
pub(crate) fn map_lanes<T: Scalar, const N: usize>(
    cpu: &Cpu,
    x: [&[T]; N],
    y: &mut [T],
    shape: Rows,
    formula: impl Formula<N>,
) -> bool {
    assert!(x.iter().all(|x| x.len() == shape.len()) && y.len() == shape.len(), "lengths for {shape:?}");
    T::in_lanes(Over { cpu, x, y, formula })
}

/// A formula over slices of one length.
struct Over<'a, T, F, const N: usize> {
    cpu: &'a Cpu,
    x: [&'a [T]; N],
    y: &'a mut [T],
    formula: F,
}

impl<T, F: Formula<N>, const N: usize> InLanes<T> for Over<'_, T, F, N> {
    fn run(self)
    where
        T: Element,
    {
        self.cpu.isa.run(self);
    }
}

impl<T: Element, F: Formula<N>, const N: usize> Vectorize for Over<'_, T, F, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Over { x, y, formula, .. } = self;
        let whole = y.len() / L::LANES * L::LANES;
        // Loops, not closures: these would leave the function that has the vector features.
        let mut v = [lanes.splat(0.0); N];
        for at in (0..whole).step_by(L::LANES) {
            for i in 0..N {
                v[i] = T::load(lanes, &x[i][at..]);
            }
            T::store(lanes, formula.of(lanes, v), &mut y[at..]);
        }
        for i in 0..N {
            v[i] = T::load_partial(lanes, &x[i][whole..], T::default());
        }
        T::store_partial(lanes, formula.of(lanes, v), &mut y[whole..]);
    }
}
