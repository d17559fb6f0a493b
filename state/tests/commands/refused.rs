//! Commands of OpenGL ES that the driver refuses change nothing.

use std::sync::Arc;

use gapii_commands::constants::*;
use gapii_state::commands::*;
use gapii_state::{Ignore, Nothing};

use crate::program::{Context, Group, Thread, thread};

/// A thread with a context of OpenGL ES 3.2.
fn es32() -> Thread {
    let mut thread = thread();
    thread.context = Some(Box::new(Context::new(1, Arc::<Group>::default(), (3, 2))));
    thread
}

#[test]
fn framebuffer_keeps_its_attachment() {
    const POINT: u32 = GL_COLOR_ATTACHMENT0;
    /// No name, and no enumerant.
    const NONE: u32 = 0x1234;
    let (mut thread, seen) = (es32(), &mut Ignore);
    let [kept, other] = [1, 2].map(|name| {
        glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_2D, name);
        thread.context.as_deref().unwrap().group.lock().textures.find(u64::from(name))
    });
    glBindRenderbuffer::enter(&mut thread, &Nothing, seen, GL_RENDERBUFFER, 1);
    glBindFramebuffer::enter(&mut thread, &Nothing, seen, GL_FRAMEBUFFER, 1);
    let attached = |thread: &mut Thread| {
        let context = thread.context.as_deref().unwrap();
        let framebuffer = context.framebuffers.get(context.draw_framebuffer).unwrap();
        framebuffer.attachments.get(&POINT).map(|it| it.texture)
    };
    let mut attach = |[target, textarget, name]: [u32; 3], level| {
        let (thread, memory) = (&mut thread, &Nothing);
        glFramebufferTexture2D::enter(thread, memory, seen, target, POINT, textarget, name, level);
        attached(thread)
    };
    assert_eq!(attach([GL_FRAMEBUFFER, GL_TEXTURE_2D, 1], 0), Some(kept));
    assert_eq!(attach([NONE, GL_TEXTURE_2D, 2], 0), Some(kept));
    assert_eq!(attach([GL_FRAMEBUFFER, NONE, 2], 0), Some(kept));
    assert_eq!(attach([GL_FRAMEBUFFER, GL_TEXTURE_2D, NONE], 0), Some(kept));
    assert_eq!(attach([GL_FRAMEBUFFER, GL_TEXTURE_2D, 2], -1), Some(kept));
    for (kind, name) in [(NONE, 1), (GL_RENDERBUFFER, NONE)] {
        let (memory, all) = (&Nothing, GL_FRAMEBUFFER);
        glFramebufferRenderbuffer::enter(&mut thread, memory, seen, all, POINT, kind, name);
        assert_eq!(attached(&mut thread), Some(kept));
    }
    for (name, level) in [(NONE, 0), (2, -1)] {
        let (memory, all) = (&Nothing, GL_FRAMEBUFFER);
        glFramebufferTexture::enter(&mut thread, memory, seen, all, POINT, name, level);
        assert_eq!(attached(&mut thread), Some(kept));
        glFramebufferTextureLayer::enter(&mut thread, memory, seen, all, POINT, name, level, 0);
        assert_eq!(attached(&mut thread), Some(kept));
    }
    glFramebufferTexture::enter(&mut thread, &Nothing, seen, GL_FRAMEBUFFER, POINT, 2, 0);
    assert_eq!(attached(&mut thread), Some(other));
}

#[test]
fn units_and_binding_points_beyond_the_limits_are_not_followed() {
    let (mut thread, seen, memory) = (es32(), &mut Ignore, &Nothing);
    let limits = &mut thread.context.as_deref_mut().unwrap().limits;
    (limits.texture_units, limits.image_units) = (8, 3);
    (limits.uniform_bindings, limits.uniform_alignment) = (4, 16);
    (limits.storage_bindings, limits.storage_alignment) = (5, 32);
    (limits.atomic_bindings, limits.feedback_bindings) = (6, 7);
    for (unit, active) in [(7, 7), (8, 7), (u32::MAX - GL_TEXTURE0, 7), (6, 6)] {
        glActiveTexture::enter(&mut thread, memory, seen, GL_TEXTURE0 + unit);
        assert_eq!(thread.context.as_deref().unwrap().active_texture, active, "{unit}");
    }
    for (unit, units) in [(3, 0), (2, 3), (u32::MAX, 3)] {
        let (access, format) = (GL_READ_ONLY, GL_R32F);
        glBindImageTexture::enter(&mut thread, memory, seen, unit, 0, 0, 0, 0, access, format);
        assert_eq!(thread.context.as_deref().unwrap().images.len(), units, "{unit}");
    }
    for (unit, units) in [(8, 0), (u32::MAX, 0), (7, 8)] {
        glBindSampler::enter(&mut thread, memory, seen, unit, 0);
        assert_eq!(thread.context.as_deref().unwrap().texture_units.len(), units, "{unit}");
    }
    for name in [1, 2] {
        glBindBuffer::enter(&mut thread, memory, seen, GL_ARRAY_BUFFER, name);
    }
    let bound = |thread: &Thread, target| {
        let context = thread.context.as_deref().unwrap();
        let bound = match target {
            GL_UNIFORM_BUFFER => context.uniform_buffer,
            GL_SHADER_STORAGE_BUFFER => context.shader_storage_buffer,
            GL_ATOMIC_COUNTER_BUFFER => context.atomic_counter_buffer,
            _ => context.transform_feedback_buffer,
        };
        bound == context.group.lock().buffers.find(2)
    };
    let points = [
        (GL_UNIFORM_BUFFER, 4, 16),
        (GL_SHADER_STORAGE_BUFFER, 5, 32),
        (GL_ATOMIC_COUNTER_BUFFER, 6, 4),
        (GL_TRANSFORM_FEEDBACK_BUFFER, 7, 4),
    ];
    for (target, points, alignment) in points {
        let mut check = |index, range: Option<(i64, i64)>, expected| {
            let thread = &mut thread;
            glBindBuffer::enter(thread, memory, seen, target, 1);
            match range {
                None => glBindBufferBase::enter(thread, memory, seen, target, index, 2),
                Some((offset, size)) => {
                    glBindBufferRange::enter(thread, memory, seen, target, index, 2, offset, size)
                }
            }
            assert_eq!(bound(thread, target), expected, "{target:#x} {index} {range:?}");
        };
        check(points, None, false);
        check(u32::MAX, None, false);
        check(points - 1, None, true);
        check(points, Some((0, 4)), false);
        check(points - 1, Some((alignment, 4)), true);
        check(points - 1, Some((alignment / 2, 4)), false);
        check(points - 1, Some((0, 0)), false);
        check(points - 1, Some((-alignment, 4)), false);
        check(points - 1, Some((0, 6)), target != GL_TRANSFORM_FEEDBACK_BUFFER);
    }
}
