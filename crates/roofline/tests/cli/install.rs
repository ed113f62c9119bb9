//! `roofline runners install`: environments of Roofline's own, whole or not at all.

use crate::scene::{Outcome, Scene, say};

/// Whether pip found no package index, which is said and costs the rest of the test.
pub fn no_index(outcome: &Outcome) -> bool {
    let absent = outcome.code == 1 && outcome.stderr.contains("pip could not install what `numpy` needs");
    if absent {
        say(&format!("skipped: pip reaches no package index\n{}", outcome.stderr));
    }
    absent
}

#[test]
fn numpy_on_a_bare_home() {
    let mut scene = Scene::away();
    scene.home("me");
    let shown = scene.call_with_store("runners").exits(0).stdout;
    assert!(shown.contains("hint: roofline runners install torch"), "{shown}");
    let outcome = scene.call_with_store("runners install numpy");
    if no_index(&outcome) {
        return;
    }
    let outcome = outcome.exits(0);
    assert!(outcome.stdout.starts_with("numpy 2."), "{}", outcome.stdout);
    let first = outcome.stderr.lines().next().unwrap();
    assert!(first.starts_with("numpy: about 17 MB to download, into "), "{first}");
    assert!(
        outcome.stderr.contains("Successfully installed numpy"),
        "pip's own words are shown: {}",
        outcome.stderr
    );
    assert!(scene.path("me/.local/share/roofline/venvs/numpy/interpreter").is_file());
    let shown = scene.call_with_store("runners").exits(0).stdout;
    assert!(shown.contains("numpy        present   2."), "{shown}");
    let rows =
        scene.call_with_store("check softmax/f32/rows=5,cols=33 -i cpu/*,numpy/* --format jsonl").exits(0);
    assert_eq!(rows.row("numpy/ufunc")["status"], "ok");
    let words = "run softmax/f32/rows=64,cols=256 --quick -i cpu/*,numpy/* --format jsonl";
    let mut rows = scene.call_with_store(words).exits(0).rows();
    rows.retain(|row| !row["implementation"].as_str().unwrap().starts_with("limit/"));
    assert!(rows.len() > 1 && rows.iter().any(|row| row["implementation"] == "numpy/ufunc"), "{rows:?}");
    for row in rows {
        assert_eq!(row["status"], "ok", "{row}");
        assert!(row["gate"]["judged_visits"].as_u64() > Some(0), "{row}");
    }
    // Half an installation is none.
    std::fs::remove_file(scene.path("me/.local/share/roofline/venvs/numpy/interpreter")).unwrap();
    let shown = scene.call_with_store("job add/f32/rows=1,cols=1@numpy/ufunc").exits(0).stdout;
    assert!(!shown.contains("venvs/numpy"), "{shown}");
}

#[test]
fn names_that_cannot_be_installed() {
    let scene = Scene::away();
    scene
        .call_with_store("runners install trch")
        .complains(5, &["no runner `trch`", "did you mean `torch`?"]);
    scene.call_with_store("runners install cpu").complains(2, &["nothing to install", "part of this binary"]);
    scene.shell_runner("mine", "exit");
    let outcome = scene.call_with_store("runners install mine --runner mine");
    outcome.complains(2, &["`mine` has no requirements.txt", "hint: read the script"]);
}

#[test]
fn a_folder_that_happens_to_be_called_runners_hides_nobody() {
    let scene = Scene::away();
    scene.shell_runner("runners/mine", "exit");
    scene.write("runners/jogging/shoes.txt", "");
    let shown = scene.call_with_store("list implementations").exits(0).stdout;
    for name in ["mine", "numpy", "scipy", "torch", "onnxruntime", "jax"] {
        assert!(shown.contains(name), "`{name}` is not in:\n{shown}");
    }
    let outcome = scene.call_with_store("runners install mine");
    outcome.complains(2, &["`mine` has no requirements.txt", "hint: read the script"]);
}

#[test]
fn an_interpreter_that_is_there_is_used_or_refused() {
    let scene = Scene::new();
    let hello = "import sys\nfrom roofline_runner import Runner\n\
                 runner = Runner('mine', version=sys.executable)\n\
                 runner.implementation('mine/x', operation='add', dtypes=['f32'])(print)\nrunner.serve()\n";
    scene.python_runner("mine", hello);
    scene.write("mine/requirements.txt", "no-such-package-of-roofline==1.0\n");
    let install = |words: &str| scene.call_with_store(&format!("runners install mine --runner mine {words}"));
    let python = scene.python("import sys; print(sys.executable)", &[]).stdout;
    let python = python.trim();

    install("--python ./nowhere").complains(2, &["`./nowhere` could not be started", "No such file"]);
    install("--python /bin/false").complains(2, &["`/bin/false` is no Python interpreter"]);
    let ready = install(&format!("--python {python}")).exits(0).stdout;
    assert_eq!(ready, format!("mine {python} is ready, by {python}\n"));
    let shown = scene.call_with_store("job add/f32/rows=1,cols=1@mine/x --runner mine").exits(0).stdout;
    assert!(shown.contains(&format!(" {python} main.py < ")), "{shown}");

    // A mistake takes nothing away.
    install("--python ./nowhere")
        .complains(2, &["`./nowhere` could not be started", "hint: name the program"]);
    let shown = scene.call_with_store("job add/f32/rows=1,cols=1@mine/x --runner mine").exits(0).stdout;
    assert!(shown.contains(&format!(" {python} main.py < ")), "{shown}");

    // One with which the runner does not start is not kept.
    scene.write("mine/main.py", "raise SystemExit('it lacks something')\n");
    let refused = install(&format!("--python {python}"));
    refused.complains(5, &["runner `mine`", "it lacks something", "pip install -r"]);
    assert!(!scene.path("home/venvs/mine/interpreter").exists());
}

#[test]
fn what_fails_leaves_no_environment() {
    let scene = Scene::new();
    scene.python_runner("mine", "");
    scene.write("mine/requirements.txt", "no-such-package-of-roofline==1.0\n");
    let outcome = scene.call_with_store("runners install mine --runner mine --index-url file:///nowhere/");
    let parts = [
        "mine: about an unknown amount",
        "No matching distribution",
        "error: pip could not install",
        "--index-url",
    ];
    outcome.complains(1, &parts);
    assert!(scene.path("home/venvs/mine/bin/python").exists());
    assert!(!scene.path("home/venvs/mine/interpreter").exists());

    let mut without_venv = scene.with_store("runners install mine --runner mine");
    let outcome = Outcome::of(without_venv.env("ROOFLINE_PYTHON", "/bin/false").output());
    outcome.complains(1, &["could not make a virtual environment", "python3-venv"]);
}
