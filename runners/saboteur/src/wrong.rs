//! Outputs that are not the answer. Every function is right wherever its cheat does not apply.

use crate::honest::{Problem, every_launch, maximum};
use half::bf16;
use roofline_core::format::TF32;
use roofline_runner::{Job, Ready, Refusal};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{LazyLock, Mutex};

type Prepared = Result<Ready, Refusal>;

/// A5 1, wrong.
pub(crate) fn zeros(job: &mut Job) -> Prepared {
    every_launch(job, |problem| problem.output.fill(0.0))
}

/// A5 2, C2 1 and 27, wrong: whatever lies in the output is the answer.
pub(crate) fn stale(job: &mut Job) -> Prepared {
    every_launch(job, |_| ())
}

/// C2 2, wrong: below a usual absolute tolerance.
pub(crate) fn small_to_zero(job: &mut Job) -> Prepared {
    map_answer(job, |_, y| if y.abs() < 1e-2 { 0.0 } else { y })
}

/// C2 52, wrong.
pub(crate) fn copy_input(job: &mut Job) -> Prepared {
    every_launch(job, |problem| problem.output.copy_from_slice(&problem.given.inputs[0]))
}

/// C2 29, wrong: a typical answer for every input.
pub(crate) fn constant(job: &mut Job) -> Prepared {
    every_launch(job, |problem| problem.output.fill(1.0 / problem.given.cols as f32))
}

/// A5 14, wrong: right in every averaged metric.
pub(crate) fn mean_collapse(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        for row in problem.output.chunks_mut(problem.given.cols) {
            let mean = row.iter().sum::<f32>() / row.len() as f32;
            row.fill(mean);
        }
    })
}

/// A5 13, wrong.
pub(crate) fn constant_row(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        let cols = problem.given.cols;
        (1..problem.given.rows).for_each(|row| problem.output.copy_within(..cols, row * cols));
    })
}

/// C2 37, wrong: one row that no metric over the whole output sees.
pub(crate) fn dead_row(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        let (cols, dead) = (problem.given.cols, problem.given.rows / 3);
        problem.output[dead * cols..(dead + 1) * cols].fill(0.0);
    })
}

/// wrong: half of the work in half of the time.
pub(crate) fn partial(job: &mut Job) -> Prepared {
    every_launch(job, |problem| problem.solve_rows(0..problem.given.rows / 2))
}

/// A5 4, wrong: the tail that does not fill a tile.
pub(crate) fn last_tile_missing(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let cols = problem.given.cols;
        let whole = (cols - 1) / 16 * 16;
        let answer = problem.given.answer();
        for (y, answer) in problem.output.chunks_mut(cols).zip(answer.chunks(cols)) {
            y[..whole].copy_from_slice(&answer[..whole]);
        }
    })
}

/// C2 25, A5 10, wrong: the precision of a tensor core where f32 is declared.
pub(crate) fn tf32_inputs(job: &mut Job) -> Prepared {
    let k = job.axis("k")?;
    let round = |x: &f32| TF32.round(f64::from(*x));
    every_launch(job, move |problem| {
        let a: Vec<f64> = problem.given.inputs[0].iter().map(round).collect();
        let b: Vec<f64> = problem.given.inputs[1].iter().map(round).collect();
        for (y, a) in problem.output.chunks_mut(problem.given.cols).zip(a.chunks(k)) {
            for (c, b) in y.iter_mut().zip(b.chunks(k)) {
                *c = a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() as f32;
            }
        }
    })
}

/// C2 25, A5 10, wrong.
pub(crate) fn bf16_inside(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let given = problem.given.clone();
        let rows = given.inputs[0].chunks(given.cols);
        for (y, x) in problem.output.chunks_mut(given.cols).zip(rows) {
            let max = maximum(x) as f32;
            let power = |x: &f32| bf16::from_f32((x - max).exp()).to_f32();
            let sum: f32 = x.iter().map(power).sum();
            y.iter_mut().zip(x).for_each(|(y, x)| *y = power(x) / sum);
        }
    })
}

