//! References proved by identities; honest arithmetic inside the bounds on every family.

use super::*;
use crate::judge::score;

/// A case with content, owned.
struct Filled {
    case: Case,
    fill: Fill,
    tensors: Vec<Tensor>,
    inputs: Vec<Vec<u8>>,
}

impl Filled {
    fn new(id: &str, fill: Fill, seed: u64) -> Filled {
        let case: Case = id.parse().unwrap();
        let tensors = (case.operation.tensors)(&case);
        let inputs = tensors
            .iter()
            .enumerate()
            .filter(|(_, tensor)| tensor.role == Role::Input)
            .map(|(index, tensor)| {
                let mut bytes = vec![0; tensor.bytes()];
                case.operation
                    .content(&case, fill, seed, index, tensor)
                    .write(0..tensor.elements(), &mut bytes);
                bytes
            })
            .collect();
        Filled { case, fill, tensors, inputs }
    }

    fn problem(&self) -> Problem<'_> {
        let inputs = self.tensors.iter().zip(&self.inputs);
        let inputs = inputs.map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes }).collect();
        Problem { case: &self.case, fill: self.fill, inputs }
    }

    fn output(&self) -> &Tensor {
        self.tensors.last().unwrap()
    }

    fn reference(&self) -> Vec<Expected> {
        let wanted: Vec<usize> = (0..self.output().elements()).collect();
        (self.case.operation.reference)(&self.problem(), &wanted)
    }

    /// Scores of an emulated kernel, its results rounded to the output type.
    fn scores(&self, arithmetic: &Arithmetic) -> Vec<f64> {
        let dtype = self.output().dtype;
        let round = |y: f64| dtype.format().map_or(y, |format| format.round(y));
        let output = (self.case.operation.emulate)(&self.problem(), arithmetic);
        self.reference()
            .iter()
            .zip(output)
            .map(|(expected, y)| score(dtype, round(y), expected, 1.0))
            .collect()
    }
}

#[test]
fn softmax_rows_sum_to_one() {
    let filled = Filled::new("softmax/f32/rows=5,cols=33", Fill::Normal, 1);
    for row in filled.reference().chunks(33) {
        assert!((row.iter().map(|y| y.value).sum::<f64>() - 1.0).abs() < 1e-14);
    }
}

#[test]
fn rms_norm_rows_have_unit_mean_square_under_unit_weight() {
    let mut filled = Filled::new("rms-norm/f32/rows=3,cols=128", Fill::Normal, 1);
    for i in 0..128 {
        Dtype::F32.write(&mut filled.inputs[1], i, 1.0);
    }
    for row in filled.reference().chunks(128) {
        let square = row.iter().map(|y| y.value * y.value).sum::<f64>() / 128.0;
        assert!((square - 1.0).abs() < 1e-5, "{square}");
    }
}

#[test]
fn matmul_by_the_identity_and_the_two_layouts_agree() {
    let mut plain = Filled::new("matmul/f32/m=3,n=4,k=4", Fill::Uniform, 1);
    for i in 0..16 {
        Dtype::F32.write(&mut plain.inputs[1], i, f64::from(u8::from(i % 5 == 0)));
    }
    for (i, expected) in plain.reference().iter().enumerate() {
        assert_eq!(expected.value, Dtype::F32.read(&plain.inputs[0], i));
    }
    let plain = Filled::new("matmul/i8/m=3,n=5,k=7", Fill::Uniform, 1);
    let mut other = Filled::new("matmul.nn/i8/m=3,n=5,k=7", Fill::Uniform, 1);
    for j in 0..5 {
        for p in 0..7 {
            other.inputs[1][p * 5 + j] = plain.inputs[1][j * 7 + p];
        }
    }
    assert_eq!(plain.reference(), other.reference());
}

#[test]
fn a_chosen_element_is_the_same_alone() {
    for id in [
        "add/f32/rows=5,cols=9",
        "softmax/bf16/rows=5,cols=9",
        "rms-norm/f16/rows=5,cols=9",
        "matmul/f32/m=5,n=9,k=11",
        "matmul.nn/f32/m=5,n=9,k=11",
    ] {
        let filled = Filled::new(id, Fill::Normal, 3);
        let whole = filled.reference();
        for index in [0, 7, 8, 9, 31, 44] {
            assert_eq!(
                (filled.case.operation.reference)(&filled.problem(), &[index]),
                [whole[index]],
                "{id}"
            );
        }
    }
}

#[test]
fn an_input_reaches_exactly_the_outputs_that_change() {
    for id in [
        "add/f32/rows=3,cols=4",
        "softmax/f32/rows=3,cols=4",
        "rms-norm/f32/rows=3,cols=4",
        "matmul/f32/m=3,n=4,k=5",
        "matmul.nn/f32/m=3,n=4,k=5",
    ] {
        let mut filled = Filled::new(id, Fill::Uniform, 4);
        let before = filled.reference();
        for tensor in 0..filled.inputs.len() {
            for element in 0..filled.tensors[tensor].elements() {
                let old = filled.inputs[tensor].clone();
                Dtype::F32.write(&mut filled.inputs[tensor], element, 3.0);
                let after = filled.reference();
                let reach = (filled.case.operation.reach)(&filled.case, tensor, element);
                let reached: Vec<usize> = (0..reach.count).map(|i| reach.nth(i)).collect();
                let changed: Vec<usize> =
                    (0..before.len()).filter(|&i| before[i].value != after[i].value).collect();
                assert_eq!(changed, reached, "{id} tensor {tensor} element {element}");
                filled.inputs[tensor] = old;
            }
        }
    }
}

