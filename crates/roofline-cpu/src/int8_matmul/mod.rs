//! `int8-matmul`: C = (A·Bᵀ)·sa·sb, of codes in i8, with a scale for each tensor, `int8-matmul.row` for each row of A,
//! `int8-matmul.channel` for each row of A and of B.
//!
//! Sums are exact in i32; each becomes an f32 and is scaled there, and rounded once more to the type of C.

pub mod packed;
pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch, height, rungs};
use crate::{Args, Cpu, Element, Mismatch, Product, Scalar, bf16};

/// The kernels of one generic function, by the type of C.
macro_rules! scaled {
    ($kernel:expr) => {
        &[
            Kernel::new("i8-f32", |_, args| prepare::<f32>(args, $kernel)),
            Kernel::new("i8-bf16", |_, args| prepare::<bf16>(args, $kernel)),
        ]
    };
}

const PLAIN: Implementation = Implementation::plain("int8-matmul", scaled!(plain::int8_matmul));
const PACKED: Implementation = Implementation::new(
    "int8-matmul",
    "packed",
    "packed panels and a register tile, then a pass in lanes that scales",
    scaled!(packed::int8_matmul),
)
.vector();
const PARALLEL: Implementation = Implementation::new(
    "int8-matmul",
    "parallel",
    "the product on all threads, by tile registers where there are any, then a pass that scales, on all too",
    scaled!(packed::int8_matmul_parallel),
)
.vector()
.parallel();

/// The rungs, from the plain one up: the scales say which form it is.
pub const LADDER: &[Implementation] = &[
    PLAIN,
    PACKED,
    PARALLEL,
    PLAIN.form("int8-matmul.row"),
    PACKED.form("int8-matmul.row"),
    PARALLEL.form("int8-matmul.row"),
    PLAIN.form("int8-matmul.channel"),
    PACKED.form("int8-matmul.channel"),
    PARALLEL.form("int8-matmul.channel"),
];

/// The same for weights that are known beforehand.
pub const FIXED: &[Implementation] = &rungs::<{ height(LADDER) }>(LADDER, "int8-matmul.fixed");

/// The codes of a tensor of rows, and one scale for all of them or one for each row.
#[derive(Clone, Copy, Debug)]
pub struct Scaled<'a> {
    /// Row after row.
    pub codes: &'a [i8],
    /// What a code stands for is itself times its scale.
    pub scales: &'a [f32],
}

impl Scaled<'_> {
    /// The scale of a row.
    fn scale(&self, row: usize) -> f32 {
        if let [one] = self.scales { *one } else { self.scales[row] }
    }

    #[track_caller]
    fn check(&self, rows: usize) {
        assert!([1, rows].contains(&self.scales.len()), "one scale, or one for each of {rows} rows");
    }
}

type Multiply<O> = fn(&Cpu, Scaled, Scaled, &mut [O], Product);

fn prepare<'a, O: Scalar>(mut args: Args<'a>, kernel: Multiply<O>) -> Result<Launch<'a>, Mismatch> {
    let (a, b, mut c) = (args.take("a")?, args.take("b")?, args.take_out("c")?);
    let (sa, sb) = (args.take("sa")?, args.take("sb")?);
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    Ok(Launch::new(move |cpu| {
        let (a, b) = (Scaled { codes: &a, scales: &sa }, Scaled { codes: &b, scales: &sb });
        kernel(cpu, a, b, &mut c, shape);
    }))
}

/// C = (A·Bᵀ)·sa·sb, by the rung that suits processor and threads.
///
/// ```
/// use roofline_cpu::{Cpu, Product, int8_matmul, int8_matmul::Scaled};
///
/// let mut c = [0.0f32; 2];
/// let a = Scaled { codes: &[1, -2, 3], scales: &[0.5] };
/// let b = Scaled { codes: &[1, 0, 0, 1, 1, 1], scales: &[1.0, 10.0] };
/// int8_matmul(&Cpu::serial(), a, b, &mut c, Product { m: 1, n: 2, k: 3 });
/// assert_eq!(c, [0.5, 10.0]);
/// ```
pub fn int8_matmul<O: Element>(cpu: &Cpu, a: Scaled, b: Scaled, c: &mut [O], shape: Product) {
    packed::int8_matmul_parallel(cpu, a, b, c, shape);
}
