//! Comparison of one command's recorded answers with those of the replay, each by the rule of its description; an
//! output that the replay does not have is a difference. A `glGetError` that returned an error in the recording may
//! return none if commands before it were skipped. Memory of Level Zero that a running command may be changing is
//! judged when it is next compared.

use gapii_commands::constants;
use gapii_commands::{Api, CommandId};
use gapii_trace::Command;
use gapii_trace::description::{Kind as Meaning, Observed, Param, Repr, Type};
use gapii_trace::value::{Observation, Range, Value};

use super::answers;
use super::differences::{Differences, Maker, Place};
use super::policy::{Part, rule};
use super::replayed::Replayed;
use super::rule::Rule;
use super::verdict::{Verdict, key_of};
use super::why::Why;
use crate::memory::{FILLED_BYTES, UNWRITTEN};
use crate::objects::shapes::{Shape, leaves};

const GL_NO_ERROR: u64 = constants::GL_NO_ERROR as u64;

/// Comparison of one command's recorded answers with those of the replay.
pub(super) struct Comparison<'a, 'c> {
    pub(super) found: &'a mut Differences,
    pub(super) command: &'a Command<'c>,
    pub(super) replayed: &'a dyn Replayed,
}

impl Comparison<'_, '_> {
    pub(super) fn all(mut self, result: Option<u64>) {
        let command = self.command;
        let Some(function) = command.function else { return };
        let is_gl = command.known().is_some_and(|known| known.api() == Api::Gl);
        let is_void = function.result.is_void();
        if !is_gl && !is_void && result.is_none() {
            // A query of EGL, whose answer here is not comparable.
            return;
        }
        match (command.result(), result) {
            (Some(recorded), Some(result)) => self.result(recorded, result),
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
                    self.shaped(index, &arg.param.name, &recorded, shaped);
                    continue;
                }
                let rule = self.rule_of(index, arg.param);
                let answer = Answer { part: &arg.param.name, element: arg.param.element };
                self.answer(answer, rule, &recorded, self.replayed.output(index));
            }
        }
        for range in command.ranges_written() {
            self.range(&range);
        }
    }

    fn result(&mut self, (recorded, text): (Value, Observation<'_>), result: u64) {
        let command = self.command;
        let Some(function) = command.function else { return };
        let rule = self.rule(Part::Result);
        if command.known() == Some(CommandId::GL_GET_ERROR) {
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
                if rule == Rule::DriverIdentity {
                    self.found.driver_said(Maker::of(command), here[..] == there[..]);
                }
                return self.answer(answer, rule, there, Some(here));
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

    /// Compares a range: pixels of a read-back, content of a mapping, memory of Level Zero.
    fn range(&mut self, range: &Range<'_>) {
        let (command, replayed) = (self.command, self.replayed);
        let (Some(function), Some(recorded)) =
            (command.function, command.bytes_of(range.observation))
        else {
            return;
        };
        let index = range.param.map(usize::from);
        let param = index.and_then(|index| function.params.get(index));
        if let Some((index, param)) = index.zip(param)
            && let Some(shaped) = replayed.shaped(range.address)
        {
            return self.shaped(index, &param.name, &recorded, shaped);
        }
        let here = match (index, param) {
            (Some(index), Some(_)) => {
                let begin = command.args().nth(index).map_or(0, |arg| arg.value.bits());
                let offset = usize::try_from(range.address.wrapping_sub(begin)).ok();
                replayed.output(index).zip(offset).and_then(|(bytes, offset)| bytes.get(offset..))
            }
            _ => replayed.mapped(range.address, recorded.len()),
        };
        let Some((index, param)) = index.zip(param) else {
            return self.memory(range.address, &recorded, here);
        };
        let rule = self.rule_of(index, param);
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

    /// Compares memory that the command has waited for.
    fn memory(&mut self, address: u64, there: &[u8], here: Option<&[u8]>) {
        let (command, replayed) = (self.command, self.replayed);
        let part = format!("memory at {address:#x}");
        let rows = replayed.rows(address);
        let of_rows = |bytes: &[u8]| rows.map_or_else(|| bytes.to_vec(), |rows| rows.of(bytes));
        let (there, here) = (of_rows(there), here.map(of_rows));
        self.found.is_looked_at_again((command.process, address));
        let is_part = replayed.has_others_at_work() || answers::waits_for_a_part(command.known());
        if here.as_ref() != Some(&there) && is_part {
            let (expected, seen) = answers::texts(None, &there, here.as_deref().unwrap_or(&[]));
            let place = Place::of(command, &part);
            return self.found.unsettled((command.process, address), place, expected, seen);
        }
        let answer = Answer { part: &part, element: None };
        self.answer(answer, Rule::Exact, &there, here.as_deref());
    }

    /// Compares memory of a known shape at the parameter `name` value by value.
    fn shaped(&mut self, index: usize, name: &str, there: &[u8], (shape, here): (Shape, &[u8])) {
        let Some(here) = here.get(..there.len()) else {
            let answer = Answer { part: name, element: None };
            return self.answer(answer, Rule::Exact, there, None);
        };
        leaves(shape, name, there, here, &mut |leaf| {
            if leaf.ty.kind == Meaning::Chain {
                // The structure behind this pointer is compared by itself, if it is known.
                return;
            }
            let is_address = leaf.ty.repr == Some(Repr::Pointer);
            let part = match leaf.name.rsplit_once('.') {
                Some((_, field)) => Part::Field(index, field),
                None => Part::Output(index),
            };
            let rule = match self.rule(part) {
                Rule::Exact | Rule::Driver if is_address => Rule::Presence,
                rule => rule,
            };
            if rule == Rule::DriverIdentity {
                self.found.driver_said(Maker::of(self.command), leaf.there == leaf.here);
            }
            let answer = Answer { part: leaf.name, element: Some(leaf.ty) };
            self.answer(answer, rule, leaf.there, Some(leaf.here));
        });
    }

    /// The rule for a part of the command's answer.
    fn rule(&self, part: Part<'_>) -> Rule {
        let command = self.command;
        let value = |index: usize| {
            let arg = command.args().nth(index)?;
            matches!(arg.value, Value::Enum { .. }).then(|| arg.value.bits())
        };
        command.known().map_or(Rule::Exact, |known| rule(known, part, value))
    }

    /// The rule for an output. Handles are compared by presence, unless the descriptions say more.
    fn rule_of(&self, index: usize, param: &Param) -> Rule {
        let is_handle = param.element.is_some_and(|element| element.kind == Meaning::Handle);
        match self.rule(Part::Output(index)) {
            Rule::Exact if is_handle => Rule::Presence,
            rule => rule,
        }
    }

    fn answer(&mut self, answer: Answer<'_>, rule: Rule, there: &[u8], here: Option<&[u8]>) {
        let (command, replayed) = (self.command, self.replayed);
        let place = Place::of(command, answer.part);
        let Some(here) = here.and_then(|here| here.get(..there.len())) else {
            if let Rule::Varies(why) = rule {
                return self.found.tolerated(why);
            }
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
            Rule::Driver | Rule::DriverIdentity => Verdict::Drivers,
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
                            let is_pixels = answers::reads_pixels(command);
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

/// The part of an answer that is compared.
#[derive(Clone, Copy)]
struct Answer<'a> {
    part: &'a str,
    element: Option<Type>,
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

/// Whether the driver wrote nothing to an output. Only the first `FILLED_BYTES` bytes can tell.
fn is_unwritten(output: &[u8]) -> bool {
    let filled = &output[..output.len().min(FILLED_BYTES)];
    !filled.is_empty() && filled.iter().all(|byte| *byte == UNWRITTEN)
}
