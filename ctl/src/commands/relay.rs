//! `relay`: copies bytes between its standard streams and the daemon's socket; `--via ssh://` runs it on the daemon's
//! machine. Ends when either side ends. Without a daemon it tells the client so. Refuses to run on a terminal, and does
//! not parse what it copies.

use std::fs::File;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;

use gapii_remote::knock::{Refused, code};
use rustix::stdio;

use crate::args::Connect;
use crate::connection::Connection;
use crate::failure::Failure;

pub fn run(connect: &Connect) -> Result<u8, Failure> {
    if rustix::termios::isatty(stdio::stdout()) {
        return Err(Failure::usage(
            "relay is what `gapii-ctl --via ssh://HOST` runs on HOST; it cannot be used on a terminal",
        ));
    }
    let mut input = File::from(duplicate(stdio::stdin())?);
    let mut output = File::from(duplicate(stdio::stdout())?);
    // This machine's daemon: a relay never connects to a third machine.
    let link = Connection::here(connect).and_then(Connection::into_link);
    let socket = match link {
        Ok(socket) => socket,
        Err(failure) => {
            let refused = Refused::new(code::NO_DAEMON, failure.sentence.clone());
            // If the client can't be told, standard error is.
            let _ = refused.frame().map(|frame| output.write_all(&frame));
            return Err(failure);
        }
    };
    let failed = |error: io::Error| Failure::system(format!("can't relay: {error}"));
    let mut requests = socket.try_clone().map_err(failed)?;
    let passing = move || {
        let _ = io::copy(&mut input, &mut requests);
        let _ = requests.shutdown(Shutdown::Write);
    };
    std::thread::Builder::new().name("requests".into()).spawn(passing).map_err(failed)?;
    // Ends when either side ends: the daemon closes a link without a client.
    let mut events = socket;
    let _ = io::copy(&mut events, &mut output);
    Ok(0)
}

fn duplicate(stream: impl std::os::fd::AsFd) -> Result<OwnedFd, Failure> {
    rustix::io::fcntl_dupfd_cloexec(stream, 3)
        .map_err(|errno| Failure::system(format!("can't use a standard stream: {errno}")))
}
