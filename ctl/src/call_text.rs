//! Formats a command as a line for people: `seq thread frame glClear(mask = GL_COLOR_BUFFER_BIT)`. Strings are cut at
//! 80 characters, arrays above 16 elements are shown by their size, hashes by 12 digits; the JSON form is complete. A handle
//! or a name is followed by a word for its object, where one is known: `0x5599d8970750 (context 2)`, `7 "shadow map"`. An
//! enum value without a name is hexadecimal, a value that the record lacks is `?`.

use std::io::{self, Write};
use std::time::Duration;

use gapii_analysis::object_names::{ObjectNames, Word};
use gapii_trace::BlobName;
use gapii_trace::description::{Description, Kind, Repr, Type};
use gapii_trace::gpu_times::sum_ns;
use gapii_trace::structs::Structs;
use gapii_trace::value::{Arg, Observation, Range, Value};
use gapii_trace::{Bytes, Command};

/// Longest string that is printed whole, in characters.
const TEXT_MAX: usize = 80;
/// Hexadecimal digits of a blob's hash that are printed; enough to select the blob.
const NAME_DIGITS: usize = 12;
/// Largest number of array elements that are printed.
const ELEMENTS_MAX: usize = 16;

/// The words for objects that lines show, if they are known.
pub type Words<'a> = Option<&'a ObjectNames>;

/// Writes a command and a newline.
pub fn write_line(command: &Command<'_>, words: Words<'_>, out: &mut dyn Write) -> io::Result<()> {
    match command.seq {
        Some(seq) => write!(out, "{seq:>8} ")?,
        None => write!(out, "{:>8} ", "-")?,
    }
    write!(out, "{:>6} {:>5} ", command.tid, command.frame)?;
    write_call(command, words, out)?;
    writeln!(out, "{}", if command.in_flight { "  (in flight)" } else { "" })
}

/// Writes the function with its arguments, its result and its memory, without the numbers in front of them.
pub fn write_call(command: &Command<'_>, words: Words<'_>, out: &mut dyn Write) -> io::Result<()> {
    match command.function {
        Some(function) => write!(out, "{}(", function.name)?,
        None => write!(out, "unknown_{}(", command.id)?,
    }
    for (index, arg) in command.args().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        write!(out, "{separator}{} = ", arg.param.name)?;
        write_arg(command, (index, &arg), words, out)?;
    }
    write!(out, ")")?;
    if let (Some((value, observation)), Some(function)) = (command.result(), command.function) {
        write!(out, " = ")?;
        match command.bytes_of(observation) {
            Some(bytes) if function.result.kind == Kind::String => write_text(&bytes, out)?,
            _ => {
                write_typed(command.description(), value, function.result, out)?;
                let word = words.and_then(|words| words.result_word(command, value));
                write_word(word, out)?;
            }
        }
    }
    write_traces(command, out)?;
    for (verb, ranges) in [("reads", command.ranges_read()), ("writes", command.ranges_written())] {
        for range in ranges.filter(|range| !is_shown_at_its_argument(command, range)) {
            write!(out, "  {verb} {} ", command.param_of(&range).unwrap_or("memory"))?;
            if range.is_unknown() {
                write!(
                    out,
                    "from {:#x} on, of unknown extent and not in the trace",
                    range.address
                )?;
                continue;
            }
            write_memory(Some(range.address), range.observation, out)?;
        }
    }
    if let Some(frame) = command.observed_frame {
        let digits = BlobName(frame.name).to_string();
        let kept = if frame.has_pixels() { "blob" } else { "hash" };
        let digits = digits.get(..NAME_DIGITS).unwrap_or(&digits);
        write!(out, "  shows <{} x {} pixels, {kept} {digits}>", frame.width, frame.height)?;
    }
    if let Some(driver_ns) = command.driver_ns {
        write!(out, "  took {:?}", Duration::from_nanos(driver_ns))?;
    }
    if let Some(gpu_ns) = sum_ns(command.gpu) {
        write!(out, "  on the GPU {:?}", Duration::from_nanos(gpu_ns))?;
        if command.gpu.len() > 1 {
            write!(out, " in {} executions", command.gpu.len())?;
        }
    }
    if command.is_setup {
        write!(out, "  (set-up)")?;
    }
    Ok(())
}

/// Writes the changes that tracers made to a command.
fn write_traces(command: &Command<'_>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(made) = command.made() {
        write!(out, "  made with (")?;
        for (index, arg) in made.enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(out, "{separator}{} = ", arg.param.name)?;
            write_typed(command.description(), arg.value, arg.param.ty, out)?;
        }
        write!(out, ")")?;
    }
    if let Some(given) = command.given() {
        write!(out, "  given ")?;
        match command.function {
            Some(function) => write_typed(command.description(), given, function.result, out)?,
            None => write_value(command.description(), given, out)?,
        }
    }
    let Some(traces) = command.traces else { return Ok(()) };
    write!(out, "{}", if traces.is_skipped { "  (skipped)" } else { "" })?;
    write!(out, "{}", if traces.is_own { "  (a tracer's)" } else { "" })
}

