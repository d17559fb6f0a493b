//! Hooks of EGL commands, and those of GLX beside them, that the shim watches at all times, whether or not a capture runs. Each is a safe point after
//! the driver has returned, except `eglGetProcAddress`, which returns the shim's entry point only for a command of EGL,
//! OpenGL ES or GLX that the driver has, and else the driver's answer. A frame ends with a successful swap, unless the
//! capture counts submits of Level Zero or has a rule for the ends of frames. A hooked command that is called from inside another command goes straight to
//! the driver.
//!
//! A generated handler calls [`enter`] first. After the driver has returned, it calls the function here that has the
//! command's name.

mod glx;
mod level_zero;
mod lists;

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gapii_abi::atom::{EFFECT, FRAME_END, LEAVES, Time};
use gapii_commands::constants;
use gapii_recorder::program::pages;
use gapii_recorder::{Call, InFlight, clock_ns};
use gapii_ringbuf::SegmentHeader;
use gapii_state::{Image, Ref, Thread};

use crate::attach;
use crate::capture;
use crate::contexts::{self, OPENGL_ES_API};
use crate::driver_calls::Of;
use crate::driver_functions;
use crate::entry::ENTRY_POINTS;
use crate::frame_count;
use crate::frame_rule;
use crate::frames;
use crate::generated::ids;
use crate::gpu_timing;
use crate::imports;
use crate::limits;
use crate::process;
use crate::safe_point::{self, Moment};
pub use crate::scope::{Scope, enter};
use crate::tls::words;
use crate::tracking;

type Handle = *mut c_void;

const EGL_NONE: i32 = constants::EGL_NONE as i32;
const EGL_CONTEXT_CLIENT_VERSION: i32 = constants::EGL_CONTEXT_CLIENT_VERSION as i32;

/// Two names of one command, which a rule for frames takes as one.
const WITH_DAMAGE: [u16; 2] =
    [ids::EGL_SWAP_BUFFERS_WITH_DAMAGE_EXT, ids::EGL_SWAP_BUFFERS_WITH_DAMAGE_KHR];

/// Returns the value of `key` in an attribute list that `end` ends; `None` if it is not in the list.
///
/// # Safety
/// `attributes` is null or ends with `end`.
unsafe fn attribute(mut attributes: *const i32, end: i32, key: i32) -> Option<i32> {
    if attributes.is_null() {
        return None;
    }
    loop {
        // SAFETY: the end has not been reached.
        let name = unsafe { *attributes };
        if name == end {
            return None;
        }
        // SAFETY: every name but the end has a value.
        attributes = unsafe { attributes.add(1) };
        if name == key {
            // SAFETY: as above.
            return Some(unsafe { *attributes });
        }
        // SAFETY: the list goes on after a value.
        attributes = unsafe { attributes.add(1) };
    }
}

/// Flags of the enter record of a command that makes a context current. One that makes none current takes effect at its
/// enter, because that is where it releases the old context.
fn current_enter_flags(context: Handle) -> u16 {
    if context.is_null() { EFFECT | LEAVES } else { LEAVES }
}

/// Flags of the leave record. A command that makes a context current takes effect at its leave, because that is
/// where it acquires the context.
fn current_leave_flags(context: Handle) -> u16 {
    if context.is_null() { 0 } else { EFFECT }
}

/// Notes the thread's new current context, learns its limits and describes it to the daemon. At a safe point.
fn made_current(context: Handle, is_done: bool) {
    if is_done {
        let words = words();
        let (api, version) = contexts::kind_of(context as u64);
        words.context.set(context as u64);
        words.context_api.set(api);
        words.context_version.set(version);
        frames::forget_size();
        limits::learn();
        attach::context_changed();
        imports::may_have_changed();
    }
    safe_point::safe_point(Moment::Command);
}

/// Remembers the API and the client version of a new context; null for none. At a safe point.
fn made_context(context: Handle, api: u32, version: u32) {
    if !context.is_null() {
        contexts::remember(context as u64, api, version);
        gpu_timing::forget(context as u64);
        process::tell_contexts();
        if capture::is_running() {
            attach::note_made(context as u64);
        }
    }
    safe_point::safe_point(Moment::Command);
}

/// Counts a context as destroyed. At a safe point.
fn destroyed_context(context: Handle, is_done: bool) {
    if is_done {
        contexts::forget_one();
        // A current context lives on.
        if context as u64 != words().context.get() {
            gpu_timing::forget(context as u64);
        }
        process::tell_contexts();
    }
    safe_point::safe_point(Moment::Command);
}

