//! How a thread gets a slot, and its first record. A thread of the shim's own that sends contents is in the trace like
//! any other, with the name `gapii contents` and no command.

use gapii_abi::atom;
use gapii_recorder::{Entered, Part, Recorder, Thread};

use crate::capture::EPOCH;
use crate::connection::Connection;
use crate::process;

/// Claims a free slot for this thread. `None`: there is none.
pub fn claim(connection: &'static Connection) -> Option<&'static Thread> {
    let segment = &connection.shared.segment;
    let tid = gettid();
    let slot = if segment.is_full() { None } else { segment.claim(tid, thread_name()) }?;
    // SAFETY: a claimed slot's state is this thread's alone, and stays mapped.
    unsafe { Thread::claim(connection.thread(slot), tid, &connection.shared, slot) }
}

/// Writes the THREAD record, with which a thread's part of a capture begins.
pub fn introduce(recorder: &mut Recorder, tid: u32) {
    let record = atom::Thread { tid, flags: 0, name: thread_name() };
    recorder.write_meta(atom::THREAD, &record.encode());
}

/// Enters a thread of the shim's own, which has no slot, into the capture to send contents of the snapshot in `epoch`.
/// `None`: there is no slot, or the epoch is over.
pub fn begin_sending(epoch: u64) -> Option<Entered> {
    let thread = claim(process::connection()?)?;
    // SAFETY: this thread's own state, which was just claimed.
    let entered = unsafe { thread.enter_slowly(&EPOCH) };
    let order = EPOCH.order_of(epoch);
    let (Some((mut entered, now)), Some(order)) = (entered, order) else {
        // SAFETY: this thread's own, which ends.
        unsafe { thread.retire() };
        return None;
    };
    if now != epoch {
        end_sending(entered);
        return None;
    }
    thread.begin_epoch(epoch);
    entered.begin_epoch(Part {
        epoch,
        order,
        is_new_capture: true,
        is_timed: false,
        is_gpu_timed: false,
    });
    entered.count_no_waits();
    introduce(&mut entered, thread.tid());
    let no_context = atom::Context { context: 0, api: 0, client_version: 0 };
    entered.write_meta(atom::CONTEXT, &no_context.encode());
    entered.begin_describing();
    Some(entered)
}

/// Releases what the thread had, which ends.
pub fn end_sending(entered: Entered) {
    let thread = entered.thread();
    drop(entered);
    // SAFETY: this thread's own state, and no command of it is in progress.
    unsafe { thread.retire() };
}

fn gettid() -> u32 {
    // SAFETY: has no failure.
    unsafe { libc::gettid() as u32 }
}

fn thread_name() -> [u8; 16] {
    let mut name = [0; 16];
    // SAFETY: the kernel writes at most 16 bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}
