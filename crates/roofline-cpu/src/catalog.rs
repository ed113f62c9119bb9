//! Every implementation, in ladder order, and how to call it: a line for each operation's ladder.
//!
//! A row names its operation, its technique and one [`Kernel`] per precision. A kernel is prepared for
//! [`Args`], tensors by name, and gives a [`Launch`]: whatever signature an operation has, the catalog is
//! the same.

use crate::{Args, Cpu, Mismatch};

/// One way to compute an operation.
#[derive(Clone, Copy, Debug)]
pub struct Implementation {
    /// The operation with its variant: `softmax`, `matmul.nn`.
    pub operation: &'static str,
    /// The technique.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Whether it uses the threads of [`Cpu::pool`].
    pub parallel: bool,
    /// Whether it uses the level [`Cpu::isa`].
    pub vector: bool,
    /// Whether this processor can run it.
    pub available: fn() -> bool,
    /// Parameters of the operation that it takes.
    pub params: &'static [&'static str],
    /// Sizes that it takes, as conditions of the protocol say it; empty for all.
    pub requires: &'static str,
    /// One kernel per precision.
    pub kernels: &'static [Kernel],
}

/// A kernel of one precision.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Id of the precision: `f32`, `f16+f16`.
    pub precision: &'static str,
    /// Finds its tensors, and packs what stays the same.
    pub prepare: Prepare,
}

/// How a kernel gets ready for a call that may be made many times.
pub type Prepare = for<'a> fn(&Cpu, Args<'a>) -> Result<Launch<'a>, Mismatch>;

impl Kernel {
    /// The kernel of a precision.
    pub const fn new(precision: &'static str, prepare: Prepare) -> Kernel {
        Kernel { precision, prepare }
    }
}

/// A call that is ready to be made.
pub struct Launch<'a> {
    call: Box<dyn FnMut(&Cpu) + 'a>,
    /// Bytes that preparation keeps beside the tensors, such as packed weights.
    pub workspace: usize,
}

impl<'a> Launch<'a> {
    /// A call that keeps nothing.
    pub fn new(call: impl FnMut(&Cpu) + 'a) -> Launch<'a> {
        Launch { call: Box::new(call), workspace: 0 }
    }

    /// Keeps so many bytes.
    pub fn keeping(self, workspace: usize) -> Launch<'a> {
        Launch { workspace, ..self }
    }

    /// Makes the call, on what the kernel was prepared for.
    ///
    /// # Panics
    /// If a tensor does not have the length that the sizes give it.
    #[inline]
    pub fn run(&mut self, cpu: &Cpu) {
        (self.call)(cpu);
    }
}

impl Implementation {
    /// A rung of one thread, in plain code, for every processor.
    pub const fn new(
        operation: &'static str,
        name: &'static str,
        about: &'static str,
        kernels: &'static [Kernel],
    ) -> Implementation {
        Implementation {
            operation,
            name,
            about,
            parallel: false,
            vector: false,
            available: || true,
            params: &[],
            requires: "",
            kernels,
        }
    }

    /// The rung that reads like the formula.
    pub const fn plain(operation: &'static str, kernels: &'static [Kernel]) -> Implementation {
        Implementation::new(operation, "plain", "the definition", kernels)
    }

    /// Uses the level [`Cpu::isa`].
    pub const fn vector(self) -> Implementation {
        Implementation { vector: true, ..self }
    }

    /// Uses the threads of [`Cpu::pool`].
    pub const fn parallel(self) -> Implementation {
        Implementation { parallel: true, ..self }
    }

    /// Only for processors that have what it needs.
    pub const fn if_available(self, available: fn() -> bool) -> Implementation {
        Implementation { available, ..self }
    }

    /// Takes these parameters of the operation; of others it has the default alone.
    pub const fn params(self, params: &'static [&'static str]) -> Implementation {
        Implementation { params, ..self }
    }

    /// Takes these sizes only.
    pub const fn requiring(self, requires: &'static str) -> Implementation {
        Implementation { requires, ..self }
    }

    /// The same kernels for another form of the operation.
    pub const fn form(self, operation: &'static str) -> Implementation {
        Implementation { operation, ..self }
    }

    /// The kernel of a precision.
    pub fn kernel(&self, precision: &str) -> Option<Kernel> {
        self.kernels.iter().copied().find(|kernel| kernel.precision == precision)
    }

    /// The precisions that it has.
    pub fn precisions(&self) -> impl Iterator<Item = &'static str> {
        self.kernels.iter().map(|kernel| kernel.precision)
    }
}

/// The rungs of a ladder's first form, for another form: weights that may be packed beforehand need not be.
pub(crate) const fn rungs<const N: usize>(
    ladder: &'static [Implementation],
    form: &'static str,
) -> [Implementation; N] {
    let mut rungs = [ladder[0].form(form); N];
    let mut rung = 1;
    while rung < N {
        rungs[rung] = ladder[rung].form(form);
        rung += 1;
    }
    rungs
}

