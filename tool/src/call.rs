//! `Prologue` and `Epilogue`: a traced call, as closures receive it. Only a prologue can change parameters or skip the
//! call; both can change the result that the program gets. In a prologue all bits of the result are zero at first.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

use gapii_tool_api::gapii_call;

use crate::Command;
use crate::library::Library;

/// A call that has not reached the driver yet.
#[derive(Debug)]
pub struct Prologue<'a, C: Command>(Raw<'a, C>);

/// A call that has returned.
#[derive(Debug)]
pub struct Epilogue<'a, C: Command>(Raw<'a, C>);

impl<'a, C: Command> Prologue<'a, C> {
    /// # Safety
    /// `call` was passed to a prologue of `C` that has not returned.
    pub(crate) unsafe fn new(library: &'a Library, call: *mut gapii_call) -> Self {
        Self(Raw { library, call, _command: PhantomData })
    }

    /// Returns copies of the parameters. Later prologues, the driver and epilogues see changes of these copies. Memory
    /// behind pointers belongs to the program.
    pub fn params(&mut self) -> &mut C::Params {
        self.0.params()
    }

    /// Returns the result that the program gets if the call is skipped. Initially all of its bits are zero.
    pub fn result(&mut self) -> &mut C::Result {
        self.0.result()
    }

    /// Keeps the call from reaching the driver.
    pub fn skip(&mut self) {
        // SAFETY: the call has not returned.
        unsafe { (self.0.library.call_skip)(self.0.call) };
    }

    /// Whether this or another prologue has skipped the call.
    pub fn is_skipped(&self) -> bool {
        self.0.is_skipped()
    }
}

impl<'a, C: Command> Epilogue<'a, C> {
    /// # Safety
    /// `call` was passed to an epilogue of `C` that has not returned.
    pub(crate) unsafe fn new(library: &'a Library, call: *mut gapii_call) -> Self {
        Self(Raw { library, call, _command: PhantomData })
    }

    /// Returns the parameters that the driver received.
    pub fn params(&mut self) -> &C::Params {
        self.0.params()
    }

    /// Returns the driver's result, or the result of a call that was skipped. The program gets the value that the
    /// epilogues leave here.
    pub fn result(&mut self) -> &mut C::Result {
        self.0.result()
    }

    /// Whether a prologue has skipped the call.
    pub fn is_skipped(&self) -> bool {
        self.0.is_skipped()
    }
}

/// A call of `C` that has not returned.
#[derive(Debug)]
struct Raw<'a, C> {
    library: &'a Library,
    call: *mut gapii_call,
    _command: PhantomData<C>,
}

impl<C: Command> Raw<'_, C> {
    fn params(&mut self) -> &mut C::Params {
        // SAFETY: the call has not returned.
        let params = unsafe { (self.library.call_params)(self.call) };
        // SAFETY: the structure of the call's command; nothing else uses it while the closure runs.
        unsafe { there(params) }
    }

    fn result(&mut self) -> &mut C::Result {
        // SAFETY: the call has not returned.
        let result = unsafe { (self.library.call_result)(self.call) };
        // SAFETY: as above; numbers and pointers may have any bits.
        unsafe { there(result) }
    }

    fn is_skipped(&self) -> bool {
        // SAFETY: the call has not returned.
        unsafe { (self.library.call_is_skipped)(self.call) }
    }
}

/// # Safety
/// `place` points to a `T` that nothing else uses, or `T` has no size.
unsafe fn there<'a, T>(place: *mut c_void) -> &'a mut T {
    let mut place = match size_of::<T>() {
        0 => NonNull::dangling(),
        // SAFETY: the caller's duty.
        _ => unsafe { NonNull::new_unchecked(place.cast()) },
    };
    // SAFETY: the caller's duty.
    unsafe { place.as_mut() }
}
