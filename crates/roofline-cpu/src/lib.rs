//! CPU kernels as a library: a folder per operation, a file per implementation.
//!
//! There is one safe function an operation. Its first argument, a [`Cpu`], says which vector instructions and
//! which threads it may use, and the function picks the rung that suits them.
//!
//! ```
//! use roofline_cpu::{Cpu, Rows, softmax};
//!
//! let mut y = [0.0f32; 4];
//! softmax(&Cpu::new(2), &[1.0; 4], &mut y, Rows { rows: 1, cols: 4 });
//! assert_eq!(y, [0.25; 4]);
//! ```
//!
//! Every rung is a function too (`softmax::vector::softmax`), from the plain one that shows the mathematics to
//! the fastest; the [`catalog`] lists them all in ladder order.
//!
//! To add an operation: a folder with `mod.rs` (the mathematics, the ladder, the public function) and one file
//! per implementation. Plain ones are generic over [`Scalar`], vector ones over [`Element`]: these implement
//! [`Vectorize`] and are run by [`Isa::run`]. The ladder gets one line in [`catalog`], and
//! `tests/every_kernel.rs` runs every rung.

mod args;
mod bind;
mod cpu;
mod element;
mod elementwise;
mod exp;
pub mod fp4;
mod fp8;
mod isa;
mod philox;
mod pool;
mod reduce;
mod scalar;
mod scratch;
mod shape;
mod stream;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tiles;

pub mod catalog;
pub mod embedding;
pub mod grouped_matmul;
pub mod kv_append;
pub mod lanes;

pub mod add;
pub mod add_rms_norm;
pub mod add_rms_norm_quantize;
pub mod add_scalar;
pub mod argmax;
pub mod attention;
pub mod axpy;
pub mod batch_norm;
pub mod bmm;
pub mod broadcast_add;
pub mod cat;
pub mod conv2d;
pub mod copy;
pub mod cos;
pub mod cross_entropy;
pub mod cross_entropy_prob;
pub mod dequantize;
pub mod div;
pub mod div_scalar;
pub mod dot;
pub mod dropout;
pub mod expand;
pub mod exponential;
pub mod fft;
pub mod fft2;
pub mod focal;
pub mod fp8_matmul;
pub mod gelu;
pub mod gelu_quick;
pub mod gelu_tanh;
pub mod gru;
pub mod int8_matmul;
pub mod layer_norm;
pub mod layer_norm_gelu;
pub mod log;
pub mod log_softmax;
pub mod logsumexp;
pub mod lstm;
pub mod matmul;
pub mod max;
pub mod mean;
pub mod moe_combine;
pub mod mse;
pub mod mul;
pub mod mx_dequantize;
pub mod mx_quantize;
pub mod negate;
pub mod paged_attention;
pub mod permute;
pub mod pow_scalar;
pub mod probe;
pub mod q4_matmul;
pub mod q4k_matmul;
pub mod q8_matmul;
pub mod qk_norm;
pub mod quantize;
pub mod quantize_fp8;
pub mod relu;
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
pub mod sqrt;
pub mod stack;
pub mod sub;
pub mod sum;
pub mod swiglu_quantize;
pub mod tanh;
pub mod top_k;
pub mod transpose;
pub mod varlen_attention;
pub mod w4_matmul;

pub use add::add;
pub use add_rms_norm::add_rms_norm;
pub use add_rms_norm_quantize::add_rms_norm_quantize;
pub use add_scalar::add_scalar;
pub use argmax::argmax;
pub use args::{Args, Datum, In, Mismatch, Out};
pub use attention::attention;
pub use axpy::{axpy, axpy_in_place};
pub use batch_norm::batch_norm;
pub use bmm::{bmm, bmm_nn};
pub use broadcast_add::broadcast_add;
pub use cat::cat;
pub use catalog::Launch;
pub use conv2d::conv2d;
pub use copy::copy;
pub use cos::cos;
pub use cpu::Cpu;
pub use cross_entropy::{cross_entropy, cross_entropy_none};
pub use cross_entropy_prob::cross_entropy_prob;
pub use dequantize::dequantize;
pub use div::div;
pub use div_scalar::div_scalar;
pub use dot::dot;
pub use dropout::dropout;
pub use element::Element;
pub use embedding::embedding;
pub use expand::expand;
pub use exponential::exp;
pub use focal::focal;
pub use fp8::Fp8E4m3;
pub use fp8_matmul::{fp8_matmul, fp8_matmul_bf16};
pub use gelu::gelu;
pub use gelu_quick::gelu_quick;
pub use gelu_tanh::gelu_tanh;
pub use grouped_matmul::grouped_matmul;
pub use gru::gru;
pub use half::{bf16, f16};
pub use int8_matmul::int8_matmul;
pub use isa::{Isa, Vectorize};
pub use kv_append::kv_append;
pub use layer_norm::{layer_norm, layer_norm_plain};
pub use layer_norm_gelu::{layer_norm_gelu, layer_norm_gelu_tanh};
pub use log::log;
pub use log_softmax::{log_softmax, log_softmax_columns};
pub use logsumexp::{logsumexp, logsumexp_all, logsumexp_columns};
pub use lstm::lstm;
pub use matmul::{matmul, matmul_nn, matmul_tn, matmul_tt};
pub use max::{max, max_all, max_columns};
pub use mean::{mean, mean_all, mean_columns};
pub use moe_combine::moe_combine;
pub use mse::{mse, mse_none, mse_sum};
pub use mul::mul;
pub use mx_dequantize::{mx_dequantize, mx_dequantize_fp4, nvfp4_dequantize};
pub use mx_quantize::{mx_quantize, mx_quantize_fp4, nvfp4_quantize};
pub use negate::negate;
pub use num_traits::Float;
pub use paged_attention::paged_attention;
pub use permute::permute;
pub use pool::Pool;
pub use pow_scalar::pow_scalar;
pub use q4_matmul::{q4_matmul, q4_matmul_raw};
pub use q4k_matmul::q4k_matmul;
pub use q8_matmul::{q8_matmul, q8_matmul_raw};
pub use qk_norm::qk_norm;
pub use quantize::quantize;
pub use quantize_fp8::quantize_fp8;
pub use relu::relu;
pub use rms_norm::{rms_norm, rms_norm_gemma};
pub use rnn::rnn;
pub use rope::{rope, rope_cached, rope_cached_in_place, rope_in_place};
pub use rope_tables::rope_tables;
pub use scalar::{Real, Scalar};
pub use scale::scale;
pub use shape::{Product, Rows};
pub use sigmoid::sigmoid;
pub use silu::silu;
pub use sin::sin;
pub use softmax::{softmax, softmax_columns, softmax_masked};
pub use softmax_axis::softmax_axis;
pub use split::split;
pub use sqrt::sqrt;
pub use stack::stack;
pub use sub::sub;
pub use sum::{sum, sum_all, sum_columns};
pub use swiglu_quantize::swiglu_quantize;
pub use tanh::tanh;
pub use top_k::top_k;
pub use transpose::transpose;
pub use varlen_attention::varlen_attention;
pub use w4_matmul::w4_matmul;
