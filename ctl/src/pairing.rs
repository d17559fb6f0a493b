//! `Pairing`: creates and changes a daemon's folder of credentials, locked against concurrent changes. Credentials last
//! 365 days by default (`LIFETIME`), the authority 20 years; clocks may differ by 1 day. A name has 1 to 64 letters,
//! digits and `._-`, and must be free. Renewing a client makes its old credentials invalid. While the daemon's
//! certificate is replaced, one connection may be refused. Only this module uses the authority's private key.
//!
//! The daemon does not read the authority's private key. The module prints nothing.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use gapii_remote::clients::{Client, Clients, DaemonFolder, Kind};
use gapii_remote::credentials::{Credentials, Proof, SecretText};
use gapii_remote::place::{self, PlaceError};
use gapii_remote::secret::Secret;
use gapii_remote::tls::DAEMON_NAME;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

/// Lifetime of the authority's certificate.
const AUTHORITY_LIFETIME: Duration = Duration::days(20 * 365);
/// Default lifetime of a certificate or token.
pub const LIFETIME: Duration = Duration::days(365);
/// Tolerated difference between the clocks of client and daemon.
const SKEW: Duration = Duration::days(1);
/// Longest name of a client, in bytes.
const NAME_LEN_MAX: usize = 64;

/// A daemon's folder of credentials, locked against concurrent changes.
pub struct Pairing {
    folder: DaemonFolder,
    pub clients: Clients,
    authority: Issuer<'static, KeyPair>,
    authority_pem: String,
    _lock: std::fs::File,
}

/// Why credentials can't be created.
#[derive(Debug, thiserror::Error)]
pub enum PairingError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("a certificate can't be made: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("{0}")]
    Randomness(#[from] gapii_remote::secret::NoRandomness),
    #[error(
        "{0:?} is not a valid name: a name has 1 to {NAME_LEN_MAX} letters, digits and ._-, as in `gapii-ctl pair new office-7`"
    )]
    Name(String),
    #[error(
        "a client {0} exists already; `gapii-ctl pair renew {0}` replaces its credentials, `gapii-ctl pair revoke {0}` ends them"
    )]
    Taken(String),
    #[error("there is no client {0} in {1}; `gapii-ctl pair list --folder {1}` shows the clients")]
    Unknown(String, String),
}

impl Pairing {
    /// Opens the folder, and creates the authority and the daemon's certificate if they are missing.
    pub fn open(folder: &Path) -> Result<Self, PairingError> {
        place::make_folder(folder)?;
        let lock = place::lock_folder(folder)?;
        let folder = DaemonFolder(folder.to_owned());
        let mut clients = Clients::load(&folder.clients())?;
        let (key, is_new) = match place::read_private(&folder.authority_key()) {
            Ok(pem) => (KeyPair::from_pem(&pem)?, false),
            Err(PlaceError::Absent(path)) => {
                let key = KeyPair::generate()?;
                place::write_private(&path, &key.serialize_pem())?;
                (key, true)
            }
            Err(error) => return Err(error.into()),
        };
        let params = authority_params(&key)?;
        let authority_pem = match place::read_private(&folder.authority()) {
            Ok(pem) if !is_new => pem,
            _ => {
                let pem = params.self_signed(&key)?.pem();
                place::write_private(&folder.authority(), &pem)?;
                pem
            }
        };
        let authority = Issuer::new(params, key);
        let has_certificate = !is_new && folder.certificate().exists() && folder.key().exists();
        if !has_certificate {
            certify_daemon(&folder, &authority, LIFETIME, &mut clients)?;
        }
        Ok(Self { folder, clients, authority, authority_pem, _lock: lock })
    }

    /// Admits a client and writes its credentials to `file`.
    pub fn admit(
        &mut self,
        name: &str,
        kind: Kind,
        lifetime: Duration,
        file: &Path,
    ) -> Result<&Client, PairingError> {
        check_name(name)?;
        if self.clients.find(name).is_some() {
            return Err(PairingError::Taken(name.to_owned()));
        }
        self.certify(name, kind, lifetime, file)
    }

    /// Replaces a client's credentials; the old ones become invalid.
    pub fn renew(
        &mut self,
        name: &str,
        lifetime: Duration,
        file: &Path,
    ) -> Result<&Client, PairingError> {
        let kind = self.clients.find(name).ok_or_else(|| self.unknown(name))?.kind;
        self.certify(name, kind, lifetime, file)
    }

    /// Replaces the daemon's certificate. Its clients need no new files.
    pub fn renew_daemon(&mut self, lifetime: Duration) -> Result<(), PairingError> {
        certify_daemon(&self.folder, &self.authority, lifetime, &mut self.clients)
    }

    /// Revokes a client's credentials.
    pub fn revoke(&mut self, name: &str) -> Result<(), PairingError> {
        if self.clients.find(name).is_none() {
            return Err(self.unknown(name));
        }
        self.clients.clients.retain(|client| client.name != name);
        Ok(self.clients.store(&self.folder.clients())?)
    }

