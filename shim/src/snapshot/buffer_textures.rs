//! Buffer textures: the buffer of each, its range and its format, as the driver has them. The state may have others: it
//! follows commands that the driver refuses, such as one that names a buffer which was never bound.

use core::ops::Range;

use gapii_commands::constants::{
    GL_TEXTURE_BUFFER, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, GL_TEXTURE_BUFFER_OFFSET,
    GL_TEXTURE_BUFFER_SIZE, GL_TEXTURE_INTERNAL_FORMAT,
};
use gapii_state::{Buffer, Context, Ref, Texture};

use super::emit::Emitter;
use super::found;
use super::gl;
use super::identity;
use super::levels::level_integer;
use super::sibling::Sibling;
use super::texture_parameters::Has;
use crate::generated::ids::*;

/// The range of a buffer that a texture shows, in bytes.
#[derive(Clone, Copy)]
pub struct Shown {
    buffer: Ref<Buffer>,
    offset: i64,
    /// 0 for all of the buffer.
    size: i64,
    /// 0 if there is no buffer.
    format: u32,
}

impl Shown {
    /// As the state has it.
    pub fn of(texture: &Texture) -> Self {
        let it = &texture.buffer;
        Self { buffer: it.buffer, offset: it.offset, size: it.size, format: texture.buffer_format }
    }

    /// Takes from the driver what the texture shows, if the sibling context can be asked.
    pub fn asked(self, context: &Context, sibling: &Sibling, texture: u32) -> Self {
        let asked = sibling.ask(move |_| {
            gl::bind_texture(GL_TEXTURE_BUFFER, texture);
            let answers = of_bound();
            gl::bind_texture(GL_TEXTURE_BUFFER, 0);
            Some(answers)
        });
        asked.map_or(self, |answers| self.corrected(context, answers))
    }

    /// Takes from the driver what the texture shows that is bound in the context.
    pub fn asked_where_bound(self, context: &Context) -> Self {
        self.corrected(context, of_bound())
    }

    fn corrected(self, context: &Context, answers: [i32; 4]) -> Self {
        let group = context.group.lock();
        match answers {
            // A driver may forget the name of a buffer that is deleted.
            [0, ..] if identity::has_name(&group.buffers, self.buffer) => {
                Self { format: 0, ..self }
            }
            [0, ..] => self,
            // The answer may be the size of the buffer where the texture has no size of its own.
            [name, format, ..] if u64::from(name as u32) == self.buffer.name() => {
                Self { format: format as u32, ..self }
            }
            [name, format, offset, size] => Self {
                buffer: group.buffers.find(u64::from(name as u32)),
                offset: i64::from(offset),
                size: i64::from(size),
                format: format as u32,
            },
        }
    }

    /// The format of the texels; 0 if the texture shows no buffer.
    pub fn format(&self) -> u32 {
        self.format
    }

    /// The bytes that the texture shows of its buffer, which has `size` bytes.
    pub fn range(&self, size: usize) -> Range<usize> {
        let [start, len] = [self.offset, self.size].map(|it| usize::try_from(it).unwrap_or(0));
        found::place(size, start, len)
    }

    /// The buffer; none if the texture shows none.
    pub fn buffer(&self) -> Ref<Buffer> {
        if self.format == 0 { Ref::NONE } else { self.buffer }
    }

    /// Describes the texture that is bound in the replay.
    pub fn describe(&self, emitter: &mut Emitter, context: &Context, has: Has) {
        if self.format == 0 {
            return;
        }
        let buffer = identity::name(&context.group.lock().buffers, self.buffer);
        let is_part = self.size != 0;
        let id = match (has.is((3, 2), (3, 1)), is_part) {
            (true, false) => GL_TEX_BUFFER,
            (true, true) => GL_TEX_BUFFER_RANGE,
            (false, false) => GL_TEX_BUFFER_EXT,
            (false, true) => GL_TEX_BUFFER_RANGE_EXT,
        };
        let command = emitter.command(id).arg(GL_TEXTURE_BUFFER).arg(self.format).arg(buffer);
        if is_part { command.arg(self.offset).arg(self.size).done() } else { command.done() }
    }
}

/// Returns the buffer of the bound texture, its format, its offset and its size.
fn of_bound() -> [i32; 4] {
    [
        GL_TEXTURE_BUFFER_DATA_STORE_BINDING,
        GL_TEXTURE_INTERNAL_FORMAT,
        GL_TEXTURE_BUFFER_OFFSET,
        GL_TEXTURE_BUFFER_SIZE,
    ]
    .map(|name| level_integer(GL_TEXTURE_BUFFER, 0, name))
}
