//! Every kernel compiles for every architecture, and the fast ones keep all they hold in registers.
//!
//! Needs no device: NVRTC alone, from `ROOFLINE_NVRTC`, from the system, or from the package
//! `nvidia-cuda-nvrtc` in `target/cuda-wheels`. `OPERATIONS=softmax,rope` compiles the kernels of these alone.
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::path::Path;
use std::sync::Mutex;

use roofline_cuda::catalog::{Implementation, implementations};
use roofline_cuda::{Cache, CudaError, Variant, compile};

/// For which every form of every source is compiled, the first of a source for all number types.
const MAIN: &str = "sm_90a";
const ARCHITECTURES: &[(&str, u32)] = &[("sm_80", 1), ("sm_90a", 8), ("sm_100", 8)];
/// Of the variants of further forms, and for further architectures, one in so many is compiled; with `EVERY_CASE=1` all
/// are.
const PART: usize = 3;

/// Whether a compiler is there; else the reason is printed, which the runner of tests counts.
fn compiler_is_there() -> bool {
    let probe = implementations().next().unwrap();
    let first = (probe.variants)(probe, 1).remove(0);
    match compile(&probe.source, &first, "sm_90a", &Cache::none()) {
        Err(CudaError::NoCompiler) => false,
        Err(error) => panic!("{error}"),
        Ok(_) => true,
    }
}

/// The library in the wheel answers to its name once it was opened by its path, as `ROOFLINE_NVRTC`
/// would have it; a test cannot set that for its own process.
fn open_wheel() {
    let wheel =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cuda-wheels/nvidia/cu13/lib/libnvrtc.so.13");
    // SAFETY: NVIDIA's compiler, whose initialisers may run.
    if let Ok(library) = unsafe { libloading::Library::new(wheel) } {
        std::mem::forget(library);
    }
}

#[test]
fn every_kernel_compiles_for_every_architecture() {
    open_wheel();
    if !compiler_is_there() {
        println!("skipped: no NVRTC; `pip install --target target/cuda-wheels nvidia-cuda-nvrtc` brings it");
        return;
    }
    let wanted = std::env::var("OPERATIONS").ok();
    let is_wanted = |row: &Implementation| {
        wanted.as_ref().is_none_or(|names| names.split(',').any(|name| name == row.operation))
    };
    let part = if std::env::var_os("EVERY_CASE").is_some() { 1 } else { PART };
    // On all cores, whoever is free taking the next.
    let left = Mutex::new(implementations().enumerate());
    let next = || left.lock().expect("nobody fails while it takes one").next();
    let work = || {
        let (mut kernels, mut spills) = (0, Vec::new());
        while let Some((number, row)) = next() {
            if !is_wanted(row) {
                continue;
            }
            // The forms of one source differ in a formula: on further architectures one form stands for those after it.
            let is_first =
                !implementations().take(number).any(|before| before.source.file == row.source.file);
            for &(architecture, largest_cluster) in ARCHITECTURES {
                let every = match (architecture, is_first) {
                    (MAIN, true) => 1,
                    (MAIN, false) | (_, true) => part,
                    (_, false) => usize::MAX,
                };
                let variants = (row.variants)(row, largest_cluster);
                // Variants go by number types: not the same types of every row. The first, which is the usual shape, is
                // always among those of the main architecture.
                let first = number % every.min(variants.len());
                let is_usual = |index: usize| index == 0 && architecture == MAIN;
                let variants = variants.into_iter().enumerate();
                let variants = variants.filter(|(index, _)| index % every == first || is_usual(*index));
                let variants = variants.map(|(_, variant)| variant);
                kernels += compile_all(row, architecture, variants, &mut spills);
            }
        }
        (kernels, spills)
    };
    let (mut kernels, mut spills) = (0, Vec::new());
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let (compiled, spilled) = worker.join().expect("every kernel compiles");
            kernels += compiled;
            spills.extend(spilled);
        }
    });
    assert!(kernels > 100 || wanted.is_some(), "{kernels} kernels");
    assert!(spills.is_empty(), "{}", spills.join("\n"));
}

/// How many there were.
fn compile_all(
    row: &Implementation,
    architecture: &str,
    variants: impl Iterator<Item = Variant>,
    spills: &mut Vec<String>,
) -> usize {
    let mut count = 0;
    for variant in variants {
        count += 1;
        let compiled =
            compile(&row.source, &variant, architecture, &Cache::none()).unwrap_or_else(|e| panic!("{e}"));
        let name = format!("{} {variant} for {architecture}", row.source.file);
        assert!(compiled.cubin.starts_with(b"\x7fELF"), "{name}");
        assert!(!compiled.log.contains("warning"), "{name}:\n{}", compiled.log);
        let bytes = spilled(&compiled.log);
        if row.fast && bytes > allowed(row, architecture) {
            spills.push(format!("{name} spills {bytes} bytes"));
        }
    }
    count
}

/// Bytes a thread that may find no register: none, but for full blocks of kernels that need a few more
/// than there are, where smaller blocks in a cluster would need none and are slower, and for a few where no kernel
/// was fitted to the architecture yet.
fn allowed(row: &Implementation, architecture: &str) -> u32 {
    match (row.source.file, architecture) {
        ("layer_norm/registers.cu", _) => 16,
        ("attention/matrix.cu", _) => 32,
        ("add_rms_norm/codes_registers.cu", "sm_100") => 12,
        ("softmax/registers.cu" | "rope/shared.cu" | "thin/thin.cu" | "attention/lanes.cu", "sm_100") => 4,
        ("quantize/rows.cu", "sm_100") | ("reduce/all.cu", "sm_80") => 4,
        _ => 0,
    }
}

/// What the assembler says of stores to memory for want of registers, a line a kernel.
fn spilled(log: &str) -> u32 {
    let (before, _) =
        log.split_once(" bytes spill stores").unwrap_or_else(|| panic!("no word of spills:\n{log}"));
    let number = before.rsplit(' ').next().and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no number of spills:\n{log}"))
}

#[test]
fn the_assemblers_words_are_understood() {
    assert_eq!(spilled("ptxas  .  8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads"), 4);
}
