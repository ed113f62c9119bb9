//! Kernels in a shared library: right ones, wrong ones, and files that are no such library.

use crate::scene::{Outcome, Scene};
use std::process::Command;

const CASE: &str = "add/f32/rows=5,cols=7";

/// Additions, one right and the others each wrong in a way of its own.
const KERNELS: &str = r#"
#include "roofline.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static int add(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    (void)job;
    const float *x = in[0].data, *y = in[1].data;
    float *z = out[0].data;
    for (int64_t i = 0; i < out[0].shape[0] * out[0].shape[1]; i++) z[i] = x[i] + y[i];
    return ROOFLINE_OK;
}

static int off_by_one(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    add(in, out, job);
    float *z = out[0].data;
    int64_t last = out[0].shape[0] * out[0].shape[1] - 1;
    z[last] = ((const float *)in[0].data)[last > 0 ? last - 1 : 0] + ((const float *)in[1].data)[last] + 1;
    return ROOFLINE_OK;
}

static int nan_at_once(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    add(in, out, job);
    ((float *)out[0].data)[0] = NAN;
    return ROOFLINE_OK;
}

/* Eleven bits of significand, as f16 has. */
static int half_precision(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    add(in, out, job);
    float *z = out[0].data;
    for (int64_t i = 0; i < out[0].shape[0] * out[0].shape[1]; i++) {
        int exponent;
        float part = frexpf(z[i], &exponent);
        if (isfinite(z[i])) z[i] = ldexpf(rintf(part * 2048) / 2048, exponent);
    }
    return ROOFLINE_OK;
}

static int crashes(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    (void)out, (void)job;
    ((float *)in[0].data)[0] = 1;
    return ROOFLINE_OK;
}

static int hangs(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    (void)in, (void)out, (void)job;
    for (;;) sleep(1);
    return ROOFLINE_OK;
}

static int fails(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    (void)in, (void)out;
    job->message = "the device is on fire";
    return 77;
}

static int never(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    (void)in, (void)out;
    job->message = "cols must be a multiple of 16";
    return ROOFLINE_UNSUPPORTED;
}

/* Sees that the job says what was asked for, and that prepare and release belong together. */
static int prepare(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    int right = job->axis_count == 2 && job->axes[0].size * job->axes[1].size == out[0].strides[0] * out[0].shape[0]
        && in[0].ndim == 2 && in[0].strides[1] == 1 && in[0].dtype.code == 2 && in[0].dtype.bits == 32
        && in[0].device.device_type == 1 && job->threads == 2;
    job->message = "not what was asked for";
    job->workspace = malloc(64);
    job->workspace_bytes = 64;
    return right ? ROOFLINE_OK : ROOFLINE_FAILED;
}

static int prepared(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    *(char *)job->workspace = 1;
    return add(in, out, job);
}

static void release(roofline_job *job) { free(job->workspace); }

static const roofline_offer offers[] = {
    {.name = "right", .operation = "add", .dtypes = "f32", .launch = add, .about = "one loop"},
    {.name = "off-by-one", .operation = "add", .dtypes = "f32", .launch = off_by_one},
    {.name = "nan", .operation = "add", .dtypes = "f32", .launch = nan_at_once},
    {.name = "half", .operation = "add", .dtypes = "f32", .launch = half_precision},
    {.name = "crashes", .operation = "add", .dtypes = "f32", .launch = crashes},
    {.name = "hangs", .operation = "add", .dtypes = "f32", .launch = hangs},
    {.name = "fails", .operation = "add", .dtypes = "f32", .launch = fails},
    {.name = "never", .operation = "add", .dtypes = "f32", .launch = add, .prepare = never},
    {.name = "prepared", .operation = "add", .dtypes = "f32", .launch = prepared, .prepare = prepare,
     .release = release, .parallel = 1},
};

static const roofline_library library = {ROOFLINE_INTERFACE, "7.1", offers, sizeof offers / sizeof *offers};
const roofline_library *roofline_offers(void) { return &library; }
"#;

/// Compiles `code` to `mine.so` in the scene.
fn build(scene: &Scene, code: &str) {
    let source = scene.write("mine.c", code);
    let header = scene.call("header").exits(0).stdout;
    scene.write("roofline.h", &header);
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]);
    Outcome::of(cc.arg(scene.path("mine.so")).arg(source).arg("-lm").output()).exits(0);
}

