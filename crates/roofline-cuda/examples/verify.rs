//! Runs every kernel on a device against f64 on the host: odd shapes, odd addresses, all number types.
//!
//!     cargo run --release -p roofline-cuda --example verify
//!
//! Outputs are poisoned before each launch and stand between canaries, each kernel runs twice and
//! must give the same bits. Then the device layer: shared memory, graphs, the pool, the cache.
#![expect(clippy::print_stdout, reason = "a program that people read")]

use std::error::Error;
use std::os::fd::AsFd;
use std::time::Instant;

use roofline_cuda::layer_norm::Affine;
use roofline_cuda::{
    Access, Cache, Device, DeviceSlice, DeviceSliceMut, DeviceVec, Element, Event, Pool, Product, RowRung,
    Rows, SharedMemory, Stream, Weight, add, bf16, cross_entropy, f16, layer_norm, matmul, rms_norm, softmax,
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// How numbers of a type are made and read on the host.
trait Number: Element + PartialEq {
    /// Half the distance of neighbours, relative to a number; and that of the smallest numbers.
    const ROUNDING: (f64, f64);
    fn of(value: f64) -> Self;
    fn get(self) -> f64;
}

impl Number for f32 {
    // What f32 arithmetic over a row may lose, not one rounding.
    const ROUNDING: (f64, f64) = (6e-6, 1e-37);
    fn of(value: f64) -> f32 {
        value as f32
    }
    fn get(self) -> f64 {
        self.into()
    }
}

impl Number for bf16 {
    const ROUNDING: (f64, f64) = (0.00392, 1e-37);
    fn of(value: f64) -> bf16 {
        bf16::from_f64(value)
    }
    fn get(self) -> f64 {
        self.into()
    }
}

impl Number for f16 {
    const ROUNDING: (f64, f64) = (0.0004911, 3.1e-8);
    fn of(value: f64) -> f16 {
        f16::from_f64(value)
    }
    fn get(self) -> f64 {
        self.into()
    }
}

/// Numbers between -4 and 4 that depend on nothing but their place.
fn noise<T: Number>(len: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        T::of((state >> 40) as f64 / f64::from(1 << 24) * 8.0 - 4.0)
    };
    (0..len).map(|_| next()).collect()
}

/// A tensor at an odd address, between canaries.
struct Placed<T> {
    memory: DeviceVec<T>,
    offset: usize,
    len: usize,
}

const AROUND: usize = 32;
const CANARY: u8 = 0xa5;

impl<T: Number> Placed<T> {
    fn new(stream: &Stream, len: usize, offset: usize) -> Outcome<Placed<T>> {
        let mut memory = DeviceVec::new(stream.device(), len + 2 * AROUND)?;
        memory.as_slice_mut()?.fill_bytes(stream, CANARY)?;
        Ok(Placed { memory, offset: AROUND + offset, len })
    }

    fn with(stream: &Stream, values: &[T], offset: usize) -> Outcome<Placed<T>> {
        let mut placed = Placed::new(stream, values.len(), offset)?;
        let range = placed.offset..placed.offset + placed.len;
        placed.memory.as_slice_mut()?.slice(range)?.upload(stream, values)?;
        Ok(placed)
    }

    fn slice(&self) -> Outcome<DeviceSlice<'_, T>> {
        Ok(self.memory.as_slice().slice(self.offset..self.offset + self.len)?)
    }

    /// NaN everywhere, then handed out to be written.
    fn poisoned(&mut self, stream: &Stream) -> Outcome<DeviceSliceMut<'_, T>> {
        let (offset, len) = (self.offset, self.len);
        let mut whole = self.memory.as_slice_mut()?;
        whole.slice(offset..offset + len)?.fill_bytes(stream, 0xff)?;
        // SAFETY: the same elements, for as long as `self` is borrowed.
        Ok(unsafe { DeviceSliceMut::from_address(whole.address() + (offset * size_of::<T>()) as u64, len) })
    }

    fn read(&self, stream: &Stream) -> Outcome<Vec<T>> {
        let mut all = self.memory.as_slice().to_host(stream)?;
        let canary = T::default();
        let after = all.split_off(self.offset + self.len);
        let values = all.split_off(self.offset);
        let mut around = all.into_iter().chain(after);
        let first = around.next().unwrap_or(canary);
        if around.any(|value| value != first) {
            return Err("wrote outside its output".into());
        }
        Ok(values)
    }
}

