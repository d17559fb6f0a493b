//! `Code`: the address of a function.

/// The address of a function of any type.
#[derive(Clone, Copy)]
pub struct Code(pub *const ());

// SAFETY: any thread may read code, which does not change.
unsafe impl Sync for Code {}
