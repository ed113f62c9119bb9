//! Runs every row of the catalog, for every dtype and every instruction set
//! level of this machine, over one list of nasty shapes and contents, and
//! judges each element against f64. A new kernel is tested by being listed.

mod guarded;
mod reference;

use std::collections::HashMap;

use guarded::{Edge, Guarded};
use half::{bf16, f16};
use reference::{Expected, Family};
use roofline_cpu::catalog::{IMPLEMENTATIONS, Implementation, Kernel, Tensor, TensorMut};
use roofline_cpu::{Cpu, Isa, Pool};

/// Around the lanes of every level, primes, and rows beyond a block.
const ROWS: &[[usize; 2]] = &[
    [1, 1],
    [3, 7],
    [2, 8],
    [5, 9],
    [1, 15],
    [1, 16],
    [4, 17],
    [2, 31],
    [1, 63],
    [3, 64],
    [2, 65],
    [37, 31],
    [2, 1009],
    [1, 40_001],
];

/// Around the register tiles (4x16, 6x16, 14x32, 32x32), the depth of a block, a
/// pair and a line of a tile, thin and flat ones, and a few tiles of C.
const PRODUCTS: &[[usize; 3]] = &[
    [1, 1, 1],
    [1, 1, 517],
    [1, 33, 7],
    [3, 5, 2],
    [4, 16, 3],
    [5, 17, 8],
    [6, 31, 16],
    [7, 32, 31],
    [13, 33, 63],
    [14, 64, 64],
    [15, 65, 65],
    [29, 15, 257],
    [31, 1, 511],
    [33, 33, 33],
    [65, 31, 129],
    [3, 3, 4133],
    [47, 101, 100],
    [229, 37, 19],
    [17, 1100, 9],
];

#[test]
fn every_implementation_is_right_on_every_nasty_case() {
    let mut cases = Cases::new();
    for row in IMPLEMENTATIONS.iter().filter(|row| (row.available)()) {
        let levels: Vec<Isa> = if row.vector {
            Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect()
        } else {
            vec![Isa::Portable]
        };
        let pools: &[usize] = if row.parallel { &[1, 3] } else { &[1] };
        for isa in levels {
            for &threads in pools {
                // Once with ordinary stores, once with streaming ones, which
                // products do not use.
                let product = row.operation.starts_with("matmul");
                let limits: &[usize] = if product { &[usize::MAX] } else { &[usize::MAX, 0] };
                for &stream_above in limits {
                    let mut cpu = Cpu::with(isa, Pool::new(threads));
                    cpu.stream_above = stream_above;
                    check_row(row, &cpu, &mut cases);
                }
            }
        }
    }
}

/// Inputs and results, computed once and shared by all implementations.
type Cases = HashMap<(&'static str, &'static str, Vec<usize>, Family), Case>;

struct Case {
    /// Rounded to the dtype.
    inputs: Vec<Vec<f64>>,
    expected: Vec<Expected>,
}

impl Case {
    fn new<T: Number>(operation: &str, axes: &[usize], family: Family) -> Self {
        let mut inputs = reference::inputs(operation, axes, family, T::NAME);
        for value in inputs.iter_mut().flatten() {
            *value = T::from_f64(*value).to_f64();
        }
        let expected = reference::expected(operation, axes, &inputs);
        Self { inputs, expected }
    }
}

fn check_row(row: &Implementation, cpu: &Cpu, cases: &mut Cases) {
    for kernel in row.kernels {
        match kernel.dtype() {
            "f32" => check_dtype::<f32>(row, kernel, cpu, cases),
            "bf16" => check_dtype::<bf16>(row, kernel, cpu, cases),
            "f16" => check_dtype::<f16>(row, kernel, cpu, cases),
            "i8" => check_dtype::<i8>(row, kernel, cpu, cases),
            other => panic!("no test for dtype {other}"),
        }
    }
}

fn check_dtype<T: Number>(row: &Implementation, kernel: &Kernel, cpu: &Cpu, cases: &mut Cases) {
    let shapes: Vec<Vec<usize>> = match kernel.axes() {
        ["rows", "cols"] => ROWS.iter().map(|axes| axes.to_vec()).collect(),
        ["m", "n", "k"] => PRODUCTS.iter().map(|axes| axes.to_vec()).collect(),
        other => panic!("no shapes for axes {other:?}"),
    };
    for axes in shapes {
        for &family in Family::of(row.operation, T::NAME) {
            for edge in [Edge::End, Edge::Start] {
                let case = || {
                    let (operation, name, isa) = (row.operation, row.name, cpu.isa);
                    let threads = cpu.pool.threads();
                    format!(
                        "{operation}/{} {axes:?} {family:?} of {name} on {isa:?}, {threads} threads, {edge:?}",
                        T::NAME
                    )
                };
                let key = (row.operation, T::NAME, axes.clone(), family);
                let Case { inputs, expected } =
                    cases.entry(key).or_insert_with(|| Case::new::<T>(row.operation, &axes, family));
                let read_only = |values: &Vec<f64>| {
                    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
                    Guarded::read_only(&values, edge)
                };
                let inputs: Vec<Guarded<T>> = inputs.iter().map(read_only).collect();
                let mut output = Guarded::new(&vec![T::POISON; expected.len()], edge);
                let tensors: Vec<Tensor<'_>> = inputs.iter().map(|input| T::tensor(input.slice())).collect();
                // Twice: the second call must not build on the first.
                for call in 1..=2 {
                    let target = T::tensor_mut(output.slice_mut());
                    kernel.launch(cpu, &tensors, target, &axes).expect("tensors that fit");
                    for (index, (got, expected)) in output.slice().iter().zip(&*expected).enumerate() {
                        if let Err(why) = T::judge(*got, expected) {
                            panic!("{}: call {call}, element {index}: {why}", case());
                        }
                    }
                }
            }
        }
    }
}

