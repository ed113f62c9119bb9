//! What its clocks cast doubt on is measured anew: noise costs nobody a row, and a lie gains nothing.

use crate::scene::Scene;
use serde_json::Value;

/// Halves its times in the processes that are started first, so many of them.
const LIAR: &str = r#"
import array, operator
from roofline_runner import Runner
import roofline_runner.runner as sdk

with open(STARTS, "a") as file:
    file.write("x")
    lies = file.tell() <= LIES

runner = Runner("mine", version="1.0")

@runner.implementation("mine/liar", operation="add", dtypes=["f32"])
def liar(job):
    x, y, z = (tensor.memory.cast("f") for tensor in job.tensors)

    def launch():
        z[:] = array.array("f", map(operator.add, x, y))

    return launch

honest_visit = sdk.visit

def visit(call, warmup, samples, batch, **more):
    times, copying, result = honest_visit(call, warmup, samples, batch, **more)
    return [time / 2 if lies and is_set else time for time in times], copying, result

sdk.visit = visit
is_set = False
prepare = runner._prepare

def note(question):
    # The process that stands in the gate sees more than one case.
    global is_set, cases
    cases += 1
    is_set = cases == 1
    return prepare(question)

cases = 0
runner._METHODS = {**runner._METHODS, "prepare": lambda self, question: note(question)}
runner.serve()
"#;

/// The row of a kernel that lies in its first `lies` processes.
fn row(lies: u32) -> Value {
    let scene = Scene::new();
    // The one folder that a runner may write to.
    let starts = scene.path("mine/starts").display().to_string();
    scene.python_runner("mine", &format!("STARTS = {starts:?}\nLIES = {lies}\n{LIAR}"));
    let words = "run add/f32/rows=64,cols=100 -i mine/liar --runner mine --quick --format jsonl";
    scene.call_with_store(words).row("mine/liar")
}

#[test]
fn whoever_lies_at_first_has_the_time_of_when_it_is_honest() {
    let why = |row: &Value| row["provenance"]["notes"]["measured anew"].as_str().map(str::to_owned);
    // One process is asked what it offers, one stands in the gate, and six are a look, which tells too little where a host
    // takes the machine away meanwhile.
    let row = (0..2).map(|_| row(8)).find(|row| why(row).is_some()).unwrap_or_else(|| row(8));
    assert_eq!(row["status"], "ok", "{row}");
    assert!(why(&row).is_some_and(|why| why.contains("claims")), "{row}");
    let sets: Vec<u64> =
        row["samples"].as_array().unwrap().iter().map(|sample| sample[0].as_u64().unwrap()).collect();
    assert!(!sets.is_empty() && sets.iter().all(|set| *set >= 6), "times of doubted sets: {sets:?}");
}

#[test]
fn whoever_lies_on_has_no_time() {
    let row = row(1000);
    assert_eq!(row["status"], "suspect", "{row}");
    assert!(row["why"].as_str().unwrap().contains("; and before it was measured anew: "), "{row}");
    assert!(row["samples"].as_array().unwrap().is_empty(), "{row}");
}
