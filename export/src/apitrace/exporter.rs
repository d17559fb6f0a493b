//! `Exporter`: turns commands into calls, one at a time and in order; fake calls that a command needs precede it. A
//! command whose arguments the trace lacks is skipped and counted; so is memory that no call can express, or that the
//! trace lacks. A failed `eglCreateContext`, and `gl*Pointer` commands with an address, are left out. A command that
//! did not return has no leave event. Threads are numbered by their first command.
//!
//! Works strictly in order: each command is written with its outputs.

use std::collections::HashMap;
use std::io::{self, Write};

use gapii_commands::{Api, CommandId};
use gapii_trace::description::{Function, Kind};
use gapii_trace::value::{Arg, Observation, Value};
use gapii_trace::{Command, Description};

use super::arguments::Arguments;
use super::calls::{Calls, Origin};
use super::client_memory::{self, ClientArray, ClientArrays, Needed, Slot};
use super::mappings::{self, Mappings};
use super::quirks::{self, Size, Surfaces};
use super::ranges::{Range, Read, Span, Written};
use super::texts;

/// The program that the trace is of.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Path of the executable, or the program's name.
    pub name: String,
}

/// Counts of an export: written, replaced, skipped and missing parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Commands that became calls.
    pub commands: u64,
    /// Commands that players can't execute in their original form: replaced by fake calls, or omitted.
    pub replaced: u64,
    /// Fake calls, which correspond to no command.
    pub fake: u64,
    /// Commands without arguments, because the trace lacks their record or does not describe it.
    pub skipped: u64,
    /// Ranges of memory that no call can express.
    pub unexpressed: u64,
    /// Ranges of memory whose bytes the trace does not have.
    pub missing: u64,
}

/// Writes a `.trace`.
pub struct Exporter<W> {
    calls: Calls<W>,
    threads: HashMap<u32, u64>,
    /// The roles of each function, by function id.
    roles: Vec<Roles>,
    arrays: ClientArrays,
    mappings: Mappings,
    surfaces: Surfaces,
    summary: Summary,
}

/// The role of a function for each module that tracks state.
#[derive(Clone, Copy)]
struct Roles {
    arrays: client_memory::Role,
    mappings: mappings::Role,
    surfaces: quirks::Role,
}

impl<W: Write> Exporter<W> {
    /// Writes the head of the file. `description` is that of the trace whose commands follow.
    ///
    /// # Errors
    /// An error of `out`.
    pub fn begin(out: W, program: &Program, description: &Description) -> io::Result<Self> {
        Ok(Self {
            calls: Calls::begin(out, &[("process.name", &program.name)])?,
            threads: HashMap::new(),
            roles: roles(description),
            arrays: ClientArrays::default(),
            mappings: Mappings::default(),
            surfaces: Surfaces::default(),
            summary: Summary::default(),
        })
    }

    /// Writes all buffered bytes, and returns the output.
    ///
    /// # Errors
    /// An error of the output.
    pub fn finish(self) -> io::Result<(W, Summary)> {
        Ok((self.calls.finish()?, self.summary))
    }

    /// Writes a command, after the fake calls that it needs.
    ///
    /// # Errors
    /// An error of the output.
    pub fn command(&mut self, command: &Command<'_>) -> io::Result<()> {
        let known = command.function.filter(|_| command.enter_payload().is_some());
        let Some(function) = known else {
            self.summary.skipped += 1;
            return Ok(());
        };
        let roles = self.roles[usize::from(command.id)];
        let Read { ranges, missing } = Read::by(command);
        self.summary.missing += missing;
        let left_out =
            roles.arrays != client_memory::Role::None && self.arrays.follow(roles.arrays, command);
        if left_out || quirks::must_be_left_out(roles.surfaces, command) {
            self.summary.replaced += 1;
            self.surfaces.follow(roles.surfaces, command);
            return Ok(());
        }
        self.memory_before(roles, command, &ranges)?;
        self.call(command, function, &ranges)?;
        self.summary.commands += 1;
        if roles.mappings != mappings::Role::None {
            self.mappings.follow(roles.mappings, command);
        }
        match self.surfaces.follow(roles.surfaces, command) {
            Some(size) => self.viewport(command, size),
            None => Ok(()),
        }
    }

