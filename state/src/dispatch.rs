//! Commands by name, for tools that have a trace's arguments and no types.

use crate::generated::dispatch::COMMANDS;
use crate::{Memory, Thread};

/// What a part does: the thread, the program's memory, the arguments' bits and the result's.
pub type Part = fn(&mut Thread, &dyn Memory, &[u64], u64);

/// A command that does something with the state.
pub struct CommandState {
    pub name: &'static str,
    /// What it does when it is called.
    pub enter: Option<Part>,
    /// What it does when the driver has returned.
    pub leave: Option<Part>,
}

/// The command of that name, if it does something.
pub fn command(name: &str) -> Option<&'static CommandState> {
    let at = COMMANDS.binary_search_by_key(&name, |command| command.name).ok()?;
    COMMANDS.get(at)
}

/// Something that an argument is.
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

/// Argument `at`; one that is not there is zero.
pub fn bits<T: Argument>(args: &[u64], at: usize) -> T {
    T::from_bits(args.get(at).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_name() {
        for known in &COMMANDS {
            assert!(command(known.name).is_some_and(|found| found.name == known.name));
        }
        assert!(command("glNothing").is_none());
    }

    #[test]
    fn arguments_are_the_low_bits_and_zero_where_there_are_none() {
        assert_eq!(bits::<i32>(&[0xffff_ffff], 0), -1);
        assert_eq!(bits::<f32>(&[u64::from(1.5f32.to_bits())], 0), 1.5);
        assert_eq!(bits::<u64>(&[], 0), 0);
    }
}
