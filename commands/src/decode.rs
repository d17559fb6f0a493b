//! Decoder of `generated/descriptions.txt`, the data file of all enums, structs and commands, at the first use (about 3
//! ms). It stops at the first malformed line, with the line's number.
//!
//! `#` begins a comment line. A line that begins with a space belongs to the header line above it:
//!
//! ```text
//! enum GL                            every name of an API; a group that others fall back to
//!  0x0de1 GL_TEXTURE_2D
//! names                              names that no `enum` has; not a group
//!  0x4000 GL_COLOR_BUFFER_BIT
//! group TextureTarget GL             a group, and the `enum` that it falls back to, or `-`
//!  GL_TEXTURE_2D GL_TEXTURE_3D       names from above, in the order of their values
//! struct ze_device_uuid_t 16 -       a C struct: size in bytes, value of its first field or `-`
//!  0 id[16] u8                       offset in bytes, name, number of elements of an array, type
//! api gles                           the API of the commands below
//! glClear(mask u32:bitfield:ClearBufferMask) void enter
//! glGenTextures(n i32, textures out pointer:array of u32:handle) void leave leaves
//! ```
//!
//! A type is `REPR`, `REPR:KIND` or `REPR:KIND:NAME`, with the names of [`Repr`] and [`Kind`] and the name of a
//! group or struct. `of` precedes the type of the elements that an address leads to. `in` and `out` are
//! [`Observed`]. A command line ends with the type of the result, the [`Effect`], and `leaves` if a leave
//! record follows. Groups, structs and commands are numbered from 0 in the order of their lines; an `enum`
//! is a group. Offsets of parameters follow from their sizes.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use crate::Api;
use crate::desc::{
    Descriptions, Effect, EnumGroup, FieldDesc, FunctionDesc, Kind, LayoutDesc, Observed,
    ParamDesc, Repr, TypeRef,
};

/// The descriptions of this build, not decoded.
pub const DESCRIPTIONS_TEXT: &str = include_str!("generated/descriptions.txt");

/// The descriptions of this build, decoded at the first call. Decoding takes about 3 ms.
pub fn descriptions() -> &'static Descriptions {
    static DECODED: OnceLock<Descriptions> = OnceLock::new();
    DECODED.get_or_init(|| {
        let decoded = Descriptions::decode(DESCRIPTIONS_TEXT);
        decoded.expect("a test decodes the generated file")
    })
}

/// A malformed line of a description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for DecodeError {}

impl Descriptions {
    /// Decodes descriptions from the format of `generated/descriptions.txt`.
    pub fn decode(text: &'static str) -> Result<Self, DecodeError> {
        let mut decoder = Decoder { layouts: struct_names(text), ..Decoder::default() };
        for (at, line) in text.lines().enumerate() {
            decoder.line(line).map_err(|message| DecodeError { line: at + 1, message })?;
        }
        Ok(decoder.decoded)
    }
}

/// The result of the lines that have been decoded.
#[derive(Default)]
struct Decoder {
    decoded: Descriptions,
    section: Section,
    values: HashMap<&'static str, u64>,
    groups: HashMap<&'static str, u16>,
    /// Structs of the whole text: a struct may have a field of a struct that is described below it.
    layouts: HashMap<&'static str, u16>,
}

/// The header line that indented lines belong to.
#[derive(Clone, Copy, Default)]
enum Section {
    #[default]
    Nothing,
    Enum,
    Names,
    Group,
    Struct,
    Commands(Api),
}

