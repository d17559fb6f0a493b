//! Reads a header that has this build's own description without decoding the description again, which would take most of
//! the time in which a trace is opened.
//!
//! The field `tables` names the tables that a description was made of by a digest. It precedes `description`, the last
//! field, if the header has one. If they are this build's tables, reading stops before the description.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// What the digest is of. The number is raised when a description is made otherwise of the same tables.
const CONTEXT: &str = "gapii: tables of commands in a trace's header, 1";
const TABLES: &str = "tables";
const DESCRIPTION: &str = "description";

/// Digest of this build's tables, as hexadecimal digits.
pub fn digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let hash = blake3::derive_key(CONTEXT, gapii_commands::DESCRIPTIONS_TEXT.as_bytes());
        hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    })
}

/// A header as it is written.
#[derive(Serialize)]
pub struct Written<'a, T> {
    /// Digest of the tables, if they are this build's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<&'static str>,
    /// The header, with the description as its last field.
    #[serde(flatten)]
    pub header: &'a T,
}

/// A header that was read. The description may be left out, for which `T` must have a default.
pub struct Read<T> {
    /// The header.
    pub header: T,
    /// Whether it has this build's tables; then the description was not read.
    pub are_known: bool,
    /// Whether it has a description.
    pub is_described: bool,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Reading(PhantomData))
    }
}

struct Reading<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Reading<T> {
    type Value = Read<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the header of a trace")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Read<T>, A::Error> {
        let (are_known, is_described) = (Cell::new(false), Cell::new(false));
        let fields =
            Fields { map, key: String::new(), are_known: &are_known, is_described: &is_described };
        let header = T::deserialize(MapAccessDeserializer::new(fields))?;
        Ok(Read { header, are_known: are_known.get(), is_described: is_described.get() })
    }
}

/// The fields of a header, which end before a description of this build's tables.
struct Fields<'a, A> {
    map: A,
    key: String,
    are_known: &'a Cell<bool>,
    is_described: &'a Cell<bool>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.map.next_key::<String>()? else { return Ok(None) };
        if key == DESCRIPTION {
            self.is_described.set(true);
            if self.are_known.get() {
                return Ok(None);
            }
        }
        self.key.clone_from(&key);
        let key: StringDeserializer<A::Error> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        if self.key != TABLES {
            return self.map.next_value_seed(seed);
        }
        let stated: String = self.map.next_value()?;
        self.are_known.set(stated == digest());
        let stated: StringDeserializer<A::Error> = stated.into_deserializer();
        seed.deserialize(stated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, PartialEq, Debug)]
    struct Header {
        name: String,
        #[serde(default)]
        description: Option<String>,
    }

    #[derive(Serialize)]
    struct Fields<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
    }

    /// Reads a header with a description, if any, and a digest. Returns the description, whether the tables are this build's,
    /// and whether there is a description.
    fn read(
        tables: Option<&'static str>,
        description: Option<&str>,
    ) -> (Option<String>, bool, bool) {
        let header = Fields { name: "a", description };
        let bytes = rmp_serde::to_vec_named(&Written { tables, header: &header }).unwrap();
        let read = rmp_serde::from_slice::<Read<Header>>(&bytes).unwrap();
        assert_eq!(read.header.name, "a");
        (read.header.description, read.are_known, read.is_described)
    }

    #[test]
    fn description_of_known_tables_alone_is_left_out() {
        let described = Some("b".to_owned());
        assert_eq!(read(None, Some("b")), (described.clone(), false, true));
        assert_eq!(read(Some("0123"), Some("b")), (described, false, true));
        assert_eq!(read(Some(digest()), Some("b")), (None, true, true));
    }

    #[test]
    fn header_without_a_description_says_so() {
        for tables in [None, Some("0123"), Some(digest())] {
            assert_eq!(read(tables, None), (None, tables == Some(digest()), false));
        }
    }

    #[test]
    fn digest_has_32_digits() {
        assert!(digest().len() == 32 && digest().bytes().all(|it| it.is_ascii_hexdigit()));
    }
}
