//! Runs every row of the catalog, for every precision and every instruction set
//! level of this machine, over one list of nasty shapes and every family of
//! contents of its operation, and judges each element as the gate does. A new
//! kernel is tested by being listed. `OPERATIONS=add,matmul.nn` in the environment
//! leaves the others out. A shape meets one family in three, by turns, so that each
//! meets many shapes, and what takes a reference long is left out; with `EVERY_CASE=1`
//! all meet all.

mod guarded;

use guarded::{Edge, Guarded};
use half::{bf16, f16};
use roofline_core::case::Case;
use roofline_core::condition::{Condition, Sizes};
use roofline_core::dtype::Dtype;
use roofline_core::fill::Fill;
use roofline_core::instance::Instance;
use roofline_core::operation::Param;
use roofline_core::philox::Draws;
use roofline_core::tensor::Tensor;
use roofline_cpu::catalog::{Implementation, Kernel, implementations};
use roofline_cpu::{Args, Cpu, Datum, Fp8E4m3, Fp8E5m2, Isa, Pool};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Around the lanes of every level, primes, rows beyond a block, and rows that are dealt to several threads.
const ROWS: &[[u64; 2]] = &[
    [1, 1],
    [3, 7],
    [2, 8],
    [5, 9],
    [1, 15],
    [1, 16],
    [4, 17],
    [2, 31],
    [1, 63],
    [3, 64],
    [2, 65],
    [37, 31],
    [33, 2],
    [7, 3],
    [3, 33],
    [2, 127],
    [31, 129],
    [2, 748],
    [3, 1000],
    [2, 1009],
    [1, 1025],
    [129, 1],
    // Columns as long as rows.
    [127, 3],
    [748, 2],
    [1000, 3],
    [1025, 2],
    [1, 40_001],
    [9, 2049],
    [67, 257],
];

/// A dimension in the middle: each of the three as long as any; the last are dealt to several threads.
const MIDDLE: &[[u64; 3]] = &[
    [1, 1, 1],
    [2, 3, 7],
    [3, 31, 1],
    [5, 4, 33],
    [127, 2, 3],
    [3, 127, 2],
    [2, 3, 127],
    [748, 1, 2],
    [2, 748, 1],
    [1, 2, 748],
    [1000, 3, 1],
    [1, 1000, 3],
    [3, 1, 1000],
    [1025, 2, 1],
    [1, 1025, 2],
    [2, 1, 1025],
    [7, 33, 2],
    [31, 7, 3],
    [33, 129, 1],
    [129, 2, 31],
    [5, 15, 17],
    [2, 63, 16],
    [2, 17, 65],
    [2, 67, 129],
    [1, 9, 2049],
];

/// Around the register tiles (4x16, 6x16, 14x32, 32x32), the depth of a block, a
/// pair and a line of a tile, thin and flat ones, and a few tiles of C.
const PRODUCTS: &[[u64; 3]] = &[
    [1, 1, 1],
    [1, 1, 517],
    [1, 33, 7],
    [3, 5, 2],
    [4, 16, 3],
    [5, 17, 8],
    [6, 31, 16],
    [7, 32, 31],
    [13, 33, 63],
    [14, 64, 64],
    [15, 65, 65],
    [29, 15, 257],
    [31, 1, 511],
    [33, 33, 33],
    [65, 31, 129],
    [3, 3, 4133],
    [47, 101, 100],
    [229, 37, 19],
    [17, 1100, 9],
];

/// For whatever has other axes: each takes as many as it has. The last are dealt to several threads.
const OTHERS: &[[u64; 4]] = &[
    [1, 1, 1, 1],
    [2, 3, 7, 2],
    [3, 1, 31, 1],
    [1, 7, 2, 3],
    [5, 4, 33, 2],
    [2, 33, 129, 1],
    [129, 2, 64, 3],
    [1, 2, 127, 2],
    [2, 1, 748, 1],
    [1, 3, 1000, 1],
    [1025, 1, 2, 1],
    [7, 127, 3, 2],
    [31, 3, 33, 1],
    [33, 129, 1, 2],
    [127, 2, 3, 1],
    [748, 1, 3, 1],
    [1000, 2, 1, 1],
    [2, 748, 1, 1],
    [1, 1000, 3, 1],
    [3, 1025, 2, 1],
    [1, 2, 1025, 1],
    [2, 31, 15, 3],
    [1, 31, 17, 2],
    [2, 16, 65, 1],
    [33, 9, 65, 1],
];