    /// Writes fake calls with the memory that `command` reads, but not through its own parameters.
    fn memory_before(
        &mut self,
        roles: Roles,
        command: &Command<'_>,
        ranges: &[Range<'_>],
    ) -> io::Result<()> {
        if ranges.iter().all(|range| range.param.is_some()) {
            return Ok(());
        }
        let own = ranges.iter().filter(|range| range.param.is_none());
        let (mapped, client): (Vec<_>, Vec<_>) =
            own.copied().partition(|range| self.mappings.has(range));
        for range in &mapped {
            self.memcpy(command, range)?;
        }
        if client.is_empty() {
            return Ok(());
        }
        let arrays = std::mem::take(&mut self.arrays);
        let needed = match roles.arrays {
            role @ (client_memory::Role::Draw | client_memory::Role::MultiDraw) => {
                arrays.needed(role, command, &client)
            }
            _ => None,
        };
        let written = match &needed {
            Some(needed) => self.client_arrays(command, needed, &client),
            None => {
                self.summary.unexpressed += client.len() as u64;
                Ok(())
            }
        };
        drop(needed);
        self.arrays = arrays;
        written
    }

    /// Writes fake calls that set the arrays of a draw, with their contents.
    fn client_arrays(
        &mut self,
        command: &Command<'_>,
        needed: &Needed<'_>,
        ranges: &[Range<'_>],
    ) -> io::Result<()> {
        if needed.array_buffer != 0 {
            self.bind_array_buffer(command, 0)?;
        }
        let mut unit = needed.texture_unit;
        for (slot, array, place) in &needed.arrays {
            let of = match slot {
                Slot::Fixed(client_memory::TEXTURE_COORD_ARRAY, of) => *of,
                _ => needed.texture_unit,
            };
            if unit != of {
                unit = of;
                self.texture_unit(command, unit)?;
            }
            let memory = Span::new(array.pointer, &ranges[place.first..place.end]);
            let memory = memory.map(|memory| memory.up_to(place.address_end));
            self.client_array(command, array, memory)?;
        }
        if unit != needed.texture_unit {
            self.texture_unit(command, needed.texture_unit)?;
        }
        if needed.array_buffer != 0 {
            self.bind_array_buffer(command, needed.array_buffer)?;
        }
        Ok(())
    }

    /// Writes a `gl*Pointer` command again, with memory in place of its address.
    fn client_array(
        &mut self,
        command: &Command<'_>,
        array: &ClientArray,
        memory: Option<Span<'_, '_>>,
    ) -> io::Result<()> {
        let description = command.description();
        let Some(function) = description.function(array.function) else { return Ok(()) };
        let Some(span) = memory else {
            self.summary.unexpressed += 1;
            return Ok(());
        };
        self.enter(command, function, Origin::Fake)?;
        for (index, param) in function.params.iter().enumerate() {
            self.calls.argument(index)?;
            if param.name == "pointer" {
                span.write(command, &mut self.calls.values)?;
            } else {
                let value = Value::read(param.ty, &array.payload, param.offset as usize);
                self.arguments(command, function).scalar(param.ty, value)?;
            }
        }
        self.calls.end()?;
        self.leave_fake()
    }

    fn memcpy(&mut self, command: &Command<'_>, range: &Range<'_>) -> io::Result<()> {
        let thread = self.thread(command);
        self.calls.enter(thread, "memcpy", ["dest", "src", "n"].into_iter(), Origin::Fake)?;
        self.calls.argument(0)?;
        self.calls.values.address(range.address)?;
        self.calls.argument(1)?;
        match Span::new(range.address, std::slice::from_ref(range)) {
            Some(span) => span.write(command, &mut self.calls.values)?,
            None => self.calls.values.null()?,
        }
        self.calls.argument(2)?;
        self.calls.values.unsigned(range.size)?;
        self.calls.end()?;
        self.leave_fake()
    }

    fn viewport(&mut self, command: &Command<'_>, size: Size) -> io::Result<()> {
        let (width, height) = (u64::from(size.width), u64::from(size.height));
        let area = [("x", 0), ("y", 0), ("width", width), ("height", height)];
        self.fake(command, CommandId::GL_VIEWPORT, &area)?;
        self.fake(command, CommandId::GL_SCISSOR, &area)
    }

    fn bind_array_buffer(&mut self, command: &Command<'_>, buffer: u64) -> io::Result<()> {
        let target = client_memory::ARRAY_BUFFER;
        self.fake(command, CommandId::GL_BIND_BUFFER, &[("target", target), ("buffer", buffer)])
    }

    fn texture_unit(&mut self, command: &Command<'_>, unit: u64) -> io::Result<()> {
        let texture = client_memory::TEXTURE0 + unit;
        self.fake(command, CommandId::GL_CLIENT_ACTIVE_TEXTURE, &[("texture", texture)])
    }

    /// Writes a fake call with these parameters and numbers.
    fn fake(
        &mut self,
        command: &Command<'_>,
        made: CommandId,
        numbers: &[(&str, u64)],
    ) -> io::Result<()> {
        let thread = self.thread(command);
        let params = numbers.iter().map(|(param, _)| *param);
        self.calls.enter(thread, made.name(), params, Origin::Fake)?;
        let described = command.description().of(made);
        for (index, (_, number)) in numbers.iter().enumerate() {
            self.calls.argument(index)?;
            match described.and_then(|function| Some((function, function.params.get(index)?))) {
                Some((function, param)) => {
                    let value = Value::read(param.ty, &number.to_le_bytes(), 0);
                    self.arguments(command, function).scalar(param.ty, value)?;
                }
                None => self.calls.values.unsigned(*number)?,
            }
        }
        self.calls.end()?;
        self.leave_fake()
    }

    /// Writes the command itself.
    fn call(
        &mut self,
        command: &Command<'_>,
        function: &Function,
        ranges: &[Range<'_>],
    ) -> io::Result<()> {
        self.enter(command, function, Origin::Program)?;
        let written = Written::by(command);
        for (index, arg) in command.args().enumerate() {
            if !written.has(index, &arg) {
                self.calls.argument(index)?;
                self.input(command, function, index, &arg, ranges)?;
            }
        }
        self.calls.end()?;
        if function.leaves && command.leave_payload().is_none() {
            // The command did not return, or its leave record is lost.
            return Ok(());
        }
        self.calls.leave()?;
        for (index, arg) in command.args().enumerate() {
            if written.has(index, &arg) {
                self.calls.argument(index)?;
                self.output(command, function, &arg, written.range(index))?;
            }
        }
        if let Some((value, text)) = command.result() {
            self.calls.result()?;
            let text = command.bytes_of(text);
            self.arguments(command, function).write(
                function.result,
                None,
                value,
                text.as_deref(),
            )?;
        }
        self.calls.end()
    }

    /// Writes an argument that the command reads.
    fn input(
        &mut self,
        command: &Command<'_>,
        function: &Function,
        index: usize,
        arg: &Arg<'_>,
        ranges: &[Range<'_>],
    ) -> io::Result<()> {
        let (ty, element) = (arg.param.ty, arg.param.element);
        let Value::Pointer(address) = arg.value else {
            return self.arguments(command, function).scalar(ty, arg.value);
        };
        if let Some(len) = of_later_commands(command, index).filter(|_| address != 0) {
            return self.calls.values.zeros_of(len);
        }
        let of_it: Vec<_> =
            ranges.iter().copied().filter(|range| range.param == Some(index)).collect();
        if of_it.is_empty() {
            let mut arguments = self.arguments(command, function);
            let bytes = command.bytes_of(arg.observation);
            return arguments.write(ty, element, arg.value, bytes.as_deref());
        }
        if texts::are_behind(arg.param) {
            return texts::write(command, address, &of_it, &mut self.calls.values);
        }
        let Some(span) = Span::new(address, &of_it) else {
            self.summary.unexpressed += 1;
            return self.arguments(command, function).write(ty, element, arg.value, None);
        };
        match element {
            None => span.write(command, &mut self.calls.values),
            Some(_) => {
                let bytes = span.bytes(command);
                self.arguments(command, function).memory(Kind::Array, element, &bytes)
            }
        }
    }

    /// Writes an argument that the command writes to.
    fn output(
        &mut self,
        command: &Command<'_>,
        function: &Function,
        arg: &Arg<'_>,
        range: Option<Observation<'_>>,
    ) -> io::Result<()> {
        let (ty, element) = (arg.param.ty, arg.param.element);
        let bytes = command.bytes_of(range.unwrap_or(arg.observation));
        let mut arguments = self.arguments(command, function);
        match (range, bytes) {
            (Some(_), Some(bytes)) => arguments.memory(Kind::Array, element, &bytes),
            (_, bytes) => arguments.write(ty, element, arg.value, bytes.as_deref()),
        }
    }

    fn enter(
        &mut self,
        command: &Command<'_>,
        function: &Function,
        origin: Origin,
    ) -> io::Result<()> {
        let thread = self.thread(command);
        let params = function.params.iter().map(|param| param.name.as_str());
        self.calls.enter(thread, &function.name, params, origin)
    }

    fn leave_fake(&mut self) -> io::Result<()> {
        self.summary.fake += 1;
        self.calls.leave()?;
        self.calls.end()
    }

    fn thread(&mut self, command: &Command<'_>) -> u64 {
        let next = self.threads.len() as u64;
        *self.threads.entry(command.thread).or_insert(next)
    }

    fn arguments<'s>(&'s mut self, command: &Command<'s>, function: &Function) -> Arguments<'s, W> {
        Arguments {
            values: &mut self.calls.values,
            description: command.description(),
            egl: Api::named(&function.api) == Some(Api::Egl),
            has_byte_vectors: has_byte_vectors(&function.name),
        }
    }
}

/// The number of elements of an array that the driver keeps and writes in later commands, as glRenderMode does. Players
/// need the array; one of more than 1,048,576 elements stays an address.
fn of_later_commands(command: &Command<'_>, index: usize) -> Option<usize> {
    const ELEMENTS_MAX: u64 = 1 << 20;
    let at = match command.known()? {
        CommandId::GL_FEEDBACK_BUFFER => 2,
        CommandId::GL_SELECT_BUFFER => 1,
        _ => return None,
    };
    let len = command.args().next().map(|size| size.value.bits()).filter(|_| index == at)?;
    usize::try_from(len).ok().filter(|_| len <= ELEMENTS_MAX)
}

/// Whether a command takes an array of unsigned bytes, as `glPolygonStipple`, `glColor4ubv` and `glVertexAttrib4NubvARB` do.
fn has_byte_vectors(command: &str) -> bool {
    let name = command.trim_end_matches(|letter: char| letter.is_ascii_uppercase());
    name.ends_with("ubv") || command == "glPolygonStipple"
}

fn roles(description: &Description) -> Vec<Roles> {
    let last = description.functions().iter().map(|function| usize::from(function.id)).max();
    let nothing = Roles {
        arrays: client_memory::Role::None,
        mappings: mappings::Role::None,
        surfaces: quirks::Role::None,
    };
    let mut roles = vec![nothing; last.map_or(0, |last| last + 1)];
    for function in description.functions() {
        let Some(known) = function.known else { continue };
        roles[usize::from(function.id)] = Roles {
            arrays: client_memory::Role::of(known),
            mappings: mappings::Role::of(known),
            surfaces: quirks::Role::of(known),
        };
    }
    roles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_unsigned_bytes_are_known_by_the_name() {
        let check = |name, expected| assert_eq!(has_byte_vectors(name), expected, "{name}");
        check("glColor4ubv", true);
        check("glVertexAttrib4NubvARB", true);
        check("glIndexubv", true);
        check("glPolygonStipple", true);
        check("glColor4ub", false);
        check("glCallLists", false);
        check("glGetIntegerv", false);
    }
}
