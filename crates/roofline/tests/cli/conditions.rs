//! Kernels that are right under a condition: declared in C, in Python and in a `runner.toml`, and not declared.

use crate::scene::{Outcome, Scene};
use serde_json::Value;
use std::process::Command;

/// Sums: for whole vectors only, and by a load that wants its address aligned to 16 bytes.
const KERNELS: &str = r#"
#include "roofline.h"

static int add(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    (void)job;
    const float *x = in[0].data, *y = in[1].data;
    float *z = out[0].data;
    for (int64_t i = 0; i < out[0].shape[0] * out[0].shape[1]; i++) z[i] = x[i] + y[i];
    return ROOFLINE_OK;
}

static int whole(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    (void)in;
    job->message = "no whole vectors";
    return out[0].shape[1] % 16 ? ROOFLINE_UNSUPPORTED : ROOFLINE_OK;
}

static int aligned(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    __asm__ volatile("movaps (%0), %%xmm0" : : "r"(in[0].data) : "xmm0");
    return add(in, out, job);
}

static const roofline_offer offers[] = {
    {.name = "whole", .operation = "add", .dtypes = "f32", .launch = add, .prepare = whole, CONDITION("cols % 16 == 0")},
    {.name = "secret", .operation = "add", .dtypes = "f32", .launch = add, .prepare = whole},
    {.name = "aligned", .operation = "add", .dtypes = "f32", .launch = aligned, CONDITION("align 16")},
    {.name = "unaligned", .operation = "add", .dtypes = "f32", .launch = aligned},
};

static const roofline_library library = {ROOFLINE_INTERFACE, "1", offers, sizeof offers / sizeof *offers};
const roofline_library *roofline_offers(void) { return &library; }
"#;

const CASE: &str = "add/f32/rows=3,cols=48";

/// Compiles the kernels to `mine.so`, with the header as it is or as it was.
fn build(scene: &Scene, header: &str, condition: &str) {
    scene.write("roofline.h", header);
    let code = format!("#define CONDITION(text) {condition}\n{KERNELS}");
    let source = scene.write("mine.c", &code);
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"]).arg(scene.path("mine.so")).arg(source);
    Outcome::of(cc.output()).exits(0);
}

