//! TLS 1.3 configuration of clients and daemons. Each daemon has its own authority; the system's authorities are not
//! trusted, and the host name is not verified. Sessions are not resumed: each connection authenticates anew, so a
//! revocation takes effect at the next connection. A client without a certificate must send a token.
//!
//! The daemon's authority signs only the daemon's certificate and those of its clients.

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

/// Subject name in every daemon's certificate.
pub const DAEMON_NAME: &str = "gapiid";

/// Why a TLS configuration cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("{what} can't be used: {why}")]
    Bad { what: String, why: String },
}

/// Returns the configuration of a daemon with the credentials in `folder`. A client may present a certificate; a
/// client without one must send a token in the handshake of the link.
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

/// Returns the configuration of a client with `credentials`, which were loaded from `origin`.
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
    // The daemon's name does not appear on the network.
    config.enable_sni = false;
    Ok(config)
}

/// Returns the subject name that a client expects in the daemon's certificate.
pub fn daemon_name() -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(DAEMON_NAME).map_err(|error| bad(DAEMON_NAME, &error))
}

/// Parses the certificate in a PEM text.
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
