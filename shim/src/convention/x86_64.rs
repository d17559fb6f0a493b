//! x86-64, System V ABI (section 3.2.3, Parameter Passing).
//!
//! The frame, from the stack pointer up: rdi, rsi, rdx, rcx, r8, r9; the low 8 bytes of xmm0 to xmm7; the program's rbp;
//! the return address; the stack arguments.

/// Size of a stub in bytes; a power of two.
pub const STUB_BYTES: usize = 16;
/// Registers for integers and pointers.
pub const INTEGER_REGISTERS: usize = 6;
/// Registers for floating-point numbers.
pub const FLOAT_REGISTERS: usize = 8;
/// Most integer registers that a structure is passed in; larger structures are on the stack.
pub const STRUCTURE_REGISTERS: usize = 2;
/// Whether all later arguments are on the stack once an argument did not fit into integer registers. On x86-64, later
/// arguments still use registers that are left.
pub const STACK_ENDS_REGISTERS: bool = false;
/// Index of the frame's first word of stack arguments: after the registers, rbp and the return address.
pub const FIRST_STACK_WORD: usize = INTEGER_REGISTERS + FLOAT_REGISTERS + 2;

/// Whether a structure of `bytes` bytes is passed by the address of the caller's copy.
pub const fn is_passed_by_address(_bytes: usize) -> bool {
    false
}
