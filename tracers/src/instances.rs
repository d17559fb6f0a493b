//! `Instances`: what each tracer's prologue leaves for its epilogue, in one call.

use std::ffi::c_void;
use std::ptr;

/// As many tracers need no allocation.
const INLINE: usize = 8;

/// One pointer for each tracer, null at first.
#[derive(Debug)]
pub struct Instances {
    first: [*mut c_void; INLINE],
    more: Vec<*mut c_void>,
}

impl Instances {
    pub fn new(count: usize) -> Self {
        Self {
            first: [ptr::null_mut(); INLINE],
            more: vec![ptr::null_mut(); count.saturating_sub(INLINE)],
        }
    }

    /// The pointers, in order; more of them than were asked for.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut *mut c_void> {
        self.first.iter_mut().chain(&mut self.more)
    }
}
