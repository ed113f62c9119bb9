//! A pool: what is given back waits for the next who asks for as much.

use super::plain::Block;
use super::{Allocator, LINE};

/// Blocks that wait, by the power of two that they have in bytes.
#[derive(Debug)]
pub struct Pool {
    waiting: [Vec<Block>; usize::BITS as usize],
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { waiting: std::array::from_fn(|_| Vec::new()) }
    }
}

/// The bytes of a block that is asked for so many.
pub(super) fn class(bytes: usize) -> usize {
    bytes.next_power_of_two().max(LINE)
}

impl Allocator for Pool {
    /// # Panics
    /// If memory has no room for a block that none waits for.
    fn take(&mut self, bytes: usize) -> Block {
        let bytes = class(bytes);
        self.waiting[bytes.trailing_zeros() as usize].pop().unwrap_or_else(|| Block::new(bytes))
    }

    fn give(&mut self, block: Block) {
        self.waiting[block.bytes().trailing_zeros() as usize].push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_back_is_taken_again() {
        let mut pool = Pool::default();
        let blocks = [pool.take(65), pool.take(128)];
        let known = [blocks[0].address(), blocks[1].address()];
        assert_ne!(known[0], known[1]);
        blocks.into_iter().for_each(|block| pool.give(block));
        let again = [pool.take(100), pool.take(127)];
        assert!(again.iter().all(|block| known.contains(&block.address())));
        assert!(!known.contains(&pool.take(128).address()), "none waits");
    }
}
