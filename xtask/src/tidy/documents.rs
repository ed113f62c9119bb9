//! Rules about Markdown: links lead somewhere, and every document can be found.

use super::tree::{Tree, is_fixture};
use std::collections::BTreeSet;

/// Where readers start. Until the first two exist, documents cannot be listed anywhere.
const STARTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "docs/guide.md"];

pub(super) fn broken_links(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, text) in documents(tree) {
        for link in links(&text) {
            let Some(target) = local_target(file, &link) else { continue };
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            if !tree.exists(path) {
                problems.push(format!("{file}: `{link}` leads nowhere"));
            } else if !heading.is_empty() && path.ends_with(".md") && !has_heading(tree, path, heading) {
                problems.push(format!("{file}: `{link}`: no such heading"));
            }
        }
    }
    problems
}

pub(super) fn orphans(tree: &Tree) -> Vec<String> {
    if !STARTS[..2].iter().all(|start| tree.contains(start)) {
        return Vec::new();
    }
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<String> = STARTS.map(String::from).to_vec();
    while let Some(file) = open.pop() {
        if !tree.contains(&file) || !reached.insert(file.clone()) || !file.ends_with(".md") {
            continue;
        }
        let text = tree.text(&file).unwrap_or_default();
        let targets = links(&text).into_iter().filter_map(|link| local_target(&file, &link));
        open.extend(targets.map(|target| target.split('#').next().unwrap_or_default().to_string()));
    }
    let documents = documents(tree).map(|(file, _)| file).filter(|file| file.starts_with("docs/"));
    let lost = documents.filter(|file| !reached.contains(*file));
    lost.map(|file| format!("{file}: nothing leads to it from {}", STARTS.join(", "))).collect()
}

/// For each line, whether it belongs to a code block.
pub(crate) fn fenced_lines(text: &str) -> Vec<bool> {
    let mut fence: Option<&str> = None;
    let mut fenced = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        fenced.push(fence.is_some() || mark.is_some());
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
    }
    fenced
}

fn documents(tree: &Tree) -> impl Iterator<Item = (&str, String)> {
    tree.texts(|file| file.ends_with(".md") && !is_fixture(file))
}

/// Targets of links, images and reference definitions outside of code.
fn links(text: &str) -> Vec<String> {
    let fenced = fenced_lines(text);
    let prose: Vec<String> = text
        .lines()
        .zip(fenced)
        .filter(|(_, fenced)| !fenced)
        .map(|(line, _)| without_code_spans(line))
        .collect();
    let mut links = Vec::new();
    for line in &prose {
        if let Some(definition) = line.strip_prefix('[').and_then(|line| line.split_once("]: ")) {
            links.extend(definition.1.split_whitespace().next().map(String::from));
        }
        for attribute in ["href=\"", "src=\""] {
            let after = line.split(attribute).skip(1);
            links.extend(after.filter_map(|rest| rest.split_once('"')).map(|(target, _)| target.to_string()));
        }
    }
    // A link may be broken over two lines between its brackets, never inside its target.
    for rest in prose.join("\n").split("](").skip(1) {
        let target = rest.split([')', '\n']).next().unwrap_or_default();
        links.extend(
            target.split_whitespace().next().map(|target| target.trim_matches(['<', '>']).to_string()),
        );
    }
    links
}

fn without_code_spans(line: &str) -> String {
    // A lone backtick opens nothing.
    let parts: Vec<&str> = line.split('`').collect();
    let is_prose = |index: usize| index.is_multiple_of(2) || index + 1 == parts.len();
    parts.iter().enumerate().map(|(index, part)| if is_prose(index) { *part } else { "" }).collect()
}

/// Where a link of `file` leads inside the tree, as `path` or `path#heading`.
fn local_target(file: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") || link.is_empty() {
        return None;
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if path.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    let path =
        if path.is_empty() { file.to_string() } else { parts.join("/").trim_start_matches('/').to_string() };
    Some(if heading.is_empty() { path } else { format!("{path}#{heading}") })
}

fn has_heading(tree: &Tree, path: &str, heading: &str) -> bool {
    let Some(text) = tree.text(path) else { return false };
    let lines = text.lines().zip(fenced_lines(&text)).filter(|(_, fenced)| !fenced).map(|(line, _)| line);
    let mut names =
        lines.filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#')));
    names.any(|name| name == heading) || text.contains(&format!("<a id=\"{heading}\"></a>"))
}

/// A heading as GitHub names it in addresses.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "[a](b.md) and ![c](d.png \"title\")\n`[no](no.md)`\n```\n[no](no.md)\n```\n[e]: f.md\n\
                    [g\nh](i.md#j) <img src=\"k.svg\">\n";
        assert_eq!(links(text), ["f.md", "k.svg", "b.md", "d.png", "i.md#j"]);
    }

    #[test]
    fn targets_are_resolved_from_the_documents_folder() {
        let target = |file, link| local_target(file, link);
        assert_eq!(target("docs/guide.md", "../README.md#use").as_deref(), Some("README.md#use"));
        assert_eq!(target("docs/guide.md", "format.md").as_deref(), Some("docs/format.md"));
        assert_eq!(target("docs/guide.md", "#top").as_deref(), Some("docs/guide.md#top"));
        assert_eq!(target("README.md", "docs/").as_deref(), Some("docs"));
        assert_eq!(target("README.md", "/docs/guide.md").as_deref(), Some("docs/guide.md"));
        assert_eq!(target("README.md", "https://example.org/x.md"), None);
    }

    #[test]
    fn headings_become_anchors() {
        assert_eq!(anchor(" Why `unsafe`? A - B"), "why-unsafe-a---b");
    }

    #[test]
    fn broken_links_and_orphans_are_found() {
        let folder = TempDir::new().expect("temporary folder");
        let files = [
            ("README.md", "[guide](docs/guide.md#two) [gone](docs/gone.md) [none](docs/guide.md#three)\n"),
            ("ARCHITECTURE.md", "# A\n"),
            ("docs/guide.md", "## Two\n[why](design/why.md)\n"),
            ("docs/design/why.md", "[back](../../README.md)\n"),
            ("docs/lost.md", ""),
        ];
        std::fs::create_dir_all(folder.path().join("docs/design")).expect("folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("file");
        }
        let tree = Tree::of(folder.path(), &files.map(|(name, _)| name));
        assert_eq!(
            broken_links(&tree),
            ["README.md: `docs/gone.md` leads nowhere", "README.md: `docs/guide.md#three`: no such heading"]
        );
        assert_eq!(orphans(&tree).len(), 1);
        assert!(orphans(&tree)[0].starts_with("docs/lost.md"));
        assert!(orphans(&Tree::of(folder.path(), &["README.md", "docs/lost.md"])).is_empty());
    }
}
