//! Parts of traces, which `gapii-ctl trim` makes: they draw, answer and call what these frames or commands of the whole do.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::display::surfaceless;
use crate::gapii::{Command as Recorded, Session, Trace};
use crate::process::run;
use crate::replays::{Recorded as Played, images, record_app, verified};
use serde_json::Value;

/// `gapii-ctl trim --frames`, without a display.
pub fn trim(session: &Session, trace: &Path, frames: &str, part: &Path) -> Command {
    trim_by(session, trace, &["--frames", frames], part)
}

/// `gapii-ctl trim` with options that say what is wanted, without a display.
pub fn trim_by(session: &Session, trace: &Path, range: &[&str], part: &Path) -> Command {
    let mut command = session.ctl(["trim", "--json"]);
    command.args(range).arg("-o");
    command.arg(part).arg(trace);
    surfaceless(&mut command);
    command
}

/// The picture of a frame among files of pictures.
pub fn picture(files: &[PathBuf], frame: u64) -> Vec<u8> {
    let name = format!("frame-{frame:06}.png");
    let found = files.iter().find(|path| path.ends_with(&name));
    fs::read(found.unwrap_or_else(|| panic!("no {name} in {files:?}"))).expect("a picture")
}

/// The names of the commands of a trace that the program called.
pub fn called(commands: &[Recorded]) -> Vec<&str> {
    commands.iter().filter(|it| !it.setup).map(|it| it.name.as_str()).collect()
}

fn swaps(commands: &[Recorded]) -> u64 {
    commands.iter().filter(|it| it.name == "eglSwapBuffers").count() as u64
}

/// The last commands of a trace's frames.
fn ends(trace: &Trace) -> Vec<Option<u64>> {
    let list = trace.ask("frames", &["--json"]).ok().stdout;
    let list: Value = serde_json::from_str(&list).expect("a list of frames");
    let frames = list["frames"].as_array().expect("a list").iter();
    frames.map(|frame| frame["seq"].as_u64()).collect()
}

/// A trace that is trimmed, with its commands, the last commands of its frames, and pictures.
pub struct Whole {
    pub trace: Trace,
    pub commands: Vec<Recorded>,
    ends: Vec<Option<u64>>,
    pictures: Vec<PathBuf>,
}

impl Whole {
    pub fn new(session: &Session, trace: Trace, pictures: &str) -> Self {
        let commands = trace.commands();
        let pictures = images(session, &trace.path, pictures).expect("pictures of the whole");
        Self { ends: ends(&trace), trace, commands, pictures }
    }

    /// A trace with the commands of its replay, which leaves out some of the program's, such as those that did nothing.
    pub fn played(session: &Session, trace: Trace) -> Self {
        let played = Trace::new(session.path("played.gapii"));
        let all = format!("0..{}", ends(&trace).len());
        run(&mut trim(session, &trace.path, &all, &played.path)).ok();
        let whole = Self::new(session, trace, "whole");
        Self { commands: played.commands(), ends: ends(&played), ..whole }
    }

    /// Trims the commands `range` into `part`, which has all of them from `first` on, answers them as the whole and draws the same
    /// frames. Returns the part, and what trim says.
    #[track_caller]
    pub fn check(
        &self,
        session: &Session,
        (range, first): (Range<u64>, u64),
        part: &str,
    ) -> (Trace, String) {
        self.check_with(session, (range, first), part, &[])
    }

    /// [`Self::check`] with options of trim.
    #[track_caller]
    pub fn check_with(
        &self,
        session: &Session,
        (range, first): (Range<u64>, u64),
        part: &str,
        options: &[&str],
    ) -> (Trace, String) {
        let part = Trace::new(session.path(part));
        let [from, to] = [range.start, range.end].map(|seq| seq.to_string());
        let range_of = ["--from", &from, "--to", &to];
        let mut trim = trim_by(session, &self.trace.path, &range_of, &part.path);
        let said = run(trim.args(options)).ok().stderr;
        part.is_whole("exit");
        let at = |seq: u64| self.commands.iter().position(|it| it.seq == Some(seq));
        let begin = at(first).expect("the first command");
        let end = at(range.end - 1).expect("the last command") + 1;
        let own = part.commands();
        assert_eq!(called(&own), called(&self.commands[begin..end]), "{range:?}");
        let before = swaps(&self.commands[..begin]);
        self.check_drawn(session, &part, before..before + swaps(&own));
        (part, said)
    }

