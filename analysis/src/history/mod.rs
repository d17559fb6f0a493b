//! The history of an object: the commands that made it, gave it contents, changed it, drew with it or to it, read it, named
//! it and deleted it. A [`Historian`] looks at all commands once, in the order in which they took effect.
//!
//! What a command does to an object comes from three sources: the state that follows it notes which objects it touches
//! (`gapii_state::touched`), its arguments name objects, and what is bound takes part in draws (`bound.rs`). A texture takes part
//! in a draw if it is bound to a unit that a uniform of the program may select; whether the shader samples it is not known.
//!
//! Keeps at most 64 objects that had the name (`OBJECTS_MAX`) and of each so many events of each sort as the caller wants,
//! the first ones. Two contexts with the same handle, one after the other, count as one.

pub(crate) mod bound;
mod life;

use std::collections::BTreeMap;

use gapii_follow::follow::Follower;
use gapii_follow::value::{Kind, Owner};
use gapii_follow::{Context, Thread};
use gapii_state::touched::{Notes, Touch, Touched};
use gapii_trace::description::{Kind as ValueKind, Repr, Type};
use gapii_trace::{Command, Untrusted};

use crate::identity::namespace;
use crate::mentions::Names;
use crate::role::Role;
pub use life::{Act, Event, History, Life, UniformSetter};

/// Most objects that are kept.
const OBJECTS_MAX: usize = 64;

/// Whether a command may write pixels of a framebuffer: it draws, clears or copies to it, or fills what is attached to it.
pub fn may_write_pixels(command: &Command<'_>) -> bool {
    let roles = [Role::Draw, Role::Dispatch, Role::Clears, Role::Fills];
    roles.iter().any(|role| role.is_of(command.known()))
}

/// The object that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Kind of object.
    pub kind: Kind,
    /// Its name, or its handle.
    pub name: u64,
    /// Only the object that had the name after this command, or the last one that had it before.
    pub at: Option<u64>,
    /// Only objects of this process, by its index in the trace.
    pub process: Option<u32>,
    /// Only the object of this context, or of its share group, as it is after the command `at`.
    pub context: Option<u64>,
    /// Most events of each sort.
    pub most: u64,
}

/// Writes the history of an object.
pub struct Historian {
    wanted: Wanted,
    /// Namespace of the kind's names in arguments.
    namespace: u64,
    follower: Follower,
    notes: Notes,
    touched: Vec<Touched>,
    /// By function id; `None` before the function's first command.
    functions: Vec<Option<Names>>,
    lives: Vec<Life>,
    left_out: u64,
    /// Whether the command `at` has been, so that other objects are no longer of interest.
    is_chosen: bool,
}

