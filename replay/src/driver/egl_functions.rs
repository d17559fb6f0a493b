//! EGL functions of the driver, with their signatures. A function that the driver lacks is not called, and its result
//! is 0.

use std::sync::Arc;

use super::functions::Driver;
use gapii_commands::constants;
pub(super) use gapii_commands::constants::{
    EGL_FALSE, GL_EXTENSIONS, GL_NUM_EXTENSIONS, GL_VERSION,
};

/// A handle that the driver gave out; 0 is none.
pub type Handle = usize;

/// Attributes of EGL in the type that EGL functions take, `i32`.
macro_rules! attributes {
    ($($name:ident),* $(,)?) => {$(
        #[doc = concat!("`", stringify!($name), "`, as functions of EGL take it.")]
        pub const $name: i32 = constants::$name as i32;
    )*};
}

attributes! {
    EGL_ALPHA_SIZE, EGL_BLUE_SIZE, EGL_GREEN_SIZE, EGL_RED_SIZE, EGL_DEPTH_SIZE, EGL_STENCIL_SIZE, EGL_CONFIG_CAVEAT, EGL_NATIVE_VISUAL_ID, EGL_SAMPLES, EGL_SURFACE_TYPE, EGL_NONE, EGL_BIND_TO_TEXTURE_RGB, EGL_BIND_TO_TEXTURE_RGBA, EGL_RENDERABLE_TYPE, EGL_COLOR_COMPONENT_TYPE_EXT, EGL_HEIGHT, EGL_WIDTH,
}

pub(super) const EGL_EXTENSIONS: i32 = constants::EGL_EXTENSIONS as i32;

/// The driver's functions, called either for the trace or for the player itself.
#[derive(Clone)]
pub(super) struct Functions {
    pub(super) driver: Arc<Driver>,
    /// Whether calls serve the player's own needs; an interceptor does not see these calls.
    pub(super) is_own: bool,
}

