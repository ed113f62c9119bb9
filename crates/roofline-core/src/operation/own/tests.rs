use super::*;
use crate::case::{Cache, Device};
use crate::definition::definition;
use crate::judge::judge;
use crate::mutants::{calibrate, self_test};

fn gemv() -> Declaration {
    Declaration {
        name: "gemv".to_owned(),
        about: "y = A·x".to_owned(),
        signature: "a[rows, cols], x[cols] -> y[rows]".to_owned(),
        bound: "dot(cols)".to_owned(),
        independent: vec!["rows".to_owned()],
        ..Declaration::default()
    }
}

/// A reference process that is none: the product, in f64 or with every step in f32.
fn product(own: &Own, problem: &Problem, purpose: Purpose) -> Result<Vec<Vec<f64>>, String> {
    let (rows, cols) = (problem.case.axis("rows"), problem.case.axis("cols"));
    let [a, x] = &problem.inputs[..] else { return Err("two inputs".to_owned()) };
    let round = |value: f64| if purpose == Purpose::Evaluate { f64::from(value as f32) } else { value };
    let row = |row: usize| (0..cols).fold(0.0, |sum, i| round(sum + a.get(row * cols + i) * x.get(i)));
    let y: Vec<f64> = (0..rows).map(row).collect();
    let errors = vec![1e-4; rows];
    Ok(if own.model.has_errors() { vec![y, errors] } else { vec![y] })
}

fn case_of(declaration: Declaration, sizes: &[u64]) -> Case {
    let own = Own::parse(declaration, Declarer::default(), product).unwrap();
    let operation: &'static Operation = Box::leak(Box::new(own.row()));
    Case {
        operation,
        variant: "",
        precision: &operation.precisions[0],
        sizes: sizes.to_vec(),
        params: operation.params.iter().map(|param| param.default).collect(),
        threads: 1,
        cache: Cache::Warm,
        device: Device::Cpu,
    }
}

#[test]
fn a_declaration_is_a_row_like_any_other() {
    let case = case_of(gemv(), &[4, 9]);
    assert_eq!(case.to_string(), "gemv/f32/rows=4,cols=9");
    let tensors = (case.operation.tensors)(&case);
    assert_eq!(tensors.iter().map(|tensor| tensor.name).collect::<Vec<_>>(), ["a", "x", "y"]);
    assert_eq!(tensors[0].shape, [4, 9]);
    let work = (case.operation.work)(&case);
    assert_eq!((work.multiply_adds, work.read, work.written), (36, Bytes(4 * 45), Bytes(16)));
    let reach = |tensor, element| {
        let problem = Problem { case: &case, fill: Fill::Uniform, inputs: Vec::new() };
        case.operation.judged.reach(&problem, tensor, element)
    };
    let part = |first, count| crate::operation::Reach { output: 0, first, step: 1, count };
    assert_eq!(reach(0, 2 * 9 + 5), [part(2, 1)]);
    assert_eq!(reach(1, 5), [part(0, 4)]);
}

#[test]
fn reach_is_progressions_along_what_is_not_held() {
    let transposed = Declaration {
        signature: "x[batch, rows, cols] -> y[rows, batch, cols]".to_owned(),
        independent: vec!["rows".to_owned(), "cols".to_owned()],
        bound: "exact".to_owned(),
        ..gemv()
    };
    let case = case_of(transposed, &[2, 3, 5]);
    let problem = Problem { case: &case, fill: Fill::Uniform, inputs: Vec::new() };
    // Element [1, 2, 4] reaches [2, *, 4].
    let reach = case.operation.judged.reach(&problem, 0, 15 + 2 * 5 + 4);
    assert_eq!(reach, [crate::operation::Reach { output: 0, first: 2 * 10 + 4, step: 5, count: 2 }]);
}

#[test]
fn the_models_of_a_product_let_honest_kernels_pass_and_lower_precision_fail() {
    for bound in ["dot(cols)", "sum(cols)", "calibrated", "per-element"] {
        let case = case_of(Declaration { bound: bound.to_owned(), ..gemv() }, &[12, 256]);
        let outcome = self_test(&case, 7, 1.0);
        assert_eq!(outcome.broken, [""; 0], "{bound}");
        assert!(outcome.rejected.len() >= 12, "{bound}: {:?}", outcome.rejected);
        for fill in [Fill::Uniform, Fill::Normal] {
            let found = calibrate(&case, fill, 3);
            assert!(found.lower.is_some() && found.is_sound(), "{bound}: {found:?}");
        }
    }
    let wide = |own: &Own, problem: &Problem, purpose: Purpose| {
        let mut outputs = product(own, problem, purpose)?;
        outputs[1].fill(1e3);
        Ok(outputs)
    };
    let own =
        Own::parse(Declaration { bound: "per-element".to_owned(), ..gemv() }, Declarer::default(), wide)
            .unwrap();
    let operation: &'static Operation = Box::leak(Box::new(own.row()));
    let case = Case { operation, ..case_of(gemv(), &[12, 256]) };
    assert!(!self_test(&case, 7, 1.0).broken.is_empty(), "a bound that hides everything is found out");
}

