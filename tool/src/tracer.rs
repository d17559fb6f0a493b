//! `Tracer`: closures around commands. Dropping it disables and destroys the tracer; afterwards no closure runs, except
//! in a traced call from inside of which it was dropped. The closures are never freed. Closures can be added only while
//! the tracer is disabled.

use std::ffi::{CStr, c_void};
use std::ptr;

use gapii_tool_api::{gapii_call, gapii_callback, gapii_tracer};

use crate::library::Library;
use crate::{Command, Epilogue, Error, Prologue};

/// Closures that run before and after calls of commands, while the tracer is enabled. A new tracer is disabled.
///
/// Dropping a tracer disables and destroys it. Afterwards none of its closures runs, except in a traced call from which
/// the tracer was dropped. For the sake of this call the closures are never freed.
#[derive(Debug)]
pub struct Tracer {
    library: &'static Library,
    hooks: Vec<Hook>,
    is_enabled: bool,
}

/// A pair of closures. Each is a separate tracer of libgapii, because a libgapii tracer has one `user_data`.
#[derive(Debug)]
struct Hook {
    tracer: gapii_tracer,
    command: &'static str,
}

// SAFETY: a libgapii tracer may be used from any thread.
unsafe impl Send for Hook {}
// SAFETY: as above.
unsafe impl Sync for Hook {}

