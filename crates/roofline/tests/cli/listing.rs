//! What there is: `list`, `--help`, completions, `machine`.

use crate::scene::Scene;
use serde_json::Value;

#[test]
fn operations_formats_devices_and_suites_are_listed() {
    let scene = Scene::new();
    let operations = scene.call("list").exits(0).stdout;
    for name in ["add ", "softmax ", "rms-norm ", "matmul ", "matmul.nn: ", "axes m, n, k", "bf16"] {
        assert!(operations.contains(name), "{name}: {operations}");
    }
    assert_eq!(scene.call("list ops").exits(0).stdout, operations);
    assert_eq!(scene.call("list operations").exits(0).stdout, operations);
    let formats = scene.call("list formats").exits(0).stdout;
    let names: Vec<&str> = formats.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[..7], ["table", "json", "jsonl", "csv", "markdown", "go", "google-benchmark"]);
    for (name, ways) in [("table", "out "), ("go", "out, in "), ("criterion", "out, in "), ("nvbench", "in ")]
    {
        let line = formats.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        assert!(line[name.len()..].trim_start().starts_with(ways), "{line}");
    }
    let devices = scene.call("list devices").exits(0).stdout;
    assert!(devices.starts_with("cpu  ") && devices.contains(" cores"), "{devices}");
    let suites = scene.call("list suites").exits(0).stdout;
    assert!(suites.contains("quick ") && suites.contains(" cases "), "{suites}");
}

#[test]
fn a_suite_of_the_working_folder_is_listed_and_selected() {
    let scene = Scene::new();
    let block = "[[cases]]\noperation = \"add\"\ndtype = \"f32\"\naxes = { rows = 3, cols = \"1:4:*2\" }\n";
    scene.write("suites/mine.toml", &format!("about = \"three cases\"\n{block}"));
    let suites = scene.call("list suites").exits(0).stdout;
    assert!(suites.contains("mine") && suites.contains("3 cases  three cases"), "{suites}");
    let cases = scene.call("list cases --suite mine").exits(0).stdout;
    let expected = "add/f32/rows=3,cols=1\nadd/f32/rows=3,cols=2\nadd/f32/rows=3,cols=4\n";
    assert_eq!(cases, expected);
    assert_eq!(scene.call("list cases --suite suites/mine.toml").exits(0).stdout, expected);
    // A broken neighbour does not hide the others.
    scene.write("suites/broken.toml", "about = [");
    let suites = scene.call("list suites").exits(0).stdout;
    assert!(suites.contains("three cases") && suites.contains("broken.toml:1:"), "{suites}");
}

#[test]
fn cases_are_ids_that_select_the_same_case() {
    let scene = Scene::new();
    let quick = scene.call("list cases").exits(0).stdout;
    assert!(quick.lines().count() >= 8, "{quick}");
    for id in quick.lines() {
        let again = scene.call(&format!("list cases {id}")).exits(0).stdout;
        assert_eq!(again, format!("{id}\n"));
    }
    let spelled_out = "softmax/bf16+f32/cols=8,rows=2/threads=1/cache=warm/device=cpu";
    let short = scene.call(&format!("list cases {spelled_out} softmax/bf16/rows=2,cols=8")).exits(0).stdout;
    assert_eq!(short, "softmax/bf16/rows=2,cols=8\n", "the same case twice is one case");
}

#[test]
fn words_choose_among_the_cases_of_a_suite() {
    let scene = Scene::new();
    let list = |words: &str| scene.call(&format!("list cases {words}")).exits(0).stdout;
    let quick = list("");
    let of_products: String =
        quick.lines().filter(|id| id.starts_with("matmul/f32/")).map(|id| format!("{id}\n")).collect();
    assert!(!of_products.is_empty() && of_products != list("matmul"), "{quick}");
    assert_eq!(list("matmul/f32/*"), of_products);
    assert_eq!(list("matmul/f32/* --suite quick"), of_products);
    let last = quick.lines().last().unwrap();
    assert_eq!(list(&format!("{last} --suite quick")), format!("{last}\n"));
    assert_eq!(list(&format!("{last} matmul/f32/* --suite quick")), format!("{of_products}{last}\n"));
    // A case of a suite is of its group.
    let of_llm = list("--suite llm --group qk-norm");
    let first = of_llm.lines().next().unwrap();
    assert_eq!(list(&format!("{first} --suite llm --group qk-norm")), format!("{first}\n"));
    scene.call(&format!("list cases {first} --suite llm --group vector")).exits(5);
}

