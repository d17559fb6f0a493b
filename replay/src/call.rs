//! One command on its way to the driver: its arguments as the driver is to have them.
//!
//! What generated and hand-written code plays commands with. Nothing here calls a function of the
//! driver with side effects.

use std::ffi::c_char;

use gapii_trace::description::Kind as ParamKind;
use gapii_trace::value::{Arg, Observation, Value};
use gapii_trace::{Bytes, Command};

use crate::memory::{FILLED_BYTES, Output};
use crate::names::{Kind, Scopes, stranger};
use crate::parts::Parts;
use crate::skip::{Outcome, Skip};

/// Most parameters of a function.
pub const ARGS_MAX: usize = 24;
/// Most texts of an array of texts.
const TEXTS_MAX: usize = 1 << 16;

/// Plays one command.
pub type Play = fn(&mut Call<'_, '_>) -> Outcome;

/// How a command is played, by its name.
pub struct Entry {
    pub name: &'static str,
    pub play: Play,
    /// The command shows a surface: pictures are taken before it.
    pub is_swap: bool,
}

/// Defines a table of entries, one line for each: the command and the function that plays it.
macro_rules! entries {
    ($(#[$doc:meta])* $table:ident $len:literal; $($name:ident $play:path;)*) => {
        $(#[$doc])*
        pub static $table: [$crate::call::Entry; $len] = [$(
            $crate::call::Entry { name: stringify!($name), play: $play, is_swap: false },
        )*];
    };
}
pub(crate) use entries;

/// A command that is being played.
pub struct Call<'p, 'c> {
    pub parts: &'p mut Parts,
    pub command: &'c Command<'c>,
    /// Names of its context.
    pub scopes: Scopes,
    args: [u64; ARGS_MAX],
    result: Option<u64>,
}

macro_rules! numbers {
    ($($ty:ident),*) => {$(
        /// An argument, by its low bits.
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
        Self { parts, command, scopes, args, result: None }
    }

    /// An argument's bits, sign-extended where it has a sign; 0 where there is none.
    pub fn bits(&self, index: usize) -> u64 {
        self.args.get(index).copied().unwrap_or(0)
    }

    numbers!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize);

    pub fn f32(&self, index: usize) -> f32 {
        f32::from_bits(self.u32(index))
    }

    pub fn f64(&self, index: usize) -> f64 {
        f64::from_bits(self.u64(index))
    }

    /// An input. Null stays null; what was not observed is zeros.
    pub fn pointer<T>(&mut self, index: usize) -> Result<*const T, Skip> {
        Ok(self.parts.memory.translate(self.bits(index)).cast())
    }

    /// An input that is an offset while a buffer is bound to `binding` (a `GL_…_BINDING`).
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

    /// An output of which only the trace tells the extent. Null stays null.
    pub fn output<T>(&mut self, index: usize) -> Result<*mut T, Skip> {
        self.output_of(index, 0)
    }

    /// An output of which the driver writes up to `need` bytes. Null stays null.
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

    /// Bytes from `address` on that the command wrote for a parameter when it was recorded.
    fn recorded_bytes(&self, index: usize, address: u64) -> u64 {
        let slot = self.arg(index).map_or(0, |arg| size_of_observation(arg.observation));
        let ranges = self.command.ranges_written().filter(|range| range.address >= address);
        let ranges = ranges.filter(|range| range.param.map(usize::from) == Some(index));
        let ends = ranges.map(|range| {
            (range.address - address).saturating_add(size_of_observation(range.observation))
        });
        ends.max().unwrap_or(0).max(slot)
    }

    /// An output that is an offset while a buffer is bound to `binding`.
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

    /// What the driver has bound to `binding`; 0 where this version has no such binding.
    pub fn bound(&mut self, binding: u32) -> u32 {
        self.parts.bound(self.scopes, binding)
    }

    /// The driver's name of an object.
    pub fn name(&mut self, kind: Kind, index: usize) -> u32 {
        self.name_of(kind, self.u32(index))
    }

    /// The driver's name of an object of which the trace's is known.
    pub fn name_of(&self, kind: Kind, recorded: u32) -> u32 {
        let found = self.parts.names.find(self.scopes, kind, u64::from(recorded));
        found.unwrap_or_else(|| stranger(u64::from(recorded))) as u32
    }

    /// An array of names, as the driver has them. Null becomes zeros: not every driver looks.
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

    /// An output array of names has been written: they belong to those that were recorded.
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

    /// The objects of an input array of names have lost them.
    pub fn unmade(&mut self, kind: Kind, index: usize, count: i64) {
        for recorded in self.recorded_names(index, count) {
            self.parts.names.remove(self.scopes, kind, u64::from(recorded));
        }
    }

    /// The command's result is the name of a new object.
    pub fn made_result(&mut self, kind: Kind, real: u64) {
        if let Some(recorded) = self.recorded_result() {
            self.parts.names.insert(self.scopes, kind, recorded, real);
        }
    }

    /// A function of the driver, for what the command says.
    ///
    /// # Safety
    ///
    /// As [`crate::Driver::get`].
    pub unsafe fn driver<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        // SAFETY: the caller's duty.
        unsafe { self.parts.driver.get(function) }
    }

    /// A function of the driver, for what the player needs to know or do besides.
    ///
    /// # Safety
    ///
    /// As [`crate::Driver::get`].
    pub unsafe fn own_driver<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        // SAFETY: the caller's duty.
        unsafe { self.parts.driver.own(function) }
    }

    /// The driver has returned: what is compared with the recording afterwards.
    pub fn returned(&mut self, result: Option<u64>) {
        self.result = result;
    }

    /// What the driver returned, as bits.
    pub fn result(&self) -> Option<u64> {
        self.result
    }

    /// What the command returned when it was recorded, as bits.
    pub fn recorded_result(&self) -> Option<u64> {
        self.command.result().map(|(value, _)| value.bits())
    }

    /// Outputs that the driver was given room for.
    pub fn outputs(&self) -> &[Output] {
        &self.parts.call_outputs
    }

    /// The output of a parameter, if the driver was given room for it.
    pub fn written(&self, index: usize) -> Option<Output> {
        self.parts.call_outputs.iter().find(|output| output.param == index).copied()
    }

    /// An argument as the trace has it.
    pub fn arg(&self, index: usize) -> Option<Arg<'c>> {
        self.command.args().nth(index)
    }

    /// What the trace observed at a parameter.
    pub fn observed(&self, index: usize) -> Option<Bytes<'c>> {
        self.command.bytes_of(self.arg(index)?.observation)
    }

    /// Elements of the array of 32-bit names that was observed at a parameter, `count` at most.
    pub fn recorded_names(&self, index: usize, count: i64) -> Vec<u32> {
        let observed = self.observed(index);
        let bytes = observed.as_deref().unwrap_or_default();
        let (names, _) = bytes.as_chunks::<4>();
        let names = names.iter().map(|name| u32::from_le_bytes(*name));
        names.take(usize::try_from(count).unwrap_or(0)).collect()
    }

    /// The texts that an array of texts was observed as.
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

    /// Texts where the driver may read them: pointers, and how many bytes each has.
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

/// Bytes of an observation, those that are not in the trace included.
pub(crate) fn size_of_observation(observation: Observation<'_>) -> u64 {
    match observation {
        Observation::None => 0,
        Observation::Bytes(bytes) => bytes.len() as u64,
        Observation::Blob { size, .. }
        | Observation::Unrecorded { size }
        | Observation::Missing { size } => size,
    }
}

/// Memory that a command read, by its address in the program.
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