/// How many rungs the first form of a ladder has: they stand before those of the others.
pub(crate) const fn height(ladder: &'static [Implementation]) -> usize {
    let first = ladder[0].operation.as_bytes();
    let mut rung = 0;
    while rung < ladder.len() && is_same(ladder[rung].operation.as_bytes(), first) {
        rung += 1;
    }
    rung
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The row of an operation and an implementation.
///
/// ```
/// use roofline_cpu::catalog::find;
///
/// let row = find("matmul.nn", "packed").unwrap();
/// assert!(row.kernel("bf16").is_some());
/// assert!(find("matmul", "magic").is_none());
/// ```
pub fn find(operation: &str, name: &str) -> Option<&'static Implementation> {
    implementations().find(|row| row.operation == operation && row.name == name)
}

/// Every ladder, operations in alphabetical order; each folder owns its own, from the plain rung up.
///
/// No constant: a crate that reads a constant compiles all that it names, here every kernel, once more.
pub static LADDERS: &[&[Implementation]] = &[
    crate::add::LADDER,
    crate::add_rms_norm::LADDER,
    crate::add_rms_norm_quantize::LADDER,
    crate::add_scalar::LADDER,
    crate::argmax::LADDER,
    crate::attention::LADDER,
    crate::axpy::LADDER,
    crate::batch_norm::LADDER,
    crate::bmm::LADDER,
    crate::broadcast_add::LADDER,
    crate::calibrate::LADDER,
    crate::cat::LADDER,
    crate::conv2d::LADDER,
    crate::conv2d::FIXED,
    crate::coo_to_csr::LADDER,
    crate::coo_to_csr_values::LADDER,
    crate::copy::LADDER,
    crate::cos::LADDER,
    crate::cross_entropy::LADDER,
    crate::cross_entropy_prob::LADDER,
    crate::csr_to_coo::LADDER,
    crate::dequantize::LADDER,
    crate::mx_quantize::LADDER,
    crate::mx_dequantize::LADDER,
    crate::div::LADDER,
    crate::div_scalar::LADDER,
    crate::dot::LADDER,
    crate::dropout::LADDER,
    crate::embedding::LADDER,
    crate::expand::LADDER,
    crate::exponential::LADDER,
    crate::fft::LADDER,
    crate::fft2::LADDER,
    crate::focal::LADDER,
    crate::fp8_matmul::LADDER,
    crate::gelu::LADDER,
    crate::gelu_quick::LADDER,
    crate::gelu_tanh::LADDER,
    crate::grouped_matmul::LADDER,
    crate::kv_append::LADDER,
    crate::int8_matmul::LADDER,
    crate::int8_matmul::FIXED,
    crate::gru::LADDER,
    crate::layer_norm::LADDER,
    crate::layer_norm_gelu::LADDER,
    crate::log::LADDER,
    crate::log_softmax::LADDER,
    crate::logsumexp::LADDER,
    crate::lstm::LADDER,
    crate::matmul::LADDER,
    crate::max::LADDER,
    crate::mean::LADDER,
    crate::moe_combine::LADDER,
    crate::moe_permute::LADDER,
    crate::moe_route::LADDER,
    crate::mse::LADDER,
    crate::mul::LADDER,
    crate::negate::LADDER,
    crate::paged_attention::LADDER,
    crate::permute::LADDER,
    crate::pow_scalar::LADDER,
    crate::q8_matmul::LADDER,
    crate::q8_matmul::FIXED,
    crate::q4_matmul::LADDER,
    crate::q4_matmul::FIXED,
    crate::q4k_matmul::LADDER,
    crate::q4k_matmul::FIXED,
    crate::w4_matmul::LADDER,
    crate::w4_matmul::FIXED,
    crate::qk_norm::LADDER,
    crate::quantize::LADDER,
    crate::quantize_fp8::LADDER,
    crate::quantize_int4::LADDER,
    crate::quantize_u8::LADDER,
    crate::relu::LADDER,
    crate::reshape::LADDER,
    crate::rms_norm::LADDER,
    crate::rnn::LADDER,
    crate::rope::LADDER,
    crate::rope_tables::LADDER,
    crate::scale::LADDER,
    crate::sigmoid::LADDER,
    crate::silu::LADDER,
    crate::sin::LADDER,
    crate::softmax::LADDER,
    crate::softmax_axis::LADDER,
    crate::split::LADDER,
    crate::spmm::LADDER,
    crate::spmv::LADDER,
    crate::spmv_bsr::LADDER,
    crate::sqnr::LADDER,
    crate::sqrt::LADDER,
    crate::stack::LADDER,
    crate::sub::LADDER,
    crate::sum::LADDER,
    crate::swiglu_quantize::LADDER,
    crate::tanh::LADDER,
    crate::top_k::LADDER,
    crate::top_p::LADDER,
    crate::transpose::LADDER,
    crate::varlen_attention::LADDER,
];

/// Every implementation of every ladder.
pub fn implementations() -> impl Iterator<Item = &'static Implementation> {
    LADDERS.iter().copied().flatten()
}
