//! A connection to a daemon as its client.
//!
//! It trusts the daemon, which the tests have started.

use std::io::{IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use gapii_control::{ClientHello, Event, Request, StatusInfo, encode, read_message};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// Longest time without a message from the daemon, which reports a few times a second.
const LIMIT: Duration = Duration::from_secs(60);

/// An open connection.
pub struct Client {
    stream: UnixStream,
}

impl Client {
    /// Connects to the daemon that listens at `socket`.
    pub fn connect(socket: &Path) -> Result<Client, String> {
        let stream = UnixStream::connect(socket).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(LIMIT)).map_err(|error| error.to_string())?;
        let mut client = Client { stream };
        client.say(&Request::Hello(ClientHello::new("gapii-test-operator")))?;
        match client.hear()? {
            Event::Hello(_) => Ok(client),
            other => Err(format!("no hello: {other:?}")),
        }
    }

    /// Sends a request.
    pub fn say(&mut self, request: &Request) -> Result<(), String> {
        let bytes = encode(request).map_err(|error| error.to_string())?;
        self.stream.write_all(&bytes).map_err(|error| error.to_string())
    }

    /// Sends a request with a descriptor.
    pub fn say_with(&mut self, request: &Request, output: BorrowedFd<'_>) -> Result<(), String> {
        let bytes = encode(request).map_err(|error| error.to_string())?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors = [output];
        if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err("no room for a descriptor".to_owned());
        }
        let sent = sendmsg(
            self.stream.as_fd(),
            &[IoSlice::new(&bytes)],
            &mut control,
            SendFlags::NOSIGNAL,
        );
        let sent = sent.map_err(|error| error.to_string())?;
        self.stream.write_all(&bytes[sent..]).map_err(|error| error.to_string())
    }

    /// The next message of the daemon.
    pub fn hear(&mut self) -> Result<Event, String> {
        let message = read_message(&mut self.stream).map_err(|error| error.to_string())?;
        message.ok_or_else(|| "the daemon closed the connection".to_owned())
    }

    /// The daemon's status. An error if the capture of this connection ends before the answer.
    pub fn status(&mut self) -> Result<StatusInfo, String> {
        self.say(&Request::Status)?;
        loop {
            match self.hear()? {
                Event::Status(status) => return Ok(status),
                Event::Progress(_) => {}
                other => return Err(format!("no status: {other:?}")),
            }
        }
    }
}
