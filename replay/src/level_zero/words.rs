//! Functions as the calling convention has them: a row of words.
//!
//! Integers and addresses take a register or eight bytes of the stack each, on x86-64 and on 64-bit Arm,
//! and what there is besides is the caller's. So a function may be given more words than it takes, and wider
//! ones.

/// Most parameters of a function.
pub const WORDS_MAX: usize = 12;

/// Arguments; those behind the last one are zeros.
pub type Words = [u64; WORDS_MAX];

pub type Function =
    unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;

/// Calls a function; bits of the result that its type does not have are anything.
///
/// # Safety
///
/// All parameters of the function are integers or addresses of up to eight bytes, no more of them than
/// there are words, and the words are arguments that it may be called with.
pub unsafe fn call(function: Function, words: &Words) -> u64 {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *words;
    // SAFETY: the caller's duty.
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
        // SAFETY: a pointer to a function of integers and an address.
        let function = unsafe { std::mem::transmute::<Nine, Function>(nine) };
        // SAFETY: it takes nine words.
        let result = unsafe { call(function, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0]) };
        assert_eq!(result as u32, 77);
    }
}
