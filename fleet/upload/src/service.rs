//! The service: looks into the spool, has its finished files uploaded by some threads, and says what it does.
//!
//! Tries for ever. Each change of state has one line of the log: that uploading begins to fail and that it works again, that
//! the spool gets full and that it has room again, that a file is uploaded, dropped, or stays unfinished.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gapii_store::Store;
use sd_notify::NotifyState;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::backoff::Backoff;
use crate::begun::BegunFiles;
use crate::log;
use crate::options::Options;
use crate::spool::{self, Contents, Found, Version};
use crate::stage::{self, Facts, Stage};
use crate::status::{
    Folder, LISTED_MAX, Status, Trouble, Unfinished, Uploading, counted, now, size,
};
use crate::upload::{Failure, Uploaded, Uploader};

/// How long a file stays unfinished before the log says so: it may be a copy under way.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the service manager's watchdog hears of the service.
const TICK: Duration = Duration::from_secs(30);
/// How often `--once` tries a file.
const TRIES_OF_ONCE: u32 = 5;

/// Uploads until a signal comes, or, once, what is finished. Returns the exit status.
pub fn run(options: &Options) -> Result<u8, String> {
    let (Some(spool), Some(to)) = (&options.spool, &options.to) else {
        return Err("a spool and a place are needed; type `gapii-upload --help`".to_owned());
    };
    let store = Store::open(to).map_err(|error| error.to_string())?;
    let folder = Folder::take(spool)?;
    let kept = folder.load();
    let uploader = Uploader {
        store,
        spool: spool.clone(),
        host: options.host.clone().unwrap_or_else(host),
        read_back: options.read_back,
        begun: BegunFiles::of(&folder.path),
    };
    let shared = Arc::new(Shared::default());
    end_at_a_signal(&shared)?;
    let status = Status {
        to: uploader.store.shown(""),
        spool_limit_bytes: options.spool_limit,
        uploaded_files: kept.uploaded_files,
        uploaded_bytes: kept.uploaded_bytes,
        dropped_files: kept.dropped_files,
        dropped_bytes: kept.dropped_bytes,
        ..Status::default()
    };
    let mut service = Service {
        options,
        uploader: Arc::new(uploader),
        folder,
        shared,
        looked: None,
        ready: Vec::new(),
        stages: HashMap::new(),
        status,
        line: String::new(),
        was_full: false,
        noted: None,
        cannot_note: false,
    };
    service.run()
}

/// What the threads share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    is_ending: bool,
    /// Files on their way, with the bytes that have arrived.
    busy: HashMap<PathBuf, (u64, u64)>,
    /// Results that the service has not read.
    done: Vec<(PathBuf, Result<Uploaded, Failure>)>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a file.
struct Known {
    version: Version,
    stage: Result<Stage, String>,
    since: Instant,
    is_said: bool,
    /// After failures.
    backoff: Option<Backoff>,
}

struct Service<'a> {
    options: &'a Options,
    uploader: Arc<Uploader>,
    folder: Folder,
    shared: Arc<Shared>,
    looked: Option<Instant>,
    /// Finished files, oldest first.
    ready: Vec<(Found, Facts)>,
    stages: HashMap<PathBuf, Known>,
    status: Status,
    /// The line that systemd has.
    line: String,
    was_full: bool,
    /// What was written last for `gapii-upload status`.
    noted: Option<Status>,
    cannot_note: bool,
}

