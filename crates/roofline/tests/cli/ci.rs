//! docs/ci.md: each step of its workflow, and its hook, in a repository of their own.

use crate::page::blocks;
use crate::scene::{Outcome, Scene};
use std::path::Path;
use std::time::{Duration, Instant};

const CASE: &str = "softmax/f32/rows=64,cols=256";
const SOFTMAX: &str = include_str!("../fixtures/softmax-by-rows.c");
/// What a smoke test before a commit may take, with so small a build.
const SMOKE: Duration = Duration::from_secs(60);
const COMMIT: &str = "git -c user.name=A -c user.email=a@example.org commit -q -a -m two";

/// How many would like a core, for each that there is: whoever shares a machine waits that much longer.
fn crowding() -> f64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (load / cores as f64).max(1.0)
}

/// A repository with a softmax, the page's workflow as steps, and stand-ins for what only a runner of CI has.
struct Ci {
    scene: Scene,
    page: String,
}

impl Ci {
    fn new() -> Ci {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md");
        let scene = Scene::alone();
        let header = scene.call("header").exits(0).stdout;
        scene.write("roofline.h", &header);
        scene.write("mine.c", SOFTMAX);
        scene.write("roofline.toml", "[build]\ncommand = \"make\"\nartefacts = [\"mine.so\"]\n");
        scene.write(".gitignore", "mine.so\n/home\n/store.db\n/roofline\n/bin\n*.md\n*.txt\n/path\n");
        // What comments where there is no GitHub, and what builds Roofline where that takes minutes.
        scene.write("bin/gh", "#!/bin/sh\ncat \"$5\" > said.md\n");
        scene.write("bin/cargo", "#!/bin/sh\necho \"$*\" > installed.txt\n");
        let ci = Ci { scene, page: std::fs::read_to_string(page).unwrap() };
        ci.build("-O3 -march=native");
        let who = "-c user.name=A -c user.email=a@example.org";
        let begin =
            format!("chmod +x bin/*; git init -q -b main && git add -A && git {who} commit -q -m one");
        ci.scene.shell(&begin).exits(0);
        ci
    }

    /// Says how the softmax is compiled.
    fn build(&self, flags: &str) {
        let make = format!("mine.so: mine.c Makefile\n\tcc {flags} -shared -fPIC -o mine.so mine.c\n");
        self.scene.write("Makefile", &make);
    }

    fn block(&self, path: &str) -> String {
        let found = blocks(&self.page).into_iter().find(|block| block.file() == Some(path));
        found.unwrap_or_else(|| panic!("the page has no {path}")).text
    }

    /// The step of that name in the workflow.
    fn step(&self, name: &str, select: &str) -> Outcome {
        let workflow = self.block(".github/workflows/roofline.yml");
        let mut lines = workflow.lines().skip_while(|line| line.trim() != format!("- name: {name}")).skip(1);
        let line = lines.find_map(|line| line.trim().strip_prefix("run: "));
        self.shell(select, line.unwrap_or_else(|| panic!("the page has no step {name}")))
    }

    fn shell(&self, select: &str, line: &str) -> Outcome {
        let set = "export PATH=$PWD/bin:$PATH HOME=$PWD BASE=main NUMBER=1 ROOFLINE=clone GITHUB_PATH=path";
        self.scene.shell(&format!("{set} SELECT={select}; {line}"))
    }

    fn comment(&self, select: &str) -> String {
        self.step("comment", select).exits(0);
        std::fs::read_to_string(self.scene.path("said.md")).unwrap()
    }
}

#[test]
fn a_fresh_runner_installs_what_it_runs() {
    let ci = Ci::new();
    ci.step("install", CASE).exits(0);
    let words = std::fs::read_to_string(ci.scene.path("installed.txt")).unwrap();
    let root =
        format!("--root {}/tools roofline", ci.scene.path("").display().to_string().trim_end_matches('/'));
    assert!(words.starts_with("install --locked --git clone ") && words.trim().ends_with(&root), "{words}");
    ci.step("path", CASE).exits(0);
    let path = std::fs::read_to_string(ci.scene.path("path")).unwrap();
    assert!(path.trim().ends_with("/tools/bin"), "{path}");
}

