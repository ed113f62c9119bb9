//! Which crate may see which. Every kind of dependency counts, those of tests and build scripts too.

use super::tree::Tree;
use serde_json::Value;

/// A crate of the workspace and the crates of the workspace that it may see.
type Row = (&'static str, &'static [&'static str]);

const ALLOWED: &[Row] = &[
    ("roofline-protocol", &[]),
    ("roofline-core", &["roofline-protocol"]),
    // Kernels are libraries first, and so is what they stand on.
    ("roofline-lanes", &[]),
    ("roofline-cpu", &["roofline-lanes"]),
    ("roofline-cuda", &[]),
    (
        "roofline-runner",
        &["roofline-protocol", "roofline-core", "roofline-lanes", "roofline-cpu", "roofline-cuda"],
    ),
    // Between the conductor and any kernel there is a process, never a dependency.
    ("roofline-conductor", &["roofline-core"]),
    ("roofline-store", &["roofline-core"]),
    ("roofline-report", &["roofline-core"]),
    // What a run has around it, for whoever begins one.
    ("roofline-run", &["roofline-core", "roofline-conductor", "roofline-store", "roofline-report"]),
    // What a bench binary is conducted by: the program `roofline`, or itself.
    (
        "roofline-benches",
        &[
            "roofline-core",
            "roofline-runner",
            "roofline-conductor",
            "roofline-store",
            "roofline-report",
            "roofline-run",
        ],
    ),
    // Users compile it: no kernel of the house is part of it, and all but the first two only where operations are their own.
    (
        "roofline-bench",
        &[
            "roofline-protocol",
            "roofline-runner",
            "roofline-bench",
            "roofline-benches",
            "roofline-core",
            "roofline-conductor",
            "roofline-run",
        ],
    ),
    (
        "roofline",
        &[
            "roofline-core",
            "roofline-cpu",
            "roofline-cuda",
            "roofline-runner",
            "roofline-conductor",
            "roofline-store",
            "roofline-report",
            "roofline-run",
            "roofline-benches",
        ],
    ),
    // A runner like any other, but of cheats.
    ("saboteur", &["roofline-core", "roofline-runner"]),
    // The noise study measures it: a runner of kernels of the house with a known share of extra work.
    ("knob", &["roofline-core", "roofline-cpu", "roofline-runner"]),
    // Turns off checks through the library, which the command line cannot.
    ("studies", &["roofline-core", "roofline-conductor"]),
    // Tasks start the program like a user does, and stay quick to build.
    ("xtask", &[]),
];

/// What tests alone may see: kernels are held to the gate's own references.
const FOR_TESTS: &[(&str, &str)] = &[("roofline-cpu", "roofline-core"), ("roofline-cuda", "roofline-core")];

pub(super) fn problems(tree: &Tree) -> Vec<String> {
    match tree.packages() {
        Ok(packages) => forbidden_arrows(&packages),
        Err(why) => vec![why],
    }
}

fn forbidden_arrows(packages: &[Value]) -> Vec<String> {
    let name_of = |value: &Value| value["name"].as_str().unwrap_or_default().to_string();
    let ours: Vec<String> = packages.iter().map(name_of).collect();
    let mut problems = Vec::new();
    for (package, name) in packages.iter().zip(&ours) {
        let Some((_, allowed)) = ALLOWED.iter().find(|(allowed, _)| allowed == name) else {
            problems.push(format!("`{name}` has no row: say in `xtask/src/tidy/arrows.rs` what it may see"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let seen = name_of(dependency);
            let for_tests =
                dependency["kind"] == "dev" && FOR_TESTS.contains(&(name.as_str(), seen.as_str()));
            if ours.contains(&seen) && !allowed.contains(&seen.as_str()) && !for_tests {
                let kind = dependency["kind"].as_str().map(|kind| format!(" ({kind})")).unwrap_or_default();
                problems.push(format!("`{name}` must not depend on `{seen}`{kind}"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
        json!({ "name": name, "dependencies": dependencies })
    }

    #[test]
    fn the_judge_cannot_see_a_kernel_even_in_tests() {
        let packages = [
            package("roofline-core", &[("serde", None)]),
            package("roofline-cpu", &[]),
            package("roofline-conductor", &[("roofline-core", None), ("roofline-cpu", Some("dev"))]),
        ];
        assert_eq!(
            forbidden_arrows(&packages),
            ["`roofline-conductor` must not depend on `roofline-cpu` (dev)"]
        );
    }

    #[test]
    fn an_unknown_crate_needs_a_row() {
        assert_eq!(forbidden_arrows(&[package("roofline-new", &[])]).len(), 1);
    }
}
