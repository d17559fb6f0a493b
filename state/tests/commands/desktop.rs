//! Commands of desktop OpenGL's versions: the client memory that they read and write, and the state that decides about it.

use std::sync::Arc;

use crate::program::{Context, Group, Program, Seen, Thread, thread};
use gapii_commands::constants::*;
use gapii_state::commands::*;
use gapii_state::{At as _, ContextApi, CurrentType, Ignore, Memory, Nothing, Ref, Texture};

fn with_api(api: ContextApi, version: (u8, u8)) -> Thread {
    let mut thread = thread();
    let mut context = Context::new(1, Arc::<Group>::default(), version);
    context.api = api;
    thread.context = Some(Box::new(context));
    thread
}

fn compatibility() -> Thread {
    with_api(ContextApi::Compatibility, (4, 5))
}

fn context(thread: &mut Thread) -> &mut Context {
    thread.context.as_deref_mut().expect("the thread has a context")
}

/// Returns the texture that is bound to a target of unit 0.
fn bound(context: &Context, target: u32) -> Ref<Texture> {
    context.texture_units[0].bindings.at(target).copied().unwrap_or_default()
}

/// Returns the ranges that a command accesses: address and length.
fn ranges(run: impl FnOnce(&mut Seen)) -> Vec<(u64, u64)> {
    let mut seen = Seen::default();
    run(&mut seen);
    seen.ranges.iter().map(|(_, at, len)| (*at, *len)).collect()
}

/// Returns what glDrawArrays reads for `count` vertices.
fn drawn(thread: &mut Thread, count: i32) -> Vec<(u64, u64)> {
    ranges(|seen| glDrawArrays::enter(thread, &Nothing, seen, GL_QUADS, 0, count))
}

fn enable(thread: &mut Thread, array: u32) {
    glEnableClientState::enter(thread, &Nothing, &mut Ignore, array);
}

#[test]
fn interleaved_arrays_are_those_of_their_format() {
    let bytes = [
        (GL_V2F, 8),
        (GL_C4UB_V3F, 16),
        (GL_N3F_V3F, 24),
        (GL_C4F_N3F_V3F, 40),
        (GL_T2F_C4UB_V3F, 24),
        (GL_T4F_C4F_N3F_V4F, 60),
    ];
    for (format, bytes) in bytes {
        let mut thread = compatibility();
        enable(&mut thread, GL_EDGE_FLAG_ARRAY);
        glEdgeFlagPointer::enter(&mut thread, &Nothing, &mut Ignore, 0, 0x9000);
        glInterleavedArrays::enter(&mut thread, &Nothing, &mut Ignore, format, 0, 0x1000);
        assert_eq!(drawn(&mut thread, 2), [(0x1000, 2 * bytes)], "{format:#x}");
    }
    let mut thread = compatibility();
    glInterleavedArrays::enter(&mut thread, &Nothing, &mut Ignore, GL_V3F, 0, 0x1000);
    glInterleavedArrays::enter(&mut thread, &Nothing, &mut Ignore, GL_RGBA, 0, 0x2000);
    assert_eq!(drawn(&mut thread, 1), [(0x1000, 12)], "the driver refuses the format");
}

#[test]
fn arrays_that_only_the_compatibility_profile_has_are_observed() {
    let mut thread = compatibility();
    let seen = &mut Ignore;
    glFogCoordPointer::enter(&mut thread, &Nothing, seen, GL_DOUBLE, 0, 0x1000);
    glSecondaryColorPointer::enter(&mut thread, &Nothing, seen, 3, GL_UNSIGNED_BYTE, 4, 0x2000);
    glIndexPointer::enter(&mut thread, &Nothing, seen, GL_SHORT, 0, 0x3000);
    glEdgeFlagPointer::enter(&mut thread, &Nothing, seen, 2, 0x4000);
    glColorPointer::enter(&mut thread, &Nothing, seen, GL_BGRA as i32, GL_UNSIGNED_BYTE, 0, 0x5000);
    for array in [
        GL_FOG_COORD_ARRAY,
        GL_SECONDARY_COLOR_ARRAY,
        GL_INDEX_ARRAY,
        GL_EDGE_FLAG_ARRAY,
        GL_COLOR_ARRAY,
    ] {
        enable(&mut thread, array);
    }
    let expected = [(0x1000, 24), (0x2000, 11), (0x3000, 6), (0x4000, 5), (0x5000, 12)];
    assert_eq!(drawn(&mut thread, 3), expected);
    let element = ranges(|seen| glArrayElement::enter(&mut thread, &Nothing, seen, 1));
    assert_eq!(element, [(0x1008, 8), (0x2004, 3), (0x3002, 2), (0x4002, 1), (0x5004, 4)]);
}

