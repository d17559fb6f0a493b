//! What came of a replay.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::images::Taken;
use crate::tally::Tally;

pub use crate::tally::SkippedCommand;
use crate::verify::Verified;

/// What was played, and what was not.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Commands handed to the driver, or answered by the player where only it can.
    pub played: u64,
    /// Commands that were not played, and why, by reason and function.
    pub skipped: u64,
    /// Frames that ended.
    pub frames: u64,
    pub threads: usize,
    /// The program had surfaces or contexts, so that its frames can be looked at.
    pub has_surfaces: bool,
    /// The first of the skipped commands.
    pub skips: Vec<SkippedCommand>,
    /// Skipped commands by function.
    pub skips_by_function: BTreeMap<String, u64>,
    /// What is worth knowing, once each.
    pub notes: Vec<String>,
    /// What comparing with the recording came to, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// What came of the pictures that were asked for.
    pub images: Taken,
    /// The stop was asked for.
    pub cancelled: bool,
    /// Time from the first command to the last, in seconds.
    pub seconds: f64,
}

impl Report {
    /// The report of a replay that has played and skipped so much.
    pub(crate) fn of(tally: Tally) -> Self {
        let Tally { played, skipped, skips, skips_by_function, notes } = tally;
        Self { played, skipped, skips, skips_by_function, notes, ..Self::default() }
    }
}