#[test]
fn no_family_makes_an_honest_kernel_wrong() {
    for operation in OPERATIONS {
        for (dtype, _) in operation.precisions {
            let axes: Vec<String> = operation
                .axes
                .iter()
                .zip([11, 33, 65])
                .map(|(axis, size)| format!("{}={size}", axis.name))
                .collect();
            let id = format!("{}/{dtype}/{}", operation.name, axes.join(","));
            for fill in operation.fills_of(&id.parse().unwrap()) {
                for (seed, pairwise) in [(6, false), (6, true), (7, false), (8, true)] {
                    let filled = Filled::new(&id, fill, seed);
                    let declared = Arithmetic { pairwise, ..Arithmetic::declared(&filled.case) };
                    let most = filled.scores(&declared).into_iter().fold(0.0, f64::max);
                    assert!(most <= 1.0, "{id} {fill} seed {seed} pairwise {pairwise}: {most}");
                }
            }
        }
    }
}

/// The rows of an output of 48 columns as a projection ranks them.
fn ranked(filled: &Filled, values: &[f64], draws: u64) -> Vec<usize> {
    let dtype = filled.output().dtype;
    let round = |y: f64| dtype.format().map_or(y, |format| format.round(y));
    let row = |i: usize| values[i * 48..(i + 1) * 48].iter().map(|y| round(*y)).collect();
    (filled.case.operation.whole.unwrap())(&filled.problem(), dtype, &row, draws)
}

#[test]
fn the_projection_puts_the_rows_of_a_wrong_tile_first() {
    for id in [
        "matmul/f32/m=40,n=48,k=200",
        "matmul.nn/bf16/m=40,n=48,k=200",
        "matmul/i8/m=40,n=48,k=200",
        "matmul/f16/m=40,n=48,k=200",
        "matmul/f64/m=40,n=48,k=200",
    ] {
        for fill in [Fill::Uniform, Fill::Normal] {
            let filled = Filled::new(id, fill, 7);
            let mut values =
                (filled.case.operation.emulate)(&filled.problem(), &Arithmetic::declared(&filled.case));
            let mut rows = ranked(&filled, &values, 1);
            rows.sort_unstable();
            assert_eq!(rows, (0..40).collect::<Vec<_>>(), "every row has a place");
            for i in 16..32 {
                values[i * 48..i * 48 + 16].fill(0.0);
            }
            let rows = ranked(&filled, &values, 1);
            assert!(rows[..10].iter().all(|row| (16..32).contains(row)), "{id}: {rows:?}");
        }
    }
}

#[test]
fn the_projection_puts_the_row_of_one_element_first() {
    for (id, factor) in [
        ("matmul/f32/m=40,n=48,k=200", 1.001),
        ("matmul.nn/f32/m=40,n=48,k=200", 1.001),
        ("matmul/bf16/m=40,n=48,k=200", 1.5),
        ("matmul/f64/m=40,n=48,k=200", 1.000_000_001),
    ] {
        let filled = Filled::new(id, Fill::Uniform, 8);
        let honest = (filled.case.operation.emulate)(&filled.problem(), &Arithmetic::declared(&filled.case));
        let mut magnitudes: Vec<f64> = honest.iter().map(|y| y.abs()).collect();
        magnitudes.sort_by(f64::total_cmp);
        let median = magnitudes[magnitudes.len() / 2];
        for at in (0..honest.len()).filter(|at| honest[*at].abs() >= median).step_by(13) {
            let mut values = honest.clone();
            values[at] *= factor;
            assert_eq!(ranked(&filled, &values, at as u64)[0], at / 48, "{id} element {at}");
        }
        let mut values = honest.clone();
        values[5 * 48 + 7] = f64::NAN;
        assert_eq!(ranked(&filled, &values, 1)[0], 5, "{id}: NaN");
    }
}

#[test]
fn operations_that_the_gate_could_not_work_with_are_not_brought() {
    let own = |change: fn(&mut Operation)| {
        let mut operation = Operation { name: "own", ..add::OPERATION };
        change(&mut operation);
        operation.check(OPERATIONS.iter().copied())
    };
    assert_eq!(own(|_| {}), Ok(()));
    for (change, why) in [
        ((|own| own.name = "softmax") as fn(&mut Operation), "of this name already"),
        (|own| own.name = "Own", "lowercase"),
        (|own| own.axes = &[], "axes"),
        (|own| own.axes = &[Axis { name: "m", about: "" }, Axis { name: "m", about: "" }], "axes"),
        (|own| own.precisions = &[], "precision"),
        (|own| own.fills = &[Fill::Uniform, Fill::Normal], "families"),
    ] {
        assert!(own(change).unwrap_err().contains(why), "{why}");
    }
}