/// Runs twice, and compares with the reference.
fn judge<T: Number>(
    stream: &Stream,
    what: &str,
    expected: &[f64],
    slack: f64,
    offset: usize,
    launch: impl Fn(DeviceSliceMut<'_, T>) -> roofline_cuda::Result<()>,
) -> Outcome {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut y = Placed::<T>::new(stream, expected.len(), offset)?;
        launch(y.poisoned(stream)?).map_err(|error| format!("{what}: {error}"))?;
        runs.push(y.read(stream).map_err(|error| format!("{what}: {error}"))?);
    }
    if runs[0] != runs[1] {
        return Err(format!("{what}: two launches differ").into());
    }
    let (relative, absolute) = T::ROUNDING;
    for (i, (&got, &wanted)) in runs[0].iter().zip(expected).enumerate() {
        let (error, allowed) = ((got.get() - wanted).abs(), relative * wanted.abs() + absolute + slack);
        if error > allowed || got.get().is_nan() {
            let got = got.get();
            return Err(format!(
                "{what}: element {i}: got {got:e}, reference {wanted:e}, allowed {allowed:e}"
            )
            .into());
        }
    }
    Ok(())
}

fn rungs<T: Number>(stream: &Stream, shape: Rows, addresses: &[u64]) -> Vec<RowRung> {
    let best = |weight| RowRung::best::<T>(stream, shape, addresses, weight);
    vec![RowRung::Plain, RowRung::Long, best(Weight::Light), best(Weight::Heavy)]
}

fn row_operations<T: Number>(stream: &Stream, shape: Rows, offsets: [usize; 2]) -> Outcome<usize> {
    let Rows { rows, cols } = shape;
    let (x, w, b) = (noise::<T>(rows * cols, 1), noise::<T>(cols, 2), noise::<T>(cols, 3));
    let dx = Placed::with(stream, &x, offsets[0])?;
    let (dw, db) = (Placed::with(stream, &w, offsets[0] * 3)?, Placed::with(stream, &b, offsets[0])?);
    let (mut soft, mut rms, mut layer) = (Vec::new(), Vec::new(), Vec::new());
    for row in x.chunks(cols) {
        let row: Vec<f64> = row.iter().map(|value| value.get()).collect();
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|value| (value - largest).exp()).sum();
        let squares: f64 = row.iter().map(|value| value * value).sum::<f64>() / cols as f64;
        let mean: f64 = row.iter().sum::<f64>() / cols as f64;
        let variance: f64 = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / cols as f64;
        for (i, value) in row.iter().enumerate() {
            let (w, b) = (w[i].get(), b[i].get());
            soft.push((value - largest).exp() / sum);
            rms.push(value / (squares + f64::from(rms_norm::EPSILON)).sqrt() * w);
            layer.push((value - mean) / (variance + f64::from(layer_norm::EPSILON)).sqrt() * w + b);
        }
    }
    let mut done = 0;
    // Where the output will lie, as far as alignment goes.
    let output = (offsets[1] * size_of::<T>()) as u64;
    let input = dx.slice()?.address();
    let soft_rungs = rungs::<T>(stream, shape, &[input, output]);
    let norm_rungs = rungs::<T>(stream, shape, &[input, output, dw.slice()?.address()]);
    for (soft_rung, rung) in soft_rungs.into_iter().zip(norm_rungs) {
        let name = format!("{} {rows}x{cols} at {offsets:?} {rung:?}", T::NAME);
        let at = offsets[1];
        let input = dx.slice()?;
        // One thread that adds up a row, element after element, loses more than many that share it.
        let lost = if rung == RowRung::Plain { cols as f64 * 3e-9 } else { 0.0 };
        judge::<T>(
            stream,
            &format!("softmax {name} {soft_rung:?}"),
            &soft,
            lost * soft[0] * 10.0,
            at,
            |y| softmax::by_rung(stream, soft_rung, input, y, shape),
        )?;
        let weights = dw.slice()?;
        judge::<T>(stream, &format!("rms-norm {name}"), &rms, lost * 8.0, at, |y| {
            rms_norm::by_rung(stream, rung, input, weights, y, shape)
        })?;
        let affine = Affine { w: weights, b: db.slice()? };
        // A row of one element has no deviation: what is left of rounding the mean is divided by sqrt(ε).
        judge::<T>(stream, &format!("layer-norm {name}"), &layer, 4e-5 + lost * 8.0, at, |y| {
            layer_norm::by_rung(stream, rung, input, affine, y, shape)
        })?;
        done += 3;
    }
    Ok(done)
}

