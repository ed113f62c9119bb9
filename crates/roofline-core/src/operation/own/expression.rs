//! Sizes as small expressions over axes: `rows`, `2 * cols`, `height - taps + 1`.

use super::words::{Word, Words};
use std::fmt;

/// Most axes and numbers of one expression.
const MOST_OPERANDS: usize = 16;

/// Products to be added and taken away, from the left.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    terms: Vec<(Step, Product)>,
}

type Product = Vec<(Step, Operand)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Plus,
    Minus,
    Times,
    /// Rounded down.
    Over,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Number(u32),
    Axis(String),
}

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Expression, String> {
        let mut words = Words::of(text)?;
        let expression = Expression::read(&mut words)?;
        match words.is_done() {
            true => Ok(expression),
            false => Err(format!("`{text}`: {} has no meaning here", words.place())),
        }
    }

    pub(super) fn read(words: &mut Words) -> Result<Expression, String> {
        let mut terms = vec![(Step::Plus, product(words)?)];
        loop {
            let step = match () {
                () if words.takes("+") => Step::Plus,
                () if words.takes("-") => Step::Minus,
                () => break,
            };
            terms.push((step, product(words)?));
        }
        let count: usize = terms.iter().map(|(_, product)| product.len()).sum();
        if count > MOST_OPERANDS {
            return Err(format!("an expression of {count} axes and numbers; {MOST_OPERANDS} is the limit"));
        }
        Ok(Expression { terms })
    }

    /// Its value; `None` where that is negative, passes every number, or a divisor is 0.
    pub fn value(&self, axis: &dyn Fn(&str) -> Option<u64>) -> Option<u64> {
        let operand = |operand: &Operand| match operand {
            Operand::Number(number) => Some(i128::from(*number)),
            Operand::Axis(name) => axis(name).map(i128::from),
        };
        let mut total = 0i128;
        for (step, product) in &self.terms {
            let mut value = 1i128;
            for (step, next) in product {
                let next = operand(next)?;
                value = match step {
                    Step::Over => value.checked_div(next)?,
                    _ => value.checked_mul(next)?,
                };
            }
            total = match step {
                Step::Minus => total.checked_sub(value)?,
                _ => total.checked_add(value)?,
            };
        }
        u64::try_from(total).ok()
    }

    /// The axes that it names, in order.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().flat_map(|(_, product)| product).filter_map(|(_, operand)| match operand {
            Operand::Axis(name) => Some(name.as_str()),
            Operand::Number(_) => None,
        })
    }

    /// The axis that it is, if it is nothing else.
    pub fn axis(&self) -> Option<&str> {
        match &self.terms[..] {
            [(_, product)] => match &product[..] {
                [(_, Operand::Axis(name))] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }
}

fn product(words: &mut Words) -> Result<Product, String> {
    let mut product = vec![(Step::Times, operand(words)?)];
    loop {
        let step = match () {
            () if words.takes("*") => Step::Times,
            () if words.takes("/") => Step::Over,
            () => return Ok(product),
        };
        product.push((step, operand(words)?));
    }
}

fn operand(words: &mut Words) -> Result<Operand, String> {
    let place = words.place();
    match words.next() {
        Some(Word::Name(name)) => Ok(Operand::Axis(name.to_owned())),
        Some(Word::Number(text)) => {
            let number =
                text.parse().map_err(|_| format!("`{text}` is not a whole number up to {}", u32::MAX));
            Ok(Operand::Number(number?))
        }
        _ => Err(format!("an axis or a number is missing before {place}")),
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |step: Step| match step {
            Step::Plus => " + ",
            Step::Minus => " - ",
            Step::Times => " * ",
            Step::Over => " / ",
        };
        for (index, (step, product)) in self.terms.iter().enumerate() {
            f.write_str(if index > 0 { sign(*step) } else { "" })?;
            for (index, (step, operand)) in product.iter().enumerate() {
                f.write_str(if index > 0 { sign(*step) } else { "" })?;
                match operand {
                    Operand::Number(number) => write!(f, "{number}")?,
                    Operand::Axis(name) => f.write_str(name)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<u64> {
        let axis = |name: &str| match name {
            "rows" => Some(7),
            "cols" => Some(3),
            "huge" => Some(u64::MAX),
            _ => None,
        };
        Expression::parse(text).unwrap().value(&axis)
    }

    #[test]
    fn expressions_have_the_value_that_they_say() {
        assert_eq!(value("rows"), Some(7));
        assert_eq!(value("2 * rows + cols - 1"), Some(16));
        assert_eq!(value("rows / 2 * cols"), Some(9));
        assert_eq!(value("rows-cols"), Some(4));
        assert_eq!(value("cols - rows"), None, "no size is negative");
        assert_eq!(value("rows / 0"), None);
        assert_eq!(value("huge * huge * huge"), None);
        assert_eq!(value("depth"), None);
        assert_eq!(Expression::parse("2*rows+cols - 1").unwrap().to_string(), "2 * rows + cols - 1");
    }

    #[test]
    fn texts_that_are_none_are_refused_with_their_place() {
        for (text, why) in [
            ("", "before the end"),
            ("rows +", "before the end"),
            ("rows cols", "`cols` has no meaning here"),
            ("Rows", "`R` has no meaning here"),
            ("rows ** 2", "before `*`"),
            ("99999999999", "not a whole number"),
            ("1.5", "not a whole number"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(Expression::parse("rows + ".repeat(20).trim_end_matches(" + ")).is_err());
    }
}
