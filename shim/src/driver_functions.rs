//! The driver's own functions, for the queries and temporary changes that the shim makes itself. They bypass the table,
//! so nothing of them is recorded. A function that is not exported is asked for with `eglGetProcAddress` or
//! `glXGetProcAddress`; one that the driver does not have does nothing and returns 0. The caller has a context current
//! that knows the function.

#![allow(clippy::too_many_arguments, reason = "as many as the commands have")]

use core::ffi::{CStr, c_char};
use core::mem::transmute;
use core::ptr;

use gapii_commands::Api;

use crate::code::Code;
use crate::driver;
use crate::generated::ids;
use crate::generated::names::{EXPORTED, NAMES};
use crate::table;

/// Declares safe functions, which take numbers only, and `unsafe` ones, which also take pointers.
macro_rules! driver_functions {
    (
        numbers {$($name:ident = $id:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*}
        memory {$($unsafe_name:ident = $unsafe_id:ident($($unsafe_arg:ident: $unsafe_ty:ty),*)
            $(-> $unsafe_result:ty)?;)*}
    ) => {
        $(#[allow(clippy::too_many_arguments)] // As many as the command has.
        pub fn $name($($arg: $ty),*) $(-> $result)? {
            driver_functions!(call $id($($arg: $ty),*) $(-> $result)?)
        })*
        $(/// # Safety
        /// Pointers lead to as much memory as the command takes or writes.
        pub unsafe fn $unsafe_name($($unsafe_arg: $unsafe_ty),*) $(-> $unsafe_result)? {
            driver_functions!(call $unsafe_id($($unsafe_arg: $unsafe_ty),*) $(-> $unsafe_result)?)
        })*
    };
    (call $id:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?) => {{
        let code = find(ids::$id);
        if code.is_null() {
            return Default::default();
        }
        // SAFETY: the driver's function for the command has the command's signature.
        let call = unsafe { transmute::<Code, unsafe extern "C" fn($($ty),*) $(-> $result)?>(code) };
        // SAFETY: the caller vouches for pointers; invalid numbers are an error.
        unsafe { call($($arg),*) }
    }};
}

driver_functions! {
    numbers {
        active_texture = GL_ACTIVE_TEXTURE(unit: u32);
        bind_assembly_program = GL_BIND_PROGRAM_ARB(target: u32, program: u32);
        bind_buffer = GL_BIND_BUFFER(target: u32, name: u32);
        bind_framebuffer = GL_BIND_FRAMEBUFFER(target: u32, name: u32);
        bind_renderbuffer = GL_BIND_RENDERBUFFER(target: u32, name: u32);
        begin_conditional_render_nv = GL_BEGIN_CONDITIONAL_RENDER_NV(query: u32, mode: u32);
        end_conditional_render_nv = GL_END_CONDITIONAL_RENDER_NV();
        begin_conditional_render = GL_BEGIN_CONDITIONAL_RENDER(query: u32, mode: u32);
        end_conditional_render = GL_END_CONDITIONAL_RENDER();
        disable_at = GL_DISABLEI(capability: u32, index: u32);
        enable_at = GL_ENABLEI(capability: u32, index: u32);
        disable_at_nv = GL_DISABLEI_NV(capability: u32, index: u32);
        disable_at_oes = GL_DISABLEI_OES(capability: u32, index: u32);
        enable_at_nv = GL_ENABLEI_NV(capability: u32, index: u32);
        enable_at_oes = GL_ENABLEI_OES(capability: u32, index: u32);
        framebuffer_parameter = GL_FRAMEBUFFER_PARAMETERI(target: u32, name: u32, value: i32);
        framebuffer_parameter_mesa = GL_FRAMEBUFFER_PARAMETERI_MESA(
            target: u32, name: u32, value: i32
        );
        blit_framebuffer = GL_BLIT_FRAMEBUFFER(
            x0: i32, y0: i32, x1: i32, y1: i32, to_x0: i32, to_y0: i32, to_x1: i32, to_y1: i32,
            mask: u32, filter: u32
        );
        bind_texture = GL_BIND_TEXTURE(target: u32, name: u32);
        clamp_color = GL_CLAMP_COLOR(target: u32, clamp: u32);
        client_active_texture = GL_CLIENT_ACTIVE_TEXTURE(unit: u32);
        check_framebuffer = GL_CHECK_FRAMEBUFFER_STATUS(target: u32) -> u32;
        framebuffer_texture_2d = GL_FRAMEBUFFER_TEXTURE2D(
            target: u32, point: u32, kind: u32, texture: u32, level: i32
        );
        framebuffer_texture_layer = GL_FRAMEBUFFER_TEXTURE_LAYER(
            target: u32, point: u32, texture: u32, level: i32, layer: i32
        );
        framebuffer_texture = GL_FRAMEBUFFER_TEXTURE(
            target: u32, point: u32, texture: u32, level: i32
        );
        framebuffer_texture_oes = GL_FRAMEBUFFER_TEXTURE_OES(
            target: u32, point: u32, texture: u32, level: i32
        );
        framebuffer_texture_ext = GL_FRAMEBUFFER_TEXTURE_EXT(
            target: u32, point: u32, texture: u32, level: i32
        );
        framebuffer_texture_3d_oes = GL_FRAMEBUFFER_TEXTURE3D_OES(
            target: u32, point: u32, kind: u32, texture: u32, level: i32, layer: i32
        );
        framebuffer_texture_2d_multisample_ext = GL_FRAMEBUFFER_TEXTURE2D_MULTISAMPLE_EXT(
            target: u32, point: u32, kind: u32, texture: u32, level: i32, samples: i32
        );
        framebuffer_texture_multiview = GL_FRAMEBUFFER_TEXTURE_MULTIVIEW_OVR(
            target: u32, point: u32, texture: u32, level: i32, first: i32, count: i32
        );
        framebuffer_texture_multisample_multiview = GL_FRAMEBUFFER_TEXTURE_MULTISAMPLE_MULTIVIEW_OVR(
            target: u32, point: u32, texture: u32, level: i32, samples: i32, first: i32, count: i32
        );
        framebuffer_renderbuffer = GL_FRAMEBUFFER_RENDERBUFFER(
            target: u32, point: u32, kind: u32, name: u32
        );
        is_buffer = GL_IS_BUFFER(name: u32) -> u8;
        is_enabled = GL_IS_ENABLED(capability: u32) -> u8;
        is_framebuffer = GL_IS_FRAMEBUFFER(name: u32) -> u8;
        is_framebuffer_oes = GL_IS_FRAMEBUFFER_OES(name: u32) -> u8;
        renderbuffer_storage = GL_RENDERBUFFER_STORAGE(
            target: u32, format: u32, width: i32, height: i32
        );
        is_renderbuffer = GL_IS_RENDERBUFFER(name: u32) -> u8;
        is_vertex_array = GL_IS_VERTEX_ARRAY(name: u32) -> u8;
        is_program_pipeline = GL_IS_PROGRAM_PIPELINE(name: u32) -> u8;
        is_program_pipeline_ext = GL_IS_PROGRAM_PIPELINE_EXT(name: u32) -> u8;
        is_transform_feedback = GL_IS_TRANSFORM_FEEDBACK(name: u32) -> u8;
        bind_transform_feedback = GL_BIND_TRANSFORM_FEEDBACK(target: u32, name: u32);
        unmap_buffer = GL_UNMAP_BUFFER(target: u32) -> u8;
        map_buffer_range = GL_MAP_BUFFER_RANGE(
            target: u32, offset: isize, len: isize, access: u32
        ) -> usize;
        map_buffer_range_ext = GL_MAP_BUFFER_RANGE_EXT(
            target: u32, offset: isize, len: isize, access: u32
        ) -> usize;
        unmap_buffer_oes = GL_UNMAP_BUFFER_OES(target: u32) -> u8;
        bind_framebuffer_oes = GL_BIND_FRAMEBUFFER_OES(target: u32, name: u32);
        check_framebuffer_oes = GL_CHECK_FRAMEBUFFER_STATUS_OES(target: u32) -> u32;
        framebuffer_renderbuffer_oes = GL_FRAMEBUFFER_RENDERBUFFER_OES(
            target: u32, point: u32, kind: u32, name: u32
        );
        disable = GL_DISABLE(capability: u32);
        egl_get_current_surface = EGL_GET_CURRENT_SURFACE(end: i32) -> u64;
        glx_destroy_context = GLX_DESTROY_CONTEXT(display: u64, context: u64);
        glx_make_current = GLX_MAKE_CONTEXT_CURRENT(
            display: u64, draw: u64, read: u64, context: u64
        ) -> u32;
        glx_get_current_context = GLX_GET_CURRENT_CONTEXT() -> u64;
        glx_get_current_drawable = GLX_GET_CURRENT_DRAWABLE() -> u64;
        glx_get_current_read_drawable = GLX_GET_CURRENT_READ_DRAWABLE() -> u64;
        enable = GL_ENABLE(capability: u32);
        pixel_store = GL_PIXEL_STOREI(name: u32, value: i32);
        attach_shader = GL_ATTACH_SHADER(program: u32, shader: u32);
        bind_sampler = GL_BIND_SAMPLER(unit: u32, name: u32);
        client_wait_sync = GL_CLIENT_WAIT_SYNC(sync: u64, flags: u32, timeout_ns: u64) -> u32;
        compile_shader = GL_COMPILE_SHADER(shader: u32);
        copy_image_sub_data = GL_COPY_IMAGE_SUB_DATA(
            from: u32, from_target: u32, from_level: i32, from_x: i32, from_y: i32, from_z: i32,
            to: u32, to_target: u32, to_level: i32, to_x: i32, to_y: i32, to_z: i32,
            width: i32, height: i32, depth: i32
        );
        create_program = GL_CREATE_PROGRAM() -> u32;
        create_shader = GL_CREATE_SHADER(kind: u32) -> u32;
        delete_program = GL_DELETE_PROGRAM(program: u32);
        delete_shader = GL_DELETE_SHADER(shader: u32);
        delete_sync = GL_DELETE_SYNC(sync: u64);
        draw_arrays = GL_DRAW_ARRAYS(mode: u32, first: i32, count: i32);
        egl_bind_api = EGL_BIND_API(api: u32) -> u32;
        egl_destroy_context = EGL_DESTROY_CONTEXT(display: u64, context: u64) -> u32;
        egl_destroy_image = EGL_DESTROY_IMAGE_KHR(display: u64, image: u64) -> u32;
        egl_destroy_surface = EGL_DESTROY_SURFACE(display: u64, surface: u64) -> u32;
        egl_get_current_context = EGL_GET_CURRENT_CONTEXT() -> u64;
        egl_get_error = EGL_GET_ERROR() -> i32;
        egl_make_current = EGL_MAKE_CURRENT(
            display: u64, draw: u64, read: u64, context: u64
        ) -> u32;
        egl_release_thread = EGL_RELEASE_THREAD() -> u32;
        fence_sync = GL_FENCE_SYNC(condition: u32, flags: u32) -> u64;
        finish = GL_FINISH();
        get_error = GL_GET_ERROR() -> u32;
        image_target_renderbuffer_storage = GL_EGL_IMAGE_TARGET_RENDERBUFFER_STORAGE_OES(
            target: u32, image: u64
        );
        image_target_texture_2d = GL_EGL_IMAGE_TARGET_TEXTURE2D_OES(target: u32, image: u64);
        link_program = GL_LINK_PROGRAM(program: u32);
        program_parameter = GL_PROGRAM_PARAMETERI(program: u32, name: u32, value: i32);
        program_parameter_ext = GL_PROGRAM_PARAMETERI_EXT(program: u32, name: u32, value: i32);
        sampler_parameter = GL_SAMPLER_PARAMETERI(sampler: u32, name: u32, value: i32);
        tex_parameter = GL_TEX_PARAMETERI(target: u32, name: u32, value: i32);
        tex_storage_2d = GL_TEX_STORAGE2D(
            target: u32, levels: i32, format: u32, width: i32, height: i32
        );
        tex_storage_2d_multisample = GL_TEX_STORAGE2D_MULTISAMPLE(
            target: u32, samples: i32, format: u32, width: i32, height: i32, is_fixed: u8
        );
        texture_view_ext = GL_TEXTURE_VIEW_EXT(
            name: u32, target: u32, viewed: u32, format: u32,
            level: u32, levels: u32, layer: u32, layers: u32
        );
        texture_view_oes = GL_TEXTURE_VIEW_OES(
            name: u32, target: u32, viewed: u32, format: u32,
            level: u32, levels: u32, layer: u32, layers: u32
        );
        texture_view_of_desktop = GL_TEXTURE_VIEW(
            name: u32, target: u32, viewed: u32, format: u32,
            level: u32, levels: u32, layer: u32, layers: u32
        );
        uniform_1i = GL_UNIFORM1I(location: i32, value: i32);
        uniform_4i = GL_UNIFORM4I(location: i32, x: i32, y: i32, z: i32, w: i32);
        uniform_block_binding = GL_UNIFORM_BLOCK_BINDING(program: u32, index: u32, binding: u32);
        use_program = GL_USE_PROGRAM(program: u32);
        viewport = GL_VIEWPORT(x: i32, y: i32, width: i32, height: i32);
        query_counter_ext = GL_QUERY_COUNTER_EXT(query: u32, target: u32);
        read_buffer = GL_READ_BUFFER(buffer: u32);
        read_buffer_nv = GL_READ_BUFFER_NV(buffer: u32);
        is_enabled_at = GL_IS_ENABLEDI(capability: u32, index: u32) -> u8;
        is_enabled_at_ext = GL_IS_ENABLEDI_EXT(capability: u32, index: u32) -> u8;
        is_enabled_at_nv = GL_IS_ENABLEDI_NV(capability: u32, index: u32) -> u8;
        is_enabled_at_oes = GL_IS_ENABLEDI_OES(capability: u32, index: u32) -> u8;
        is_program = GL_IS_PROGRAM(name: u32) -> u8;
        is_query = GL_IS_QUERY(name: u32) -> u8;
        is_sampler = GL_IS_SAMPLER(name: u32) -> u8;
        is_shader = GL_IS_SHADER(name: u32) -> u8;
        is_texture = GL_IS_TEXTURE(name: u32) -> u8;
        matrix_mode = GL_MATRIX_MODE(mode: u32);
        pixel_transfer = GL_PIXEL_TRANSFERF(name: u32, value: f32);
        pause_transform_feedback = GL_PAUSE_TRANSFORM_FEEDBACK();
        pop_matrix = GL_POP_MATRIX();
        push_attributes = GL_PUSH_ATTRIB(groups: u32);
        pop_attributes = GL_POP_ATTRIB();
        push_matrix = GL_PUSH_MATRIX();
        resume_transform_feedback = GL_RESUME_TRANSFORM_FEEDBACK();
        begin_transform_feedback = GL_BEGIN_TRANSFORM_FEEDBACK(mode: u32);
        end_transform_feedback = GL_END_TRANSFORM_FEEDBACK();
        bind_buffer_base = GL_BIND_BUFFER_BASE(target: u32, index: u32, name: u32);
        bind_vertex_array = GL_BIND_VERTEX_ARRAY(name: u32);
        bind_vertex_array_oes = GL_BIND_VERTEX_ARRAY_OES(name: u32);
        copy_buffer_sub_data = GL_COPY_BUFFER_SUB_DATA(
            from: u32, to: u32, from_offset: isize, to_offset: isize, size: isize
        );
        disable_vertex_attrib = GL_DISABLE_VERTEX_ATTRIB_ARRAY(index: u32);
        enable_vertex_attrib = GL_ENABLE_VERTEX_ATTRIB_ARRAY(index: u32);
        vertex_attrib_binding = GL_VERTEX_ATTRIB_BINDING(index: u32, binding: u32);
        vertex_attrib_divisor = GL_VERTEX_ATTRIB_DIVISOR(index: u32, divisor: u32);
        vertex_attrib_format = GL_VERTEX_ATTRIB_FORMAT(
            index: u32, size: i32, kind: u32, normalized: u8, offset: u32
        );
        vertex_attrib_i_format = GL_VERTEX_ATTRIB_I_FORMAT(
            index: u32, size: i32, kind: u32, offset: u32
        );
        vertex_binding_divisor = GL_VERTEX_BINDING_DIVISOR(binding: u32, divisor: u32);
        get_string_at = GL_GET_STRINGI(name: u32, index: u32) -> usize;
    }
    memory {
        egl_get_config_attrib = EGL_GET_CONFIG_ATTRIB(
            display: u64, config: u64, name: i32, out: *mut i32
        ) -> u32;
        egl_query_context = EGL_QUERY_CONTEXT(
            display: u64, context: u64, name: i32, out: *mut i32
        ) -> u32;
        egl_query_surface = EGL_QUERY_SURFACE(
            display: u64, surface: u64, name: i32, out: *mut i32
        ) -> u32;
        glx_create_context = GLX_CREATE_CONTEXT_ATTRIBS_ARB(
            display: u64, config: u64, share: u64, direct: u32, attributes: *const i32
        ) -> u64;
        glx_get_config = GLX_GET_CONFIG(
            display: u64, visual: *const u8, name: i32, out: *mut i32
        ) -> i32;
        glx_get_config_attrib = GLX_GET_FB_CONFIG_ATTRIB(
            display: u64, config: u64, name: i32, out: *mut i32
        ) -> i32;
        glx_get_config_from_visual = GLX_GET_FB_CONFIG_FROM_VISUAL_SGIX(
            display: u64, visual: *const u8
        ) -> u64;
        glx_query_context = GLX_QUERY_CONTEXT(
            display: u64, context: u64, name: i32, out: *mut i32
        ) -> i32;
        glx_query_drawable = GLX_QUERY_DRAWABLE(
            display: u64, drawable: u64, name: i32, out: *mut u32
        );
        buffer_data = GL_BUFFER_DATA(target: u32, size: isize, data: *const u8, usage: u32);
        delete_queries_ext = GL_DELETE_QUERIES_EXT(count: i32, names: *const u32);
        delete_buffers = GL_DELETE_BUFFERS(count: i32, names: *const u32);
        delete_transform_feedbacks = GL_DELETE_TRANSFORM_FEEDBACKS(
            count: i32, names: *const u32
        );
        delete_vertex_arrays = GL_DELETE_VERTEX_ARRAYS(count: i32, names: *const u32);
        gen_queries_ext = GL_GEN_QUERIES_EXT(count: i32, names: *mut u32);
        gen_buffers = GL_GEN_BUFFERS(count: i32, names: *mut u32);
        gen_transform_feedbacks = GL_GEN_TRANSFORM_FEEDBACKS(count: i32, names: *mut u32);
        gen_vertex_arrays = GL_GEN_VERTEX_ARRAYS(count: i32, names: *mut u32);
        get_attrib = GL_GET_VERTEX_ATTRIBIV(index: u32, name: u32, out: *mut i32);
        get_attrib_pointer = GL_GET_VERTEX_ATTRIB_POINTERV(index: u32, name: u32, out: *mut u64);
        transform_feedback_varyings = GL_TRANSFORM_FEEDBACK_VARYINGS(
            program: u32, count: i32, names: *const *const c_char, mode: u32
        );
        delete_framebuffers = GL_DELETE_FRAMEBUFFERS(count: i32, names: *const u32);
        delete_framebuffers_oes = GL_DELETE_FRAMEBUFFERS_OES(count: i32, names: *const u32);
        delete_renderbuffers = GL_DELETE_RENDERBUFFERS(count: i32, names: *const u32);
        delete_samplers = GL_DELETE_SAMPLERS(count: i32, names: *const u32);
        delete_textures = GL_DELETE_TEXTURES(count: i32, names: *const u32);
        egl_create_context = EGL_CREATE_CONTEXT(
            display: u64, config: u64, share: u64, attributes: *const i32
        ) -> u64;
        egl_create_image = EGL_CREATE_IMAGE_KHR(
            display: u64, context: u64, target: u32, buffer: u64, attributes: *const i32
        ) -> u64;
        egl_create_pbuffer = EGL_CREATE_PBUFFER_SURFACE(
            display: u64, config: u64, attributes: *const i32
        ) -> u64;
        gen_samplers = GL_GEN_SAMPLERS(count: i32, names: *mut u32);
        gen_textures = GL_GEN_TEXTURES(count: i32, names: *mut u32);
        tex_image_2d = GL_TEX_IMAGE2D(
            target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32,
            format: u32, kind: u32, pixels: *const u8
        );
        shader_source = GL_SHADER_SOURCE(
            shader: u32, count: i32, texts: *const *const c_char, lengths: *const i32
        );
        gen_framebuffers = GL_GEN_FRAMEBUFFERS(count: i32, names: *mut u32);
        gen_framebuffers_oes = GL_GEN_FRAMEBUFFERS_OES(count: i32, names: *mut u32);
        gen_renderbuffers = GL_GEN_RENDERBUFFERS(count: i32, names: *mut u32);
        get_integers = GL_GET_INTEGERV(name: u32, out: *mut i32);
        get_doubles = GL_GET_DOUBLEV(name: u32, out: *mut f64);
        get_floats = GL_GET_FLOATV(name: u32, out: *mut f32);
        get_booleans = GL_GET_BOOLEANV(name: u32, out: *mut u8);
        get_integers_64_ext = GL_GET_INTEGER64V_EXT(name: u32, out: *mut i64);
        get_integers_at = GL_GET_INTEGERI_V(name: u32, index: u32, out: *mut i32);
        get_floats_at = GL_GET_FLOATI_V(name: u32, index: u32, out: *mut f32);
        get_doubles_at = GL_GET_DOUBLEI_V(name: u32, index: u32, out: *mut f64);
        get_floats_at_nv = GL_GET_FLOATI_V_NV(name: u32, index: u32, out: *mut f32);
        get_floats_at_oes = GL_GET_FLOATI_V_OES(name: u32, index: u32, out: *mut f32);
        get_integers_64_at = GL_GET_INTEGER64I_V(name: u32, index: u32, out: *mut i64);
        get_buffer_parameter = GL_GET_BUFFER_PARAMETERIV(target: u32, name: u32, out: *mut i32);
        get_buffer_pointer = GL_GET_BUFFER_POINTERV(target: u32, name: u32, out: *mut u64);
        get_buffer_parameter_64 = GL_GET_BUFFER_PARAMETERI64V(
            target: u32, name: u32, out: *mut i64
        );
        get_attachment = GL_GET_FRAMEBUFFER_ATTACHMENT_PARAMETERIV(
            target: u32, point: u32, name: u32, out: *mut i32
        );
        get_renderbuffer = GL_GET_RENDERBUFFER_PARAMETERIV(target: u32, name: u32, out: *mut i32);
        get_blocks = GL_GET_COMPRESSED_TEXTURE_SUB_IMAGE(
            texture: u32, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32,
            room: i32, out: *mut u8
        );
        get_texture_integers = GL_GET_TEX_PARAMETERIV(target: u32, name: u32, out: *mut i32);
        get_texture_level = GL_GET_TEX_LEVEL_PARAMETERIV(
            target: u32, level: i32, name: u32, out: *mut i32
        );
        get_texture_floats = GL_GET_TEX_PARAMETERFV(target: u32, name: u32, out: *mut f32);
        get_sampler_integers = GL_GET_SAMPLER_PARAMETERIV(sampler: u32, name: u32, out: *mut i32);
        get_sampler_floats = GL_GET_SAMPLER_PARAMETERFV(sampler: u32, name: u32, out: *mut f32);
        get_shader = GL_GET_SHADERIV(shader: u32, name: u32, out: *mut i32);
        get_program = GL_GET_PROGRAMIV(program: u32, name: u32, out: *mut i32);
        get_active_attrib = GL_GET_ACTIVE_ATTRIB(
            program: u32, index: u32, room: i32, len: *mut i32, size: *mut i32, kind: *mut u32,
            name: *mut c_char
        );
        get_active_uniform = GL_GET_ACTIVE_UNIFORM(
            program: u32, index: u32, room: i32, len: *mut i32, size: *mut i32, kind: *mut u32,
            name: *mut c_char
        );
        get_attrib_location = GL_GET_ATTRIB_LOCATION(program: u32, name: *const c_char) -> i32;
        get_uniform_location = GL_GET_UNIFORM_LOCATION(program: u32, name: *const c_char) -> i32;
        get_uniform_floats = GL_GET_UNIFORMFV(program: u32, location: i32, out: *mut f32);
        get_program_stage = GL_GET_PROGRAM_STAGEIV(
            program: u32, stage: u32, name: u32, out: *mut i32
        );
        get_subroutine = GL_GET_UNIFORM_SUBROUTINEUIV(stage: u32, location: i32, out: *mut u32);
        get_uniform_doubles = GL_GET_UNIFORMDV(program: u32, location: i32, out: *mut f64);
        get_uniform_integers = GL_GET_UNIFORMIV(program: u32, location: i32, out: *mut i32);
        get_uniform_unsigned = GL_GET_UNIFORMUIV(program: u32, location: i32, out: *mut u32);
        get_pipeline = GL_GET_PROGRAM_PIPELINEIV(name: u32, what: u32, out: *mut i32);
        get_pipeline_ext = GL_GET_PROGRAM_PIPELINEIV_EXT(name: u32, what: u32, out: *mut i32);
        bind_attrib_location = GL_BIND_ATTRIB_LOCATION(
            program: u32, index: u32, name: *const c_char
        );
        get_attached_shaders = GL_GET_ATTACHED_SHADERS(
            program: u32, room: i32, count: *mut i32, names: *mut u32
        );
        get_program_binary = GL_GET_PROGRAM_BINARY(
            program: u32, room: i32, len: *mut i32, format: *mut u32, out: *mut u8
        );
        get_program_binary_oes = GL_GET_PROGRAM_BINARY_OES(
            program: u32, room: i32, len: *mut i32, format: *mut u32, out: *mut u8
        );
        get_block = GL_GET_ACTIVE_UNIFORM_BLOCKIV(program: u32, index: u32, name: u32, out: *mut i32);
        get_block_name = GL_GET_ACTIVE_UNIFORM_BLOCK_NAME(
            program: u32, index: u32, room: i32, len: *mut i32, name: *mut c_char
        );
        get_attrib_floats = GL_GET_VERTEX_ATTRIBFV(index: u32, name: u32, out: *mut f32);
        egl_choose_config = EGL_CHOOSE_CONFIG(
            display: u64, wanted: *const i32, configs: *mut u64, room: i32, count: *mut i32
        ) -> u32;
        egl_query_string = EGL_QUERY_STRING(display: u64, name: i32) -> usize;
        get_string = GL_GET_STRING(name: u32) -> usize;
        egl_get_sync_attrib = EGL_GET_SYNC_ATTRIB_KHR(
            display: u64, sync: u64, name: i32, out: *mut i32
        ) -> u32;
        get_attrib_doubles = GL_GET_VERTEX_ATTRIB_LDV(index: u32, name: u32, out: *mut f64);
        get_attrib_integers = GL_GET_VERTEX_ATTRIB_IIV(index: u32, name: u32, out: *mut i32);
        get_attachment_oes = GL_GET_FRAMEBUFFER_ATTACHMENT_PARAMETERIV_OES(
            target: u32, point: u32, name: u32, out: *mut i32
        );
        get_framebuffer_parameter_mesa = GL_GET_FRAMEBUFFER_PARAMETERIV_MESA(
            target: u32, name: u32, out: *mut i32
        );
        window_rectangles = GL_WINDOW_RECTANGLES_EXT(
            mode: u32, count: i32, places: *const i32
        );
        get_framebuffer_parameter = GL_GET_FRAMEBUFFER_PARAMETERIV(
            target: u32, name: u32, out: *mut i32
        );
        get_clip_plane = GL_GET_CLIP_PLANEF(plane: u32, out: *mut f32);
        get_label = GL_GET_OBJECT_LABEL(
            kind: u32, name: u32, room: i32, len: *mut i32, text: *mut c_char
        );
        get_label_khr = GL_GET_OBJECT_LABEL_KHR(
            kind: u32, name: u32, room: i32, len: *mut i32, text: *mut c_char
        );
        get_label_ext = GL_GET_OBJECT_LABEL_EXT(
            kind: u32, name: u32, room: i32, len: *mut i32, text: *mut c_char
        );
        get_label_of_sync = GL_GET_OBJECT_PTR_LABEL(
            sync: u64, room: i32, len: *mut i32, text: *mut c_char
        );
        get_assembly_program = GL_GET_PROGRAMIV_ARB(target: u32, name: u32, out: *mut i32);
        get_assembly_string = GL_GET_PROGRAM_STRING_ARB(target: u32, name: u32, out: *mut u8);
        get_clip_plane_doubles = GL_GET_CLIP_PLANE(plane: u32, out: *mut f64);
        get_environment_parameter = GL_GET_PROGRAM_ENV_PARAMETERFV_ARB(
            target: u32, at: u32, out: *mut f32
        );
        get_local_parameter = GL_GET_PROGRAM_LOCAL_PARAMETERFV_ARB(
            target: u32, at: u32, out: *mut f32
        );
        get_map_floats = GL_GET_MAPFV(target: u32, query: u32, out: *mut f32);
        get_map_integers = GL_GET_MAPIV(target: u32, query: u32, out: *mut i32);
        get_texture_generation_floats = GL_GET_TEX_GENFV(coord: u32, name: u32, out: *mut f32);
        get_light = GL_GET_LIGHTFV(light: u32, name: u32, out: *mut f32);
        get_material = GL_GET_MATERIALFV(face: u32, name: u32, out: *mut f32);
        get_pointer = GL_GET_POINTERV(name: u32, out: *mut u64);
        get_pointer_khr = GL_GET_POINTERV_KHR(name: u32, out: *mut u64);
        get_query = GL_GET_QUERYIV(target: u32, name: u32, out: *mut i32);
        get_query_object_ext = GL_GET_QUERY_OBJECTUIV_EXT(query: u32, name: u32, out: *mut u32);
        get_query_object_64_ext = GL_GET_QUERY_OBJECTUI64V_EXT(
            query: u32, name: u32, out: *mut u64
        );
        get_query_at = GL_GET_QUERY_INDEXEDIV(target: u32, index: u32, name: u32, out: *mut i32);
        get_query_ext = GL_GET_QUERYIV_EXT(target: u32, name: u32, out: *mut i32);
        get_texture_environment = GL_GET_TEX_ENVFV(target: u32, name: u32, out: *mut f32);
        get_texture_generation = GL_GET_TEX_GENIV_OES(coord: u32, name: u32, out: *mut i32);
        load_matrix = GL_LOAD_MATRIXF(matrix: *const f32);
    }
}

/// Functions that write pixels to memory, in the ways that the context has set. A snapshot calls them by
/// [`Plain`](crate::snapshot::plain_pixels::Plain).
pub mod pixels {
    use super::*;

    driver_functions! {
        numbers {}
        memory {
            get_pixel_map = GL_GET_PIXEL_MAPFV(map: u32, out: *mut f32);
            get_polygon_stipple = GL_GET_POLYGON_STIPPLE(out: *mut u8);
            get_texture_image = GL_GET_TEX_IMAGE(
                target: u32, level: i32, format: u32, kind: u32, out: *mut u8
            );
            read_pixels = GL_READ_PIXELS(
                x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, out: *mut u8
            );
        }
    }
}

/// Whether the driver has the command.
pub fn has(id: u16) -> bool {
    !find(id).is_null()
}

/// Returns the driver's function for a command, even if the program has never called it; null if there is none. If the
/// function is not exported, the driver may return one that only some contexts support.
fn find(id: u16) -> Code {
    let known = table::driver(id);
    if !known.is_null() {
        return known;
    }
    let found = match exported(id) {
        code if code.is_null() => asked_for(id),
        code => code,
    };
    if !found.is_null() {
        table::set_driver(usize::from(id), found);
    }
    found
}

/// Returns the definition of a command that a library exports; null if none does.
fn exported(id: u16) -> Code {
    let at = usize::from(id);
    match NAMES.get(at) {
        Some(name) if EXPORTED.get(at) == Some(&true) => driver::symbol(name),
        _ => ptr::null_mut(),
    }
}

/// Returns the function that a loaded library of EGL or GLX gives out for a name; null if there is none. It is not this
/// library's own.
fn asked_for(id: u16) -> Code {
    let asks =
        [ids::EGL_GET_PROC_ADDRESS, ids::GLX_GET_PROC_ADDRESS_ARB, ids::GLX_GET_PROC_ADDRESS];
    let known = |ask: u16| match (table::driver(ask), NAMES.get(usize::from(ask))) {
        (code, Some(name)) if code.is_null() => driver::loaded_symbol(name),
        (code, _) => code,
    };
    let ask = asks.into_iter().map(known).find(|ask| !ask.is_null());
    let (Some(name), Some(ask)) = (NAMES.get(usize::from(id)), ask) else {
        return ptr::null_mut();
    };
    // SAFETY: the driver's function for the command has the command's signature.
    let ask = unsafe { transmute::<Code, unsafe extern "C" fn(*const c_char) -> Code>(ask) };
    // SAFETY: a NUL-terminated string.
    let found = unsafe { ask(name.as_ptr()) };
    // A library that looks the name up among all that are loaded finds this one.
    if driver::is_ours(found.cast_const().cast()) { ptr::null_mut() } else { found }
}

/// Returns the id of a command that has an entry point, by its name. Level Zero's have none.
pub fn named(name: &CStr) -> Option<u16> {
    let ours = &NAMES[..usize::from(Api::LevelZero.ids().start)];
    ours.binary_search(&name).ok().map(|id| id as u16)
}

/// Notes the function that the driver gave the program for a command. A definition that a library exports comes first;
/// this library's own is none.
pub fn learn(id: u16, code: Code) {
    if !table::driver(id).is_null() {
        return;
    }
    let exported = exported(id);
    let code = if exported.is_null() { code } else { exported };
    if !driver::is_ours(code.cast_const().cast()) {
        table::set_driver(usize::from(id), code);
    }
}

/// Whether `word` is in the driver's list of words; a null list has none.
pub fn has_word(text: *const c_char, word: &str) -> bool {
    if text.is_null() {
        return false;
    }
    // SAFETY: the driver returns a NUL-terminated string that stays valid.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    text.split(|byte| *byte == b' ').any(|known| known == word.as_bytes())
}