    fn certify(
        &mut self,
        name: &str,
        kind: Kind,
        lifetime: Duration,
        file: &Path,
    ) -> Result<&Client, PairingError> {
        let (made_unix, expires) = (unix_s(), OffsetDateTime::now_utc() + lifetime);
        let expires_unix = expires.unix_timestamp().max(0).cast_unsigned();
        let (client, proof) = match kind {
            Kind::Token => {
                let token = Secret::random()?;
                (Client::with_token(name, &token, made_unix, expires_unix), Proof::Token(token))
            }
            Kind::Certificate => {
                let key = KeyPair::generate()?;
                let mut params = params(name, expires)?;
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
                let certificate = params.signed_by(&key, &self.authority)?;
                let client =
                    Client::with_certificate(name, certificate.der(), made_unix, expires_unix);
                let key = SecretText(key.serialize_pem());
                (client, Proof::Certificate { certificate: certificate.pem(), key })
            }
        };
        let authority = self.authority_pem.clone();
        Credentials::new(name.to_owned(), expires_unix, authority, proof).store(file)?;
        self.clients.clients.retain(|known| known.name != name);
        self.clients.clients.push(client);
        self.clients.store(&self.folder.clients())?;
        self.clients.find(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> PairingError {
        let list = self.folder.clients();
        let folder = list.parent().unwrap_or(&list).display().to_string();
        PairingError::Unknown(name.to_owned(), folder)
    }
}

fn certify_daemon(
    folder: &DaemonFolder,
    authority: &Issuer<'static, KeyPair>,
    lifetime: Duration,
    clients: &mut Clients,
) -> Result<(), PairingError> {
    let expires = OffsetDateTime::now_utc() + lifetime;
    let key = KeyPair::generate()?;
    let mut params = params(DAEMON_NAME, expires)?;
    params.subject_alt_names = vec![rcgen::SanType::DnsName(DAEMON_NAME.try_into()?)];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.signed_by(&key, authority)?;
    // A daemon that reads certificate and key between the two renames refuses one connection.
    place::write_private(&folder.key(), &key.serialize_pem())?;
    place::write_private(&folder.certificate(), &certificate.pem())?;
    clients.daemon_expires_unix = expires.unix_timestamp().max(0).cast_unsigned();
    Ok(clients.store(&folder.clients())?)
}

/// Subject of the authority's certificate. Authorities differ by their keys, not by their names.
fn authority_params(key: &KeyPair) -> Result<CertificateParams, rcgen::Error> {
    let id = blake3::hash(key.public_key_raw()).to_hex();
    let expires = OffsetDateTime::now_utc() + AUTHORITY_LIFETIME;
    let mut params = params(&format!("gapii authority {}", &id[..16]), expires)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    Ok(params)
}

fn params(name: &str, expires: OffsetDateTime) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = OffsetDateTime::now_utc() - SKEW;
    params.not_after = expires;
    Ok(params)
}

fn check_name(name: &str) -> Result<(), PairingError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let fits = (1..=NAME_LEN_MAX).contains(&name.len())
        && name.bytes().all(is_plain)
        && !name.starts_with(['.', '-']);
    if fits { Ok(()) } else { Err(PairingError::Name(name.to_owned())) }
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gapii_remote::clients::NotAdmitted;
    use gapii_remote::tls;

    fn shown(credentials: &Credentials) -> (Option<Vec<u8>>, Option<Secret>) {
        match &credentials.proof {
            Proof::Token(token) => (None, Some(token.clone())),
            Proof::Certificate { certificate, .. } => {
                (Some(tls::certificate(certificate).unwrap().to_vec()), None)
            }
        }
    }

    #[test]
    fn clients_are_admitted_renewed_and_revoked() {
        let place = tempfile::tempdir().unwrap();
        let (folder, file) = (place.path().join("remote"), place.path().join("c.json"));
        for kind in [Kind::Certificate, Kind::Token] {
            Pairing::open(&folder).unwrap().admit("laptop", kind, LIFETIME, &file).unwrap();
            let mut pairing = Pairing::open(&folder).unwrap();
            let first = Credentials::load(&file).unwrap();
            let admitted = |list: &Clients, credentials: &Credentials| {
                let (certificate, token) = shown(credentials);
                let admitted = list.admit(certificate.as_deref(), token.as_ref(), unix_s());
                admitted.map(|client| client.kind)
            };
            assert_eq!(admitted(&pairing.clients, &first), Ok(kind));
            tls::client_config(&first, &file).unwrap();
            tls::daemon_config(&DaemonFolder(folder.clone())).unwrap();
            let taken = pairing.admit("laptop", kind, LIFETIME, &file);
            assert!(matches!(taken, Err(PairingError::Taken(_))));
            pairing.renew("laptop", LIFETIME, &file).unwrap();
            let second = Credentials::load(&file).unwrap();
            assert_eq!(admitted(&pairing.clients, &second), Ok(kind));
            assert!(admitted(&pairing.clients, &first).is_err());
            pairing.revoke("laptop").unwrap();
            let unknown = [NotAdmitted::UnknownCertificate, NotAdmitted::UnknownToken];
            assert!(unknown.contains(&admitted(&pairing.clients, &second).unwrap_err()));
            assert!(matches!(pairing.revoke("laptop"), Err(PairingError::Unknown(..))));
        }
    }

    #[test]
    fn daemon_can_be_renewed_and_clients_need_nothing_new() {
        let place = tempfile::tempdir().unwrap();
        let folder = DaemonFolder(place.path().join("remote"));
        let authority = {
            let mut pairing = Pairing::open(&folder.0).unwrap();
            let before = std::fs::read(folder.certificate()).unwrap();
            pairing.renew_daemon(LIFETIME).unwrap();
            assert_ne!(std::fs::read(folder.certificate()).unwrap(), before);
            pairing.authority_pem
        };
        assert_eq!(Pairing::open(&folder.0).unwrap().authority_pem, authority);
        tls::daemon_config(&folder).unwrap();
    }

    #[test]
    fn names_are_plain() {
        for name in ["", "a b", "a/b", "../a", "-a", "a\n", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        check_name("laptop-7.example").unwrap();
    }
}
