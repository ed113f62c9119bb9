//! A short name for the mathematics of a case, which changes when that does.
//!
//! Records of one case id can be compared as long as it means the same. The name is a hash of what the operation says of
//! a small case: its tensors, and the expected values with their bounds on two families of inputs; and of the declaration,
//! where a runner made it.

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
        for bits in Instance::new(&small, fill, 1).expected_bits() {
            hash = step(hash, bits);
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

    fn of(id: &str) -> String {
        definition(&id.parse().unwrap())
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
