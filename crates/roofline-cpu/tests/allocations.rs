//! After its first call a kernel allocates nothing: scratch memory is kept.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use roofline_cpu::catalog::{Kernel, Tensor, TensorMut, implementations};
use roofline_cpu::{Cpu, bf16, f16};

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
fn the_second_call_allocates_nothing() {
    // One thread: which of several takes a task first is not determined.
    let cpu = Cpu::serial();
    for row in implementations().filter(|row| (row.available)()) {
        for kernel in row.kernels {
            launch(kernel, row.operation, &cpu);
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            launch(kernel, row.operation, &cpu);
            let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
            let (operation, name, dtype) = (row.operation, row.name, kernel.dtype());
            assert_eq!(allocations, 0, "{operation}/{dtype} of {name}");
        }
    }
}

/// A small case from the stack: 64 by 64, and 64 deep for products.
fn launch(kernel: &Kernel, operation: &str, cpu: &Cpu) {
    const SIDE: usize = 64;
    const AREA: usize = SIDE * SIDE;
    let axes = [SIDE; 3];
    let axes = &axes[..kernel.axes().len()];
    let second = if operation == "rms-norm" { SIDE } else { AREA };
    let tensors = if kernel.is_unary() { 1 } else { 2 };
    let launched = match kernel.dtype() {
        "f32" => {
            let (x, mut y) = ([1.0; AREA], [0.0; AREA]);
            let inputs = [Tensor::F32(&x), Tensor::F32(&x[..second])];
            kernel.launch(cpu, &inputs[..tensors], TensorMut::F32(&mut y), axes)
        }
        "bf16" => {
            let (x, mut y) = ([bf16::ONE; AREA], [bf16::ZERO; AREA]);
            let inputs = [Tensor::Bf16(&x), Tensor::Bf16(&x[..second])];
            kernel.launch(cpu, &inputs[..tensors], TensorMut::Bf16(&mut y), axes)
        }
        "f16" => {
            let (x, mut y) = ([f16::ONE; AREA], [f16::ZERO; AREA]);
            let inputs = [Tensor::F16(&x), Tensor::F16(&x[..second])];
            kernel.launch(cpu, &inputs[..tensors], TensorMut::F16(&mut y), axes)
        }
        "i8" => {
            let (x, mut y) = ([1; AREA], [0; AREA]);
            let inputs = [Tensor::I8(&x), Tensor::I8(&x[..second])];
            kernel.launch(cpu, &inputs[..tensors], TensorMut::I32(&mut y), axes)
        }
        other => panic!("no case for dtype {other}"),
    };
    launched.expect("tensors that fit");
}
