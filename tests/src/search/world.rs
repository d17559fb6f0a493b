//! Model of the objects of a program while it is generated: what exists, who holds what, what is mapped.
//!
//! It knows enough of OpenGL ES to make most steps valid, and to avoid what the specification leaves undefined:
//! sampling from an attachment, vertices without memory, commands on buffers that a feedback writes. It is not a
//! validator: a step that the driver refuses is refused natively, too.
//!
//! Objects are numbers that are never reused: the number of buffer `b3` is 3, whatever name the driver gives it.

use std::collections::BTreeMap;

use crate::random::Random;
use crate::search::generate::{aliases, direct};
use crate::search::shaders::Recipe;

/// Threads of a program, which make steps in turn.
pub const THREADS: usize = 3;
/// Contexts of a program at most, destroyed ones included.
pub const CONTEXTS: usize = 3;
/// Attributes and vertex bindings that programs use.
pub const ATTRIBUTES: usize = 6;
pub const UNITS: usize = 3;
/// Binding points of uniform buffers that programs use.
pub const BLOCKS: usize = 3;
/// Bytes per vertex are at most 16, and indices are bytes.
pub const CLIENT_BYTES: usize = 16 * 256 + 16;

/// The API of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Api {
    #[default]
    Es,
    /// OpenGL, core profile.
    Core,
    /// OpenGL, compatibility profile.
    Compatibility,
}

/// The APIs of a program's contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// OpenGL ES.
    #[default]
    Es,
    /// OpenGL in both profiles.
    Desktop,
}

pub struct World {
    pub kind: Kind,
    pub random: Random,
    pub steps: Vec<String>,
    /// Thread of the next steps.
    pub thread: usize,
    /// Context of each thread.
    pub current: [Option<usize>; THREADS],
    /// Whether steps may come in other forms that do the same: not those of the ending, which other states than the model's
    /// follow.
    pub varies: bool,
    /// Whether glPixelTransfer comes, or GL_UNPACK_SKIP_PIXELS and others of its kind do: Mesa 22.3 skips nothing of the images of a
    /// texture with layers while pixels are changed.
    pub transfers_pixels: bool,
    pub contexts: Vec<Context>,
    pub groups: Vec<Group>,
    pub buffers: Vec<Buffer>,
    pub textures: Vec<Texture>,
    pub renderbuffers: Vec<Renderbuffer>,
    pub framebuffers: Vec<Framebuffer>,
    pub vertex_arrays: Vec<VertexArray>,
    /// Object number of each named vertex array, by its index.
    pub array_names: BTreeMap<usize, usize>,
    pub programs: Vec<Program>,
    pub images: Vec<Image>,
    pub egl_syncs: Vec<usize>,
    /// Threads whose API of EGL is OpenGL.
    binds_desktop: [bool; THREADS],
    counts: BTreeMap<char, usize>,
    seeds: u64,
}

