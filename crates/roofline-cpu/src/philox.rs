//! Philox4x32-10: random words from a counter and a key, each by itself.

use crate::lanes::Lanes;

const ROUNDS: usize = 10;
const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What the words of the key grow by from one round to the next.
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The four words of a counter under a key.
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut counter, mut key) = (counter, key);
    for _ in 0..ROUNDS {
        let wide = |factor: u32, word: u32| u64::from(factor) * u64::from(word);
        let (first, second) = (wide(FACTORS[0], counter[0]), wide(FACTORS[1], counter[2]));
        let high = |product: u64| (product >> 32) as u32;
        counter = [
            high(second) ^ counter[1] ^ key[0],
            second as u32,
            high(first) ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
    }
    counter
}

/// The four words of a counter in each lane, whose lower half differs, under a key whose upper half is 0.
#[inline(always)]
pub fn philox_lanes<L: Lanes>(lanes: L, [low, high]: [L::I; 2], third: i32, key: i32) -> [L::I; 4] {
    let factors = [lanes.splat_i32(FACTORS[0].cast_signed()), lanes.splat_i32(FACTORS[1].cast_signed())];
    let mut counter = [low, high, lanes.splat_i32(third), lanes.splat_i32(0)];
    let mut key = [key, 0];
    for _ in 0..ROUNDS {
        let [first_low, first_high] = lanes.mul_wide(counter[0], factors[0]);
        let [second_low, second_high] = lanes.mul_wide(counter[2], factors[1]);
        let first = lanes.xor_i32(lanes.xor_i32(second_high, counter[1]), lanes.splat_i32(key[0]));
        let third = lanes.xor_i32(lanes.xor_i32(first_high, counter[3]), lanes.splat_i32(key[1]));
        counter = [first, second_low, third, first_low];
        key = [key[0].wrapping_add(STEPS[0].cast_signed()), key[1].wrapping_add(STEPS[1].cast_signed())];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers, published with the generator.
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
    }
}
