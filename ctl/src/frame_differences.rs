//! Compares the frames of two traces: as they were recorded, where both traces have the pixels or their hashes, and
//! otherwise by replaying both. Pictures of the first trace wait for those of the second in memory, as PNG; above
//! `WAITING_BYTES_MAX`, 512 MiB, both traces are read again for the remaining frames. A frame that one trace lacks, or of
//! another size, is a difference. Differing frames are written to a folder if one is given.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gapii_analysis::diff::{Diff, RecordedFrame, Sides};
use gapii_replay::Options;
use gapii_replay::images::{Folder, FrameOf, Images, Picture, PixelDifference, beside, name_of};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::playing::{self, Stop};
use crate::text::counted;
use crate::trace_file::{self, Reader, unreadable};

/// Limit for the pictures that wait, in bytes.
const WAITING_BYTES_MAX: usize = 512 << 20;

/// A frame that differs between the traces.
#[derive(Serialize, JsonSchema)]
pub struct FrameDifference {
    /// File name that `replay --images` gives the frame's picture.
    pub name: String,
    /// Index of the process in the trace.
    pub process: u32,
    /// Number of the frame within its process, from 0.
    pub frame: u64,
    /// Source of the two frames.
    pub from: Source,
    /// Whether the pixels of both frames are known.
    #[serde(skip)]
    pub is_shown: bool,
    #[serde(flatten)]
    kind: Kind,
}

/// Where the pixels of a frame come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The pixels that the program drew, with its driver (`--observe-frames`).
    Recording,
    /// The pixels that this machine's driver draws.
    Replay,
}

impl FrameDifference {
    /// Number of the frame, after that of its process if this is not the first.
    pub fn number(&self) -> String {
        match self.process {
            0 => self.frame.to_string(),
            process => format!("{} of process {process}", self.frame),
        }
    }

    /// Number of frames directly after this one that are missing in the same trace.
    pub fn run_of<'d>(&'d self, next: &'d [FrameDifference]) -> &'d [FrameDifference] {
        let belongs = |(number, other): &(u64, &FrameDifference)| {
            (other.process, other.frame) == (self.process, self.frame.saturating_add(*number))
                && self.kind == other.kind
                && matches!(self.kind, Kind::OnlyInA | Kind::OnlyInB)
        };
        let count = (1..).zip(next).take_while(belongs).count();
        &next[..count]
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// How the pixels differ.
    Pixels(PixelDifference),
    /// Width and height in pixels of both pictures.
    Sizes([[u32; 2]; 2]),
    /// Hashes of the recorded pixels of both frames. The traces do not have the pixels.
    Hashes([String; 2]),
    /// Only the first trace has the frame.
    OnlyInA,
    /// Only the second trace has the frame.
    OnlyInB,
}

impl fmt::Display for FrameDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Pixels(PixelDifference { pixels, of, largest }) => {
                let pixels = counted(*pixels, "pixel");
                write!(f, "{pixels} of {of}, by {largest} of 255 at most")
            }
            Kind::Sizes([[aw, ah], [bw, bh]]) => write!(f, "{aw}x{ah} in A, {bw}x{bh} in B"),
            Kind::Hashes(_) => f.write_str("other pixels; the traces have only their hashes"),
            Kind::OnlyInA => f.write_str("in A only"),
            Kind::OnlyInB => f.write_str("in B only"),
        }
    }
}

