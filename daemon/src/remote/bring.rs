//! Brings a remote client's connection to its link: a new link, or one that it resumes. More than `--remote-clients`
//! links are refused as busy; so is a link for which 4 connections wait. An unknown link, a wrong secret and another
//! client's link get the same answer. A relayed client's first message must come within `FIRST_WORDS_LIMIT`, 5 s. A
//! refused peer gets the reason, and is read for up to 1 s or 64 KiB so that the answer arrives.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use gapii_remote::AnyStream;
use gapii_remote::knock::{Knock, Refused, code};
use gapii_remote::secret::Secret;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::counters::Refusal;
use super::link::Link;
use super::links::{Arrival, Entry, Identity};
use crate::client;
use crate::door::Guest;
use crate::session::Session;

/// Largest number of connections that wait for their link.
const ARRIVALS_MAX: usize = 4;
/// Time for the first message of a connection, including TLS, and for the answer that refuses it: 5 s.
pub(super) const FIRST_WORDS_LIMIT: Duration = Duration::from_secs(5);

/// Time for which a refused peer's data is still read, so that the answer arrives.
const HEAR_OUT_LIMIT: Duration = Duration::from_secs(1);
/// Largest number of bytes that are read of a refused peer.
const HEAR_OUT_BYTES: u64 = 64 << 10;

/// An admitted connection, and its first message.
pub(super) struct Visitor {
    pub(super) stream: AnyStream,
    pub(super) knock: Knock,
    pub(super) identity: Identity,
}

/// A refused connection.
struct Turned {
    stream: AnyStream,
    why: Refusal,
    words: Refused,
}

/// Serves a local client, which may turn its connection into a link.
pub async fn serve_client(
    session: Arc<Session>,
    socket: UnixStream,
    ending: watch::Receiver<bool>,
    guest: Option<Guest>,
) {
    let link = client::serve(Arc::clone(&session), socket, ending.clone(), guest).await;
    if let Some(socket) = link {
        serve_relay(session, socket, ending).await;
    }
}

/// Serves a relay: a local process that passes on the messages of a remote client.
async fn serve_relay(session: Arc<Session>, socket: UnixStream, ending: watch::Receiver<bool>) {
    let mut stream: AnyStream = Box::new(socket);
    match timeout(FIRST_WORDS_LIMIT, Knock::hear(&mut stream)).await {
        Ok(Ok(knock)) => {
            let visitor = Visitor { stream, knock, identity: Identity::Local };
            bring(&session, visitor, &ending).await;
        }
        Ok(Err(error)) => {
            session.links.counters.refuse(Refusal::Message);
            session.refusals.say(format_args!("a relayed client is refused: {error}"));
        }
        Err(_) => {
            session.links.counters.refuse(Refusal::Timeout);
            session.refusals.say("a relayed client is refused: it sends nothing");
        }
    }
}

/// Brings a connection to its link, a new one or one that it resumes, or tells the client why that failed.
pub(super) async fn bring(
    session: &Arc<Session>,
    visitor: Visitor,
    ending: &watch::Receiver<bool>,
) {
    let identity = visitor.identity.clone();
    let brought = match &visitor.knock.resume {
        Some(resume) => {
            let way = session.links.resumed(resume, &identity);
            let taken = resume.taken;
            resume_link(way, visitor, taken)
        }
        None => open_link(session, visitor, ending),
    };
    if let Err(Turned { stream, why, words }) = brought {
        session.links.counters.refuse(why);
        tracing::warn!("{identity} is refused: {}", words.message);
        tell(stream, &words).await;
    }
}

fn resume_link(
    way: Option<mpsc::Sender<Arrival>>,
    Visitor { stream, knock, .. }: Visitor,
    taken: u64,
) -> Result<(), Turned> {
    let turned = |stream, code, message| {
        let words = Refused::new(code, message);
        Turned { stream, why: Refusal::Resume, words }
    };
    let version = match knock.version() {
        Ok(version) => version,
        Err(words) => return Err(Turned { stream, why: Refusal::Version, words }),
    };
    // One answer for all failures, so that no peer learns which links exist.
    let gone =
        "the link has ended: the daemon was restarted, or the client took too long to come back";
    let Some(way) = way else { return Err(turned(stream, code::NO_LINK, gone)) };
    way.try_send(Arrival { stream, version, taken }).map_err(|error| match error {
        mpsc::error::TrySendError::Full(arrival) => {
            turned(arrival.stream, code::BUSY, "the link is being resumed already")
        }
        mpsc::error::TrySendError::Closed(arrival) => turned(arrival.stream, code::NO_LINK, gone),
    })
}

fn open_link(
    session: &Arc<Session>,
    Visitor { stream, knock, identity }: Visitor,
    ending: &watch::Receiver<bool>,
) -> Result<(), Turned> {
    let links = &session.links;
    let version = match knock.version() {
        Ok(version) => version,
        Err(words) => return Err(Turned { stream, why: Refusal::Version, words }),
    };
    let busy = |stream, message: String| {
        let words = Refused::new(code::BUSY, message);
        Turned { stream, why: Refusal::Busy, words }
    };
    let Ok(place) = Arc::clone(&links.places).try_acquire_owned() else {
        let most = links.options.remote_clients;
        let message = format!(
            "{most} remote clients are connected, which is the limit (option remote-clients)"
        );
        return Err(busy(stream, message));
    };
    let opened = Secret::random()
        .map_err(|error| error.to_string())
        .and_then(|secret| Ok((secret, UnixStream::pair().map_err(|error| error.to_string())?)));
    let (secret, (ours, theirs)) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            return Err(busy(stream, format!("the daemon cannot serve another client: {error}")));
        }
    };
    let (arrivals, arrivals_in) = mpsc::channel(ARRIVALS_MAX);
    let entry =
        Entry { secret: secret.hash(), identity: identity.clone(), arrivals: arrivals.clone() };
    let id = links.enter(entry);
    let program = knock.client.escape_debug();
    tracing::info!(link = id, %program, "link {id} begins, for {identity} with {program}");
    tokio::spawn(serve_client(Arc::clone(session), theirs, ending.clone(), None));
    let link = Link::new(id, session, secret, ours, arrivals_in);
    let (session, ending) = (Arc::clone(session), ending.clone());
    // The queue has room for the first connection.
    let _ = arrivals.try_send(Arrival { stream, version, taken: 0 });
    tokio::spawn(async move {
        link.run(ending).await;
        session.links.remove(id);
        drop(place);
    });
    Ok(())
}

/// Tells a peer why it is refused, and lets it read the answer.
pub(super) async fn tell(mut stream: AnyStream, words: &Refused) {
    let Ok(frame) = words.frame() else { return };
    let telling = async {
        stream.write_all(&frame).await?;
        stream.flush().await?;
        stream.shutdown().await?;
        hear_out(&mut stream).await
    };
    // A peer that does not wait for the answer needs none.
    let _ = timeout(FIRST_WORDS_LIMIT, telling).await;
}

/// Reads what a peer still sends, for a moment: closing a connection with unread bytes would discard the answer.
pub(super) async fn hear_out(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut rest = stream.take(HEAR_OUT_BYTES);
    let mut nowhere = tokio::io::sink();
    match timeout(HEAR_OUT_LIMIT, tokio::io::copy(&mut rest, &mut nowhere)).await {
        Ok(heard) => heard.map(drop),
        Err(_) => Ok(()),
    }
}
