//! Compares the frames of two traces by replaying both. Pictures of the first trace wait for those of the second in
//! memory, as PNG; above `WAITING_BYTES_MAX`, 512 MiB, both traces are replayed again for the remaining frames. A frame
//! that one trace lacks, or of another size, is a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gapii_replay::Options;
use gapii_replay::images::{FrameOf, Images, Picture, PixelDifference, name_of};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::playing::{self, Stop};
use crate::text::counted;
use crate::trace_file;

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
    #[serde(flatten)]
    kind: Kind,
}

impl FrameDifference {
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
            Kind::OnlyInA => f.write_str("in A only"),
            Kind::OnlyInB => f.write_str("in B only"),
        }
    }
}

/// Replays both traces and compares their frames.
pub fn find(traces: [&PathBuf; 2], stop: &Stop) -> Result<Vec<FrameDifference>, Failure> {
    let matching = Arc::new(Mutex::new(Matching::new(WAITING_BYTES_MAX)));
    while !lock(&matching).is_over {
        lock(&matching).begin();
        take(traces[0], stop, &matching, Matching::take_a)?;
        take(traces[1], stop, &matching, Matching::take_b)?;
        lock(&matching).end();
    }
    let found = std::mem::take(&mut lock(&matching).found);
    let named = |((process, frame), kind)| {
        let name = name_of(process, frame);
        FrameDifference { name, process, frame, kind }
    };
    Ok(found.into_iter().map(named).collect())
}

/// Replays a trace for its pictures.
fn take(
    trace: &Path,
    stop: &Stop,
    matching: &Arc<Mutex<Matching>>,
    taker: fn(&mut Matching, FrameOf, Picture) -> bool,
) -> Result<(), Failure> {
    let mut reader = trace_file::open(trace)?;
    let matching = Arc::clone(matching);
    let images = Images::for_taker(Box::new(move |frame, picture| {
        taker(&mut lock(&matching), frame, picture)
    }));
    let options = Options { images, ..Options::default() };
    let report = playing::play(trace, &mut reader, options, stop.clone())?;
    match report.cancelled {
        true => Err(Failure::no("stopped before the frames were compared, as asked")),
        false => Ok(()),
    }
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
}

impl Matching {
    fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            waiting: BTreeMap::new(),
            bytes: 0,
            has_more: false,
            done: BTreeSet::new(),
            found: BTreeMap::new(),
            is_over: false,
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
        self.is_over = !self.has_more;
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
            if let Some(kind) = compare(&png, &picture) {
                self.found.insert(frame, kind);
            }
        } else if !self.has_more && !self.done.contains(&frame) {
            self.done.insert(frame);
            self.found.insert(frame, Kind::OnlyInB);
        }
        !(self.has_more && self.waiting.is_empty())
    }
}

fn compare(a: &[u8], b: &Picture) -> Option<Kind> {
    let Ok(a) = Picture::read_png(Cursor::new(a)) else { return Some(Kind::OnlyInB) };
    let size = |picture: &Picture| [picture.width, picture.height];
    match a.difference(b) {
        Some(difference) => (difference.pixels > 0).then_some(Kind::Pixels(difference)),
        None => Some(Kind::Sizes([size(&a), size(b)])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(color: u8) -> Picture {
        Picture { width: 8, height: 8, rgba: [color, 0, 0, 255].repeat(64) }
    }

    /// Compares frames with these colours, in as many rounds as needed.
    fn found(a: &[(FrameOf, u8)], b: &[(FrameOf, u8)], most_bytes: usize) -> (String, usize) {
        let (mut matching, mut rounds) = (Matching::new(most_bytes), 0);
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
            FrameDifference { name, process, frame, kind: Kind::OnlyInA }
        };
        let all = [missing(0, 3), missing(0, 4), missing(0, 5), missing(0, 7), missing(1, 8)];
        let run = |at: usize| all[at].run_of(&all[at + 1..]).len();
        assert_eq!([run(0), run(2), run(3), run(4)], [2, 0, 0, 0]);
    }
}