impl Service<'_> {
    fn run(&mut self) -> Result<u8, String> {
        let every = Duration::from_secs_f64(self.options.every);
        log::info(&format!(
            "uploading from {} to {}",
            self.options.spool.as_deref().map(spool::shown).unwrap_or_default(),
            self.status.to
        ));
        let mut pause = None;
        notify(NotifyState::Ready);
        loop {
            self.take_results(&mut pause);
            if self.looked.is_none_or(|at| at.elapsed() >= every) {
                self.look()?;
            }
            if pause.is_none_or(|it: Backoff| it.is_over()) {
                self.hand_out();
            }
            self.tell();
            if let Some(status) = self.end_of_once()? {
                return Ok(status);
            }
            let state = self.shared.state();
            let is_awake = |state: &mut State| state.done.is_empty() && !state.is_ending;
            let waited = self.shared.woken.wait_timeout_while(state, every.min(TICK), is_awake);
            if waited.unwrap_or_else(PoisonError::into_inner).0.is_ending {
                notify(NotifyState::Stopping);
                log::info(&"asked to end; what is on its way goes on after the next start");
                return Ok(0);
            }
        }
    }

    /// Looks into the spool, and drops files if it is full and that is allowed.
    fn look(&mut self) -> Result<(), String> {
        let spool = &self.uploader.spool;
        let mut contents = spool::contents(spool)
            .map_err(|error| format!("can't read the spool {}: {error}", spool::shown(spool)))?;
        self.looked = Some(Instant::now());
        let names: HashSet<_> = contents.files.iter().map(|found| &found.name).collect();
        self.stages.retain(|name, _| names.contains(name));
        for found in &contents.files {
            self.examine(found);
        }
        if self.options.drop_oldest {
            self.drop_oldest(&mut contents);
        }
        let busy: HashSet<_> = self.shared.state().busy.keys().cloned().collect();
        let is_ready = |found: Found| match &self.stages.get(&found.name)?.stage {
            Ok(Stage::Finished(facts)) => Some((found, facts.clone())),
            _ => None,
        };
        let finished: Vec<_> = contents.files.iter().cloned().filter_map(is_ready).collect();
        self.ready =
            finished.into_iter().filter(|(found, _)| !busy.contains(&found.name)).collect();
        self.count(&contents);
        self.tell_of_room();
        Ok(())
    }

    /// Finds out whether a file is finished, unless that is known, and says once that it stays unfinished.
    fn examine(&mut self, found: &Found) {
        let patience = if self.options.once { Duration::ZERO } else { PATIENCE };
        let known = self.stages.get(&found.name).filter(|known| known.version == found.version);
        let is_settled = known.is_some_and(|known| match &known.stage {
            Ok(Stage::Finished(_)) => true,
            Ok(Stage::Unfinished(_)) => known.is_said || known.since.elapsed() < patience,
            // A lock and a permission can change without another byte.
            Ok(Stage::Written) | Err(_) => false,
        });
        // A capture may have made the file, and lock it next.
        if is_settled && found.version.bytes > 0 {
            return;
        }
        let path = self.uploader.spool.join(&found.name);
        let stage = spool::open(&path).and_then(|file| stage::of(&file, found.kind));
        let stage = stage.map_err(|error| error.to_string());
        let since = known.map_or_else(Instant::now, |known| known.since);
        let mut is_said = known.is_some_and(|known| known.is_said);
        if let Ok(Stage::Unfinished(why)) | Err(why) = &stage
            && !is_said
            && since.elapsed() >= patience
        {
            is_said = true;
            log::warn(&format!("{} is not uploaded: {why}", spool::shown(&found.name)));
        }
        let known = Known { version: found.version, stage, since, is_said, backoff: None };
        self.stages.insert(found.name.clone(), known);
    }

    /// Deletes finished files until the spool has room, the oldest first.
    fn drop_oldest(&mut self, contents: &mut Contents) {
        let mut kept = Vec::new();
        for found in std::mem::take(&mut contents.files) {
            let is_finished = self
                .stages
                .get(&found.name)
                .is_some_and(|known| matches!(known.stage, Ok(Stage::Finished(_))));
            let is_full = contents.bytes > self.status.spool_limit_bytes;
            let is_busy = self.shared.state().busy.contains_key(&found.name);
            if !is_full || !is_finished || is_busy {
                kept.push(found);
                continue;
            }
            let name = spool::shown(&found.name);
            match std::fs::remove_file(self.uploader.spool.join(&found.name)) {
                Ok(()) => {
                    for end in [spool::CRASH, spool::CHECKPOINTS] {
                        // Most traces have neither.
                        let beside = spool::with_end(&found.name, end);
                        let _ = std::fs::remove_file(self.uploader.spool.join(beside));
                    }
                    contents.bytes -= found.version.bytes;
                    self.status.dropped_files += 1;
                    self.status.dropped_bytes += found.version.bytes;
                    log::warn(&format!("the spool is full: {name} is deleted, and is in no store"));
                }
                Err(error) => {
                    log::warn(&format!("the spool is full, and {name} can't be deleted: {error}"));
                    kept.push(found);
                }
            }
        }
        contents.files = kept;
    }

    fn count(&mut self, contents: &Contents) {
        let status = &mut self.status;
        status.spool_bytes = contents.bytes;
        status.other_files = contents.others;
        let mut unfinished = Vec::new();
        (status.written_files, status.unfinished_files) = (0, 0);
        for found in &contents.files {
            match self.stages.get(&found.name).map(|known| &known.stage) {
                Some(Ok(Stage::Written)) => status.written_files += 1,
                Some(Ok(Stage::Unfinished(why)) | Err(why)) => {
                    status.unfinished_files += 1;
                    if unfinished.len() < LISTED_MAX {
                        let name = spool::shown(&found.name);
                        unfinished.push(Unfinished { name, why: why.clone() });
                    }
                }
                Some(Ok(Stage::Finished(_))) | None => {}
            }
        }
        status.unfinished = unfinished;
    }

    fn tell_of_room(&mut self) {
        let is_full = self.status.is_full();
        if is_full == self.was_full {
            return;
        }
        self.was_full = is_full;
        let (has, limit) = (size(self.status.spool_bytes), size(self.status.spool_limit_bytes));
        match (is_full, self.options.drop_oldest) {
            (true, false) => log::warn(&format!(
                "THE SPOOL IS FULL: it has {has}, its limit is {limit}; nothing is deleted that the store does not have; record no \
                 more into it until `gapii-upload status` ends with 0"
            )),
            (true, true) => log::warn(&format!(
                "THE SPOOL IS FULL: it has {has}, its limit is {limit}; finished files are deleted, the oldest first"
            )),
            (false, _) => log::info(&format!("the spool has room again: {has} of {limit}")),
        }
    }

    /// Starts as many uploads as are allowed.
    fn hand_out(&mut self) {
        let mut waiting = Vec::new();
        for (found, facts) in std::mem::take(&mut self.ready) {
            let is_free = self.shared.state().busy.len() < usize::from(self.options.side_by_side);
            let known = self.stages.get(&found.name);
            let has_waited = known.and_then(|known| known.backoff).is_none_or(|it| it.is_over());
            match is_free && has_waited {
                true => self.start(found, facts),
                false => waiting.push((found, facts)),
            }
        }
        self.ready = waiting;
    }

    fn start(&self, found: Found, facts: Facts) {
        let (shared, uploader) = (Arc::clone(&self.shared), Arc::clone(&self.uploader));
        shared.state().busy.insert(found.name.clone(), (0, found.version.bytes));
        thread::spawn(move || {
            let sent = |bytes| {
                if let Some(progress) = shared.state().busy.get_mut(&found.name) {
                    progress.0 = bytes;
                }
            };
            let done = uploader.upload(&found, &facts, &sent);
            let mut state = shared.state();
            state.busy.remove(&found.name);
            state.done.push((found.name, done));
            shared.woken.notify_all();
        });
    }

    /// Reads the results of uploads. `pause` is when to try again if the store fails.
    fn take_results(&mut self, pause: &mut Option<Backoff>) {
        let done = std::mem::take(&mut self.shared.state().done);
        for (name, result) in done {
            let shown = spool::shown(&name);
            match result {
                Ok(Uploaded { place, bytes, was_there }) => {
                    self.stages.remove(&name);
                    self.status.uploaded_files += 1;
                    self.status.uploaded_bytes += bytes;
                    let had = if was_there { ", which had it already" } else { "" };
                    log::info(&format!("uploaded {shown} to {place}{had}"));
                    if let Some(trouble) = self.status.trouble.take().filter(|it| it.is_said) {
                        let time = now().saturating_sub(trouble.since_unix);
                        log::info(&format!("uploading works again after {time} s"));
                    }
                    *pause = None;
                }
                // The next look finds it anew.
                Err(Failure::Changed) => drop(self.stages.remove(&name)),
                Err(failure) => {
                    // Said once for each file, and of a store that fails once for all.
                    let is_first = self.stages.get(&name).is_some_and(|it| it.backoff.is_none());
                    let is_said = match &failure {
                        Failure::Store(error) => self.store_failed(error, is_first, pause),
                        _ => is_first,
                    };
                    if is_said {
                        log::warn(&format!(
                            "can't upload {shown}: {failure}; trying again until it works"
                        ));
                    }
                    if let Some(known) = self.stages.get_mut(&name) {
                        known.backoff = Some(Backoff::after(known.backoff));
                    }
                }
            }
        }
    }

    /// Notes a failure of the store, the file's first one or not. Returns whether the log is to say it.
    fn store_failed(
        &mut self,
        error: &gapii_store::Error,
        is_first: bool,
        pause: &mut Option<Backoff>,
    ) -> bool {
        // Uploads beside each other fail for the same reason.
        if pause.is_none_or(|it| it.is_over()) {
            *pause = Some(Backoff::after(*pause));
        }
        let before = self.status.trouble.take();
        let was_said = before.as_ref().is_some_and(|it| it.is_said);
        self.status.trouble = Some(Trouble {
            why: error.to_string(),
            since_unix: before.map_or_else(now, |it| it.since_unix),
            failures: pause.map_or(0, |it| it.failures),
            is_said: was_said || is_first,
        });
        is_first && !was_said
    }

    /// Writes the status for systemd and for `gapii-upload status`.
    fn tell(&mut self) {
        self.status.waiting_files = self.ready.len() as u64;
        let mut uploading: Vec<_> = self
            .shared
            .state()
            .busy
            .iter()
            .map(|(name, (sent, bytes))| Uploading {
                name: spool::shown(name),
                bytes: *bytes,
                sent_bytes: *sent,
            })
            .collect();
        uploading.sort_by(|a, b| a.name.cmp(&b.name));
        self.status.uploading = uploading;
        let line = self.status.line();
        if line != self.line {
            notify(NotifyState::Status(&line));
            self.line = line;
        }
        notify(NotifyState::Watchdog);
        if self.noted.as_ref() == Some(&self.status) {
            return;
        }
        let saved = self.folder.save(&self.status);
        self.noted = Some(self.status.clone());
        if saved.is_err() != self.cannot_note {
            self.cannot_note = saved.is_err();
            if let Err(error) = saved {
                log::warn(&format!(
                    "can't write the status into the spool: {error}; uploading goes on"
                ));
            }
        }
    }

    /// Returns the exit status of `--once` when everything was tried.
    fn end_of_once(&mut self) -> Result<Option<u8>, String> {
        let is_at_rest = |state: &State| state.busy.is_empty() && state.done.is_empty();
        if !self.options.once || !is_at_rest(&self.shared.state()) {
            return Ok(None);
        }
        // Those that have failed are not among the ready ones before.
        self.look()?;
        let failures_of = |(found, _): &(Found, Facts)| {
            let backoff = self.stages.get(&found.name).and_then(|known| known.backoff);
            backoff.map_or(0, |it| it.failures)
        };
        let of_store = self.status.trouble.as_ref().map_or(0, |it| it.failures);
        let is_given_up = |it| of_store.max(failures_of(it)) >= TRIES_OF_ONCE;
        if !self.ready.iter().all(is_given_up) {
            return Ok(None);
        }
        let left = self.ready.len() as u64;
        if left > 0 {
            log::error(&format!("{} could not be uploaded", counted(left, "file")));
        }
        Ok(Some(u8::from(left > 0)))
    }
}

/// Ends the service at SIGTERM, SIGINT and SIGHUP.
fn end_at_a_signal(shared: &Arc<Shared>) -> Result<(), String> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| format!("can't hear signals: {error}"))?;
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            shared.state().is_ending = true;
            shared.woken.notify_all();
        }
    });
    Ok(())
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Without a service manager nobody is told.
fn notify(state: NotifyState<'_>) {
    let _ = sd_notify::notify(false, &[state]);
}
