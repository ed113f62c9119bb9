//! Operations that a library or a Python file declares: judged rows, wrong kernels, and declarations and references
//! that are wrong themselves.

use crate::scene::{Outcome, Scene, say};
use std::process::{Command, Stdio};

const CASE: &str = "gemv/f32/rows=9,cols=33";

/// A product of a matrix and a vector, one right kernel and one that forgets a column.
const LIBRARY: &str = r#"
#include "roofline.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define PRODUCT(NAME, TYPE, LENGTH) \
    static int NAME(const DLTensor *in, const DLTensor *out, roofline_job *job) { \
        (void)job; \
        const TYPE *a = in[0].data, *x = in[1].data; \
        TYPE *y = out[0].data; \
        int64_t cols = in[0].shape[1]; \
        for (int64_t row = 0; row < in[0].shape[0]; row++) { \
            TYPE sum = 0; \
            for (int64_t i = 0; i < LENGTH; i++) sum += a[row * cols + i] * x[i]; \
            y[row] = sum; \
        } \
        return ROOFLINE_OK; \
    }
PRODUCT(reference, double, cols)
PRODUCT(right, float, cols)
PRODUCT(shy, float, cols - 1)

static const roofline_operation operations[] = {
    {.name = "gemv", .signature = "a[rows, cols], x[cols] -> y[rows]", .bound = "dot(cols)", .independent = "rows",
     .reference = reference},
};

const roofline_operation *roofline_operations(size_t *count) {
    *count = 1;
    return operations;
}

static const roofline_offer offers[] = {
    {.name = "right", .operation = "gemv", .dtypes = "f32", .launch = right},
    {.name = "shy", .operation = "gemv", .dtypes = "f32", .launch = shy},
};

static const roofline_library library = {ROOFLINE_INTERFACE, "1", offers, 2};
const roofline_library *roofline_offers(void) { return &library; }
"#;

/// Compiles the library with a text exchanged.
fn build(scene: &Scene, from: &str, to: &str) {
    assert!(LIBRARY.contains(from), "{from}");
    let source = scene.write("mine.c", &LIBRARY.replacen(from, to, 1));
    scene.write("roofline.h", &scene.call("header").exits(0).stdout);
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-Wall", "-shared", "-fPIC", "-o"]);
    Outcome::of(cc.arg(scene.path("mine.so")).arg(source).arg("-lm").output()).exits(0);
}

fn check(scene: &Scene) -> Outcome {
    scene.call_with_store(&format!("check {CASE} --lib ./mine.so --timeout 300ms --format jsonl"))
}

#[test]
fn a_library_with_an_operation_has_judged_rows() {
    let scene = Scene::new();
    build(&scene, "", "");
    let outcome = check(&scene).exits(4);
    let (right, shy) = (outcome.row("mine/right"), outcome.row("mine/shy"));
    assert_eq!((&right["status"], &shy["status"]), (&"ok".into(), &"wrong".into()), "{}", outcome.stdout);
    let checks = right["evidence"]["checks"].as_array().unwrap();
    let bound = checks.iter().find(|check| check["check"] == "bound").unwrap();
    assert_eq!(bound["standing"], "weaker");
    assert_eq!(bound["why"], "the reference is the user's own, of `mine`");
    assert_eq!(right["provenance"]["notes"]["operation"], "declared by `mine`, 1; bound dot(cols)");
    assert!(right["provenance"]["definition"].is_string());
    // What nobody else vouches for is not held.
    let held = format!("check {CASE} --lib ./mine.so -i mine/right --require-evidence held --format jsonl");
    let row = scene.call_with_store(&held).exits(4).row("mine/right");
    assert!(row["why"].as_str().unwrap().contains("the reference is the user's own"), "{row}");
    let listed = scene.call_with_store("list ops gemv --lib ./mine.so").exits(0).stdout;
    assert!(listed.contains("axes rows, cols; f32"), "{listed}");
    let job = scene.call_with_store(&format!("job {CASE}@mine/right --lib ./mine.so")).exits(0).stdout;
    scene.shell(job.trim()).exits(0);
    // Without the library nobody knows the operation, but for what is stored.
    scene.call_with_store(&format!("check {CASE}")).complains(2, &["unknown operation `gemv`"]);
    let explained = scene.call_with_store(&format!("explain {CASE}@mine/right")).exits(0).stdout;
    assert!(explained.contains("weaker"), "{explained}");
}

