//! `--verify`: what the program was told while it was recorded, held against what the driver says
//! now, and frames that were observed against those that are drawn.
//!
//! Looks only: never calls a driver, never changes what is played.

mod answers;
mod differences;
mod played;
mod policy;

use gapii_protocol::trace::Command;
use gapii_protocol::trace::description::{Kind as Meaning, Observed, Param, Repr, Type};
use gapii_protocol::trace::value::{Observation, Range, Value};

pub use differences::{Difference, Verified};
pub use policy::{Rule, Why, rule};

use crate::call::{Call, Skip};
use crate::level_zero::{Rows, Shape, leaves};
use crate::names::Kind;
use differences::{Differences, Maker, Place};
use played::Played;

/// What memory for outputs is filled with before a command: what it still holds behind it nobody
/// wrote.
pub const UNWRITTEN: u8 = 0xA7;
/// Bytes at the start of an output that are filled.
pub const FILLED_BYTES: usize = 1 << 20;

const GL_NO_ERROR: u64 = 0;
const GL_VENDOR: u64 = 0x1F00;
const GL_RENDERER: u64 = 0x1F01;
const GL_VERSION: u64 = 0x1F02;

/// What became of a command in the replay.
pub trait Replayed {
    /// What the driver wrote, from where this output parameter pointed on.
    fn output(&self, param: usize) -> Option<&[u8]>;
    /// `len` bytes of a mapping that the recording had at `address`.
    fn mapped(&self, address: u64, len: usize) -> Option<&[u8]>;
    /// What an argument leads to, where it has a shape: the memory here for that which the recording had at
    /// `address`.
    fn shaped(&self, address: u64) -> Option<(Shape, &[u8])> {
        let _ = address;
        None
    }
    /// Of memory that was written at `address`, the rows that were.
    fn rows(&self, address: u64) -> Option<Rows> {
        let _ = address;
        None
    }
    /// Whether devices may be at work behind what a command of Level Zero has waited for.
    fn has_others_at_work(&self) -> bool {
        false
    }
    /// The name that an object of the recording has here.
    fn name(&self, kind: Kind, recorded: u32) -> Option<u32>;
    /// The text that the result points at.
    fn text(&self) -> Option<Vec<u8>>;
    /// Width and height of what pixels are read from, where that is a surface.
    fn read_size(&self) -> Option<(u32, u32)>;
    /// The state of the thread's current context.
    fn context(&self) -> Option<&gapii_state::Context>;
}

/// The pixels of a frame: their size and the hash of their rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePixels {
    pub width: u32,
    pub height: u32,
    pub name: [u8; 16],
}

/// Compares as a replay goes on. The default one does not.
#[derive(Default)]
pub struct Verifier {
    found: Option<Box<Differences>>,
}

/// The driver has returned: results and outputs are there.
pub fn after(call: &mut Call<'_, '_>) {
    let is_asked = call.command.name() == "glGetError";
    if is_asked && call.parts.egl.found_no_errors(call.command.thread) {
        return;
    }
    if call.parts.verify.is_on() {
        let mut verifier = std::mem::take(&mut call.parts.verify);
        verifier.command(call.command, call.result(), &Played(call));
        call.parts.verify = verifier;
    }
}

impl Verifier {
    /// One that compares.
    pub fn on() -> Self {
        Self { found: Some(Box::default()) }
    }

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

/// One command's answers, then and now.
struct Comparison<'a, 'c> {
    found: &'a mut Differences,
    command: &'a Command<'c>,
    replayed: &'a dyn Replayed,
}

impl Comparison<'_, '_> {
    fn all(mut self, result: Option<u64>) {
        let command = self.command;
        let Some(function) = command.function else { return };
        let asked = asked_value(command);
        let is_gl = function.name.starts_with("gl");
        let is_void = function.result.is_void();
        if !is_gl && !is_void && result.is_none() {
            // It only asks, and was not played.
            return;
        }
        match (command.result(), result) {
            (Some(recorded), Some(result)) => self.result(asked, recorded, result),
            (Some(_), None) if is_gl => {
                let place = Place::of(command, "result");
                self.found.differs(place, "a result".to_owned(), "none".to_owned());
            }
            _ => {}
        }
        for (index, arg) in command.args().enumerate() {
            if arg.param.observed == Observed::Out
                && let Some(recorded) = command.bytes_of(arg.observation)
            {
                if let Some(shaped) = self.replayed.shaped(arg.value.bits()) {
                    self.shaped(&arg.param.name, &recorded, shaped);
                    continue;
                }
                let rule = rule_of(&function.name, arg.param, asked);
                let answer = Answer { part: &arg.param.name, element: arg.param.element };
                self.answer(answer, rule, &recorded, self.replayed.output(index));
            }
        }
        for range in command.ranges_written() {
            self.range(asked, &range);
        }
    }

