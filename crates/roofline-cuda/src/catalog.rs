//! Every implementation, in ladder order, and how to launch it: a line for each folder's ladder.
//!
//! A row names its operation and its technique, the source and the forms that it is compiled to, and a function that launches
//! it on [`Args`], tensors by name: whatever signature an operation has, the catalogue is the same.

use crate::args::Args;
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::stream::Stream;
use crate::{bf16, f16};

/// One way to compute an operation.
#[derive(Clone, Copy, Debug)]
pub struct Implementation {
    /// The operation with its variant: `softmax`, `matmul.nn`.
    pub operation: &'static str,
    /// The technique.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    pub source: Source,
    /// Whether it is there for its speed: then nothing may spill.
    pub fast: bool,
    /// Precisions that it computes in.
    pub precisions: &'static [&'static str],
    /// Parameters of the operation that it takes; of others it has the default alone.
    pub params: &'static [&'static str],
    /// Sizes that it takes, as conditions of the protocol say it; empty for all.
    pub requires: &'static str,
    /// Forms that stand for all: every class of shape.
    pub variants: fn(&Implementation, largest_cluster: u32) -> Vec<Variant>,
    /// `None` for what is no operation.
    pub launch: Option<Launch>,
}

/// How a row is launched.
pub type Launch = fn(&Implementation, &Stream, Args<'_>) -> Result<()>;

/// Precisions that a row has where it does not say otherwise.
const PRECISIONS: &[&str] = &[f32::NAME, bf16::NAME, f16::NAME];

impl Implementation {
    /// A rung that takes every size and no parameter, and is compiled once for each number type.
    pub(crate) const fn new(
        operation: &'static str,
        name: &'static str,
        about: &'static str,
        source: Source,
        launch: Launch,
    ) -> Implementation {
        let variants: fn(&Implementation, u32) -> Vec<Variant> = |_, _| of_each(&[]);
        Implementation {
            operation,
            name,
            about,
            source,
            fast: false,
            precisions: PRECISIONS,
            params: &[],
            requires: "",
            variants,
            launch: Some(launch),
        }
    }

    /// What is no operation: it is compiled and tested, and offered to nobody.
    pub(crate) const fn helper(
        operation: &'static str,
        name: &'static str,
        about: &'static str,
        source: Source,
        variants: fn(&Implementation, u32) -> Vec<Variant>,
    ) -> Implementation {
        Implementation {
            operation,
            name,
            about,
            source,
            fast: true,
            precisions: PRECISIONS,
            params: &[],
            requires: "",
            variants,
            launch: None,
        }
    }

    /// There for its speed, in these forms.
    pub(crate) const fn fast(self, variants: fn(&Implementation, u32) -> Vec<Variant>) -> Implementation {
        Implementation { fast: true, variants, ..self }
    }

    /// Not there for its speed, in these forms.
    pub(crate) const fn slow(self, variants: fn(&Implementation, u32) -> Vec<Variant>) -> Implementation {
        Implementation { variants, ..self }
    }

    /// Takes these parameters of the operation.
    pub(crate) const fn params(self, params: &'static [&'static str]) -> Implementation {
        Implementation { params, ..self }
    }

    /// Computes in these precisions.
    pub(crate) const fn precisions(self, precisions: &'static [&'static str]) -> Implementation {
        Implementation { precisions, ..self }
    }

    /// Takes sizes of which this holds.
    pub(crate) const fn requires(self, requires: &'static str) -> Implementation {
        Implementation { requires, ..self }
    }

    /// The same for another form of the operation.
    pub(crate) const fn form(self, operation: &'static str) -> Implementation {
        Implementation { operation, ..self }
    }

    /// Queues one launch.
    pub fn run(&self, stream: &Stream, args: Args<'_>) -> Result<()> {
        let no_launch = || CudaError::Unsupported(format!("`{}` is no operation", self.operation));
        (self.launch.ok_or_else(no_launch)?)(self, stream, args)
    }
}

/// Every ladder; each folder owns its own, from the plain rung up.
pub const LADDERS: &[&[Implementation]] = &[
    crate::probe::LADDER,
    crate::tend::LADDER,
    &crate::elementwise::LADDER,
    &crate::reduce::LADDER,
    crate::argmax::LADDER,
    &crate::movement::LADDER,
    crate::movement::TRANSPOSES,
    crate::movement::EMBEDDING,
    crate::softmax::LADDER,
    crate::softmax::LINES,
    crate::rms_norm::LADDER,
    crate::add_rms_norm::LADDER,
    crate::add_rms_norm::CODES,
    &crate::layer_norm::LADDER,
    crate::batch_norm::LADDER,
    crate::cross_entropy::LADDER,
    crate::focal::LADDER,
    crate::dropout::LADDER,
    &crate::rope::LADDER,
    crate::rope::TABLES,
    &crate::quantize::LADDER,
    &crate::quantize::BACK,
    &crate::quantize::APART,
    crate::quantize::HELPERS,
    crate::matmul::LADDER,
    &crate::thin::LADDER,
    &crate::thin::CODED,
    &crate::thin::GROUPED,
    &crate::attention::LADDER,
    crate::attention::VARLEN,
    crate::movement::APPEND,
];

/// All of them.
pub fn implementations() -> impl Iterator<Item = &'static Implementation> {
    LADDERS.iter().copied().flatten()
}

/// The row of an operation and an implementation.
///
/// ```
/// use roofline_cuda::catalog::find;
///
/// assert!(find("softmax", "registers").unwrap().fast);
/// assert!(find("softmax", "magic").is_none());
/// ```
pub fn find(operation: &str, name: &str) -> Option<&'static Implementation> {
    implementations().find(|row| row.operation == operation && row.name == name)
}

/// One form for each number type.
pub(crate) fn of_each(constants: &[(&'static str, u32)]) -> Vec<Variant> {
    vec![Variant::of::<f32>(constants), Variant::of::<bf16>(constants), Variant::of::<f16>(constants)]
}

/// The rungs of every form of a table, form by form: `ladder!(FORMS, of => PLAIN.form(of.operation), …)`.
macro_rules! ladder {
    ($table:ident, $of:ident => $($rung:expr),+ $(,)?) => {{
        const RUNGS: usize = [$(stringify!($rung)),+].len();
        let $of = &$table[0];
        let mut rows = [[$($rung),+][0]; RUNGS * $table.len()];
        let mut row = 0;
        while row < rows.len() {
            let $of = &$table[row / RUNGS];
            rows[row] = [$($rung),+][row % RUNGS];
            row += 1;
        }
        rows
    }};
}
pub(crate) use ladder;

/// A generic function of the number type that a call's precision names.
macro_rules! by_type {
    ($args:ident, $function:ident($($argument:expr),*)) => {
        match $args.precision() {
            "f32" => $function::<f32>($($argument),*),
            "bf16" => $function::<$crate::bf16>($($argument),*),
            "f16" => $function::<$crate::f16>($($argument),*),
            other => Err($crate::CudaError::Unsupported(format!("no kernel here computes in {other}"))),
        }
    };
}
pub(crate) use by_type;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_unique() {
        for (index, row) in implementations().enumerate() {
            let same = |other: &Implementation| other.operation == row.operation && other.name == row.name;
            assert!(!implementations().take(index).any(same), "{} {}", row.operation, row.name);
        }
    }
}
