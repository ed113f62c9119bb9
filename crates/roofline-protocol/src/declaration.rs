//! Operations that a runner declares beside its kernels, as texts.

use serde::{Deserialize, Serialize};

/// An operation as a runner declares it: texts, not yet understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    pub name: String,
    /// The formula in one line.
    #[serde(default)]
    pub about: String,
    /// `a[rows, cols], x[cols] -> y[rows]`.
    pub signature: String,
    /// Name of the model of a kernel's error: `dot(cols)`.
    pub bound: String,
    /// Ids of precisions; `f32` where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<String>,
    /// Axes along which an input reaches outputs at its own place alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub independent: Vec<String>,
    /// Sizes that it is defined for, such as `cols % 2 == 0`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub legal: String,
    /// Numbers of the formula: `eps = 1e-5 within 0 1, alpha = 2`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub params: String,
    /// Operations that a case takes; what the bound's model says where left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flops: String,
    /// Whether finite inputs may give NaN.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_nan: bool,
}

/// What a reference process is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The outputs in f64, from inputs in f64.
    Reference,
    /// The same at the accumulator's precision, for a bound that is calibrated.
    Evaluate,
}