#[test]
fn core_profile_has_no_arrays_in_client_memory() {
    for (api, expected) in [(ContextApi::Core, 0), (ContextApi::Compatibility, 1)] {
        let mut thread = with_api(api, (4, 5));
        glVertexAttribPointer::enter(
            &mut thread,
            &Nothing,
            &mut Ignore,
            0,
            3,
            GL_FLOAT,
            0,
            0,
            0x1000,
        );
        glEnableVertexAttribArray::enter(&mut thread, &Nothing, &mut Ignore, 0);
        let program = context(&mut thread).group.lock().programs.create(1);
        context(&mut thread).program = program;
        let mut seen = Seen::default();
        glDrawArrays::enter(&mut thread, &Nothing, &mut seen, GL_TRIANGLES, 0, 3);
        assert_eq!(seen.ranges.len(), expected, "{api:?}");
    }
}

#[test]
fn indirect_draw_without_a_buffer_reads_parameters_and_vertices() {
    let mut thread = compatibility();
    let mut program = Program::default();
    glVertexPointer::enter(&mut thread, &Nothing, &mut Ignore, 2, GL_DOUBLE, 0, 0x1000);
    enable(&mut thread, GL_VERTEX_ARRAY);
    let draws = program.put_i32(&[3, 1, 2, 0, -1, 4, 1, 100, 0]);
    let read = ranges(|seen| {
        glMultiDrawArraysIndirect::enter(&mut thread, &program, seen, GL_TRIANGLES, draws, 2, 20);
    });
    assert_eq!(read, [(draws, 36), (0x1000 + 32, 48), (0x1000 + 1600, 64)]);
    let buffer = context(&mut thread).group.lock().buffers.create(1);
    context(&mut thread).draw_indirect_buffer = buffer;
    let read = ranges(|seen| {
        glDrawArraysIndirect::enter(&mut thread, &program, seen, GL_TRIANGLES, 16);
    });
    assert_eq!(read, []);
    assert_eq!(context(&mut thread).unknown_indices, 1);
}

#[test]
fn restart_index_refers_to_no_vertex() {
    let mut thread = compatibility();
    let mut program = Program::default();
    glVertexPointer::enter(&mut thread, &Nothing, &mut Ignore, 2, GL_FLOAT, 0, 0x1000);
    enable(&mut thread, GL_VERTEX_ARRAY);
    let indices = program.put(&[1, 9, 2]);
    let read = |thread: &mut Thread| {
        ranges(|seen| {
            glDrawElements::enter(
                thread,
                &program,
                seen,
                GL_TRIANGLES,
                3,
                GL_UNSIGNED_BYTE,
                indices,
            );
        })
    };
    assert_eq!(read(&mut thread), [(indices, 3), (0x1008, 72)]);
    glPrimitiveRestartIndex::enter(&mut thread, &Nothing, &mut Ignore, 9);
    glEnable::enter(&mut thread, &Nothing, &mut Ignore, GL_PRIMITIVE_RESTART);
    assert_eq!(read(&mut thread), [(indices, 3), (0x1008, 16)]);
}

