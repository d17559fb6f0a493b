//! `Held`: the processes of a `run --wait` that wait for a capture.

use std::path::PathBuf;

use gapii_control::{Request, StopRequest, Target};

use crate::connection::Connection;
use crate::launch::Launch;

pub struct Held {
    daemon: PathBuf,
    launch: Launch,
}

impl Held {
    /// `daemon` is the socket of the daemon that holds the processes of `launch`.
    pub fn new(daemon: PathBuf, launch: Launch) -> Held {
        Held { daemon, launch }
    }

    /// Lets the processes go on unrecorded: those that wait, and those that would later. Does not wait for the
    /// daemon's answer. Without a daemon nothing happens.
    pub fn let_go(self) {
        let target = Target::Launch(self.launch.token);
        let request = Request::Stop(StopRequest { target, ..StopRequest::default() });
        if let Ok(mut connection) = Connection::to_path(&self.daemon) {
            let _ = connection.send(&request);
        }
    }
}
