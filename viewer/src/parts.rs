//! Parts of a long trace, from which pictures are taken without playing everything before: 30 frames (`FRAMES`) each, cut out
//! with `gapii-ctl trim` when a picture in them is wanted first. The last 4 (`PARTS_MAX`) are kept. A trace that is short up to the
//! command, or cannot be trimmed, or whose part has other commands, is played from its beginning.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use tempfile::TempPath;
use tokio::sync::OnceCell;

use crate::kept::Kept;
use crate::question::{Frames, Words};
use crate::tool::{Cost, Tool, Unanswered};

/// Frames of a part.
const FRAMES: usize = 30;
/// Most parts that are kept.
const PARTS_MAX: usize = 4;
/// Bytes of records that a driver plays in about a second.
const SHORT_BYTES: u64 = 256 << 20;

/// What `gapii-ctl frames` answers.
#[derive(Clone, Debug, Default, Deserialize)]
struct Listed {
    first_seq: u64,
    frames: Vec<Frame>,
}

#[derive(Clone, Debug, Deserialize)]
struct Frame {
    /// Number of the frame.
    frame: u64,
    /// The command that ended it.
    seq: u64,
}

/// What `gapii-ctl info` answers.
#[derive(Clone, Debug, Default, Deserialize)]
struct Info {
    commands: u64,
    raw_bytes: u64,
}

/// A part of a trace as a file, which goes with the last user of the part.
#[derive(Clone, Debug)]
struct Part {
    path: Arc<TempPath>,
    /// Numbers of its commands are lower by this than those of the trace.
    lower_by: i64,
    /// The last command of each of its frames, as it is numbered there.
    ends: Vec<u64>,
}

/// A trace that plays to a command soon.
pub struct Near {
    /// The number that the command has in it.
    pub at: u64,
    trace: Source,
}

/// The whole trace, or a part of it.
enum Source {
    Whole(PathBuf),
    Part(Arc<TempPath>),
}

impl Near {
    /// Returns the path of the trace. It is there as long as this.
    pub fn trace(&self) -> &Path {
        match &self.trace {
            Source::Whole(path) => path,
            Source::Part(path) => path,
        }
    }
}

/// The parts of one trace.
pub struct Parts {
    trace: PathBuf,
    whole_below: u64,
    folder: PathBuf,
    facts: OnceCell<(Info, Listed)>,
    kept: Kept<usize, Part>,
}

impl Parts {
    /// Makes parts of `trace` in `folder`. Up to command `whole_below` the trace is short.
    pub fn new(trace: PathBuf, folder: PathBuf, whole_below: u64) -> Self {
        // Parts are about as large as each other.
        let kept = Kept::new(PARTS_MAX, u64::MAX, |_| 0);
        Self { trace, folder, whole_below, facts: OnceCell::new(), kept }
    }

    /// Returns a trace that plays to the command `at` soon.
    ///
    /// # Errors
    /// [`Unanswered`]: the trace cannot be read.
    pub async fn find(&self, at: u64, tool: &Tool) -> Result<Near, Unanswered> {
        let whole = || Near { at, trace: Source::Whole(self.trace.clone()) };
        let (info, Listed { first_seq, frames }) =
            self.facts.get_or_try_init(|| self.read(tool)).await?;
        let before = at.saturating_sub(*first_seq);
        let share = before as f64 / info.commands.max(1) as f64;
        let is_short =
            before < self.whole_below && (share * info.raw_bytes as f64) < SHORT_BYTES as f64;
        let place = frames.partition_point(|frame| frame.seq < at);
        let first = place / FRAMES * FRAMES;
        let Some(frame) = frames.get(place).filter(|_| !is_short && first > 0) else {
            return Ok(whole());
        };
        let wanted = frames.get(first..).unwrap_or_default();
        let part = match self.kept.get(first, || self.cut(wanted, tool)).await {
            Ok(part) => part,
            // It cannot be cut out.
            Err(Unanswered::Refused(_)) => return Ok(whole()),
            Err(error) => return Err(error),
        };
        let own = at.checked_add_signed(-part.lower_by);
        // A command that could not be played is missing, and all behind it have other numbers.
        let expected = frame.seq.checked_add_signed(-part.lower_by);
        let is_as_expected = part.ends.get(place - first).copied() == expected;
        let found = own.filter(|_| is_as_expected && expected.is_some());
        let found = found.map(|own| Near { at: own, trace: Source::Part(part.path) });
        Ok(found.unwrap_or_else(whole))
    }

    async fn read(&self, tool: &Tool) -> Result<(Info, Listed), Unanswered> {
        let info = tool.ask(Cost::Read, Words::of("info", &self.trace).as_slice()).await?;
        Ok((serde_json::from_slice(&info).unwrap_or_default(), listed(&self.trace, tool).await?))
    }

    /// Cuts out the part with the first of these frames.
    async fn cut(&self, frames: &[Frame], tool: &Tool) -> Result<Part, Unanswered> {
        let refused = || Unanswered::Refused("the part has no frame".to_owned());
        let frames = frames.get(..FRAMES).unwrap_or(frames);
        let ([first, ..], [.., last]) = (frames, frames) else { return Err(refused()) };
        let path = tempfile::Builder::new()
            .prefix(&format!("part-{}-", first.frame))
            .suffix(".gapii")
            .tempfile_in(&self.folder)?
            .into_temp_path();
        let words = Words::of("trim", &self.trace)
            .with("frames", format!("{}..{}", first.frame, last.frame.saturating_add(1)))
            .with_path("output", &path)
            .word("--force");
        tool.succeed(Cost::Replay, words.as_slice()).await?;
        let own = listed(&path, tool).await?.frames;
        let own_first = own.first().ok_or_else(refused)?.seq;
        let whole_first = i64::try_from(first.seq).ok();
        let lower_by = whole_first.map(|whole| whole.saturating_sub_unsigned(own_first));
        let ends = own.iter().map(|frame| frame.seq).collect();
        Ok(Part { path: Arc::new(path), lower_by: lower_by.ok_or_else(refused)?, ends })
    }
}

async fn listed(trace: &Path, tool: &Tool) -> Result<Listed, Unanswered> {
    let frames = tool.ask(Cost::Read, Frames::default().words(trace).as_slice()).await?;
    Ok(serde_json::from_slice(&frames).unwrap_or_default())
}
