//! Real tools at both ends: files that hyperfine and Google Benchmark have just written are imported, and Google's
//! own script compares two files that were exported. `cargo xtask test` installs them; elsewhere a test says
//! what it lacks. Criterion is held in `roofline-report`, as a library.

use crate::scene::{Scene, say};
use std::path::Path;
use std::process::{Command, Stdio};

/// Google Benchmark's script, where Debian's package `libbenchmark-tools` puts it.
const COMPARE: &str = "/usr/share/benchmark/compare.py";

/// Two sums, and one that fails.
const SUMS: &str = r#"
#include <benchmark/benchmark.h>
#include <vector>

static void sum(benchmark::State& state) {
    std::vector<double> numbers(state.range(0), 1.0);
    for (auto _ : state) {
        double sum = 0;
        for (double number : numbers) sum += number;
        benchmark::DoNotOptimize(sum);
    }
    state.SetBytesProcessed(int64_t(state.iterations()) * state.range(0) * 8);
}
BENCHMARK(sum)->Arg(64)->Arg(4096)->Unit(benchmark::kMicrosecond);

static void fails(benchmark::State& state) {
    state.SkipWithError("no such device");
    for (auto _ : state) {}
}
BENCHMARK(fails);
BENCHMARK_MAIN();
"#;

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    let there = command.status().is_ok_and(|status| status.success());
    if !there {
        say(&format!("skipped: no {program}; `cargo xtask test` installs it"));
    }
    there
}

#[test]
fn what_hyperfine_writes_is_read() {
    if !is_there("hyperfine") {
        return;
    }
    let scene = Scene::new();
    let line = "hyperfine --shell=none --runs 3 --export-json h.json true 'sleep 0.01'";
    scene.shell(line).exits(0);
    let table = scene.call_with_store("import h.json").exits(0).stdout;
    assert!(table.contains("sleep 0.01") && table.contains("imported: another tool measured it"), "{table}");
    let records = scene.records();
    assert_eq!(records.iter().map(|record| record.samples.len()).collect::<Vec<_>>(), [3, 3]);
    let slept = records[1].median().unwrap().0;
    assert!((0.01..10.0).contains(&slept), "{slept} s");
}

#[test]
fn what_google_benchmark_writes_is_read() {
    if !is_there("g++") || !Path::new("/usr/include/benchmark/benchmark.h").exists() {
        say("skipped: no Google Benchmark; `cargo xtask test` installs it");
        return;
    }
    let scene = Scene::new();
    scene.write("sums.cc", SUMS);
    scene.shell("g++ -O1 sums.cc -o sums -lbenchmark -lpthread").exits(0);
    let options = "--benchmark_repetitions=3 --benchmark_min_time=0.001 --benchmark_format=json";
    // A failed benchmark makes no failed program.
    scene.shell(&format!("./sums {options} > g.json")).exits(0);
    let table = scene.call_with_store("import g.json").exits(0).stdout;
    assert!(table.contains("sum/4096") && table.contains("crashed: no such device"), "{table}");
    let records = scene.records();
    assert_eq!(records.len(), 3);
    assert_eq!((records[0].samples.len(), records[0].evidence.threads), (3, 1));
    // The unit of the file is the microsecond, and that of a record the nanosecond.
    let text = std::fs::read(scene.path("g.json")).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let first = &file["benchmarks"][0];
    let written = first["real_time"].as_f64().unwrap() * 1e3;
    let read = records[0].samples[0].per_launch();
    assert!((read / written - 1.0).abs() < 1e-12 && read > 1.0, "{written} {read}");
    assert_eq!(f64::from(records[0].samples[0].batch), first["iterations"].as_f64().unwrap());
}

#[test]
fn google_benchmarks_script_compares_what_is_written() {
    let python = std::env::var("ROOFLINE_PYTHON").unwrap_or("python3".to_owned());
    let has_scipy = Command::new(&python).args(["-c", "import scipy"]).stderr(Stdio::null()).status();
    if !Path::new(COMPARE).exists() || !has_scipy.is_ok_and(|status| status.success()) {
        say("skipped: no compare.py of libbenchmark-tools, or no SciPy; `cargo xtask test` installs them");
        return;
    }
    let scene = Scene::new();
    for (file, time) in [("old", 200.0), ("new", 100.0)] {
        let lines = (0..9).map(|set| {
            format!(
                "BenchmarkAdd/provider=cpu/impl=plain/dtype=f32/rows=4/cols=64 10 {} ns/op\n",
                time + f64::from(set)
            )
        });
        scene.write(&format!("{file}.txt"), &lines.collect::<String>());
        scene.call_with_store(&format!("import {file}.txt")).exits(0);
        scene.call_with_store(&format!("export --format google-benchmark --to {file}.json")).exits(0);
    }
    let compared = scene.shell(&format!(
        "PYTHONDONTWRITEBYTECODE=1 {python} {COMPARE} --no-color benchmarks old.json new.json"
    ));
    let told = compared.exits(0).stdout;
    let name = "add/f32/rows=4,cols=64@cpu/plain";
    let rows: Vec<&str> = told.lines().filter(|line| line.starts_with(name)).collect();
    assert!(rows.len() >= 9, "{told}");
    assert!(
        rows.iter().any(|row| row.contains("-0.5000") && row.contains("200") && row.contains("100")),
        "{told}"
    );
    assert!(rows.iter().any(|row| row.contains("_pvalue")), "the sets are repetitions to its test: {told}");
}
