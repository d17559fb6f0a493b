//! What the [`trampoline`](crate::trampoline) and [`crate::traced`] share: where a traced call begins, and the frame
//! that holds its arguments.

use crate::convention::STUB_BYTES;
use crate::generated::ids;

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
/// of the trampoline's own, and the stack arguments.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Frame(*mut u64);

impl Frame {
    /// Returns the address of a word.
    ///
    /// # Safety
    /// `word` is one of a [`Place`](crate::shape::Place) of the command that was called.
    #[inline(always)]
    pub unsafe fn at(self, word: u8) -> *mut u64 {
        // SAFETY: the caller's duty.
        unsafe { self.0.add(usize::from(word)) }
    }
}
