//! `conv2d`: y[n,o,i,j] = sum over c, k, l of x[n,c,i·stride+k·dilation−pad,j·stride+l·dilation−pad] · w[o,c,k,l], as
//! neural networks have it: the kernel is not turned round. `conv2d.bias` adds b[o]; `conv2d.fixed` has a w that is known
//! beforehand.
//!
//! Channels are dealt to groups, and an output sees those of its own group; as many groups as channels is depthwise.
//! What lies outside of the image counts for nothing. In `f32+winograd`, kernels of three by three that go by steps of one may be
//! transformed. The axis that sums run along is the last, as k is in `matmul`.

mod winograd;

use super::matmul::{self, limit};
use crate::case::Case;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::product;
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Work, Wrong};
use crate::precision::Precision;
use crate::tensor::Tensor;
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "conv2d",
    also: &["conv-2d"],
    about: "y = the sums of products of a kernel with the windows of an image, NCHW, in the accumulator",
    variants: &[
        Variant {
            name: "",
            about: "y[batch,out,·,·] from x[batch,channels,height,width] and w[out,·,kernel,kernel]",
        },
        Variant { name: "bias", about: "the same, with b[out] added" },
        Variant {
            name: "fixed",
            about: "a w that is the same in every launch, without a bias: it may be packed",
        },
    ],
    axes: &[
        Axis::new("batch", "images").usually(1),
        OUT,
        Axis::new("height", "of the image"),
        Axis::new("width", "of the image"),
        Axis::new("kernel", "sides of the kernel").usually(3),
        STRIDE,
        Axis::new("pad", "rows and columns around the image that count for nothing").usually(0),
        DILATION,
        GROUPS,
        Axis::new("channels", "channels of the image"),
    ],
    params: &[],
    precisions: &[
        Precision::FLOATS[0],
        Precision::FLOATS[1],
        Precision::FLOATS[2],
        Precision::FLOATS[3],
        Precision::F32_WINOGRAD,
    ],
    // Of an infinite weight, kernels that write zeros around the image make NaN, and those that leave it out do not.
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: "kernel >= 1, stride >= 1, dilation >= 1, channels % groups == 0, out % groups == 0, \
            height + 2 * pad + dilation >= dilation * kernel + 1, width + 2 * pad + dilation >= dilation * kernel + 1",
    tensors,
    work,
    judged: judged(|all, _, wanted| match winograd::is_meant(all.case()) {
        true => winograd::convolved(all, wanted, winograd::RIGHT),
        false => convolved(all, wanted, RIGHT),
    }),
    mutants: &[
        mutant(
            "the kernel turned round",
            |_| true,
            |all, _, wanted| convolved(all, wanted, How { weight: turned, ..RIGHT }),
        ),
        mutant("the next row beyond the right border", is_padded, |all, _, wanted| {
            let pixel = |layout: &Layout, [row, column]: [usize; 2]| {
                let row = layout.inside(row, 0)?;
                let pixel = row * layout.width + column.checked_sub(layout.pad[1])?;
                (pixel < layout.plane()).then_some(pixel)
            };
            convolved(all, wanted, How { pixel, ..RIGHT })
        }),
        mutant("the last row again beyond the lower border", is_padded, |all, _, wanted| {
            let pixel = |layout: &Layout, [row, column]: [usize; 2]| {
                let row = row.checked_sub(layout.pad[0])?.min(layout.height.checked_sub(1)?);
                Some(row * layout.width + layout.inside(column, 1)?)
            };
            convolved(all, wanted, How { pixel, ..RIGHT })
        }),
        mutant("one row of padding too few", is_padded, |all, _, wanted| {
            let steps = |layout: &Layout, at, of| {
                let [row, column] = layout.steps(at, of);
                [row + 1, column]
            };
            convolved(all, wanted, How { steps, ..RIGHT })
        }),
        mutant(
            "dilation ignored",
            |case| case.axis("dilation") > 1,
            |all, _, wanted| {
                let steps = |layout: &Layout, at, of| Layout { dilation: 1, ..*layout }.steps(at, of);
                convolved(all, wanted, How { steps, ..RIGHT })
            },
        ),
        mutant(
            "stride ignored along rows",
            |case| case.axis("stride") > 1,
            |all, _, wanted| {
                let steps = |layout: &Layout, at, of| {
                    let column = Layout { stride: 1, ..*layout }.steps(at, of)[1];
                    [layout.steps(at, of)[0], column]
                };
                convolved(all, wanted, How { steps, ..RIGHT })
            },
        ),
        mutant(
            "channels of the first group",
            |case| case.axis("groups") > 1,
            |all, _, wanted| convolved(all, wanted, How { channel: |_, _, c| c, ..RIGHT }),
        ),
        mutant(
            "the last channel left out",
            |_| true,
            |all, _, wanted| {
                convolved(all, wanted, How { summed: |layout| layout.per_group.saturating_sub(1), ..RIGHT })
            },
        ),
        mutant("the corner of a tile transformed once, not twice", winograd::is_meant, |all, _, wanted| {
            winograd::convolved(all, wanted, winograd::How { halves: 0.5, ..winograd::RIGHT })
        }),
        mutant("the sum of a kernel not halved", winograd::is_meant, |all, _, wanted| {
            winograd::convolved(all, wanted, winograd::How { middle: 1.0, ..winograd::RIGHT })
        }),
        mutant(
            "the bias of the next channel",
            |case| case.variant == "bias",
            |all, _, wanted| convolved(all, wanted, How { bias: |layout, o| (o + 1) % layout.out, ..RIGHT }),
        ),
    ],
};

