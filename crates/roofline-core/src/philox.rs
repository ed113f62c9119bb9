//! Philox4x32-10: 128 random bits as a function of a 128-bit counter and a 64-bit key.
//!
//! Counter-based, so element k of a tensor has the same bits whoever computes it, in whatever
//! order, on however many threads. Written by hand because it is shorter than a dependency.

/// The block of four words at `counter` under `key`.
#[inline]
pub fn philox(counter: [u32; 4], key: u64) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    let (mut k0, mut k1) = (key as u32, (key >> 32) as u32);
    for _ in 0..10 {
        let p0 = u64::from(a) * 0xD251_1F53;
        let p1 = u64::from(c) * 0xCD9E_8D57;
        (a, b, c, d) = ((p1 >> 32) as u32 ^ b ^ k0, p1 as u32, (p0 >> 32) as u32 ^ d ^ k1, p0 as u32);
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    [a, b, c, d]
}

/// So many blocks are computed together.
const ALONG: usize = 16;

/// The blocks at counters that follow each other in their lower half, `[lower, upper]` being the first: step by step for all
/// of them, which compilers make vectors of.
#[inline]
pub fn philox_along([lower, upper]: [u64; 2], key: u64) -> [[u32; 4]; ALONG] {
    let (mut k0, mut k1) = (key as u32, (key >> 32) as u32);
    let [mut a, mut b, mut c, mut d] = [[0; ALONG]; 4];
    for i in 0..ALONG {
        let lower = lower + i as u64;
        (a[i], b[i], c[i], d[i]) = (lower as u32, (lower >> 32) as u32, upper as u32, (upper >> 32) as u32);
    }
    for _ in 0..10 {
        for i in 0..ALONG {
            let (p0, p1) = (u64::from(a[i]) * 0xD251_1F53, u64::from(c[i]) * 0xCD9E_8D57);
            a[i] = (p1 >> 32) as u32 ^ b[i] ^ k0;
            c[i] = (p0 >> 32) as u32 ^ d[i] ^ k1;
            (b[i], d[i]) = (p1 as u32, p0 as u32);
        }
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    std::array::from_fn(|i| [a[i], b[i], c[i], d[i]])
}

/// Draws from one stream of Philox, for choices that need no addressing (samples, shapes, places).
#[derive(Clone, Debug)]
pub struct Draws {
    key: u64,
    stream: u32,
    next: u64,
}

impl Draws {
    pub fn new(key: u64, stream: u32) -> Self {
        Draws { key, stream, next: 0 }
    }

    /// A stream of its own for a name.
    pub fn of(key: u64, name: &str) -> Self {
        let hash = name
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        // The first streams have other uses.
        Draws::new(key, hash | 1 << 31)
    }

    pub fn bits(&mut self) -> u64 {
        let [a, b, ..] = philox([self.next as u32, (self.next >> 32) as u32, self.stream, 2], self.key);
        self.next += 1;
        u64::from(a) << 32 | u64::from(b)
    }

    /// A number below `bound`, which must not be 0. The bias of the multiplication is below 2^-32.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_the_published_generator() {
        assert_eq!(philox([0; 4], 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], u64::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], 0x299f_31d0_a409_3822),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn blocks_that_follow_each_other_are_the_same_together() {
        for lower in [0, 7, u64::from(u32::MAX) - 3] {
            let upper = 5 | 9 << 32;
            let together = philox_along([lower, upper], 0x0123_4567_89ab_cdef);
            for (block, counter) in together.iter().zip(lower..) {
                let counter = [counter as u32, (counter >> 32) as u32, 5, 9];
                assert_eq!(*block, philox(counter, 0x0123_4567_89ab_cdef));
            }
        }
    }

    #[test]
    fn draws_stay_below_their_bound() {
        let mut draws = Draws::new(7, 0);
        assert!((0..1000).all(|_| draws.below(3) < 3));
    }
}