/// Compares the frames of both traces, whose commands were compared before. `replays`: also those that were not observed.
/// Pictures of differing frames go to `folder`.
pub fn find(
    traces: [&PathBuf; 2],
    commands: &Diff,
    replays: bool,
    folder: Option<Folder>,
    stop: &Stop,
) -> Result<Vec<FrameDifference>, Failure> {
    let folder = folder.map(Arc::new);
    let with_pixels = commands.recorded.iter().filter(|frame| frame.has_pixels);
    let with_pixels: BTreeSet<FrameOf> = with_pixels.map(|it| (it.process, it.frame)).collect();
    let mut found = BTreeMap::new();
    let recorded = Reading { wanted: Wanted::Recorded(&with_pixels), folder: &folder, stop };
    if !with_pixels.is_empty() {
        found.extend(recorded.differences(traces)?);
    }
    let same =
        &commands.observed - &commands.recorded.iter().map(|it| (it.process, it.frame)).collect();
    let done: BTreeSet<FrameOf> = &same | &with_pixels;
    let mut replayed = match replays {
        true => {
            let wanted = Wanted::Replayed { done: &done };
            Reading { wanted, folder: &folder, stop }.differences(traces)?
        }
        false => BTreeMap::new(),
    };
    for frame in &commands.recorded {
        let place = (frame.process, frame.frame);
        let kind = found.remove(&place).unwrap_or_else(|| Kind::of(frame));
        // What the replays show is better than to know only that the frames differ.
        if !(matches!(kind, Kind::Hashes(_)) && replayed.contains_key(&place)) {
            replayed.remove(&place);
            found.insert(place, kind);
        }
    }
    if let Some(folder) = folder.and_then(Arc::into_inner) {
        folder.finish().map_err(Failure::system)?;
    }
    let named = |from| {
        let with_pixels = &with_pixels;
        move |((process, frame), kind): (FrameOf, Kind)| {
            let name = name_of(process, frame);
            let is_known = from == Source::Replay || with_pixels.contains(&(process, frame));
            let is_shown = is_known && matches!(kind, Kind::Pixels(_) | Kind::Sizes(_));
            FrameDifference { name, process, frame, from, is_shown, kind }
        }
    };
    let mut all: Vec<_> = found.into_iter().map(named(Source::Recording)).collect();
    all.extend(replayed.into_iter().map(named(Source::Replay)));
    all.sort_by_key(|it| (it.process, it.frame));
    Ok(all)
}

impl Kind {
    /// The difference of recorded frames whose pixels the traces do not both have.
    fn of(frame: &RecordedFrame) -> Self {
        let Sides { a, b } = frame.sizes;
        match a == b {
            true => Kind::Hashes([frame.names.a, frame.names.b].map(|name| name.to_string())),
            false => Kind::Sizes([a, b]),
        }
    }
}

/// How pictures are had from the traces.
struct Reading<'a> {
    wanted: Wanted<'a>,
    folder: &'a Option<Arc<Folder>>,
    stop: &'a Stop,
}

enum Wanted<'a> {
    /// The recorded pictures of these frames.
    Recorded(&'a BTreeSet<FrameOf>),
    /// All frames but these, as a replay draws them.
    Replayed { done: &'a BTreeSet<FrameOf> },
}

impl Reading<'_> {
    fn differences(&self, traces: [&PathBuf; 2]) -> Result<BTreeMap<FrameOf, Kind>, Failure> {
        let mut matching = Matching::new(WAITING_BYTES_MAX, self.folder.clone());
        if let Wanted::Replayed { done } = self.wanted {
            matching.done.clone_from(done);
        }
        let matching = Arc::new(Mutex::new(matching));
        while !lock(&matching).is_over {
            lock(&matching).begin();
            self.take(traces[0], &matching, Matching::take_a)?;
            self.take(traces[1], &matching, Matching::take_b)?;
            lock(&matching).end();
        }
        let mut matching = lock(&matching);
        match matching.failure.take() {
            Some(failure) => Err(Failure::system(failure)),
            None => Ok(std::mem::take(&mut matching.found)),
        }
    }

    fn take(
        &self,
        trace: &Path,
        matching: &Arc<Mutex<Matching>>,
        taker: Taker,
    ) -> Result<(), Failure> {
        let mut reader = trace_file::open(trace)?;
        let is_stopped = match self.wanted {
            Wanted::Recorded(wanted) => {
                read(trace, &mut reader, wanted, self.stop, |frame, picture| {
                    taker(&mut lock(matching), frame, picture)
                })?
            }
            Wanted::Replayed { .. } => {
                let matching = Arc::clone(matching);
                let images = Images::for_taker(Box::new(move |frame, picture| {
                    taker(&mut lock(&matching), frame, picture)
                }));
                let options = Options { images, ..Options::default() };
                playing::play(trace, &mut reader, options, self.stop.clone())?.cancelled
            }
        };
        match is_stopped {
            true => Err(Failure::answer("stopped before the frames were compared, as asked")),
            false => Ok(()),
        }
    }
}

