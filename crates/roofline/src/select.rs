//! From SELECT and its options to cases.

mod words;

use crate::args::{CacheArg, How, Select, Size};
use crate::error::{Problem, tell};
use crate::places;
use roofline_core::axis::AxisSpec;
use roofline_core::case::{Cache, Case, Device, parse_device, parse_form, parse_param, parse_precision};
use roofline_core::names::matches;
use roofline_core::nearest::nearest;
use roofline_core::operation::Operation;
use roofline_core::ops::operations;
use roofline_core::suite::{Block, MAX_CASES, check_axis_names};
use std::collections::{BTreeMap, BTreeSet};
use words::Words;

/// A case, and the group of the suite that it is of.
struct Picked {
    case: Case,
    group: Option<String>,
}

/// What a run takes of a selection.
pub struct Selection {
    pub cases: Vec<Case>,
    /// How many more there are.
    pub left_out: usize,
    /// The turn of each case that is of a group, by its id, where groups take turns.
    pub turns: BTreeMap<String, usize>,
    /// Whether the cases themselves were named, and not what they are of.
    pub is_by_id: bool,
}

/// The cases that a selection names, in the order of its words.
pub fn cases(select: &Select) -> Result<Vec<Case>, Problem> {
    Ok(pick(select)?.into_iter().map(|picked| picked.case).collect())
}

/// The same as a run takes them: a few of each group where that is to be quick, and the groups in turn where time may end.
pub fn selection(select: &Select, how: &How) -> Result<Selection, Problem> {
    let mut picked = pick(select)?;
    let all = picked.len();
    if how.bounds.quick {
        picked = a_few(picked);
    }
    let left_out = all - picked.len();
    if left_out > 0 {
        let few = picked.len();
        tell(&format!(
            "`--quick` takes {few} of {all} cases, at most {A_FEW} shapes of each group; without it all are taken"
        ));
    }
    let turns = if how.bounds.total_budget.is_some() { turns(&picked) } else { BTreeMap::new() };
    let mut cases: Vec<Case> = picked.into_iter().map(|picked| picked.case).collect();
    cases.sort_by_cached_key(|case| turns.get(&case.to_string()).copied());
    let is_by_id = Words::parse(select)?.are_ids();
    Ok(Selection { cases, left_out, turns, is_by_id })
}

/// Most shapes of a group that a quick run takes, each at all its numbers of threads.
const A_FEW: usize = 6;

/// Cases of no group, and of each group those of a few shapes, spread over it.
fn a_few(picked: Vec<Picked>) -> Vec<Picked> {
    let shape = |case: &Case| Case { threads: 1, ..case.clone() }.to_string();
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Picked { case, group } in &picked {
        let Some(group) = group else { continue };
        let shapes = groups.entry(group.clone()).or_default();
        let shape = shape(case);
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    for shapes in groups.values_mut() {
        let all = shapes.len().max(A_FEW);
        let mut place = 0;
        shapes.retain(|_| {
            place += 1;
            // One more whole step than at the shape before.
            place * A_FEW / all > (place - 1) * A_FEW / all
        });
    }
    let is_taken = |Picked { case, group }: &Picked| {
        group.as_ref().is_none_or(|group| groups[group].contains(&shape(case)))
    };
    picked.into_iter().filter(is_taken).collect()
}

/// The first case of every group has the first turn, and so on.
fn turns(picked: &[Picked]) -> BTreeMap<String, usize> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut turns = BTreeMap::new();
    for Picked { case, group } in picked {
        let Some(group) = group else { continue };
        let turn = seen.entry(group).or_default();
        turns.insert(case.to_string(), *turn);
        *turn += 1;
    }
    turns
}

/// Every case that a selection names, once.
fn pick(select: &Select) -> Result<Vec<Picked>, Problem> {
    let options = Options::parse(select)?;
    let words = Words::parse(select)?;
    check_sources(select, &options, &words)?;
    let mut picked = Vec::new();
    if select.suite.is_none() {
        picked.extend(words.ids().iter().cloned().map(|case| Picked { case, group: None }));
    }
    if !options.axes.is_empty() {
        for (name, variant) in words.forms() {
            let cases = expand(&options.block(name, variant)?)?.into_iter();
            picked.extend(cases.map(|case| Picked { case, group: None }));
        }
    } else if select.suite.is_some() || !words.are_ids() {
        picked.extend(of_suite(select, &words)?);
    }
    check_count(&picked)?;
    let mut picked = options.narrow(picked);
    for text in &select.param {
        picked = with_param(text, picked)?;
        check_count(&picked)?;
    }
    let mut seen = BTreeSet::new();
    picked.retain(|picked| seen.insert(picked.case.to_string()));
    Ok(picked)
}

