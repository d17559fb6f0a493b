//! The recorder: writes what a thread of a program does into the thread's ring.
//!
//! | | |
//! |---|---|
//! | [`Thread`] | a thread's state; its gate says whether the thread is inside a command |
//! | [`Entered`] | the right to use a thread's [`Recorder`], from when the gate closes until it opens |
//! | [`Call`] | a command on its way through the recorder: [`Call`], then [`Entering`], then [`InFlight`] |
//! | [`observe`] | the memory that a command's arguments lead to |
//! | [`blob`] | larger pieces of memory, sent once and then named |
//! | [`Shared`] | what the threads of a process share: rings, pages, tables of blobs |
//! | [`Host`] | what the process decides while a ring is full |
//!
//! Knows no driver, no thread-local variable and no state of a program. Never allocates on the path of a command, and
//! makes a system call only where a ring is full or memory may be unreadable. Its tests run under Miri.
//!
//! ```
//! use gapii_edges::Epoch;
//! use gapii_recorder::{Call, Part, Shared, Thread};
//! use gapii_ringbuf::{CounterMap, ModeMap, Segment, SegmentLayout};
//!
//! static EPOCH: Epoch = Epoch::none();
//!
//! // A daemon sends a segment and two pages; here they are this process's own.
//! let (segment, _) = Segment::create(SegmentLayout::default())?;
//! let (counter, _) = CounterMap::create()?;
//! let shared = Shared::new(segment.into(), counter, ModeMap::idle()?).ok_or("no memory")?;
//! let shared: &'static Shared = Box::leak(Box::new(shared));
//!
//! // A thread claims a slot, and enters at its first command of a capture.
//! let slot = shared.segment.claim(1, [0; 16]).ok_or("no slot")?;
//! let state = Box::leak(Box::new(std::mem::MaybeUninit::zeroed())).as_mut_ptr();
//! // SAFETY: zeros that stay, and a slot of this thread's.
//! let thread = unsafe { Thread::claim(state, 1, shared, slot) }.ok_or("no ring")?;
//! EPOCH.begin(17, 2);
//! // SAFETY: in the thread itself, which was just claimed.
//! let (mut entered, epoch) = unsafe { thread.enter_slowly(&EPOCH) }.ok_or("no capture")?;
//! thread.begin_epoch(epoch);
//! thread.set_ready(true, false);
//! entered.begin_epoch(Part { epoch, order: 2, is_new_capture: true, is_timed: false, is_gpu_timed: false });
//!
//! // Command 3 has one argument. Its record is in the ring before the driver is called.
//! // SAFETY: the fixed part is the word that is written.
//! let entering = unsafe { Call::new(entered, 3).reserve(0, 8) }.ok_or("no room")?;
//! // SAFETY: the payload has room for a word.
//! unsafe { entering.put(0, 7_u64) };
//! // SAFETY: all of it is written.
//! let call = unsafe { entering.publish() };
//! // …the driver…
//! call.finish();
//!
//! // The next command takes the fast path.
//! // SAFETY: in the thread itself.
//! assert!(unsafe { thread.enter(&EPOCH) }.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod blob;
mod call;
mod clock;
mod errno;
mod frame_pixels;
mod host;
mod keeping;
pub mod observe;
pub mod own_memory;
mod part;
pub mod program;
mod ranges;
mod record;
mod recorder;
mod scalar;
mod scratch;
mod shared;
mod thread;

pub use call::{Call, Entering, InFlight};
pub use clock::clock_ns;
pub use errno::{ErrnoGuard, errno};
pub use frame_pixels::FramePixels;
pub use host::{ARGUMENT_WORDS, Host, Outlook, Timed};
pub use keeping::{Keeper, Keeping};
pub use part::Part;
pub use record::Writer;
pub use recorder::Recorder;
pub use scalar::{Scalar, word_of};
pub use shared::Shared;
pub use thread::{Entered, Thread};
