//! What a daemon has: its own certificate, who signs, and the list of clients that it admits.
//!
//! The list holds hashes: who reads it can't be any of them. A client that is not in it is not admitted,
//! whoever has signed its certificate.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::place::{self, PlaceError};
use crate::secret::Secret;

/// Format of the list that this build writes.
const FORMAT: u32 = 1;

/// The folder of a daemon's credentials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DaemonFolder(pub PathBuf);

impl DaemonFolder {
    /// Certificate of who signs.
    pub fn authority(&self) -> PathBuf {
        self.0.join("authority.pem")
    }

    pub fn authority_key(&self) -> PathBuf {
        self.0.join("authority.key")
    }

    pub fn certificate(&self) -> PathBuf {
        self.0.join("daemon.pem")
    }

    pub fn key(&self) -> PathBuf {
        self.0.join("daemon.key")
    }

    pub fn clients(&self) -> PathBuf {
        self.0.join("clients.json")
    }
}

/// Clients that are admitted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clients {
    format: u32,
    /// When the daemon's own certificate expires, in seconds since 1970; 0 where there is none.
    #[serde(default)]
    pub daemon_expires_unix: u64,
    pub clients: Vec<Client>,
}

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Client {
    pub name: String,
    pub kind: Kind,
    /// BLAKE3 of the certificate or the token.
    hash: String,
    /// Seconds since 1970, both.
    pub made_unix: u64,
    pub expires_unix: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Certificate,
    Token,
}

/// Why a client is not admitted; for the daemon's log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAdmitted {
    #[error("it shows neither a certificate nor a token")]
    Nothing,
    #[error("its token is not known")]
    UnknownToken,
    #[error("its certificate is not in the list: it was revoked, or made by somebody else")]
    UnknownCertificate,
    #[error("what it shows has expired")]
    Expired,
}

impl Client {
    pub fn with_token(name: &str, token: &Secret, made_unix: u64, expires_unix: u64) -> Self {
        let hash = token.hash().to_hex().to_string();
        Self { name: name.to_owned(), kind: Kind::Token, hash, made_unix, expires_unix }
    }

    pub fn with_certificate(name: &str, der: &[u8], made_unix: u64, expires_unix: u64) -> Self {
        let hash = blake3::hash(der).to_hex().to_string();
        Self { name: name.to_owned(), kind: Kind::Certificate, hash, made_unix, expires_unix }
    }
}

impl Clients {
    /// The list in a file; an empty one where there is none yet.
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
            other => Err(bad(format!("it is of format {other}, and this version knows {FORMAT}"))),
        }
    }

    pub fn store(&self, path: &Path) -> Result<(), PlaceError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| PlaceError::Bad { path: path.to_owned(), why: error.to_string() })?;
        place::write_private(path, &text)
    }

    /// The client of that name.
    pub fn find(&self, name: &str) -> Option<&Client> {
        self.clients.iter().find(|client| client.name == name)
    }

    /// The client that shows this certificate, or this token.
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
        // All of the list, and each in constant time: how long it takes tells nothing.
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
    fn who_is_in_the_list_and_has_not_expired_is_admitted() {
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