#[test]
fn a_reference_that_fails_refuses_its_rows_with_the_reason() {
    let scene = Scene::new();
    let head = "PRODUCT(reference, double, cols)";
    let broken = |body: &str| {
        format!(
            "static int reference(const DLTensor *in, const DLTensor *out, roofline_job *job) {{ \
             (void)in, (void)job; double *y = out[0].data; int64_t rows = out[0].shape[0]; (void)rows; {body} \
             return ROOFLINE_OK; }}"
        )
    };
    for (body, why) in [
        (
            "abort();",
            "the reference of `gemv` failed, for gemv/f32/rows=64,cols=64, uniform inputs: ended by SIGABRT",
        ),
        ("for (;;) sleep(1);", "gave no answer within 3.0s"),
        ("job->message = \"no table\"; return 7;", "the reference of gemv returned 7: no table"),
        ("for (int64_t i = 0; i < rows; i++) y[i] = NAN;", "gave NaN at element 0"),
        ("for (int64_t i = 1; i < rows; i++) y[i] = 1;", "left element 0 of `y` unwritten"),
        ("((double *)in[0].data)[0] = 1;", "ended by SIGSEGV"),
        // Constant results are right for nobody: the first row would have no way to be wrong.
        ("for (int64_t i = 0; i < rows; i++) y[i] = ((double *)in[0].data)[0];", "are not independent"),
    ] {
        build(&scene, head, &broken(body));
        let outcome = check(&scene).exits(5);
        for row in outcome.rows() {
            assert_eq!(row["status"], "refused", "{body}: {row}");
            assert!(row["why"].as_str().unwrap().contains(why), "{body}: {}", row["why"]);
        }
    }
}

#[test]
fn a_declaration_that_cannot_be_meant_is_told_before_anything_runs() {
    let scene = Scene::new();
    for (from, to, why) in [
        ("-> y[rows]", "-> y[row]", "no input has the axis `row` of `y`; did you mean `rows`?"),
        ("\"dot(cols)\"", "\"dot(col)\"", "there is no axis `col`; did you mean `cols`?"),
        ("\"dot(cols)\"", "\"loose\"", "there is no `loose`"),
        ("\"dot(cols)\"", "\"calibrated\"", "`evaluate` is NULL"),
        (".reference = reference", ".legal = \"\"", "`reference` is NULL"),
        (".name = \"gemv\"", ".name = \"matmul\"", "there is one of the name `matmul` already"),
        (".name = \"gemv\"", ".name = NULL", "a name is letters"),
        ("return operations;", "return NULL;", "its table of operations is broken"),
        ("\"rows\"", "\"cols\"", "`cols` is independent only as"),
    ] {
        build(&scene, from, to);
        check(&scene).complains(5, &["runner `mine`: ", why]);
    }
}

/// A runner that says what it likes.
fn say_hello(operation: &str) -> String {
    format!(
        "read line <&3; printf '%s\\n' '{{\"id\":1,\"ok\":{{\"protocol\":2,\"runner\":\"liar\",\"version\":\"1\",\
         \"offers\":[],\"operations\":[{operation}]}}}}' >&3; read line <&3"
    )
}