/// Rows, columns, the length of a block and that of the sums, which few of them divide.
const BLOCKS: &[[u64; 4]] = &[
    [1, 1, 1, 1],
    [2, 3, 2, 7],
    [3, 5, 4, 8],
    [7, 9, 16, 100],
    [5, 33, 32, 129],
    [33, 4, 128, 257],
    [1, 130, 128, 64],
    [130, 1, 128, 128],
    [2, 3, 1000, 31],
    [17, 2, 3, 1025],
];

/// Batch, queries or pages, keys of all or of a page, heads of queries and of keys, their length, and that of a window.
const HEADS: &[[u64; 7]] = &[
    [1, 1, 1, 1, 1, 1, 1],
    [2, 3, 7, 4, 2, 7, 2],
    [1, 1, 129, 2, 1, 31, 7],
    [1, 33, 33, 2, 2, 64, 31],
    [2, 7, 31, 6, 3, 33, 64],
    [1, 127, 127, 1, 1, 8, 1],
    [1, 2, 748, 2, 1, 16, 747],
    [1, 31, 1000, 1, 1, 3, 129],
    [1, 129, 129, 1, 1, 1, 3],
    [1, 4, 5, 3, 3, 129, 4],
    [1, 1, 1025, 4, 4, 4, 33],
];

/// Batch, channels of outputs, height, width, kernel, stride, padding, dilation, groups, and channels of images.
const WINDOWS: &[[u64; 10]] = &[
    [1, 1, 1, 1, 1, 1, 0, 1, 1, 1],
    [2, 3, 7, 5, 3, 1, 1, 1, 1, 2],
    [1, 4, 9, 11, 3, 2, 1, 1, 2, 6],
    [1, 5, 8, 33, 1, 1, 0, 1, 1, 17],
    [1, 6, 13, 12, 3, 1, 2, 2, 3, 3],
    [2, 8, 10, 9, 3, 1, 1, 1, 8, 8],
    [1, 2, 1, 1, 3, 1, 1, 1, 1, 5],
    [1, 3, 23, 31, 7, 2, 3, 1, 1, 3],
    [1, 16, 6, 6, 2, 3, 0, 1, 4, 4],
    [1, 2, 5, 127, 5, 1, 4, 1, 1, 1],
    [3, 2, 12, 3, 3, 4, 0, 1, 2, 2],
    [1, 33, 4, 4, 3, 1, 1, 1, 1, 65],
    [1, 1, 20, 17, 4, 3, 5, 3, 1, 1],
];

/// Sizes for an operation of these axes.
fn sizes(axes: &[&str]) -> Vec<Vec<u64>> {
    match axes {
        ["rows", "cols"] => ROWS.iter().map(|sizes| sizes.to_vec()).collect(),
        ["outer", "length" | "middle", "inner"] => MIDDLE.iter().map(|sizes| sizes.to_vec()).collect(),
        ["batch", "n"] => ROWS.iter().map(|sizes| sizes.to_vec()).collect(),
        ["m", "n", "k"] => PRODUCTS.iter().map(|sizes| sizes.to_vec()).collect(),
        ["batch", "seq" | "pages", "kv" | "page", ..] => {
            HEADS.iter().map(|sizes| sizes[..axes.len()].to_vec()).collect()
        }
        ["batch", "out", "height", ..] => WINDOWS.iter().map(|sizes| sizes.to_vec()).collect(),
        // A line is an image without its height.
        ["batch", "out", "length", ..] => {
            WINDOWS.iter().map(|sizes| [&sizes[..2], &sizes[3..]].concat()).collect()
        }
        ["m", "n", "block" | "group", "k"] => BLOCKS.iter().map(|sizes| sizes.to_vec()).collect(),
        [_] => [1, 2, 3, 7, 31, 33, 127, 129, 748, 1000, 1025, 40_001].map(|size| vec![size]).to_vec(),
        _ => OTHERS.iter().map(|sizes| sizes.iter().copied().cycle().take(axes.len()).collect()).collect(),
    }
}

