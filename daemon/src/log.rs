//! The log: events with fields for the journal if systemd connected standard error to it (`JOURNAL_STREAM`), otherwise
//! lines of text on standard error, with a warning if the journal refused. Text has colours only on a terminal without
//! `NO_COLOR`, and only the message, a complete sentence; the fields serve searches in the journal. A filter with an
//! unknown level is refused. A filter for `gapiid` covers the capture core, too.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::str::FromStr;

use tracing::field::Field;
use tracing_journald::{Priority, PriorityMappings};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::prelude::*;

use crate::log_limit::LogLimit;

/// Prefix of the daemon's own journal fields, as in `GAPII_PID`.
const FIELD_PREFIX: &str = "GAPII";

/// Module of the log's filters that covers the capture core, and the crate that it stands for.
const CAPTURE_MODULE: &str = "gapiid::capture";
const CAPTURE_CRATE: &str = "gapii_capture";

/// Selects the events that are logged: those of one level and above, with other levels for some modules.
///
/// The capture core is a crate of its own. A directive for `gapiid` or for a module of `gapiid::capture` also covers
/// that crate, so that users do not need to know the crate's name.
#[derive(Clone, Debug)]
pub struct LogFilter(Targets);

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        for part in text.split(',') {
            let level = part.rsplit('=').next().unwrap_or_default();
            if level.is_empty() || level.parse::<LevelFilter>().is_err() {
                return Err(format!("{level:?} is not a log level"));
            }
        }
        match text.parse() {
            Ok(targets) => Ok(Self(with_capture_crate(targets))),
            Err(error) => Err(format!("{text:?} is not a log filter: {error}")),
        }
    }
}

/// Returns `targets` with the directives for the capture core repeated for its crate.
fn with_capture_crate(targets: Targets) -> Targets {
    let mut added: Vec<_> = targets
        .iter()
        .filter_map(|(target, level)| match target.strip_prefix(CAPTURE_MODULE) {
            Some(module) => Some((format!("{CAPTURE_CRATE}{module}"), level, target.len())),
            None if target == "gapiid" => Some((CAPTURE_CRATE.to_owned(), level, target.len())),
            None => None,
        })
        .collect();
    // `gapiid::capture` is more specific than `gapiid`: the later of two directives for one target wins.
    added.sort_by_key(|(.., specificity)| *specificity);
    let own: Vec<_> = targets.iter().map(|(target, level)| (target.to_owned(), level)).collect();
    targets
        .with_targets(added.into_iter().map(|(target, level, _)| (target, level)))
        .with_targets(own)
}

/// Destination of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sink {
    Journal,
    Text,
}

impl Sink {
    /// Logs `error` as the reason for which the daemon ends.
    pub fn say_last(self, error: &anyhow::Error) {
        match self {
            Self::Journal => tracing::error!("{error:#}"),
            Self::Text => eprintln!("gapiid: {error:#}"),
        }
    }
}

/// Installs the log with this filter and returns its destination. Events from before the call are lost.
pub fn start(LogFilter(filter): &LogFilter) -> Sink {
    let registry = tracing_subscriber::registry().with(filter.clone()).with(LogLimit::default());
    let stream = std::env::var("JOURNAL_STREAM").ok();
    let journal = stream.filter(|stream| is_stream(stream, io::stderr())).map(|_| journal());
    if let Some(Ok(journal)) = journal {
        registry.with(journal).init();
        return Sink::Journal;
    }
    let message_alone =
        debug_fn(
            |writer: &mut Writer<'_>, field: &Field, value| {
                if field.name() == "message" { write!(writer, "{value:?}") } else { Ok(()) }
            },
        );
    let text = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .fmt_fields(message_alone);
    registry.with(text).init();
    if let Some(Err(error)) = journal {
        tracing::warn!(
            "the journal refuses records, so the log is written as lines of text: {error}"
        );
    }
    Sink::Text
}

fn journal() -> io::Result<tracing_journald::Layer> {
    let levels = PriorityMappings {
        info: Priority::Informational,
        debug: Priority::Debug,
        ..PriorityMappings::new()
    };
    let layer = tracing_journald::layer()?;
    Ok(layer.with_field_prefix(Some(FIELD_PREFIX.to_owned())).with_priority_mappings(levels))
}

/// Returns whether `fd` is the file that systemd connected to the journal, given as `DEVICE:INODE`.
fn is_stream(stream: &str, fd: impl AsFd) -> bool {
    let numbers = stream.split_once(':').and_then(|(device, inode)| {
        Some((device.parse::<u64>().ok()?, inode.parse::<u64>().ok()?))
    });
    rustix::fs::fstat(fd).is_ok_and(|stat| numbers == Some((stat.st_dev, stat.st_ino)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_has_levels_and_nothing_else() {
        let check = |text: &str, expected: bool| {
            assert_eq!(text.parse::<LogFilter>().is_ok(), expected, "{text:?}");
        };
        check("info", true);
        check("OFF", true);
        check("warn,gapiid::client=trace", true);
        check("inof", false);
        check("gapiid=", false);
        check("", false);
    }

    #[test]
    fn filter_for_the_daemon_covers_its_capture_crate() {
        let check = |text: &str, target: &str, level: tracing::Level, expected: bool| {
            let LogFilter(targets) = text.parse().unwrap();
            assert_eq!(targets.would_enable(target, &level), expected, "{text}: {target} {level}");
        };
        let debug = tracing::Level::DEBUG;
        check("warn,gapiid=debug", "gapii_capture::drain", debug, true);
        check("warn,gapiid::capture=debug", "gapii_capture::drain", debug, true);
        check("warn,gapiid::capture::drain=debug", "gapii_capture::drain", debug, true);
        check("warn,gapiid::capture::drain=debug", "gapii_capture::writer", debug, false);
        check("warn,gapiid::client=debug", "gapii_capture::drain", debug, false);
        check("gapiid=debug,gapiid::capture=warn", "gapii_capture::drain", debug, false);
        check("gapiid::capture=warn,gapiid=debug", "gapii_capture::drain", debug, false);
        check("gapiid=debug,gapii_capture=warn", "gapii_capture::drain", debug, false);
        check("warn,gapiid=debug", "gapii_ringbuf", debug, false);
    }

    #[test]
    fn stream_is_known_by_device_and_inode() {
        let file = tempfile::tempfile().unwrap();
        let stat = rustix::fs::fstat(&file).unwrap();
        let check = |stream: String, expected: bool| {
            assert_eq!(is_stream(&stream, &file), expected, "{stream}");
        };
        check(format!("{}:{}", stat.st_dev, stat.st_ino), true);
        check(format!("{}:{}", stat.st_dev, stat.st_ino + 1), false);
        check(format!("{}", stat.st_ino), false);
        check(String::new(), false);
    }
}
