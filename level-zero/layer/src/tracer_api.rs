//! `zelTracer…`: the functions that tools call. A null handle gives `ZE_RESULT_ERROR_INVALID_NULL_HANDLE`, a null
//! pointer `…_INVALID_NULL_POINTER`, a tracer that does not exist `…_INVALID_ARGUMENT`. Registering at a tracer that is
//! enabled or draining gives `…_INVALID_ARGUMENT`; destroying an enabled one, and enabling or disabling a draining one,
//! `…_HANDLE_OBJECT_IN_USE`. Enabling an enabled one succeeds and changes nothing; destroying a draining one waits for
//! its calls. In secure execution creating one gives `…_UNSUPPORTED_FEATURE`.

use std::ffi::c_char;
use std::ptr;

use gapii_tracers::{Callback, Moment, Refusal, TracerId};
use gapii_ze_api::callbacks::CORE;
use gapii_ze_api::for_each_function;
use gapii_ze_api::functions::*;
use gapii_ze_api::types::{
    ZE_API_VERSION_CURRENT, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, ZE_RESULT_ERROR_INVALID_ARGUMENT,
    ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZE_RESULT_SUCCESS, ZEL_REGISTER_PROLOGUE,
    ze_api_version_t, ze_result_t, zel_component_version_t, zel_tracer_desc_t, zel_tracer_handle_t,
    zel_tracer_reg_t, zel_version_t,
};

use crate::entry::TRACERS;
use crate::secure::is_secure;

/// `zel_tracer_dditable_t`.
#[repr(C)]
pub struct TracerTable {
    create: unsafe extern "C" fn(*const zel_tracer_desc_t, *mut zel_tracer_handle_t) -> ze_result_t,
    destroy: extern "C" fn(zel_tracer_handle_t) -> ze_result_t,
    set_prologues: unsafe extern "C" fn(zel_tracer_handle_t, *const CoreCallbacks) -> ze_result_t,
    set_epilogues: unsafe extern "C" fn(zel_tracer_handle_t, *const CoreCallbacks) -> ze_result_t,
    set_enabled: extern "C" fn(zel_tracer_handle_t, u8) -> ze_result_t,
}

/// `ze_callbacks_t`: one callback for each function of [`CORE`].
type CoreCallbacks = [Option<Callback>; CORE.len()];

/// Fills the table of the tracers' functions, which are the same in every version.
///
/// # Safety
/// The table is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zelGetTracerApiProcAddrTable(
    _version: ze_api_version_t,
    table: *mut TracerTable,
) -> ze_result_t {
    if table.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    let functions = TracerTable { create, destroy, set_prologues, set_epilogues, set_enabled };
    // SAFETY: the caller's duty.
    unsafe { table.write(functions) };
    ZE_RESULT_SUCCESS
}

/// Writes the version of the layer.
///
/// # Safety
/// The version is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zelLoaderGetVersion(version: *mut zel_component_version_t) -> ze_result_t {
    if version.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    let mut component_name: [c_char; 64] = [0; 64];
    for (to, from) in component_name.iter_mut().zip(*b"tracing layer") {
        *to = from as c_char;
    }
    let number = |text: &str| text.parse().unwrap_or(0);
    let component_lib_version = zel_version_t {
        major: number(env!("CARGO_PKG_VERSION_MAJOR")),
        minor: number(env!("CARGO_PKG_VERSION_MINOR")),
        patch: number(env!("CARGO_PKG_VERSION_PATCH")),
    };
    let ours = zel_component_version_t {
        component_name,
        spec_version: ZE_API_VERSION_CURRENT,
        component_lib_version,
    };
    // SAFETY: the caller's duty.
    unsafe { version.write(ours) };
    ZE_RESULT_SUCCESS
}

/// Removes all callbacks of a tracer.
#[unsafe(no_mangle)]
pub extern "C" fn zelTracerResetAllCallbacks(tracer: zel_tracer_handle_t) -> ze_result_t {
    with(tracer, |tracer| registered(TRACERS.reset(tracer)))
}

