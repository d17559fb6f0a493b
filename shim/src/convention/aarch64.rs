//! AArch64, AAPCS64 (section 6.8, Parameter passing) as Linux has it.
//!
//! The frame, from the stack pointer up: x0 to x7; d0 to d7; x29 and x30 of the program; the stack arguments,
//! of which each takes a whole word.

use super::STACK_WORDS_MAX;

/// Bytes of a stub; a power of two.
pub const STUB_BYTES: usize = 8;
/// Registers for integers and pointers.
pub const INTEGER_REGISTERS: usize = 8;
/// Registers for floating-point numbers.
pub const FLOAT_REGISTERS: usize = 8;
/// Most integer registers that a structure is passed in; of larger ones the address is.
pub const STRUCTURE_REGISTERS: usize = 2;
/// Whether nothing more comes in integer registers once an argument did not fit into them (rules C.13 and
/// C.14).
pub const STACK_ENDS_REGISTERS: bool = true;
/// Index of the frame's first word of stack arguments: behind the registers, x29 and x30.
pub const FIRST_STACK_WORD: usize = INTEGER_REGISTERS + FLOAT_REGISTERS + 2;

/// Whether a structure of that size is copied by the caller, which passes the copy's address.
pub const fn is_passed_by_address(bytes: u8) -> bool {
    bytes > 16
}

/// Calls `code` with the integer registers of `frame`.
///
/// # Safety
/// `code` is a function that has no other arguments and returns an integer or nothing.
#[inline(always)]
pub unsafe fn call_with_integers(code: *mut (), frame: *const u64) -> u64 {
    type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64) -> u64;
    // SAFETY: the caller's duty.
    let function = unsafe { core::mem::transmute::<*mut (), Function>(code) };
    // SAFETY: the frame has these registers.
    let [a, b, c, d, e, f, g, h] = unsafe { frame.cast::<[u64; INTEGER_REGISTERS]>().read() };
    // SAFETY: the caller's duty.
    unsafe { function(a, b, c, d, e, f, g, h) }
}

/// Calls `code` with all registers of `frame` and the words of `stack`.
///
/// # Safety
/// `code` is a function with no more than these arguments. `R` is `u64` where it returns an integer or nothing,
/// and `f64` where it returns a floating-point number.
#[inline(always)]
#[rustfmt::skip] // A register or word in each place.
pub unsafe fn call_with_all<R>(code: *mut (), frame: *const u64, stack: &[u64; STACK_WORDS_MAX]) -> R {
    type Function<R> = unsafe extern "C" fn(
        u64, u64, u64, u64, u64, u64, u64, u64,
        f64, f64, f64, f64, f64, f64, f64, f64,
        u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64,
    ) -> R;
    // SAFETY: the caller's duty.
    let function = unsafe { core::mem::transmute::<*mut (), Function<R>>(code) };
    // SAFETY: the frame has these registers.
    let [a, b, c, d, e, f, g, h] = unsafe { frame.cast::<[u64; INTEGER_REGISTERS]>().read() };
    // SAFETY: they are behind the integer registers.
    let floats = unsafe { frame.add(INTEGER_REGISTERS) };
    // SAFETY: as above.
    let [i, j, k, l, m, n, o, p] = unsafe { floats.cast::<[f64; FLOAT_REGISTERS]>().read() };
    let s = stack;
    // SAFETY: the caller's duty.
    unsafe {
        function(
            a, b, c, d, e, f, g, h,
            i, j, k, l, m, n, o, p,
            s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7],
            s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15],
        )
    }
}