pub(super) const OUT: Axis = Axis::new("out", "channels of the outputs");
pub(super) const STRIDE: Axis = Axis::new("stride", "steps between windows").usually(1);
pub(super) const DILATION: Axis = Axis::new("dilation", "steps between the elements of a window").usually(1);
pub(super) const GROUPS: Axis = Axis::new("groups", "parts that channels are dealt to").usually(1);

pub(super) fn is_padded(case: &Case) -> bool {
    case.axis("pad") > 0
}

/// Where things lie. Of two numbers the first is down the image and the second across; a line is an image of one row.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub batch: usize,
    pub channels: usize,
    pub out: usize,
    pub height: usize,
    pub width: usize,
    pub kernel: [usize; 2],
    pub stride: usize,
    pub pad: [usize; 2],
    pub dilation: usize,
    /// Channels, and channels of outputs, of a group.
    pub per_group: usize,
    pub out_per_group: usize,
    /// Of an output.
    pub rows: usize,
    pub columns: usize,
}

impl Layout {
    fn of(case: &Case) -> Layout {
        let [batch, channels, out, kernel, stride] =
            ["batch", "channels", "out", "kernel", "stride"].map(|axis| case.axis(axis));
        let [pad, dilation, groups] = ["pad", "dilation", "groups"].map(|axis| case.axis(axis));
        let [height, width] = match is_line(case) {
            true => [1, case.axis("length")],
            false => ["height", "width"].map(|axis| case.axis(axis)),
        };
        let down = |of_image: usize, of_line: usize| if is_line(case) { of_line } else { of_image };
        let (kernel, pad) = ([down(kernel, 1), kernel], [down(pad, 0), pad]);
        let windows = |side: usize, length: usize| {
            let window = dilation.saturating_mul(kernel[side].saturating_sub(1)).saturating_add(1);
            let all = length.saturating_add(pad[side].saturating_mul(2));
            (all.saturating_sub(window) / stride.max(1)).saturating_add(1)
        };
        Layout {
            batch,
            channels,
            out,
            height,
            width,
            kernel,
            stride,
            pad,
            dilation,
            per_group: channels / groups.max(1),
            out_per_group: out / groups.max(1),
            rows: windows(0, height),
            columns: windows(1, width),
        }
    }

    /// Elements of a window in one channel.
    fn window(&self) -> usize {
        self.kernel[0].saturating_mul(self.kernel[1])
    }

    /// Of the image and of an output, down or across.
    fn side(&self, side: usize) -> [usize; 2] {
        [[self.height, self.rows], [self.width, self.columns]][side]
    }

    fn plane(&self) -> usize {
        self.height * self.width
    }

    /// Row and column of an element of a window, the padding counted.
    pub fn steps(&self, [i, j]: [usize; 2], [k, l]: [usize; 2]) -> [usize; 2] {
        [i * self.stride + k * self.dilation, j * self.stride + l * self.dilation]
    }

    /// A row or column of the image, if it is one.
    fn inside(&self, padded: usize, side: usize) -> Option<usize> {
        padded.checked_sub(self.pad[side]).filter(|place| *place < self.side(side)[0])
    }

    /// Image, channel, row and column of an output.
    fn place(&self, element: usize) -> [usize; 4] {
        let (row, column) = (element / self.columns, element % self.columns);
        let (plane, row) = (row / self.rows, row % self.rows);
        [plane / self.out, plane % self.out, row, column]
    }

    fn output(&self, [n, o, i, j]: [usize; 4]) -> usize {
        ((n * self.out + o) * self.rows + i) * self.columns + j
    }

