//! References proved by identities; honest arithmetic inside the bounds on every family. What is not an identity
//! runs over the registry and names no operation.

use super::*;
use crate::arithmetic::Arithmetic;
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::judge::{allowed, score};
use crate::mutants::forms;
use crate::operation::{Axis, Expected, Judged, Problem, Reach};
use crate::philox::Draws;
use crate::tensor::{Content, Tensor, View};
use std::collections::BTreeSet;

mod cells;
mod long_sums;

/// A case with content, owned.
struct Filled {
    case: Case,
    fill: Fill,
    tensors: Vec<Tensor>,
    inputs: Vec<Vec<u8>>,
    outputs: Vec<Tensor>,
}

impl Filled {
    fn new(id: &str, fill: Fill, seed: u64) -> Filled {
        Filled::of(id.parse().unwrap(), fill, seed)
    }

    fn of(case: Case, fill: Fill, seed: u64) -> Filled {
        let (tensors, outputs): (Vec<Tensor>, Vec<Tensor>) =
            (case.operation.tensors)(&case).into_iter().partition(|tensor| tensor.role.is_input());
        let inputs = tensors.iter().enumerate().map(|(index, tensor)| {
            let mut bytes = vec![0; tensor.bytes()];
            case.operation.filling(fill, seed, index, tensor).write(0..tensor.elements(), &mut bytes);
            bytes
        });
        Filled { inputs: inputs.collect(), case, fill, tensors, outputs }
    }

    fn problem(&self) -> Problem<'_> {
        let inputs = self.tensors.iter().zip(&self.inputs);
        let inputs = inputs.map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes }).collect();
        Problem { case: &self.case, fill: self.fill, inputs }
    }

    /// Expected values of the first output.
    fn reference(&self) -> Vec<Expected> {
        self.references().remove(0)
    }

    fn references(&self) -> Vec<Vec<Expected>> {
        let of = |(output, tensor): (usize, &Tensor)| {
            let wanted: Vec<usize> = (0..tensor.elements()).collect();
            self.case.judged().reference(&self.problem(), output, &wanted)
        };
        self.outputs.iter().enumerate().map(of).collect()
    }

    fn emulate(&self, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
        self.case.judged().emulate(&self.problem(), arithmetic)
    }

    /// The largest score of an emulated kernel, its results rounded to the output types.
    fn score(&self, arithmetic: &Arithmetic) -> f64 {
        let emulated = self.emulate(arithmetic);
        let outputs = self.outputs.iter().zip(self.references()).zip(emulated);
        let scores = outputs.flat_map(|((tensor, expected), values)| {
            let round = |y: f64| tensor.dtype.format().map_or(y, |format| format.round(y));
            let scores =
                expected.iter().zip(values).map(|(expected, y)| score(tensor.dtype, round(y), expected, 1.0));
            scores.collect::<Vec<_>>()
        });
        scores.fold(0.0, f64::max)
    }
}

/// Every form and precision of every operation that is judged by elements, at sizes near these.
fn judged(sizes: [u64; 4]) -> impl Iterator<Item = Case> {
    let cases = OPERATIONS.iter().flat_map(|operation| forms(operation));
    cases.filter(|case| !matches!(case.judged(), Judged::Property(_))).map(move |case| {
        // Points of many axes are many even where each of them is small.
        let most = if case.sizes.len() > sizes.len() { 8 } else { u64::MAX };
        let sizes = sizes.iter().cycle().map(|size| *size.min(&most));
        let wanted: Vec<u64> = sizes.take(case.sizes.len()).collect();
        case.operation.near(&case, &wanted, &mut Draws::new(2, 2))
    })
}

/// Whether it is of the first precision that its operation has.
fn is_usual(case: &Case) -> bool {
    case.precision.id == case.operation.precisions[0].id
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

/// What comes out of given inputs.
fn value(id: &str, inputs: &[&[f64]]) -> Vec<f64> {
    let mut filled = Filled::new(id, Fill::Uniform, 1);
    for (tensor, values) in inputs.iter().enumerate() {
        let dtype = filled.tensors[tensor].dtype;
        values.iter().enumerate().for_each(|(i, x)| dtype.write(&mut filled.inputs[tensor], i, *x));
    }
    filled.reference().iter().map(|expected| expected.value).collect()
}

#[track_caller]
fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-12, "{got} and {expected}");
}

