//! The options of the daemon, with their defaults and ranges. An option is defined once, here: its name is its key in a
//! configuration file, where its value is written and checked in the same way. A value out of range is refused; the
//! ring size must be a power of two from 64 KiB to 256 MiB. The folder of the sockets is `--socket-dir`, else
//! `$RUNTIME_DIRECTORY`, else `gapii` in `$XDG_RUNTIME_DIR`, else `/run/gapii` for root; without one of them the daemon
//! does not start.

use std::path::PathBuf;

use anyhow::bail;
use clap::Parser;
use gapii_capture::process::SLOTS_MAX;
use gapii_ringbuf::layout::SLOT_COUNT_DEFAULT;

use crate::config::size::parse_size;
use crate::log::LogFilter;
use crate::metrics::address::MetricsAddress;
use crate::remote::options::RemoteOptions;

/// Heading of the options of one invocation, which a file cannot set.
pub(super) const INVOCATION: &str = "Options of one invocation, not for the configuration file";

/// Records the commands that applications issue to graphics APIs, for gapii-ctl.
#[derive(Clone, Debug, Parser)]
#[command(name = "gapiid", version, max_term_width = 100, args_override_self = true)]
pub struct Config {
    /// Folder of the sockets, which only this user may be able to change
    ///
    /// Default: $RUNTIME_DIRECTORY, or gapii in $XDG_RUNTIME_DIR, or /run/gapii for root. Sockets from systemd take
    /// precedence.
    #[arg(long, value_name = "DIR")]
    pub socket_dir: Option<PathBuf>,

    /// Threads that can record at the same time, per application
    ///
    /// A slot that no thread has used takes address space of the ring's size, in the application and in the daemon, and
    /// no memory.
    #[arg(long, value_name = "N", default_value_t = SLOT_COUNT_DEFAULT,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(SLOTS_MAX)))]
    pub slots: u32,

    /// Size of each thread's ring: a power of two, with K or M
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_ring_size)]
    pub ring_size: u64,

    /// Limit for contents of textures and buffers that are kept for each application, so that its next capture need
    /// not have them sent again; with K, M or G, 0 keeps none
    ///
    /// They are kept in a file without a name in $TMPDIR or /tmp, as long as the application runs.
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_size)]
    pub keep_contents: u64,

    /// Ended programs whose kept frames stay available to `gapii-ctl save`, newest first
    ///
    /// Together they use at most the memory that the newest of them may use. 0 keeps none.
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(0..=64))]
    pub keep_ended: u32,

    /// How long the kept frames of ended programs stay, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 24 * 3600,
          value_parser = clap::value_parser!(u32).range(1..=31_536_000))]
    pub keep_ended_for: u32,

    /// Limit of the temporary file of each capture, for data that its output does not accept yet; with K, M or G, 0
    /// for none
    ///
    /// Beyond it, records are missing in that capture, and its trace says so. No program waits for a slow output.
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_size)]
    pub spill: u64,

    /// Limit of the temporary files of all captures together
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size)]
    pub spill_total: u64,

    /// Folder of the temporary files, which have no names; $TMPDIR or /tmp by default
    #[arg(long, value_name = "DIR")]
    pub spill_dir: Option<PathBuf>,

    /// Applications that can be connected at the same time
    #[arg(long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_apps: u32,

    /// Clients that can be connected at the same time
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_clients: u32,

    /// Captures that can run at the same time, including those into memory
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_captures: u32,

    /// Memory that the daemon may allocate, with K, M or G
    ///
    /// Above this limit the capture that holds most memory ends, and no other begins. Rings do not count, because
    /// they are the programs' memory.
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = parse_size)]
    pub memory: u64,

    /// zstd compression level of traces; lower levels are faster
    #[arg(long, value_name = "LEVEL", default_value_t = 1, allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-7..=19))]
    pub level: i32,

    /// Log level: error, warn, info, debug, trace or off; for one module MODULE=LEVEL
    ///
    /// Separate several with commas. With --private the default is warn. The log goes to the journal, with fields, if
    /// systemd has connected standard error to it, and otherwise to standard error.
    #[arg(
        long,
        value_name = "FILTER",
        env = "GAPIID_LOG",
        default_value = "info",
        default_value_if("private", "true", "warn"),
        hide_env_values = true
    )]
    pub log: LogFilter,

    /// Serve Prometheus metrics over HTTP: on a port of this machine, IP:PORT, or a socket's path
    ///
    /// The path of the URL is /metrics. A port without an address is one of 127.0.0.1. A socket named metrics from
    /// systemd takes precedence.
    #[arg(long, value_name = "ADDR")]
    pub metrics: Option<MetricsAddress>,

    #[command(flatten)]
    pub remote: RemoteOptions,

    /// Serve one run: no status page, no metrics, no remote clients; exit when standard input ends
    #[arg(long, help_heading = INVOCATION)]
    pub private: bool,

    /// Write a byte to this descriptor once the sockets listen, then close it
    #[arg(long, value_name = "FD", help_heading = INVOCATION)]
    pub ready_fd: Option<i32>,

    /// Read only this configuration file
    ///
    /// Default: /etc/gapii/gapiid.toml, overridden by gapii/gapiid.toml in $XDG_CONFIG_HOME or ~/.config. Keys are
    /// the names of the options above. The command line overrides both files.
    #[arg(long, value_name = "FILE", help_heading = INVOCATION)]
    pub config: Option<PathBuf>,

    /// Print the configuration in effect, with the source of each value, as a configuration file; then exit
    #[arg(long, help_heading = INVOCATION)]
    pub check_config: bool,
}