impl Historian {
    /// Begins, for one trace. At most one historian works in a thread at a time.
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            namespace: namespace_of(wanted.kind),
            follower: Follower::default(),
            notes: Notes::begin(),
            touched: Vec::new(),
            functions: Vec::new(),
            lives: Vec::new(),
            left_out: 0,
            is_chosen: false,
        }
    }

    /// Looks at the next command.
    pub fn look(&mut self, command: &Command<'_>) {
        self.follower.follow(command);
        let mut touched = std::mem::take(&mut self.touched);
        self.notes.take(&mut touched);
        if let Some(seq) = command.seq {
            self.note(command, seq, &touched);
            if self.wanted.at.is_some_and(|at| seq >= at) && !self.is_chosen {
                match self.wanted.context {
                    Some(context) => self.keep_of(seq, context),
                    None => {
                        let thread = self.follower.thread(command.thread);
                        let owner = thread.map(|thread| owner_of(self.wanted.kind, thread));
                        self.choose(seq, owner.map(|owner| (command.process, owner)));
                    }
                }
            }
        }
        self.touched = touched;
    }

    /// Returns the history.
    pub fn finish(mut self) -> History {
        if self.wanted.at.is_some() && !self.is_chosen {
            self.choose(u64::MAX, None);
        }
        let Wanted { kind, name, .. } = self.wanted;
        let (objects, objects_left_out) = (self.lives, self.left_out);
        History { kind: kind.name, name, objects, objects_left_out }
    }

    fn note(&mut self, command: &Command<'_>, seq: u64, touched: &[Touched]) {
        let Wanted { kind, name, most, process, .. } = self.wanted;
        if process.is_some_and(|process| process != command.process) {
            return;
        }
        let Some(thread) = self.follower.thread(command.thread) else { return };
        let owner = owner_of(kind, thread);
        // The strongest act by serial number.
        let mut acts: BTreeMap<u32, Act> = BTreeMap::new();
        let mut act = |serial: u32, act: Act| {
            acts.entry(serial).and_modify(|known| *known = act.min(*known)).or_insert(act);
        };
        let known = command.known();
        let fills = Role::Fills.is_of(known) || Role::FillsBuffer.is_of(known);
        let asks = Role::Asks.is_of(known);
        for it in touched.iter().filter(|it| it.kind == kind.name && it.name == name) {
            act(
                it.serial,
                match it.touch {
                    Touch::Made => Act::Makes,
                    Touch::Deleted => Act::Deletes,
                    Touch::Changed if fills => Act::Fills,
                    // The state has learned something from the answer.
                    Touch::Changed if asks => Act::Names,
                    Touch::Changed => Act::Changes,
                },
            );
        }
        if let Some((serial, found)) = bound::act(command, thread, kind.name, name) {
            act(serial, found);
        }
        let mut is_named = false;
        if let Some(names) = names_of(&mut self.functions, command) {
            names.each(command, |mention| {
                is_named |= mention.namespace == self.namespace && mention.name == name;
            });
        }
        if is_named {
            let current = self.lives.iter().rev().find(|life| {
                (life.process, life.owner) == (command.process, owner) && life.deleted.is_none()
            });
            let made = touched.iter().rev().find(|it| it.kind == kind.name && it.name == name);
            if let Some(serial) = current.map(|life| life.serial).or(made.map(|it| it.serial)) {
                act(serial, Act::Names);
            }
        }
        if acts.is_empty() {
            return;
        }
        let context = match kind.owner {
            Owner::Process => None,
            Owner::ShareGroup | Owner::Context => {
                thread.context.as_deref().map(|context| context.handle)
            }
        };
        let is_chosen = self.is_chosen;
        for (serial, act) in acts {
            let Some(life) = self.life((command.process, owner, serial), context) else { continue };
            match act {
                Act::Makes => life.made = Some(seq),
                Act::Deletes => life.deleted = Some(seq),
                Act::Changes if !is_chosen => note_uniform(life, command, seq),
                _ => {}
            }
            let count = life.counts.entry(act).or_default();
            *count += 1;
            if *count <= most {
                let Command { frame, thread, tid, is_setup, .. } = *command;
                let function = Untrusted::from(command.name());
                life.events.push(Event { seq, frame, thread, tid, is_setup, function, act });
            }
        }
    }

    /// Returns the object with this identity; a new one unless it is too late for it.
    fn life(
        &mut self,
        (process, owner, serial): (u32, u64, u32),
        context: Option<u64>,
    ) -> Option<&mut Life> {
        let is_it =
            |life: &Life| (life.process, life.owner, life.serial) == (process, owner, serial);
        if let Some(at) = self.lives.iter().rposition(is_it) {
            return self.lives.get_mut(at);
        }
        if self.is_chosen {
            return None;
        }
        if self.lives.len() >= OBJECTS_MAX {
            // One whose name is gone; otherwise the first one.
            let gone = self.lives.iter().position(|life| life.deleted.is_some()).unwrap_or(0);
            self.lives.remove(gone);
            self.left_out += 1;
        }
        self.lives.push(Life {
            process,
            context,
            made: None,
            deleted: None,
            events: Vec::new(),
            counts: BTreeMap::new(),
            uniforms: Vec::new(),
            owner,
            serial,
        });
        self.lives.last_mut()
    }

    /// Forgets objects that do not belong to a context or its share group, and then does the same as [`choose`](Self::choose).
    fn keep_of(&mut self, at: u64, context: u64) {
        let kind = self.wanted.kind;
        let mut owners: Vec<(u32, u64)> = Vec::new();
        for (index, process) in self.follower.processes() {
            let mut see = |it: &Context| {
                if it.handle == context {
                    owners.push((index, owner_in(kind, it)));
                }
            };
            let threads = self.follower.threads().map(|(_, thread)| thread);
            let own = threads.filter(|thread| std::ptr::eq(thread.process.as_ref(), process));
            own.filter_map(|thread| thread.context.as_deref()).for_each(&mut see);
            process.contexts().idle().for_each(see);
        }
        self.lives.retain(|life| owners.contains(&(life.process, life.owner)));
        self.choose(at, None);
    }

    /// Forgets objects that have not the name after command `at`; of objects that all have lost it, all but the last one. If there
    /// is an object of the process and owner `of`, those of others are forgotten, too.
    fn choose(&mut self, at: u64, of: Option<(u32, u64)>) {
        self.is_chosen = true;
        self.left_out = 0;
        let is_of = |life: &Life| of == Some((life.process, life.owner));
        if self.lives.iter().any(is_of) {
            self.lives.retain(is_of);
        }
        let has_name = |life: &Life| life.deleted.is_none_or(|deleted| deleted > at);
        match self.lives.iter().any(has_name) {
            true => self.lives.retain(has_name),
            false => self.lives = self.lives.pop().into_iter().collect(),
        }
    }
}

