//! The survey's reading of a trace: which functions are called, which contexts, configurations and surfaces the program
//! had, and which locations its attributes had. At most 65,536 objects of a kind (`OBJECTS_MAX`) and 1,048,576
//! attribute locations (`LOCATIONS_MAX`) are noted; of others nothing is known.
//!
//! Calls no driver.

mod glx;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Seek};

use gapii_commands::constants;
use gapii_trace::{Command, TraceReader};

use super::facts::{ConfigFacts, ContextFacts, Survey};
use super::lists::{self, Attributes};
use super::look::Look;
use super::needs::{self, Needs};
use super::surfaces::SurfaceFacts;
use crate::events::Events;

/// Largest number of objects of each kind that are noted.
const OBJECTS_MAX: usize = 1 << 16;
/// Largest number of attribute locations that are noted.
const LOCATIONS_MAX: usize = 1 << 20;
/// Number of commands between checks for cancellation.
const CANCEL_STEP: u64 = 1 << 14;

const EGL_WIDTH: i64 = constants::EGL_WIDTH as i64;
const EGL_HEIGHT: i64 = constants::EGL_HEIGHT as i64;
const EGL_OPENGL_ES_API: u64 = constants::EGL_OPENGL_ES_API as u64;
const EGL_CONTEXT_MAJOR_VERSION: i64 = constants::EGL_CONTEXT_MAJOR_VERSION as i64;
const EGL_CONTEXT_MINOR_VERSION: i64 = constants::EGL_CONTEXT_MINOR_VERSION as i64;
const GL_LINK_STATUS: u64 = constants::GL_LINK_STATUS as u64;
const GL_PROGRAM_INPUT: u64 = constants::GL_PROGRAM_INPUT as u64;

impl Survey {
    /// Reads the whole trace, of which the frames below `end` of each process are played. `None` if the replay was
    /// cancelled meanwhile.
    pub fn of<R: Read + Seek>(
        reader: &mut TraceReader<R>,
        end: u64,
        events: &mut dyn Events,
    ) -> io::Result<Option<Self>> {
        let mut surveyor = Surveyor::default();
        let total = reader.footer().map_or(0, |footer| footer.totals.calls);
        let mut commands = reader.commands()?;
        let mut count = 0u64;
        while commands.advance()? {
            count += 1;
            let command = commands.command();
            surveyor.survey.note_thread(command.thread, count);
            if command.ends_frame && command.seq.is_some() && command.frame < end {
                surveyor.survey.last_frame = Some((command.process, command.frame));
            }
            surveyor.look_at(&command);
            if count.is_multiple_of(CANCEL_STEP) {
                events.surveyed(count, total);
                if events.is_cancelled() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(surveyor.survey))
    }
}

/// State while the commands of a trace are read.
#[derive(Default)]
struct Surveyor {
    survey: Survey,
    /// What to learn from a command, by function id.
    looks: Vec<Option<Look>>,
    /// Index of the requirement, by function id; `None` for functions that every context has.
    requirements: Vec<Option<usize>>,
    /// Process of the last command.
    process: Option<u32>,
    /// The context that was found last, and its index.
    last: Option<((u32, u64), usize)>,
    contexts: HashMap<(u32, u64), usize>,
    surfaces: HashMap<(u32, u64), usize>,
    currents: HashMap<u32, Current>,
    /// Numbers of configurations by process and handle, until their display is terminated.
    config_numbers: HashMap<(u32, u64), u64>,
    bound_api: HashMap<u32, u64>,
    /// The context whose limits were noted last.
    learned: Option<(u32, u64)>,
    /// `seq` of the last link, by process, share group and program.
    links: HashMap<(u32, u64, u64), u64>,
    locations: usize,
    /// Share groups by process and context: the `seq` that created the group's first context.
    groups: HashMap<(u32, u64), u64>,
    /// Contexts with a framebuffer object bound.
    off_screen: BTreeSet<(u32, u64)>,
}

/// Properties that a program asked for when it made a context. The attributes have EGL's names.
struct NewContext {
    is_desktop: bool,
    /// Handle of its configuration.
    config: u64,
    share: u64,
    attributes: Attributes,
}

/// Context and draw surface that are current on a thread.
#[derive(Clone, Copy, Default)]
struct Current {
    context: u64,
    draw: Option<usize>,
    /// Whether the context is current for the first time.
    is_first: bool,
}

impl Surveyor {
    fn look_at(&mut self, command: &Command<'_>) {
        let id = usize::from(command.id);
        if self.looks.len() <= id {
            self.looks.resize(id + 1, None);
            self.requirements.resize(id + 1, None);
        }
        let look = match self.looks[id] {
            Some(look) => look,
            None => {
                self.survey.functions.insert(command.name().to_owned());
                self.requirements[id] = command.known().and_then(needs::find);
                *self.looks[id].insert(command.known().map_or(Look::Nothing, Look::of))
            }
        };
        if self.process != Some(command.process) {
            self.process = Some(command.process);
            self.survey.processes.insert(command.process);
        }
        if command.limits.is_some() && self.learned != Some((command.process, command.context)) {
            self.learn_limits(command);
        }
        if let Some(requirement) = self.requirements[id] {
            self.need(command, requirement);
        }
        if look != Look::Nothing && command.seq.is_some() && command.enter_payload().is_some() {
            self.look_closer(command, look);
        }
    }

