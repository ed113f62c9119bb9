//! The formulas, a line each.

/// An operation of elements: its tensors by name, and its formula.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// With its variant: `mse.none`.
    pub operation: &'static str,
    /// One or two, which the formula calls x and y whatever the operation does.
    pub inputs: &'static [&'static str],
    pub output: &'static str,
    /// The parameter that the formula calls s, if there is one.
    pub params: &'static [&'static str],
    /// What the kernel is given for it.
    pub number: fn(f64) -> f64,
    /// In f32, with the functions of `math.cuh`.
    pub formula: &'static str,
    /// The second input is what the output holds before the launch.
    pub in_place: bool,
}

const fn unary(operation: &'static str, formula: &'static str) -> Form {
    Form { operation, inputs: &["x"], output: "y", params: &[], number: |s| s, formula, in_place: false }
}

const fn binary(operation: &'static str, formula: &'static str) -> Form {
    Form { inputs: &["x", "y"], output: "z", ..unary(operation, formula) }
}

const fn scalar(operation: &'static str, params: &'static [&'static str], formula: &'static str) -> Form {
    Form { params, ..unary(operation, formula) }
}

pub(super) const ADD: Form = binary("add", "x + y");

/// Every operation that the engine has.
pub const FORMS: &[Form] = &[
    ADD,
    binary("sub", "x - y"),
    binary("mul", "x * y"),
    binary("div", "x / y"),
    unary("negate", "-x"),
    unary("exp", "e_to(x)"),
    unary("log", "logf(x)"),
    unary("sqrt", "sqrtf(x)"),
    unary("sin", "sinf(x)"),
    unary("cos", "cosf(x)"),
    unary("tanh", "tanhf(x)"),
    // NaN stays NaN.
    unary("relu", "x < 0.0f ? 0.0f : x"),
    unary("sigmoid", "sigmoid(x)"),
    unary("silu", "x * sigmoid(x)"),
    unary("gelu", "gelu(x)"),
    unary("gelu-tanh", "gelu_tanh(x)"),
    unary("gelu-quick", "x * sigmoid(1.702f * x)"),
    scalar("add-scalar", &["scalar"], "x + s"),
    scalar("scale", &["scalar"], "x * s"),
    Form { number: |s| 1.0 / s, ..scalar("div-scalar", &["scalar"], "x * s") },
    scalar("pow-scalar", &["exponent"], "to_power(x, s)"),
    Form { params: &["a"], ..binary("axpy", "s * x + y") },
    Form { in_place: true, params: &["a"], ..binary("axpy.in-place", "s * x + y") },
    Form { inputs: &["p", "t"], output: "y", ..binary("mse.none", "(x - y) * (x - y)") },
];
