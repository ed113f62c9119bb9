//! What an input reaches: every output, but along independent axes only what stands at its own place.

use super::{Own, Purpose, of_case};
use crate::case::Case;
use crate::fill::Fill;
use crate::instance::Instance;
use crate::judge::coordinates;
use crate::operation::{Judged, Problem, Reach};
use crate::philox::Draws;
use crate::tensor::View;

/// More progressions than that are told as the whole output, which is more and never wrong.
const MOST_PARTS: usize = 64;
/// Most elements of each input that are changed to see what they reach.
const TRIED: usize = 32;

impl Own {
    /// Outputs that depend on element `element` of input `tensor`.
    pub(crate) fn reach(&self, case: &Case, tensor: usize, element: usize) -> Vec<Reach> {
        let tensors = (case.operation.tensors)(case);
        let declared = &self.signature.tensors;
        let at = coordinates(element, &tensors[tensor].shape);
        // Where the element stands along each independent axis that its tensor has.
        let held: Vec<(&str, usize)> = declared[tensor]
            .dimensions
            .iter()
            .zip(at)
            .filter_map(|(size, at)| size.axis().map(|axis| (axis, at)))
            .filter(|(axis, _)| self.declaration.independent.iter().any(|known| known == axis))
            .collect();
        let outputs = tensors.iter().zip(declared).filter(|(tensor, _)| !tensor.role.is_input());
        let of_output =
            |(output, (tensor, declared)): (usize, (&crate::tensor::Tensor, &super::Declared))| {
                let mut parts = vec![Reach { output, first: 0, step: 1, count: 1 }];
                let mut stride = tensor.elements();
                for (size, extent) in declared.dimensions.iter().zip(&tensor.shape) {
                    stride /= extent;
                    let pinned = held.iter().find(|(axis, _)| size.axis() == Some(axis)).map(|(_, at)| *at);
                    parts = match pinned {
                        Some(at) => parts.into_iter().flat_map(|part| moved(part, at * stride)).collect(),
                        None => parts.into_iter().flat_map(|part| spread(part, *extent, stride)).collect(),
                    };
                    if parts.len() > MOST_PARTS {
                        return vec![Reach { output, first: 0, step: 1, count: tensor.elements() }];
                    }
                }
                parts
            };
        outputs.enumerate().flat_map(of_output).collect()
    }
}

fn moved(part: Reach, by: usize) -> Option<Reach> {
    Some(Reach { first: part.first + by, ..part })
}

/// All along one more dimension: as one progression where it is one.
fn spread(part: Reach, extent: usize, stride: usize) -> Vec<Reach> {
    match part.count {
        1 => vec![Reach { step: stride.max(1), count: extent, ..part }],
        _ if part.step == extent * stride => {
            vec![Reach { step: stride.max(1), count: part.count * extent, ..part }]
        }
        // Each element of the outer progression becomes a run.
        count if count <= MOST_PARTS => (0..count)
            .map(|i| Reach { first: part.nth(i), step: stride.max(1), count: extent, ..part })
            .collect(),
        // Too many, which the caller sees.
        _ => vec![part; MOST_PARTS + 1],
    }
}

/// Asks the reference of a declared operation whether its axes are as independent as it says, on a small instance.
pub fn check_reach(case: &Case, seed: u64) -> Result<(), String> {
    let Judged::Own(_) = case.operation.judged else { return Ok(()) };
    let own = of_case(case);
    if own.declaration.independent.is_empty() {
        return Ok(());
    }
    let mut draws = Draws::new(seed, 17);
    let small = case.operation.near(case, &vec![5; case.sizes.len()], &mut draws);
    let instance = Instance::new(&small, Fill::Normal, seed);
    let before = own.ask(&instance.problem(), Purpose::Reference);
    for (number, (tensor, bytes)) in instance.inputs.iter().enumerate() {
        let elements = tensor.elements();
        for trial in 0..elements.min(TRIED) {
            let element = if elements <= TRIED { trial } else { draws.below(elements as u64) as usize };
            let mut changed = bytes.clone();
            let value = tensor.changed(tensor.dtype.read(bytes, element), draws.bits());
            tensor.dtype.write(&mut changed, element, value);
            let mut inputs = instance.problem().inputs;
            inputs[number] = View { dtype: tensor.dtype, bytes: &changed };
            let problem = Problem { inputs, ..instance.problem() };
            let after = own.ask(&problem, Purpose::Reference);
            let reach = own.reach(&small, number, element);
            for (output, (before, after)) in
                before.iter().zip(&after).take(instance.outputs.len()).enumerate()
            {
                let is_reached = |index: usize| {
                    let mut parts = reach.iter().filter(|part| part.output == output);
                    parts.any(|part| (0..part.count).any(|i| part.nth(i) == index))
                };
                let differs = |index: &usize| before[*index].to_bits() != after[*index].to_bits();
                if let Some(index) = (0..before.len()).filter(differs).find(|index| !is_reached(*index)) {
                    let shape = &instance.outputs[output].shape;
                    return Err(format!(
                        "its axes {} are not independent: {:?} of `{}` reaches {:?} of `{}`, by its own reference",
                        own.declaration.independent.join(", "),
                        coordinates(element, &tensor.shape),
                        tensor.name,
                        coordinates(index, shape),
                        instance.outputs[output].name,
                    ));
                }
            }
        }
    }
    Ok(())
}
