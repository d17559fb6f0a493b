//! Windows on X11, for `replay --window`. libX11 is opened only then; without it or without an X server the replay does
//! not begin. A request that the X server refuses does not end the process. Windows cannot be resized by hand: they
//! follow the trace's sizes.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::ptr;

use super::display::Real;
use super::egl_functions::{EGL_NATIVE_VISUAL_ID, Handle};
use crate::skip::Skip;

const ALLOC_NONE: c_int = 0;
const CW_BORDER_PIXEL: c_ulong = 1 << 3;
const CW_COLORMAP: c_ulong = 1 << 13;
const INPUT_OUTPUT: c_uint = 1;
const VISUAL_ID_MASK: c_long = 1;
const FIXED_SIZE: c_long = 1 << 4 | 1 << 5;

/// Xlib's `XVisualInfo`.
#[repr(C)]
struct VisualInfo {
    visual: usize,
    id: c_ulong,
    screen: c_int,
    depth: c_int,
    class: c_int,
    masks: [c_ulong; 3],
    colormap_size: c_int,
    bits_per_rgb: c_int,
}

/// Xlib's `XSetWindowAttributes`.
#[repr(C)]
struct WindowAttributes {
    background: [c_ulong; 2],
    border: [c_ulong; 2],
    gravity: [c_int; 2],
    backing_store: c_int,
    backing: [c_ulong; 2],
    save_under: c_int,
    events: [c_long; 2],
    override_redirect: c_int,
    colormap: c_ulong,
    cursor: c_ulong,
}

/// Xlib's `XSizeHints`.
#[repr(C)]
struct SizeHints {
    flags: c_long,
    place: [c_int; 4],
    least: [c_int; 2],
    most: [c_int; 2],
    others: [c_int; 9],
}

macro_rules! functions {
    ($($name:ident = $xlib:literal fn($($arg:ty),*) -> $result:ty;)*) => {
        #[derive(Clone, Copy)]
        struct Xlib {
            $($name: unsafe extern "C" fn($($arg),*) -> $result,)*
        }

        impl Xlib {
            fn open() -> Option<Self> {
                // SAFETY: the name is NUL-terminated; the library's initializers run as in every
                // program that uses it.
                let library = unsafe { libc::dlopen(c"libX11.so.6".as_ptr(), libc::RTLD_NOW) };
                if library.is_null() {
                    return None;
                }
                let find = |name: &CStr| {
                    // SAFETY: a library that is never closed, and a NUL-terminated name.
                    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
                    (!found.is_null()).then_some(found)
                };
                Some(Self {
                    // SAFETY: the signature that Xlib documents for the name.
                    $($name: unsafe {
                        std::mem::transmute::<
                            *mut c_void, unsafe extern "C" fn($($arg),*) -> $result
                        >(find($xlib)?)
                    },)*
                })
            }
        }
    };
}

functions! {
    init_threads = c"XInitThreads" fn() -> c_int;
    open_display = c"XOpenDisplay" fn(*const c_char) -> usize;
    set_error_handler = c"XSetErrorHandler" fn(ErrorHandler) -> *mut c_void;
    default_screen = c"XDefaultScreen" fn(usize) -> c_int;
    root_window = c"XRootWindow" fn(usize, c_int) -> c_ulong;
    get_visual_info = c"XGetVisualInfo" fn(usize, c_long, *mut VisualInfo, *mut c_int) -> *mut VisualInfo;
    free = c"XFree" fn(*mut c_void) -> c_int;
    create_colormap = c"XCreateColormap" fn(usize, c_ulong, usize, c_int) -> c_ulong;
    create_window = c"XCreateWindow" fn(
        usize, c_ulong, c_int, c_int, c_uint, c_uint, c_uint, c_int, c_uint, usize, c_ulong,
        *mut WindowAttributes
    ) -> c_ulong;
    store_name = c"XStoreName" fn(usize, c_ulong, *const c_char) -> c_int;
    set_size_hints = c"XSetWMNormalHints" fn(usize, c_ulong, *mut SizeHints) -> ();
    map_window = c"XMapWindow" fn(usize, c_ulong) -> c_int;
    resize_window = c"XResizeWindow" fn(usize, c_ulong, c_uint, c_uint) -> c_int;
    destroy_window = c"XDestroyWindow" fn(usize, c_ulong) -> c_int;
    sync = c"XSync" fn(usize, c_int) -> c_int;
}

type ErrorHandler = extern "C" fn(usize, *mut c_void) -> c_int;

/// Xlib's error handler: returns, so that a refused request does not end the process.
extern "C" fn ignore(_display: usize, _event: *mut c_void) -> c_int {
    0
}

/// A connection to the X server. It is never closed, since EGL keeps using it.
pub struct Windows {
    xlib: Xlib,
    display: usize,
}

/// A window that the player created.
pub struct Window(c_ulong);

impl Window {
    /// The window's XID, which is EGL's native window.
    pub fn id(&self) -> usize {
        self.0 as usize
    }
}

