//! `conv2d`: the sums of products of a kernel with the windows of an image, NCHW; `conv2d.bias` adds a bias to each
//! channel. `conv1d`: the same of lines, which are images of one row.
//!
//! The kernel is not turned round, and what lies outside of the image counts for nothing. bf16 and f16 are computed in
//! f32 and rounded once.

pub mod im2col;
pub mod im2col_parallel;
pub mod plain;
pub mod winograd;

use crate::args::In;
use crate::bind::{floats, lanes};
use crate::catalog::{Implementation, Kernel, Launch, height, rungs};
use crate::{Args, Cpu, Datum, Mismatch, Scalar};
pub use im2col_parallel::conv2d;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("conv2d", floats!(prepare, false, plain::conv2d)),
    columns("conv2d", lanes!(prepare, false, im2col::conv2d)),
    columns_parallel("conv2d", lanes!(prepare, false, im2col_parallel::conv2d)),
    transformed("conv2d", &[Kernel::new("f32+winograd", |_, args| prepare(args, false, winograd::conv2d))]),
    Implementation::plain("conv2d.bias", floats!(prepare, true, plain::conv2d)),
    columns("conv2d.bias", lanes!(prepare, true, im2col::conv2d)),
    columns_parallel("conv2d.bias", lanes!(prepare, true, im2col_parallel::conv2d)),
    transformed(
        "conv2d.bias",
        &[Kernel::new("f32+winograd", |_, args| prepare(args, true, winograd::conv2d))],
    ),
    Implementation::plain("conv1d", floats!(prepare_lines, false, plain::conv2d)),
    columns("conv1d", lanes!(prepare_lines, false, im2col::conv2d)),
    columns_parallel("conv1d", lanes!(prepare_lines, false, im2col_parallel::conv2d)),
    Implementation::plain("conv1d.bias", floats!(prepare_lines, true, plain::conv2d)),
    columns("conv1d.bias", lanes!(prepare_lines, true, im2col::conv2d)),
    columns_parallel("conv1d.bias", lanes!(prepare_lines, true, im2col_parallel::conv2d)),
];

/// The same for weights that are known beforehand.
pub const FIXED: &[Implementation] = &rungs::<{ height(LADDER) }>(LADDER, "conv2d.fixed");

const fn columns(operation: &'static str, kernels: &'static [Kernel]) -> Implementation {
    let about = "windows written out as columns, and a product of matrices by packed panels";
    Implementation::new(operation, "im2col", about, kernels).vector()
}

const fn columns_parallel(operation: &'static str, kernels: &'static [Kernel]) -> Implementation {
    let about = "windows written out as columns, and a product of matrices, both on all threads";
    Implementation::new(operation, "im2col-parallel", about, kernels).vector().parallel()
}

const fn transformed(operation: &'static str, kernels: &'static [Kernel]) -> Implementation {
    let about =
        "tiles and kernels transformed, 16 products of matrices on all threads, four outputs from each tile";
    let three = "kernel == 3, stride == 1, dilation == 1";
    Implementation::new(operation, "winograd", about, kernels).vector().parallel().requiring(three)
}

/// Sizes of an image and a kernel, and how the one goes over the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Images.
    pub batch: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Channels of an output.
    pub out: usize,
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// Rows and columns of the kernel.
    pub kernel: [usize; 2],
    /// Steps between windows.
    pub stride: usize,
    /// Rows above the image, and as many below; columns at either side.
    pub pad: [usize; 2],
    /// Steps between the elements of a window.
    pub dilation: usize,
    /// Parts that channels are dealt to: a divisor of both numbers of channels.
    pub groups: usize,
}

impl Windows {
    /// Every window of one image, for as many channels as it has.
    pub fn new(channels: usize, [height, width]: [usize; 2], kernel: usize) -> Windows {
        let (out, kernel, pad) = (channels, [kernel; 2], [0; 2]);
        Windows { batch: 1, channels, out, height, width, kernel, stride: 1, pad, dilation: 1, groups: 1 }
    }

    /// The same of one line, which is an image of one row.
    pub fn line(channels: usize, length: usize, kernel: usize) -> Windows {
        Windows { kernel: [1, kernel], ..Windows::new(channels, [1, length], kernel) }
    }

    fn of(args: &Args<'_>) -> Result<Windows, Mismatch> {
        Ok(Windows {
            batch: args.axis("batch")?,
            channels: args.axis("channels")?,
            out: args.axis("out")?,
            height: args.axis("height")?,
            width: args.axis("width")?,
            kernel: [args.axis("kernel")?; 2],
            stride: args.axis("stride")?,
            pad: [args.axis("pad")?; 2],
            dilation: args.axis("dilation")?,
            groups: args.axis("groups")?,
        })
    }

