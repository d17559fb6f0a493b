//! A command as one line of JSON.
//!
//! docs/trace-format.md describes the shape. If a field is renamed or removed, `json_version` of `gapii-ctl` is raised
//! (docs/json.md).

use std::io;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::blob_name::BlobName;
use super::command::Command;
use super::description::Kind;
pub use super::json_memory::{ATTRIBUTES_MAX, VALUES_MAX};
use super::json_memory::{Memory, Scalar};
use super::structs::Structs;
use super::value::{Arg, Observation, Range, Ranges, Value};
use gapii_abi::atom::Frame;

/// Writes a command as one line.
///
/// # Errors
/// An error of `out`.
pub fn write_line(command: &Command<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    /// Most lines are shorter, in bytes.
    const USUAL: usize = 512;
    // `out` gets the line in one piece, not a few bytes at a time.
    let mut line = Vec::with_capacity(USUAL);
    serde_json::to_writer(&mut line, command)?;
    line.push(b'\n');
    out.write_all(&line)
}

impl Serialize for Command<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("pid", &self.pid)?;
        map.serialize_entry("tid", &self.tid)?;
        map.serialize_entry("context", &self.context)?;
        map.serialize_entry("frame", &self.frame)?;
        map.serialize_entry("stamps", &[self.enter_stamp, self.leave_stamp])?;
        match self.function {
            Some(function) => map.serialize_entry("name", &function.name)?,
            None => map.serialize_entry("name", &format!("unknown_{}", self.id))?,
        }
        map.serialize_entry("args", &ArgsJson(self))?;
        if self.made().is_some() {
            map.serialize_entry("made", &MadeJson(self))?;
        }
        map.serialize_entry("result", &ResultJson(self))?;
        if let Some(given) = self.given() {
            map.serialize_entry("given", &Scalar(self.description, given))?;
        }
        if addresses(self).next().is_some() {
            map.serialize_entry("addresses", &AddressesJson(self))?;
        }
        if self.ranges_read().next().is_some() {
            map.serialize_entry("reads", &RangesJson(self, Self::ranges_read))?;
        }
        if self.ranges_written().next().is_some() {
            map.serialize_entry("writes", &RangesJson(self, Self::ranges_written))?;
        }
        if let Some(frame) = self.observed_frame {
            map.serialize_entry("observed_frame", &FrameJson(frame))?;
        }
        if let Some(driver_ns) = self.driver_ns {
            map.serialize_entry("driver_ns", &driver_ns)?;
        }
        if self.is_setup {
            map.serialize_entry("setup", &true)?;
        }
        if self.traces.is_some_and(|traces| traces.is_skipped) {
            map.serialize_entry("skipped", &true)?;
        }
        if self.traces.is_some_and(|traces| traces.is_own) {
            map.serialize_entry("tracer", &true)?;
        }
        if self.in_flight {
            map.serialize_entry("in_flight", &true)?;
        }
        if self.enter.is_none() {
            map.serialize_entry("enter_missing", &true)?;
        }
        map.end()
    }
}

/// The frame that was read back before a swap.
struct FrameJson<'a>(&'a Frame);

impl Serialize for FrameJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(frame) = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("surface", &frame.surface)?;
        map.serialize_entry("width", &frame.width)?;
        map.serialize_entry("height", &frame.height)?;
        map.serialize_entry("hash", &BlobName(frame.name))?;
        if frame.has_pixels() {
            map.serialize_entry("blob", &true)?;
        }
        map.end()
    }
}

/// The arguments of a command as an object, in the order of the parameters.
struct ArgsJson<'a>(&'a Command<'a>);

impl Serialize for ArgsJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for arg in self.0.args() {
            map.serialize_entry(&arg.param.name, &ArgJson(self.0, arg))?;
        }
        map.end()
    }
}

/// The arguments of a command as the program passed them, in the same form.
struct MadeJson<'a>(&'a Command<'a>);

impl Serialize for MadeJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let made = self.0.made().into_iter().flatten();
        to.collect_map(made.map(|arg| (&arg.param.name, Scalar(self.0.description, arg.value))))
    }
}

/// The addresses of the pointer arguments that are shown as memory. They have an object of their own, because
/// memory is the same from one run of a program to the next, and its addresses are not.
struct AddressesJson<'a>(&'a Command<'a>);

impl Serialize for AddressesJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(addresses(self.0))
    }
}

fn addresses<'a>(command: &Command<'a>) -> impl Iterator<Item = (&'a str, String)> + use<'a> {
    command.args().filter_map(|arg| match (arg.value, arg.observation) {
        (_, Observation::None) => None,
        (Value::Pointer(address), _) => Some((arg.param.name.as_str(), format!("{address:#x}"))),
        _ => None,
    })
}

/// An argument: its value, or the memory that it points at.
struct ArgJson<'a>(&'a Command<'a>, Arg<'a>);

impl Serialize for ArgJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(command, arg) = self;
        let param = arg.param;
        if let Some(structs) = Structs::of(command, arg) {
            return structs.serialize(to);
        }
        match arg.observation {
            Observation::None => Scalar(command.description, arg.value).serialize(to),
            seen => {
                Memory { command, kind: param.ty.kind, element: param.element, seen }.serialize(to)
            }
        }
    }
}

/// The result of a command, or null.
struct ResultJson<'a>(&'a Command<'a>);

impl Serialize for ResultJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let command = self.0;
        let kind = command.function.map_or(Kind::Number, |function| function.result.kind);
        match command.result() {
            None => to.serialize_none(),
            Some((value, Observation::None)) => Scalar(command.description, value).serialize(to),
            Some((_, seen)) => Memory { command, kind, element: None, seen }.serialize(to),
        }
    }
}

/// The ranges of a record.
struct RangesJson<'a, 'b, F>(&'b Command<'a>, F);

impl<'a, F: Fn(&Command<'a>) -> Ranges<'a>> Serialize for RangesJson<'a, '_, F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(command, ranges) = self;
        to.collect_seq(ranges(command).map(|range| RangeJson(command, range)))
    }
}

/// A range: the name of its parameter, its address and its memory.
struct RangeJson<'a>(&'a Command<'a>, Range<'a>);

impl Serialize for RangeJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(command, range) = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("param", &command.param_of(range))?;
        map.serialize_entry("address", &format_args!("{:#x}", range.address))?;
        let element = command.element_of(range);
        if range.is_unknown() {
            map.serialize_entry("size", &None::<u64>)?;
            map.serialize_entry("hash", &None::<u64>)?;
            map.serialize_entry("unrecorded", &true)?;
            return map.end();
        }
        let (kind, seen) = (Kind::Array, range.observation);
        let memory = Memory { command, kind, element, seen };
        let bytes = memory.bytes().filter(|_| element.is_some());
        memory.serialize_into(&mut map, bytes.as_deref())?;
        map.end()
    }
}
