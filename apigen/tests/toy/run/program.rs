//! A simulated program: its memory, a thread with a context, and an observer that collects ranges.

use std::cell::RefCell;
use std::sync::Arc;

use crate::whole::{Context, Group, GroupState, Process, Thread};
use crate::{Memory, Observer};

/// The address at which the program's memory begins.
const BASE: u64 = 0x1000;

/// Memory that grows with each [`Heap::put`].
#[derive(Default)]
pub struct Heap(RefCell<Vec<u8>>);

impl Heap {
    /// Appends bytes, aligned to 8, and returns their address.
    pub fn put(&self, bytes: &[u8]) -> u64 {
        let mut all = self.0.borrow_mut();
        let len = all.len().next_multiple_of(8);
        all.resize(len, 0);
        all.extend(bytes);
        BASE + len as u64
    }

    pub fn put_u32(&self, numbers: &[u32]) -> u64 {
        self.put(&numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
    }

    pub fn put_f32(&self, numbers: &[f32]) -> u64 {
        self.put(&numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
    }

    pub fn put_u64(&self, numbers: &[u64]) -> u64 {
        self.put(&numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
    }

    /// Appends a NUL-terminated string, and returns its address.
    pub fn text(&self, text: &str) -> u64 {
        self.put(&[text.as_bytes(), b"\0"].concat())
    }
}

impl Memory for Heap {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let all = self.0.borrow();
        let from = address.checked_sub(BASE).and_then(|from| usize::try_from(from).ok());
        let found = from.and_then(|from| all.get(from..)?.get(..into.len()));
        found.map(|found| into.copy_from_slice(found)).is_some()
    }

    fn text_len(&self, address: u64, most: u64) -> u64 {
        let mut byte = [0];
        (0..most).take_while(|at| self.read(address + at, &mut byte) && byte[0] != 0).count() as u64
    }
}

/// Ranges as (parameter, address, bytes), and the number of ended frames.
#[derive(Default, PartialEq, Debug)]
pub struct Seen {
    pub ranges: Vec<(u8, u64, u64)>,
    pub frames: u32,
    pub unknown: Vec<u64>,
}

impl Observer for Seen {
    fn range(&mut self, param: u8, address: u64, len: u64) {
        self.ranges.push((param, address, len));
    }

    fn frame(&mut self) {
        self.frames += 1;
    }

    fn unknown_struct(&mut self, stype: u64) {
        self.unknown.push(stype);
    }
}

/// A thread with a context of version 1.0 in a group of its own.
pub fn thread() -> Thread {
    thread_in(&Arc::new(Group::default()))
}

/// A thread with a context of version 1.0 in `group`.
pub fn thread_in(group: &Arc<Group>) -> Thread {
    let mut thread = Thread::new(Arc::new(Process::default()), 1);
    thread.context = Some(Box::new(Context::new(1, group.clone(), (1, 0))));
    thread
}

pub fn context(thread: &Thread) -> &Context {
    thread.context.as_deref().expect("one is current")
}

/// Calls `ask` with the locked state of the thread's share group.
pub fn shared<T>(thread: &Thread, ask: impl FnOnce(&GroupState) -> T) -> T {
    ask(&context(thread).group.lock())
}
