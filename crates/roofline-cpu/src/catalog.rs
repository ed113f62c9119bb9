//! Every implementation, in ladder order, and how to call it: a line for each operation's ladder.
//!
//! A row names its operation, its technique and one [`Kernel`] per dtype. A
//! `Kernel` is a typed function pointer; there is one variant per *signature*,
//! not per operation, so that new operations seldom need a new one.

use half::{bf16, f16};

use crate::{Cpu, Product, Rows};
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
    /// A rung of one thread, in plain code, for every processor.
    pub const fn new(
        operation: &'static str,
        name: &'static str,
        about: &'static str,
        kernels: &'static [Kernel],
    ) -> Implementation {
        Implementation { operation, name, about, parallel: false, vector: false, available: || true, kernels }
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

    /// The same kernels for another form of the operation.
    pub const fn form(self, operation: &'static str) -> Implementation {
        Implementation { operation, ..self }
    }

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
    implementations().find(|row| row.operation == operation && row.name == name)
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

    /// Whether it has one input alone.
    pub fn is_unary(&self) -> bool {
        matches!(self, UnaryF32(_) | UnaryBf16(_) | UnaryF16(_))
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

/// Every ladder, operations in alphabetical order; each folder owns its own, from the plain rung up.
pub const LADDERS: &[&[Implementation]] = &[
    crate::add::LADDER,
    crate::div::LADDER,
    crate::exponential::LADDER,
    crate::matmul::LADDER,
    crate::relu::LADDER,
    crate::rms_norm::LADDER,
    crate::sigmoid::LADDER,
    crate::silu::LADDER,
    crate::softmax::LADDER,
    crate::sub::LADDER,
];

/// Every implementation of every ladder.
pub fn implementations() -> impl Iterator<Item = &'static Implementation> {
    LADDERS.iter().copied().flatten()
}