/// Returns the shim's entry point if the driver has a function of that name, and learns the driver's function.
/// Names unknown to the shim, and Level Zero's, get the driver's answer.
///
/// # Safety
/// `name` is null or a NUL-terminated string.
unsafe fn entry_point(name: *const c_char, result: Handle) -> Handle {
    if name.is_null() || result.is_null() {
        return result;
    }
    // SAFETY: the driver has read the name as a string.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(id) = driver_functions::named(name) else { return result };
    let Some(entry) = ENTRY_POINTS.get(usize::from(id)) else { return result };
    driver_functions::learn(id, result.cast());
    *entry as Handle
}

// The commands.

#[expect(non_snake_case, reason = "named like the command")]
mod commands {
    use super::*;

    /// Flags of the enter record.
    pub fn eglMakeCurrent_enter_flags(
        _display: Handle,
        _draw: Handle,
        _read: Handle,
        context: Handle,
    ) -> u16 {
        current_enter_flags(context)
    }

    /// Flags of the leave record.
    pub fn eglMakeCurrent_leave_flags(
        _display: Handle,
        _draw: Handle,
        _read: Handle,
        context: Handle,
        _result: u32,
    ) -> u16 {
        current_leave_flags(context)
    }

    /// Notes the thread's new current context.
    pub fn eglMakeCurrent(
        _scope: &Scope,
        _display: Handle,
        _draw: Handle,
        _read: Handle,
        context: Handle,
        result: u32,
    ) -> u32 {
        made_current(context, result != 0);
        result
    }

    /// Notes that the thread has no current context and no bound API any more.
    pub fn eglReleaseThread(_scope: &Scope, result: u32) -> u32 {
        if result != 0 {
            let words = words();
            words.context.set(0);
            for word in [&words.context_api, &words.context_version, &words.bound_api] {
                word.set(0);
            }
            attach::context_changed();
        }
        safe_point::safe_point(Moment::Command);
        result
    }

    /// Notes the API that the thread's next contexts are created for.
    pub fn eglBindAPI(_scope: &Scope, api: u32, result: u32) -> u32 {
        if result != 0 {
            words().bound_api.set(api);
        }
        safe_point::safe_point(Moment::Command);
        result
    }

    /// Remembers the API and the client version of the new context.
    ///
    /// # Safety
    /// `attributes` is null or ends with `EGL_NONE`.
    pub unsafe fn eglCreateContext(
        _scope: &Scope,
        _display: Handle,
        _config: Handle,
        _share: Handle,
        attributes: *const i32,
        result: Handle,
    ) -> Handle {
        let api = match words().bound_api.get() {
            0 => OPENGL_ES_API,
            api => api,
        };
        let version = match result.is_null() {
            true => None,
            // SAFETY: the driver has read the list to its end.
            false => unsafe { attribute(attributes, EGL_NONE, EGL_CONTEXT_CLIENT_VERSION) },
        };
        made_context(result, api, version.unwrap_or(1) as u32);
        result
    }

    /// Names the planes of imported memory for the record.
    pub fn eglCreateImage_before(
        call: &mut Call,
        _display: Handle,
        _context: Handle,
        target: u32,
        _buffer: Handle,
        attributes: *const isize,
    ) {
        imports::record::<8>(call.recorder(), target, attributes as u64);
    }

    /// Keeps the memory that the image was imported from.
    pub fn eglCreateImage(
        _scope: &Scope,
        _display: Handle,
        _context: Handle,
        target: u32,
        _buffer: Handle,
        attributes: *const isize,
        result: Handle,
    ) -> Handle {
        let image = || tracked_image(result);
        imports::made::<8>(target, attributes as u64, !result.is_null(), image);
        safe_point::safe_point(Moment::Command);
        result
    }

    /// Names the planes of imported memory for the record.
    pub fn eglCreateImageKHR_before(
        call: &mut Call,
        _display: Handle,
        _context: Handle,
        target: u32,
        _buffer: Handle,
        attributes: *const i32,
    ) {
        imports::record::<4>(call.recorder(), target, attributes as u64);
    }