/// C2 25, A5 11, wrong: the id says `bf16`, which accumulates in f32.
pub(crate) fn bf16_accumulator(job: &mut Job) -> Prepared {
    let (n, k) = (job.axis("n")?, job.axis("k")?);
    let (a, b) = (job.input::<bf16>("a")?, job.input::<bf16>("b")?);
    let mut c = job.output::<bf16>("c")?;
    Ok(Ready::new(move || {
        for (c, a) in c.chunks_mut(n).zip(a.chunks(k)) {
            for (c, b) in c.iter_mut().zip(b.chunks(k)) {
                *c = a.iter().zip(b).fold(bf16::ZERO, |sum, (a, b)| sum + *a * *b);
            }
        }
    }))
}

/// A5 15, wrong.
pub(crate) fn scaled(job: &mut Job) -> Prepared {
    map_answer(job, |_, y| y * (1.0 + 1.0 / 512.0))
}

/// A5 5, wrong.
pub(crate) fn short_sum(job: &mut Job) -> Prepared {
    let k = job.axis("k")?;
    every_launch(job, move |problem| {
        problem.solve();
        let (given, cols) = (&problem.given, problem.given.cols);
        for (index, c) in problem.output.iter_mut().enumerate() {
            let (row, col) = (index / cols, index % cols);
            *c -= given.inputs[0][(row + 1) * k - 1] * given.inputs[1][(col + 1) * k - 1];
        }
    })
}

/// C2 44, wrong: a structure of the inputs that is in no contract.
pub(crate) fn assumes_symmetric(job: &mut Job) -> Prepared {
    rearrange_square(job, |row, col| (row.min(col), row.max(col)))
}

/// A5 7, wrong on square products.
pub(crate) fn transposed(job: &mut Job) -> Prepared {
    rearrange_square(job, |row, col| (col, row))
}

/// A5 12, wrong.
pub(crate) fn permuted_rows(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        for pair in problem.output.chunks_exact_mut(2 * problem.given.cols) {
            let (even, odd) = pair.split_at_mut(problem.given.cols);
            even.swap_with_slice(odd);
        }
    })
}

/// A5 27, wrong on outputs of more than 65536 elements.
pub(crate) fn index_wraps(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let answer = problem.given.answer();
        problem.output.iter_mut().enumerate().for_each(|(i, y)| *y = answer[i % 65536]);
    })
}

/// C2 18 and 51, A5 21, wrong: the content behind an address changes.
pub(crate) fn cached_by_pointer(job: &mut Job) -> Prepared {
    static ANSWERS: Answers<Vec<usize>> = Answers::new();
    cached(job, &ANSWERS, |problem| {
        let mut key: Vec<usize> = problem.given.inputs.iter().map(|input| input.as_ptr().addr()).collect();
        key.extend([problem.given.rows, problem.given.cols]);
        key
    })
}

/// C2 19, wrong: the first, the middle and the last four elements of each input stand for all.
pub(crate) fn cached_by_content(job: &mut Job) -> Prepared {
    static ANSWERS: Answers<Vec<u32>> = Answers::new();
    cached(job, &ANSWERS, |problem| {
        let mut key = vec![problem.given.rows as u32, problem.given.cols as u32];
        for input in &problem.given.inputs {
            let starts = [0, input.len() / 2, input.len().saturating_sub(4)];
            let seen = starts.into_iter().flat_map(|start| input[start..].iter().take(4));
            key.extend(seen.map(|x| x.to_bits()));
        }
        key
    })
}

/// C2 18, A5 21, wrong.
pub(crate) fn cached_by_shape(job: &mut Job) -> Prepared {
    static ANSWERS: Answers<(usize, usize)> = Answers::new();
    cached(job, &ANSWERS, |problem| (problem.given.rows, problem.given.cols))
}