macro_rules! functions {
    ($($name:ident = $id:ident fn($($arg:ty),*) -> $result:ty;)*) => {
        impl Functions {
            $(pub(super) fn $name(&self) -> Option<unsafe extern "C" fn($($arg),*) -> $result> {
                const FUNCTION: u16 = gapii_commands::ids::$id;
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
    active_texture = GL_ACTIVE_TEXTURE fn(u32) -> ();
    attach_shader = GL_ATTACH_SHADER fn(u32, u32) -> ();
    bind_api = EGL_BIND_API fn(u32) -> u32;
    bind_framebuffer = GL_BIND_FRAMEBUFFER fn(u32, u32) -> ();
    bind_image_texture = GL_BIND_IMAGE_TEXTURE fn(u32, u32, i32, u8, i32, u32, u32) -> ();
    bind_program_pipeline = GL_BIND_PROGRAM_PIPELINE fn(u32) -> ();
    bind_renderbuffer = GL_BIND_RENDERBUFFER fn(u32, u32) -> ();
    bind_tex_image = EGL_BIND_TEX_IMAGE fn(Handle, Handle, i32) -> u32;
    bind_texture = GL_BIND_TEXTURE fn(u32, u32) -> ();
    bind_transform_feedback = GL_BIND_TRANSFORM_FEEDBACK fn(u32, u32) -> ();
    bind_vertex_array = GL_BIND_VERTEX_ARRAY fn(u32) -> ();
    choose_config = EGL_CHOOSE_CONFIG fn(Handle, *const i32, *mut Handle, i32, *mut i32) -> u32;
    client_wait_sync = EGL_CLIENT_WAIT_SYNC fn(Handle, Handle, i32, u64) -> i32;
    client_wait_sync_khr = EGL_CLIENT_WAIT_SYNC_KHR fn(Handle, Handle, i32, u64) -> i32;
    compile_shader = GL_COMPILE_SHADER fn(u32) -> ();
    create_context = EGL_CREATE_CONTEXT fn(Handle, Handle, Handle, *const i32) -> Handle;
    create_image = EGL_CREATE_IMAGE fn(Handle, Handle, u32, usize, *const isize) -> Handle;
    create_image_khr = EGL_CREATE_IMAGE_KHR fn(Handle, Handle, u32, usize, *const i32) -> Handle;
    create_pbuffer = EGL_CREATE_PBUFFER_SURFACE fn(Handle, Handle, *const i32) -> Handle;
    create_program = GL_CREATE_PROGRAM fn() -> u32;
    create_shader = GL_CREATE_SHADER fn(u32) -> u32;
    create_sync = EGL_CREATE_SYNC fn(Handle, u32, *const isize) -> Handle;
    create_sync_khr = EGL_CREATE_SYNC_KHR fn(Handle, u32, *const i32) -> Handle;
    create_window = EGL_CREATE_WINDOW_SURFACE fn(Handle, Handle, usize, *const i32) -> Handle;
    delete_framebuffers = GL_DELETE_FRAMEBUFFERS fn(i32, *const u32) -> ();
    delete_program = GL_DELETE_PROGRAM fn(u32) -> ();
    delete_program_pipelines = GL_DELETE_PROGRAM_PIPELINES fn(i32, *const u32) -> ();
    delete_renderbuffers = GL_DELETE_RENDERBUFFERS fn(i32, *const u32) -> ();
    delete_shader = GL_DELETE_SHADER fn(u32) -> ();
    destroy_context = EGL_DESTROY_CONTEXT fn(Handle, Handle) -> u32;
    destroy_image = EGL_DESTROY_IMAGE fn(Handle, Handle) -> u32;
    destroy_image_khr = EGL_DESTROY_IMAGE_KHR fn(Handle, Handle) -> u32;
    destroy_surface = EGL_DESTROY_SURFACE fn(Handle, Handle) -> u32;
    destroy_sync = EGL_DESTROY_SYNC fn(Handle, Handle) -> u32;
    destroy_sync_khr = EGL_DESTROY_SYNC_KHR fn(Handle, Handle) -> u32;
    draw_arrays = GL_DRAW_ARRAYS fn(u32, i32, i32) -> ();
    enable = GL_ENABLE fn(u32) -> ();
    end_transform_feedback = GL_END_TRANSFORM_FEEDBACK fn() -> ();
    flush = GL_FLUSH fn() -> ();
    framebuffer_renderbuffer = GL_FRAMEBUFFER_RENDERBUFFER fn(u32, u32, u32, u32) -> ();
    gen_framebuffers = GL_GEN_FRAMEBUFFERS fn(i32, *mut u32) -> ();
    gen_renderbuffers = GL_GEN_RENDERBUFFERS fn(i32, *mut u32) -> ();
    gen_vertex_arrays = GL_GEN_VERTEX_ARRAYS fn(i32, *mut u32) -> ();
    get_config_attrib = EGL_GET_CONFIG_ATTRIB fn(Handle, Handle, i32, *mut i32) -> u32;
    get_configs = EGL_GET_CONFIGS fn(Handle, *mut Handle, i32, *mut i32) -> u32;
    get_current_context = EGL_GET_CURRENT_CONTEXT fn() -> Handle;
    get_current_display = EGL_GET_CURRENT_DISPLAY fn() -> Handle;
    get_current_surface = EGL_GET_CURRENT_SURFACE fn(i32) -> Handle;
    get_display = EGL_GET_DISPLAY fn(usize) -> Handle;
    get_error = EGL_GET_ERROR fn() -> i32;
    get_integer = GL_GET_INTEGERV fn(u32, *mut i32) -> ();
    get_platform_display = EGL_GET_PLATFORM_DISPLAY fn(u32, usize, *const isize) -> Handle;
    get_platform_display_ext = EGL_GET_PLATFORM_DISPLAY_EXT fn(u32, usize, *const i32) -> Handle;
    get_proc_address = EGL_GET_PROC_ADDRESS fn(*const core::ffi::c_char) -> usize;
    get_string = GL_GET_STRING fn(u32) -> *const core::ffi::c_char;
    get_string_at = GL_GET_STRINGI fn(u32, u32) -> usize;
    initialize = EGL_INITIALIZE fn(Handle, *mut i32, *mut i32) -> u32;
    link_program = GL_LINK_PROGRAM fn(u32) -> ();
    make_current = EGL_MAKE_CURRENT fn(Handle, Handle, Handle, Handle) -> u32;
    query_api = EGL_QUERY_API fn() -> u32;
    query_context = EGL_QUERY_CONTEXT fn(Handle, Handle, i32, *mut i32) -> u32;
    query_devices = EGL_QUERY_DEVICES_EXT fn(i32, *mut usize, *mut i32) -> u32;
    query_string = EGL_QUERY_STRING fn(Handle, i32) -> *const core::ffi::c_char;
    query_surface = EGL_QUERY_SURFACE fn(Handle, Handle, i32, *mut i32) -> u32;
    release_tex_image = EGL_RELEASE_TEX_IMAGE fn(Handle, Handle, i32) -> u32;
    release_thread = EGL_RELEASE_THREAD fn() -> u32;
    renderbuffer_storage = GL_RENDERBUFFER_STORAGE fn(u32, u32, i32, i32) -> ();
    shader_source = GL_SHADER_SOURCE fn(u32, i32, *const *const core::ffi::c_char, *const i32) -> ();
    signal_sync = EGL_SIGNAL_SYNC_KHR fn(Handle, Handle, u32) -> u32;
    surface_attrib = EGL_SURFACE_ATTRIB fn(Handle, Handle, i32, i32) -> u32;
    swap_buffers = EGL_SWAP_BUFFERS fn(Handle, Handle) -> u32;
    swap_interval = EGL_SWAP_INTERVAL fn(Handle, i32) -> u32;
    terminate = EGL_TERMINATE fn(Handle) -> u32;
    use_program = GL_USE_PROGRAM fn(u32) -> ();
    wait_client = EGL_WAIT_CLIENT fn() -> u32;
    wait_sync = EGL_WAIT_SYNC fn(Handle, Handle, i32) -> i32;
    wait_sync_khr = EGL_WAIT_SYNC_KHR fn(Handle, Handle, i32) -> i32;
}

/// Calls a function that the driver may lack. Without the function, the result is the default of
/// its type.
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

pub(super) use call;

/// Copies a string of the driver; an empty string for null.
///
/// # Safety
///
/// `text` is null, or a NUL-terminated string that stays valid during the call.
pub(super) unsafe fn owned(text: *const core::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and NUL-terminated by the caller's duty.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A list of attributes, terminated by `EGL_NONE`.
pub(super) fn ended(attributes: &[(i32, i32)]) -> Vec<i32> {
    let pairs = attributes.iter().flat_map(|(name, value)| [*name, *value]);
    pairs.chain([EGL_NONE]).collect()
}

/// A handle, or `None` for 0.
pub(super) fn some(handle: Handle) -> Option<Handle> {
    (handle != 0).then_some(handle)
}