/// Whether a memory range is printed with the argument that points at it: structs, and short arrays.
fn is_shown_at_its_argument(command: &Command<'_>, range: &Range<'_>) -> bool {
    let Some(at) = range.param.map(usize::from) else { return false };
    let Some(arg) = command.args().nth(at) else { return false };
    matches!(arg.param.ty.kind, Kind::Struct(_) | Kind::Chain) || is_array(&arg, range)
}

/// Whether a memory range is a short array of known elements that begins where the argument points.
fn is_array(arg: &Arg<'_>, range: &Range<'_>) -> bool {
    let Observation::Bytes(bytes) = range.observation else { return false };
    let size = arg.param.element.map_or(0, element_size);
    arg.observation == Observation::None
        && arg.value == Value::Pointer(range.address)
        && size > 0
        && bytes.len().is_multiple_of(size)
        && bytes.len() <= size * ELEMENTS_MAX
}

/// Returns the bytes of the array that an argument points at, if it is in a range.
fn array<'a>(command: &Command<'a>, arg: &Arg<'a>, at: usize) -> Option<&'a [u8]> {
    arg.param.element?;
    let is_it =
        |range: &Range<'_>| range.param.map(usize::from) == Some(at) && is_array(arg, range);
    let mut ranges = command.ranges_read().chain(command.ranges_written());
    match ranges.find(is_it)?.observation {
        Observation::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn write_arg<'a>(
    command: &'a Command<'a>,
    (at, arg): (usize, &Arg<'a>),
    words: Words<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(structs) = Structs::of(command, arg) {
        return Ok(serde_json::to_writer(out, &structs)?);
    }
    let description = command.description();
    let kind = arg.param.ty.kind;
    let is_text = matches!(kind, Kind::String | Kind::Strings | Kind::Attributes(_));
    let bytes = match arg.observation {
        Observation::None => {
            if let Some(bytes) = array(command, arg, at) {
                return write_elements(command, arg, bytes, words, out);
            }
            write_typed(description, arg.value, arg.param.ty, out)?;
            return write_word(word(command, words, arg.param.ty, arg, arg.value), out);
        }
        Observation::Bytes(bytes) => Some(Bytes::Record(bytes)),
        seen if is_text => command.bytes_of(seen),
        _ => None,
    };
    match (kind, bytes) {
        (_, None) => write_memory(None, arg.observation, out),
        (Kind::String, Some(bytes)) => write_text(&bytes, out),
        (Kind::Strings, Some(bytes)) => write_strings(&bytes, out),
        (Kind::Attributes(group), Some(bytes)) => {
            write_attributes(description, arg, group, &bytes, out)
        }
        (_, Some(bytes)) => write_elements(command, arg, &bytes, words, out),
    }
}

/// Writes the address, the size and the blob name of a memory range.
fn write_memory(
    address: Option<u64>,
    seen: Observation<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (size, rest) = match seen {
        Observation::None => (0, String::new()),
        Observation::Bytes(bytes) => (bytes.len() as u64, String::new()),
        Observation::Blob { name, size } => {
            let digits = name.to_string();
            (size, format!(", blob {}", digits.get(..NAME_DIGITS).unwrap_or(&digits)))
        }
        Observation::Unrecorded { size } => (size, ", not recorded".to_owned()),
        Observation::Unnamed { size, .. } | Observation::Missing { size } => {
            (size, ", not in the trace".to_owned())
        }
    };
    let at = address.map(|address| format!(" at {address:#x}")).unwrap_or_default();
    write!(out, "<{size} bytes{at}{rest}>")
}

/// Writes a value; a handle that is an address looks like one, as in `state`.
fn write_typed(
    description: &Description,
    value: Value,
    ty: Type,
    out: &mut dyn Write,
) -> io::Result<()> {
    match (value, ty) {
        (Value::Unsigned(handle), Type { repr: Some(Repr::Pointer), kind: Kind::Handle }) => {
            write!(out, "{handle:#x}")
        }
        (value, _) => write_value(description, value, out),
    }
}

fn write_value(description: &Description, value: Value, out: &mut dyn Write) -> io::Result<()> {
    match value {
        Value::Unsigned(value) => write!(out, "{value}"),
        Value::Signed(value) => write!(out, "{value}"),
        Value::F32(value) => write!(out, "{value}"),
        Value::F64(value) => write!(out, "{value}"),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Enum { group, bits } => match description.enum_name(group, bits) {
            Some(name) => write!(out, "{name}"),
            None => write!(out, "{bits:#x}"),
        },
        Value::Bitfield { group, bits } => {
            write!(out, "{}", description.bits_text(group, bits))
        }
        Value::Pointer(0) => write!(out, "null"),
        Value::Pointer(address) => write!(out, "{address:#x}"),
        Value::Missing => write!(out, "?"),
    }
}

fn write_text(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..end]);
    let shown: String = text.chars().take(TEXT_MAX).collect();
    write!(out, "{shown:?}")?;
    if shown.len() < text.len() {
        write!(out, "… ({end} bytes)")?;
    }
    Ok(())
}