    /// Those of lines, which are images of one row.
    fn of_lines(args: &Args<'_>) -> Result<Windows, Mismatch> {
        let lines = Windows::line(args.axis("channels")?, args.axis("length")?, args.axis("kernel")?);
        Ok(Windows {
            batch: args.axis("batch")?,
            out: args.axis("out")?,
            stride: args.axis("stride")?,
            pad: [0, args.axis("pad")?],
            dilation: args.axis("dilation")?,
            groups: args.axis("groups")?,
            ..lines
        })
    }

    /// Rows and columns of an output.
    ///
    /// # Panics
    /// If no window fits.
    pub fn outputs(self) -> [usize; 2] {
        [0, 1].map(|side| {
            let window = self.dilation * (self.kernel[side] - 1) + 1;
            let all = [self.height, self.width][side] + 2 * self.pad[side];
            all.checked_sub(window).expect("a window that fits") / self.stride + 1
        })
    }

    /// Elements of a window in one channel.
    fn window(self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// Channels, and channels of outputs, of a group.
    fn per_group(self) -> [usize; 2] {
        [self.channels, self.out].map(|all| all / self.groups)
    }

    /// The row of the image that row `k` of window `i` lies on, if it is inside.
    #[inline]
    fn row(self, i: usize, k: usize) -> Option<usize> {
        (i * self.stride + k * self.dilation).checked_sub(self.pad[0]).filter(|row| *row < self.height)
    }

    /// The column of the image that column `l` of window `j` lies on, if it is inside.
    #[inline]
    fn column(self, j: usize, l: usize) -> Option<usize> {
        (j * self.stride + l * self.dilation).checked_sub(self.pad[1]).filter(|column| *column < self.width)
    }

    #[track_caller]
    fn check<T>(self, x: &[T], w: &[T], bias: Option<&[T]>, y: &[T]) {
        let is_dealt = |all: usize| self.groups > 0 && all.is_multiple_of(self.groups);
        let are_steps = self.window() > 0 && self.stride > 0 && self.dilation > 0;
        assert!(are_steps && is_dealt(self.channels) && is_dealt(self.out), "sizes of {self:?}");
        let ([rows, columns], [channels, _]) = (self.outputs(), self.per_group());
        let expected = [
            self.batch * self.channels * self.height * self.width,
            self.out * channels * self.window(),
            bias.map_or(0, |_| self.out),
            self.batch * self.out * rows * columns,
        ];
        assert_eq!([x.len(), w.len(), bias.map_or(0, <[T]>::len), y.len()], expected, "lengths for {self:?}");
    }
}

/// [`conv2d`] of lines, which are images of one row.
///
/// ```
/// use roofline_cpu::{Cpu, conv1d, conv2d::Windows};
///
/// let mut y = [0.0f32; 3];
/// let shape = Windows { pad: [0, 1], ..Windows::line(1, 3, 3) };
/// conv1d(&Cpu::serial(), &[1.0, 2.0, 3.0], &[1.0, 10.0, 100.0], None, &mut y, shape);
/// assert_eq!(y, [210.0, 321.0, 32.0]);
/// ```
///
/// # Panics
/// If image or kernel has more rows than one.
pub fn conv1d<T: Scalar<Wide = f32>>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    bias: Option<&[T]>,
    y: &mut [T],
    shape: Windows,
) {
    assert_eq!([shape.height, shape.kernel[0], shape.pad[0]], [1, 1, 0], "one row of {shape:?}");
    conv2d(cpu, x, w, bias, y, shape);
}

type Convolve<T> = fn(&Cpu, &[T], &[T], Option<&[T]>, &mut [T], Windows);

fn prepare<'a, T: Datum>(
    args: Args<'a>,
    is_biased: bool,
    kernel: Convolve<T>,
) -> Result<Launch<'a>, Mismatch> {
    let shape = Windows::of(&args)?;
    prepare_windows(args, is_biased, kernel, shape)
}

fn prepare_lines<'a, T: Datum>(
    args: Args<'a>,
    is_biased: bool,
    kernel: Convolve<T>,
) -> Result<Launch<'a>, Mismatch> {
    let shape = Windows::of_lines(&args)?;
    prepare_windows(args, is_biased, kernel, shape)
}

fn prepare_windows<'a, T: Datum>(
    mut args: Args<'a>,
    is_biased: bool,
    kernel: Convolve<T>,
    shape: Windows,
) -> Result<Launch<'a>, Mismatch> {
    let (x, w, mut y) = (args.take("x")?, args.take("w")?, args.take_out("y")?);
    let bias: Option<In<'a, T>> = if is_biased { Some(args.take("b")?) } else { None };
    Ok(Launch::new(move |cpu| {
        let bias: Option<&[T]> = match &bias {
            Some(bias) => Some(bias),
            None => None,
        };
        kernel(cpu, &x, &w, bias, &mut y, shape);
    }))
}
