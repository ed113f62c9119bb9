//! The reductions, a line each.

/// An operation that makes a number of each line.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// With its variant: `sum.columns`.
    pub operation: &'static str,
    pub over: Over,
    /// One or two, which the term calls x and y.
    pub inputs: &'static [&'static str],
    pub output: &'static str,
    pub kind: Kind,
    /// What an element counts as.
    pub term: &'static str,
    /// The result, from what was `found` in a line of `length`.
    pub result: &'static str,
}

/// What lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Rows,
    Columns,
    /// All elements of rows.
    All,
    /// All of a vector.
    Vector,
    /// Along the middle one of three dimensions.
    Middle,
}

/// What is remembered of a line, as `found.cuh` numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sum = 0,
    Largest = 1,
    Logsumexp = 2,
}

const MEAN: &str = "found.sum / (float)length";

const fn sum(operation: &'static str, over: Over) -> Form {
    let (inputs, output, kind) = (&["x"], "y", Kind::Sum);
    Form { operation, over, inputs, output, kind, term: "x", result: "found.sum" }
}

const fn mean(operation: &'static str, over: Over) -> Form {
    Form { result: MEAN, ..sum(operation, over) }
}

const fn max(operation: &'static str, over: Over) -> Form {
    Form { kind: Kind::Largest, result: "found.most", ..sum(operation, over) }
}

const fn logsumexp(operation: &'static str, over: Over) -> Form {
    Form { kind: Kind::Logsumexp, result: "logf(found.sum) + pivot_of(found.most)", ..sum(operation, over) }
}

const fn squares(operation: &'static str, result: &'static str) -> Form {
    Form { inputs: &["p", "t"], term: "(x - y) * (x - y)", result, ..sum(operation, Over::All) }
}

/// Every operation that the machinery has.
pub const FORMS: &[Form] = &[
    sum("sum", Over::Rows),
    sum("sum.columns", Over::Columns),
    sum("sum.all", Over::All),
    sum("sum-axis", Over::Middle),
    mean("mean", Over::Rows),
    mean("mean.columns", Over::Columns),
    mean("mean.all", Over::All),
    mean("mean-axis", Over::Middle),
    max("max", Over::Rows),
    max("max.columns", Over::Columns),
    max("max.all", Over::All),
    max("max-axis", Over::Middle),
    logsumexp("logsumexp", Over::Rows),
    logsumexp("logsumexp.columns", Over::Columns),
    logsumexp("logsumexp.all", Over::All),
    logsumexp("logsumexp-axis", Over::Middle),
    squares("mse", MEAN),
    squares("mse.sum", "found.sum"),
    // The larger one would hide a probability that is NaN.
    Form { term: "-y * logf(x < 1e-8f ? 1e-8f : x)", ..squares("cross-entropy-prob", "found.sum") },
    Form { inputs: &["x", "y"], output: "z", term: "x * y", ..sum("dot", Over::Vector) },
];
