//! Contents that are sent while the program runs on. A snapshot copies them while the program is held, and its records
//! refer to them as *owed blobs*. A thread of the shim's own sends the copies and ends. The copies of a process take at
//! most `--attach-memory` (default 512 MiB); contents without room there are sent while the program is held.
//!
//! Only the snapshot with which a capture begins owes contents. A keyframe must be whole as soon as it is written: frames
//! that are kept may be saved at any moment, and another capture may take the program's records from the keyframe on.
//!
//! The segment's header counts the owed blobs. The daemon waits for them before it ends a capture, and a program that
//! exits waits, too. What is given up because the daemon takes nothing for the stall limit (default 2 s), or because
//! the program is killed, is missing in the trace, which says so.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use gapii_recorder::Entered;
use gapii_recorder::blob::{Number, next_number};
use gapii_ringbuf::SegmentHeader;

use super::blocked_signals::Blocked;
use crate::capture;
use crate::claim;
use crate::connection::Connection;
use crate::copies::COPIES;
use crate::process;
use crate::tls::{SENDS_OWED, words};

/// Contents of fewer bytes are sent at once.
const BYTES_MIN: usize = 16 << 10;
/// How much less the sending thread gets of a processor than others (`setpriority`).
const NICE: libc::c_int = 10;
/// How often a program that exits looks whether all is sent.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Bytes of the copies in this process. Relaxed everywhere: a number on its own.
static COPIED: AtomicU64 = AtomicU64::new(0);

/// Memory that a setup command uploads.
#[derive(Clone, Copy)]
pub struct Uploaded {
    pub address: u64,
    /// Bytes.
    pub len: u64,
    /// The number of the blob that is still to be sent.
    pub owed: Option<Number>,
}

impl Uploaded {
    /// Bytes that are sent with the command.
    pub fn of(bytes: &[u8]) -> Self {
        Self::at(bytes.as_ptr() as u64, bytes.len() as u64)
    }

    /// As [`Self::of`], for memory that may be unmapped.
    pub fn at(address: u64, len: u64) -> Self {
        Self { address, len, owed: None }
    }
}

/// The copies of one thread's part of the snapshot, and the thread that sends them when the program runs on.
pub struct Outbox {
    parcels: Vec<Parcel>,
    to_sender: Sender<Parcel>,
    connection: &'static Connection,
    /// The region of memory for the copies is this one's to close.
    has_region: bool,
}

/// A copy that is still to be sent.
struct Parcel {
    number: Number,
    bytes: Vec<u8>,
}

/// The contents that a thread owes in its part of a snapshot.
#[derive(Default)]
pub enum Debts {
    /// Nothing was owed so far.
    #[default]
    None,
    /// No thread can be started that sends what is owed.
    Refused,
    Open(Outbox),
}

impl Debts {
    /// Whether contents of this size would be owed, as far as there is room. Makes ready for them.
    pub fn prepare(&mut self, bytes: usize) -> bool {
        if bytes < BYTES_MIN || matches!(self, Self::Refused) || !is_allowed() {
            return false;
        }
        if matches!(self, Self::None) {
            *self = Outbox::begin().map_or(Self::Refused, Self::Open);
        }
        matches!(self, Self::Open(_))
    }

    /// Takes the bytes, to be sent later. They may stay in `bytes`. `None`: they must be sent now.
    pub fn owe(&mut self, bytes: &mut Vec<u8>) -> Option<Uploaded> {
        let len = bytes.len() as u64;
        if !self.prepare(bytes.len()) {
            return None;
        }
        let Self::Open(outbox) = self else { return None };
        let header = outbox.connection.shared.segment.header();
        let Some(parcel) = Parcel::of(bytes) else {
            header.held_bytes.fetch_add(len, Relaxed);
            return None;
        };
        let address = parcel.bytes.as_ptr() as u64;
        let uploaded = Uploaded { address, len, owed: Some(parcel.number) };
        // Relaxed: see ENDED. The daemon learns of a capture's end after the records of its snapshot.
        header.owed_blobs.fetch_add(1, Relaxed);
        outbox.parcels.push(parcel);
        Some(uploaded)
    }
}