/// One head of four elements at a position.
fn rotated(form: &str, x: [f64; 4], position: f64) -> [f64; 4] {
    let y = value(&format!("{form}/f64/seq=1,heads=1,dim=4"), &[&x[..], &[position]]);
    [y[0], y[1], y[2], y[3]]
}

#[test]
fn rope_keeps_the_length_of_pairs_and_products_know_the_distance_alone() {
    let (q, k) = ([0.3, -1.2, 0.7, 2.0], [1.5, 0.4, -0.6, 0.9]);
    for (form, pairs) in [("rope", [[0, 2], [1, 3]]), ("rope.interleaved", [[0, 1], [2, 3]])] {
        let turned = rotated(form, q, 1234.0);
        for [a, b] in pairs {
            near(turned[a].hypot(turned[b]), q[a].hypot(q[b]));
        }
        let product = |m: f64, n: f64| -> f64 {
            let (q, k) = (rotated(form, q, m), rotated(form, k, n));
            q.iter().zip(k).map(|(q, k)| q * k).sum()
        };
        near(product(7.0, 3.0), product(2007.0, 2003.0));
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
fn a_parameter_is_part_of_the_mathematics() {
    let [small, large] =
        ["", ",eps=1"].map(|eps| Filled::new(&format!("rms-norm/f32/rows=1,cols=8{eps}"), Fill::Uniform, 1));
    assert!(small.reference()[3].value.abs() > 1.2 * large.reference()[3].value.abs());
}

#[test]
fn rows_without_a_target_reach_no_loss() {
    let mut filled = Filled::new("cross-entropy/f32/rows=4,cols=8", Fill::Uniform, 1);
    let all = filled.reference()[0].value;
    Dtype::I32.write(&mut filled.inputs[1], 2, -100.0);
    let losses = Filled { case: "cross-entropy.none/f32/rows=4,cols=8".parse().unwrap(), ..filled };
    let losses = Filled { outputs: Filled::of(losses.case.clone(), Fill::Uniform, 1).outputs, ..losses };
    let each: Vec<f64> = losses.reference().iter().map(|loss| loss.value).collect();
    assert_eq!(each[2], 0.0);
    let filled = Filled { case: "cross-entropy/f32/rows=4,cols=8".parse().unwrap(), ..losses };
    let mean = filled.case.judged().reference(&filled.problem(), 0, &[0])[0].value;
    assert!((mean - each.iter().sum::<f64>() / 3.0).abs() < 1e-14 && mean != all);
    let reach = |tensor, element| filled.case.judged().reach(&filled.problem(), tensor, element).len();
    assert_eq!([reach(0, 15), reach(0, 16), reach(0, 23), reach(0, 24), reach(1, 2)], [1, 0, 0, 1, 1]);
}

#[test]
fn losses_and_reductions_of_known_numbers() {
    let x: &[f64] = &[1.0, -2.0, 4.0, 0.5, 3.0, -1.0];
    assert_eq!(value("sum/f64/rows=2,cols=3", &[x]), [3.0, 2.5]);
    assert_eq!(value("mean.columns/f64/rows=2,cols=3", &[x]), [0.75, 0.5, 1.5]);
    assert_eq!(value("max.all/f64/rows=2,cols=3", &[x]), [4.0]);
    assert_eq!(value("mse/f64/rows=2,cols=3", &[x, &[0.0; 6]]), [31.25 / 6.0]);
    assert_eq!(value("dot/f64/n=3", &[&x[..3], &[2.0, 1.0, 0.5]]), [2.0]);
    assert_eq!(value("sum-axis/f64/outer=1,length=2,inner=3", &[x]), [1.5, 1.0, 3.0]);
    let numbers: [&[f64]; 4] = [&[1.0, 2.0, 3.0], &[2.0, 0.0, 2.0], &[0.0, 1.0, 3.0], &[10.0, 100.0]];
    assert_eq!(value("spmv.csc/f64/rows=3,cols=2,nnz=3", &numbers), [200.0, 0.0, 310.0]);
    let turned: [&[f64]; 2] = [&[1.0, 2.0, 3.0, 4.0], &[10.0, 100.0]];
    assert_eq!(value("bmm.tn/f64/batch=1,m=2,n=1,k=2", &turned), [310.0, 420.0]);
    let tokens: [&[f64]; 2] = [&[5.0, 7.0], &[1.0, 0.0, 0.0, 1.0]];
    assert_eq!(value("moe-permute/f64/rows=2,experts=2,top=2,cols=1", &tokens), [5.0, 7.0, 5.0, 7.0]);
    assert_eq!(value("permute.120/f64/a=1,b=2,c=3", &[x]), x);
    assert_eq!(value("transpose/f64/rows=2,cols=3", &[x]), [1.0, 0.5, -2.0, 3.0, 4.0, -1.0]);
    assert_eq!(
        value("cat/f64/rows=2,cols=1,more=2", &[&[7.0, 8.0], &x[..4]]),
        [7.0, 1.0, -2.0, 8.0, 4.0, 0.5]
    );
    near(value("logsumexp/f64/rows=1,cols=2", &[&[1000.0, 1000.0]])[0], 1000.0 + 2.0_f64.ln());
    assert_eq!(value("logsumexp/f64/rows=1,cols=2", &[&[f64::INFINITY, 0.0]]), [f64::INFINITY]);
    assert_eq!(value("logsumexp/f64/rows=1,cols=2", &[&[f64::NEG_INFINITY; 2]]), [f64::NEG_INFINITY]);
    near(value("cross-entropy/f64/rows=1,cols=2", &[&[0.0, 0.0], &[1.0]])[0], 2.0_f64.ln());
    near(
        value("cross-entropy-prob/f64/rows=1,cols=2", &[&[0.5, 0.0], &[1.0, 0.5]])[0],
        2.0_f64.ln() + 4.0 * 10.0_f64.ln(),
    );
    // Class 1 at p = 0.8, class 0 at p = 0.8.
    let focal = value("focal/f64/rows=1,cols=2", &[&[0.8, 0.8], &[1.0, 0.0]]);
    near(focal[0], -0.25 * 0.04 * 0.8_f64.ln());
    near(focal[1], -0.25 * 0.64 * 0.2_f64.ln());
    near(value("gelu/f64/rows=1,cols=1", &[&[1.0]])[0], 0.841_344_746_068_542_9);
    near(value("gelu-tanh/f64/rows=1,cols=1", &[&[1.0]])[0], 0.841_191_990_608_276_8);
    near(value("gelu-quick/f64/rows=1,cols=1", &[&[1.0]])[0], 0.845_795_765_932_821_2);
}

#[test]
fn convolutions_of_known_numbers() {
    let x: Vec<f64> = (1..=12).map(f64::from).collect();
    let w: &[f64] = &[1.0, 0.0, 0.0, 10.0];
    // Each pixel, and ten times what lies below it to the right.
    let shape = "height=2,width=3,kernel=2";
    assert_eq!(value(&format!("conv2d/f64/out=1,{shape},channels=1"), &[&x[..6], w]), [51.0, 62.0]);
    let apart = format!("conv2d/f64/out=1,{shape},stride=2,pad=1,channels=1");
    assert_eq!(value(&apart, &[&x[..6], w]), [10.0, 30.0, 0.0, 5.0]);
    let wide = "conv2d/f64/out=1,height=3,width=4,kernel=2,dilation=2,channels=1";
    assert_eq!(value(wide, &[&x, w]), [111.0, 122.0]);
    // The same along a line: each place, and ten times what follows two later.
    let line = "conv1d.bias/f64/out=1,length=4,kernel=2,dilation=2,pad=1,channels=1";
    assert_eq!(value(line, &[&x[..4], &[1.0, 10.0], &[0.5]]), [20.5, 31.5, 42.5, 3.5]);
    // Two groups of one channel, of which the second sees the last six pixels.
    let both = &[w, &[0.0, 1.0, 0.0, 0.0]].concat();
    let groups = format!("conv2d.bias/f64/out=2,{shape},groups=2,channels=2");
    assert_eq!(value(&groups, &[&x, both, &[0.5, -1.0]]), [51.5, 62.5, 7.0, 8.0]);
}

#[test]
fn transforms_of_known_numbers_and_back() {
    let x: &[f64] = &[1.0, 0.0, 2.0, -1.0, 0.5, 0.25, -3.0, 4.0, 1.5, -2.0, 0.0, 7.0];
    assert_eq!(value("fft/f64/n=2", &[&x[..4]]), [3.0, -1.0, -1.0, 1.0]);
    assert_eq!(value("fft.real/f64/n=4", &[&[1.0, 2.0, 3.0, 4.0]]), [10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
    let picture = value("fft2.real/f64/rows=2,cols=2", &[&[1.0, 2.0, 3.0, 4.0]]);
    assert_eq!(picture, [10.0, 0.0, -2.0, 0.0, -4.0, 0.0, 0.0, 0.0]);
    for (rows, cols) in [(2, 6), (3, 4), (4, 3), (12, 1)] {
        let picture = value(&format!("fft2.real/f64/rows={rows},cols={cols}"), &[x]);
        let back = value(&format!("fft2.real-inverse/f64/rows={rows},cols={cols}"), &[&picture]);
        back.iter().zip(x).for_each(|(y, x)| near(*y, *x));
    }
    let back = value("fft.inverse/f64/n=6", &[&value("fft/f64/n=6", &[x])]);
    back.iter().zip(x).for_each(|(y, x)| near(*y, *x));
    for n in [1, 2, 5, 6, 11] {
        let half = value(&format!("fft.real/f64/n={n}"), &[&x[..n]]);
        // What the first number and the middle one cannot have is not looked at.
        let mut other = half.clone();
        other[1] = 9.0;
        if n % 2 == 0 {
            other[n + 1] = -9.0;
        }
        for half in [half, other] {
            let back = value(&format!("fft.real-inverse/f64/n={n}"), &[&half]);
            back.iter().zip(x).for_each(|(y, x)| near(*y, *x));
        }
    }
}

/// At lengths where the steps of a transform round, so that what is not reached changes in its last bits.
#[test]
fn a_number_reaches_no_part_that_it_is_turned_away_from() {
    for form in ["fft", "fft.inverse", "fft.real", "fft.real-inverse"] {
        for n in [1, 2, 3, 6, 8, 12, 20, 36, 64] {
            let mut filled = Filled::new(&format!("{form}/f64/batch=2,n={n}"), Fill::Uniform, 4);
            let before = filled.reference();
            for element in 0..filled.tensors[0].elements() {
                let old = Dtype::F64.read(&filled.inputs[0], element);
                Dtype::F64.write(&mut filled.inputs[0], element, old + 1.0);
                let after = filled.reference();
                Dtype::F64.write(&mut filled.inputs[0], element, old);
                let changed: BTreeSet<usize> =
                    (0..before.len()).filter(|i| (after[*i].value - before[*i].value).abs() > 1e-9).collect();
                let reach = filled.case.judged().reach(&filled.problem(), 0, element);
                let reached = reach.iter().flat_map(|reach| (0..reach.count).map(|i| reach.nth(i)));
                assert_eq!(changed, reached.collect(), "{} element {element}", filled.case);
            }
        }
    }
}

#[test]
fn a_chosen_element_is_the_same_alone() {
    for case in judged([5, 9, 11, 4]) {
        let filled = Filled::of(case, Fill::Normal, 3);
        for (output, whole) in filled.references().iter().enumerate() {
            for index in [0, 7, 8, 9, 31, 44].into_iter().filter(|index| *index < whole.len()) {
                let alone = filled.case.judged().reference(&filled.problem(), output, &[index]);
                assert_eq!(alone, [whole[index]], "{} output {output}", filled.case);
            }
        }
    }
}

/// Values that an element may be changed to, so that whatever it reaches changes with one of them.
fn changes(tensor: &Tensor, old: f64) -> Vec<f64> {
    let mut values: Vec<f64> = (0..3).map(|i| tensor.changed(old, i << 61)).collect();
    if let Content::Indices { below, .. } = tensor.content {
        values.extend((0..below.min(8)).map(|index| index as f64));
    }
    if tensor.content.is_values() {
        values.extend(if tensor.dtype.format().is_some() { [3.0, 40.0, -40.0] } else { [3.0, 90.0, -90.0] });
    }
    values
}

/// Elements of outputs, by output, that change with an element of an input.
fn changed(filled: &mut Filled, tensor: usize, element: usize) -> BTreeSet<(usize, usize)> {
    let before = filled.references();
    let dtype = filled.tensors[tensor].dtype;
    let old = filled.inputs[tensor].clone();
    let mut changed = BTreeSet::new();
    for value in changes(&filled.tensors[tensor], dtype.read(&old, element)) {
        dtype.write(&mut filled.inputs[tensor], element, value);
        for (output, (before, after)) in before.iter().zip(filled.references()).enumerate() {
            let differ = (0..before.len()).filter(|i| before[*i].value != after[*i].value);
            changed.extend(differ.map(|i| (output, i)));
        }
        filled.inputs[tensor].clone_from(&old);
    }
    changed
}

/// Contents that are tried for an element: with few digits a factor is zero now and then, and hides what meets it.
const TRIED: u64 = 8;

#[test]
fn an_input_reaches_exactly_the_outputs_that_change() {
    for case in judged([3, 4, 5, 2]).filter(is_usual) {
        let draw = |seed| Filled::of(case.clone(), Fill::Uniform, seed);
        let mut drawn: Vec<Filled> = (4..4 + TRIED).map(draw).collect();
        let tensors = drawn[0].tensors.clone();
        let elements = |tensor: usize| (0..tensors[tensor].elements()).map(move |element| (tensor, element));
        for (tensor, element) in (0..tensors.len()).flat_map(elements) {
            let shows_all = |filled: &mut Filled| {
                let reach = filled.case.judged().reach(&filled.problem(), tensor, element);
                let reached: BTreeSet<(usize, usize)> = reach
                    .iter()
                    .flat_map(|reach| (0..reach.count).map(|i| (reach.output, reach.nth(i))))
                    .collect();
                let changed = changed(filled, tensor, element);
                assert!(changed.is_subset(&reached), "{case} tensor {tensor} element {element}: {changed:?}");
                // Another seed leaves some as they are, and no offset or place in an order is changed alone.
                let content = tensors[tensor].content;
                let is_alone =
                    content.is_offsets() || matches!(content, Content::Seed | Content::Order { .. });
                is_alone || changed == reached
            };
            let is_shown = drawn.iter_mut().any(shows_all);
            assert!(is_shown, "{case} tensor {tensor} element {element} does not reach all that it should");
        }
    }
}

/// Where an input reaches few outputs through long sums, a change of one element is still more than their bounds.
#[test]
fn a_change_is_seen_in_long_sums() {
    for case in judged([2, 2, 3, 2]).filter(is_usual) {
        let operation = case.operation;
        let mut wanted = case.sizes.clone();
        *wanted.last_mut().unwrap() = 100_000;
        let case = operation.near(&case, &wanted, &mut Draws::new(3, 3));
        // Tables that grow with the line are the same at any length.
        if case.footprint().is_none_or(|bytes| bytes > 1 << 26) {
            continue;
        }
        let mut filled = Filled::of(case, Fill::Uniform, 4);
        let (mut tries, mut seen) = (0, 0);
        for tensor in 0..filled.inputs.len() {
            for element in [0, 1, 70_001].into_iter().filter(|i| *i < filled.tensors[tensor].elements()) {
                let reach = filled.case.judged().reach(&filled.problem(), tensor, element);
                let Some(Reach { output, first, .. }) = reach.first().copied() else { continue };
                let at =
                    |filled: &Filled| filled.case.judged().reference(&filled.problem(), output, &[first])[0];
                let before = at(&filled);
                let dtype = filled.tensors[tensor].dtype;
                let old = dtype.read(&filled.inputs[tensor], element);
                let new = filled.tensors[tensor].changed(old, 7 << 60);
                dtype.write(&mut filled.inputs[tensor], element, new);
                let after = at(&filled);
                dtype.write(&mut filled.inputs[tensor], element, old);
                tries += 1;
                let bounds = [before, after].map(|expected| allowed(filled.outputs[output].dtype, &expected));
                seen += usize::from((after.value - before.value).abs() > bounds[0] + bounds[1]);
            }
        }
        assert!(2 * seen >= tries, "{}: {seen} of {tries} changes", filled.case);
    }
}

#[test]
fn no_family_makes_an_honest_kernel_wrong() {
    // Each family of a case meets two of them, by turns; with `EVERY_CASE=1` all.
    let draws = [[(6, false), (8, true)], [(6, true), (7, false)]];
    let most = if std::env::var_os("EVERY_CASE").is_some() { 2 } else { 1 };
    for (number, case) in judged([11, 33, 65, 4]).enumerate() {
        for (family, fill) in case.operation.fills_of(&case).into_iter().enumerate() {
            for (seed, pairwise) in draws.into_iter().cycle().skip((number + family) % 2).take(most).flatten()
            {
                let filled = Filled::of(case.clone(), fill, seed);
                let declared = Arithmetic { pairwise, ..Arithmetic::declared(&filled.case) };
                let most = filled.score(&declared);
                assert!(most <= 1.0, "{case} {fill} seed {seed} pairwise {pairwise}: {most}");
            }
        }
    }
}

/// Work is counted from the formula where a family does it; what was counted by hand agrees.
#[test]
fn work_is_what_the_formula_does() {
    let work = |id: &str| {
        let case: Case = id.parse().unwrap();
        let work = (case.operation.work)(&case);
        (work.multiply_adds, work.simple, work.special, work.read.0, work.written.0)
    };
    assert_eq!(work("add/f32/rows=3,cols=5"), (0, 15, 0, 120, 60));
    // Maximum, difference, sum, scale, and the reciprocal of each sum; exponentials.
    assert_eq!(work("softmax/bf16/rows=3,cols=5"), (0, 63, 15, 30, 30));
    assert_eq!(work("rms-norm/f32/rows=3,cols=5"), (15, 42, 0, 80, 60));
    // Along a side of five with one of padding, elements of windows meet four, five and four pixels: 13 of 15.
    assert_eq!(work("conv2d.bias/f32/out=4,height=5,width=5,pad=1,channels=2"), (8 * 169, 100, 0, 504, 400));
    // Weights and biases of 4·(256·512 + 512·512) and 2·4·512 elements beside an input, two states and what comes out.
    let (states, weights) = (2 * 2048, 6_291_456 + 16_384);
    let steps = (4 * 768 * 512, 22 * 512, 5 * 512, 1024 + states + weights, 2048 + states);
    assert_eq!(work("lstm/f32/seq=1,hidden=512,input=256"), steps);
    // Of a step over every other pixel a quarter is read.
    assert_eq!(work("conv2d/f32/out=1,height=4,width=4,kernel=1,stride=2,channels=1"), (4, 0, 0, 20, 16));
    // Of 2 queries and 5 keys, pairs that see each other: all, 4 + 5, and 3 each, of 4 keys.
    for (form, pairs, keys) in [
        ("attention/f32/", 40, 5),
        ("attention.causal/f32/", 36, 5),
        ("window-attention/f32/window=3,", 24, 4),
    ] {
        let expected = (6 * pairs, 4 * pairs + 32, pairs, 4 * (24 + 12 * keys), 4 * 24);
        assert_eq!(work(&format!("{form}seq=2,kv=5,heads=4,kv-heads=2,dim=3")), expected, "{form}");
    }
}

/// The rows of an output of 48 columns as a projection ranks them.
fn ranked(filled: &Filled, values: &[f64], draws: u64) -> Vec<usize> {
    let dtype = filled.outputs[0].dtype;
    let round = |y: f64| dtype.format().map_or(y, |format| format.round(y));
    let row = |i: usize| values[i * 48..(i + 1) * 48].iter().map(|y| round(*y)).collect();
    (filled.case.judged().whole().unwrap())(&filled.problem(), dtype, &row, draws)
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
            let mut values = filled.emulate(&Arithmetic::declared(&filled.case)).remove(0);
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
        let honest = filled.emulate(&Arithmetic::declared(&filled.case)).remove(0);
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
    const TWICE: &[Axis] = &[Axis::new("m", ""), Axis::new("m", "")];
    const AS_NOBODY: &[Axis] = &[Axis::new("m", ""), Axis::new("n", "").usually_as("k")];
    const ALL_USUAL: &[Axis] = &[Axis::new("m", "").usually(1)];
    assert_eq!(own(|_| {}), Ok(()));
    for (change, why) in [
        ((|own| own.name = "softmax") as fn(&mut Operation), "name `softmax` already"),
        (|own| own.name = "swish", "name `swish` already"),
        (|own| own.also = &["mine", "softmax"], "name `softmax` already"),
        (|own| own.name = "o.wn", "a name is letters"),
        (|own| own.axes = &[], "axes"),
        (|own| own.axes = TWICE, "axes"),
        (|own| own.axes = AS_NOBODY, "usual size"),
        (|own| own.axes = ALL_USUAL, "must be given"),
        (|own| own.precisions = &[], "precision"),
        (|own| own.fills = &[Fill::Uniform, Fill::Normal], "families"),
    ] {
        assert!(own(change).unwrap_err().contains(why), "{why}");
    }
}

#[test]
fn an_operation_is_found_by_each_of_its_names_and_prints_one() {
    let mut names = BTreeSet::new();
    for operation in OPERATIONS {
        for name in operation.names() {
            assert!(names.insert(name), "two operations are called `{name}`");
            assert_eq!(Operation::find(name).unwrap().name, operation.name);
        }
    }
    assert_eq!("swish/f32/rows=2,cols=3".parse::<Case>().unwrap().to_string(), "silu/f32/rows=2,cols=3");
    assert_eq!(Operation::find("swich").unwrap_err(), Some("swish"));
}
