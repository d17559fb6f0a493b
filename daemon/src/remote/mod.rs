//! Remote clients: links, which outlive their connections, and the door through which connections come.
//!
//! For the rest of the daemon a link is a client like any other: it talks to `client` over a socket, and passes a
//! pipe where a local client passes an open file.

mod attempts;
mod bring;
mod counters;
mod door;
mod link;
pub mod links;
pub mod options;
mod output;

pub use self::bring::serve_client;
pub use self::door::serve;
