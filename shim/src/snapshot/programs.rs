//! Programs of a share group, and the programs that a context uses. Each is linked with the sources and parameters of
//! its last link, and then gets the parameters of the next. If the last link failed, the last earlier link that
//! succeeds on trial gives the executable in use; its uniforms are missing. A program loaded from a binary is loaded
//! from the binary that the driver makes of it. A deleted program that contexts still use is deleted when the last of
//! them has been described. Missing are shader binaries, an executable that was linked again elsewhere, and whether a
//! context of another thread uses a program that was deleted after its share group was described.
//!
//! A deleted program keeps its name while a context has it current or a program pipeline contains it (OpenGL ES 3.2, 7.3), and
//! the state does not know the programs of contexts on other threads. The driver says which deleted programs still exist. They
//! are made with the share group; the description of the context that uses one deletes it.

use core::sync::atomic::Ordering::Relaxed;
use std::collections::{BTreeMap, BTreeSet};

use gapii_abi::spare_names;
use gapii_commands::constants::{
    GL_ACTIVE_ATTRIBUTES, GL_ATTACHED_SHADERS, GL_CURRENT_PROGRAM, GL_LINK_STATUS,
    GL_PROGRAM_BINARY_LENGTH, GL_PROGRAM_SEPARABLE, GL_VALIDATE_STATUS, GL_VERTEX_SHADER,
};
use gapii_state::{Context, Link, LinkParameters, Process, Program as State, Ref, Stage};

use super::emit::Emitter;
use super::shaders::{self, make_shader};
use super::{gl, labels, link_parameters, trial_links, uniforms};
use crate::generated::ids::*;
use gapii_recorder::observe;

/// Writes the commands that take a program's executable into use.
type Take<'t> = &'t dyn Fn(&mut Emitter);
/// Program, room in bytes; length, format and bytes of the binary.
type GetBinary = unsafe fn(u32, i32, *mut i32, *mut u32, *mut u8);

/// A program that the driver still has.
struct Program {
    object: Ref<State>,
    name: u32,
    state: State,
    /// Whether the program was deleted, but is still in use.
    is_deleted: bool,
    is_linked: bool,
}

/// Whether the context's share group has programs.
pub fn has_any(context: &Context) -> bool {
    !last_of_all(context).is_empty()
}

/// Describes all shaders and programs of the context's share group.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context) {
    let programs = programs(context);
    for program in &programs {
        program.make(emitter, (process, context), None);
    }
    let shaders = shaders::of_group(context);
    for shader in &shaders {
        shader.describe(emitter);
    }
    for program in &programs {
        program.attach_shaders(emitter);
    }
    for shader in shaders.iter().filter(|shader| shader.is_deleted) {
        emitter.command(GL_DELETE_SHADER).arg(shader.name).done();
    }
    let epoch = context.group.described.load(Relaxed);
    for program in programs.iter().filter(|program| program.is_deleted) {
        program.note_deletion(context, epoch);
        labels::describe_program(emitter, context, program.name);
        if process.contexts().may_use(&context.group, epoch, program.object) {
            let what =
                "GL_DELETE_STATUS, until all contexts that use it have been current, of program";
            emitter.leave_out_of(what, program.name);
        }
    }
}

/// Makes the context's program current, and deletes the deleted programs that no other context needs by name.
pub fn describe_current(emitter: &mut Emitter, process: &Process, context: &Context) {
    let current = gl::integer(GL_CURRENT_PROGRAM) as u32;
    let take = |emitter: &mut Emitter| emitter.command(GL_USE_PROGRAM).arg(current).done();
    match current {
        0 => take(emitter),
        _ => {
            let used_at = context.program_used_at;
            take_into_use(emitter, (process, context), (current, used_at), false, &take);
        }
    }
    let epoch = context.group.described.load(Relaxed);
    for object in last_of_all(context) {
        let mut group = context.group.lock();
        let program = group.programs.get_mut(object).filter(|it| it.to_delete_in == epoch);
        if program.is_none() {
            continue;
        }
        drop(group);
        let name = object.name() as u32;
        // A deleted program exists while a context uses it. Of an idle context the state may have a program that the
        // driver refused to make current.
        let may_be_ours = name == current || context.pipelines.named().next().is_some();
        let is_needed = !may_be_ours || process.contexts().may_use(&context.group, epoch, object);
        if is_needed || gl::is_program(name) == 0 {
            continue;
        }
        emitter.command(GL_DELETE_PROGRAM).arg(name).done();
        if let Some(program) = context.group.lock().programs.get_mut(object) {
            program.to_delete_in = 0;
        }
    }
}

