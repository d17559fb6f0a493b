//! Keepers, the code that runs between the shim and a driver's function and keeps the command. A command that fails is
//! not kept. Of a command that sets a property or is appended to a list, the memory that it reads is kept after the driver
//! has returned: until then the program may not change it. Of other commands it is kept as it is before the call.
//!
//! A thread may come by an old slot of the table while a capture begins. Its command would be in neither the snapshot
//! nor the stream, so a keeper that finds itself in a capture without a handler goes through the table again.

use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicPtr};
use std::sync::{Arc, OnceLock};

use gapii_recorder::ErrnoGuard;
use gapii_state::{Process, Thread};

use super::entry::Draft;
use super::facts::{Facts, Kept, Place};
use super::object::Object;
use super::registry::{self, Taken};
use crate::capture::EPOCH;
use crate::code::Code;
use crate::scope;
use crate::seats::Seat;
use crate::tls::{IN_HOOK, IN_SLOW_PATH, Words, words};

/// Applies a command with these words, as an [`Entry`](super::entry::Entry) has them, to the tracked state.
pub type Follow = fn(&mut Thread, &[u64]);

/// The keeper of one command.
pub struct Keeper {
    command: &'static Kept,
    code: *const (),
    callee: AtomicPtr<()>,
    follow: Option<Follow>,
    /// The command has succeeded. Of use for commands whose effects cannot be described.
    has_succeeded: AtomicBool,
}

// SAFETY: `code` is a function, which any thread may call; the rest is plain or atomic.
unsafe impl Sync for Keeper {}

impl Keeper {
    /// A keeper without a callee yet.
    pub const fn new(command: &'static Kept, code: *const (), follow: Option<Follow>) -> Self {
        let (callee, has_succeeded) = (AtomicPtr::new(ptr::null_mut()), AtomicBool::new(false));
        Self { command, code, callee, follow, has_succeeded }
    }

    /// Applies the command with these words to the tracked state, if it changes state before the driver's function.
    pub fn follow(&self, thread: &mut Thread, words: &[u64]) {
        if let Some(follow) = self.follow {
            follow(thread, words);
        }
    }

    /// Returns the command.
    pub fn command(&self) -> &'static Kept {
        self.command
    }

    /// Returns the command's id.
    pub fn id(&self) -> u16 {
        self.command.id
    }

    /// Returns the driver's function; null until it is set.
    #[inline(always)]
    pub fn callee(&self) -> Code {
        self.callee.load(Relaxed)
    }

    /// Sets the driver's function, and returns the keeper's code.
    pub fn set_callee(&self, callee: Code) -> Code {
        self.callee.store(callee, Relaxed);
        self.code.cast_mut()
    }

    /// Whether the command has succeeded, although its effect cannot be described.
    pub fn is_missing(&self) -> bool {
        self.command.facts.unkept && self.has_succeeded.load(Relaxed)
    }

    /// Forgets that the command has succeeded.
    pub fn forget(&self) {
        self.has_succeeded.store(false, Relaxed);
    }
}

/// While this lives, the thread is in a command that a snapshot waits for.
pub struct Inside {
    words: &'static Words,
    /// `None` if the command is called from inside another: then that one is waited for.
    seat: Option<&'static Seat>,
}

/// While this lives, keepers of this thread do not send commands through the table again.
pub struct Again(());

/// Begins a command in its keeper. An error if the command has to go through the table again.
#[inline(always)]
pub fn enter() -> Result<Inside, Again> {
    let words = words();
    if words.is_aside(IN_HOOK | IN_SLOW_PATH) || scope::is_recording(words) {
        return Ok(Inside { words, seat: None });
    }
    let seat = words.seat().unwrap_or_else(scope::take_seat);
    words.set_aside(IN_HOOK, true);
    let inside = Inside { words, seat: Some(seat) };
    // KEEPER, in AtWork::begin: this thread sees the capture, or the snapshot sees this thread's seat at work.
    if seat.begin(&EPOCH) && !words.goes_again.replace(true) {
        return Err(Again(()));
    }
    Ok(inside)
}

impl Inside {
    /// Returns the thread's words.
    #[inline(always)]
    pub fn words(&self) -> &Words {
        self.words
    }

    /// Whether the command is not called from inside another command of the thread.
    #[inline(always)]
    pub fn is_outermost(&self) -> bool {
        self.seat.is_some()
    }

    /// Whether the command is called from a handler that records it.
    #[inline(always)]
    pub fn is_recorded(&self) -> bool {
        self.seat.is_none() && scope::is_recording(self.words)
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(seat) = self.seat {
            self.words.set_aside(IN_HOOK, false);
            // KEEPER, in AtWork::set: what was kept is visible to a snapshot that does not wait any more.
            seat.set_at_work(self.words.context.get() != 0);
        }
    }
}