#[test]
fn rows_of_bits_are_read_by_the_unpack_parameters() {
    let mut thread = compatibility();
    let bitmap = |thread: &mut Thread, width, height| {
        ranges(|seen| {
            glBitmap::enter(thread, &Nothing, seen, width, height, 0.0, 0.0, 0.0, 0.0, 0x1000);
        })
    };
    assert_eq!(bitmap(&mut thread, 8, 12), [(0x1000, 45)]);
    glPixelStoref::enter(&mut thread, &Nothing, &mut Ignore, GL_UNPACK_ALIGNMENT, 0.9);
    assert_eq!(bitmap(&mut thread, 8, 12), [(0x1000, 12)]);
    assert_eq!(bitmap(&mut thread, 9, 2), [(0x1000, 4)]);
    let stipple = ranges(|seen| glPolygonStipple::enter(&mut thread, &Nothing, seen, 0x2000));
    assert_eq!(stipple, [(0x2000, 128)]);
}

#[test]
fn client_attributes_are_restored_with_the_arrays() {
    let mut thread = compatibility();
    let seen = &mut Ignore;
    glVertexPointer::enter(&mut thread, &Nothing, seen, 2, GL_FLOAT, 0, 0x1000);
    enable(&mut thread, GL_VERTEX_ARRAY);
    let all = GL_CLIENT_PIXEL_STORE_BIT | GL_CLIENT_VERTEX_ARRAY_BIT;
    for (mask, alignment, array) in [
        (all, 4, 0x1000),
        (GL_CLIENT_PIXEL_STORE_BIT, 4, 0x2000),
        (GL_CLIENT_VERTEX_ARRAY_BIT, 2, 0x2000),
    ] {
        glPushClientAttrib::enter(&mut thread, &Nothing, seen, mask);
        glPixelStorei::enter(&mut thread, &Nothing, seen, GL_UNPACK_ALIGNMENT, 2);
        glVertexPointer::enter(&mut thread, &Nothing, seen, 2, GL_FLOAT, 0, 0x2000);
        glPopClientAttrib::enter(&mut thread, &Nothing, seen);
        assert_eq!(context(&mut thread).unpack_alignment, alignment, "{mask:#x}");
        assert_eq!(drawn(&mut thread, 1), [(array, 8)], "{mask:#x}");
    }
    glPopClientAttrib::enter(&mut thread, &Nothing, seen);
    assert_eq!(context(&mut thread).client_attribute_depth, 0);
}

#[test]
fn attributes_are_restored_by_their_groups() {
    let mut thread = compatibility();
    let seen = &mut Ignore;
    glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_1D, 5);
    glPushAttrib::enter(&mut thread, &Nothing, seen, GL_TEXTURE_BIT | GL_LINE_BIT);
    glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_1D, 6);
    glLineWidth::enter(&mut thread, &Nothing, seen, 3.0);
    glPolygonMode::enter(&mut thread, &Nothing, seen, GL_BACK, GL_LINE);
    glPopAttrib::enter(&mut thread, &Nothing, seen);
    let context = context(&mut thread);
    assert_eq!(bound(context, GL_TEXTURE_1D), context.group.lock().textures.find(5));
    assert_eq!(context.line_width, 1.0);
    assert_eq!(context.polygon_modes, [GL_FILL, GL_LINE]);
}

#[test]
fn selection_and_feedback_write_when_the_mode_ends() {
    let mut thread = compatibility();
    let mut program = Program::default();
    let array = program.put_i32(&[1, 10, 20, 7, 0, 30, 40]);
    let mode = |thread: &mut Thread, program: &Program, mode, result| {
        ranges(|seen| glRenderMode::leave(thread, program, seen, mode, result))
    };
    assert_eq!(mode(&mut thread, &program, GL_SELECT, 0), [], "there is no array");
    assert_eq!(context(&mut thread).render_mode, GL_RENDER);
    glSelectBuffer::enter(&mut thread, &program, &mut Ignore, 16, array);
    glFeedbackBuffer::enter(&mut thread, &program, &mut Ignore, 32, GL_3D, 0x9000);
    assert_eq!(mode(&mut thread, &program, GL_SELECT, 0), []);
    assert_eq!(mode(&mut thread, &program, GL_FEEDBACK, 2), [(array, 28)]);
    assert_eq!(mode(&mut thread, &program, GL_FEEDBACK, 11), [(0x9000, 44)]);
    assert_eq!(mode(&mut thread, &program, GL_RENDER, -1), [(0x9000, 128)]);
}