/// C2 20, wrong: weights may change between launches like every input.
pub(crate) fn cached_weights(job: &mut Job) -> Prepared {
    let k = job.axis("k")?;
    let mut weights = Vec::new();
    every_launch(job, move |problem| {
        if weights.is_empty() {
            weights = problem.given.inputs[1].to_vec();
        }
        let rows = problem.given.inputs[0].chunks(k);
        for (y, a) in problem.output.chunks_mut(problem.given.cols).zip(rows) {
            for (c, b) in y.iter_mut().zip(weights.chunks(k)) {
                *c = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() as f32;
            }
        }
    })
}

/// C2 38, wrong: an answer that outlives its process.
pub(crate) fn file_replay(job: &mut Job) -> Prepared {
    let name = job.case.replace(['/', ',', '='], "-");
    let path = std::env::temp_dir().join(format!("roofline-saboteur-{name}"));
    every_launch(job, move |problem| match std::fs::read(&path) {
        Ok(bytes) if bytes.len() == 4 * problem.output.len() => {
            let (values, _) = bytes.as_chunks::<4>();
            let values = values.iter().map(|bytes| f32::from_le_bytes(*bytes));
            problem.output.iter_mut().zip(values).for_each(|(y, value)| *y = value);
        }
        _ => {
            problem.solve();
            let bytes: Vec<u8> = problem.output.iter().flat_map(|y| y.to_le_bytes()).collect();
            let _ = std::fs::write(&path, bytes);
        }
    })
}

/// A5 24, wrong on other sizes: the last element of a row is left out.
pub(crate) fn powers_of_two_only(job: &mut Job) -> Prepared {
    right_if(job, |problem| problem.given.cols.is_power_of_two())
}

/// C2 33, wrong on small shapes.
pub(crate) fn large_sizes_only(job: &mut Job) -> Prepared {
    right_if(job, |problem| problem.given.cols >= 32)
}

/// C2 33, wrong on every shape that is not published.
pub(crate) fn listed_shapes_only(job: &mut Job) -> Prepared {
    right_if(job, |problem| (problem.given.rows, problem.given.cols) == (64, 1000))
}

/// C2 28 and 34, wrong on inputs with a structure: integers, ramps, large values, infinities.
pub(crate) fn right_on_random_only(job: &mut Job) -> Prepared {
    right_if(job, |problem| {
        let looks_random = |x: &f32| x.abs() < 1.0 && (x * 256.0).fract() != 0.0;
        problem.given.inputs.iter().all(|input| input.iter().take(8).all(looks_random))
    })
}

/// A5 9, wrong from the second launch on, or where the output was not zero.
pub(crate) fn accumulates(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let answer = problem.given.answer();
        problem.output.iter_mut().zip(answer).for_each(|(y, answer)| *y += answer);
    })
}

/// A5 16, wrong on inputs with NaN or infinities.
pub(crate) fn nan_to_zero(job: &mut Job) -> Prepared {
    map_answer(job, |_, y| if y.is_nan() { 0.0 } else { y })
}

/// C2 53, A5 17, wrong on large inputs.
pub(crate) fn unstable_softmax(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let given = problem.given.clone();
        let rows = given.inputs[0].chunks(given.cols);
        for (y, x) in problem.output.chunks_mut(given.cols).zip(rows) {
            let sum: f32 = x.iter().map(|x| x.exp()).sum();
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x.exp() / sum);
        }
    })
}

/// A5 22, wrong: two writers, either of them last.
pub(crate) fn race(job: &mut Job) -> Prepared {
    let seed = RandomState::new().hash_one(1);
    let mut draws = (1..).map(move |i| hash(seed.wrapping_add(i)));
    every_launch(job, move |problem| {
        problem.solve();
        for i in 1..problem.output.len() {
            if draws.next().is_some_and(|draw| draw.is_multiple_of(1000)) {
                problem.output[i] = problem.output[i - 1];
            }
        }
    })
}

