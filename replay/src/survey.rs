//! A first look at a trace: what replay must know before it plays the first command.
//!
//! Which functions are used, what contexts, configurations and surfaces the program had, and where
//! its attributes were. Calls no driver; what it keeps is bounded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Read, Seek};

use gapii_commands::Api;
use gapii_protocol::trace::tracker::{ContextLimits, DefaultFramebuffer};
use gapii_protocol::trace::{Command, TraceReader};

use crate::egl;
use crate::player::Events;
use crate::requirements::{self, Needs};

/// Most objects of each sort that are looked at.
const OBJECTS_MAX: usize = 1 << 16;
/// Most locations of attributes.
const LOCATIONS_MAX: usize = 1 << 20;
/// Commands from one question whether to go on to the next.
const CANCEL_STEP: u64 = 1 << 14;
/// Most changes of a surface's size.
const SIZES_MAX: usize = 1 << 12;

const EGL_WIDTH: i64 = 0x3057;
const EGL_HEIGHT: i64 = 0x3056;
const EGL_OPENGL_ES_API: u64 = 0x30A0;
const EGL_CONTEXT_MAJOR_VERSION: i64 = 0x3098;
const EGL_CONTEXT_MINOR_VERSION: i64 = 0x30FB;
const GL_LINK_STATUS: u64 = 0x8B82;
const GL_PROGRAM_INPUT: u64 = 0x92E3;

/// Attributes of a list, with their values.
pub type Attributes = Vec<(i64, i64)>;

/// What replay must know of a trace beforehand.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Names of all functions that are called.
    pub functions: BTreeSet<String>,
    /// Processes that have commands.
    pub processes: BTreeSet<u32>,
    /// Contexts in the order in which they were made.
    pub contexts: Vec<ContextFacts>,
    /// Surfaces in the order in which they were made.
    pub surfaces: Vec<SurfaceFacts>,
    /// Configurations by process and by a number that is given to them here: a display that is
    /// initialized again may give old handles to other ones.
    pub configs: BTreeMap<(u32, u64), ConfigFacts>,
    /// How the trace asks for its first display.
    pub display: Option<DisplayBy>,
    /// Number of the last eglInitialize.
    pub last_initialize: Option<u64>,
    /// By the command that made them.
    context_at: HashMap<u64, usize>,
    surface_at: HashMap<u64, usize>,
    /// By the glLinkProgram after which they were asked for.
    attributes: HashMap<u64, Vec<(Vec<u8>, u32)>>,
    /// Links that are known to have failed, by the command.
    failed_links: BTreeSet<u64>,
}

/// The function that a display is asked for with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisplayBy {
    /// eglGetDisplay: no platform is named.
    Default,
    /// eglGetPlatformDisplay.
    Platform,
    /// eglGetPlatformDisplayEXT.
    Extension,
}

/// A context of the trace.
#[derive(Clone, Debug, Default)]
pub struct ContextFacts {
    /// As asked for, like its attributes.
    pub version: (i64, i64),
    pub is_desktop: bool,
    pub process: u32,
    /// Number of its configuration; 0 without one.
    pub config: u64,
    /// What its driver said of it.
    pub limits: Option<ContextLimits>,
    /// What the driver is told of those.
    pub attributes: Vec<(i32, i32)>,
    /// What its commands need that its driver had.
    pub needs: Needs,
}

/// A configuration of the trace.
#[derive(Clone, Debug, Default)]
pub struct ConfigFacts {
    /// What eglChooseConfig was asked for that gave it; the most of each.
    pub asked: BTreeMap<i64, i64>,
    /// What eglGetConfigAttrib said.
    pub told: BTreeMap<i64, i64>,
    /// What a context of it drew to.
    pub framebuffer: Option<DefaultFramebuffer>,
    /// Contexts or surfaces were made of it.
    pub is_used: bool,
    /// Highest major version of its contexts.
    pub major: i64,
}

