//! `Prologue` and `Epilogue`: a call, as a closure gets it.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

use gapii_tool_api::gapii_call;

use crate::Command;
use crate::library::Library;

/// A call that the driver has not got yet.
#[derive(Debug)]
pub struct Prologue<'a, C: Command>(Raw<'a, C>);

/// A call that has returned.
#[derive(Debug)]
pub struct Epilogue<'a, C: Command>(Raw<'a, C>);

impl<'a, C: Command> Prologue<'a, C> {
    /// # Safety
    /// `call` is what a prologue of `C` got, which has not returned.
    pub(crate) unsafe fn new(library: &'a Library, call: *mut gapii_call) -> Self {
        Self(Raw { library, call, _command: PhantomData })
    }

    /// Copies of the parameters: later prologues, the driver and epilogues see what is written here. What a
    /// pointer leads to is the program's.
    pub fn params(&mut self) -> &mut C::Params {
        self.0.params()
    }

    /// What the program gets if the call is skipped. All bits are zero at first.
    pub fn result(&mut self) -> &mut C::Result {
        self.0.result()
    }

    /// Has the call not reach the driver.
    pub fn skip(&mut self) {
        // SAFETY: the call has not returned.
        unsafe { (self.0.library.call_skip)(self.0.call) };
    }

    /// Whether this or another prologue has had the call skipped.
    pub fn is_skipped(&self) -> bool {
        self.0.is_skipped()
    }
}

impl<'a, C: Command> Epilogue<'a, C> {
    /// # Safety
    /// `call` is what an epilogue of `C` got, which has not returned.
    pub(crate) unsafe fn new(library: &'a Library, call: *mut gapii_call) -> Self {
        Self(Raw { library, call, _command: PhantomData })
    }

    /// The parameters, as the driver got them.
    pub fn params(&mut self) -> &C::Params {
        self.0.params()
    }

    /// The driver's result, or that of a call that was skipped. The program gets what is left here.
    pub fn result(&mut self) -> &mut C::Result {
        self.0.result()
    }

    /// Whether a prologue has had the call skipped.
    pub fn is_skipped(&self) -> bool {
        self.0.is_skipped()
    }
}

/// A call of `C`, which has not returned.
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
        // SAFETY: the structure of the call's command, for nobody else while the closure runs.
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
/// `place` leads to a `T` that nobody else looks at, or `T` has no size.
unsafe fn there<'a, T>(place: *mut c_void) -> &'a mut T {
    let mut place = match size_of::<T>() {
        0 => NonNull::dangling(),
        // SAFETY: the caller's duty.
        _ => unsafe { NonNull::new_unchecked(place.cast()) },
    };
    // SAFETY: the caller's duty.
    unsafe { place.as_mut() }
}
