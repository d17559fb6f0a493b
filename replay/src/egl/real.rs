//! EGL of this machine: the one display that a replay uses, behind functions that are safe to call.
//!
//! Handles are numbers that the driver gave out; nothing here takes one from a trace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::{Driver, function};
use crate::player::version_of;
use crate::requirements::Offer;
use crate::survey::DisplayBy;

/// A handle of the driver; 0 is none.
pub type Handle = usize;

pub const EGL_FALSE: u32 = 0;
pub const EGL_ALPHA_SIZE: i32 = 0x3021;
pub const EGL_BLUE_SIZE: i32 = 0x3022;
pub const EGL_GREEN_SIZE: i32 = 0x3023;
pub const EGL_RED_SIZE: i32 = 0x3024;
pub const EGL_DEPTH_SIZE: i32 = 0x3025;
pub const EGL_STENCIL_SIZE: i32 = 0x3026;
pub const EGL_CONFIG_CAVEAT: i32 = 0x3027;
pub const EGL_NATIVE_VISUAL_ID: i32 = 0x302E;
pub const EGL_SAMPLES: i32 = 0x3031;
pub const EGL_SURFACE_TYPE: i32 = 0x3033;
pub const EGL_NONE: i32 = 0x3038;
pub const EGL_BIND_TO_TEXTURE_RGB: i32 = 0x3039;
pub const EGL_BIND_TO_TEXTURE_RGBA: i32 = 0x303A;
pub const EGL_RENDERABLE_TYPE: i32 = 0x3040;
pub const EGL_COLOR_COMPONENT_TYPE_EXT: i32 = 0x3339;
const GL_VERSION: u32 = 0x1F02;
const GL_EXTENSIONS: u32 = 0x1F03;
const EGL_EXTENSIONS: i32 = 0x3055;
pub const EGL_HEIGHT: i32 = 0x3056;
pub const EGL_WIDTH: i32 = 0x3057;

const EGL_PLATFORM_X11_KHR: u32 = 0x31D5;
const EGL_PLATFORM_SURFACELESS_MESA: u32 = 0x31DD;
const EGL_PLATFORM_DEVICE_EXT: u32 = 0x313F;

/// Most configurations that are looked at.
const CONFIGS_MAX: i32 = 4096;

/// Functions of the driver.
#[derive(Clone)]
struct Functions {
    driver: Arc<Driver>,
    /// Those of the player's own needs, of which no interceptor hears.
    is_own: bool,
}

macro_rules! functions {
    ($($name:ident = $egl:literal fn($($arg:ty),*) -> $result:ty;)*) => {
        impl Functions {
            $(fn $name(&self) -> Option<unsafe extern "C" fn($($arg),*) -> $result> {
                const FUNCTION: u16 = function($egl);
                match self.is_own {
                    // SAFETY: the function's signature by the registry; handles are as wide as
                    // addresses.
                    true => unsafe { self.driver.own(FUNCTION) }.ok(),
                    // SAFETY: as above.
                    false => unsafe { self.driver.get(FUNCTION) }.ok(),
                }
            })*
        }
    };
}