    /// Keeps the memory that the image was imported from.
    pub fn eglCreateImageKHR(
        _scope: &Scope,
        _display: Handle,
        _context: Handle,
        target: u32,
        _buffer: Handle,
        attributes: *const i32,
        result: Handle,
    ) -> Handle {
        let image = || tracked_image(result);
        imports::made::<4>(target, attributes as u64, !result.is_null(), image);
        safe_point::safe_point(Moment::Command);
        result
    }

    /// Imported memory may have been written before the sync was signalled.
    pub fn eglWaitSync(
        _scope: &Scope,
        _display: Handle,
        _sync: Handle,
        _flags: i32,
        result: u32,
    ) -> u32 {
        imports::may_have_changed();
        safe_point::safe_point(Moment::Command);
        result
    }

    /// Imported memory may have been written before the sync was signalled.
    pub fn eglClientWaitSync(
        _scope: &Scope,
        _display: Handle,
        _sync: Handle,
        _flags: i32,
        _timeout_ns: u64,
        result: i32,
    ) -> i32 {
        imports::may_have_changed();
        safe_point::safe_point(Moment::Command);
        result
    }

    /// Imported memory may have been written before the sync was signalled.
    pub fn eglWaitSyncKHR(
        scope: &Scope,
        display: Handle,
        sync: Handle,
        flags: i32,
        result: i32,
    ) -> i32 {
        eglWaitSync(scope, display, sync, flags, result as u32) as i32
    }

    pub use eglClientWaitSync as eglClientWaitSyncKHR;

    /// Counts the context as destroyed.
    pub fn eglDestroyContext(
        _scope: &Scope,
        _display: Handle,
        context: Handle,
        result: u32,
    ) -> u32 {
        destroyed_context(context, result != 0);
        result
    }

    /// A safe point.
    pub fn eglInitialize(
        _scope: &Scope,
        _display: Handle,
        _major: *mut i32,
        _minor: *mut i32,
        result: u32,
    ) -> u32 {
        safe_point::safe_point(Moment::Command);
        result
    }

    /// A safe point.
    pub fn eglTerminate(_scope: &Scope, _display: Handle, result: u32) -> u32 {
        safe_point::safe_point(Moment::Command);
        result
    }

    /// Reads the frame's pixels back before the swap, if this frame is to be observed.
    pub fn eglSwapBuffers_before(call: &mut Call, display: Handle, surface: Handle) {
        if swap_ends(&[ids::EGL_SWAP_BUFFERS], true) {
            frames::observe(call.recorder(), Of::Egl, display, surface);
        }
    }

    /// Flags of the leave record; counts the frame.
    pub fn eglSwapBuffers_leave_flags(_display: Handle, _surface: Handle, result: u32) -> u16 {
        swap_flags(&[ids::EGL_SWAP_BUFFERS], result != 0)
    }

    /// Ends the frame, at a safe point.
    pub fn eglSwapBuffers(_scope: &Scope, display: Handle, surface: Handle, result: u32) -> u32 {
        swapped(&[ids::EGL_SWAP_BUFFERS], (Of::Egl, display, surface), result != 0);
        result
    }

    /// Reads the frame's pixels back before the swap, if this frame is to be observed.
    pub fn eglSwapBuffersWithDamageEXT_before(
        call: &mut Call,
        display: Handle,
        surface: Handle,
        _rects: *const i32,
        _count: i32,
    ) {
        if swap_ends(&WITH_DAMAGE, true) {
            frames::observe(call.recorder(), Of::Egl, display, surface);
        }
    }

    /// Flags of the leave record; counts the frame.
    pub fn eglSwapBuffersWithDamageEXT_leave_flags(
        _display: Handle,
        _surface: Handle,
        _rects: *const i32,
        _count: i32,
        result: u32,
    ) -> u16 {
        swap_flags(&WITH_DAMAGE, result != 0)
    }

    /// Ends the frame, at a safe point.
    pub fn eglSwapBuffersWithDamageEXT(
        _scope: &Scope,
        display: Handle,
        surface: Handle,
        _rects: *const i32,
        _count: i32,
        result: u32,
    ) -> u32 {
        swapped(&WITH_DAMAGE, (Of::Egl, display, surface), result != 0);
        result
    }

    pub use eglSwapBuffersWithDamageEXT as eglSwapBuffersWithDamageKHR;
    pub use eglSwapBuffersWithDamageEXT_before as eglSwapBuffersWithDamageKHR_before;
    pub use eglSwapBuffersWithDamageEXT_leave_flags as eglSwapBuffersWithDamageKHR_leave_flags;

