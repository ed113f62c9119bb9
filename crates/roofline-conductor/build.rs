//! Tells the binary what compiled it, for the machine's description: compiler, target, code generation.

use std::process::Command;

fn main() {
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    for (name, value) in [
        ("ROOFLINE_COMPILER", compiler_version(&variable("RUSTC"))),
        ("ROOFLINE_TARGET", variable("TARGET")),
        ("ROOFLINE_TARGET_FEATURES", variable("CARGO_CFG_TARGET_FEATURE")),
        ("ROOFLINE_OPT_LEVEL", variable("OPT_LEVEL")),
        ("ROOFLINE_CODEGEN_FLAGS", codegen_flags(&variable("CARGO_ENCODED_RUSTFLAGS"))),
    ] {
        println!("cargo:rustc-env={name}={value}");
    }
}

/// `rustc --version`, or nothing when it does not answer.
fn compiler_version(rustc: &str) -> String {
    let answer = Command::new(rustc).arg("--version").output();
    answer.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_string()).unwrap_or_default()
}

/// The flags that choose instructions. Others may hold paths of the machine that built the binary,
/// which have no place in a published record.
fn codegen_flags(encoded: &str) -> String {
    const KEPT: [&str; 4] = ["target-cpu=", "target-feature=", "opt-level=", "codegen-units="];
    let flags = encoded.split('\u{1f}').map(|flag| flag.trim_start_matches("-C").trim());
    flags.filter(|flag| KEPT.iter().any(|kept| flag.starts_with(kept))).collect::<Vec<_>>().join(" ")
}