impl Outbox {
    /// Starts the thread that sends. `None` if it cannot record.
    fn begin() -> Option<Self> {
        let connection = process::connection()?;
        let epoch = words().thread()?.epoch();
        let (to_sender, to_send) = mpsc::channel::<Parcel>();
        let (started, starts) = mpsc::sync_channel(1);
        let blocked = Blocked::all();
        let thread = std::thread::Builder::new().spawn(move || {
            let entered = begin_thread(epoch);
            // The describing thread waits for this word.
            let _ = started.send(entered.is_some());
            let Some(mut entered) = entered else { return };
            send_all(&mut entered, &to_send, connection.shared.segment.header());
            claim::end_sending(entered);
            connection.shared.counter.ring_doorbell();
        });
        thread.ok()?;
        starts.recv().ok().filter(|is_in| *is_in)?;
        let has_region = usize::try_from(capture::attach_bytes()).is_ok_and(|it| COPIES.open(it));
        if has_region {
            // Without the thread the kernel makes the memory when it is written.
            let _ = std::thread::Builder::new().spawn(|| COPIES.populate());
        }
        drop(blocked);
        Some(Self { parcels: Vec::new(), to_sender, connection, has_region })
    }
}

/// The part is described: the program runs on, and the copies are sent.
impl Drop for Outbox {
    fn drop(&mut self) {
        if self.has_region {
            COPIES.close();
        }
        for parcel in self.parcels.drain(..) {
            // The sending thread takes all that come.
            let _ = self.to_sender.send(parcel);
        }
    }
}

impl Parcel {
    /// `None` if there is no room for the copy.
    fn of(bytes: &mut Vec<u8>) -> Option<Self> {
        let len = bytes.len() as u64;
        let limit = capture::attach_bytes();
        let with = |copied: u64| copied.checked_add(len).filter(|all| *all <= limit);
        COPIED.fetch_update(Relaxed, Relaxed, with).ok()?;
        let is_tight = bytes.capacity() - bytes.len() <= bytes.len() / 4;
        let own = if is_tight { core::mem::take(bytes) } else { bytes.clone() };
        Some(Self { number: next_number(), bytes: own })
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        COPIED.fetch_sub(self.bytes.len() as u64, Relaxed);
    }
}

/// Whether the running capture's first snapshot may owe contents.
fn is_allowed() -> bool {
    let epoch = words().thread().map_or(0, gapii_recorder::Thread::epoch);
    capture::attach_bytes() > 0
        && capture::is_first_of_this_capture(epoch)
        && !capture::has_several_takers()
}

/// Enters a thread of the shim's own into the capture.
fn begin_thread(epoch: u64) -> Option<Entered> {
    words().set_aside(SENDS_OWED, true);
    // SAFETY: a name that ends, and this thread.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"gapii contents".as_ptr()) };
    // SAFETY: of this thread alone, which 0 means; without the right to it, nothing changes.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    claim::begin_sending(epoch)
}

/// Sends all copies. After one that finds no room in time, gives up the others.
fn send_all(entered: &mut Entered, parcels: &Receiver<Parcel>, header: &SegmentHeader) {
    let mut is_given_up = false;
    for parcel in parcels {
        is_given_up = is_given_up || !entered.send_owed(&parcel.bytes, parcel.number);
        if is_given_up {
            header.unsent_blobs.fetch_add(1, Relaxed);
        }
        // ENDED: pairs with the acquire in Member::look, so that the daemon reads the blob's records.
        header.owed_blobs.fetch_sub(1, Release);
    }
}

/// Waits until all that is owed is sent, as long as the daemon takes any of it. For a program that exits.
pub fn wait_until_sent(connection: &Connection) {
    let owed = || connection.shared.segment.header().owed_blobs.load(Relaxed);
    let (mut copied, mut since) = (COPIED.load(Relaxed), Instant::now());
    while owed() > 0 && !connection.is_daemon_gone() && since.elapsed() < capture::stall_limit() {
        std::thread::sleep(LOOK_AGAIN);
        let now = COPIED.load(Relaxed);
        if now != copied {
            (copied, since) = (now, Instant::now());
        }
    }
}

/// For a forked child: the copies are the parent's.
pub fn forget() {
    COPIED.store(0, Relaxed);
}
