//! Handlers: the code that runs in place of a command while it is recorded, or while its state is tracked. A command
//! that is called from inside another of its thread goes straight to the driver. If the enter record finds no room, the
//! command has no records, but its state is tracked and the driver is called.
//!
//! Each command is a type with the command's name in `generated/handlers_*.rs`, defined by one of three macros:
//!
//! - [`plain!`]: writes a record before it calls the driver's function, and for some commands one afterwards;
//! - [`followed!`]: does the same, for a command that changes state;
//! - [`hooked!`]: does the same, runs hand-written code from [`crate::hooks`], and is in place even while nothing is
//!   captured.
//!
//! All three begin alike:
//!
//! ```text
//! followed! { GL_TEX_IMAGE2D: glTexImage2D(target: u32, …, pixels: *const c_void);
//!     state gl [tracked enter]; enter EFFECT, []; finish }
//! ```
//!
//! `enter FLAGS` is the record before the driver's function, with the arguments as its fixed part. `enter FLAGS,
//! [reads]` adds the memory that the command reads, and the ranges that `state … enter` names.
//!
//! `mark tell_begin` ahead of `enter` is the clause of a command with which the program marks a place, such as
//! `glPushDebugGroup`: the trace says when it was called.
//!
//! The last clause says how the command ends:
//!
//! - `finish`: without a leave record;
//! - `result FLAGS`: with a leave record that holds the result alone;
//! - `leave FLAGS, [writes]`: with a leave record that holds the result, the memory that the command wrote, and the
//!   ranges that `state … leave` names.
//!
//! `as name` after the type of the result names the result for expressions in these clauses.

use core::ffi::c_void;

use gapii_recorder::{Entering, Scalar};

/// The two forms in which the shim uses an argument.
pub trait Argument {
    /// The form that the enter record's fixed part holds.
    type Recorded: Scalar;
    /// The form that functions of `gapii_state` take.
    type Followed;

    /// Returns the value for the record.
    fn recorded(&self) -> Self::Recorded;

    /// Returns the value for the state.
    fn followed(&self) -> Self::Followed;
}

macro_rules! numbers {
    ($($ty:ty => $followed:ty),*) => {
        $(impl Argument for $ty {
            type Recorded = Self;
            type Followed = $followed;

            #[inline(always)]
            fn recorded(&self) -> Self {
                *self
            }

            #[inline(always)]
            fn followed(&self) -> $followed {
                *self as $followed
            }
        })*
    };
}
numbers!(u8 => u8, i8 => i8, u16 => u16, i16 => i16, u32 => u32, i32 => i32, u64 => u64, i64 => i64);
numbers!(isize => i64, f32 => f32, f64 => f64);

impl<T> Argument for *const T {
    type Recorded = Self;
    type Followed = u64;

    #[inline(always)]
    fn recorded(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn followed(&self) -> u64 {
        *self as u64
    }
}

impl<T> Argument for *mut T {
    type Recorded = Self;
    type Followed = u64;

    #[inline(always)]
    fn recorded(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn followed(&self) -> u64 {
        *self as u64
    }
}

/// A C structure that is passed by value. The record holds null in its place, because the copy's address means
/// nothing, and has the structure's bytes among the memory that the command reads.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct ByValue<T>(T);

impl<T> ByValue<T> {
    /// Returns the address of the structure, which is the handler's copy.
    #[inline(always)]
    pub fn address(&self) -> *const c_void {
        (&raw const self.0).cast()
    }
}

impl<T> Argument for ByValue<T> {
    type Recorded = *const c_void;
    type Followed = u64;

    #[inline(always)]
    fn recorded(&self) -> *const c_void {
        core::ptr::null()
    }