/// Cases are a suite's, or made here: what chooses among the former says nothing of the latter.
fn check_sources(select: &Select, options: &Options, words: &Words) -> Result<(), Problem> {
    let has_axes = !options.axes.is_empty();
    if has_axes && words.forms().is_empty() {
        return Err(no_operation());
    }
    if let (Some(suite), true) = (&select.suite, has_axes) {
        return Err(Problem::usage(
            format!("the suite `{suite}` brings its own cases, and `--axis` makes others"),
            format!(
                "leave out one of the two; of a suite's cases choose by a glob, `roofline list cases --suite {suite} '*/f32/*'`"
            ),
        ));
    }
    if has_axes && words.has_globs() {
        return Err(Problem::usage(
            "a glob of cases chooses among those of a suite, and `--axis` makes others",
            "name operations beside `--axis`",
        ));
    }
    let has_parts = !select.group.is_empty() || matches!(select.size, Some(Size::Class(_)));
    if has_parts && (has_axes || select.suite.is_none() && !words.ids().is_empty()) {
        return Err(Problem::usage(
            "groups and classes of sizes are of suites, and the selection has cases of its own",
            "leave out `--axis` and the case ids, or `--group` and `--size` with a class (of bytes, write `64MiB`)",
        ));
    }
    Ok(())
}

/// The cases of the suite, `quick` where none is named, that are meant.
fn of_suite(select: &Select, words: &Words) -> Result<Vec<Picked>, Problem> {
    let name = select.suite.as_deref().unwrap_or("quick");
    let blocks = places::suite(name)?.blocks;
    if words.has_globs() || !words.ids().is_empty() && select.suite.is_some() {
        let all = blocks.iter().map(expand).collect::<Result<Vec<_>, _>>()?.concat();
        words.check_are_of(name, &all)?;
    }
    let mut picked = Vec::new();
    for block in parts(select, name, blocks)? {
        let cases = expand(&block)?.into_iter().filter(|case| words.name(&block, case));
        picked.extend(cases.map(|case| Picked { case, group: block.group.clone() }));
        check_count(&picked)?;
    }
    Ok(picked)
}

fn check_count(picked: &[Picked]) -> Result<(), Problem> {
    let count = picked.len();
    if count <= MAX_CASES {
        return Ok(());
    }
    Err(Problem::usage(format!("{count} cases are selected"), format!("{MAX_CASES} is the most")))
}

/// The blocks of a suite that are of the groups and the class of sizes that are asked for.
fn parts(select: &Select, suite: &str, blocks: Vec<Block>) -> Result<Vec<Block>, Problem> {
    let class = match &select.size {
        Some(Size::Class(class)) => Some(class),
        _ => None,
    };
    let groups: BTreeSet<&str> = blocks.iter().filter_map(|block| block.group.as_deref()).collect();
    let classes: BTreeSet<&str> = blocks.iter().filter_map(|block| block.size.as_deref()).collect();
    for group in &select.group {
        check_part("group", group, suite, &groups)?;
    }
    if let Some(class) = class {
        check_part("size", class, suite, &classes)?;
    }
    let is_of = |wanted: &[String], own: Option<&String>| {
        wanted.is_empty() || own.is_some_and(|own| wanted.contains(own))
    };
    let is_meant = |block: &Block| {
        is_of(&select.group, block.group.as_ref())
            && is_of(class.map_or(&[], std::slice::from_ref), block.size.as_ref())
    };
    Ok(blocks.into_iter().filter(is_meant).collect())
}

/// A suite must have the group, or the class of sizes, that is named.
fn check_part(what: &str, name: &str, suite: &str, known: &BTreeSet<&str>) -> Result<(), Problem> {
    if known.contains(name) {
        return Ok(());
    }
    let known: Vec<&str> = known.iter().copied().collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("`roofline list {what}s` shows which suite has which"),
        None => format!("it has {}", known.join(", ")),
    };
    Err(Problem::usage(format!("the suite `{suite}` has no {what} `{name}`"), hint))
}