/// A surface of the trace.
#[derive(Clone, Debug, Default)]
pub struct SurfaceFacts {
    /// Whether its size is the window system's affair.
    pub is_native: bool,
    pub process: u32,
    /// Number of its configuration.
    pub config: u64,
    /// Sizes, each from a number of swaps on, in order.
    sizes: Vec<(u64, (u32, u32))>,
    /// What was set as viewport first, while nothing better is known.
    viewport: Option<(u32, u32)>,
    swaps: u64,
    /// A viewport was less than all of it.
    has_parts: bool,
}

impl SurfaceFacts {
    /// Its size after so many swaps, if the trace tells.
    pub fn size(&self, swaps: u64) -> Option<(u32, u32)> {
        let later = self.sizes.partition_point(|(from, _)| *from <= swaps);
        let known = self.sizes.get(later.saturating_sub(1)).map(|(_, size)| *size);
        known.or(self.viewport)
    }

    /// Programs tell that their window has another size by setting that as viewport. One that also
    /// sets parts of its window may have set a part: for that its surface is never made smaller.
    fn see_viewport(&mut self, viewport: [i32; 4]) {
        let [x, y, width, height] = viewport.map(|number| u32::try_from(number).unwrap_or(0));
        let end = (x.saturating_add(width), y.saturating_add(height));
        if width == 0 || height == 0 {
            return;
        }
        let known = self.size(self.swaps);
        self.viewport.get_or_insert(end);
        let Some(known) = known.filter(|known| self.is_native && *known != end) else { return };
        if x != 0 || y != 0 || self.swaps == 0 {
            self.has_parts = true;
        } else if self.has_parts {
            self.learn((known.0.max(width), known.1.max(height)));
        } else {
            self.learn((width, height));
        }
    }

    fn learn(&mut self, size: (u32, u32)) {
        let is_known = !self.sizes.is_empty() && self.size(self.swaps) == Some(size);
        if size.0 == 0 || size.1 == 0 || is_known || self.sizes.len() >= SIZES_MAX {
            return;
        }
        match self.sizes.last_mut() {
            Some((from, last)) if *from == self.swaps => *last = size,
            _ => self.sizes.push((self.swaps, size)),
        }
    }
}

