//! The launchers for another language: a shared library that works on the pointers and the stream of
//! whoever loads it, such as a Python process with torch in it.
//!
//!     cargo build --release -p roofline-cuda --example embed      # target/release/examples/libembed.so
//!
//! `roofline_cuda_launch` takes the operation, the number type, the shape and up to four addresses,
//! the output last; `roofline_cuda_run` takes any row of the catalogue, its case and its tensors by name.
//! Both return 0, or 1 with a message in `error`.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{Mutex, OnceLock, PoisonError};

use roofline_cuda::cross_entropy::Wanted;
use roofline_cuda::elementwise::{Form, Rung, Tile, apply};
use roofline_cuda::layer_norm::{Affine, Norm};
use roofline_cuda::probe::Way;
use roofline_cuda::{
    Args, CudaError, Device, DeviceSlice, DeviceSliceMut, Element, Result, RowPlan, RowRung, Rows, Stream,
    Weight, bf16, catalog, cross_entropy, f16, layer_norm, probe, rms_norm, softmax,
};

/// A case, and how to cut it: 0 threads leave that to the library.
#[repr(C)]
pub struct Job {
    operation: *const c_char,
    element: *const c_char,
    rows: usize,
    cols: usize,
    addresses: [u64; 4],
    stream: usize,
    threads: u32,
    packs: u32,
    rows_a_block: u32,
    cluster: u32,
    blocks: u32,
}

fn device() -> Result<&'static Device> {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    if let Some(device) = DEVICE.get() {
        return Ok(device);
    }
    let device = Device::open(0)?;
    Ok(DEVICE.get_or_init(|| device))
}

/// The caller's stream. It is kept: what launches of it leave for each other must outlive the graphs they are recorded in.
///
/// # Safety
/// The handle is a stream of device 0, for as long as the program runs.
unsafe fn stream_of(handle: usize) -> Result<&'static Stream> {
    static STREAMS: Mutex<Option<HashMap<usize, &'static Stream>>> = Mutex::new(None);
    let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let streams = streams.get_or_insert_default();
    if let Some(stream) = streams.get(&handle) {
        return Ok(stream);
    }
    // SAFETY: the caller's promise.
    let stream: &'static Stream = Box::leak(Box::new(unsafe { Stream::from_handle(device()?, handle) }));
    streams.insert(handle, stream);
    Ok(stream)
}

/// # Safety
/// The job's names end with 0; its addresses have the elements that the shape says, and its stream
/// is one of device 0.
unsafe fn launch<T: Element>(job: &Job, operation: &str) -> Result<()> {
    let shape = Rows { rows: job.rows, cols: job.cols };
    let [a, b, c, d] = job.addresses;
    let len = shape.elements()?;
    // SAFETY: the caller's promise, for each of them.
    let stream = unsafe { stream_of(job.stream)? };
    // SAFETY: as above.
    let (input, all) = unsafe {
        let input = |address, len| DeviceSlice::<T>::from_address(address, len);
        (input, DeviceSliceMut::<T>::from_address)
    };
    let weight = if operation == "layer-norm" { Weight::Heavy } else { Weight::Light };
    let rung = |addresses: &[u64]| match RowRung::best::<T>(stream, shape, addresses, weight) {
        RowRung::Registers(RowPlan { aligned, .. }) if job.threads > 0 => RowRung::Registers(RowPlan {
            threads: job.threads,
            packs: job.packs,
            rows: job.rows_a_block,
            cluster: job.cluster,
            aligned,
            blocks: job.blocks,
            walk: None,
        }),
        best => best,
    };
    let tile = if job.threads > 0 { Tile { threads: job.threads, packs: job.packs } } else { Tile::BEST };
    match operation {
        // SAFETY: the caller's promise: x and y of all elements, w and b of one row.
        "add" => unsafe {
            let add = Form::find("add").ok_or(CudaError::Missing { kind: "form", name: "add".to_owned() })?;
            apply(stream, add, Rung::Stream(tile), &[input(a, len), input(b, len)], all(c, len), 0.0)
        },
        // SAFETY: as above.
        "softmax" => unsafe {
            softmax::by_rung(stream, softmax::Of::Softmax, rung(&[a, b]), input(a, len), all(b, len), shape)
        },
        // SAFETY: as above.
        "rms-norm" => unsafe {
            rms_norm::by_rung(
                stream,
                rung(&[a, b, c]),
                input(a, len),
                input(b, shape.cols),
                all(c, len),
                shape,
                rms_norm::EPSILON,
            )
        },
        // SAFETY: as above.
        "layer-norm" => unsafe {
            let affine = Affine { w: input(b, shape.cols), b: input(c, shape.cols) };
            layer_norm::by_rung(
                stream,
                Norm::USUAL,
                rung(&[a, b, c, d]),
                input(a, len),
                Some(affine),
                all(d, len),
                shape,
            )
        },
        // SAFETY: as above, with one target and one loss a row.
        "cross-entropy" => unsafe {
            let (target, loss) = (DeviceSlice::from_address(b, shape.rows), all(c, shape.rows));
            cross_entropy::cross_entropy(stream, input(a, len), target, loss, shape, Wanted::Each)
        },
        "copy" => {
            let bytes = len * size_of::<T>();
            // SAFETY: as above.
            let (x, y) =
                unsafe { (DeviceSlice::from_address(a, bytes), DeviceSliceMut::from_address(b, bytes)) };
            probe::copy(stream, x, y, tile)
        }
        _ => Err(CudaError::Compiler { doing: "finding the operation", reason: operation.to_string() }),
    }
}

