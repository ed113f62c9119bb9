//! A short name for the mathematics of a case, which changes when that does.
//!
//! Records of one case id can be compared as long as it means the same. The name is a hash of what the operation says of
//! a small case: its tensors, and on two families of inputs the expected values with their bounds, or the example of outputs
//! that have the property where that is all there is; and of the declaration, where a runner made it.

use crate::case::Case;
use crate::fill::Fill;
use crate::instance::Instance;
use crate::operation::Judged;
use crate::philox::Draws;

/// Sixteen hexadecimal digits.
pub fn definition(case: &Case) -> String {
    let wanted = vec![6; case.sizes.len()];
    let small = case.operation.near(case, &wanted, &mut Draws::new(1, 14));
    let mut text = format!("{}/{}", small.form(), small.precision);
    for (name, value) in small.params() {
        text += &format!(",{name}={value}");
    }
    for tensor in (small.operation.tensors)(&small) {
        let crate::tensor::Tensor { name, role, dtype, shape, content, .. } = &tensor;
        text += &format!(";{name} {role:?} {dtype} {shape:?} {content:?}");
        text += &tensor.starts_as.map(|input| format!(" starts as {input}")).unwrap_or_default();
    }
    if let Judged::Own(own) = small.operation.judged {
        text += &serde_json::to_string(&own.declaration).unwrap_or_default();
    }
    let mut hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| step(hash, u64::from(byte)));
    for fill in [Fill::Uniform, Fill::Planted] {
        let instance = Instance::new(&small, fill, 1);
        hash = instance.expected_bits().fold(hash, step);
        if let Judged::Property(_) = small.judged() {
            // To as many bits as machines compute alike.
            let example = instance.honest().iter().flatten();
            hash = example.map(|y| u64::from((*y as f32).to_bits())).fold(hash, step);
        }
    }
    format!("{hash:016x}")
}

fn step(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{Operation, Property};
    use crate::ops::moe_route;

    fn of(id: &str) -> String {
        definition(&id.parse().unwrap())
    }

    #[test]
    fn it_is_that_of_what_a_property_is_held_for() {
        let Judged::Property(right) = moe_route::OPERATION.judged else { panic!("judged by a property") };
        let other = Judged::Property(Property {
            example: |problem| {
                let Judged::Property(right) = moe_route::OPERATION.judged else { return Vec::new() };
                let halved = |output: Vec<f64>| output.into_iter().map(|y| y / 2.0).collect();
                (right.example)(problem).into_iter().map(halved).collect()
            },
            ..right
        });
        let other: &Operation = Box::leak(Box::new(Operation { judged: other, ..moe_route::OPERATION }));
        let case: Case = "moe-route/f32/rows=4,experts=8,top=2".parse().unwrap();
        assert_eq!(definition(&case), definition(&case.clone()));
        assert_ne!(definition(&case), definition(&Case { operation: other, ..case.clone() }));
    }

    #[test]
    fn it_is_that_of_the_mathematics_and_not_of_the_size() {
        assert_eq!(of("softmax/f32/rows=4,cols=9"), of("softmax/f32/rows=400,cols=900/threads=2"));
        let all = [
            of("softmax/f32/rows=4,cols=9"),
            of("softmax/bf16/rows=4,cols=9"),
            of("rms-norm/f32/rows=4,cols=9"),
            of("rms-norm/f32/rows=4,cols=9,eps=1e-5"),
            of("matmul/f32/m=4,n=4,k=4"),
            of("matmul.nn/f32/m=4,n=4,k=4"),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(one.len() == 16 && !all[..index].contains(one), "{all:?}");
        }
    }
}