fn losses<T: Number>(stream: &Stream) -> Outcome<usize> {
    let mut done = 0;
    for (rows, cols, offset) in
        [(1, 1, 0), (5, 31, 1), (300, 1000, 0), (4, 8191, 1), (3, 128_256, 0), (2, 300_001, 1)]
    {
        let x = noise::<T>(rows * cols, 8);
        let target: Vec<i64> = (0..rows).map(|row| (row * 7919 % cols) as i64).collect();
        let mut expected = Vec::new();
        for (row, &target) in x.chunks(cols).zip(&target) {
            let sum: f64 = row.iter().map(|value| value.get().exp()).sum();
            expected.push(sum.ln() - row[target as usize].get());
        }
        let dx = Placed::with(stream, &x, offset)?;
        let dt = DeviceVec::from_host(stream, &target)?;
        let (dx, dt, shape) = (dx.slice()?, dt.as_slice(), Rows { rows, cols });
        let name = format!("cross-entropy {} {rows}x{cols}", T::NAME);
        // The sum of a plain walk loses some of its digits, and the logarithm passes that on.
        judge::<f32>(stream, &format!("{name} plain"), &expected, cols as f64 * 3e-8, 0, |loss| {
            cross_entropy::plain(stream, dx, dt, loss, shape)
        })?;
        judge::<f32>(stream, &format!("{name} online"), &expected, 4e-6, 0, |loss| {
            cross_entropy::cross_entropy(stream, dx, dt, loss, shape)
        })?;
        done += 2;
    }
    Ok(done)
}

fn additions<T: Number>(stream: &Stream) -> Outcome<usize> {
    let mut done = 0;
    for (len, offsets) in
        [(1, [0, 0, 0]), (31, [1, 2, 3]), (4096, [0, 0, 0]), (100_003, [3, 3, 3]), (100_003, [0, 1, 2])]
    {
        let (x, y) = (noise::<T>(len, 4), noise::<T>(len, 5));
        let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x.get() + y.get()).collect();
        let (dx, dy) = (Placed::with(stream, &x, offsets[0])?, Placed::with(stream, &y, offsets[1])?);
        let (dx, dy) = (dx.slice()?, dy.slice()?);
        let name = format!("add {} {len} at {offsets:?}", T::NAME);
        judge::<T>(stream, &format!("{name} plain"), &expected, 0.0, offsets[2], |z| {
            add::plain(stream, dx, dy, z)
        })?;
        judge::<T>(stream, &format!("{name} stream"), &expected, 0.0, offsets[2], |z| {
            add::add(stream, dx, dy, z)
        })?;
        done += 2;
    }
    Ok(done)
}

fn products<T: Number>(stream: &Stream) -> Outcome<usize> {
    let mut done = 0;
    for shape in
        [Product { m: 1, n: 1, k: 1 }, Product { m: 129, n: 131, k: 67 }, Product { m: 7, n: 300, k: 33 }]
    {
        let Product { m, n, k } = shape;
        let (a, b) = (noise::<T>(m * k, 6), noise::<T>(k * n, 7));
        let element = |i: usize| (0..k).map(|j| a[i / n * k + j].get() * b[j * n + i % n].get()).sum();
        let expected: Vec<f64> = (0..m * n).map(element).collect();
        let (da, db) = (Placed::with(stream, &a, 1)?, Placed::with(stream, &b, 2)?);
        let (da, db) = (da.slice()?, db.slice()?);
        let name = format!("matmul {} {m}x{n}x{k}", T::NAME);
        // Terms of up to 16 cancel: the slack is relative to them and not to their sum.
        let slack = 16.0 * k as f64 * 6e-8;
        judge::<T>(stream, &format!("{name} plain"), &expected, slack, 1, |c| {
            matmul::plain(stream, da, db, c, shape)
        })?;
        judge::<T>(stream, &format!("{name} tiled"), &expected, slack, 1, |c| {
            matmul::tiled(stream, da, db, c, shape)
        })?;
        done += 2;
    }
    Ok(done)
}

fn all_of<T: Number>(stream: &Stream, quick: bool) -> Outcome<usize> {
    let mut done = additions::<T>(stream)? + products::<T>(stream)? + losses::<T>(stream)?;
    let lengths: &[usize] = if quick {
        &[1, 31, 1000, 8191]
    } else {
        &[1, 2, 7, 31, 64, 255, 748, 1000, 1024, 8191, 32_000, 32_768, 65_537, 128_256, 300_001]
    };
    for &cols in lengths {
        let rows = if cols > 10_000 { 3 } else { 5 };
        for offsets in [[0, 0], [1, 1], [1, 2]] {
            done += row_operations::<T>(stream, Rows { rows, cols }, offsets)?;
        }
    }
    done += row_operations::<T>(stream, Rows { rows: 1000, cols: 33 }, [0, 0])?;
    Ok(done)
}

