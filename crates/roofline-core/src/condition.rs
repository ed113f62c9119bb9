//! What a kernel requires of a case: the sizes that it is right for, alignment, finite inputs, denormals.
//!
//! One line of text, clauses between commas or `and`:
//!
//! ```text
//! cols % 16 == 0, m >= 16, align 64, finite, flushes denormals
//! ```
//!
//! A clause about sizes compares two sums of products of axes and numbers; `%` stands where `*` does, and
//! what it leaves of a division by zero is no number. The same clauses say which sizes an operation allows.

mod near;

pub use near::{ENOUGH, suggestion};

use crate::case::Case;
use std::fmt;
use std::str::FromStr;

/// Longest text of a condition, in bytes.
pub const MOST_BYTES: usize = 500;
/// Most clauses about sizes.
pub const MOST_CLAUSES: usize = 16;
/// Most axes and numbers of one clause.
const MOST_OPERANDS: usize = 16;
/// Alignments that can be declared, in bytes. Those below an element's size mean that it may lie wherever elements do.
pub const ALIGNMENTS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// What a kernel requires. The empty one, which is the default, requires nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    pub sizes: Vec<Clause>,
    /// Every tensor begins at a multiple of so many bytes; where nothing is said, as the device has it.
    pub align: Option<usize>,
    /// No input is infinite or NaN.
    pub finite: bool,
    /// Numbers below the smallest normal one may be taken for zero.
    pub flushes_denormals: bool,
}

/// A comparison of sizes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clause {
    left: Sum,
    relation: Relation,
    right: Sum,
}

/// Products to be added.
type Sum = Vec<Product>;

/// The first operand, then the others with what is done to them, from the left.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Product {
    first: Operand,
    rest: Vec<(Step, Operand)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Times,
    Modulo,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operand {
    Number(u64),
    Axis(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    Equal,
    Unequal,
    AtLeast,
    AtMost,
    Above,
    Below,
}

impl Relation {
    /// Longer signs first, so that none is taken for its beginning.
    const ALL: [(Relation, &str); 6] = [
        (Relation::Equal, "=="),
        (Relation::Unequal, "!="),
        (Relation::AtLeast, ">="),
        (Relation::AtMost, "<="),
        (Relation::Above, ">"),
        (Relation::Below, "<"),
    ];

    fn sign(self) -> &'static str {
        Relation::ALL.iter().find(|(relation, _)| *relation == self).map_or("", |(_, sign)| sign)
    }

    fn holds(self, left: u128, right: u128) -> bool {
        match self {
            Relation::Equal => left == right,
            Relation::Unequal => left != right,
            Relation::AtLeast => left >= right,
            Relation::AtMost => left <= right,
            Relation::Above => left > right,
            Relation::Below => left < right,
        }
    }
}

/// Sizes by the names of their axes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes<'a> {
    pub names: &'a [&'a str],
    pub values: &'a [u64],
}

impl Sizes<'_> {
    fn get(&self, name: &str) -> Option<u64> {
        let place = self.names.iter().position(|known| *known == name)?;
        self.values.get(place).copied()
    }
}

impl Condition {
    pub fn is_empty(&self) -> bool {
        *self == Condition::default()
    }

    /// Whether the sizes fit; otherwise the first clause that does not hold, and what the sizes are:
    /// `needs cols % 16 == 0; cols is 1000`.
    pub fn holds(&self, sizes: Sizes) -> Result<(), String> {
        let Some(broken) = self.sizes.iter().find(|clause| !clause.holds(sizes)) else { return Ok(()) };
        let axes = broken.axes().map(|axis| match sizes.get(axis) {
            Some(size) => format!("{axis} is {size}"),
            None => format!("there is no axis {axis}"),
        });
        let mut axes: Vec<String> = axes.collect();
        axes.dedup();
        Err(format!("needs {broken}; {}", axes.join(", ")))
    }

