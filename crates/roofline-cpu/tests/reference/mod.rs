//! Inputs, f64 references and error bounds of the operations under test.

/// What the inputs hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// Between -1 and 1.
    Uniform,
    /// Signs and magnitudes over many binades, within the range of the type.
    Wide,
    /// Numbers whose results are subnormal, or nearly.
    Tiny,
    /// Numbers whose squares or sums leave the range of the type.
    Huge,
    /// NaN, infinities, zeros of both signs and subnormals among the others.
    Specials,
    /// Only -∞, in every other row.
    NegativeInfinity,
}

impl Family {
    pub(crate) fn of(operation: &str, dtype: &str) -> &'static [Family] {
        use Family::*;
        match (operation, dtype) {
            (_, "i8") => &[Uniform],
            ("softmax", _) => &[Uniform, Wide, Tiny, Huge, Specials, NegativeInfinity],
            // Sums of huge products overflow on the way, in f64 they do not.
            (op, _) if op.starts_with("matmul") => &[Uniform, Wide, Tiny, Specials],
            _ => &[Uniform, Wide, Tiny, Huge, Specials],
        }
    }
}

/// The exact result and the modelled error of the computation.
pub(crate) struct Expected {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Expected {
    /// u·|ref|·(1 + 2⁻⁹) + η/2 + 4·E, with u = 2^unit and η = 2^smallest.
    pub(crate) fn judge(&self, got: f64, unit: i32, smallest: i32, largest: f64) -> Result<(), String> {
        let Expected { value, error } = *self;
        if value.is_nan() || got.is_nan() {
            return if value.is_nan() && got.is_nan() {
                Ok(())
            } else {
                Err(format!("got {got:e}, exact {value:e}"))
            };
        }
        if got == value {
            return Ok(());
        }
        let unit = 2f64.powi(unit);
        let allowed = unit * value.abs() * (1.0 + 2f64.powi(-9)) + 2f64.powi(smallest - 1) + 4.0 * error;
        let right = if got.is_infinite() {
            // Numbers half a unit beyond the largest round to infinity.
            got.signum() == value.signum() && value.abs() + 4.0 * error >= largest * (1.0 + unit / 2.0)
        } else {
            (got - value).abs() <= allowed
        };
        if right { Ok(()) } else { Err(format!("got {got:e}, exact {value:e}, allowed error {allowed:e}")) }
    }
}

/// The input tensors of a case, before rounding to the dtype.
pub(crate) fn inputs(operation: &str, axes: &[usize], family: Family, dtype: &str) -> Vec<Vec<f64>> {
    let lengths = match (operation, axes) {
        ("add", [rows, cols]) => vec![rows * cols, rows * cols],
        ("softmax", [rows, cols]) => vec![rows * cols],
        ("rms-norm", [rows, cols]) => vec![rows * cols, *cols],
        ("matmul" | "matmul.nn", [m, n, k]) => vec![m * k, n * k],
        other => panic!("no inputs for {other:?}: describe the operation here"),
    };
    let mut random = Random(0x9e37_79b9 + lengths[0] as u64);
    let fill = |(tensor, length): (usize, usize)| -> Vec<f64> {
        let last = axes[axes.len() - 1];
        let value = |index: usize| element(operation, tensor, index / last, family, dtype, &mut random);
        (0..length).map(value).collect()
    };
    lengths.into_iter().enumerate().map(fill).collect()
}

fn element(
    operation: &str,
    tensor: usize,
    row: usize,
    family: Family,
    dtype: &str,
    random: &mut Random,
) -> f64 {
    let uniform = random.uniform();
    if dtype == "i8" {
        return (uniform * 127.9).round();
    }
    let matmul = operation.starts_with("matmul");
    // Integers times this give subnormal results exactly.
    let smallest = match (dtype, matmul, tensor) {
        ("f16", true, 1) => 1.0,
        ("f16", _, _) => 2f64.powi(-24),
        ("bf16", true, _) => 2f64.powi(if tensor == 0 { -66 } else { -67 }),
        ("bf16", false, _) => 2f64.powi(-133),
        (_, true, _) => 2f64.powi(if tensor == 0 { -74 } else { -75 }),
        _ => 2f64.powi(-149),
    };
    match family {
        Family::Uniform => uniform,
        Family::Wide => {
            let binades = if dtype == "f16" { 7.0 } else { 20.0 };
            let magnitude = (random.uniform() * binades).exp2();
            magnitude * uniform.signum()
        }
        Family::Tiny if operation == "softmax" => uniform * 60.0 - 60.0,
        Family::Tiny if tensor == 1 && operation == "rms-norm" => uniform,
        Family::Tiny => (uniform * 7.0).round() * smallest,
        Family::Huge if tensor == 1 && operation == "rms-norm" => uniform,
        Family::Huge if dtype == "f16" => uniform * 65_000.0,
        Family::Huge => uniform * 3e38,
        Family::Specials => special(row, uniform, smallest, random),
        Family::NegativeInfinity if row.is_multiple_of(2) => f64::NEG_INFINITY,
        Family::NegativeInfinity => uniform,
    }
}

/// One special in some of the rows, so that others stay finite.
fn special(row: usize, uniform: f64, smallest: f64, random: &mut Random) -> f64 {
    let strike = random.uniform() > 0.9;
    match (row % 6, strike) {
        (0, true) => f64::NAN,
        (1, true) => f64::INFINITY,
        (2, true) => f64::NEG_INFINITY,
        (3, true) => -0.0,
        (4, true) => smallest,
        _ => uniform,
    }
}

/// The result of the operation in f64, with the model of its error.
pub(crate) fn expected(operation: &str, axes: &[usize], inputs: &[Vec<f64>]) -> Vec<Expected> {
    match (operation, axes, inputs) {
        ("add", _, [x, y]) => {
            let sums = x.iter().zip(y).map(|(x, y)| x + y);
            sums.map(|value| Expected { value, error: 0.0 }).collect()
        }
        ("softmax", &[_, cols], [x]) => x.chunks(cols).flat_map(softmax).collect(),
        ("rms-norm", &[_, cols], [x, w]) => x.chunks(cols).flat_map(|x| rms_norm(x, w)).collect(),
        ("matmul", &[_, n, k], [a, b]) => {
            let column = |j: usize| b[j * k..][..k].to_vec();
            matmul(a, k, &(0..n).map(column).collect::<Vec<_>>())
        }
        ("matmul.nn", &[_, n, k], [a, b]) => {
            let column = |j: usize| (0..k).map(|p| b[p * n + j]).collect();
            matmul(a, k, &(0..n).map(column).collect::<Vec<_>>())
        }
        other => panic!("no reference for {:?}: write it here", other.0),
    }
}

const U: f64 = 1.0 / (1 << 24) as f64;

fn softmax(x: &[f64]) -> Vec<Expected> {
    let nan = x.iter().any(|x| x.is_nan());
    let largest = if nan { f64::NAN } else { x.iter().copied().fold(f64::NEG_INFINITY, f64::max) };
    let sum: f64 = x.iter().map(|x| (x - largest).exp()).sum();
    let length = x.len() as f64;
    let one = |x: &f64| {
        let value = (x - largest).exp() / sum;
        // Where x is -∞ the value is exactly zero.
        let distance = if x.is_finite() { (x - largest).abs() } else { 0.0 };
        let error = value * U * (distance + 2.0 * length.sqrt() + 6.0) + 2f64.powi(-149);
        Expected { value, error }
    };
    x.iter().map(one).collect()
}

fn rms_norm(x: &[f64], w: &[f64]) -> Vec<Expected> {
    let length = x.len() as f64;
    let root = (x.iter().map(|x| x * x).sum::<f64>() / length + 1e-6).sqrt();
    let one = |(x, w): (&f64, &f64)| {
        let value = x / root * w;
        Expected { value, error: value.abs() * U * (length.sqrt() + 5.0) }
    };
    x.iter().zip(w).map(one).collect()
}

fn matmul(a: &[f64], k: usize, columns: &[Vec<f64>]) -> Vec<Expected> {
    let one = |(row, column): (&[f64], &Vec<f64>)| {
        let (mut value, mut squares) = (0.0, 0.0);
        for (a, b) in row.iter().zip(column) {
            value += a * b;
            squares += value * value;
        }
        Expected { value, error: 6.0 * U * (squares / 3.0f64).sqrt() }
    };
    let pairs = a.chunks(k).flat_map(|row| columns.iter().map(move |column| (row, column)));
    pairs.map(one).collect()
}

/// A small generator; the low bits of its state are thrown away.
struct Random(u64);

impl Random {
    /// Between -1 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
