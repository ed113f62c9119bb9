//! The table of the README: the first table of the newest published run of the suite `quick`.
//!
//! Results lie in `results/<machine>/<date>-quick.md`, so the last name is the newest, in every clone
//! alike.

use crate::step::Failure;
use crate::tidy::Tree;
use std::path::Path;

pub(super) fn make(root: &Path, _: &str) -> Result<Option<String>, Failure> {
    let tree = Tree::read(root)?;
    let Some(newest) = newest(tree.files_named(&["md"])) else { return Ok(None) };
    let text = tree.text(newest).unwrap_or_default();
    let table = first_table(&text).ok_or_else(|| {
        let hint = "begin the file with the table that the README shows";
        Failure::new("readme-table", format!("`{newest}` holds no table"), hint)
    })?;
    Ok(Some(format!("{table}\n\nFrom [{newest}]({newest}).")))
}

fn newest<'tree>(files: impl Iterator<Item = &'tree str>) -> Option<&'tree str> {
    let is_result = |path: &&str| path.starts_with("results/") && path.ends_with("-quick.md");
    files.filter(is_result).max_by_key(|path| path.rsplit('/').next())
}

/// The first Markdown table, or the first code block if that comes before.
fn first_table(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with('|') && !line.starts_with("```"));
    let first = lines.next()?;
    let mut table = vec![first];
    if first.starts_with('|') {
        table.extend(lines.take_while(|line| line.starts_with('|')));
    } else {
        table.extend(lines.by_ref().take_while(|line| !line.starts_with("```")));
        table.push("```");
    }
    Some(table.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_is_the_newest() {
        let files = [
            "results/b/2026-01-02-quick.md",
            "results/a/2026-11-15-quick.md",
            "results/z/README.md",
            "docs/z.md",
        ];
        assert_eq!(newest(files.into_iter()), Some("results/a/2026-11-15-quick.md"));
        assert_eq!(newest(["README.md"].into_iter()), None);
    }

    #[test]
    fn tables_and_code_blocks_are_found() {
        assert_eq!(first_table("# T\n\n| a |\n|---|\n| 1 |\n\nrest").as_deref(), Some("| a |\n|---|\n| 1 |"));
        assert_eq!(first_table("x\n```text\na  b\n```\n| c |").as_deref(), Some("```text\na  b\n```"));
        assert_eq!(first_table("nothing"), None);
    }
}