/// The indices of the structs of the text, by name.
fn struct_names(text: &'static str) -> HashMap<&'static str, u16> {
    let structs = text.lines().filter_map(|line| line.strip_prefix("struct "));
    let names = structs.filter_map(|rest| rest.split(' ').next());
    let mut numbered = HashMap::new();
    for (name, at) in names.zip(0..) {
        numbered.entry(name).or_insert(at);
    }
    numbered
}

impl Decoder {
    fn line(&mut self, line: &'static str) -> Result<(), String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if let Some(line) = line.strip_prefix(' ') {
            return match self.section {
                Section::Enum | Section::Names => self.value(line),
                Section::Group => line.split(' ').try_for_each(|name| self.member(name)),
                Section::Struct => self.field(line),
                Section::Nothing | Section::Commands(_) => {
                    Err("an indented line needs an enum, group or struct above it".to_owned())
                }
            };
        }
        if let Some((name, rest)) = line.split_once('(') {
            let Section::Commands(api) = self.section else {
                return Err(format!("command {name:?} needs an API above it"));
            };
            return self.command(api, name, rest);
        }
        let words: Vec<&'static str> = line.split(' ').collect();
        self.section = match *words.as_slice() {
            ["enum", name] => {
                self.group(name, None)?;
                Section::Enum
            }
            ["names"] => Section::Names,
            ["group", name, fallback] => {
                let fallback = match fallback {
                    "-" => None,
                    name => Some(find(&self.groups, "group", name)?),
                };
                self.group(name, fallback)?;
                Section::Group
            }
            ["struct", name, size, stype] => {
                let at = find(&self.layouts, "struct", name)?;
                if usize::from(at) != self.decoded.layouts.len() {
                    return Err(format!("struct {name:?} is described twice"));
                }
                let stype = if stype == "-" { None } else { Some(number(stype)?) };
                let (size, fields) = (number(size)?, Vec::new());
                self.decoded.layouts.push(LayoutDesc { name, size, stype, fields });
                Section::Struct
            }
            ["api", name] => Section::Commands(name.parse().map_err(|e| format!("{e}"))?),
            _ => return Err(format!("{line:?} is not a valid header line")),
        };
        Ok(())
    }

    fn group(&mut self, name: &'static str, fallback: Option<u16>) -> Result<(), String> {
        let at = self.decoded.groups.len() as u16;
        if self.groups.insert(name, at).is_some() {
            return Err(format!("group {name:?} is described twice"));
        }
        self.decoded.groups.push(EnumGroup { name, values: Vec::new(), fallback });
        Ok(())
    }

    /// A line of `enum` or `names`.
    fn value(&mut self, line: &'static str) -> Result<(), String> {
        let (value, name) = line.split_once(' ').ok_or("a value needs a name")?;
        if self.values.insert(name, number(value)?).is_some() {
            return Err(format!("{name:?} has a value already"));
        }
        match self.section {
            Section::Enum => self.member(name),
            _ => Ok(()),
        }
    }

    /// Adds a name to the last group.
    fn member(&mut self, name: &'static str) -> Result<(), String> {
        let value = find(&self.values, "value", name)?;
        let group = self.decoded.groups.last_mut().ok_or("no group is above")?;
        if group.values.last().is_some_and(|(last, _)| *last >= value) {
            return Err(format!("{name:?} is not above the value before it"));
        }
        group.values.push((value, name));
        Ok(())
    }

    fn field(&mut self, line: &'static str) -> Result<(), String> {
        let words: Vec<&'static str> = line.split(' ').collect();
        let [offset, name, ref ty @ ..] = *words.as_slice() else {
            return Err("a field needs an offset, a name and a type".to_owned());
        };
        let (name, len) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            Some((name, len)) => (name, number(len)?),
            None => (name, 0),
        };
        let (ty, element) = self.types(ty)?;
        let field = FieldDesc { name, offset: number(offset)?, ty, len, element };
        let layout = self.decoded.layouts.last_mut().ok_or("no struct is above")?;
        layout.fields.push(field);
        Ok(())
    }

    /// A command, from the text behind its opening parenthesis.
    fn command(&mut self, api: Api, name: &'static str, rest: &'static str) -> Result<(), String> {
        let (listed, rest) = rest.split_once(") ").ok_or("`) ` must end the parameters")?;
        let mut params = Vec::new();
        let mut fixed_len = 0;
        for param in listed.split(", ").filter(|param| !param.is_empty()) {
            let param = self.param(param, fixed_len)?;
            fixed_len = param.offset + param.ty.repr.size();
            params.push(param);
        }
        let words: Vec<&'static str> = rest.split(' ').collect();
        let (result, effect, leaves) = match *words.as_slice() {
            [result, effect] => (result, effect, false),
            [result, effect, "leaves"] => (result, effect, true),
            _ => return Err("a command ends with its result, its effect and `leaves`".to_owned()),
        };
        let effect = match effect {
            "enter" => Effect::Enter,
            "leave" => Effect::Leave,
            "recorded" => Effect::Recorded,
            other => return Err(format!("{other:?} is not an effect")),
        };
        let (id, result) = (self.decoded.functions.len() as u16, self.ty(result)?);
        let function = FunctionDesc { id, name, api, params, result, fixed_len, effect, leaves };
        self.decoded.functions.push(function);
        Ok(())
    }

    /// A parameter; the preceding one ends at the offset `end`.
    fn param(&self, param: &'static str, end: u16) -> Result<ParamDesc, String> {
        let words: Vec<&'static str> = param.split(' ').collect();
        let (name, observed, ty) = match *words.as_slice() {
            [name, "in", ref ty @ ..] => (name, Observed::In, ty),
            [name, "out", ref ty @ ..] => (name, Observed::Out, ty),
            [name, ref ty @ ..] => (name, Observed::No, ty),
            [] => return Err("a parameter needs a name".to_owned()),
        };
        let (ty, element) = self.types(ty)?;
        let offset = end.next_multiple_of(ty.repr.size().max(1));
        Ok(ParamDesc { name, ty, offset, observed, element })
    }

    /// A type, and the type of the elements behind it.
    fn types(&self, words: &[&'static str]) -> Result<(TypeRef, Option<TypeRef>), String> {
        match *words {
            [ty] => Ok((self.ty(ty)?, None)),
            [ty, "of", element] => Ok((self.ty(ty)?, Some(self.ty(element)?))),
            _ => Err(format!("{:?} is not a type", words.join(" "))),
        }
    }

    fn ty(&self, text: &'static str) -> Result<TypeRef, String> {
        let mut words = text.splitn(3, ':');
        let repr = words.next().and_then(Repr::named);
        let repr = repr.ok_or_else(|| format!("{text:?} does not begin with a representation"))?;
        let Some(kind) = words.next() else { return Ok(TypeRef { repr, kind: Kind::Number }) };
        let index = match (kind, words.next()) {
            (_, None) => None,
            ("struct", Some(name)) => Some(find(&self.layouts, "struct", name)?),
            ("enum" | "bitfield" | "attributes", Some(name)) => {
                Some(find(&self.groups, "group", name)?)
            }
            (_, Some(name)) => return Err(format!("kind {kind:?} refers to nothing: {name:?}")),
        };
        let kind = Kind::named(kind, index);
        let kind = kind.ok_or_else(|| format!("{text:?} does not have a kind"))?;
        Ok(TypeRef { repr, kind })
    }
}

fn find<T: Copy>(known: &HashMap<&str, T>, what: &str, name: &str) -> Result<T, String> {
    known.get(name).copied().ok_or_else(|| format!("{what} {name:?} is not described above"))
}

/// A decimal or, with `0x`, hexadecimal number.
fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let value = parsed.ok().and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| format!("{text:?} is not a number, or too large"))
}