    /// Pairs of an element of a window along one side and an output whose window has it inside the image.
    fn met(&self, side: usize) -> usize {
        let ([length, outputs], kernel, pad) = (self.side(side), self.kernel[side], self.pad[side]);
        // Of kernels so large that nobody counts, all.
        if kernel > 4096 {
            return kernel.saturating_mul(outputs);
        }
        let outputs_before = |place: usize, k: usize| {
            place.saturating_sub(k.saturating_mul(self.dilation)).div_ceil(self.stride.max(1)).min(outputs)
        };
        let met = |k| outputs_before(pad.saturating_add(length), k) - outputs_before(pad, k);
        (0..kernel).map(met).fold(0, usize::saturating_add)
    }

    /// Rows of outputs, or columns, whose windows have their element `k` inside the image.
    fn seeing(&self, k: usize, side: usize) -> Range<usize> {
        let outputs = self.side(side)[1];
        let sees = |i: &usize| self.inside(i * self.stride + k * self.dilation, side).is_some();
        let first = (0..outputs).find(sees).unwrap_or(outputs);
        first..(first..outputs).find(|i| !sees(i)).unwrap_or(outputs)
    }

    /// Rows of outputs, or columns, whose windows have this row of the image.
    fn seen_by(&self, place: usize, side: usize) -> Vec<usize> {
        let (kernel, pad) = (self.kernel[side], self.pad[side]);
        let steps = (0..kernel).filter_map(|k| (place + pad).checked_sub(k * self.dilation));
        let hits = steps.filter(|steps| steps.is_multiple_of(self.stride));
        hits.map(|steps| steps / self.stride).filter(|i| *i < self.side(side)[1]).collect()
    }
}

/// Whether an operation has lines in place of images.
fn is_line(case: &Case) -> bool {
    case.operation.axes.iter().any(|axis| axis.name == "length")
}

pub(super) fn tensors(case: &Case) -> Vec<Tensor> {
    let layout = Layout::of(case);
    let Layout { batch, channels, out, height, width, kernel, per_group, rows, columns, .. } = layout;
    let terms = per_group.saturating_mul(layout.window()).saturating_add(1);
    let limit = limit(case, terms);
    let dtype = case.dtype();
    // Steps that are longer than a window leave pixels out.
    let seen = |side: usize| {
        let [length, outputs] = layout.side(side);
        length.min(outputs.saturating_mul(kernel[side]))
    };
    let read = [batch, channels, seen(0), seen(1)].into_iter().fold(1, usize::saturating_mul);
    let shape = |[one, other, down, across]: [usize; 4]| match is_line(case) {
        true => vec![one, other, across],
        false => vec![one, other, down, across],
    };
    let [image, weights, outputs] = [
        [batch, channels, height, width],
        [out, per_group, kernel[0], kernel[1]],
        [batch, out, rows, columns],
    ]
    .map(shape);
    let mut tensors = vec![
        Tensor::input("x", dtype, &image).limit(limit).read_in_part(read),
        matmul::weights(case, Tensor::input("w", dtype, &weights).limit(limit)),
    ];
    if case.variant == "bias" {
        tensors.push(Tensor::input("b", dtype, &[out]).limit(limit));
    }
    tensors.push(Tensor::output("y", case.precision.output, &outputs));
    tensors
}

/// Products with pixels: what lies outside of the image need not be multiplied.
pub(super) fn work(case: &Case) -> Work {
    let layout = Layout::of(case);
    let Layout { batch, out, rows, columns, per_group, .. } = layout;
    let counts = Counts { multiply_adds: per_group as u64, ..Counts::default() };
    let [down, across] = [0, 1].map(|side| layout.met(side));
    let work = whole::work(case, counts, product(&[batch, out, down, across]));
    let biases = if case.variant == "bias" { product(&[batch, out, rows, columns]) } else { 0 };
    Work { simple: biases, ..work }
}

/// How a kernel goes about it: what mutants change.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// Row and column of an element of a window, the padding counted.
    pub steps: fn(&Layout, [usize; 2], [usize; 2]) -> [usize; 2],
    /// Its place in the image, if it has one.
    pub pixel: fn(&Layout, [usize; 2]) -> Option<usize>,
    /// The channel that number `c` of an output's is.
    pub channel: fn(&Layout, o: usize, c: usize) -> usize,
    /// Channels that are summed.
    pub summed: fn(&Layout) -> usize,
    /// Row and column of the kernel that those of a window meet.
    pub weight: fn(&Layout, [usize; 2]) -> [usize; 2],
    pub bias: fn(&Layout, o: usize) -> usize,
}

pub(super) const RIGHT: How = How {
    steps: Layout::steps,
    pixel: |layout, [row, column]| Some(layout.inside(row, 0)? * layout.width + layout.inside(column, 1)?),
    channel: |layout, o, c| o / layout.out_per_group * layout.per_group + c,
    summed: |layout| layout.per_group,
    weight: |_, place| place,
    bias: |_, o| o,
};

