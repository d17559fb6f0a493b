//! Prints to standard output, for people and for programs.
//!
//! A closed reader (`| head`) ends the command without a message; a full disk is reported.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::HumanCount;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::json::{self, Failed, Problem, Remark};

/// Prints what `write` writes, through a buffer.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::system(format!("can't write to standard output: {error}")),
    })
}

/// Messages that wait for a full-screen view, which shows them; `None` while there is no view.
static WITHHELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Keeps messages from standard error, where they would spoil a full-screen view. Those that were not taken are printed
/// once it is dropped.
pub struct Withheld(());

/// Withholds messages.
pub fn withhold() -> Withheld {
    withheld().get_or_insert_default();
    Withheld(())
}

impl Withheld {
    /// Takes the messages so far.
    pub fn take(&self) -> Vec<String> {
        withheld().as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for Withheld {
    fn drop(&mut self) {
        let messages = withheld().take();
        messages.iter().flatten().for_each(say);
    }
}

/// The list is whole at every moment, also if a thread panicked while it had the lock.
fn withheld() -> MutexGuard<'static, Option<Vec<String>>> {
    WITHHELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a message to standard error, as a line of JSON with `--json`; a failure to print is ignored. A full-screen view
/// gets the message instead.
pub fn say(words: &impl Display) {
    if let Some(messages) = &mut *withheld() {
        messages.push(words.to_string());
        return;
    }
    let _ = match json::is_asked() {
        true => say_json(&Remark { message: words.to_string() }),
        false => writeln!(io::stderr(), "gapii-ctl: {words}"),
    };
}

/// Says how many files were written to a folder, and how many others are there; nothing if there are none.
pub fn say_written(files: u64, folder: &Path) {
    let all = std::fs::read_dir(folder).map_or(0, |entries| entries.count() as u64);
    let others = match all.saturating_sub(files) {
        0 if files == 0 => return,
        0 => String::new(),
        others => format!("; the folder also has {}", counted(others, "older file")),
    };
    say(&format!("wrote {} to {}{others}", counted(files, "file"), folder.display()));
}

/// Prints to standard error why `command` failed, as a line of JSON with `--json`.
pub fn say_failure(command: &str, failure: &Failure) {
    match json::is_asked() {
        true => {
            let _ = say_json(&Failed { error: Problem::of(command, failure) });
        }
        false => say(failure),
    }
}

fn say_json(line: &impl Serialize) -> io::Result<()> {
    writeln!(io::stderr(), "{}", json::document(line)?)
}

/// Prints one JSON document and a newline.
pub fn print_json(answer: &(impl Serialize + JsonSchema)) -> Result<(), Failure> {
    print(|out| {
        serde_json::to_writer_pretty(&mut *out, &json::document(answer)?)?;
        writeln!(out)
    })
}

/// Prints a JSON document in one line.
pub fn print_json_line(answer: &(impl Serialize + JsonSchema)) -> Result<(), Failure> {
    print(|out| writeln!(out, "{}", json::document(answer)?))
}

/// Formats a count with its noun, such as `1 frame` or `2 frames`.
pub fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", HumanCount(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_reader_has_status_0_and_a_full_disk_3() {
        let broken = |kind: io::ErrorKind| move |_: &mut dyn Write| Err(io::Error::from(kind));
        let status = |kind| print(broken(kind)).map_err(|failure| failure.status_of("start"));
        assert_eq!(status(io::ErrorKind::BrokenPipe), Err(0));
        assert_eq!(status(io::ErrorKind::StorageFull), Err(3));
    }

    #[test]
    fn messages_are_withheld_for_a_view_until_it_ends() {
        let view = withhold();
        say(&"first");
        say(&"second");
        assert_eq!(view.take(), ["first", "second"]);
        assert_eq!(view.take(), [""; 0]);
        drop(view);
        assert!(withheld().is_none());
    }

    #[test]
    fn counts_have_a_plural_and_separators() {
        assert_eq!(counted(1, "frame"), "1 frame");
        assert_eq!(counted(0, "frame"), "0 frames");
        assert_eq!(counted(12_345, "frame"), "12,345 frames");
    }
}
