//! Counts a frame whose end is recorded.

use gapii_recorder::clock_ns;

use crate::capture;
use crate::tls::words;

/// Counts the frame that the command in progress has ended, and notes when, for the [hooks](crate::hooks). Returns when, in
/// nanoseconds of `CLOCK_MONOTONIC`; `None` if the frame does not belong to the capture.
pub fn count_recorded() -> Option<u64> {
    let (is_in_capture, is_last) = capture::count_frame();
    let (words, now_ns) = (words(), clock_ns());
    words.last_frame.set(is_last);
    words.frame_end_ns.set(now_ns);
    is_in_capture.then_some(now_ns)
}
