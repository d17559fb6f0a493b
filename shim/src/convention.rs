//! The machine's calling convention, as far as commands need it: which registers carry arguments, and in which order.
//! One module per machine.

#[cfg(target_arch = "aarch64")]
#[path = "convention/aarch64.rs"]
mod machine;
#[cfg(target_arch = "x86_64")]
#[path = "convention/x86_64.rs"]
mod machine;

pub use machine::{
    FIRST_STACK_WORD, FLOAT_REGISTERS, INTEGER_REGISTERS, STACK_ENDS_REGISTERS,
    STRUCTURE_REGISTERS, STUB_BYTES, is_passed_by_address,
};