    fn look_closer(&mut self, command: &Command<'_>, look: Look) {
        let result = result_of(command);
        let process = command.process;
        match look {
            Look::Nothing => {}
            Look::BindApi => {
                if result != Some(0) {
                    self.bound_api.insert(command.thread, arg(command, 0));
                }
            }
            Look::Display(by) => {
                self.survey.display.get_or_insert(by);
            }
            Look::Initialize => {
                if result != Some(0) {
                    self.survey.last_initialize = command.seq;
                }
            }
            Look::Terminate => self.terminate(command),
            Look::ChooseConfig => self.choose_config(command),
            Look::ConfigAttribute => self.config_attribute(command),
            Look::Context => self.context(command),
            Look::Surface { is_native, wide } => self.surface(command, is_native, wide),
            Look::MakeCurrent => self.make_current(command),
            Look::ReleaseThread => {
                self.currents.remove(&command.thread);
            }
            Look::Swap => self.swap(command),
            Look::QuerySurface => self.query_surface(command),
            Look::Glx(look) => self.look_at_glx(command, look),
            Look::Viewport => self.viewport(command),
            Look::BindFramebuffer => {
                let context = (process, command.context);
                match arg(command, 1) {
                    0 => self.off_screen.remove(&context),
                    _ => self.off_screen.len() < OBJECTS_MAX && self.off_screen.insert(context),
                };
            }
            Look::Link => {
                let program = self.program(command);
                if self.links.len() < LOCATIONS_MAX
                    && let Some(seq) = command.seq
                {
                    self.links.insert(program, seq);
                }
            }
            Look::LinkStatus => {
                let link = self.links.get(&self.program(command)).copied();
                if let Some(link) = link
                    && arg(command, 1) == GL_LINK_STATUS
                    && observed(command, 2).first_chunk() == Some(&[0; 4])
                {
                    self.survey.failed_links.insert(link);
                }
            }
            Look::Attribute => self.attribute(command, 1),
            Look::ResourceLocation => {
                if arg(command, 1) == GL_PROGRAM_INPUT {
                    self.attribute(command, 2);
                }
            }
        }
    }

    /// Notes that the command's context needs what provides the command, if its recorded driver had
    /// it.
    fn need(&mut self, command: &Command<'_>, requirement: usize) {
        let key = (command.process, command.context);
        let at = match self.last.filter(|(last, _)| *last == key) {
            Some((_, at)) => at,
            None => {
                let Some(&at) = self.contexts.get(&key) else { return };
                self.last = Some((key, at));
                at
            }
        };
        let context = &mut self.survey.contexts[at];
        if let Some(limits) = command.limits {
            let is_es = !context.is_desktop;
            context.needs.see(requirement, is_es, limits.version, &limits.extensions);
        }
    }

