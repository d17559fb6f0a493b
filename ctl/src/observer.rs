//! `Observer`: the status of a daemon, from its status page. Only a daemon that has no page here is asked: one of another
//! machine, a private one, one of another user, an older one. If the daemon of a page ends, the observer fails.

use std::os::fd::{AsFd, BorrowedFd};

use gapii_control::{Event, Request, StatusInfo};

use crate::args::Connect;
use crate::connection::{self, Connection};
use crate::failure::Failure;
use crate::status_page::{Seen, StatusPage};

pub enum Observer {
    Page {
        page: StatusPage,
        /// The report that was read to find the daemon, until it is used.
        first: Option<Box<Seen>>,
        pid: u32,
    },
    Asked(Connection),
}

/// The status of a daemon.
pub struct Status {
    pub info: StatusInfo,
    /// A sentence that says how old the status is, if the daemon is stopped or hangs.
    pub outdated: Option<String>,
    /// Number of the report, if it comes from a page: the next look may find the same one.
    pub report: Option<u64>,
}

impl Observer {
    /// Finds the daemon that the flags select.
    pub fn open(connect: &Connect) -> Result<Observer, Failure> {
        if let Some((page, seen)) = page(connect) {
            return Ok(Observer::Page { page, pid: seen.writer.pid, first: Some(Box::new(seen)) });
        }
        Connection::open(connect).map(Observer::Asked)
    }

    /// Returns the daemon's status.
    pub fn look(&mut self) -> Result<Status, Failure> {
        match self {
            Observer::Page { page, first, pid } => on_page(page, first, *pid),
            Observer::Asked(connection) => {
                let event = connection.ask(&Request::Status)?;
                told(connection, event)
            }
        }
    }

    /// Returns the status of a page. A daemon without a page is asked: its answer follows, from [`Observer::answer`].
    pub fn begin_look(&mut self) -> Result<Option<Status>, Failure> {
        match self {
            Observer::Page { page, first, pid } => on_page(page, first, *pid).map(Some),
            Observer::Asked(connection) => connection.send(&Request::Status).map(|()| None),
        }
    }

    /// Returns the answer of a daemon that was asked, if it has arrived.
    pub fn answer(&mut self) -> Result<Option<Status>, Failure> {
        let Observer::Asked(connection) = self else { return Ok(None) };
        let Some(events) = connection.arrived()? else { return Err(connection.closed()) };
        let statuses = events.into_iter().map(|event| told(connection, event));
        Ok(statuses.collect::<Result<Vec<_>, _>>()?.pop())
    }

    /// Becomes readable when something of an answer arrives; `None` for a page.
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Observer::Page { .. } => None,
            Observer::Asked(connection) => Some(connection.as_fd()),
        }
    }
}

/// The newest report of a page, the first time the one that was read to find the daemon.
fn on_page(page: &StatusPage, first: &mut Option<Box<Seen>>, pid: u32) -> Result<Status, Failure> {
    let seen = first.take().map(|seen| *seen).or_else(|| page.read());
    let seen = seen.filter(|seen| seen.writer.pid == pid);
    let Some(Seen { info, sequence, outdated, .. }) = seen else {
        return Err(Failure::unreachable(format!(
            "gapiid (process {pid}) has ended; `gapiid &` starts another"
        )));
    };
    Ok(Status { info, outdated, report: Some(sequence) })
}

/// The status in the answer of a daemon that was asked.
fn told(connection: &Connection, event: Event) -> Result<Status, Failure> {
    match event {
        Event::Status(info) => Ok(Status { info, outdated: None, report: None }),
        other => Err(connection.out_of_turn(&other)),
    }
}

/// Returns the page of the selected daemon, if it has one here.
fn page(connect: &Connect) -> Option<(StatusPage, Seen)> {
    if connect.via.is_some() {
        return None;
    }
    let socket = connection::socket_path(connect);
    // A socket that is not there is an error, also in the folder of a daemon.
    socket.symlink_metadata().ok()?;
    let page = StatusPage::of(socket.parent()?)?;
    let seen = page.read_current()?;
    Some((page, seen))
}