    /// Returns the shim's entry point, if there is one.
    ///
    /// # Safety
    /// `name` is null or a NUL-terminated string.
    pub unsafe fn eglGetProcAddress(_scope: &Scope, name: *const c_char, result: Handle) -> Handle {
        // SAFETY: the caller's duty.
        unsafe { entry_point(name, result) }
    }
}
pub use commands::*;

#[allow(unused_imports, reason = "no API of the list has a command with `@frame`")]
pub use crate::generated::frames::*;
pub use glx::*;
pub use level_zero::*;
pub use lists::*;

/// The tracked image for a handle.
fn tracked_image(handle: Handle) -> Ref<Image> {
    let find = |thread: &mut Thread| thread.process.lock().images.find(handle as u64);
    tracking::with_state(find).unwrap_or(Ref::NONE)
}

/// Returns the flags of a swap's leave record, and counts the frame.
fn swap_flags(ids: &[u16], is_done: bool) -> u16 {
    if swap_ends(ids, is_done) { frame_flags() } else { 0 }
}

/// Whether a swap, a call of one of these commands, has ended a frame.
fn swap_ends(ids: &[u16], is_done: bool) -> bool {
    let ends = match frame_rule::is_set() {
        true => ids.iter().any(|id| frame_rule::ends(*id)),
        false => !capture::counts_submits(),
    };
    is_done && ends
}

/// Flags of the leave record of a command that shows a frame, if it did; counts the frame.
#[allow(dead_code, reason = "called by generated code, if an API of the list has such a command")]
pub fn flags_of_frame(has_ended: bool) -> u16 {
    if has_ended && may_end() { frame_flags() } else { 0 }
}

/// Counts the frame that a command has shown, if it did. Called last by the commands whose description says
/// `@frame`.
#[allow(dead_code, reason = "called by generated code, if an API of the list has such a command")]
pub fn frame_is_over(has_ended: bool) {
    pages::forget();
    frame_ended(has_ended && may_end());
}

/// Whether commands that show a frame end it, if neither submits nor commands of a rule do.
fn may_end() -> bool {
    !frame_rule::is_set() && !capture::counts_submits()
}

/// Returns the flags of the leave record of a command that ended a frame, counts the frame, and notes when it ended.
fn frame_flags() -> u16 {
    if frame_count::count_recorded().is_some() { FRAME_END } else { 0 }
}

/// Writes when the frame ended, ahead of the leave record of command `id` that ends it; `flags` are those of the leave record.
#[inline(always)]
pub fn tell_frame_end(call: &mut InFlight, id: u16, flags: u16) {
    if flags & FRAME_END != 0 {
        call.recorder().tell_time(Time::of_command(id, words().frame_end_ns.get()));
    }
}

/// Counts a frame that has ended at `now_ns`, and notes the longest time between two ends of frames, in nanoseconds.
fn count_frame(header: &SegmentHeader, now_ns: u64) {
    static LAST_NS: AtomicU64 = AtomicU64::new(0);
    // Relaxed: each number stands on its own.
    header.frames.fetch_add(1, Relaxed);
    let last_ns = LAST_NS.swap(now_ns, Relaxed);
    if last_ns != 0 {
        header.longest_frame_ns.fetch_max(now_ns.saturating_sub(last_ns), Relaxed);
    }
}

fn swapped(ids: &[u16], (of, display, surface): (Of, Handle, Handle), is_done: bool) {
    pages::forget();
    if is_done {
        frames::note_size(of, display, surface);
    }
    frame_ended(swap_ends(ids, is_done));
}

/// Safe point after a command that can end a frame. `has_ended`: it ended one.
pub fn frame_ended(has_ended: bool) {
    if has_ended {
        imports::frame_ended(|| tracking::with_state(|thread| thread.process.clone()));
    }
    // The clock has been read if the frame's end is recorded.
    let recorded_ns = words().frame_end_ns.take();
    if has_ended && let Some(connection) = process::connection() {
        let now_ns = if recorded_ns == 0 { clock_ns() } else { recorded_ns };
        count_frame(connection.shared.segment.header(), now_ns);
    }
    let is_last = words().last_frame.take();
    safe_point::safe_point(match has_ended {
        false => Moment::Command,
        true if is_last => Moment::LastFrame,
        true => Moment::FrameEnd,
    });
}