impl Drop for Again {
    fn drop(&mut self) {
        words().goes_again.set(false);
    }
}

/// Where an appended command is kept.
#[derive(Clone, Copy)]
pub enum List {
    /// In this object, which had this number before the command.
    Known(&'static Object, u64),
    /// In the object that the command's memory names.
    InMemory,
}

/// Returns where a command is kept that is appended at `place`. `None` if the object is unknown or executes the command
/// at once.
#[inline(always)]
pub fn list(place: Place, args: &[u64]) -> Option<List> {
    match place {
        Place::Argument(at) => {
            let handle = args.get(usize::from(at)).copied().unwrap_or(0);
            let list = registry::object(handle).filter(|list| !list.is_immediate())?;
            Some(List::Known(list, list.number()))
        }
        Place::Array(_) => Some(List::InMemory),
    }
}

/// Keeps a command that was appended to a list.
#[inline(always)]
pub fn append(list: List, place: Place, command: &'static Kept, draft: &Draft, inside: &Inside) {
    // The handler of a recorded command has followed the state.
    let is_followed = inside.is_recorded();
    match list {
        List::Known(list, number) => registry::append(list, number, command, draft, is_followed),
        List::InMemory => {
            let _errno = ErrnoGuard::save();
            if let Some(list) = registry::object(draft.number(place)) {
                registry::append(list, list.number(), command, draft, is_followed);
            }
        }
    }
}

/// A command that is being registered.
pub struct Registering {
    /// The object that the command destroys.
    taken: Option<Taken>,
}

impl Registering {
    /// Begins a command with these arguments.
    pub fn begin(facts: &Facts, args: &[u64]) -> Self {
        let destroyed = facts.destroyed.and_then(|at| args.get(usize::from(at)).copied());
        let taken = destroyed.and_then(|handle| {
            let _errno = ErrnoGuard::save();
            Taken::take(handle)
        });
        Self { taken }
    }

    /// Ends a command that has succeeded.
    pub fn succeed(self, keeper: &Keeper, draft: &Draft) {
        let _errno = ErrnoGuard::save();
        let facts = &keeper.command.facts;
        if let Some(at) = facts.emptied {
            registry::empty(draft.arg(at));
        }
        if facts.unkept {
            keeper.has_succeeded.store(true, Relaxed);
        } else if facts.is_kept() {
            registry::lock().keep(draft);
        }
        if let Some(taken) = self.taken {
            taken.end();
        }
    }

