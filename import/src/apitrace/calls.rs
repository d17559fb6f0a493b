//! `Calls`: joins the two events of each call. Hands out the beginnings and ends of calls in the order of the file; the
//! beginning of a call is handed out when its end is known, because only the end tells outputs and their addresses.
//!
//! A call that does not end holds up those behind it, up to 65,536 events or 64 MiB (`HELD_EVENTS_MAX`,
//! `HELD_BYTES_MAX`); then it is handed out without its end, which may still follow. A call within another one of its
//! thread is left out and counted: the API's own implementation made it.

use std::collections::{HashMap, VecDeque};
use std::io::Read;
use std::sync::Arc;

use super::read_error::ReadError;
use super::reader::{Details, Event, Reader, Signature};
use super::values::Value;

const HELD_EVENTS_MAX: usize = 1 << 16;
const HELD_BYTES_MAX: usize = 64 << 20;

/// A call.
#[derive(Debug)]
pub struct Call {
    /// Number in the file.
    pub number: u64,
    /// Number of its thread in the file.
    pub thread: u64,
    pub signature: Arc<Signature>,
    /// Inputs.
    pub inputs: Details,
    /// Outputs and result; `None` if the call has not ended.
    pub outputs: Option<Details>,
}

impl Call {
    /// Returns the argument with this index that the call began with.
    pub fn input(&self, index: usize) -> Option<&Value> {
        value(&self.inputs, index)
    }

    /// Returns the argument with this index that the call ended with.
    pub fn output(&self, index: usize) -> Option<&Value> {
        value(self.outputs.as_ref()?, index)
    }

    /// Returns whether apitrace added the call.
    pub fn is_fake(&self) -> bool {
        self.inputs.is_fake || self.outputs.as_ref().is_some_and(|outputs| outputs.is_fake)
    }

    /// Returns the result, if it is an integer or an address.
    pub fn result_bits(&self) -> Option<u64> {
        match self.outputs.as_ref()?.result.as_ref()? {
            Value::Null => Some(0),
            Value::Integer(bits) | Value::Address(bits) => Some(*bits),
            _ => None,
        }
    }
}

fn value(details: &Details, index: usize) -> Option<&Value> {
    details.args.iter().find(|(of, _)| *of == index).map(|(_, value)| value)
}

/// The beginning or the end of a call.
#[derive(Debug)]
pub enum Step {
    /// The call begins. It has its outputs unless it has not ended.
    Begin(Call),
    /// The call with this number, which has begun, ends.
    End(u64),
    /// This call ends; it was handed out without its end, or is left out, or there is none.
    LateEnd(u64, Details),
}

/// Events that are held.
enum Held {
    Begin(Call),
    End(u64),
    LateEnd(u64, Details),
}

/// Joins events.
pub struct Calls<R> {
    reader: Reader<R>,
    held: VecDeque<Held>,
    held_bytes: usize,
    /// Of each held call that has not ended: its place, as the number of events handed out before it.
    open: HashMap<u64, u64>,
    handed_out: u64,
    next: u64,
    nested: u64,
    /// The file is over, or cut.
    is_over: bool,
    is_cut: bool,
}

impl<R: Read> Calls<R> {
    /// Joins the events of `reader`.
    pub fn new(reader: Reader<R>) -> Self {
        Self {
            reader,
            held: VecDeque::new(),
            held_bytes: 0,
            open: HashMap::new(),
            handed_out: 0,
            next: 0,
            nested: 0,
            is_over: false,
            is_cut: false,
        }
    }

    /// Returns the reader of the file.
    pub fn reader(&self) -> &Reader<R> {
        &self.reader
    }

    /// Returns whether the file ended within a call.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns how many calls were left out because they were made within others.
    pub fn nested(&self) -> u64 {
        self.nested
    }

    /// Returns the next step; `None` at the end of the file.
    pub fn step(&mut self) -> Result<Option<Step>, ReadError> {
        loop {
            if self.can_hand_out()
                && let Some(held) = self.held.pop_front()
            {
                self.handed_out += 1;
                match held {
                    Held::End(number) => return Ok(Some(Step::End(number))),
                    Held::LateEnd(number, details) => {
                        self.held_bytes = self.held_bytes.saturating_sub(size_of_details(&details));
                        return Ok(Some(Step::LateEnd(number, details)));
                    }
                    Held::Begin(call) => {
                        self.held_bytes = self.held_bytes.saturating_sub(size(&call));
                        self.open.remove(&call.number);
                        return Ok(Some(Step::Begin(call)));
                    }
                }
            }
            if self.is_over {
                return Ok(None);
            }
            match self.reader.event() {
                Ok(Some(event)) => self.take(event),
                Ok(None) => self.is_over = true,
                Err(ReadError::Cut) => (self.is_over, self.is_cut) = (true, true),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the first held event can be handed out.
    fn can_hand_out(&self) -> bool {
        let is_pressed =
            self.is_over || self.held.len() > HELD_EVENTS_MAX || self.held_bytes > HELD_BYTES_MAX;
        match self.held.front() {
            Some(Held::Begin(call)) => call.outputs.is_some() || is_pressed,
            Some(Held::End(_) | Held::LateEnd(..)) => true,
            None => false,
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Enter { thread, signature, details } => {
                let call =
                    Call { number: self.next, thread, signature, inputs: details, outputs: None };
                self.next += 1;
                self.open.insert(call.number, self.handed_out + self.held.len() as u64);
                self.held_bytes += size(&call);
                self.held.push_back(Held::Begin(call));
            }
            Event::Leave { call: number, details } => {
                self.held_bytes += size_of_details(&details);
                let place =
                    self.open.remove(&number).map(|place| (place - self.handed_out) as usize);
                let held = place.and_then(|at| Some((at, self.held.get_mut(at)?)));
                let Some((at, Held::Begin(call))) = held else {
                    self.held.push_back(Held::LateEnd(number, details));
                    return;
                };
                call.outputs = Some(details);
                let thread = call.thread;
                self.leave_out_nested(at, thread);
                self.held.push_back(Held::End(number));
            }
        }
    }

    /// Leaves out the calls of `thread` that began behind the event at `at`: they were made within its call.
    fn leave_out_nested(&mut self, at: usize, thread: u64) {
        let is_nested = |held: &Held| matches!(held, Held::Begin(call) if call.thread == thread);
        if !self.held.range(at + 1..).any(is_nested) {
            return;
        }
        let behind = self.held.split_off(at + 1);
        let mut left_out = Vec::new();
        for held in behind {
            match held {
                Held::Begin(call) if call.thread == thread => {
                    self.open.remove(&call.number);
                    self.held_bytes = self.held_bytes.saturating_sub(size(&call));
                    self.nested += 1;
                    left_out.push(call.number);
                }
                Held::End(number) if left_out.contains(&number) => {}
                held => {
                    if let Held::Begin(call) = &held
                        && let Some(place) = self.open.get_mut(&call.number)
                    {
                        *place = self.handed_out + self.held.len() as u64;
                    }
                    self.held.push_back(held);
                }
            }
        }
    }
}

/// Bytes that a call holds.
fn size(call: &Call) -> usize {
    size_of_details(&call.inputs) + call.outputs.as_ref().map_or(0, size_of_details)
}

fn size_of_details(details: &Details) -> usize {
    let values = details.args.iter().map(|(_, value)| value).chain(&details.result);
    64 + values.map(size_of_value).sum::<usize>()
}

fn size_of_value(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(bytes) | Value::Blob(bytes) => bytes.len(),
            Value::Array(elements) => elements.iter().map(size_of_value).sum(),
            _ => 0,
        }
}
