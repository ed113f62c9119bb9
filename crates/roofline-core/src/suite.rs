//! Suites: TOML that expands to cases. A suite names no implementation.
//!
//! ```toml
//! about = "what this suite is for"
//!
//! [[cases]]
//! operation = "softmax"
//! dtype = ["f32", "bf16"]
//! axes = { rows = "64", cols = "1:4096:*4" }
//! threads = [1, 2]
//! max-bytes = 67108864
//! group = "norms"
//! size = "small"
//! ```
//!
//! It may say what it wants of them, in `[[targets]]`, when the simpler of two is to be taken, in `[choice]`, and which older
//! collection it stands for:
//!
//! ```toml
//! stands-for = "Go kernel benchmarks"
//! at-least = { norms = 47 }
//! ```

mod targets;

use crate::axis::AxisSpec;
use crate::case::{Cache, Case, Device, parse_form, parse_param, parse_precision};
use crate::condition::Sizes;
use crate::nearest::nearest;
use crate::operation::Operation;
use crate::precision::Precision;
use crate::target::{Choice, Target};
use crate::text::line_and_column;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Most cases that one selection may hold.
pub const MAX_CASES: usize = 100_000;

/// One block of cases: a product of axes, parameters, precisions and thread counts. Sizes that the operation is
/// not defined for are left out.
#[derive(Clone, Debug)]
pub struct Block {
    pub operation: &'static Operation,
    pub variant: &'static str,
    pub precisions: Vec<&'static Precision>,
    pub axes: Vec<AxisSpec>,
    /// Values of each parameter, in the operation's order.
    pub params: Vec<Vec<f64>>,
    pub threads: Vec<u32>,
    /// Cases with more bytes of tensors than this are left out.
    pub max_bytes: Option<u64>,
    /// The part of the suite that it belongs to, and the class of its sizes, where the suite has such.
    pub group: Option<String>,
    pub size: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Suite {
    pub about: String,
    /// The older collection that it stands for.
    pub stands_for: Option<String>,
    /// Rows that the collection had, an implementation of a case each, by group.
    pub at_least: Vec<(String, u64)>,
    pub blocks: Vec<Block>,
    pub targets: Vec<Target>,
    /// When a simpler implementation is recommended.
    pub choice: Choice,
}

/// A mistake in a suite, with the bytes that it stands at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct SuiteError {
    pub why: String,
    pub hint: String,
    pub span: Option<Range<usize>>,
}

impl SuiteError {
    /// Line and column of the mistake in `text`, from 1.
    pub fn line_and_column(&self, text: &str) -> Option<(usize, usize)> {
        Some(line_and_column(text, self.span.as_ref()?.start))
    }
}

type Entry<'a> = &'a Spanned<DeValue<'a>>;

impl Suite {
    /// Reads a suite; unknown keys are refused.
    pub fn parse(text: &str) -> Result<Suite, SuiteError> {
        let table = DeTable::parse(text).map_err(|error| SuiteError {
            why: error.message().to_owned(),
            hint: "the file is not TOML".to_owned(),
            span: error.span(),
        })?;
        let mut suite = Suite {
            about: String::new(),
            stands_for: None,
            at_least: Vec::new(),
            blocks: Vec::new(),
            targets: Vec::new(),
            choice: Choice::default(),
        };
        let mut counted = None;
        for (key, value) in table.get_ref() {
            match key.get_ref().as_ref() {
                "about" => suite.about = string(value)?.to_owned(),
                "stands-for" => suite.stands_for = Some(string(value)?.to_owned()),
                "at-least" => {
                    counted = Some(value.span());
                    suite.at_least = counts(value)?;
                }
                "cases" => {
                    for block in array(value)? {
                        suite.blocks.push(block_of(block)?);
                    }
                }
                "targets" => {
                    for entry in array(value)? {
                        let target = targets::target_of(entry)?;
                        if suite.targets.iter().any(|known| known.id == target.id) {
                            let why = format!("two targets have the id `{}`", target.id);
                            let hint = "give one of them another id".to_owned();
                            return Err(SuiteError { why, hint, span: Some(entry.span()) });
                        }
                        suite.targets.push(target);
                    }
                }
                "choice" => suite.choice = targets::choice_of(value)?,
                unknown => {
                    const KEYS: [&str; 6] = ["about", "stands-for", "at-least", "cases", "targets", "choice"];
                    return Err(unknown_key(unknown, key.span(), &KEYS));
                }
            }
        }
        if suite.blocks.is_empty() {
            let hint = "a suite has at least one `[[cases]]`".to_owned();
            return Err(SuiteError { why: "selects no case".to_owned(), hint, span: None });
        }
        let is_group = |name: &str| suite.blocks.iter().any(|block| block.group.as_deref() == Some(name));
        if let Some((name, _)) = suite.at_least.iter().find(|(name, _)| !is_group(name)) {
            let hint = "rows are counted by the `group` of cases".to_owned();
            return Err(SuiteError { why: format!("no case is of the group `{name}`"), hint, span: counted });
        }
        Ok(suite)
    }
}

