//! Entries: the functions in the loader's tables. Each is one indirect jump through [`TARGETS`]: while no tracer is
//! enabled, to the callee itself, otherwise to the function's handler, which makes a traced call. The entry of a
//! function without a callee leads to its stand-in at all times.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use gapii_tracers::{Traced, Tracers};
use gapii_ze_api::for_each_function;
use gapii_ze_api::functions::*;

use crate::callee::{self, CALLEES};
use crate::code::Code;
use crate::handler::handlers;
use crate::missing::MISSING;

/// The tracers of all tools in the process.
pub static TRACERS: Tracers = Tracers::new(COUNT, switch);

/// The code that each entry jumps to.
pub static TARGETS: [AtomicPtr<()>; COUNT] = callee::missing();

/// Whether any tracer is enabled. The thread that holds this lock may change targets.
static IS_TRACING: Mutex<bool> = Mutex::new(false);

/// Makes `callee` the code that the entry of `function` leads to; null means the stand-in.
pub fn set_callee(function: usize, callee: *mut ()) {
    let is_tracing = IS_TRACING.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = MISSING[function].0.cast_mut();
    // Relaxed, here and below: code needs nothing else to be visible before it is called.
    CALLEES[function].store(if callee.is_null() { missing } else { callee }, Ordering::Relaxed);
    aim(function, *is_tracing);
}

/// Leads all entries to handlers while any tracer is enabled, and otherwise to callees.
fn switch(traced: &Traced<'_>) {
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
    let target =
        if trace && !is_missing { handlers::HANDLERS[function].0.cast_mut() } else { callee };
    TARGETS[function].store(target, Ordering::Relaxed);
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump_to_target {
    ($function:expr) => {
        core::arch::naked_asm!(
            "jmp qword ptr [rip + {targets} + {offset}]",
            targets = sym $crate::entry::TARGETS,
            offset = const $function * 8,
        )
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! jump_to_target {
    ($function:expr) => {
        core::arch::naked_asm!(
            "adrp x16, {targets} + {offset}",
            "ldr x16, [x16, :lo12:{targets} + {offset}]",
            "br x16",
            targets = sym $crate::entry::TARGETS,
            offset = const $function * 8,
        )
    };
}

/// Defines the entries.
macro_rules! entries {
    ($($constant:ident since $since:tt: $name:ident($($param:ident: $ty:ty),*) -> $result:ident,
       $registration:ident;)*) => {
        $(
            #[allow(non_snake_case)] // Spelled as the API spells it.
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                jump_to_target!($constant)
            }
        )*

        /// The entries, by id.
        pub static ENTRIES: [Code; COUNT] = [$(Code($name as *const ())),*];
    };
}
for_each_function!(entries);
for_each_function!(handlers);