#[test]
fn options_make_narrow_and_change_cases() {
    let scene = Scene::new();
    let list = |words: &str| scene.call(&format!("list cases {words}")).exits(0).stdout;
    assert_eq!(
        list("mat* --axis zip(m,n,k)=8,16 --dtype f32,i8 --size 1KiB"),
        "matmul/f32/m=8,n=8,k=8\nmatmul/i8/m=8,n=8,k=8\nmatmul.nn/f32/m=8,n=8,k=8\nmatmul.nn/i8/m=8,n=8,k=8\nmatmul.tn/f32/m=8,n=8,k=8\nmatmul.tn/i8/m=8,n=8,k=8\nmatmul.tt/f32/m=8,n=8,k=8\nmatmul.tt/i8/m=8,n=8,k=8\nmatmul.fixed/f32/m=8,n=8,k=8\nmatmul.fixed/i8/m=8,n=8,k=8\n"
    );
    assert_eq!(
        list("rms-norm/f32/rows=1,cols=8 add/f32/rows=1,cols=8 --param eps=1e-5,1e-6"),
        "rms-norm/f32/rows=1,cols=8,eps=1e-5\nrms-norm/f32/rows=1,cols=8\nadd/f32/rows=1,cols=8\n"
    );
    assert_eq!(
        list("add --axis rows=1 --axis cols=8:24:+8 --threads 2"),
        "add/f32/rows=1,cols=8/threads=2\nadd/f32/rows=1,cols=16/threads=2\nadd/f32/rows=1,cols=24/threads=2\n"
    );
    assert_eq!(
        list("add/f32/rows=1,cols=8 --cache cold --device cuda:1"),
        "add/f32/rows=1,cols=8/cache=cold/device=cuda:1\n"
    );
    let only = list("add --dtype bf16");
    assert!(only.lines().count() > 0 && only.lines().all(|id| id.starts_with("add/bf16/")), "{only}");
}

#[test]
fn a_list_is_narrowed_by_operations() {
    let scene = Scene::new();
    let operations = scene.call("list ops soft* add").exits(0).stdout;
    assert!(operations.contains("softmax:") && operations.contains("add:"), "{operations}");
    assert!(!operations.contains("matmul"), "{operations}");
    let implementations = scene.call("list implementations matmul.nn").exits(0).stdout;
    let of: Vec<&str> = implementations.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert!(of.len() >= 3 && of.iter().all(|form| *form == "matmul.nn"), "{implementations}");
    scene.call("list ops sofmax").complains(2, &["unknown operation `sofmax`", "did you mean `softmax`?"]);
    scene.call("list formats softmax").complains(2, &["`softmax`", "hint: leave it out"]);
}

#[test]
fn listing_starts_no_runner() {
    let scene = Scene::new();
    scene.shell_runner("runners/tell", "touch started");
    let marker = scene.path("runners/tell/started");
    for what in ["ops", "implementations", "suites", "cases", "devices", "formats"] {
        let text = scene.call_with_store(&format!("list {what}")).exits(0).stdout;
        assert!(!text.is_empty() && !text.contains('\x1b'), "{what}: {text:?}");
        assert!(!marker.exists(), "`list {what}` started a runner");
    }
    assert!(!scene.store().exists() && !scene.path(".roofline").exists(), "a list writes nothing");
    let implementations = scene.call_with_store("list implementations").exits(0).stdout;
    assert!(implementations.contains("cpu/plain"), "{implementations}");
    assert!(implementations.contains("tell: not asked yet; `roofline runners` asks it"), "{implementations}");
    // The marker tells when it is started.
    let runners = scene.call_with_store("runners").exits(0).stdout;
    assert!(marker.exists(), "`roofline runners` asks every runner");
    assert!(runners.contains("cpu          present"), "{runners}");
    assert!(
        runners.contains("tell         absent") && runners.contains("hint: read the script"),
        "{runners}"
    );
}

#[test]
fn offers_are_remembered_until_the_folder_changes() {
    let scene = Scene::new();
    let answer = r#"{"id":1,"ok":{"protocol":1,"runner":"tell","version":"7","offers":[{"implementation":"tell/one","operation":"add","dtypes":["f32"],"about":"says so"}]}}"#;
    let script = |answer: &str| format!("read question <&3; echo '{answer}' >&3; read question <&3; exit 0");
    scene.shell_runner("runners/tell", &script(answer));
    let runners = scene.call_with_store("runners").exits(0).stdout;
    assert!(runners.contains("tell         present   7") && runners.contains("add: tell/one"), "{runners}");
    let list = || scene.call_with_store("list implementations").exits(0).stdout;
    assert!(list().contains("tell/one             add        f32              says so"), "{}", list());
    scene.shell_runner("runners/tell", &script(&answer.replace("tell/one", "tell/another")));
    assert!(list().contains("tell: not asked yet"), "{}", list());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let scene = Scene::new();
    for line in ["list", "list cases", "list formats", "completions bash", "machine --quick", "--help"] {
        let outcome = scene.shell(&format!("set -o pipefail; roofline {line} | head -1")).exits(0);
        assert_eq!((outcome.stdout.lines().count(), outcome.stderr.as_str()), (1, ""), "{line}");
        scene.shell(&format!("roofline {line} | true; exit ${{PIPESTATUS[0]}}")).exits(0);
    }
}

