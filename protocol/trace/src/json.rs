//! A command as one line of JSON.
//!
//! docs/trace-format.md describes the shape. If a field is renamed or removed, `json_version` of `gapii-ctl` is raised
//! (docs/json.md).

use std::collections::BTreeMap;
use std::io;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::blob_name::BlobName;
use super::command::Command;
use super::description::Kind;
use super::gpu_times::{self, GpuSpan};
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
    append_line(command, &mut line)?;
    out.write_all(&line)
}

/// Appends a command as one line.
///
/// # Errors
/// None today: a vector takes every line.
pub fn append_line(command: &Command<'_>, line: &mut Vec<u8>) -> io::Result<()> {
    let description = command.description;
    // Written by hand, because a map of the serializer costs as much as the values of most commands.
    let mut object = Object(line);
    object.member(r#"{"seq":"#, &command.seq)?;
    object.member(r#","pid":"#, &command.pid)?;
    object.member(r#","tid":"#, &command.tid)?;
    object.member(r#","context":"#, &command.context)?;
    object.member(r#","frame":"#, &command.frame)?;
    object.member(r#","stamps":["#, &command.enter_stamp)?;
    object.member(",", &command.leave_stamp)?;
    match command.function {
        Some(function) => object.member(r#"],"name":"#, &function.name)?,
        None => object.member(r#"],"name":"#, &format!("unknown_{}", command.id))?,
    }
    object.text(r#","args":"#);
    let has_addresses = object.args(command)?;
    if command.made().is_some() {
        object.member(r#","made":"#, &MadeJson(command))?;
    }
    object.member(r#","result":"#, &ResultJson(command))?;
    if let Some(given) = command.given() {
        object.member(r#","given":"#, &Scalar(description, given))?;
    }
    if has_addresses {
        object.member(r#","addresses":"#, &AddressesJson(command))?;
    }
    if command.ranges_read().next().is_some() {
        object.member(r#","reads":"#, &RangesJson(command, Command::ranges_read))?;
    }
    if command.ranges_written().next().is_some() {
        object.member(r#","writes":"#, &RangesJson(command, Command::ranges_written))?;
    }
    if let Some(frame) = command.observed_frame {
        object.member(r#","observed_frame":"#, &FrameJson(frame))?;
    }
    if let Some(time_ns) = command.frame_end_ns {
        object.member(r#","time_ns":"#, &time_ns)?;
    }
    if let Some(begin_ns) = command.begin_ns {
        object.member(r#","begin_ns":"#, &begin_ns)?;
    }
    if let Some(driver_ns) = command.driver_ns {
        object.member(r#","driver_ns":"#, &driver_ns)?;
    }
    if let Some((first, gpu_ns)) = command.gpu.first().zip(gpu_times::sum_ns(command.gpu)) {
        object.member(r#","gpu_begin_ns":"#, &first.begin_ns)?;
        object.member(r#","gpu_ns":"#, &gpu_ns)?;
    }
    if command.gpu.len() > 1 {
        object.member(r#","gpu_executions":"#, &ExecutionsJson(command.gpu))?;
    }
    for (is_set, member) in [
        (command.is_setup, r#","setup":true"#),
        (command.traces.is_some_and(|traces| traces.is_skipped), r#","skipped":true"#),
        (command.traces.is_some_and(|traces| traces.is_own), r#","tracer":true"#),
        (command.in_flight, r#","in_flight":true"#),
        (command.enter.is_none(), r#","enter_missing":true"#),
    ] {
        if is_set {
            object.text(member);
        }
    }
    object.text("}\n");
    Ok(())
}

/// Appends the arguments of a command as an object, as its line has them.
///
/// # Errors
/// None today: a vector takes every object.
pub fn append_args(command: &Command<'_>, object: &mut Vec<u8>) -> io::Result<()> {
    Object(object).args(command).map(drop)
}

/// The object of a command, while it is written.
struct Object<'a>(&'a mut Vec<u8>);

impl Object<'_> {
    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Writes a value behind its key with the punctuation around the key.
    fn member(&mut self, key: &str, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        self.text(key);
        Ok(serde_json::to_writer(&mut *self.0, value)?)
    }

    /// Writes the arguments as an object, in the order of the parameters. Returns whether any has an address beside its
    /// memory.
    fn args(&mut self, command: &Command<'_>) -> io::Result<bool> {
        let mut has_addresses = false;
        let mut separator = "{";
        for arg in command.args() {
            has_addresses |= has_address(&arg);
            self.member(separator, &arg.param.name)?;
            separator = ",";
            self.text(":");
            self.member("", &ArgJson(command, arg))?;
        }
        self.text(if separator == "," { "}" } else { "{}" });
        Ok(has_addresses)
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

/// The times of the executions of a command in a list.
struct ExecutionsJson<'a>(&'a [GpuSpan]);

impl Serialize for ExecutionsJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let execution = |span: &GpuSpan| {
            BTreeMap::from([("begin_ns", span.begin_ns), ("gpu_ns", span.duration_ns)])
        };
        to.collect_seq(self.0.iter().map(execution))
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
    let shown = command.args().filter(has_address);
    shown.map(|arg| (arg.param.name.as_str(), format!("{:#x}", arg.value.bits())))
}

/// Whether an argument is an address that is shown as memory.
fn has_address(arg: &Arg<'_>) -> bool {
    matches!(arg.value, Value::Pointer(_)) && arg.observation != Observation::None
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
