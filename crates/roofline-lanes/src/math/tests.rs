use super::*;
use crate::isa::{Isa, Vectorize};

/// A function of this module, as data.
trait Function: Copy {
    const NAME: &'static str;
    /// The most that it may be off, in units of the last place.
    const UNITS: f64;
    fn exact(x: f64) -> f64;
    fn of<L: Lanes>(lanes: L, x: L::F) -> L::F;
}

macro_rules! functions {
    ($($test:ident $type:ident $name:ident $units:literal $exact:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $type;
        impl Function for $type {
            const NAME: &'static str = stringify!($name);
            const UNITS: f64 = $units;
            fn exact(x: f64) -> f64 {
                $exact(x)
            }
            #[inline(always)]
            fn of<L: Lanes>(lanes: L, x: L::F) -> L::F {
                $name(lanes, x)
            }
        }
        #[test]
        fn $test() {
            check($type);
        }
    )*};
}

functions! {
    exp_of_every_f32 Exp exp 2.0 f64::exp;
    log_of_every_f32 Log log 2.0 f64::ln;
    logistic_of_every_f32 Logistic logistic 3.0 |x: f64| 1.0 / (1.0 + (-x).exp());
    tanh_of_every_f32 Tanh tanh 2.0 f64::tanh;
    erf_of_every_f32 Erf erf 2.0 libm::erf;
    sin_of_every_f32 Sin sin 2.0 f64::sin;
    cos_of_every_f32 Cos cos 2.0 f64::cos;
}

/// A function of every element in place.
struct Apply<'a, F>(F, &'a mut [f32]);

impl<F: Function> Vectorize for Apply<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for chunk in self.1.chunks_exact_mut(L::LANES) {
            let y = F::of(lanes, lanes.load_f32(chunk));
            lanes.store_f32(y, chunk);
        }
    }
}

/// Every 331st code and neighbours of where things change; every code where the environment says `EVERY_F32`.
fn check<F: Function>(function: F) {
    let every = std::env::var_os("EVERY_F32").is_some();
    let step: u64 = if every { 1 } else { 331 };
    let mut x = Vec::with_capacity(1 << 16);
    let mut worst = (0.0, 0.0, Isa::Portable);
    let mut codes = (0..1u64 << 32).step_by(step as usize);
    loop {
        x.clear();
        x.extend(codes.by_ref().take(1 << 16).map(|code| f32::from_bits(code as u32)));
        if x.is_empty() {
            break;
        }
        x.resize(x.len().next_multiple_of(16), 0.5);
        check_some(function, &x, &mut worst);
    }
    let near = (0..1 << 16).map(|i| i as f32);
    for (from, step) in [(-104.0, 3e-4), (-9.0, 3e-4), (0.3, 2e-5), (-1e5, 3.0), (1e5, 0.01), (1e-38, 1e-42)]
    {
        let x: Vec<f32> = near.clone().map(|i| from + step * i).collect();
        check_some(function, &x, &mut worst);
    }
    assert!(worst.0 <= F::UNITS, "{} of {:e} on {:?} is {} units off", F::NAME, worst.1, worst.2, worst.0);
}

fn check_some<F: Function>(function: F, x: &[f32], worst: &mut (f64, f32, Isa)) {
    let mut y = Vec::new();
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        y.clear();
        y.extend_from_slice(x);
        isa.run(Apply(function, &mut y));
        for (&x, &y) in x.iter().zip(&y) {
            let error = units(F::exact(f64::from(x)), y);
            if error > worst.0 {
                *worst = (error, x, isa);
            }
        }
    }
}

/// How far `y` is from `exact`, in units of its last place; NaN and infinities are right or infinitely far.
fn units(exact: f64, y: f32) -> f64 {
    let nearest = exact as f32;
    if nearest.is_nan() || y.is_nan() || nearest.is_infinite() || y.is_infinite() {
        let same = nearest == y || (nearest.is_nan() && y.is_nan());
        return if same { 0.0 } else { f64::INFINITY };
    }
    let unit = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
    (f64::from(y) - exact).abs() / unit
}
