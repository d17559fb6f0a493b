//! The functions, by subject.
//!
//! The caller's duties are those in the specification: handles refer to living objects, and pointers to memory.
#![allow(
    clippy::missing_safety_doc,
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    non_snake_case,
    unsafe_op_in_unsafe_fn
)]

pub mod context;
pub mod device;
pub mod driver;
pub mod event;
pub mod fence;
pub mod image;
pub mod list;
pub mod memory;
pub mod module;
pub mod queue;

use gapii_ze_api::types::*;

use crate::object::Answer;

/// The handles of the only driver and the only device, which have no state.
static DRIVER: u8 = 0;
static DEVICE: u8 = 0;

fn the_driver() -> ze_driver_handle_t {
    (&raw const DRIVER).cast_mut().cast()
}

fn the_device() -> ze_device_handle_t {
    (&raw const DEVICE).cast_mut().cast()
}

fn is_driver(handle: ze_driver_handle_t) -> Answer {
    is_the(handle, the_driver())
}

fn is_device(handle: ze_device_handle_t) -> Answer {
    is_the(handle, the_device())
}

fn is_the<H>(handle: *mut H, known: *mut H) -> Answer {
    match handle {
        null if null.is_null() => Err(ZE_RESULT_ERROR_INVALID_NULL_HANDLE),
        handle if handle == known => Ok(()),
        _ => Err(ZE_RESULT_ERROR_INVALID_ARGUMENT),
    }
}

/// Converts a name to the API's fixed-size form.
fn name<const LENGTH: usize>(text: &str) -> [core::ffi::c_char; LENGTH] {
    let mut name = [0; LENGTH];
    for (to, from) in name.iter_mut().zip(text.bytes().take(LENGTH - 1)) {
        *to = from as core::ffi::c_char;
    }
    name
}
