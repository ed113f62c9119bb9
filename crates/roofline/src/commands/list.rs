//! `roofline list`: what there is. Starts no runner.

use crate::args::{List, What};
use crate::commands::offers;
use crate::error::Problem;
use crate::{places, select};
use roofline_core::ops::OPERATIONS;
use roofline_core::protocol::Hello;
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(args: &List) -> Result<ExitCode, Problem> {
    let text = match args.what {
        What::Ops => operations(),
        What::Implementations => implementations(args)?,
        What::Suites => suites(),
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
        What::Devices => format!("cpu  {} cores\n", roofline_conductor::stage::available_cores().len()),
        What::Formats => roofline_report::FORMATS
            .iter()
            .map(|format| format!("{:<10} {}\n", format.name, format.about))
            .collect(),
    };
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn operations() -> String {
    let mut text = String::new();
    for operation in OPERATIONS {
        let dtypes: Vec<&str> = operation.precisions.iter().map(|(dtype, _)| dtype.name()).collect();
        let axes: Vec<&str> = operation.axes.iter().map(|axis| axis.name).collect();
        let _ = writeln!(text, "{:<10} {}", operation.name, operation.about);
        for variant in operation.variants {
            let form = roofline_core::ops::form(operation.name, variant.name);
            let _ = writeln!(text, "{:<10}   {form}: {}", "", variant.about);
        }
        let _ = writeln!(text, "{:<10}   axes {}; {}", "", axes.join(", "), dtypes.join(", "));
    }
    text
}

fn implementations(args: &List) -> Result<String, Problem> {
    let mut text = String::new();
    for spec in places::runners(&args.places)? {
        match offers::known(&spec, &args.places) {
            Some(hello) => text.push_str(&lines(&hello)),
            None => {
                let _ = writeln!(text, "{}: not asked yet; `roofline runners` asks it", spec.name);
            }
        }
    }
    Ok(text)
}

fn lines(hello: &Hello) -> String {
    let mut text = String::new();
    for offer in &hello.offers {
        let dtypes: Vec<&str> = offer.dtypes.iter().map(|dtype| dtype.name()).collect();
        let _ = writeln!(
            text,
            "{:<20} {:<10} {:<16} {}",
            offer.implementation,
            offer.operation,
            dtypes.join(","),
            offer.about
        );
    }
    text
}

fn suites() -> String {
    let mut text = String::new();
    for (name, path) in places::suites() {
        let line = match places::read_suite(&path) {
            Ok(suite) => {
                let cases: usize =
                    suite.blocks.iter().filter_map(|block| block.cases()).map(|cases| cases.len()).sum();
                format!("{:>4} cases  {}", cases, suite.about)
            }
            Err(problem) => problem.to_string(),
        };
        let _ = writeln!(text, "{name:<12} {line}");
    }
    text
}
