//! A command that names an object has the effect of its counterpart on the bound object, and leaves all bindings alone.

use std::sync::Arc;

use gapii_commands::constants::*;
use gapii_state::commands::*;
use gapii_state::stored::{Stored as _, Writer};
use gapii_state::{ContextApi, Ignore};

use crate::program::{Context, Group, Program, Thread, thread};

// Names of the objects of `start`.
const TEXTURE: u32 = 1;
const CUBE: u32 = 2;
const TEXELS: u32 = 3;
const BUFFER: u32 = 1;
const OTHER: u32 = 2;
const OBJECT: u32 = 1;

/// Numbers in memory that commands read: two draw buffers, two textures, two buffers.
const DATA: [u32; 6] = [GL_COLOR_ATTACHMENT1, GL_NONE, TEXTURE, CUBE, BUFFER, OTHER];
/// Address at which the driver maps buffers.
const MAPPED: u64 = 0x50_0000;

/// A context of the compatibility profile with objects of all kinds, none of which is bound.
fn start(m: &Program) -> Thread {
    let mut thread = thread();
    let mut context = Context::new(1, Arc::<Group>::default(), (4, 6));
    context.api = ContextApi::Compatibility;
    context.vertex_arrays.create(u64::from(OBJECT));
    context.transform_feedbacks.create(u64::from(OBJECT));
    context.group.lock().samplers.create(u64::from(OBJECT));
    thread.context = Some(Box::new(context));
    let t = &mut thread;
    for (target, name) in
        [(GL_TEXTURE_2D, TEXTURE), (GL_TEXTURE_CUBE_MAP, CUBE), (GL_TEXTURE_BUFFER, TEXELS)]
    {
        with_texture(t, m, target, name, |_| {});
    }
    for name in [BUFFER, OTHER] {
        with_buffer(t, m, name, |t| {
            glBufferData::enter(t, m, &mut Ignore, COPY, 64, 0, GL_STATIC_DRAW);
        });
    }
    glBindRenderbuffer::enter(t, m, &mut Ignore, GL_RENDERBUFFER, OBJECT);
    glBindRenderbuffer::enter(t, m, &mut Ignore, GL_RENDERBUFFER, 0);
    with_framebuffer(t, m, |_| {});
    thread
}

const COPY: u32 = GL_COPY_WRITE_BUFFER;

fn with_texture(
    t: &mut Thread,
    m: &Program,
    target: u32,
    name: u32,
    commands: impl FnOnce(&mut Thread),
) {
    glBindTexture::enter(t, m, &mut Ignore, target, name);
    commands(t);
    glBindTexture::enter(t, m, &mut Ignore, target, 0);
}

fn with_buffer(t: &mut Thread, m: &Program, name: u32, commands: impl FnOnce(&mut Thread)) {
    glBindBuffer::enter(t, m, &mut Ignore, COPY, name);
    commands(t);
    glBindBuffer::enter(t, m, &mut Ignore, COPY, 0);
}

fn with_framebuffer(t: &mut Thread, m: &Program, commands: impl FnOnce(&mut Thread)) {
    glBindFramebuffer::enter(t, m, &mut Ignore, GL_FRAMEBUFFER, OBJECT);
    commands(t);
    glBindFramebuffer::enter(t, m, &mut Ignore, GL_FRAMEBUFFER, 0);
}

fn stored(thread: &Thread) -> Vec<u8> {
    let mut writer = Writer::default();
    thread.store(&mut writer);
    writer.into_bytes()
}

/// Commands, which get the address of [`DATA`].
type Commands = fn(&mut Thread, &Program, u64);

/// Checks that the commands of all have the same effect, and one at all.
fn same(bound: Commands, named: &[Commands]) {
    let mut memory = Program::default();
    let data = memory.put(&DATA.map(u32::to_le_bytes).concat());
    let state_after = |commands: Commands| {
        let mut thread = start(&memory);
        commands(&mut thread, &memory, data);
        stored(&thread)
    };
    let expected = state_after(bound);
    assert!(expected != stored(&start(&memory)), "the commands change nothing");
    for (number, named) in named.iter().enumerate() {
        assert!(state_after(*named) == expected, "the effects of {number} differ");
    }
}