/// Writes strings that are stored as `length u32, bytes` each.
fn write_strings(mut bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "[")?;
    let mut separator = "";
    while let Some((len_untrusted, rest)) = bytes.split_first_chunk::<4>() {
        let end = (u32::from_le_bytes(*len_untrusted) as usize).min(rest.len());
        write!(out, "{separator}")?;
        write_text(&rest[..end], out)?;
        bytes = &rest[end..];
        separator = ", ";
    }
    write!(out, "]")
}

/// Writes an attribute list: pairs of a name and a value, and the name that ends the list.
fn write_attributes(
    description: &Description,
    arg: &Arg<'_>,
    group: u16,
    bytes: &[u8],
    out: &mut dyn Write,
) -> io::Result<()> {
    let element = arg.param.element.unwrap_or(BYTE);
    let name = Type { kind: Kind::Enum(group), ..element };
    let size = element_size(element);
    write!(out, "[")?;
    for (index, at) in (0..bytes.len()).step_by(size).enumerate() {
        let (separator, ty) = match index % 2 {
            0 if index == 0 => ("", name),
            0 => (", ", name),
            _ => (" = ", element),
        };
        write!(out, "{separator}")?;
        write_value(description, Value::read(ty, bytes, at), out)?;
    }
    write!(out, "]")
}

fn write_elements(
    command: &Command<'_>,
    arg: &Arg<'_>,
    bytes: &[u8],
    words: Words<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let element = arg.param.element.unwrap_or(BYTE);
    let size = element_size(element);
    if bytes.len() > size * ELEMENTS_MAX {
        return write!(out, "<{} bytes>", bytes.len());
    }
    write!(out, "[")?;
    for at in (0..bytes.len()).step_by(size) {
        write!(out, "{}", if at == 0 { "" } else { ", " })?;
        let value = Value::read(element, bytes, at);
        write_typed(command.description(), value, element, out)?;
        write_word(word(command, words, element, arg, value), out)?;
    }
    write!(out, "]")
}

/// Returns the word for the value of an argument, or of an element of its memory.
fn word<'a>(
    command: &Command<'_>,
    words: Words<'a>,
    ty: Type,
    arg: &Arg<'_>,
    value: Value,
) -> Option<Word<'a>> {
    words.filter(|_| ty.kind == Kind::Handle)?.word(command, ty, &arg.param.name, value)
}

/// Writes the word for an object behind its handle or name, if there is one: ` (context 2)`, ` "main"`.
fn write_word(word: Option<Word<'_>>, out: &mut dyn Write) -> io::Result<()> {
    match word {
        None => Ok(()),
        Some(word) if word.numbered.is_some() => write!(out, " ({word})"),
        Some(word) => write!(out, " {word}"),
    }
}

/// Element type of memory whose type is unknown.
const BYTE: Type = Type { repr: Some(Repr::U8), kind: Kind::Number };

fn element_size(element: Type) -> usize {
    usize::from(element.repr.map_or(1, Repr::size)).max(1)
}

#[cfg(test)]
mod tests {
    use gapii_trace::BlobName;

    use super::*;

    fn text_of(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("a vector takes every write");
        String::from_utf8(bytes).expect("lines are text")
    }

    #[test]
    fn text_ends_at_its_zero_and_long_text_is_cut() {
        assert_eq!(text_of(|out| write_text(b"a\"b\nc\0rest", out)), r#""a\"b\nc""#);
        let long = text_of(|out| write_text(&[b'x'; 200], out));
        assert!(long.ends_with("… (200 bytes)"), "{long}");
    }

    #[test]
    fn strings_with_a_lying_length_are_cut_at_the_end() {
        assert_eq!(text_of(|out| write_strings(b"\x02\0\0\0hi\x01\0\0\0!", out)), r#"["hi", "!"]"#);
        assert_eq!(text_of(|out| write_strings(b"\xff\xff\xff\xffhi", out)), r#"["hi"]"#);
        assert_eq!(text_of(|out| write_strings(b"\x01", out)), "[]");
    }

    #[test]
    fn memory_is_shown_by_size_place_and_name() {
        let blob = Observation::Blob { name: BlobName([0xAB; 16]), size: 4096 };
        let shown = |address, seen| text_of(|out| write_memory(address, seen, out));
        assert_eq!(shown(Some(16), blob), "<4096 bytes at 0x10, blob abababababab>");
        assert_eq!(shown(None, Observation::Unrecorded { size: 7 }), "<7 bytes, not recorded>");
    }

    #[test]
    fn handles_that_are_addresses_look_like_addresses_and_names_like_numbers() {
        let shown = |repr, value| {
            let ty = Type { repr: Some(repr), kind: Kind::Handle };
            text_of(|out| write_typed(&Description::default(), value, ty, out))
        };
        assert_eq!(shown(Repr::Pointer, Value::Unsigned(0x5599_d897_0750)), "0x5599d8970750");
        assert_eq!(shown(Repr::U32, Value::Unsigned(16)), "16");
    }
}
