//! Philox4x32-10: random words from a counter and a key, each by itself.

/// The four words of a counter under a key.
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut counter, mut key) = (counter, key);
    for _ in 0..10 {
        let wide = |factor: u32, word: u32| u64::from(factor) * u64::from(word);
        let (first, second) = (wide(0xD251_1F53, counter[0]), wide(0xCD9E_8D57, counter[2]));
        let high = |product: u64| (product >> 32) as u32;
        counter = [
            high(second) ^ counter[1] ^ key[0],
            second as u32,
            high(first) ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
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
