//! Hooks of EGL commands that the shim watches at all times, whether or not a capture runs.
//!
//! A generated handler calls [`enter`] first. After the driver has returned, it calls the function here that has the
//! command's name.

mod level_zero;

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gapii_abi::atom::{EFFECT, FRAME_END, LEAVES};
use gapii_commands::Api;
use gapii_commands::constants;
use gapii_ringbuf::SegmentHeader;

use crate::call::Call;
use crate::capture::{self, Moment};
use crate::driver_functions;
use crate::entry::ENTRY_POINTS;
use crate::errno::ErrnoGuard;
use crate::frames;
use crate::generated::names::NAMES;
use crate::limits;
use crate::pages;
use crate::process;
use crate::seats::{self, Seat};
use crate::snapshot;
use crate::thread::{self, OPENGL_ES_API};
use crate::tls::{Words, words};

type Handle = *mut c_void;

const EGL_NONE: i32 = constants::EGL_NONE as i32;
const EGL_CONTEXT_CLIENT_VERSION: i32 = constants::EGL_CONTEXT_CLIENT_VERSION as i32;

/// A hooked command of this thread that is running. While the scope lives, hooked commands that are called from
/// inside this command (by the driver or by a callback) go straight to the driver.
pub struct Scope {
    /// The thread's seat, if the command is an EGL command: EGL commands change what threads share. The seat reads
    /// "at work" while the command runs.
    seat: Option<&'static Seat>,
}

/// Begins a hooked EGL command. `None` if the command is called from inside another command of this thread.
pub fn enter() -> Option<Scope> {
    let mut scope = enter_gl(this_thread())?;
    let seat = seats::this_seat().unwrap_or_else(|| {
        let _errno = ErrnoGuard::new();
        seats::take()
    });
    seat.set_at_work(true);
    scope.seat = Some(seat);
    Some(scope)
}

/// Begins a hooked command of OpenGL ES; `words` are the calling thread's. `None` if the command is called from
/// inside another command of this thread.
#[inline]
pub fn enter_gl(words: &mut Words) -> Option<Scope> {
    if words.in_hook != 0 || words.in_slow_path != 0 || thread::is_inside(words) {
        thread::count_reentrant();
        return None;
    }
    words.in_hook = 1;
    Some(Scope { seat: None })
}

impl Drop for Scope {
    fn drop(&mut self) {
        let words = this_thread();
        words.in_hook = 0;
        if let Some(seat) = self.seat {
            seat.set_at_work(words.context != 0);
        }
    }
}

fn this_thread() -> &'static mut Words {
    // SAFETY: this thread's own words; no other reference to them is alive in a hook.
    unsafe { &mut *words() }
}

// Contexts: the API and client version of each.

/// A context that the program created: its handle, and its API and client version.
struct Context {
    handle: AtomicU64,
    /// API in the upper 32 bits, client version in the lower.
    kind: AtomicU64,
}

/// The 256 newest contexts. A context that newer ones have pushed out counts as an OpenGL ES context of client
/// version 0.
static CONTEXTS: [Context; 256] =
    [const { Context { handle: AtomicU64::new(0), kind: AtomicU64::new(0) } }; 256];
static CONTEXTS_MADE: AtomicU64 = AtomicU64::new(0);

/// Contexts that were created and not destroyed with `eglDestroyContext`.
static CONTEXTS_ALIVE: AtomicU64 = AtomicU64::new(0);

/// Writes the number of contexts of the process into the segment's header, where the daemon reads it.
pub fn tell_contexts() {
    if let Some(connection) = process::connection() {
        let alive = CONTEXTS_ALIVE.load(Relaxed);
        connection.segment.header().contexts.store(alive, Relaxed);
    }
}

fn remember_context(handle: u64, api: u32, version: u32) {
    CONTEXTS_ALIVE.fetch_add(1, Relaxed);
    tell_contexts();
    let next = CONTEXTS_MADE.fetch_add(1, Relaxed) as usize % CONTEXTS.len();
    let known = CONTEXTS.iter().find(|context| context.handle.load(Relaxed) == handle);
    let Some(context) = known.or(CONTEXTS.get(next)) else { return };
    context.kind.store(u64::from(api) << 32 | u64::from(version), Relaxed);
    context.handle.store(handle, Relaxed);
}

/// Returns the API and client version of a context; (0, 0) for `EGL_NO_CONTEXT`.
fn kind_of_context(handle: u64) -> (u32, u32) {
    if handle == 0 {
        return (0, 0);
    }
    CONTEXTS
        .iter()
        .find(|context| context.handle.load(Relaxed) == handle)
        .map(|context| context.kind.load(Relaxed))
        .map_or((OPENGL_ES_API, 0), |kind| ((kind >> 32) as u32, kind as u32))
}

