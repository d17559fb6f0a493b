//! Uploads that repeat: the same bytes go to the same place of the same object in at least `FRAMES_MIN` frames in a row, or at
//! least `UPLOADS_MIN` times in fewer.
//! Bytes are the same if they are the same blob; uploads of fewer than 512 bytes are no blobs, and not looked at.

use std::hash::{Hash, Hasher};

use gapii_state::generated::functions::{bound_texture, is_buffer_target};
use gapii_trace::Command;
use gapii_trace::description::Observed;
use gapii_trace::value::Observation;

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::{Place, Seen};
use crate::digest::{self, Map};
use crate::role::Role;

/// Fewest frames in a row that make a problem.
const FRAMES_MIN: u64 = 8;
/// Fewest uploads in fewer frames that make a problem.
const UPLOADS_MIN: u64 = 16;
/// Most uploads that are kept.
const RUNS_MAX: usize = 16_384;

/// The last uploads.
#[derive(Default)]
pub struct Uploads {
    /// By digest of the process, the object and the arguments.
    runs: Map<u64, Run>,
}

/// An upload that repeats.
struct Run {
    /// Digest of the bytes.
    contents: u64,
    place: Place,
    function: String,
    /// The object, for a sentence.
    object: String,
    /// Bytes of one upload.
    size: u64,
    last_frame: u64,
    /// Frames in a row.
    frames: u64,
    /// Uploads in them.
    uploads: u64,
}

impl Uploads {
    /// Notes an upload.
    pub fn look(&mut self, seen: &Seen<'_>, groups: &mut Groups) {
        if !seen.is_in_frames || !Role::Upload.is_of(seen.known) || !seen.command.has_memory() {
            return;
        }
        let (mut key, mut contents) = (digest::begin(), digest::begin());
        let size = blobs(seen.command, &mut key, &mut contents);
        if size == 0 {
            return;
        }
        let contents = contents.finish();
        let object = object(seen);
        let Command { process, id, frame, .. } = *seen.command;
        (process, id, &object).hash(&mut key);
        let key = key.finish();
        if self.runs.len() >= RUNS_MAX && !self.runs.contains_key(&key) {
            self.forget_before(frame, groups);
            if self.runs.len() >= RUNS_MAX {
                return;
            }
        }
        let begin = || Run {
            contents,
            place: seen.place(),
            function: seen.name(),
            object: object.1,
            size,
            last_frame: frame,
            frames: 1,
            uploads: 0,
        };
        let run = self.runs.entry(key).or_insert_with(begin);
        match frame.saturating_sub(run.last_frame) {
            0 if run.contents == contents => {}
            1 if run.contents == contents => run.frames += 1,
            _ => {
                run.tell(groups);
                (run.contents, run.size, run.place) = (contents, size, seen.place());
                (run.frames, run.uploads) = (1, 0);
            }
        }
        run.last_frame = frame;
        run.uploads += 1;
    }

    /// Adds the uploads that repeat until the end.
    pub fn finish(&mut self, groups: &mut Groups) {
        let mut runs: Vec<Run> = self.runs.drain().map(|(_, run)| run).collect();
        runs.sort_by_key(|run| run.place.seq);
        runs.iter().for_each(|run| run.tell(groups));
    }

    /// Forgets uploads that ended before a frame. Those of other processes, whose frames have other numbers, may go as well.
    fn forget_before(&mut self, frame: u64, groups: &mut Groups) {
        self.runs.retain(|_, run| {
            let is_kept = run.last_frame.saturating_add(1) >= frame;
            if !is_kept {
                run.tell(groups);
            }
            is_kept
        });
    }
}

impl Run {
    /// Adds the run to the problems, if it is long.
    fn tell(&self, groups: &mut Groups) {
        let is_in_many_frames = self.frames >= FRAMES_MIN;
        if !is_in_many_frames && self.uploads < UPLOADS_MIN {
            return;
        }
        let Self { function, object, size, .. } = self;
        let count = self.uploads.saturating_sub(1);
        let how =
            if is_in_many_frames { "in many frames in a row" } else { "many times in a frame" };
        let sentence = format!("{function} passes the bytes that {object} has, {how}");
        let found = Found {
            detail: Some(self.amount()),
            count,
            frames: Some(self.frames),
            last_frame: Some(self.last_frame),
            bytes: Some(count.saturating_mul(*size)),
            ..Found::one(ProblemKind::RepeatedUpload, Severity::Warning, sentence)
        };
        groups.add(found, self.place);
    }

    /// Bytes a frame of all these uploads, in words.
    fn amount(&self) -> String {
        let Self { size, frames, uploads, .. } = *self;
        let a_frame = in_units(size.saturating_mul(uploads) / frames.max(1));
        let several = if frames == 1 { "" } else { "s" };
        format!(
            "{a_frame} a frame, by {uploads} uploads of {} in {frames} frame{several}",
            in_units(size)
        )
    }
}

/// Returns a number of bytes with a decimal unit, as `gapii-ctl` writes sizes.
fn in_units(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.2} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} B"),
    }
}

/// Hashes the arguments that are no memory, and the memory that the command read. Returns the bytes of the blobs.
fn blobs(command: &Command<'_>, key: &mut digest::Digest, contents: &mut digest::Digest) -> u64 {
    let mut total: u64 = 0;
    let mut add = |observation: Observation<'_>| match observation {
        Observation::Blob { name, size } => {
            name.hash(contents);
            total = total.saturating_add(size);
        }
        Observation::Bytes(bytes) => bytes.hash(contents),
        _ => {}
    };
    for arg in command.args() {
        match arg.observation {
            Observation::None => arg.value.bits().hash(key),
            seen if arg.param.observed == Observed::In => add(seen),
            _ => {}
        }
    }
    for range in command.ranges_read() {
        add(range.observation);
    }
    total
}

/// The object that the command fills: a number that tells apart objects of different share groups, and words.
fn object(seen: &Seen<'_>) -> (u64, String) {
    let context = seen.thread.and_then(|thread| thread.context.as_deref());
    let group = context.map_or(0, |context| context.group.number());
    let named = |param: &'static str| Some((param, seen.number(param)?));
    let bound = || {
        let target = seen.number("target")? as u32;
        let context = context?;
        Some(match is_buffer_target(target) {
            true => ("buffer", context.buffer_at(target).name()),
            false => ("texture", bound_texture(context, target).name()),
        })
    };
    let found = named("texture").or_else(|| named("buffer")).or_else(bound);
    (group, found.map_or_else(|| "the object".to_owned(), |(kind, name)| format!("{kind} {name}")))
}