#[test]
fn texture_gets_parameters() {
    same(
        |t, m, data| {
            with_texture(t, m, GL_TEXTURE_2D, TEXTURE, |t| {
                glTexParameteri::enter(t, m, &mut Ignore, GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 5);
                glTexParameterf::enter(t, m, &mut Ignore, GL_TEXTURE_2D, GL_TEXTURE_MIN_LOD, 2.0);
                let color = GL_TEXTURE_BORDER_COLOR;
                glTexParameterIiv::enter(t, m, &mut Ignore, GL_TEXTURE_2D, color, data);
            });
        },
        &[
            |t, m, data| {
                glTextureParameteri::enter(t, m, &mut Ignore, TEXTURE, GL_TEXTURE_MAX_LEVEL, 5);
                glTextureParameterf::enter(t, m, &mut Ignore, TEXTURE, GL_TEXTURE_MIN_LOD, 2.0);
                let color = GL_TEXTURE_BORDER_COLOR;
                glTextureParameterIiv::enter(t, m, &mut Ignore, TEXTURE, color, data);
            },
            |t, m, data| {
                let (target, color) = (GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR);
                let (level, lod) = (GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_MIN_LOD);
                glTextureParameteriEXT::enter(t, m, &mut Ignore, TEXTURE, target, level, 5);
                glTextureParameterfEXT::enter(t, m, &mut Ignore, TEXTURE, target, lod, 2.0);
                glTextureParameterIivEXT::enter(t, m, &mut Ignore, TEXTURE, target, color, data);
            },
        ],
    );
}

const RGBA: (u32, u32) = (GL_RGBA, GL_UNSIGNED_BYTE);

#[test]
fn texture_gets_storage_and_pixels() {
    same(
        |t, m, data| {
            let (format, ty) = RGBA;
            with_texture(t, m, GL_TEXTURE_2D, TEXTURE, |t| {
                let target = GL_TEXTURE_2D;
                glTexStorage2D::enter(t, m, &mut Ignore, target, 2, GL_RGBA8, 8, 4);
                glTexSubImage2D::enter(t, m, &mut Ignore, target, 1, 0, 0, 1, 1, format, ty, data);
            });
        },
        &[
            |t, m, data| {
                let (format, ty) = RGBA;
                glTextureStorage2D::enter(t, m, &mut Ignore, TEXTURE, 2, GL_RGBA8, 8, 4);
                glTextureSubImage2D::enter(
                    t,
                    m,
                    &mut Ignore,
                    TEXTURE,
                    1,
                    0,
                    0,
                    1,
                    1,
                    format,
                    ty,
                    data,
                );
            },
            |t, m, data| {
                let (format, ty) = RGBA;
                let (name, target) = (TEXTURE, GL_TEXTURE_2D);
                glTextureStorage2DEXT::enter(t, m, &mut Ignore, name, target, 2, GL_RGBA8, 8, 4);
                glTextureSubImage2DEXT::enter(
                    t,
                    m,
                    &mut Ignore,
                    name,
                    target,
                    1,
                    0,
                    0,
                    1,
                    1,
                    format,
                    ty,
                    data,
                );
            },
        ],
    );
}

#[test]
fn texture_gets_an_image() {
    same(
        |t, m, data| {
            let (format, ty) = RGBA;
            with_texture(t, m, GL_TEXTURE_2D, TEXTURE, |t| {
                glTexImage2D::enter(
                    t,
                    m,
                    &mut Ignore,
                    GL_TEXTURE_2D,
                    0,
                    GL_RGBA8 as i32,
                    2,
                    2,
                    0,
                    format,
                    ty,
                    data,
                );
            });
        },
        &[
            |t, m, data| {
                let (format, ty) = RGBA;
                let (target, internal) = (GL_TEXTURE_2D, GL_RGBA8 as i32);
                glTextureImage2DEXT::enter(
                    t,
                    m,
                    &mut Ignore,
                    TEXTURE,
                    target,
                    0,
                    internal,
                    2,
                    2,
                    0,
                    format,
                    ty,
                    data,
                );
            },
            |t, m, data| {
                let (format, ty) = RGBA;
                let (unit, target, internal) = (GL_TEXTURE0, GL_TEXTURE_2D, GL_RGBA8 as i32);
                glBindMultiTextureEXT::enter(t, m, &mut Ignore, unit, target, TEXTURE);
                glMultiTexImage2DEXT::enter(
                    t,
                    m,
                    &mut Ignore,
                    unit,
                    target,
                    0,
                    internal,
                    2,
                    2,
                    0,
                    format,
                    ty,
                    data,
                );
                glBindMultiTextureEXT::enter(t, m, &mut Ignore, unit, target, 0);
            },
        ],
    );
}

