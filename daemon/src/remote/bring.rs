//! Brings a remote client's connection to its link: a new one, or one that it resumes.

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

/// Connections that wait for their link to take them.
const ARRIVALS_MAX: usize = 4;
/// How long the first words of a connection may take, TLS included, and those that refuse it.
pub(super) const FIRST_WORDS_LIMIT: Duration = Duration::from_secs(5);

/// How long somebody who is turned away is heard out, so that the answer reaches him.
const HEAR_OUT_LIMIT: Duration = Duration::from_secs(1);
/// Bytes of him that are heard, at most.
const HEAR_OUT_BYTES: u64 = 64 << 10;

/// A connection that was admitted, and what it said.
pub(super) struct Visitor {
    pub(super) stream: AnyStream,
    pub(super) knock: Knock,
    pub(super) identity: Identity,
}

/// A connection that is turned away.
struct Turned {
    stream: AnyStream,
    why: Refusal,
    words: Refused,
}

/// Serves a client of this machine, which may turn its connection into a link.
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

/// A process of this machine passes on what a remote client says, and what it is answered.
async fn serve_relay(session: Arc<Session>, socket: UnixStream, ending: watch::Receiver<bool>) {
    let mut stream: AnyStream = Box::new(socket);
    match timeout(FIRST_WORDS_LIMIT, Knock::hear(&mut stream)).await {
        Ok(Ok(knock)) => {
            let visitor = Visitor { stream, knock, identity: Identity::Local };
            bring(&session, visitor, &ending).await;
        }
        Ok(Err(error)) => {
            session.links.counters.refuse(Refusal::Message);
            tracing::warn!("a relayed client is refused: {error}");
        }
        Err(_) => {
            session.links.counters.refuse(Refusal::Timeout);
            tracing::warn!("a relayed client is refused: it says nothing");
        }
    }
}

/// Brings a connection to its link, a new one or one that goes on, or tells it why not.
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
    // One answer for all that can be wrong: nobody learns which links there are.
    let gone = "what was to go on is over: the daemon was started anew, or waited long enough";
    let Some(way) = way else { return Err(turned(stream, code::NO_LINK, gone)) };
    way.try_send(Arrival { stream, version, taken }).map_err(|error| match error {
        mpsc::error::TrySendError::Full(arrival) => {
            turned(arrival.stream, code::BUSY, "it is being resumed already")
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
        let message = format!("{most} remote clients are connected, and no more are taken");
        return Err(busy(stream, message));
    };
    let opened = Secret::random()
        .map_err(|error| error.to_string())
        .and_then(|secret| Ok((secret, UnixStream::pair().map_err(|error| error.to_string())?)));
    let (secret, (ours, theirs)) = match opened {
        Ok(opened) => opened,
        Err(error) => return Err(busy(stream, format!("the daemon can't take a client: {error}"))),
    };
    let (arrivals, arrivals_in) = mpsc::channel(ARRIVALS_MAX);
    let entry =
        Entry { secret: secret.hash(), identity: identity.clone(), arrivals: arrivals.clone() };
    let id = links.enter(entry);
    let program = knock.client.escape_debug();
    tracing::info!(link = id, %program, "link {id} begins, of {identity} with {program}");
    tokio::spawn(serve_client(Arc::clone(session), theirs, ending.clone(), None));
    let link = Link::new(id, session, secret, ours, arrivals_in);
    let (session, ending) = (Arc::clone(session), ending.clone());
    // It has room for the first.
    let _ = arrivals.try_send(Arrival { stream, version, taken: 0 });
    tokio::spawn(async move {
        link.run(ending).await;
        session.links.remove(id);
        drop(place);
    });
    Ok(())
}

/// Tells somebody why he is turned away, and lets him read it.
pub(super) async fn tell(mut stream: AnyStream, words: &Refused) {
    let Ok(frame) = words.frame() else { return };
    let telling = async {
        stream.write_all(&frame).await?;
        stream.flush().await?;
        stream.shutdown().await?;
        hear_out(&mut stream).await
    };
    // One who does not wait for the answer needs none.
    let _ = timeout(FIRST_WORDS_LIMIT, telling).await;
}

/// Reads what somebody still says, for a moment: a connection that is closed over unread bytes takes the
/// answer with it.
pub(super) async fn hear_out(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut rest = stream.take(HEAR_OUT_BYTES);
    let mut nowhere = tokio::io::sink();
    match timeout(HEAR_OUT_LIMIT, tokio::io::copy(&mut rest, &mut nowhere)).await {
        Ok(heard) => heard.map(drop),
        Err(_) => Ok(()),
    }
}