/// Rows of one operation and precision: an instance serves them all.
type Rows<'a> = BTreeMap<(&'static str, &'static str), Vec<(&'a Implementation, Kernel)>>;

#[test]
fn every_implementation_is_right_on_every_nasty_case() {
    let wanted = std::env::var("OPERATIONS").ok();
    let is_wanted =
        |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|one| one == name));
    let mut rows: Rows = BTreeMap::new();
    for row in implementations().filter(|row| (row.available)() && is_wanted(row.operation)) {
        for kernel in row.kernels {
            rows.entry((row.operation, kernel.precision)).or_default().push((row, *kernel));
        }
    }
    // On all cores, whoever is free taking the next.
    let left = Mutex::new(rows.into_iter());
    let next = || left.lock().expect("nobody fails while it takes one").next();
    let work = || {
        let cpus = cpus();
        while let Some(((operation, precision), rows)) = next() {
            judge(operation, precision, &rows, &cpus);
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
}

/// Of the families of contents a shape meets one in so many. Odd, so that they alternate between the ends of memory.
const PART: usize = 3;
/// Operations of a case whose reference takes long, as where rows and columns of scores are both many.
const LONG: u64 = 1 << 20;

/// Whether nothing is left out.
fn is_every_case() -> bool {
    std::env::var_os("EVERY_CASE").is_some()
}

/// All rows of one operation and precision.
fn judge(operation: &str, precision: &str, rows: &[(&Implementation, Kernel)], cpus: &[Cpu]) {
    let part = if is_every_case() { 1 } else { PART };
    for (number, case) in cases(operation, precision).iter().enumerate() {
        let fills = case.operation.fills_of(case);
        let first = number % part.min(fills.len());
        for (family, fill) in fills.into_iter().enumerate().skip(first).step_by(part) {
            let instance = Instance::new(case, fill, 17);
            // Every family meets both ends of its memory, and every case that has more than one of them.
            let edge = [Edge::End, Edge::Start][(number + family) % 2];
            let takes = |row: &Implementation| {
                let condition: Condition = row.requires.parse().expect("a condition");
                let sizes = Sizes { names: &case.operation.axis_names(), values: &case.sizes };
                condition.holds(sizes).is_ok()
                    && case.given().all(|(param, _)| row.params.contains(&param.name))
            };
            let mut right = Vec::new();
            for (row, kernel) in rows.iter().filter(|(row, _)| takes(row)) {
                for cpu in cpus.iter().filter(|cpu| uses(row, cpu)) {
                    run(row, kernel, &instance, cpu, edge, fill, &mut right);
                }
            }
        }
    }
}

fn cases(operation: &str, precision: &str) -> Vec<Case> {
    let name = operation.split('.').next().unwrap_or_default();
    let found =
        roofline_core::operation::Operation::find(name).expect("the operation is known by the same name");
    let near = |wanted: Vec<u64>| {
        let axes = found.axis_names().into_iter().zip(&wanted);
        let axes: Vec<String> = axes.map(|(name, size)| format!("{name}={size}")).collect();
        let id = |axes: &[String]| format!("{operation}/{precision}/{}", axes.join(","));
        match id(&axes).parse::<Case>() {
            Ok(case) => case,
            // Not a legal size: one near it.
            Err(_) => {
                let even = |size: u64| {
                    let axes = found.axis_names().into_iter().map(|name| format!("{name}={size}"));
                    id(&axes.collect::<Vec<_>>()).parse::<Case>().ok()
                };
                let case =
                    [64, 256, 2].into_iter().find_map(even).expect("sizes of 64, of 256 or of 2 are legal");
                found.near(&case, &wanted, &mut Draws::new(1, 1))
            }
        }
    };
    let mut cases: Vec<Case> = sizes(&found.axis_names()).into_iter().map(near).collect();
    cases.retain(|case| is_every_case() || (found.work)(case).flops() <= LONG);
    // Every third with parameters that are not the usual ones.
    for case in cases.iter_mut().skip(1).step_by(3) {
        case.params = found.params.iter().map(other).collect();
    }
    cases
}

/// Another value of a parameter than its default.
fn other(param: &Param) -> f64 {
    if !param.words.is_empty() {
        return 1.0;
    }
    (param.default + param.range.1.min(100.0 * param.default.abs() + 1.0)) / 2.0
}

/// Every level of instructions, on one thread and on three, with ordinary stores and with streaming ones.
fn cpus() -> Vec<Cpu> {
    let mut cpus = Vec::new();
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for threads in [1, 3] {
            for stream_above in [usize::MAX, 0] {
                let mut cpu = Cpu::with(isa, Pool::new(threads));
                cpu.stream_above = stream_above;
                cpus.push(cpu);
            }
        }
    }
    cpus
}

