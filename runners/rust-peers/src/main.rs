//! Libraries of Rust for matrices, tensors and transforms as implementations `rust-peers/NAME`: one file each.

mod candle;
mod faer;
mod gemm;
mod matrixmultiply;
mod ndarray;
mod product;
mod rten;
mod rustfft;
mod sprs;

use roofline_runner::{Entry, Table, serve};
use std::process::ExitCode;

/// What they take from the heap is counted.
#[global_allocator]
static HEAP: roofline_runner::Counting = roofline_runner::Counting;

/// Every peer: name, version from the lock file, rows.
const PEERS: &[(&str, &str, &[Entry])] = &[
    ("candle", env!("VERSION_CANDLE_CORE"), candle::ENTRIES),
    ("faer", env!("VERSION_FAER"), faer::ENTRIES),
    ("gemm", env!("VERSION_GEMM"), gemm::ENTRIES),
    ("matrixmultiply", env!("VERSION_MATRIXMULTIPLY"), matrixmultiply::ENTRIES),
    ("ndarray", env!("VERSION_NDARRAY"), ndarray::ENTRIES),
    ("rten", env!("VERSION_RTEN_GEMM"), rten::ENTRIES),
    ("rustfft", env!("VERSION_RUSTFFT"), rustfft::ENTRIES),
    ("sprs", env!("VERSION_SPRS"), sprs::ENTRIES),
];

fn main() -> ExitCode {
    // The thread that launches is one of the pool, as many as RAYON_NUM_THREADS says; else it would be one more.
    let pool = rayon::ThreadPoolBuilder::new().use_current_thread().build_global();
    pool.expect("no pool was made before");
    let versions: Vec<String> = PEERS.iter().map(|(name, version, _)| format!("{name} {version}")).collect();
    let entries: Vec<Entry> = PEERS.iter().flat_map(|(_, _, entries)| *entries).copied().collect();
    serve(Table::new("rust-peers", &versions.join(", "), entries.leak()))
}