/// The cases with every value of a parameter; those whose operation has none of this name stay as they are.
fn with_param(text: &str, picked: Vec<Picked>) -> Result<Vec<Picked>, Problem> {
    let (name, values) = text.split_once('=').ok_or_else(|| {
        Problem::usage(
            format!("parameter `{text}` has no value"),
            "write it as `eps=1e-5` or `eps=1e-5,1e-6`",
        )
    })?;
    let place = |case: &Case| case.operation.params.iter().position(|param| param.name == name);
    if !picked.iter().any(|picked| place(&picked.case).is_some()) {
        let known = picked.iter().flat_map(|picked| picked.case.operation.params).map(|param| param.name);
        let hint = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "`roofline list ops` shows the parameters of each operation; of a kernel of your own, `--sweep {text}` with its \
                 `--lib` or `--python` makes a row of each value"
            ),
        };
        return Err(Problem::usage(format!("no selected operation has the parameter `{name}`"), hint));
    }
    let mut all = Vec::new();
    for picked in picked {
        let Some(place) = place(&picked.case) else {
            all.push(picked);
            continue;
        };
        for value in values.split(',') {
            let value = parse_param(&picked.case.operation.params[place], value.trim());
            let mut case = picked.case.clone();
            case.params[place] = value.map_err(|(why, hint)| Problem::usage(why, hint))?;
            all.push(Picked { case, group: picked.group.clone() });
        }
    }
    Ok(all)
}

/// Every type must be one of some operation.
pub fn check_dtypes(ids: &[String]) -> Result<(), Problem> {
    let is_known = |id: &String| operations().any(|operation| operation.precision(id).is_some());
    let Some(id) = ids.iter().find(|id| !is_known(id)) else { return Ok(()) };
    let all = operations().flat_map(|operation| operation.precisions).map(|precision| precision.id);
    let near = nearest(id, all).unwrap_or("f32");
    Err(Problem::usage(format!("unknown dtype `{id}`"), format!("did you mean `{near}`?")))
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
    /// Bytes of a case's tensors.
    most: Option<u64>,
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
        check_dtypes(&select.dtype)?;
        let device = select.device.as_deref().map(|text| {
            parse_device(text)
                .ok_or_else(|| Problem::usage(format!("`{text}` is no device"), "`cpu` or `cuda:N`"))
        });
        Ok(Options {
            axes: axes.collect::<Result<_, _>>()?,
            dtypes: select.dtype.clone(),
            threads: select.threads.clone(),
            most: match select.size {
                Some(Size::Most(most)) => Some(most),
                _ => None,
            },
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
        Ok(Block {
            operation,
            variant,
            precisions,
            axes,
            params,
            threads,
            max_bytes: None,
            group: None,
            size: None,
        })
    }

    /// Narrows cases by type and size, and sets threads, cache and device where they are given.
    fn narrow(&self, picked: Vec<Picked>) -> Vec<Picked> {
        let mut narrowed: Vec<Picked> = Vec::new();
        for Picked { mut case, group } in picked {
            if !self.dtypes.is_empty() && !self.dtypes.iter().any(|id| id == case.precision.id) {
                continue;
            }
            if self.most.is_some_and(|most| case.footprint().is_none_or(|bytes| bytes > most)) {
                continue;
            }
            case.device = self.device.unwrap_or(case.device);
            // On a GPU what people measure comes from memory: cold, unless they say otherwise.
            let is_on_card = matches!(self.device, Some(Device::Cuda(_)));
            let is_cold = is_on_card && !case.is_restored();
            case.cache = self.cache.unwrap_or(if is_cold { Cache::Cold } else { case.cache });
            // On a GPU one thread asks for what all of the card does, whatever a suite of the CPU says.
            let usual = if is_on_card { 1 } else { case.threads };
            let threads = if self.threads.is_empty() { vec![usual] } else { self.threads.clone() };
            let with = |threads| Picked { case: Case { threads, ..case.clone() }, group: group.clone() };
            narrowed.extend(threads.into_iter().map(with));
        }
        narrowed
    }
}