    /// Whether a case fits, as [`Condition::holds`] says it.
    pub fn admits(&self, case: &Case) -> Result<(), String> {
        self.holds(Sizes { names: &case.operation.axis_names(), values: &case.sizes })
    }

    /// What shapes and places of tensors depend on: contents aside.
    pub fn ground(&self) -> Condition {
        Condition { finite: false, flushes_denormals: false, ..self.clone() }
    }

    /// Says which axis a condition names that is not among `names`.
    pub fn check_axes(&self, names: &[&str]) -> Result<(), String> {
        match self.sizes.iter().flat_map(Clause::axes).find(|axis| !names.contains(axis)) {
            Some(axis) => Err(format!("there is no axis `{axis}`; the axes are {}", names.join(", "))),
            None => Ok(()),
        }
    }

    /// What both require.
    pub fn and(&self, other: &Condition) -> Condition {
        let mut sizes = self.sizes.clone();
        sizes.extend(other.sizes.iter().filter(|clause| !self.sizes.contains(clause)).cloned());
        Condition {
            sizes,
            align: self.align.max(other.align),
            finite: self.finite || other.finite,
            flushes_denormals: self.flushes_denormals || other.flushes_denormals,
        }
    }
}

impl Clause {
    fn holds(&self, sizes: Sizes) -> bool {
        match (sum(&self.left, sizes), sum(&self.right, sizes)) {
            (Some(left), Some(right)) => self.relation.holds(left, right),
            _ => false,
        }
    }

    /// The axes that it names, in order.
    fn axes(&self) -> impl Iterator<Item = &str> {
        self.left.iter().chain(&self.right).flat_map(Product::operands).filter_map(|operand| match operand {
            Operand::Axis(name) => Some(name.as_str()),
            Operand::Number(_) => None,
        })
    }
}

impl Product {
    fn operands(&self) -> impl Iterator<Item = &Operand> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, operand)| operand))
    }
}

/// The value of a sum; `None` where it passes every number or divides by zero.
fn sum(products: &[Product], sizes: Sizes) -> Option<u128> {
    let value = |operand: &Operand| match operand {
        Operand::Number(number) => Some(u128::from(*number)),
        Operand::Axis(name) => sizes.get(name).map(u128::from),
    };
    products.iter().try_fold(0u128, |total, product| {
        let product = product.rest.iter().try_fold(value(&product.first)?, |left, (step, operand)| {
            let right = value(operand)?;
            match step {
                Step::Times => left.checked_mul(right),
                Step::Modulo => left.checked_rem(right),
            }
        })?;
        total.checked_add(product)
    })
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.sizes.iter().map(Clause::to_string);
        let align = self.align.map(|bytes| format!("align {bytes}"));
        let words = [(self.finite, FINITE), (self.flushes_denormals, FLUSHES)];
        let words = words.into_iter().filter(|(is_said, _)| *is_said).map(|(_, word)| word.to_owned());
        f.pad(&sizes.chain(align).chain(words).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_sum(f, &self.left)?;
        write!(f, " {} ", self.relation.sign())?;
        write_sum(f, &self.right)
    }
}

fn write_sum(f: &mut fmt::Formatter<'_>, products: &[Product]) -> fmt::Result {
    for (index, product) in products.iter().enumerate() {
        write!(f, "{}{}", if index > 0 { " + " } else { "" }, product.first)?;
        for (step, operand) in &product.rest {
            write!(f, " {} {operand}", if *step == Step::Times { '*' } else { '%' })?;
        }
    }
    Ok(())
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Number(number) => write!(f, "{number}"),
            Operand::Axis(name) => f.write_str(name),
        }
    }
}

const FINITE: &str = "finite";
const FLUSHES: &str = "flushes denormals";

/// Why a text is no condition, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("condition \"{}\": {why}", text.escape_debug())]
pub struct ConditionError {
    pub text: String,
    pub why: String,
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        parse(text).map_err(|why| ConditionError { text: text.chars().take(80).collect(), why })
    }
}

