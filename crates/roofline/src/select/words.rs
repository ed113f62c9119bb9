//! What the words of a selection name: operations, cases, or those of a suite.

use crate::args::Select;
use crate::error::Problem;
use roofline_core::case::{Case, CaseError};
use roofline_core::names::matches;
use roofline_core::nearest::nearest;
use roofline_core::suite::Block;
use std::path::Path;

/// The words by what they are. Cases by id are cases of their own, and of the suite where one is named.
pub struct Words<'a> {
    forms: Vec<(&'static str, &'static str)>,
    ids: Vec<Case>,
    globs: Vec<&'a String>,
}

impl<'a> Words<'a> {
    pub fn parse(select: &'a Select) -> Result<Words<'a>, Problem> {
        select.words().try_for_each(|word| check_no_file(word))?;
        let (cases, names): (Vec<&String>, Vec<&String>) =
            select.words().partition(|word| word.contains('/'));
        let (globs, ids): (Vec<&String>, Vec<&String>) = cases.into_iter().partition(|word| is_glob(word));
        let case = |id: &&String| {
            id.parse::<Case>().map_err(|error: CaseError| Problem::usage(error.to_string(), error.hint))
        };
        let ids = ids.iter().map(case).collect::<Result<_, _>>()?;
        Ok(Words { forms: super::forms(&names)?, ids, globs })
    }

    /// Operations with their variants.
    pub fn forms(&self) -> &[(&'static str, &'static str)] {
        &self.forms
    }

    pub fn ids(&self) -> &[Case] {
        &self.ids
    }

    pub fn has_globs(&self) -> bool {
        !self.globs.is_empty()
    }

    /// Whether nothing is named but cases by their ids.
    pub fn are_ids(&self) -> bool {
        !self.ids.is_empty() && self.forms.is_empty() && self.globs.is_empty()
    }

    /// Whether one of the words names this case of a suite; all are meant where there is no word.
    pub fn name(&self, block: &Block, case: &Case) -> bool {
        let is_open = self.forms.is_empty() && self.ids.is_empty() && self.globs.is_empty();
        is_open
            || self.forms.contains(&(block.operation.name, block.variant))
            || self.ids.contains(case)
            || self.globs.iter().any(|glob| matches(glob, &case.to_string()))
    }

    /// Each case and glob that is named must be of the suite, of which these are all cases.
    pub fn check_are_of(&self, suite: &str, cases: &[Case]) -> Result<(), Problem> {
        let known = || cases.iter().map(Case::to_string).collect::<Vec<_>>();
        if let Some(case) = self.ids.iter().find(|case| !cases.contains(case)) {
            let (id, known) = (case.to_string(), known());
            let hint = match nearest(&id, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`? Without `--suite` any case can be named"),
                None => format!(
                    "`roofline list cases --suite {suite}` shows those it has; without `--suite` any case can be named"
                ),
            };
            return Err(Problem::usage(format!("the suite `{suite}` has no case `{id}`"), hint));
        }
        let is_idle = |glob: &&&String| !known().iter().any(|case| matches(glob, case));
        match self.globs.iter().find(is_idle) {
            Some(glob) => Err(Problem::nothing(
                format!("no case of the suite `{suite}` matches `{glob}`"),
                format!("`roofline list cases --suite {suite}` shows them; `--suite` names another one"),
            )),
            None => Ok(()),
        }
    }
}

/// Whether a word stands for several.
fn is_glob(word: &str) -> bool {
    word.contains('*')
}

/// A file that stands where operations do has an option of its own.
fn check_no_file(word: &str) -> Result<(), Problem> {
    let kind = Path::new(word).extension().unwrap_or_default();
    let option = match kind.to_str() {
        Some("so") => "--lib",
        Some("py") => "--python",
        Some("cu" | "cubin") => "--cuda",
        Some("toml") => "--suite",
        _ => return Ok(()),
    };
    Err(Problem::usage(
        format!("`{word}` is no operation and no case"),
        format!("a file is named by `{option} {word}`"),
    ))
}
