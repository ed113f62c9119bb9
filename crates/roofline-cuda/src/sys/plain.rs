//! Types whose values are their bytes.

use half::{bf16, f16};

/// A type that may live on the device and be copied as bytes.
///
/// # Safety
/// Every pattern of bits is a value, and there is no padding.
pub unsafe trait Plain: Copy + Default + Send + Sync + 'static {}

macro_rules! plain {
    ($($type:ty),*) => {$(
        // SAFETY: a number without padding, of which every pattern of bits is one.
        unsafe impl Plain for $type {}
    )*};
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, bf16, f16);

pub(crate) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `Plain` has no padding, and bytes have no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

pub(crate) fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and whatever bytes are written are values.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