fn block_of(entry: Entry) -> Result<Block, SuiteError> {
    const KEYS: [&str; 8] = ["operation", "dtype", "axes", "params", "threads", "max-bytes", "group", "size"];
    let DeValue::Table(table) = entry.get_ref() else {
        return Err(expected("a table `[[cases]]`", entry));
    };
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        return Err(unknown_key(key.get_ref(), key.span(), &KEYS));
    }
    let required = |name: &str| {
        table.get(name).ok_or_else(|| SuiteError {
            why: format!("a block of cases lacks `{name}`"),
            hint: "each `[[cases]]` has operation, dtype and axes".to_owned(),
            span: Some(entry.span()),
        })
    };
    let form = required("operation")?;
    let (operation, variant) =
        parse_form(string(form)?).map_err(|(why, hint)| SuiteError { why, hint, span: Some(form.span()) })?;
    let mut precisions = Vec::new();
    for item in list(required("dtype")?) {
        let precision = parse_precision(operation, string(item)?);
        precisions.push(precision.map_err(|(why, hint)| SuiteError {
            why,
            hint,
            span: Some(item.span()),
        })?);
    }
    let axes = axes_of(operation, required("axes")?)?;
    let params = params_of(operation, table.get("params"))?;
    let threads = match table.get("threads") {
        Some(entry) => list(entry)
            .into_iter()
            .map(|item| {
                u32::try_from(integer(item)?)
                    .ok()
                    .filter(|n| (1..=4096).contains(n))
                    .ok_or_else(|| expected("a number of threads from 1 to 4096", item))
            })
            .collect::<Result<_, _>>()?,
        None => vec![1],
    };
    let max_bytes = table.get("max-bytes").map(integer).transpose()?;
    let word = |key| table.get(key).map(word).transpose();
    let (group, size) = (word("group")?, word("size")?);
    Ok(Block { operation, variant, precisions, axes, params, threads, max_bytes, group, size })
}

/// How many rows of each group.
fn counts(entry: Entry) -> Result<Vec<(String, u64)>, SuiteError> {
    let DeValue::Table(table) = entry.get_ref() else {
        return Err(expected("a table of groups, as `{ norms = 47 }`", entry));
    };
    table.iter().map(|(name, count)| Ok((name.get_ref().to_string(), integer(count)?))).collect()
}

/// A name in lower case, which no number begins: those are sizes in bytes.
fn word(entry: Entry) -> Result<String, SuiteError> {
    let text = string(entry)?;
    let is_word = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if is_word { Ok(text.to_owned()) } else { Err(expected("a word such as `very-large`", entry)) }
}

fn axes_of(operation: &Operation, entry: Entry) -> Result<Vec<AxisSpec>, SuiteError> {
    let DeValue::Table(table) = entry.get_ref() else {
        return Err(expected("a table of axes, as `{ rows = \"1,64\" }`", entry));
    };
    let mut axes = Vec::new();
    for (names, values) in table {
        let mistake = |span: Range<usize>, why: String| SuiteError {
            why: format!("axis `{}`: {why}", names.get_ref()),
            hint: "values are `1,7,64`, `64:4096:*2`, `8:64:+8` or a list of numbers".to_owned(),
            span: Some(span),
        };
        let mut texts = Vec::new();
        for item in list(values) {
            texts.push(match item.get_ref() {
                DeValue::String(text) => text.to_string(),
                _ => integer(item)?.to_string(),
            });
        }
        let spec = AxisSpec::parse_parts(names.get_ref(), &texts.join(","))
            .map_err(|why| mistake(values.span(), why))?;
        check_axis_names(operation, &spec).map_err(|(why, hint)| SuiteError {
            why,
            hint,
            span: Some(names.span()),
        })?;
        axes.push(spec);
    }
    check_axes_complete(operation, &axes).map_err(|(why, hint)| SuiteError {
        why,
        hint,
        span: Some(entry.span()),
    })?;
    Ok(axes)
}