    /// Notes the limits of a context that has become current. If it is current for the first time,
    /// also notes the size and configuration of its surface.
    fn learn_limits(&mut self, command: &Command<'_>) {
        let key = (command.process, command.context);
        self.learned = Some(key);
        let (Some(limits), Some(&context)) = (command.limits, self.contexts.get(&key)) else {
            return;
        };
        let facts = &mut self.survey.contexts[context];
        facts.limits = Some(limits.clone());
        let Some(current) = self.currents.get(&command.thread).filter(|it| it.is_first) else {
            return;
        };
        let framebuffer = limits.default_framebuffer;
        let Some(surface) = current.draw.map(|at| &mut self.survey.surfaces[at]) else { return };
        if framebuffer.width <= 0 || framebuffer.height <= 0 {
            return;
        }
        if surface.is_native {
            surface.learn((framebuffer.width as u32, framebuffer.height as u32));
        }
        let config = (surface.process, surface.config);
        if let Some(config) = self.survey.configs.get_mut(&config) {
            config.framebuffer.get_or_insert(framebuffer);
        }
    }

    /// Number of the configuration that a handle means at present; 0 for none.
    fn config_number(&mut self, process: u32, handle: u64) -> u64 {
        let is_full = self.survey.configs.len() >= OBJECTS_MAX;
        match self.config_numbers.get(&(process, handle)) {
            Some(number) => *number,
            None if handle == 0 || is_full => 0,
            None => {
                let number = self.survey.configs.len() as u64 + 1;
                self.survey.configs.insert((process, number), ConfigFacts::default());
                self.config_numbers.insert((process, handle), number);
                number
            }
        }
    }

    fn config(&mut self, process: u32, handle: u64) -> Option<&mut ConfigFacts> {
        let number = self.config_number(process, handle);
        self.survey.configs.get_mut(&(process, number))
    }

    /// eglTerminate ends the validity of configuration handles.
    fn terminate(&mut self, command: &Command<'_>) {
        if result_of(command) != Some(0) {
            self.config_numbers.retain(|(process, _), _| *process != command.process);
        }
    }

    fn choose_config(&mut self, command: &Command<'_>) {
        if result_of(command) == Some(0) {
            return;
        }
        let asked = attributes_of(command, 1, 4);
        self.chosen(command.process, &observed(command, 2), &asked);
    }

    /// Notes the attributes of a choice whose answer are these handles of configurations.
    fn chosen(&mut self, process: u32, configs: &[u8], asked: &[(i64, i64)]) {
        let (configs, _) = configs.as_chunks::<8>();
        for config in configs.iter().take(1024).map(|config| u64::from_le_bytes(*config)) {
            let Some(facts) = self.config(process, config) else { return };
            for (attribute, value) in asked {
                let most = facts.asked.entry(*attribute).or_insert(*value);
                *most = (*value).max(*most);
            }
        }
    }

    fn config_attribute(&mut self, command: &Command<'_>) {
        let value = observed(command, 3);
        let Some(value) = value.first_chunk().map(|value| i32::from_le_bytes(*value)) else {
            return;
        };
        let attribute = arg(command, 2) as u32;
        if result_of(command) != Some(0)
            && let Some(config) = self.config(command.process, arg(command, 1))
        {
            config.told.insert(i64::from(attribute), i64::from(value));
        }
    }

    fn context(&mut self, command: &Command<'_>) {
        let api = self.bound_api.get(&command.thread).copied().unwrap_or(EGL_OPENGL_ES_API);
        let new = NewContext {
            is_desktop: api != EGL_OPENGL_ES_API,
            config: arg(command, 1),
            share: arg(command, 2),
            attributes: attributes_of(command, 3, 4),
        };
        self.note_context(command, new);
    }

