//! A pool of device memory: sizes in classes, and the most that was ever out at once.
//!
//! Asking the driver for memory takes up to half a millisecond and waits for the device. A block
//! that comes back is kept for the next request of its class. Classes are eight to a doubling, so
//! that at most an eighth is wasted, and never smaller than 512 bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{CudaError, Result};
use crate::slice::{DeviceVec, bytes};
use crate::stream::Stream;
use crate::sys::{Memory, Plain};

const SMALLEST: usize = 512;

/// The bytes that a request of so many gets.
fn class(bytes: usize) -> Option<usize> {
    let bytes = bytes.max(SMALLEST);
    let step = (bytes.checked_next_power_of_two()? / 16).max(SMALLEST);
    bytes.checked_next_multiple_of(step)
}

/// What a pool holds and held, in bytes of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// With users now.
    pub used: usize,
    /// The most that was ever with users.
    pub high_water: usize,
    /// Kept for the next request.
    pub kept: usize,
    /// Requests that the driver had to serve.
    pub misses: usize,
}

/// What every block's way back leads to.
#[derive(Debug)]
struct Shelf<M> {
    free: BTreeMap<usize, Vec<M>>,
    figures: PoolUse,
}

/// A piece of memory that goes back to its pool.
#[derive(Debug)]
pub(crate) struct Block<M> {
    memory: Option<M>,
    class: usize,
    shelf: Arc<Mutex<Shelf<M>>>,
}

impl<M> Block<M> {
    pub(crate) fn memory(&self) -> &M {
        self.memory.as_ref().expect("memory leaves its block only when the block is dropped")
    }
}

impl<M> Drop for Block<M> {
    fn drop(&mut self) {
        let mut shelf = lock(&self.shelf);
        shelf.figures.used -= self.class;
        shelf.figures.kept += self.class;
        shelf.free.entry(self.class).or_default().extend(self.memory.take());
    }
}

fn lock<M>(shelf: &Mutex<Shelf<M>>) -> MutexGuard<'_, Shelf<M>> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take<M>(
    shelf: &Arc<Mutex<Shelf<M>>>,
    bytes: usize,
    make: impl FnOnce(usize) -> Result<M>,
) -> Result<Block<M>> {
    let class = class(bytes).ok_or(CudaError::Overflow { bytes })?;
    let mut inside = lock(shelf);
    let kept = inside.free.get_mut(&class).and_then(Vec::pop);
    let memory = if let Some(memory) = kept {
        inside.figures.kept -= class;
        memory
    } else {
        let memory = make(class)?;
        inside.figures.misses += 1;
        memory
    };
    inside.figures.used += class;
    inside.figures.high_water = inside.figures.high_water.max(inside.figures.used);
    Ok(Block { memory: Some(memory), class, shelf: shelf.clone() })
}

/// A pool for the work of one stream: memory that comes back may be handed out again while earlier
/// work with it is still queued, and only the order of that stream keeps the two apart.
#[derive(Debug)]
pub struct Pool<'a> {
    stream: &'a Stream,
    shelf: Arc<Mutex<Shelf<Memory>>>,
}

impl<'a> Pool<'a> {
    pub fn new(stream: &'a Stream) -> Pool<'a> {
        let shelf = Shelf { free: BTreeMap::new(), figures: PoolUse::default() };
        Pool { stream, shelf: Arc::new(Mutex::new(shelf)) }
    }

    /// Elements from the pool; they go back when they are dropped.
    pub fn take<T: Plain>(&self, len: usize) -> Result<DeviceVec<T>> {
        let context = self.stream.device().context();
        let block = take(&self.shelf, bytes::<T>(len)?, |class| Memory::new(context, class))?;
        Ok(DeviceVec::of_block(block, len))
    }

    pub fn figures(&self) -> PoolUse {
        lock(&self.shelf).figures
    }

    /// Gives what is kept back to the driver.
    pub fn trim(&self) {
        let mut shelf = lock(&self.shelf);
        shelf.figures.kept = 0;
        shelf.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_class_holds_its_request_and_wastes_little(bytes in 0usize..1 << 40) {
            let class = class(bytes).unwrap();
            prop_assert!(class >= bytes);
            prop_assert!(class - bytes < SMALLEST || (class - bytes) * 8 <= bytes);
            prop_assert_eq!(super::class(class), Some(class), "a class is its own");
        }
    }

    #[test]
    fn blocks_come_back_and_the_mark_stays() {
        let shelf = Arc::new(Mutex::new(Shelf { free: BTreeMap::new(), figures: PoolUse::default() }));
        let first = take(&shelf, 1000, Ok).unwrap();
        assert_eq!(*first.memory(), 1024);
        let second = take(&shelf, 5000, Ok).unwrap();
        drop(first);
        let again = take(&shelf, 1024, |_| panic!("a block of that class is kept")).unwrap();
        let most = 1024 + 5120;
        assert_eq!(lock(&shelf).figures, PoolUse { used: most, high_water: most, kept: 0, misses: 2 });
        drop((second, again));
        assert_eq!(lock(&shelf).figures, PoolUse { used: 0, high_water: most, kept: most, misses: 2 });
    }

    #[test]
    fn a_request_that_no_address_can_hold_is_refused() {
        let shelf: Arc<Mutex<Shelf<usize>>> =
            Arc::new(Mutex::new(Shelf { free: BTreeMap::new(), figures: PoolUse::default() }));
        assert!(take(&shelf, usize::MAX, Ok).is_err());
    }
}