#[test]
fn each_kind_of_failure_costs_one_row() {
    let scene = Scene::new();
    build(&scene, KERNELS);
    let words = format!("check {CASE} {CASE}/threads=2 --lib ./mine.so --timeout 2s --format jsonl");
    let outcome = scene.call_with_store(&words).exits(4);
    let rows = outcome.rows();
    let of = |case: &str, name: &str| {
        let row = rows.iter().find(|row| row["case"] == case && row["implementation"] == name);
        row.unwrap_or_else(|| panic!("no row of {name}: {}", outcome.stdout))
    };
    for (name, status, why) in [
        ("cpu/vector", "ok", ""),
        ("mine/right", "ok", ""),
        ("mine/off-by-one", "wrong", ""),
        ("mine/nan", "wrong", ""),
        ("mine/half", "wrong", ""),
        ("mine/crashes", "crashed", "ended by SIGSEGV"),
        ("mine/hangs", "timeout", "no answer within 2.0s"),
        ("mine/fails", "crashed", "mine/fails returned 77: the device is on fire"),
        ("mine/never", "unsupported", "cols must be a multiple of 16"),
    ] {
        let row = of(CASE, name);
        assert_eq!(row["status"], status, "{row}");
        assert!(row["why"].as_str().unwrap().contains(why), "{row}");
        if status == "wrong" {
            let fault = &row["gate"]["fault"];
            assert_eq!(fault["at"].as_array().unwrap().len(), 2, "{row}");
            assert!(fault["expected"].as_str().unwrap().parse::<f64>().is_ok(), "{row}");
        }
    }
    let prepared = of(&format!("{CASE}/threads=2"), "mine/prepared");
    assert_eq!(prepared["status"], "ok", "{prepared}");
    assert_eq!(
        of(CASE, "mine/prepared")["why"],
        "prepare of mine/prepared returned 3: not what was asked for"
    );
    let provenance = &of(CASE, "mine/right")["provenance"];
    assert_eq!((&provenance["runner"], &provenance["runner_version"]), (&"mine".into(), &"7.1".into()));

    // It says how to see it again, and that works from another folder.
    let row = of(CASE, "mine/half");
    let reproduce = row["reproduce"].as_str().unwrap();
    assert!(reproduce.contains(&format!(" --lib {} ", scene.path("mine.so").display())), "{reproduce}");
    // Who leaves out what he names is told.
    let dropped = scene.call_with_store("check add/f32/rows=2,cols=2 --lib ./mine.so -i cpu/plain").exits(0);
    assert!(dropped.stderr.contains("takes no part: `-i cpu/plain` leaves"), "{}", dropped.stderr);
    let again = scene.shell(&format!("mkdir elsewhere && cd elsewhere && {reproduce} --format jsonl"));
    assert_eq!(again.exits(4).row("mine/half")["gate"]["fault"], row["gate"]["fault"]);
}

#[test]
fn an_operation_that_the_library_lacks_is_said() {
    let scene = Scene::new();
    build(&scene, KERNELS);
    let words = "check softmax/f32/rows=5,cols=7 --lib ./mine.so";
    scene.call_with_store(words).complains(
        5,
        &[
            "mine.so` has no implementation of `softmax`",
            "it has `mine/right` for `add`: one loop; `mine/off-by-one` for `add`;",
        ],
    );
    let words = format!("check {CASE} --lib ./mine.so -i mine/rihgt");
    scene.call_with_store(&words).complains(
        5,
        &[
            "nothing is selected by `mine/rihgt`: no such implementation of `add`",
            "did you mean `mine/right`?",
        ],
    );
    // Nor is it lost among others that are there.
    let words = format!("check {CASE} --lib ./mine.so -i mine/right,mine/rihgt");
    scene.call_with_store(&words).complains(5, &["`mine/rihgt`", "did you mean `mine/right`?"]);
    let words =
        format!("check {CASE} softmax/f32/rows=5,cols=7 --lib ./mine.so -i mine/right,cpu/three-pass");
    scene.call_with_store(&words).exits(0);
    let words = format!("check {CASE} --lib ./mine.so -i mine/right,cpu/three-pass");
    let outcome = scene.call_with_store(&words).exits(0);
    let told = "`-i cpu/three-pass` takes no part: it has nothing for `add`";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    let words = format!("run {CASE} --lib ./mine.so --against mine/rihgt");
    scene.call_with_store(&words).complains(5, &["no row of `mine/rihgt`", "did you mean `mine/right`?"]);
    // What is remembered of a file is forgotten when the file changes.
    build(&scene, &KERNELS.replace("\"right\"", "\"renamed\""));
    let words = format!("check {CASE} --lib ./mine.so -i mine/renamed --format jsonl");
    scene.call_with_store(&words).exits(0);
    let words = format!("job {CASE}@mine/renamed --lib ./mine.so --to job");
    let command = scene.call_with_store(&words).exits(0).stdout;
    let answers = scene.shell(&command).exits(0).stdout;
    assert!(answers.contains("nanoseconds") && !answers.contains("\"error\""), "{answers}");
}

