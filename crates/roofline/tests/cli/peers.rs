//! The peers that are there: whatever they offer is right, on odd shapes and on two threads.

use crate::scene::{Outcome, Scene, say};
use roofline_core::mutants::forms;
use roofline_core::ops::OPERATIONS;
use roofline_core::philox::Draws;
use roofline_core::record::Status;
use std::path::{Path, PathBuf};
use std::process::Command;

const CASES: &str = "matmul/f32/m=7,n=31,k=129 matmul/f32/m=129,n=7,k=31/threads=2 matmul/f64/m=31,n=1,k=7 \
    matmul/bf16/m=7,n=31,k=129 matmul/bf16/m=33,n=31,k=130/threads=2 matmul/i8/m=31,n=129,k=7 \
    matmul.nn/f32/m=1,n=129,k=600/threads=2 matmul.nn/f64/m=31,n=129,k=1 matmul.nn/bf16/m=1,n=7,k=31 \
    add/f32/rows=1,cols=1 add/bf16/rows=7,cols=31 add/f64/rows=129,cols=129/threads=2 \
    softmax/f32/rows=31,cols=129/threads=2 softmax/bf16/rows=7,cols=31 softmax/f64/rows=1,cols=1 \
    rms-norm/f32/rows=129,cols=129/threads=2 fft/f32/batch=3,n=100 fft/f64/n=1009/threads=2 fft.inverse/f32/n=31 \
    fft.real/f64/n=100 fft.real/f32/batch=3,n=7 fft.real-inverse/f32/n=64 fft.real-inverse/f64/batch=3,n=31 \
    fft2/f32/rows=12,cols=20/threads=2 fft2.inverse/f64/batch=3,rows=31,cols=7 spmv/f32/rows=129,cols=7,nnz=31 \
    spmm/f64/rows=7,cols=31,nnz=129,n=9 spmv.coo/f32/rows=31,cols=9,nnz=129/threads=2 \
    matmul.tt/f32/m=5,n=9,k=60 matmul.fixed/f32/m=7,n=31,k=129/threads=2 matmul.fixed/bf16/m=33,n=31,k=130 \
    matmul.fixed/i8/m=7,n=31,k=129 bmm/f32/batch=3,m=7,n=31,k=129 bmm.nn/f64/batch=3,m=1,n=31,k=129 dot/f32/n=1000 \
    axpy.in-place/f64/rows=7,cols=31 mul/bf16/rows=7,cols=31 tanh/f32/rows=7,cols=129 gelu/f32/rows=31,cols=33/threads=2 \
    sum.columns/f32/rows=31,cols=33 max/bf16/rows=7,cols=129 layer-norm/f32/rows=7,cols=129 \
    conv2d.bias/f32/out=8,height=13,width=9,channels=6,stride=2,pad=1,groups=2/threads=2 \
    conv2d/bf16/batch=3,out=16,height=13,width=9,channels=16,dilation=2,groups=16 \
    matmul/f16/m=7,n=31,k=129 q8-matmul.raw/f32+q8/m=3,n=31,k=96/threads=2 q4-matmul.raw/f32+q8/m=3,n=31,k=96 \
    silu/f32/rows=7,cols=129";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runners").join(name).canonicalize().unwrap()
}

/// Of all forms of all operations in each of their precisions the test takes one in so many.
const PART: usize = 5;

fn takes_every_case() -> bool {
    std::env::var_os("EVERY_CASE").is_some()
}

/// Forms of operations, at sizes that fill no vectors where those are legal; with `EVERY_CASE=1` all there are.
fn cases_of_all_operations() -> String {
    let mut draws = Draws::new(1, 1);
    let part = if takes_every_case() { 1 } else { PART };
    let mut cases = Vec::new();
    for operation in OPERATIONS {
        let mut odd = [5, 34, 8, 3].into_iter().cycle();
        let sizes = operation.axes.iter().map(|axis| odd.next().filter(|_| axis.usual.is_none()));
        let sizes = operation.complete(&sizes.collect::<Vec<Option<u64>>>()).unwrap();
        cases.extend(forms(operation).map(|form| operation.near(&form, &sizes, &mut draws).to_string()));
    }
    cases.into_iter().step_by(part).collect::<Vec<String>>().join(" ")
}