/// Sums of every family, one after the other and in sixteen parts, are within the bound; the model is a walk's.
#[test]
fn honest_sums_are_within_the_walk() {
    for bound in ["dot(cols)", "calibrated"] {
        let case = case_of(Declaration { bound: bound.to_owned(), ..gemv() }, &[33, 1000]);
        for fill in Fill::ALL {
            for seed in 0..3 {
                let tensors = (case.operation.tensors)(&case);
                let inputs: Vec<Vec<u8>> = (0..2)
                    .map(|i| {
                        let mut bytes = vec![0; tensors[i].bytes()];
                        let filling = case.operation.filling(*fill, seed, i, &tensors[i]);
                        filling.write(0..tensors[i].elements(), &mut bytes);
                        bytes
                    })
                    .collect();
                let views = inputs.iter().map(|bytes| View { dtype: Dtype::F32, bytes }).collect();
                let problem = Problem { case: &case, fill: *fill, inputs: views };
                let wanted: Vec<usize> = (0..33).collect();
                let expected = case.operation.judged.reference(&problem, 0, &wanted);
                for lanes in [1, 16] {
                    let row = |row: usize| {
                        let mut sums = vec![0.0f32; lanes];
                        for i in 0..1000 {
                            let (a, x) = (problem.inputs[0].get(row * 1000 + i), problem.inputs[1].get(i));
                            sums[i % lanes] = (a as f32).mul_add(x as f32, sums[i % lanes]);
                        }
                        f64::from(sums.iter().sum::<f32>())
                    };
                    let got: Vec<f64> = wanted.iter().map(|index| row(*index)).collect();
                    let judged = judge(Dtype::F32, &[33], &wanted, &got, &expected, None, 1.0);
                    assert_eq!(
                        judged.failed, 0,
                        "{bound}, {fill}, seed {seed}, {lanes} lanes: {:?}",
                        judged.fault
                    );
                }
            }
        }
    }
}

#[test]
fn a_definition_has_the_declaration_in_it() {
    let of = |declaration| definition(&case_of(declaration, &[4, 9]));
    assert_eq!(of(gemv()), of(gemv()));
    assert_ne!(of(gemv()), of(Declaration { legal: "cols >= 1".to_owned(), ..gemv() }));
}

#[test]
fn axes_that_are_not_independent_are_found_out() {
    assert_eq!(check_reach(&case_of(gemv(), &[40, 90]), 3), Ok(()));
    let sums = |_: &Own, problem: &Problem, _: Purpose| {
        let a = &problem.inputs[0];
        let sum: f64 = (0..a.elements()).map(|i| a.get(i)).sum();
        Ok(vec![vec![sum; problem.case.axis("rows")]])
    };
    let own = Own::parse(gemv(), Declarer::default(), sums).unwrap();
    let operation: &'static Operation = Box::leak(Box::new(own.row()));
    let why = check_reach(&Case { operation, ..case_of(gemv(), &[40, 90]) }, 3).unwrap_err();
    assert!(why.contains("axes rows are not independent") && why.contains("of `a` reaches"), "{why}");
}