/// Writes, with `take`, the commands that take the executable of a program into use in the described context. If the program's last
/// link failed, an earlier executable is in use. `used_at` is the number of links when the program did that.
pub fn take_into_use(
    emitter: &mut Emitter,
    (process, context): (&Process, &Context),
    (name, used_at): (u32, u64),
    as_stage: bool,
    take: Take<'_>,
) {
    let object = last_of_name(&context.group.lock().programs, name);
    let Some(program) = Program::of(context, object) else {
        emitter.leave_out_of("deleted program", name);
        return;
    };
    let epoch = context.group.described.load(Relaxed);
    let is_there = program.is_there(process, context, epoch);
    if is_there.is_none() {
        let what = "whether a context of another thread uses it, too, of the deleted program";
        emitter.leave_out_of(what, name);
    }
    let is_there = is_there == Some(true);
    if !program.is_linked {
        let earlier = program.executable_in_use(emitter, process, context);
        program.make(emitter, (process, context), earlier.map(|link| (link, take)));
    } else if !is_there {
        program.make(emitter, (process, context), None);
    }
    if !program.is_linked || !is_there {
        let gone =
            if is_there { Vec::new() } else { program.gone_shaders(process, context, epoch) };
        gone.iter().for_each(|shader| shader.describe(emitter));
        program.attach_shaders(emitter);
        for shader in &gone {
            emitter.command(GL_DELETE_SHADER).arg(shader.name).done();
        }
        labels::describe_program(emitter, context, name);
    }
    if !is_there {
        program.note_deletion(context, epoch);
    }
    if !program.is_linked {
        return;
    }
    if was_linked_elsewhere(context, &program.state, used_at) {
        let what = "the executable in use of the program that was linked again elsewhere:";
        emitter.leave_out_of(what, name);
    }
    // Drivers accept a program as a stage if it is separable now, whether it was at its last link or not.
    let needs_separable = as_stage && !program.state.next_link.separable;
    if needs_separable {
        link_parameters::set_parameter(emitter, context, name, GL_PROGRAM_SEPARABLE, true);
    }
    take(emitter);
    if needs_separable {
        link_parameters::set_parameter(emitter, context, name, GL_PROGRAM_SEPARABLE, false);
    }
}

/// Whether another context has linked a program since this one took an executable of it into use. `used_at` is the number of
/// links at that time.
pub fn was_linked_elsewhere(context: &Context, program: &State, used_at: u64) -> bool {
    program.linked_at > used_at && program.linked_in != context.handle
}

/// Whether a program is or was linked, so that the driver has taken it into use if it was told to.
pub fn may_be_in_use(context: &Context, name: u32) -> bool {
    let object = last_of_name(&context.group.lock().programs, name);
    Program::of(context, object)
        .is_some_and(|program| program.is_linked || !program.state.earlier_links.is_empty())
}

/// Returns the programs that the driver has, in the order of their names.
fn programs(context: &Context) -> Vec<Program> {
    last_of_all(context).into_iter().filter_map(|object| Program::of(context, object)).collect()
}

/// Returns, for each name, the program that has it or had it last.
fn last_of_all(context: &Context) -> Vec<Ref<State>> {
    let group = context.group.lock();
    let all = group.programs.deleted().chain(group.programs.named()).map(|(object, _)| object);
    let last: BTreeMap<u64, _> = all.map(|object| (object.name(), object)).collect();
    last.into_values().collect()
}

/// Returns the program that has the name, or had it last.
fn last_of_name(programs: &gapii_state::Objects<State>, name: u32) -> Ref<State> {
    let name = u64::from(name);
    let found = programs.find(name);
    if found.is_some() {
        return found;
    }
    let deleted = programs.deleted().map(|(object, _)| object);
    deleted.filter(|object| object.name() == name).last().unwrap_or_default()
}

impl Program {
    /// `None` if the driver has no such program any more.
    fn of(context: &Context, object: Ref<State>) -> Option<Self> {
        let name = object.name() as u32;
        if gl::is_program(name) == 0 {
            return None;
        }
        let group = context.group.lock();
        let state = group.programs.get(object)?.clone();
        let is_deleted = state.is_deleted || group.programs.find(object.name()) != object;
        drop(group);
        let is_linked = gl::program_integer(name, GL_LINK_STATUS) != 0;
        Some(Self { object, name, state, is_deleted, is_linked })
    }

