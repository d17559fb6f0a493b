//! The size of a window or pixmap of X. GLX's own query sends an error to the program's handler if the drawable is gone;
//! XCB's returns it. `None` where the program has not loaded libX11-xcb, which Mesa's driver needs.

use core::ffi::{CStr, c_void};
use core::mem::transmute;
use core::ptr;

/// The connection behind a `Display`.
type Connection = unsafe extern "C" fn(display: u64) -> *mut c_void;
/// Sends a request, and returns its number.
type Request = unsafe extern "C" fn(connection: *mut c_void, drawable: u32) -> u32;
/// Waits for the reply to a request: memory of malloc, or null and an error.
type Reply =
    unsafe extern "C" fn(connection: *mut c_void, request: u32, error: *mut *mut c_void) -> *mut u8;

/// Places of width and height in the reply, numbers of 16 bits.
const WIDTH: usize = 16;
const HEIGHT: usize = 18;

/// Returns width and height of a drawable of X in pixels. `None` if there is no such drawable any more.
pub fn size(display: u64, drawable: u64) -> Option<[i32; 2]> {
    let drawable = u32::try_from(drawable).ok()?;
    let connection = find(c"libX11-xcb.so.1", c"XGetXCBConnection")?;
    let request = find(c"libxcb.so.1", c"xcb_get_geometry")?;
    let reply = find(c"libxcb.so.1", c"xcb_get_geometry_reply")?;
    // SAFETY: the function of this name has this signature.
    let connection = unsafe { transmute::<*mut c_void, Connection>(connection) };
    // SAFETY: as above.
    let request = unsafe { transmute::<*mut c_void, Request>(request) };
    // SAFETY: as above.
    let reply = unsafe { transmute::<*mut c_void, Reply>(reply) };
    // SAFETY: a display that the program has open.
    let connection = unsafe { connection(display) };
    // SAFETY: the display's connection.
    let number = unsafe { request(connection, drawable) };
    let mut error = ptr::null_mut();
    // SAFETY: as above; `error` is writable.
    let answer = unsafe { reply(connection, number, &raw mut error) };
    let size = (!answer.is_null()).then(|| [WIDTH, HEIGHT].map(|at| number_at(answer, at)));
    for memory in [answer.cast(), error] {
        // SAFETY: memory of malloc, or null.
        unsafe { libc::free(memory) };
    }
    size
}

/// A number of 16 bits in a reply of 32 bytes.
fn number_at(reply: *const u8, at: usize) -> i32 {
    // SAFETY: inside the reply.
    let place = unsafe { reply.add(at) };
    // SAFETY: as above; replies are aligned for all numbers.
    i32::from(unsafe { place.cast::<u16>().read_unaligned() })
}

/// Returns a function of a library, if the program has loaded it.
fn find(library: &CStr, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: loads nothing.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: a NUL-terminated string.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    // SAFETY: opened above; the program keeps the library.
    unsafe { libc::dlclose(handle) };
    (!found.is_null()).then_some(found)
}
