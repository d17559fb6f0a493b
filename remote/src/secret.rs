//! `Secret`: a random shared secret of 32 bytes in hexadecimal. `Debug` does not print it, and comparison takes
//! constant time.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use blake3::Hash as SecretHash;

/// A random secret in hexadecimal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

/// The system's random number generator failed.
#[derive(Debug, thiserror::Error)]
#[error("the system's random number generator failed")]
pub struct NoRandomness;

impl Secret {
    /// Creates a secret of 32 random bytes.
    pub fn random() -> Result<Self, NoRandomness> {
        Ok(Self(hex(&random::<32>()?)))
    }

    /// Returns the hash that is stored in place of the secret.
    pub fn hash(&self) -> SecretHash {
        blake3::hash(self.0.as_bytes())
    }

    /// Whether the secret has this hash; takes constant time.
    pub fn has_hash(&self, hash: &SecretHash) -> bool {
        // BLAKE3's hash type compares in constant time.
        self.hash() == *hash
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Returns cryptographically secure random bytes.
pub fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    let random = rustls::crypto::ring::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_known_by_its_hash_and_never_shown() {
        let (secret, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert!(secret.has_hash(&secret.hash()));
        assert!(!other.has_hash(&secret.hash()));
        assert!(!format!("{secret:?}").contains(&secret.0));
    }
}