    /// Notes the context that a command made.
    fn note_context(&mut self, command: &Command<'_>, new: NewContext) {
        let (Some(handle), Some(seq)) = (result_of(command).filter(|it| *it != 0), command.seq)
        else {
            return;
        };
        if self.survey.contexts.len() >= OBJECTS_MAX {
            return;
        }
        let NewContext { is_desktop, config, share, attributes } = new;
        let process = command.process;
        let value = |name, default| {
            attributes.iter().find(|(known, _)| *known == name).map_or(default, |(_, value)| *value)
        };
        let version = (value(EGL_CONTEXT_MAJOR_VERSION, 1), value(EGL_CONTEXT_MINOR_VERSION, 0));
        if let Some(facts) = self.config(process, config) {
            facts.is_used = true;
            match is_desktop {
                true => facts.is_desktop = true,
                false => facts.major = facts.major.max(version.0),
            }
        }
        let config = self.config_number(process, config);
        let at = self.survey.contexts.len();
        self.survey.contexts.push(ContextFacts {
            version,
            is_desktop,
            process,
            config,
            limits: None,
            attributes: lists::of_context(&attributes),
            asked: attributes,
            needs: Needs::default(),
        });
        self.last = None;
        self.survey.context_at.insert(seq, at);
        self.contexts.insert((process, handle), at);
        let group = self.groups.get(&(process, share)).copied();
        // Handles are reused; a `seq` tells the groups apart.
        self.groups.insert((process, handle), group.unwrap_or(seq));
        self.off_screen.remove(&(process, handle));
        self.learned = None;
    }

    fn surface(&mut self, command: &Command<'_>, is_native: bool, wide: bool) {
        let (Some(handle), Some(seq)) = (result_of(command).filter(|it| *it != 0), command.seq)
        else {
            return;
        };
        if self.survey.surfaces.len() >= OBJECTS_MAX {
            return;
        }
        let attributes = attributes_of(command, 2, if wide { 8 } else { 4 });
        let size = (!is_native).then(|| size_in(&attributes, (EGL_WIDTH, EGL_HEIGHT)));
        let at = self.note_surface((command.process, handle), arg(command, 1), size);
        self.survey.surface_at.insert(seq, at);
    }

    /// Notes a surface with the configuration of this handle, and with a size unless the window system determines it.
    /// Returns its index.
    fn note_surface(
        &mut self,
        surface: (u32, u64),
        config: u64,
        size: Option<(u32, u32)>,
    ) -> usize {
        let (process, _) = surface;
        if let Some(facts) = self.config(process, config) {
            facts.is_used = true;
        }
        let config = self.config_number(process, config);
        self.push_surface(surface, config, size)
    }

    /// The same for a configuration by its number.
    fn push_surface(
        &mut self,
        surface: (u32, u64),
        config: u64,
        size: Option<(u32, u32)>,
    ) -> usize {
        let mut facts = SurfaceFacts::new(size.is_none(), surface.0, config);
        if let Some(size) = size {
            facts.learn(size);
        }
        let at = self.survey.surfaces.len();
        self.survey.surfaces.push(facts);
        self.surfaces.insert(surface, at);
        at
    }

    fn make_current(&mut self, command: &Command<'_>) {
        if result_of(command) == Some(0) {
            return;
        }
        self.note_current(command, arg(command, 1), arg(command, 3));
    }

    /// Notes the context and the draw surface that a command made current.
    fn note_current(&mut self, command: &Command<'_>, draw: u64, context: u64) {
        let process = command.process;
        if context == 0 {
            self.currents.remove(&command.thread);
            return;
        }
        let known = self.contexts.get(&(process, context));
        let is_first = known.is_some_and(|at| self.survey.contexts[*at].limits.is_none());
        let draw = self.surfaces.get(&(process, draw)).copied();
        self.currents.insert(command.thread, Current { context, draw, is_first });
        self.learned = None;
    }

    /// Notes the frame's size, if the frame was observed, and counts the swap.
    fn swap(&mut self, command: &Command<'_>) {
        let Some(&surface) = self.surfaces.get(&(command.process, arg(command, 1))) else { return };
        let facts = &mut self.survey.surfaces[surface];
        if let Some(frame) = &command.observed_frame
            && facts.is_native
        {
            facts.learn((frame.width, frame.height));
        }
        if result_of(command) != Some(0) {
            facts.swaps += 1;
        }
    }

