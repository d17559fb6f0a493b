//! The log: events with fields, to the journal where that is what standard error is, else as text.
//!
//! A message says by itself what happened; fields are for those who search. Text has the messages
//! alone.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::str::FromStr;

use tracing::field::Field;
use tracing_journald::{Priority, PriorityMappings};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::prelude::*;

/// Fields of the journal that are ours begin with this: `GAPII_PID`.
const FIELD_PREFIX: &str = "GAPII";

/// What is logged: a level, levels of modules, or both.
#[derive(Clone, Debug)]
pub struct LogFilter(Targets);

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        for part in text.split(',') {
            let level = part.rsplit('=').next().unwrap_or_default();
            if level.is_empty() || level.parse::<LevelFilter>().is_err() {
                return Err(format!("{level:?} is no level"));
            }
        }
        text.parse().map(Self).map_err(|error| format!("{text:?} is no filter: {error}"))
    }
}

/// Where the log goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sink {
    Journal,
    Text,
}

impl Sink {
    /// Says why the daemon ends.
    pub fn say_last(self, error: &anyhow::Error) {
        match self {
            Self::Journal => tracing::error!("{error:#}"),
            Self::Text => eprintln!("gapiid: {error:#}"),
        }
    }
}

/// Begins to log; events before are lost.
pub fn start(LogFilter(filter): &LogFilter) -> Sink {
    let registry = tracing_subscriber::registry().with(filter.clone());
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
        tracing::warn!("the journal takes no records, lines must do: {error}");
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

/// Whether `fd` is what systemd says it has connected to the journal: `DEVICE:INODE`.
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
