//! Movements that keep lines together, a line each.

use crate::args::Args;
use crate::error::Result;
use crate::shape::product;

/// An operation that moves elements.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// With its variant: `permute.102`.
    pub operation: &'static str,
    pub inputs: &'static [&'static str],
    pub outputs: &'static [&'static str],
    /// A function of `maps.cuh`.
    pub map: &'static str,
    /// Whether the second input is not moved but added, element by element.
    pub adds: bool,
    pub sizes: fn(&Args<'_>) -> Result<Sizes>,
}

/// Lengths of the tensors, and the two numbers that a map is given.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub inputs: [usize; 2],
    pub outputs: [usize; 2],
    pub p: usize,
    pub q: usize,
}

const fn unary(operation: &'static str, map: &'static str, sizes: fn(&Args<'_>) -> Result<Sizes>) -> Form {
    Form { operation, inputs: &["x"], outputs: &["y"], map, adds: false, sizes }
}

const fn binary(operation: &'static str, map: &'static str, sizes: fn(&Args<'_>) -> Result<Sizes>) -> Form {
    Form { inputs: &["x", "y"], outputs: &["z"], ..unary(operation, map, sizes) }
}

const fn stretched(
    operation: &'static str,
    map: &'static str,
    sizes: fn(&Args<'_>) -> Result<Sizes>,
) -> Form {
    Form { adds: true, ..binary(operation, map, sizes) }
}

/// Every operation that the engine has.
pub const FORMS: &[Form] = &[
    unary("copy", "same", |args| Ok(alike(args.rows()?.elements()?))),
    unary("reshape", "same", |args| Ok(alike(args.rows()?.elements()?))),
    unary("expand", "repeated", |args| {
        let (n, copies) = (args.rows()?.elements()?, args.axis("copies")?);
        Ok(Sizes { outputs: [product("elements of all copies", n, copies)?; 2], p: n, ..alike(n) })
    }),
    unary("permute.102", "exchanged", |args| {
        let [a, b, c] = three(args, ["a", "b", "c"])?;
        Ok(Sizes { p: a, q: b, ..alike(cube(a, b, c)?) })
    }),
    binary("stack", "after_another", |args| {
        let n = args.rows()?.elements()?;
        Ok(Sizes { outputs: [product("elements of both", n, 2)?; 2], p: n, ..alike(n) })
    }),
    binary("cat", "side_by_side", |args| {
        let [whole, first, second, p, q] = parts(args)?;
        Ok(Sizes { inputs: [first, second], outputs: [whole; 2], p, q })
    }),
    Form {
        outputs: &["y", "z"],
        ..unary("split", "apart", |args| {
            let [whole, first, second, p, q] = parts(args)?;
            Ok(Sizes { inputs: [whole; 2], outputs: [first, second], p, q })
        })
    },
    stretched("broadcast-add", "stretched", |args| {
        let [outer, middle, inner] = three(args, ["outer", "middle", "inner"])?;
        let (n, x) = (cube(outer, middle, inner)?, product("elements of x", outer, inner)?);
        Ok(Sizes { inputs: [x, n], p: middle, q: inner, ..alike(n) })
    }),
    stretched("broadcast-add.last", "stretched_last", |args| {
        let [outer, middle, inner] = three(args, ["outer", "middle", "inner"])?;
        let (n, x) = (cube(outer, middle, inner)?, product("elements of x", outer, middle)?);
        Ok(Sizes { inputs: [x, n], q: inner, ..alike(n) })
    }),
    stretched("broadcast-add.first", "repeated", |args| {
        let [outer, middle, inner] = three(args, ["outer", "middle", "inner"])?;
        let (n, x) = (cube(outer, middle, inner)?, product("elements of x", middle, inner)?);
        Ok(Sizes { inputs: [x, n], p: x, ..alike(n) })
    }),
];

/// All tensors of one length.
fn alike(n: usize) -> Sizes {
    Sizes { inputs: [n; 2], outputs: [n; 2], p: 1, q: 1 }
}

pub(super) fn three(args: &Args<'_>, names: [&str; 3]) -> Result<[usize; 3]> {
    Ok([args.axis(names[0])?, args.axis(names[1])?, args.axis(names[2])?])
}

pub(super) fn cube(a: usize, b: usize, c: usize) -> Result<usize> {
    product("elements", product("elements", a, b)?, c)
}

/// Elements of the whole and of both parts, and columns of the parts.
fn parts(args: &Args<'_>) -> Result<[usize; 5]> {
    let [rows, p, q] = three(args, ["rows", "cols", "more"])?;
    let of = |cols| product("elements of a part", rows, cols);
    Ok([of(p + q)?, of(p)?, of(q)?, p, q])
}