/// Values of every parameter: those that are given, else the default.
fn params_of(operation: &Operation, entry: Option<Entry>) -> Result<Vec<Vec<f64>>, SuiteError> {
    let mut params: Vec<Vec<f64>> = operation.params.iter().map(|param| vec![param.default]).collect();
    let Some(entry) = entry else { return Ok(params) };
    let DeValue::Table(table) = entry.get_ref() else {
        return Err(expected("a table of parameters, as `{ eps = [1e-5, 1e-6] }`", entry));
    };
    for (name, values) in table {
        let names = || operation.params.iter().map(|param| param.name);
        let place = names().position(|known| known == name.get_ref()).ok_or_else(|| SuiteError {
            why: format!("`{}` has no parameter `{}`", operation.name, name.get_ref()),
            hint: match nearest(name.get_ref(), names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its parameters are: {}", names().collect::<Vec<_>>().join(", ")),
            },
            span: Some(name.span()),
        })?;
        params[place].clear();
        for item in list(values) {
            let text = match item.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Float(number) => number.as_str().to_owned(),
                _ => integer(item)?.to_string(),
            };
            let value = parse_param(&operation.params[place], &text);
            let value = value.map_err(|(why, hint)| SuiteError { why, hint, span: Some(item.span()) })?;
            params[place].push(value);
        }
    }
    Ok(params)
}

/// Every axis of `spec` must be one of the operation's.
pub fn check_axis_names(operation: &Operation, spec: &AxisSpec) -> Result<(), (String, String)> {
    let names = || operation.axes.iter().map(|axis| axis.name);
    match spec.names.iter().find(|name| !names().any(|known| known == name.as_str())) {
        None => Ok(()),
        Some(name) => Err((
            format!("`{}` has no axis `{name}`", operation.name),
            match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its axes are {}", names().collect::<Vec<_>>().join(", ")),
            },
        )),
    }
}

fn check_axes_complete(operation: &Operation, axes: &[AxisSpec]) -> Result<(), (String, String)> {
    for axis in operation.axes {
        let given = axes.iter().flat_map(|spec| &spec.names).filter(|name| *name == axis.name).count();
        if given > 1 || given == 0 && axis.usual.is_none() {
            let times = if given == 0 { "lacks" } else { "gives twice" };
            return Err((
                format!("`{}` {times} the axis `{}`", operation.name, axis.name),
                axis.about.to_owned(),
            ));
        }
    }
    Ok(())
}

impl Block {
    /// Every case of the block, axes outermost first; `None` when there are more than [`MAX_CASES`].
    pub fn cases(&self) -> Option<Vec<Case>> {
        let others = self.precisions.len() * self.threads.len();
        let counts = self.axes.iter().map(|axis| axis.values.len()).chain(self.params.iter().map(Vec::len));
        let points = counts.into_iter().try_fold(others, |count, values| count.checked_mul(values));
        points.filter(|count| *count <= MAX_CASES)?;
        let mut all_sizes = vec![vec![None; self.operation.axes.len()]];
        for spec in &self.axes {
            all_sizes = all_sizes
                .iter()
                .flat_map(|sizes| spec.values.iter().map(|values| self.with_axis(sizes, spec, values)))
                .collect();
        }
        let legal = self.operation.legal();
        let names = self.operation.axis_names();
        let complete = all_sizes.iter().filter_map(|given| self.operation.complete(given).ok());
        let mut all_sizes: Vec<Vec<u64>> = complete.collect();
        all_sizes.retain(|sizes| legal.holds(Sizes { names: &names, values: sizes }).is_ok());
        let mut all_params = vec![Vec::new()];
        for values in &self.params {
            let with = |params: &Vec<f64>, value: &f64| [params.as_slice(), &[*value]].concat();
            all_params = all_params
                .iter()
                .flat_map(|params| values.iter().map(move |value| with(params, value)))
                .collect();
        }
        let mut cases = Vec::new();
        for sizes in &all_sizes {
            for params in &all_params {
                for precision in &self.precisions {
                    for threads in &self.threads {
                        let case = Case {
                            operation: self.operation,
                            variant: self.variant,
                            precision,
                            sizes: sizes.clone(),
                            params: params.clone(),
                            threads: *threads,
                            cache: Cache::Warm,
                            device: Device::Cpu,
                        };
                        let fits = |most| case.footprint().is_some_and(|bytes| bytes <= most);
                        if self.max_bytes.is_none_or(fits) {
                            cases.push(case);
                        }
                    }
                }
            }
        }
        Some(cases)
    }

    fn with_axis(&self, sizes: &[Option<u64>], spec: &AxisSpec, values: &[u64]) -> Vec<Option<u64>> {
        let mut sizes = sizes.to_vec();
        for (name, value) in spec.names.iter().zip(values) {
            if let Some(place) = self.operation.axes.iter().position(|axis| axis.name == name) {
                sizes[place] = Some(*value);
            }
        }
        sizes
    }
}

fn unknown_key(key: &str, span: Range<usize>, known: &[&str]) -> SuiteError {
    let hint = match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys here are {}", known.join(", ")),
    };
    SuiteError { why: format!("unknown key `{key}`"), hint, span: Some(span) }
}

fn expected(what: &str, entry: Entry) -> SuiteError {
    SuiteError {
        why: format!("expected {what}"),
        hint: "`roofline new suite NAME` writes one to look at".to_owned(),
        span: Some(entry.span()),
    }
}

