//! Versions of the peers, from the lock file: what was measured must be said.

const PEERS: [&str; 8] =
    ["candle-core", "faer", "gemm", "matrixmultiply", "ndarray", "rten-gemm", "rustfft", "sprs"];

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").expect("Cargo.lock lies beside build.rs");
    for peer in PEERS {
        let start = format!("name = \"{peer}\"\nversion = \"");
        let mut versions = lock.split(&start).skip(1).filter_map(|rest| rest.split('"').next());
        let version = versions.next().unwrap_or_else(|| panic!("`{peer}` is not in Cargo.lock"));
        assert!(versions.next().is_none(), "two versions of `{peer}` in Cargo.lock: which one is measured?");
        println!("cargo:rustc-env=VERSION_{}={version}", peer.to_uppercase().replace('-', "_"));
    }
}
