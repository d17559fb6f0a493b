//! Admission of remote clients: TCP, then TLS, then the first message, all within 5 s. At most 64 connections wait for
//! admission (`OPEN_MAX`); further ones are closed and counted as busy. Trusts no peer before TLS and the list of
//! clients have identified it. The certificate and the list are read anew for every connection, so renewed and revoked
//! credentials hold from the next connection on. Failures are logged and counted by reason; the peer is told only that
//! it is refused.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gapii_remote::clients::{Clients, DaemonFolder, NotAdmitted};
use gapii_remote::knock::{Knock, KnockError, Refused, code};
use gapii_remote::tls;
use gapii_remote::{AnyStream, frame::FrameError};
use rustls::{ServerConfig, ServerConnection};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::attempts::Attempts;
use super::bring::{FIRST_WORDS_LIMIT, Visitor, bring, hear_out, tell};
use super::counters::Refusal;
use super::links::Identity;
use crate::session::Session;

/// Largest number of connections that are not admitted yet.
const OPEN_MAX: usize = 64;
/// Pause after an accept that failed, usually for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why a connection failed.
struct Failed {
    why: Refusal,
    /// The reason, for the log.
    message: String,
}

/// The daemon's credentials and its list of clients, as they are now.
struct Papers {
    config: ServerConfig,
    clients: Clients,
}

/// Serves remote clients until the daemon ends.
pub async fn serve(session: Arc<Session>, listener: TcpListener, ending: watch::Receiver<bool>) {
    let options = &session.links.options;
    let Some(folder) = options.folder() else {
        return tracing::error!(
            "no remote client is served: there is no folder of credentials; name it with `--remote-credentials FOLDER`"
        );
    };
    if let Err(error) = Papers::read(&folder) {
        tracing::warn!(
            "no remote client can be admitted: {error}; `gapii-ctl pair new NAME` makes credentials"
        );
    }
    let attempts = Arc::new(Attempts::new(options.remote_attempts));
    let places = Arc::new(Semaphore::new(OPEN_MAX));
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("a remote client cannot be accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            session.links.counters.refuse(Refusal::Busy);
            continue;
        };
        let visit = visit(
            Arc::clone(&session),
            (stream, address),
            folder.clone(),
            Arc::clone(&attempts),
            ending.clone(),
        );
        tokio::spawn(async move {
            visit.await;
            drop(place);
        });
    }
}

async fn visit(
    session: Arc<Session>,
    (stream, address): (TcpStream, SocketAddr),
    folder: DaemonFolder,
    attempts: Arc<Attempts>,
    ending: watch::Receiver<bool>,
) {
    let address = address.ip().to_canonical();
    let Some(mut attempt) = attempts.begin(address) else {
        return session.links.counters.refuse(Refusal::Attempts);
    };
    // Acknowledgements are small and the peer waits for them.
    let _ = stream.set_nodelay(true);
    let greeted = timeout(FIRST_WORDS_LIMIT, greet(stream, &folder)).await;
    let failed = match greeted {
        Ok(Ok(visitor)) => {
            attempt.succeeded();
            return bring(&session, visitor, &ending).await;
        }
        Ok(Err(failed)) => failed,
        Err(_) => {
            let message = format!("it took longer than {} s", FIRST_WORDS_LIMIT.as_secs());
            Failed { why: Refusal::Timeout, message }
        }
    };
    session.links.counters.refuse(failed.why);
    log(&attempts, address, &failed.message);
}

fn log(attempts: &Attempts, address: IpAddr, message: &str) {
    if attempts.may_log() {
        tracing::warn!(%address, "a client at {address} is refused: {message}");
    }
}

/// Identifies the peer of a connection.
async fn greet(stream: TcpStream, folder: &DaemonFolder) -> Result<Visitor, Failed> {
    let read = folder.clone();
    let papers = tokio::task::spawn_blocking(move || Papers::read(&read)).await;
    let papers = match papers {
        Ok(Ok(papers)) => papers,
        Ok(Err(error)) => return Err(failed(Refusal::Tls, &error)),
        Err(error) => return Err(failed(Refusal::Tls, &error)),
    };
    let Papers { config, clients } = papers;
    let accept = TlsAcceptor::from(Arc::new(config)).accept(stream).into_fallible();
    let mut stream = match accept.await {
        Ok(stream) => stream,
        Err((error, mut stream)) => {
            let failed = tls_failed(&error);
            // TLS has sent the reason, if it could. It must arrive.
            let _ = stream.shutdown().await;
            let _ = hear_out(&mut stream).await;
            return Err(failed);
        }
    };
    let knock = match Knock::hear(&mut stream).await {
        Ok(knock) => knock,
        Err(KnockError::Frame(FrameError::Ended)) => {
            // A client that does not trust the daemon's certificate leaves like this, too.
            return Err(failed(
                Refusal::Tls,
                &"the client closed the connection after the handshake",
            ));
        }
        Err(KnockError::Frame(FrameError::Io(error))) => return Err(tls_failed(&error)),
        Err(error) => return Err(failed(Refusal::Message, &error)),
    };
    let (_, connection): (_, &ServerConnection) = stream.get_ref();
    let certificate = connection.peer_certificates().and_then(|chain| chain.first().cloned());
    match clients.admit(certificate.as_deref(), knock.token.as_ref(), unix_s()) {
        Ok(client) => {
            let identity = Identity::Client(client.name.clone());
            Ok(Visitor { stream: Box::new(stream), knock, identity })
        }
        Err(why) => Err(turn_away(stream, why).await),
    }
}

async fn turn_away(stream: TlsStream<TcpStream>, why: NotAdmitted) -> Failed {
    let words = Refused::new(
        code::NOT_ADMITTED,
        "the daemon does not admit these credentials: they have expired, were revoked, or are for another \
         daemon; its log says which",
    );
    let stream: AnyStream = Box::new(stream);
    tell(stream, &words).await;
    failed(Refusal::Credentials, &why)
}

impl Papers {
    fn read(folder: &DaemonFolder) -> Result<Self, tls::TlsError> {
        let config = tls::daemon_config(folder)?;
        Ok(Self { config, clients: Clients::load(&folder.clients())? })
    }
}

fn tls_failed(error: &io::Error) -> Failed {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let why = match tls {
        Some(rustls::Error::InvalidMessage(_)) => Refusal::PlainText,
        Some(rustls::Error::InvalidCertificate(_)) => Refusal::Certificate,
        _ => Refusal::Tls,
    };
    let message = match why {
        Refusal::PlainText => "it does not speak TLS".to_owned(),
        _ => format!("TLS failed: {error}"),
    };
    Failed { why, message }
}

fn failed(why: Refusal, message: &dyn std::fmt::Display) -> Failed {
    let message = message.to_string();
    Failed { why, message: message.escape_debug().to_string() }
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