/// The kernel in the other order, as a convolution of mathematics has it.
pub(super) fn turned(layout: &Layout, [k, l]: [usize; 2]) -> [usize; 2] {
    [layout.kernel[0] - 1 - k, layout.kernel[1] - 1 - l]
}

/// The places in x and in w of the products of an output.
fn products(layout: &Layout, how: How, [n, o, i, j]: [usize; 4]) -> (Vec<usize>, Vec<usize>) {
    let [down, across] = layout.kernel;
    let places = (0..down).flat_map(|k| (0..across).map(move |l| [k, l]));
    let of_plane = places.filter_map(|[k, l]| {
        let pixel = (how.pixel)(layout, (how.steps)(layout, [i, j], [k, l]))?;
        let [k, l] = (how.weight)(layout, [k, l]);
        Some((pixel, k * across + l))
    });
    let of_plane: Vec<(usize, usize)> = of_plane.collect();
    let all = (0..(how.summed)(layout)).flat_map(|c| {
        let plane = (n * layout.channels + (how.channel)(layout, o, c)) * layout.plane();
        let weights = (o * layout.per_group + c) * layout.window();
        of_plane.iter().map(move |(pixel, weight)| (plane + pixel, weights + weight))
    });
    all.unzip()
}

/// The wanted elements, those beside each other whose windows have the same elements inside the image.
pub(super) fn convolved<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let layout = Layout::of(all.case());
    let is_biased = all.variant() == "bias";
    let mut convolved = Vec::with_capacity(wanted.len());
    // So many that what is held stays small.
    for some in wanted.chunks(64) {
        let windows = some.iter().map(|element| {
            let at = layout.place(*element);
            let (pixels, weights) = products(&layout, how, at);
            (at[1], weights, pixels)
        });
        let windows: Vec<(usize, Vec<usize>, Vec<usize>)> = windows.collect();
        for alike in windows.chunk_by(|one, next| one.0 == next.0 && one.1 == next.1) {
            let (o, weights, _) = &alike[0];
            // A kernel may begin its sum with the bias, or end it.
            let bias = is_biased.then(|| all.raw(2, (how.bias)(&layout, *o)));
            let read = |tensor: usize, first: Option<f64>, places: &[usize]| -> Vec<f64> {
                first.into_iter().chain(places.iter().map(|place| all.raw(tensor, *place))).collect()
            };
            let line = read(1, bias.map(|_| 1.0), weights);
            let others: Vec<Vec<f64>> = alike.iter().map(|(_, _, pixels)| read(0, bias, pixels)).collect();
            convolved.extend(all.dots_of(&line, &others));
        }
    }
    convolved
}

pub(super) const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach })
}

pub(super) const fn mutant(name: &'static str, of: fn(&Case) -> bool, formula: whole::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of, wrong: Wrong::Formula(judged(formula)) }
}

/// A pixel reaches the windows that it is in, for all outputs of its group; a weight those that it meets a pixel of, and
/// a bias its channel.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let layout = Layout::of(problem.case);
    let plane = layout.rows * layout.columns;
    match tensor {
        0 => {
            let (row, column) = (element / layout.width, element % layout.width);
            let (channel, row) = (row / layout.height, row % layout.height);
            let (n, group) = (channel / layout.channels, channel % layout.channels / layout.per_group);
            let rows = layout.seen_by(row, 0).into_iter();
            let columns = layout.seen_by(column, 1);
            let places = rows.flat_map(|i| columns.iter().map(move |j| [i, *j]));
            let reach = |[i, j]: [usize; 2]| {
                let first = layout.output([n, group * layout.out_per_group, i, j]);
                Reach { output: 0, first, step: plane, count: layout.out_per_group }
            };
            places.map(reach).collect()
        }
        1 => {
            let [down, across] = layout.kernel;
            let (k, l) = (element / across % down, element % across);
            let o = element / (layout.per_group * layout.window());
            let rows = layout.seeing(k, 0);
            let columns = layout.seeing(l, 1);
            let places = (0..layout.batch).flat_map(|n| rows.clone().map(move |i| (n, i)));
            let reach = |(n, i): (usize, usize)| {
                let first = layout.output([n, o, i, columns.start]);
                Reach { output: 0, first, step: 1, count: columns.len() }
            };
            places.filter(|_| !columns.is_empty()).map(reach).collect()
        }
        _ => {
            let of_image =
                |n| Reach { output: 0, first: layout.output([n, element, 0, 0]), step: 1, count: plane };
            (0..layout.batch).map(of_image).collect()
        }
    }
}
