//! Sums over a stream, for people and for the footer. Lists up to 16,384 gaps (`GAPS_MAX`), later ones are added to the
//! thread's last gap; and up to 1,024 sentences about missing state (`MISSING_MAX`), each once; further ones are not
//! listed.

use gapii_trace::Untrusted;
use gapii_trace::footer::GapEntry;

/// Largest number of gaps that are listed one by one. Later ones are added to the thread's last gap.
pub(super) const GAPS_MAX: usize = 1 << 14;
/// Largest number of sentences about state that snapshots leave out.
pub const MISSING_MAX: usize = 1 << 10;

/// Sums over a stream.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Commands that took effect.
    pub(super) calls: u64,
    /// Commands of the program's own that do not belong to the stream.
    pub(super) left_out_calls: u64,
    /// Records taken, without those that the daemon writes itself.
    pub(super) records: u64,
    /// Bytes of finished blocks.
    pub(super) raw_bytes: u64,
    /// Bytes of blobs among them, and of these the bytes that came from stores.
    pub(super) blob_bytes: u64,
    pub(super) stored_bytes: u64,
    /// Gaps that records state.
    pub(super) gaps: Vec<GapEntry>,
    /// The stream has a snapshot.
    pub(super) snapshot: bool,
    /// The longest time that a thread was held for a snapshot, in microseconds.
    pub(super) held_us: u64,
    /// State that snapshots leave out, one sentence per item.
    pub(super) missing: Vec<Untrusted>,
    /// Commands that have no times on the GPU although they were asked for, one sentence per item.
    pub(super) without_gpu_times: Vec<Untrusted>,
}

/// Lists a gap, or adds it to the thread's last one if there are too many.
pub(super) fn add_gap(gaps: &mut Vec<GapEntry>, gap: GapEntry) {
    if gaps.len() >= GAPS_MAX
        && let Some(last) = gaps.iter_mut().rev().find(|last| last.thread == gap.thread)
    {
        last.records = last.records.saturating_add(gap.records);
        last.calls = last.calls.saturating_add(gap.calls);
        last.bytes = last.bytes.saturating_add(gap.bytes);
        last.last_stamp = gap.last_stamp;
        last.end_ns = gap.end_ns;
        return;
    }
    gaps.push(gap);
}

/// Lists a sentence, unless it is listed already: threads often leave out the same.
pub(super) fn add_new(missing: &mut Vec<Untrusted>, sentence: &Untrusted) {
    if missing.len() < MISSING_MAX && !missing.iter().any(|known| known == sentence) {
        missing.push(sentence.clone());
    }
}
