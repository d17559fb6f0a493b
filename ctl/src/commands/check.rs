//! `check`: plays the traces of a list and compares the digests of their frames with expected ones. Status 1 if a trace
//! failed or a stop was requested. Prints lines as traces end, in the order of the list; with `--update` writes what was
//! drawn to the list. `crate::check` has the parts.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum, ValueHint};
use gapii_replay::images::{Folder, FrameOf, Picture, name_of};
use tempfile::TempDir;

use crate::args::{Allowance, Json};
use crate::check::answer::{Checked, CheckedTrace, Verdict};
use crate::check::children::{Children, Trouble};
use crate::check::junit;
use crate::check::list::{self, Frame, List, Listed};
use crate::check::page::{self, Shown};
use crate::check::played::{self, Played};
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::playing::{self, Stop};
use crate::text::{self, counted};

/// How often a stop is looked for.
const PERIOD: Duration = Duration::from_millis(50);
/// Most frames of a trace of which pictures are made: each is played for again.
const PICTURES_MAX: usize = 4;

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl check traces.toml                              compare with the expected digests
  gapii-ctl check traces.toml --update                     take what this driver draws as expected
  gapii-ctl check traces.toml --junit a.xml --html a.html  for continuous integration

A list:
  pictures = \"expected\"      # folder with pictures of expected frames; optional
  [[trace]]
  path = \"gears.gapii\"       # relative to the list
  frames = \"last\"            # or \"all\", or a range such as \"5..10\"
  [[trace.driver]]
  renderer = \"llvmpipe*\"
  frames = { 99 = \"DIGEST\" } # as `gapii-ctl replay --checksum` prints it";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Check {
    /// List of traces, in TOML
    #[arg(value_name = "LIST", value_hint = ValueHint::FilePath)]
    list: PathBuf,

    /// Number of traces that are played at once [default: number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Fail a trace if anything of it was left out, as `replay --strict` does
    #[arg(long)]
    strict: bool,

    /// Write what was drawn to the list as expected, for this driver
    #[arg(long, conflicts_with_all = ["junit", "html", "differing"])]
    update: bool,

    /// Write the result as JUnit's XML to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    junit: Option<PathBuf>,

    /// Write a page with the pictures of differing frames to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,

    /// Write the pictures of differing frames to this folder
    #[arg(long = "images", id = "differing", value_name = "DIR", value_hint = ValueHint::DirPath)]
    images: Option<PathBuf>,

    #[command(flatten)]
    allowance: Allowance,

    #[command(flatten)]
    json: Json,
}

/// What all workers share.
struct Checker<'a> {
    args: &'a Check,
    list: &'a List,
    /// Folder of the list.
    base: &'a Path,
    children: Children,
    /// Folder for pictures that are not kept.
    scratch: TempDir,
    next: AtomicUsize,
}

/// Result of a worker for one trace.
struct Found {
    index: usize,
    checked: CheckedTrace,
    shown: Vec<Shown>,
    /// The frames that were drawn, for `--update`.
    played: Option<Played>,
}

pub fn run(args: &Check) -> Result<u8, Failure> {
    let text = fs::read_to_string(&args.list).map_err(|error| unreadable(&args.list, &error))?;
    let list = List::parse(&text, &args.list)?;
    let base = args.list.parent().unwrap_or(Path::new(""));
    if let Some(folder) = &args.images {
        Folder::make(folder).map_err(Failure::system)?;
    }
    let system = |error: io::Error| Failure::system(format!("can't check traces: {error}"));
    let stop = playing::hear_stops()?;
    let checker = Checker {
        args,
        list: &list,
        base,
        children: Children::new(options(args)).map_err(system)?,
        scratch: tempfile::tempdir().map_err(system)?,
        next: AtomicUsize::new(0),
    };
    let began = Instant::now();
    let mut found = checker.check_all(&stop)?;
    if args.update {
        update(&checker, &text, &mut found)?;
    }
    let shown: Vec<Shown> = found.iter_mut().flat_map(|it| std::mem::take(&mut it.shown)).collect();
    let traces = found.into_iter().map(|it| it.checked).collect();
    let checked = Checked::of(traces, began.elapsed().as_secs_f64());
    let name = args.list.file_name().unwrap_or_default().to_string_lossy();
    if let Some(path) = &args.junit {
        write(path, &junit::text(&checked, &name))?;
    }
    if let Some(path) = &args.html {
        let html = page::html(&checked, &shown, &name);
        write(path, &html.map_err(|error| finished_file::writing_failure(path, &error))?)?;
    }
    if args.json.json {
        text::print_json(&checked)?;
    }
    judge(args, &checked)
}

