//! Display lists: keeps the commands that the program compiles, whether or not a capture runs, because no query returns them.
//! A snapshot makes the lists again. The lists of a share group keep at most 64 MiB (`BYTES_MAX`); a list that would exceed
//! that is kept in part, and the snapshot names it. In a process that does not monitor (`--no-monitor`) nothing is kept.
//!
//! While a thread compiles a list, the table has handlers for all commands that lists have ([`table::set_compiling`]), and
//! the handlers' records go to the thread's [`Compiling`] as well. Otherwise commands cost what they cost without lists.
//!
//! A thread that compiles a list, or is between glBegin and glEnd, begins no part of a capture: the snapshot would put commands
//! of its own into the list, and the driver answers no question between glBegin and glEnd.

mod compiling;

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::Once;

use gapii_recorder::{Entered, ErrnoGuard, Keeping};
use gapii_state::Context;
use gapii_state::gl::lists::{self, acting, is_compiled};

use crate::environment;
use crate::scope;
use crate::table;
use crate::tls::{IN_SLOW_PATH, words};
use crate::tracking;
pub use compiling::{Compiling, INITIAL, UNPACK};

/// Most bytes of kept commands of a share group's lists.
const BYTES_MAX: usize = 64 << 20;

/// Words of kept commands in all lists, or more: those of lists that were deleted count until the next count.
static WORDS: AtomicUsize = AtomicUsize::new(0);

/// Whether the calling thread's context compiles a list, or is between glBegin and glEnd.
pub fn is_busy() -> bool {
    tracking::with_state(|state| state.context.as_deref().is_some_and(lists::is_busy)) == Some(true)
}

/// Begins a command that is kept and not recorded. `None` if the thread compiles no list, or if lists do not have the command.
pub fn begin(id: u16) -> Option<Entered> {
    let words = words();
    let compiling = Compiling::of(words)?;
    let is_inside = words.is_aside(IN_SLOW_PATH) || scope::is_recording(words);
    if is_inside || !compiling.is_of(words.context.get()) || !is_compiled(id) {
        return None;
    }
    // SAFETY: this thread's own state.
    unsafe { compiling.thread.enter_to_keep() }
}

/// Begins to keep the commands of the list that the program's context compiles, if it compiles one.
pub fn begin_list() {
    let list = tracking::with_state(|state| {
        let context = state.context.as_deref().filter(|context| context.list != 0)?;
        Some((context.list, room(context)))
    });
    let Some((list, words_max)) = list.flatten().filter(|_| environment::monitors()) else {
        return;
    };
    let _errno = ErrnoGuard::save();
    let words = words();
    let compiling = Compiling::of(words).unwrap_or_else(|| {
        guard_forks();
        Compiling::make(words)
    });
    if compiling.begin(words.context.get(), list, words_max) {
        table::set_compiling(true);
    }
    // SAFETY: this thread's own state.
    if let Some(mut entered) = unsafe { compiling.thread.enter_to_keep() } {
        entered.set_keeping(Some(Keeping::new(compiling)));
    }
    if let Some(mut entered) = recording() {
        entered.set_keeping(Some(Keeping::new(compiling)));
    }
}

/// Files the commands of the list that the program's context has compiled.
pub fn end_list() {
    let words = words();
    let Some(compiling) = Compiling::of(words).filter(|it| it.is_of(words.context.get())) else {
        return;
    };
    let _errno = ErrnoGuard::save();
    // SAFETY: this thread's own state.
    if let Some(mut entered) = unsafe { compiling.thread.enter_to_keep() } {
        entered.set_keeping(None);
    }
    if let Some(mut entered) = recording() {
        entered.set_keeping(None);
    }
    table::set_compiling(false);
    let kept = compiling.end();
    WORDS.fetch_add(kept.words.len(), Relaxed);
    tracking::with_state(|state| {
        let Some(context) = state.context.as_deref() else { return };
        let mut group = context.group.lock();
        let found = group.display_lists.find(u64::from(kept.list));
        if let Some(list) = group.display_lists.get_mut(found) {
            list.acting = acting(&kept.words);
            (list.commands, list.is_cut) = (kept.words, kept.is_cut);
        }
    });
}

/// Makes forked children compile no list: their state knows of no context.
fn guard_forks() {
    extern "C" fn forget() {
        words().compiling.set(core::ptr::null());
        table::forget_compiling();
    }
    static REGISTERED: Once = Once::new();
    // SAFETY: the handler only stores, and the C library removes it with this library.
    REGISTERED.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(forget));
    });
}

/// Enters the thread's recording state, between two commands. `None` if it has none.
fn recording() -> Option<Entered> {
    let thread = words().thread().filter(|thread| thread.is_claimed())?;
    // SAFETY: this thread's own state.
    unsafe { thread.enter_between_commands() }
}

/// Returns how many words the next list of the context's share group may have.
fn room(context: &Context) -> usize {
    const WORDS_MAX: usize = BYTES_MAX / 8;
    if WORDS.load(Relaxed) > WORDS_MAX / 2 {
        let group = context.group.lock();
        let words = group.display_lists.named().map(|(_, list)| list.commands.len()).sum();
        WORDS.store(words, Relaxed);
    }
    WORDS_MAX.saturating_sub(WORDS.load(Relaxed))
}
