//! Every implementation, in ladder order, and how to call it.
//!
//! A row names its operation, its technique and one [`Kernel`] per dtype. A
//! `Kernel` is a typed function pointer; there is one variant per *signature*,
//! not per operation, so that new operations seldom need a new one.

use half::{bf16, f16};

use crate::{Cpu, Product, Rows, add, matmul, rms_norm, softmax};
use Kernel::*;

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
    /// One kernel per dtype.
    pub kernels: &'static [Kernel],
}

impl Implementation {
    /// The kernel for a dtype of the inputs (`f32`, `bf16`, `f16`, `i8`).
    pub fn kernel(&self, dtype: &str) -> Option<Kernel> {
        let mut kernels = self.kernels.iter().copied();
        kernels.find(|kernel| kernel.dtype() == dtype)
    }

    /// The dtypes of the inputs it accepts.
    pub fn dtypes(&self) -> impl Iterator<Item = &'static str> {
        self.kernels.iter().map(Kernel::dtype)
    }
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
    let mut rows = IMPLEMENTATIONS.iter();
    rows.find(|row| row.operation == operation && row.name == name)
}

/// y from x.
pub type Unary<T> = fn(&Cpu, &[T], &mut [T], Rows);
/// z from x and y, or y from x and weights.
pub type Binary<T> = fn(&Cpu, &[T], &[T], &mut [T], Rows);
/// C from A and B.
pub type Multiply<T, O> = fn(&Cpu, &[T], &[T], &mut [O], Product);

/// A function pointer, by signature and dtype.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    UnaryF32(Unary<f32>),
    UnaryBf16(Unary<bf16>),
    UnaryF16(Unary<f16>),
    BinaryF32(Binary<f32>),
    BinaryBf16(Binary<bf16>),
    BinaryF16(Binary<f16>),
    MultiplyF32(Multiply<f32, f32>),
    MultiplyBf16(Multiply<bf16, bf16>),
    MultiplyF16(Multiply<f16, f16>),
    MultiplyI8(Multiply<i8, i32>),
}

