//! The protocol as the core's nouns meet it: what a case asks of a runner, and what of a runner's answer can be meant.
//!
//! The messages themselves are a crate of their own, so that runners need not carry the operations that they are judged by.

use crate::case::Case;
use crate::condition::Condition;
use crate::operation::{Operation, Param};
use crate::tensor::Tensor;

mod answer;

pub use answer::{Answerable, Breach, Done, parse_answer};
pub use roofline_protocol::BENCH_MARK;
pub use roofline_protocol::declaration::{Declaration, Purpose};
pub use roofline_protocol::device;
pub use roofline_protocol::messages::*;

impl Case {
    /// What an implementation is asked to prepare for, on one thread and no core of its own.
    pub fn question(&self, implementation: &str, tensors: Vec<Place>) -> Prepare {
        Prepare {
            case: self.to_string(),
            operation: self.operation.name.to_owned(),
            variant: self.variant.to_owned(),
            precision: self.precision.id.to_owned(),
            dtype: self.dtype(),
            accumulator: self.precision.accumulator.name.to_owned(),
            axes: self.axes(),
            params: self.params(),
            implementation: implementation.to_owned(),
            device: self.device.to_string(),
            threads: 1,
            cores: Vec::new(),
            purpose: None,
            work: None,
            tensors,
        }
    }

    /// Whether an offer has its precision and parameters; otherwise what that lacks.
    pub fn is_taken_by(&self, offer: &Offer) -> Result<(), String> {
        if !offer.dtypes.iter().any(|id| id == self.precision.id) {
            return Err(format!("does not offer {} in {}", self.form(), self.precision));
        }
        let takes =
            |param: &Param| !param.words.is_empty() || offer.params.iter().any(|name| name == param.name);
        let lacking = self.given().find(|(param, _)| !takes(param));
        match lacking {
            Some((param, _)) => Err(format!("takes no `{}` but {}", param.name, param.text(param.default))),
            None => Ok(()),
        }
    }
}

impl Tensor {
    /// Where it lies, at `offset` of a file of `size` bytes that comes as a descriptor.
    pub fn place(&self, offset: usize, size: usize) -> Place {
        Place {
            name: self.name.to_owned(),
            role: self.role,
            dtype: self.dtype,
            shape: self.shape.iter().map(|extent| *extent as u64).collect(),
            offset: offset as u64,
            bytes: self.bytes() as u64,
            size: size as u64,
            path: None,
            starts_as: self.starts_as.map(str::to_owned),
            walked: self.read.map(|_| self.walked() as u64),
            sets: None,
        }
    }
}

/// What an offer requires, or why that cannot be meant.
pub fn condition(offer: &Offer) -> Result<Condition, Breach> {
    let breach = |why: String| {
        let (implementation, operation) = (&offer.implementation, excerpt(offer.operation.as_bytes()));
        Breach(format!("offers `{implementation}` for {operation} under a condition that is none: {why}"))
    };
    let condition: Condition = offer.requires.parse().map_err(|error| breach(format!("{error}")))?;
    let name = offer.operation.split('.').next().unwrap_or_default();
    if let Ok(operation) = Operation::find(name) {
        condition.check_axes(&operation.axis_names()).map_err(breach)?;
    }
    Ok(condition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_is_none_is_told_with_its_offer() {
        let offer = |operation: &str, requires: &str| Offer {
            requires: requires.to_owned(),
            ..Offer::new("mine/fast", operation, &["f32"])
        };
        let breach = |offer: Offer| condition(&offer).unwrap_err().0;
        assert_eq!(condition(&offer("softmax", "cols % 16 == 0")).unwrap().to_string(), "cols % 16 == 0");
        let why = breach(offer("softmax", "cols % 16"));
        assert!(why.contains("`mine/fast` for \"softmax\"") && why.contains("cols % 16"), "{why}");
        let why = breach(offer("matmul.nn", "cols % 16 == 0"));
        assert!(why.contains("no axis `cols`; the axes are m, n, k"), "{why}");
        // An operation that is not known here may have any axis: its rows are planned for nobody.
        assert!(condition(&offer("conv", "taps <= 9")).is_ok());
        let text = serde_json::to_string(&offer("add", "")).unwrap();
        assert!(!text.contains("requires"), "{text}");
    }
}
