//! What the runner has: the kernels of the house by operation and name, and probes of the device's limits.

use super::refusal;
use crate::kernel::{failed, unsupported};
use roofline_core::operation::{self, Operation};
use roofline_core::ops::operations;
use roofline_core::protocol::{Offer, Place, Prepare, Refusal};
use roofline_cuda::add::{self, Tile};
use roofline_cuda::layer_norm::{self, Affine};
use roofline_cuda::probe::{self, MOST_INPUTS, Way};
use roofline_cuda::{
    CudaError, DeviceVec, Element, Product, RowRung, Rows, SharedMemory, Stream, Weight, bf16, catalog, f16,
    matmul, rms_norm, softmax,
};

const PROVIDER: &str = "cuda/";
const LIMIT: &str = "limit/";
const DTYPES: [&str; 3] = ["f32", "bf16", "f16"];

/// Ways through memory, the fastest of which is the limit.
const WAYS: [(&str, Way); 4] = [
    ("traffic-256x1", Way { tile: Tile { threads: 256, packs: 1 }, walks: false }),
    ("traffic-512x1", Way { tile: Tile { threads: 512, packs: 1 }, walks: false }),
    ("traffic-256x4", Way { tile: Tile { threads: 256, packs: 4 }, walks: false }),
    ("traffic-walk", Way { tile: Tile { threads: 256, packs: 4 }, walks: true }),
];
const FMA: &str = "compute-fma-f32";

/// Forms and names that the catalogue has and an operation of ours means, with how many inputs they take.
const KERNELS: &[(&str, &str, usize)] = &[
    ("add", "plain", 2),
    ("add", "stream", 2),
    ("softmax", "plain", 1),
    ("softmax", "online", 1),
    ("softmax", "registers", 1),
    ("rms-norm", "plain", 2),
    ("rms-norm", "long", 2),
    ("rms-norm", "registers", 2),
    ("layer-norm", "plain", 3),
    ("layer-norm", "long", 3),
    ("layer-norm", "registers", 3),
    ("matmul.nn", "plain", 2),
    ("matmul.nn", "tiled", 2),
];

/// One launch on one set of tensors.
pub(super) type Launch = Box<dyn FnMut(&Stream) -> Result<(), CudaError>>;

/// Every kernel of the house for an operation of ours, and probes for every form.
pub(super) fn offers() -> Vec<Offer> {
    let is_ours = |row: &&catalog::Implementation| {
        KERNELS.iter().any(|(form, name, _)| (*form, *name) == (row.operation, row.name))
    };
    let kernels = catalog::IMPLEMENTATIONS.iter().filter(is_ours).map(|row| Offer {
        about: row.about.to_owned(),
        devices: vec!["cuda".to_owned()],
        ..Offer::new(&format!("{PROVIDER}{}", row.name), row.operation, &DTYPES)
    });
    let forms = operations().flat_map(|operation| operation.forms().map(move |form| (operation, form)));
    let probes = forms.flat_map(|(operation, form)| {
        let names = WAYS.iter().map(|(name, _)| *name).chain([FMA]);
        names.filter_map(|name| probe_offer(operation, &form, name)).collect::<Vec<_>>()
    });
    kernels.chain(probes).collect()
}

/// Multiply-adds in f32 bound what is computed in f32; matrix units have no probe yet.
fn probe_offer(operation: &Operation, form: &str, name: &str) -> Option<Offer> {
    let bounds = |id: &&str| name != FMA || *id == "f32";
    let ids: Vec<&str> = operation.precisions.iter().map(|precision| precision.id).filter(bounds).collect();
    let about = if name == FMA {
        "as many multiply-adds, from registers"
    } else {
        "as many bytes, and nothing computed"
    };
    (!ids.is_empty()).then(|| Offer {
        about: about.to_owned(),
        devices: vec!["cuda".to_owned()],
        params: operation.params.iter().map(|param| param.name.to_owned()).collect(),
        ..Offer::new(&format!("{LIMIT}{name}"), form, &ids)
    })
}

/// The launches of a question, one for each set of its tensors.
pub(super) fn prepare(
    stream: &Stream,
    request: &Prepare,
    memory: &[SharedMemory],
) -> Result<Vec<Launch>, Refusal> {
    if let Some(place) = request.tensors.iter().find(|place| place.starts_as.is_some()) {
        return Err(unsupported(format!(
            "`{}` is worked on in place, which no kernel here does",
            place.name
        )));
    }
    let sets = request.tensors.iter().map(Place::count).min().unwrap_or(1);
    let launch = |set: u64| {
        let places: Vec<Place> = request.tensors.iter().map(|place| place.of_set(set)).collect();
        if let Some(name) = request.implementation.strip_prefix(LIMIT) {
            return probe_launch(request, &places, memory, name);
        }
        match request.precision.as_str() {
            "f32" => kernel_launch::<f32>(stream, request, &places, memory),
            "bf16" => kernel_launch::<bf16>(stream, request, &places, memory),
            "f16" => kernel_launch::<f16>(stream, request, &places, memory),
            other => Err(unsupported(format!("`{}` has no {other}", request.implementation))),
        }
    };
    (0..sets).map(launch).collect()
}