fn parse(text: &str) -> Result<Condition, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("has {} bytes; {MOST_BYTES} is the limit", text.len()));
    }
    let mut condition = Condition::default();
    if text.trim().is_empty() {
        return Ok(condition);
    }
    let words = words(text)?;
    for clause in words.split(|word| word == "," || word == "and") {
        match clause.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => return Err("a clause is empty; write for example \"cols % 16 == 0, align 64\"".to_owned()),
            ["finite"] => condition.finite = true,
            ["flushes", "denormals"] => condition.flushes_denormals = true,
            ["align", bytes] => {
                let found = ALIGNMENTS.into_iter().find(|known| known.to_string() == bytes);
                let why = || format!("`align {bytes}` is none of align 1, 2, 4 and so on to 128");
                condition.align = condition.align.max(Some(found.ok_or_else(why)?));
            }
            _ => condition.sizes.push(comparison(clause)?),
        }
    }
    if condition.sizes.len() > MOST_CLAUSES {
        return Err(format!(
            "has {} clauses about sizes; {MOST_CLAUSES} is the limit",
            condition.sizes.len()
        ));
    }
    Ok(condition)
}

/// Names, numbers and signs.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let signs = Relation::ALL.iter().map(|(_, sign)| *sign).chain([",", "*", "%", "+"]);
        let length = match signs.into_iter().find(|sign| rest.starts_with(sign)) {
            Some(sign) => sign.len(),
            None => {
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len())
            }
        };
        if length == 0 {
            return Err(format!("`{}` has no meaning here", first.escape_debug()));
        }
        let (word, after) = rest.split_at(length);
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Ok(words)
}

fn comparison(words: &[String]) -> Result<Clause, String> {
    let text = words.join(" ");
    let sign =
        |word: &String| Relation::ALL.iter().find(|(_, sign)| sign == word).map(|(relation, _)| *relation);
    let mut places = words.iter().enumerate().filter_map(|(place, word)| Some((place, sign(word)?)));
    let (Some((place, relation)), None) = (places.next(), places.next()) else {
        return Err(format!(
            "`{text}` is neither a comparison such as `cols % 16 == 0` nor `align 64`, `{FINITE}` or `{FLUSHES}`"
        ));
    };
    if words.len() > 2 * MOST_OPERANDS {
        return Err(format!("`{text}` compares more than {MOST_OPERANDS} axes and numbers"));
    }
    let side = |words: &[String]| -> Result<Sum, String> {
        words.split(|word| word == "+").map(|product| read_product(product, &text)).collect()
    };
    Ok(Clause { left: side(&words[..place])?, relation, right: side(&words[place + 1..])? })
}

fn read_product(words: &[String], clause: &str) -> Result<Product, String> {
    let lacks = || format!("`{clause}` lacks an axis or a number");
    let (first, rest) = words.split_first().ok_or_else(lacks)?;
    let rest = rest.chunks(2).map(|pair| match pair {
        [step, operand] if step == "*" => Ok((Step::Times, read_operand(operand)?)),
        [step, operand] if step == "%" => Ok((Step::Modulo, read_operand(operand)?)),
        [word, _] => Err(format!("`{clause}`: between two operands stands `*`, `%` or `+`, not `{word}`")),
        _ => Err(lacks()),
    });
    Ok(Product { first: read_operand(first)?, rest: rest.collect::<Result<_, String>>()? })
}

fn read_operand(word: &str) -> Result<Operand, String> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        let number = word.parse().ok().filter(|number| *number <= u64::from(u32::MAX));
        let why = || format!("`{word}` is not a whole number up to {}", u32::MAX);
        return Ok(Operand::Number(number.ok_or_else(why)?));
    }
    let is_axis = word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        && !["and", "align", "finite", "flushes", "denormals"].contains(&word);
    if is_axis { Ok(Operand::Axis(word.to_owned())) } else { Err(format!("`{word}` is not an axis")) }
}

#[cfg(test)]
mod tests;