/// Defines for each function the export that registers its callbacks. A callback has a type of its own, which the
/// function's [handler](crate::handler) restores.
macro_rules! registrars {
    ($($constant:ident since $since:tt: $name:ident($($param:ident: $ty:ty),*) -> $result:ident,
       $registration:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $registration(
                tracer: zel_tracer_handle_t,
                moment: zel_tracer_reg_t,
                callback: Option<Callback>,
            ) -> ze_result_t {
                register(tracer, $constant, moment, callback)
            }
        )*
    };
}
for_each_function!(registrars);

/// Registers a callback. Every kind that is not a prologue counts as an epilogue.
fn register(
    tracer: zel_tracer_handle_t,
    function: usize,
    moment: zel_tracer_reg_t,
    callback: Option<Callback>,
) -> ze_result_t {
    let moment = if moment == ZEL_REGISTER_PROLOGUE { Moment::Prologue } else { Moment::Epilogue };
    with(tracer, |tracer| registered(TRACERS.register(tracer, function, moment, callback)))
}

unsafe extern "C" fn create(
    desc: *const zel_tracer_desc_t,
    tracer: *mut zel_tracer_handle_t,
) -> ze_result_t {
    if desc.is_null() || tracer.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if is_secure() {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    // SAFETY: the caller's duty where it is not null.
    let user_data = unsafe { (*desc).pUserData };
    let id = TRACERS.create(user_data);
    // SAFETY: as above.
    unsafe { tracer.write(ptr::without_provenance_mut(id.number())) };
    ZE_RESULT_SUCCESS
}

extern "C" fn destroy(tracer: zel_tracer_handle_t) -> ze_result_t {
    with(tracer, |tracer| state_changed(TRACERS.destroy(tracer)))
}

extern "C" fn set_enabled(tracer: zel_tracer_handle_t, enable: u8) -> ze_result_t {
    with(tracer, |tracer| state_changed(TRACERS.set_enabled(tracer, enable != 0)))
}

unsafe extern "C" fn set_prologues(
    tracer: zel_tracer_handle_t,
    callbacks: *const CoreCallbacks,
) -> ze_result_t {
    // SAFETY: the caller's duty.
    unsafe { set_all(tracer, Moment::Prologue, callbacks) }
}

unsafe extern "C" fn set_epilogues(
    tracer: zel_tracer_handle_t,
    callbacks: *const CoreCallbacks,
) -> ze_result_t {
    // SAFETY: the caller's duty.
    unsafe { set_all(tracer, Moment::Epilogue, callbacks) }
}

/// # Safety
/// `callbacks` are null or readable.
unsafe fn set_all(
    tracer: zel_tracer_handle_t,
    moment: Moment,
    callbacks: *const CoreCallbacks,
) -> ze_result_t {
    with(tracer, |tracer| {
        // SAFETY: the caller's duty.
        let Some(callbacks) = (unsafe { callbacks.as_ref() }) else {
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
        };
        let callbacks = CORE.into_iter().zip(callbacks.iter().copied());
        registered(TRACERS.register_all(tracer, moment, callbacks))
    })
}

/// Handles are the tracers' numbers. A handle that names no tracer is refused later.
fn with(tracer: zel_tracer_handle_t, then: impl FnOnce(TracerId) -> ze_result_t) -> ze_result_t {
    if tracer.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    then(TracerId::new(tracer.addr()))
}

/// Returns the result code of a registration.
fn registered(done: Result<(), Refusal>) -> ze_result_t {
    match done {
        Ok(()) => ZE_RESULT_SUCCESS,
        Err(Refusal::Unknown | Refusal::Enabled | Refusal::Draining) => {
            ZE_RESULT_ERROR_INVALID_ARGUMENT
        }
    }
}

/// Returns the result code of enabling, disabling and destroying.
fn state_changed(done: Result<(), Refusal>) -> ze_result_t {
    match done {
        Ok(()) => ZE_RESULT_SUCCESS,
        Err(Refusal::Unknown) => ZE_RESULT_ERROR_INVALID_ARGUMENT,
        Err(Refusal::Enabled | Refusal::Draining) => ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
    }
}
