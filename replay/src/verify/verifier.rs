//! Verification during a replay. A command without a leave record, one that was in flight, and `glGetError` in a
//! context that checked no errors in the recording are not compared. A frame that could not be read here is a
//! difference.

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

/// Compares the replay with the recording. The default value compares nothing.
#[derive(Default)]
pub struct Verifier {
    found: Option<Box<Differences>>,
}

/// Pixels of a frame: size, and hash of the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePixels {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Name of the blob with the rows, from the bottom up.
    pub name: [u8; 16],
}

impl Verifier {
    /// A verifier that compares.
    pub fn on() -> Self {
        Self { found: Some(Box::default()) }
    }

    /// Whether this verifier compares.
    pub fn is_on(&self) -> bool {
        self.found.is_some()
    }

    /// Compares results and outputs of `command` with the recorded ones.
    pub fn command(&mut self, command: &Command<'_>, result: Option<u64>, replayed: &dyn Replayed) {
        let Some(found) = &mut self.found else { return };
        answers::note_query(command, found);
        if command.leave_payload().is_some() {
            Comparison { found, command, replayed }.all(result);
        }
    }

    /// Notes a command that was not played, which is right if it failed in the recording.
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

    /// Compares an observed frame: `expected` is the recorded one, `seen` the one drawn here.
    pub fn frame(&mut self, seq: Option<u64>, expected: FramePixels, seen: Option<FramePixels>) {
        let Some(found) = &mut self.found else { return };
        let place = Place::of_frame(seq);
        match seen {
            Some(seen) if seen == expected => found.equal_frame(),
            Some(seen) => found.different_frame(place, frame_text(expected), frame_text(seen)),
            None => found.different_frame(place, frame_text(expected), "no frame".to_owned()),
        }
    }

    /// The result; `None` if this verifier compares nothing.
    pub fn finish(self) -> Option<Verified> {
        self.found.map(|found| found.finish())
    }
}

/// Called after the driver has returned: compares results and outputs.
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