#[test]
fn a_result_that_cannot_be_written_is_our_own_failure() {
    let scene = Scene::new();
    let outcome = scene.shell("roofline list > /dev/full");
    outcome.complains(1, &["error: standard output", "No space left"]);
}

#[test]
fn a_message_that_nobody_reads_changes_no_exit_code() {
    let scene = Scene::new();
    scene.shell("roofline check sofmax 2> /dev/full").exits(2);
    scene.shell("roofline check sofmax 2>&-").exits(2);
    scene.shell("roofline list --store x 2>&- >/dev/null").exits(0);
}

#[test]
fn help_of_every_command_goes_to_standard_output() {
    let scene = Scene::new();
    let help = scene.call("--help").exits(0);
    assert!(help.stdout.contains("Exit codes: 0 all well"), "{}", help.stdout);
    assert_eq!(help.stderr, "");
    for command in ["list", "runners", "check", "run", "explain", "machine", "job", "completions"] {
        assert!(help.stdout.contains(&format!("  {command} ")), "{command}: {}", help.stdout);
        let own = scene.call(&format!("{command} --help")).exits(0);
        assert!(own.stdout.contains(&format!("Usage: roofline {command}")), "{}", own.stdout);
        assert!(!own.stdout.contains('\x1b') && own.stderr.is_empty(), "{command}");
        scene.call(&format!("help {command}")).exits(0);
    }
    for hidden in ["keeper", "  runner "] {
        assert!(!help.stdout.contains(hidden), "{hidden}: {}", help.stdout);
    }
    let version = scene.call("--version").exits(0).stdout;
    assert_eq!(version, format!("roofline {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_know_the_commands() {
    let scene = Scene::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = scene.call(&format!("completions {shell}")).exits(0).stdout;
        for word in ["roofline", "explain", "dry-run", "implementation"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    // Values as a shell asks for them: behind an option, and where operations stand.
    let offers = |words: &str, start: &str| {
        let count = words.split(' ').count();
        let asked = format!(
            "eval \"$(roofline completions bash)\"; COMP_WORDS=({words} '{start}'); COMP_CWORD={count}; \
             _roofline roofline '{start}' {}; echo \"${{COMPREPLY[@]}}\"",
            words.rsplit(' ').next().unwrap()
        );
        scene.shell(&asked).exits(0).stdout
    };
    assert!(offers("roofline run --format", "j").contains("json jsonl junit"));
    assert!(offers("roofline import --format", "").contains("hyperfine"));
    assert!(offers("roofline run --dtype", "bf").contains("bf16"));
    assert!(offers("roofline run --suite", "qu").contains("quick"));
    assert!(offers("roofline run -i", "cpu/pl").contains("cpu/plain"));
    assert!(offers("roofline run --against", "num").contains("numpy"));
    assert!(offers("roofline runners install", "to").contains("torch"));
    assert!(offers("roofline ab --fail-on", "").contains("slower inconclusive policy"));
    let loaded = scene.shell("eval \"$(roofline completions bash)\" && complete -p roofline").exits(0);
    assert!(loaded.stdout.contains("_roofline"), "{}", loaded.stdout);
    scene.call("completions cmd").complains(2, &["bash", "zsh", "fish"]);
}

#[test]
fn every_command_has_a_page() {
    let scene = Scene::new();
    let folder = scene.path("man1");
    scene.call(&format!("man {}", folder.display())).exits(0);
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for command in ["run", "check", "ab", "runs-prune", "completions"] {
        let text = page(&format!("roofline-{command}.1"));
        assert!(text.contains(".SH NAME") && text.contains(".SH OPTIONS"), "{command}: {text}");
    }
    assert!(page("roofline.1").contains("roofline\\-run(1)"), "{}", page("roofline.1"));
    assert!(!folder.join("roofline-keeper.1").exists(), "what roofline starts itself is nobody's to look up");
    std::fs::write(scene.path("file"), "").unwrap();
    scene
        .call(&format!("man {}", scene.path("file").display()))
        .complains(1, &["cannot be written", "hint: "]);
}

#[test]
fn the_machine_for_people_and_programs() {
    let scene = Scene::alone();
    let text = scene.call("machine --quick").exits(0).stdout;
    let fingerprint = text.lines().next().unwrap().strip_prefix("fingerprint").unwrap().trim().to_owned();
    let json: Value = serde_json::from_str(&scene.call("machine --json --quick").exits(0).stdout).unwrap();
    assert_eq!(json["fingerprint"], fingerprint.as_str());
    assert!(json["machine"]["memory"]["total"].as_u64().unwrap() > 1 << 20, "{json}");
}