#[test]
fn a_wheel_and_an_archive_are_installed_without_rust() {
    let ci = Ci::new();
    // What makes an environment with a pip that says what it installs.
    let python = "#!/bin/sh\nmkdir -p $3/bin\nprintf '#!/bin/sh\\necho \"$*\" > installed.txt\\n' > $3/bin/pip\nchmod +x $3/bin/pip\n";
    ci.scene.write("bin/python3", python);
    ci.scene.shell("chmod +x bin/python3").exits(0);
    let install = |file: &str, what: &str| {
        let set = format!("{what}=$PWD/roofline-0.tar.gz");
        let line = ci.block(file);
        let line = line.lines().find_map(|line| line.trim().strip_prefix("run: ")).unwrap().to_owned();
        ci.shell(CASE, &format!("{set}; {line}")).exits(0);
    };
    install("install-a-wheel.yml", "WHEEL");
    let words = std::fs::read_to_string(ci.scene.path("installed.txt")).unwrap();
    assert!(words.starts_with("install /") && words.trim().ends_with("/roofline-0.tar.gz"), "{words}");
    // The archive has one folder, with the program at its top.
    let pack = "mkdir roofline-0 && echo here > roofline-0/roofline && chmod +x roofline-0/roofline && tar -czf roofline-0.tar.gz roofline-0";
    ci.scene.shell(pack).exits(0);
    ci.scene.write("bin/curl", "#!/bin/sh\ncat \"$2\"\n");
    ci.scene.shell("chmod +x bin/curl").exits(0);
    install("install-an-archive.yml", "ARCHIVE");
    ci.scene.shell("test -x tools/bin/roofline").exits(0);
}

#[test]
fn the_workflow_blocks_what_is_slower_or_wrong_and_lets_the_rest_pass() {
    let ci = Ci::new();
    ci.step("compare", CASE).exits(0);
    ci.build("-O3 -march=native -fno-tree-vectorize");
    ci.step("compare", CASE).exits(3);
    let said = ci.comment(CASE);
    let slower = format!("- `{CASE}@new/rows` is slower");
    assert!(said.contains(&slower) && said.contains("Reproduce: `roofline ab main . "), "{said}");
    ci.build("-O3 -march=native");
    ci.scene.write("mine.c", &SOFTMAX.replace("(x[i] - largest)", "(x[i] - 2 * largest)"));
    ci.step("compare", CASE).exits(4);
    assert!(ci.comment(CASE).contains("is wrong"));
}

#[test]
fn a_comment_says_why_there_is_no_table() {
    let ci = Ci::new();
    let nothing = ci.step("compare", "matmul").exits(5);
    assert!(nothing.stderr.contains("nothing is selected"), "{}", nothing.stderr);
    let said = ci.comment("matmul");
    assert!(said.contains("    error: nothing is selected"), "{said}");
    ci.scene.write("mine.c", "this is no C");
    ci.step("compare", CASE).exits(2);
    let said = ci.comment(CASE);
    assert!(said.contains("`new` cannot be built"), "{said}");
}

#[test]
fn the_hook_holds_a_commit_within_a_minute() {
    let ci = Ci::new();
    ci.scene.write(".git/hooks/pre-commit", &ci.block(".git/hooks/pre-commit"));
    ci.scene.shell("chmod +x .git/hooks/pre-commit").exits(0);
    let start = Instant::now();
    ci.build("-O3 -march=native -fno-tree-vectorize");
    let stopped = ci.shell(CASE, COMMIT).exits(1);
    assert!(stopped.stderr.contains("slower: "), "{}", stopped.stderr);
    let took = start.elapsed();
    assert!(took < SMOKE.mul_f64(crowding()), "{took:?}");
    ci.build("-O3 -march=native");
    ci.scene.write("mine.c", &format!("{SOFTMAX}/* as it was */\n"));
    ci.shell(CASE, COMMIT).exits(0);
}
