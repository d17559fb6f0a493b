//! Totals of the memory that the records of a stream hold and refer to.
//!
//! Looks at observations and frames alone; blobs are counted as they are found.

use gapii_abi::atom::{Frame, Header, LEAVE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blob_name::BlobName;
use super::blobs::{BlobNumber, NoBlobs};
use super::description::Function;
use super::value::{Names, Observation, Observations, slots};

/// Totals of the memory that the records of a stream hold and refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemoryTotals {
    /// Complete blobs in the stream. A blob that comes twice counts twice.
    pub blobs: u64,
    /// Bytes of these blobs.
    pub blob_bytes: u64,
    /// Observations and frames whose bytes are a blob.
    pub references: u64,
    /// Bytes of these observations and frames.
    pub referenced_bytes: u64,
    /// Bytes of all observations, and of the frames whose pixels are a blob.
    pub observed_bytes: u64,
    /// Commands that read memory of unknown extent, which the stream does not have.
    #[serde(skip_serializing_if = "is_zero")]
    pub incomplete: u64,
}

/// How a record refers to a blob.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reference {
    Name(BlobName),
    /// By a number that has no name so far.
    Number(BlobNumber),
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl MemoryTotals {
    /// Returns the bytes that the stream saves by referring to blobs instead of repeating them.
    pub fn saved_bytes(&self) -> u64 {
        self.referenced_bytes.saturating_sub(self.blob_bytes)
    }

    /// Counts the observations in a command's record.
    pub fn command(&mut self, function: &Function, header: Header, payload: &[u8]) {
        let names = Names { source: &NoBlobs, process: 0 };
        self.observations(function, header, payload, names, |_, _| {});
    }

    /// Counts the observations in a command's record. `names` has the names of the blobs that they refer to. Calls
    /// `refer` with each of these blobs and its size.
    pub(super) fn observations(
        &mut self,
        function: &Function,
        header: Header,
        payload: &[u8],
        names: Names<'_>,
        mut refer: impl FnMut(Reference, u64),
    ) {
        let is_leave = header.flags() & LEAVE != 0;
        let is_incomplete =
            each_observation(function, is_leave, (payload, names), |seen| match seen {
                Observation::Bytes(bytes) => self.observe(bytes.len() as u64),
                Observation::Blob { name, size } => {
                    self.refer(size);
                    refer(Reference::Name(name), size);
                }
                Observation::Unnamed { number, size } => {
                    self.refer(size);
                    refer(Reference::Number(number), size);
                }
                Observation::None
                | Observation::Unrecorded { .. }
                | Observation::Missing { .. } => {}
            });
        self.incomplete += u64::from(is_incomplete && !is_leave);
    }

    /// Counts a frame that was read back, if its pixels are a blob.
    pub fn frame(&mut self, frame: &Frame) {
        if frame.has_pixels() {
            self.refer(frame.size());
        }
    }

    /// Adds the counts of another part of the stream.
    pub fn add(&mut self, other: &Self) {
        self.blobs += other.blobs;
        self.blob_bytes = self.blob_bytes.saturating_add(other.blob_bytes);
        self.references += other.references;
        self.referenced_bytes = self.referenced_bytes.saturating_add(other.referenced_bytes);
        self.observed_bytes = self.observed_bytes.saturating_add(other.observed_bytes);
        self.incomplete += other.incomplete;
    }

    /// Counts a complete blob of `size` bytes.
    pub fn blob(&mut self, size: u64) {
        self.blobs += 1;
        self.blob_bytes = self.blob_bytes.saturating_add(size);
    }

    fn refer(&mut self, size: u64) {
        self.observe(size);
        self.references += 1;
        self.referenced_bytes = self.referenced_bytes.saturating_add(size);
    }

    fn observe(&mut self, size: u64) {
        self.observed_bytes = self.observed_bytes.saturating_add(size);
    }
}

/// Calls `take` with each observation of a record: slots, then ranges. Returns whether a range has an unknown extent.
fn each_observation<'a>(
    function: &Function,
    is_leave: bool,
    (payload, names): (&'a [u8], Names<'a>),
    mut take: impl FnMut(Observation<'a>),
) -> bool {
    let fixed_len = match is_leave {
        true => function.result_len(),
        false => function.fixed_len as usize,
    };
    if payload.len() <= fixed_len.next_multiple_of(8) {
        return false;
    }
    let mut seen = Observations::new(payload, fixed_len, names);
    for _ in 0..slots(function, is_leave) {
        take(seen.slot());
    }
    let mut has_unknown = false;
    for range in seen.ranges() {
        has_unknown |= range.is_unknown();
        take(range.observation);
    }
    has_unknown
}
