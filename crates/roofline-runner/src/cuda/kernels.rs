//! What the runner has: the kernels of the house by operation and name, and probes of the device's limits.

use super::refusal;
use crate::kernel::{failed, unsupported};
use roofline_core::operation::{self, Operation};
use roofline_core::ops::operations;
use roofline_core::protocol::{Offer, Place, Prepare, Refusal};
use roofline_cuda::catalog::{self, Implementation};
use roofline_cuda::elementwise::Tile;
use roofline_cuda::probe::{self, MOST_INPUTS, MOST_OUTPUTS, Operand, Way};
use roofline_cuda::{Args, CudaError, DeviceVec, SharedMemory, Stream};

const PROVIDER: &str = "cuda/";
const LIMIT: &str = "limit/";

/// Ways through memory, the fastest of which is the limit.
const WAYS: [(&str, Way); 5] = [
    ("traffic-256x1", Way { tile: Tile { threads: 256, packs: 1 }, walks: false }),
    ("traffic-512x1", Way { tile: Tile { threads: 512, packs: 1 }, walks: false }),
    ("traffic-256x4", Way { tile: Tile { threads: 256, packs: 4 }, walks: false }),
    // What is only read wants the most in flight.
    ("traffic-256x8", Way { tile: Tile { threads: 256, packs: 8 }, walks: false }),
    ("traffic-walk", Way { tile: Tile { threads: 256, packs: 4 }, walks: true }),
];
/// Every kernel of the house takes tensors wherever their elements may lie.
const ANYWHERE: &str = "align 1";
/// Units that compute, by the type whose products they bound.
const UNITS: [(&str, &str, Unit); 4] = [
    ("compute-fma-f32", "f32", Unit::Fma),
    ("compute-matrix-bf16", "bf16", Unit::Matrix(Operand::Bf16)),
    ("compute-matrix-f16", "f16", Unit::Matrix(Operand::F16)),
    ("compute-matrix-i8", "i8", Unit::Matrix(Operand::I8)),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Fma,
    Matrix(Operand),
}

/// One launch on one set of tensors.
pub(super) type Launch = Box<dyn FnMut(&Stream) -> Result<(), CudaError>>;

/// Every kernel of the house for an operation of ours, and probes for every form.
pub(super) fn offers() -> Vec<Offer> {
    let kernels = catalog::implementations().filter(|row| row.launch.is_some()).map(|row| Offer {
        about: row.about.to_owned(),
        devices: vec!["cuda".to_owned()],
        params: row.params.iter().map(|name| (*name).to_owned()).collect(),
        requires: [ANYWHERE, row.requires]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
        ..Offer::new(&format!("{PROVIDER}{}", row.name), row.operation, row.precisions)
    });
    let forms = operations().flat_map(|operation| operation.forms().map(move |form| (operation, form)));
    let probes = forms.flat_map(|(operation, form)| {
        let names = WAYS.iter().map(|(name, _)| *name).chain(UNITS.iter().map(|(name, ..)| *name));
        names.filter_map(|name| probe_offer(operation, &form, name)).collect::<Vec<_>>()
    });
    kernels.chain(probes).collect()
}

/// Bytes bound every case, a unit those of its type, whatever their sums or intermediate values are rounded to.
fn probe_offer(operation: &Operation, form: &str, name: &str) -> Option<Offer> {
    let unit = UNITS.iter().find(|(known, ..)| *known == name);
    let bounds = |id: &&str| unit.is_none_or(|(_, dtype, _)| id.split('+').next() == Some(*dtype));
    let ids: Vec<&str> = operation.precisions.iter().map(|precision| precision.id).filter(bounds).collect();
    let about = match unit {
        Some((_, _, Unit::Fma)) => "as many multiply-adds, from registers",
        Some((_, _, Unit::Matrix(_))) => "as many multiply-adds on matrix units, from shared memory",
        None => "as many bytes, and nothing computed",
    };
    (!ids.is_empty()).then(|| Offer {
        about: about.to_owned(),
        devices: vec!["cuda".to_owned()],
        params: operation.params.iter().map(|param| param.name.to_owned()).collect(),
        ..Offer::new(&format!("{LIMIT}{name}"), form, &ids)
    })
}

