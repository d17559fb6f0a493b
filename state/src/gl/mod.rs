//! Hand-written functions that the descriptions of OpenGL ES declare with `extern`.

#![allow(clippy::too_many_arguments, reason = "the descriptions define the signatures")]

mod arrays;
mod attribute_lists;
mod attributes;
mod buffers;
mod debug;
mod draws;
mod egl_images;
mod forget;
mod formats;
mod former_attachments;
mod framebuffers;
mod glsl;
mod indices;
pub mod lists;
mod maps;
mod matrices;
mod paths;
mod pixels;
mod programs;
mod selection;
mod storage;
#[cfg(test)]
pub(crate) mod testing;
mod textures;
mod uniforms;
mod zeros;

pub use arrays::{
    bind_buffer_of, enable_array_of, set_array_of, set_binding_of, set_divisor_of, set_format_of,
    set_long_of, set_pointer_of,
};
pub use attribute_lists::attributes_to_none;
pub use attributes::restore_capabilities;
pub use buffers::{
    bind_element_buffer_of, bound_buffer, change_buffer, copy_buffer, define_buffer, delete_buffer,
    give_to_driver, lose_contents,
};
pub use debug::messages;
pub use debug::{label_object, pop_debug_group};
pub use draws::{
    client_arrays, client_elements, elements, indirect_draws, ranged_elements, unknown_arrays,
};
pub use egl_images::{
    become_image, become_image_for_rendering, bind_color_buffer, note_source_of_image,
    release_color_buffer,
};
pub use former_attachments::FormerAttachments;
pub use framebuffers::{
    attach_renderbuffer_to, attach_texture_to, detach_renderbuffer, forget_status, read_size,
};
pub use lists::{call_list, call_lists};
pub use maps::{
    changed_maps, deleted_writes, flush_mapping, flushed_writes, map_buffer, mapped_writes,
    unmap_buffer,
};
pub use matrices::*;
pub use paths::{count_bits, path_names};
pub use pixels::{
    asked_level, blocks_bytes, pack, pack_3d, pack_3d_within, pack_compressed, pack_image,
    pack_image_within, pack_within, packed_rows, texel_bytes, unpack_2d, unpack_3d,
    unpack_compressed,
};
pub use programs::{
    attach_shader, create_shader_program, delete_program, delete_shader, detach_shader,
    link_program, set_feedback_varyings, use_program, use_stages,
};
pub use selection::{pop_selection_name, selected};
pub use storage::{define_storage, define_view, generate_levels, note_target};
pub use textures::{
    delete_sampler, delete_texture, set_sampler_parameter, set_sampler_parameter_float,
    set_texture_parameter, set_texture_parameter_float,
};
pub use uniforms::uniform_components;
pub use uniforms::{set_uniform_doubles, set_uniform_floats, set_uniform_integers};
