//! `roofline explain ROW`.

use crate::args::Explain;
use crate::error::Problem;
use roofline_core::case::parse_row;
use roofline_store::{Filter, Store};
use std::process::ExitCode;

pub fn run(args: &Explain) -> Result<ExitCode, Problem> {
    let (case, implementation) =
        parse_row(&args.row).map_err(|error| Problem::usage(error.to_string(), error.hint))?;
    let store = Store::open_read_only(&args.places.store)?;
    let filter = Filter {
        case: Some(case.to_string()),
        implementation: Some(implementation.clone()),
        latest: Some(1),
        ..Filter::default()
    };
    let Some(record) = store.records(&filter)?.found.pop() else {
        let command = format!("`roofline run {case} -i {implementation}` measures it");
        return Err(Problem::nothing(format!("the store has no record of `{}`", args.row), command));
    };
    super::print(&roofline_report::explain(&record, super::style()))?;
    Ok(ExitCode::SUCCESS)
}
