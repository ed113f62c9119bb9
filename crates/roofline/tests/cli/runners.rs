//! Runners that are not there, do not start, or say something else than hello.

use crate::scene::{Outcome, Scene};
use std::os::unix::fs::PermissionsExt;

const CASE: &str = "add/f32/rows=1,cols=1";

/// A shell script that answers `hello` with a line.
fn says(line: &str) -> String {
    format!("read question <&3; printf '%s\\n' '{line}' >&3; read question <&3")
}

/// Asks the runner in the folder `mine`, with a second to start.
fn check(scene: &Scene) -> Outcome {
    scene.call_with_store(&format!("check {CASE} --runner mine --timeout 100ms"))
}

#[track_caller]
fn complains(script: &str, parts: &[&str]) {
    let scene = Scene::new();
    scene.shell_runner("mine", script);
    let outcome = check(&scene).complains(5, parts);
    assert!(outcome.stderr.contains("error: runner `mine`: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("\nhint: read the script"), "{}", outcome.stderr);
    assert!(!scene.store().exists(), "nothing ran, nothing is stored");
    if script.contains("sleep") {
        return; // `roofline runners` has more patience than this test.
    }
    // `roofline runners` says the same of it, and still shows the others.
    let shown = scene.call_with_store("runners --runner mine").exits(0).stdout;
    assert!(shown.contains("cpu          present") && shown.contains("mine         absent"), "{shown}");
    assert!(shown.contains(parts[0]), "{shown}");
}

#[test]
fn a_program_that_is_not_there_or_not_executable() {
    let scene = Scene::new();
    let folder = scene.shell_runner("mine", "exit");
    let program = folder.join("go");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o644)).unwrap();
    check(&scene).complains(5, &["runner `mine`", "go` could not be started", "Permission denied", "hint: "]);
    std::fs::remove_file(&program).unwrap();
    check(&scene).complains(5, &["runner `mine`", "go` could not be started", "No such file", "hint: "]);
    let shown = scene.call_with_store("runners --runner mine").exits(0).stdout;
    assert_eq!(shown.matches("read the script").count(), 1, "{shown}");
    assert!(!scene.store().exists());
}

#[test]
fn a_runner_toml_with_a_mistake_has_line_and_column() {
    let scene = Scene::new();
    for (text, parts) in [
        ("name = \"mine\"\ncommand = [\"x\"]\ncomand = 1\n", ["runner.toml:3:1", "comand"]),
        ("name = \"mine\"\ncommand = \"x\"\n", ["runner.toml:2:11", "expected"]),
        ("name = \"mine\n", ["runner.toml:1:", ""]),
        ("command = [\"x\"]\n", ["runner.toml:1:1", "name"]),
        ("name = \"mine\"\ncommand = []\n", ["runner.toml:", "`command` is empty"]),
        ("name = \"cpu\"\ncommand = [\"x\"]\n", ["two runners are called `cpu`", "give one another `name`"]),
    ] {
        scene.write("mine/runner.toml", text);
        check(&scene).complains(2, &[parts[0], parts[1], "hint: "]);
    }
}

#[test]
fn a_broken_runner_that_nobody_named_is_left_out() {
    let scene = Scene::new();
    scene.write("runners/other/runner.toml", "name = 7\n");
    let stderr = scene.call_with_store(&format!("check {CASE}")).exits(0).stderr;
    assert!(stderr.contains("left out: ") && stderr.contains("other/runner.toml:1:8"), "{stderr}");
}

#[test]
fn another_protocol_and_no_version_are_refused() {
    let hello = |protocol: u32, version: &str| {
        says(&format!(
            r#"{{"id":1,"ok":{{"protocol":{protocol},"runner":"mine","version":"{version}","offers":[]}}}}"#
        ))
    };
    complains(&hello(3, "1.0"), &["the runner speaks protocol 3; this conductor speaks 1 to 2"]);
    complains(&hello(0, "1.0"), &["the runner speaks protocol 0; this conductor speaks 1 to 2"]);
    complains(&hello(1, ""), &["gives no version; no version, no measurement"]);
    complains(&hello(1, "  "), &["gives no version"]);
}

#[test]
fn garbage_instead_of_hello() {
    complains(&says("hello yourself"), &["not an answer", "hello yourself"]);
    complains(&says(r#"{"id":2,"ok":{}}"#), &["answered question 2 when asked question 1"]);
    complains(&says(r#"{"id":1}"#), &["either `ok` or `error`"]);
    complains(&says(r#"{"id":1,"ok":{"protocol":1}}"#), &["missing field"]);
    complains(
        &says(
            r#"{"id":1,"ok":{"protocol":1,"runner":"mine","version":"1","offers":[{"implementation":"My Kernel","operation":"add","dtypes":["f32"]}]}}"#,
        ),
        &["not `provider/name` of letters"],
    );
    complains("read question <&3; head -c 3000000 /dev/zero | tr '\\0' x >&3", &["longer than"]);
    complains("read question <&3; printf '{\"id\":1,' >&3", &["left a line unfinished"]);
}

#[test]
fn an_exit_or_a_signal_instead_of_hello() {
    complains("exit 0", &["exited with code 0 instead of answering"]);
    complains("echo no torch here >&2; exit 3", &["exited with code 3", "its last words: no torch here"]);
    complains("kill -SEGV $$", &["ended by SIGSEGV"]);
}

#[test]
fn silence_instead_of_hello_ends_in_time() {
    complains("sleep 1000", &["no answer within 1.0s"]);
    // A runner may close its channel and live on.
    complains("exec 3>&-; sleep 1000", &["closed its channel instead of answering"]);
}

#[test]
fn an_implementation_may_have_another_provider_than_its_runner() {
    let scene = Scene::new();
    let hello = r#"{"id":1,"ok":{"protocol":1,"runner":"mine","version":"1","offers":[{"implementation":"else/where","operation":"add","dtypes":["f32"]}]}}"#;
    scene.shell_runner("mine", &says(hello));
    let plan = |words: &str| scene.call_with_store(&format!("check {CASE} --runner mine --dry-run {words}"));
    plan("").complains(5, &["runner `mine` was never asked", "hint: `roofline runners`"]);
    scene.call_with_store("runners --runner mine").exits(0);
    assert!(plan("-i else/where").exits(0).stdout.starts_with(&format!("{CASE}@else/where\n1 row")));
    assert!(plan("").exits(0).stdout.contains(&format!("{CASE}@else/where\n")));
    plan("-i nobody/where").complains(5, &["there is no runner `nobody`"]);
}
