//! Addresses of code in the tables.

/// Machine code. Its signature is the command's.
pub type Code = *mut ();

/// A function's address, whatever the function's type, in a table that never changes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Handler(pub *const ());

// SAFETY: a function's address can be read from any thread.
unsafe impl Sync for Handler {}