/// A dtype of the catalog, as this test sees it.
trait Number: Copy + 'static {
    const NAME: &'static str;
    /// The type of the output for inputs of this type.
    type Output: Copy + 'static;
    const POISON: Self::Output;
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn tensor(x: &[Self]) -> Tensor<'_>;
    fn tensor_mut(y: &mut [Self::Output]) -> TensorMut<'_>;
    fn judge(got: Self::Output, expected: &Expected) -> Result<(), String>;
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    type Output = f32;
    const POISON: f32 = f32::NAN;
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn tensor(x: &[Self]) -> Tensor<'_> {
        Tensor::F32(x)
    }
    fn tensor_mut(y: &mut [Self]) -> TensorMut<'_> {
        TensorMut::F32(y)
    }
    fn judge(got: Self, expected: &Expected) -> Result<(), String> {
        expected.judge(f64::from(got), -24, -149, f64::from(f32::MAX))
    }
}

impl Number for bf16 {
    const NAME: &'static str = "bf16";
    type Output = bf16;
    const POISON: bf16 = bf16::NAN;
    fn from_f64(value: f64) -> Self {
        bf16::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        bf16::to_f64(self)
    }
    fn tensor(x: &[Self]) -> Tensor<'_> {
        Tensor::Bf16(x)
    }
    fn tensor_mut(y: &mut [Self]) -> TensorMut<'_> {
        TensorMut::Bf16(y)
    }
    fn judge(got: Self, expected: &Expected) -> Result<(), String> {
        expected.judge(got.to_f64(), -8, -133, bf16::MAX.to_f64())
    }
}

impl Number for f16 {
    const NAME: &'static str = "f16";
    type Output = f16;
    const POISON: f16 = f16::NAN;
    fn from_f64(value: f64) -> Self {
        f16::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        f16::to_f64(self)
    }
    fn tensor(x: &[Self]) -> Tensor<'_> {
        Tensor::F16(x)
    }
    fn tensor_mut(y: &mut [Self]) -> TensorMut<'_> {
        TensorMut::F16(y)
    }
    fn judge(got: Self, expected: &Expected) -> Result<(), String> {
        expected.judge(got.to_f64(), -11, -24, f16::MAX.to_f64())
    }
}

impl Number for i8 {
    const NAME: &'static str = "i8";
    type Output = i32;
    const POISON: i32 = 0x5a5a_5a5a;
    fn from_f64(value: f64) -> Self {
        value as i8
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn tensor(x: &[Self]) -> Tensor<'_> {
        Tensor::I8(x)
    }
    fn tensor_mut(y: &mut [i32]) -> TensorMut<'_> {
        TensorMut::I32(y)
    }
    fn judge(got: i32, expected: &Expected) -> Result<(), String> {
        if f64::from(got) == expected.value {
            Ok(())
        } else {
            Err(format!("got {got}, exact {}", expected.value))
        }
    }
}

#[test]
fn the_longest_integer_sum_is_exact() {
    let k = 131_071;
    let (a, b) = (vec![i8::MIN; k], vec![i8::MIN; k]);
    for row in IMPLEMENTATIONS.iter().filter(|row| (row.available)()) {
        let Some(kernel) = row.kernel("i8") else { continue };
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut c = [0];
            let inputs = [Tensor::I8(&a), Tensor::I8(&b)];
            let cpu = Cpu::with(isa, Pool::new(1));
            kernel.launch(&cpu, &inputs, TensorMut::I32(&mut c), &[1, 1, k]).expect("tensors that fit");
            assert_eq!(c[0], 131_071 * 16_384, "{} on {isa:?}", row.name);
        }
    }
}

#[test]
fn rows_are_unique_and_their_dtypes_too() {
    for (index, row) in IMPLEMENTATIONS.iter().enumerate() {
        let same = |other: &&Implementation| other.operation == row.operation && other.name == row.name;
        assert!(!IMPLEMENTATIONS[..index].iter().any(|other| same(&other)), "{}", row.name);
        let dtypes: Vec<_> = row.dtypes().collect();
        let mut unique = dtypes.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), dtypes.len(), "{}", row.name);
    }
}
