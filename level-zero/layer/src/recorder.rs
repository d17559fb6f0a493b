//! The recorder, libgapii: if it is in the process, the functions that the loader offers are called through it; if not,
//! the callees stay as they are and nothing is recorded. The recorder hears what tracers call and change.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::{mem, ptr};

use gapii_ze_api::functions::NAMES;

/// libgapii's `gapii_intercept`.
type Intercept = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut c_void;

/// Returns the code to call in place of `callee`, which is the function with this number: the recorder's entry for
/// it, or `callee` itself. May wait for a capture to begin, as the process' first command does.
pub fn through(function: usize, callee: *mut ()) -> *mut () {
    let (Some(intercept), Ok(name)) = (recorder(), CString::new(NAMES[function])) else {
        return callee;
    };
    // SAFETY: a NUL-terminated name, and the function of that name.
    unsafe { intercept(name.as_ptr(), callee.cast()) }.cast()
}

/// Returns libgapii's `gapii_intercept`; `None` if libgapii is not in the process.
fn recorder() -> Option<Intercept> {
    static RECORDER: OnceLock<Option<Intercept>> = OnceLock::new();
    *RECORDER.get_or_init(|| {
        let found = find(c"gapii_intercept")?;
        begin_to_tell();
        // SAFETY: libgapii exports a function of this type under this name.
        Some(unsafe { mem::transmute::<*mut c_void, Intercept>(found) })
    })
}

/// libgapii's `gapii_set_in_callback`.
type SetInCallback = unsafe extern "C" fn(c_int) -> c_int;

/// libgapii's `gapii_note_changed`.
type NoteChanged = unsafe extern "C" fn(*const c_char, *const c_void);

/// What libgapii hears of tracers' callbacks.
pub struct Listener {
    set_in_callback: SetInCallback,
    note_changed: NoteChanged,
}

/// The listener; null before the first call of [`through`], and if libgapii is not in the process.
static LISTENER: AtomicPtr<Listener> = AtomicPtr::new(ptr::null_mut());

/// Returns the listener; `None` if libgapii is not in the process.
#[inline(always)]
pub fn listener() -> Option<&'static Listener> {
    // Pairs with the release in `begin_to_tell`.
    let listener = LISTENER.load(Ordering::Acquire);
    // SAFETY: null, or a leaked value.
    unsafe { listener.as_ref() }
}

/// Finds the listener.
fn begin_to_tell() {
    let (Some(set), Some(note)) = (find(c"gapii_set_in_callback"), find(c"gapii_note_changed"))
    else {
        return;
    };
    // SAFETY: libgapii exports functions of these types under these names.
    let set_in_callback = unsafe { mem::transmute::<*mut c_void, SetInCallback>(set) };
    // SAFETY: as above.
    let note_changed = unsafe { mem::transmute::<*mut c_void, NoteChanged>(note) };
    let listener = Box::leak(Box::new(Listener { set_in_callback, note_changed }));
    // Pairs with the acquire in `listener`.
    LISTENER.store(listener, Ordering::Release);
}

fn find(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a NUL-terminated string; searches the libraries that are loaded globally.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// While this lives, what the thread calls is recorded as a tracer's own.
pub struct InCallbacks {
    listener: &'static Listener,
    /// What was noted before.
    before: c_int,
}

impl InCallbacks {
    /// Begins to run callbacks on this thread.
    pub fn begin(listener: &'static Listener) -> Self {
        // SAFETY: libgapii's function takes any number.
        let before = unsafe { (listener.set_in_callback)(1) };
        Self { listener, before }
    }
}

impl Drop for InCallbacks {
    fn drop(&mut self) {
        // SAFETY: as in `begin`.
        unsafe { (self.listener.set_in_callback)(self.before) };
    }
}

impl Listener {
    /// Says that tracers have changed parameters of the function with this number, which the thread is about to call.
    /// `passed` are those that the program passed.
    #[cold]
    pub fn note_changed<P>(&self, function: usize, passed: &P) {
        if let Ok(name) = CString::new(NAMES[function]) {
            let passed = ptr::from_ref(passed).cast();
            // SAFETY: a NUL-terminated name, and the function's parameters in a structure as C lays it out.
            unsafe { (self.note_changed)(name.as_ptr(), passed) };
        }
    }
}
