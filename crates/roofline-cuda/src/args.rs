//! What a kernel is launched on: sizes, parameters and tensors by name.

use crate::error::{CudaError, Result};
use crate::shape::Rows;
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::sys::Plain;

/// The sizes, parameters and tensors of one launch. Tensors are bytes until a launcher asks for their elements.
///
/// ```no_run
/// use roofline_cuda::{Args, Device, DeviceVec, Stream, catalog::find};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32, -2.0])?;
/// let mut y = DeviceVec::<f32>::new(stream.device(), 2)?;
/// let args = Args::new("f32").size("rows", 1).size("cols", 2);
/// let args = args.input("x", x.as_slice()).output("y", y.as_slice_mut()?);
/// find("relu", "stream").unwrap().run(&stream, args)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [1.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Args<'a> {
    precision: String,
    sizes: Vec<(String, usize)>,
    params: Vec<(String, f64)>,
    inputs: Vec<(String, DeviceSlice<'a, u8>)>,
    outputs: Vec<(String, DeviceSliceMut<'a, u8>)>,
}

impl<'a> Args<'a> {
    /// None of anything, in a precision: `f32`, `bf16`, `f16`.
    pub fn new(precision: &str) -> Args<'a> {
        let precision = precision.to_owned();
        Args { precision, sizes: Vec::new(), params: Vec::new(), inputs: Vec::new(), outputs: Vec::new() }
    }

    /// With the size of an axis.
    pub fn size(mut self, axis: &str, size: usize) -> Args<'a> {
        self.sizes.push((axis.to_owned(), size));
        self
    }

    /// With a parameter.
    pub fn param(mut self, name: &str, value: f64) -> Args<'a> {
        self.params.push((name.to_owned(), value));
        self
    }

    /// With an input.
    pub fn input<T: Plain>(mut self, name: &str, x: DeviceSlice<'a, T>) -> Args<'a> {
        self.inputs.extend(x.cast().map(|bytes| (name.to_owned(), bytes)));
        self
    }

    /// With an output.
    pub fn output<T: Plain>(mut self, name: &str, y: DeviceSliceMut<'a, T>) -> Args<'a> {
        self.outputs.extend(y.cast().map(|bytes| (name.to_owned(), bytes)));
        self
    }

    pub fn precision(&self) -> &str {
        &self.precision
    }

    /// The size of an axis.
    pub fn axis(&self, name: &str) -> Result<usize> {
        let found = self.sizes.iter().find(|(own, _)| own == name);
        found.map(|(_, size)| *size).ok_or_else(|| missing("axis", name))
    }

    /// The axes rows and cols.
    pub fn rows(&self) -> Result<Rows> {
        Ok(Rows { rows: self.axis("rows")?, cols: self.axis("cols")? })
    }

    /// The value of a parameter.
    pub fn value(&self, name: &str) -> Result<f64> {
        let found = self.params.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| *value).ok_or_else(|| missing("parameter", name))
    }

    /// An input.
    pub fn take<T: Plain>(&self, name: &str) -> Result<DeviceSlice<'a, T>> {
        let found = self.inputs.iter().find(|(own, _)| own == name);
        let (_, bytes) = found.ok_or_else(|| missing("input", name))?;
        bytes.cast().ok_or_else(|| unfit::<T>(name, bytes))
    }

    /// An output, which can be had once.
    pub fn take_out<T: Plain>(&mut self, name: &str) -> Result<DeviceSliceMut<'a, T>> {
        let at = self.outputs.iter().position(|(own, _)| own == name);
        let (name, bytes) = self.outputs.swap_remove(at.ok_or_else(|| missing("output", name))?);
        let why = unfit::<T>(&name, &bytes.as_slice());
        bytes.cast().ok_or(why)
    }
}

fn missing(kind: &'static str, name: &str) -> CudaError {
    CudaError::Missing { kind, name: name.to_owned() }
}

fn unfit<T>(name: &str, bytes: &DeviceSlice<'_, u8>) -> CudaError {
    let (address, bytes, size) = (bytes.address(), bytes.len(), size_of::<T>());
    CudaError::Elements { name: name.to_owned(), bytes, address, size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_of_another_size_is_named() {
        // SAFETY: nothing is read: no kernel is launched on it.
        let x = unsafe { DeviceSlice::<u8>::from_address(0x1002, 6) };
        let args = Args::new("f32").size("cols", 3).input("x", x);
        assert_eq!(args.axis("cols").unwrap(), 3);
        assert_eq!(args.axis("rows").unwrap_err().to_string(), "there is no axis `rows`");
        assert_eq!(args.value("eps").unwrap_err().to_string(), "there is no parameter `eps`");
        assert!(args.take::<u8>("w").unwrap_err().to_string().contains("no input `w`"));
        assert_eq!(args.take::<u16>("x").unwrap().len(), 3);
        let why = args.take::<f32>("x").unwrap_err().to_string();
        assert!(why.contains("`x` has 6 bytes at address 0x1002"), "{why}");
    }
}
