//! `Signature`: what the trampoline and [`crate::traced`] know of a command. A result of more than 8 bytes
//! (`RESULT_BYTES_MAX`) does not compile.

use core::mem::offset_of;

use crate::code::Code;
use crate::frame::Frame;
use crate::shape::{Class, Parameters, Place, Shape};

/// Most bytes of a command's result.
pub const RESULT_BYTES_MAX: usize = 8;

/// The signature of a command.
///
/// `repr(C)`: the trampoline reads [`Self::call`] and [`Self::flags`].
#[repr(C)]
pub struct Signature {
    call: TracedCall,
    shape: &'static Shape,
    /// The command.
    pub id: u16,
    flags: u8,
    result_bytes: u8,
    result: Option<Class>,
}

/// Makes a call of the command with the arguments in the frame, if the call is traced.
///
/// # Safety
/// Called by the trampoline; the frame is of a call of this command.
pub type TracedCall = unsafe extern "C" fn(&'static Signature, Frame) -> Outcome;

/// What the trampoline does after a [`TracedCall`]. `repr(C)`: in two registers.
#[repr(C)]
pub struct Outcome {
    /// Null if the call was made. Otherwise the call is not traced, and the trampoline jumps here.
    pub jump_to: Code,
    /// The result of the call, extended to a register.
    pub result: u64,
}

impl Signature {
    /// A parameter may come in a floating-point register: the trampoline has to store them.
    pub const HAS_FLOATS: u8 = 1;
    /// The result has fewer than 4 bytes: callees extend it to 4.
    const RETURNS_NARROW: u8 = 2;
    /// For the trampoline's instructions.
    pub const OFFSET_OF_CALL: usize = offset_of!(Self, call);
    /// For the trampoline's instructions.
    pub const OFFSET_OF_FLAGS: usize = offset_of!(Self, flags);

    /// Returns the signature of command `id`, with parameters `P` and a result of class `result`. A traced call of
    /// it is made by `call`.
    pub const fn new<P: Parameters>(id: u16, result: Option<Class>, call: TracedCall) -> Self {
        let mut flags = 0;
        let mut at = 0;
        while at < P::PLACES.len() {
            if matches!(P::PLACES[at].class, Class::Float { .. }) {
                flags |= Self::HAS_FLOATS;
            }
            at += 1;
        }
        let result_bytes = match result {
            Some(class) => class.bytes(),
            None => 0,
        };
        assert!(result_bytes as usize <= RESULT_BYTES_MAX);
        if 0 < result_bytes && result_bytes < 4 {
            flags |= Self::RETURNS_NARROW;
        }
        Self { call, shape: P::SHAPE, id, flags, result_bytes, result }
    }

    /// Returns how parameters are passed.
    #[inline(always)]
    pub fn shape(&self) -> &'static Shape {
        self.shape
    }

    /// Returns the places of the parameters, in their order.
    #[inline(always)]
    pub fn places(&self) -> &'static [Place] {
        self.shape.places
    }

    /// Returns the size of the result in bytes; 0 without a result.
    #[inline(always)]
    pub fn result_bytes(&self) -> u8 {
        self.result_bytes
    }

    /// Returns the result in the low bytes of `word` as callees leave it in a register. Callers rely on its being
    /// extended where it has fewer than 4 bytes.
    #[inline(always)]
    pub fn result_in_register(&self, word: u64) -> u64 {
        if self.flags & Self::RETURNS_NARROW != 0 { self.extended_result(word) } else { word }
    }

    #[inline(never)]
    fn extended_result(&self, word: u64) -> u64 {
        self.result.map_or(word, |class| class.extend(word))
    }
}
