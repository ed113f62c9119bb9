//! Lock files of crates outside the workspace, which only few tasks build: they name what our crates need today.

use super::tree::Tree;
use serde_json::Value;

pub(super) fn problems(tree: &Tree) -> Vec<String> {
    let packages = match tree.packages() {
        Ok(packages) => packages,
        Err(why) => return vec![why],
    };
    let locks = tree.texts(|file| file.ends_with("/Cargo.lock"));
    locks.flat_map(|(file, text)| stale(file, &text, &packages)).collect()
}

/// What our crates depend on and a lock file does not know of.
fn stale(file: &str, text: &str, packages: &[Value]) -> Vec<String> {
    let Ok(lock) = text.parse::<toml::Table>() else { return vec![format!("{file}: not TOML")] };
    let mut problems = Vec::new();
    for locked in lock.get("package").and_then(toml::Value::as_array).into_iter().flatten() {
        let name = locked.get("name").and_then(toml::Value::as_str).unwrap_or_default();
        let Some(ours) = packages.iter().find(|package| package["name"] == name) else { continue };
        let known = locked.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
        // A version follows the name where the file has several.
        let known: Vec<&str> = known.filter_map(|line| line.as_str()?.split_whitespace().next()).collect();
        for dependency in ours["dependencies"].as_array().into_iter().flatten() {
            let needed = dependency["name"].as_str().unwrap_or_default();
            let is_built = dependency["kind"] != "dev" && dependency["optional"] != true;
            if is_built && !known.contains(&needed) {
                let folder = file.trim_end_matches("/Cargo.lock");
                problems.push(format!(
                    "{file}: `{name}` needs `{needed}`; run `cargo update --workspace` in {folder}"
                ));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_new_dependency_is_missed_where_it_is_built() {
        let needs = |name: &str, kind: Option<&str>, optional: bool| json!({ "name": name, "kind": kind, "optional": optional });
        let ours = json!({ "name": "ours", "dependencies": [
            needs("old", None, false), needs("new", None, false), needs("test", Some("dev"), false), needs("extra", None, true),
        ] });
        let lock =
            "[[package]]\nname = \"ours\"\ndependencies = [\"old 1.0.0\"]\n[[package]]\nname = \"new\"\n";
        let found = stale("peers/Cargo.lock", lock, &[ours]);
        assert_eq!(found, ["peers/Cargo.lock: `ours` needs `new`; run `cargo update --workspace` in peers"]);
    }
}
