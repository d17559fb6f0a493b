//! Sums over captures, running and ended. They saturate, because some numbers are the programs' own. Captures into
//! memory add no bytes of files.

use std::sync::atomic::Ordering;

use gapii_capture::capture::Capture;
use gapii_control::Totals;

/// Returns what a capture adds to the sums. A capture into memory adds no file, and its bytes may become fewer.
pub(super) fn totals(capture: &Capture) -> Totals {
    let totals = capture.progress.totals();
    let file_bytes = if capture.kept.is_some() { 0 } else { totals.file_bytes };
    Totals { file_bytes, ..totals }
}

pub(super) fn refused_rings(capture: &Capture) -> u64 {
    // Relaxed: a number for people.
    capture.progress.refused_rings.load(Ordering::Relaxed)
}

/// Returns the sum of both. Some values are the programs' own account, so the sums saturate.
pub(super) fn sum(a: &Totals, b: &Totals) -> Totals {
    let of = |counter: fn(&Totals) -> u64| counter(a).saturating_add(counter(b));
    Totals {
        captures: of(|it| it.captures),
        frames: of(|it| it.frames),
        calls: of(|it| it.calls),
        records: of(|it| it.records),
        raw_bytes: of(|it| it.raw_bytes),
        blob_bytes: of(|it| it.blob_bytes),
        stored_bytes: of(|it| it.stored_bytes),
        ring_bytes: of(|it| it.ring_bytes),
        file_bytes: of(|it| it.file_bytes),
        lost: gapii_control::Lost { calls: of(|it| it.lost.calls), bytes: of(|it| it.lost.bytes) },
        waits: of(|it| it.waits),
        wait_ns: of(|it| it.wait_ns),
    }
}