/// Every row that is offered, and inside its condition, is right.
fn holds(scene: &Scene, runner: &str) {
    hold(scene, CASES, &format!("{runner}/*"));
}

fn hold(scene: &Scene, cases: &str, implementations: &str) {
    let words = format!("check {cases} -i {implementations} --format jsonl");
    let said = scene.call_with_store(&words);
    let rows = said.rows();
    let is = |row: &&serde_json::Value, status: &str| row["status"] == status;
    for row in rows.iter().filter(|row| !is(row, "ok")) {
        let why = row["why"].as_str().unwrap();
        assert!(why.contains("does not offer") || why.starts_with("needs "), "{row}");
    }
    assert!(said.exits(0).rows().iter().any(|row| is(&row, "ok")), "{rows:?}");
}

#[test]
fn c_peers() {
    let scene = Scene::new();
    let source = folder("c-peers");
    let toml = std::fs::read_to_string(source.join("runner.toml")).unwrap();
    let library = scene.write("runners/c-peers/runner.toml", &toml).with_file_name("c-peers.so");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).arg(library);
    cc.arg("-I").arg(folder("../crates/roofline-runner/include"));
    let files = std::fs::read_dir(&source).unwrap().map(|file| file.unwrap().path());
    cc.args(files.filter(|file| file.extension().is_some_and(|extension| extension == "c"))).arg("-ldl");
    Outcome::of(cc.output()).exits(0);
    let shown = scene.call_with_store("runners").exits(0).stdout;
    let line = shown.lines().find(|line| line.starts_with("c-peers")).unwrap();
    for name in
        ["OpenBLAS", "oneDNN 2", "MKL", "FFTW"].iter().filter(|name| line.contains(&format!("no {name}")))
    {
        say(&format!("skipped: no {name}; runners/c-peers/README.md says where it comes from"));
    }
    if line.contains("absent") {
        // A table without rows is all that a machine without these libraries can make.
        assert!(line.contains("offers nothing"), "{shown}");
        return say("skipped: none of the libraries of c-peers");
    }
    holds(&scene, "c-peers");
}

#[test]
fn rust_peers() {
    let program = folder("rust-peers").join("target/release/rust-peers");
    if !program.is_file() {
        return say("skipped: no rust-peers; `cargo xtask peers` builds them");
    }
    let scene = Scene::new();
    let toml = std::fs::read_to_string(folder("rust-peers").join("runner.toml")).unwrap();
    let toml = toml.replace("./target/release/rust-peers", &program.display().to_string());
    scene.write("runners/rust-peers/runner.toml", &toml);
    holds(&scene, "rust-peers");
}

#[test]
fn ggml() {
    let library = folder("ggml").join("ggml.so");
    if !library.is_file() {
        return say("skipped: no ggml; runners/ggml/README.md says how it is built");
    }
    let scene = Scene::new();
    let toml = std::fs::read_to_string(folder("ggml").join("runner.toml")).unwrap();
    scene.write("runners/ggml/runner.toml", &toml.replace("ggml.so", &library.display().to_string()));
    holds(&scene, "ggml");
}

/// A Python that has a library: that of `cargo xtask test`, or of `cargo xtask peers`. What whoever runs these tests has
/// installed for themselves is not asked: a test's time and its verdict are the same for everybody.
fn python_with(library: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_BIN_EXE_roofline")).ancestors().nth(2)?;
    let of_tests =
        if ["numpy", "scipy"].contains(&library) { "venv".to_owned() } else { format!("peers/{library}") };
    Some(target.join(of_tests).join("bin/python")).filter(|python| python.is_file())
}

/// Whatever a Python runner offers of all operations that there are; what torch compiles, which takes an hour, and models of
/// onnxruntime with another setting, only with every case.
#[test]
fn python_peers() {
    let cases = cases_of_all_operations();
    let is_whole = takes_every_case();
    for (library, implementations) in [
        ("numpy", "numpy/*"),
        ("scipy", "scipy/*"),
        ("torch", if is_whole { "torch/*" } else { "torch/eager,torch/formula" }),
        ("onnxruntime", if is_whole { "onnxruntime/*" } else { "onnxruntime/parked" }),
        ("jax", "jax/*"),
    ] {
        let Some(python) = python_with(library) else {
            say(&format!("skipped: no {library}; `cargo xtask peers` brings it, and `test` numpy and scipy"));
            continue;
        };
        let scene = Scene::away();
        scene.call_with_store(&format!("runners install {library} --python {}", python.display())).exits(0);
        hold(&scene, &cases, implementations);
    }
}

