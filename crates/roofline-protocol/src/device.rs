//! What conductor and device process say to each other: `roofline device cuda:0`, the owner of a device's tensors.
//!
//! It is trusted, runs no kernel under test, and is of this binary: these messages are no part of the runners'
//! protocol and may change with every version. A line is a list of steps, done in order; the answer has what came of
//! each, or why one failed. Every tensor has a **mirror**, a file in the host's memory of the same size: [`Step::Push`]
//! takes bytes from there to the device and [`Step::Pull`] back, so no content ever stands on a line.

use serde::{Deserialize, Serialize};

/// First byte and number of bytes of a part of a tensor's memory.
pub type Part = (u64, u64);

/// One thing that is asked of a device process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Step {
    /// What the device is.
    Tell,
    /// New memory of `size` bytes, a multiple of the granule. Comes with the descriptor of its mirror; the answer
    /// comes with one that other processes map the memory by.
    Make { size: u64 },
    /// Forgets a tensor.
    Drop { tensor: u32 },
    /// Copies parts from the mirror to the device.
    Push { tensor: u32, parts: Vec<Part> },
    /// Copies parts from the device to the mirror.
    Pull { tensor: u32, parts: Vec<Part> },
    /// Writes an element, given by its bytes, `count` times from `start` on.
    Repeat { tensor: u32, start: u64, code: Vec<u8>, count: u64 },
    /// A number that changes when any byte of the part does.
    Hash { tensor: u32, part: Part },
    /// The first of `count` elements from `start` on that has exactly these bytes.
    Find { tensor: u32, start: u64, code: Vec<u8>, count: u64 },
    /// Leaves nothing of any tensor in the device's caches.
    Chill,
    /// How long the device takes to do next to nothing: much longer while somebody else's kernel runs.
    Nudge,
    /// What the device does right now, and what holds it back.
    Look,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Done {
    Told(Box<Facts>),
    Made(u32),
    Nothing,
    Hash(u64),
    Found(Option<u64>),
    Nanoseconds(f64),
    Seen(State),
}

/// What a device does at one moment, as far as it says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The clock of its multiprocessors.
    pub megahertz: Option<u32>,
    pub milliwatts: Option<u32>,
    /// Why the clock is not higher, where there is a reason.
    pub held_back_by: Vec<String>,
    /// Bytes in use, whoever uses them.
    pub used: Option<u64>,
}

/// What a device is, for the record and for whoever places tensors on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub name: String,
    /// The same in every process and after every start.
    pub uuid: String,
    /// Versions and settings, as a person would read them.
    pub driver: String,
    pub memory: u64,
    /// Bytes of its last cache.
    pub cache: u64,
    /// Sizes of memory are multiples of this, and at least this much beside it cannot be touched.
    pub granule: u64,
    pub multiprocessors: u32,
}

/// An answer as it stands on the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    Done(Vec<Done>),
    /// Memory could not be had; nothing of the step was done.
    OutOfMemory(String),
    Failed(String),
}

/// The longest line of either side.
pub const MAX_LINE: usize = 16 << 20;

/// Carries a [`Step::Hash`] on: a sum over words, so that any order of them gives the same.
pub fn hash_word(number: u64, word: u64) -> u64 {
    let mut mixed = word ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// The hash of some bytes: words of eight by their number, the last filled up with zeros.
pub fn hash(bytes: &[u8]) -> u64 {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    let words = bytes.chunks(8).enumerate();
    words.fold(bytes.len() as u64, |sum, (number, chunk)| {
        sum.wrapping_add(hash_word(number as u64, word(chunk)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_its_place_are_in_the_hash() {
        let bytes: Vec<u8> = (0..61).collect();
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_ne!(hash(&bytes), hash(&other), "{at}");
        }
        let mut swapped = bytes.clone();
        swapped.rotate_left(8);
        assert_ne!(hash(&bytes), hash(&swapped));
        assert_ne!(hash(&[0; 8]), hash(&[0; 9]));
        // The kernel that does this on a device is held to the same number.
        assert_eq!(hash(&bytes), 0x0030_eee1_507b_f09a);
    }

    #[test]
    fn a_line_reads_back() {
        let steps = vec![
            Step::Tell,
            Step::Push { tensor: 3, parts: vec![(0, 4), (64, 8)] },
            Step::Repeat { tensor: 0, start: 64, code: vec![0, 1], count: 9 },
        ];
        let text = serde_json::to_string(&steps).unwrap();
        assert!(
            text.starts_with(r#"[{"do":"tell"},{"do":"push","tensor":3,"parts":[[0,4],[64,8]]}"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Vec<Step>>(&text).unwrap(), steps);
    }
}
