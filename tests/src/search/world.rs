//! Model of the objects of a program while it is generated: what exists, who holds what, what is mapped.
//!
//! It knows enough of OpenGL ES to make most steps valid, and to avoid what the specification leaves undefined:
//! sampling from an attachment, vertices without memory, commands on buffers that a feedback writes. It is not a
//! validator: a step that the driver refuses is refused natively, too.
//!
//! Objects are numbers that are never reused: the number of buffer `b3` is 3, whatever name the driver gives it.

use std::collections::BTreeMap;

use crate::random::Random;
use crate::search::shaders::{Recipe, TEXEL_RECIPE};

/// Attributes and vertex bindings that programs use.
pub const ATTRIBUTES: usize = 6;
pub const UNITS: usize = 3;
/// Binding points of uniform buffers that programs use.
pub const BLOCKS: usize = 3;
/// Bytes per vertex are at most 16, and indices are bytes.
pub const CLIENT_BYTES: usize = 16 * 256 + 16;

pub struct World {
    pub random: Random,
    pub steps: Vec<String>,
    /// Thread of the next steps.
    pub thread: usize,
    /// Context of each thread.
    pub current: [Option<usize>; 3],
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
    /// The last name that no command generated. They fall, since drivers give out names above the greatest one.
    pub chosen_names: u32,
}

pub struct Context {
    pub group: usize,
    pub surface: usize,
    pub version: (u8, u8),
    pub buffers: BTreeMap<&'static str, usize>,
    /// At the indexed binding points of uniform buffers.
    pub blocks: [Option<usize>; BLOCKS],
    /// Default vertex array, as an index of [`World::vertex_arrays`].
    pub default_array: usize,
    pub array: usize,
    pub named_arrays: Vec<usize>,
    pub unit: usize,
    pub textures: [BTreeMap<&'static str, usize>; UNITS],
    pub framebuffer: Option<usize>,
    pub named_framebuffers: Vec<usize>,
    pub program: Option<usize>,
    pub executable: Executable,
    pub pipelines: Vec<usize>,
    pub pipeline: Option<usize>,
    pub feedbacks: Vec<usize>,
    pub feedback_active: bool,
    pub feedback_paused: bool,
    /// Buffers of the feedback's indexed bindings.
    pub feedback_buffer: Option<usize>,
    pub queries: Vec<(usize, bool)>,
    pub active_query: Option<(usize, &'static str)>,
}

/// The executable of the current program.
#[derive(Clone, Copy, Default)]
pub struct Executable {
    /// Links of the program up to the one that made it.
    links: usize,
    /// The context has drawn with it.
    is_drawn: bool,
}

#[derive(Clone, Default)]
pub struct Buffer {
    pub group: usize,
    pub size: usize,
    pub is_immutable: bool,
    pub mapping: Option<Mapping>,
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
    /// An EGL image has replaced its storage.
    pub is_of_image: bool,
    /// It has levels besides level 0.
    pub has_mipmaps: bool,
    /// Level 0 was defined again after other levels, which may not fit it any more.
    pub has_unfit_levels: bool,
}

#[derive(Clone)]
pub struct Renderbuffer {
    pub storage: usize,
    pub has_storage: bool,
}

#[derive(Clone, Default)]
pub struct Framebuffer {
    /// Storage of each attachment.
    pub attachments: BTreeMap<&'static str, usize>,
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

#[derive(Clone, Default)]
pub struct VertexArray {
    pub enabled: [bool; ATTRIBUTES],
    pub binding: [usize; ATTRIBUTES],
    pub sources: [Source; ATTRIBUTES],
    pub elements: Option<usize>,
}

#[derive(Clone)]
pub struct Program {
    pub recipe: Recipe,
    /// Vertex stage, fragment stage; both for a program of two shaders.
    pub stages: (bool, bool),
    pub is_separable: bool,
    pub links: usize,
}

#[derive(Clone)]
pub struct Image {
    /// The texture as it was when the image was made.
    pub source: Texture,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut random =
            Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D);
        // Close seeds have close first numbers.
        (0..8).for_each(|_| _ = random.below(2));
        Self {
            random,
            steps: Vec::new(),
            thread: 0,
            current: [None; 3],
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
            counts: BTreeMap::new(),
            seeds: 0,
        }
    }

    /// Adds a step of the current thread.
    pub fn step(&mut self, text: impl AsRef<str>) {
        let thread = self.thread;
        self.steps.push(format!("{thread} {}", text.as_ref()));
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

    pub fn array(&mut self) -> &mut VertexArray {
        let array = self.here().array;
        &mut self.vertex_arrays[array]
    }

    /// Makes a program current.
    pub fn use_program(&mut self, program: usize) {
        self.step(format!("glUseProgram g{program}"));
        let links = self.programs[program].links;
        let context = self.context();
        (context.program, context.executable) =
            (Some(program), Executable { links, is_drawn: false });
    }

    /// Links a program. If it is current, its new executable is, too.
    pub fn link(&mut self, program: usize) {
        self.step(format!("glLinkProgram g{program}"));
        self.programs[program].links += 1;
        let links = self.programs[program].links;
        let context = self.context();
        if context.program == Some(program) {
            context.executable = Executable { links, is_drawn: false };
        }
    }

    /// Notes a draw.
    pub fn drawn(&mut self) {
        self.context().executable.is_drawn = true;
    }

    /// True if another context has linked the current program after this context had drawn with it: Mesa 22.3 crashes in
    /// one of six draws with such an executable.
    fn has_stale_executable(&self) -> bool {
        let Context { program, executable, .. } = self.here();
        let Some(program) = program.and_then(|program| self.programs.get(program)) else {
            return false;
        };
        executable.is_drawn && executable.links != program.links
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
        let array = self.array();
        for source in &mut array.sources {
            if *source == Source::Buffer(buffer) {
                *source = Source::None;
            }
        }
        if array.elements == Some(buffer) {
            array.elements = None;
        }
    }

    pub fn unbind_texture(&mut self, texture: usize) {
        let storage = self.textures[texture].storage;
        let context = self.context();
        for unit in &mut context.textures {
            unit.retain(|_, bound| *bound != texture);
        }
        self.detach(storage);
    }

    /// Detaches storage from the bound framebuffer.
    pub fn detach(&mut self, storage: usize) {
        if let Some(framebuffer) = self.here().framebuffer {
            self.framebuffers[framebuffer].attachments.retain(|_, held| *held != storage);
        }
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
        let attached: Vec<usize> = context
            .framebuffer
            .map(|at| self.framebuffers[at].attachments.values().copied().collect())
            .unwrap_or_default();
        let mut sampled = context.textures.iter().flat_map(|unit| unit.values());
        let is_undefined = sampled.any(|texture| {
            let it = &self.textures[*texture];
            it.is_integer || attached.contains(&it.storage)
        });
        let has_shaders =
            context.version < (2, 0) || context.program.is_some() || context.pipeline.is_some();
        let has_outputs =
            context.framebuffer.is_none_or(|at| !self.framebuffers[at].has_second_buffer);
        has_shaders
            && has_outputs
            && has_memory
            && !is_undefined
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
        let has = |storage: &usize| {
            self.textures.iter().any(|it| it.is_integer && it.storage == *storage)
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
            recipe.is_none_or(|recipe| recipe.has_block || recipe == TEXEL_RECIPE)
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
