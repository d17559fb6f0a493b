//! `Locations`: the names that a program has for numbers which the driver chooses when it links: locations of uniforms, of
//! attributes and of outputs, indices of blocks and of other resources (OpenGL ES 3.2, 7.3 and 7.6). Learned from the
//! answers of the functions that ask for numbers by name, and of those that ask for the name of an index; a link makes all of
//! them unknown. A number that the program did not ask for, such as one from `layout(location = 0)`, has no name here.
//!
//! An index whose name was asked for, and not the other way round, counts by its value in further questions about it: a
//! program that lists its resources asks for one index after the other, whatever their names are.
//!
//! Programs and program pipelines are numbers that [`Identity`](crate::identity::Identity) gives out.

use std::hash::Hash;

use gapii_commands::CommandId;
use gapii_commands::constants::{
    GL_ACTIVE_VARIABLES, GL_INVALID_INDEX, GL_LOCATION, GL_PROGRAM_INPUT, GL_PROGRAM_OUTPUT,
    GL_UNIFORM, GL_UNIFORM_BLOCK,
};
use gapii_trace::description::{Kind, Observed};
use gapii_trace::value::{Arg, split_strings};
use gapii_trace::{Bytes, Command};

use crate::digest::{self, Map};
use crate::role::Role;

/// Names of the locations and indices of one trace.
#[derive(Default)]
pub struct Locations {
    /// By program.
    names: Map<u64, Map<Place, Known>>,
    /// The program and the digest of the name that an attribute's location was asked for last, by process: commands that
    /// set an attribute name no program.
    attributes: Map<(u32, u32), Name>,
    /// The program that `glUseProgram` made current, by process and context.
    current: Map<Context, u64>,
    /// The program pipeline that is bound, by process and context.
    bound: Map<Context, u64>,
    /// The active program of each program pipeline.
    active: Map<u64, u64>,
}

/// Process and handle.
type Context = (u32, u64);

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

/// The name of a number.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Digest of the text.
    digest: u64,
    /// True if the program asked for the name of an index.
    is_listed: bool,
}

/// A name of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// Digest of the text.
    pub digest: u64,
    /// The program, if the command does not tell it otherwise.
    pub program: Option<u64>,
}

/// Objects that a command names, by their numbers.
#[derive(Clone, Copy, Default, Debug)]
pub struct Named {
    /// The program.
    pub program: Option<u64>,
    /// The program pipeline.
    pub pipeline: Option<u64>,
}

/// Which elements of an output are numbers that the driver has chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chosen {
    All,
    /// By position.
    These(Vec<usize>),
}

impl Chosen {
    /// Whether the element at this position is one.
    pub fn has(&self, at: usize) -> bool {
        match self {
            Self::All => true,
            Self::These(positions) => positions.contains(&at),
        }
    }
}

impl Locations {
    /// Whether the result of a command is a number that the driver has chosen for a name.
    pub fn is_chosen(command: &Command<'_>) -> bool {
        sort_of_answer(command).is_some_and(|_| number(command.result()) != GL_INVALID_INDEX)
    }

    /// Returns which 32-bit elements of an output are numbers that the driver has chosen; [`GL_INVALID_INDEX`] among them is
    /// none.
    pub fn chosen(command: &Command<'_>, param: &str) -> Option<Chosen> {
        match (command.known()?, param) {
            (CommandId::GL_GET_UNIFORM_INDICES, "uniformIndices") => Some(Chosen::All),
            (CommandId::GL_GET_PROGRAM_RESOURCEIV, "params") => {
                Some(Chosen::These(location_at(command)?.into_iter().collect()))
            }
            _ => None,
        }
    }