/// Options for every replay.
fn options(args: &Check) -> Vec<String> {
    let Allowance { memory, time, sandbox } = &args.allowance;
    let mut options = Vec::new();
    options.extend(memory.map(|bytes| format!("--memory={bytes}")));
    options.extend(time.map(|time| format!("--time={}ms", time.as_millis())));
    options.extend(sandbox.to_possible_value().map(|it| format!("--sandbox={}", it.get_name())));
    options.extend(args.strict.then(|| "--strict".to_owned()));
    options
}

impl Checker<'_> {
    /// Checks the traces, and returns them in the order of the list. Prints them in this order.
    fn check_all(&self, stop: &Stop) -> Result<Vec<Found>, Failure> {
        let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let jobs = self.args.jobs.map_or_else(processors, NonZeroUsize::get);
        let jobs = jobs.min(self.list.traces.len());
        let (sender, receiver) = channel();
        let mut found = BTreeMap::new();
        thread::scope(|scope| {
            for _ in 0..jobs {
                let sender = sender.clone();
                scope.spawn(move || self.work(&sender));
            }
            drop(sender);
            let (mut printed, mut is_stopped) = (0, false);
            loop {
                match receiver.recv_timeout(PERIOD) {
                    Ok(it) => drop(found.insert(it.index, it)),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok::<(), Failure>(()),
                }
                if stop.is_asked() && !is_stopped {
                    is_stopped = true;
                    self.children.stop();
                }
                while let Some(it) = found.get(&printed).filter(|_| !self.prints_at_the_end()) {
                    text::print(|out| write!(out, "{}", it.checked.lines()))
                        .inspect_err(|_| self.children.stop())?;
                    printed += 1;
                }
            }
        })?;
        Ok(found.into_values().collect())
    }

    /// Whether lines of traces would not be true yet, or are not the answer.
    fn prints_at_the_end(&self) -> bool {
        self.args.json.json || self.args.update
    }

    fn work(&self, found: &Sender<Found>) {
        loop {
            // Relaxed: the number publishes no other data.
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(listed) = self.list.traces.get(index) else { return };
            // The receiver lives until all workers have ended.
            let _ = found.send(self.check(index, listed));
        }
    }

    fn check(&self, index: usize, listed: &Listed) -> Found {
        let path = self.base.join(&listed.path);
        let ended = |verdict, error| Found {
            index,
            checked: CheckedTrace::without_frames(&listed.path, verdict, error),
            shown: Vec::new(),
            played: None,
        };
        let played = match Played::by(&self.children, listed, &path) {
            Ok(played) => played,
            Err(Trouble::Stopped) => return ended(Verdict::Stopped, None),
            Err(Trouble::Failed(why)) => return ended(Verdict::Unplayable, Some(why)),
        };
        let expected = listed.expected(&played.renderer);
        let checked = CheckedTrace::of(&listed.path, &played, expected);
        let mut found = Found { index, checked, shown: Vec::new(), played: Some(played) };
        if self.args.html.is_some() || self.args.images.is_some() {
            self.show(listed, &path, &mut found);
        }
        found
    }

    /// Makes the pictures of frames that differ.
    fn show(&self, listed: &Listed, path: &Path, found: &mut Found) {
        let index = found.index;
        let differing = found.checked.frames.iter_mut().filter(|frame| !frame.is_good());
        for frame in differing.take(PICTURES_MAX) {
            let Some(drawn) = &frame.drawn else { continue };
            let place = (frame.process, frame.frame);
            let drawn = self.picture((index, listed, path), (place, drawn));
            let Some((file, drawn)) = drawn else { continue };
            if let Some(folder) = &self.args.images {
                let name = picture_name(&listed.path, place);
                frame.picture = fs::copy(file, folder.join(&name)).ok().map(|_| folder.join(name));
            }
            let expected = frame
                .expected
                .as_deref()
                .and_then(|digest| played::read(&self.expected_picture(digest)?, digest));
            found.shown.push(Shown { trace: index, frame: place, expected, drawn });
        }
    }

    /// Plays a trace again for the picture of a frame.
    fn picture(
        &self,
        (index, listed, path): (usize, &Listed, &Path),
        frame: (FrameOf, &str),
    ) -> Option<(PathBuf, Picture)> {
        let folder = self.scratch.path().join(index.to_string());
        played::picture(&self.children, (listed, path), frame, &folder)
    }

    /// File of the expected picture with this digest; `None` if the list has no folder for pictures.
    fn expected_picture(&self, digest: &str) -> Option<PathBuf> {
        Some(self.base.join(self.list.pictures.as_ref()?).join(format!("{digest}.png")))
    }
}

