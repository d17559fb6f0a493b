//! The current context of a thread: its state moves between the process and the thread. A context whose creation was
//! not tracked is taken for one of OpenGL ES 2.0 in its own share group. The state of a context whose thread ends
//! without releasing it stays with the process.
//!
//! A thread releases its context before it calls the driver, and acquires the other after the driver has returned. So
//! two threads never hold the same context, whatever their order is.

use crate::{ContextApi, Memory, Scope, Thread};

/// Adds a context of OpenGL ES or desktop OpenGL, in a new share group or in that of another context.
#[expect(clippy::too_many_arguments, reason = "as many as eglCreateContext has")]
pub fn create_context<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    context: u64,
    display: u64,
    share: u64,
    api: u32,
    major: i64,
    minor: i64,
) {
    let version = (u8::try_from(major).unwrap_or(u8::MAX), u8::try_from(minor).unwrap_or(u8::MAX));
    let api = ContextApi::requested(api, version);
    thread.process.contexts().create(context, display, share, api, version);
}

/// Notes the profile that the program has asked for, as a bit of `EGL_CONTEXT_OPENGL_PROFILE_MASK`. Only contexts of
/// desktop OpenGL from 3.2 on have a choice.
pub fn choose_profile<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    context: u64,
    profile: i64,
) {
    thread.process.contexts().choose_profile(context, profile);
}

/// Notes that the driver is about to destroy a context.
pub fn destroy_context<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    display: u64,
    context: u64,
) {
    thread.process.contexts().begin_destroy(display, context);
}

/// After [`destroy_context`]: notes whether the driver did it.
pub fn end_destroy_context<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    context: u64,
    is_done: bool,
) {
    thread.process.contexts().end_destroy(context, is_done);
}

/// Gives the thread's context back to the process. Another thread may take it as soon as the driver has released it.
pub fn release_current<S: Scope, M: Memory + ?Sized>(thread: &mut Thread<S>, _memory: &M) {
    let Some(context) = thread.context.take() else {
        thread.released = 0;
        return;
    };
    thread.released = context.handle;
    thread.process.contexts().put_back(context);
}

/// After [`release_current`]: makes a context, or none, current on the thread. A context whose creation was not
/// tracked is taken for an OpenGL ES context in its own share group.
pub fn make_current<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    context: u64,
) {
    let mut contexts = thread.process.contexts();
    if context != 0 && !contexts.has(context) {
        contexts.create(context, 0, 0, ContextApi::Es, (2, 0));
    }
    let current = contexts.take(context);
    contexts.let_go(thread.released);
    drop(contexts);
    thread.context = current;
    thread.released = 0;
}

/// After [`release_current`], if the driver failed: makes the released context current again.
pub fn keep_current<S: Scope, M: Memory + ?Sized>(thread: &mut Thread<S>, _memory: &M) {
    thread.context = thread.process.contexts().take(thread.released);
    thread.released = 0;
}

