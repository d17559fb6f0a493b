//! `Keeping`: a second destination of a thread's commands, which the host has while the program compiles a display list. The
//! host gets each command with the memory that it reads, whether or not a capture runs. While a thread keeps, its producer is
//! on hold, so that the steps of a command take the slow path; a thread that keeps nothing pays nothing.
//!
//! A thread without a ring only keeps: its records have room here, and go nowhere else.

use core::ptr::NonNull;

use gapii_abi::atom::{HEADER_LEN, Header, LEAVE, META_FIRST};
use gapii_ringbuf::Reservation;

/// What the host does with the commands.
pub trait Keeper {
    /// Takes memory that the next command reads: at a slot, or as a range of parameter `param`. It need not be readable.
    fn memory(&self, is_slot: bool, param: u8, address: u64, bytes: u64);

    /// Takes command `id`. The arguments are in whole words, of which the first `fixed_bytes` bytes count.
    fn command(&self, id: u16, fixed_bytes: u32, arguments: &[u64]);

    /// Learns that a command is missing, because the ring had no room for it.
    fn lost(&self);
}

/// A thread's commands on their way to the host's keeper.
pub struct Keeping {
    keeper: &'static dyn Keeper,
    /// Size of the arguments, if the memory of the next command was kept.
    fixed_bytes: Option<u32>,
    /// The enter record that is reserved and not published yet: its command and the size of its payload.
    entering: Option<(u16, u32)>,
    /// Payloads of a thread without a ring.
    room: Vec<u64>,
}

impl Keeping {
    /// Begins to keep.
    pub fn new(keeper: &'static dyn Keeper) -> Self {
        Self { keeper, fixed_bytes: None, entering: None, room: Vec::new() }
    }

    /// Keeps memory that the next command reads; `fixed_bytes` is the size of the command's arguments.
    pub fn memory(&mut self, fixed_bytes: u32, is_slot: bool, param: u8, address: u64, bytes: u64) {
        self.fixed_bytes = Some(fixed_bytes);
        self.keeper.memory(is_slot, param, address, bytes);
    }

    /// Notes the header of a record that is about to be written.
    pub fn note(&mut self, header: Header) {
        let is_enter = header.flags() & LEAVE == 0 && header.id() < META_FIRST;
        if self.entering.take().is_some() {
            self.fixed_bytes = None;
            self.keeper.lost();
        }
        let payload_bytes = header.len_untrusted().saturating_sub(HEADER_LEN);
        self.entering = is_enter.then_some((header.id(), payload_bytes));
    }

    /// Returns room for the payload of a record, in a thread without a ring.
    pub fn room(&mut self, header: Header) -> Reservation {
        let words = header.len_untrusted().div_ceil(8) as usize + 1;
        if self.room.len() < words {
            self.room.resize(words, 0);
        }
        let payload = NonNull::from(self.room.as_mut_slice()).cast();
        Reservation { payload, end: 0 }
    }

    /// Gives the command to the keeper whose enter record was noted last, if it is published now.
    ///
    /// # Safety
    /// `payload` is the written payload of that record, aligned to 8 bytes.
    pub unsafe fn publish(&mut self, payload: NonNull<u8>) {
        let Some((id, payload_bytes)) = self.entering.take() else { return };
        let fixed_bytes = self.fixed_bytes.take().unwrap_or(payload_bytes);
        let words = fixed_bytes.div_ceil(8) as usize;
        // SAFETY: the payload begins with the arguments, in whole words.
        let arguments = unsafe { core::slice::from_raw_parts(payload.as_ptr().cast(), words) };
        self.keeper.command(id, fixed_bytes, arguments);
    }
}

#[cfg(test)]
mod tests {
    use core::cell::RefCell;

    use super::*;
    use crate::{Call, Thread, observe};

    #[derive(Default)]
    struct Log(RefCell<Vec<String>>);

    impl Keeper for Log {
        fn memory(&self, is_slot: bool, param: u8, _address: u64, bytes: u64) {
            self.0.borrow_mut().push(format!("memory {is_slot} {param} {bytes}"));
        }

        fn command(&self, id: u16, fixed_bytes: u32, arguments: &[u64]) {
            self.0.borrow_mut().push(format!("command {id} {fixed_bytes} {arguments:?}"));
        }

        fn lost(&self) {
            self.0.borrow_mut().push("lost".to_owned());
        }
    }

    fn enter(thread: &'static Thread) -> crate::Entered {
        // SAFETY: the thread's state is this test's own.
        unsafe { thread.enter_to_keep() }.expect("the thread is in no command")
    }

    #[test]
    fn thread_without_a_ring_gives_its_commands_to_the_keeper_alone() {
        let log: &Log = Box::leak(Box::default());
        let thread: &Thread = Box::leak(Box::new(Thread::without_ring()));
        enter(thread).set_keeping(Some(Keeping::new(log)));
        let large = [5_u32; 1000];
        let mut call = Call::new(enter(thread), 3);
        call.recorder().add_range(1, large.as_ptr() as u64, 24);
        let mut reads = [observe::array(large.as_ptr(), 1000, 4)];
        // SAFETY: the fixed part is the word that is written.
        let entering = unsafe { call.reserve_observing(0, 8, &mut reads) }.expect("there is room");
        // SAFETY: the payload has room for a word.
        unsafe { entering.put(0, 7_u64) };
        // SAFETY: the fixed part is written.
        unsafe { entering.publish_observing(8, &reads) }.finish();
        // SAFETY: the payload is the word that is written.
        let entering = unsafe { Call::new(enter(thread), 4).reserve(0, 8) }.expect("room");
        // SAFETY: the payload has room for a word.
        unsafe { entering.put(0, 9_u64) };
        // SAFETY: it is written.
        unsafe { entering.publish() }.leave_result(4, 0, 1_u32);
        enter(thread).set_keeping(None);
        let expected =
            ["memory true 255 4000", "memory false 1 24", "command 3 8 [7]", "command 4 8 [9]"];
        assert_eq!(*log.0.borrow(), expected);
    }
}
