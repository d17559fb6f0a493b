//! x86-64, System V ABI (section 3.2.3, Parameter Passing).
//!
//! The frame, from the stack pointer up: rdi, rsi, rdx, rcx, r8, r9; xmm0 to xmm7, the low halves; the program's
//! rbp; where the call returns to; the stack arguments.

use super::STACK_WORDS_MAX;

/// Bytes of a stub; a power of two.
pub const STUB_BYTES: usize = 16;
/// Registers for integers and pointers.
pub const INTEGER_REGISTERS: usize = 6;
/// Registers for floating-point numbers.
pub const FLOAT_REGISTERS: usize = 8;
/// Most integer registers that a structure is passed in; larger ones are on the stack.
pub const STRUCTURE_REGISTERS: usize = 2;
/// Whether nothing more comes in integer registers once an argument did not fit into them: it does.
pub const STACK_ENDS_REGISTERS: bool = false;
/// Index of the frame's first word of stack arguments: behind the registers, rbp and the return address.
pub const FIRST_STACK_WORD: usize = INTEGER_REGISTERS + FLOAT_REGISTERS + 2;

/// Whether a structure of that size is copied by the caller, which passes the copy's address.
pub const fn is_passed_by_address(_bytes: u8) -> bool {
    false
}

/// Calls `code` with the integer registers of `frame`.
///
/// # Safety
/// `code` is a function that has no other arguments and returns an integer or nothing.
#[inline(always)]
pub unsafe fn call_with_integers(code: *mut (), frame: *const u64) -> u64 {
    type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64) -> u64;
    // SAFETY: the caller's duty.
    let function = unsafe { core::mem::transmute::<*mut (), Function>(code) };
    // SAFETY: the frame has these registers.
    let [a, b, c, d, e, f] = unsafe { frame.cast::<[u64; INTEGER_REGISTERS]>().read() };
    // SAFETY: the caller's duty.
    unsafe { function(a, b, c, d, e, f) }
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
        u64, u64, u64, u64, u64, u64,
        f64, f64, f64, f64, f64, f64, f64, f64,
        u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64,
    ) -> R;
    // SAFETY: the caller's duty.
    let function = unsafe { core::mem::transmute::<*mut (), Function<R>>(code) };
    // SAFETY: the frame has these registers.
    let [a, b, c, d, e, f] = unsafe { frame.cast::<[u64; INTEGER_REGISTERS]>().read() };
    // SAFETY: they are behind the integer registers.
    let floats = unsafe { frame.add(INTEGER_REGISTERS) };
    // SAFETY: as above.
    let [g, h, i, j, k, l, m, n] = unsafe { floats.cast::<[f64; FLOAT_REGISTERS]>().read() };
    let s = stack;
    // SAFETY: the caller's duty.
    unsafe {
        function(
            a, b, c, d, e, f,
            g, h, i, j, k, l, m, n,
            s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7],
            s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15],
        )
    }
}
