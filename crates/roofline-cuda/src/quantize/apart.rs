//! Codes whose scales are found in a launch of their own, before that of the codes: one scale for the tensor, `quantize.tensor`;
//! codes that share bytes, `quantize-int4` and those of four bits of `mx-quantize`; and `quantize-u8`, with a code of zero.

use super::Groups;
use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::reduce::cut_rows;
use crate::shape::{Rows, blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::{SCRATCH_BLOCKS, Stream};
use crate::{bf16, f16};

macro_rules! source {
    ($name:literal) => {
        Source {
            file: concat!("quantize/", $name, ".cu"),
            text: include_str!(concat!($name, ".cu")),
            entry: concat!("quantize_", $name),
        }
    };
}
const PLAIN: Source = source!("apart_plain");
const SCALES: Source = source!("apart_scales");
const SCALE: Source = source!("apart_scale");
const CODES: Source = source!("apart_codes");

const THREADS: u32 = 256;
/// Elements a thread that makes codes.
const EACH: usize = 8;
/// Blocks a multiprocessor that walk through a tensor together.
const RESIDENT: usize = 6;

/// What scales and codes of an operation are, in terms of `apart.cuh`.
#[derive(Clone, Copy, Debug)]
pub struct Coding {
    pub operation: &'static str,
    groups: Groups,
    paired: bool,
    /// Ends are looked for, and there is a code of zero.
    signed: bool,
    /// The tensor has a scale of its own, which is given.
    has_tensor: bool,
    of_scale: &'static str,
    scale: &'static str,
    divisor: &'static str,
    code: &'static str,
}

const TENSOR: Coding = Coding {
    operation: "quantize.tensor",
    groups: Groups::Tensor,
    paired: false,
    signed: false,
    has_tensor: false,
    of_scale: "float",
    scale: "most==0.0f?1.0f:most/127.0f",
    divisor: "scale",
    code: "whole_of(rintf(x/divisor),-127.0f,127.0f)",
};
const INT4: Coding = Coding {
    operation: "quantize-int4",
    groups: Groups::Rows,
    paired: true,
    scale: "most==0.0f?1.0f:most/7.0f",
    code: "whole_of(rintf(x/divisor),-7.0f,7.0f)",
    ..TENSOR
};
const U8: Coding = Coding {
    operation: "quantize-u8",
    groups: Groups::Rows,
    signed: true,
    scale: "most==least?1.0f:(most-least)/255.0f",
    code: "whole_of(rintf(x/divisor)+(float)zero,0.0f,255.0f)",
    ..TENSOR
};
const FP4: Coding = Coding {
    operation: "mx-quantize.fp4",
    groups: Groups::Of(32),
    paired: true,
    of_scale: "unsigned char",
    scale: "power_for_six(most)",
    divisor: "power_value(scale)",
    code: "fp4_of(x/divisor)",
    ..TENSOR
};

/// Every operation that the machinery has.
pub const CODINGS: &[Coding] = &[
    TENSOR,
    Coding {
        operation: "quantize.tensor-away",
        code: "whole_of(roundf(x/divisor),-127.0f,127.0f)",
        ..TENSOR
    },
    INT4,
    Coding { operation: "quantize-int4.block", groups: Groups::Blocks, ..INT4 },
    U8,
    Coding { operation: "quantize-u8.tensor", groups: Groups::Tensor, ..U8 },
    FP4,
    Coding {
        operation: "mx-quantize.nvfp4",
        groups: Groups::Of(16),
        has_tensor: true,
        scale: "fp8_of<3>(fminf(most/6.0f/all,448.0f))",
        divisor: "e4m3_value(scale)*all",
        code: "divisor==0.0f?0:fp4_of(x/divisor)",
        ..FP4
    },
];

/// Two rungs of every form.
pub const LADDER: [Implementation; 2 * CODINGS.len()] = {
    let plain = Implementation::new("", "plain", "a block a group, then one thread a byte", PLAIN, by_row);
    let plain = plain.slow(|row, _| variants(row, |of| of.plain_cuts()));
    let about = "scales in one launch, sixteen bytes an access; codes in another, eight a thread";
    let shared = Implementation::new("", "shared", about, CODES, by_row);
    let shared = shared.fast(|row, _| variants(row, |_| vec![vec![("THREADS", THREADS)]]));
    ladder!(CODINGS, of => of.row(plain), of.row(shared))
};

/// What finds scales for the fast rungs, which are the same of many: compiled and tested, and offered to nobody.
pub const HELPERS: &[Implementation] = &[
    Implementation::helper("", "scales of groups", "threads share a group", SCALES, |_, _| {
        let cut = |cols| cut_rows(9, cols, 8).map_or(Vec::new(), |(constants, _)| constants);
        let cuts = [20, 1000, 8191].map(cut);
        [INT4, U8, FP4].iter().flat_map(|of| cuts.iter().flat_map(|cut| of.variants(cut))).collect()
    }),
    Implementation::helper("", "scale of a tensor", "all blocks share it", SCALE, |_, _| {
        [TENSOR, U8].iter().flat_map(|of| of.variants(&scale_cut())).collect()
    }),
];

fn scale_cut() -> [(&'static str, u32); 2] {
    [("THREADS", THREADS), ("PACKS", 8)]
}

fn variants(row: &Implementation, cuts: impl Fn(&Coding) -> Vec<Vec<(&'static str, u32)>>) -> Vec<Variant> {
    let Some(of) = Coding::find(row.operation) else { return Vec::new() };
    let all = cuts(of).into_iter().flat_map(|cut| of.variants(&cut).into_iter().take(row.precisions.len()));
    all.collect()
}

impl Coding {
    /// That of an operation.
    pub fn find(operation: &str) -> Option<&'static Coding> {
        CODINGS.iter().find(|coding| coding.operation == operation)
    }

    /// A rung of it.
    const fn row(&self, rung: Implementation) -> Implementation {
        let params: &[&str] = if matches!(self.groups, Groups::Blocks) { &["block"] } else { &[] };
        let precisions: &[&str] = if self.signed { &["f32"] } else { rung.precisions };
        rung.form(self.operation).params(params).precisions(precisions)
    }

    fn variant<T: Element>(&self, constants: &[(&'static str, u32)]) -> Variant {
        let own = [
            ("PAIRED", u32::from(self.paired)),
            ("SIGNED", u32::from(self.signed)),
            ("HAS_TENSOR", u32::from(self.has_tensor)),
        ];
        let variant = Variant::of::<T>(&[own.as_slice(), constants].concat());
        let variant = variant.with("Scale", self.of_scale).with("SCALE", self.scale);
        variant.with("DIVISOR", self.divisor).with("CODE", self.code)
    }

    fn variants(&self, constants: &[(&'static str, u32)]) -> Vec<Variant> {
        vec![self.variant::<f32>(constants), self.variant::<bf16>(constants), self.variant::<f16>(constants)]
    }

    fn plain_cuts(&self) -> Vec<Vec<(&'static str, u32)>> {
        [1, 0].map(|scales| vec![("SCALES", scales), ("THREADS", THREADS)]).to_vec()
    }

    fn of_scale(&self) -> usize {
        if self.of_scale == "float" { size_of::<f32>() } else { 1 }
    }
}

/// Outputs as bytes: codes, scales, and codes of zero where there are some.
#[derive(Debug)]
pub struct Codes<'a> {
    pub q: DeviceSliceMut<'a, u8>,
    pub s: DeviceSliceMut<'a, u8>,
    pub z: Option<DeviceSliceMut<'a, u8>>,
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let missing = || CudaError::Missing { kind: "coding", name: row.operation.to_owned() };
    let of = Coding::find(row.operation).ok_or_else(missing)?;
    let block = if of.groups == Groups::Blocks { args.value("block")? as usize } else { 0 };
    let t = if of.has_tensor { Some(args.take("t")?) } else { None };
    let (q, s) = (args.take_out("q")?, args.take_out("s")?);
    let z = if of.signed { Some(args.take_out("z")?) } else { None };
    launch(stream, of, row.fast, args.take::<T>("x")?, t, Codes { q, s, z }, args.rows()?, block)
}

/// Codes and scales, by the fastest rung. `t` is the scale of the tensor where the coding asks for one, `block` that of the
/// forms with blocks of any size.
pub fn quantize_apart<T: Element>(
    stream: &Stream,
    coding: &Coding,
    x: DeviceSlice<'_, T>,
    t: Option<DeviceSlice<'_, f32>>,
    codes: Codes<'_>,
    shape: Rows,
    block: usize,
) -> Result<()> {
    launch(stream, coding, true, x, t, codes, shape, block)
}

#[expect(clippy::too_many_arguments, reason = "rung beside the arguments of `quantize_apart`")]
fn launch<T: Element>(
    stream: &Stream,
    coding: &Coding,
    fast: bool,
    x: DeviceSlice<'_, T>,
    t: Option<DeviceSlice<'_, f32>>,
    Codes { q, s, z }: Codes<'_>,
    shape: Rows,
    block: usize,
) -> Result<()> {
    let is_tensor = coding.groups == Groups::Tensor;
    // A tensor is one row, of one group.
    let shape = if is_tensor { Rows { rows: 1, cols: shape.elements()? } } else { shape };
    let cut = coding.groups.of(shape, block)?;
    let groups = cut.groups()?;
    // Kernels count groups with 32 bits.
    blocks("groups", groups)?;
    let of_line = shape.cols.div_ceil(if coding.paired { 2 } else { 1 });
    let bytes = product("bytes of codes", shape.rows, of_line)?;
    length("x", x.len(), shape.elements()?)?;
    length("q in bytes", q.len(), bytes)?;
    length("s in bytes", s.len(), product("bytes of scales", groups, coding.of_scale())?)?;
    length("z", z.as_ref().map_or(0, |z| z.len()), if coding.signed { groups } else { 0 })?;
    length("t", t.map_or(0, |t| t.len()), usize::from(coding.has_tensor))?;
    if !s.address().is_multiple_of(coding.of_scale() as u64) {
        return Err(CudaError::Unsupported("scales at an address that none has".to_owned()));
    }
    if groups == 0 {
        return Ok(());
    }
    let (t, z) = (t.map_or(x.address(), |t| t.address()), z.map_or(q.address(), |z| z.address()));
    let addresses = [x.address(), t, q.address(), s.address(), z, stream.scratch()?].map(Argument::Address);
    let sizes = [shape.rows, shape.cols, cut.shared, cut.of_row].map(|size| Argument::I64(size as i64));
    let arguments = [addresses.as_slice(), &sizes].concat();
    let run = |source: &Source, constants: &[(&'static str, u32)], geometry: Geometry| {
        let kernel = stream.device().kernel(source, &coding.variant::<T>(constants))?;
        kernel.launch(stream, &geometry, &arguments)
    };
    let line = |what, count: usize| Ok::<_, CudaError>(Geometry::line(blocks(what, count)?, THREADS));
    let codes = |each: usize| {
        let threads = product("threads", shape.rows, shape.cols.div_ceil(each))?;
        line("codes", threads.div_ceil(THREADS as usize))
    };
    if !fast {
        let [scales, of_codes] = &coding.plain_cuts()[..] else { return Ok(()) };
        run(&PLAIN, scales, line("groups", groups)?)?;
        let each = if coding.paired { 2 } else { 1 };
        return if bytes == 0 { Ok(()) } else { run(&PLAIN, of_codes, codes(each)?) };
    }
    if is_tensor {
        let multiprocessors = stream.device().info().multiprocessors;
        let packs = (x.len() + T::PER_PACK - 1).div_ceil(T::PER_PACK * THREADS as usize * 8);
        let grid = packs.clamp(1, (RESIDENT * multiprocessors).clamp(1, SCRATCH_BLOCKS));
        run(&SCALE, &scale_cut(), Geometry::line(grid as u32, THREADS))?;
    } else {
        let (constants, geometry) = cut_rows(groups, cut.shared, T::PER_PACK)?;
        run(&SCALES, &constants, geometry)?;
    }
    if bytes == 0 { Ok(()) } else { run(&CODES, &[("THREADS", THREADS)], codes(EACH)?) }
}