/// What the page of peers says of libraries is still so: in no case that a file names is its function right. Some are wrong in
/// one element of thousands, which most seeds show.
#[test]
fn what_was_found_in_libraries_is_still_there() {
    let docs = folder("../docs");
    let page = std::fs::read_to_string(docs.join("peers.md")).unwrap();
    for library in ["numpy", "scipy", "torch", "onnxruntime", "jax"] {
        let name = format!("found_in_{library}.py");
        assert!(page.contains(&format!("(peers/{name})")), "{name} stands on no page");
        let text = std::fs::read_to_string(docs.join("peers").join(&name)).unwrap();
        let command = text.split_once("roofline check ").unwrap().1.split_once("--python").unwrap().0;
        let cases: Vec<&str> = command.split_whitespace().collect();
        for case in &cases {
            assert!(page.contains(&format!("`{case}`")), "the page does not say what is wrong with {case}");
        }
        let Some(python) = python_with(library) else {
            say(&format!("skipped: no {library}; `cargo xtask peers` brings it, and `test` numpy and scipy"));
            continue;
        };
        let scene = Scene::away();
        let file = docs.join("peers").join(&name);
        let words = format!(
            "check {} --python {} -i found_in_*/* --seed 3 --format jsonl",
            cases.join(" "),
            file.display()
        );
        let mut command = scene.with_store(&words);
        let rows = Outcome::of(command.env("ROOFLINE_PYTHON", python).output()).exits(4).rows();
        assert_eq!(rows.len(), cases.len(), "{rows:?}");
        for row in &rows {
            assert!(row["status"] == "wrong" || row["status"] == "crashed", "{row}");
        }
    }
}

/// Where a processor has tiles, torch multiplies bf16 by them and lets what is not finite reach other rows.
#[test]
fn torch_s_products_in_tiles_have_a_row_with_their_condition() {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !flags.split_whitespace().any(|flag| flag == "amx_tile") {
        return say("skipped: the processor has no AMX tiles");
    }
    let Some(python) = python_with("torch") else {
        return say("skipped: no torch; `cargo xtask peers` brings it");
    };
    let scene = Scene::away();
    scene.call_with_store(&format!("runners install torch --python {}", python.display())).exits(0);
    scene.call_with_store("check matmul/bf16/m=64,n=96,k=128 -i torch/eager").exits(0);
    let rows = scene.records();
    let row = rows.iter().find(|row| row.implementation == "torch/eager").expect("a row of torch");
    assert_eq!(row.status, Status::Ok, "{}", row.why);
    assert_eq!(row.provenance.notes["requires"], "finite");
}

#[test]
fn torch_is_paired_with_the_house_at_one_thread_and_at_two() {
    let Some(python) = python_with("torch") else {
        return say("skipped: no torch; `cargo xtask peers` brings it");
    };
    let scene = Scene::away();
    scene.call_with_store(&format!("runners install torch --python {}", python.display())).exits(0);
    let words =
        "run softmax --axis rows=64 --axis cols=1000 --dtype f32 --threads 1,2 --against torch --quick";
    scene.call_with_store(words).exits(0);
    for case in ["softmax/f32/rows=64,cols=1000", "softmax/f32/rows=64,cols=1000/threads=2"] {
        let mut rows = scene.records();
        rows.retain(|row| row.case == case && !row.implementation.starts_with("limit/"));
        for provider in ["cpu/", "torch/"] {
            assert!(rows.iter().any(|row| row.implementation.starts_with(provider)), "{case}: {provider}");
        }
        for row in &rows {
            assert_eq!(row.status, Status::Ok, "{}: {}", row.row(), row.why);
            let rounds = row.rounds.as_ref().unwrap();
            assert!(rounds.hub.starts_with("torch/"), "{}: {}", row.row(), rounds.hub);
            let speed = rounds.comparison().unwrap().speed;
            assert!(
                speed.low > 0.0 && (speed.low..=speed.high).contains(&speed.value) && speed.high.is_finite(),
                "{}: {speed:?}",
                row.row()
            );
        }
    }
}
