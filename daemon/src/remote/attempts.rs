//! Limits how often an address may fail, and how much of that is logged. An address with `--remote-attempts` failures
//! (30 by default), or 8 connections that are not admitted yet, is closed unread and counted, until 60 s (`WINDOW`)
//! have passed since its account began; one success forgets its failures. IPv6 addresses count by their /64 network. At
//! most 1,024 addresses are remembered; then the oldest is forgotten. The log has at most 30 lines per minute about
//! refused connections.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Time after which failures are forgotten.
const WINDOW: Duration = Duration::from_secs(60);
/// Largest number of remembered addresses.
const ADDRESSES_MAX: usize = 1024;
/// Largest number of connections of one address that are not admitted yet.
const OPEN_MAX: u32 = 8;
/// Largest number of log lines per minute about refused connections.
const LINES_MAX: u32 = 30;

/// The failures and open connections of addresses.
#[derive(Debug)]
pub struct Attempts {
    limit: u32,
    accounts: Mutex<HashMap<IpAddr, Account>>,
    lines: Mutex<Account>,
}

#[derive(Clone, Copy, Debug)]
struct Account {
    failed: u32,
    open: u32,
    since: Instant,
}

/// A connection that has not been admitted yet.
#[derive(Debug)]
pub struct Attempt<'a> {
    attempts: &'a Attempts,
    address: IpAddr,
    has_failed: bool,
}

impl Account {
    fn new() -> Self {
        Self { failed: 0, open: 0, since: Instant::now() }
    }

    fn is_over(&self) -> bool {
        self.open == 0 && (self.failed == 0 || self.since.elapsed() >= WINDOW)
    }

    /// Forgets failures that are older than a minute.
    fn refresh(&mut self) {
        if self.since.elapsed() >= WINDOW {
            (self.failed, self.since) = (0, Instant::now());
        }
    }
}

impl Attempts {
    /// Makes an account of addresses that may each fail `limit` times within a minute.
    pub fn new(limit: u32) -> Self {
        Self { limit, accounts: Mutex::default(), lines: Mutex::new(Account::new()) }
    }

    /// Begins a connection from `address`. Returns `None` if it is not to be served.
    pub fn begin(&self, address: IpAddr) -> Option<Attempt<'_>> {
        let address = network(address);
        let mut accounts = self.accounts();
        if !accounts.contains_key(&address) && accounts.len() >= ADDRESSES_MAX {
            make_room(&mut accounts);
        }
        let account = accounts.entry(address).or_insert_with(Account::new);
        account.refresh();
        if account.failed >= self.limit || account.open >= OPEN_MAX {
            return None;
        }
        account.open += 1;
        // A connection that ends without a word has failed.
        Some(Attempt { attempts: self, address, has_failed: true })
    }

    /// Returns whether another line about a refused connection may be logged. The last one says that it is the last.
    pub fn may_log(&self) -> bool {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.refresh();
        lines.failed = lines.failed.saturating_add(1);
        if lines.failed == LINES_MAX {
            tracing::warn!("further refused connections in this minute are only counted");
        }
        lines.failed < LINES_MAX
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<IpAddr, Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// Notes that the connection was admitted. Earlier failures of the address are forgotten.
    pub fn succeeded(&mut self) {
        self.has_failed = false;
        if let Some(account) = self.attempts.accounts().get_mut(&self.address) {
            account.failed = 0;
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut accounts = self.attempts.accounts();
        let Some(account) = accounts.get_mut(&self.address) else { return };
        account.open = account.open.saturating_sub(1);
        if self.has_failed {
            account.failed = account.failed.saturating_add(1);
        }
        if account.is_over() {
            accounts.remove(&self.address);
        }
    }
}

/// Forgets addresses without failures and connections, or else the oldest address.
fn make_room(accounts: &mut HashMap<IpAddr, Account>) {
    accounts.retain(|_, account| !account.is_over());
    if accounts.len() >= ADDRESSES_MAX
        && let Some(oldest) =
            accounts.iter().min_by_key(|(_, account)| account.since).map(|(address, _)| *address)
    {
        accounts.remove(&oldest);
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[tokio::test(start_paused = true)]
    async fn address_that_fails_too_often_is_not_listened_to_for_a_while() {
        let attempts = Attempts::new(2);
        for _ in 0..2 {
            drop(attempts.begin(address(1)).unwrap());
        }
        assert!(attempts.begin(address(1)).is_none());
        attempts.begin(address(2)).unwrap().succeeded();
        tokio::time::advance(WINDOW).await;
        assert!(attempts.begin(address(1)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn success_is_forgiveness() {
        let attempts = Attempts::new(2);
        for _ in 0..5 {
            drop(attempts.begin(address(1)).unwrap());
            attempts.begin(address(1)).unwrap().succeeded();
        }
        assert!(attempts.accounts().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_and_open_connections_are_bounded() {
        let attempts = Attempts::new(10);
        let open: Vec<_> = (0..OPEN_MAX).map(|_| attempts.begin(address(0)).unwrap()).collect();
        assert!(attempts.begin(address(0)).is_none());
        drop(open);
        for number in 1..3 * ADDRESSES_MAX as u32 {
            drop(attempts.begin(address(number)));
            assert!(attempts.accounts().len() <= ADDRESSES_MAX);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn ipv6_network_counts_as_one_address() {
        let attempts = Attempts::new(1);
        drop(attempts.begin("2001:db8::1".parse().unwrap()).unwrap());
        assert!(attempts.begin("2001:db8::2".parse().unwrap()).is_none());
        assert!(attempts.begin("2001:db8:0:1::1".parse().unwrap()).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn lines_are_bounded() {
        let attempts = Attempts::new(1);
        let allowed = (0..1000).filter(|_| attempts.may_log()).count();
        assert_eq!(allowed, LINES_MAX as usize - 1);
        tokio::time::advance(WINDOW).await;
        assert!(attempts.may_log());
    }
}
