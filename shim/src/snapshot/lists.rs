//! Display lists of a share group: glNewList, the commands that were kept when the program compiled the list
//! ([`crate::lists`]), glEndList. A list that the program named and did not compile is an empty one.

use std::collections::BTreeSet;

use gapii_recorder::observe;
use gapii_state::Context;
use gapii_state::gl::lists::{KeptCommand, KeptPiece, Piece, commands};
use gapii_state::read_back::NEVER;

use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_COMPILE, GL_ELEMENT_ARRAY_BUFFER, GL_PIXEL_UNPACK_BUFFER,
};

use super::emit::Emitter;
use crate::generated::ids::{
    GL_BIND_BUFFER, GL_DELETE_LISTS, GL_END_LIST, GL_NEW_LIST, GL_PIXEL_STOREI,
};
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
    let mut made = Made::default();
    let mut cut = 0;
    for name in callees_first(context, names) {
        let Some((words, is_cut)) = kept(context, name) else { continue };
        cut += usize::from(is_cut);
        let called = commands(&words).flat_map(|command| command.called());
        made.need(emitter, called.collect());
        emitter.command(GL_NEW_LIST).arg(name).arg(GL_COMPILE).done();
        commands(&words).for_each(|command| write(emitter, &command));
        emitter.command(GL_END_LIST).done();
        made.lists.insert(name);
    }
    for name in made.empty.iter().filter(|name| kept(context, **name).is_none()) {
        emitter.command(GL_DELETE_LISTS).arg(*name).arg(1_i32).done();
    }
    if cut > 0 {
        emitter.leave_out(&format!(
            "commands of {cut} display lists: they took data from buffers or generic attributes, glXUseXFont or several threads \
             compiled them, or all have more than 64 MiB"
        ));
    }
}

/// The kept commands of a list, and whether some are missing. `None` if the program has no list of this name.
fn kept(context: &Context, name: u32) -> Option<(Vec<u64>, bool)> {
    let group = context.group.lock();
    let found = group.display_lists.find(u64::from(name));
    group.display_lists.get(found).map(|list| (list.commands.clone(), list.is_cut))
}

/// Returns the names with those of lists that others call before these, as far as lists do not call each other in a circle.
fn callees_first(context: &Context, names: Vec<u32>) -> Vec<u32> {
    let (mut seen, mut ordered) = (BTreeSet::new(), Vec::new());
    let mut to_do: Vec<(u32, bool)> = names.into_iter().rev().map(|name| (name, false)).collect();
    while let Some((name, has_callees)) = to_do.pop() {
        if has_callees {
            ordered.push(name);
        } else if let Some((words, _)) = kept(context, name).filter(|_| seen.insert(name)) {
            to_do.push((name, true));
            let called = commands(&words).flat_map(|command| command.called());
            to_do.extend(called.map(|name| (name, false)));
        }
    }
    ordered
}

/// Lists that the replay has.
///
/// Mesa 22.3 looks for the lists that a list calls when the list has been compiled, and crashes if one does not exist. The program
/// may have deleted it since.
#[derive(Default)]
struct Made {
    lists: BTreeSet<u32>,
    /// Those that were made without commands, because another one calls them.
    empty: Vec<u32>,
}

impl Made {
    fn need(&mut self, emitter: &mut Emitter, called: BTreeSet<u32>) {
        for name in called {
            if name != 0 && self.lists.insert(name) {
                emitter.command(GL_NEW_LIST).arg(name).arg(GL_COMPILE).done();
                emitter.command(GL_END_LIST).done();
                self.empty.push(name);
            }
        }
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