/// Values that ordinary numbers do not reach.
fn extremes(stream: &Stream) -> Outcome {
    let infinity = f32::INFINITY;
    let rows: [(&str, [f32; 4], [f32; 4]); 4] = [
        ("minus infinity", [-infinity, 0.0, -infinity, 0.0], [0.0, 0.5, 0.0, 0.5]),
        ("all minus infinity", [-infinity; 4], [f32::NAN; 4]),
        ("infinity", [infinity, 0.0, 1.0, 2.0], [f32::NAN; 4]),
        ("large", [1e30, -1e30, 1e30, 0.0], [0.5, 0.0, 0.5, 0.0]),
    ];
    for (name, x, expected) in rows {
        // Spread over two threads: one of them sees no finite element.
        let x: Vec<f32> = x.iter().flat_map(|&value| [value; 4]).collect();
        let device_x = DeviceVec::from_host(stream, &x)?;
        let mut y = DeviceVec::<f32>::new(stream.device(), x.len())?;
        let shape = Rows { rows: 1, cols: x.len() };
        for rung in rungs::<f32>(stream, shape, &[0, 0]) {
            softmax::by_rung(stream, rung, device_x.as_slice(), y.as_slice_mut()?, shape)?;
            let y = y.as_slice().to_host(stream)?;
            let same = |(i, y): (usize, &f32)| {
                let wanted = expected[i / 4] / 4.0;
                (y.is_nan() && wanted.is_nan()) || (y - wanted).abs() < 1e-6
            };
            if !y.iter().enumerate().all(same) {
                return Err(format!("softmax of {name}, {rung:?}: got {y:?}").into());
            }
        }
    }
    Ok(())
}

fn device_layer(stream: &Stream) -> Outcome {
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
    add::add(stream, x.as_slice(), x.as_slice(), z.as_slice_mut()?)?;
    let output = z.as_slice_mut()?.address();
    let mut graph = stream.capture(|stream| {
        for _ in 0..10 {
            // SAFETY: `z` outlives the graph, and only this stream uses it.
            let z = unsafe { DeviceSliceMut::from_address(output, 1 << 20) };
            add::add(stream, x.as_slice(), x.as_slice(), z)?;
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
fn creation() -> Outcome {
    let folder = std::env::temp_dir().join(format!("roofline-cuda-{}", std::process::id()));
    for round in ["compiled", "cached"] {
        let device = Device::with_cache(0, Cache::at(&folder))?;
        let row = roofline_cuda::catalog::find("softmax", "registers").ok_or("no softmax")?;
        let variants = (row.variants)(device.largest_cluster());
        let begun = Instant::now();
        for variant in &variants {
            device.kernel(&row.source, variant)?;
        }
        let each = begun.elapsed() / u32::try_from(variants.len())?;
        println!("{round}: {each:?} a kernel, {} kernels", variants.len());
    }
    Ok(std::fs::remove_dir_all(folder)?)
}

fn resources(device: &Device) -> Outcome {
    for row in roofline_cuda::catalog::IMPLEMENTATIONS.iter().filter(|row| row.fast) {
        for variant in (row.variants)(device.largest_cluster()) {
            let kernel = device.kernel(&row.source, &variant)?;
            let resources = kernel.resources();
            // Eight bytes are a known exception of layer-norm; see the test that compiles everything.
            if resources.local_bytes > 16 {
                return Err(format!("{} {variant} spills: {resources:?}", row.source.file).into());
            }
        }
    }
    Ok(())
}

fn main() -> Outcome {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let device = match Device::open(0) {
        Ok(device) => device,
        Err(error) => {
            println!("{error}");
            return Ok(());
        }
    };
    println!("{:?}", device.info());
    let stream = Stream::new(&device)?;
    let done =
        all_of::<f32>(&stream, quick)? + all_of::<bf16>(&stream, quick)? + all_of::<f16>(&stream, quick)?;
    extremes(&stream)?;
    println!("{done} kernels and shapes agree with f64");
    device_layer(&stream)?;
    if !quick {
        resources(&device)?;
        creation()?;
    }
    println!("all is well");
    Ok(())
}
