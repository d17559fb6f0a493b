//! Outputs of the driver, compared with those of the recording. Handles that the driver did not write are not noted.

use gapii_trace::description::{Kind as Meaning, Observed};
use gapii_trace::{Bytes, Command};

use crate::call::Call;
use crate::names::{Kind, Scopes};
use crate::objects::shapes::{WORD_BYTES, is_unwritten, leaves, number};

/// The bytes that the recorded command wrote at `address`, and those that the driver wrote here.
fn written<'a, 'c>(call: &'a Call<'_, 'c>, address: u64) -> Option<(Bytes<'c>, &'a [u8])> {
    let command: &'c Command<'c> = call.command;
    let slots = command.args().filter(|arg| arg.param.observed == Observed::Out);
    let mut slots = slots.filter(|arg| arg.value.bits() == address).map(|arg| arg.observation);
    let mut ranges = command.ranges_written().filter(|range| range.address == address);
    let seen = slots.next().or_else(|| ranges.next().map(|range| range.observation))?;
    let there = command.bytes_of(seen)?;
    let here = call.parts.level_zero.piece(address)?.bytes();
    let here = here.get(..there.len().min(here.len()))?;
    Some((there, here))
}

/// The first address written at `address`: the recorded one, and the driver's. `None` if either is
/// null.
pub fn pointers(call: &Call<'_, '_>, address: u64) -> Option<(u64, u64)> {
    numbers(call, address).filter(|(recorded, real)| *recorded != 0 && *real != 0)
}

/// The first number written at `address`: the recorded one, and the driver's. `None` if the driver
/// wrote nothing.
pub fn numbers(call: &Call<'_, '_>, address: u64) -> Option<(u64, u64)> {
    let (there, here) = written(call, address)?;
    let (there, here) = (there.first_chunk::<WORD_BYTES>()?, here.first_chunk::<WORD_BYTES>()?);
    (!is_unwritten(here)).then(|| (number(there), number(here)))
}

/// Notes the handles that the command returned as those of the recorded objects.
pub fn learn_handles(call: &mut Call<'_, '_>, scopes: Scopes) {
    let mut pairs = Vec::new();
    for piece in &call.parts.level_zero.pieces {
        if let Some((there, here)) = written(call, piece.address) {
            leaves(piece.shape, "", &there, here, &mut |leaf| {
                let real = number(leaf.here);
                if leaf.ty.kind == Meaning::Handle && real != 0 && !is_unwritten(leaf.here) {
                    pairs.push((number(leaf.there), real));
                }
            });
        }
    }
    for (recorded, real) in pairs {
        call.parts.names.insert(scopes, Kind::LevelZero, recorded, real);
    }
}
