//! Remote clients: links, which outlive their connections, and the door through which they come.
//!
//! To the rest of the daemon a link is a client like any other: it talks to `client` over a socket, and
//! hands it a pipe where a local client hands an open file.

mod attempts;
mod counters;
mod door;
mod link;
mod options;
mod output;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gapii_remote::AnyStream;
use gapii_remote::knock::{Knock, Refused, Resume, code};
use gapii_remote::secret::{Secret, SecretHash};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;

pub use self::counters::{Counters, Refusal};
pub use self::door::serve;
pub use self::options::RemoteOptions;

use self::link::{Arrival, Link};
use crate::session::Session;

/// Connections that wait for their link to take them.
const ARRIVALS_MAX: usize = 4;
/// How long the first words of a connection may take, TLS included, and those that refuse it.
const FIRST_WORDS_LIMIT: Duration = Duration::from_secs(5);

/// All links of a session.
#[derive(Debug)]
pub struct Links {
    pub options: RemoteOptions,
    pub counters: Counters,
    places: Arc<Semaphore>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    links: HashMap<u64, Entry>,
}

/// What is known of a link outside its task.
#[derive(Debug)]
struct Entry {
    secret: SecretHash,
    identity: Identity,
    arrivals: mpsc::Sender<Arrival>,
}

/// As whom a connection was admitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Identity {
    /// A process of this user or root on this machine, such as `gapii-ctl relay`.
    Local,
    /// A client of the list.
    Client(String),
}

/// A connection that was admitted, and what it said.
struct Visitor {
    stream: AnyStream,
    knock: Knock,
    identity: Identity,
}

/// A connection that is turned away.
struct Turned {
    stream: AnyStream,
    why: Refusal,
    words: Refused,
}

impl Links {
    pub fn new(options: &RemoteOptions) -> Self {
        Self {
            options: options.clone(),
            counters: Counters::default(),
            places: Arc::new(Semaphore::new(options.remote_clients as usize)),
            table: Mutex::default(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.lock().links.len()
    }

    /// Waits until all have ended.
    pub async fn ended(&self) {
        // Nobody closes the semaphore.
        drop(self.places.acquire_many(self.options.remote_clients).await);
    }

    /// The way to a link that goes on.
    fn resumed(&self, resume: &Resume, who: &Identity) -> Option<mpsc::Sender<Arrival>> {
        let table = self.lock();
        let entry = table.links.get(&resume.link)?;
        let is_it = resume.secret.has_hash(&entry.secret) && entry.identity == *who;
        is_it.then(|| entry.arrivals.clone())
    }

    fn enter(&self, entry: Entry) -> u64 {
        let mut table = self.lock();
        table.last += 1;
        let id = table.last;
        table.links.insert(id, entry);
        id
    }

    fn remove(&self, id: u64) {
        self.lock().links.remove(&id);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("a relayed client"),
            Self::Client(name) => write!(f, "client {}", name.escape_debug()),
        }
    }
}

/// A process of this machine passes on what a remote client says, and what it is answered.
pub async fn serve_relay(session: Arc<Session>, socket: UnixStream, ending: watch::Receiver<bool>) {
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
async fn bring(session: &Arc<Session>, visitor: Visitor, ending: &watch::Receiver<bool>) {
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
    tokio::spawn(crate::client::serve(Arc::clone(session), theirs, ending.clone(), None));
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
async fn tell(mut stream: AnyStream, words: &Refused) {
    let Ok(frame) = words.frame() else { return };
    let telling = async {
        stream.write_all(&frame).await?;
        stream.flush().await?;
        stream.shutdown().await?;
        door::hear_out(&mut stream).await
    };
    // One who does not wait for the answer needs none.
    let _ = timeout(FIRST_WORDS_LIMIT, telling).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn link_goes_on_with_its_secret_for_its_own_client_alone() {
        let links = Links::new(&crate::config::Config::parse_from(["gapiid"]).remote);
        let (secret, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        let (arrivals, _arrivals_in) = mpsc::channel(1);
        let client = |name: &str| Identity::Client(name.to_owned());
        let link =
            links.enter(Entry { secret: secret.hash(), identity: client("laptop"), arrivals });
        let check = |link, secret: &Secret, who: &Identity, expected: bool| {
            let resume = Resume { link, secret: secret.clone(), taken: 0 };
            assert_eq!(links.resumed(&resume, who).is_some(), expected, "{link} {who:?}");
        };
        check(link, &secret, &client("laptop"), true);
        check(link, &other, &client("laptop"), false);
        check(link, &secret, &client("desktop"), false);
        check(link, &secret, &Identity::Local, false);
        check(link + 1, &secret, &client("laptop"), false);
        links.remove(link);
        check(link, &secret, &client("laptop"), false);
    }
}
