//! `[policy]` of `roofline.toml`.
//!
//! ```toml
//! [policy]
//! critical = ["matmul/*"]
//! must-exist = ["softmax/f32/*"]
//!
//! [[policy.rules]]
//! cases = "rope/*"
//! slower = "2%"
//!
//! [[policy.waivers]]
//! cases = "softmax/*"
//! author = "Ada"
//! reason = "sums are exact now"
//! expires = "2026-12-31"
//! ```

use roofline_core::decision::parse_share;
use roofline_core::policy::{CRITICAL, Policy, Rule, Waiver};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WirePolicy {
    /// Cases in which a tenth blocks.
    #[serde(default)]
    critical: Vec<String>,
    #[serde(default)]
    must_exist: Vec<String>,
    /// Instead of the rule for all.
    rules: Option<Vec<WireRule>>,
    #[serde(default)]
    waivers: Vec<WireWaiver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRule {
    cases: Globs,
    slower: Option<String>,
    memory: Option<String>,
    #[serde(default)]
    blocks: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireWaiver {
    cases: Globs,
    author: String,
    reason: String,
    expires: String,
}

/// One or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Globs {
    One(String),
    Several(Vec<String>),
}

impl From<Globs> for Vec<String> {
    fn from(globs: Globs) -> Vec<String> {
        match globs {
            Globs::One(glob) => vec![glob],
            Globs::Several(globs) => globs,
        }
    }
}

/// A mistake, and the word of the file that it is about.
type Mistake = (String, String);

impl WirePolicy {
    pub(super) fn policy(self) -> Result<Policy, Mistake> {
        let mut policy = Policy { must_exist: self.must_exist, ..Policy::default() };
        if let Some(rules) = self.rules {
            policy.rules = rules.into_iter().map(rule).collect::<Result<_, _>>()?;
        }
        if !self.critical.is_empty() {
            let slower = Some(CRITICAL);
            policy.rules.push(Rule { cases: self.critical, slower, memory: None, blocks: true });
        }
        policy.waivers = self.waivers.into_iter().map(waiver).collect::<Result<_, _>>()?;
        Ok(policy)
    }
}

fn rule(rule: WireRule) -> Result<Rule, Mistake> {
    let WireRule { cases, slower, memory, blocks } = rule;
    if slower.is_none() && memory.is_none() {
        return Err(("a rule has `slower`, `memory` or both".to_owned(), "[[policy.rules]]".to_owned()));
    }
    let [slower, memory] = [slower, memory].map(|text| text.map(share).transpose());
    Ok(Rule { cases: cases.into(), slower: slower?, memory: memory?, blocks })
}

fn share(text: String) -> Result<f64, Mistake> {
    parse_share(&text).ok_or_else(|| (format!("`{text}` is no percentage such as `5%`"), text.clone()))
}

fn waiver(waiver: WireWaiver) -> Result<Waiver, Mistake> {
    let WireWaiver { cases, author, reason, expires } = waiver;
    if author.trim().is_empty() || reason.trim().is_empty() {
        return Err(("a waiver names its author and a reason".to_owned(), "[[policy.waivers]]".to_owned()));
    }
    let date: jiff::civil::Date = expires
        .parse()
        .map_err(|_| (format!("`{expires}` is no date such as `2026-12-31`"), expires.clone()))?;
    Ok(Waiver { cases: cases.into(), author, reason, expires: date.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use std::path::Path;

    #[test]
    fn rules_waivers_and_what_must_exist_are_read() {
        let parse = |text: &str| Project::parse(text, Path::new("roofline.toml"));
        assert_eq!(parse("").unwrap().policy, Policy::default());
        let text = "[policy]\ncritical = ['matmul/*']\nmust-exist = ['add/*']\n\
            [[policy.waivers]]\ncases = 'add/*'\nauthor = 'Ada'\nreason = 'why'\nexpires = '2026-12-31'\n";
        let policy = parse(text).unwrap().policy;
        assert_eq!((policy.rules.len(), policy.rules[1].blocks), (2, true));
        assert_eq!((policy.must_exist.len(), policy.waivers[0].expires.as_str()), (1, "2026-12-31"));
        let own = parse("[[policy.rules]]\ncases = ['a/*', 'b/*']\nslower = '2%'\n").unwrap().policy;
        assert_eq!((own.rules.len(), own.rules[0].slower, own.rules[0].memory), (1, Some(0.02), None));
        for (text, part) in [
            ("[policy]\ncrtical = []\n", "roofline.toml:2:1: unknown field `crtical`"),
            ("[[policy.rules]]\ncases = '*'\n", "roofline.toml:1:1: a rule has"),
            ("[[policy.rules]]\ncases = '*'\nslower = '5'\n", "roofline.toml:3:11: `5` is no percentage"),
            (
                "[[policy.waivers]]\ncases = '*'\nauthor = 'A'\nreason = 'x'\nexpires = 'soon'\n",
                "`soon` is no date",
            ),
            (
                "[[policy.waivers]]\ncases = '*'\nauthor = ' '\nreason = 'x'\nexpires = '2026-01-01'\n",
                "names its author",
            ),
            (
                "[[policy.waivers]]\ncases = '*'\nauthor = 'A'\nexpires = '2026-01-01'\n",
                "missing field `reason`",
            ),
        ] {
            let why = parse(text).unwrap_err().to_string();
            assert!(why.contains(part), "{text}: {why}");
        }
    }
}