/// Notes the uniform that a command has set. A link forgets all values (OpenGL ES 3.2, 7.6).
fn note_uniform(program: &mut Life, command: &Command<'_>, seq: u64) {
    if Role::Links.is_of(command.known()) {
        program.uniforms.clear();
    }
    let location = command.args().find(|arg| arg.param.name == "location");
    // A location is a GLint. The values of -1 are ignored.
    let location = location.map(|arg| arg.value.bits() as u32 as i32).filter(|it| *it >= 0);
    if let Some(location) = location {
        let function = Untrusted::from(command.name());
        let setter = UniformSetter { location, seq, frame: command.frame, function };
        match program.uniforms.binary_search_by_key(&location, |it| it.location) {
            Ok(at) => program.uniforms[at] = setter,
            Err(at) => program.uniforms.insert(at, setter),
        }
    }
}

/// Returns what a command does with names, looked up once per function id.
fn names_of<'a>(functions: &'a mut Vec<Option<Names>>, command: &Command<'_>) -> Option<&'a Names> {
    let function = command.function?;
    let id = usize::from(command.id);
    if functions.len() <= id {
        functions.resize(id + 1, None);
    }
    Some(functions.get_mut(id)?.get_or_insert_with(|| Names::of(function)))
}

/// What the objects of a kind belong to that a thread uses, as a number; 0 for its process, and without a context.
pub(crate) fn owner_of(kind: Kind, thread: &Thread) -> u64 {
    thread.context.as_deref().map_or(0, |context| owner_in(kind, context))
}

/// The same for a context.
fn owner_in(kind: Kind, context: &Context) -> u64 {
    match kind.owner {
        Owner::Process => 0,
        Owner::ShareGroup => context.group.number(),
        Owner::Context => context.handle,
    }
}

/// Namespace of the parameters that are names of this kind.
fn namespace_of(kind: Kind) -> u64 {
    let word = match kind.name {
        "VertexArray" => "array",
        "Query" | "TransformFeedback" => "id",
        other => &other.to_lowercase(),
    };
    // EGL's objects and fences are named by handles.
    let repr = match kind.owner == Owner::Process || kind.name == "Sync" {
        true => Repr::Pointer,
        false => Repr::U32,
    };
    let about_query = (kind.name == "Query").then_some(gapii_commands::CommandId::GL_BEGIN_QUERY);
    namespace(about_query, Type { repr: Some(repr), kind: ValueKind::Handle }, word)
}