/// Smallest ring, in bytes.
const RING_BYTES_MIN: u64 = 64 << 10;
/// Largest ring, in bytes.
const RING_BYTES_MAX: u64 = 256 << 20;

impl Config {
    /// Returns the folder for the sockets, unless systemd passes them.
    pub fn socket_folder(&self) -> anyhow::Result<PathBuf> {
        socket_folder(self.socket_dir.clone(), |name| std::env::var_os(name).map(PathBuf::from))
    }

    /// Returns the folder for the temporary files of slow outputs.
    pub fn spill_folder(&self) -> PathBuf {
        self.spill_dir.clone().unwrap_or_else(std::env::temp_dir)
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
        bail!(
            "neither --socket-dir nor XDG_RUNTIME_DIR names a folder for the sockets; name one with `--socket-dir FOLDER`"
        );
    }
    Ok(PathBuf::from("/run/gapii"))
}

fn parse_ring_size(text: &str) -> anyhow::Result<u64> {
    let bytes = parse_size(text)?;
    if !bytes.is_power_of_two() || !(RING_BYTES_MIN..=RING_BYTES_MAX).contains(&bytes) {
        bail!("{bytes} is not a power of two from {RING_BYTES_MIN} to {RING_BYTES_MAX}");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;

    use super::*;
    use crate::config::file;

    /// The example file, which states the default of every option.
    const EXAMPLE: &str = include_str!("../../../systemd/gapiid.toml");

    #[test]
    fn example_file_has_every_option_with_its_default() {
        let options = Config::command();
        let read = |text: &str| file::parse(Path::new("gapiid.toml"), text, &options).unwrap();
        assert_eq!(read(EXAMPLE), [], "as it is, the example changes nothing");
        let set = EXAMPLE.lines().map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => setting,
            _ => line,
        });
        let settings = read(&set.collect::<Vec<_>>().join("\n"));
        for option in options.get_arguments().filter(|option| file::is_configurable(option)) {
            let name = option.get_long().unwrap();
            let setting = settings.iter().find(|setting| setting.key == name);
            let setting = setting.unwrap_or_else(|| panic!("the example lacks {name}"));
            if let [default] = option.get_default_values() {
                let expected = format!("--{name}={}", default.to_str().unwrap());
                assert_eq!(setting.word.as_deref(), Some(&expected[..]));
            }
        }
    }

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
    fn socket_folder_prefers_the_option_to_the_environment() {
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
        Config::command().debug_assert();
    }
}
