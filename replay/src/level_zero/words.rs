//! Calls of functions whose parameters are integers and addresses: each argument is a word of 64 bits.
//!
//! On x86-64 and 64-bit Arm an integer or an address takes a register or eight bytes of the stack,
//! and the caller removes the arguments from the stack. So a caller may pass more words than the
//! function has parameters, and wider ones.

/// Largest number of parameters of a function.
pub const WORDS_MAX: usize = 12;

/// Arguments; words after the last one are zero.
pub type Words = [u64; WORDS_MAX];

/// A function that takes up to [`WORDS_MAX`] words.
pub type Function =
    unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;

/// Calls a function. Bits of the result beyond its type are undefined.
///
/// # Safety
///
/// All parameters of the function are integers or addresses of at most eight bytes, it has at most
/// [`WORDS_MAX`] of them, and it may be called with these arguments.
pub unsafe fn call(function: Function, words: &Words) -> u64 {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *words;
    // SAFETY: the caller guarantees that the function takes these words.
    unsafe { function(a, b, c, d, e, f, g, h, i, j, k, l) }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn nine(
        a: u8,
        b: u32,
        c: *const u8,
        d: u64,
        e: u64,
        f: u64,
        g: u64,
        h: u32,
        i: u64,
    ) -> u32 {
        assert_eq!((a, b, c.addr(), d, e, f, g, h, i), (1, 2, 3, 4, 5, 6, 7, 8, 9));
        77
    }

    type Nine = extern "C" fn(u8, u32, *const u8, u64, u64, u64, u64, u32, u64) -> u32;

    #[test]
    fn words_are_arguments_of_any_width() {
        // SAFETY: all parameters of `nine` are integers or an address.
        let function = unsafe { std::mem::transmute::<Nine, Function>(nine) };
        // SAFETY: `nine` takes nine words.
        let result = unsafe { call(function, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0]) };
        assert_eq!(result as u32, 77);
    }
}
