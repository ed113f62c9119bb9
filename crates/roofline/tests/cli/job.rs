//! `job`: a conversation as files, which the runner then answers by hand.

use crate::scene::Scene;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs the printed command and returns the answers.
fn answers(scene: &Scene, command: &str) -> Vec<Value> {
    let outcome = scene.shell(command).exits(0);
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn all_answered(scene: &Scene, command: &str, samples: usize) {
    let answers = answers(scene, command);
    assert_eq!(answers.len(), 6, "{answers:?}");
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], number + 1, "{answer}");
        assert!(answer["ok"].is_object(), "{answer}");
    }
    assert_eq!(answers[3]["ok"]["nanoseconds"].as_array().unwrap().len(), samples);
}

fn floats(path: &Path, offset: usize, count: usize) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    bytes[offset..][..4 * count]
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
        .collect()
}

#[test]
fn the_command_answers_every_question() {
    let scene = Scene::new();
    // A folder that a shell would split.
    let command = scene
        .dress(Command::new(scene.program()))
        .args(["job", "add/f32/rows=3,cols=5@cpu/plain"])
        .args(["--to", "a job's folder", "--launches", "2"])
        .output();
    let command = crate::scene::Outcome::of(command).exits(0).stdout;
    all_answered(&scene, &command, 5);
    // The outputs are there, and right.
    let folder = scene.path("a job's folder");
    let conversation = std::fs::read_to_string(folder.join("conversation.jsonl")).unwrap();
    let prepare: Value = serde_json::from_str(conversation.lines().nth(1).unwrap()).unwrap();
    let tensor = |index: usize| {
        let tensor = &prepare["tensors"][index];
        floats(Path::new(tensor["path"].as_str().unwrap()), tensor["offset"].as_u64().unwrap() as usize, 15)
    };
    let sums: Vec<f32> = tensor(0).iter().zip(tensor(1)).map(|(x, y)| x + y).collect();
    assert_eq!(tensor(2), sums);
    assert!(sums.iter().any(|sum| *sum != 0.0));
}

#[test]
fn the_example_in_c_answers_every_question() {
    let scene = Scene::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runners/c-example");
    let folder = scene.path("runners/c-example");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(example.join("runner.toml"), folder.join("runner.toml")).unwrap();
    let compiled = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(folder.join("c-example"))
        .arg(example.join("c-example.c"))
        .arg("-lm")
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        return; // No C compiler here.
    }
    let command = scene.call_with_store("job softmax/f32/rows=3,cols=5@c-example/plain").exits(0).stdout;
    all_answered(&scene, &command, 5);
    let outcome = scene.call_with_store("check add/f32/rows=3,cols=5 -i c-example/* --format jsonl").exits(0);
    assert_eq!(outcome.row("c-example/plain")["status"], "ok");
    // Now that it was asked, what it does not have is known.
    scene
        .call_with_store("job softmax/bf16/rows=3,cols=5@c-example/plain --to other")
        .complains(2, &["does not offer softmax in bf16", "hint: it has f32"]);
    assert!(!scene.path("other").exists());
}

#[test]
fn a_runners_environment_is_part_of_the_command() {
    let scene = Scene::new();
    scene.shell_runner("mine", "cat >/dev/null; echo \"$GREETING $LIMIT\"");
    let toml = std::fs::read_to_string(scene.path("mine/runner.toml")).unwrap();
    let environment = "[environment]\nGREETING = \"it's a $HOME\"\nLIMIT = \"{threads} threads\"\n";
    scene.write("mine/runner.toml", &(toml + environment));
    let command =
        scene.call_with_store("job add/f32/rows=3,cols=5/threads=1@mine/one --runner mine").exits(0).stdout;
    assert_eq!(scene.shell(&command).exits(0).stdout, "it's a $HOME 1 threads\n");
}

#[test]
fn rows_that_are_no_job() {
    let scene = Scene::new();
    let job = |row: &str| scene.call_with_store(&format!("job {row} --to job"));
    job("add/f32/rows=3,cols=5@cpu/plian")
        .complains(2, &["no `cpu/plian` for `add`", "did you mean `cpu/plain`?"]);
    job("add/f64/rows=3,cols=5@cpu/vector").complains(2, &["does not offer add in f64", "hint: it has f32"]);
    job("add/f32/rows=3,cols=5@nobody/x").complains(5, &["there is no runner `nobody`", "hint: "]);
    job("add/f32/rows=3,cols=5").complains(2, &["names no implementation", "hint: "]);
    assert!(!scene.path("job").exists());
    scene.write("job", "a file is in the way");
    job("add/f32/rows=3,cols=5@cpu/plain").complains(1, &["`job`: "]);
}