functions! {
    bind_api = "eglBindAPI" fn(u32) -> u32;
    bind_tex_image = "eglBindTexImage" fn(Handle, Handle, i32) -> u32;
    choose_config = "eglChooseConfig" fn(Handle, *const i32, *mut Handle, i32, *mut i32) -> u32;
    client_wait_sync = "eglClientWaitSync" fn(Handle, Handle, i32, u64) -> i32;
    client_wait_sync_khr = "eglClientWaitSyncKHR" fn(Handle, Handle, i32, u64) -> i32;
    create_context = "eglCreateContext" fn(Handle, Handle, Handle, *const i32) -> Handle;
    create_image = "eglCreateImage" fn(Handle, Handle, u32, usize, *const isize) -> Handle;
    create_image_khr = "eglCreateImageKHR" fn(Handle, Handle, u32, usize, *const i32) -> Handle;
    create_pbuffer = "eglCreatePbufferSurface" fn(Handle, Handle, *const i32) -> Handle;
    create_sync = "eglCreateSync" fn(Handle, u32, *const isize) -> Handle;
    create_sync_khr = "eglCreateSyncKHR" fn(Handle, u32, *const i32) -> Handle;
    create_window = "eglCreateWindowSurface" fn(Handle, Handle, usize, *const i32) -> Handle;
    destroy_context = "eglDestroyContext" fn(Handle, Handle) -> u32;
    destroy_image = "eglDestroyImage" fn(Handle, Handle) -> u32;
    destroy_image_khr = "eglDestroyImageKHR" fn(Handle, Handle) -> u32;
    destroy_surface = "eglDestroySurface" fn(Handle, Handle) -> u32;
    destroy_sync = "eglDestroySync" fn(Handle, Handle) -> u32;
    destroy_sync_khr = "eglDestroySyncKHR" fn(Handle, Handle) -> u32;
    flush = "glFlush" fn() -> ();
    get_config_attrib = "eglGetConfigAttrib" fn(Handle, Handle, i32, *mut i32) -> u32;
    get_configs = "eglGetConfigs" fn(Handle, *mut Handle, i32, *mut i32) -> u32;
    get_current_context = "eglGetCurrentContext" fn() -> Handle;
    get_current_display = "eglGetCurrentDisplay" fn() -> Handle;
    get_current_surface = "eglGetCurrentSurface" fn(i32) -> Handle;
    get_display = "eglGetDisplay" fn(usize) -> Handle;
    get_error = "eglGetError" fn() -> i32;
    get_string = "glGetString" fn(u32) -> *const core::ffi::c_char;
    get_platform_display = "eglGetPlatformDisplay" fn(u32, usize, *const isize) -> Handle;
    get_platform_display_ext = "eglGetPlatformDisplayEXT" fn(u32, usize, *const i32) -> Handle;
    get_proc_address = "eglGetProcAddress" fn(*const core::ffi::c_char) -> usize;
    initialize = "eglInitialize" fn(Handle, *mut i32, *mut i32) -> u32;
    make_current = "eglMakeCurrent" fn(Handle, Handle, Handle, Handle) -> u32;
    query_api = "eglQueryAPI" fn() -> u32;
    query_context = "eglQueryContext" fn(Handle, Handle, i32, *mut i32) -> u32;
    query_devices = "eglQueryDevicesEXT" fn(i32, *mut usize, *mut i32) -> u32;
    query_string = "eglQueryString" fn(Handle, i32) -> *const core::ffi::c_char;
    query_surface = "eglQuerySurface" fn(Handle, Handle, i32, *mut i32) -> u32;
    release_tex_image = "eglReleaseTexImage" fn(Handle, Handle, i32) -> u32;
    release_thread = "eglReleaseThread" fn() -> u32;
    signal_sync = "eglSignalSyncKHR" fn(Handle, Handle, u32) -> u32;
    surface_attrib = "eglSurfaceAttrib" fn(Handle, Handle, i32, i32) -> u32;
    swap_buffers = "eglSwapBuffers" fn(Handle, Handle) -> u32;
    swap_interval = "eglSwapInterval" fn(Handle, i32) -> u32;
    terminate = "eglTerminate" fn(Handle) -> u32;
    wait_client = "eglWaitClient" fn() -> u32;
    wait_sync = "eglWaitSync" fn(Handle, Handle, i32) -> i32;
    wait_sync_khr = "eglWaitSyncKHR" fn(Handle, Handle, i32) -> i32;
}

/// A display of this machine, initialized. It is terminated only where the trace ends its own for
/// good and no other replay of this process may have the same.
#[derive(Clone)]
pub struct Real {
    /// For what the trace has.
    played: Functions,
    own: Functions,
    display: Handle,
    /// What the display was asked for with; platform 0 is the default one.
    platform: (u32, usize),
    extensions: String,
    version: (i32, i32),
}

/// Calls a function that the driver may lack; the default of its result if it does.
macro_rules! call {
    ($self:ident.$whose:ident.$name:ident($($arg:expr),*)) => {
        match $self.$whose.$name() {
            // SAFETY: the function's own signature; handles are the driver's, lists end with
            // EGL_NONE, and outputs have room for what is written.
            Some(function) => unsafe { function($($arg),*) },
            None => Default::default(),
        }
    };
}