/// Ends a thread that has not released its context. The driver lets no other thread have that context; its state
/// stays with the process.
pub fn end_thread<S: Scope>(thread: &mut Thread<S>) {
    if let Some(context) = thread.context.take() {
        thread.process.contexts().put_back(context);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gapii_commands::constants::{EGL_OPENGL_API, EGL_OPENGL_ES_API};

    use super::*;
    use crate::egl::terminate;
    use crate::{Nothing, Process};

    const DISPLAY: u64 = 0xD0;

    /// Threads of one process, and what they do with its contexts.
    struct Threads(Vec<Thread>);

    impl Threads {
        fn new(count: u64) -> Self {
            let process = Arc::<Process>::default();
            Self((0..count).map(|id| Thread::new(process.clone(), id)).collect())
        }

        fn create(&mut self, context: u64, share: u64) {
            let thread = &mut self.0[0];
            create_context(thread, &Nothing, context, DISPLAY, share, EGL_OPENGL_ES_API, 3, 1);
        }

        fn make_current(&mut self, thread: usize, context: u64, is_done: bool) {
            let thread = &mut self.0[thread];
            release_current(thread, &Nothing);
            if is_done {
                make_current(thread, &Nothing, context)
            } else {
                keep_current(thread, &Nothing)
            }
        }

        fn destroy(&mut self, thread: usize, context: u64) {
            destroy_context(&mut self.0[thread], &Nothing, DISPLAY, context);
            end_destroy_context(&mut self.0[thread], &Nothing, context, true);
        }

        fn current(&self) -> Vec<u64> {
            let handle = |thread: &Thread| thread.context.as_ref().map_or(0, |it| it.handle);
            self.0.iter().map(handle).collect()
        }
    }

    #[test]
    fn context_moves_between_threads_with_its_state() {
        let mut threads = Threads::new(2);
        threads.create(1, 0);
        threads.make_current(0, 1, true);
        assert_eq!(threads.0[0].context.as_ref().unwrap().version, (3, 1));
        threads.0[0].context.as_mut().unwrap().version = (3, 2);
        threads.make_current(0, 0, true);
        threads.make_current(1, 1, true);
        assert_eq!(threads.current(), [0, 1]);
        assert_eq!(threads.0[1].context.as_ref().unwrap().version, (3, 2));
    }

    #[test]
    fn thread_keeps_its_context_when_the_driver_refuses_another() {
        let mut threads = Threads::new(1);
        threads.create(1, 0);
        threads.create(2, 1);
        threads.make_current(0, 1, true);
        threads.make_current(0, 2, false);
        assert_eq!(threads.current(), [1]);
        threads.make_current(0, 2, true);
        assert_eq!(threads.current(), [2]);
    }

    #[test]
    fn context_is_acquired_by_another_thread_before_the_first_has_returned() {
        let mut threads = Threads::new(2);
        threads.create(1, 0);
        threads.make_current(0, 1, true);
        release_current(&mut threads.0[0], &Nothing);
        threads.make_current(1, 1, true);
        make_current(&mut threads.0[0], &Nothing, 0);
        assert_eq!(threads.current(), [0, 1]);
    }

    #[test]
    fn context_destroyed_while_current_lives_until_it_is_released() {
        let mut threads = Threads::new(1);
        threads.create(1, 0);
        threads.make_current(0, 1, true);
        threads.destroy(0, 1);
        threads.make_current(0, 9, false);
        assert_eq!(threads.current(), [1]);
        threads.make_current(0, 0, true);
        assert!(!threads.0[0].process.contexts().has(1));
    }

    #[test]
    fn terminated_display_removes_its_contexts() {
        let mut threads = Threads::new(1);
        threads.create(1, 0);
        threads.create(2, 0);
        threads.make_current(0, 1, true);
        terminate(&mut threads.0[0], &Nothing, DISPLAY);
        assert_eq!(threads.current(), [1]);
        assert!(!threads.0[0].process.contexts().has(2));
        threads.make_current(0, 0, true);
        assert!(!threads.0[0].process.contexts().has(1));
    }

    #[test]
    fn context_of_desktop_opengl_has_the_profile_that_was_asked_for() {
        let check = |version: (i64, i64), profile: i64, expected: ContextApi| {
            let mut threads = Threads::new(1);
            let (major, minor) = version;
            let thread = &mut threads.0[0];
            create_context(thread, &Nothing, 7, DISPLAY, 0, EGL_OPENGL_API, major, minor);
            choose_profile(thread, &Nothing, 7, profile);
            threads.make_current(0, 7, true);
            assert_eq!(threads.0[0].context.as_ref().unwrap().api, expected, "{version:?}");
        };
        check((4, 5), 1, ContextApi::Core);
        check((4, 5), 2, ContextApi::Compatibility);
        check((4, 5), 3, ContextApi::Core);
        check((2, 1), 1, ContextApi::Compatibility);
    }

    #[test]
    fn profile_changes_no_context_of_opengl_es() {
        let mut threads = Threads::new(1);
        threads.create(7, 0);
        choose_profile(&mut threads.0[0], &Nothing, 7, 2);
        threads.make_current(0, 7, true);
        assert_eq!(threads.0[0].context.as_ref().unwrap().api, ContextApi::Es);
    }

    #[test]
    fn context_created_before_tracking_has_state_from_its_first_use() {
        let mut threads = Threads::new(2);
        threads.make_current(0, 5, true);
        assert_eq!(threads.current(), [5, 0]);
    }

    #[test]
    fn ended_thread_leaves_its_context_to_the_process() {
        let mut threads = Threads::new(2);
        threads.create(1, 0);
        threads.make_current(0, 1, true);
        end_thread(&mut threads.0[0]);
        threads.make_current(1, 1, true);
        assert_eq!(threads.current(), [0, 1]);
    }
}
