//! TLS 1.3 between a client and a daemon that know each other by files.
//!
//! Trusts no authority of the machine: a daemon has its own, which signs its certificate and those of its
//! clients, and is good for nothing else. So the name of the host is no part of the proof. Resumes no TLS
//! session: each connection proves anew who it is, and what was revoked is.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::clients::DaemonFolder;
use crate::credentials::{Credentials, Proof};
use crate::place::{self, PlaceError};

/// What every daemon's certificate is made out to.
pub const DAEMON_NAME: &str = "gapiid";

/// Why there can be no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("{what} can't be used: {why}")]
    Bad { what: String, why: String },
}

/// For a daemon with the credentials of a folder. Clients may show a certificate; one that does not has
/// yet to show a token.
pub fn daemon_config(folder: &DaemonFolder) -> Result<ServerConfig, TlsError> {
    let read = |path: &Path| place::read_private(path);
    let (roots, path) = (authority(&read(&folder.authority())?)?, folder.certificate());
    let bad = |error: &dyn std::fmt::Display| bad(path.display(), error);
    let certificate = certificate(&read(&path)?).map_err(|error| bad(&error))?;
    let key = key(&read(&folder.key())?).map_err(|error| bad(&error))?;
    let provider = provider();
    let clients =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .map_err(|error| bad(&error))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| bad(&error))?
        .with_client_cert_verifier(clients)
        .with_single_cert(vec![certificate], key)
        .map_err(|error| bad(&error))?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// For a client with these credentials, which came from `origin`.
pub fn client_config(credentials: &Credentials, origin: &Path) -> Result<ClientConfig, TlsError> {
    let bad = |error: &dyn std::fmt::Display| bad(origin.display(), error);
    let provider = provider();
    let roots = Arc::new(authority(&credentials.authority)?);
    let daemon = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .build()
        .map_err(|error| bad(&error))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| bad(&error))?
        .with_webpki_verifier(daemon);
    let mut config = match &credentials.proof {
        Proof::Token(_) => config.with_no_client_auth(),
        Proof::Certificate { certificate: pem, key: key_pem } => {
            let certificate = certificate(pem).map_err(|error| bad(&error))?;
            let key = key(&key_pem.0).map_err(|error| bad(&error))?;
            config.with_client_auth_cert(vec![certificate], key).map_err(|error| bad(&error))?
        }
    };
    config.resumption = rustls::client::Resumption::disabled();
    // Which daemon is meant is not said on the network.
    config.enable_sni = false;
    Ok(config)
}

/// The name that a client expects.
pub fn daemon_name() -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(DAEMON_NAME).map_err(|error| bad(DAEMON_NAME, &error))
}

/// The certificate in a PEM text.
pub fn certificate(pem: &str) -> Result<CertificateDer<'static>, rustls::pki_types::pem::Error> {
    CertificateDer::from_pem_slice(pem.as_bytes())
}

fn key(pem: &str) -> Result<PrivateKeyDer<'static>, rustls::pki_types::pem::Error> {
    PrivateKeyDer::from_pem_slice(pem.as_bytes())
}

fn authority(pem: &str) -> Result<RootCertStore, TlsError> {
    let what = "the authority's certificate";
    let certificate = certificate(pem).map_err(|error| bad(what, &error))?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(|error| bad(what, &error))?;
    Ok(roots)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn bad(what: impl ToString, why: &dyn std::fmt::Display) -> TlsError {
    TlsError::Bad { what: what.to_string(), why: why.to_string() }
}