/// Returns the value of `EGL_CONTEXT_CLIENT_VERSION` in an attribute list; 1, the default, if it is not in the list.
///
/// # Safety
/// `attributes` is null or ends with `EGL_NONE`.
unsafe fn client_version(mut attributes: *const i32) -> u32 {
    if attributes.is_null() {
        return 1;
    }
    loop {
        // SAFETY: EGL_NONE has not been reached.
        let name = unsafe { *attributes };
        if name == EGL_NONE {
            return 1;
        }
        // SAFETY: every name but EGL_NONE has a value.
        attributes = unsafe { attributes.add(1) };
        if name == EGL_CONTEXT_CLIENT_VERSION {
            // SAFETY: as above.
            return unsafe { *attributes } as u32;
        }
        // SAFETY: the list goes on after a value.
        attributes = unsafe { attributes.add(1) };
    }
}

// The commands.

#[expect(non_snake_case, reason = "named like the command")]
mod commands {
    use super::*;

    /// Flags of the enter record. The command that makes no context current takes effect at its enter, because that
    /// is where it releases the old context.
    pub fn eglMakeCurrent_enter_flags(
        _display: Handle,
        _draw: Handle,
        _read: Handle,
        context: Handle,
    ) -> u16 {
        if context.is_null() { EFFECT | LEAVES } else { LEAVES }
    }

    /// Flags of the leave record. The command that makes a context current takes effect at its leave, because that is
    /// where it acquires the context.
    pub fn eglMakeCurrent_leave_flags(
        _display: Handle,
        _draw: Handle,
        _read: Handle,
        context: Handle,
        _result: u32,
    ) -> u16 {
        if context.is_null() { 0 } else { EFFECT }
    }

    /// Notes the thread's new current context, learns its limits and describes it to the daemon.
    pub fn eglMakeCurrent(
        _scope: &Scope,
        _display: Handle,
        _draw: Handle,
        _read: Handle,
        context: Handle,
        result: u32,
    ) -> u32 {
        if result != 0 {
            let words = this_thread();
            words.context = context as u64;
            (words.context_api, words.context_version) = kind_of_context(words.context);
            frames::forget_size();
            // SAFETY: the scope is this thread's, and the context has become current.
            unsafe { limits::learn() };
            thread::context_changed();
        }
        capture::safe_point(Moment::Command);
        result
    }

    /// Notes that the thread has no current context and no bound API any more.
    pub fn eglReleaseThread(_scope: &Scope, result: u32) -> u32 {
        if result != 0 {
            let words = this_thread();
            (words.context, words.context_api, words.context_version) = (0, 0, 0);
            words.bound_api = 0;
            thread::context_changed();
        }
        capture::safe_point(Moment::Command);
        result
    }

    /// Notes the API that the thread's next contexts are created for.
    pub fn eglBindAPI(_scope: &Scope, api: u32, result: u32) -> u32 {
        if result != 0 {
            this_thread().bound_api = api;
        }
        capture::safe_point(Moment::Command);
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
        if !result.is_null() {
            let api = match this_thread().bound_api {
                0 => OPENGL_ES_API,
                api => api,
            };
            // SAFETY: the driver has read the list to its end.
            let version = unsafe { client_version(attributes) };
            remember_context(result as u64, api, version);
            if capture::is_running() {
                snapshot::note_made(result as u64);
            }
        }
        capture::safe_point(Moment::Command);
        result
    }

    /// Counts the context as destroyed.
    pub fn eglDestroyContext(
        _scope: &Scope,
        _display: Handle,
        _context: Handle,
        result: u32,
    ) -> u32 {
        if result != 0 {
            CONTEXTS_ALIVE.fetch_sub(1, Relaxed);
            tell_contexts();
        }
        capture::safe_point(Moment::Command);
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
        capture::safe_point(Moment::Command);
        result
    }

    /// A safe point.
    pub fn eglTerminate(_scope: &Scope, _display: Handle, result: u32) -> u32 {
        capture::safe_point(Moment::Command);
        result
    }

    /// Reads the frame's pixels back before the swap, if this frame is to be observed.
    pub fn eglSwapBuffers_before(call: &mut Call, display: Handle, surface: Handle) {
        frames::observe(call.thread(), display, surface);
    }

    /// Flags of the leave record; counts the frame.
    pub fn eglSwapBuffers_leave_flags(_display: Handle, _surface: Handle, result: u32) -> u16 {
        swap_flags(result)
    }