    #[inline(always)]
    fn followed(&self) -> u64 {
        self.address() as u64
    }
}

/// The fixed part of a command's enter record: the arguments in order, each aligned to its own size.
#[derive(Clone, Copy)]
pub struct Fixed {
    /// Bytes up to the end of the last argument.
    pub bytes: u32,
    /// One bit per word: the word has one argument, of fewer than 8 bytes.
    single: u32,
    /// One bit per word: the word has several arguments, and bytes that belong to none.
    gaps: u32,
}

impl Fixed {
    /// Lays out arguments of these sizes in bytes.
    pub const fn of(sizes: &[usize]) -> Self {
        let mut arguments = [0u8; 32];
        let mut filled = [0; 32];
        let (mut bytes, mut at) = (0, 0);
        while at < sizes.len() {
            bytes = usize::next_multiple_of(bytes, sizes[at]);
            arguments[bytes / 8] += 1;
            filled[bytes / 8] += sizes[at];
            bytes += sizes[at];
            at += 1;
        }
        let mut fixed = Self { bytes: bytes as u32, single: 0, gaps: 0 };
        let mut word = 0;
        while word < bytes.div_ceil(8) {
            if filled[word] < 8 {
                match arguments[word] {
                    1 => fixed.single |= 1 << word,
                    _ => fixed.gaps |= 1 << word,
                }
            }
            word += 1;
        }
        fixed
    }

    /// Returns the size in bytes, rounded up to whole words.
    #[inline(always)]
    pub const fn padded_bytes(self) -> usize {
        (self.bytes as usize).next_multiple_of(8)
    }

    /// Begins to write the fixed part into `record`.
    #[inline(always)]
    pub fn fill(self, record: &Entering) -> Filling<'_> {
        Filling { fixed: self, record, end: 0 }
    }
}

/// A fixed part that is being written. It compiles to the stores alone, because the rest is known at compile time.
pub struct Filling<'a> {
    fixed: Fixed,
    record: &'a Entering,
    /// Offset of the end of the last argument, in bytes.
    end: usize,
}

impl Filling<'_> {
    /// Writes the next argument. No byte of the fixed part keeps the content of an older record.
    ///
    /// # Safety
    /// The value has the size that [`Fixed::of`] was given at this place, and the record has room for the fixed part.
    #[inline(always)]
    pub unsafe fn put<T: Scalar>(&mut self, value: T) {
        let offset = self.end.next_multiple_of(size_of::<T>());
        let has = |words: u32| words & (1 << (offset / 8)) != 0;
        if has(self.fixed.single) {
            // SAFETY: the caller's duty; an argument that is alone in a word is at its beginning.
            unsafe { self.record.put_word(offset, value) };
        } else {
            if offset.is_multiple_of(8) && has(self.fixed.gaps) {
                // SAFETY: as above.
                unsafe { self.record.clear(offset) };
            }
            // SAFETY: as above.
            unsafe { self.record.put(offset, value) };
        }
        self.end = offset + size_of::<T>();
    }
}

/// Defines a command that changes no state.
macro_rules! plain {
    ($id:ident: $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty $(as $returned:ident)?)?;
     $(mark $tell:ident;)? enter $flags:expr $(, [$($read:expr),*])?; $($end:tt)*) => {
        pub enum $name {}

        impl $name {
            unsafe extern "C" fn handler($($arg: $ty),*) $(-> $result)? {
                let driver = $crate::handler::driver_of!($id($($ty),*) $(-> $result)?);
                let Some(mut call) = $crate::begin::begin($id) else { return driver()($($arg),*) };
                $(call.recorder().$tell($id);)?
                let call = $crate::handler::enter!(call, $flags, ($($arg: $ty),*) $(, [$($read),*])?);
                let Some(mut call) = call else { return driver()($($arg),*) };
                let result = driver()($($arg),*);
                $crate::handler::returned!(call, [] $($end)*);
                $($(let $returned = result;)?)?
                $crate::handler::end!(call, $id, result, $($end)*);
                result
            }
        }

        impl Command for $name {
            const HANDLER: Handler = Handler(Self::handler as *const ());
        }
    };
}
pub(crate) use plain;

