//! The device layer: memory shared between processes, graphs, the pool, the cache, and what kernels take of the device.

use std::os::fd::AsFd;
use std::time::Instant;

use roofline_cuda::elementwise::add;
use roofline_cuda::{
    Access, Cache, Device, DeviceSliceMut, DeviceVec, Event, Pool, SharedMemory, Stream, catalog,
};

use crate::Outcome;

pub(crate) fn layer(stream: &Stream) -> Outcome {
    let device = stream.device();
    let shared = SharedMemory::create(device, 1 << 20)?;
    let mut ours = shared.elements::<u32>(4096, 1000)?;
    let values: Vec<u32> = (0..1000).collect();
    ours.as_slice_mut()?.upload(stream, &values)?;
    let descriptor = shared.export()?;
    let theirs = SharedMemory::import(device, descriptor.as_fd(), 1 << 20, Access::ReadOnly)?;
    let mut seen = theirs.elements::<u32>(4096, 1000)?;
    if seen.as_slice().to_host(stream)? != values || seen.as_slice_mut().is_ok() {
        return Err("shared memory does not show what was written, or lets itself be written".into());
    }
    if theirs.elements::<u32>(shared.bytes() - 4, 2).is_ok() || theirs.elements::<u32>(2, 1).is_ok() {
        return Err("shared memory gives out what it does not have".into());
    }

    let x = DeviceVec::from_host(stream, &vec![1.5f32; 1 << 20])?;
    let mut z = DeviceVec::<f32>::new(device, 1 << 20)?;
    add(stream, x.as_slice(), x.as_slice(), z.as_slice_mut()?)?;
    let output = z.as_slice_mut()?.address();
    let mut graph = stream.capture(|stream| {
        for _ in 0..10 {
            // SAFETY: `z` outlives the graph, and only this stream uses it.
            let z = unsafe { DeviceSliceMut::from_address(output, 1 << 20) };
            add(stream, x.as_slice(), x.as_slice(), z)?;
        }
        Ok(())
    })?;
    let (before, after) = (Event::new(device)?, Event::new(device)?);
    graph.launch(stream)?;
    before.record(stream)?;
    graph.launch(stream)?;
    after.record(stream)?;
    after.wait()?;
    println!("graph: {:.2} µs a launch of add, 4 MiB", after.microseconds_since(&before)? / 10.0);
    if z.as_slice().to_host(stream)?.iter().any(|&z| z != 3.0) {
        return Err("a graph computed something else".into());
    }

    let pool = Pool::new(stream);
    drop(pool.take::<f32>(1 << 20)?);
    let begun = Instant::now();
    drop(pool.take::<f32>(1 << 20)?);
    println!("pool: {:?} for memory that it kept, {:?}", begun.elapsed(), pool.figures());
    Ok(())
}

/// How long a kernel takes to be there, compiled and from the cache.
pub(crate) fn creation() -> Outcome {
    let folder = std::env::temp_dir().join(format!("roofline-cuda-{}", std::process::id()));
    for round in ["compiled", "cached"] {
        let device = Device::with_cache(0, Cache::at(&folder))?;
        let row = catalog::find("softmax", "registers").ok_or("no softmax")?;
        let variants = (row.variants)(row, device.largest_cluster());
        let begun = Instant::now();
        for variant in &variants {
            device.kernel(&row.source, variant)?;
        }
        let each = begun.elapsed() / u32::try_from(variants.len())?;
        println!("{round}: {each:?} a kernel, {} kernels", variants.len());
    }
    Ok(std::fs::remove_dir_all(folder)?)
}

pub(crate) fn resources(device: &Device) -> Outcome {
    for row in catalog::implementations().filter(|row| row.fast) {
        for variant in (row.variants)(row, device.largest_cluster()) {
            let kernel = device.kernel(&row.source, &variant)?;
            let resources = kernel.resources();
            // A few bytes are known exceptions; see the test that compiles everything. Sines of large angles have a table.
            if resources.local_bytes > 48 {
                return Err(format!("{} {variant} spills: {resources:?}", row.source.file).into());
            }
        }
    }
    Ok(())
}
