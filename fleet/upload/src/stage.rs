//! Whether a file of the spool is finished, which its contents and its lock tell, and never its age.
//!
//! While a capture writes a trace, its client and the daemon hold a lock on the file (`ctl/src/file_lock.rs`). A whole trace
//! ends with a footer, a whole table with Parquet's magic bytes.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;

use gapii_trace::TraceReader;
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::spool::Kind;

/// What a file of the spool is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A capture writes it.
    Written,
    /// Nobody holds its lock, and it is not whole.
    Unfinished(String),
    Finished(Facts),
}

/// What the name in the store is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Facts {
    Trace { day: String, host: Option<String>, program: String },
    Table,
}

/// Locks a file against captures, which would write it, for as long as it is open. `false` if one writes it now.
pub fn lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        // A file system without locks.
        Err(Errno::NOLCK | Errno::OPNOTSUPP) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Returns what the file is.
pub fn of(file: &File, kind: Kind) -> io::Result<Stage> {
    if !lock(file)? {
        return Ok(Stage::Written);
    }
    match kind {
        Kind::Trace => Ok(trace(file.try_clone()?)),
        Kind::Table => table(file),
    }
}

fn trace(file: File) -> Stage {
    let reader = match TraceReader::open(BufReader::new(file)) {
        Ok(reader) => reader,
        Err(error) => return Stage::Unfinished(error.to_string()),
    };
    let Some(footer) = reader.footer() else {
        return Stage::Unfinished("it has no footer: its capture was cut off".to_owned());
    };
    let program = footer.processes.first().map(|process| plain(process.name.raw()));
    Stage::Finished(Facts::Trace {
        day: day(footer.started_unix_ns / 1_000_000_000),
        host: (!reader.header().host.is_empty()).then(|| reader.header().host.raw().to_owned()),
        program: program.unwrap_or_else(|| "trace".to_owned()),
    })
}

fn table(file: &File) -> io::Result<Stage> {
    const MAGIC: &[u8; 4] = b"PAR1";
    let mut end = [0; MAGIC.len()];
    let bytes = file.metadata()?.len();
    let is_whole = bytes > 2 * MAGIC.len() as u64 && {
        file.read_exact_at(&mut end, bytes - MAGIC.len() as u64)?;
        end == *MAGIC
    };
    Ok(match is_whole {
        true => Stage::Finished(Facts::Table),
        false => Stage::Unfinished("it does not end as a table of Parquet does".to_owned()),
    })
}

/// Returns a text with the characters that any store, shell and file system takes, and at least one.
pub fn plain(text: &str) -> String {
    const CHARACTERS_MAX: usize = 64;
    let name = text.rsplit('/').next().unwrap_or_default();
    let plain = |it: char| if it.is_ascii_alphanumeric() || "._-".contains(it) { it } else { '_' };
    let plain: String =
        name.trim_start_matches('.').chars().map(plain).take(CHARACTERS_MAX).collect();
    if plain.is_empty() { "unknown".to_owned() } else { plain }
}

/// Returns the day of a time in UTC, as `2026-11-30`.
fn day(unix_seconds: u64) -> String {
    // Howard Hinnant's `civil_from_days`: years begin in March, so that a leap day is a year's last.
    let days = unix_seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (1_796_083_199, "2026-11-30"),
            (1_796_083_200, "2026-12-01"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(day(seconds), expected);
        }
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(plain("/usr/bin/glmark2-es2"), "glmark2-es2");
        assert_eq!(plain("../..\u{1b}x y"), "_x_y");
        assert_eq!(plain("..."), "unknown");
    }

    #[test]
    fn file_that_another_one_holds_or_that_is_not_whole_is_not_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let mut writer = File::create(&path).unwrap();
        let stage = || of(&File::open(&path).unwrap(), Kind::Table).unwrap();
        writer.write_all(b"PAR1 rows").unwrap();
        assert!(matches!(stage(), Stage::Unfinished(_)));
        writer.write_all(b"PAR1").unwrap();
        assert_eq!(stage(), Stage::Finished(Facts::Table));
        rustix::fs::flock(&writer, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(stage(), Stage::Written);
    }
}