    fn result(
        &mut self,
        asked: Option<u64>,
        (recorded, text): (Value, Observation<'_>),
        result: u64,
    ) {
        let command = self.command;
        let Some(function) = command.function else { return };
        let rule = rule(&function.name, "result", asked);
        if function.name == "glGetError" {
            let was_one = recorded.bits() != GL_NO_ERROR;
            let stands_for_skipped = self.found.error_asked(key_of(command), was_one);
            if was_one && stands_for_skipped && result == GL_NO_ERROR {
                return self.found.tolerated(Why::NotPlayed);
            }
        }
        let answer = Answer { part: "result", element: Some(function.result) };
        if function.result.kind == Meaning::String {
            let (here, there) = (self.replayed.text(), command.bytes_of(text));
            if let (Some(here), Some(there)) = (&here, &there) {
                if matches!(asked, Some(GL_VENDOR | GL_RENDERER | GL_VERSION)) {
                    self.found.driver_said(Maker::Graphics, here[..] == there[..]);
                }
                self.answer(answer, rule, there, Some(here));
                return;
            }
        }
        let address = matches!(
            function.result.kind,
            Meaning::Handle | Meaning::Pointer | Meaning::String | Meaning::Array
        );
        let rule = if rule == Rule::Exact && address { Rule::Presence } else { rule };
        let size = usize::from(function.result.repr.map_or(8, |repr| repr.size())).clamp(1, 8);
        let (there, here) = (recorded.bits().to_le_bytes(), result.to_le_bytes());
        self.answer(answer, rule, &there[..size], Some(&here[..size]));
    }

    /// Memory that no slot has: pixels, what a mapping shows.
    fn range(&mut self, asked: Option<u64>, range: &Range<'_>) {
        let (command, replayed) = (self.command, self.replayed);
        let (Some(function), Some(recorded)) =
            (command.function, command.bytes_of(range.observation))
        else {
            return;
        };
        let index = range.param.map(usize::from);
        let param = index.and_then(|index| function.params.get(index));
        if let Some(param) = param
            && let Some(shaped) = replayed.shaped(range.address)
        {
            return self.shaped(&param.name, &recorded, shaped);
        }
        let here = match (index, param) {
            (Some(index), Some(_)) => {
                let begin = command.args().nth(index).map_or(0, |arg| arg.value.bits());
                let offset = usize::try_from(range.address.wrapping_sub(begin)).ok();
                replayed.output(index).zip(offset).and_then(|(bytes, offset)| bytes.get(offset..))
            }
            _ => replayed.mapped(range.address, recorded.len()),
        };
        let Some(param) = param else {
            return self.memory(range.address, &recorded, here);
        };
        let rule = rule_of(&function.name, param, asked);
        let answer = Answer { part: &param.name, element: param.element };
        match answers::pixels(command, replayed) {
            None => self.answer(answer, rule, &recorded, here),
            Some(pixels) => {
                let here = here.map(|here| pixels.written(here, recorded.len()));
                let there = pixels.written(&recorded, recorded.len());
                self.answer(answer, Rule::Exact, &there, here.as_deref());
            }
        }
    }

    /// Memory that the command has waited for.
    fn memory(&mut self, address: u64, there: &[u8], here: Option<&[u8]>) {
        let (command, replayed) = (self.command, self.replayed);
        let part = format!("memory at {address:#x}");
        let rows = replayed.rows(address);
        let of_rows = |bytes: &[u8]| rows.map_or_else(|| bytes.to_vec(), |rows| rows.of(bytes));
        let (there, here) = (of_rows(there), here.map(of_rows));
        self.found.is_looked_at_again((command.process, address));
        let is_part = replayed.has_others_at_work() || answers::waits_for_a_part(command.name());
        if here.as_ref() != Some(&there) && is_part {
            let (expected, seen) = answers::texts(None, &there, here.as_deref().unwrap_or(&[]));
            let place = Place::of(command, &part);
            return self.found.unsettled((command.process, address), place, expected, seen);
        }
        let answer = Answer { part: &part, element: None };
        self.answer(answer, Rule::Exact, &there, here.as_deref());
    }

    /// Memory of a shape, value by value.
    fn shaped(&mut self, part: &str, there: &[u8], (shape, here): (Shape, &[u8])) {
        let function = self.command.name();
        let Some(here) = here.get(..there.len()) else {
            let answer = Answer { part, element: None };
            return self.answer(answer, Rule::Exact, there, None);
        };
        leaves(shape, part, there, here, &mut |leaf| {
            if leaf.ty.kind == Meaning::Chain {
                // What it leads to is compared by itself, if it is known.
                return;
            }
            let is_address = leaf.ty.repr == Some(Repr::Pointer);
            let rule = match rule(function, leaf.name, None) {
                Rule::Exact | Rule::Driver if is_address => Rule::Presence,
                rule => rule,
            };
            if answers::names_driver(function, leaf.name) {
                self.found.driver_said(Maker::LevelZero, leaf.there == leaf.here);
            }
            let answer = Answer { part: leaf.name, element: Some(leaf.ty) };
            self.answer(answer, rule, leaf.there, Some(leaf.here));
        });
    }

    fn answer(&mut self, answer: Answer<'_>, rule: Rule, there: &[u8], here: Option<&[u8]>) {
        let (command, replayed) = (self.command, self.replayed);
        let place = Place::of(command, answer.part);
        let Some(here) = here.and_then(|here| here.get(..there.len())) else {
            let expected = format!("{} bytes", there.len());
            return self.found.differs(place, expected, "nothing".to_owned());
        };
        let verdict = match rule {
            _ if here == there => Verdict::Equal,
            Rule::Exact => Verdict::Different,
            Rule::Names(kind) => answer.by_elements(there, here, |there, here| {
                answers::same_name(kind, there, here, replayed)
            }),
            Rule::Presence if is_unwritten(here) => Verdict::Different,
            Rule::Presence => {
                answer.by_elements(there, here, |there, here| (there == 0) == (here == 0))
            }
            Rule::Locations => answer.by_elements(there, here, |there, here| {
                let none = u64::from(u32::MAX);
                (there & none == none) == (here & none == none)
            }),
            Rule::Driver => Verdict::Drivers,
            Rule::QueryResult => answers::query_result(command, replayed.context(), self.found),
            Rule::Waited => answers::waited(answers::number(there), answers::number(here)),
            Rule::Polled => answers::polled(answers::number(there), answers::number(here)),
            Rule::Varies(why) => Verdict::Tolerated(why),
        };
        let verdict = match verdict {
            Verdict::Different | Verdict::Drivers if is_unwritten(here) => Verdict::Unwritten,
            verdict => verdict,
        };
        match verdict {
            Verdict::Equal => self.found.equal(),
            Verdict::Tolerated(why) => self.found.tolerated(why),
            _ => {
                let (expected, seen) = answers::texts(answer.element, there, here);
                match verdict {
                    Verdict::Drivers => self.found.of_driver(place, expected, seen),
                    Verdict::Unwritten => match answers::had_failed(command) {
                        Some(true) => self.found.tolerated(Why::NothingWritten),
                        Some(false) => {
                            self.found.differs(place, expected, "nothing was written".to_owned());
                        }
                        None => {
                            let is_pixels = answers::reads_pixels(command.name());
                            let key = key_of(command);
                            self.found.unwritten(key, place, expected, is_pixels);
                        }
                    },
                    _ => self.found.differs(place, expected, seen),
                }
            }
        }
    }
}

/// An answer that is compared.
#[derive(Clone, Copy)]
struct Answer<'a> {
    part: &'a str,
    element: Option<Type>,
}

/// What a comparison came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Equal,
    Different,
    /// Different if the driver is the one of the recording.
    Drivers,
    /// The driver wrote nothing.
    Unwritten,
    Tolerated(Why),
}

