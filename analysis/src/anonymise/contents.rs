//! `Content`: what memory holds, by the description of the trace, and how it is replaced. Memory of which the description says
//! nothing is bytes, and all bytes become noise. Of structs the fields are kept that are numbers, enumerants, handles and
//! addresses; padding becomes 0.

use gapii_commands::{CommandId, Kind, Repr};
use gapii_trace::BlobName;
use gapii_trace::description::{Description, Field, Function, Type};
use gapii_trace::value::split_strings;

use super::noise::Noise;
use crate::role::{ParamRole, Role};

/// What memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// Anything: it becomes noise.
    Bytes,
    /// Names, enumerants, lengths and the like: it stays.
    Structure,
    /// A text.
    Text,
    /// Texts, with the length of each in front of it.
    Strings,
    /// Numbers of floating point of this size.
    Floats(u16),
    /// Structs of this layout.
    Structs(u16),
    /// A struct that its first field identifies.
    Chain,
}

/// Memory that a struct or an argument points at.
#[derive(Clone, Copy)]
pub(super) struct Lead {
    pub param: usize,
    pub address: u64,
    pub content: Content,
}

/// Which contents stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keep {
    /// Texts with which drivers describe themselves: names, versions, extensions.
    pub driver: bool,
    /// Names and paths of programs, and names of threads.
    pub program: bool,
    /// Texts of marks, debug groups and labels.
    pub marks: bool,
}

impl Content {
    /// Returns what a parameter leads to.
    pub(super) fn of_param(function: &Function, param: usize, keep: Keep) -> Self {
        let Some(it) = function.params.get(param) else { return Self::Bytes };
        let is_structure = ParamRole::Structure.is_of(function.known, param);
        match Self::of(it.ty, it.element, is_structure) {
            Self::Text | Self::Strings if keep.marks && is_mark(function.known) => Self::Structure,
            content => content,
        }
    }

    /// Returns what the string holds that a command returns.
    pub(super) fn of_result(function: &Function, keep: Keep) -> Self {
        match keep.driver && Role::Asks.is_of(function.known) {
            true => Self::Structure,
            false => Self::Text,
        }
    }

    /// Whether it says what other memory holds.
    pub(super) fn leads_on(self) -> bool {
        matches!(self, Self::Structs(_) | Self::Chain)
    }

    /// Returns what a value of type `ty` leads to.
    fn of(ty: Type, element: Option<Type>, is_structure: bool) -> Self {
        match ty.kind {
            Kind::String => Self::Text,
            Kind::Strings => Self::Strings,
            Kind::Attributes(_) => Self::Structure,
            Kind::Struct(layout) => Self::Structs(layout),
            Kind::Chain => Self::Chain,
            Kind::Array | Kind::Pointer => {
                element.map_or(Self::Bytes, |element| Self::of_elements(element, is_structure))
            }
            // Values of no address lead nowhere.
            Kind::Number | Kind::Bool | Kind::Enum(_) | Kind::Bitfield(_) | Kind::Handle => {
                Self::Bytes
            }
        }
    }

    fn of_elements(element: Type, is_structure: bool) -> Self {
        let is_address = element.repr == Some(Repr::Pointer);
        match element.kind {
            Kind::Number => match element.repr {
                Some(Repr::F32) => Self::Floats(4),
                Some(Repr::F64) => Self::Floats(8),
                Some(repr) if is_structure && is_integer(repr) => Self::Structure,
                _ => Self::Bytes,
            },
            Kind::Bool | Kind::Enum(_) | Kind::Bitfield(_) | Kind::Handle => Self::Structure,
            Kind::Pointer
            | Kind::Array
            | Kind::String
            | Kind::Strings
            | Kind::Attributes(_)
            | Kind::Struct(_)
            | Kind::Chain => match is_address {
                true => Self::Structure,
                false => Self::Bytes,
            },
        }
    }
}

/// Whether values of this representation are integers. One that is not known here is neither kept nor taken for a float.
pub(super) const fn is_integer(repr: Repr) -> bool {
    match repr {
        Repr::U8 | Repr::I8 | Repr::U16 | Repr::I16 => true,
        Repr::U32 | Repr::I32 | Repr::U64 | Repr::I64 => true,
        Repr::Void | Repr::F32 | Repr::F64 | Repr::Pointer => false,
    }
}

/// Whether the texts of a command are the program's words about its own commands and objects.
fn is_mark(command: Option<CommandId>) -> bool {
    const ROLES: u64 = Role::Marks.bit() | Role::BeginsGroup.bit() | Role::Labels.bit();
    Role::is_any_of(ROLES, command)
}

/// Replaces contents.
pub(super) struct Replacer<'a> {
    pub description: &'a Description,
    pub noise: Noise,
    /// Texts that became noise.
    pub texts: u64,
    /// Structs around the one that is replaced now.
    pub depth: u32,
}

