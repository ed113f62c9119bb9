//! Slices of device memory: owned, borrowed, borrowed to be written.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use crate::device::Device;
use crate::error::{CudaError, Result};
use crate::pool::Block;
use crate::stream::Stream;
use crate::sys::{self, Mapping, Memory, Plain};

/// Elements on the device, owned. What it holds at first is whatever was there.
#[derive(Debug)]
pub struct DeviceVec<T> {
    owner: Owner,
    len: usize,
    elements: PhantomData<T>,
}

#[derive(Debug)]
enum Owner {
    Memory(Memory),
    Block(Block<Memory>),
    Shared { mapping: Arc<Mapping>, offset: usize, writable: bool },
}

impl<T: Plain> DeviceVec<T> {
    pub fn new(device: &Device, len: usize) -> Result<DeviceVec<T>> {
        let memory = Memory::new(device.context(), bytes::<T>(len)?)?;
        Ok(DeviceVec { owner: Owner::Memory(memory), len, elements: PhantomData })
    }

    /// Copies from the host, and waits.
    pub fn from_host(stream: &Stream, values: &[T]) -> Result<DeviceVec<T>> {
        let mut vec = DeviceVec::new(stream.device(), values.len())?;
        vec.as_slice_mut()?.upload(stream, values)?;
        Ok(vec)
    }

    pub(crate) fn of_block(block: Block<Memory>, len: usize) -> DeviceVec<T> {
        DeviceVec { owner: Owner::Block(block), len, elements: PhantomData }
    }

    pub(crate) fn of_shared(
        mapping: Arc<Mapping>,
        offset: usize,
        len: usize,
        writable: bool,
    ) -> DeviceVec<T> {
        DeviceVec { owner: Owner::Shared { mapping, offset, writable }, len, elements: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn address(&self) -> u64 {
        match &self.owner {
            Owner::Memory(memory) => memory.address(),
            Owner::Block(block) => block.memory().address(),
            Owner::Shared { mapping, offset, .. } => mapping.address() + *offset as u64,
        }
    }

    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice { address: self.address(), len: self.len, elements: PhantomData }
    }

    /// Refused where the memory was mapped for reading alone.
    pub fn as_slice_mut(&mut self) -> Result<DeviceSliceMut<'_, T>> {
        if let Owner::Shared { writable: false, .. } = self.owner {
            return Err(CudaError::ReadOnly);
        }
        Ok(DeviceSliceMut(DeviceSlice { address: self.address(), len: self.len, elements: PhantomData }))
    }
}

pub(crate) fn bytes<T>(len: usize) -> Result<usize> {
    len.checked_mul(size_of::<T>()).ok_or(CudaError::Overflow { bytes: len })
}

/// Elements on the device, borrowed.
#[derive(Debug)]
pub struct DeviceSlice<'a, T> {
    address: u64,
    len: usize,
    elements: PhantomData<&'a [T]>,
}

impl<T> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceSlice<'_, T> {}

impl<'a, T: Plain> DeviceSlice<'a, T> {
    /// Memory of another library in this process.
    ///
    /// # Safety
    /// `address` is aligned to `T` and has `len` elements on the device, which nobody writes while
    /// work with this slice is queued or runs.
    pub unsafe fn from_address(address: u64, len: usize) -> DeviceSlice<'a, T> {
        DeviceSlice { address, len, elements: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    /// The same bytes as elements of another type, if they are whole ones and lie as such must.
    pub fn cast<U: Plain>(&self) -> Option<DeviceSlice<'a, U>> {
        let bytes = self.len * size_of::<T>();
        let fits = bytes.is_multiple_of(size_of::<U>()) && self.address.is_multiple_of(size_of::<U>() as u64);
        fits.then(|| DeviceSlice {
            address: self.address,
            len: bytes / size_of::<U>(),
            elements: PhantomData,
        })
    }