/// Takes a picture; returns false if it wants no more.
type Taker = fn(&mut Matching, FrameOf, Picture) -> bool;

/// Passes the recorded pictures of these frames to `taker`. Returns true if it was stopped.
fn read(
    path: &Path,
    reader: &mut Reader,
    wanted: &BTreeSet<FrameOf>,
    stop: &Stop,
    mut taker: impl FnMut(FrameOf, Picture) -> bool,
) -> Result<bool, Failure> {
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    while let Some(command) = commands.next_command().map_err(|error| unreadable(path, &error))? {
        let frame = (command.process, command.frame);
        let observed = command.observed_frame.filter(|_| wanted.contains(&frame));
        let Some((observed, pixels)) = observed.zip(command.frame_pixels()) else { continue };
        let (width, height) = (observed.width, observed.height);
        let picture = Picture { width, height, rgba: Arc::unwrap_or_clone(pixels) };
        if stop.is_asked() {
            return Ok(true);
        }
        if !taker(frame, picture) {
            break;
        }
    }
    Ok(false)
}

fn lock(matching: &Mutex<Matching>) -> MutexGuard<'_, Matching> {
    matching.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Pictures of trace A that wait for those of trace B.
struct Matching {
    most_bytes: usize,
    /// Encoded as PNG.
    waiting: BTreeMap<FrameOf, Vec<u8>>,
    bytes: usize,
    /// Whether A has more frames than fit into memory; they are compared in another round.
    has_more: bool,
    /// Number of frames that earlier rounds have compared.
    done: BTreeSet<FrameOf>,
    found: BTreeMap<FrameOf, Kind>,
    is_over: bool,
    /// Where pictures of differing frames go.
    folder: Option<Arc<Folder>>,
    /// A picture that could not be written.
    failure: Option<String>,
}

impl Matching {
    fn new(most_bytes: usize, folder: Option<Arc<Folder>>) -> Self {
        Self {
            most_bytes,
            waiting: BTreeMap::new(),
            bytes: 0,
            has_more: false,
            done: BTreeSet::new(),
            found: BTreeMap::new(),
            is_over: false,
            folder,
            failure: None,
        }
    }

    /// Begins another round, in which both traces are replayed, A first.
    fn begin(&mut self) {
        self.has_more = false;
        self.bytes = 0;
    }

    /// Ends a round after both replays.
    fn end(&mut self) {
        for (frame, _) in std::mem::take(&mut self.waiting) {
            self.found.insert(frame, Kind::OnlyInA);
            self.done.insert(frame);
        }
        self.is_over = !self.has_more || self.failure.is_some();
    }

    /// Returns false if there is no room for more pictures.
    fn take_a(&mut self, frame: FrameOf, picture: Picture) -> bool {
        if self.done.contains(&frame) {
            return true;
        }
        // There is always room for one picture, so that every round makes progress.
        if self.bytes >= self.most_bytes && !self.waiting.is_empty() {
            self.has_more = true;
            return false;
        }
        let mut png = Vec::new();
        // Writing to memory cannot fail; if it did, B's picture would count as extra.
        let _ = picture.write_png(&mut png);
        self.bytes += png.len();
        self.waiting.insert(frame, png);
        true
    }

    /// Returns false when no picture waits any more and the rest is left to another round.
    fn take_b(&mut self, frame: FrameOf, picture: Picture) -> bool {
        if let Some(png) = self.waiting.remove(&frame) {
            self.done.insert(frame);
            if let Some((kind, a)) = compare(&png, &picture) {
                self.found.insert(frame, kind);
                self.show(frame, a, picture);
            }
        } else if !self.has_more && !self.done.contains(&frame) {
            self.done.insert(frame);
            self.found.insert(frame, Kind::OnlyInB);
        }
        self.failure.is_none() && !(self.has_more && self.waiting.is_empty())
    }

