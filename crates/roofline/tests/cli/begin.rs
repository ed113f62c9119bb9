//! `init` and `new`: files to begin with, which work as they are written.

use crate::scene::Scene;

const CASE: &str = "softmax/f32/rows=9,cols=33";

/// The commands that were printed below `Next:`.
fn next(printed: &str) -> Vec<String> {
    let lines = printed.lines().filter_map(|line| line.strip_prefix("  "));
    lines.map(|line| line.split("  #").next().unwrap().trim_end().to_owned()).collect()
}

#[test]
fn a_folder_begins_with_a_right_kernel_and_a_wrong_one() {
    let scene = Scene::new();
    let printed = scene.call("init").exits(0).stdout;
    let commands = next(&printed);
    assert_eq!(commands.len(), 4, "{printed}");
    scene.shell(&commands[0]).exits(0);
    // As printed, at a size that takes a moment.
    let small = |command: &str| command.replace("softmax/f32/rows=64,cols=1000", CASE) + " --format jsonl";
    let checked = scene.shell(&small(&commands[1])).exits(4);
    assert_eq!(checked.row("kernels/plain")["status"], "ok");
    assert_eq!(checked.row("kernels/naive")["status"], "wrong");
    let measured = scene.shell(&format!("{} --quick --budget 100ms", small(&commands[2]))).exits(0);
    assert_eq!(measured.row("kernels/plain")["status"], "ok");
    // And the settings build both sides of a change.
    let git = "git init -q . && git add kernels.c roofline.h roofline.toml && \
               git -c user.name=A -c user.email=a@example.org commit -qm one && echo '/* changed */' >> kernels.c";
    scene.shell(git).exits(0);
    let compared =
        scene.shell(&format!("{} --quick --budget 100ms --fail-on slower=90%", small(&commands[3])));
    assert!([0, 3].contains(&compared.code), "{}", compared.stderr);
    assert!(compared.rows().iter().any(|row| row["implementation"] == "new/plain"), "{}", compared.stdout);
    // A second time nothing is written over.
    let before = std::fs::read(scene.path("kernels.c")).unwrap();
    scene.call("init").complains(2, &["`roofline.toml` is there already", "hint: nothing was written"]);
    std::fs::remove_file(scene.path("roofline.toml")).unwrap();
    scene.call("init").complains(2, &["`kernels.c` is there already"]);
    assert_eq!(std::fs::read(scene.path("kernels.c")).unwrap(), before);
    assert!(!scene.path("roofline.toml").exists());
}

#[test]
fn what_is_made_is_kept_out_of_the_repository() {
    let scene = Scene::new();
    scene.call("init").exits(0);
    scene
        .shell("git init -q . && touch kernels.so && mkdir .roofline && touch .roofline/roofline.db")
        .exits(0);
    let seen = scene.shell("git status --porcelain --untracked-files=all").exits(0).stdout;
    assert!(
        seen.contains("kernels.c") && !seen.contains("kernels.so") && !seen.contains("roofline.db"),
        "{seen}"
    );
    // One that is there is left as it is, and what is missing in it is said.
    let scene = Scene::new();
    scene.write(".gitignore", "*.o\n");
    assert!(scene.call("init").exits(0).stderr.contains("add `/.roofline/`"));
    assert_eq!(std::fs::read_to_string(scene.path(".gitignore")).unwrap(), "*.o\n");
}

#[test]
fn what_is_begun_works_as_it_is_written() {
    let scene = Scene::new();
    for (words, implementation) in [
        ("kernel My_sum", "My_sum/My_sum"),
        ("kernel other-sum --language python", "other_sum/other-sum"),
        ("operation gemv", "gemv/plain"),
    ] {
        let printed = scene.call(&format!("new {words}")).exits(0).stdout;
        let commands = next(&printed);
        let (last, first) = commands.split_last().unwrap();
        first.iter().for_each(|command| drop(scene.shell(command).exits(0)));
        let small = last.replace("rows=64,cols=1000", "rows=5,cols=9");
        let checked = scene.shell(&format!("{small} --format jsonl")).exits(0);
        assert_eq!(checked.row(implementation)["status"], "ok", "{words}");
        scene.call(&format!("new {words}")).complains(2, &["is there already", "hint: nothing was written"]);
    }
    let printed = scene.call("new suite mine").exits(0).stdout;
    assert!(printed.contains("roofline run --suite mine --quick"), "{printed}");
    let cases = scene.call("list cases --suite mine").exits(0).stdout;
    assert!(
        cases.contains("softmax/f32/rows=64,cols=1024") && cases.contains("add/bf16/rows=256"),
        "{cases}"
    );
    let printed = scene.call("new operation gemm --language python").exits(0).stdout;
    assert!(printed.contains("roofline runners install numpy"), "{printed}");
    scene.shell("python3 -m py_compile gemm.py").exits(0);
}

#[test]
fn what_cannot_be_begun_is_said() {
    let scene = Scene::new();
    scene.call("new operation softmax").complains(2, &["is an operation of the house", "hint: "]);
    scene.call("new operation My_Sum").complains(2, &["cannot be the name of", "hint: "]);
    scene.call("new suite ../up").complains(2, &["cannot be the name of", "hint: "]);
    scene.call("new kernel 1st").complains(2, &["cannot be the name of", "hint: "]);
    scene.call("new thing x").complains(2, &["operation"]);
    assert_eq!(std::fs::read_dir(scene.path("")).unwrap().count(), 1, "only the folder `runners`");
}
