//! Description frames: a trace describes a function, and the enum groups and C structs that it needs, in a frame in front of
//! the first block that uses the function. Of a group with more than 128 names it has those whose values occur. A function
//! with a chain of structs brings all structs that can be in a chain.
//!
//! A frame has at most 1 MiB, and all of a file together have at most 65,536 frames and 16 MiB, compressed and decompressed.
//! What is described twice counts as it was described first. A frame that is damaged or beyond a limit describes nothing.

use std::collections::BTreeSet;

use super::block::{BlockDecoder, DecodeError, EncodeError, encode_block};
use super::description::{Description, Function, Group, Kind, LONG_GROUP, Part, Type};
use super::frame::{FrameError, FrameKind, decode_frame, encode_frame};
use super::untrusted::Untrusted;
use super::used::Used;

/// Longest description frame that a reader accepts, in bytes.
pub const DESCRIPTION_FRAME_BYTES_MAX: usize = 1 << 20;
/// Most bytes of all description frames of a file, compressed and decompressed.
pub const DESCRIPTIONS_BYTES_MAX: usize = 16 << 20;
/// Most description frames of a file.
pub const DESCRIPTION_FRAMES_MAX: usize = 1 << 16;
/// The zstd level of description frames, which are short.
const LEVEL: i32 = 9;

/// Why a description frame is rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PartError {
    /// The frame around it is invalid.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The body can't be decompressed.
    #[error("description body: {0}")]
    Body(#[from] DecodeError),
    /// The body is not valid MessagePack of a description.
    #[error("description body: {0}")]
    MessagePack(String),
    /// A name in it is not printable ASCII.
    #[error("description body: {0:?} is no name of an API")]
    Name(Untrusted),
    /// The file describes more than a reader holds.
    #[error("the descriptions exceed the limit of {DESCRIPTIONS_BYTES_MAX} bytes")]
    TooMuch,
}

/// Decodes the description frames of a file.
pub(super) struct PartDecoder {
    /// Bytes that the bodies of further frames may have.
    left: usize,
}

/// Writes the description frames of a trace, with this build's descriptions.
#[derive(Clone, Default)]
pub struct DescriptionWriter {
    functions: BTreeSet<u16>,
    values: BTreeSet<u16>,
    groups: BTreeSet<u16>,
    layouts: BTreeSet<u16>,
}

impl Default for PartDecoder {
    fn default() -> Self {
        Self { left: DESCRIPTIONS_BYTES_MAX }
    }
}

impl PartDecoder {
    /// Returns what the frame that fills `frame` describes.
    ///
    /// # Errors
    /// [`PartError`].
    pub(super) fn decode(&mut self, frame: &[u8]) -> Result<Part, PartError> {
        let body = decode_frame(FrameKind::Description, frame)?;
        let mut raw = Vec::new();
        BlockDecoder::new(self.left).decompress_into(body, &mut raw).map_err(
            |error| match error {
                DecodeError::TooLong { .. } => PartError::TooMuch,
                error => PartError::Body(error),
            },
        )?;
        self.left -= raw.len();
        let part: Part = rmp_serde::from_slice(&raw)
            .map_err(|error| PartError::MessagePack(error.to_string()))?;
        let strange = part.names().find(|name| !is_name(name)).map(Untrusted::from);
        match strange {
            Some(name) => Err(PartError::Name(name)),
            None => Ok(part),
        }
    }
}

/// Returns whether an API can have this name: printable ASCII, which is shown as it is.
pub(super) fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

impl DescriptionWriter {
    /// Returns whether [`Self::frame`] would return a frame, or remembers values.
    pub fn lacks(&self, used: &Used) -> bool {
        used.functions.iter().any(|id| !self.functions.contains(id))
            || used.values.iter().any(|value| !self.values.contains(value))
    }

    /// Returns the frame that must precede a block, in a trace of this format version: it describes what the block uses and
    /// earlier frames lack. `None` if there is nothing to describe.
    ///
    /// # Errors
    /// [`EncodeError`] if the body can't be compressed.
    pub fn frame(&mut self, used: &Used, version: u32) -> Result<Option<Vec<u8>>, EncodeError> {
        let part = self.part(used, Description::built_in());
        if part.is_empty() {
            return Ok(None);
        }
        let body = rmp_serde::to_vec_named(&part).expect("a part has no unserializable value");
        let body = encode_block(&body, LEVEL)?;
        Ok(Some(encode_frame(FrameKind::Description, version, &body, None)))
    }

    fn part(&mut self, used: &Used, description: &Description) -> Part {
        let mut part = Part::default();
        let came: BTreeSet<u16> =
            used.values.iter().copied().filter(|value| self.values.insert(*value)).collect();
        for &index in &self.groups {
            if let Some(group) = description.groups().get(usize::from(index))
                && is_selected(group)
            {
                let further = selected(group, &came);
                if !further.values.is_empty() {
                    part.groups.push((index, further));
                }
            }
        }
        for &id in &used.functions {
            if let Some(function) = description.function(id)
                && self.functions.insert(id)
            {
                self.add_needs(function, description, &mut part);
                part.functions.push(function.clone());
            }
        }
        part
    }

    fn add_needs(&mut self, function: &Function, description: &Description, part: &mut Part) {
        self.add_type(function.result, description, part);
        for param in &function.params {
            self.add_type(param.ty, description, part);
            if let Some(element) = param.element {
                self.add_type(element, description, part);
            }
        }
    }

    fn add_type(&mut self, ty: Type, description: &Description, part: &mut Part) {
        match ty.kind {
            Kind::Enum(group) | Kind::Bitfield(group) | Kind::Attributes(group) => {
                self.add_group(group, description, part);
            }
            Kind::Struct(layout) => self.add_layout(layout, description, part),
            Kind::Chain => {
                for (index, layout) in (0..).zip(description.layouts()) {
                    if layout.stype.is_some() {
                        self.add_layout(index, description, part);
                    }
                }
            }
            _ => {}
        }
    }

    fn add_group(&mut self, index: u16, description: &Description, part: &mut Part) {
        let Some(group) = description.groups().get(usize::from(index)) else { return };
        if !self.groups.insert(index) {
            return;
        }
        let described = match is_selected(group) {
            true => selected(group, &self.values),
            false => group.clone(),
        };
        part.groups.push((index, described));
        if let Some(fallback) = group.fallback {
            self.add_group(fallback, description, part);
        }
    }

    fn add_layout(&mut self, index: u16, description: &Description, part: &mut Part) {
        let Some(layout) = description.layout(index) else { return };
        if !self.layouts.insert(index) {
            return;
        }
        part.layouts.push((index, layout.clone()));
        for field in &layout.fields {
            self.add_type(field.ty, description, part);
            if let Some(element) = field.element {
                self.add_type(element, description, part);
            }
        }
    }
}

/// Returns whether a trace has only those names of a group whose values occur.
fn is_selected(group: &Group) -> bool {
    group.values.len() > LONG_GROUP
}

/// Returns the group with the names of these values.
fn selected(group: &Group, values: &BTreeSet<u16>) -> Group {
    let is_in = |value: u64| u16::try_from(value).is_ok_and(|value| values.contains(&value));
    let named = group.values.iter().filter(|(value, _)| is_in(*value));
    Group { name: group.name.clone(), values: named.cloned().collect(), fallback: group.fallback }
}