fn kernel_launch<T: Element>(
    stream: &Stream,
    request: &Prepare,
    places: &[Place],
    memory: &[SharedMemory],
) -> Result<Launch, Refusal> {
    let form = operation::form(&request.operation, &request.variant);
    let name = request.implementation.strip_prefix(PROVIDER).unwrap_or_default();
    let row = KERNELS.iter().find(|row| (row.0, row.1) == (form.as_str(), name));
    let missing = || unsupported(format!("`{}` has no `{form}`", request.implementation));
    let (form, name, count) = *row.ok_or_else(missing)?;
    let axis = |name: &str| request.axes.get(name).map_or(0, |size| *size as usize);
    let rows = Rows { rows: axis("rows"), cols: axis("cols") };
    let product = Product { m: axis("m"), n: axis("n"), k: axis("k") };
    let elements = |(place, memory): (&Place, &SharedMemory)| {
        memory.elements::<T>(place.offset as usize, place.bytes as usize / size_of::<T>())
    };
    let mut inputs: Vec<DeviceVec<T>> =
        places.iter().zip(memory).map(elements).collect::<Result<_, _>>().map_err(refusal)?;
    let mut output = inputs.pop().ok_or_else(|| failed("a case without tensors"))?;
    if inputs.len() != count {
        return Err(failed(format!("{} inputs; `{form}` has {count}", inputs.len())));
    }
    let addresses: Vec<u64> = inputs.iter().chain([&output]).map(|one| one.as_slice().address()).collect();
    let weight = if form == "layer-norm" { Weight::Heavy } else { Weight::Light };
    let rung = match name {
        "plain" => RowRung::Plain,
        "registers" => match RowRung::best::<T>(stream, rows, &addresses, weight) {
            rung @ RowRung::Registers(_) => rung,
            _ => return Err(unsupported(format!("a row of {} does not fit into registers", rows.cols))),
        },
        _ => RowRung::Long,
    };
    Ok(Box::new(move |stream: &Stream| {
        let (x, y) = (inputs[0].as_slice(), output.as_slice_mut()?);
        match (form, name) {
            ("add", "plain") => add::plain(stream, x, inputs[1].as_slice(), y),
            ("add", _) => add::add(stream, x, inputs[1].as_slice(), y),
            ("softmax", _) => softmax::by_rung(stream, rung, x, y, rows),
            ("rms-norm", _) => rms_norm::by_rung(stream, rung, x, inputs[1].as_slice(), y, rows),
            ("layer-norm", _) => {
                let affine = Affine { w: inputs[1].as_slice(), b: inputs[2].as_slice() };
                layer_norm::by_rung(stream, rung, x, affine, y, rows)
            }
            (_, "plain") => matmul::plain(stream, x, inputs[1].as_slice(), y, product),
            _ => matmul::tiled(stream, x, inputs[1].as_slice(), y, product),
        }
    }))
}

/// A probe on the bytes or the work of a case.
fn probe_launch(
    request: &Prepare,
    places: &[Place],
    memory: &[SharedMemory],
    name: &str,
) -> Result<Launch, Refusal> {
    let bytes = |place: &Place, memory: &SharedMemory| {
        let length = place.walked.unwrap_or(place.bytes) as usize;
        memory.elements::<u8>(place.offset as usize, length).map_err(refusal)
    };
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (place, memory) in places.iter().zip(memory) {
        let side = if place.role.is_input() { &mut inputs } else { &mut outputs };
        side.push(bytes(place, memory)?);
    }
    if name == FMA {
        let work = request.work.ok_or_else(|| failed("a probe of compute without the case's work"))?;
        let count = work.multiply_adds + work.simple / 2;
        let mut sink = outputs.pop().ok_or_else(|| failed("a case without an output"))?;
        return Ok(Box::new(move |stream: &Stream| {
            probe::multiply_adds(stream, sink.as_slice_mut()?, count)
        }));
    }
    let way = WAYS.iter().find(|(known, _)| *known == name).map(|(_, way)| *way);
    let way = way.ok_or_else(|| unsupported(format!("this device has no `{}`", request.implementation)))?;
    if inputs.len() > MOST_INPUTS || outputs.len() != 1 {
        let why = format!(
            "{} inputs and {} outputs; probes know {MOST_INPUTS} and one",
            inputs.len(),
            outputs.len()
        );
        return Err(unsupported(why));
    }
    Ok(Box::new(move |stream: &Stream| {
        let read: Vec<_> = inputs.iter().map(DeviceVec::as_slice).collect();
        probe::traffic(stream, &read, outputs[0].as_slice_mut()?, way)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_the_table_is_in_the_catalogue_and_on_offer() {
        let offers = offers();
        for (form, name, _) in KERNELS {
            assert!(catalog::find(form, name).is_some(), "{form} {name}");
            let is_it =
                |offer: &&Offer| offer.operation == *form && offer.implementation == format!("cuda/{name}");
            assert_eq!(offers.iter().filter(is_it).count(), 1, "{form} {name}");
            let (operation, variant) = form.split_once('.').unwrap_or((form, ""));
            let operation = Operation::find(operation).unwrap();
            assert!(
                operation.forms().any(|known| known == operation::form(operation.name, variant)),
                "{form}"
            );
        }
        assert!(offers.iter().all(|offer| offer.devices == ["cuda"]));
        assert!(offers.len() < 4096, "{}", offers.len());
    }
}
