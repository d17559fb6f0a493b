//! Helpers for the tests of these modules: a thread with a context, and an observer.

use std::sync::Arc;

use crate::{Buffer, Context, Group, Observer, Process, Ref, Thread, Whole};

/// Ranges in the order in which they were reported: parameter, address, length.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Seen(pub Vec<(u8, u64, u64)>);

impl Observer for Seen {
    fn range(&mut self, param: u8, address: u64, len: u64) {
        self.0.push((param, address, len));
    }
}

/// Returns a thread whose context has this version and a current program.
pub fn thread(version: (u8, u8)) -> Thread<Whole> {
    let mut thread = Thread::new(Arc::new(Process::default()), 1);
    let mut context = Context::new(1, Arc::new(Group::default()), version);
    let program = context.group.lock().programs.create(1);
    context.program = program;
    thread.context = Some(Box::new(context));
    thread
}

/// Returns the thread's context.
pub fn context(thread: &mut Thread<Whole>) -> &mut Context<Whole> {
    thread.context.as_deref_mut().expect("the tests' thread has one")
}

/// Returns the known contents of a buffer; empty if they are unknown.
pub fn contents(thread: &mut Thread<Whole>, buffer: Ref<Buffer>) -> Vec<u8> {
    let group = context(thread).group.lock();
    group.buffers.get(buffer).expect("the buffer exists").contents.clone().unwrap_or_default()
}