#[test]
fn a_reference_that_gives_nothing_to_judge_by_ends_the_case() {
    let failing: [(Asked, &str); 2] = [
        (|_, _, _| Err("ended its process: SIGABRT".to_owned()), "the reference of `gemv` ended its process"),
        (
            |_, _, _| Ok(vec![vec![f64::NAN; 64]]),
            "gave NaN at element 0, for gemv/f32/rows=4,cols=9, uniform inputs",
        ),
    ];
    for (ask, why) in failing {
        let own = Own::parse(gemv(), Declarer::default(), ask).unwrap();
        let operation: &'static Operation = Box::leak(Box::new(own.row()));
        let case = Case { operation, ..case_of(gemv(), &[4, 9]) };
        let bytes = vec![0; 4 * 36];
        let view = View { dtype: Dtype::F32, bytes: &bytes };
        let problem = Problem { case: &case, fill: Fill::Uniform, inputs: vec![view, view] };
        let panic = std::panic::catch_unwind(|| case.operation.judged.reference(&problem, 0, &[0]));
        let said = *panic.unwrap_err().downcast::<String>().unwrap();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn declarations_that_cannot_be_meant_are_refused_with_the_reason() {
    type Change = fn(&mut Declaration);
    let refused = |change: Change| {
        let mut declaration = gemv();
        change(&mut declaration);
        Own::parse(declaration, Declarer::default(), product).unwrap_err()
    };
    let cases: [(Change, &str); 19] = [
        (|d| d.name = "ge.mv".to_owned(), "a name is letters"),
        (
            |d| d.signature = "a[rows, cols] -> y[row]".to_owned(),
            "no input has the axis `row` of `y`; did you mean `rows`?",
        ),
        (|d| d.signature = "a[3] -> y[4]".to_owned(), "no tensor has an axis"),
        (|d| d.signature = "a[b,c,d,e,f,g,h,i], x[j] -> y[b]".to_owned(), "9 axes"),
        (|d| d.signature = "a[rows, cols] x".to_owned(), "its signature: "),
        (|d| d.bound = String::new(), "its bound: there is no ``"),
        (|d| d.bound = "dott(cols)".to_owned(), "did you mean `dot(k)`"),
        (|d| d.bound = "dot".to_owned(), "over how many terms"),
        (|d| d.bound = "dot(col)".to_owned(), "there is no axis `col`; did you mean `cols`?"),
        (|d| d.bound = "elementwise(0)".to_owned(), "how many roundings"),
        (|d| d.bound = "calibrated(depth)".to_owned(), "there is no axis `depth`"),
        (|d| d.independent = vec!["row".to_owned()], "there is no axis `row`; did you mean `rows`?"),
        (|d| d.independent = vec!["cols".to_owned()], "`cols` is independent only as"),
        (|d| d.legal = "cols".to_owned(), "its legal sizes: "),
        (|d| d.legal = "cols < 1".to_owned(), "no small sizes are legal"),
        (|d| d.params = "eps".to_owned(), "its parameters: `=` is missing"),
        (|d| d.params = "eps = 2 within 0 1".to_owned(), "`eps` is 2, which is not within 0 1"),
        (|d| d.dtypes = vec!["f8".to_owned()], "`f8` is none of f32"),
        (|d| d.about = "x".repeat(2000), "2000 bytes"),
    ];
    for (change, why) in cases {
        let error = refused(change);
        assert!(error.contains(why), "{error}\nlacks: {why}");
    }
    let conv = |legal: &str| Declaration {
        signature: "x[n], w[taps] -> y[n - taps + 1]".to_owned(),
        bound: "dot(taps)".to_owned(),
        independent: Vec::new(),
        legal: legal.to_owned(),
        ..gemv()
    };
    let why = Own::parse(conv(""), Declarer::default(), product).unwrap_err();
    assert!(why.contains("tensor `y`: `n - taps + 1` is no size for n="), "{why}");
    assert!(Own::parse(conv("n >= taps"), Declarer::default(), product).is_ok());
    let softmax = Declaration { signature: "x[rows, cols] -> y[rows, cols]".to_owned(), ..gemv() };
    let calibrated = |bound: &str| {
        Own::parse(Declaration { bound: bound.to_owned(), ..softmax.clone() }, Declarer::default(), product)
    };
    assert!(calibrated("calibrated").unwrap_err().contains("`calibrated(cols)`"));
    assert!(calibrated("calibrated(cols)").is_ok());
}

/// A bound that is measured has little to go by at tiny shapes: kernels of other orders must pass there too.
#[test]
fn a_calibrated_bound_is_no_trap_at_tiny_shapes() {
    let base = case_of(Declaration { bound: "calibrated".to_owned(), ..gemv() }, &[1, 1]);
    let mut failed = Vec::new();
    let mut trials = 0;
    for (rows, cols) in [(1, 1), (1, 2), (1, 3), (2, 2), (1, 8), (3, 5)] {
        let case = base.resized(&[rows, cols]);
        let (rows, cols) = (rows as usize, cols as usize);
        for fill in [Fill::Uniform, Fill::Normal, Fill::Shifted, Fill::Extreme, Fill::Planted] {
            for seed in 0..1000 {
                let tensors = (case.operation.tensors)(&case);
                let inputs: Vec<Vec<u8>> = (0..2)
                    .map(|i| {
                        let mut bytes = vec![0; tensors[i].bytes()];
                        let filling = case.operation.filling(fill, seed, i, &tensors[i]);
                        filling.write(0..tensors[i].elements(), &mut bytes);
                        bytes
                    })
                    .collect();
                let views = inputs.iter().map(|bytes| View { dtype: Dtype::F32, bytes }).collect();
                let problem = Problem { case: &case, fill, inputs: views };
                let wanted: Vec<usize> = (0..rows).collect();
                let expected = case.operation.judged.reference(&problem, 0, &wanted);
                let row = |row: usize| {
                    let term = |i: usize| {
                        (problem.inputs[0].get(row * cols + i) as f32, problem.inputs[1].get(i) as f32)
                    };
                    f64::from((0..cols).map(term).fold(0.0f32, |sum, (a, x)| sum + a * x))
                };
                let got: Vec<f64> = wanted.iter().map(|index| row(*index)).collect();
                let judged = judge(Dtype::F32, &[rows], &wanted, &got, &expected, None, 1.0);
                trials += 1;
                if judged.failed > 0 {
                    failed.push((rows, cols, fill, seed));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} of {trials}: {:?}", failed.len(), &failed[..failed.len().min(5)]);
}
