//! The link between a remote client and the daemon: a reliable, resumable sequence of frames in each direction.
//!
//! A *link* outlives its connections. Each side numbers and checks its frames and holds each until the other side has
//! acknowledged it. If a connection is cut or garbles a byte, another one replaces it, and no frame is lost or
//! delivered twice. A connection is a TLS stream, or the two pipes of a program such as ssh.
//!
//! The crate treats requests and events as opaque bytes, and opens no connection itself.
//!
//! ```
//! use gapii_remote::frame::{Inbox, Kind, encode};
//!
//! let mut inbox = Inbox::default();
//! inbox.extend(&encode(Kind::Event, 0, 0, b"hello"));
//! let frame = inbox.next_frame()?.expect("the frame is complete");
//! assert_eq!(frame.payload, b"hello");
//! # Ok::<(), gapii_remote::frame::FrameError>(())
//! ```

#![forbid(unsafe_code)]

pub mod clients;
pub mod credentials;
pub mod frame;
pub mod knock;
pub mod line;
pub mod place;
pub mod rights;
pub mod secret;
pub mod tls;
pub mod wire;

use tokio::io::{AsyncRead, AsyncWrite};

/// A bidirectional byte stream that can carry a link.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A boxed connection of any kind.
pub type AnyStream = Box<dyn Stream>;

/// Default TCP port of the daemon for remote clients.
pub const PORT: u16 = 9820;
/// Environment variable with the daemon's address, `tls://…` or `ssh://…`.
pub const VIA_VARIABLE: &str = "GAPII_VIA";
