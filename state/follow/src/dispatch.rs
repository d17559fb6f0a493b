//! Commands by name, for tools that have a trace's arguments without their types. A missing argument is zero; a command
//! that is not listed does not affect the state.

use crate::Thread;
use crate::generated::dispatch::COMMANDS;
use gapii_state::Memory;

pub use gapii_state::Ignore;

/// A part of a command. Takes the thread, the program's memory, the arguments and the result, each as 64 bits.
pub type Part<T> = fn(&mut T, &dyn Memory, &[u64], u64);

/// A command that changes the state of threads `T`.
pub struct CommandState<T = Thread> {
    /// The command's name.
    pub name: &'static str,
    /// The part that runs when the command is called.
    pub enter: Option<Part<T>>,
    /// The part that runs when the driver has returned.
    pub leave: Option<Part<T>>,
}

/// Returns the command of that name, or `None` if the command does not affect the state.
pub fn command(name: &str) -> Option<&'static CommandState> {
    find(COMMANDS, name)
}

/// Returns the command of that name among `commands`, which are sorted by name.
pub fn find<T>(
    commands: &'static [CommandState<T>],
    name: &str,
) -> Option<&'static CommandState<T>> {
    let at = commands.binary_search_by_key(&name, |command| command.name).ok()?;
    commands.get(at)
}

/// A type of argument.
pub trait Argument {
    fn from_bits(bits: u64) -> Self;
}

macro_rules! whole_numbers {
    ($($ty:ty),*) => {$(
        impl Argument for $ty {
            fn from_bits(bits: u64) -> Self {
                bits as $ty
            }
        }
    )*};
}

whole_numbers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl Argument for f32 {
    fn from_bits(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
}

impl Argument for f64 {
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
}

/// Declares commands with the indices of their arguments and with their parts: `enter`, and `leave` or, if the part
/// takes the driver's result, `result`.
#[macro_export]
macro_rules! dispatch {
    ($($name:ident $args:tt: $enter:tt $leave:tt;)*) => {
        /// Commands that affect the state, sorted by name.
        pub static COMMANDS: &[dispatch::CommandState<Thread<Whole>>] = &[$(
            dispatch::CommandState {
                name: stringify!($name),
                enter: $crate::dispatch_part!($enter $name $args),
                leave: $crate::dispatch_part!($leave $name $args),
            },
        )*];
    };
}

/// One part of a command, with its arguments decoded from their bits.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatch_part {
    (- $name:ident $args:tt) => {
        None
    };
    (result $name:ident ($($at:literal)*)) => {
        Some(|thread, memory, _args, result| {
            let (seen, result) = (&mut dispatch::Ignore, dispatch::bits(&[result], 0));
            $name::leave(thread, memory, seen $(, dispatch::bits(_args, $at))*, result)
        })
    };
    ($part:ident $name:ident ($($at:literal)*)) => {
        Some(|thread, memory, _args, _| {
            $name::$part(thread, memory, &mut dispatch::Ignore $(, dispatch::bits(_args, $at))*)
        })
    };
}

/// Returns argument `at`; a missing one is zero.
pub fn bits<T: Argument>(args: &[u64], at: usize) -> T {
    T::from_bits(args.get(at).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_name() {
        for known in COMMANDS {
            assert!(command(known.name).is_some_and(|found| found.name == known.name));
        }
        assert!(command("glNothing").is_none());
    }

    #[test]
    fn arguments_are_the_low_bits_and_missing_ones_are_zero() {
        assert_eq!(bits::<i32>(&[0xffff_ffff], 0), -1);
        assert_eq!(bits::<f32>(&[u64::from(1.5f32.to_bits())], 0), 1.5);
        assert_eq!(bits::<u64>(&[], 0), 0);
    }
}
