//! The links of a session, and the identity of the client that may resume each: the secret of the link must fit, and
//! the certificate's client must be the same. Their number is limited by `--remote-clients`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gapii_remote::AnyStream;
use gapii_remote::knock::Resume;
use gapii_remote::secret::SecretHash;
use tokio::sync::{Semaphore, mpsc};

use super::counters::Counters;
use super::options::RemoteOptions;

/// All links of a session.
#[derive(Debug)]
pub struct Links {
    pub options: RemoteOptions,
    pub counters: Counters,
    pub(super) places: Arc<Semaphore>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    links: HashMap<u64, Entry>,
}

/// The part of a link that is known outside its task.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) secret: SecretHash,
    pub(super) identity: Identity,
    pub(super) arrivals: mpsc::Sender<Arrival>,
}

/// The identity of an admitted peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Identity {
    /// A local process of this user or root, such as `gapii-ctl relay`.
    Local,
    /// A client in the list.
    Client(String),
}

/// A connection for a link.
pub struct Arrival {
    pub stream: AnyStream,
    pub version: u16,
    /// Number of the daemon's frames that the client has.
    pub taken: u64,
}

impl Links {
    /// Makes the table of links, without a link.
    pub fn new(options: &RemoteOptions) -> Self {
        Self {
            options: options.clone(),
            counters: Counters::default(),
            places: Arc::new(Semaphore::new(options.remote_clients as usize)),
            table: Mutex::default(),
        }
    }

    /// Returns the number of links.
    pub fn count(&self) -> usize {
        self.lock().links.len()
    }

    /// Waits until all links have ended.
    pub async fn ended(&self) {
        // Nobody closes the semaphore.
        drop(self.places.acquire_many(self.options.remote_clients).await);
    }

    /// Returns the sender of connections to a link, if the client may resume it.
    pub(super) fn resumed(&self, resume: &Resume, who: &Identity) -> Option<mpsc::Sender<Arrival>> {
        let table = self.lock();
        let entry = table.links.get(&resume.link)?;
        let is_it = resume.secret.has_hash(&entry.secret) && entry.identity == *who;
        is_it.then(|| entry.arrivals.clone())
    }

    pub(super) fn enter(&self, entry: Entry) -> u64 {
        let mut table = self.lock();
        table.last += 1;
        let id = table.last;
        table.links.insert(id, entry);
        id
    }

    pub(super) fn remove(&self, id: u64) {
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

#[cfg(test)]
mod tests {
    use clap::Parser;
    use gapii_remote::secret::Secret;

    use super::*;

    #[test]
    fn link_is_resumed_with_its_secret_by_its_own_client_only() {
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
