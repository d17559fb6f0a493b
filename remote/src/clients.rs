//! The daemon's credentials: its certificate, its certificate authority, and the list of admitted clients. The list
//! holds hashes only. A client that is not in the list is not admitted, even if the authority signed its certificate;
//! nor is one whose entry has expired. A certificate takes precedence over a token. Without a file the list is empty;
//! another format is refused.
//!
//! So reading the list does not let anybody impersonate a client.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::place::{self, PlaceError};
use crate::secret::Secret;

/// Version of the list's format that this build writes.
const FORMAT: u32 = 1;

/// The folder of a daemon's credentials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DaemonFolder(pub PathBuf);

impl DaemonFolder {
    /// Path of the authority's certificate (PEM).
    pub fn authority(&self) -> PathBuf {
        self.0.join("authority.pem")
    }

    /// Path of the authority's private key (PEM).
    pub fn authority_key(&self) -> PathBuf {
        self.0.join("authority.key")
    }

    /// Path of the daemon's certificate (PEM).
    pub fn certificate(&self) -> PathBuf {
        self.0.join("daemon.pem")
    }

    /// Path of the daemon's private key (PEM).
    pub fn key(&self) -> PathBuf {
        self.0.join("daemon.key")
    }

    /// Path of the list of clients (JSON).
    pub fn clients(&self) -> PathBuf {
        self.0.join("clients.json")
    }
}

/// The list of admitted clients.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clients {
    format: u32,
    /// Expiry of the daemon's own certificate in Unix seconds; 0 without a certificate.
    #[serde(default)]
    pub daemon_expires_unix: u64,
    pub clients: Vec<Client>,
}

/// An admitted client.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Client {
    pub name: String,
    pub kind: Kind,
    /// BLAKE3 hash of the certificate (DER) or the token, in hexadecimal.
    hash: String,
    /// Time of creation in Unix seconds.
    pub made_unix: u64,
    /// Time of expiry in Unix seconds.
    pub expires_unix: u64,
}

/// How a client authenticates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Certificate,
    Token,
}

/// Why a client was not admitted. For the daemon's log only; the client does not learn the reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAdmitted {
    #[error("it presented neither a certificate nor a token")]
    Nothing,
    #[error("its token is unknown")]
    UnknownToken,
    #[error("its certificate is not in the list: it was revoked, or never issued by this daemon")]
    UnknownCertificate,
    #[error("its credentials have expired")]
    Expired,
}

impl Client {
    /// Creates the entry of a client that authenticates with `token`.
    pub fn with_token(name: &str, token: &Secret, made_unix: u64, expires_unix: u64) -> Self {
        let hash = token.hash().to_hex().to_string();
        Self { name: name.to_owned(), kind: Kind::Token, hash, made_unix, expires_unix }
    }

    /// Creates the entry of a client that authenticates with the certificate `der`.
    pub fn with_certificate(name: &str, der: &[u8], made_unix: u64, expires_unix: u64) -> Self {
        let hash = blake3::hash(der).to_hex().to_string();
        Self { name: name.to_owned(), kind: Kind::Certificate, hash, made_unix, expires_unix }
    }
}

impl Clients {
    /// Loads the list from a file; returns an empty list if the file does not exist.
    pub fn load(path: &Path) -> Result<Self, PlaceError> {
        let text = match place::read_private(path) {
            Err(PlaceError::Absent(_)) => {
                return Ok(Self { format: FORMAT, daemon_expires_unix: 0, clients: Vec::new() });
            }
            text => text?,
        };
        let bad = |why: String| PlaceError::Bad { path: path.to_owned(), why };
        let list: Self = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        match list.format {
            FORMAT => Ok(list),
            other => Err(bad(format!("its format is {other}; this version supports {FORMAT}"))),
        }
    }

    /// Writes the list to a file that only its owner can read.
    pub fn store(&self, path: &Path) -> Result<(), PlaceError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| PlaceError::Bad { path: path.to_owned(), why: error.to_string() })?;
        place::write_private(path, &text)
    }

    /// Returns the client with this name.
    pub fn find(&self, name: &str) -> Option<&Client> {
        self.clients.iter().find(|client| client.name == name)
    }

    /// Returns the client that presents this certificate (DER) or this token, if it has not expired. A certificate
    /// takes precedence over a token.
    pub fn admit(
        &self,
        certificate: Option<&[u8]>,
        token: Option<&Secret>,
        now_unix: u64,
    ) -> Result<&Client, NotAdmitted> {
        let (kind, shown, unknown) = match (certificate, token) {
            (Some(der), _) => {
                (Kind::Certificate, blake3::hash(der), NotAdmitted::UnknownCertificate)
            }
            (None, Some(token)) => (Kind::Token, token.hash(), NotAdmitted::UnknownToken),
            (None, None) => return Err(NotAdmitted::Nothing),
        };
        // Scans the whole list, each entry in constant time, so that the time reveals nothing.
        let of_kind = self.clients.iter().filter(|client| client.kind == kind);
        let found = of_kind.fold(None, |found, client| {
            let is_it = blake3::Hash::from_hex(&client.hash).is_ok_and(|hash| hash == shown);
            if is_it { Some(client) } else { found }
        });
        match found {
            None => Err(unknown),
            Some(client) if client.expires_unix < now_unix => Err(NotAdmitted::Expired),
            Some(client) => Ok(client),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_client_is_admitted_until_it_expires() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clients.json");
        let mut list = Clients::load(&path).unwrap();
        let (token, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        list.clients.push(Client::with_token("token", &token, 1, 10));
        list.clients.push(Client::with_certificate("certificate", b"der", 1, 20));
        list.store(&path).unwrap();
        let list = Clients::load(&path).unwrap();
        let check = |certificate: Option<&[u8]>, token, now, expected| {
            let admitted = list.admit(certificate, token, now).map(|client| client.name.as_str());
            assert_eq!(admitted, expected);
        };
        check(None, Some(&token), 10, Ok("token"));
        check(None, Some(&token), 11, Err(NotAdmitted::Expired));
        check(None, Some(&other), 9, Err(NotAdmitted::UnknownToken));
        check(Some(b"der"), None, 20, Ok("certificate"));
        check(Some(b"der"), Some(&other), 19, Ok("certificate"));
        check(Some(b"der"), None, 21, Err(NotAdmitted::Expired));
        check(Some(b"red"), Some(&token), 9, Err(NotAdmitted::UnknownCertificate));
        check(None, None, 9, Err(NotAdmitted::Nothing));
    }
}
