//! The programs of `tests/apps/` on one driver: run natively, recorded from the start and from the second frame on, and
//! replayed.
//!
//! The driver is the one that the environment of this process selects. Nothing here knows which differences are tolerated.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use serde::Serialize;

use crate::gapii::{Recording, Session};
use crate::loading::offscreen;
use crate::process::{Finished, run};
use crate::programs::{app, program};
use crate::replays::{first_difference, played};

/// Native runs that must be alike before a difference is gapii's.
const NATIVE_RUNS: usize = 3;

/// A driver, by its own words.
#[derive(Serialize)]
pub struct Driver {
    /// `GL_RENDERER`.
    pub renderer: String,
    /// `GL_VERSION`.
    pub version: String,
}

/// Results of one program. Each field is null where the run did what it should, otherwise it is the reason.
#[derive(Serialize)]
pub struct Checked {
    pub program: String,
    /// Why the driver can't run the program natively, or not alike each time; the other fields mean nothing then.
    pub native: Option<String>,
    /// How the recording from the start, or its replay, differs.
    pub start: Option<String>,
    /// How the recording from the second frame on, or its replay, differs.
    pub attach: Option<String>,
}

/// How a program is recorded.
#[derive(Clone, Copy)]
enum Way {
    /// From its start.
    Start,
    /// From its second frame on.
    Attach,
}

impl Way {
    /// As in the report.
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Attach => "attach",
        }
    }

    /// Options of `gapii-ctl run`. The stall limit also bounds how long a snapshot waits for an object's contents: a slow driver
    /// on a busy machine needs more than the default.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Start => &["--stall-ms", "60000", "--observe-frames", "1"],
            Self::Attach => &["--stall-ms", "60000", "--observe-frames", "1", "--skip-frames", "1"],
        }
    }
}

/// Returns the driver's name and version, or the reason why it draws nothing.
pub fn driver() -> Result<Driver, String> {
    let finished = natively(&program("renderer"))?;
    match finished.stdout.lines().collect::<Vec<_>>()[..] {
        [renderer, version] => {
            Ok(Driver { renderer: renderer.to_owned(), version: version.to_owned() })
        }
        _ => Err(finished.to_string()),
    }
}

/// Compiles the programs that a driver needs, so that a machine without a compiler can run them.
pub fn compile(names: &[String]) {
    program("renderer");
    for name in names {
        app(name);
    }
}

/// Checks the programs `names`, one for each processor at a time; calls `done` after each. The trace of a recording that
/// differs goes to the folder `kept`.
pub fn check_all(
    names: &[String],
    kept: Option<&Path>,
    done: impl Fn(&Checked) + Sync,
) -> Vec<Checked> {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        // Relaxed: it hands out numbers, and nothing else depends on it.
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let checked = check(name, kept);
            done(&checked);
            all.lock().expect("no check panics").push(checked);
        }
    };
    let processors = available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(work);
        }
    });
    let mut all = all.into_inner().expect("no check panics");
    all.sort_unstable_by(|one, two| one.program.cmp(&two.program));
    all
}

fn check(name: &str, kept: Option<&Path>) -> Checked {
    let mut checked = Checked { program: name.to_owned(), native: None, start: None, attach: None };
    let path = app(name);
    let native = match natively(&path) {
        Ok(native) => native,
        Err(why) => return Checked { native: Some(why), ..checked },
    };
    let record_as = |way: Way| {
        let session = Session::new();
        let recording = attempt(|| Ok(session.record(way.options(), &offscreen(&path, [""; 0]))))?;
        attempt(|| judge(&session, &recording, &native, way)).inspect_err(|_| {
            if let Some(folder) = kept {
                let file = folder.join(format!("{name}-{}.gapii", way.name()));
                // The difference is reported all the same.
                let _ = std::fs::copy(&recording.trace.path, file);
            }
        })
    };
    checked.start = record_as(Way::Start).err();
    checked.attach = record_as(Way::Attach).err();
    if checked.start.is_some() || checked.attach.is_some() {
        checked.native = unlike_each_time(&path, &native);
    }
    checked
}

/// Runs the program natively. The error says how it failed.
fn natively(path: &Path) -> Result<Finished, String> {
    let mut command = offscreen(path, [""; 0]);
    // As for a recorded program. Vulkan complains where it is not set.
    command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    let finished = attempt(|| Ok(run(&mut command)))?;
    match (finished.status.success(), finished.stderr.trim()) {
        (true, _) => Ok(finished),
        (false, "") => Err(finished.status.to_string()),
        (false, words) => Err(format!("{}: {words}", finished.status)),
    }
}

/// Runs the program natively again; returns how it differs from its first run.
fn unlike_each_time(path: &Path, first: &Finished) -> Option<String> {
    (1..NATIVE_RUNS).find_map(|_| match natively(path) {
        Ok(again) if again.stdout == first.stdout => None,
        Ok(again) => Some(format!(
            "draws another picture natively in some runs: {}",
            first_difference(&first.stdout, &again.stdout)
        )),
        Err(why) => Some(format!("fails natively in some runs: {why}")),
    })
}

/// Compares a recording with the program's native run, and with its replay.
fn judge(
    session: &Session,
    recording: &Recording,
    native: &Finished,
    way: Way,
) -> Result<(), String> {
    let played = played(session, recording, &native.stdout)?;
    match way {
        Way::Start => played.has_verified(played.drawn),
        Way::Attach if played.info["snapshot"] != true => {
            Err("the trace has no snapshot".to_owned())
        }
        Way::Attach => played.has_verified(played.drawn.saturating_sub(1)),
    }
}

/// Calls `check`; a panic, which the tests' functions end with when a process is late or fails, is an error.
fn attempt<T>(check: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(text.unwrap_or("the check panicked").to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_of_a_check_is_its_reason() {
        assert_eq!(attempt(|| Ok(3)), Ok(3));
        let late = || -> Result<(), String> { panic!("not ended within {}", 2) };
        assert_eq!(attempt(late), Err("not ended within 2".to_owned()));
    }
}