impl Survey {
    /// Reads all of the trace; `None` if it was cancelled meanwhile.
    pub fn of<R: Read + Seek>(
        reader: &mut TraceReader<R>,
        events: &mut dyn Events,
    ) -> io::Result<Option<Self>> {
        let mut surveyor = Surveyor::default();
        let total = reader.footer().map_or(0, |footer| footer.totals.calls);
        let mut commands = reader.commands()?;
        let mut count = 0u64;
        while commands.advance()? {
            surveyor.look_at(&commands.command());
            count += 1;
            if count.is_multiple_of(CANCEL_STEP) {
                events.surveyed(count, total);
                if events.is_cancelled() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(surveyor.survey))
    }

    /// APIs whose functions are called.
    pub fn apis(&self) -> Vec<Api> {
        let calls = |prefix| self.functions.iter().any(|name| name.starts_with(prefix));
        let mut apis = Vec::new();
        if calls("egl") || calls("gl") {
            apis.extend([Api::Egl, Api::Gles]);
        }
        if calls("ze") {
            apis.push(Api::LevelZero);
        }
        apis
    }

    /// Whether EGL is used at all.
    pub fn uses_egl(&self) -> bool {
        !self.contexts.is_empty() || !self.surfaces.is_empty()
    }

    /// The context that the command of this number made.
    pub fn context(&self, seq: u64) -> Option<&ContextFacts> {
        self.contexts.get(*self.context_at.get(&seq)?)
    }

    /// The surface that the command of this number made, as an index.
    pub fn surface(&self, seq: u64) -> Option<usize> {
        self.surface_at.get(&seq).copied()
    }

    /// Whether the glLinkProgram, or glProgramBinary, of this number is known to have failed.
    pub fn failed_to_link(&self, link: u64) -> bool {
        self.failed_links.contains(&link)
    }

    /// Attributes of the program that the glLinkProgram of this number linked, and where they were:
    /// those that the program asked for.
    pub fn attributes(&self, link: u64) -> &[(Vec<u8>, u32)] {
        self.attributes.get(&link).map_or(&[], Vec::as_slice)
    }
}

/// What is known while the commands of a trace go by.
#[derive(Default)]
struct Surveyor {
    survey: Survey,
    /// What to look for in commands, by function id.
    looks: Vec<Option<Look>>,
    /// By function id: the requirement, for those that not every context has.
    requirements: Vec<Option<usize>>,
    /// The process of the last command.
    process: Option<u32>,
    /// The context that was found last.
    last: Option<((u32, u64), usize)>,
    contexts: HashMap<(u32, u64), usize>,
    surfaces: HashMap<(u32, u64), usize>,
    currents: HashMap<u32, Current>,
    /// Numbers of configurations by process and handle, as long as their display lasts.
    config_numbers: HashMap<(u32, u64), u64>,
    bound_api: HashMap<u32, u64>,
    /// The context whose limits were taken last.
    learned: Option<(u32, u64)>,
    /// By process, share group and program: the number of the command that linked it last.
    links: HashMap<(u32, u64, u64), u64>,
    locations: usize,
    /// Share groups by context: that of the first one.
    groups: HashMap<(u32, u64), u64>,
    /// Contexts with a framebuffer object bound.
    off_screen: BTreeSet<(u32, u64)>,
}

/// What is current on a thread.
#[derive(Clone, Copy, Default)]
struct Current {
    context: u64,
    draw: Option<usize>,
    /// It became current for the first time.
    is_first: bool,
}

/// What a command tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Nothing,
    BindApi,
    Display(DisplayBy),
    Initialize,
    Terminate,
    ChooseConfig,
    ConfigAttribute,
    Context,
    Surface { is_native: bool, wide: bool },
    MakeCurrent,
    ReleaseThread,
    Swap,
    QuerySurface,
    Viewport,
    BindFramebuffer,
    Link,
    LinkStatus,
    Attribute,
    ResourceLocation,
}

impl Look {
    fn of(name: &str) -> Self {
        match name {
            "eglBindAPI" => Self::BindApi,
            "eglGetDisplay" => Self::Display(DisplayBy::Default),
            "eglGetPlatformDisplay" => Self::Display(DisplayBy::Platform),
            "eglGetPlatformDisplayEXT" => Self::Display(DisplayBy::Extension),
            "eglInitialize" => Self::Initialize,
            "eglTerminate" => Self::Terminate,
            "eglChooseConfig" => Self::ChooseConfig,
            "eglGetConfigAttrib" => Self::ConfigAttribute,
            "eglCreateContext" => Self::Context,
            "eglCreateWindowSurface"
            | "eglCreatePlatformWindowSurfaceEXT"
            | "eglCreatePixmapSurface"
            | "eglCreatePlatformPixmapSurfaceEXT" => Self::Surface { is_native: true, wide: false },
            "eglCreatePlatformWindowSurface" | "eglCreatePlatformPixmapSurface" => {
                Self::Surface { is_native: true, wide: true }
            }
            "eglCreatePbufferSurface" => Self::Surface { is_native: false, wide: false },
            "eglMakeCurrent" => Self::MakeCurrent,
            "eglReleaseThread" => Self::ReleaseThread,
            "eglQuerySurface" => Self::QuerySurface,
            "glViewport" => Self::Viewport,
            "glBindFramebuffer" | "glBindFramebufferOES" => Self::BindFramebuffer,
            "glLinkProgram" | "glProgramBinary" | "glProgramBinaryOES" => Self::Link,
            "glGetProgramiv" => Self::LinkStatus,
            "glGetAttribLocation" => Self::Attribute,
            "glGetProgramResourceLocation" => Self::ResourceLocation,
            name if name.starts_with("eglSwapBuffers") => Self::Swap,
            _ => Self::Nothing,
        }
    }
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
                let name = command.name();
                self.survey.functions.insert(name.to_owned());
                self.requirements[id] = requirements::find(name);
                *self.looks[id].insert(Look::of(command.name()))
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

