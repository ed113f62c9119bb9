//! Operations: the mathematics that implementations are held to.
//!
//! To add one, write `ops/<name>.rs` and add its lines here; most are a formula on the row of a
//! [family](crate::operation::family). A program with operations of its own [brings](bring) them along.

pub mod add;
pub mod add_rms_norm;
pub mod add_rms_norm_quantize;
pub mod add_scalar;
pub mod argmax;
pub mod argmax_axis;
pub mod attention;
pub mod axpy;
pub mod batch_norm;
pub mod bmm;
pub mod broadcast_add;
pub mod calibrate;
pub mod cat;
pub mod conv1d;
pub mod conv2d;
pub mod coo_to_csr;
pub mod coo_to_csr_values;
pub mod copy;
pub mod cos;
pub mod cross_entropy;
pub mod cross_entropy_prob;
pub mod csr_to_coo;
pub mod dequantize;
pub mod div;
pub mod div_scalar;
pub mod dot;
pub mod dropout;
pub mod embedding;
pub mod exp;
pub mod expand;
pub mod fft;
pub mod fft2;
pub mod focal;
pub mod fp8_matmul;
pub mod gelu;
pub mod gelu_quick;
pub mod gelu_tanh;
pub mod grouped_matmul;
pub mod gru;
pub mod int8_matmul;
pub mod kv_append;
pub mod layer_norm;
pub mod layer_norm_gelu;
pub mod log;
pub mod log_softmax;
pub mod log_softmax_axis;
pub mod logsumexp;
pub mod logsumexp_axis;
pub mod lstm;
pub mod matmul;
pub mod max;
pub mod max_axis;
pub mod mean;
pub mod mean_axis;
pub mod moe_combine;
pub mod moe_permute;
pub mod moe_route;
pub mod mse;
pub mod mul;
pub mod mx_dequantize;
pub mod mx_quantize;
pub mod negate;
pub mod paged_attention;
pub mod permute;
pub mod pow_scalar;
pub mod q4_matmul;
pub mod q4k_matmul;
pub mod q8_matmul;
pub mod qk_norm;
pub mod quantize;
pub mod quantize_fp8;
pub mod quantize_int4;
pub mod quantize_u8;
pub mod relu;
pub mod reshape;
pub mod rms_norm;
pub mod rnn;
pub mod rope;
pub mod rope_tables;
pub mod scale;
pub mod sigmoid;
pub mod silu;
pub mod sin;
pub mod softmax;
pub mod softmax_axis;
pub mod split;
pub mod spmm;
pub mod spmv;
pub mod spmv_bsr;
pub mod sqnr;
pub mod sqrt;
pub mod stack;
pub mod sub;
pub mod sum;
pub mod sum_axis;
pub mod swiglu_quantize;
pub mod tanh;
pub mod top_k;
pub mod top_p;
pub mod transpose;
pub mod varlen_attention;
pub mod w4_matmul;
pub mod window_attention;

use crate::nearest::nearest;
use crate::operation::Operation;
use std::sync::OnceLock;

