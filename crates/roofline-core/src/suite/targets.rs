//! The targets of a suite.
//!
//! ```toml
//! [[targets]]
//! id = "threads-pay"
//! about = "two threads are faster than one where there is enough work"
//! cases = "rope/*/threads=2"
//! of = "parallel"
//! against = "serial"
//! at-least = 1.0
//! ```

use super::{Entry, SuiteError, expected, list, string, unknown_key};
use crate::nearest::nearest;
use crate::target::{Choice, Metric, Over, Severity, Target, Who};
use toml::de::DeValue;

const KEYS: [&str; 10] =
    ["id", "about", "cases", "of", "against", "metric", "at-least", "at-most", "over", "severity"];

pub(super) fn target_of(entry: Entry) -> Result<Target, SuiteError> {
    let DeValue::Table(table) = entry.get_ref() else {
        return Err(expected("a table `[[targets]]`", entry));
    };
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        return Err(unknown_key(key.get_ref(), key.span(), &KEYS));
    }
    let mistake = |why: String| SuiteError {
        why,
        hint: "each `[[targets]]` has id, cases, against, and at-least or at-most".to_owned(),
        span: Some(entry.span()),
    };
    let required = |name: &str| table.get(name).ok_or_else(|| mistake(format!("a target lacks `{name}`")));
    let text = |name: &str, default: &str| -> Result<String, SuiteError> {
        table.get(name).map_or(Ok(default), |entry| string(entry)).map(str::to_owned)
    };
    let cases = list(required("cases")?).into_iter().map(|item| Ok(string(item)?.to_owned()));
    let bound = |name: &str| table.get(name).map(number).transpose();
    let (at_least, at_most) = (bound("at-least")?, bound("at-most")?);
    match (at_least, at_most) {
        (None, None) => return Err(mistake("a target lacks `at-least` or `at-most`".to_owned())),
        (Some(least), Some(most)) if least > most => {
            return Err(mistake(format!("nothing is at least {least} and at most {most}")));
        }
        _ => {}
    }
    Ok(Target {
        id: string(required("id")?)?.to_owned(),
        about: text("about", "")?,
        cases: cases.collect::<Result<_, SuiteError>>()?,
        of: Who::from(text("of", "*")?.as_str()),
        against: Who::from(string(required("against")?)?),
        metric: word(table.get("metric"), &[("speed", Metric::Speed), ("memory", Metric::Memory)])?,
        at_least,
        at_most,
        over: word(table.get("over"), &[("each", Over::Each), ("any", Over::Any), ("mean", Over::Mean)])?,
        severity: word(table.get("severity"), &[("fail", Severity::Fail), ("info", Severity::Info)])?,
    })
}

/// What is taken although another is faster.
pub(super) fn choice_of(entry: Entry) -> Result<Choice, SuiteError> {
    const KEYS: [&str; 2] = ["negligible", "significant"];
    let DeValue::Table(table) = entry.get_ref() else {
        return Err(expected("a table `[choice]`", entry));
    };
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        return Err(unknown_key(key.get_ref(), key.span(), &KEYS));
    }
    let usual = Choice::default();
    let bound = |name: &str, usual: f64| table.get(name).map_or(Ok(usual), number);
    let [negligible, significant] =
        [bound("negligible", usual.negligible)?, bound("significant", usual.significant)?];
    if !(1.0..=significant).contains(&negligible) {
        return Err(expected("`negligible` from 1 to `significant`", entry));
    }
    Ok(Choice { negligible, significant })
}

/// One of some words; the first where nothing is said.
fn word<T: Copy>(entry: Option<Entry>, words: &[(&str, T)]) -> Result<T, SuiteError> {
    let Some(entry) = entry else { return Ok(words[0].1) };
    let text = string(entry)?;
    let names = || words.iter().map(|(name, _)| *name);
    words.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| SuiteError {
        why: format!("unknown word `{text}`"),
        hint: match nearest(text, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the words here are {}", names().collect::<Vec<_>>().join(", ")),
        },
        span: Some(entry.span()),
    })
}

/// A ratio: a number above zero.
fn number(entry: Entry) -> Result<f64, SuiteError> {
    let value: Option<f64> = match entry.get_ref() {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) => number.as_str().parse().ok(),
        _ => None,
    };
    value
        .filter(|value| value.is_finite() && *value > 0.0)
        .ok_or_else(|| expected("a number above zero", entry))
}