type Before<C, T> = dyn Fn(&mut Prologue<'_, C>) -> T + Send + Sync;
type After<C, T> = dyn Fn(&mut Epilogue<'_, C>, T) + Send + Sync;

/// The closures around calls of `C`. `T` is the value that a prologue passes to its epilogue.
struct Pair<C: Command, T> {
    library: &'static Library,
    prologue: Box<Before<C, T>>,
    epilogue: Box<After<C, T>>,
}

impl Tracer {
    /// Creates a tracer without closures. [`Error::NotLoaded`] if libgapii is not in this process.
    pub fn new() -> Result<Self, Error> {
        Ok(Self { library: Library::get()?, hooks: Vec::new(), is_enabled: false })
    }

    /// Runs `prologue` before each call of `C`.
    pub fn prologue<C: Command>(
        &mut self,
        prologue: impl Fn(&mut Prologue<'_, C>) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let pair = Pair {
            library: self.library,
            prologue: Box::new(prologue),
            epilogue: Box::new(|_, ()| {}),
        };
        self.add(pair, Some(before::<C>), None)
    }

    /// Runs `epilogue` after each call of `C`.
    pub fn epilogue<C: Command>(
        &mut self,
        epilogue: impl Fn(&mut Epilogue<'_, C>) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let pair = Pair {
            library: self.library,
            prologue: Box::new(|_| {}),
            epilogue: Box::new(move |call, ()| epilogue(call)),
        };
        self.add(pair, None, Some(after::<C>))
    }

    /// Runs both around each call of `C`. The epilogue gets the value that the prologue of the same call returned.
    pub fn around<C: Command, T: 'static>(
        &mut self,
        prologue: impl Fn(&mut Prologue<'_, C>) -> T + Send + Sync + 'static,
        epilogue: impl Fn(&mut Epilogue<'_, C>, T) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let (prologue, epilogue) = (Box::new(prologue), Box::new(epilogue));
        let pair = Pair { library: self.library, prologue, epilogue };
        self.add(pair, Some(before_around::<C, T>), Some(after_around::<C, T>))
    }

    /// Enables the tracer: calls that begin from now on run its closures, after those of tracers that were enabled
    /// earlier.
    pub fn enable(&mut self) -> Result<(), Error> {
        self.is_enabled = true;
        self.each(|library, tracer| {
            // SAFETY: a tracer of the library's, not destroyed yet.
            unsafe { (library.tracer_enable)(tracer) }
        })
    }

    /// Disables the tracer: calls that begin from now on run none of its closures. Calls that have run their prologue
    /// still run their epilogue; until then most operations return [`Error::Draining`].
    pub fn disable(&mut self) -> Result<(), Error> {
        self.is_enabled = false;
        self.each(|library, tracer| {
            // SAFETY: as above.
            unsafe { (library.tracer_disable)(tracer) }
        })
    }

    /// Adds a pair that runs in these callbacks; each callback gets the pair's address.
    fn add<C: Command, T>(
        &mut self,
        pair: Pair<C, T>,
        prologue: gapii_callback,
        epilogue: gapii_callback,
    ) -> Result<(), Error> {
        if self.is_enabled {
            return Err(Error::Enabled);
        }
        let command = C::NAME.to_str().unwrap_or_default();
        let pair: *mut Pair<C, T> = Box::into_raw(Box::new(pair));
        let mut tracer: gapii_tracer = ptr::null_mut();
        // SAFETY: writable.
        let created = unsafe { (self.library.tracer_create)(pair.cast(), &raw mut tracer) };
        Error::check(created, command)?;
        self.hooks.push(Hook { tracer, command });
        let name: &CStr = C::NAME;
        // SAFETY: a NUL-terminated name, and a callback for this very command.
        let registered =
            unsafe { (self.library.tracer_register_prologue)(tracer, name.as_ptr(), prologue) };
        Error::check(registered, command)?;
        // SAFETY: as above.
        let registered =
            unsafe { (self.library.tracer_register_epilogue)(tracer, name.as_ptr(), epilogue) };
        Error::check(registered, command)
    }

    /// Applies `act` to all pairs, and returns the first error.
    fn each(&self, act: impl Fn(&Library, gapii_tracer) -> i32) -> Result<(), Error> {
        let done = self
            .hooks
            .iter()
            .map(|hook| Error::check(act(self.library, hook.tracer), hook.command));
        done.fold(Ok(()), Result::and)
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // A draining tracer is disabled already.
        let _ = self.disable();
        let _ = self.each(|library, tracer| {
            // SAFETY: as above, and nothing uses it afterwards.
            unsafe { (library.tracer_destroy)(tracer) }
        });
    }
}

unsafe extern "C" fn before<C: Command>(
    call: *mut gapii_call,
    pair: *mut c_void,
    _instance: *mut *mut c_void,
) {
    // SAFETY: the address that `add` registered, which is never freed.
    let pair = unsafe { &*pair.cast::<Pair<C, ()>>() };
    // SAFETY: a prologue of `C`.
    (pair.prologue)(&mut unsafe { Prologue::new(pair.library, call) });
}

unsafe extern "C" fn after<C: Command>(
    call: *mut gapii_call,
    pair: *mut c_void,
    _instance: *mut *mut c_void,
) {
    // SAFETY: as above.
    let pair = unsafe { &*pair.cast::<Pair<C, ()>>() };
    // SAFETY: an epilogue of `C`.
    (pair.epilogue)(&mut unsafe { Epilogue::new(pair.library, call) }, ());
}

unsafe extern "C" fn before_around<C: Command, T>(
    call: *mut gapii_call,
    pair: *mut c_void,
    instance: *mut *mut c_void,
) {
    // SAFETY: as above.
    let pair = unsafe { &*pair.cast::<Pair<C, T>>() };
    // SAFETY: a prologue of `C`.
    let left = (pair.prologue)(&mut unsafe { Prologue::new(pair.library, call) });
    // SAFETY: the instance word of this call and this tracer.
    unsafe { *instance = Box::into_raw(Box::new(left)).cast() };
}

unsafe extern "C" fn after_around<C: Command, T>(
    call: *mut gapii_call,
    pair: *mut c_void,
    instance: *mut *mut c_void,
) {
    // SAFETY: as above.
    let pair = unsafe { &*pair.cast::<Pair<C, T>>() };
    // SAFETY: as above.
    let left = unsafe { *instance };
    // SAFETY: the value that the prologue of the same call left; each prologue has one epilogue.
    let left = unsafe { Box::from_raw(left.cast::<T>()) };
    // SAFETY: an epilogue of `C`.
    (pair.epilogue)(&mut unsafe { Epilogue::new(pair.library, call) }, *left);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_without_libgapii_gets_an_error() {
        let error = Tracer::new().expect_err("no test is run with gapii");
        assert_eq!(error, Error::NotLoaded);
        assert!(error.to_string().contains("gapii-ctl run"), "{error}");
    }
}