fn why(row: &Value) -> &str {
    row["why"].as_str().unwrap()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_library_declares_conditions() {
    let scene = Scene::new();
    build(&scene, &scene.call("header").exits(0).stdout, ".condition = text");
    let words = format!("check {CASE} add/f32/rows=3,cols=50 --lib ./mine.so -i mine/* --format jsonl");
    let rows = scene.call_with_store(&words).exits(4).rows();
    let row = |cols: u32, name: &str| {
        let case = format!("add/f32/rows=3,cols={cols}");
        let found = rows.iter().find(|row| row["case"] == *case && row["implementation"] == *name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(row(48, "mine/whole")["status"], "ok");
    assert_eq!(row(48, "mine/whole")["provenance"]["notes"]["requires"], "cols % 16 == 0");
    assert_eq!(row(50, "mine/whole")["status"], "unsupported");
    assert_eq!(why(row(50, "mine/whole")), "needs cols % 16 == 0; cols is 50");
    let secret = row(48, "mine/secret");
    assert_eq!(secret["status"], "unsupported");
    let told = "a size that only the gate tries, and takes the case: no whole vectors; if it is meant for some sizes";
    assert!(why(secret).contains(told) && why(secret).contains("requires = \"cols % 16 == 0\""), "{secret}");
    assert_eq!(why(row(50, "mine/secret")), "no whole vectors");
    assert_eq!(row(48, "mine/aligned")["status"], "ok");
    // An address that happens to be aligned is tried too; another is not far.
    let unaligned = row(50, "mine/unaligned");
    assert_eq!(unaligned["status"], "crashed");
    assert!(why(unaligned).contains("declare `align 16`"), "{unaligned}");
    // By hand the very tensors end it in the same way.
    let replay = unaligned["gate"]["replay"].as_str().unwrap();
    let command = scene.call_with_store(replay.strip_prefix("roofline ").unwrap()).exits(0).stdout;
    let outcome = scene.shell(&format!("({}) > /dev/null 2>&1; echo $?", command.trim())).exits(0);
    assert_eq!(outcome.stdout, "139\n", "{replay}");
    let explained = scene.call_with_store("explain add/f32/rows=3,cols=50@mine/unaligned").exits(0).stdout;
    assert!(explained.contains(&format!("by hand   {replay}\n")), "{explained}");
    let listed = scene.call_with_store("list implementations --lib ./mine.so").exits(0).stdout;
    assert!(listed.contains("requires align 16\n"), "{listed}");
    let plan =
        scene.call_with_store("run add/f32/rows=3,cols=50 -i mine/whole --lib ./mine.so --dry-run").exits(0);
    assert!(plan.stdout.contains("(unsupported: needs cols % 16 == 0; cols is 50)"), "{}", plan.stdout);
    // Where nothing but such a row is asked for, nothing was measured.
    let alone = format!("check {CASE} --lib ./mine.so -i mine/secret");
    let alone = scene.call_with_store(&alone).exits(5);
    assert!(alone.stdout.contains("declare them"), "the table has room for what to do: {}", alone.stdout);
    // Nor where it declined only once its limit stood.
    let timed = format!("run {CASE} --quick --lib ./mine.so -i mine/secret --format jsonl");
    let timed = scene.call_with_store(&timed).exits(5);
    let ok = timed.rows().into_iter().filter(|row| row["status"] == "ok");
    let ok: Vec<String> = ok.map(|row| row["implementation"].as_str().unwrap().to_owned()).collect();
    assert!(!ok.is_empty() && ok.iter().all(|name| name.starts_with("limit/")), "{}", timed.stdout);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn libraries_of_earlier_interfaces_are_still_taken() {
    let scene = Scene::new();
    let third = include_str!("../fixtures/before/roofline-3.h");
    let without = |header: &str, field: &str| {
        let (before, rest) = header.split_once(field).unwrap();
        format!("{before}{}", rest.split_once("*/\n").unwrap().1)
    };
    let of = |interface| format!("ROOFLINE_INTERFACE {interface}");
    let second = without(third, "    const char *params;       /* parameters").replace(&of(3), &of(2));
    let first = without(&second, "    const char *condition;").replace(&of(2), &of(1));
    build(&scene, &first, "");
    let words = format!("check {CASE} --lib ./mine.so -i mine/whole,mine/secret --format jsonl");
    let rows = scene.call_with_store(&words).exits(5).rows();
    // Rows of the old length are read one by one: the second is found, and neither has a condition.
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| why(row).contains("only the gate tries")), "{rows:?}");
    for header in [&second, third] {
        build(&scene, header, ".condition = text");
        let words = format!("check {CASE} --lib ./mine.so -i mine/whole --format jsonl");
        let rows = scene.call_with_store(&words).exits(0).rows();
        assert_eq!((rows.len(), &rows[0]["status"]), (1, &"ok".into()), "{rows:?}");
    }
}

const PYTHON: &str = r#"
from roofline_runner import Runner, Unsupported

runner = Runner("mine", version="1")

def sums(job):
    if job.axes["cols"] % 4:
        raise Unsupported("no whole vectors")
    x, y, z = (tensor.memory.cast("f") for tensor in job.tensors)
    def call():
        for i in range(len(z)):
            z[i] = x[i] + y[i]
    return call

runner.implementation("mine/told", operation="add", dtypes=["f32"], requires="cols % 4 == 0")(sums)
runner.implementation("mine/told", operation="add", dtypes=["f64"], requires="cols >= 8")(sums)
runner.implementation("mine/by-file", operation="add", dtypes=["f32"])(sums)
runner.serve()
"#;

#[test]
fn python_and_a_runners_file_declare_conditions() {
    let scene = Scene::new();
    let folder = scene.python_runner("mine", PYTHON);
    let toml = std::fs::read_to_string(folder.join("runner.toml")).unwrap();
    let requires =
        |text: &str| std::fs::write(folder.join("runner.toml"), format!("{toml}[requires]\n{text}\n"));
    requires("\"mine/by-file\" = \"cols % 4 == 0\"").unwrap();
    let words = "check add/f32/rows=2,cols=8 add/f64/rows=2,cols=4 --runner mine -i mine/* --format jsonl";
    let rows = scene.call_with_store(words).exits(0).rows();
    let told: Vec<String> = rows
        .iter()
        .map(|row| {
            format!("{} {} {}", row["case"].as_str().unwrap(), row["status"].as_str().unwrap(), why(row))
        })
        .collect();
    assert_eq!(
        told,
        [
            "add/f32/rows=2,cols=8 ok ",
            "add/f32/rows=2,cols=8 ok ",
            "add/f64/rows=2,cols=4 unsupported needs cols >= 8; cols is 4",
            "add/f64/rows=2,cols=4 unsupported `mine/by-file` does not offer add in f64",
        ]
    );
    requires("\"mine/nobody\" = \"finite\"").unwrap();
    let complaint = "`[requires]` of runner.toml names `mine/nobody`, which the runner does not offer";
    scene.call_with_store(words).complains(5, &[complaint, "hint: "]);
}

#[test]
fn a_condition_that_is_none_is_told_with_its_offer() {
    let scene = Scene::new();
    scene.python_runner("mine", &PYTHON.replace("cols % 4 == 0", "columns % 4"));
    let words = "check add/f32/rows=2,cols=8 --runner mine";
    scene
        .call_with_store(words)
        .complains(5, &["offers `mine/told` for \"add\"", "`columns % 4` is neither"]);
}
