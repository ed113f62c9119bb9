//! One run of Criterion over the kernel of one case: `knob-criterion CASE FOLDER`.
//!
//! Criterion keeps its last result in the folder and compares with it, so two runs in a row are an
//! A/A comparison. Everything is its default but the times and the number of resamples.
#![forbid(unsafe_code)]

use criterion::Criterion;
use knob::{Form, Task};
use roofline_core::case::Case;
use roofline_cpu::Cpu;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [case, folder] = arguments.as_slice() else { return ExitCode::from(2) };
    let Ok(case) = case.parse::<Case>() else { return ExitCode::from(2) };
    let (form, rows, cols, second) = match case.form().as_str() {
        "matmul" => {
            let (n, k) = (case.axis("n"), case.axis("k"));
            (Form::Matmul { k }, case.axis("m"), n, n * k)
        }
        "softmax" => (Form::Softmax, case.axis("rows"), case.axis("cols"), 0),
        _ => (Form::Add, case.axis("rows"), case.axis("cols"), case.axis("rows") * case.axis("cols")),
    };
    let first = if let Form::Matmul { k } = form { rows * k } else { rows * cols };
    let (x, y, mut z) = (vec![0.5; first], vec![0.25; second], vec![0.0; rows * cols]);
    let mut cpu = Cpu::new(case.threads as usize);
    Task::configure(form, 3 * size_of_val(&*z), &mut cpu);
    let task = Task { form, cols, x: &x, y: &y, extra: 0 };
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .nresamples(5000)
        .without_plots()
        .output_directory(Path::new(folder));
    criterion.bench_function("kernel", |bencher| {
        bencher.iter(|| task.launch(black_box(&cpu), black_box(&mut z)));
    });
    ExitCode::SUCCESS
}
