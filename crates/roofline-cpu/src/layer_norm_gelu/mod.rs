//! `layer-norm-gelu`: gelu(layer-norm(x)) in one pass; `layer-norm-gelu.tanh` with the gelu of that name.

pub mod plain;

use crate::bind::floats;
use crate::catalog::Implementation;
use crate::layer_norm::prepare;
pub use plain::{layer_norm_gelu, layer_norm_gelu_tanh};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("layer-norm-gelu", floats!(prepare, plain::layer_norm_gelu)).params(&["eps"]),
    Implementation::plain("layer-norm-gelu.tanh", floats!(prepare, plain::layer_norm_gelu_tanh))
        .params(&["eps"]),
];
