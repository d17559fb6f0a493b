//! Keepers, the code that runs between the shim and a driver's function and keeps the command. A command that fails is
//! not kept. The arguments, and the memory that the command reads, are kept as they are before the call.
//!
//! A thread may come by an old slot of the table while a capture begins. Its command would be in neither the snapshot
//! nor the stream, so a keeper that finds itself in a capture without a handler goes through the table again.

use core::ptr;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicPtr, fence};
use std::sync::{Arc, OnceLock};

use gapii_recorder::ErrnoGuard;
use gapii_state::{Process, Thread};

use super::entry::Draft;
use super::facts::{Kept, Place};
use super::journal::{self, Object};
use crate::capture::{EPOCH, NOT_CAPTURING};
use crate::code::Code;
use crate::scope::{self, Scope};
use crate::tls::words;

/// The keeper of one command.
pub struct Keeper {
    command: Kept,
    code: *const (),
    callee: AtomicPtr<()>,
}

// SAFETY: `code` is a function, which any thread may call; the rest is plain or atomic.
unsafe impl Sync for Keeper {}

/// How a command begins in its keeper.
pub enum Begun {
    /// The command is called, and nothing is kept.
    Passed(Option<Scope>),
    /// The command is kept.
    Keeping(Keeping),
    /// The command goes through the table again.
    Again(Again),
}

/// A command that is being kept.
pub struct Keeping {
    /// The object that the command destroys.
    taken: Option<Box<(u64, Object)>>,
    _scope: Option<Scope>,
}

/// While this lives, keepers of this thread do not send commands through the table again.
pub struct Again(());

impl Keeper {
    /// A keeper without a callee yet.
    pub const fn new(command: Kept, code: *const ()) -> Self {
        Self { command, code, callee: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the command.
    #[inline(always)]
    pub fn command(&self) -> &Kept {
        &self.command
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

    /// Begins a command with these arguments.
    pub fn begin(&'static self, args: &[u64]) -> Begun {
        let _errno = ErrnoGuard::save();
        let words = words();
        let is_inside =
            words.in_hook.get() || words.in_slow_path.get() || scope::is_recording(words);
        let scope = if is_inside { None } else { scope::enter() };
        if scope.is_some() {
            // KEEPER: pairs with the fence in seats::wait_for_others: this thread sees the capture, or the snapshot
            // sees this thread's seat at work.
            fence(SeqCst);
            if EPOCH.now() != NOT_CAPTURING && !words.goes_again.replace(true) {
                return Begun::Again(Again(()));
            }
        }
        let facts = &self.command.facts;
        let taken = facts.destroyed.and_then(|at| {
            let handle = args.get(usize::from(at)).copied()?;
            let object = journal::lock().take(handle)?;
            Some(Box::new((handle, object)))
        });
        let is_needed = match facts.appended {
            Some(Place::Argument(at)) => {
                let list = args.get(usize::from(at)).copied().unwrap_or(0);
                journal::lock().keeps_appended(list)
            }
            _ => facts.is_kept() || taken.is_some() || facts.emptied.is_some() || facts.unkept,
        };
        match is_needed {
            true => Begun::Keeping(Keeping { taken, _scope: scope }),
            false => Begun::Passed(scope),
        }
    }
}

impl Keeping {
    /// Ends a command that has succeeded.
    #[inline]
    pub fn succeed(self, draft: &Draft) {
        let _errno = ErrnoGuard::save();
        let Self { taken, _scope } = self;
        let facts = &draft.command().facts;
        let emptied = facts.emptied.map(|at| journal::lock().empty(draft.arg(at)));
        if facts.unkept {
            journal::lock().note_unkept(draft.command().id);
        } else if facts.is_kept() {
            journal::lock().keep(draft);
        }
        // Freed without the lock.
        drop((taken, emptied));
    }

    /// Ends a command that has failed.
    pub fn fail(self) {
        if let Some(taken) = self.taken {
            let _errno = ErrnoGuard::save();
            let (handle, object) = *taken;
            journal::lock().put_back(handle, object);
        }
    }
}

impl Drop for Again {
    fn drop(&mut self) {
        words().goes_again.set(false);
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

/// Defines the keeper of a command, with the memory that is kept: `enter [state] [reads]; leave [state] [writes]`. `state`
/// stands where the command's description names ranges of memory.
macro_rules! keep {
    ($id:ident: $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;
     facts { $($field:ident: $value:expr),* };
     enter $enter:tt [$($read:expr),*]; leave $leave:tt [$($write:expr),*]) => {
        static $name: Keeper = {
            type Function = unsafe extern "C" fn($($ty),*) -> $result;

            unsafe extern "C" fn keeper($($arg: $ty),*) -> $result {
                let args = [$(gapii_recorder::word_of($arg.recorded())),*];
                let callee = $crate::kept::keeper::function!($name.callee(), Function);
                let keeping = match $name.begin(&args) {
                    $crate::kept::keeper::Begun::Keeping(keeping) => keeping,
                    $crate::kept::keeper::Begun::Passed(_scope) => return callee($($arg),*),
                    $crate::kept::keeper::Begun::Again(_again) => {
                        let slot = $crate::table::slot(usize::from($id));
                        return $crate::kept::keeper::function!(slot, Function)($($arg),*);
                    }
                };
                let mut draft = $crate::kept::entry::Draft::new($name.command(), &args);
                $(draft.slot($read);)*
                $crate::kept::keeper::if_state!($enter {
                    let mut state = $crate::kept::keeper::blank_state();
                    let memory = $crate::program_memory::ProgramMemory;
                    commands::$name::enter(
                        &mut state, &memory, &mut draft $(, $arg.followed())*
                    );
                });
                let result = callee($($arg),*);
                if !$crate::kept::keeper::Outcome::is_done(&result) {
                    keeping.fail();
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
                keeping.succeed(&draft);
                result
            }

            Keeper::new(
                Kept {
                    id: $id,
                    facts: Facts { $($field: $value,)* ..Facts::NONE },
                    sizes: &[$(size_of::<$ty>()),*],
                },
                keeper as *const (),
            )
        };
    };
}
pub(crate) use keep;

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