    /// A part of it; refused where it does not lie inside.
    pub fn slice(&self, part: Range<usize>) -> Result<DeviceSlice<'a, T>> {
        if part.start > part.end || part.end > self.len {
            return Err(CudaError::Length { what: "a slice to be cut", got: self.len, wanted: part.end });
        }
        let address = self.address + (part.start * size_of::<T>()) as u64;
        Ok(DeviceSlice { address, len: part.len(), elements: PhantomData })
    }

    /// Copies to memory of the host, once what the stream was given before is done.
    pub fn download(&self, stream: &Stream, to: &mut [T]) -> Result<()> {
        if to.len() != self.len {
            return Err(CudaError::Length { what: "the host's side", got: to.len(), wanted: self.len });
        }
        // SAFETY: as many bytes as the slice has, of a type for which any bits are a value.
        unsafe { stream.raw().download(self.address, sys::bytes_of_mut(to)) }
    }

    /// Copies to the host, once what the stream was given before is done.
    pub fn to_host(&self, stream: &Stream) -> Result<Vec<T>> {
        let mut values = vec![T::default(); self.len];
        // SAFETY: as many bytes as the slice has, of a type for which any bits are a value.
        unsafe { stream.raw().download(self.address, sys::bytes_of_mut(&mut values))? };
        Ok(values)
    }
}

/// Elements on the device, borrowed to be written.
#[derive(Debug)]
pub struct DeviceSliceMut<'a, T>(DeviceSlice<'a, T>);

impl<'a, T: Plain> DeviceSliceMut<'a, T> {
    /// Memory of another library in this process.
    ///
    /// # Safety
    /// `address` is aligned to `T` and has `len` elements on the device, which nobody else reads or
    /// writes while work with this slice is queued or runs.
    pub unsafe fn from_address(address: u64, len: usize) -> DeviceSliceMut<'a, T> {
        DeviceSliceMut(DeviceSlice { address, len, elements: PhantomData })
    }

    pub fn len(&self) -> usize {
        self.0.len
    }

    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    pub fn address(&self) -> u64 {
        self.0.address
    }

    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        self.0
    }

    /// The same bytes as elements of another type, if they are whole ones and lie as such must.
    pub fn cast<U: Plain>(self) -> Option<DeviceSliceMut<'a, U>> {
        self.0.cast().map(DeviceSliceMut)
    }

    /// A part of it, for as long as the whole is not used otherwise.
    pub fn slice(&mut self, part: Range<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.0.slice(part).map(DeviceSliceMut)
    }

    /// Copies from the host, and waits.
    pub fn upload(&mut self, stream: &Stream, values: &[T]) -> Result<()> {
        if values.len() != self.len() {
            return Err(CudaError::Length { what: "the host's side", got: values.len(), wanted: self.len() });
        }
        // SAFETY: as many bytes as the slice has, which is borrowed to be written.
        unsafe { stream.raw().upload(self.0.address, sys::bytes_of(values)) }
    }

    /// What it holds before a launch that reads each element where it writes it: a kernel works in place.
    pub(crate) fn before(&self) -> DeviceSlice<'a, T> {
        // SAFETY: its own elements, for as long as they are borrowed.
        unsafe { DeviceSlice::from_address(self.address(), self.len()) }
    }

    /// Queues a copy of another slice.
    pub fn copy_from(&mut self, stream: &Stream, from: DeviceSlice<'_, T>) -> Result<()> {
        if from.len() != self.len() {
            return Err(CudaError::Length { what: "the other slice", got: from.len(), wanted: self.len() });
        }
        // SAFETY: as many bytes as both slices have; this one is borrowed to be written, so they do not overlap.
        unsafe { stream.raw().copy(self.0.address, from.address(), self.len() * size_of::<T>()) }
    }

    /// Sets every byte.
    pub fn fill_bytes(&mut self, stream: &Stream, byte: u8) -> Result<()> {
        // SAFETY: as many bytes as the slice has, which is borrowed to be written.
        unsafe { stream.raw().fill(self.0.address, byte, self.len() * size_of::<T>()) }
    }
}