impl Real {
    /// A display that needs no window system; or, with the address of an X11 display, one with windows.
    /// By the function that the trace has, if there is that; the default display if the environment
    /// names its platform.
    pub fn open(
        driver: &Arc<Driver>,
        x11: Option<usize>,
        by: Option<DisplayBy>,
    ) -> Result<Self, String> {
        let mut real = Self {
            played: Functions { driver: driver.clone(), is_own: false },
            own: Functions { driver: driver.clone(), is_own: true },
            display: 0,
            platform: (0, 0),
            extensions: String::new(),
            version: (0, 0),
        };
        if real.own.initialize().is_none() || real.own.make_current().is_none() {
            return Err("the driver has no EGL; install one (libegl1, libegl-mesa0)".to_owned());
        }
        let client_extensions = real.text(EGL_EXTENSIONS);
        let mut platforms = match x11 {
            Some(display) => vec![(EGL_PLATFORM_X11_KHR, display)],
            None => real.platforms_without_windows(&client_extensions),
        };
        if x11.is_none() && by == Some(DisplayBy::Default) && is_without_windows_by_default() {
            platforms.insert(0, (0, 0));
        }
        for (platform, native) in platforms {
            if real.initialize(platform, native, by) {
                *open_displays() += 1;
                real.extensions = real.text(EGL_EXTENSIONS);
                return Ok(real);
            }
        }
        Err(match x11 {
            Some(_) => "the driver has no display on X11; replay without --window".to_owned(),
            None => "the driver has no display without a window system (surfaceless, device), \
                     and none by default"
                .to_owned(),
        })
    }

    /// The replay is over.
    pub fn close(&self) {
        let mut open = open_displays();
        *open = open.saturating_sub(1);
    }

    /// Ends the display for good, unless another replay of this process may have the same.
    pub fn terminate(&self) {
        let open = open_displays();
        if *open == 1 {
            call!(self.played.terminate(self.display));
        }
    }

    fn platforms_without_windows(&self, client_extensions: &str) -> Vec<(u32, usize)> {
        let has = |name| client_extensions.split(' ').any(|extension| extension == name);
        let mut platforms = Vec::new();
        if has("EGL_MESA_platform_surfaceless") {
            platforms.push((EGL_PLATFORM_SURFACELESS_MESA, 0));
        }
        if has("EGL_EXT_platform_device") {
            let (mut devices, mut count) = ([0; 16], 0);
            call!(self.own.query_devices(
                devices.len() as i32,
                devices.as_mut_ptr(),
                &raw mut count
            ));
            let devices = devices.iter().take(usize::try_from(count).unwrap_or(0));
            platforms.extend(devices.map(|device| (EGL_PLATFORM_DEVICE_EXT, *device)));
        }
        platforms.push((0, 0));
        platforms
    }

    /// The display of a platform, or of none in particular.
    fn initialize(&mut self, platform: u32, native: usize, by: Option<DisplayBy>) -> bool {
        let (wide, narrow) = ([EGL_NONE as isize], [EGL_NONE]);
        let core = || call!(self.own.get_platform_display(platform, native, wide.as_ptr()));
        let ext = || call!(self.own.get_platform_display_ext(platform, native, narrow.as_ptr()));
        self.display = match (platform, by) {
            (0, _) => call!(self.own.get_display(native)),
            (_, Some(DisplayBy::Extension)) => some(ext()).unwrap_or_else(core),
            _ => some(core()).unwrap_or_else(ext),
        };
        let (mut major, mut minor) = (0, 0);
        let initialized = self.display != 0
            && call!(self.own.initialize(self.display, &raw mut major, &raw mut minor))
                != EGL_FALSE;
        self.version = (major, minor);
        self.platform = (platform, native);
        initialized
    }

    fn text(&self, name: i32) -> String {
        let Some(query) = self.own.query_string() else { return String::new() };
        // SAFETY: the function's own signature, with a display of the driver or none.
        let text = unsafe { query(self.display, name) };
        // SAFETY: null, or a text of the driver.
        unsafe { owned(text) }
    }

    /// What the thread's context has.
    pub fn offer(&self) -> Option<Offer> {
        let (major, minor) = version_of(&self.gl_text(GL_VERSION)?)?;
        let version = (u16::try_from(major).ok()?, u16::try_from(minor).ok()?);
        Some(Offer { version, extensions: self.gl_text(GL_EXTENSIONS)? })
    }

    /// A text of the thread's context, by a name that every version has.
    fn gl_text(&self, name: u32) -> Option<String> {
        let get = self.own.get_string()?;
        // SAFETY: the function's own signature, with such a name.
        let text = unsafe { get(name) };
        // SAFETY: null, or a text of the driver.
        (!text.is_null()).then(|| unsafe { owned(text) })
    }