/// Defines a command that changes state: `state API [PARTS]`. API is `gl`, or `process` for EGL and Level Zero, which
/// need no current context. PARTS are some of
///
/// - `tracked`: the state is tracked even while no capture runs, by the tracker that is defined here as well;
/// - `enter`: the state changes before the driver's function;
/// - `leave`: the state changes after the driver's function.
///
/// `when CONDITION` after the parts: if the condition does not hold, the state does not change.
///
/// `kept LIST`: the command's keeper calls the tracker, unless the command is kept in this list: then its state is followed
/// when the list is executed or described. `executes MEMORY`: the command executes the lists whose handles are in this memory.
///
/// Tracked state changes whether or not there is room for the records.
macro_rules! followed {
    ($id:ident: $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty $(as $returned:ident)?)?;
     state $api:ident $parts:tt $(when $condition:expr)?;
     $(kept $list:ident;)? $(executes $executed:expr;)?
     $(mark $tell:ident;)? enter $flags:expr $(, [$($read:expr),*])?; $($end:tt)*) => {
        pub enum $name {}

        impl $name {
            unsafe extern "C" fn handler($($arg: $ty),*) $(-> $result)? {
                let driver = $crate::handler::driver_of!($id($($ty),*) $(-> $result)?);
                let Some(mut call) = $crate::begin::begin($id) else {
                    $crate::handler::if_tracked!($parts { return Self::tracker($($arg),*) });
                    #[allow(unreachable_code)] // By the tracker.
                    return driver()($($arg),*);
                };
                $(call.recorder().$tell($id);)?
                $($crate::kept::following::follow_executed($executed);)?
                $crate::handler::if_enter!($parts {
                    if $crate::handler::condition!($($condition)?) {
                        $crate::handler::touch!($api, call, |tracked, readable, observer| {
                            commands::$name::enter(tracked, readable, observer $(, $arg.followed())*)
                        });
                    }
                });
                let call = $crate::handler::enter!(call, $flags, ($($arg: $ty),*) $(, [$($read),*])?);
                let result = driver()($($arg),*);
                if let Some(mut call) = call {
                    $crate::handler::returned!(call, $parts $($end)*);
                    $crate::handler::if_leave!($parts {
                        if $crate::handler::condition!($($condition)?) {
                            $crate::handler::touch!($api, call, |tracked, readable, observer| {
                                commands::$name::leave(
                                    tracked, readable, observer $(, $arg.followed())*
                                    $(, { let result: $result = result; result.followed() })?
                                )
                            });
                        }
                    });
                    $($(let $returned = result;)?)?
                    $crate::handler::end!(call, $id, result, $($end)*);
                } else {
                    $crate::handler::if_tracked!($parts { $crate::handler::if_leave!($parts {
                        if let Some(mut tracker) = $crate::handler::begin_tracker!($api) {
                            tracker.update(|tracked, readable, observer| {
                                commands::$name::leave(
                                    tracked, readable, observer $(, $arg.followed())*
                                    $(, { let result: $result = result; result.followed() })?
                                )
                            });
                        }
                    }); });
                }
                result
            }
        }

        $crate::handler::if_tracked!($parts {
            impl $name {
                pub unsafe extern "C" fn tracker($($arg: $ty),*) $(-> $result)? {
                    let driver = $crate::handler::driver_of!($id($($ty),*) $(-> $result)?);
                    if !$crate::handler::condition!($($condition)?) {
                        return driver()($($arg),*);
                    }
                    if false $(|| $crate::kept::keeps_appended($list.followed()))? {
                        return driver()($($arg),*);
                    }
                    $($crate::kept::following::follow_executed($executed);)?
                    let Some(mut tracker) = $crate::handler::begin_tracker!($api) else {
                        return driver()($($arg),*);
                    };
                    $crate::handler::if_enter!($parts {
                        tracker.update(|tracked, readable, observer| {
                            commands::$name::enter(tracked, readable, observer $(, $arg.followed())*)
                        });
                    });
                    let result = driver()($($arg),*);
                    $crate::handler::if_leave!($parts {
                        tracker.update(|tracked, readable, observer| {
                            commands::$name::leave(
                                tracked, readable, observer $(, $arg.followed())*
                                $(, { let result: $result = result; result.followed() })?
                            )
                        });
                    });
                    result
                }
            }
        });

        impl Command for $name {
            const HANDLER: Handler = Handler(Self::handler as *const ());
            $crate::handler::if_tracked!($parts {
                const TRACKER: Option<Handler> =
                    $crate::handler::tracker!([$($list)?] Handler(Self::tracker as *const ()));
            });
        }
    };
}
pub(crate) use followed;

