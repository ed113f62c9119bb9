//! What users mistype, each with its exit code and one message that helps.

use crate::scene::{Outcome, Scene};

/// Calls `roofline check` and expects exit code 2.
#[track_caller]
fn usage(words: &str, parts: &[&str]) -> Outcome {
    let scene = Scene::new();
    let outcome = scene.call_with_store(&format!("run {words}")).complains(2, parts);
    assert!(!scene.store().exists(), "a mistake writes nothing");
    outcome
}

#[test]
fn unknown_names_have_a_nearest_one() {
    usage("sofmax", &["unknown operation `sofmax`", "hint: did you mean `softmax`?"]);
    usage("frobnicate", &["unknown operation `frobnicate`", "hint: the operations are add, sub"]);
    usage("matmul.no", &["`matmul` has no variant `no`", "hint: its forms are matmul, matmul.nn"]);
    usage("add --dtype f31", &["unknown dtype `f31`", "hint: did you mean `f32`?"]);
    usage("add --format tabel", &["unknown format `tabel`", "hint: did you mean `table`?"]);
    usage("add --format spreadsheet", &["unknown format `spreadsheet`", "hint: the formats are table, json"]);
    usage("--suite qiuck", &["there is no suite `qiuck`", "hint: did you mean `quick`?"]);
    usage("--suite everything", &["there is no suite `everything`", "hint: `roofline list suites`"]);
    usage("--suite nowhere.toml", &["nowhere.toml", "No such file", "hint: name a TOML file"]);
    usage("add --device gpu", &["`gpu` is no device", "hint: `cpu` or `cuda:N`"]);
    usage("add --cache hot", &["'hot'", "warm, cold"]);
    usage("add --axes rows=1", &["--axes", "--axis"]);
    usage(
        "./mine.so",
        &["`./mine.so` is no operation and no case", "hint: a file is named by `--lib ./mine.so`"],
    );
    usage("mine.py", &["`mine.py` is no operation", "`--python mine.py`"]);
    let scene = Scene::new();
    scene.call("chek").complains(2, &["'chek'", "'check'"]);
    let outcome = scene.call("rnu").complains(2, &["'rnu'", "'runs'"]);
    assert!(!outcome.stderr.contains("'runner'"), "a command of our own: {}", outcome.stderr);
    scene.call("list implementation").complains(2, &["'implementation'", "'implementations'"]);
}

#[test]
fn malformed_case_ids_say_what_is_wrong_with_them() {
    for (id, why, hint) in [
        ("add/", "unknown dtype ``", "did you mean"),
        ("add/f32", "has no axes", "a case is `operation/dtype/axis=value,axis=value`"),
        ("add/f32/", "`` is not `axis=value`", "`add` has the axes rows, cols"),
        ("add/f32/rows=1", "lacks the axis `cols`", "`add` has the axes rows, cols"),
        ("add/f32/rows=1,rows=2", "gives `rows` twice", "rows, cols"),
        ("add/f32/rows=1,colls=2", "`add` has no axis `colls`", "did you mean `cols`?"),
        ("add/f32/rows=-1,cols=2", "`-1` is not a size", "whole number"),
        ("add/f32/rows=1e3,cols=2", "`1e3` is not a size", "whole number"),
        ("add/f32/rows=99999999999,cols=2", "`99999999999` is not a size", "4294967295"),
        ("add/i8/rows=1,cols=2", "`add` is not defined for `i8`", "f32, bf16, f16, f64"),
        ("add/f33/rows=1,cols=2", "unknown dtype `f33`", "did you mean"),
        ("sofmax/f32/rows=1,cols=2", "unknown operation `sofmax`", "did you mean `softmax`?"),
        ("rms-norm/f32/rows=1,cols=2,eps=-1", "`-1` is not a value of `eps`", "from 0 to 1"),
        ("matmul/f32+f16/m=1,n=1,k=1", "`matmul` is not defined for `f32+f16`", "f16+f16"),
        ("add/f32/rows=1,cols=2/threads=0", "`0` is not a number of threads", "1 to 4096"),
        ("add/f32/rows=1,cols=2/speed=11", "does not understand `speed=11`", "`threads=N`"),
        ("add/f32/rows=1,cols=2/device=tpu", "`tpu` is no device", "`device=cuda:N`"),
    ] {
        usage(id, &[&format!("error: case id `{id}`: {why}"), "\nhint: ", hint]);
    }
}

