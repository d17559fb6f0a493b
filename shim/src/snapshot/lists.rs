//! Display lists of a share group: glNewList, the commands that were kept when the program compiled the list
//! ([`crate::lists`]), glEndList. A list that the program named and did not compile is an empty one.

use gapii_recorder::observe;
use gapii_state::Context;
use gapii_state::gl::lists::{KeptCommand, KeptPiece, Piece, commands};
use gapii_state::read_back::NEVER;

use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_COMPILE, GL_ELEMENT_ARRAY_BUFFER, GL_PIXEL_UNPACK_BUFFER,
};

use super::emit::Emitter;
use crate::generated::ids::{GL_BIND_BUFFER, GL_END_LIST, GL_NEW_LIST, GL_PIXEL_STOREI};
use crate::lists::{INITIAL, UNPACK};

/// Describes the lists. The parameters of glPixelStore have their initial values before and afterwards.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let names = context.group.lock().display_lists.names();
    if names.is_empty() {
        return;
    }
    for (name, value) in UNPACK.into_iter().zip(INITIAL) {
        emitter.command(GL_PIXEL_STOREI).arg(name).arg(value).done();
    }
    if context.has(NEVER, (2, 1)) {
        for target in [GL_PIXEL_UNPACK_BUFFER, GL_ARRAY_BUFFER, GL_ELEMENT_ARRAY_BUFFER] {
            emitter.command(GL_BIND_BUFFER).arg(target).arg(0_u32).done();
        }
    }
    let mut cut = 0;
    for name in names {
        let (words, is_cut) = {
            let group = context.group.lock();
            let found = group.display_lists.find(u64::from(name));
            let Some(list) = group.display_lists.get(found) else { continue };
            (list.commands.clone(), list.is_cut)
        };
        cut += usize::from(is_cut);
        emitter.command(GL_NEW_LIST).arg(name).arg(GL_COMPILE).done();
        commands(&words).for_each(|command| write(emitter, &command));
        emitter.command(GL_END_LIST).done();
    }
    if cut > 0 {
        emitter.leave_out(&format!(
            "commands of {cut} display lists: they took data from buffers or generic attributes, glXUseXFont or several threads \
             compiled them, or all have more than 64 MiB"
        ));
    }
}

/// Writes one command with the memory that it read then.
fn write(emitter: &mut Emitter, kept: &KeptCommand<'_>) {
    let mut command = emitter.command(kept.id).words(kept.fixed, kept.fixed_bytes);
    for piece in kept.pieces() {
        let bytes = bytes(&piece);
        command = match (piece.piece, bytes) {
            (Piece::Slot, Some(bytes)) => {
                command.reads(observe::array(bytes.as_ptr(), bytes.len() as i64, 1))
            }
            (Piece::Slot, None) => command.reads(observe::none()),
            (Piece::Range, Some(bytes)) => command.copy(piece.param, piece.address, bytes),
            (Piece::Range, None) => command,
        };
    }
    command.done();
}

fn bytes<'a>(piece: &KeptPiece<'a>) -> Option<&'a [u8]> {
    let words = piece.words?;
    let bytes = piece.bytes.min(words.len() * 8);
    // SAFETY: the words have as many bytes, and each is initialised.
    Some(unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), bytes) })
}