/// An input of [`Kernel::launch`].
#[derive(Clone, Copy, Debug)]
pub enum Tensor<'a> {
    F32(&'a [f32]),
    Bf16(&'a [bf16]),
    F16(&'a [f16]),
    I8(&'a [i8]),
}

/// The output of [`Kernel::launch`].
#[derive(Debug)]
pub enum TensorMut<'a> {
    F32(&'a mut [f32]),
    Bf16(&'a mut [bf16]),
    F16(&'a mut [f16]),
    I32(&'a mut [i32]),
}

/// The tensors of a launch do not fit the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch;

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("number, dtype or length of the tensors do not fit the kernel and its axes")
    }
}

impl std::error::Error for Mismatch {}

impl Kernel {
    /// The dtype of the inputs.
    pub fn dtype(&self) -> &'static str {
        match self {
            UnaryF32(_) | BinaryF32(_) | MultiplyF32(_) => "f32",
            UnaryBf16(_) | BinaryBf16(_) | MultiplyBf16(_) => "bf16",
            UnaryF16(_) | BinaryF16(_) | MultiplyF16(_) => "f16",
            MultiplyI8(_) => "i8",
        }
    }

    /// The names of the axes, in the order that [`Kernel::launch`] takes them.
    pub fn axes(&self) -> &'static [&'static str] {
        match self {
            MultiplyF32(_) | MultiplyBf16(_) | MultiplyF16(_) | MultiplyI8(_) => &["m", "n", "k"],
            _ => &["rows", "cols"],
        }
    }

    /// Calls the kernel on tensors whose types are known at run time only.
    /// `axes` are the sizes of [`Kernel::axes`].
    ///
    /// # Panics
    /// If a slice does not have the length that the axes give it.
    ///
    /// ```
    /// use roofline_cpu::{Cpu, catalog::{Tensor, TensorMut, find}};
    ///
    /// let kernel = find("softmax", "vector").unwrap().kernel("f32").unwrap();
    /// let mut y = [0.0; 2];
    /// let inputs = [Tensor::F32(&[3.0, 3.0])];
    /// kernel.launch(&Cpu::serial(), &inputs, TensorMut::F32(&mut y), &[1, 2]).unwrap();
    /// assert_eq!(y, [0.5, 0.5]);
    /// ```
    pub fn launch(
        &self,
        cpu: &Cpu,
        inputs: &[Tensor<'_>],
        output: TensorMut<'_>,
        axes: &[usize],
    ) -> Result<(), Mismatch> {
        use {Tensor as In, TensorMut as Out};
        let rows = || match *axes {
            [rows, cols] => Ok(Rows { rows, cols }),
            _ => Err(Mismatch),
        };
        let product = || match *axes {
            [m, n, k] => Ok(Product { m, n, k }),
            _ => Err(Mismatch),
        };
        match (self, inputs, output) {
            (UnaryF32(f), &[In::F32(x)], Out::F32(y)) => f(cpu, x, y, rows()?),
            (UnaryBf16(f), &[In::Bf16(x)], Out::Bf16(y)) => f(cpu, x, y, rows()?),
            (UnaryF16(f), &[In::F16(x)], Out::F16(y)) => f(cpu, x, y, rows()?),
            (BinaryF32(f), &[In::F32(x), In::F32(y)], Out::F32(z)) => f(cpu, x, y, z, rows()?),
            (BinaryBf16(f), &[In::Bf16(x), In::Bf16(y)], Out::Bf16(z)) => f(cpu, x, y, z, rows()?),
            (BinaryF16(f), &[In::F16(x), In::F16(y)], Out::F16(z)) => f(cpu, x, y, z, rows()?),
            (MultiplyF32(f), &[In::F32(a), In::F32(b)], Out::F32(c)) => f(cpu, a, b, c, product()?),
            (MultiplyBf16(f), &[In::Bf16(a), In::Bf16(b)], Out::Bf16(c)) => {
                f(cpu, a, b, c, product()?);
            }
            (MultiplyF16(f), &[In::F16(a), In::F16(b)], Out::F16(c)) => f(cpu, a, b, c, product()?),
            (MultiplyI8(f), &[In::I8(a), In::I8(b)], Out::I32(c)) => f(cpu, a, b, c, product()?),
            _ => return Err(Mismatch),
        }
        Ok(())
    }
}

fn always() -> bool {
    true
}

/// All implementations: operations in alphabetical order, each ladder from the
/// plain rung up.
pub const IMPLEMENTATIONS: &[Implementation] = &[
    Implementation {
        operation: "add",
        name: "plain",
        about: "one loop over the elements",
        parallel: false,
        vector: false,
        available: always,
        kernels: &[BinaryF32(add::plain::add), BinaryBf16(add::plain::add), BinaryF16(add::plain::add)],
    },
    Implementation {
        operation: "add",
        name: "vector",
        about: "one vector at a time, large outputs streamed past the caches",
        parallel: false,
        vector: true,
        available: always,
        kernels: &[BinaryF32(add::vector::add), BinaryBf16(add::vector::add), BinaryF16(add::vector::add)],
    },
    Implementation {
        operation: "add",
        name: "parallel",
        about: "the vector loop on contiguous pieces, all threads",
        parallel: true,
        vector: true,
        available: always,
        kernels: &[
            BinaryF32(add::parallel::add),
            BinaryBf16(add::parallel::add),
            BinaryF16(add::parallel::add),
        ],
    },
    Implementation {
        operation: "matmul",
        name: "plain",
        about: "three loops, the definition",
        parallel: false,
        vector: false,
        available: always,
        kernels: &[
            MultiplyF32(matmul::plain::matmul),
            MultiplyBf16(matmul::plain::matmul),
            MultiplyF16(matmul::plain::matmul),
            MultiplyI8(matmul::plain::matmul),
        ],
    },
    Implementation {
        operation: "matmul",
        name: "packed",
        about: "packed panels and a register tile, blocked for the caches",
        parallel: false,
        vector: true,
        available: always,
        kernels: &[
            MultiplyF32(matmul::packed::matmul),
            MultiplyBf16(matmul::packed::matmul),
            MultiplyF16(matmul::packed::matmul),
            MultiplyI8(matmul::packed::matmul),
        ],
    },
    Implementation {
        operation: "matmul",
        name: "packed-parallel",
        about: "panels packed together, tiles of C dealt to all threads",
        parallel: true,
        vector: true,
        available: always,
        kernels: &[
            MultiplyF32(matmul::packed_parallel::matmul),
            MultiplyBf16(matmul::packed_parallel::matmul),
            MultiplyF16(matmul::packed_parallel::matmul),
            MultiplyI8(matmul::packed_parallel::matmul),
        ],
    },
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Implementation {
        operation: "matmul",
        name: "amx",
        about: "tile registers: 32 by 32 sums from packed strips, all threads",
        parallel: true,
        vector: false,
        available: matmul::amx::is_available,
        kernels: &[MultiplyBf16(matmul::amx::matmul), MultiplyI8(matmul::amx::matmul)],
    },
    Implementation {
        operation: "matmul.nn",
        name: "plain",
        about: "three loops, the definition",
        parallel: false,
        vector: false,
        available: always,
        kernels: &[
            MultiplyF32(matmul::plain::matmul_nn),
            MultiplyBf16(matmul::plain::matmul_nn),
            MultiplyF16(matmul::plain::matmul_nn),
            MultiplyI8(matmul::plain::matmul_nn),
        ],
    },
    Implementation {
        operation: "matmul.nn",
        name: "packed",
        about: "packed panels and a register tile, blocked for the caches",
        parallel: false,
        vector: true,
        available: always,
        kernels: &[
            MultiplyF32(matmul::packed::matmul_nn),
            MultiplyBf16(matmul::packed::matmul_nn),
            MultiplyF16(matmul::packed::matmul_nn),
            MultiplyI8(matmul::packed::matmul_nn),
        ],
    },
    Implementation {
        operation: "matmul.nn",
        name: "packed-parallel",
        about: "panels packed together, tiles of C dealt to all threads",
        parallel: true,
        vector: true,
        available: always,
        kernels: &[
            MultiplyF32(matmul::packed_parallel::matmul_nn),
            MultiplyBf16(matmul::packed_parallel::matmul_nn),
            MultiplyF16(matmul::packed_parallel::matmul_nn),
            MultiplyI8(matmul::packed_parallel::matmul_nn),
        ],
    },
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Implementation {
        operation: "matmul.nn",
        name: "amx",
        about: "tile registers: 32 by 32 sums from packed strips, all threads",
        parallel: true,
        vector: false,
        available: matmul::amx::is_available,
        kernels: &[MultiplyBf16(matmul::amx::matmul_nn), MultiplyI8(matmul::amx::matmul_nn)],
    },
    Implementation {
        operation: "rms-norm",
        name: "plain",
        about: "the definition, row by row, in f64",
        parallel: false,
        vector: false,
        available: always,
        kernels: &[
            BinaryF32(rms_norm::plain::rms_norm),
            BinaryBf16(rms_norm::plain::rms_norm),
            BinaryF16(rms_norm::plain::rms_norm),
        ],
    },
    Implementation {
        operation: "rms-norm",
        name: "vector",
        about: "two passes in lanes, the second from a near cache",
        parallel: false,
        vector: true,
        available: always,
        kernels: &[
            BinaryF32(rms_norm::vector::rms_norm),
            BinaryBf16(rms_norm::vector::rms_norm),
            BinaryF16(rms_norm::vector::rms_norm),
        ],
    },
    Implementation {
        operation: "rms-norm",
        name: "parallel",
        about: "the vector kernel on whole rows, all threads",
        parallel: true,
        vector: true,
        available: always,
        kernels: &[
            BinaryF32(rms_norm::parallel::rms_norm),
            BinaryBf16(rms_norm::parallel::rms_norm),
            BinaryF16(rms_norm::parallel::rms_norm),
        ],
    },
    Implementation {
        operation: "softmax",
        name: "three-pass",
        about: "the definition: largest element, sum, quotients",
        parallel: false,
        vector: false,
        available: always,
        kernels: &[
            UnaryF32(softmax::three_pass::softmax),
            UnaryBf16(softmax::three_pass::softmax),
            UnaryF16(softmax::three_pass::softmax),
        ],
    },
    Implementation {
        operation: "softmax",
        name: "vector",
        about: "three passes in lanes over a row of exponentials kept in a near cache",
        parallel: false,
        vector: true,
        available: always,
        kernels: &[
            UnaryF32(softmax::vector::softmax),
            UnaryBf16(softmax::vector::softmax),
            UnaryF16(softmax::vector::softmax),
        ],
    },
    Implementation {
        operation: "softmax",
        name: "parallel",
        about: "the vector kernel on whole rows, all threads",
        parallel: true,
        vector: true,
        available: always,
        kernels: &[
            UnaryF32(softmax::parallel::softmax),
            UnaryBf16(softmax::parallel::softmax),
            UnaryF16(softmax::parallel::softmax),
        ],
    },
];
