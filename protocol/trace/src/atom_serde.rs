//! Fields of atoms in footers and JSON: the attributes `#[serde(with = …)]` of types that this crate shares with the
//! shim, which has no serde. An end reason of a later version reads as `Other(0)`.
//!
//! Defines no layout: the compiler checks the fields listed here against those of the atom.

use gapii_abi::atom::{InFlight, Seam};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(remote = "InFlight")]
struct InFlightFields {
    thread: u32,
    id: u16,
    stamp: u64,
}

/// A place where another daemon continued the capture.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Seam")]
#[schemars(rename = "Seam")]
pub(crate) struct SeamFields {
    /// Time of the last record before, in nanoseconds of the trace's clock.
    #[serde(default)]
    from_ns: u64,
    /// Time at which the next daemon began to record, in nanoseconds of the trace's clock.
    #[serde(default)]
    to_ns: u64,
    /// Processes that came back.
    #[serde(default)]
    processes: u32,
    /// Processes that did not come back.
    #[serde(default)]
    absent: u32,
}

/// A module for lists of a type whose fields are listed above.
macro_rules! list {
    ($(#[doc = $doc:literal])+ $module:ident: $ty:ident, $fields:literal) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;

            /// Writes the list.
            ///
            /// # Errors
            /// The serializer's.
            pub fn serialize<S: serde::Serializer>(list: &[$ty], to: S) -> Result<S::Ok, S::Error> {
                #[derive(Serialize)]
                struct Item<'a>(#[serde(with = $fields)] &'a $ty);
                to.collect_seq(list.iter().map(Item))
            }

            /// Reads the list.
            ///
            /// # Errors
            /// The deserializer's.
            pub fn deserialize<'de, D: serde::Deserializer<'de>>(
                from: D,
            ) -> Result<Vec<$ty>, D::Error> {
                #[derive(Deserialize)]
                struct Item(#[serde(with = $fields)] $ty);
                let items = Vec::<Item>::deserialize(from)?;
                Ok(items.into_iter().map(|Item(item)| item).collect())
            }
        }
    };
}

list! {
    /// Commands in flight.
    in_flight: InFlight, "InFlightFields"
}

list! {
    /// Seams.
    seams: Seam, "SeamFields"
}

/// A frame that was read back.
pub mod frame {
    use gapii_abi::atom::{Frame, FrameKind};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Fields of a frame: surface, frame, width, height, kind and name.
    type Fields = (u64, u64, u32, u32, u32, [u8; 16]);

    /// Writes the frame, or none.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(frame: &Option<Box<Frame>>, to: S) -> Result<S::Ok, S::Error> {
        let fields = frame.as_deref().map(|frame| -> Fields {
            let Frame { surface, frame, width, height, kind, name } = *frame;
            (surface, frame, width, height, kind.code(), name)
        });
        fields.serialize(to)
    }

    /// Reads the frame, or none.
    ///
    /// # Errors
    /// The deserializer's.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<Frame>>, D::Error> {
        let fields = Option::<Fields>::deserialize(from)?;
        Ok(fields.map(|(surface, frame, width, height, kind, name)| {
            let kind = FrameKind::from_code(kind);
            Box::new(Frame { surface, frame, width, height, kind, name })
        }))
    }
}

/// A gap's cause, as its number.
pub mod gap_cause {
    use gapii_abi::atom::GapCause;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the number.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(cause: &GapCause, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(cause.code())
    }

    /// Reads the number.
    ///
    /// # Errors
    /// The deserializer's.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<GapCause, D::Error> {
        Ok(GapCause::from_code(u32::deserialize(from)?))
    }
}

/// The reason of a stream's end, as its word.
pub mod end_reason {
    use gapii_abi::atom::EndReason;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the word.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(reason: &EndReason, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(reason.name())
    }

    /// Writes the word, or none.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize_option<S: Serializer>(
        reason: &Option<EndReason>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        reason.map(EndReason::name).serialize(to)
    }

    /// Reads the word; one of a later version becomes `Other(0)`.
    ///
    /// # Errors
    /// The deserializer's.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<EndReason, D::Error> {
        let name = String::deserialize(from)?;
        Ok(EndReason::from_name(&name).unwrap_or(EndReason::Other(0)))
    }
}
