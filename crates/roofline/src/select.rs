//! From SELECT and its options to cases.

use crate::args::{CacheArg, Select};
use crate::error::Problem;
use crate::places;
use roofline_core::axis::AxisSpec;
use roofline_core::case::{Cache, Case, Device, parse_device, parse_form, parse_param, parse_precision};
use roofline_core::names::matches;
use roofline_core::nearest::nearest;
use roofline_core::operation::Operation;
use roofline_core::ops::operations;
use roofline_core::suite::{Block, MAX_CASES, check_axis_names};

/// The cases that a selection names, in the order of its words.
pub fn cases(select: &Select) -> Result<Vec<Case>, Problem> {
    let options = Options::parse(select)?;
    let mut cases = Vec::new();
    let (ids, names): (Vec<&String>, Vec<&String>) =
        select.select.iter().partition(|word| word.contains('/'));
    for id in ids {
        let case: Case = id
            .parse()
            .map_err(|error: roofline_core::case::CaseError| Problem::usage(error.to_string(), error.hint))?;
        cases.push(case);
    }
    let forms = forms(&names)?;
    if let (Some(suite), false) = (&select.suite, options.axes.is_empty() && ids_are_not_all(select)) {
        return Err(Problem::usage(
            format!("the suite `{suite}` brings its own cases"),
            "leave out `--suite`, or `--axis` and the case ids",
        ));
    }
    if options.axes.is_empty() {
        if !forms.is_empty() || select.select.is_empty() {
            let suite = places::suite(select.suite.as_deref().unwrap_or("quick"))?;
            for block in suite.blocks {
                let wanted = forms.is_empty() || forms.contains(&(block.operation.name, block.variant));
                if wanted {
                    cases.extend(expand(&block)?);
                }
            }
        }
    } else {
        let forms = if forms.is_empty() { Err(no_operation()) } else { Ok(forms) }?;
        for (name, variant) in forms {
            cases.extend(expand(&options.block(name, variant)?)?);
        }
    }
    if cases.len() > MAX_CASES {
        return Err(Problem::usage(
            format!("{} cases are selected", cases.len()),
            format!("{MAX_CASES} is the most"),
        ));
    }
    let mut cases = options.narrow(cases);
    for text in &select.param {
        cases = with_param(text, &cases)?;
    }
    Ok(cases)
}

/// The cases with every value of a parameter; those whose operation has none of this name stay as they are.
fn with_param(text: &str, cases: &[Case]) -> Result<Vec<Case>, Problem> {
    let (name, values) = text.split_once('=').ok_or_else(|| {
        Problem::usage(
            format!("parameter `{text}` has no value"),
            "write it as `eps=1e-5` or `eps=1e-5,1e-6`",
        )
    })?;
    let place = |case: &Case| case.operation.params.iter().position(|param| param.name == name);
    if !cases.iter().any(|case| place(case).is_some()) {
        let known = cases.iter().flat_map(|case| case.operation.params).map(|param| param.name);
        let hint = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`roofline list ops` shows the parameters of each operation".to_owned(),
        };
        return Err(Problem::usage(format!("no selected operation has the parameter `{name}`"), hint));
    }
    let mut all = Vec::new();
    for case in cases {
        let Some(place) = place(case) else {
            all.push(case.clone());
            continue;
        };
        for value in values.split(',') {
            let value = parse_param(&case.operation.params[place], value.trim());
            let mut with = case.clone();
            with.params[place] = value.map_err(|(why, hint)| Problem::usage(why, hint))?;
            all.push(with);
        }
    }
    Ok(all)
}

/// Whether an operation has a precision of this id.
fn is_known(id: &str) -> bool {
    operations().any(|operation| operation.precision(id).is_some())
}

/// Whether there is a word that a suite can be narrowed by, or no word at all.
fn ids_are_not_all(select: &Select) -> bool {
    select.select.is_empty() || select.select.iter().any(|word| !word.contains('/'))
}

fn no_operation() -> Problem {
    Problem::usage(
        "`--axis` without an operation",
        "name one: `roofline check softmax --axis rows=64 --axis cols=1000`",
    )
}

fn expand(block: &Block) -> Result<Vec<Case>, Problem> {
    block.cases().ok_or_else(|| {
        Problem::usage(
            format!("`{}` expands to more than {MAX_CASES} cases", block.operation.name),
            "give fewer values",
        )
    })
}

