//! Callees: the functions that the loader offers, which handlers call. A function for which the loader has offered none
//! leads to a stand-in (`missing.rs`).

use std::sync::atomic::AtomicPtr;

use gapii_ze_api::functions::COUNT;

use crate::missing::MISSING;

/// The code that each handler calls; never null.
pub static CALLEES: [AtomicPtr<()>; COUNT] = missing();

/// Returns what is called before the loader offers callees: stand-ins.
pub const fn missing() -> [AtomicPtr<()>; COUNT] {
    let mut callees = [const { AtomicPtr::new(std::ptr::null_mut()) }; COUNT];
    let mut function = 0;
    while function < COUNT {
        callees[function] = AtomicPtr::new(MISSING[function].0.cast_mut());
        function += 1;
    }
    callees
}

/// The code that a handler calls, with the function type that the context asks for.
macro_rules! callee {
    ($function:ident) => {
        // Relaxed: code needs nothing else to be visible before it is called.
        std::mem::transmute::<*mut (), _>(
            $crate::callee::CALLEES[$function].load(std::sync::atomic::Ordering::Relaxed),
        )
    };
}
pub(crate) use callee;
