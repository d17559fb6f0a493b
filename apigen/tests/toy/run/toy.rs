//! The hand-written functions that the toy's descriptions declare with `extern`.

use crate::{At, Memory, NO_PARAM, Observer, Scope, Thread, Values, Whole};

/// The address that [`changed_maps`] observes.
pub const CHANGED_MAPS: u64 = 0xc0de;

/// Called first by a command with `@consumes`: observes one byte at [`CHANGED_MAPS`], so that tests notice the call.
pub fn changed_maps<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    _thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
) {
    seen.range(NO_PARAM, CHANGED_MAPS, 1);
}

/// Observes the enabled client arrays.
pub fn arrays_used<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    first: i64,
    count: i64,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let arrays = context.arrays.iter().filter(|array| array.enabled && array.buffer.is_none());
    for array in arrays {
        let stride = i64::from(array.stride);
        let bytes = (count * stride) as u64;
        seen.range(NO_PARAM, array.pointer.wrapping_add((first * stride) as u64), bytes);
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of every observer, and three of the declaration"
)]
pub fn image<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    _thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    width: i32,
    height: i32,
    bytes_per_pixel: i32,
) {
    seen.range(param, pointer, (width * height * bytes_per_pixel) as u64);
}

pub use image as image_back;

pub fn highest_index<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    indices: u64,
    count: i64,
    bytes: i64,
) -> i64 {
    let index = |at| match bytes {
        1 => i64::from(memory.element::<u8>(indices, at)),
        _ => i64::from(memory.element::<u16>(indices, at)),
    };
    (0..count).map(index).max().unwrap_or(-1)
}

/// Takes the locks that generated code must not hold. If generated code held one, the test would deadlock.
pub fn count_draw<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    indexed: bool,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let _process = thread.process.lock();
    let _group = context.group.lock();
    context.row_length += if indexed { 10 } else { 1 };
}

pub fn note_draw<M: Memory + ?Sized>(thread: &mut Thread<Whole>, _memory: &M, count: i64) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    if let Some(scale) = context.scales.at_mut(0) {
        *scale += count as f64;
    }
}
