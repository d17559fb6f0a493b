//! Objects behind handles: boxes whose address is the handle. And what functions answer.

use gapii_ze_api::types::{
    ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_NOT_READY,
    ZE_RESULT_SUCCESS, ze_result_t,
};

/// What a function answers: success, or a code.
pub type Answer = Result<(), ze_result_t>;

/// An object of which nothing is kept but its handle: it has a byte, so that each has an address of its own.
#[derive(Default)]
pub struct Bare(#[expect(dead_code, reason = "for its address")] u8);

/// Runs the body of a function.
pub fn answer(body: impl FnOnce() -> Answer) -> ze_result_t {
    body().err().unwrap_or(ZE_RESULT_SUCCESS)
}

/// What a function answers that asks or waits for something.
pub fn ready(is_ready: bool) -> Answer {
    if is_ready { Ok(()) } else { Err(ZE_RESULT_NOT_READY) }
}

/// Writes a result to where the program wants it.
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

/// Makes a handle of an object, and writes it to where the program wants it.
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

/// The object behind a handle.
///
/// # Safety
/// `handle` is null, or was made of a `T` and is not destroyed.
pub unsafe fn get<'a, T, H>(handle: *mut H) -> Result<&'a T, ze_result_t> {
    // SAFETY: the caller's duty.
    unsafe { handle.cast::<T>().as_ref() }.ok_or(ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
}

/// # Safety
/// `handle` is null, or was made of a `T` and is not destroyed; nobody uses it.
pub unsafe fn destroy<T, H>(handle: *mut H) -> Answer {
    if handle.is_null() {
        return Err(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
    // SAFETY: handles come out of boxes, and the caller's duty.
    drop(unsafe { Box::from_raw(handle.cast::<T>()) });
    Ok(())
}

/// What a handle must be where there is nothing else to know of it.
pub fn not_null<H>(handle: *mut H) -> Answer {
    if handle.is_null() { Err(ZE_RESULT_ERROR_INVALID_NULL_HANDLE) } else { Ok(()) }
}

/// Enumerates: tells how many there are where the program asks for none, and gives as many as it takes.
///
/// # Safety
/// `count` is null or valid; `to` is null, or has room for as many as `count` says.
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
    // SAFETY: the caller's duty, for no more than `count` says.
    unsafe { to.copy_from_nonoverlapping(all.as_ptr(), *count as usize) };
    Ok(())
}