#[test]
fn layers_of_a_cube_map_are_its_faces() {
    same(
        |t, m, data| {
            let (format, ty) = RGBA;
            with_texture(t, m, GL_TEXTURE_CUBE_MAP, CUBE, |t| {
                glTexStorage2D::enter(t, m, &mut Ignore, GL_TEXTURE_CUBE_MAP, 1, GL_RGBA8, 4, 4);
                for face in [GL_TEXTURE_CUBE_MAP_POSITIVE_Y, GL_TEXTURE_CUBE_MAP_NEGATIVE_Y] {
                    glTexSubImage2D::enter(
                        t,
                        m,
                        &mut Ignore,
                        face,
                        0,
                        0,
                        0,
                        1,
                        1,
                        format,
                        ty,
                        data,
                    );
                }
            });
        },
        &[|t, m, data| {
            let (format, ty) = RGBA;
            glTextureStorage2D::enter(t, m, &mut Ignore, CUBE, 1, GL_RGBA8, 4, 4);
            glTextureSubImage3D::enter(
                t,
                m,
                &mut Ignore,
                CUBE,
                0,
                0,
                0,
                2,
                1,
                1,
                2,
                format,
                ty,
                data,
            );
        }],
    );
}

#[test]
fn buffer_texture_gets_a_range() {
    same(
        |t, m, _| {
            with_texture(t, m, GL_TEXTURE_BUFFER, TEXELS, |t| {
                glTexBufferRange::enter(
                    t,
                    m,
                    &mut Ignore,
                    GL_TEXTURE_BUFFER,
                    GL_R32F,
                    BUFFER,
                    16,
                    32,
                );
            });
        },
        &[
            |t, m, _| {
                glTextureBufferRange::enter(t, m, &mut Ignore, TEXELS, GL_R32F, BUFFER, 16, 32)
            },
            |t, m, _| {
                let target = GL_TEXTURE_BUFFER;
                glTextureBufferRangeEXT::enter(
                    t,
                    m,
                    &mut Ignore,
                    TEXELS,
                    target,
                    GL_R32F,
                    BUFFER,
                    16,
                    32,
                );
            },
        ],
    );
}

#[test]
fn buffer_is_defined_changed_and_copied() {
    same(
        |t, m, data| {
            with_buffer(t, m, BUFFER, |t| {
                glBufferData::enter(t, m, &mut Ignore, COPY, 16, data, GL_DYNAMIC_DRAW);
                glBufferSubData::enter(t, m, &mut Ignore, COPY, 4, 4, data);
                glBindBuffer::enter(t, m, &mut Ignore, GL_COPY_READ_BUFFER, OTHER);
                glCopyBufferSubData::enter(t, m, &mut Ignore, COPY, GL_COPY_READ_BUFFER, 0, 16, 16);
                glBindBuffer::enter(t, m, &mut Ignore, GL_COPY_READ_BUFFER, 0);
            });
        },
        &[
            |t, m, data| {
                glNamedBufferData::enter(t, m, &mut Ignore, BUFFER, 16, data, GL_DYNAMIC_DRAW);
                glNamedBufferSubData::enter(t, m, &mut Ignore, BUFFER, 4, 4, data);
                glCopyNamedBufferSubData::enter(t, m, &mut Ignore, BUFFER, OTHER, 0, 16, 16);
            },
            |t, m, data| {
                glNamedBufferDataEXT::enter(t, m, &mut Ignore, BUFFER, 16, data, GL_DYNAMIC_DRAW);
                glNamedBufferSubDataEXT::enter(t, m, &mut Ignore, BUFFER, 4, 4, data);
                glNamedCopyBufferSubDataEXT::enter(t, m, &mut Ignore, BUFFER, OTHER, 0, 16, 16);
            },
        ],
    );
}