    /// Ends a command that has failed.
    pub fn fail(self) {
        if let Some(taken) = self.taken {
            let _errno = ErrnoGuard::save();
            taken.put_back();
        }
    }
}

/// Returns a state in which the descriptions of commands name the memory that the commands read. No object exists in it,
/// so memory that depends on tracked state is not named.
pub fn blank_state() -> Thread {
    static BLANK: OnceLock<Arc<Process>> = OnceLock::new();
    Thread::new(Arc::clone(BLANK.get_or_init(Arc::default)), 0)
}

/// The result of a command.
pub trait Outcome {
    /// Whether the command has succeeded.
    fn is_done(&self) -> bool;
}

impl Outcome for u32 {
    /// `ZE_RESULT_SUCCESS` is 0.
    fn is_done(&self) -> bool {
        *self == 0
    }
}

impl<T> Outcome for *mut T {
    /// A handle, or null.
    fn is_done(&self) -> bool {
        !self.is_null()
    }
}

/// An argument in the form that functions of `gapii_state` take.
pub trait OfWord {
    /// Returns the argument that [`gapii_recorder::word_of`] has made this word of.
    fn of_word(word: u64) -> Self;
}

macro_rules! of_word {
    ($($ty:ty),*) => {
        $(impl OfWord for $ty {
            fn of_word(word: u64) -> Self {
                word as $ty
            }
        })*
    };
}
of_word!(u32, i32, u64, i64);

/// Defines the keeper of a command, with the memory that is kept: `enter [state] [reads]; leave [state] [writes]`. `state`
/// stands where the command's description names ranges of memory. Of commands that a list keeps, it stands after `tracked`
/// if they have a tracker, and after `follow` if they change state before the driver's function.
macro_rules! keep {
    ($id:ident: $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;
     facts { $($field:ident: $value:expr),* };
     enter $enter:tt [$($read:expr),*]; leave $leave:tt [$($write:expr),*];
     tracked $tracked:tt follow $follow:tt) => {
        static $name: Keeper = {
            type Function = unsafe extern "C" fn($($ty),*) -> $result;

            const FACTS: Facts = Facts { $($field: $value,)* ..Facts::NONE };
            static COMMAND: Kept =
                Kept { id: $id, facts: FACTS, sizes: &[$(size_of::<$ty>()),*] };

            unsafe extern "C" fn keeper($($arg: $ty),*) -> $result {
                let callee = $crate::kept::keeper::function!($name.callee(), Function);
                let inside = match $crate::kept::keeper::enter() {
                    Ok(inside) => inside,
                    Err(_again) => {
                        let slot = $crate::table::slot(usize::from($id));
                        return $crate::kept::keeper::function!(slot, Function)($($arg),*);
                    }
                };
                let args = || [$(gapii_recorder::word_of($arg.recorded())),*];
                let read = |draft: &mut $crate::kept::entry::Draft| {
                    let _ = &draft; // For commands that read nothing.
                    $(draft.slot($read);)*
                    $crate::kept::keeper::if_state!($enter {
                        let mut state = $crate::kept::keeper::blank_state();
                        let memory = $crate::program_memory::ProgramMemory;
                        commands::$name::enter(&mut state, &memory, draft $(, $arg.followed())*);
                    });
                };
                match const { FACTS.way() } {
                    $crate::kept::facts::Way::Set(owner) => {
                        let result = callee($($arg),*);
                        if $crate::kept::keeper::Outcome::is_done(&result) {
                            let mut draft = $crate::kept::entry::Draft::new(&COMMAND, &args());
                            read(&mut draft);
                            $crate::kept::registry::set(inside.words(), &COMMAND, owner, &draft);
                        }
                        result
                    }
                    $crate::kept::facts::Way::Append(place) => {
                        let list = $crate::kept::keeper::list(place, &args());
                        $crate::kept::keeper::if_state!($tracked {
                            if list.is_none() && inside.is_outermost() {
                                drop(inside);
                                return handlers_level_zero::$name::tracker($($arg),*);
                            }
                        });
                        let result = callee($($arg),*);
                        if let Some(list) = list
                            && $crate::kept::keeper::Outcome::is_done(&result)
                        {
                            let mut draft = $crate::kept::entry::Draft::new(&COMMAND, &args());
                            read(&mut draft);
                            $crate::kept::keeper::append(list, place, &COMMAND, &draft, &inside);
                        }
                        result
                    }
                    $crate::kept::facts::Way::Register => {
                        let args = args();
                        let registering = $crate::kept::keeper::Registering::begin(&FACTS, &args);
                        let mut draft = $crate::kept::entry::Draft::new(&COMMAND, &args);
                        read(&mut draft);
                        let result = callee($($arg),*);
                        if !$crate::kept::keeper::Outcome::is_done(&result) {
                            registering.fail();
                            return result;
                        }
                        draft.returned();
                        $(draft.slot($write);)*
                        $crate::kept::keeper::if_state!($leave {
                            let mut state = $crate::kept::keeper::blank_state();
                            let memory = $crate::program_memory::ProgramMemory;
                            commands::$name::leave(
                                &mut state, &memory, &mut draft $(, $arg.followed())*,
                                Argument::followed(&result)
                            );
                        });
                        registering.succeed(&$name, &draft);
                        result
                    }
                }
            }

            $crate::kept::keeper::if_state!($follow {
                fn follow(thread: &mut gapii_state::Thread, words: &[u64]) {
                    let memory = $crate::kept::entry::KeptMemory::new(&COMMAND, words);
                    let mut args = words.iter().copied();
                    commands::$name::enter(
                        thread, &memory, &mut gapii_state::Ignore
                        $(, <<$ty as Argument>::Followed as $crate::kept::keeper::OfWord>::of_word(
                            args.next().unwrap_or(0)
                        ))*
                    );
                }
            });
            Keeper::new(
                &COMMAND,
                keeper as *const (),
                $crate::kept::keeper::follow!($follow follow),
            )
        };
    };
}
pub(crate) use keep;

/// The function if the part is `[state]`.
macro_rules! follow {
    ([state] $follow:ident) => {
        Some($follow)
    };
    ([] $follow:ident) => {
        None
    };
}
pub(crate) use follow;

/// Turns code into a function of a type.
macro_rules! function {
    ($code:expr, $ty:ty) => {
        core::mem::transmute::<$crate::code::Code, $ty>($code)
    };
}
pub(crate) use function;

/// Gives the code if the part is `[state]`.
macro_rules! if_state {
    ([state] { $($code:tt)* }) => { $($code)* };
    ([] { $($code:tt)* }) => {};
}
pub(crate) use if_state;