/// Every operation, in the order of `roofline list ops`.
pub const OPERATIONS: &[&Operation] = &[
    &add::OPERATION,
    &sub::OPERATION,
    &mul::OPERATION,
    &div::OPERATION,
    &negate::OPERATION,
    &exp::OPERATION,
    &log::OPERATION,
    &sqrt::OPERATION,
    &sin::OPERATION,
    &cos::OPERATION,
    &tanh::OPERATION,
    &relu::OPERATION,
    &sigmoid::OPERATION,
    &silu::OPERATION,
    &gelu::OPERATION,
    &gelu_tanh::OPERATION,
    &gelu_quick::OPERATION,
    &add_scalar::OPERATION,
    &scale::OPERATION,
    &div_scalar::OPERATION,
    &pow_scalar::OPERATION,
    &axpy::OPERATION,
    &broadcast_add::OPERATION,
    &focal::OPERATION,
    &copy::OPERATION,
    &reshape::OPERATION,
    &transpose::OPERATION,
    &permute::OPERATION,
    &expand::OPERATION,
    &cat::OPERATION,
    &stack::OPERATION,
    &split::OPERATION,
    &sum::OPERATION,
    &mean::OPERATION,
    &max::OPERATION,
    &logsumexp::OPERATION,
    &argmax::OPERATION,
    &sum_axis::OPERATION,
    &mean_axis::OPERATION,
    &max_axis::OPERATION,
    &logsumexp_axis::OPERATION,
    &argmax_axis::OPERATION,
    &top_k::OPERATION,
    &top_p::OPERATION,
    &dot::OPERATION,
    &mse::OPERATION,
    &cross_entropy::OPERATION,
    &cross_entropy_prob::OPERATION,
    &softmax::OPERATION,
    &softmax_axis::OPERATION,
    &log_softmax::OPERATION,
    &log_softmax_axis::OPERATION,
    &rms_norm::OPERATION,
    &add_rms_norm::OPERATION,
    &qk_norm::OPERATION,
    &layer_norm::OPERATION,
    &layer_norm_gelu::OPERATION,
    &dropout::OPERATION,
    &embedding::OPERATION,
    &rope::OPERATION,
    &rope_tables::OPERATION,
    &batch_norm::OPERATION,
    &attention::OPERATION,
    &window_attention::OPERATION,
    &paged_attention::OPERATION,
    &varlen_attention::OPERATION,
    &kv_append::OPERATION,
    &matmul::OPERATION,
    &bmm::OPERATION,
    &grouped_matmul::OPERATION,
    &moe_route::OPERATION,
    &moe_permute::OPERATION,
    &moe_combine::OPERATION,
    &conv1d::OPERATION,
    &conv2d::OPERATION,
    &int8_matmul::OPERATION,
    &fp8_matmul::OPERATION,
    &q8_matmul::OPERATION,
    &q4_matmul::OPERATION,
    &q4k_matmul::OPERATION,
    &w4_matmul::OPERATION,
    &quantize::OPERATION,
    &quantize_fp8::OPERATION,
    &quantize_u8::OPERATION,
    &quantize_int4::OPERATION,
    &add_rms_norm_quantize::OPERATION,
    &swiglu_quantize::OPERATION,
    &dequantize::OPERATION,
    &mx_quantize::OPERATION,
    &mx_dequantize::OPERATION,
    &calibrate::OPERATION,
    &sqnr::OPERATION,
    &rnn::OPERATION,
    &lstm::OPERATION,
    &gru::OPERATION,
    &spmv::OPERATION,
    &spmv_bsr::OPERATION,
    &spmm::OPERATION,
    &csr_to_coo::OPERATION,
    &coo_to_csr::OPERATION,
    &coo_to_csr_values::OPERATION,
    &fft::OPERATION,
    &fft2::OPERATION,
];

/// What [`bring`] added.
static BROUGHT: OnceLock<Vec<Operation>> = OnceLock::new();

/// Every operation that this program knows: those of the house, then its own.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().copied().chain(BROUGHT.get().into_iter().flatten())
}

/// Adds operations of a program's own: once, before the first case is read.
///
/// Refuses what the gate could not work with, and says why.
pub fn bring(operations: Vec<Operation>) -> Result<(), String> {
    for (index, operation) in operations.iter().enumerate() {
        let known = OPERATIONS.iter().copied().chain(&operations[..index]);
        operation.check(known).map_err(|why| format!("operation `{}`: {why}", operation.name))?;
    }
    BROUGHT.set(operations).map_err(|_| "operations were brought already".to_owned())
}

impl Operation {
    /// The operation of a name, or the nearest name there is.
    pub fn find(name: &str) -> Result<&'static Operation, Option<&'static str>> {
        operations()
            .find(|operation| operation.names().any(|own| own == name))
            .ok_or_else(|| nearest(name, operations().flat_map(Operation::names)))
    }
}

#[cfg(test)]
mod tests;