/// Operations with their variants, from names and globs.
pub fn forms(names: &[&String]) -> Result<Vec<(&'static str, &'static str)>, Problem> {
    let mut forms = Vec::new();
    for name in names {
        let found: Vec<(&str, &str)> = if name.contains('*') {
            let all = operations().flat_map(|operation| {
                operation.variants.iter().map(|variant| (operation.name, variant.name))
            });
            all.filter(|(operation, variant)| {
                matches(name, &roofline_core::operation::form(operation, variant))
            })
            .collect()
        } else {
            let (operation, variant) = parse_form(name).map_err(|(why, hint)| Problem::usage(why, hint))?;
            vec![(operation.name, variant)]
        };
        if found.is_empty() {
            return Err(Problem::nothing(
                format!("no operation matches `{name}`"),
                "`roofline list ops` shows them",
            ));
        }
        forms.extend(found);
    }
    Ok(forms)
}

/// The options of a selection, parsed.
struct Options {
    axes: Vec<AxisSpec>,
    /// Ids of precisions.
    dtypes: Vec<String>,
    threads: Vec<u32>,
    size: Option<u64>,
    cache: Option<Cache>,
    device: Option<Device>,
}

impl Options {
    fn parse(select: &Select) -> Result<Options, Problem> {
        let axes = select.axis.iter().map(|text| {
            AxisSpec::parse(text).map_err(|error| {
                Problem::usage(error.to_string(), "values are `1,7,64`, `64:4096:*2` or `8:64:+8`")
            })
        });
        if let Some(id) = select.dtype.iter().find(|id| !is_known(id)) {
            let all = operations().flat_map(|operation| operation.precisions).map(|precision| precision.id);
            let near = nearest(id, all).unwrap_or("f32");
            return Err(Problem::usage(format!("unknown dtype `{id}`"), format!("did you mean `{near}`?")));
        }
        let device = select.device.as_deref().map(|text| {
            parse_device(text)
                .ok_or_else(|| Problem::usage(format!("`{text}` is no device"), "`cpu` or `cuda:N`"))
        });
        Ok(Options {
            axes: axes.collect::<Result<_, _>>()?,
            dtypes: select.dtype.clone(),
            threads: select.threads.clone(),
            size: select.size,
            cache: select.cache.map(|cache| if cache == CacheArg::Cold { Cache::Cold } else { Cache::Warm }),
            device: device.transpose()?,
        })
    }

    /// The block of an operation whose axes stand on the command line.
    fn block(&self, name: &str, variant: &'static str) -> Result<Block, Problem> {
        let operation = Operation::find(name).map_err(|_| Problem::own(format!("`{name}` is gone")))?;
        let usage = |(why, hint): (String, String)| Problem::usage(why, hint);
        for spec in &self.axes {
            check_axis_names(operation, spec).map_err(usage)?;
        }
        for axis in operation.axes {
            let given =
                self.axes.iter().flat_map(|spec| &spec.names).filter(|name| *name == axis.name).count();
            if given > 1 || given == 0 && axis.usual.is_none() {
                let why = format!("`{name}` needs the axis `{}` once; it is given {given} times", axis.name);
                return Err(Problem::usage(why, format!("add `--axis {}=...`: {}", axis.name, axis.about)));
            }
        }
        let precisions = match self.dtypes.as_slice() {
            [] => vec![&operation.precisions[0]],
            ids => ids
                .iter()
                .map(|id| parse_precision(operation, id))
                .collect::<Result<_, _>>()
                .map_err(usage)?,
        };
        let threads = if self.threads.is_empty() { vec![1] } else { self.threads.clone() };
        let params = operation.params.iter().map(|param| vec![param.default]).collect();
        let axes = self.axes.clone();
        Ok(Block { operation, variant, precisions, axes, params, threads, max_bytes: None })
    }

    /// Narrows cases by type and size, and sets threads, cache and device where they are given.
    fn narrow(&self, cases: Vec<Case>) -> Vec<Case> {
        let mut narrowed: Vec<Case> = Vec::new();
        for mut case in cases {
            if !self.dtypes.is_empty() && !self.dtypes.iter().any(|id| id == case.precision.id) {
                continue;
            }
            if self.size.is_some_and(|most| case.footprint().is_none_or(|bytes| bytes > most)) {
                continue;
            }
            case.cache = self.cache.unwrap_or(case.cache);
            case.device = self.device.unwrap_or(case.device);
            let threads = if self.threads.is_empty() { vec![case.threads] } else { self.threads.clone() };
            narrowed.extend(threads.into_iter().map(|threads| Case { threads, ..case.clone() }));
        }
        let mut seen = std::collections::BTreeSet::new();
        narrowed.retain(|case| seen.insert(case.to_string()));
        narrowed
    }
}
