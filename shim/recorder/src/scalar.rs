//! Values that a record's fixed part holds unchanged.

/// A plain value of 0, 1, 2, 4 or 8 bytes.
///
/// # Safety
/// The type has no padding: every byte that is written through it is initialised.
pub unsafe trait Scalar: Copy {}

macro_rules! scalars {
    ($($ty:ty),*) => {
        // SAFETY: primitive numbers have no padding.
        $(unsafe impl Scalar for $ty {})*
    };
}
scalars!(i8, u8, i16, u16, i32, u32, i64, u64, isize, usize, f32, f64);

// SAFETY: it has no bytes.
unsafe impl Scalar for () {}
// SAFETY: thin pointers are one initialised word.
unsafe impl<T> Scalar for *const T {}
// SAFETY: as above.
unsafe impl<T> Scalar for *mut T {}

/// Returns a word that begins with the value and ends with zeros.
#[inline(always)]
pub fn word_of<T: Scalar>(value: T) -> u64 {
    const { assert!(size_of::<T>() <= size_of::<u64>()) };
    let mut word = 0;
    // SAFETY: the value is no longer than the word.
    unsafe { (&raw mut word).cast::<T>().write_unaligned(value) };
    word
}
