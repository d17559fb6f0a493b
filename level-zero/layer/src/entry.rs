//! Entries: the functions in the loader's tables. Each is one indirect jump through [`TARGETS`].
//!
//! While no tracer is enabled, a target is the callee itself; otherwise it is the function's handler, which makes a
//! traced call. The entry of a function without a callee answers so at all times.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use gapii_tracers::Traced;
use gapii_ze_api::functions::COUNT;

use crate::generated::entries::{HANDLERS, MISSING};

/// The address of a function of any type.
#[derive(Clone, Copy)]
pub struct Code(pub *const ());

// SAFETY: any thread may read code, which does not change.
unsafe impl Sync for Code {}

/// The code that each entry jumps to.
pub static TARGETS: [AtomicPtr<()>; COUNT] = missing();
/// The code that each handler calls; never null.
pub static CALLEES: [AtomicPtr<()>; COUNT] = missing();

/// Whether any tracer is enabled. The thread that holds this lock may change targets.
static IS_TRACING: Mutex<bool> = Mutex::new(false);

const fn missing() -> [AtomicPtr<()>; COUNT] {
    let mut targets = [const { AtomicPtr::new(std::ptr::null_mut()) }; COUNT];
    let mut function = 0;
    while function < COUNT {
        targets[function] = AtomicPtr::new(MISSING[function].0.cast_mut());
        function += 1;
    }
    targets
}

/// Makes `callee` the code that `function` leads to; null if there is none.
pub fn set_callee(function: usize, callee: *mut ()) {
    let is_tracing = IS_TRACING.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = MISSING[function].0.cast_mut();
    // Relaxed, here and below: code needs nothing else to be visible before it is called.
    CALLEES[function].store(if callee.is_null() { missing } else { callee }, Ordering::Relaxed);
    aim(function, *is_tracing);
}

/// Leads all entries to handlers while any tracer is enabled, and otherwise to callees.
pub fn switch(traced: &Traced<'_>) {
    let trace = traced.is_any();
    let mut is_tracing = IS_TRACING.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::replace(&mut *is_tracing, trace) != trace {
        (0..COUNT).for_each(|function| aim(function, trace));
    }
}

/// A thread that has just read the old target does no harm: a handler without tracers only calls the callee, and a
/// call that began before a tracer was enabled is not traced.
fn aim(function: usize, trace: bool) {
    let callee = CALLEES[function].load(Ordering::Relaxed);
    let is_missing = callee == MISSING[function].0.cast_mut();
    let target = if trace && !is_missing { HANDLERS[function].0.cast_mut() } else { callee };
    TARGETS[function].store(target, Ordering::Relaxed);
}

/// Defines the entry of a function.
macro_rules! entry {
    ($name:ident, $function:ident) => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            $crate::entry::jump_to_target!($function)
        }
    };
}
pub(crate) use entry;

#[cfg(target_arch = "x86_64")]
macro_rules! jump_to_target {
    ($function:ident) => {
        core::arch::naked_asm!(
            "jmp qword ptr [rip + {targets} + {offset}]",
            targets = sym $crate::entry::TARGETS,
            offset = const $function * 8,
        )
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! jump_to_target {
    ($function:ident) => {
        core::arch::naked_asm!(
            "adrp x16, {targets} + {offset}",
            "ldr x16, [x16, :lo12:{targets} + {offset}]",
            "br x16",
            targets = sym $crate::entry::TARGETS,
            offset = const $function * 8,
        )
    };
}
pub(crate) use jump_to_target;

/// The code that a handler calls, with the function type that the context asks for.
macro_rules! callee {
    ($function:ident) => {
        // Relaxed: code needs nothing else to be visible before it is called.
        std::mem::transmute::<*mut (), _>(
            $crate::entry::CALLEES[$function].load(std::sync::atomic::Ordering::Relaxed),
        )
    };
}
pub(crate) use callee;
