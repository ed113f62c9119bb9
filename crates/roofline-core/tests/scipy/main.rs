//! Our statistics against those of SciPy and numpy on 1,000 random data sets.
//!
//! `cargo xtask test` installs SciPy and names its Python in `ROOFLINE_PYTHON`; then it must be
//! there. By hand, without that name, the test says that it was skipped where SciPy is missing.
#![expect(clippy::print_stderr, reason = "says that it was skipped")]

use roofline_core::philox::Draws;
use roofline_core::stats;
use roofline_core::verdict::{FLOOR, word};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::process::{Command, Stdio};

const DATA_SETS: usize = 1000;
const QUANTILES: [f64; 6] = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0];
/// Those of looks, of leftovers, and the one of textbooks.
const ALPHAS: [f64; 6] = [0.002, 0.003, 0.005, 0.008, 0.01, 0.05];

#[derive(Serialize)]
struct Question {
    values: Vec<f64>,
    quantiles: [f64; 6],
    alpha: f64,
    delta: f64,
    floor: f64,
}

/// `None` where there are too few values.
#[derive(Debug, Deserialize)]
struct Answer {
    quantiles: Vec<f64>,
    mad: f64,
    median_interval: Option<(f64, f64)>,
    outliers: usize,
    drift: Option<f64>,
    t_interval: Option<(f64, f64)>,
    smallest_effect: Option<f64>,
    word: Option<String>,
}

#[test]
fn statistics_agree_with_scipy() {
    let mut draws = Draws::new(1, 0);
    let questions: Vec<Question> = (0..DATA_SETS).map(|number| question(number, &mut draws)).collect();
    let (finite, spoilt): (Vec<Question>, Vec<Question>) =
        questions.into_iter().partition(|question| question.values.iter().all(|value| value.is_finite()));
    let Some(answers) = ask(&finite) else { return };
    assert_eq!(answers.len(), finite.len());
    for (question, answer) in finite.iter().zip(&answers) {
        compare(question, answer);
    }
    assert!(spoilt.len() > 50);
    spoilt.iter().for_each(refused);
    for wanted in ["faster", "slower", "same", "inconclusive"] {
        let count = answers.iter().filter(|answer| answer.word.as_deref() == Some(wanted)).count();
        assert!(count > 20, "{count} data sets are {wanted}: too few to compare");
    }
}

/// A data set: of one value or many, with ties or constant, large or small, now and then spoilt.
fn question(number: usize, draws: &mut Draws) -> Question {
    let n = match number % 8 {
        0 => 1,
        1 => 2,
        2 | 3 => [6, 12, 24][draws.below(3) as usize],
        4 => 100 + draws.below(400) as usize,
        _ => 3 + draws.below(40) as usize,
    };
    let even = |draws: &mut Draws| draws.bits() as f64 / 2f64.powi(64) - 0.5;
    // Every other data set looks like values of sets, so that each word comes up.
    let (middle, spread) = if number.is_multiple_of(2) {
        (0.04 * even(draws), 0.02 * (even(draws) + 0.5).powi(3))
    } else {
        let scale = 10f64.powi(draws.below(200) as i32 - 100);
        (scale * 3.0 * even(draws), scale)
    };
    let mut values: Vec<f64> = match draws.below(5) {
        0 => vec![middle; n],
        1 => (0..n).map(|_| middle + spread * draws.below(4) as f64).collect(),
        2 => (0..n).map(|_| middle + spread * even(draws) / (0.01 + even(draws).abs())).collect(),
        _ => (0..n).map(|_| middle + spread * even(draws)).collect(),
    };
    if draws.below(10) == 0 {
        let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][draws.below(3) as usize];
        values[draws.below(n as u64) as usize] = bad;
    }
    let alpha = ALPHAS[draws.below(ALPHAS.len() as u64) as usize];
    Question { values, quantiles: QUANTILES, alpha, delta: 0.01, floor: FLOOR }
}

/// What SciPy says; `None` where it may be missing and is.
fn ask(questions: &[Question]) -> Option<Vec<Answer>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scipy/statistics.py");
    let named = std::env::var("ROOFLINE_PYTHON");
    let python = named.as_deref().unwrap_or("python3");
    if named.is_err() {
        let found = Command::new(python).args(["-c", "import scipy"]).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            eprintln!("skipped: no SciPy; `cargo xtask test` installs it");
            return None;
        }
    }
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("`{python}` does not start: {error}"));
    let text = serde_json::to_string(questions).expect("numbers");
    // A Python without SciPy is gone before it has read anything; its status says so below.
    let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success(), "`{python} {script}` failed; is SciPy installed?");
    Some(serde_json::from_slice(&output.stdout).expect("answers"))
}

fn compare(question: &Question, answer: &Answer) {
    let Question { values, alpha, delta, .. } = question;
    // Differences of equal numbers leave the rounding of the numbers.
    let scale = values.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
    let close = |what: &str, ours: Option<f64>, theirs: Option<f64>| match (ours, theirs) {
        (None, None) => {}
        (Some(ours), Some(theirs)) if (ours - theirs).abs() <= 1e-9 * theirs.abs() + 1e-14 * scale => {}
        _ => panic!("{what}, alpha {alpha}: {ours:?}, SciPy {theirs:?}; {values:?}"),
    };
    for (q, theirs) in QUANTILES.iter().zip(&answer.quantiles) {
        close("quantile", stats::quantile(values, *q), Some(*theirs));
    }
    close("median", stats::median(values), Some(answer.quantiles[3]));
    close("mad", stats::mad(values), Some(answer.mad));
    assert_eq!(stats::median_interval(values, *alpha), answer.median_interval, "{alpha} {values:?}");
    assert_eq!(stats::outliers(values), answer.outliers, "{values:?}");
    close("drift", stats::drift(values), answer.drift);
    let interval = stats::t_interval(values, *alpha);
    close("mean", interval.map(|interval| interval.mean), answer.t_interval.map(|(mean, _)| mean));
    close("half", interval.map(|interval| interval.half), answer.t_interval.map(|(_, half)| half));
    close("smallest effect", stats::smallest_effect(values, *alpha), answer.smallest_effect);
    let ours = interval.map(|interval| word(interval, *delta).name());
    assert_eq!(ours, answer.word.as_deref(), "{alpha} {values:?}");
}

/// A data set with a number that is none has no statistics.
fn refused(question: &Question) {
    let Question { values, alpha, .. } = question;
    assert!(QUANTILES.iter().all(|q| stats::quantile(values, *q).is_none()));
    assert_eq!((stats::median(values), stats::mad(values), stats::drift(values)), (None, None, None));
    assert_eq!(stats::median_interval(values, *alpha), None);
    assert_eq!(stats::t_interval(values, *alpha), None);
    assert_eq!(stats::smallest_effect(values, *alpha), None);
    assert_eq!((stats::outliers(values), stats::is_bimodal(values)), (0, false));
}