#[test]
fn what_is_no_library_of_kernels_is_refused_with_the_reason() {
    let check = |scene: &Scene| scene.call_with_store(&format!("check {CASE} --lib ./mine.so"));
    let scene = Scene::new();
    check(&scene).complains(2, &["`--lib ./mine.so`: No such file", "cc -O3 -shared"]);
    scene.write("mine.so", "#!/bin/sh\n");
    check(&scene).complains(2, &["`--lib ./mine.so`: is no shared library", "hint: build it first"]);
    scene.call_with_store(&format!("check {CASE} --lib .")).complains(2, &["is a folder"]);

    let table = "static const roofline_library library = {ROOFLINE_INTERFACE";
    for (from, to, parts) in [
        (
            "*roofline_offers(void) {",
            "*rooflin_offers(void); const roofline_library *rooflin_offers(void) {",
            "does not export `roofline_offers`",
        ),
        (
            table,
            "static const roofline_library library = {7",
            "was built for interface 7 of roofline.h, this roofline has 4",
        ),
        ("return &library;", "(void)&library; return NULL;", "`roofline_offers` returned NULL"),
        ("\"7.1\", offers", "\"7.1\", NULL", "its table of offers is broken: 9 rows"),
        ("sizeof offers / sizeof *offers", "0", "offers nothing"),
        (".name = \"right\"", ".name = NULL", "broken offer 0: `name` is NULL"),
        (".name = \"right\"", ".name = \"My Kernel\"", "`name` is \"My Kernel\"; write letters, digits"),
        (".name = \"half\"", ".name = \"right\"", "declares `mine/right` for `add` twice"),
        (
            ".operation = \"add\"",
            ".operation = \"sofmax\"",
            "`right`: there is no operation \"sofmax\"; did you mean \"softmax\"?",
        ),
        (
            ".dtypes = \"f32\"",
            ".dtypes = \"f32,float32\"",
            "`dtypes` has \"float32\"; write for example \"f32\"",
        ),
        (".launch = add,", "", "`launch` is NULL"),
        ("return &library;", "(void)&library; abort();", "ended by SIGABRT"),
    ] {
        assert!(KERNELS.contains(from), "{from}");
        build(&scene, &KERNELS.replacen(from, to, 1));
        check(&scene).complains(5, &["runner `mine`: ", parts, "hint: "]);
    }
    // What the loader has no words for: a source, nothing, and a library for another processor.
    build(&scene, KERNELS);
    let mut library = std::fs::read(scene.path("mine.so")).unwrap();
    library[18..20].copy_from_slice(&[183, 0]);
    for (bytes, parts) in [
        (
            b"int main; /* of more than twenty bytes */".as_slice(),
            ["is no shared library", "hint: build it first"],
        ),
        (b"", ["is no shared library", "hint: build it first"]),
        (&library, ["is built for another machine than this one, x86_64", "hint: "]),
    ] {
        std::fs::write(scene.path("mine.so"), bytes).unwrap();
        check(&scene).complains(2, &parts);
    }
    build(&scene, KERNELS);
    // Two files of one name, and one that is called as a runner of the house.
    std::fs::copy(scene.path("mine.so"), scene.path("cpu.so")).unwrap();
    scene
        .call_with_store(&format!("check {CASE} --lib cpu.so"))
        .complains(2, &["two runners are called `cpu`", "give the file another name"]);
    std::fs::create_dir(scene.path("old")).unwrap();
    std::fs::copy(scene.path("mine.so"), scene.path("old/mine.so")).unwrap();
    let words = format!("check {CASE} --lib old/mine.so --lib mine.so");
    scene
        .call_with_store(&words)
        .complains(2, &["two runners are called `mine`", "old/mine.so` and `", "/mine.so`"]);
}

#[test]
fn without_a_version_the_file_is_its_own() {
    let scene = Scene::new();
    build(&scene, &KERNELS.replace("\"7.1\"", "NULL"));
    let words = format!("check {CASE} --lib ./mine.so -i mine/right --format jsonl");
    let row = scene.call_with_store(&words).exits(0).row("mine/right");
    let version = row["provenance"]["runner_version"].as_str().unwrap();
    assert!(version.starts_with("file ") && version.len() == 5 + 16, "{version}");
}
