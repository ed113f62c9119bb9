//! Other orders of the table, and the table of threads.

use crate::scene::Scene;

#[test]
fn rows_are_sorted_on_request() {
    let scene = Scene::new();
    let words = "check add/f32/rows=2,cols=2 add/f32/rows=3,cols=2 -i cpu/vector,cpu/plain";
    let names = |sort: &str| -> Vec<String> {
        let table = scene.call_with_store(&format!("{words} {sort}")).exits(0).stdout;
        let rows = table.lines().filter(|line| line.starts_with("add/"));
        rows.filter_map(|line| line.split_whitespace().nth(1)).map(str::to_owned).collect()
    };
    let run = names("");
    assert_eq!(run[..2], run[2..], "the rows of a case stand together");
    assert_eq!(names("--sort implementation"), ["cpu/plain", "cpu/plain", "cpu/vector", "cpu/vector"]);
    scene.call(&format!("{words} --sort speed")).complains(2, &["of-limit"]);
    scene
        .call(&format!("{words} --sort median"))
        .complains(2, &["nothing is measured", "--sort implementation"]);
}

#[test]
fn a_table_has_what_there_is_to_say() {
    let scene = Scene::new();
    let checked = scene.call_with_store("check add/f32/rows=2,cols=2 -i cpu").exits(0).stdout;
    assert_eq!(checked.lines().filter(|line| line.contains("  cpu/")).count(), 3, "{checked}");
    let head = checked.lines().next().unwrap_or_default();
    assert!(head.contains("threads") && !head.contains("median") && !head.contains("rate"), "{checked}");
    // What is not offered is counted, unless there is nothing else.
    let none = scene.call_with_store("check add/f64/rows=2,cols=2 -i cpu/vector").exits(5).stdout;
    assert!(none.contains("unsupported: does not offer add in f64\n") && !none.contains("--all"), "{none}");
    let beside = scene.call_with_store("check add/f64/rows=2,cols=2 -i cpu/vector,cpu/plain").exits(0).stdout;
    assert!(beside.contains("not listed without `--all`: cpu/vector 1"), "{beside}");
}

#[test]
fn readings_answer_one_question_each() {
    let scene = Scene::new();
    let words =
        "run softmax --axis rows=16,64 --axis cols=256 --dtype f32 -i cpu/three-pass,cpu/vector --quick";
    let best = scene.call_with_store(&format!("{words} --best")).exits(0).stdout;
    assert_eq!(best.lines().count(), 6, "a head, two cases, and the best of all: {best}");
    assert!(best.lines().last().unwrap_or_default().starts_with("run "), "{best}");
    assert!(best.contains("cpu/vector: ") && best.contains(" as fast as cpu/three-pass"), "{best}");
    // What was measured can be asked again.
    let read = |question: &str| scene.call_with_store(&format!("export {question}"));
    let wins = read("--wins").exits(0).stdout;
    let line = wins.lines().find(|line| line.starts_with("cpu/vector")).unwrap_or_default();
    assert!(line.contains('×') && line.ends_with("in 2 cases"), "{wins}");
    let by = read("--by rows").exits(0).stdout;
    assert!(by.contains("rows=*,cols=256") && by.contains("rows=64") && by.contains("rows^"), "{by}");
    read("--by row").complains(2, &["no case here has the axis `row`", "`rows`"]);
    scene.call(&format!("{words} --by heads")).complains(2, &["cols, rows"]);
    scene.call(&format!("{words} --best --wins")).complains(2, &["--best", "--wins"]);
}

#[test]
fn a_table_of_a_plain_locale_is_plain_and_quiet_says_nothing() {
    let scene = Scene::new();
    let words = "run softmax/f32/rows=16,cols=256 -i cpu/vector --quick --quiet --store store.db";
    let table = scene.shell(&format!("LC_ALL=C roofline {words}")).exits(0);
    assert!(table.stdout.is_ascii() && table.stdout.contains(" us "), "{}", table.stdout);
    assert_eq!(table.stderr, "");
    let table = scene.shell("LC_ALL=C.UTF-8 roofline export --store store.db").exits(0);
    assert!(table.stdout.contains("µs"), "{}", table.stdout);
    // Formulas too, and what goes wrong.
    for list in ["list", "list implementations", "list suites"] {
        let shown = scene.shell(&format!("LC_ALL=C roofline {list}")).exits(0).stdout;
        assert!(shown.is_ascii() && !shown.contains("\\u{"), "{shown}");
    }
    let said = scene.shell("LC_ALL=C roofline run 'ä×' 2>&1").exits(2).stdout;
    assert!(said.is_ascii() && said.contains("x`"), "{said}");
}

#[test]
fn what_is_exported_has_the_figures_and_the_order_of_its_run() {
    let scene = Scene::new();
    let words = "run add/f32/rows=3,cols=500 softmax/f32/rows=3,cols=300 --quick --format csv";
    let rows = |csv: &str| -> Vec<String> {
        let row = |line: &str| line.split(',').skip(3).take(4).collect::<Vec<_>>().join(",");
        csv.lines().filter(|line| !line.contains("limit/")).map(row).collect()
    };
    let run = scene.call_with_store(words).exits(0).stdout;
    let exported = scene.call_with_store("export --format csv").exits(0).stdout;
    assert_eq!(rows(&run), rows(&exported));
    let sorted = scene.call_with_store("export --format jsonl --sort median").exits(0).stdout;
    let records: Vec<serde_json::Value> =
        sorted.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let medians: Vec<f64> =
        records.iter().filter_map(|record| record["derived"]["median_seconds"].as_f64()).collect();
    assert!(medians.len() > 6 && medians.is_sorted(), "{medians:?}");
    assert!(records.iter().all(|record| record["provenance"]["seed"].is_string()), "{sorted}");
}

#[test]
fn scaling_holds_parallel_against_serial() {
    let scene = Scene::new();
    let words = "run add --axis rows=64 --axis cols=1024 --dtype f32 --threads 1 -i cpu/plain,cpu/vector \
        --quick --scaling";
    let text = scene.call_with_store(words).exits(0).stdout;
    assert!(text.contains("speed-up") && text.contains("serial"), "{text}");
    scene.call("run add --scaling --format csv").complains(2, &["--scaling", "--format"]);
}