/// The launches of a question, one for each set of its tensors.
pub(super) fn prepare(request: &Prepare, memory: &[SharedMemory]) -> Result<Vec<Launch>, Refusal> {
    let sets = request.tensors.iter().map(Place::count).min().unwrap_or(1);
    let launch = |set: u64| {
        let places: Vec<Place> = request.tensors.iter().map(|place| place.of_set(set)).collect();
        if let Some(name) = request.implementation.strip_prefix(LIMIT) {
            return probe_launch(request, &places, memory, name);
        }
        kernel_launch(request, &places, memory)
    };
    (0..sets).map(launch).collect()
}

fn kernel_launch(request: &Prepare, places: &[Place], memory: &[SharedMemory]) -> Result<Launch, Refusal> {
    let form = operation::form(&request.operation, &request.variant);
    let name = request.implementation.strip_prefix(PROVIDER).unwrap_or_default();
    let row: &Implementation = catalog::find(&form, name)
        .ok_or_else(|| unsupported(format!("`{}` has no `{form}`", request.implementation)))?;
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (place, memory) in places.iter().zip(memory) {
        let side = if place.role.is_input() { &mut inputs } else { &mut outputs };
        let bytes = memory.elements::<u8>(place.offset as usize, place.bytes as usize).map_err(refusal)?;
        side.push((place.name.clone(), bytes));
    }
    let (axes, params, precision) = (request.axes.clone(), request.params.clone(), request.precision.clone());
    Ok(Box::new(move |stream: &Stream| {
        let mut args = Args::new(&precision);
        for (axis, size) in &axes {
            args = args.size(axis, *size as usize);
        }
        for (name, value) in &params {
            args = args.param(name, *value);
        }
        for (name, bytes) in &inputs {
            args = args.input(name, bytes.as_slice());
        }
        for (name, bytes) in &mut outputs {
            args = args.output(name, bytes.as_slice_mut()?);
        }
        row.run(stream, args)
    }))
}

/// What makes each set's outputs a copy of the inputs that they start as; nothing where none does.
pub(super) fn restores(request: &Prepare, memory: &[SharedMemory]) -> Result<Vec<Launch>, Refusal> {
    if request.tensors.iter().all(|place| place.starts_as.is_none()) {
        return Ok(Vec::new());
    }
    let sets = request.tensors.iter().map(Place::count).min().unwrap_or(1);
    let of_set = |set: u64| -> Result<Launch, Refusal> {
        let bytes = |at: usize| {
            let place = request.tensors[at].of_set(set);
            memory[at].elements::<u8>(place.offset as usize, place.bytes as usize).map_err(refusal)
        };
        let mut copies = Vec::new();
        for (at, place) in request.tensors.iter().enumerate() {
            let Some(name) = &place.starts_as else { continue };
            let is_start =
                |input: &Place| input.name == *name && input.role.is_input() && input.bytes == place.bytes;
            let from = request.tensors.iter().position(is_start);
            let missing = || failed(format!("tensor `{}` starts as no input of its size", place.name));
            copies.push((bytes(from.ok_or_else(missing)?)?, bytes(at)?));
        }
        Ok(Box::new(move |stream: &Stream| {
            copies.iter_mut().try_for_each(|(from, to)| to.as_slice_mut()?.copy_from(stream, from.as_slice()))
        }))
    };
    (0..sets).map(of_set).collect()
}

