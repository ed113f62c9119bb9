//! The tensors of an operation in one line: `a[rows, cols], x[cols] -> y[rows]`.
//!
//! Behind the brackets may stand a type of the tensor's own (`f32`), `constant` for an input that preparation may
//! pack, `within LOW HIGH` for inputs of a domain, and `limit MOST` for the largest magnitude.

use super::expression::Expression;
use super::words::{Word, Words};
use crate::dtype::Dtype;
use crate::tensor::Role;

/// Most tensors of an operation, and most dimensions of a tensor.
const MOST_TENSORS: usize = 8;
const MOST_DIMENSIONS: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Signature {
    /// Inputs, then outputs.
    pub(super) tensors: Vec<Declared>,
}

/// One tensor as it was declared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) dimensions: Vec<Expression>,
    /// Its own type, where it is not the case's.
    pub(super) dtype: Option<Dtype>,
    pub(super) within: Option<(f64, f64)>,
    pub(super) limit: Option<f64>,
}

impl Declared {
    pub(super) fn is_input(&self) -> bool {
        self.role.is_input()
    }
}

impl Signature {
    pub(super) fn parse(text: &str) -> Result<Signature, String> {
        let mut words = Words::of(text)?;
        let mut tensors = Vec::new();
        side(&mut words, Role::Input, &mut tensors)?;
        let has_arrow = words.takes("->");
        if !has_arrow {
            return Err(format!("`->` and the outputs are missing before {}", words.place()));
        }
        side(&mut words, Role::Output, &mut tensors)?;
        if !words.is_done() {
            return Err(format!("{} has no meaning here; tensors stand between commas", words.place()));
        }
        if tensors.len() > MOST_TENSORS {
            return Err(format!("{} tensors; {MOST_TENSORS} is the limit", tensors.len()));
        }
        for (index, tensor) in tensors.iter().enumerate() {
            if tensors[..index].iter().any(|other: &Declared| other.name == tensor.name) {
                return Err(format!("two tensors are called `{}`", tensor.name));
            }
        }
        Ok(Signature { tensors })
    }

    /// Axes in the order in which they are first named.
    pub(super) fn axes(&self) -> Vec<&str> {
        let mut axes = Vec::new();
        let dimensions = self.tensors.iter().flat_map(|tensor| &tensor.dimensions);
        for axis in dimensions.flat_map(Expression::axes) {
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
        axes
    }

    pub(super) fn inputs(&self) -> impl Iterator<Item = &Declared> {
        self.tensors.iter().filter(|tensor| tensor.is_input())
    }

    pub(super) fn outputs(&self) -> impl Iterator<Item = &Declared> {
        self.tensors.iter().filter(|tensor| !tensor.is_input())
    }
}

/// The tensors on one side of the arrow.
fn side(words: &mut Words, role: Role, tensors: &mut Vec<Declared>) -> Result<(), String> {
    loop {
        tensors.push(tensor(words, role)?);
        if !words.takes(",") {
            return Ok(());
        }
    }
}

fn tensor(words: &mut Words, role: Role) -> Result<Declared, String> {
    let name = words.name("the name of a tensor")?.to_owned();
    let of_tensor = |why: String| format!("tensor `{name}`: {why}");
    words.needs("[").map_err(of_tensor)?;
    let mut dimensions = Vec::new();
    if words.takes("]") {
        return Err(of_tensor("it has no dimension; a single number is `[1]`".to_owned()));
    }
    loop {
        dimensions.push(Expression::read(words).map_err(of_tensor)?);
        if !words.takes(",") {
            break;
        }
    }
    words.needs("]").map_err(of_tensor)?;
    if dimensions.len() > MOST_DIMENSIONS {
        let why = format!("{} dimensions; {MOST_DIMENSIONS} is the limit", dimensions.len());
        return Err(of_tensor(why));
    }
    let mut declared =
        Declared { name: name.clone(), role, dimensions, dtype: None, within: None, limit: None };
    while let Some(Word::Name(word)) = words.peek().cloned() {
        words.next();
        attribute(&mut declared, word, words).map_err(of_tensor)?;
    }
    Ok(declared)
}

/// What stands behind the brackets.
fn attribute(tensor: &mut Declared, word: &str, words: &mut Words) -> Result<(), String> {
    let is_input = tensor.is_input();
    match word {
        "constant" if is_input => tensor.role = Role::Constant,
        "within" if is_input => {
            let (low, high) = (words.number()?, words.number()?);
            if low >= high {
                return Err(format!("`within {low} {high}` has nothing in it"));
            }
            tensor.within = Some((low, high));
        }
        "limit" if is_input => {
            let limit = words.number()?;
            if limit <= 0.0 {
                return Err(format!("`limit {limit}` is not above 0"));
            }
            tensor.limit = Some(limit);
        }
        "constant" | "within" | "limit" => return Err(format!("`{word}` is for inputs")),
        word => {
            let dtype = word.parse::<Dtype>().map_err(|_| {
                format!("`{word}` is neither a type nor `constant`, `within LOW HIGH` or `limit MOST`")
            })?;
            tensor.dtype = Some(dtype);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_tensors_with_their_axes() {
        let signature =
            Signature::parse("a[rows, cols] constant, x[2*cols] f32 within -1 1e3 -> y[rows]").unwrap();
        assert_eq!(signature.axes(), ["rows", "cols"]);
        let [a, x, y] = &signature.tensors[..] else { panic!("three tensors") };
        assert_eq!((a.role, a.dimensions.len(), a.dtype), (Role::Constant, 2, None));
        assert_eq!((x.within, x.dtype), (Some((-1.0, 1000.0)), Some(Dtype::F32)));
        assert_eq!((y.name.as_str(), y.role), ("y", Role::Output));
        assert_eq!(signature.inputs().count(), 2);
        assert_eq!(signature.outputs().count(), 1);
    }

    #[test]
    fn lines_that_are_none_are_refused_with_the_word() {
        for (text, why) in [
            ("", "the name of a tensor is missing before the end"),
            ("a[rows]", "`->` and the outputs are missing"),
            ("a[rows] ->", "the name of a tensor"),
            ("a[rows -> y[rows]", "`]` is missing before `->`"),
            ("a[] -> y[rows]", "a single number is `[1]`"),
            ("a rows -> y[rows]", "`[` is missing before `rows`"),
            ("a[rows], a[rows] -> y[rows]", "two tensors are called `a`"),
            ("a[rows] float -> y[rows]", "`float` is neither a type"),
            ("a[rows] -> y[rows] constant", "`constant` is for inputs"),
            ("a[rows] within 3 1 -> y[rows]", "has nothing in it"),
            ("a[rows] -> y[rows] ]", "`]` has no meaning here"),
            ("A[rows] -> y[rows]", "`A` has no meaning here"),
            ("a[n,n,n,n,n,n,n,n,n] -> y[n]", "9 dimensions"),
        ] {
            let error = Signature::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let many = format!("{} -> y[n]", (0..20).map(|i| format!("a{i}[n]")).collect::<Vec<_>>().join(", "));
        assert!(Signature::parse(&many).unwrap_err().contains("21 tensors"));
    }
}
