//! What the author of a kernel writes.

use roofline_runner::{Dtype, Element, Entry, Job, Ready, Refusal};
use std::marker::PhantomData;

/// One way to compute an operation, over slices of one type of input.
///
/// A kernel for several types is generic: `impl<T: Float> Implementation for Softmax<T>`, registered once for each.
/// One whose inputs differ in type, or that needs more than a function, is an [`Entry`].
pub trait Implementation: Sized + 'static {
    /// Its name in tables, behind the bench's: lowercase letters, digits and `-`.
    const NAME: &'static str;
    /// The operation, with its variant where it has one: `softmax`, `matmul.nn`.
    const OPERATION: &'static str;
    /// One sentence for whoever lists it.
    const ABOUT: &'static str = "";
    /// Whether it uses more than one thread when it may.
    const PARALLEL: bool = false;
    /// What it requires of a case, where it is not right for all: `cols % 16 == 0, align 32`.
    const REQUIRES: &'static str = "";
    /// Type of the elements of all inputs: `f32`, `f64`, `bf16`, `f16`, `i8` or `i32`.
    type Input: Element;
    /// Type of the elements of the output.
    type Output: Element;

    /// Gets ready for one case, off the clock: sizes are [`Job::axis`], the limit of threads is `job.threads`. The
    /// content of the inputs is not there yet, and changes between launches.
    fn prepare(job: &Job) -> Result<Self, Refusal>;

    /// Computes the output once. Inputs come in the operation's order.
    fn launch(&mut self, inputs: &[&[Self::Input]], output: &mut [Self::Output]);

    /// Threads that work at a time, the caller included.
    fn threads(&self) -> u32 {
        1
    }
}

/// Most inputs of an operation.
const MOST_INPUTS: usize = 8;

/// An implementation as a row of a table.
pub(crate) struct Row<I>(PhantomData<I>);

impl<I: Implementation> Row<I> {
    const DTYPES: &'static [Dtype] = &[I::Input::DTYPE];

    pub(crate) const ENTRY: Entry = {
        let entry = Entry::new(I::NAME, I::OPERATION, Self::DTYPES, ready::<I>);
        let entry = entry.about(I::ABOUT).requires(I::REQUIRES);
        if I::PARALLEL { entry.parallel() } else { entry }
    };
}

fn ready<I: Implementation>(job: &mut Job) -> Result<Ready, Refusal> {
    let mut implementation = I::prepare(job)?;
    let threads = implementation.threads();
    let (inputs, mut output) = job.tensors::<I::Input, I::Output>()?;
    let count = inputs.len();
    if count > MOST_INPUTS {
        return Err(roofline_runner::unsupported(format!("{count} inputs; {MOST_INPUTS} is the limit")));
    }
    let ready = Ready::new(move || {
        // On the stack: a launch takes nothing from the heap that the kernel does not take.
        let mut slices: [&[I::Input]; MOST_INPUTS] = [&[]; MOST_INPUTS];
        slices.iter_mut().zip(&inputs).for_each(|(slice, input)| *slice = input);
        implementation.launch(&slices[..count], &mut output);
    });
    Ok(ready.threads(threads))
}
