//! `conv1d`: y[n,o,j] = sum over c and l of x[n,c,j·stride+l·dilation−pad] · w[o,c,l]: [`conv2d`](super::conv2d) of images of one
//! row. `conv1d.bias` adds b[o].

use super::conv2d::{
    self, DILATION, GROUPS, How, Layout, OUT, RIGHT, STRIDE, convolved, is_padded, mutant, turned,
};
use crate::operation::{Axis, Operation, Variant};
use crate::precision::Precision;

pub const OPERATION: Operation = Operation {
    name: "conv1d",
    also: &["conv-1d"],
    about: "y = the sums of products of a kernel with the windows of a line, NCL, in the accumulator",
    variants: &[
        Variant { name: "", about: "y[batch,out,·] from x[batch,channels,length] and w[out,·,kernel]" },
        Variant { name: "bias", about: "the same, with b[out] added" },
    ],
    precisions: Precision::FLOATS,
    axes: &[
        Axis::new("batch", "sets of lines").usually(1),
        OUT,
        Axis::new("length", "of a line"),
        Axis::new("kernel", "length of the kernel").usually(3),
        STRIDE,
        Axis::new("pad", "places before a line, and after it, that count for nothing").usually(0),
        DILATION,
        GROUPS,
        Axis::new("channels", "lines of a set"),
    ],
    legal: "kernel >= 1, stride >= 1, dilation >= 1, channels % groups == 0, out % groups == 0, \
            length + 2 * pad + dilation >= dilation * kernel + 1",
    mutants: &[
        mutant(
            "the kernel turned round",
            |_| true,
            |all, _, wanted| convolved(all, wanted, How { weight: turned, ..RIGHT }),
        ),
        mutant("one place of padding too few", is_padded, |all, _, wanted| {
            let steps = |layout: &Layout, at, of| {
                let [row, place] = layout.steps(at, of);
                [row, place + 1]
            };
            convolved(all, wanted, How { steps, ..RIGHT })
        }),
        mutant("the last element again beyond the right border", is_padded, |all, _, wanted| {
            let pixel = |layout: &Layout, [_, column]: [usize; 2]| {
                Some(column.checked_sub(layout.pad[1])?.min(layout.width.checked_sub(1)?))
            };
            convolved(all, wanted, How { pixel, ..RIGHT })
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
            "stride ignored",
            |case| case.axis("stride") > 1,
            |all, _, wanted| {
                let steps = |layout: &Layout, at, of| Layout { stride: 1, ..*layout }.steps(at, of);
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
        mutant(
            "the bias of the next channel",
            |case| case.variant == "bias",
            |all, _, wanted| convolved(all, wanted, How { bias: |layout, o| (o + 1) % layout.out, ..RIGHT }),
        ),
    ],
    ..conv2d::OPERATION
};