/// Most structs inside of each other. The description of a trace may claim anything.
const DEPTH_MAX: u32 = 32;

impl Replacer<'_> {
    /// Returns what replaces memory of parameter `param`. Notes in `leads` what its structs point at.
    pub(super) fn replace(
        &mut self,
        content: Content,
        param: usize,
        bytes: &[u8],
        leads: &mut Vec<Lead>,
    ) -> Vec<u8> {
        let mut out = vec![0; bytes.len()];
        match content {
            Content::Bytes => self.noise.memory(BlobName::of(bytes), 0, &mut out),
            Content::Structure => out.copy_from_slice(bytes),
            Content::Text => out = self.text(bytes),
            Content::Strings => self.strings(bytes, &mut out),
            Content::Floats(size) => {
                let size = usize::from(size);
                for (from, to) in bytes.chunks_exact(size).zip(out.chunks_exact_mut(size)) {
                    self.noise.float(from, to);
                }
            }
            Content::Structs(layout) => self.structs(layout, param, bytes, &mut out, leads),
            Content::Chain => {
                let stype = bytes.first_chunk().map(|stype| u32::from_le_bytes(*stype));
                let layouts = (0..).zip(self.description.layouts());
                let found = layouts.filter(|(_, it)| it.stype.is_some() && it.stype == stype);
                match found.map(|(index, _)| index).next() {
                    Some(layout) => self.structs(layout, param, bytes, &mut out, leads),
                    None => self.noise.memory(BlobName::of(bytes), 0, &mut out),
                }
            }
        }
        out
    }

    fn text(&mut self, text: &[u8]) -> Vec<u8> {
        self.texts += 1;
        self.noise.text(text)
    }

    fn strings(&mut self, bytes: &[u8], out: &mut [u8]) {
        let Some(strings) = split_strings(bytes) else {
            return self.noise.memory(BlobName::of(bytes), 0, out);
        };
        let mut at = 0;
        for string in strings {
            out[at..at + 4].copy_from_slice(&bytes[at..at + 4]);
            let noise = self.text(string);
            out[at + 4..at + 4 + string.len()].copy_from_slice(&noise);
            at += 4 + string.len();
        }
    }

    /// Replaces whole structs. Bytes behind them become 0.
    fn structs(
        &mut self,
        layout: u16,
        param: usize,
        bytes: &[u8],
        out: &mut [u8],
        leads: &mut Vec<Lead>,
    ) {
        let description = self.description;
        let layout = description.layout(layout).filter(|it| it.size > 0);
        let Some(layout) = layout.filter(|_| self.depth < DEPTH_MAX) else { return };
        let size = layout.size as usize;
        self.depth += 1;
        for (from, to) in bytes.chunks_exact(size).zip(out.chunks_exact_mut(size)) {
            for field in &layout.fields {
                self.field(field, param, (from, &mut *to), leads);
            }
        }
        self.depth -= 1;
    }

    fn field(
        &mut self,
        field: &Field,
        param: usize,
        (from, to): (&[u8], &mut [u8]),
        leads: &mut Vec<Lead>,
    ) {
        let Some(repr) = field.ty.repr else { return };
        let size = match (repr, field.ty.kind) {
            (Repr::Void, Kind::Struct(layout)) => {
                self.description.layout(layout).map_or(0, |layout| layout.size as usize)
            }
            _ => usize::from(repr.size()),
        };
        let place = field.offset as usize..field.offset as usize + size * field.len.max(1) as usize;
        let (Some(from), Some(to)) = (from.get(place.clone()), to.get_mut(place)) else { return };
        let is_array = field.len > 0;
        match (repr, field.ty.kind) {
            (Repr::Void, Kind::Struct(layout)) => self.structs(layout, param, from, to, leads),
            (Repr::U8 | Repr::I8, Kind::String) => {
                self.texts += 1;
                self.noise.until_nul(from, to);
            }
            (Repr::F32 | Repr::F64, _) => {
                for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
                    self.noise.float(from, to);
                }
            }
            // An array of bytes is no array of numbers: it may be the UUID of a device.
            (Repr::U8 | Repr::I8, Kind::Number) if is_array => {
                self.noise.memory(BlobName::of(from), 0, to);
            }
            (Repr::Pointer, _) => {
                to.copy_from_slice(from);
                for address in from.chunks_exact(8).filter_map(<[u8]>::first_chunk) {
                    let address = u64::from_le_bytes(*address);
                    let content = Content::of(field.ty, field.element, false);
                    leads.push(Lead { param, address, content });
                }
            }
            _ if is_integer(repr) => to.copy_from_slice(from),
            _ => {}
        }
    }
}
