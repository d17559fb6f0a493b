//! Result of a replay.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::benchmark::MeasuredFrame;
use crate::images::{FrameChecksum, Picture, Taken};
use crate::parts::GlDriver;
use crate::tally::Tally;

pub use crate::tally::SkippedCommand;
use crate::verify::Verified;

/// Result of a replay.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// Number of commands that were played, including those that needed no call of the driver.
    pub played: u64,
    /// Number of skipped commands, without those of `refused`.
    pub skipped: u64,
    /// Number of commands that were not played and had failed in the recording.
    pub refused: u64,
    /// Number of frames that ended.
    pub frames: u64,
    /// Number of threads of the trace that were played.
    pub threads: usize,
    /// Largest number of these threads that were alive at once.
    pub threads_at_once: usize,
    /// Whether the program had surfaces or contexts, and so frames that can be looked at.
    pub has_surfaces: bool,
    /// The first skipped commands, at most 64.
    pub skips: Vec<SkippedCommand>,
    /// Number of skipped commands by function.
    pub skips_by_function: BTreeMap<String, u64>,
    /// Remarks, each once.
    pub notes: Vec<String>,
    /// Result of comparing with the recording, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// Result of taking pictures.
    pub images: Taken,
    /// Checksums of frames in the order in which they ended, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checksums: Vec<FrameChecksum>,
    /// How long frames took, in the order in which they ended, if that was to be measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frame_times: Vec<MeasuredFrame>,
    /// Driver that drew these frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<GlDriver>,
    /// Number of frames that should have a checksum and could not be read back.
    pub frames_missed: u64,
    /// Picture of the last frame, if it was to be kept.
    #[serde(skip)]
    pub last_picture: Option<Picture>,
    /// Whether a stop was requested.
    pub cancelled: bool,
    /// Time from the first command to the last, in seconds.
    pub seconds: f64,
}

impl Report {
    /// A report with the counts of `tally`.
    pub(crate) fn of(tally: Tally) -> Self {
        let Tally { played, skipped, refused, skips, skips_by_function, notes, .. } = tally;
        Self { played, skipped, refused, skips, skips_by_function, notes, ..Self::default() }
    }
}