/// Name of the file with a frame of a trace, such as `gears.gapii-frame-000099.png`.
fn picture_name(trace: &Path, (process, frame): FrameOf) -> String {
    let trace = trace.to_string_lossy().replace('/', "-");
    format!("{trace}-{}.png", name_of(process, frame))
}

/// Writes what was drawn to the list, and pictures of it to the folder of the list. A list that is not changed is not
/// written.
fn update(checker: &Checker<'_>, text: &str, found: &mut [Found]) -> Result<(), Failure> {
    let mut drawn = BTreeMap::new();
    for it in found.iter_mut() {
        let Some(played) = &it.played else { continue };
        drawn.insert(it.index, (played.renderer.clone(), played.digests.clone()));
        save_pictures(checker, it.index, &played.digests)?;
        let changed = it.checked.verdict != Verdict::Pass;
        it.checked.verdict = if changed { Verdict::Updated } else { Verdict::Pass };
        it.checked.error = None;
    }
    let path = &checker.args.list;
    let failed = |error: toml_edit::TomlError| {
        Failure::system(format!("can't change {}: {error}", path.display()))
    };
    let updated = list::update(text, &drawn).map_err(failed)?;
    if updated != text {
        write(path, &updated)?;
    }
    if !checker.args.json.json {
        let lines: String = found.iter().map(|it| it.checked.lines()).collect();
        text::print(|out| write!(out, "{lines}"))?;
    }
    Ok(())
}

/// Writes the pictures of a trace's frames that the list's folder does not have.
fn save_pictures(
    checker: &Checker<'_>,
    index: usize,
    digests: &BTreeMap<Frame, String>,
) -> Result<(), Failure> {
    let listed = &checker.list.traces[index];
    let path = checker.base.join(&listed.path);
    for (Frame(frame), digest) in digests {
        let Some(to) = checker.expected_picture(digest).filter(|to| !to.exists()) else { continue };
        let Some((file, _)) = checker.picture((index, listed, &path), (*frame, digest)) else {
            let trace = listed.path.display();
            return Err(Failure::no(format!(
                "{trace} draws frame {} in several ways, so it cannot be checked; `gapii-ctl replay {} --loop 5 --checksum` shows them",
                Frame(*frame),
                path.display(),
            )));
        };
        let failed = |error: io::Error| finished_file::writing_failure(&to, &error);
        let folder = to.parent().unwrap_or(Path::new(""));
        Folder::make(folder).map_err(Failure::system)?;
        fs::copy(file, &to).map_err(failed)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = FinishedFile::create(path, true)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.finish());
    written.map_err(|error| finished_file::writing_failure(path, &error))
}

/// Says how many traces passed, and fails if not all did.
fn judge(args: &Check, checked: &Checked) -> Result<u8, Failure> {
    let all = counted(checked.traces.len() as u64, "trace");
    let passed = checked.passed;
    if checked.stopped > 0 {
        return Err(Failure::answer(format!(
            "stopped after {passed} of {all} had passed, as asked"
        )));
    }
    if checked.failed == 0 {
        if !args.json.json {
            text::print(|out| writeln!(out, "{passed} of {all} passed"))?;
        }
        return Ok(0);
    }
    let failed = format!("{} of {all} failed", checked.failed);
    let list = args.list.display();
    let may_update =
        |it: &CheckedTrace| matches!(it.verdict, Verdict::Different | Verdict::UnknownDriver);
    if !checked.traces.iter().any(may_update) {
        return Err(Failure::answer(failed));
    }
    Err(Failure::no(match args.html.is_some() || args.images.is_some() {
        true => {
            format!("{failed}; `gapii-ctl check {list} --update` takes what was drawn as expected")
        }
        false => format!(
            "{failed}; `gapii-ctl check {list} --html FILE` shows how, and `--update` takes what was drawn as expected"
        ),
    }))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => Failure::unreachable(format!(
            "there is no list {name}; `gapii-ctl check --help` has one to begin with"
        )),
        _ => Failure::system(format!("can't read {name}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_is_named_after_its_trace_and_frame() {
        assert_eq!(picture_name(Path::new("a/b.gapii"), (0, 99)), "a-b.gapii-frame-000099.png");
    }

    #[test]
    fn missing_list_and_failed_traces_say_what_to_type() {
        let error = io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(unreadable(Path::new("x"), &error).to_type(), ["gapii-ctl check --help"]);
    }
}
