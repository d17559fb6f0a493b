//! The door of remote clients: TCP, then TLS, then the first words; all of it within a few seconds.
//!
//! Believes nobody before TLS and the list of clients say who it is. What is wrong with somebody stands in
//! the log and is counted; he himself is told no more than that he may not.

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

/// Connections that have not been admitted yet, at once.
const OPEN_MAX: usize = 64;
/// A pause after an accept that failed, for want of descriptors as a rule.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why a connection came to nothing.
struct Failed {
    why: Refusal,
    /// For the log.
    message: String,
}

/// What is needed to admit somebody, as it is now.
struct Papers {
    config: ServerConfig,
    clients: Clients,
}

/// Serves remote clients for ever.
pub async fn serve(session: Arc<Session>, listener: TcpListener, ending: watch::Receiver<bool>) {
    let options = &session.links.options;
    let Some(folder) = options.folder() else {
        return tracing::error!("--remote-credentials has to say where the credentials are");
    };
    if let Err(error) = Papers::read(&folder) {
        tracing::warn!("no remote client can be admitted: {error}; see `gapii-ctl pair`");
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
    // Acknowledgements are small and awaited.
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

/// Finds out who it is.
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
            // TLS has said why, if it could; that is to arrive.
            let _ = stream.shutdown().await;
            let _ = hear_out(&mut stream).await;
            return Err(failed);
        }
    };
    let knock = match Knock::hear(&mut stream).await {
        Ok(knock) => knock,
        Err(KnockError::Frame(FrameError::Ended)) => {
            // Who does not believe our certificate goes like this, too.
            return Err(failed(Refusal::Tls, &"it went without a word"));
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
        "the daemon does not admit these credentials: they have expired, were revoked, or are of another \
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
