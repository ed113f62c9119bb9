//! `--param NAME=VALUES` of one's own kernels: a name that no operation has is a parameter of the files that the command line
//! names, and each of its values a row.

use crate::args::{Measure, Places, parse_parameter};
use crate::commands::offers;
use crate::error::Problem;
use crate::places;
use roofline_conductor::session::Limits;
use roofline_core::operation::own::{Declaration, has_param};
use roofline_core::ops;

/// The same arguments, with each parameter where it belongs. Without `limits` no runner is started.
pub fn sorted(args: &Measure, limits: Option<Limits>) -> Result<Measure, Problem> {
    let is_known = |name: &str| {
        ops::operations().any(|operation| operation.params.iter().any(|param| param.name == name))
    };
    let is_foreign = |text: &String| !is_known(name(text));
    let is_anybody_named = args.places.names_anybody();
    if !is_anybody_named || !args.select.param.iter().any(is_foreign) {
        return Ok(args.clone());
    }
    let declared = declared(&args.places, limits)?;
    let is_own = |text: &String| {
        is_foreign(text) && !declared.iter().any(|operation| has_param(operation, name(text)))
    };
    let mut sorted = args.clone();
    let (own, of_operations) = args.select.param.iter().cloned().partition(is_own);
    sorted.select.param = of_operations;
    for text in own {
        if let Some(option) =
            args.save.as_ref().map(|_| "--save").or(args.baseline.as_ref().map(|_| "--baseline"))
        {
            let why =
                format!("`--param {text}` makes rows of one's own kernels, and `{option}` cannot take them");
            return Err(Problem::usage(why, "say `--env` for the one value that is kept"));
        }
        let parameter = parse_parameter(&text).map_err(|why| {
            Problem::usage(
                format!("`--param {text}`: {why}"),
                "no operation has this parameter, so it is one of the files",
            )
        })?;
        sorted.places.sweep.push(parameter);
    }
    Ok(sorted)
}

fn name(text: &str) -> &str {
    text.split('=').next().unwrap_or_default()
}

/// The operations that the files declare which are named. One that cannot say without its parameters declares none: it is
/// asked again with them, and then says what is wrong with it.
fn declared(places: &Places, limits: Option<Limits>) -> Result<Vec<Declaration>, Problem> {
    let specs = places::runners(places)?;
    let named = specs.iter().filter(|spec| spec.named.is_some());
    let hellos = named
        .filter_map(|spec| offers::known(spec, places).or_else(|| offers::asked(spec, places, limits?).ok()));
    Ok(hellos.flat_map(|hello| hello.operations).collect())
}