    /// Returns the name that the number in a parameter, or in the memory that it points at, stands for; `None` if it stands
    /// for none, or for an unknown one. `program` is the one that the command names.
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
            "uniformIndices" => Sort::Index(GL_UNIFORM),
            "index" if asks_of_resource(command) => Sort::Index(interface(command)),
            "index" if command.known() == Some(CommandId::GL_GET_ACTIVE_UNIFORM) => {
                Sort::Index(GL_UNIFORM)
            }
            "index" | "attribindex" if Role::AboutAttribute.is_of(command.known()) => {
                return self.attributes.get(&(command.process, number)).copied();
            }
            _ => return None,
        };
        let program = program.or_else(|| self.current(command))?;
        let known = *self.names.get(&program)?.get(&Place { sort, number })?;
        let is_question = || command.args().any(|arg| arg.param.observed == Observed::Out);
        if known.is_listed && is_question() {
            return None;
        }
        Some(Name { digest: known.digest, program: None })
    }

    /// Learns from a command.
    pub fn learn(&mut self, command: &Command<'_>, named: Named) {
        let context = (command.process, command.context);
        let known = command.known();
        if known == Some(CommandId::GL_USE_PROGRAM) {
            set(&mut self.current, context, named.program);
        } else if Role::BindsPipeline.is_of(known) {
            set(&mut self.bound, context, named.pipeline);
        } else if let Some(pipeline) =
            named.pipeline.filter(|_| Role::ActivatesProgram.is_of(known))
        {
            set(&mut self.active, pipeline, named.program);
        }
        let Some(program) = named.program else { return };
        if Role::Links.is_of(known) {
            self.names.remove(&program);
        }
        self.learn_answers(command, program);
        self.learn_names(command, program);
    }

    /// Forgets an object that was deleted. A deleted program pipeline is no longer bound (OpenGL ES 3.2, 7.4).
    pub fn forget(&mut self, object: u64) {
        self.bound.retain(|_, pipeline| *pipeline != object);
        self.active.remove(&object);
    }

    /// The program whose uniforms `glUniform*` sets (OpenGL ES 3.2, 7.4).
    fn current(&self, command: &Command<'_>) -> Option<u64> {
        let context = (command.process, command.context);
        let of_pipeline = || self.active.get(self.bound.get(&context)?);
        self.current.get(&context).or_else(of_pipeline).copied()
    }

    /// Learns the numbers that a command asks for by name.
    fn learn_answers(&mut self, command: &Command<'_>, program: u64) {
        let mut answers = Vec::new();
        if let Some(sort) = sort_of_answer(command) {
            let name = command.args().find_map(|arg| text(command, &arg, Observed::In));
            answers.extend(name.map(|name| (sort, number(command.result()), name)));
        }
        if command.known() == Some(CommandId::GL_GET_UNIFORM_INDICES) {
            let names = bytes(command, "uniformNames");
            let names = names.as_deref().and_then(split_strings).unwrap_or_default();
            let numbers = words(command, "uniformIndices");
            let pairs = names.into_iter().zip(numbers);
            answers.extend(
                pairs.map(|(name, number)| (Sort::Index(GL_UNIFORM), number, digest(name))),
            );
        }
        for (sort, number, digest) in answers {
            if number == GL_INVALID_INDEX {
                continue;
            }
            let known = Known { digest, is_listed: false };
            self.names.entry(program).or_default().insert(Place { sort, number }, known);
            if sort == Sort::Location(GL_PROGRAM_INPUT) {
                let name = Name { digest, program: Some(program) };
                self.attributes.insert((command.process, number), name);
            }
        }
    }

    /// Learns the name of an index, and the location of a resource whose name is known.
    fn learn_names(&mut self, command: &Command<'_>, program: u64) {
        let Some((sort, param)) = listed(command) else { return };
        let index = command.args().find(|arg| arg.param.name == param);
        let Some(number) = index.map(|arg| arg.value.bits() as u32) else { return };
        let place = Place { sort, number };
        let names = self.names.entry(program).or_default();
        if let Some(digest) = command.args().find_map(|arg| text(command, &arg, Observed::Out)) {
            names.entry(place).or_insert(Known { digest, is_listed: true });
        }
        let location = location_at(command).flatten();
        let location = location.and_then(|at| words(command, "params").get(at).copied());
        let known = names.get(&place).copied();
        if let (Some(number), Some(Known { digest, .. })) = (location, known)
            && number != GL_INVALID_INDEX
        {
            let place = Place { sort: Sort::Location(interface(command)), number };
            names.entry(place).or_insert(Known { digest, is_listed: false });
        }
    }
}

/// Sets or removes an entry.
fn set<K: Eq + Hash>(map: &mut Map<K, u64>, key: K, value: Option<u64>) {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
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

/// Returns which index a command asks about, and the parameter that has it, if the answer can have its name or its location.
fn listed(command: &Command<'_>) -> Option<(Sort, &'static str)> {
    Some(match command.known()? {
        CommandId::GL_GET_ACTIVE_UNIFORM => (Sort::Index(GL_UNIFORM), "index"),
        CommandId::GL_GET_ACTIVE_UNIFORM_BLOCK_NAME => {
            (Sort::Index(GL_UNIFORM_BLOCK), "uniformBlockIndex")
        }
        _ if asks_of_resource(command) => (Sort::Index(interface(command)), "index"),
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

/// Returns the position of the location among the answers of `glGetProgramResourceiv`: `Some(None)` if none was asked for, or
/// if it stands behind a property with more than one value; `None` for another command.
fn location_at(command: &Command<'_>) -> Option<Option<usize>> {
    if command.known() != Some(CommandId::GL_GET_PROGRAM_RESOURCEIV) {
        return None;
    }
    let props = words(command, "props");
    let single = props.iter().take_while(|prop| **prop != GL_ACTIVE_VARIABLES);
    Some(single.enumerate().find(|(_, prop)| **prop == GL_LOCATION).map(|(at, _)| at))
}

/// Returns the digest of the string that an argument points at.
fn text(command: &Command<'_>, arg: &Arg<'_>, way: Observed) -> Option<u64> {
    let is_text = arg.param.ty.kind == Kind::String && arg.param.observed == way;
    let bytes = command.bytes_of(arg.observation).filter(|_| is_text)?;
    Some(digest(&bytes))
}

/// Returns the digest of a string up to its NUL, if it has one.
fn digest(text: &[u8]) -> u64 {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    digest::of(&text[..end])
}

/// Returns the memory that the parameter of this name points at.
fn bytes<'a>(command: &Command<'a>, param: &str) -> Option<Bytes<'a>> {
    let arg = command.args().find(|arg| arg.param.name == param)?;
    command.bytes_of(arg.observation)
}

/// Returns the same as 32-bit words.
fn words(command: &Command<'_>, param: &str) -> Vec<u32> {
    let bytes = bytes(command, param);
    let (words, _) = bytes.as_deref().unwrap_or_default().as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// A result as a location or an index; -1 is [`GL_INVALID_INDEX`].
fn number<T>(result: Option<(gapii_trace::value::Value, T)>) -> u32 {
    result.map_or(GL_INVALID_INDEX, |(value, _)| value.bits() as u32)
}
