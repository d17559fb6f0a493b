//! What a client has: whom it talks to, and what admits it there. One file for each daemon.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::place::{self, PlaceError};
use crate::secret::Secret;

/// Format of the file that this build writes.
const FORMAT: u32 = 1;

/// A client's file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Credentials {
    pub format: u32,
    /// What the daemon calls this client.
    pub name: String,
    /// When they expire, in seconds since 1970.
    pub expires_unix: u64,
    /// Who signs the daemon's certificate, and nobody else's: PEM.
    pub authority: String,
    #[serde(flatten)]
    pub proof: Proof,
}

/// What admits a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// PEM, both.
    Certificate {
        certificate: String,
        key: SecretText,
    },
    Token(Secret),
}

/// Text that is not printed.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretText(pub String);

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText(…)")
    }
}

impl Credentials {
    pub fn new(name: String, expires_unix: u64, authority: String, proof: Proof) -> Self {
        Self { format: FORMAT, name, expires_unix, authority, proof }
    }

    pub fn load(path: &Path) -> Result<Self, PlaceError> {
        let text = place::read_private(path)?;
        let bad = |why: String| PlaceError::Bad { path: path.to_owned(), why };
        let credentials: Self = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        match credentials.format {
            FORMAT => Ok(credentials),
            other => Err(bad(format!("it is of format {other}, and this version knows {FORMAT}"))),
        }
    }

    pub fn store(&self, path: &Path) -> Result<(), PlaceError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| PlaceError::Bad { path: path.to_owned(), why: error.to_string() })?;
        place::write_private(path, &text)
    }

    /// For who has no certificate.
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
    fn file_holds_what_was_stored_and_shows_no_secret() {
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
