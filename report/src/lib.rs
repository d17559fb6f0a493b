//! A report about a trace: one HTML file that a browser shows without a server and without a network. It has graphs of
//! the frames, thumbnails, statistics, problems, a crash report, and what is known of the system.
//!
//! [`CheckPage`] is the page of `gapii-ctl check`, in the same form.
//!
//! The page has no script and loads nothing: its policy forbids both. Text from a trace is escaped. A page keeps within
//! the size that was asked for: it leaves out thumbnails, and then rows of frames, the least notable ones first, and says
//! so. The crate opens no file and replays nothing.
//!
//! ```
//! use gapii_analysis::stats::FrameStats;
//! use gapii_report::notable_frames;
//!
//! let frame = |frame, commands| FrameStats { frame, commands, ..FrameStats::default() };
//! let frames = [frame(0, 10), frame(1, 900), frame(2, 10), frame(3, 10), frame(4, 10)];
//! // The largest one, the one that differs most from the one before, and one of the others.
//! assert_eq!(notable_frames(&frames, &[], 3), [1, 2, 0]);
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod check_page;
mod graph;
mod notable;
mod numbers;
mod page;
mod picture;

pub use check_page::{CheckPage, CheckRow, Difference};
pub use notable::notable_frames;
pub use page::{FrameTime, Page, Report, Thumbnail};