    /// Writes both pictures of a frame, if that is asked for.
    fn show(&mut self, (process, frame): FrameOf, a: Option<Picture>, b: Picture) {
        let (Some(folder), Some(a)) = (&self.folder, a) else { return };
        let name = format!("{}.png", name_of(process, frame));
        let written = folder.write(name, move |out| beside(&a, &b).write_png(out));
        self.failure = self.failure.take().or(written.err());
    }
}

/// Compares a picture of the first trace with one of the second. Returns the first picture, too, if they differ.
fn compare(a: &[u8], b: &Picture) -> Option<(Kind, Option<Picture>)> {
    let Ok(a) = Picture::read_png(Cursor::new(a)) else { return Some((Kind::OnlyInB, None)) };
    let size = |picture: &Picture| [picture.width, picture.height];
    let kind = match a.difference(b) {
        Some(difference) if difference.pixels == 0 => return None,
        Some(difference) => Kind::Pixels(difference),
        None => Kind::Sizes([size(&a), size(b)]),
    };
    Some((kind, Some(a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(color: u8) -> Picture {
        Picture { width: 8, height: 8, rgba: [color, 0, 0, 255].repeat(64) }
    }

    /// Compares frames with these colours, in as many rounds as needed.
    fn found(a: &[(FrameOf, u8)], b: &[(FrameOf, u8)], most_bytes: usize) -> (String, usize) {
        let (mut matching, mut rounds) = (Matching::new(most_bytes, None), 0);
        while !matching.is_over {
            matching.begin();
            let _ = a.iter().all(|(frame, color)| matching.take_a(*frame, picture(*color)));
            let _ = b.iter().all(|(frame, color)| matching.take_b(*frame, picture(*color)));
            matching.end();
            rounds += 1;
        }
        let name = |kind: &Kind| match kind {
            Kind::Pixels(difference) => format!("by {}", difference.largest),
            kind => format!("{kind:?}"),
        };
        let found = matching.found.iter();
        let words =
            found.map(|((process, frame), kind)| format!("{process}.{frame} {}", name(kind)));
        (words.collect::<Vec<_>>().join(", "), rounds)
    }

    #[test]
    fn frames_are_compared_whatever_room_there_is() {
        let a = [((0, 0), 1), ((1, 0), 2), ((0, 1), 3), ((0, 2), 4), ((0, 3), 5)];
        // The processes of B took turns in another order.
        let b = [((1, 0), 2), ((0, 0), 1), ((0, 1), 9), ((0, 2), 4), ((1, 1), 7)];
        let expected = "0.1 by 6, 0.3 OnlyInA, 1.1 OnlyInB";
        assert_eq!(found(&a, &b, usize::MAX), (expected.to_owned(), 1));
        assert_eq!(found(&a, &b, 1), (expected.to_owned(), 5));
        let mut png = Vec::new();
        picture(1).write_png(&mut png).expect("memory");
        // The limit has room for two pictures.
        assert_eq!(found(&a, &b, png.len() + 1), (expected.to_owned(), 3));
    }

    #[test]
    fn same_frames_differ_nowhere() {
        let frames = [((0, 0), 1), ((0, 1), 2)];
        assert_eq!(found(&frames, &frames, 1).0, "");
        assert_eq!(found(&[], &[], 1), (String::new(), 1));
    }

    #[test]
    fn frames_that_are_missing_one_after_the_other_are_a_run() {
        let missing = |process, frame| {
            let name = name_of(process, frame);
            FrameDifference {
                name,
                process,
                frame,
                from: Source::Replay,
                is_shown: false,
                kind: Kind::OnlyInA,
            }
        };
        let all = [missing(0, 3), missing(0, 4), missing(0, 5), missing(0, 7), missing(1, 8)];
        let run = |at: usize| all[at].run_of(&all[at + 1..]).len();
        assert_eq!([run(0), run(2), run(3), run(4)], [2, 0, 0, 0]);
    }
}
