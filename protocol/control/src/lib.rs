//! Messages between clients and the daemon, as length-prefixed MessagePack; the daemon's status page; and which
//! folders its sockets may lie in.
//!
//! On the socket, each message is a `u32` length in bytes, little-endian, and that many bytes of
//! MessagePack: a [`Request`] from a client, or an [`Event`] from the daemon. The first message of each side is
//! its hello, which settles the version. Within a version, messages gain fields and never lose them: a reader
//! ignores fields that it does not know and takes the default for missing ones. A new kind of message needs
//! a new version. Errors are values, and the connection goes on after one, unless the message itself could
//! not be read.
//!
//! [`Request::Start`], [`Request::TakeUp`] and [`Request::Save`] have one descriptor attached (`SCM_RIGHTS`, with
//! the first byte of the message): the output, which the client has opened. This crate opens nothing and
//! connects to nothing.
//!
//! ```
//! use gapii_control::{ClientHello, FrameBuffer, Request, decode, encode};
//!
//! let bytes = encode(&Request::Hello(ClientHello::new("example")))?;
//! let mut arrived = FrameBuffer::default();
//! arrived.extend(&bytes[..5]);
//! assert_eq!(arrived.next_body()?, None);
//! arrived.extend(&bytes[5..]);
//! let body = arrived.next_body()?.expect("the message is whole");
//! assert_eq!(decode::<Request>(&body)?, Request::Hello(ClientHello::new("example")));
//! # Ok::<(), gapii_control::FrameError>(())
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod code;
mod event;
mod framing;
mod info;
pub mod mode;
mod progress;
mod request;
mod safe_path;
pub mod status;
pub mod trigger;

pub use gapii_abi::app::common_version;

pub use event::{ControlError, Ended, Event, Held, Saved, ServerHello, Started, Stopped};
pub use framing::{
    FrameBuffer, FrameError, MESSAGE_LEN_MAX, PREFIX_LEN, decode, encode, read_message,
    write_message,
};
pub use info::{AppCounts, AppInfo, CaptureInfo, KeptInfo, LeftOut, Rejected, StatusInfo, Totals};
pub use progress::{InFlight, Lost, Progress, Summary};
pub use request::{
    ClientHello, ExitedRequest, IfSlow, KeepRequest, NAME_LEN_MAX, Overflow, Request,
    STALL_MS_DEFAULT, SaveRequest, StartRequest, StopRequest, TakeUpRequest, Target, is_name,
};
pub use safe_path::{SafePath, UnsafePath};

/// Oldest version of this protocol that this build speaks.
pub const CTL_VERSION_MIN: u16 = 1;
/// Newest version of this protocol that this build speaks.
pub const CTL_VERSION_MAX: u16 = 9;
/// First version in which a daemon keeps the last frames of an application, and saves them.
pub const KEEPING_VERSION: u16 = 2;
/// First version in which a daemon accepts [`Request::Link`].
pub const LINK_VERSION: u16 = 3;
/// First version in which several captures can share a program, and captures have names, pauses and limits
/// of bytes.
pub const SHARING_VERSION: u16 = 4;
/// First version in which captures have filters.
pub const FILTER_VERSION: u16 = 5;
/// First version in which captures can wait for a [`Trigger`](trigger::Trigger).
pub const TRIGGER_VERSION: u16 = 6;
/// First version in which a daemon takes up captures that another daemon began.
pub const TAKING_UP_VERSION: u16 = 7;
/// First version in which a capture of a launch begins with the applications of the launch that are connected already.
pub const RUNNING_LAUNCH_VERSION: u16 = 8;
/// First version in which a capture says which commands end a frame.
pub const FRAME_RULE_VERSION: u16 = 9;
/// File name of the clients' socket in the socket folder.
pub const SOCKET_NAME: &str = gapii_abi::app::CLIENT_SOCKET_NAME;
