//! The options of the daemon. An option is defined once, here: its name is its key in a configuration file,
//! and its value is written and checked the same way there.

use std::path::PathBuf;

use anyhow::bail;
use clap::Parser;

use crate::config::size::parse_size;
use crate::log::LogFilter;
use crate::metrics::address::MetricsAddress;
use crate::remote::options::RemoteOptions;

/// The heading of options that say something of one invocation, which no file can.
pub(super) const INVOCATION: &str = "Options of one invocation, not for the configuration file";

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

    /// Contents of textures and buffers that are kept for each application, so that the next capture that
    /// begins in its middle need not have them sent again; with K, M or G, 0 for none
    ///
    /// They are in a file without a name in $TMPDIR's or /tmp's place, for as long as the application runs.
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_size)]
    pub keep_contents: u64,

    /// Programs that have ended and whose last frames stay for `gapii-ctl save`: the newest ones
    ///
    /// Together they may take what one may, the newest of them. 0 for none.
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(0..=64))]
    pub keep_ended: u32,

    /// How long they stay, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 24 * 3600,
          value_parser = clap::value_parser!(u32).range(1..=31_536_000))]
    pub keep_ended_for: u32,

    /// What is put aside for each capture whose output takes less than its programs produce, until it
    /// takes that; with K, M or G, 0 for none
    ///
    /// What comes beyond is missing in that capture, which says so. No program waits for a slow output.
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_size)]
    pub spill: u64,

    /// The same for all captures together
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size)]
    pub spill_total: u64,

    /// Folder of the files without names that this is in; $TMPDIR's or /tmp's place without
    #[arg(long, value_name = "DIR")]
    pub spill_dir: Option<PathBuf>,

    /// Applications that can be connected at once
    #[arg(long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_apps: u32,

    /// Clients that can be connected at once
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_clients: u32,

    /// Captures that can run at once, programs that are kept among them
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_captures: u32,

    /// Memory that the daemon may allocate, with K, M or G
    ///
    /// Beyond it the capture that holds most of it ends, and no other begins. Rings are the programs' memory
    /// and do not count.
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = parse_size)]
    pub memory: u64,

    /// Compression of traces: zstd's level, the lower the faster
    #[arg(long, value_name = "LEVEL", default_value_t = 1, allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-7..=19))]
    pub level: i32,

    /// What is logged: error, warn, info, debug, trace or off; also for a module, as MODULE=LEVEL
    ///
    /// Several, separated by commas. With --private the default is warn. To the journal, with
    /// fields, where systemd has connected standard error to it; else to standard error.
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
    /// At /metrics. A port alone is one of 127.0.0.1. A socket named metrics that is handed over by
    /// systemd comes first.
    #[arg(long, value_name = "ADDR")]
    pub metrics: Option<MetricsAddress>,

    #[command(flatten)]
    pub remote: RemoteOptions,

    /// Serve one run: no status page, no metrics, no remote clients, and exit when standard input ends
    #[arg(long, help_heading = INVOCATION)]
    pub private: bool,

    /// Write a byte to this descriptor once the sockets listen, and close it
    #[arg(long, value_name = "FD", help_heading = INVOCATION)]
    pub ready_fd: Option<i32>,

    /// Read this configuration file and no other
    ///
    /// Default: /etc/gapii/gapiid.toml, and over it gapii/gapiid.toml in $XDG_CONFIG_HOME or
    /// ~/.config. Keys are the names of the options above; what the command line says stands.
    #[arg(long, value_name = "FILE", help_heading = INVOCATION)]
    pub config: Option<PathBuf>,

    /// Say what would hold and where it comes from, as a configuration file, and exit
    #[arg(long, help_heading = INVOCATION)]
    pub check_config: bool,
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

    /// The folder for what slow outputs do not take yet.
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
        bail!("neither --socket-dir nor XDG_RUNTIME_DIR says where the sockets go");
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

    /// The example file, whose text says of every option what holds without it.
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
        Config::command().debug_assert();
    }
}
