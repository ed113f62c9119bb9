//! `broadcast-add`: z = x + y, where x is the same along one of three dimensions.

use super::add;
use crate::operation::{Axis, Operation, Variant};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "broadcast-add",
    about: "z = x + y, x stretched along one dimension",
    variants: &[
        Variant { name: "", about: "x[outer,1,inner] + y[outer,middle,inner]" },
        Variant { name: "last", about: "x[outer,middle,1] + y[outer,middle,inner]" },
        Variant { name: "first", about: "x[1,middle,inner] + y[outer,middle,inner]" },
    ],
    axes: &[
        Axis::new("outer", "first dimension of z"),
        Axis::new("middle", "second dimension of z"),
        Axis::new("inner", "last dimension of z"),
    ],
    tensors: |case| {
        let shape = [case.axis("outer"), case.axis("middle"), case.axis("inner")];
        let mut stretched = shape;
        let along = match case.variant {
            "last" => 2,
            "first" => 0,
            _ => 1,
        };
        stretched[along] = 1;
        vec![
            Tensor::input("x", case.dtype(), &stretched),
            Tensor::input("y", case.dtype(), &shape),
            Tensor::output("z", case.precision.output, &shape),
        ]
    },
    ..add::OPERATION
};