/// Defines a command with a function of its name in [`crate::hooks`]. That function runs after the driver's and
/// returns the result. `before FUNCTION`: this function runs before the enter record is written. `state [PARTS]` is
/// as in [`followed!`], with the API `process`.
///
/// The handler is in place whether or not a capture runs, so that neither the hook nor the state needs a tracker.
macro_rules! hooked {
    ($id:ident: $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty $(as $returned:ident)?)?;
     $(before $before:path;)?
     state $parts:tt;
     $(executes $executed:expr;)?
     enter $flags:expr $(, [$($read:expr),*])?; $($end:tt)*) => {
        pub enum $name {}

        impl $name {
            unsafe extern "C" fn handler($($arg: $ty),*) $(-> $result)? {
                let driver = $crate::handler::driver_of!($id($($ty),*) $(-> $result)?);
                let Some(scope) = hooks::enter() else { return driver()($($arg),*) };
                let mut call = $crate::begin::begin($id);
                $crate::handler::before!([$($before)?] call ($($arg),*));
                $($crate::kept::following::follow_executed($executed);)?
                $crate::handler::if_enter!($parts {
                    tracking::touch_process(call.as_mut(), |tracked, readable, observer| {
                        commands::$name::enter(tracked, readable, observer $(, $arg.followed())*)
                    });
                });
                let mut call = call.and_then(|call| {
                    $crate::handler::enter!(call, $flags, ($($arg: $ty),*) $(, [$($read),*])?)
                });
                let result = driver()($($arg),*);
                if let Some(call) = &mut call {
                    call.returned();
                }
                $crate::handler::if_leave!($parts {
                    tracking::touch_process(call.as_mut(), |tracked, readable, observer| {
                        commands::$name::leave(
                            tracked, readable, observer $(, $arg.followed())*
                            $(, { let result: $result = result; result.followed() })?
                        )
                    });
                });
                if let Some(mut call) = call {
                    $($(let $returned = result;)?)?
                    $crate::handler::end_hooked!(call, $id, result, $($end)*);
                }
                hooks::$name(&scope $(, $arg)* $(, { let result: $result = result; result })?)
            }
        }

        impl Command for $name {
            const HANDLER: Handler = Handler(Self::handler as *const ());
            const IS_HOOKED: bool = true;
        }
    };
}
pub(crate) use hooked;

/// Returns a closure that reads the driver's function at the call. A handler that read it earlier would have to save
/// one register more.
macro_rules! driver_of {
    ($id:ident($($ty:ty),*) $(-> $result:ty)?) => {
        || -> unsafe extern "C" fn($($ty),*) $(-> $result)? { $crate::driver::driver!($id) }
    };
}
pub(crate) use driver_of;

/// Reserves, writes and publishes the enter record. Gives an `Option<InFlight>`.
macro_rules! enter {
    ($call:ident, $flags:expr, ($($arg:ident: $ty:ty),*)) => {{
        const FIXED: Fixed = Fixed::of(&[$(size_of::<<$ty as Argument>::Recorded>()),*]);
        $call.reserve($flags, FIXED.bytes).map(|record| {
            #[allow(unused_variables)] // For commands without arguments.
            let mut fixed = FIXED.fill(&record);
            $(fixed.put($arg.recorded());)*
            record.publish()
        })
    }};
    ($call:ident, $flags:expr, ($($arg:ident: $ty:ty),*), [$($read:expr),*]) => {{
        const FIXED: Fixed = Fixed::of(&[$(size_of::<<$ty as Argument>::Recorded>()),*]);
        let mut reads = [$($read),*];
        $call.reserve_observing($flags, FIXED.bytes, &mut reads).map(|record| {
            #[allow(unused_variables)] // For commands without arguments.
            let mut fixed = FIXED.fill(&record);
            $(fixed.put($arg.recorded());)*
            record.publish_observing(FIXED.padded_bytes(), &reads)
        })
    }};
}
pub(crate) use enter;

