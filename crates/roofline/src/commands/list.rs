//! `roofline list`: what there is. Starts no runner.

use crate::args::{List, Select, What};
use crate::commands::offers;
use crate::error::Problem;
use crate::{places, select};
use roofline_conductor::plan::is_limit;
use roofline_core::operation::{self, Usual};
use roofline_core::ops;
use roofline_core::protocol::{Hello, Offer};
use roofline_core::suite::{Block, Suite};
use roofline_report::{FOLDERS, FORMATS, READERS};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(args: &List) -> Result<ExitCode, Problem> {
    check_options(args)?;
    // What a file declares is known once it was asked.
    offers::bring_named(&args.places, None)?;
    let names: Vec<&String> = args.select.words().collect();
    let text = match args.what {
        What::Ops => operations(&select::forms(&names)?),
        What::Implementations => {
            select::check_dtypes(&args.select.dtype)?;
            implementations(args, &select::forms(&names)?)?
        }
        What::Suites => suites(),
        What::Groups => parts(&args.select, |block| block.group.as_deref())?,
        What::Sizes => parts(&args.select, |block| block.size.as_deref())?,
        What::Cases => {
            let cases = select::cases(&args.select)?;
            if cases.is_empty() {
                return Err(Problem::nothing(
                    "nothing is selected",
                    "`roofline list suites` shows what there is",
                ));
            }
            cases.iter().map(|case| format!("{case}\n")).collect()
        }
        What::Devices => devices(args)?,
        What::Formats => formats(),
    };
    super::show(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What would change nothing is refused: only cases are narrowed by all that selects.
fn check_options(args: &List) -> Result<(), Problem> {
    let (takes_words, taken): (bool, &[&str]) = match args.what {
        What::Cases => return Ok(()),
        What::Ops => (true, &[]),
        What::Implementations => (true, &["--dtype"]),
        What::Groups | What::Sizes => (false, &["--suite"]),
        What::Suites | What::Devices | What::Formats => (false, &[]),
    };
    let hint = "leave it out, or `roofline list cases` with it";
    if let Some(word) = args.select.words().next().filter(|_| !takes_words) {
        let why = format!("`{word}`: operations and cases do not select here");
        return Err(Problem::usage(why, hint));
    }
    match args.select.given().into_iter().find(|option| !taken.contains(option)) {
        Some(option) => Err(Problem::usage(format!("`{option}` selects nothing here"), hint)),
        None => Ok(()),
    }
}

/// The processor, and the devices that runners have told of.
fn devices(args: &List) -> Result<String, Problem> {
    let mut text = format!("cpu     {} cores\n", roofline_conductor::stage::available_cores().len());
    let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for spec in places::runners(&args.places)? {
        let hello = offers::known(&spec, &args.places);
        for device in hello.map(|hello| hello.devices).unwrap_or_default() {
            others.entry(device).or_default().push(spec.name.clone());
        }
    }
    others.remove("cpu");
    match roofline_runner::device::list() {
        Ok(cards) => cards.iter().for_each(|(device, about)| {
            let _ = writeln!(text, "{device:<7} {about}");
        }),
        Err(why) => {
            let _ = writeln!(text, "cuda    {why}");
        }
    }
    for (device, runners) in others {
        let _ = writeln!(text, "{device:<7} seen by {}", runners.join(", "));
    }
    Ok(text)
}

/// What a selection of forms leaves: all if it is empty.
fn is_wanted(forms: &[(&str, &str)], name: &str) -> bool {
    forms.is_empty() || forms.iter().any(|(operation, variant)| operation::form(operation, variant) == name)
}

fn operations(forms: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for operation in
        ops::operations().filter(|operation| operation.forms().any(|form| is_wanted(forms, &form)))
    {
        let axes = operation.axes.iter().map(|axis| match axis.usual {
            None => axis.name.to_owned(),
            Some(Usual::Size(size)) => format!("{} ({size} if not given)", axis.name),
            Some(Usual::As(other)) => format!("{} (as {other} if not given)", axis.name),
        });
        let axes: Vec<String> = axes.collect();
        let _ = writeln!(text, "{:<10} {}", operation.name, operation.about);
        if !operation.also.is_empty() {
            let _ = writeln!(text, "{:<10}   also {}", "", operation.also.join(", "));
        }
        for variant in operation.variants {
            let form = operation::form(operation.name, variant.name);
            let _ = writeln!(text, "{:<10}   {form}: {}", "", variant.about);
        }
        let _ = writeln!(text, "{:<10}   axes {}; {}", "", axes.join(", "), operation.precision_ids());
        for param in operation.params {
            let (choice, default) = (param.choice(), param.text(param.default));
            let _ = writeln!(
                text,
                "{:<10}   {}: {}; {choice}, {default} if not given",
                "", param.name, param.about
            );
        }
        if !operation.legal.is_empty() {
            let _ = writeln!(text, "{:<10}   defined where {}", "", operation.legal);
        }
    }
    text
}

fn implementations(args: &List, forms: &[(&str, &str)]) -> Result<String, Problem> {
    let mut text = String::new();
    for spec in places::runners(&args.places)? {
        match offers::known(&spec, &args.places) {
            Some(hello) => text.push_str(&lines(&hello, forms, &args.select.dtype)),
            None => {
                let _ = writeln!(text, "{}: not asked yet; `roofline runners` asks it", spec.name);
            }
        }
    }
    Ok(text)
}

fn lines(hello: &Hello, forms: &[(&str, &str)], dtypes: &[String]) -> String {
    let is_typed = |offer: &&Offer| dtypes.is_empty() || offer.dtypes.iter().any(|id| dtypes.contains(id));

    let mut text = String::new();
    // Probes have every operation; they bound implementations and are none.
    let offers = hello.offers.iter().filter(|offer| !is_limit(&offer.implementation));
    for offer in offers.filter(|offer| is_wanted(forms, &offer.operation)).filter(is_typed) {
        let requires = match offer.requires.as_str() {
            "" => String::new(),
            condition => format!("; requires {condition}"),
        };
        let _ = writeln!(
            text,
            "{:<20} {:<10} {:<16} {}{requires}",
            offer.implementation,
            offer.operation,
            offer.dtypes.join(","),
            offer.about
        );
    }
    text
}

/// Every format, whether it is written or read; what is only read comes last.
fn formats() -> String {
    let written = FORMATS.iter().map(|format| (format.name, format.about));
    let folders = FOLDERS.iter().map(|folder| (folder.name, folder.about));
    let written: Vec<(&str, &str)> = written.chain(folders).collect();
    let is_written = |name: &str| written.iter().any(|(known, _)| *known == name);
    let is_read = |name: &str| READERS.iter().any(|reader| reader.name == name);
    let line = |(name, about): (&str, &str)| {
        let way = match (is_written(name), is_read(name)) {
            (true, true) => "out, in",
            (true, false) => "out",
            _ => "in",
        };
        format!("{name:<30} {way:<8} {about}\n")
    };
    let others = READERS.iter().map(|reader| (reader.name, reader.about));
    let others = others.filter(|(name, _)| !is_written(name));
    written.iter().copied().chain(others).map(line).collect()
}

fn suites() -> String {
    let mut text = String::new();
    for (name, path) in places::suites() {
        let line = match places::read_suite(&path) {
            Ok(suite) => format!("{:>4} cases  {}{}", count(&suite.blocks), suite.about, stands_for(&suite)),
            Err(problem) => problem.to_string(),
        };
        let _ = writeln!(text, "{name:<12} {line}");
    }
    text
}

/// The older collection that a suite stands for, and how many rows that had.
fn stands_for(suite: &Suite) -> String {
    let rows: u64 = suite.at_least.iter().map(|(_, rows)| rows).sum();
    suite.stands_for.as_ref().map_or_else(String::new, |older| format!("; {rows} rows of {older} and more"))
}

/// How many cases blocks hold; what stands in two of them is one.
fn count<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> usize {
    let cases = blocks.into_iter().filter_map(Block::cases).flatten();
    cases.map(|case| case.to_string()).collect::<BTreeSet<String>>().len()
}

/// The parts of suites that `--group` or `--size` names, in the order of the suite, with their operations.
fn parts(select: &Select, of: fn(&Block) -> Option<&str>) -> Result<String, Problem> {
    let mut text = String::new();
    for (suite, path) in places::suites() {
        if select.suite.as_ref().is_some_and(|wanted| *wanted != suite) {
            continue;
        }
        let blocks = match places::read_suite(&path) {
            Ok(suite) => suite.blocks,
            Err(problem) => {
                let _ = writeln!(text, "{suite:<12} {problem}");
                continue;
            }
        };
        let mut names: Vec<&str> = Vec::new();
        for name in blocks.iter().filter_map(of) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            let own: Vec<&Block> = blocks.iter().filter(|block| of(block) == Some(name)).collect();
            let forms = own.iter().map(|block| operation::form(block.operation.name, block.variant));
            let forms: BTreeSet<String> = forms.collect();
            let forms = forms.into_iter().collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "{suite:<12} {name:<12} {:>4} cases  {forms}", count(own));
        }
    }
    if text.is_empty() {
        let why = select.suite.as_ref().map(|suite| format!("the suite `{suite}` has none"));
        let why = why.unwrap_or_else(|| "no suite has any".to_owned());
        return Err(Problem::nothing(why, "`roofline list suites` shows what there is"));
    }
    Ok(text)
}
