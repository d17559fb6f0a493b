//! Objects behind handles: boxes whose address is the handle. Also the results of functions.

use gapii_ze_api::types::{
    ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_NOT_READY,
    ZE_RESULT_SUCCESS, ze_result_t,
};

/// Result of a function: success, or an error code.
pub type Answer = Result<(), ze_result_t>;

/// An object without state. It has one byte, so that each has an address of its own.
#[derive(Default)]
pub struct Bare(#[expect(dead_code, reason = "for its address")] u8);

/// Runs the body of a function, and returns its result code.
pub fn answer(body: impl FnOnce() -> Answer) -> ze_result_t {
    body().err().unwrap_or(ZE_RESULT_SUCCESS)
}

/// The outcome of a function that queries or waits.
pub fn ready(is_ready: bool) -> Answer {
    if is_ready { Ok(()) } else { Err(ZE_RESULT_NOT_READY) }
}

/// Writes a result to the address that the program passed.
///
/// # Safety
/// `to` is null or writable.
pub unsafe fn give<T>(to: *mut T, value: T) -> Answer {
    if to.is_null() {
        return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
    // SAFETY: the caller's duty.
    unsafe { to.write(value) };
    Ok(())
}

/// Makes a handle of an object, and writes it to the address that the program passed.
///
/// # Safety
/// `to` is null or writable.
pub unsafe fn create<T, H>(to: *mut *mut H, object: T) -> Answer {
    if to.is_null() {
        return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
    // SAFETY: the caller's duty.
    unsafe { give(to, Box::into_raw(Box::new(object)).cast()) }
}

/// Returns the object behind a handle.
///
/// # Safety
/// `handle` is null, or was made of a `T` and is not destroyed.
pub unsafe fn get<'a, T, H>(handle: *mut H) -> Result<&'a T, ze_result_t> {
    // SAFETY: the caller's duty.
    unsafe { handle.cast::<T>().as_ref() }.ok_or(ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
}

/// # Safety
/// `handle` is null, or was made from a `T` and is not destroyed; nothing uses it.
pub unsafe fn destroy<T, H>(handle: *mut H) -> Answer {
    if handle.is_null() {
        return Err(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
    // SAFETY: handles come from boxes, and the caller's duty.
    drop(unsafe { Box::from_raw(handle.cast::<T>()) });
    Ok(())
}

/// Checks that the handle of an object without state is not null.
pub fn not_null<H>(handle: *mut H) -> Answer {
    if handle.is_null() { Err(ZE_RESULT_ERROR_INVALID_NULL_HANDLE) } else { Ok(()) }
}

/// Enumerates: writes the number of items if the program passes a count of 0, and otherwise up to `count` items.
///
/// # Safety
/// `count` is null or valid; `to` is null, or has room for `count` items.
pub unsafe fn enumerate<T>(count: *mut u32, to: *mut T, all: &[T]) -> Answer
where
    T: Copy,
{
    // SAFETY: the caller's duty.
    let count = unsafe { count.as_mut() }.ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
    let known = all.len() as u32;
    if *count == 0 || to.is_null() {
        *count = known;
        return Ok(());
    }
    *count = known.min(*count);
    // SAFETY: the caller's duty; at most `count` items are written.
    unsafe { to.copy_from_nonoverlapping(all.as_ptr(), *count as usize) };
    Ok(())
}