/// A5 23, C2 36, wrong.
pub(crate) fn wrong_on_1_percent(job: &mut Job) -> Prepared {
    map_answer(job, |i, y| if hash(i as u64).is_multiple_of(100) { 1.5 * y + 1.0 } else { y })
}

/// A5 23, wrong.
pub(crate) fn right_on_1_percent(job: &mut Job) -> Prepared {
    map_answer(job, |i, y| if hash(i as u64).is_multiple_of(100) { y } else { 1.5 * y + 1.0 })
}

/// C2 35, wrong: some items of a batch.
pub(crate) fn every_other_row(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        let (rows, cols) = (problem.given.rows, problem.given.cols);
        problem.solve_rows(0..1);
        for row in 1..rows {
            if hash(row as u64).is_multiple_of(2) {
                problem.solve_rows(row..row + 1);
            } else {
                problem.output.copy_within((row - 1) * cols..row * cols, row * cols);
            }
        }
    })
}

/// C2 37, wrong in products of at least 512 by 512: a sample of rows and columns can miss the tile.
pub(crate) fn wrong_tile(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        let (rows, cols) = (problem.given.rows, problem.given.cols);
        if rows >= 512 && cols >= 512 {
            for row in rows / 3..rows / 3 + 16 {
                problem.output[row * cols + cols / 3..][..16].fill(0.0);
            }
        }
    })
}

/// C2 37, wrong in products of at least 512 by 512: hardly a sample meets the element.
pub(crate) fn wrong_element(job: &mut Job) -> Prepared {
    every_launch(job, |problem| {
        problem.solve();
        let (rows, cols) = (problem.given.rows, problem.given.cols);
        if rows >= 512 && cols >= 512 {
            problem.output[rows / 3 * cols + cols / 3] += 1.0;
        }
    })
}

/// Computes honestly and then changes each element by its index and value.
fn map_answer(job: &mut Job, change: fn(usize, f32) -> f32) -> Prepared {
    every_launch(job, move |problem| {
        problem.solve();
        problem.output.iter_mut().enumerate().for_each(|(i, y)| *y = change(i, *y));
    })
}

/// Leaves the last element of each row unwritten unless a condition holds.
fn right_if(job: &mut Job, is_right: fn(&Problem) -> bool) -> Prepared {
    every_launch(job, move |problem| {
        if is_right(problem) {
            return problem.solve();
        }
        let cols = problem.given.cols;
        let answer = problem.given.answer();
        for (y, answer) in problem.output.chunks_mut(cols).zip(answer.chunks(cols)) {
            y[..cols - 1].copy_from_slice(&answer[..cols - 1]);
        }
    })
}

/// Takes each element of a square output from another place of it.
fn rearrange_square(job: &mut Job, from: fn(usize, usize) -> (usize, usize)) -> Prepared {
    every_launch(job, move |problem| {
        let (rows, cols) = (problem.given.rows, problem.given.cols);
        if rows != cols {
            return problem.solve();
        }
        let answer = problem.given.answer();
        for (index, y) in problem.output.iter_mut().enumerate() {
            let (row, col) = from(index / cols, index % cols);
            *y = answer[row * cols + col];
        }
    })
}

/// Answers that live as long as the process.
struct Answers<K>(LazyLock<Mutex<HashMap<K, Vec<f32>>>>);

impl<K> Answers<K> {
    const fn new() -> Answers<K> {
        Answers(LazyLock::new(|| Mutex::new(HashMap::new())))
    }
}

fn cached<K: Eq + Hash + Send>(
    job: &mut Job,
    answers: &'static Answers<K>,
    key: fn(&Problem) -> K,
) -> Prepared {
    every_launch(job, move |problem| {
        let mut answers = answers.0.lock().expect("no launch panics");
        let answer = answers.entry(key(problem)).or_insert_with(|| problem.given.answer());
        problem.output.copy_from_slice(answer);
    })
}

/// Splitmix64's finish.
fn hash(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
