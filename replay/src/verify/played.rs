//! The outcome of a command that was just played.

use std::ffi::{CStr, c_char};

use gapii_commands::{Api, CommandId};

use super::replayed::Replayed;
use crate::call::Call;
use crate::gl::{self, selection};
use crate::level_zero;
use crate::names::Kind;
use crate::objects::rows::Rows;
use crate::objects::shapes::Shape;

/// A call that has returned.
pub(super) struct Played<'a, 'p, 'c>(pub &'a Call<'p, 'c>);

impl Replayed for Played<'_, '_, '_> {
    fn output(&self, param: usize) -> Option<&[u8]> {
        let output = self.0.written(param)?;
        Some(self.0.parts.outputs.bytes(output.at, output.len))
    }

    fn shaped(&self, address: u64) -> Option<(Shape, &[u8])> {
        let piece = self.0.parts.level_zero.piece(address)?;
        Some((piece.shape, piece.bytes()))
    }

    fn rows(&self, address: u64) -> Option<Rows> {
        level_zero::rows(self.0, address)
    }

    fn has_others_at_work(&self) -> bool {
        self.0.parts.level_zero.has_several_executors()
    }

    /// Content of a mapping that the present command made, what the driver wrote in a mode that it ended, or memory of
    /// Level Zero.
    fn mapped(&self, address: u64, len: usize) -> Option<&[u8]> {
        let call = self.0;
        let known = call.command.known();
        if known.is_some_and(|known| known.api() == Api::LevelZero) {
            return level_zero::memory(call, address, len);
        }
        if known == Some(CommandId::GL_RENDER_MODE) {
            return selection::written(call.parts, len);
        }
        let bytes = gl::mapped_bytes(call)?;
        let mapped = call.result().filter(|mapped| *mapped != 0)?;
        let offset = address.checked_sub(call.recorded_result()?)?;
        if offset.checked_add(len as u64)? > bytes {
            return None;
        }
        let start = (mapped as usize as *const u8).wrapping_add(usize::try_from(offset).ok()?);
        // SAFETY: the driver has just mapped these bytes, readable if the recording reads them, and only
        // a later command of this thread's turn unmaps them.
        Some(unsafe { std::slice::from_raw_parts(start, len) })
    }

    fn is_named(&self, kind: Kind, recorded: u32, here: u64) -> Option<bool> {
        self.0.parts.names.are_one(self.0.scopes, kind, u64::from(recorded), here)
    }

    fn text(&self) -> Option<Vec<u8>> {
        let is_text = matches!(
            self.0.command.known(),
            Some(CommandId::GL_GET_STRING | CommandId::GL_GET_STRINGI)
        );
        let text = self.0.result().filter(|text| is_text && *text != 0)?;
        // SAFETY: the driver returns a NUL-terminated string of its own for these two functions.
        Some(unsafe { CStr::from_ptr(text as usize as *const c_char) }.to_bytes().to_vec())
    }

    fn read_size(&self) -> Option<(u32, u32)> {
        let context = self.context()?;
        match context.read_framebuffer.is_none() {
            true => self.0.parts.egl.drawn_size(self.0.command.thread),
            false => gapii_state::gl::read_size(context),
        }
    }

    fn context(&self) -> Option<&gapii_follow::Context> {
        self.0.parts.follower.thread(self.0.command.thread)?.context.as_deref()
    }
}