impl Windows {
    /// Opens libX11 and the X server that `DISPLAY` names. The error says what is missing.
    pub fn open() -> Result<Self, String> {
        let xlib = Xlib::open().ok_or("windows need libX11.so.6; install it (libx11-6)")?;
        // SAFETY: called before any other function of Xlib.
        unsafe { (xlib.init_threads)() };
        // SAFETY: null selects the display that DISPLAY names.
        let display = unsafe { (xlib.open_display)(ptr::null()) };
        if display == 0 {
            return Err(
                "there is no X server for windows: set DISPLAY, or replay without --window"
                    .to_owned(),
            );
        }
        // SAFETY: a handler that returns, of the type that Xlib documents.
        unsafe { (xlib.set_error_handler)(ignore) };
        Ok(Self { xlib, display })
    }

    /// Address of Xlib's `Display`.
    pub fn display(&self) -> usize {
        self.display
    }

    /// Creates and maps a window of `size` pixels, from which surfaces of `config` can be made.
    pub fn create(&self, real: &Real, config: Handle, size: (u32, u32)) -> Result<Window, Skip> {
        let visual = real.config_attribute(config, EGL_NATIVE_VISUAL_ID).unwrap_or(0);
        let (visual, depth) =
            self.visual(visual as c_ulong).ok_or("its configuration is of no visual")?;
        let (xlib, display) = (&self.xlib, self.display);
        // SAFETY: an open display.
        let screen = unsafe { (xlib.default_screen)(display) };
        // SAFETY: an open display, and a screen of it.
        let root = unsafe { (xlib.root_window)(display, screen) };
        // SAFETY: a visual that Xlib gave for this display.
        let colormap = unsafe { (xlib.create_colormap)(display, root, visual, ALLOC_NONE) };
        let mut attributes = WindowAttributes {
            background: [0; 2],
            border: [0; 2],
            gravity: [0; 2],
            backing_store: 0,
            backing: [0; 2],
            save_under: 0,
            events: [0; 2],
            override_redirect: 0,
            colormap,
            cursor: 0,
        };
        let (width, height) = size;
        // SAFETY: an open display, its root window and one of its visuals; the attributes live
        // during the call, and those that the mask names are set.
        let window = unsafe {
            (xlib.create_window)(
                display,
                root,
                0,
                0,
                width,
                height,
                0,
                depth,
                INPUT_OUTPUT,
                visual,
                CW_BORDER_PIXEL | CW_COLORMAP,
                &raw mut attributes,
            )
        };
        if window == 0 {
            return Err("the X server made no window".into());
        }
        let window = Window(window);
        self.fix_size(&window, size);
        // SAFETY: our window, and a NUL-terminated string.
        unsafe { (xlib.store_name)(display, window.0, c"gapii-ctl replay".as_ptr()) };
        // SAFETY: our window.
        unsafe { (xlib.map_window)(display, window.0) };
        self.sync();
        Ok(window)
    }

    /// Address and depth of the visual with this id.
    fn visual(&self, id: c_ulong) -> Option<(usize, c_int)> {
        let mut template = VisualInfo {
            visual: 0,
            id,
            screen: 0,
            depth: 0,
            class: 0,
            masks: [0; 3],
            colormap_size: 0,
            bits_per_rgb: 0,
        };
        let mut count = 0;
        // SAFETY: an open display; the mask selects only the id of the template.
        let found = unsafe {
            (self.xlib.get_visual_info)(
                self.display,
                VISUAL_ID_MASK,
                &raw mut template,
                &raw mut count,
            )
        };
        if found.is_null() {
            return None;
        }
        // SAFETY: not null, so it holds at least one element, which is ours until it is freed.
        let &VisualInfo { visual, depth, .. } = unsafe { &*found };
        // SAFETY: Xlib allocated it, and it is not used again.
        unsafe { (self.xlib.free)(found.cast()) };
        (count > 0).then_some((visual, depth))
    }

    /// Asks the window manager not to resize the window.
    fn fix_size(&self, window: &Window, size: (u32, u32)) {
        let size = [size.0 as c_int, size.1 as c_int];
        let mut hints =
            SizeHints { flags: FIXED_SIZE, place: [0; 4], least: size, most: size, others: [0; 9] };
        // SAFETY: our window; the hints live during the call.
        unsafe { (self.xlib.set_size_hints)(self.display, window.0, &raw mut hints) };
    }

    /// Gives the window another size, in pixels.
    pub fn resize(&self, window: &Window, size: (u32, u32)) {
        self.fix_size(window, size);
        // SAFETY: our window.
        unsafe { (self.xlib.resize_window)(self.display, window.0, size.0, size.1) };
        self.sync();
    }

    /// Destroys the window. Its surface has to be destroyed first.
    pub fn destroy(&self, window: &Window) {
        // SAFETY: our window; by this function's contract its surface has been destroyed.
        unsafe { (self.xlib.destroy_window)(self.display, window.0) };
        self.sync();
    }

    fn sync(&self) {
        // SAFETY: an open display.
        unsafe { (self.xlib.sync)(self.display, 0) };
    }
}
