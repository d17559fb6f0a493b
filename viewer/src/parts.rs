//! Parts of a long trace, from which pictures are taken without playing everything before: 30 frames (`FRAMES`) each, cut out
//! with `gapii-ctl trim` when a picture in them is wanted first. The last 4 (`PARTS_MAX`) are kept. A trace that is short up to the
//! command, or cannot be trimmed, or whose part has other commands, is played from its beginning.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::kept::Kept;
use crate::question::{Frames, Words};
use crate::tool::{Cost, Tool, Unanswered};

/// Frames of a part.
const FRAMES: u64 = 30;
/// Most parts that are kept.
const PARTS_MAX: usize = 4;
/// Bytes of records that a driver plays in about a second.
const SHORT_BYTES: u64 = 256 << 20;

/// What `gapii-ctl frames` answers.
#[derive(Clone, Debug, Default, Deserialize)]
struct Listed {
    frames: Vec<Frame>,
}

#[derive(Clone, Debug, Deserialize)]
struct Frame {
    seq: u64,
}

/// What `gapii-ctl info` answers.
#[derive(Clone, Debug, Default, Deserialize)]
struct Info {
    commands: u64,
    raw_bytes: u64,
}

/// A part of a trace as a file.
#[derive(Clone, Debug)]
struct Part {
    path: PathBuf,
    /// Numbers of its commands are lower by this than those of the trace.
    lower_by: i64,
    /// The last command of each of its frames, as it is numbered there.
    ends: Vec<u64>,
}

/// The parts of one trace.
pub struct Parts {
    trace: PathBuf,
    whole_below: u64,
    folder: PathBuf,
    facts: OnceCell<(Info, Listed)>,
    kept: Kept<u64, Option<Part>>,
}

impl Parts {
    /// Makes parts of `trace` in `folder`. Up to command `whole_below` the trace is short.
    pub fn new(trace: PathBuf, folder: PathBuf, whole_below: u64) -> Self {
        Self { trace, folder, whole_below, facts: OnceCell::new(), kept: Kept::new(PARTS_MAX) }
    }

    /// Returns a trace that plays to the command `at` soon, and the number that this command has in it.
    ///
    /// # Errors
    /// [`Unanswered`]: the trace cannot be read.
    pub async fn find(&self, at: u64, tool: &Tool) -> Result<(PathBuf, u64), Unanswered> {
        let whole = || (self.trace.clone(), at);
        let (info, Listed { frames }) = self.facts.get_or_try_init(|| self.read(tool)).await?;
        let share = at as f64 / info.commands.max(1) as f64;
        let is_short =
            at < self.whole_below && (share * info.raw_bytes as f64) < SHORT_BYTES as f64;
        let frame = frames.partition_point(|frame| frame.seq < at) as u64;
        let first = frame / FRAMES * FRAMES;
        if is_short || first == 0 {
            return Ok(whole());
        }
        let forget = |part: &Option<Part>| {
            _ = part.as_ref().map(|part| fs::remove_file(&part.path));
        };
        let part = self.kept.get(first, || self.cut(first, frames, tool), forget).await?;
        let place = part.and_then(|part| {
            let own = at.checked_add_signed(-part.lower_by)?;
            // A command that could not be played is missing, and all behind it have other numbers.
            let expected = frames.get(frame as usize)?.seq.checked_add_signed(-part.lower_by)?;
            (part.ends.get((frame - first) as usize) == Some(&expected)).then_some((part.path, own))
        });
        Ok(place.unwrap_or_else(whole))
    }

    async fn read(&self, tool: &Tool) -> Result<(Info, Listed), Unanswered> {
        let info = tool.ask(Cost::Read, Words::of("info", &self.trace).as_slice()).await?;
        Ok((serde_json::from_slice(&info).unwrap_or_default(), listed(&self.trace, tool).await?))
    }

    /// Cuts out the part that begins with a frame; `None` if that cannot be done.
    async fn cut(
        &self,
        first: u64,
        frames: &[Frame],
        tool: &Tool,
    ) -> Result<Option<Part>, Unanswered> {
        let path = self.folder.join(format!("part-{first}.gapii"));
        let words = Words::of("trim", &self.trace)
            .with("frames", format!("{first}..{}", first + FRAMES))
            .with_path("output", &path)
            .word("--force");
        match tool.ask(Cost::Replay, words.as_slice()).await {
            Ok(_) => {}
            Err(Unanswered::Refused(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
        let ends: Vec<u64> = listed(&path, tool).await?.frames.iter().map(|it| it.seq).collect();
        let pair = frames.get(first as usize).map(|frame| frame.seq).zip(ends.first().copied());
        let lower_by = pair
            .and_then(|(whole, own)| Some(i64::try_from(whole).ok()?.saturating_sub_unsigned(own)));
        Ok(lower_by.map(|lower_by| Part { path, lower_by, ends }))
    }
}

async fn listed(trace: &Path, tool: &Tool) -> Result<Listed, Unanswered> {
    let frames = tool.ask(Cost::Read, Frames::default().words(trace).as_slice()).await?;
    Ok(serde_json::from_slice(&frames).unwrap_or_default())
}
