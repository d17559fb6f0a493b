//! One command on its way to the driver, with its arguments in the form that the driver needs. A name that replay does
//! not know becomes a number that names no object; an address that the trace has no memory for leads to zeros; a list
//! of names that the trace lacks in part skips the command. A command has at most `ARGS_MAX` (24) parameters; of an
//! array of strings the first 65,536 (`TEXTS_MAX`) count.
//!
//! Generated and hand-written players use these functions. No function here calls a function of the
//! driver that has side effects.

use std::ffi::c_char;

use gapii_commands::CommandId;
use gapii_trace::description::Kind as ParamKind;
use gapii_trace::value::{Arg, Observation, Value};
use gapii_trace::{Bytes, Command};

use crate::memory::{FILLED_BYTES, Output};
use crate::names::{Kind, Scopes, stranger};
use crate::parts::Parts;
use crate::skip::{Outcome, Skip};

/// Largest number of parameters of a function.
pub const ARGS_MAX: usize = 24;
/// Largest number of strings in an array of strings; the rest is ignored.
const TEXTS_MAX: usize = 1 << 16;

/// Plays one command.
pub type Play = fn(&mut Call<'_, '_>) -> Outcome;

/// The function that plays a command.
pub struct Entry {
    /// The command.
    pub command: CommandId,
    /// Plays the command.
    pub play: Play,
    /// Whether the command shows a surface. Pictures are taken before such a command.
    pub is_swap: bool,
}