impl Answer<'_> {
    fn by_elements(
        &self,
        there: &[u8],
        here: &[u8],
        is_same: impl Fn(u64, u64) -> bool,
    ) -> Verdict {
        let size = self.element.and_then(|ty| ty.repr).map_or(8, |repr| repr.size());
        let size = usize::from(size).clamp(1, 8);
        let pairs = there.chunks(size).zip(here.chunks(size));
        let mut pairs = pairs.map(|(there, here)| (answers::number(there), answers::number(here)));
        match pairs.all(|(there, here)| is_same(there, here)) {
            true => Verdict::Equal,
            false => Verdict::Different,
        }
    }
}

/// Whether an output is as it was before the command. Not all of a large one was filled.
fn is_unwritten(output: &[u8]) -> bool {
    let filled = &output[..output.len().min(FILLED_BYTES)];
    !filled.is_empty() && filled.iter().all(|byte| *byte == UNWRITTEN)
}

/// Whose errors a command makes: the process, and its context.
fn key_of(command: &Command<'_>) -> (u32, u64) {
    (command.process, command.context)
}

/// The rule for an output. Elements that are handles are there or not, unless the table knows more.
fn rule_of(function: &str, param: &Param, asked: Option<u64>) -> Rule {
    let is_handle = param.element.is_some_and(|element| element.kind == Meaning::Handle);
    match rule(function, &param.name, asked) {
        Rule::Exact if is_handle => Rule::Presence,
        rule => rule,
    }
}

