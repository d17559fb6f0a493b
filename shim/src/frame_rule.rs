//! The rule of the present order to record that says which commands end a frame (`--frame-end`). Without one, swaps do.
//!
//! The rule is set when the order is heard, and forgotten when the capture ends. It is worked out for each command in
//! advance, so that commands that end no frame cost nothing: [`crate::table`] lets only those go through
//! [`crate::traced`] that the rule [watches](is_watched). Swaps and submits of Level Zero are [hooked](crate::hooks) in any
//! case, and ask [`ends`].
//!
//! Counts no frame and writes no record: [`crate::frame_ends`] does.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};

use gapii_abi::frame_rule::{self, FRAME_RULE_BYTES};
use gapii_commands::{FRAME_ENDS, OF_GROUPS};

use crate::generated::ids;
use crate::generated::names::NAMES;

/// A call of the command ends a frame.
const ENDS: u8 = 1;
/// The command begins or ends a debug group, and the rule names groups.
const GROUPS: u8 = 2;

/// By id: [`ENDS`] and [`GROUPS`].
static COMMANDS: [AtomicU8; ids::COUNT] = [const { AtomicU8::new(0) }; ids::COUNT];
/// The rule as text, for names of debug groups.
static TEXT: [AtomicU64; FRAME_RULE_BYTES / 8] =
    [const { AtomicU64::new(0) }; FRAME_RULE_BYTES / 8];
/// Whether there is a rule.
static IS_SET: AtomicBool = AtomicBool::new(false);
/// The order to record that the rule belongs to.
static ORDER: AtomicU64 = AtomicU64::new(0);

/// Sets the rule of order `order`; all zeros for none. Called by one thread at a time; the table is to be settled next.
pub fn set(text: &[u8; FRAME_RULE_BYTES], order: u64) {
    let is_set = frame_rule::words(text).next().is_some();
    if !is_set {
        return forget();
    }
    for (word, bytes) in TEXT.iter().zip(text.as_chunks::<8>().0) {
        // Relaxed: a thread that reads half of two rules misses a group of a capture that has just begun.
        word.store(u64::from_le_bytes(*bytes), Relaxed);
    }
    let has_groups = frame_rule::has_groups(text);
    for (id, (command, name)) in COMMANDS.iter().zip(NAMES).enumerate() {
        let ends = if frame_rule::has_function(text, name.to_bytes()) { ENDS } else { 0 };
        let is_of_group = has_groups && OF_GROUPS.iter().any(|of| usize::from(*of) == id);
        // An input of the table's slots, like those that `table` itself has.
        command.store(ends | if is_of_group { GROUPS } else { 0 }, SeqCst);
    }
    // Relaxed, both: a thread that does not see them yet makes its command before the rule holds.
    ORDER.store(order, Relaxed);
    IS_SET.store(true, Relaxed);
}

/// Forgets the rule. The table is to be settled next.
pub fn forget() {
    // Relaxed: as above.
    if IS_SET.swap(false, Relaxed) {
        COMMANDS.iter().for_each(|command| command.store(0, SeqCst));
    }
}

/// Whether there is a rule, so that swaps end a frame only if it says so.
pub fn is_set() -> bool {
    // Relaxed: as above.
    IS_SET.load(Relaxed)
}

/// Returns the order to record that the rule belongs to.
pub fn order() -> u64 {
    // Relaxed: as above.
    ORDER.load(Relaxed)
}

/// Whether each call of command `id` ends a frame.
pub fn ends(id: u16) -> bool {
    has(usize::from(id), ENDS)
}

/// Whether command `id` begins or ends a debug group that may be one of the rule's.
pub fn is_of_groups(id: u16) -> bool {
    has(usize::from(id), GROUPS)
}

/// Whether the calls of command `id` have to go through [`crate::frame_ends`].
pub fn is_watched(id: usize) -> bool {
    has(id, ENDS | GROUPS) && !FRAME_ENDS.iter().any(|hooked| usize::from(*hooked) == id)
}

/// Whether the end of the debug group with this name ends a frame.
pub fn has_group(name: &[u8]) -> bool {
    let mut text = [0; FRAME_RULE_BYTES];
    for (bytes, word) in text.as_chunks_mut::<8>().0.iter_mut().zip(&TEXT) {
        // Relaxed: as above.
        *bytes = word.load(Relaxed).to_le_bytes();
    }
    frame_rule::has_group(&text, name)
}

fn has(id: usize, bits: u8) -> bool {
    COMMANDS.get(id).is_some_and(|command| command.load(SeqCst) & bits != 0)
}
