//! Compares as a replay goes on.

use gapii_commands::CommandId;
use gapii_trace::Command;

use super::answers;
use super::comparison::Comparison;
use super::differences::{Differences, Place, Verified};
use super::played::Played;
use super::replayed::Replayed;
use super::verdict::key_of;
use super::why::Why;
use crate::call::Call;
use crate::skip::Skip;

/// Compares as a replay goes on. The default one does not.
#[derive(Default)]
pub struct Verifier {
    found: Option<Box<Differences>>,
}

/// The pixels of a frame: their size and the hash of their rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePixels {
    pub width: u32,
    pub height: u32,
    pub name: [u8; 16],
}

impl Verifier {
    /// One that compares.
    pub fn on() -> Self {
        Self { found: Some(Box::default()) }
    }

    /// Whether this verifier compares.
    pub fn is_on(&self) -> bool {
        self.found.is_some()
    }

    /// Compares what `command` returned and wrote with what is recorded of it.
    pub fn command(&mut self, command: &Command<'_>, result: Option<u64>, replayed: &dyn Replayed) {
        let Some(found) = &mut self.found else { return };
        answers::note_query(command, found);
        if command.leave_payload().is_some() {
            Comparison { found, command, replayed }.all(result);
        }
    }

    /// A command that was not played: right if it had failed in the recording, too.
    pub fn skipped(&mut self, command: &Command<'_>, why: &Skip) {
        let Some(found) =
            self.found.as_mut().filter(|_| command.seq.is_some() && !command.in_flight)
        else {
            return;
        };
        let (place, seen) = (Place::of(command, "all"), format!("not played: {why}"));
        match answers::had_failed(command) {
            Some(true) => found.tolerated(Why::NotPlayed),
            Some(false) => found.differs(place, "played".to_owned(), seen),
            None => found.skipped(key_of(command), place, seen),
        }
    }

    /// A frame that was observed: `expected` as the program had drawn it, and as it is drawn here.
    pub fn frame(&mut self, seq: Option<u64>, expected: FramePixels, seen: Option<FramePixels>) {
        let Some(found) = &mut self.found else { return };
        let place = Place::of_frame(seq);
        match seen {
            Some(seen) if seen == expected => found.equal_frame(),
            Some(seen) => found.differs(place, frame_text(expected), frame_text(seen)),
            None => found.differs(place, frame_text(expected), "no frame".to_owned()),
        }
    }

    /// What was found, once all is played; `None` of one that does not compare.
    pub fn finish(self) -> Option<Verified> {
        self.found.map(|found| found.finish())
    }
}

/// The driver has returned: results and outputs are there.
pub(crate) fn after(verifier: &mut Verifier, call: &Call<'_, '_>) {
    let is_asked = call.command.known() == Some(CommandId::GL_GET_ERROR);
    if is_asked && call.parts.egl.found_no_errors(call.command.thread) {
        return;
    }
    if verifier.is_on() {
        verifier.command(call.command, call.result(), &Played(call));
    }
}

fn frame_text(frame: FramePixels) -> String {
    let hash: String = frame.name.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} x {} pixels, {hash}", frame.width, frame.height)
}
