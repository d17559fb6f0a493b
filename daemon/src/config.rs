//! What the command line and the environment say; decides nothing else.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Parser;

/// Records what applications issue to graphics APIs, for gapii-ctl.
#[derive(Clone, Debug, Parser)]
#[command(name = "gapiid", version, max_term_width = 100, args_override_self = true)]
pub struct Config {
    /// Folder of the sockets; only this user may be able to change it
    ///
    /// Default: gapii in $RUNTIME_DIRECTORY's or $XDG_RUNTIME_DIR's place, /run/gapii for root.
    /// Sockets handed over by systemd come first.
    #[arg(long, value_name = "DIR")]
    pub socket_dir: Option<PathBuf>,

    /// Threads that can record at once, per application
    #[arg(long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub slots: u32,

    /// Size of each thread's ring: a power of two, with K or M
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_ring_size)]
    pub ring_size: u64,

    /// Applications that can be connected at once
    #[arg(long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_apps: u32,

    /// Compression of traces: zstd's level, the lower the faster
    #[arg(long, value_name = "LEVEL", default_value_t = 1, allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-7..=19))]
    pub level: i32,

    /// Serve one run: no status page, and exit when standard input ends
    #[arg(long)]
    pub private: bool,

    /// Write a byte to this descriptor once the sockets listen, and close it
    #[arg(long, value_name = "FD")]
    pub ready_fd: Option<i32>,
}

/// Smallest ring, in bytes.
const RING_BYTES_MIN: u64 = 64 << 10;
/// Largest ring, in bytes.
const RING_BYTES_MAX: u64 = 256 << 20;

impl Config {
    /// The folder for the sockets, when nobody hands them over.
    pub fn socket_folder(&self) -> anyhow::Result<PathBuf> {
        socket_folder(self.socket_dir.clone(), |name| std::env::var_os(name).map(PathBuf::from))
    }
}

fn socket_folder(
    given: Option<PathBuf>,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> anyhow::Result<PathBuf> {
    if let Some(folder) = given.or_else(|| variable("RUNTIME_DIRECTORY")) {
        return Ok(folder);
    }
    if let Some(folder) = variable("XDG_RUNTIME_DIR").filter(|folder| folder.is_absolute()) {
        return Ok(folder.join("gapii"));
    }
    if !rustix::process::geteuid().is_root() {
        bail!("neither --socket-dir nor XDG_RUNTIME_DIR says where the sockets go");
    }
    Ok(PathBuf::from("/run/gapii"))
}

fn parse_ring_size(text: &str) -> anyhow::Result<u64> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().with_context(|| format!("{text:?} is not a size"))?;
    let bytes = number.saturating_mul(unit);
    if !bytes.is_power_of_two() || !(RING_BYTES_MIN..=RING_BYTES_MAX).contains(&bytes) {
        bail!("{bytes} is not a power of two from {RING_BYTES_MIN} to {RING_BYTES_MAX}");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_size_is_a_power_of_two_within_limits() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(parse_ring_size(text).ok(), expected, "{text}");
        };
        check("4M", Some(4 << 20));
        check("64k", Some(64 << 10));
        check("1048576", Some(1 << 20));
        check("3M", None);
        check("32K", None);
        check("1048576M", None);
        check("99999999999999999M", None);
        check("", None);
        check("M", None);
        check("-4M", None);
    }

    #[test]
    fn socket_folder_prefers_what_is_said_most_plainly() {
        let check = |given: Option<&str>, set: &[(&str, &str)], expected: &str| {
            let find = |name: &str| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value))
            };
            let folder = socket_folder(given.map(PathBuf::from), find).unwrap();
            assert_eq!(folder, PathBuf::from(expected));
        };
        let set = [("RUNTIME_DIRECTORY", "/run/user/7/gapii"), ("XDG_RUNTIME_DIR", "/run/user/7")];
        check(Some("/a"), &set, "/a");
        check(None, &set, "/run/user/7/gapii");
        check(None, &set[1..], "/run/user/7/gapii");
    }

    #[test]
    fn command_line_is_well_formed() {
        <Config as clap::CommandFactory>::command().debug_assert();
    }
}