    /// A command that not every context has: replay needs it where it was there.
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
        if let Some(limits) = command.limits {
            self.survey.contexts[at].needs.see(requirement, limits.version, &limits.extensions);
        }
    }

    /// What the driver said of a context that has become current, and of its surface if that is the
    /// first one.
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

    /// The number of the configuration that has this handle now; 0 for none.
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

    /// Configurations end with their display.
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
        let found = observed(command, 2);
        let (found, _) = found.as_chunks::<8>();
        for config in found.iter().take(1024).map(|config| u64::from_le_bytes(*config)) {
            let Some(facts) = self.config(command.process, config) else { return };
            for (attribute, value) in &asked {
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
        let (Some(handle), Some(seq)) = (result_of(command).filter(|it| *it != 0), command.seq)
        else {
            return;
        };
        if self.survey.contexts.len() >= OBJECTS_MAX {
            return;
        }
        let attributes = attributes_of(command, 3, 4);
        let (process, config, share) = (command.process, arg(command, 1), arg(command, 2));
        let value = |name, default| {
            attributes.iter().find(|(known, _)| *known == name).map_or(default, |(_, value)| *value)
        };
        let version = (value(EGL_CONTEXT_MAJOR_VERSION, 1), value(EGL_CONTEXT_MINOR_VERSION, 0));
        let api = self.bound_api.get(&command.thread).copied().unwrap_or(EGL_OPENGL_ES_API);
        let is_desktop = api != EGL_OPENGL_ES_API;
        if !is_desktop && let Some(facts) = self.config(process, config) {
            facts.is_used = true;
            facts.major = facts.major.max(version.0);
        }
        let config = self.config_number(process, config);
        let at = self.survey.contexts.len();
        self.survey.contexts.push(ContextFacts {
            version,
            is_desktop,
            process,
            config,
            limits: None,
            attributes: egl::context_attributes(&attributes),
            needs: Needs::default(),
        });
        self.last = None;
        self.survey.context_at.insert(seq, at);
        self.contexts.insert((process, handle), at);
        let group = self.groups.get(&(process, share)).copied();
        // Handles come again; a number that does not tells the groups apart.
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
        let (process, config) = (command.process, arg(command, 1));
        if let Some(facts) = self.config(process, config) {
            facts.is_used = true;
        }
        let config = self.config_number(process, config);
        let mut facts = SurfaceFacts { is_native, process, config, ..SurfaceFacts::default() };
        if !is_native {
            let attributes = attributes_of(command, 2, if wide { 8 } else { 4 });
            let value = |name| {
                let found = attributes.iter().find(|(known, _)| *known == name);
                found.map_or(0, |(_, value)| u32::try_from(*value).unwrap_or(0))
            };
            facts.learn((value(EGL_WIDTH), value(EGL_HEIGHT)));
        }
        let at = self.survey.surfaces.len();
        self.survey.surfaces.push(facts);
        self.survey.surface_at.insert(seq, at);
        self.surfaces.insert((process, handle), at);
    }

    fn make_current(&mut self, command: &Command<'_>) {
        if result_of(command) == Some(0) {
            return;
        }
        let (process, draw, context) = (command.process, arg(command, 1), arg(command, 3));
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

    /// The frame's size is told where it was observed.
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
        let value = observed(command, 3);
        let Some(value) = value.first_chunk().map(|value| u32::from_le_bytes(*value)) else {
            return;
        };
        let facts = &mut self.survey.surfaces[surface];
        if result_of(command) == Some(0) || !facts.is_native && !facts.sizes.is_empty() {
            return;
        }
        let known = facts.size(facts.swaps).unwrap_or((value, value));
        match arg(command, 2) as i64 {
            EGL_WIDTH => facts.learn((value, known.1)),
            EGL_HEIGHT => facts.learn((known.0, value)),
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

    /// A program, told apart from those of other share groups.
    fn program(&self, command: &Command<'_>) -> (u32, u64, u64) {
        let process = command.process;
        let group = self.groups.get(&(process, command.context)).copied().unwrap_or(u64::MAX);
        (process, group, arg(command, 0))
    }

    /// Where an attribute of a program is, whose name is the argument `name`.
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

/// An argument's bits.
fn arg(command: &Command<'_>, index: usize) -> u64 {
    command.args().nth(index).map_or(0, |arg| arg.value.bits())
}

/// What it returned.
fn result_of(command: &Command<'_>) -> Option<u64> {
    command.result().map(|(value, _)| value.bits())
}

/// What the trace observed at a parameter.
fn observed(command: &Command<'_>, index: usize) -> Vec<u8> {
    let arg = command.args().nth(index);
    let bytes = arg.and_then(|arg| command.bytes_of(arg.observation));
    bytes.map(|bytes| bytes.to_vec()).unwrap_or_default()
}

fn attributes_of(command: &Command<'_>, index: usize, width: usize) -> Attributes {
    egl::attributes(&observed(command, index), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_of_a_surface_changes_at_swaps() {
        let mut facts = SurfaceFacts { is_native: true, ..SurfaceFacts::default() };
        assert_eq!(facts.size(0), None);
        facts.viewport = Some((9, 9));
        assert_eq!(facts.size(0), Some((9, 9)));
        for (swaps, size) in [(0, (300, 200)), (1, (300, 200)), (4, (310, 200)), (4, (310, 220))] {
            facts.swaps = swaps;
            facts.learn(size);
        }
        facts.learn((0, 7));
        assert_eq!(facts.sizes, [(0, (300, 200)), (4, (310, 220))]);
        for (swaps, size) in [(0, (300, 200)), (3, (300, 200)), (4, (310, 220)), (9, (310, 220))] {
            assert_eq!(facts.size(swaps), Some(size), "{swaps} swaps");
        }
    }

    /// What viewports after so many swaps make of a window of 300 by 200.
    fn check_viewports(viewports: &[(u64, [i32; 4])], expected: (u32, u32)) {
        let mut facts = SurfaceFacts { is_native: true, ..SurfaceFacts::default() };
        facts.learn((300, 200));
        for (swaps, viewport) in viewports {
            facts.swaps = *swaps;
            facts.see_viewport(*viewport);
        }
        assert_eq!(facts.size(9), Some(expected), "{viewports:?}");
    }

    #[test]
    fn window_gets_the_size_of_the_viewports_unless_they_are_parts_of_it() {
        let all = [0, 0, 300, 200];
        check_viewports(&[(0, all), (1, all)], (300, 200));
        check_viewports(&[(0, all), (1, [0, 0, 120, 333])], (120, 333));
        check_viewports(&[(0, [0, 0, 150, 200]), (1, [0, 0, 120, 333])], (300, 333));
        check_viewports(&[(0, all), (1, [150, 0, 300, 200]), (2, [0, 0, 9, 9])], (300, 200));
        check_viewports(&[(0, [0, 0, 1000, 1000]), (1, all)], (300, 200));
        check_viewports(&[(0, all), (1, [0, 0, 0, 7]), (2, [-5, -5, 0, 0])], (300, 200));
    }

    #[test]
    fn size_that_is_learned_late_is_that_of_before() {
        let mut facts = SurfaceFacts { swaps: 3, is_native: true, ..SurfaceFacts::default() };
        facts.learn((64, 48));
        assert_eq!(facts.size(0), Some((64, 48)));
    }
}