#[test]
fn buffer_is_mapped() {
    const ACCESS: u32 = GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT;
    same(
        |t, m, _| {
            with_buffer(t, m, BUFFER, |t| {
                glMapBufferRange::leave(t, m, &mut Ignore, COPY, 8, 16, ACCESS, MAPPED);
                glFlushMappedBufferRange::enter(t, m, &mut Ignore, COPY, 0, 4);
            });
            with_buffer(t, m, OTHER, |t| {
                glMapBuffer::leave(t, m, &mut Ignore, COPY, GL_READ_WRITE, MAPPED);
            });
        },
        &[|t, m, _| {
            glMapNamedBufferRange::leave(t, m, &mut Ignore, BUFFER, 8, 16, ACCESS, MAPPED);
            glFlushMappedNamedBufferRange::enter(t, m, &mut Ignore, BUFFER, 0, 4);
            glMapNamedBuffer::leave(t, m, &mut Ignore, OTHER, GL_READ_WRITE, MAPPED);
        }],
    );
}

#[test]
fn framebuffer_gets_attachments_and_draw_buffers() {
    const POINT: u32 = GL_COLOR_ATTACHMENT0;
    same(
        |t, m, data| {
            with_framebuffer(t, m, |t| {
                let (all, point) = (GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT);
                glFramebufferTexture::enter(t, m, &mut Ignore, all, POINT, TEXTURE, 1);
                glFramebufferRenderbuffer::enter(
                    t,
                    m,
                    &mut Ignore,
                    all,
                    point,
                    GL_RENDERBUFFER,
                    OBJECT,
                );
                glDrawBuffers::enter(t, m, &mut Ignore, 2, data);
                glReadBuffer::enter(t, m, &mut Ignore, POINT);
            });
        },
        &[
            |t, m, data| {
                let (kind, point) = (GL_RENDERBUFFER, GL_DEPTH_ATTACHMENT);
                glNamedFramebufferTexture::enter(t, m, &mut Ignore, OBJECT, POINT, TEXTURE, 1);
                glNamedFramebufferRenderbuffer::enter(
                    t,
                    m,
                    &mut Ignore,
                    OBJECT,
                    point,
                    kind,
                    OBJECT,
                );
                glNamedFramebufferDrawBuffers::enter(t, m, &mut Ignore, OBJECT, 2, data);
                glNamedFramebufferReadBuffer::enter(t, m, &mut Ignore, OBJECT, POINT);
            },
            |t, m, data| {
                let (kind, point) = (GL_RENDERBUFFER, GL_DEPTH_ATTACHMENT);
                glNamedFramebufferTextureEXT::enter(t, m, &mut Ignore, OBJECT, POINT, TEXTURE, 1);
                glNamedFramebufferRenderbufferEXT::enter(
                    t,
                    m,
                    &mut Ignore,
                    OBJECT,
                    point,
                    kind,
                    OBJECT,
                );
                glFramebufferDrawBuffersEXT::enter(t, m, &mut Ignore, OBJECT, 2, data);
                glFramebufferReadBufferEXT::enter(t, m, &mut Ignore, OBJECT, POINT);
            },
        ],
    );
}

#[test]
fn renderbuffer_gets_storage() {
    same(
        |t, m, _| {
            glBindRenderbuffer::enter(t, m, &mut Ignore, GL_RENDERBUFFER, OBJECT);
            let kind = GL_RENDERBUFFER;
            glRenderbufferStorageMultisample::enter(t, m, &mut Ignore, kind, 4, GL_RGBA8, 8, 2);
            glBindRenderbuffer::enter(t, m, &mut Ignore, GL_RENDERBUFFER, 0);
        },
        &[|t, m, _| {
            glNamedRenderbufferStorageMultisample::enter(
                t,
                m,
                &mut Ignore,
                OBJECT,
                4,
                GL_RGBA8,
                8,
                2,
            );
        }],
    );
}

