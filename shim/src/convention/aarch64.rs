//! AArch64, AAPCS64 (section 6.8, Parameter passing) on Linux.
//!
//! The frame, from the stack pointer up: x0 to x7; d0 to d7; the program's x29 and x30; the stack arguments. Each stack
//! argument takes whole words.

/// Size of a stub in bytes; a power of two.
pub const STUB_BYTES: usize = 16;
/// Registers for integers and pointers.
pub const INTEGER_REGISTERS: usize = 8;
/// Registers for floating-point numbers.
pub const FLOAT_REGISTERS: usize = 8;
/// Most integer registers that a structure is passed in; larger structures are passed by address.
pub const STRUCTURE_REGISTERS: usize = 2;
/// Whether all later arguments are on the stack once an argument did not fit into integer registers (rules C.13 and
/// C.14).
pub const STACK_ENDS_REGISTERS: bool = true;
/// Index of the frame's first word of stack arguments: after the registers, x29 and x30.
pub const FIRST_STACK_WORD: usize = INTEGER_REGISTERS + FLOAT_REGISTERS + 2;

/// Whether a structure of `bytes` bytes is passed by the address of the caller's copy.
pub const fn is_passed_by_address(bytes: usize) -> bool {
    bytes > 16
}