    /// Makes the program without its shaders. If the last link failed, links it with an earlier link first if one is given, and has
    /// that executable taken into use.
    fn make(
        &self,
        emitter: &mut Emitter,
        (process, context): (&Process, &Context),
        earlier: Option<(&Link, Take<'_>)>,
    ) {
        emitter.command(GL_CREATE_PROGRAM).returns(self.name, []);
        let mut parameters = LinkParameters::default();
        let is_validated = gl::program_integer(self.name, GL_VALIDATE_STATUS) != 0;
        // A link that fails may leave the status of an earlier one.
        let validated = || match is_validated && !self.is_linked {
            true => self.last_that_succeeded(process, context),
            false => None,
        };
        if let Some(link) = earlier.map(|(link, _)| link).or_else(validated) {
            self.link(emitter, context, link, &mut parameters);
            if is_validated && !self.is_linked {
                self.validate(emitter, process, context);
            }
            if let Some((_, take)) = earlier {
                take(emitter);
            }
        }
        if self.state.links != 0 {
            self.link(emitter, context, &self.state.last_link, &mut parameters);
        }
        let next = &self.state.next_link;
        link_parameters::describe(emitter, context, self.name, &mut parameters, next);
        if !self.is_linked {
            return;
        }
        self.describe_attributes(emitter);
        let asked: Vec<_> =
            self.state.uniform_names.iter().map(|(at, name)| (*at, name.clone())).collect();
        uniforms::describe(emitter, context, self.name, &asked);
        if is_validated {
            self.validate(emitter, process, context);
        }
    }

    /// Validates the program, unless its link has done that.
    fn validate(&self, emitter: &mut Emitter, process: &Process, context: &Context) {
        if !trial_links::validate(process, context) {
            emitter.command(GL_VALIDATE_PROGRAM).arg(self.name).done();
        }
    }

    /// Returns the last earlier link that succeeded, unless it was a binary. `None` if none is known.
    fn last_that_succeeded(&self, process: &Process, context: &Context) -> Option<&Link> {
        let last = match &self.state.earlier_links[..] {
            [] => None,
            [link] => Some(link),
            links => trial_links::last_that_succeeds(process, context, links),
        };
        last.filter(|link| !link.is_binary)
    }

    /// Returns the last link that succeeded, of a program whose last link failed.
    fn executable_in_use(
        &self,
        emitter: &mut Emitter,
        process: &Process,
        context: &Context,
    ) -> Option<&Link> {
        let last = self.last_that_succeeded(process, context);
        let has_uniforms = |link: &Link| link.stages.iter().any(|it| it.source.contains("uniform"));
        if last.is_none() {
            let what = "the executable in use of the program whose last link failed:";
            emitter.leave_out_of(what, self.name);
        } else if last.is_some_and(has_uniforms) {
            let what = "uniforms of the executable in use of the program whose last link failed:";
            emitter.leave_out_of(what, self.name);
        }
        last
    }

    /// Links the program as it was linked before. `parameters` are those that the program has, before and after.
    fn link(
        &self,
        emitter: &mut Emitter,
        context: &Context,
        link: &Link,
        parameters: &mut LinkParameters,
    ) {
        link_parameters::describe(emitter, context, self.name, parameters, &link.parameters);
        if link.is_binary && self.is_linked {
            return self.load_binary(emitter, context);
        }
        if self.is_linked && link.stages.iter().any(|stage| !stage.is_compiled) {
            emitter.leave_out_of("shader binaries of program", self.name);
        }
        let stages = if link.is_binary { &[] } else { &link.stages[..] };
        // A link without shaders, or of a binary, may fail in the program's context and succeed in the replay's: Mesa 22.3 links
        // without shaders in the compatibility profile. No driver links one that is not compiled.
        let uncompiled = [Stage { kind: GL_VERTEX_SHADER, ..Stage::default() }];
        let fails = !self.is_linked && core::ptr::eq(link, &raw const self.state.last_link);
        let stages = if fails && stages.is_empty() { &uncompiled } else { stages };
        for (at, stage) in (spare_names::FIRST..).zip(stages) {
            make_shader(emitter, at, stage.kind, &stage.source);
            if stage.is_compiled {
                emitter.command(GL_COMPILE_SHADER).arg(at).done();
            }
            emitter.command(GL_ATTACH_SHADER).arg(self.name).arg(at).done();
        }
        emitter.command(GL_LINK_PROGRAM).arg(self.name).done();
        for (at, _) in (spare_names::FIRST..).zip(stages) {
            emitter.command(GL_DETACH_SHADER).arg(self.name).arg(at).done();
            emitter.command(GL_DELETE_SHADER).arg(at).done();
        }
    }

    /// Loads the binary that the driver makes of the program, which was loaded from a binary.
    fn load_binary(&self, emitter: &mut Emitter, context: &Context) {
        let room = gl::program_integer(self.name, GL_PROGRAM_BINARY_LENGTH).max(0);
        let mut binary = vec![0_u8; room as usize];
        let (mut len, mut format) = (0, 0);
        let (get, id): (GetBinary, _) = match context.has((3, 0), (4, 1)) {
            true => (gl::get_program_binary, GL_PROGRAM_BINARY),
            false => (gl::get_program_binary_oes, GL_PROGRAM_BINARY_OES),
        };
        if room > 0 {
            let out = binary.as_mut_ptr();
            // SAFETY: the driver writes at most `room` bytes.
            unsafe { get(self.name, room, &raw mut len, &raw mut format, out) };
        }
        if len <= 0 || len > room {
            emitter.leave_out_of("the binary of program", self.name);
            return;
        }
        let (bytes, command) = (binary.as_ptr(), emitter.command(id).arg(self.name).arg(format));
        let command = command.arg(bytes).arg(len);
        command.reads(observe::array(bytes, i64::from(len), 1)).done();
    }

    /// Queries locations of attributes, so that a replay on another driver uses these locations.
    fn describe_attributes(&self, emitter: &mut Emitter) {
        for index in 0..gl::program_integer(self.name, GL_ACTIVE_ATTRIBUTES) {
            let attribute = gl::active(gl::get_active_attrib, self.name, index as u32);
            let Some(text) = attribute.map(|attribute| attribute.name) else { continue };
            if text.to_bytes().starts_with(b"gl_") {
                continue;
            }
            // SAFETY: a NUL-terminated string.
            let location = unsafe { gl::get_attrib_location(self.name, text.as_ptr()) };
            if location >= 0 {
                let command = emitter.command(GL_GET_ATTRIB_LOCATION).arg(self.name);
                command.text(&text).returns(location, []);
            }
        }
    }

    /// Attaches the shaders that are attached now, in their order.
    fn attach_shaders(&self, emitter: &mut Emitter) {
        for shader in self.attached() {
            emitter.command(GL_ATTACH_SHADER).arg(self.name).arg(shader).done();
        }
    }

    /// The names of the shaders that are attached now, in their order.
    fn attached(&self) -> Vec<u32> {
        let room = gl::program_integer(self.name, GL_ATTACHED_SHADERS).max(0);
        let (mut names, mut count) = (vec![0_u32; room as usize], 0);
        // SAFETY: the driver writes at most `room` names.
        unsafe { gl::get_attached_shaders(self.name, room, &raw mut count, names.as_mut_ptr()) };
        names.truncate(count.max(0) as usize);
        names
    }

    /// The attached shaders that a replay does not have, because it has deleted this program: deleted shaders that no other
    /// program of the replay has.
    fn gone_shaders(
        &self,
        process: &Process,
        context: &Context,
        epoch: u64,
    ) -> Vec<shaders::Shader> {
        let is_there = |it: &Program| {
            let is_there = || it.is_there(process, context, epoch) == Some(true);
            it.object != self.object && (!it.is_deleted || is_there())
        };
        let others = programs(context).into_iter().filter(is_there);
        let held: BTreeSet<u32> = others.flat_map(|program| program.attached()).collect();
        let attached = self.attached().into_iter().filter(|shader| !held.contains(shader));
        let shaders = attached.filter_map(|name| shaders::of_name(context, name));
        shaders.filter(|shader| shader.is_deleted).collect()
    }

    /// Whether the replay has the program. A program that was deleted after its share group was described is gone in the replay,
    /// unless a context that is described already uses it. `None` if that is not known.
    fn is_there(&self, process: &Process, context: &Context, epoch: u64) -> Option<bool> {
        let is_named = context.group.lock().programs.find(self.object.name()) == self.object;
        match is_named || self.state.to_delete_in == epoch {
            true => Some(true),
            false => process.contexts().is_used(context.handle, epoch, self.object),
        }
    }

    /// Notes that the snapshot has made a deleted program, which a context's description has to delete.
    fn note_deletion(&self, context: &Context, epoch: u64) {
        if let Some(program) = context.group.lock().programs.get_mut(self.object) {
            program.to_delete_in = epoch;
        }
    }
}