#[test]
fn vertex_array_gets_formats_and_buffers() {
    same(
        |t, m, _| {
            glBindVertexArray::enter(t, m, &mut Ignore, OBJECT);
            glVertexAttribFormat::enter(t, m, &mut Ignore, 3, 2, GL_SHORT, 1, 4);
            glVertexAttribLFormat::enter(t, m, &mut Ignore, 4, 2, GL_DOUBLE, 8);
            glVertexAttribBinding::enter(t, m, &mut Ignore, 3, 1);
            glVertexBindingDivisor::enter(t, m, &mut Ignore, 1, 2);
            glBindVertexBuffer::enter(t, m, &mut Ignore, 1, BUFFER, 16, 12);
            glEnableVertexAttribArray::enter(t, m, &mut Ignore, 3);
            glBindBuffer::enter(t, m, &mut Ignore, GL_ELEMENT_ARRAY_BUFFER, OTHER);
            glBindVertexArray::enter(t, m, &mut Ignore, 0);
        },
        &[|t, m, _| {
            glVertexArrayAttribFormat::enter(t, m, &mut Ignore, OBJECT, 3, 2, GL_SHORT, 1, 4);
            glVertexArrayAttribLFormat::enter(t, m, &mut Ignore, OBJECT, 4, 2, GL_DOUBLE, 8);
            glVertexArrayAttribBinding::enter(t, m, &mut Ignore, OBJECT, 3, 1);
            glVertexArrayBindingDivisor::enter(t, m, &mut Ignore, OBJECT, 1, 2);
            glVertexArrayVertexBuffer::enter(t, m, &mut Ignore, OBJECT, 1, BUFFER, 16, 12);
            glEnableVertexArrayAttrib::enter(t, m, &mut Ignore, OBJECT, 3);
            glVertexArrayElementBuffer::enter(t, m, &mut Ignore, OBJECT, OTHER);
        }],
    );
}

#[test]
fn transform_feedback_gets_a_buffer() {
    same(
        |t, m, _| {
            let target = GL_TRANSFORM_FEEDBACK_BUFFER;
            glBindTransformFeedback::enter(t, m, &mut Ignore, GL_TRANSFORM_FEEDBACK, OBJECT);
            glBindBufferRange::enter(t, m, &mut Ignore, target, 1, BUFFER, 8, 16);
            glBindBuffer::enter(t, m, &mut Ignore, target, 0);
            glBindTransformFeedback::enter(t, m, &mut Ignore, GL_TRANSFORM_FEEDBACK, 0);
        },
        &[|t, m, _| {
            glTransformFeedbackBufferRange::enter(t, m, &mut Ignore, OBJECT, 1, BUFFER, 8, 16)
        }],
    );
}

#[test]
fn matrix_of_another_mode_changes() {
    same(
        |t, m, _| {
            glMatrixMode::enter(t, m, &mut Ignore, GL_PROJECTION);
            glTranslatef::enter(t, m, &mut Ignore, 1.0, 2.0, 3.0);
            glMatrixMode::enter(t, m, &mut Ignore, GL_MODELVIEW);
            glActiveTexture::enter(t, m, &mut Ignore, GL_TEXTURE0 + 2);
            glMatrixMode::enter(t, m, &mut Ignore, GL_TEXTURE);
            glScalef::enter(t, m, &mut Ignore, 4.0, 5.0, 6.0);
            glMatrixMode::enter(t, m, &mut Ignore, GL_MODELVIEW);
            glActiveTexture::enter(t, m, &mut Ignore, GL_TEXTURE0);
        },
        &[|t, m, _| {
            glMatrixTranslatefEXT::enter(t, m, &mut Ignore, GL_PROJECTION, 1.0, 2.0, 3.0);
            glMatrixScaledEXT::enter(t, m, &mut Ignore, GL_TEXTURE0 + 2, 4.0, 5.0, 6.0);
        }],
    );
}

#[test]
fn several_objects_are_bound_at_once() {
    same(
        |t, m, _| {
            for (unit, target, name) in [(1, GL_TEXTURE_2D, 1), (2, GL_TEXTURE_CUBE_MAP, 2)] {
                glActiveTexture::enter(t, m, &mut Ignore, GL_TEXTURE0 + unit);
                glBindTexture::enter(t, m, &mut Ignore, target, name);
            }
            glActiveTexture::enter(t, m, &mut Ignore, GL_TEXTURE0);
        },
        &[
            |t, m, _| {
                glBindTextureUnit::enter(t, m, &mut Ignore, 1, TEXTURE);
                glBindTextureUnit::enter(t, m, &mut Ignore, 2, CUBE);
            },
            |t, m, data| glBindTextures::enter(t, m, &mut Ignore, 1, 2, data + 8),
        ],
    );
    same(
        |t, m, _| {
            for (index, name) in [(3, BUFFER), (4, OTHER)] {
                glBindBufferBase::enter(t, m, &mut Ignore, GL_UNIFORM_BUFFER, index, name);
            }
            glBindBuffer::enter(t, m, &mut Ignore, GL_UNIFORM_BUFFER, 0);
        },
        &[|t, m, data| {
            glBindBuffersBase::enter(t, m, &mut Ignore, GL_UNIFORM_BUFFER, 3, 2, data + 16);
        }],
    );
}