fn string<'a>(entry: Entry<'a>) -> Result<&'a str, SuiteError> {
    match entry.get_ref() {
        DeValue::String(text) => Ok(text),
        _ => Err(expected("a string", entry)),
    }
}

fn integer(entry: Entry) -> Result<u64, SuiteError> {
    match entry.get_ref() {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix())
            .map_err(|_| expected("a whole number that is not negative", entry)),
        _ => Err(expected("a whole number", entry)),
    }
}

fn array<'a>(entry: Entry<'a>) -> Result<Vec<Entry<'a>>, SuiteError> {
    match entry.get_ref() {
        DeValue::Array(items) => Ok(items.iter().collect()),
        _ => Err(expected("a list", entry)),
    }
}

/// A list, or one value standing for a list of one.
fn list<'a>(entry: Entry<'a>) -> Vec<Entry<'a>> {
    match entry.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![entry],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
about = "an example"
stands-for = "another"
at-least = { norms = 2 }

[[cases]]
operation = "softmax"
dtype = ["f32", "bf16"]
axes = { rows = 64, cols = "1,31" }
threads = [1, 2]

[[cases]]
operation = "matmul.nn"
dtype = "i8"
axes = { "zip(m,n,k)" = [128, 256] }
max-bytes = 200000

[[cases]]
operation = "rms-norm"
dtype = "f32"
axes = { rows = 1, cols = 8 }
params = { eps = [1e-5, 0] }
group = "norms"

[[cases]]
operation = "matmul"
dtype = ["f16+f16", "bf16+f32"]
axes = { "zip(m,n,k)" = 8 }
"#;

    #[test]
    fn expands_to_cases() {
        let suite = Suite::parse(GOOD).unwrap();
        let ids: Vec<String> = suite
            .blocks
            .iter()
            .flat_map(|block| block.cases().unwrap())
            .map(|case| case.to_string())
            .collect();
        assert_eq!(
            (suite.stands_for.as_deref(), &suite.at_least[..]),
            (Some("another"), &[("norms".to_owned(), 2)][..])
        );
        assert_eq!(ids.len(), 13);
        assert!(ids.contains(&"softmax/bf16/rows=64,cols=31/threads=2".to_owned()));
        assert_eq!(ids[8], "matmul.nn/i8/m=128,n=128,k=128");
        assert_eq!(ids[9], "rms-norm/f32/rows=1,cols=8,eps=1e-5");
        assert_eq!(ids[10], "rms-norm/f32/rows=1,cols=8,eps=0");
        assert_eq!(ids[11..], ["matmul/f16+f16/m=8,n=8,k=8", "matmul/bf16/m=8,n=8,k=8"]);
    }

    #[test]
    fn mistakes_have_line_column_and_the_nearest_key() {
        for (from, to, why, hint, line) in [
            ("threads =", "thread =", "unknown key `thread`", "`threads`", 10),
            ("about", "abuot", "unknown key `abuot`", "`about`", 2),
            ("\"softmax\"", "\"sofmax\"", "unknown operation", "`softmax`", 7),
            ("\"bf16\"", "\"bf61\"", "unknown dtype", "bf16", 8),
            ("rows = 64", "rwos = 64", "no axis `rwos`", "`rows`", 9),
            ("rows = 64, ", "", "lacks the axis `rows`", "rows", 9),
            ("\"1,31\"", "\"9:1:*2\"", "downwards", "64:4096", 9),
            ("\"i8\"", "\"fp8-e4m3\"", "not defined", "bf16", 14),
            ("[1, 2]", "[0]", "number of threads", "roofline new suite", 10),
            ("eps = [1e-5, 0]", "esp = 0", "no parameter `esp`", "`eps`", 22),
            ("[1e-5, 0]", "[-1.5]", "not a value of `eps`", "from 0 to 1", 22),
            ("norms = 2", "nroms = 2", "no case is of the group `nroms`", "`group`", 4),
            ("norms = 2", "norms = \"many\"", "whole number", "roofline new suite", 4),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let text = GOOD.replacen(from, to, 1);
            let error = Suite::parse(&text).unwrap_err();
            assert!(error.why.contains(why), "{}", error.why);
            assert!(error.hint.contains(hint), "{}: {}", error.why, error.hint);
            assert_eq!(error.line_and_column(&text).unwrap().0, line, "{why}");
        }
        let error = Suite::parse("about = [").unwrap_err();
        assert!(error.line_and_column("about = [").is_some());
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text: String) {
            let _ = Suite::parse(&text);
        }

        #[test]
        fn near_misses_do_not_panic(key in "[a-z-]{1,9}", value in "[\\[\\]{}=\"0-9a-z., ]{0,12}") {
            let _ = Suite::parse(&format!("[[cases]]\noperation = \"add\"\ndtype = \"f32\"\n{key} = {value}\n"));
        }
    }
}