    fn query_surface(&mut self, command: &Command<'_>) {
        let Some(&surface) = self.surfaces.get(&(command.process, arg(command, 1))) else { return };
        if result_of(command) != Some(0) {
            self.told_side(command, surface, (EGL_WIDTH, EGL_HEIGHT));
        }
    }

    /// Learns from a query, with the attribute at parameter 2 and the value at parameter 3, whose attributes for width and
    /// height are these.
    fn told_side(&mut self, command: &Command<'_>, surface: usize, (width, height): (i64, i64)) {
        let value = observed(command, 3);
        let Some(value) = value.first_chunk().map(|value| u32::from_le_bytes(*value)) else {
            return;
        };
        let facts = &mut self.survey.surfaces[surface];
        if !facts.is_native && !facts.sizes.is_empty() {
            return;
        }
        let known = facts.size(facts.swaps).unwrap_or((value, value));
        match arg(command, 2) as i64 {
            attribute if attribute == width => facts.learn((value, known.1)),
            attribute if attribute == height => facts.learn((known.0, value)),
            _ => {}
        }
    }

    fn viewport(&mut self, command: &Command<'_>) {
        let Some(current) = self.currents.get(&command.thread) else { return };
        if current.context != command.context
            || self.off_screen.contains(&(command.process, command.context))
        {
            return;
        }
        let Some(surface) = current.draw.map(|at| &mut self.survey.surfaces[at]) else { return };
        let number = |at: usize| arg(command, at) as i32;
        surface.see_viewport([number(0), number(1), number(2), number(3)]);
    }

    /// Key of the program: process, share group and recorded name.
    fn program(&self, command: &Command<'_>) -> (u32, u64, u64) {
        let process = command.process;
        let group = self.groups.get(&(process, command.context)).copied().unwrap_or(u64::MAX);
        (process, group, arg(command, 0))
    }

    /// Notes the location of a program's attribute, whose name is the argument at index `name`.
    fn attribute(&mut self, command: &Command<'_>, name: usize) {
        let location = result_of(command).and_then(|it| u32::try_from(it as i32).ok());
        let link = self.links.get(&self.program(command)).copied();
        let (Some(location), Some(link)) = (location, link) else { return };
        let mut name = observed(command, name);
        if name.last() == Some(&0) {
            name.pop();
        }
        if name.is_empty() || name.starts_with(b"gl_") || self.locations >= LOCATIONS_MAX {
            return;
        }
        let known = self.survey.attributes.entry(link).or_default();
        if known.iter().all(|(known, _)| *known != name) {
            known.push((name, location));
            self.locations += 1;
        }
    }
}

/// Width and height in a list with these attributes; 0 for one that is not in it.
fn size_in(attributes: &[(i64, i64)], (width, height): (i64, i64)) -> (u32, u32) {
    let value = |name| {
        let found = attributes.iter().find(|(known, _)| *known == name);
        found.map_or(0, |(_, value)| u32::try_from(*value).unwrap_or(0))
    };
    (value(width), value(height))
}

/// Bits of an argument.
fn arg(command: &Command<'_>, index: usize) -> u64 {
    command.args().nth(index).map_or(0, |arg| arg.value.bits())
}

/// Bits of the result.
fn result_of(command: &Command<'_>) -> Option<u64> {
    command.result().map(|(value, _)| value.bits())
}

/// Bytes that the trace observed at a parameter.
fn observed(command: &Command<'_>, index: usize) -> Vec<u8> {
    let arg = command.args().nth(index);
    let bytes = arg.and_then(|arg| command.bytes_of(arg.observation));
    bytes.map(|bytes| bytes.to_vec()).unwrap_or_default()
}

fn attributes_of(command: &Command<'_>, index: usize, width: usize) -> Attributes {
    lists::attributes(&observed(command, index), width)
}