/// Notes that the driver has returned, if more is looked at before the command ends.
macro_rules! returned {
    ($call:ident, $parts:tt leave $($end:tt)*) => { $call.returned() };
    ($call:ident, $parts:tt $($end:tt)*) => { $crate::handler::if_leave!($parts { $call.returned() }) };
}
pub(crate) use returned;

/// Ends a recorded command.
macro_rules! end {
    ($call:ident, $id:ident, $result:ident, finish) => { $call.finish() };
    ($call:ident, $id:ident, $result:ident, result $flags:expr) => {
        $call.leave_result($id, $flags, $result)
    };
    ($call:ident, $id:ident, $result:ident, leave $flags:expr, [$($write:expr),*]) => {{
        let mut writes = [$($write),*];
        $call.leave($id, $flags, $result, &mut writes)
    }};
}
pub(crate) use end;

/// Does the same for a hooked command, which may end a frame.
macro_rules! end_hooked {
    ($call:ident, $id:ident, $result:ident, finish) => { $call.finish() };
    ($call:ident, $id:ident, $result:ident, result $flags:expr) => {{
        let flags = $flags;
        hooks::tell_frame_end(&mut $call, $id, flags);
        $call.leave_result($id, flags, $result)
    }};
    ($call:ident, $id:ident, $result:ident, leave $flags:expr, [$($write:expr),*]) => {{
        let flags = $flags;
        hooks::tell_frame_end(&mut $call, $id, flags);
        let mut writes = [$($write),*];
        $call.leave($id, flags, $result, &mut writes)
    }};
}
pub(crate) use end_hooked;

/// The tracker of a command, unless its keeper calls it.
macro_rules! tracker {
    ([] $tracker:expr) => {
        Some($tracker)
    };
    ([$list:ident] $tracker:expr) => {
        None
    };
}
pub(crate) use tracker;

/// Whether the state changes.
macro_rules! condition {
    () => {
        true
    };
    ($condition:expr) => {
        $condition
    };
}
pub(crate) use condition;

/// Runs a function before a hooked command is recorded.
macro_rules! before {
    ([] $($rest:tt)*) => {};
    ([$before:path] $call:ident ($($arg:ident),*)) => {
        if let Some(call) = &mut $call {
            $before(call $(, $arg)*);
        }
    };
}
pub(crate) use before;

/// Runs a part of a command's state change for a recorded command.
macro_rules! touch {
    (gl, $call:ident, $act:expr) => {
        tracking::touch(&mut $call, $act)
    };
    (process, $call:ident, $act:expr) => {
        tracking::touch_process(Some(&mut $call), $act)
    };
}
pub(crate) use touch;

macro_rules! begin_tracker {
    (gl) => {
        Tracker::begin()
    };
    (process) => {
        Tracker::begin_process()
    };
}
pub(crate) use begin_tracker;

/// Gives the code if `tracked` is among the parts.
macro_rules! if_tracked {
    ([tracked $($part:ident)*] { $($code:tt)* }) => { $($code)* };
    ($parts:tt { $($code:tt)* }) => {};
}
pub(crate) use if_tracked;

/// Gives the code if `enter` is among the parts.
macro_rules! if_enter {
    ([$(tracked)? enter $(leave)?] { $($code:tt)* }) => { $($code)* };
    ($parts:tt { $($code:tt)* }) => {};
}
pub(crate) use if_enter;

/// Gives the code if `leave` is among the parts.
macro_rules! if_leave {
    ([$(tracked)? $(enter)? leave] { $($code:tt)* }) => { $($code)* };
    ($parts:tt { $($code:tt)* }) => {};
}
pub(crate) use if_leave;