/// Whether a rung knows of what this processor has; else it would be run twice for nothing.
fn uses(row: &Implementation, cpu: &Cpu) -> bool {
    let is_plain = cpu.isa == Isa::Portable && cpu.stream_above == usize::MAX;
    (row.vector || is_plain) && (row.parallel || cpu.pool.threads() == 1)
}

/// What the outputs of an instance held, and were judged to be right.
type Right = Vec<Vec<Vec<f64>>>;

fn run(
    row: &Implementation,
    kernel: &Kernel,
    instance: &Instance,
    cpu: &Cpu,
    edge: Edge,
    fill: Fill,
    right: &mut Right,
) {
    let case = instance.case;
    let inputs: Vec<Held> =
        instance.inputs.iter().map(|(tensor, bytes)| Held::input(tensor, bytes, edge)).collect();
    let before = |tensor: &Tensor| Held::of(tensor.dtype, instance.before(tensor), edge, false);
    let mut outputs: Vec<Held> = instance.outputs.iter().map(before).collect();
    // Twice: the second launch must not build on the first, unless that is what the kernel is for.
    let launches = if instance.outputs.iter().any(|tensor| tensor.starts_as.is_some()) { 1 } else { 2 };
    for launch in 1..=launches {
        let mut args = Args::new();
        for (axis, size) in case.operation.axes.iter().zip(&case.sizes) {
            args = args.size(axis.name, *size as usize);
        }
        for param in case.operation.params {
            args = args.param(param.name, case.param(param.name));
        }
        for ((tensor, _), held) in instance.inputs.iter().zip(&inputs) {
            args = held.give(args, tensor.name);
        }
        for (tensor, held) in instance.outputs.iter().zip(&mut outputs) {
            args = held.give_out(args, tensor.name);
        }
        let prepared = (kernel.prepare)(cpu, args);
        prepared.unwrap_or_else(|why| panic!("{case} of {}: {why}", row.name)).run(cpu);
        let values: Vec<Vec<f64>> = outputs.iter().map(Held::values).collect();
        // Most rungs, levels and threads leave the same bits.
        if right.iter().any(|known| is_same(known, &values)) {
            continue;
        }
        let judgement = instance.judge(&values, 1.0);
        assert!(
            judgement.failed == 0,
            "{case}, {fill} inputs, of {} on {:?}, {} threads, {edge:?}, launch {launch}: {judgement:?}",
            row.name,
            cpu.isa,
            cpu.pool.threads()
        );
        right.push(values);
    }
}

/// Bit for bit.
fn is_same(one: &[Vec<f64>], other: &[Vec<f64>]) -> bool {
    let [one, other] = [one, other].map(|outputs| outputs.iter().flatten().map(|value| value.to_bits()));
    one.eq(other)
}

/// A tensor flush against forbidden memory.
enum Held {
    F64(Guarded<f64>),
    F32(Guarded<f32>),
    Bf16(Guarded<bf16>),
    F16(Guarded<f16>),
    Fp8E4m3(Guarded<Fp8E4m3>),
    Fp8E5m2(Guarded<Fp8E5m2>),
    U8(Guarded<u8>),
    I32(Guarded<i32>),
    I8(Guarded<i8>),
}

