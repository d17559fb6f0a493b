//! `Library`: libgapii's functions in this process. If libgapii is not there, or lacks a function because it is older,
//! each look-up fails and the next one tries again.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use gapii_tool_api::{gapii_call, gapii_callback, gapii_result, gapii_tracer};

use crate::Error;

type Register = unsafe extern "C" fn(gapii_tracer, *const c_char, gapii_callback) -> gapii_result;
type Change = unsafe extern "C" fn(gapii_tracer) -> gapii_result;
type Part = unsafe extern "C" fn(*mut gapii_call) -> *mut c_void;
type Create = unsafe extern "C" fn(*mut c_void, *mut gapii_tracer) -> gapii_result;
type Skip = unsafe extern "C" fn(*mut gapii_call) -> gapii_result;
type Is = unsafe extern "C" fn(*mut gapii_call) -> bool;

/// The functions of `gapii.h`.
#[derive(Debug)]
pub struct Library {
    /// `gapii_tracer_create`.
    pub tracer_create: Create,
    /// `gapii_tracer_register_prologue`.
    pub tracer_register_prologue: Register,
    /// `gapii_tracer_register_epilogue`.
    pub tracer_register_epilogue: Register,
    /// `gapii_tracer_enable`.
    pub tracer_enable: Change,
    /// `gapii_tracer_disable`.
    pub tracer_disable: Change,
    /// `gapii_tracer_destroy`.
    pub tracer_destroy: Change,
    /// `gapii_call_params`.
    pub call_params: Part,
    /// `gapii_call_result`.
    pub call_result: Part,
    /// `gapii_call_skip`.
    pub call_skip: Skip,
    /// `gapii_call_is_skipped`.
    pub call_is_skipped: Is,
}

/// Looks up a function of the library, by the name and with the type that `gapii.h` declares.
macro_rules! find {
    ($name:literal as $ty:ty) => {{
        let address = find($name)?;
        // SAFETY: the header declares the function of that name with this type.
        unsafe { std::mem::transmute::<*mut c_void, $ty>(address) }
    }};
}

impl Library {
    /// Returns the library. Repeats the look-up at each call until it succeeds. The library is never unloaded.
    pub fn get() -> Result<&'static Self, Error> {
        static FOUND: OnceLock<Library> = OnceLock::new();
        match FOUND.get() {
            Some(found) => Ok(found),
            None => Self::find().map(|found| FOUND.get_or_init(|| found)),
        }
    }

    fn find() -> Result<Self, Error> {
        if symbol(c"gapii_tracer_create").is_null() {
            return Err(Error::NotLoaded);
        }
        Ok(Self {
            tracer_create: find!(c"gapii_tracer_create" as Create),
            tracer_register_prologue: find!(c"gapii_tracer_register_prologue" as Register),
            tracer_register_epilogue: find!(c"gapii_tracer_register_epilogue" as Register),
            tracer_enable: find!(c"gapii_tracer_enable" as Change),
            tracer_disable: find!(c"gapii_tracer_disable" as Change),
            tracer_destroy: find!(c"gapii_tracer_destroy" as Change),
            call_params: find!(c"gapii_call_params" as Part),
            call_result: find!(c"gapii_call_result" as Part),
            call_skip: find!(c"gapii_call_skip" as Skip),
            call_is_skipped: find!(c"gapii_call_is_skipped" as Is),
        })
    }
}

/// Returns the address of a symbol, which is not null.
fn find(name: &'static CStr) -> Result<*mut c_void, Error> {
    let address = symbol(name);
    if address.is_null() {
        return Err(Error::Older(name.to_str().unwrap_or_default()));
    }
    Ok(address)
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a NUL-terminated string; searches the libraries that are loaded.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}
