//! What compiled this program, as the build script saw it.

use super::source::clean;
use serde::{Deserialize, Serialize};

/// Compiler and code generation of the running program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compiler {
    /// As `rustc --version` prints it.
    pub version: Option<String>,
    pub target: Option<String>,
    /// Instruction sets that code outside of kernels may use.
    pub features: Vec<String>,
    /// 0 to 3, `s` or `z`.
    pub opt_level: Option<String>,
    /// Flags beside Cargo's profile that choose instructions, as `target-cpu=native`.
    pub flags: Option<String>,
}

impl Compiler {
    pub(super) fn of_this_program() -> Compiler {
        Compiler {
            version: clean(env!("ROOFLINE_COMPILER")),
            target: clean(env!("ROOFLINE_TARGET")),
            features: env!("ROOFLINE_TARGET_FEATURES").split(',').filter_map(clean).collect(),
            opt_level: clean(env!("ROOFLINE_OPT_LEVEL")),
            flags: clean(env!("ROOFLINE_CODEGEN_FLAGS")),
        }
    }
}