#[test]
fn hostile_declarations_are_bytes_like_any_others() {
    let scene = Scene::new();
    let huge = format!(r#"{{"name":"x","signature":"{}","bound":"exact"}}"#, "a[n],".repeat(1000));
    let many = vec![r#"{"name":"x","signature":"a[n] -> y[n]","bound":"exact"}"#; 100].join(",");
    for (operation, why) in [
        (r#"{"name":"x"}"#, "missing field"),
        (r#"["x","","a[n] -> y[n]","exact"]"#, "a list where an object belongs"),
        (r#"{"name":"x","signature":"a[n] -> y[n]","bound":7}"#, "invalid type"),
        (r#"{"name":"../x","signature":"a[n] -> y[n]","bound":"exact"}"#, "a name is letters"),
        (&huge, "is the limit"),
        (&many, "100 operations; 64 is the limit"),
        (r#"{"name":"x","signature":"a[n * n * n * n] -> y[n / 0]","bound":"exact"}"#, "is no size for n="),
    ] {
        scene.shell_runner("liar", &say_hello(operation));
        let outcome = scene.call_with_store("check add/f32/rows=1,cols=1 --runner ./liar");
        outcome.complains(5, &["runner `liar`: ", why]);
    }
}

/// Two files cannot mean two things by one name.
#[test]
fn a_name_is_declared_once() {
    let scene = Scene::new();
    build(&scene, "", "");
    std::fs::copy(scene.path("mine.so"), scene.path("yours.so")).unwrap();
    scene
        .call_with_store(&format!("check {CASE} --lib ./mine.so --lib ./yours.so"))
        .complains(2, &["operation `gemv`: there is one of the name `gemv` already"]);
}

const FILE: &str = r#"
import os, time
from roofline_runner import implementation, operation
import numpy as np

@operation("a[rows, cols], x[cols] -> y[rows]", bound="BOUND", independent="rows", params="alpha = 1 within 0 9")
def gemv(a, x, alpha):
    """y = alpha A x"""
    return alpha * (a @ x)

@implementation("gemv", dtypes=["f32"], params=["alpha"])
def right(job):
    a, x, y = job.arrays()
    alpha = np.float32(job.params["alpha"])
    return lambda: np.multiply(a @ x, alpha, out=y)

@implementation("gemv", dtypes=["f32"])
def low(job):
    a, x, y = job.arrays()
    def launch():
        y[...] = a.astype(np.float16) @ x.astype(np.float16)
    return launch
"#;

/// The interpreter of the tests, if it has numpy.
fn numpy() -> Option<String> {
    let python = std::env::var("ROOFLINE_PYTHON").unwrap_or("python3".to_owned());
    let has = Command::new(&python).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|status| status.success()) {
        say("skipped: no numpy; `cargo xtask test` installs it");
        return None;
    }
    Some(python)
}

fn check_file(scene: &Scene, python: &str, text: &str, words: &str) -> Outcome {
    scene.write("mine.py", text);
    let mut command =
        scene.with_store(&format!("check --python mine.py --timeout 300ms --format jsonl {words}"));
    Outcome::of(command.env("ROOFLINE_PYTHON", python).output())
}

#[test]
fn a_file_with_an_operation_has_judged_rows_by_every_bound() {
    let Some(python) = numpy() else { return };
    let scene = Scene::new();
    for (bound, weaker) in [
        ("dot(cols)", "the reference is the user's own, of `mine`"),
        ("sum(cols)", "the reference is the user's own, of `mine`"),
        ("calibrated", "so is the bound, `calibrated`, which nobody derived"),
    ] {
        let words = format!("{CASE} gemv/f32/rows=5,cols=400,alpha=3");
        let outcome = check_file(&scene, &python, &FILE.replace("BOUND", bound), &words).exits(4);
        let rows = outcome.rows();
        let of = |name: &str| rows.iter().filter(|row| row["implementation"] == name).collect::<Vec<_>>();
        assert_eq!(of("mine/right").len(), 2);
        for row in of("mine/right") {
            assert_eq!(row["status"], "ok", "{bound}: {row}");
            let checks = row["evidence"]["checks"].to_string();
            assert!(checks.contains(weaker), "{bound}: {checks}");
        }
        assert_eq!(of("mine/low")[0]["status"], "wrong", "{bound}: {}", outcome.stdout);
    }
    let per_element = FILE
        .replace("BOUND", "per-element")
        .replace("return alpha * (a @ x)", "return alpha * (a @ x), 6e-7 * alpha * (abs(a) @ abs(x))");
    assert_eq!(check_file(&scene, &python, &per_element, CASE).row("mine/right")["status"], "ok");
}

#[test]
fn a_parameter_of_the_formula_is_of_the_case_and_another_of_the_kernel() {
    let Some(python) = numpy() else { return };
    let scene = Scene::new();
    let words = "gemv/f32/rows=5,cols=40 --param alpha=2,3 --param tile=4 -i mine/right";
    let rows = check_file(&scene, &python, &FILE.replace("BOUND", "dot(cols)"), words).exits(0).rows();
    let rows: Vec<String> = rows
        .iter()
        .map(|row| format!("{}@{}", row["case"].as_str().unwrap(), row["implementation"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rows,
        ["2", "3"].map(|alpha| format!("gemv/f32/rows=5,cols=40,alpha={alpha}@mine/right:tile=4"))
    );
}

#[test]
fn a_formula_that_is_none_is_told_with_its_line() {
    let Some(python) = numpy() else { return };
    let scene = Scene::new();
    let file = FILE.replace("BOUND", "dot(cols)");
    for (formula, why) in [
        ("return a", "mine.py:6: `gemv` returned the shape [64, 64] for `y`, which is [64]"),
        ("return (a @ x).astype(np.float32)", "`gemv` returned float32 for `y` from inputs of float64"),
        ("return a @ x, x", "`gemv` returned 2 results for `y`"),
        ("return a @ y", "mine.py:9: NameError: name 'y' is not defined"),
        ("a[0, 0] = 1; return a @ x", "ValueError: assignment destination is read-only"),
        ("os._exit(9)", "exited with code 9"),
        ("time.sleep(30)", "gave no answer within 3.0s"),
        ("return a @ x * np.nan", "gave NaN at element 0"),
    ] {
        let text = file.replace("return alpha * (a @ x)", formula);
        for row in check_file(&scene, &python, &text, CASE).exits(5).rows() {
            assert_eq!(row["status"], "refused", "{formula}: {row}");
            assert!(row["why"].as_str().unwrap().contains(why), "{formula}: {}", row["why"]);
        }
    }
    let wide = file
        .replace("dot(cols)", "per-element")
        .replace("return alpha * (a @ x)", "return a @ x, 1e3 + 0 * (a @ x)");
    let row = check_file(&scene, &python, &wide, CASE).exits(5).row("mine/right");
    assert!(row["why"].as_str().unwrap().contains("the gate's self-test failed"), "{row}");
    for (from, to, why) in [
        ("dot(cols)", "dot(col)", "declares the operation \"gemv\": its bound: there is no axis `col`"),
        ("def gemv(", "def softmax(", "there is one of the name `softmax` already"),
    ] {
        let code = if from.starts_with("def") { 2 } else { 5 };
        check_file(&scene, &python, &file.replace(from, to), CASE).complains(code, &[why]);
    }
}