/// # Safety
/// `job` is one as its fields say, and `error` has room for `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roofline_cuda_launch(job: *const Job, error: *mut c_char, room: usize) -> i32 {
    // SAFETY: the caller's promise.
    let job = unsafe { &*job };
    // SAFETY: as above.
    let (operation, element) = unsafe { (CStr::from_ptr(job.operation), CStr::from_ptr(job.element)) };
    let (operation, element) = (operation.to_string_lossy(), element.to_string_lossy());
    // SAFETY: as above.
    let done = unsafe {
        match &*element {
            "f32" => launch::<f32>(job, &operation),
            "bf16" => launch::<bf16>(job, &operation),
            "f16" => launch::<f16>(job, &operation),
            _ => Err(CudaError::Compiler { doing: "finding the number type", reason: element.into_owned() }),
        }
    };
    // SAFETY: as above.
    unsafe { told(done, error, room) }
}

/// A tensor of a case.
#[repr(C)]
pub struct Tensor {
    name: *const c_char,
    address: u64,
    bytes: usize,
    is_output: u32,
}

/// Runs `operation/precision/axis=size,…`, with sizes and parameters alike, by a row of the catalogue; or, of the operation
/// `traffic`, reads and writes the tensors and computes nothing.
///
/// # Safety
/// `case` and `name` end with 0, `tensors` has `count` of them, which have the bytes that they say, and `error` has room
/// for `room` bytes; the stream is one of device 0, for as long as the program runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roofline_cuda_run(
    case: *const c_char,
    name: *const c_char,
    tensors: *const Tensor,
    count: usize,
    stream: usize,
    error: *mut c_char,
    room: usize,
) -> i32 {
    // SAFETY: the caller's promise.
    let (case, name, tensors) =
        unsafe { (CStr::from_ptr(case), CStr::from_ptr(name), std::slice::from_raw_parts(tensors, count)) };
    // SAFETY: as above.
    let done = unsafe { run(&case.to_string_lossy(), &name.to_string_lossy(), tensors, stream) };
    // SAFETY: as above.
    unsafe { told(done, error, room) }
}

/// # Safety
/// As of `roofline_cuda_run`.
unsafe fn run(case: &str, name: &str, tensors: &[Tensor], stream: usize) -> Result<()> {
    // SAFETY: the caller's promise.
    let stream = unsafe { stream_of(stream)? };
    let [operation, precision, sizes]: [&str; 3] =
        case.split('/').collect::<Vec<_>>().try_into().unwrap_or(["", "", ""]);
    let mut args = Args::new(precision);
    for (key, value) in sizes.split(',').filter_map(|size| size.split_once('=')) {
        let value: f64 = value.parse().unwrap_or(0.0);
        args = args.size(key, value as usize).param(key, value);
    }
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for tensor in tensors {
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(tensor.name) }.to_string_lossy();
        if tensor.is_output == 0 {
            // SAFETY: as above.
            let input = unsafe { DeviceSlice::<u8>::from_address(tensor.address, tensor.bytes) };
            inputs.push(input);
            args = args.input(&name, input);
        } else {
            // SAFETY: as above; one of the two is used.
            let output = || unsafe { DeviceSliceMut::<u8>::from_address(tensor.address, tensor.bytes) };
            outputs.push(output());
            args = args.output(&name, output());
        }
    }
    if operation == "traffic" {
        let way = match name {
            "512x1" => Way { tile: Tile { threads: 512, packs: 1 }, walks: false },
            "256x8" => Way { tile: Tile { threads: 256, packs: 8 }, walks: false },
            _ => Way { tile: Tile { threads: 256, packs: 4 }, walks: true },
        };
        return probe::traffic(stream, &inputs, &outputs, way);
    }
    let row = catalog::find(operation, name);
    row.ok_or_else(|| CudaError::Missing { kind: "row", name: format!("{operation} {name}") })?
        .run(stream, args)
}

/// # Safety
/// `error` has room for `room` bytes.
unsafe fn told(done: Result<()>, error: *mut c_char, room: usize) -> i32 {
    let Err(why) = done else { return 0 };
    let text = why.to_string();
    if room > 0 {
        let bytes = &text.as_bytes()[..text.len().min(room - 1)];
        // SAFETY: the caller's promise, one byte less than there is room for, then a 0.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), error.cast(), bytes.len());
            error.add(bytes.len()).write(0);
        }
    }
    1
}
