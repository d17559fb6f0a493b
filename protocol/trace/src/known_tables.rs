//! Reads a header that has this build's own description without decoding the description again, which would take most of
//! the time in which a trace is opened.
//!
//! The field `tables` names the tables that a description was made of by a digest. It precedes `description`, the last
//! field. If they are this build's tables, reading stops before the description.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
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
pub struct Read<T>(pub T);

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
        let fields = Fields { map, key: String::new(), are_known: false, is_described: false };
        T::deserialize(MapAccessDeserializer::new(fields)).map(Read)
    }
}

/// The fields of a header, which end before a description of this build's tables.
struct Fields<A> {
    map: A,
    key: String,
    are_known: bool,
    is_described: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.map.next_key::<String>()? else {
            return match self.is_described {
                true => Ok(None),
                false => Err(A::Error::missing_field(DESCRIPTION)),
            };
        };
        let is_description = key == DESCRIPTION;
        if is_description && self.are_known {
            return Ok(None);
        }
        self.is_described |= is_description;
        self.key.clone_from(&key);
        let key: StringDeserializer<A::Error> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        if self.key != TABLES {
            return self.map.next_value_seed(seed);
        }
        let stated: String = self.map.next_value()?;
        self.are_known = stated == digest();
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

    /// A header with a description, if any, and a digest.
    fn read(tables: Option<&'static str>, description: Option<&str>) -> Result<Header, String> {
        let header = Fields { name: "a", description };
        let bytes = rmp_serde::to_vec_named(&Written { tables, header: &header }).unwrap();
        let read = rmp_serde::from_slice::<Read<Header>>(&bytes);
        read.map(|it| it.0).map_err(|error| error.to_string())
    }

    #[test]
    fn description_of_known_tables_alone_is_left_out() {
        let described = Header { name: "a".into(), description: Some("b".into()) };
        let known = Header { name: "a".into(), description: None };
        assert_eq!(read(None, Some("b")), Ok(described));
        let other = read(Some("0123"), Some("b"));
        assert_eq!(other.unwrap().description.as_deref(), Some("b"));
        assert_eq!(read(Some(digest()), Some("b")), Ok(known));
    }

    #[test]
    fn header_without_a_description_is_refused() {
        for tables in [None, Some("0123"), Some(digest())] {
            let refused = read(tables, None).unwrap_err();
            assert!(refused.contains("description"), "{refused}");
        }
    }

    #[test]
    fn digest_has_32_digits() {
        assert!(digest().len() == 32 && digest().bytes().all(|it| it.is_ascii_hexdigit()));
    }
}
