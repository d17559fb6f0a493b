//! The options for remote clients, with defaults and ranges. `--remote-tail` must be at least 256 KiB. The credentials
//! are in `--remote-credentials`, else in `/etc/gapii/remote` for root, else in `gapii/remote` of the user's
//! configuration.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use gapii_remote::clients::DaemonFolder;
use gapii_remote::place;

use crate::config::size::parse_size;

/// Smallest limit of bytes that are held for a link.
const TAIL_BYTES_MIN: u64 = 256 << 10;

// Not a docstring: clap would show it in place of the program's description.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Remote clients")]
pub struct RemoteOptions {
    /// Serve remote clients over TLS on IP:PORT; not served by default
    ///
    /// 0.0.0.0 and [::] mean all addresses of this machine. `gapii-ctl pair` makes the credentials for daemon and
    /// clients. A socket named remote from systemd takes precedence.
    #[arg(long, value_name = "ADDR")]
    pub remote: Option<SocketAddr>,

    /// Folder of the daemon's certificate and the list of its clients, made by `gapii-ctl pair`
    ///
    /// Default: /etc/gapii/remote for root, otherwise gapii/remote in $XDG_CONFIG_HOME or ~/.config.
    #[arg(long, value_name = "DIR")]
    pub remote_credentials: Option<PathBuf>,

    /// How long a capture continues for a remote client whose connection is lost, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30,
          value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub remote_grace: u32,

    /// Bytes held for each remote client until it acknowledges them; with K, M or G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = parse_tail)]
    pub remote_tail: u64,

    /// Remote clients at the same time, including those over ssh
    #[arg(long, value_name = "N", default_value_t = 16,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub remote_clients: u32,

    /// Connections of one address that may fail within a minute; further ones are closed unread
    #[arg(long, value_name = "N", default_value_t = 30,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub remote_attempts: u32,
}

impl RemoteOptions {
    /// Returns the folder of the credentials, if it is known.
    pub fn folder(&self) -> Option<DaemonFolder> {
        self.remote_credentials.clone().or_else(place::daemon_folder).map(DaemonFolder)
    }

    /// Returns the limit of bytes that are held for a link.
    pub fn tail_bytes(&self) -> usize {
        usize::try_from(self.remote_tail).unwrap_or(usize::MAX)
    }
}

fn parse_tail(text: &str) -> anyhow::Result<u64> {
    let bytes = parse_size(text)?;
    anyhow::ensure!(bytes >= TAIL_BYTES_MIN, "{bytes} is less than {TAIL_BYTES_MIN}");
    Ok(bytes)
}
