//! `Locations`: the names that a program has for numbers which the driver chooses when it links: locations of uniforms, of
//! attributes and of outputs, indices of blocks and of other resources (OpenGL ES 3.2, 7.3 and 7.6). Learned from the
//! answers of the functions that ask for them by name; a link makes all of them unknown. A number that the program
//! did not ask for, such as one from `layout(location = 0)`, has no name here.
//!
//! Programs are numbers that [`Identity`](crate::identity::Identity) gives out.

use std::collections::HashMap;

use gapii_commands::CommandId;
use gapii_commands::constants::{
    GL_INVALID_INDEX, GL_PROGRAM_INPUT, GL_PROGRAM_OUTPUT, GL_UNIFORM, GL_UNIFORM_BLOCK,
};
use gapii_trace::Command;

use crate::role::Role;

/// Names of the locations and indices of one trace.
#[derive(Default)]
pub struct Locations {
    /// Digests of names, by program.
    names: HashMap<u64, HashMap<Place, u64>>,
    /// The program and the digest of the name that an attribute's location was asked for last, by process: commands that
    /// set an attribute name no program.
    attributes: HashMap<(u32, u32), Name>,
    /// The program that `glUseProgram` made current, by process and context.
    current: HashMap<(u32, u64), u64>,
}

/// A location or an index of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Place {
    sort: Sort,
    number: u32,
}

/// A series of numbers, with the program interface (OpenGL ES 3.2, 7.3.1) that it is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Sort {
    Location(u32),
    Index(u32),
}

/// A name of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// Digest of the text.
    pub digest: u64,
    /// The program, if the command does not tell it otherwise.
    pub program: Option<u64>,
}

impl Locations {
    /// Whether the result of a command is a number that the driver has chosen for a name.
    pub fn is_chosen(command: &Command<'_>) -> bool {
        sort_of_answer(command).is_some_and(|_| number(command.result()) != GL_INVALID_INDEX)
    }

    /// Returns the name that the number in a parameter stands for; `None` if it stands for none, or for an unknown one.
    /// `program` is the one that the command names.
    pub fn name(
        &self,
        command: &Command<'_>,
        param: &str,
        number: u32,
        program: Option<u64>,
    ) -> Option<Name> {
        let sort = match param {
            "location" => Sort::Location(GL_UNIFORM),
            "uniformBlockIndex" => Sort::Index(GL_UNIFORM_BLOCK),
            "index" if asks_of_resource(command) => Sort::Index(interface(command)),
            "index" | "attribindex" if Role::AboutAttribute.is_of(command.known()) => {
                return self.attributes.get(&(command.process, number)).copied();
            }
            _ => return None,
        };
        let current = self.current.get(&(command.process, command.context));
        let program = program.or(current.copied())?;
        let digest = *self.names.get(&program)?.get(&Place { sort, number })?;
        Some(Name { digest, program: None })
    }

    /// Learns from a command. `program` is the one that it names, and `name` the digest of the text that it names.
    pub fn learn(&mut self, command: &Command<'_>, program: Option<u64>, name: u64) {
        if command.known() == Some(CommandId::GL_USE_PROGRAM) {
            let context = (command.process, command.context);
            match program {
                Some(program) => self.current.insert(context, program),
                None => self.current.remove(&context),
            };
        }
        let Some(program) = program else { return };
        if Role::Links.is_of(command.known()) {
            self.names.remove(&program);
        }
        let number = number(command.result());
        if let Some(sort) = sort_of_answer(command).filter(|_| number != GL_INVALID_INDEX) {
            self.names.entry(program).or_default().insert(Place { sort, number }, name);
            if sort == Sort::Location(GL_PROGRAM_INPUT) {
                let name = Name { digest: name, program: Some(program) };
                self.attributes.insert((command.process, number), name);
            }
        }
    }
}

/// Returns which numbers a command asks for by name, if it does.
fn sort_of_answer(command: &Command<'_>) -> Option<Sort> {
    Some(match command.known()? {
        CommandId::GL_GET_UNIFORM_LOCATION => Sort::Location(GL_UNIFORM),
        CommandId::GL_GET_ATTRIB_LOCATION => Sort::Location(GL_PROGRAM_INPUT),
        CommandId::GL_GET_FRAG_DATA_LOCATION => Sort::Location(GL_PROGRAM_OUTPUT),
        CommandId::GL_GET_PROGRAM_RESOURCE_LOCATION => Sort::Location(interface(command)),
        CommandId::GL_GET_UNIFORM_BLOCK_INDEX => Sort::Index(GL_UNIFORM_BLOCK),
        CommandId::GL_GET_PROGRAM_RESOURCE_INDEX => Sort::Index(interface(command)),
        _ => return None,
    })
}

/// Whether the command takes the index of a resource of a program interface.
fn asks_of_resource(command: &Command<'_>) -> bool {
    let names = [CommandId::GL_GET_PROGRAM_RESOURCE_NAME, CommandId::GL_GET_PROGRAM_RESOURCEIV];
    command.known().is_some_and(|known| names.contains(&known))
}

/// The program interface that a command names.
fn interface(command: &Command<'_>) -> u32 {
    let found = command.args().find(|arg| arg.param.name == "programInterface");
    found.map_or(0, |arg| arg.value.bits() as u32)
}

/// A result as a location or an index; -1 is [`GL_INVALID_INDEX`].
fn number<T>(result: Option<(gapii_trace::value::Value, T)>) -> u32 {
    result.map_or(GL_INVALID_INDEX, |(value, _)| value.bits() as u32)
}
