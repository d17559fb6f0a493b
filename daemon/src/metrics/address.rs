//! The address of the metrics, and the listening socket: IP:PORT, a socket's path that begins with `/`, or a port
//! alone, which is one of 127.0.0.1. Anything else is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as StdTcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener as StdUnixListener;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::net::{AddressFamily, getsockname};
use tokio::net::{TcpListener, UnixListener};

/// Path of the metrics in a URL.
pub(super) const PATH: &str = "/metrics";

/// The address of the metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MetricsAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A listening socket for metrics.
#[derive(Debug)]
pub enum MetricsListener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl FromStr for MetricsAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let host_and_port = text.strip_prefix("localhost:").or(text.strip_prefix(':'));
        if text.starts_with('/') {
            Ok(Self::Unix(PathBuf::from(text)))
        } else if let Ok(port) = host_and_port.unwrap_or(text).parse() {
            Ok(Self::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)))
        } else {
            let wanted = "a port, IP:PORT, or the path of a socket from / on";
            text.parse().map(Self::Tcp).map_err(|_| format!("{text:?} is not {wanted}"))
        }
    }
}

impl MetricsListener {
    /// Takes a socket that listens already. Must run inside the runtime.
    pub fn new(socket: OwnedFd) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        match getsockname(&socket)?.address_family() {
            AddressFamily::UNIX => {
                UnixListener::from_std(StdUnixListener::from(socket)).map(Self::Unix)
            }
            _ => TcpListener::from_std(StdTcpListener::from(socket)).map(Self::Tcp),
        }
    }
}

impl fmt::Display for MetricsListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(socket) => {
                let address = socket.local_addr().map_err(|_| fmt::Error)?;
                write!(f, "http://{address}{PATH}")
            }
            Self::Unix(socket) => {
                let address = socket.local_addr().map_err(|_| fmt::Error)?;
                let path = address.as_pathname().unwrap_or(Path::new("an unnamed socket"));
                write!(f, "{}, {PATH}", path.display())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_without_a_host_is_of_this_machine() {
        let check = |text: &str, expected: Option<&str>| {
            let address = text.parse::<MetricsAddress>().ok().map(|address| match address {
                MetricsAddress::Tcp(address) => address.to_string(),
                MetricsAddress::Unix(path) => path.display().to_string(),
            });
            assert_eq!(address.as_deref(), expected, "{text:?}");
        };
        check("9187", Some("127.0.0.1:9187"));
        check(":9187", Some("127.0.0.1:9187"));
        check("localhost:9187", Some("127.0.0.1:9187"));
        check("0.0.0.0:9187", Some("0.0.0.0:9187"));
        check("[::1]:9187", Some("[::1]:9187"));
        check("/run/gapii/metrics.sock", Some("/run/gapii/metrics.sock"));
        check("metrics.sock", None);
        check("example.org:9187", None);
        check("127.0.0.1", None);
        check("99999", None);
        check("", None);
    }
}
