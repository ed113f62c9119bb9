//! What a kernel is prepared for: sizes, parameters and tensors by name.

use std::fmt;
use std::ops::{Deref, DerefMut};

use half::{bf16, f16};

use crate::{Fp8E4m3, Fp8E5m2};

/// An input: borrowed anew for each launch, since its content may be another then.
pub type In<'a, T> = Box<dyn Deref<Target = [T]> + 'a>;
/// An output, likewise.
pub type Out<'a, T> = Box<dyn DerefMut<Target = [T]> + 'a>;

/// The sizes, parameters and tensors of one call.
///
/// ```
/// use roofline_cpu::{Args, Cpu, catalog::find};
///
/// let (x, mut y) = ([3.0f32, 3.0], [0.0f32; 2]);
/// let cpu = Cpu::serial();
/// let args = Args::new().size("rows", 1).size("cols", 2).input("x", &x[..]).output("y", &mut y[..]);
/// let kernel = find("softmax", "vector").unwrap().kernel("f32").unwrap();
/// (kernel.prepare)(&cpu, args).unwrap().run(&cpu);
/// assert_eq!(y, [0.5, 0.5]);
/// ```
#[derive(Default)]
pub struct Args<'a> {
    sizes: Vec<(String, usize)>,
    params: Vec<(String, f64)>,
    inputs: Vec<(String, AnyIn<'a>)>,
    outputs: Vec<(String, AnyOut<'a>)>,
}

impl<'a> Args<'a> {
    /// None of anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the size of an axis.
    pub fn size(mut self, axis: &str, size: usize) -> Self {
        self.sizes.push((axis.to_owned(), size));
        self
    }

    /// With a parameter.
    pub fn param(mut self, name: &str, value: f64) -> Self {
        self.params.push((name.to_owned(), value));
        self
    }

    /// With an input.
    pub fn input<T: Datum>(mut self, name: &str, x: impl Deref<Target = [T]> + 'a) -> Self {
        self.inputs.push((name.to_owned(), T::any_in(Box::new(x))));
        self
    }

    /// With an output.
    pub fn output<T: Datum>(mut self, name: &str, y: impl DerefMut<Target = [T]> + 'a) -> Self {
        self.outputs.push((name.to_owned(), T::any_out(Box::new(y))));
        self
    }

    /// The size of an axis.
    pub fn axis(&self, name: &str) -> Result<usize, Mismatch> {
        find(&self.sizes, name).copied().ok_or_else(|| Mismatch::missing("axis", name))
    }

    /// The value of a parameter.
    pub fn value(&self, name: &str) -> Result<f64, Mismatch> {
        find(&self.params, name).copied().ok_or_else(|| Mismatch::missing("parameter", name))
    }

    /// An input, which can be had once.
    pub fn take<T: Datum>(&mut self, name: &str) -> Result<In<'a, T>, Mismatch> {
        let at = self.inputs.iter().position(|(own, _)| own == name);
        let at = at.ok_or_else(|| Mismatch::missing("input", name))?;
        T::own_in(self.inputs.swap_remove(at).1).ok_or_else(|| Mismatch::of_type::<T>(name))
    }

    /// An output, which can be had once.
    pub fn take_out<T: Datum>(&mut self, name: &str) -> Result<Out<'a, T>, Mismatch> {
        let at = self.outputs.iter().position(|(own, _)| own == name);
        let at = at.ok_or_else(|| Mismatch::missing("output", name))?;
        T::own_out(self.outputs.swap_remove(at).1).ok_or_else(|| Mismatch::of_type::<T>(name))
    }
}

fn find<'v, V>(named: &'v [(String, V)], name: &str) -> Option<&'v V> {
    named.iter().find(|(own, _)| own == name).map(|(_, value)| value)
}

/// The arguments of a call do not fit the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(String);

impl Mismatch {
    fn missing(kind: &str, name: &str) -> Self {
        Self(format!("there is no {kind} `{name}`"))
    }

    fn of_type<T: Datum>(name: &str) -> Self {
        Self(format!("tensor `{name}` is not of {}", T::NAME))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

/// A type of tensor elements.
pub trait Datum: Copy + Default + Send + Sync + 'static {
    /// As precisions name it.
    const NAME: &'static str;
    #[doc(hidden)]
    fn any_in(x: In<'_, Self>) -> AnyIn<'_>;
    #[doc(hidden)]
    fn own_in(x: AnyIn<'_>) -> Option<In<'_, Self>>;
    #[doc(hidden)]
    fn any_out(y: Out<'_, Self>) -> AnyOut<'_>;
    #[doc(hidden)]
    fn own_out(y: AnyOut<'_>) -> Option<Out<'_, Self>>;
}

macro_rules! data {
    ($($type:ident $variant:ident $name:literal,)*) => {
        /// An input of whatever type.
        #[doc(hidden)]
        pub enum AnyIn<'a> { $($variant(In<'a, $type>),)* }

        /// An output of whatever type.
        #[doc(hidden)]
        pub enum AnyOut<'a> { $($variant(Out<'a, $type>),)* }

        $(impl Datum for $type {
            const NAME: &'static str = $name;
            fn any_in(x: In<'_, Self>) -> AnyIn<'_> {
                AnyIn::$variant(x)
            }
            fn own_in(x: AnyIn<'_>) -> Option<In<'_, Self>> {
                if let AnyIn::$variant(x) = x { Some(x) } else { None }
            }
            fn any_out(y: Out<'_, Self>) -> AnyOut<'_> {
                AnyOut::$variant(y)
            }
            fn own_out(y: AnyOut<'_>) -> Option<Out<'_, Self>> {
                if let AnyOut::$variant(y) = y { Some(y) } else { None }
            }
        })*
    };
}

data! {
    f64 F64 "f64",
    f32 F32 "f32",
    bf16 Bf16 "bf16",
    f16 F16 "f16",
    Fp8E4m3 Fp8E4m3 "fp8-e4m3",
    Fp8E5m2 Fp8E5m2 "fp8-e5m2",
    i32 I32 "i32",
    i8 I8 "i8",
    u8 U8 "u8",
}