#[test]
fn axes_that_do_not_fit() {
    usage("add --axis rows=", &["axis `rows=`: has no value", "hint: values are"]);
    usage("add --axis rows=9:1:*2 --axis cols=1", &["`9:1` holds no value", "hint: values are"]);
    usage("add --axis rows=1:9:*1 --axis cols=1", &["axis `rows=1:9:*1`", "hint: values are"]);
    usage("add --axis rows=1:4096:+0 --axis cols=1", &["axis `rows=1:4096:+0`", "hint: values are"]);
    usage("add --axis rows=x --axis cols=1", &["axis `rows=x`", "hint: values are"]);
    usage("add --axis rows", &["axis `rows`: write it as `name=values`"]);
    usage("add --axis rwos=1 --axis cols=1", &["`add` has no axis `rwos`", "hint: did you mean `rows`?"]);
    usage("add --axis rows=1", &["`add` needs the axis `cols` once", "hint: add `--axis cols=...`"]);
    usage("add --axis rows=1 --axis rows=2 --axis cols=1", &["`rows` once; it is given 2 times", "hint: "]);
    usage("add --axis rows=1:9999:+1 --axis cols=1:9999:+1", &["expands to more than 100000", "hint: "]);
    usage("add --axis rows=1:99999999:+1 --axis cols=1", &["axis `rows=1:99999999:+1`", "hint: "]);
    usage("add --dtype i8 --axis rows=1 --axis cols=1", &["`add` is not defined for `i8`", "hint: "]);
    let both = ["the suite `quick` brings its own cases", "hint: leave out one of the two"];
    usage("add --suite quick --axis rows=1 --axis cols=1", &both);
    let globs = ["`--axis` makes others", "hint: name operations"];
    usage("add add/f32/* --axis rows=1 --axis cols=1", &globs);
    let near = [
        "the suite `quick` has no case `softmax/f32/rows=512,cols=1022`",
        "`softmax/f32/rows=512,cols=1021`",
    ];
    usage("softmax/f32/rows=512,cols=1022 --suite quick", &near);
    usage("--axis rows=1", &["`--axis` without an operation", "hint: name one"]);
}

#[test]
fn values_of_options() {
    let case = "add/f32/rows=1,cols=1";
    for (option, value, hint) in [
        ("--budget", "fast", "write `500ms`, `2s` or `1min`"),
        ("--budget", "3fortnights", "`3fortnights` is not a time"),
        ("--budget", "1.2.3s", "is not a time"),
        ("--budget", "25h", "a day, `24h`, is the most"),
        ("--timeout", "0s", "`1ms` is the least"),
        ("--timeout", "18446744073709551615", "a day, `24h`, is the most"),
        ("--size", "64MB", "write KiB, MiB or GiB"),
        ("--size", "much", "write `64MiB`"),
        ("--size", "-4", "write `64MiB`"),
        ("--size", "99999999999GiB", "is too much"),
        ("--memory", "1KiB", "a runner needs `16MiB` to start"),
        ("--memory", "lots", "write `64MiB`"),
        ("--threads", "0", "numbers from 1 to 4096"),
        ("--threads", "1,x", "numbers from 1 to 4096"),
        ("--threads", "5000", "numbers from 1 to 4096"),
        ("--seed", "secret", "--seed"),
    ] {
        usage(&format!("{case} {option} {value}"), &[option, hint]);
    }
}

#[test]
fn mistakes_in_a_suite_have_line_and_column() {
    let scene = Scene::new();
    let good = "[[cases]]\noperation = \"add\"\ndtype = \"f32\"\naxes = { rows = 1, cols = 1 }\n";
    for (text, parts) in [
        (good.replace("dtype", "dtypes"), ["mine.toml:3:1", "unknown key `dtypes`", "did you mean `dtype`?"]),
        (format!("abuot = 1\n{good}"), ["mine.toml:1:1", "unknown key `abuot`", "did you mean `about`?"]),
        (good.replace("rows", "rwos"), ["mine.toml:4:10", "no axis `rwos`", "did you mean `rows`?"]),
        (good.replace("add", "ad"), ["mine.toml:2:13", "unknown operation `ad`", "did you mean `add`?"]),
        (good.replace("f32", "f31"), ["mine.toml:3:9", "unknown dtype `f31`", "did you mean `f32`?"]),
        (good.replace("\"f32\"", "32"), ["mine.toml:3:9", "expected a string", "roofline new suite"]),
        ("{\"not\": \"toml\"}".to_owned(), ["mine.toml:1:1", "", "not TOML"]),
        (String::new(), ["mine.toml", "selects no case", "at least one `[[cases]]`"]),
    ] {
        scene.write("mine.toml", &text);
        scene.call_with_store("check --suite mine.toml").complains(2, &parts);
        assert!(!scene.store().exists(), "{text}");
    }
    std::fs::write(scene.path("mine.toml"), b"about = \"\xff\"").unwrap();
    scene.call_with_store("check --suite mine.toml").complains(2, &["mine.toml", "UTF-8"]);
    std::fs::create_dir(scene.path("folder.toml")).unwrap();
    scene.call_with_store("check --suite folder.toml").complains(2, &["folder.toml", "hint: "]);
}

