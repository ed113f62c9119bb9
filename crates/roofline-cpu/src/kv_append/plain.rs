//! The definition: one key and one value copied after the other.

use crate::{Cpu, Datum};

/// Copies new keys and values, `length` numbers each, into the slots of their caches.
///
/// Panics where a cache has no such slot.
///
/// ```
/// use roofline_cpu::{Cpu, kv_append};
///
/// let (mut keys, mut values) = ([0; 3], [0; 3]);
/// kv_append(&Cpu::serial(), [&[1, 2], &[3, 4]], &[2, 0], [&mut keys, &mut values], 1);
/// assert_eq!((keys, values), ([2, 0, 1], [4, 0, 3]));
/// ```
pub fn kv_append<T: Datum>(_cpu: &Cpu, new: [&[T]; 2], slots: &[i32], caches: [&mut [T]; 2], length: usize) {
    for (new, cache) in new.into_iter().zip(caches) {
        assert_eq!(new.len(), slots.len() * length, "a length for {} keys of {length}", slots.len());
        for (new, slot) in new.chunks(length.max(1)).zip(slots) {
            cache[*slot as usize * length..][..length].copy_from_slice(new);
        }
    }
}
