//! Names of blobs, and beginnings of names as people type them: 1 to 32 hexadecimal digits in either case; anything
//! else is refused. A name is the first 16 bytes of the BLAKE3 hash of the blob's bytes.
//!
//! Computes names; looks up none.

use std::fmt;
use std::str::FromStr;

use gapii_abi::atom::BLOB_NAME_LEN;
use serde::{Serialize, Serializer};

/// Name of a blob: the first 16 bytes of the BLAKE3 hash of its bytes. Displayed as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobName(pub [u8; BLOB_NAME_LEN]);

/// The first 1 to 32 hexadecimal digits of a blob's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamePrefix(String);

/// A text is not the beginning of a blob's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a hash is 1 to 32 hexadecimal digits")]
pub struct NotAPrefix;

impl BlobName {
    /// Returns the name of a blob with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_hash(&blake3::hash(bytes))
    }

    /// Returns the name of a blob whose bytes have this hash.
    pub(super) fn of_hash(hash: &blake3::Hash) -> Self {
        Self(std::array::from_fn(|i| hash.as_bytes()[i]))
    }
}

impl fmt::Display for BlobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for BlobName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl NamePrefix {
    /// Returns true if a name begins with these digits.
    pub fn begins(&self, name: BlobName) -> bool {
        name.to_string().starts_with(&self.0)
    }
}

impl fmt::Display for NamePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for NamePrefix {
    type Err = NotAPrefix;

    fn from_str(text: &str) -> Result<Self, NotAPrefix> {
        let digits = (1..=2 * BLOB_NAME_LEN).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits { Ok(Self(text.to_ascii_lowercase())) } else { Err(NotAPrefix) }
    }
}