#[test]
fn map_has_as_many_numbers_as_its_order_says() {
    let mut thread = compatibility();
    let target = GL_MAP2_VERTEX_3;
    let coefficients = |thread: &mut Thread| {
        ranges(|seen| glGetMapdv::leave(thread, &Nothing, seen, target, GL_COEFF, 0x9000))
    };
    assert_eq!(coefficients(&mut thread), [(0x9000, 24)], "one point before it is defined");
    let map = |thread: &mut Thread, ustride, order| {
        ranges(|seen| {
            glMap2f::enter(
                thread, &Nothing, seen, target, 0.0, 1.0, ustride, order, 0.0, 1.0, 12, 3, 0x1000,
            );
        })
    };
    assert_eq!(map(&mut thread, 4, 2), [(0x1000, 4 * (4 + 24 + 3))]);
    assert_eq!(map(&mut thread, 2, 4), [], "points overlap");
    assert_eq!(coefficients(&mut thread), [(0x9000, 8 * 18)]);
    let points = ranges(|seen| {
        glGetnMapfv::leave(&mut thread, &Nothing, seen, target, GL_COEFF, 71, 0x9000);
    });
    assert_eq!(points, [], "the array is too small");
}

#[test]
fn image_is_read_back_with_the_size_that_it_was_given() {
    let mut thread = compatibility();
    let seen = &mut Ignore;
    let image = |thread: &mut Thread, target, level| {
        ranges(|seen| {
            let (format, ty) = (GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV);
            glGetTexImage::leave(thread, &Nothing, seen, target, level, format, ty, 0x9000);
        })
    };
    glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_1D, 1);
    let (format, ty) = (GL_LUMINANCE, GL_UNSIGNED_BYTE);
    let internal = GL_INTENSITY8 as i32;
    glTexImage1D::enter(
        &mut thread,
        &Nothing,
        seen,
        GL_TEXTURE_1D,
        0,
        internal,
        18,
        1,
        format,
        ty,
        0x1000,
    );
    assert_eq!(image(&mut thread, GL_TEXTURE_1D, 0), [(0x9000, 72)]);
    assert_eq!(image(&mut thread, GL_TEXTURE_1D, 1), []);
    glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_1D_ARRAY, 2);
    glTexStorage2D::enter(&mut thread, &Nothing, seen, GL_TEXTURE_1D_ARRAY, 2, GL_RGBA8, 8, 3);
    assert_eq!(image(&mut thread, GL_TEXTURE_1D_ARRAY, 1), [(0x9000, 4 * 4 * 3)]);
    glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_3D, 3);
    glTexStorage3D::enter(&mut thread, &Nothing, seen, GL_TEXTURE_3D, 1, GL_RGBA8, 2, 2, 2);
    glPixelStorei::enter(&mut thread, &Nothing, seen, GL_PACK_IMAGE_HEIGHT, 5);
    assert_eq!(image(&mut thread, GL_TEXTURE_3D, 0), [(0x9000, 5 * 8 + 2 * 8)]);
}

#[test]
fn level_zero_makes_the_others_if_the_texture_generates_them() {
    let mut thread = compatibility();
    let seen = &mut Ignore;
    glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_2D, 1);
    glTexParameteri::enter(&mut thread, &Nothing, seen, GL_TEXTURE_2D, GL_GENERATE_MIPMAP, 1);
    let (format, ty) = (GL_RGBA, GL_UNSIGNED_BYTE);
    glTexImage2D::enter(
        &mut thread,
        &Nothing,
        seen,
        GL_TEXTURE_2D,
        0,
        GL_RGBA as i32,
        8,
        8,
        0,
        format,
        ty,
        0x1000,
    );
    let context = context(&mut thread);
    let group = context.group.lock();
    let texture = group.textures.get(bound(context, GL_TEXTURE_2D)).unwrap();
    let widths: Vec<i32> = texture.images[&GL_TEXTURE_2D].values().map(|it| it.width).collect();
    assert_eq!(widths, [8, 4, 2, 1]);
}

