//! State that is described later than the snapshot, before a command of the thread's context: contents of buffers that were mapped
//! ([`late_buffers`]), and state that a popped entry of an attribute stack has restored ([`attribute_stacks`]). Until it is
//! described, the commands that may come first take the slow path.

use gapii_recorder::Recorder;
use gapii_state::{Context, Process, Thread};

use super::attribute_stacks::{self, Popped};
use super::egl_error::KeptError;
use super::emit::Emitter;
use super::set_aside::SetAside;
use super::turn::{OneAtATime, TOO_LONG, Turn};
use super::{late_buffers, late_contents};

/// Whether state of any context is still to be described.
pub fn is_incomplete() -> bool {
    late_buffers::are_there() || attribute_stacks::are_there()
}

/// Whether state of this context or of its share group is still to be described.
pub fn is_incomplete_in(context: &Context) -> bool {
    late_buffers::are_in_group(context) || attribute_stacks::are_in(context)
}

/// Describes the state that is left, as far as it can be read now.
pub fn describe_rest(recorder: &mut Recorder, thread: &mut Thread, epoch: u64) {
    let Some(context) = thread.context.as_deref() else { return };
    let has_late_buffers = late_buffers::are_in_group(context);
    let has_older_entries = attribute_stacks::are_in(context);
    if !has_late_buffers && !has_older_entries {
        return;
    }
    let _error = KeptError::begin(thread);
    if has_late_buffers {
        describe_late_buffers(recorder, &thread.process, context, epoch);
    }
    if has_older_entries && let Some(popped) = attribute_stacks::take_popped(context) {
        describe_popped(recorder, &thread.process, context, epoch, &popped);
    }
}

fn describe_popped(
    recorder: &mut Recorder,
    process: &Process,
    context: &Context,
    epoch: u64,
    popped: &Popped,
) {
    let mut emitter = Emitter::new(recorder);
    match OneAtATime::wait(epoch) {
        Turn::Mine(_alone) => {
            let aside = SetAside::begin();
            popped.describe(&mut emitter, process, context, &aside.unclamped);
        }
        Turn::Outdated => {}
        Turn::TooLong => emitter.leave_out(TOO_LONG),
    }
    emitter.finish();
}

fn describe_late_buffers(
    recorder: &mut Recorder,
    process: &Process,
    context: &Context,
    epoch: u64,
) {
    // Commands that come by here meanwhile wait, so that none of them changes what is read.
    let Turn::Mine(_alone) = OneAtATime::wait(epoch) else { return };
    let due = late_buffers::due(context);
    if !due.is_empty() {
        let mut emitter = Emitter::new(recorder);
        let _aside = SetAside::begin();
        let done = late_contents::describe(&mut emitter, process, context, due);
        emitter.finish();
        late_buffers::forget(&done);
    }
}
