//! The mutants of the core's registry as kernels: what the self-test holds against the judge goes through the whole gate.
//!
//! `saboteur/mutant-a-key-too-many` computes attention with a key too many, in f64 and plainly. Where a shape cannot have
//! the mistake, it computes the definition.

use roofline_core::arithmetic::Arithmetic;
use roofline_core::case::Case;
use roofline_core::mutants;
use roofline_core::operation::{Mutant, Operation, Problem};
use roofline_core::ops::OPERATIONS;
use roofline_core::tensor::View;
use roofline_runner::{Job, Offer, Ready, Refusal, unsupported};

const PREFIX: &str = "saboteur/mutant-";

/// Every mutant for the forms and precisions that can have it.
pub(crate) fn offers() -> impl Iterator<Item = Offer> {
    OPERATIONS.iter().flat_map(|operation| of(operation))
}

fn of(operation: &'static Operation) -> Vec<Offer> {
    let mut offers: Vec<Offer> = Vec::new();
    for case in mutants::forms(operation) {
        let form = case.form();
        for mutant in mutants::own(&case) {
            let name = implementation(mutant);
            let known =
                offers.iter_mut().rfind(|offer| offer.implementation == name && offer.operation == form);
            match known {
                Some(offer) => offer.dtypes.push(case.precision.id.to_owned()),
                None => offers.push(Offer {
                    about: format!("computes it wrongly: {}", mutant.name),
                    ..Offer::new(&name, &form, &[case.precision.id])
                }),
            }
        }
    }
    offers
}

/// `saboteur/mutant-` and the mutant's name in kebab-case.
fn implementation(mutant: &Mutant) -> String {
    let words = mutant.name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{PREFIX}{}", words.collect::<Vec<_>>().join("-").to_ascii_lowercase())
}

/// The kernel of a mutant; `None` for what is no mutant's name.
pub(crate) fn prepare(job: &mut Job) -> Option<Result<Ready, Refusal>> {
    job.implementation.starts_with(PREFIX).then(|| kernel(job))
}

fn kernel(job: &mut Job) -> Result<Ready, Refusal> {
    let case: Case = job.case.parse().map_err(|error| unsupported(format!("`{}`: {error}", job.case)))?;
    let named = |mutant: &&Mutant| implementation(mutant) == job.implementation;
    let mutant: &'static Mutant = case.operation.mutants.iter().find(named).ok_or_else(|| {
        unsupported(format!("`{}` has no mutant of the name `{}`", case.operation.name, job.implementation))
    })?;
    let tensors = (case.operation.tensors)(&case);
    let (inputs, mut outputs) = job.bytes()?;
    Ok(Ready::new(move || {
        let (of_inputs, of_outputs) = tensors.split_at(inputs.len());
        let views = of_inputs.iter().zip(&inputs).map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes });
        let problem = Problem { case: &case, fill: mutant.fill, inputs: views.collect() };
        let left = match (mutant.of)(&case) {
            true => mutant.wrong.outputs(&problem),
            false => case.judged().emulate(&problem, &Arithmetic::declared(&case)),
        };
        for ((tensor, bytes), values) in of_outputs.iter().zip(&mut outputs).zip(&left) {
            values.iter().enumerate().for_each(|(index, value)| tensor.dtype.write(bytes, index, *value));
        }
    }))
}