    /// The same display, for what the player does on its own account.
    pub fn unheard(&self) -> Self {
        Self { played: self.own.clone(), ..self.clone() }
    }

    /// Major and minor version of EGL.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.split(' ').any(|extension| extension == name)
    }

    /// Whether contexts may be asked for by major and minor version.
    pub fn has_minor_versions(&self) -> bool {
        self.version >= (1, 5) || self.has_extension("EGL_KHR_create_context")
    }

    pub fn configs(&self) -> Vec<Handle> {
        let mut configs = vec![0; CONFIGS_MAX as usize];
        let mut count = 0;
        call!(self.own.get_configs(
            self.display,
            configs.as_mut_ptr(),
            CONFIGS_MAX,
            &raw mut count
        ));
        configs.truncate(usize::try_from(count).unwrap_or(0));
        configs
    }

    pub fn config_attribute(&self, config: Handle, attribute: i32) -> Option<i32> {
        let mut value = 0;
        let done =
            call!(self.own.get_config_attrib(self.display, config, attribute, &raw mut value));
        (done != EGL_FALSE).then_some(value)
    }

    /// `attributes`: pairs, without an end.
    pub fn create_pbuffer(&self, config: Handle, attributes: &[(i32, i32)]) -> Option<Handle> {
        let list = ended(attributes);
        some(call!(self.played.create_pbuffer(self.display, config, list.as_ptr())))
    }

    /// A surface of an X11 window.
    pub fn create_window(
        &self,
        config: Handle,
        window: usize,
        attributes: &[(i32, i32)],
    ) -> Option<Handle> {
        let list = ended(attributes);
        some(call!(self.played.create_window(self.display, config, window, list.as_ptr())))
    }

    pub fn destroy_surface(&self, surface: Handle) {
        call!(self.played.destroy_surface(self.display, surface));
    }

    pub fn set_surface_attribute(&self, surface: Handle, attribute: i32, value: i32) -> bool {
        call!(self.played.surface_attrib(self.display, surface, attribute, value)) != EGL_FALSE
    }

    pub fn bind_tex_image(&self, surface: Handle, buffer: i32) -> bool {
        call!(self.played.bind_tex_image(self.display, surface, buffer)) != EGL_FALSE
    }

    pub fn release_tex_image(&self, surface: Handle, buffer: i32) -> bool {
        call!(self.played.release_tex_image(self.display, surface, buffer)) != EGL_FALSE
    }

    /// Config and share may be 0. Without attributes there is no list.
    pub fn create_context(
        &self,
        config: Handle,
        share: Handle,
        attributes: Option<&[(i32, i32)]>,
    ) -> Option<Handle> {
        let list = attributes.map(ended);
        let list = list.as_ref().map_or(std::ptr::null(), |list| list.as_ptr());
        some(call!(self.played.create_context(self.display, config, share, list)))
    }

    pub fn destroy_context(&self, context: Handle) {
        call!(self.played.destroy_context(self.display, context));
    }

    /// On the calling thread; 0, 0, 0 releases.
    pub fn make_current(&self, draw: Handle, read: Handle, context: Handle) -> bool {
        call!(self.played.make_current(self.display, draw, read, context)) != EGL_FALSE
    }

    /// The display once more, as a program asks for it. `is_extension`: by the function of the
    /// extension, where a platform is named.
    pub fn get_display(&self, is_default: bool, is_extension: bool, has_list: bool) {
        let (platform, native) = self.platform;
        let (wide, narrow) = ([EGL_NONE as isize], [EGL_NONE]);
        let wide = if has_list { wide.as_ptr() } else { std::ptr::null() };
        let narrow = if has_list { narrow.as_ptr() } else { std::ptr::null() };
        if platform == 0 || is_default && call!(self.own.get_display(0)) == self.display {
            call!(self.played.get_display(native));
        } else if is_extension && self.own.get_platform_display_ext().is_some() {
            call!(self.played.get_platform_display_ext(platform, native, narrow));
        } else {
            call!(self.played.get_platform_display(platform, native, wide));
        }
    }

    /// Where nobody asked for the version there is no room for it.
    pub fn initialize_again(&self, asks: [bool; 2]) {
        let (mut major, mut minor) = (0, 0);
        let room =
            |asks: bool, at: &mut i32| if asks { &raw mut *at } else { std::ptr::null_mut() };
        let (major, minor) = (room(asks[0], &mut major), room(asks[1], &mut minor));
        call!(self.played.initialize(self.display, major, minor));
    }

    pub fn bind_api(&self, api: u32) {
        call!(self.played.bind_api(api));
    }

    pub fn query_api(&self) {
        call!(self.played.query_api());
    }

    pub fn ask_error(&self) {
        call!(self.played.get_error());
    }

    pub fn ask_current_context(&self) {
        call!(self.played.get_current_context());
    }

    pub fn ask_current_display(&self) {
        call!(self.played.get_current_display());
    }

    pub fn ask_current_surface(&self, end: i32) {
        call!(self.played.get_current_surface(end));
    }

    /// `name` ends with zero. Where it leads for programs; 0 for nowhere.
    pub fn proc_address(&self, name: &std::ffi::CStr) -> usize {
        call!(self.played.get_proc_address(name.as_ptr()))
    }

    /// Configurations that fit, `room` at most; `None`: only how many there are is asked.
    pub fn choose_configs(
        &self,
        attributes: Option<&[(i32, i32)]>,
        room: Option<usize>,
    ) -> Vec<Handle> {
        let list = attributes.map(ended);
        let list = list.as_ref().map_or(std::ptr::null(), |list| list.as_ptr());
        let size = room.unwrap_or(0).min(CONFIGS_MAX as usize);
        let (mut found, mut count) = (vec![0; size], 0);
        let at = if room.is_some() { found.as_mut_ptr() } else { std::ptr::null_mut() };
        call!(self.played.choose_config(self.display, list, at, size as i32, &raw mut count));
        found.truncate(usize::try_from(count).unwrap_or(0));
        found
    }

    /// The same of all.
    pub fn ask_configs(&self, room: Option<usize>) -> Vec<Handle> {
        let size = room.unwrap_or(0).min(CONFIGS_MAX as usize);
        let (mut found, mut count) = (vec![0; size], 0);
        let at = if room.is_some() { found.as_mut_ptr() } else { std::ptr::null_mut() };
        call!(self.played.get_configs(self.display, at, size as i32, &raw mut count));
        found.truncate(usize::try_from(count).unwrap_or(0));
        found
    }

    pub fn ask_config_attribute(&self, config: Handle, attribute: i32) {
        let mut value = 0;
        call!(self.played.get_config_attrib(self.display, config, attribute, &raw mut value));
    }

    pub fn ask_surface(&self, surface: Handle, attribute: i32) {
        let mut value = 0;
        call!(self.played.query_surface(self.display, surface, attribute, &raw mut value));
    }

    pub fn ask_context(&self, context: Handle, attribute: i32) {
        let mut value = 0;
        call!(self.played.query_context(self.display, context, attribute, &raw mut value));
    }

    /// Of the display, or of no display.
    pub fn ask_text(&self, has_display: bool, name: i32) {
        let display = if has_display { self.display } else { 0 };
        if let Some(query) = self.played.query_string() {
            // SAFETY: the function's own signature, with a display of the driver or none.
            unsafe { query(display, name) };
        }
    }

    pub fn release_thread(&self) {
        call!(self.played.release_thread());
    }

    pub fn swap(&self, surface: Handle) -> bool {
        call!(self.played.swap_buffers(self.display, surface)) != EGL_FALSE
    }

    pub fn set_swap_interval(&self, interval: i32) {
        call!(self.played.swap_interval(self.display, interval));
    }

    /// Has the driver begin what the thread's context has queued.
    pub fn flush(&self) {
        call!(self.own.flush());
    }

    pub fn wait_client(&self) -> bool {
        call!(self.played.wait_client()) != EGL_FALSE
    }

    /// By the function of the extension, or that of EGL 1.5 where the driver lacks it or it is asked
    /// for.
    pub fn create_sync(&self, kind: u32, is_core: bool, has_list: bool) -> Option<Handle> {
        let (wide, narrow) = ([EGL_NONE as isize], [EGL_NONE]);
        let wide = if has_list { wide.as_ptr() } else { std::ptr::null() };
        let narrow = if has_list { narrow.as_ptr() } else { std::ptr::null() };
        let core = || some(call!(self.played.create_sync(self.display, kind, wide)));
        let khr = || some(call!(self.played.create_sync_khr(self.display, kind, narrow)));
        if is_core { core().or_else(khr) } else { khr().or_else(core) }
    }

    pub fn destroy_sync(&self, sync: Handle, is_core: bool) {
        match self.played.destroy_sync_khr().filter(|_| !is_core) {
            Some(_) => call!(self.played.destroy_sync_khr(self.display, sync)),
            None => call!(self.played.destroy_sync(self.display, sync)),
        };
    }

    /// What the wait came to, 0 for an error.
    pub fn client_wait_sync(&self, sync: Handle, flags: i32, timeout_ns: u64) -> i32 {
        match self.played.client_wait_sync_khr() {
            Some(_) => call!(self.own.client_wait_sync_khr(self.display, sync, flags, timeout_ns)),
            None => call!(self.own.client_wait_sync(self.display, sync, flags, timeout_ns)),
        }
    }

    pub fn wait_sync(&self, sync: Handle, is_core: bool) -> bool {
        let done = match self.played.wait_sync_khr().filter(|_| !is_core) {
            Some(_) => call!(self.played.wait_sync_khr(self.display, sync, 0)),
            None => call!(self.played.wait_sync(self.display, sync, 0)),
        };
        done != 0
    }

    pub fn signal_sync(&self, sync: Handle, mode: u32) -> bool {
        call!(self.played.signal_sync(self.display, sync, mode)) != EGL_FALSE
    }

    /// `buffer` is the name of an object of `context`.
    pub fn create_image(
        &self,
        context: Handle,
        target: u32,
        buffer: u32,
        attributes: Option<&[(i32, i32)]>,
        is_core: bool,
    ) -> Option<Handle> {
        let narrow = attributes.map(ended);
        let wide: Option<Vec<isize>> =
            narrow.as_ref().map(|list| list.iter().map(|word| *word as isize).collect());
        let narrow = narrow.as_ref().map_or(std::ptr::null(), |list| list.as_ptr());
        let wide = wide.as_ref().map_or(std::ptr::null(), |list| list.as_ptr());
        let (display, buffer) = (self.display, buffer as usize);
        let core = || some(call!(self.played.create_image(display, context, target, buffer, wide)));
        let khr =
            || some(call!(self.played.create_image_khr(display, context, target, buffer, narrow)));
        if is_core { core().or_else(khr) } else { khr().or_else(core) }
    }

    pub fn destroy_image(&self, image: Handle, is_core: bool) {
        match self.played.destroy_image_khr().filter(|_| !is_core) {
            Some(_) => call!(self.played.destroy_image_khr(self.display, image)),
            None => call!(self.played.destroy_image(self.display, image)),
        };
    }

    /// The thread's last error, as a word for sentences.
    pub fn error(&self) -> String {
        let error = call!(self.own.get_error());
        const NAMES: [&str; 15] = [
            "EGL_SUCCESS",
            "EGL_NOT_INITIALIZED",
            "EGL_BAD_ACCESS",
            "EGL_BAD_ALLOC",
            "EGL_BAD_ATTRIBUTE",
            "EGL_BAD_CONFIG",
            "EGL_BAD_CONTEXT",
            "EGL_BAD_CURRENT_SURFACE",
            "EGL_BAD_DISPLAY",
            "EGL_BAD_MATCH",
            "EGL_BAD_NATIVE_PIXMAP",
            "EGL_BAD_NATIVE_WINDOW",
            "EGL_BAD_PARAMETER",
            "EGL_BAD_SURFACE",
            "EGL_CONTEXT_LOST",
        ];
        let at = usize::try_from(error - 0x3000).ok();
        at.and_then(|at| NAMES.get(at)).map_or_else(|| format!("{error:#x}"), |&it| it.to_owned())
    }
}

/// How many replays of this process have a display.
fn open_displays() -> MutexGuard<'static, usize> {
    static OPEN: Mutex<usize> = Mutex::new(0);
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the environment has the default display be one of Mesa's without windows.
fn is_without_windows_by_default() -> bool {
    std::env::var_os("EGL_PLATFORM").is_some_and(|platform| platform == "surfaceless")
}

/// A text of the driver.
///
/// # Safety
/// Null, or it ends with zero and stays.
unsafe fn owned(text: *const core::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null; ends with zero by the caller's duty.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A list with its end.
fn ended(attributes: &[(i32, i32)]) -> Vec<i32> {
    let pairs = attributes.iter().flat_map(|(name, value)| [*name, *value]);
    pairs.chain([EGL_NONE]).collect()
}

fn some(handle: Handle) -> Option<Handle> {
    (handle != 0).then_some(handle)
}