#[derive(Default)]
pub struct Group {
    /// Objects that have a name.
    pub buffers: Vec<usize>,
    pub textures: Vec<usize>,
    pub renderbuffers: Vec<usize>,
    pub samplers: Vec<usize>,
    pub shaders: Vec<(usize, &'static str)>,
    pub programs: Vec<usize>,
    pub syncs: Vec<usize>,
    pub memory_objects: Vec<usize>,
    /// Display lists.
    pub lists: Vec<usize>,
    /// Textures of one dimension and of rectangles, with their targets and pixels.
    pub lines: Vec<(usize, &'static str, u32)>,
    /// The last name that no command generated. They fall, since drivers give out names above the greatest one.
    pub chosen_names: u32,
}

#[derive(Default)]
pub struct Context {
    pub group: usize,
    /// The surface that it draws to.
    pub surface: usize,
    /// The surface that it reads from, if that is another one.
    pub reads_from: Option<usize>,
    /// It is current without a surface.
    pub has_no_surface: bool,
    /// The surface is destroyed, and the context keeps it until another one is current.
    pub has_lost_surface: bool,
    /// The context is destroyed. A thread may still have it.
    pub is_destroyed: bool,
    pub api: Api,
    /// The version of OpenGL ES whose commands it has.
    pub version: (u8, u8),
    /// What the steps have bound.
    pub bound: direct::Bound,
    pub buffers: BTreeMap<&'static str, usize>,
    /// At the indexed binding points of uniform buffers.
    pub blocks: [Option<usize>; BLOCKS],
    /// Number of steps when each of them was bound.
    pub blocks_bound: [usize; BLOCKS],
    /// Default vertex array, as an index of [`World::vertex_arrays`].
    pub default_array: usize,
    pub array: usize,
    /// Number of steps when the vertex array was bound.
    pub array_bound: usize,
    pub named_arrays: Vec<usize>,
    /// The active unit, and the active unit of client arrays in OpenGL ES 1.
    pub unit: usize,
    pub client_unit: usize,
    /// Of OpenGL ES 1.
    pub client_arrays: ClientArrays,
    pub textures: [BTreeMap<&'static str, usize>; UNITS],
    pub framebuffer: Option<usize>,
    pub named_framebuffers: Vec<usize>,
    pub program: Option<usize>,
    pub executable: Executable,
    /// The executable of each program with which the context has drawn last: its links.
    pub drawn: BTreeMap<usize, usize>,
    /// Another context has linked again or deleted a program that was linked here.
    pub has_lost_shaders: bool,
    pub pipelines: Vec<usize>,
    pub pipeline: Option<usize>,
    pub feedbacks: Vec<usize>,
    pub feedback_active: bool,
    pub feedback_paused: bool,
    /// Buffers of the feedback's indexed bindings.
    pub feedback_buffer: Option<usize>,
    pub queries: Vec<(usize, bool)>,
    pub active_query: Option<(usize, &'static str)>,
    /// Draws have no effect: the condition is a query that has counted nothing.
    pub is_conditional: bool,
    /// Debug groups that have begun.
    pub debug_groups: usize,
    /// Entries of the stack of attributes.
    pub saved: usize,
    /// Each has an image with several samples.
    pub sampled_framebuffers: Vec<usize>,
}

/// The executable of the current program.
#[derive(Clone, Copy, Default)]
pub struct Executable {
    /// Links of the program up to the one that made it.
    links: usize,
    /// Changes of its uniforms in other contexts, up to when it was made current.
    changes: usize,
}

#[derive(Clone, Default)]
pub struct Buffer {
    pub group: usize,
    pub size: usize,
    pub is_immutable: bool,
    pub mapping: Option<Mapping>,
    /// Number of steps when each context gave it a data store last.
    stores: BTreeMap<usize, usize>,
}

#[derive(Clone)]
pub struct Mapping {
    pub pointer: usize,
    pub size: usize,
    pub reads: bool,
    pub writes: bool,
    pub explicit: bool,
    pub persistent: bool,
}

#[derive(Clone)]
pub struct Texture {
    pub target: &'static str,
    pub format: usize,
    pub size: (u32, u32, u32),
    pub levels: u32,
    pub is_immutable: bool,
    /// Shared by views and siblings of an EGL image.
    pub storage: usize,
    /// Its texels are integers.
    pub is_integer: bool,
    /// An EGL image or a pbuffer has replaced its storage.
    pub is_of_image: bool,
    /// It has levels besides level 0.
    pub has_mipmaps: bool,
    /// Level 0 was defined again after other levels, which may not fit it any more.
    pub has_unfit_levels: bool,
    pub base_level: u32,
    /// The first level that framebuffers can have: the base level when the images were defined.
    pub first_attached: u32,
    /// It is a view that does not begin with the first image of its texture.
    pub is_inner_view: bool,
    /// Its images are compressed.
    pub is_compressed: bool,
}

#[derive(Clone)]
pub struct Renderbuffer {
    pub storage: usize,
    /// Format and width of its storage, if it has one. All are equally high.
    pub shape: Option<(&'static str, i32)>,
}

/// An object that is attached to a framebuffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    Texture(usize),
    Renderbuffer(usize),
}

#[derive(Clone, Default)]
pub struct Framebuffer {
    pub attachments: BTreeMap<&'static str, Attached>,
    /// Its read buffer is GL_NONE.
    pub reads_nothing: bool,
    /// It has a draw buffer for which the shaders have no output: a draw leaves undefined colors there.
    pub has_second_buffer: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Source {
    #[default]
    None,
    Buffer(usize),
    Client,
}

/// The client arrays of a context of OpenGL ES 1, by the name of the array and the unit.
pub type ClientArrays = BTreeMap<String, ClientArray>;

#[derive(Clone, Copy, Default)]
pub struct ClientArray {
    pub is_enabled: bool,
    pub source: Source,
}

#[derive(Clone, Default)]
pub struct VertexArray {
    pub enabled: [bool; ATTRIBUTES],
    pub binding: [usize; ATTRIBUTES],
    pub sources: [Source; ATTRIBUTES],
    /// Number of steps when each of them was attached.
    attached: [usize; ATTRIBUTES],
    pub elements: Option<usize>,
    elements_attached: usize,
}

impl VertexArray {
    /// Each attribute has the binding of its own number.
    pub fn new() -> Self {
        Self { binding: std::array::from_fn(|at| at), ..Self::default() }
    }
}

#[derive(Clone)]
pub struct Program {
    pub recipe: Recipe,
    /// The sources of a separable program; none for a program of all stages of its recipe.
    pub parts: &'static [&'static str],
    /// The draw buffer that the next link gives the output `colour`, and the one that the last link gave it.
    pub next_output: usize,
    pub output: usize,
    pub links: usize,
    /// The context of the last link.
    linked_in: Option<usize>,
    /// Changes of its uniforms, by context.
    pub changes: BTreeMap<usize, usize>,
}

impl Program {
    /// A program that was never linked.
    pub fn new(recipe: Recipe, parts: &'static [&'static str]) -> Self {
        Self {
            recipe,
            parts,
            next_output: 0,
            output: 0,
            links: 0,
            linked_in: None,
            changes: BTreeMap::new(),
        }
    }
}

#[derive(Clone)]
pub struct Image {
    /// The texture as it was when the image was made.
    pub source: Texture,
}

impl World {
    pub fn new(kind: Kind, seed: u64) -> Self {
        let mut random =
            Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D);
        // Close seeds have close first numbers.
        (0..8).for_each(|_| _ = random.below(2));
        let transfers_pixels = kind == Kind::Desktop && random.below(2) == 0;
        Self {
            kind,
            random,
            steps: Vec::new(),
            thread: 0,
            current: [None; THREADS],
            varies: false,
            transfers_pixels,
            contexts: Vec::new(),
            groups: Vec::new(),
            buffers: Vec::new(),
            textures: Vec::new(),
            renderbuffers: Vec::new(),
            framebuffers: Vec::new(),
            vertex_arrays: Vec::new(),
            array_names: BTreeMap::new(),
            programs: Vec::new(),
            images: Vec::new(),
            egl_syncs: Vec::new(),
            binds_desktop: [false; THREADS],
            counts: BTreeMap::new(),
            seeds: 0,
        }
    }

    /// Adds a step of the current thread.
    pub fn step(&mut self, text: impl AsRef<str>) {
        let step = format!("{} {}", self.thread, text.as_ref());
        let step = self.directly(step);
        let step = aliases::vary(&mut self.random, step);
        self.steps.push(step);
    }

    /// Binds the thread's API of EGL for the contexts of the program.
    pub fn bind_api(&mut self) {
        let is_bound = std::mem::replace(&mut self.binds_desktop[self.thread], true);
        if self.kind == Kind::Desktop && !is_bound {
            self.step("?8 eglBindAPI EGL_OPENGL_API");
        }
    }

    /// Gives a step of a context of OpenGL, now and then, the form that names its object.
    fn directly(&mut self, step: String) -> String {
        let Some(here) = self.current[self.thread].filter(|_| self.kind == Kind::Desktop) else {
            return step;
        };
        let form = direct::direct(&self.contexts[here].bound, &step);
        direct::note(&mut self.contexts[here].bound, &step);
        if let Some(object) = direct::deleted(&step) {
            self.contexts.iter_mut().for_each(|context| context.bound.forget(object));
        }
        form.filter(|_| self.varies && self.chance(35)).unwrap_or(step)
    }

    /// Number of a new object of this kind.
    pub fn count(&mut self, kind: char) -> usize {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        *count
    }

    /// A seed for data.
    pub fn seed(&mut self) -> u64 {
        self.seeds += 1;
        self.seeds
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit.max(1) as u64) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn some_of<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        (!of.is_empty()).then(|| self.one_of(of))
    }

    /// The thread's context.
    pub fn at(&self) -> usize {
        self.current[self.thread].expect("steps are made for a thread with a context")
    }

    pub fn context(&mut self) -> &mut Context {
        let at = self.at();
        &mut self.contexts[at]
    }

    pub fn here(&self) -> &Context {
        &self.contexts[self.at()]
    }

    pub fn group(&mut self) -> &mut Group {
        let group = self.here().group;
        &mut self.groups[group]
    }

    pub fn names(&self) -> &Group {
        &self.groups[self.here().group]
    }

    pub fn version(&self) -> (u8, u8) {
        self.here().version
    }

    pub fn api(&self) -> Api {
        self.here().api
    }

    pub fn array(&mut self) -> &mut VertexArray {
        let array = self.here().array;
        &mut self.vertex_arrays[array]
    }

    /// Gives a buffer's binding of the current vertex array another source.
    pub fn set_source(&mut self, binding: usize, source: Source) {
        let now = self.steps.len();
        let array = self.array();
        (array.sources[binding], array.attached[binding]) = (source, now);
    }

    pub fn set_elements(&mut self, buffer: usize) {
        let now = self.steps.len();
        let array = self.array();
        (array.elements, array.elements_attached) = (Some(buffer), now);
    }

    pub fn set_array(&mut self, array: usize) {
        let now = self.steps.len();
        let context = self.context();
        // Binding the same one again does nothing.
        if context.array != array {
            (context.array, context.array_bound) = (array, now);
        }
    }

    pub fn set_block(&mut self, index: usize, buffer: usize) {
        let now = self.steps.len();
        let context = self.context();
        (context.blocks[index], context.blocks_bound[index]) = (Some(buffer), now);
    }

    /// Notes that a buffer was given a data store.
    pub fn stored(&mut self, buffer: usize, size: usize) {
        let (now, here) = (self.steps.len(), self.at());
        let known = &mut self.buffers[buffer];
        known.stores.insert(here, now);
        if !known.is_immutable {
            (known.size, known.mapping) = (size, None);
        }
    }

    /// Whether another context than the current one has given a buffer a data store.
    pub fn was_stored_elsewhere(&self, buffer: usize) -> bool {
        let here = self.at();
        self.buffers[buffer].stores.keys().any(|at| *at != here)
    }

    /// True if a draw may read a buffer that another context has given a data store since it was bound or attached here: this
    /// context need not see it (OpenGL ES 3.2, 5.3.3), and in Mesa 22.3 it does not until other state changes.
    fn has_stale_buffers(&self) -> bool {
        let context = self.here();
        let here = self.at();
        let is_stale = |buffer: usize, since: usize| {
            let mut stores = self.buffers[buffer].stores.iter();
            stores.any(|(at, when)| *at != here && *when > since)
        };
        let array = &self.vertex_arrays[context.array];
        let bound = context.array_bound;
        let sources = array.sources.iter().zip(array.attached);
        let mut sources = sources.filter_map(|(source, at)| match source {
            Source::Buffer(buffer) => Some((*buffer, at.max(bound))),
            _ => None,
        });
        let mut blocks = context.blocks.iter().zip(context.blocks_bound);
        sources.any(|(buffer, since)| is_stale(buffer, since))
            || array.elements.is_some_and(|it| is_stale(it, array.elements_attached.max(bound)))
            || blocks.any(|(block, since)| block.is_some_and(|it| is_stale(it, since)))
    }

    /// Makes a program current.
    pub fn use_program(&mut self, program: usize) {
        self.step(format!("glUseProgram g{program}"));
        let (links, changes) = (self.programs[program].links, self.changes_elsewhere(program));
        let context = self.context();
        // Mesa 22.3 does nothing if the same executable is current already.
        let is_same = context.program == Some(program) && context.executable.links == links;
        if !is_same {
            (context.program, context.executable) = (Some(program), Executable { links, changes });
        }
    }

    /// Links a program. If it is current, its new executable is, too.
    pub fn link(&mut self, program: usize) {
        self.step(format!("glLinkProgram g{program}"));
        self.replace_shaders(program);
        self.linked(program);
        let (links, changes) = (self.programs[program].links, self.changes_elsewhere(program));
        let context = self.context();
        if context.program == Some(program) {
            context.executable = Executable { links, changes };
        }
    }

    /// Whether the program may be linked once more.
    ///
    /// Mesa 22.3 links a program without shaders, as glCreateShaderProgramv makes it, in the compatibility profile. It crashes if
    /// another context uses the program. A pipeline then has no stage of it, and stays valid for draws if it was before,
    /// which no command makes it.
    pub fn may_link_again(&self, program: usize) -> bool {
        self.api() != Api::Compatibility || self.programs[program].parts.len() != 1
    }

    /// Notes that a program was linked in the thread's context.
    pub fn linked(&mut self, program: usize) {
        let here = self.at();
        let program = &mut self.programs[program];
        program.links += 1;
        program.linked_in = Some(here);
        program.output = program.next_output;
    }

    /// Deletes a program's name.
    pub fn delete_program(&mut self, program: usize) {
        self.step(format!("glDeleteProgram g{program}"));
        self.group().programs.retain(|named| *named != program);
        self.replace_shaders(program);
    }

    /// Notes that the shaders of a program's last link may be freed.
    fn replace_shaders(&mut self, program: usize) {
        let here = self.at();
        let linked_in = self.programs[program].linked_in;
        if let Some(context) = linked_in.filter(|context| *context != here) {
            self.contexts[context].has_lost_shaders = true;
        }
    }

    /// Whether a draw may use freed memory in Mesa 22.3, whatever program it is with: when another context frees shaders that
    /// were compiled here, a later draw may still have them.
    pub fn may_use_freed_shaders(&self) -> bool {
        self.here().has_lost_shaders
    }

    /// Notes a change of a program's uniforms.
    pub fn changed_uniforms(&mut self, program: usize) {
        let context = self.at();
        *self.programs[program].changes.entry(context).or_default() += 1;
    }

    /// Changes of a program's uniforms in other contexts than the thread's.
    fn changes_elsewhere(&self, program: usize) -> usize {
        let here = self.at();
        let changes = self.programs.get(program).map(|it| it.changes.iter());
        changes.into_iter().flatten().filter(|(at, _)| **at != here).map(|(_, count)| count).sum()
    }

    /// Ends conditional rendering: commands that draw have an effect again.
    pub fn end_condition(&mut self) {
        if std::mem::take(&mut self.context().is_conditional) {
            self.step("glEndConditionalRenderNV");
        }
    }

    /// Notes a draw.
    pub fn drawn(&mut self) {
        let context = self.context();
        if let Some(program) = context.program {
            context.drawn.insert(program, context.executable.links);
        }
    }

    /// True if another context has linked the current program after this context had drawn with its executable, or has
    /// changed its uniforms after it became current here.
    ///
    /// Mesa 22.3 crashes in one of six draws with such an executable, and in draws with a sampler whose unit was changed.
    /// Changes of other contexts need not show until an object is bound again (OpenGL ES 3.2, 5.3.3).
    fn has_stale_executable(&self) -> bool {
        let Context { program, executable, drawn, .. } = self.here();
        let Some(number) = *program else { return false };
        let Some(program) = self.programs.get(number) else { return false };
        let is_drawn = drawn.get(&number) == Some(&executable.links);
        is_drawn && executable.links != program.links
            || executable.changes != self.changes_elsewhere(number)
    }

    /// True while commands that draw or that change what a feedback uses are restricted.
    pub fn is_feeding_back(&self) -> bool {
        self.here().feedback_active
    }

    /// Ends every binding of a deleted object in the current context: other contexts and containers keep it.
    pub fn unbind_buffer(&mut self, buffer: usize) {
        let context = self.context();
        context.buffers.retain(|_, bound| *bound != buffer);
        for block in context.blocks.iter_mut().filter(|block| **block == Some(buffer)) {
            *block = None;
        }
        let held = Source::Buffer(buffer);
        for array in context.client_arrays.values_mut().filter(|array| array.source == held) {
            array.source = Source::None;
        }
        let array = self.array();
        for source in array.sources.iter_mut().filter(|source| **source == held) {
            *source = Source::None;
        }
        if array.elements == Some(buffer) {
            array.elements = None;
        }
    }

    pub fn unbind_texture(&mut self, texture: usize) {
        let context = self.context();
        for unit in &mut context.textures {
            unit.retain(|_, bound| *bound != texture);
        }
        self.detach(Attached::Texture(texture));
    }

    /// Detaches an object from the bound framebuffer.
    pub fn detach(&mut self, object: Attached) {
        if let Some(framebuffer) = self.here().framebuffer {
            self.framebuffers[framebuffer].attachments.retain(|_, held| *held != object);
        }
    }

    /// The storage that an attached object has now: a texture that is defined again stays attached.
    pub fn storage(&self, attached: Attached) -> usize {
        match attached {
            Attached::Texture(texture) => self.textures[texture].storage,
            Attached::Renderbuffer(renderbuffer) => self.renderbuffers[renderbuffer].storage,
        }
    }

    /// Whether a framebuffer, of any context, has the texture attached.
    pub fn is_attached(&self, texture: usize) -> bool {
        let mut all = self.framebuffers.iter().flat_map(|it| it.attachments.values());
        all.any(|attached| *attached == Attached::Texture(texture))
    }

    /// True if a draw has defined results: there are shaders with an output for each draw buffer, each enabled
    /// attribute and each uniform block has memory, no sampled texture is an attachment, texels are no integers, and no
    /// buffer is both read and written. Mesa 22.3 may crash in a draw without shaders.
    pub fn may_draw(&self) -> bool {
        let context = self.here();
        let array = &self.vertex_arrays[context.array];
        let has_memory = (0..ATTRIBUTES).filter(|at| array.enabled[*at]).all(|at| {
            match array.sources[array.binding[at]] {
                Source::None => false,
                Source::Client => context.array == context.default_array,
                Source::Buffer(buffer) => {
                    !context.feedback_active || context.feedback_buffer != Some(buffer)
                }
            }
        });
        has_memory && self.may_draw_immediately() && !self.has_stale_buffers()
    }

    /// As [`Self::may_draw`], of a draw that reads no arrays.
    pub fn may_draw_immediately(&self) -> bool {
        let context = self.here();
        let attached: Vec<usize> = context
            .framebuffer
            .map(|at| {
                self.framebuffers[at].attachments.values().map(|it| self.storage(*it)).collect()
            })
            .unwrap_or_default();
        let mut sampled = context.textures.iter().flat_map(|unit| unit.values());
        let is_undefined = sampled.any(|texture| {
            let it = &self.textures[*texture];
            it.is_integer || attached.contains(&it.storage)
        });
        let has_shaders = context.version < (2, 0)
            || context.api == Api::Compatibility
            || context.program.is_some()
            || context.pipeline.is_some();
        let program = context.program.and_then(|program| self.programs.get(program));
        let has_outputs =
            context.framebuffer.is_none_or(|at| !self.framebuffers[at].has_second_buffer)
                && program.is_none_or(|program| program.output == 0);
        let reads_fed_back =
            context.feedback_active && program.is_some_and(|it| it.recipe.reads_texels);
        has_shaders
            && has_outputs
            && !is_undefined
            && !reads_fed_back
            && !self.draws_integers()
            && self.has_blocks()
            && !self.may_read_mapped()
            && !self.has_stale_executable()
    }

    /// True if the bound framebuffer has an image of integers: what a clear or a draw of other values leaves there is
    /// undefined (OpenGL ES 3.2, 15.2.3 and 14.2.3).
    pub fn draws_integers(&self) -> bool {
        let framebuffer = self.here().framebuffer.map(|at| &self.framebuffers[at]);
        framebuffer.is_some_and(|it| self.has_integers(it))
    }

    /// True if a framebuffer has an image of integers.
    pub fn has_integers(&self, framebuffer: &Framebuffer) -> bool {
        let has = |attached: &Attached| {
            let storage = self.storage(*attached);
            self.textures.iter().any(|it| it.is_integer && it.storage == storage)
        };
        framebuffer.attachments.values().any(has)
    }

    /// True if the uniform blocks of the current program have memory, which no feedback writes.
    fn has_blocks(&self) -> bool {
        let context = self.here();
        let program = context.program.and_then(|program| self.programs.get(program));
        // The ending has a program that is not in the list.
        let has_block = program.map_or(context.program.is_some(), |it| it.recipe.has_block);
        let is_defined = |block: &Option<usize>| {
            block.is_some() && (!context.feedback_active || *block != context.feedback_buffer)
        };
        context.version < (3, 0) || !has_block || context.blocks.iter().all(is_defined)
    }

    /// True if a draw may read a buffer that is mapped, which is undefined unless the mapping is persistent.
    fn may_read_mapped(&self) -> bool {
        let context = self.here();
        let is_mapped = |buffer: usize| {
            let mapping = &self.buffers[buffer].mapping;
            mapping.as_ref().is_some_and(|mapping| !mapping.persistent)
        };
        let array = &self.vertex_arrays[context.array];
        let reads_others = context.program.is_none_or(|program| {
            let recipe = self.programs.get(program).map(|program| program.recipe);
            recipe.is_none_or(|recipe| recipe.has_block || recipe.reads_texels)
        });
        let of_array = array.sources.iter().filter_map(|source| match source {
            Source::Buffer(buffer) => Some(*buffer),
            _ => None,
        });
        let of_group = (0..self.buffers.len())
            .filter(|buffer| reads_others && self.buffers[*buffer].group == context.group);
        of_array.chain(array.elements).chain(of_group).any(is_mapped)
    }
}