/// Defines a table of [`Entry`]. Each line names a command and the function that plays it; `(swap)` marks
/// a command that shows a surface.
macro_rules! entries {
    ($(#[$doc:meta])* $table:ident $len:literal; $($command:ident $(($swap:ident))? $play:path;)*) => {
        $(#[$doc])*
        pub static $table: [$crate::call::Entry; $len] = [$(
            $crate::call::Entry {
                command: gapii_commands::CommandId::$command,
                play: $play,
                is_swap: $crate::call::is_swap!($($swap)?),
            },
        )*];
    };
}

/// Whether the line of a table has the mark `(swap)`.
macro_rules! is_swap {
    () => {
        false
    };
    (swap) => {
        true
    };
}
pub(crate) use {entries, is_swap};

/// A command that is being played.
pub struct Call<'p, 'c> {
    /// State of the replay.
    pub parts: &'p mut Parts,
    /// The command as the trace holds it.
    pub command: &'c Command<'c>,
    /// Scopes in which the command's context looks names up.
    pub scopes: Scopes,
    args: [u64; ARGS_MAX],
    result: Option<u64>,
    /// The name that was generated for this command, since binding creates the object.
    pub(crate) generated: Option<Generated>,
}

/// A name that was generated for a command which creates its object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generated {
    pub kind: Kind,
    pub recorded: u64,
    pub real: u32,
}

macro_rules! numbers {
    ($($ty:ident),*) => {$(
        /// An argument, truncated to its low bits; 0 if the command has no parameter `index`.
        pub fn $ty(&self, index: usize) -> $ty {
            self.bits(index) as $ty
        }
    )*};
}

impl<'p, 'c> Call<'p, 'c> {
    pub(crate) fn new(
        parts: &'p mut Parts,
        command: &'c Command<'c>,
        args: [u64; ARGS_MAX],
    ) -> Self {
        let scopes = parts.names.scopes(command.process, command.context);
        parts.call_outputs.clear();
        Self { parts, command, scopes, args, result: None, generated: None }
    }

    /// Bits of an argument, sign-extended if its type is signed; 0 if the command has no parameter
    /// `index`.
    pub fn bits(&self, index: usize) -> u64 {
        self.args.get(index).copied().unwrap_or(0)
    }

    numbers!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize);

    /// An argument of type `float`.
    pub fn f32(&self, index: usize) -> f32 {
        f32::from_bits(self.u32(index))
    }

    /// An argument of type `double`.
    pub fn f64(&self, index: usize) -> f64 {
        f64::from_bits(self.u64(index))
    }

    /// An input as an address of the player's memory. Null stays null. Memory that was not observed
    /// reads as zeros.
    pub fn pointer<T>(&mut self, index: usize) -> Result<*const T, Skip> {
        Ok(self.parts.memory.translate(self.bits(index)).cast())
    }

    /// An input that is an offset while a buffer is bound to `binding` (a `GL_…_BINDING`). The
    /// driver is asked whether a buffer is bound.
    pub fn pointer_or_offset<T>(&mut self, index: usize, binding: u32) -> Result<*const T, Skip> {
        let address = self.bits(index);
        if address == 0 {
            return Ok(std::ptr::null());
        }
        if self.bound(binding) != 0 {
            return Ok(address as usize as *const T);
        }
        self.pointer(index)
    }

    /// An output whose extent only the trace tells. Null stays null.
    pub fn output<T>(&mut self, index: usize) -> Result<*mut T, Skip> {
        self.output_of(index, 0)
    }

    /// An output to which the driver writes up to `need` bytes. Null stays null.
    pub fn output_of<T>(&mut self, index: usize, need: u64) -> Result<*mut T, Skip> {
        let address = self.bits(index);
        if address == 0 {
            return Ok(std::ptr::null_mut());
        }
        let recorded = self.recorded_bytes(index, address);
        let at = self.parts.outputs.piece(need, recorded.max(need).min(FILLED_BYTES as u64))?;
        let len = recorded.max(need);
        self.parts.call_outputs.push(Output { param: index, address, at: at as usize, len });
        Ok(at.cast())
    }

    /// Number of bytes that the recorded command wrote for a parameter, from `address` on.
    fn recorded_bytes(&self, index: usize, address: u64) -> u64 {
        let slot = self.arg(index).map_or(0, |arg| size_of_observation(arg.observation));
        let ranges = self.command.ranges_written().filter(|range| range.address >= address);
        let ranges = ranges.filter(|range| range.param.map(usize::from) == Some(index));
        let ends = ranges.map(|range| {
            (range.address - address).saturating_add(size_of_observation(range.observation))
        });
        ends.max().unwrap_or(0).max(slot)
    }

    /// An output that is an offset while a buffer is bound to `binding`; otherwise as
    /// [`Self::output_of`].
    pub fn output_or_offset<T>(
        &mut self,
        index: usize,
        binding: u32,
        need: u64,
    ) -> Result<*mut T, Skip> {
        let address = self.bits(index);
        match address != 0 && self.bound(binding) != 0 {
            true => Ok(address as usize as *mut T),
            false => self.output_of(index, need),
        }
    }

    /// Name of the object that the driver has bound to `binding`; 0 if this version of the API has
    /// no such binding.
    pub fn bound(&mut self, binding: u32) -> u32 {
        self.parts.bound(self.scopes, binding)
    }

    /// The driver's name of the object that an argument names.
    pub fn name(&mut self, kind: Kind, index: usize) -> u32 {
        self.name_of(kind, self.u32(index))
    }

    /// The driver's name of an object, by its name in the trace. A recorded name that replay does
    /// not know becomes a number that names no object.
    pub fn name_of(&self, kind: Kind, recorded: u32) -> u32 {
        let found = self.parts.names.find(self.scopes, kind, u64::from(recorded));
        found.unwrap_or_else(|| stranger(u64::from(recorded))) as u32
    }

    /// Address of an input array with the driver's names of the recorded objects. Null becomes an
    /// array of zeros, since not every driver checks for null.
    pub fn names(&mut self, kind: Kind, index: usize, count: i64) -> Result<*const u32, Skip> {
        if self.bits(index) == 0 {
            return Ok(self.parts.memory.void().cast());
        }
        let recorded = self.recorded_names(index, count);
        let mut real = Vec::with_capacity(recorded.len() * 4);
        for recorded in recorded {
            real.extend_from_slice(&self.name_of(kind, recorded).to_ne_bytes());
        }
        let need = usize::try_from(count).unwrap_or(0).saturating_mul(4);
        if need > real.len() {
            return Err(Skip::from("the trace does not have all of its names"));
        }
        Ok(self.parts.memory.place(&real)?.cast())
    }

    /// Notes the names that the driver wrote to an output array as those of the recorded objects.
    pub fn made(&mut self, kind: Kind, index: usize, count: i64) {
        let recorded = self.recorded_names(index, count);
        let Some(output) = self.written(index) else { return };
        let bytes = self.parts.outputs.bytes(output.at, 4 * recorded.len() as u64);
        let (real, _) = bytes.as_chunks::<4>();
        let pairs: Vec<_> =
            recorded.into_iter().zip(real.iter().map(|name| u32::from_ne_bytes(*name))).collect();
        for (recorded, real) in pairs {
            self.parts.names.insert(self.scopes, kind, u64::from(recorded), u64::from(real));
        }
    }

    /// Forgets the names of the objects in an input array, after the driver deleted the objects.
    pub fn unmade(&mut self, kind: Kind, index: usize, count: i64) {
        for recorded in self.recorded_names(index, count) {
            self.parts.names.remove(self.scopes, kind, u64::from(recorded));
        }
    }

    /// Notes `real` as the driver's name of the object that the recorded command returned.
    pub fn made_result(&mut self, kind: Kind, real: u64) {
        if let Some(recorded) = self.recorded_result() {
            self.parts.names.insert(self.scopes, kind, recorded, real);
        }
    }

    /// Returns a driver function for playing the command itself.
    ///
    /// # Safety
    ///
    /// As [`crate::Driver::get`].
    pub unsafe fn driver<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        // SAFETY: the caller's duty.
        unsafe { self.parts.driver.get(function) }
    }

    /// Returns a driver function for what the player asks or does for itself; an interceptor does
    /// not see the call.
    ///
    /// # Safety
    ///
    /// As [`crate::Driver::get`].
    pub unsafe fn own_driver<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        // SAFETY: the caller's duty.
        unsafe { self.parts.driver.own(function) }
    }

    /// Notes what the driver returned; it is compared with the recording afterwards.
    pub fn returned(&mut self, result: Option<u64>) {
        self.result = result;
    }

    /// Bits of the value that the driver returned.
    pub fn result(&self) -> Option<u64> {
        self.result
    }

    /// Bits of the value that the recorded command returned.
    pub fn recorded_result(&self) -> Option<u64> {
        self.command.result().map(|(value, _)| value.bits())
    }

    /// Outputs for which the driver was given room.
    pub fn outputs(&self) -> &[Output] {
        &self.parts.call_outputs
    }

    /// The output of a parameter, if the driver was given room for it.
    pub fn written(&self, index: usize) -> Option<Output> {
        self.parts.call_outputs.iter().find(|output| output.param == index).copied()
    }

    /// An argument as recorded.
    pub fn arg(&self, index: usize) -> Option<Arg<'c>> {
        self.command.args().nth(index)
    }

    /// Bytes that the trace observed at a parameter.
    pub fn observed(&self, index: usize) -> Option<Bytes<'c>> {
        self.command.bytes_of(self.arg(index)?.observation)
    }

    /// Recorded elements of an array of 32-bit names at a parameter, at most `count`.
    pub fn recorded_names(&self, index: usize, count: i64) -> Vec<u32> {
        let observed = self.observed(index);
        let bytes = observed.as_deref().unwrap_or_default();
        let (names, _) = bytes.as_chunks::<4>();
        let names = names.iter().map(|name| u32::from_le_bytes(*name));
        names.take(usize::try_from(count).unwrap_or(0)).collect()
    }

    /// Strings that the trace observed at a parameter which is an array of strings; at most 65,536.
    pub fn texts(&self, index: usize) -> Vec<Vec<u8>> {
        let observed = self.observed(index);
        let mut rest = observed.as_deref().unwrap_or_default();
        let mut texts = Vec::new();
        while let Some((len, behind)) = rest.split_first_chunk::<4>() {
            let len = u32::from_le_bytes(*len) as usize;
            let Some((text, behind)) = behind.split_at_checked(len) else { break };
            if texts.len() == TEXTS_MAX {
                break;
            }
            texts.push(text.to_vec());
            rest = behind;
        }
        texts
    }

    /// Copies strings to memory that the driver may read. Returns an array of pointers and an array
    /// of lengths in bytes.
    pub fn place_texts(
        &mut self,
        texts: &[Vec<u8>],
    ) -> Result<(*const *const c_char, *const i32), Skip> {
        let (mut pointers, mut lengths) = (Vec::new(), Vec::new());
        for text in texts {
            let at = self.parts.memory.place(text)? as usize;
            pointers.extend_from_slice(&at.to_ne_bytes());
            let len = i32::try_from(text.len()).map_err(|_| Skip::from("a text is too long"))?;
            lengths.extend_from_slice(&len.to_ne_bytes());
        }
        let pointers = self.parts.memory.place(&pointers)?.cast();
        Ok((pointers, self.parts.memory.place(&lengths)?.cast()))
    }
}

/// Size in bytes of an observation, including bytes that are not in the trace.
pub(crate) fn size_of_observation(observation: Observation<'_>) -> u64 {
    match observation {
        Observation::None => 0,
        Observation::Bytes(bytes) => bytes.len() as u64,
        Observation::Blob { size, .. }
        | Observation::Unrecorded { size }
        | Observation::Unnamed { size, .. }
        | Observation::Missing { size } => size,
    }
}

/// Adds the memory that a command read, as pairs of the address in the program and the bytes.
pub(crate) fn read_memory<'c>(command: &Command<'c>, into: &mut Vec<(u64, Bytes<'c>)>) {
    for arg in command.args() {
        if let Value::Pointer(address) = arg.value
            && arg.param.observed == gapii_commands::Observed::In
            && arg.param.ty.kind != ParamKind::Strings
            && let Some(bytes) = command.bytes_of(arg.observation)
        {
            into.push((address, bytes));
        }
    }
    for range in command.ranges_read().filter(|range| range.address != 0) {
        if let Some(bytes) = command.bytes_of(range.observation) {
            into.push((range.address, bytes));
        }
    }
}