#[test]
fn opengl_es_refuses_what_only_desktop_opengl_takes() {
    let mut thread = with_api(ContextApi::Es, (3, 2));
    let seen = &mut Ignore;
    glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_RECTANGLE, 1);
    glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_2D, 1);
    glTexStorage2D::enter(&mut thread, &Nothing, seen, GL_TEXTURE_2D, 1, GL_INTENSITY8, 4, 4);
    glPixelStorei::enter(&mut thread, &Nothing, seen, GL_PACK_IMAGE_HEIGHT, 5);
    let context = context(&mut thread);
    assert!(bound(context, GL_TEXTURE_RECTANGLE).is_none());
    let group = context.group.lock();
    let texture = group.textures.get(bound(context, GL_TEXTURE_2D)).unwrap();
    assert_eq!((texture.immutable_levels, context.pack_image_height), (0, 0));
}

#[test]
fn list_exists_once_it_was_compiled() {
    let mut thread = compatibility();
    let seen = &mut Ignore;
    glGenLists::leave(&mut thread, &Nothing, seen, 2, 10);
    glNewList::enter(&mut thread, &Nothing, seen, 10, GL_COMPILE);
    glNewList::enter(&mut thread, &Nothing, seen, 20, GL_COMPILE);
    assert_eq!((context(&mut thread).list, context(&mut thread).list_mode), (10, GL_COMPILE));
    glEndList::enter(&mut thread, &Nothing, seen);
    glNewList::enter(&mut thread, &Nothing, seen, 20, GL_COMPILE_AND_EXECUTE);
    glEndList::enter(&mut thread, &Nothing, seen);
    glDeleteLists::enter(&mut thread, &Nothing, seen, 11, 1);
    let context = context(&mut thread);
    assert_eq!(context.list, 0);
    assert_eq!(context.group.lock().display_lists.names(), [10, 20]);
}

#[test]
fn double_uniforms_and_integer_attributes_keep_their_values() {
    let mut thread = compatibility();
    let mut program = Program::default();
    let made = context(&mut thread).group.lock().programs.create(1);
    context(&mut thread).program = made;
    let bytes: Vec<u8> = (0..4_u8).flat_map(|at| f64::from(at).to_le_bytes()).collect();
    let address = program.put(&bytes);
    let memory: &dyn Memory = &program;
    glUniformMatrix2dv::enter(&mut thread, memory, &mut Ignore, 3, 1, 1, address);
    glVertexAttrib4Nub::enter(&mut thread, &Nothing, &mut Ignore, 2, 255, 0, 51, 255);
    glVertexAttribI2i::enter(&mut thread, &Nothing, &mut Ignore, 1, -3, 4);
    glVertexAttribL2d::enter(&mut thread, &Nothing, &mut Ignore, 3, 0.5, 7.0);
    let context = context(&mut thread);
    let group = context.group.lock();
    let uniform = &group.programs.get(made).unwrap().uniforms[&3];
    assert_eq!((uniform.kind, &uniform.doubles[..]), (GL_DOUBLE_MAT2, &[0.0, 2.0, 1.0, 3.0][..]));
    let attrib = &context.current_attribs[2];
    assert_eq!((attrib.x, attrib.z), (1.0, 0.2));
    assert_eq!(context.current_attribs[1].integers, [-3, 4, 0, 1]);
    assert_eq!((context.current_attribs[3].x, context.current_attribs[3].y), (0.5, 7.0));
    let types = [CurrentType::Integer, CurrentType::Float, CurrentType::Double];
    assert_eq!(context.attrib_types[1..4], types);
}