    /// Trims `frames` into `part`, which draws these frames, and calls and answers what the whole does in them.
    #[track_caller]
    pub fn check_frames(&self, session: &Session, frames: Range<u64>, part: &str) -> Trace {
        let part = Trace::new(session.path(part));
        let wanted = format!("{}..{}", frames.start, frames.end);
        run(&mut trim(session, &self.trace.path, &wanted, &part.path)).ok();
        part.is_whole("exit");
        assert_eq!(part.info()["frames"], frames.end - frames.start, "{wanted}");
        let end = |frame: u64| self.ends[frame as usize];
        let after = frames.start.checked_sub(1).and_then(end);
        let last = end(frames.end - 1);
        let is_in = |it: &&Recorded| it.seq > after && it.seq <= last;
        let expected: Vec<_> = self.commands.iter().filter(is_in).cloned().collect();
        assert_eq!(called(&part.commands()), called(&expected), "{wanted}");
        let drawn = self.check_drawn(session, &part, frames.clone());
        assert_eq!(drawn as u64, frames.end - frames.start, "{wanted}");
        part
    }

    /// Plays a part, which answers as it was recorded and draws these frames of the whole. Returns how many pictures it has.
    #[track_caller]
    fn check_drawn(&self, session: &Session, part: &Trace, frames: Range<u64>) -> usize {
        let folder = part.path.with_extension("pictures");
        let options = ["--strict", "--images", folder.to_str().expect("a path")];
        verified(session, part, &options).unwrap_or_else(|why| panic!("{frames:?}: {why}"));
        for frame in frames.clone() {
            let own = folder.join(format!("frame-{:06}.png", frame - frames.start));
            let same = fs::read(own).expect("a picture") == picture(&self.pictures, frame);
            assert!(same, "{frames:?}: frame {frame}");
        }
        fs::read_dir(folder).map_or(0, Iterator::count)
    }
}

/// Trims a program of `tests/apps/` in five ranges, and a part of it again. Returns how many of the parts are smaller than the
/// whole; `None` for a program of fewer than four frames.
pub fn check_app(name: &str) -> Option<usize> {
    let session = Session::new();
    let Played { trace, .. } = record_app(&session, name, &[]).expect(name);
    let whole = Whole::played(&session, trace);
    let end = whole.ends.len() as u64;
    if end < 4 {
        return None;
    }
    let middle = end / 2;
    let ranges = [0..2, 1..3, middle..middle + 1, 2..end, 1..end];
    let parts: Vec<Trace> = (0..)
        .zip(ranges)
        .map(|(at, range)| whole.check_frames(&session, range, &format!("{at}.gapii")))
        .collect();
    let bytes = |trace: &Trace| fs::metadata(&trace.path).expect("a file").len();
    let smaller = parts.iter().filter(|part| bytes(part) < bytes(&whole.trace)).count();
    let [.., once, first] = <[Trace; 5]>::try_from(parts).ok().expect("five parts");
    let first = Whole::new(&session, first, "first");
    let twice = first.check_frames(&session, 1..end - 1, "twice.gapii");
    assert_eq!(called(&once.commands()), called(&twice.commands()), "{name}");
    let [once, twice] = [(once, "once"), (twice, "twice")]
        .map(|(part, name)| images(&session, &part.path, name).expect("pictures"));
    for frame in 0..end - 2 {
        assert!(picture(&once, frame) == picture(&twice, frame), "{name}: frame {frame} twice");
    }
    Some(smaller)
}
