//! Roofs of the machine: measured once, remembered, drawn.

use crate::scene::{Outcome, Scene};
use serde_json::Value;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;

fn quick(scene: &Scene, words: &str) -> Outcome {
    scene.call_with_store(&format!("machine --quick {words}")).exits(0)
}

fn json(scene: &Scene, words: &str) -> Value {
    serde_json::from_str(&quick(scene, &format!("--json {words}")).stdout).unwrap()
}

/// The one file of roofs beside the store.
fn file(scene: &Scene) -> PathBuf {
    let entries = std::fs::read_dir(scene.path("")).unwrap().flatten().map(|entry| entry.path());
    let is_roofs = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("roofs-");
    let mut found: Vec<PathBuf> = entries.filter(is_roofs).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn roofs_are_measured_once_and_again_when_asked() {
    let scene = Scene::alone();
    let first = json(&scene, "");
    let roofs = &first["roofs"];
    for rate in roofs["bandwidth"].as_array().unwrap().iter().chain(roofs["peaks"].as_array().unwrap()) {
        assert!(rate["rate"].as_f64().unwrap() > 1e6, "{rate}");
    }
    for point in roofs["bandwidth"].as_array().unwrap() {
        assert!(point["probe"].as_str().unwrap().starts_with("limit/traffic-"), "{point}");
    }
    let name = format!("roofs-{}.json", first["fingerprint"].as_str().unwrap());
    assert_eq!(file(&scene), scene.path(&name));
    assert_eq!(json(&scene, "")["roofs"], *roofs);
    let again = json(&scene, "--measure");
    assert_ne!(again["roofs"]["measured"], roofs["measured"]);
    assert_eq!(json(&scene, "")["roofs"], again["roofs"]);
}

#[test]
fn roofs_are_shown_and_drawn() {
    let scene = Scene::alone();
    let outcome = quick(&scene, "--svg roofline.svg");
    assert_eq!(outcome.stderr, "");
    for part in ["fingerprint", "working set, 1 thread", "portable-f32", "operations a byte", "16.0 KiB at "]
    {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    let svg = std::fs::read_to_string(scene.path("roofline.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    let refused = scene.call_with_store("machine --quick --svg nowhere/roofline.svg");
    refused.complains(1, &["nowhere/roofline.svg"]);
}

#[test]
fn a_file_that_is_damaged_or_foreign_is_measured_again() {
    let scene = Scene::alone();
    quick(&scene, "");
    let path = file(&scene);
    let good = std::fs::read_to_string(&path).unwrap();
    let fingerprint = json(&scene, "")["fingerprint"].as_str().unwrap().to_owned();
    let foreign = good.replace(&fingerprint, "000000000000");
    for (text, why) in [("{", "EOF"), (foreign.as_str(), "of another machine"), ("[]", "invalid")] {
        std::fs::write(&path, text).unwrap();
        let outcome = quick(&scene, "");
        let said = &outcome.stderr;
        assert!(said.contains("the roofs are measured again") && said.contains(why), "{why}: {said}");
        assert!(outcome.stdout.contains("working set"), "{}", outcome.stdout);
        assert_eq!(quick(&scene, "").stderr, "");
    }
}

#[test]
fn beside_another_run_known_roofs_are_shown_and_none_measured() {
    let scene = Scene::alone();
    let name = scene.lock().unwrap().to_owned();
    let hold = || UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let held = hold();
    let outcome = quick(&scene, "");
    assert!(outcome.stderr.contains("another run is going on (process "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("when it has ended"), "{}", outcome.stderr);
    assert!(!outcome.stdout.contains("working set"), "{}", outcome.stdout);
    scene.call_with_store("machine --quick --svg x.svg").complains(5, &["no roofs to draw"]);
    drop(held);
    quick(&scene, "");
    let _held = hold();
    let outcome = quick(&scene, "--measure");
    assert!(outcome.stderr.contains("shown are the roofs of "), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("working set"), "{}", outcome.stdout);
    assert_eq!(quick(&scene, "").stderr, "");
}

#[test]
fn probes_are_listed_by_name_only() {
    let scene = Scene::new();
    let rows = scene.call("run --dry-run add/f32/rows=1,cols=64").exits(0).stdout;
    assert!(rows.contains("@cpu/plain") && !rows.contains("@limit/"), "{rows}");
    let rows = scene.call("run --dry-run add/f32/rows=1,cols=64 -i limit/*").exits(0).stdout;
    assert!(rows.contains("@limit/traffic-nt-8") && rows.contains("@limit/compute-portable-f32"), "{rows}");
    assert!(!rows.contains("cpu/plain") && !rows.contains("-i8") && !rows.contains("unsupported"), "{rows}");
    let rows = scene.call("run --dry-run --suite roofs -i limit/traffic-*").exits(0).stdout;
    assert!(rows.contains("matmul/i8/m=512,n=512,k=512"), "{rows}");
    assert!(!scene.call("list implementations").exits(0).stdout.contains("limit/"));
}