    /// Ends the frame, at a safe point.
    pub fn eglSwapBuffers(_scope: &Scope, display: Handle, surface: Handle, result: u32) -> u32 {
        swapped(display, surface, result)
    }

    /// Reads the frame's pixels back before the swap, if this frame is to be observed.
    pub fn eglSwapBuffersWithDamageEXT_before(
        call: &mut Call,
        display: Handle,
        surface: Handle,
        _rects: *const i32,
        _count: i32,
    ) {
        frames::observe(call.thread(), display, surface);
    }

    /// Flags of the leave record; counts the frame.
    pub fn eglSwapBuffersWithDamageEXT_leave_flags(
        _display: Handle,
        _surface: Handle,
        _rects: *const i32,
        _count: i32,
        result: u32,
    ) -> u16 {
        swap_flags(result)
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
        swapped(display, surface, result)
    }

    pub use eglSwapBuffersWithDamageEXT as eglSwapBuffersWithDamageKHR;
    pub use eglSwapBuffersWithDamageEXT_before as eglSwapBuffersWithDamageKHR_before;
    pub use eglSwapBuffersWithDamageEXT_leave_flags as eglSwapBuffersWithDamageKHR_leave_flags;

    /// Returns the shim's entry point if the driver has a function of that name, and learns the driver's function.
    /// Names unknown to the shim, and Level Zero's, get the driver's answer.
    ///
    /// # Safety
    /// `name` is null or a NUL-terminated string.
    pub unsafe fn eglGetProcAddress(_scope: &Scope, name: *const c_char, result: Handle) -> Handle {
        if name.is_null() || result.is_null() {
            return result;
        }
        // SAFETY: the driver has read the name as a string.
        let name = unsafe { CStr::from_ptr(name) };
        let ours = &NAMES[..usize::from(Api::LevelZero.ids().start)];
        let Some(id) = ours.iter().position(|known| *known == name) else { return result };
        let Some(entry) = ENTRY_POINTS.get(id) else { return result };
        driver_functions::learn(id as u16, result.cast());
        *entry as Handle
    }
}
pub use commands::*;

#[allow(unused_imports, reason = "no API of the list has a command with `@frame`")]
pub use crate::generated::frames::*;
pub use level_zero::*;

/// Returns the flags of a swap's leave record, and counts the frame.
fn swap_flags(result: u32) -> u16 {
    flags_of_frame(result != 0)
}

/// Flags of the leave record of a command that shows a frame, if it did; counts the frame.
pub fn flags_of_frame(has_ended: bool) -> u16 {
    if has_ended && !capture::counts_submits() { frame_flags() } else { 0 }
}

/// Counts the frame that a command has shown, if it did. Called last by the commands whose description says
/// `@frame`.
#[allow(dead_code, reason = "called by generated code, if an API of the list has such a command")]
pub fn frame_is_over(has_ended: bool) {
    pages::forget();
    frame_ended(has_ended && !capture::counts_submits());
}

/// Returns the flags of the leave record of a command that ended a frame, and counts the frame.
fn frame_flags() -> u16 {
    let (is_in_capture, is_last) = capture::count_frame();
    this_thread().last_frame = u32::from(is_last);
    if is_in_capture { FRAME_END } else { 0 }
}

/// Counts a frame that has ended, and notes the longest time between two ends of frames, in nanoseconds.
fn count_frame(header: &SegmentHeader) {
    static LAST_NS: AtomicU64 = AtomicU64::new(0);
    // Relaxed: each number stands on its own.
    header.frames.fetch_add(1, Relaxed);
    let now_ns = process::clock_ns();
    let last_ns = LAST_NS.swap(now_ns, Relaxed);
    if last_ns != 0 {
        header.longest_frame_ns.fetch_max(now_ns.saturating_sub(last_ns), Relaxed);
    }
}

fn swapped(display: Handle, surface: Handle, result: u32) -> u32 {
    pages::forget();
    if result != 0 {
        frames::note_size(display, surface);
    }
    frame_ended(result != 0 && !capture::counts_submits());
    result
}

/// Safe point after a command that can end a frame. `has_ended`: it ended one.
fn frame_ended(has_ended: bool) {
    if has_ended && let Some(connection) = process::connection() {
        count_frame(connection.segment.header());
    }
    let is_last = core::mem::take(&mut this_thread().last_frame) != 0;
    capture::safe_point(match has_ended {
        false => Moment::Command,
        true if is_last => Moment::LastFrame,
        true => Moment::FrameEnd,
    });
}

/// Whether the process has ever created an EGL context.
fn has_graphics() -> bool {
    CONTEXTS_MADE.load(Relaxed) != 0
}
