//! A client's credentials for one daemon, stored in one file per daemon that only its owner may read: the authority's
//! certificate, and a certificate with its key or a token. Another format is refused.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::place::{self, PlaceError};
use crate::secret::Secret;

/// Version of the file format that this build writes.
const FORMAT: u32 = 1;

/// The content of a credentials file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Credentials {
    /// Version of the file format.
    pub format: u32,
    /// The daemon's name for this client.
    pub name: String,
    /// Time of expiry in Unix seconds.
    pub expires_unix: u64,
    /// Certificate of the authority that signs the daemon's certificate (PEM). Each daemon has its own authority.
    pub authority: String,
    /// The client's certificate or token.
    #[serde(flatten)]
    pub proof: Proof,
}

/// A client's proof of identity.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// A client certificate and its private key, both PEM.
    Certificate { certificate: String, key: SecretText },
    /// A shared secret.
    Token(Secret),
}

/// Text that `Debug` does not print.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretText(pub String);

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText(…)")
    }
}

impl Credentials {
    /// Creates credentials in the current format.
    pub fn new(name: String, expires_unix: u64, authority: String, proof: Proof) -> Self {
        Self { format: FORMAT, name, expires_unix, authority, proof }
    }

    /// Loads credentials from a file that only its owner can read.
    pub fn load(path: &Path) -> Result<Self, PlaceError> {
        let text = place::read_private(path)?;
        let bad = |why: String| PlaceError::Bad { path: path.to_owned(), why };
        let credentials: Self = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        match credentials.format {
            FORMAT => Ok(credentials),
            other => Err(bad(format!("its format is {other}; this version supports {FORMAT}"))),
        }
    }

    /// Writes the credentials to a file that only its owner can read.
    pub fn store(&self, path: &Path) -> Result<(), PlaceError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| PlaceError::Bad { path: path.to_owned(), why: error.to_string() })?;
        place::write_private(path, &text)
    }

    /// Returns the token; `None` for a client with a certificate.
    pub fn token(&self) -> Option<Secret> {
        match &self.proof {
            Proof::Token(token) => Some(token.clone()),
            Proof::Certificate { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_credentials_load_unchanged_and_debug_output_hides_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.json");
        let token = Secret::random().unwrap();
        let hash = token.hash();
        let proofs = [
            Proof::Token(token),
            Proof::Certificate { certificate: "C".into(), key: SecretText("hidden".into()) },
        ];
        for proof in proofs {
            let credentials = Credentials::new("laptop".into(), 7, "A".into(), proof);
            credentials.store(&path).unwrap();
            let loaded = Credentials::load(&path).unwrap();
            assert_eq!((&loaded.name[..], loaded.expires_unix), ("laptop", 7));
            assert!(loaded.token().is_none_or(|token| token.has_hash(&hash)));
            assert!(!format!("{loaded:?}").contains("hidden"));
        }
        place::write_private(&path, "{}").unwrap();
        assert!(matches!(Credentials::load(&path), Err(PlaceError::Bad { .. })));
    }
}
