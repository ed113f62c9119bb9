//! After its first launch a kernel allocates nothing: scratch memory is kept.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use roofline_core::case::Case;
use roofline_core::dtype::Dtype;
use roofline_core::operation::Operation;
use roofline_core::tensor::Tensor;
use roofline_cpu::catalog::{Kernel, implementations};
use roofline_cpu::{Args, Cpu, Datum, Fp8E4m3, Fp8E5m2, bf16, f16};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn the_second_launch_allocates_nothing() {
    // One thread: which of several takes a task first is not determined.
    let cpu = Cpu::serial();
    for row in implementations().filter(|row| (row.available)()) {
        let name = row.operation.split('.').next().unwrap_or_default();
        for kernel in row.kernels {
            let operation = Operation::find(name).expect("a known operation");
            let of_size = |size: u64| {
                let needed = operation.axes.iter().filter(|axis| axis.usual.is_none());
                let axes: Vec<String> = needed.map(|axis| format!("{}={size}", axis.name)).collect();
                let id = format!("{}/{}/{}", row.operation, kernel.precision, axes.join(","));
                id.parse::<Case>().ok()
            };
            let case = [64, 256].into_iter().find_map(of_size).expect("sizes of 64 or of 256 are legal");
            let allocations = second_launch(kernel, &case, &cpu);
            assert_eq!(allocations, 0, "{case} of {}", row.name);
        }
    }
}

/// Allocations of the second launch.
fn second_launch(kernel: &Kernel, case: &Case, cpu: &Cpu) -> usize {
    let mut args = Args::new();
    for (axis, size) in case.operation.axes.iter().zip(&case.sizes) {
        args = args.size(axis.name, *size as usize);
    }
    for param in case.operation.params {
        args = args.param(param.name, param.default);
    }
    for tensor in (case.operation.tensors)(case) {
        args = match tensor.dtype {
            Dtype::F64 => give::<f64>(args, &tensor),
            Dtype::F32 => give::<f32>(args, &tensor),
            Dtype::Bf16 => give::<bf16>(args, &tensor),
            Dtype::F16 => give::<f16>(args, &tensor),
            Dtype::Fp8E4m3 => give::<Fp8E4m3>(args, &tensor),
            Dtype::Fp8E5m2 => give::<Fp8E5m2>(args, &tensor),
            Dtype::U8 => give::<u8>(args, &tensor),
            Dtype::I32 => give::<i32>(args, &tensor),
            Dtype::I8 => give::<i8>(args, &tensor),
        };
    }
    let mut launch = (kernel.prepare)(cpu, args).expect("tensors that fit");
    launch.run(cpu);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    launch.run(cpu);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

fn give<'a, T: Datum>(args: Args<'a>, tensor: &Tensor) -> Args<'a> {
    let zeros = vec![T::default(); tensor.elements()];
    if tensor.role.is_input() { args.input(tensor.name, zeros) } else { args.output(tensor.name, zeros) }
}
