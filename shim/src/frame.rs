//! What the [trampoline](crate::trampoline) and [`crate::traced`] have between them: where a traced call begins,
//! and the frame that its arguments are in.

use crate::convention::{self, STACK_WORDS_MAX, STUB_BYTES};
use crate::generated::ids;
use crate::signature::Signature;

unsafe extern "C" {
    /// A stub for each command, STUB_BYTES each, in the order of ids.
    #[link_name = "gapii_traced_stubs"]
    static TRACED_STUBS: [u8; ids::COUNT * STUB_BYTES];
}

/// Returns the code that makes a traced call of command `id`; null for an id that no command has.
pub fn traced_stub(id: usize) -> *mut () {
    let stubs = (&raw const TRACED_STUBS).cast::<u8>().cast_mut();
    match id < ids::COUNT {
        // SAFETY: inside TRACED_STUBS.
        true => unsafe { stubs.add(id * STUB_BYTES) }.cast(),
        false => core::ptr::null_mut(),
    }
}

/// The words of a call that the trampoline has stored: integer registers, floating-point registers, two words
/// of its own, and the stack arguments.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Frame(*mut u64);

impl Frame {
    /// # Safety
    /// `word` is one of a [`Place`](crate::signature::Place) of the command that was called.
    #[inline(always)]
    pub unsafe fn at(self, word: u8) -> *mut u64 {
        // SAFETY: the caller's duty.
        unsafe { self.0.add(usize::from(word)) }
    }

    /// Has the trampoline return `result`, extended to a register.
    #[inline(always)]
    pub fn set_result(self, result: u64) {
        // SAFETY: the frame begins with registers.
        unsafe { self.0.write(result) };
    }

    /// Calls `code` with the frame's arguments, and returns its result in the low bytes of a word.
    ///
    /// # Safety
    /// `code` is a function of a command with this signature, and the frame is of a call of it.
    #[inline(always)]
    pub unsafe fn call(self, code: *mut (), signature: &Signature) -> u64 {
        if signature.stack_words == 0
            && !signature.has(Signature::HAS_FLOATS | Signature::RETURNS_FLOAT)
        {
            // SAFETY: all arguments are in integer registers; those that the command does not have, it does
            // not look at.
            return unsafe { convention::call_with_integers(code, self.0) };
        }
        // SAFETY: passed on.
        unsafe { self.call_with_all(code, signature) }
    }

    #[inline(never)]
    unsafe fn call_with_all(self, code: *mut (), signature: &Signature) -> u64 {
        let mut stack = [0; STACK_WORDS_MAX];
        for (at, word) in stack.iter_mut().enumerate().take(signature.stack_words.into()) {
            // SAFETY: the caller has put so many there.
            let from = unsafe { self.0.add(convention::FIRST_STACK_WORD + at) };
            // SAFETY: as above.
            *word = unsafe { from.read() };
        }
        match signature.has(Signature::RETURNS_FLOAT) {
            // SAFETY: the command ignores arguments that it does not have, and the caller removes them from the
            // stack.
            false => unsafe { convention::call_with_all::<u64>(code, self.0, &stack) },
            // SAFETY: as above.
            true => unsafe { convention::call_with_all::<f64>(code, self.0, &stack) }.to_bits(),
        }
    }
}
