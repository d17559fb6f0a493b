//! The link between a remote client and the daemon.
//!
//! A *link* outlives its connections: what either side says is numbered, checked, and held until the
//! other has dealt with it, so that a connection that is cut, or garbles a byte, is replaced by another
//! and nothing is lost or said twice. A connection is TLS, or the two pipes of a program such as ssh.
//!
//! Knows no request and no event: to it they are bytes. Opens no connection itself.

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

/// What a connection is made of.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Any connection.
pub type AnyStream = Box<dyn Stream>;

/// Port of remote clients, where none is said.
pub const PORT: u16 = 9820;
/// Environment variable that says where the daemon is: `tls://` or `ssh://`.
pub const VIA_VARIABLE: &str = "GAPII_VIA";
