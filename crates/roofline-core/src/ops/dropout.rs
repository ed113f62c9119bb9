//! `dropout`: y = x · m / (1 - p), where m is 0 by lot; `dropout.free` with lots of the kernel's own.
//!
//! The lots of the plain form are those of [`keeps`], to the bit. Of free ones only so much is known: each element is
//! 0 or what is kept, and as many are kept as chance allows, in all and in each row and column. What becomes of an infinity that is dropped is left open.

use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::judge::score;
use crate::number::Number;
use crate::operation::family::{Element, elementwise};
use crate::operation::{Expected, Judged, Mutant, Operation, Param, Problem, Property, Variant, Wrong};
use crate::philox::philox;
use crate::tensor::{Content, Tensor, View};

pub const OPERATION: Operation = Operation {
    name: "dropout",
    about: "y = x · m / (1 - p), m being 0 with probability p and else 1",
    variants: &[
        Variant { name: "", about: "m from the seed, by Philox4x32-10" },
        Variant { name: "free", about: "m from any generator" },
    ],
    params: &[Param::new("p", "share that is dropped", 0.1, (0.0, 0.99))],
    fills: Fill::FINITE,
    tensors: |case| {
        let shape = [case.axis("rows"), case.axis("cols")];
        let mut tensors = vec![Tensor::input("x", case.dtype(), &shape)];
        if case.variant != "free" {
            tensors.push(Tensor::input("seed", Dtype::I32, &[2]).beside(&[1]).holding(Content::Seed));
        }
        tensors.push(Tensor::output("y", case.precision.output, &shape));
        tensors
    },
    work: |case| elementwise::work_by(case, kept),
    judged: Judged::Forms(&[
        ("", Judged::Elementwise(|e| if is_kept(e) { kept(e) } else { e.number(0.0) })),
        ("free", Judged::Property(Property { check, example })),
    ]),
    mutants: &[
        mutant("scaled by 1 - p", |e| if is_kept(e) { e.x(0) * (1.0 - e.param("p")) } else { e.number(0.0) }),
        mutant("not scaled", |e| if is_kept(e) { e.x(0) } else { e.number(0.0) }),
        mutant("mask inverted", |e| if is_kept(e) { e.number(0.0) } else { kept(e) }),
        mutant("nothing dropped", kept),
        mutant("everything dropped", |e| e.number(0.0)),
        of_seed("offset forgotten", |e| {
            if keeps([seed(e)[0], 0], e.index() as u64, e.param("p")) { kept(e) } else { e.number(0.0) }
        }),
        of_seed("one lot for four elements", |e| {
            if keeps(seed(e), e.index() as u64 / 4 * 4, e.param("p")) { kept(e) } else { e.number(0.0) }
        }),
        of_seed("a block for every element", |e| {
            if keeps(seed(e), e.index() as u64 * 4, e.param("p")) { kept(e) } else { e.number(0.0) }
        }),
    ],
    ..elementwise::UNARY
};

/// Whether element `index` is kept: whether its word of Philox4x32-10 is at least p · 2³², rounded.
///
/// Four elements share a block, in order: that of the counter (index div 4, low and high word, then `seed[1]` and 0)
/// under the key (`seed[0]`, 0).
///
/// ```
/// use roofline_core::ops::dropout::keeps;
///
/// let kept = (0..10_000).filter(|index| keeps([7, 1], *index, 0.1)).count();
/// assert!((8_900..9_100).contains(&kept));
/// ```
pub fn keeps(seed: [u32; 2], index: u64, p: f64) -> bool {
    let block = index / 4;
    let words = philox([block as u32, (block >> 32) as u32, seed[1], 0], u64::from(seed[0]));
    f64::from(words[(index % 4) as usize]) >= (p * 4_294_967_296.0).round()
}

fn is_kept(e: &Element) -> bool {
    keeps(seed(e), e.index() as u64, e.param("p"))
}

/// The seed, and one of the self-test's own where there is none.
fn seed(e: &Element) -> [u32; 2] {
    if e.variant() == "free" { SEED } else { [0, 1].map(|word| e.at(1, word) as i32 as u32) }
}

const SEED: [u32; 2] = [2, 9];

fn kept<'a>(e: &Element<'a>) -> Number<'a> {
    e.x(0) * (1.0 / (1.0 - e.param("p")))
}

/// Lots, and how many of them kept their element.
#[derive(Clone, Copy, Default)]
struct Tally {
    lots: f64,
    kept: f64,
}

impl Tally {
    fn count(&mut self, is_kept: bool) {
        self.lots += 1.0;
        self.kept += f64::from(u8::from(is_kept));
    }

    /// Whether chance keeps so many: within so many deviations, and a few lots more, for few lots spread wider.
    fn is_fair(&self, p: f64, deviations: f64) -> bool {
        let few = if p > 0.0 { deviations - 1.0 } else { 0.0 };
        let room = deviations * (self.lots * p * (1.0 - p)).sqrt() + few;
        (self.kept - self.lots * (1.0 - p)).abs() <= room
    }
}

/// Deviations that are chance in all elements together, and in any of many rows and columns.
const OF_ALL: f64 = 5.0;
const OF_LINES: f64 = 8.0;

fn check(problem: &Problem, outputs: &[View]) -> Result<(), String> {
    let (x, y, p) = (&problem.inputs[0], &outputs[0], problem.case.param("p"));
    let unit = problem.case.precision.accumulator.unit_roundoff();
    let (rows, cols) = (problem.case.axis("rows"), problem.case.axis("cols"));
    let mut all = Tally::default();
    let mut lines = vec![Tally::default(); rows + cols];
    for i in 0..y.elements() {
        let (value, got) = (x.get(i) / (1.0 - p), y.get(i));
        let expected = Expected { value, soft: 2.0 * unit * value.abs() };
        let is_kept = score(y.dtype, got, &expected, 1.0) <= 1.0;
        if !is_kept && got != 0.0 {
            return Err(format!("element {i} is {got}, which is neither 0 nor {value}"));
        }
        // What is 0 either way tells nothing.
        if !is_kept || got != 0.0 {
            all.count(is_kept);
            lines[i / cols].count(is_kept);
            lines[rows + i % cols].count(is_kept);
        }
    }
    let unfair = |tally: &Tally, of: String| {
        let Tally { lots, kept } = tally;
        Err(format!("{kept} of {lots} elements{of} are kept, which is no share of {}", 1.0 - p))
    };
    if !all.is_fair(p, OF_ALL) {
        return unfair(&all, String::new());
    }
    match lines.iter().position(|line| !line.is_fair(p, OF_LINES)) {
        Some(row) if row < rows => unfair(&lines[row], format!(" of row {row}")),
        Some(line) => unfair(&lines[line], format!(" of column {}", line - rows)),
        None => Ok(()),
    }
}

fn example(problem: &Problem) -> Vec<Vec<f64>> {
    let (x, p) = (&problem.inputs[0], problem.case.param("p"));
    let y = |i: usize| if keeps(SEED, i as u64, p) { x.get(i) / (1.0 - p) } else { 0.0 };
    vec![(0..x.elements()).map(y).collect()]
}

const fn mutant(name: &'static str, formula: elementwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Uniform, wrong: Wrong::Formula(Judged::Elementwise(formula)), of: |_| true }
}

/// A mask of other lots than the seed's.
const fn of_seed(name: &'static str, formula: elementwise::Formula) -> Mutant {
    Mutant { of: |case| case.variant != "free", ..mutant(name, formula) }
}
