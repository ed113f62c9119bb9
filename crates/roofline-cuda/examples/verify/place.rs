//! One kernel on one instance: tensors at odd addresses between canaries, two launches, the judge.

use roofline_core::instance::Instance;
use roofline_core::tensor::Tensor;
use roofline_cuda::catalog::Implementation;
use roofline_cuda::{Args, DeviceSlice, DeviceSliceMut, DeviceVec, Result, Stream};

/// Bytes before and after a tensor.
const AROUND: usize = 256;
const CANARY: u8 = 0xa5;

/// A tensor at an odd address, between canaries.
struct Placed {
    memory: DeviceVec<u8>,
    first: usize,
    bytes: usize,
}

impl Placed {
    /// `shift` elements beyond a multiple of 256 bytes.
    fn new(stream: &Stream, tensor: &Tensor, shift: usize) -> Result<Placed> {
        let (bytes, first) = (tensor.bytes(), AROUND + shift * tensor.dtype.size());
        let mut memory = DeviceVec::new(stream.device(), bytes + 2 * AROUND)?;
        memory.as_slice_mut()?.fill_bytes(stream, CANARY)?;
        Ok(Placed { memory, first, bytes })
    }

    fn slice(&self) -> Result<DeviceSlice<'_, u8>> {
        self.memory.as_slice().slice(self.first..self.first + self.bytes)
    }

    fn slice_mut(&mut self) -> Result<DeviceSliceMut<'_, u8>> {
        let (first, bytes) = (self.first, self.bytes);
        let address = self.memory.as_slice_mut()?.address() + first as u64;
        // SAFETY: bytes inside the memory, for as long as `self` is borrowed.
        Ok(unsafe { DeviceSliceMut::from_address(address, bytes) })
    }

    /// Its bytes, if those around are as they were.
    fn read(&self, stream: &Stream) -> Result<Option<Vec<u8>>> {
        let mut all = self.memory.as_slice().to_host(stream)?;
        let after = all.split_off(self.first + self.bytes);
        let values = all.split_off(self.first);
        Ok(all.iter().chain(&after).all(|byte| *byte == CANARY).then_some(values))
    }
}

/// Launches twice on poisoned outputs, or on what they start as, and judges. How tensors lie: all at multiples of sixteen bytes, all as far beyond,
/// or each otherwise.
pub(crate) fn run(
    stream: &Stream,
    row: &Implementation,
    instance: &Instance<'_>,
    shift: usize,
) -> Result<std::result::Result<(), String>> {
    let case = instance.case;
    let beyond = |index: usize| [0, 1, 1 + 3 * index % 7][shift];
    let mut inputs = Vec::new();
    for (index, (tensor, bytes)) in instance.inputs.iter().enumerate() {
        let mut placed = Placed::new(stream, tensor, beyond(index))?;
        placed.slice_mut()?.upload(stream, bytes)?;
        inputs.push(placed);
    }
    let mut runs: Vec<Vec<Vec<u8>>> = Vec::new();
    for poison in [0xff, 0x5a] {
        let mut outputs = Vec::new();
        for (index, tensor) in instance.outputs.iter().enumerate() {
            let mut placed = Placed::new(stream, tensor, beyond(index + inputs.len()))?;
            let start = instance.inputs.iter().find(|(input, _)| Some(input.name) == tensor.starts_as);
            match start {
                Some((_, bytes)) => placed.slice_mut()?.upload(stream, bytes)?,
                None => placed.slice_mut()?.fill_bytes(stream, poison)?,
            }
            outputs.push(placed);
        }
        let mut args = Args::new(case.precision.id);
        for (axis, size) in case.operation.axes.iter().zip(&case.sizes) {
            args = args.size(axis.name, *size as usize);
        }
        for param in case.operation.params {
            args = args.param(param.name, case.param(param.name));
        }
        for ((tensor, _), placed) in instance.inputs.iter().zip(&inputs) {
            args = args.input(tensor.name, placed.slice()?);
        }
        for (tensor, placed) in instance.outputs.iter().zip(&mut outputs) {
            args = args.output(tensor.name, placed.slice_mut()?);
        }
        row.run(stream, args)?;
        stream.wait()?;
        let mut all = Vec::new();
        for placed in &outputs {
            let Some(bytes) = placed.read(stream)? else {
                return Ok(Err("wrote outside its output".to_owned()));
            };
            all.push(bytes);
        }
        runs.push(all);
    }
    if runs[0] != runs[1] {
        return Ok(Err("two launches differ, or something is not written".to_owned()));
    }
    let read = |(tensor, bytes): (&Tensor, &Vec<u8>)| {
        (0..tensor.elements()).map(|i| tensor.dtype.read(bytes, i)).collect::<Vec<f64>>()
    };
    let values: Vec<Vec<f64>> = instance.outputs.iter().zip(&runs[0]).map(read).collect();
    let judgement = instance.judge(&values, 1.0);
    let fault =
        || judgement.fault.as_ref().map_or("a property does not hold".to_owned(), ToString::to_string);
    Ok(if judgement.failed == 0 { Ok(()) } else { Err(fault()) })
}