/// A probe on the bytes or the work of a case.
fn probe_launch(
    request: &Prepare,
    places: &[Place],
    memory: &[SharedMemory],
    name: &str,
) -> Result<Launch, Refusal> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (place, own) in places.iter().zip(memory) {
        // Nothing is read of what an output starts as: the output is read in its place.
        let started = places.iter().position(|output| output.starts_as.as_ref() == Some(&place.name));
        let (offset, memory) = started.map_or((place.offset, own), |at| (places[at].offset, &memory[at]));
        let length = place.walked.unwrap_or(place.bytes) as usize;
        let bytes = memory.elements::<u8>(offset as usize, length).map_err(refusal)?;
        if place.role.is_input() { inputs.push(bytes) } else { outputs.push(bytes) }
    }
    if let Some((.., unit)) = UNITS.iter().find(|(known, ..)| *known == name).copied() {
        let work = request.work.ok_or_else(|| failed("a probe of compute without the case's work"))?;
        let mut sink = outputs.pop().ok_or_else(|| failed("a case without an output"))?;
        return Ok(Box::new(move |stream: &Stream| match unit {
            Unit::Fma => {
                probe::multiply_adds(stream, sink.as_slice_mut()?, work.multiply_adds + work.simple / 2)
            }
            Unit::Matrix(operand) => {
                probe::matrix_multiply_adds(stream, sink.as_slice_mut()?, operand, work.multiply_adds)
            }
        }));
    }
    let way = WAYS.iter().find(|(known, _)| *known == name).map(|(_, way)| *way);
    let way = way.ok_or_else(|| unsupported(format!("this device has no `{}`", request.implementation)))?;
    if inputs.len() > MOST_INPUTS || !(1..=MOST_OUTPUTS).contains(&outputs.len()) {
        let (read, written) = (inputs.len(), outputs.len());
        let why = format!(
            "{read} inputs and {written} outputs; probes know up to {MOST_INPUTS} and {MOST_OUTPUTS}"
        );
        return Err(unsupported(why));
    }
    Ok(Box::new(move |stream: &Stream| {
        let read: Vec<_> = inputs.iter().map(DeviceVec::as_slice).collect();
        let written: Vec<_> = outputs.iter_mut().map(DeviceVec::as_slice_mut).collect::<Result<_, _>>()?;
        probe::traffic(stream, &read, &written, way)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roofline_core::case::Case;
    use roofline_cuda::probe::MOST_PACKS;

    /// A case of a form at the first of some sizes that it is defined for.
    fn some_case(operation: &Operation, form: &str) -> Case {
        let parse = |size: u64| {
            let sizes: Vec<String> =
                operation.axes.iter().map(|axis| format!("{}={size}", axis.name)).collect();
            format!("{form}/{}/{}", operation.precisions[0].id, sizes.join(",")).parse::<Case>()
        };
        [1, 2, 4, 8, 16, 32, 64, 128, 256].into_iter().find_map(|size| parse(size).ok()).expect(form)
    }

    #[test]
    fn probes_know_the_tensors_of_every_operation() {
        for operation in operations() {
            for form in operation.forms() {
                let case = some_case(operation, &form);
                let (inputs, outputs): (Vec<_>, Vec<_>) =
                    (operation.tensors)(&case).into_iter().partition(|tensor| tensor.role.is_input());
                let (read, written) = (inputs.len(), outputs.len());
                assert!(
                    read <= MOST_INPUTS && (1..=MOST_OUTPUTS).contains(&written),
                    "{form}: {read}, {written}"
                );
            }
        }
        assert!(
            WAYS.iter().any(|(_, way)| way.tile.packs == MOST_PACKS),
            "what is read wants the most in flight"
        );
    }

    #[test]
    fn every_kernel_of_the_catalogue_is_on_offer_for_an_operation_of_ours() {
        let offers = offers();
        for row in catalog::implementations().filter(|row| row.launch.is_some()) {
            let (form, name) = (row.operation, row.name);
            let is_it =
                |offer: &&Offer| offer.operation == form && offer.implementation == format!("cuda/{name}");
            assert_eq!(offers.iter().filter(is_it).count(), 1, "{form} {name}");
            let (operation, variant) = form.split_once('.').unwrap_or((form, ""));
            let operation = Operation::find(operation).unwrap();
            let is_form = |known: String| known == operation::form(operation.name, variant);
            assert!(operation.forms().any(is_form), "{form}");
            let is_param = |param: &str| operation.params.iter().any(|own| own.name == param);
            assert!(row.params.iter().all(|param| is_param(param)), "{form} {name}");
            assert!(row.precisions.iter().all(|id| operation.precision(id).is_some()), "{form}");
            assert!(row.requires.parse::<roofline_core::condition::Condition>().is_ok(), "{form} {name}");
        }
        assert!(offers.iter().all(|offer| offer.devices == ["cuda"]));
        assert!(offers.len() < 4096, "{}", offers.len());
    }
}