#[test]
fn nothing_selected_is_5() {
    let scene = Scene::new();
    let case = "add/f32/rows=1,cols=1";
    for (words, parts) in [
        ("frob*", ["no operation matches `frob*`", "hint: `roofline list ops`"]),
        (
            "softmax/i8/*",
            ["no case of the suite `quick` matches `softmax/i8/*`", "hint: `roofline list cases"],
        ),
        ("add --size 1B", ["nothing is selected: no case is left", "hint: `roofline list cases`"]),
        ("add --dtype i8", ["nothing is selected: no case is left", "`--axis`"]),
        (
            &format!("{case} -i cpu/three-pass"),
            ["`cpu/three-pass` is for `softmax`, not for `add`", "hint: "],
        ),
        (
            &format!("{case} -i cpu/nothing-like-it"),
            ["nothing is selected", "`roofline list implementations`"],
        ),
        (&format!("{case} -i */nothing-like-it"), ["nothing is selected", "`roofline list implementations`"]),
        (&format!("{case} -i nunpy/ufunc"), ["there is no runner `nunpy`", "hint: `roofline runners`"]),
        (&format!("{case} -i cpo/plain"), ["there is no runner `cpo`", "hint: did you mean `cpu`?"]),
        (&format!("{case} -i cpo"), ["there is no runner `cpo`", "hint: did you mean `cpu`?"]),
        (
            &format!("{case} -i plain"),
            ["there is no runner `plain`", "hint: did you mean `cpu/plain`, or `*/plain`?"],
        ),
        (&format!("{case} --runner nowhere"), ["there is no runner `nowhere`", "hint: `roofline runners`"]),
        (
            &format!("{case} --runner runners"),
            ["there is no runner `runners`", "`runners` has no runner.toml"],
        ),
    ] {
        scene.call_with_store(&format!("check {words}")).complains(5, &parts);
        assert!(!scene.store().exists(), "{words}");
    }
    scene.call("list cases add --size 1B").complains(5, &["nothing is selected"]);
}

#[test]
fn rows_that_cannot_be_explained() {
    let scene = Scene::new();
    let explain = |row: &str| scene.call_with_store(&format!("explain {row}"));
    explain("add").complains(2, &["names no implementation", "hint: a row is `CASE@provider/name`"]);
    explain("add/f32/rows=1,cols=1@cpu").complains(2, &["does not end in `provider/name`", "hint: "]);
    explain("add/f32/rows=1@cpu/plain").complains(2, &["lacks the axis `cols`", "hint: "]);
    explain("add/f32/rows=1,cols=1@cpu/plain").complains(1, &["there is no store", "hint: `roofline run`"]);
    assert!(!scene.store().exists());
    scene.call_with_store("check add/f32/rows=1,cols=1 -i cpu/plain").exits(0);
    explain("add/f32/rows=1,cols=1")
        .complains(2, &["names no implementation", "`add/f32/rows=1,cols=1@cpu/plain`"]);
    explain("add/f32/rows=1,cols=2@cpu/plain").complains(
        5,
        &["no record of", "hint: `roofline run add/f32/rows=1,cols=2 -i cpu/plain` measures it"],
    );
}

/// What cannot do anything is no option.
#[test]
fn check_takes_nothing_that_is_about_times() {
    let scene = Scene::new();
    for option in [
        "--budget 1s",
        "--against numpy",
        "--save x",
        "--baseline x",
        "--fail-on slower",
        "--targets",
        "--best",
    ] {
        let name = option.split(' ').next().unwrap_or_default();
        scene.call(&format!("check add {option}")).complains(2, &[name]);
    }
    scene.call("explain add/f32/rows=1,cols=1@cpu/plain --lib x.so").complains(2, &["--lib"]);
    scene.call("check add --sort median").complains(2, &["`--sort median`", "hint: "]);
}

#[test]
fn a_list_takes_nothing_that_would_not_narrow_it() {
    let scene = Scene::new();
    for (list, option) in [
        ("ops", "--dtype f32"),
        ("ops", "--suite quick"),
        ("implementations", "--threads 2"),
        ("implementations", "--axis rows=1"),
        ("suites", "--suite quick"),
        ("groups", "--group softmax"),
        ("sizes", "--device cpu"),
        ("devices", "--device cpu"),
        ("formats", "--cache cold"),
        ("formats", "--param eps=1"),
        ("suites", "--size 1MiB"),
    ] {
        let name = option.split(' ').next().unwrap_or_default();
        let why = format!("`{name}` selects nothing here");
        scene.call(&format!("list {list} {option}")).complains(2, &[&why, "hint: "]);
    }
    let typed = scene.call("list implementations matmul --dtype f64").exits(0).stdout;
    let all = scene.call("list implementations matmul").exits(0).stdout;
    assert!(typed.lines().all(|line| line.contains("f64") || line.contains("not asked")), "{typed}");
    assert!(typed.contains("cpu/") && typed.lines().count() < all.lines().count(), "{typed}");
    scene.call("list implementations --dtype f31").complains(2, &["unknown dtype `f31`", "`f32`"]);
}
