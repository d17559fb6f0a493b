//! The driver's functions, by command id. Commands of the trace call what a program of this machine gets; where a
//! replay is itself recorded, that is the interceptor, which hears which of them are a snapshot's. What the player asks and
//! sets for itself goes past the interceptor to the driver below. A command whose function the driver lacks is skipped.
//!
//! The caller that takes a function names its type; see [`Driver::get`].

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

use gapii_commands::{Api, COUNT, CommandId};

use super::libraries::Interceptor;
use super::loader::Loader;
use crate::skip::Skip;

/// The functions that a driver has.
pub struct Driver {
    functions: Box<[Option<Address>]>,
    intercepted: Option<Intercepted>,
}

/// Entry points of the interceptor. An entry is null until it is first needed.
struct Intercepted {
    interceptor: Interceptor,
    entries: Box<[AtomicPtr<c_void>]>,
    /// `None` in an interceptor that does not want to hear it, as below.
    set_in_setup: Option<SetInSetup>,
    note_missing: Option<NoteMissing>,
}

/// The interceptor's `gapii_set_in_setup`.
type SetInSetup = unsafe extern "C" fn(c_int);

/// The interceptor's `gapii_note_missing`.
type NoteMissing = unsafe extern "C" fn(*const c_char) -> c_int;

thread_local! {
    /// Whether the interceptor was told that this thread plays commands of a snapshot.
    static IS_IN_SETUP: Cell<bool> = const { Cell::new(false) };
}

/// Address of a function.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Address(NonNull<c_void>);

// SAFETY: an address of code; by the contract of `Loader` any thread may call it.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Driver {
    /// Looks up the functions of `apis` with `loader`.
    pub fn load(loader: &dyn Loader, apis: &[Api]) -> Self {
        let find = |name: &str| loader.find(&CString::new(name).ok()?).map(Address);
        let functions = CommandId::all().map(|command| {
            let is_wanted = apis.contains(&command.api());
            is_wanted.then(|| find(command.name())).flatten()
        });
        let functions = functions.collect();
        let intercepted = loader.interceptor().map(|interceptor| Intercepted {
            interceptor,
            entries: (0..COUNT).map(|_| AtomicPtr::default()).collect(),
            // SAFETY: the interceptor's function of this name has this type.
            set_in_setup: interceptor
                .own(c"gapii_set_in_setup")
                .map(|found| unsafe { std::mem::transmute::<NonNull<c_void>, SetInSetup>(found) }),
            // SAFETY: as above.
            note_missing: interceptor
                .own(c"gapii_note_missing")
                .map(|found| unsafe { std::mem::transmute::<NonNull<c_void>, NoteMissing>(found) }),
        });
        Self { functions, intercepted }
    }

    /// Whether the driver has the function with this id.
    pub fn has(&self, function: u16) -> bool {
        self.functions.get(usize::from(function)).is_some_and(Option::is_some)
    }

    /// Whether commands of the trace call an interceptor.
    pub fn is_intercepted(&self) -> bool {
        self.intercepted.is_some()
    }

    /// Makes calls that are in no trace: an interceptor records them as set-up commands.
    pub(crate) fn in_setup<T>(&self, act: impl FnOnce() -> T) -> T {
        let before = IS_IN_SETUP.get();
        self.set_in_setup(true);
        let done = act();
        self.set_in_setup(before);
        done
    }

    /// Tells an interceptor whether the commands that this thread plays from here on are a snapshot's.
    pub(crate) fn set_in_setup(&self, is_in_setup: bool) {
        let told = self.intercepted.as_ref().and_then(|intercepted| intercepted.set_in_setup);
        if let Some(tell) = told
            && IS_IN_SETUP.replace(is_in_setup) != is_in_setup
        {
            // SAFETY: takes any number, in any thread that is in no command.
            unsafe { tell(is_in_setup.into()) };
        }
    }

    /// Tells an interceptor what the trace lacks. Returns false if it does not record this thread yet.
    pub(crate) fn note_missing(&self, sentences: &CStr) -> bool {
        let told = self.intercepted.as_ref().and_then(|intercepted| intercepted.note_missing);
        // SAFETY: a NUL-terminated string, in a thread that is in no command.
        told.is_none_or(|tell| unsafe { tell(sentences.as_ptr()) } != 0)
    }

    /// The function with this id, for commands of the trace. The call reaches an interceptor if
    /// there is one. The error names a function that the driver lacks.
    ///
    /// # Safety
    ///
    /// `F` is the type of that function: an `unsafe extern "C" fn` with its signature.
    pub unsafe fn get<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        const { assert!(size_of::<F>() == size_of::<Address>()) };
        let address = match &self.intercepted {
            None => self.address(function)?,
            Some(intercepted) => {
                let below = self.address(function)?;
                intercepted.entry(function).unwrap_or(below)
            }
        };
        // SAFETY: the caller's duty: `F` is a function pointer, and of the type of this function.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }

    /// The same function for the player's own needs. The call goes to the driver directly.
    ///
    /// # Safety
    ///
    /// As [`Self::get`].
    pub unsafe fn own<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        const { assert!(size_of::<F>() == size_of::<Address>()) };
        let address = self.address(function)?;
        // SAFETY: the caller's duty, as above.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }

    /// Notes the entry point that `eglGetProcAddress` returned to a played program. Later commands
    /// of that name call it.
    pub(crate) fn gave(&self, name: &[u8], entry: *mut c_void) {
        let found = std::str::from_utf8(name).ok().and_then(CommandId::named);
        if let (Some(function), Some(intercepted)) = (found, &self.intercepted)
            && self.functions[function.index()].is_some()
        {
            // Relaxed: the code at this address was loaded before the address was known.
            intercepted.entries[function.index()].store(entry, Ordering::Relaxed);
        }
    }

    fn address(&self, function: u16) -> Result<Address, Skip> {
        let found = self.functions.get(usize::from(function)).copied().flatten();
        found.ok_or_else(|| {
            let name = CommandId::new(function).map_or("", CommandId::name);
            Skip::from(format!("the driver has no {name}"))
        })
    }
}

impl Intercepted {
    fn entry(&self, function: u16) -> Option<Address> {
        let entry = self.entries.get(usize::from(function))?;
        // Relaxed: the code at this address was loaded before the address was known.
        if let Some(known) = NonNull::new(entry.load(Ordering::Relaxed)) {
            return Some(Address(known));
        }
        let command = CommandId::new(function)?;
        let name = CString::new(command.name()).ok()?;
        let is_intercepted = command.api() != Api::LevelZero;
        let found = is_intercepted.then(|| self.interceptor.find(&name)).flatten()?;
        entry.store(found.as_ptr(), Ordering::Relaxed);
        Some(Address(found))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use gapii_commands::ids;

    use super::*;

    struct Nothing;

    // SAFETY: it finds nothing.
    unsafe impl Loader for Nothing {
        fn find(&self, _: &CStr) -> Option<NonNull<c_void>> {
            None
        }
    }

    #[test]
    fn function_that_the_driver_lacks_is_named() {
        const CLEAR: u16 = ids::GL_CLEAR;
        let driver = Driver::load(&Nothing, &[Api::Gl]);
        // SAFETY: the type of glClear; it is not called.
        let found = unsafe { driver.get::<unsafe extern "C" fn(u32)>(CLEAR) };
        assert_eq!(
            found.err().map(|skip| skip.to_string()).as_deref(),
            Some("the driver has no glClear")
        );
    }
}