/// The arm of every type.
macro_rules! each {
    ($held:expr, $guarded:ident => $does:expr) => {
        match $held {
            Held::F64($guarded) => $does,
            Held::F32($guarded) => $does,
            Held::Bf16($guarded) => $does,
            Held::F16($guarded) => $does,
            Held::Fp8E4m3($guarded) => $does,
            Held::Fp8E5m2($guarded) => $does,
            Held::U8($guarded) => $does,
            Held::I32($guarded) => $does,
            Held::I8($guarded) => $does,
        }
    };
}

impl Held {
    fn input(tensor: &Tensor, bytes: &[u8], edge: Edge) -> Held {
        let values = (0..tensor.elements()).map(|i| tensor.dtype.read(bytes, i)).collect();
        Held::of(tensor.dtype, values, edge, true)
    }

    fn of(dtype: Dtype, values: Vec<f64>, edge: Edge, is_input: bool) -> Held {
        fn guard<T: Copy>(values: Vec<f64>, edge: Edge, is_input: bool, to: fn(f64) -> T) -> Guarded<T> {
            let values: Vec<T> = values.into_iter().map(to).collect();
            if is_input { Guarded::read_only(&values, edge) } else { Guarded::new(&values, edge) }
        }
        match dtype {
            Dtype::F64 => Held::F64(guard(values, edge, is_input, |x| x)),
            Dtype::F32 => Held::F32(guard(values, edge, is_input, |x| x as f32)),
            Dtype::Bf16 => Held::Bf16(guard(values, edge, is_input, bf16::from_f64)),
            Dtype::F16 => Held::F16(guard(values, edge, is_input, f16::from_f64)),
            Dtype::Fp8E4m3 => Held::Fp8E4m3(guard(values, edge, is_input, |x| Fp8E4m3::from_f32(x as f32))),
            Dtype::Fp8E5m2 => Held::Fp8E5m2(guard(values, edge, is_input, |x| Fp8E5m2::from_f32(x as f32))),
            Dtype::U8 => Held::U8(guard(values, edge, is_input, |x| x as u8)),
            Dtype::I32 => Held::I32(guard(values, edge, is_input, |x| x as i32)),
            Dtype::I8 => Held::I8(guard(values, edge, is_input, |x| x as i8)),
        }
    }

    fn give<'a>(&'a self, args: Args<'a>, name: &str) -> Args<'a> {
        each!(self, guarded => args.input(name, guarded.slice()))
    }

    fn give_out<'a>(&'a mut self, args: Args<'a>, name: &str) -> Args<'a> {
        each!(self, guarded => args.output(name, guarded.slice_mut()))
    }

    fn values(&self) -> Vec<f64> {
        fn wide<T: Datum + Into<f64>>(values: &[T]) -> Vec<f64> {
            values.iter().map(|value| (*value).into()).collect()
        }
        each!(self, guarded => wide(guarded.slice()))
    }
}

#[test]
fn the_longest_integer_sum_is_exact() {
    let k = 131_071;
    let (a, b) = (vec![i8::MIN; k], vec![i8::MIN; k]);
    for row in implementations().filter(|row| (row.available)()) {
        let Some(kernel) = row.kernel("i8") else { continue };
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut c = [0];
            let cpu = Cpu::with(isa, Pool::new(1));
            let args = Args::new().size("batch", 1).size("m", 1).size("n", 1).size("k", k);
            let args = args.input("a", &a[..]).input("b", &b[..]).output("c", &mut c[..]);
            (kernel.prepare)(&cpu, args).expect("tensors that fit").run(&cpu);
            assert_eq!(c[0], 131_071 * 16_384, "{} on {isa:?}", row.name);
        }
    }
}

#[test]
fn rows_are_unique_and_their_precisions_too() {
    for (index, row) in implementations().enumerate() {
        let same = |other: &&Implementation| other.operation == row.operation && other.name == row.name;
        assert!(!implementations().take(index).any(|other| same(&other)), "{}", row.name);
        let mut precisions: Vec<_> = row.precisions().collect();
        let count = precisions.len();
        precisions.sort_unstable();
        precisions.dedup();
        assert_eq!(precisions.len(), count, "{}", row.name);
    }
}