/// The value that a command asks for: `pname` or, of commands that ask by index, `target`.
fn asked_value(command: &Command<'_>) -> Option<u64> {
    let named = |name: &str| command.args().find(|arg| arg.param.name == name);
    let asked = named("pname").or_else(|| named("target")).or_else(|| named("name"));
    asked.filter(|asked| matches!(asked.value, Value::Enum { .. })).map(|asked| asked.value.bits())
}

fn frame_text(frame: FramePixels) -> String {
    let hash: String = frame.name.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} x {} pixels, {hash}", frame.width, frame.height)
}

/// A rectangle of pixels in memory.
struct Pixels {
    /// Of the first pixel.
    x: i64,
    y: i64,
    texel: usize,
    row: usize,
    stride: usize,
    /// Of what is read from, where it is known.
    size: Option<(i64, i64)>,
}

impl Pixels {
    /// What the driver has to write of the first `len` bytes of memory that begins with a row: not
    /// what is between rows, nor what would be outside of the framebuffer.
    fn written(&self, bytes: &[u8], len: usize) -> Vec<u8> {
        let bytes = &bytes[..len.min(bytes.len())];
        let mut written = Vec::with_capacity(bytes.len());
        for (y, row) in (self.y..).zip(bytes.chunks(self.stride)) {
            let texels = row[..self.row.min(row.len())].chunks(self.texel);
            for (x, texel) in (self.x..).zip(texels) {
                let ends_before = self.size.is_none_or(|(width, height)| x < width && y < height);
                if x >= 0 && y >= 0 && ends_before {
                    written.extend_from_slice(texel);
                }
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_between_rows_and_outside_of_the_framebuffer_do_not_count() {
        let pixels = |x, y, size| Pixels { x, y, texel: 1, row: 3, stride: 4, size };
        let bytes: Vec<u8> = (0..11).collect();
        assert_eq!(pixels(0, 0, None).written(&bytes, 11), [0, 1, 2, 4, 5, 6, 8, 9, 10]);
        assert_eq!(pixels(-1, -1, None).written(&bytes, 11), [5, 6, 9, 10]);
        assert_eq!(pixels(0, 0, Some((1, 2))).written(&bytes, 11), [0, 4]);
    }
}
