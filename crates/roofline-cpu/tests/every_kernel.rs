//! Runs every row of the catalog, for every dtype and every instruction set
//! level of this machine, over one list of nasty shapes and every family of
//! contents of its operation, and judges each element as the gate does. A new
//! kernel is tested by being listed.

mod guarded;

use std::collections::HashMap;

use guarded::{Edge, Guarded};
use half::{bf16, f16};
use roofline_core::case::Case;
use roofline_core::fill::Fill;
use roofline_core::judge;
use roofline_core::ops::{Expected, Problem};
use roofline_core::tensor::{Tensor as Described, View};
use roofline_cpu::catalog::{Implementation, Kernel, Tensor, TensorMut, implementations};
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
    for row in implementations().filter(|row| (row.available)()) {
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

/// Inputs and results by case and fill, computed once and shared by all implementations.
type Cases = HashMap<(String, Fill), Known>;

struct Known {
    inputs: Vec<Vec<f64>>,
    output: Described,
    expected: Vec<Expected>,
}

impl Known {
    fn new(case: &Case, fill: Fill) -> Self {
        let (tensors, mut outputs): (Vec<Described>, Vec<Described>) =
            (case.operation.tensors)(case).into_iter().partition(|tensor| tensor.role.is_input());
        let fill_one = |(index, tensor): (usize, &Described)| {
            let mut bytes = vec![0; tensor.bytes()];
            case.operation.filling(fill, 17, index, tensor).write(0..tensor.elements(), &mut bytes);
            bytes
        };
        let bytes: Vec<Vec<u8>> = tensors.iter().enumerate().map(fill_one).collect();
        let views: Vec<View> =
            tensors.iter().zip(&bytes).map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes }).collect();
        let inputs = views.iter().map(|view| view.line(0, 1, view.elements())).collect();
        let output = outputs.pop().expect("a kernel has an output");
        let wanted: Vec<usize> = (0..output.elements()).collect();
        let problem = Problem { case, fill, inputs: views };
        let expected = case.operation.judged.reference(&problem, 0, &wanted);
        Self { inputs, output, expected }
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
        let sizes: Vec<String> =
            kernel.axes().iter().zip(&axes).map(|(name, size)| format!("{name}={size}")).collect();
        let id = format!("{}/{}/{}", row.operation, T::NAME, sizes.join(","));
        let case: Case = id.parse().expect("the operation is known by the same name");
        for fill in case.operation.fills_of(&case) {
            let known = cases.entry((id.clone(), fill)).or_insert_with(|| Known::new(&case, fill));
            for edge in [Edge::End, Edge::Start] {
                let read_only = |values: &Vec<f64>| {
                    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
                    Guarded::read_only(&values, edge)
                };
                let inputs: Vec<Guarded<T>> = known.inputs.iter().map(read_only).collect();
                let mut output = Guarded::new(&vec![T::POISON; known.expected.len()], edge);
                let tensors: Vec<Tensor<'_>> = inputs.iter().map(|input| T::tensor(input.slice())).collect();
                // Twice: the second call must not build on the first.
                for call in 1..=2 {
                    let target = T::tensor_mut(output.slice_mut());
                    kernel.launch(cpu, &tensors, target, &axes).expect("tensors that fit");
                    for (index, (got, expected)) in output.slice().iter().zip(&known.expected).enumerate() {
                        let got = T::value(*got);
                        let score = judge::score(known.output.dtype, got, expected, 1.0);
                        assert!(
                            score <= 1.0,
                            "{id}, {fill} inputs, of {} on {:?}, {} threads, {edge:?}: call {call}, \
                             element {index}: got {got:e}, expected {expected:?}",
                            row.name,
                            cpu.isa,
                            cpu.pool.threads()
                        );
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
    fn tensor(x: &[Self]) -> Tensor<'_>;
    fn tensor_mut(y: &mut [Self::Output]) -> TensorMut<'_>;
    fn value(got: Self::Output) -> f64;
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    type Output = f32;
    const POISON: f32 = f32::NAN;
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn tensor(x: &[Self]) -> Tensor<'_> {
        Tensor::F32(x)
    }
    fn tensor_mut(y: &mut [Self]) -> TensorMut<'_> {
        TensorMut::F32(y)
    }
    fn value(got: Self) -> f64 {
        f64::from(got)
    }
}

impl Number for bf16 {
    const NAME: &'static str = "bf16";
    type Output = bf16;
    const POISON: bf16 = bf16::NAN;
    fn from_f64(value: f64) -> Self {
        bf16::from_f64(value)
    }
    fn tensor(x: &[Self]) -> Tensor<'_> {
        Tensor::Bf16(x)
    }
    fn tensor_mut(y: &mut [Self]) -> TensorMut<'_> {
        TensorMut::Bf16(y)
    }
    fn value(got: Self) -> f64 {
        got.to_f64()
    }
}

impl Number for f16 {
    const NAME: &'static str = "f16";
    type Output = f16;
    const POISON: f16 = f16::NAN;
    fn from_f64(value: f64) -> Self {
        f16::from_f64(value)
    }
    fn tensor(x: &[Self]) -> Tensor<'_> {
        Tensor::F16(x)
    }
    fn tensor_mut(y: &mut [Self]) -> TensorMut<'_> {
        TensorMut::F16(y)
    }
    fn value(got: Self) -> f64 {
        got.to_f64()
    }
}

impl Number for i8 {
    const NAME: &'static str = "i8";
    type Output = i32;
    const POISON: i32 = 0x5a5a_5a5a;
    fn from_f64(value: f64) -> Self {
        value as i8
    }
    fn tensor(x: &[Self]) -> Tensor<'_> {
        Tensor::I8(x)
    }
    fn tensor_mut(y: &mut [i32]) -> TensorMut<'_> {
        TensorMut::I32(y)
    }
    fn value(got: i32) -> f64 {
        f64::from(got)
    }
}

#[test]
fn the_longest_integer_sum_is_exact() {
    let k = 131_071;
    let (a, b) = (vec![i8::MIN; k], vec![i8::MIN; k]);
    for row in implementations().filter(|row| (row.available)()) {
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
    for (index, row) in implementations().enumerate() {
        let same = |other: &&Implementation| other.operation == row.operation && other.name == row.name;
        assert!(!implementations().take(index).any(|other| same(&other)), "{}", row.name);
        let dtypes: Vec<_> = row.dtypes().collect();
        let mut unique = dtypes.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), dtypes.len(), "{}", row.name);
    }
}
