//! The kept commands of Level Zero, as the program called them and in the same order. A command that uses an object which
//! does not live any more is left out and listed as missing, because no object here has that handle.

use std::collections::BTreeSet;
use std::sync::Arc;

use gapii_recorder::observe::{self, Observation};

use super::emit::{Command, Emitter};
use crate::kept;
use crate::kept::entry::{Entry, Piece, Role};
use crate::kept::registry;

/// Writes the kept commands.
pub fn describe(emitter: &mut Emitter) {
    let entries = registry::lock().entries(kept::command);
    let mut living: BTreeSet<u64> = BTreeSet::new();
    let (mut appended, mut others) = (0, 0);
    for entry in &entries {
        if entry.handles().iter().all(|handle| living.contains(handle)) {
            write(emitter, entry);
            living.extend(entry.makes());
        } else if entry.command.facts.appended.is_some() {
            appended += 1;
        } else if entry.command.facts.found.is_none() {
            // What was found in an object ends with that object.
            others += 1;
        }
    }
    let why = "that use destroyed objects";
    if appended > 0 {
        emitter.leave_out(&format!("Level Zero: {appended} commands in lists {why}"));
    }
    if others > 0 {
        emitter.leave_out(&format!("Level Zero: {others} commands {why}"));
    }
}

/// Writes one command with the memory that it read and wrote then.
fn write(emitter: &mut Emitter, entry: &Arc<Entry>) {
    let mut command = emitter.command(entry.command.id);
    for (word, size) in entry.args().iter().zip(entry.command.sizes) {
        command = command.word(*word, *size);
    }
    for piece in entry.pieces() {
        command = read(command, piece);
    }
    let pieces = || entry.pieces();
    let slots = pieces().filter(|piece| piece.role == Role::WriteSlot).map(|piece| slot(&piece));
    let ranges = pieces().filter(|piece| piece.role == Role::WriteRange);
    let ranges = ranges.filter_map(|piece| Some((piece.param, piece.address, piece.bytes?)));
    let (slots, ranges) = (slots.collect::<Vec<_>>(), ranges.collect::<Vec<_>>());
    // Only commands that succeeded are kept: ZE_RESULT_SUCCESS.
    command.returns_copies(0_u32, &slots, &ranges);
}

fn read<'e>(command: Command<'e>, piece: Piece<'_>) -> Command<'e> {
    match (piece.role, piece.bytes) {
        (Role::ReadSlot, _) => command.reads(slot(&piece)),
        (Role::ReadRange, Some(bytes)) => command.copy(piece.param, piece.address, bytes),
        _ => command,
    }
}

/// The observation of a copy.
fn slot(piece: &Piece<'_>) -> Observation {
    let bytes = piece.bytes.unwrap_or_default();
    observe::array(bytes.as_ptr(), bytes.len() as i64, 1)
}
