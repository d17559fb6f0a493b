//! Framebuffers of a context and their attachments (at most 32 color attachments, 16 draw buffers). A deleted object
//! that is still attached is made under a spare name with its pixels; missing are pixels of such an object that has
//! several views or samples or a format which is not read, or that is in an OpenGL ES 1 context, objects that the state does
//! not know, and whether a framebuffer is complete with a level that is no mipmap of level 0.
//!
//! The driver reports an attached object by the name that it had when it was attached. The state tells whether the name
//! was deleted since, or given to another object.

use std::collections::BTreeSet;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_BACK, GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT, GL_DOUBLEBUFFER, GL_DRAW_BUFFER0,
    GL_DRAW_FRAMEBUFFER, GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING, GL_FRAMEBUFFER_COMPLETE,
    GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS, GL_FRAMEBUFFER_DEFAULT_HEIGHT,
    GL_FRAMEBUFFER_DEFAULT_LAYERS, GL_FRAMEBUFFER_DEFAULT_SAMPLES, GL_FRAMEBUFFER_DEFAULT_WIDTH,
    GL_FRONT, GL_FRONT_AND_BACK, GL_FRONT_LEFT, GL_FRONT_RIGHT, GL_LEFT, GL_MAX_COLOR_ATTACHMENTS,
    GL_MAX_DRAW_BUFFERS, GL_READ_FRAMEBUFFER, GL_READ_FRAMEBUFFER_BINDING, GL_RENDERBUFFER,
    GL_RIGHT, GL_STENCIL_ATTACHMENT, GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP_ARRAY, GL_UNPACK_ALIGNMENT,
};
use gapii_state::read_back::Driver;
use gapii_state::{Context, ContextApi, Framebuffer, Process, Ref, Renderbuffer, Texture};

use super::copied::Source;
use super::emit::{Command, Emitter};
use super::formats::{self, Layout, Read};
use super::held::Held;
use super::image_layer::has_layers;
use super::owed::Uploaded;
use super::sibling::OnDemand;
use super::texture_parameters::Has;
use super::textures::At;
use super::{flipped, gl, identity, levels, refusals, renderbuffers, textures};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_READ_BUFFER_NAME: u32 = constants::GL_READ_BUFFER;
const GL_TEXTURE: i32 = constants::GL_TEXTURE as i32;
const OBJECT_TYPE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE;
const OBJECT_NAME: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME;
const TEXTURE_LEVEL: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL;
const TEXTURE_FACE: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE;
const TEXTURE_LAYER: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER;
const TEXTURE_SAMPLES: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_SAMPLES_EXT;
const TEXTURE_VIEWS: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_NUM_VIEWS_OVR;
const TEXTURE_FIRST_VIEW: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_BASE_VIEW_INDEX_OVR;
const LAYERED: u32 = constants::GL_FRAMEBUFFER_ATTACHMENT_LAYERED;
/// Texture targets with layers.
const LAYERS: [u32; 4] = [
    GL_TEXTURE_3D,
    GL_TEXTURE_2D_ARRAY,
    GL_TEXTURE_CUBE_MAP_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY,
];
/// Parameters that a framebuffer without attachments uses, and the version that has them first.
const DEFAULTS: [(u32, (u8, u8)); 5] = [
    (GL_FRAMEBUFFER_DEFAULT_WIDTH, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_HEIGHT, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_LAYERS, (3, 2)),
    (GL_FRAMEBUFFER_DEFAULT_SAMPLES, (3, 1)),
    (GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS, (3, 1)),
];

/// Names of draw and read buffers that mean a front buffer, with or without others.
const FRONTS: [u32; 6] =
    [GL_FRONT, GL_FRONT_LEFT, GL_FRONT_RIGHT, GL_FRONT_AND_BACK, GL_LEFT, GL_RIGHT];

/// The commands of OpenGL ES, or those of GL_OES_framebuffer_object.
struct Commands {
    make: u16,
    bind: u16,
    attach_texture: u16,
    attach_renderbuffer: u16,
    is_framebuffer: fn(u32) -> u8,
    set: fn(u32, u32),
    ask: unsafe fn(u32, u32, u32, *mut i32),
}

const CORE: Commands = Commands {
    make: GL_GEN_FRAMEBUFFERS,
    bind: GL_BIND_FRAMEBUFFER,
    attach_texture: GL_FRAMEBUFFER_TEXTURE2D,
    attach_renderbuffer: GL_FRAMEBUFFER_RENDERBUFFER,
    is_framebuffer: gl::is_framebuffer,
    set: gl::bind_framebuffer,
    ask: gl::get_attachment,
};
const OES: Commands = Commands {
    make: GL_GEN_FRAMEBUFFERS_OES,
    bind: GL_BIND_FRAMEBUFFER_OES,
    attach_texture: GL_FRAMEBUFFER_TEXTURE2D_OES,
    attach_renderbuffer: GL_FRAMEBUFFER_RENDERBUFFER_OES,
    is_framebuffer: gl::is_framebuffer_oes,
    set: gl::bind_framebuffer_oes,
    ask: gl::get_attachment_oes,
};

/// Describes the framebuffers of a context. `reader` reads the pixels of nameless attachments; a context of OpenGL ES 1 has
/// none, and such attachments are missing. Returns the attachments whose pixels no framebuffer shows: a texture unit may.
pub fn describe(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    reader: Option<&OnDemand>,
) -> Unread {
    let is_es3 = context.has((3, 0), (3, 0));
    let commands = if context.has((2, 0), (1, 0)) { CORE } else { OES };
    let Some(driver) = Gl::current() else { return Unread::default() };
    let bound = Bound::ask(is_es3);
    let mut nameless = Attachments::new(process, context, &driver, reader);
    for (object, framebuffer) in context.framebuffers.named() {
        let name = object.name() as u32;
        emitter.make(commands.make, name);
        if (commands.is_framebuffer)(name) == 0 {
            continue;
        }
        (commands.set)(GL_FRAMEBUFFER, name);
        let (attached, is_whole) = commands.attached(emitter, context, &driver, framebuffer);
        let detached = Detached::detach(&attached, context);
        let shown = detached.shown(&attached);
        for it in &attached {
            nameless.make(emitter, name, shown, it);
        }
        drop(detached);
        emitter.command(commands.bind).arg(GL_FRAMEBUFFER).arg(name).done();
        for it in &attached {
            commands.attach(emitter, it);
        }
        if is_es3 {
            describe_buffers(emitter);
        }
        if context.has((3, 1), (4, 3)) {
            describe_defaults(emitter, context);
        }
        flipped::describe(emitter, &driver);
        if is_whole && framebuffer.status != 0 && context.has((2, 0), (1, 0)) {
            // Mesa keeps the status that it found, also when a level that is not attached is defined anew later. The
            // program has asked already, so asking changes nothing.
            let status = gl::check_framebuffer(GL_FRAMEBUFFER);
            let command = emitter.command(GL_CHECK_FRAMEBUFFER_STATUS).arg(GL_FRAMEBUFFER);
            command.returns(status, []);
        }
    }
    if is_es3 {
        describe_surface(emitter, &commands);
    }
    bound.put_back(&commands);
    bound.describe(emitter, &commands);
    nameless.unread
}

/// An attachment of a framebuffer.
struct Attached {
    point: u32,
    /// In the stream.
    name: u32,
    /// The object, if it has lost its name.
    nameless: Option<Object>,
    part: Part,
    /// Width and height of the image in pixels.
    size: [i32; 2],
}

/// An attached object.
#[derive(Clone, Copy)]
enum Object {
    Texture(Ref<Texture>),
    Renderbuffer(Ref<Renderbuffer>),
}

/// The size of an image that the state does not know: no framebuffer is smaller because of it.
const UNKNOWN_SIZE: [i32; 2] = [i32::MAX; 2];

/// Returns the object that the driver reports as `name`, and whether it still has that name. `None` if the state does not
/// know it.
fn object_at(
    context: &Context,
    kind: i32,
    name: u32,
    tracked: gapii_state::Attachment,
) -> Option<(Object, bool)> {
    let group = context.group.lock();
    match kind {
        GL_TEXTURE => match Held::find(&group.textures, name, tracked.texture) {
            Held::Named(name) => {
                Some((Object::Texture(group.textures.find(u64::from(name))), true))
            }
            Held::Nameless(object) => Some((Object::Texture(object), false)),
            Held::Unknown => None,
        },
        _ => match Held::find(&group.renderbuffers, name, tracked.renderbuffer) {
            Held::Named(name) => {
                Some((Object::Renderbuffer(group.renderbuffers.find(u64::from(name))), true))
            }
            Held::Nameless(object) => Some((Object::Renderbuffer(object), false)),
            Held::Unknown => None,
        },
    }
}

/// Width and height of the attached part of a texture.
fn size_of_texture(context: &Context, object: Ref<Texture>, part: Part) -> Option<[i32; 2]> {
    let group = context.group.lock();
    let texture = group.textures.get(object)?;
    let face = match part {
        Part::Flat { face, .. } => face,
        _ => texture.target,
    };
    // All faces of a cube map that is attached as a whole have one size.
    let levels = texture.images.get(&face).or_else(|| texture.images.values().next())?;
    levels.get(&part.level()).map(|image| [image.width, image.height])
}

/// The part of an object that is attached.
#[derive(Clone, Copy)]
enum Part {
    Renderbuffer,
    /// All layers of a level.
    Layered {
        level: i32,
    },
    /// Target, level and layer of a texture with layers.
    Layer {
        target: u32,
        level: i32,
        layer: i32,
    },
    /// Level, number of samples, first layer and number of layers (GL_OVR_multiview).
    Views {
        level: i32,
        samples: i32,
        first: i32,
        count: i32,
    },
    /// Target or face, level, and number of samples (GL_EXT_multisampled_render_to_texture), or 0.
    Flat {
        face: u32,
        level: i32,
        samples: i32,
    },
}

impl Part {
    /// Level of a texture.
    fn level(self) -> i32 {
        match self {
            Part::Renderbuffer => 0,
            Part::Layered { level }
            | Part::Layer { level, .. }
            | Part::Views { level, .. }
            | Part::Flat { level, .. } => level,
        }
    }
}

impl Commands {
    /// The attachments of the bound framebuffer, and whether nothing is left out or doubtful.
    fn attached(
        &self,
        emitter: &mut Emitter,
        context: &Context,
        driver: &Gl,
        framebuffer: &Framebuffer,
    ) -> (Vec<Attached>, bool) {
        let mut is_whole = true;
        let is_es3 = context.has((3, 0), (3, 0));
        let colors =
            if is_es3 { gl::integer(GL_MAX_COLOR_ATTACHMENTS).clamp(1, 32) as u32 } else { 1 };
        let points = (0..colors).map(|at| GL_COLOR_ATTACHMENT0 + at);
        let mut all = Vec::new();
        for point in points.chain([GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT]) {
            let (kind, name) = match self.number(point, OBJECT_TYPE) {
                0 => continue,
                kind => (kind, self.number(point, OBJECT_NAME) as u32),
            };
            // The driver reports what the program allocated for the default framebuffer of no other type.
            if name == 0 {
                continue;
            }
            let tracked = framebuffer.attachments.get(&point).copied().unwrap_or_default();
            let Some((object, has_name)) = object_at(context, kind, name, tracked) else {
                emitter.leave_out_of("what a framebuffer has of deleted object", name);
                is_whole = false;
                continue;
            };
            if let (Object::Renderbuffer(object), false) = (object, has_name) {
                self.follow_driver(point, context, object);
            }
            let nameless = (!has_name).then_some(object);
            let (name, part, size) = match object {
                Object::Texture(object) => {
                    let (target, levels, are_apart) = {
                        let group = context.group.lock();
                        let texture = group.textures.get(object);
                        let own = texture.filter(|it| it.view.original.is_none());
                        let levels = own.map_or(0, |it| it.immutable_levels);
                        let are_apart = texture.is_some_and(levels::are_apart);
                        (texture.map_or(0, |it| it.target), levels, are_apart)
                    };
                    let name = if has_name { name } else { identity::spare_name(object) };
                    let part = self.part((point, &tracked), target, context, driver);
                    // It was attached before the texture was given storage. The driver refuses to attach it again.
                    if levels > 0 && part.level() >= levels {
                        let what = "an attached level that the storage lacks, of texture";
                        emitter.leave_out_of(what, name);
                        is_whole = false;
                        continue;
                    }
                    // The driver may not have looked again since the levels fitted together.
                    if are_apart && part.level() > 0 {
                        let what = "whether a framebuffer is complete with a level that does not fit, of texture";
                        emitter.leave_out_of(what, name);
                        is_whole = false;
                    }
                    (name, part, size_of_texture(context, object, part))
                }
                Object::Renderbuffer(object) => {
                    let name = if has_name { name } else { identity::spare_name(object) };
                    let group = context.group.lock();
                    let size = group.renderbuffers.get(object).map(|it| [it.width, it.height]);
                    (name, Part::Renderbuffer, size)
                }
            };
            let size = size.unwrap_or(UNKNOWN_SIZE);
            all.push(Attached { point, name, nameless, part, size });
        }
        (all, is_whole)
    }

    /// Corrects the state of a nameless renderbuffer at an attachment point if the driver has no storage of it. Contexts below
    /// OpenGL ES 3 do not tell.
    fn follow_driver(&self, point: u32, context: &Context, object: Ref<Renderbuffer>) {
        let is_told = context.has((3, 0), (3, 0));
        if is_told && refusals::SIZES.iter().all(|size| self.number(point, *size) == 0) {
            refusals::empty_renderbuffer(&context.group, object);
        }
    }

    /// The part of the texture of this target at an attachment point, of which the state knows `tracked`.
    fn part(
        &self,
        (point, tracked): (u32, &gapii_state::Attachment),
        target: u32,
        context: &Context,
        driver: &Gl,
    ) -> Part {
        let number = |name| self.number(point, name);
        let level = number(TEXTURE_LEVEL);
        let has_samples = driver.has("GL_EXT_multisampled_render_to_texture");
        let samples = if has_samples { number(TEXTURE_SAMPLES) } else { 0 };
        if driver.has("GL_OVR_multiview") {
            let count = number(TEXTURE_VIEWS);
            // NVIDIA's driver answers 1 for an attachment without views, too; one view is one layer.
            if count > 1 {
                return Part::Views { level, samples, first: number(TEXTURE_FIRST_VIEW), count };
            }
        }
        let extensions = ["GL_OES_geometry_shader", "GL_EXT_geometry_shader"];
        let has_layered =
            context.has((3, 2), (3, 2)) || extensions.iter().any(|name| driver.has(name));
        if has_layered && number(LAYERED) != 0 {
            return Part::Layered { level };
        }
        if LAYERS.contains(&target) {
            // Mesa answers 0 for every layer of a cube map array.
            let layer = match target {
                GL_TEXTURE_CUBE_MAP_ARRAY => tracked.layer,
                _ => number(TEXTURE_LAYER),
            };
            return Part::Layer { target, level, layer };
        }
        let face = match (number(TEXTURE_FACE) as u32, target) {
            (0, 0) => GL_TEXTURE_2D,
            (0, target) => target,
            (face, _) => face,
        };
        Part::Flat { face, level, samples }
    }

    /// A number of an attachment of the bound framebuffer.
    fn number(&self, point: u32, name: u32) -> i32 {
        let mut value = 0;
        // SAFETY: the parameter has one number.
        unsafe { (self.ask)(GL_FRAMEBUFFER, point, name, &raw mut value) };
        value
    }

    /// Attaches an object to the framebuffer that is bound in the replay.
    fn attach(&self, emitter: &mut Emitter, it: &Attached) {
        let (point, name) = (it.point, it.name);
        match it.part {
            Part::Renderbuffer => {
                start(emitter, self.attach_renderbuffer, point)
                    .arg(GL_RENDERBUFFER)
                    .arg(name)
                    .done();
            }
            Part::Layered { level } => {
                start(emitter, layered().0, point).arg(name).arg(level).done();
            }
            Part::Layer { target, level, layer } => match has_layer_command() {
                true => {
                    let command = start(emitter, GL_FRAMEBUFFER_TEXTURE_LAYER, point).arg(name);
                    command.arg(level).arg(layer).done();
                }
                false => {
                    let command =
                        start(emitter, GL_FRAMEBUFFER_TEXTURE3D_OES, point).arg(target).arg(name);
                    command.arg(level).arg(layer).done();
                }
            },
            Part::Views { level, samples: 0, first, count } => {
                let command = start(emitter, GL_FRAMEBUFFER_TEXTURE_MULTIVIEW_OVR, point).arg(name);
                command.arg(level).arg(first).arg(count).done();
            }
            Part::Views { level, samples, first, count } => {
                let id = GL_FRAMEBUFFER_TEXTURE_MULTISAMPLE_MULTIVIEW_OVR;
                let command = start(emitter, id, point).arg(name).arg(level).arg(samples);
                command.arg(first).arg(count).done();
            }
            Part::Flat { face, level, samples: 0 } => {
                start(emitter, self.attach_texture, point).arg(face).arg(name).arg(level).done();
            }
            Part::Flat { face, level, samples } => {
                let command =
                    start(emitter, GL_FRAMEBUFFER_TEXTURE2D_MULTISAMPLE_EXT, point).arg(face);
                command.arg(name).arg(level).arg(samples).done();
            }
        }
    }
}

/// Whether the context has glFramebufferTextureLayer.
fn has_layer_command() -> bool {
    Gl::current().is_some_and(|driver| driver.is_at_least((3, 0), (3, 0)))
}

/// The context's command that attaches all layers of a level, and the driver's function.
fn layered() -> (u16, fn(u32, u32, u32, i32)) {
    match Gl::current() {
        Some(driver) if driver.is_at_least((3, 2), (3, 2)) => {
            (GL_FRAMEBUFFER_TEXTURE, gl::framebuffer_texture)
        }
        Some(driver) if driver.has("GL_OES_geometry_shader") => {
            (GL_FRAMEBUFFER_TEXTURE_OES, gl::framebuffer_texture_oes)
        }
        _ => (GL_FRAMEBUFFER_TEXTURE_EXT, gl::framebuffer_texture_ext),
    }
}

/// Begins a command that attaches an object to the bound framebuffer.
fn start<'e>(emitter: &'e mut Emitter, id: u16, point: u32) -> Command<'e> {
    emitter.command(id).arg(GL_FRAMEBUFFER).arg(point)
}

/// Attachments of the bound framebuffer that are taken off while nameless ones are read, because the framebuffer is not
/// complete with them, or because their images are smaller: a framebuffer shows what all its images have (OpenGL ES 3.2,
/// 9.2). Dropping this attaches them again.
struct Detached<'a> {
    attached: Vec<&'a Attached>,
}

impl<'a> Detached<'a> {
    /// Takes off what has a name, if the framebuffer has something nameless of which it does not show all.
    fn detach(attached: &'a [Attached], context: &Context) -> Self {
        let shown = smallest(attached.iter());
        let mut nameless = attached.iter().filter(|it| it.nameless.is_some());
        let has_nameless = nameless.clone().next().is_some();
        if !context.has((2, 0), (3, 0))
            || !has_nameless
            || nameless.all(|it| it.fits(shown))
                && gl::check_framebuffer(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE
        {
            return Self { attached: Vec::new() };
        }
        let attached: Vec<&Attached> = attached.iter().filter(|it| it.nameless.is_none()).collect();
        for it in &attached {
            gl::framebuffer_renderbuffer(GL_FRAMEBUFFER, it.point, GL_RENDERBUFFER, 0);
        }
        Self { attached }
    }

    /// Width and height of what the framebuffer shows of its images, `all`, meanwhile.
    fn shown(&self, all: &[Attached]) -> [i32; 2] {
        let is_detached = |it: &Attached| self.attached.iter().any(|off| off.point == it.point);
        smallest(all.iter().filter(|it| !is_detached(it)))
    }
}

/// The width and the height that all these images have.
fn smallest<'a>(all: impl Iterator<Item = &'a Attached>) -> [i32; 2] {
    all.fold(UNKNOWN_SIZE, |[width, height], it| [width.min(it.size[0]), height.min(it.size[1])])
}

impl Attached {
    /// Whether a framebuffer that shows so much shows all of the image.
    fn fits(&self, [width, height]: [i32; 2]) -> bool {
        self.size[0] <= width && self.size[1] <= height
    }
}

impl Drop for Detached<'_> {
    fn drop(&mut self) {
        let target = GL_FRAMEBUFFER;
        for Attached { point, name, part, .. } in self.attached.iter().copied() {
            match *part {
                Part::Renderbuffer => {
                    gl::framebuffer_renderbuffer(target, *point, GL_RENDERBUFFER, *name);
                }
                Part::Layered { level } => layered().1(target, *point, *name, level),
                Part::Layer { level, layer, .. } if has_layer_command() => {
                    gl::framebuffer_texture_layer(target, *point, *name, level, layer);
                }
                Part::Layer { target: kind, level, layer } => {
                    gl::framebuffer_texture_3d_oes(target, *point, kind, *name, level, layer);
                }
                Part::Views { level, samples: 0, first, count } => {
                    gl::framebuffer_texture_multiview(target, *point, *name, level, first, count);
                }
                Part::Views { level, samples, first, count } => {
                    gl::framebuffer_texture_multisample_multiview(
                        target, *point, *name, level, samples, first, count,
                    );
                }
                Part::Flat { face, level, samples: 0 } => {
                    gl::framebuffer_texture_2d(target, *point, face, *name, level);
                }
                Part::Flat { face, level, samples } => {
                    let (kind, name) = (face, *name);
                    gl::framebuffer_texture_2d_multisample_ext(
                        target, *point, kind, name, level, samples,
                    );
                }
            }
        }
    }
}

/// Makes the nameless attachments of a context's framebuffers.
struct Attachments<'a> {
    process: &'a Process,
    context: &'a Context,
    has: Has,
    reader: Option<&'a OnDemand<'a>>,
    /// Textures whose pixels the stream has, and their places.
    done: BTreeSet<(Ref<Texture>, At)>,
    renderbuffers_done: BTreeSet<Ref<Renderbuffer>>,
    unread: Unread,
}

/// Nameless attachments of which no framebuffer has shown all pixels yet.
#[derive(Default)]
pub struct Unread {
    textures: BTreeSet<(Ref<Texture>, At)>,
    renderbuffers: BTreeSet<Ref<Renderbuffer>>,
}

impl Unread {
    /// Lists as missing what nothing else of the context has shown since, either.
    pub fn leave_out(&self, emitter: &mut Emitter, context: &Context) {
        let textures: BTreeSet<Ref<Texture>> = self.textures.iter().map(|(it, _)| *it).collect();
        for object in textures {
            if identity::lacks_part(context, identity::Kind::Texture, object) {
                emitter.leave_out_of("the pixels of deleted texture", object.name() as u32);
            }
        }
        for object in &self.renderbuffers {
            emitter.leave_out_of("the pixels of deleted renderbuffer", object.name() as u32);
        }
    }
}

impl<'a> Attachments<'a> {
    fn new(
        process: &'a Process,
        context: &'a Context,
        driver: &Gl,
        reader: Option<&'a OnDemand<'a>>,
    ) -> Self {
        let has = Has::of(driver);
        Self {
            process,
            context,
            has,
            reader,
            done: BTreeSet::new(),
            renderbuffers_done: BTreeSet::new(),
            unread: Unread::default(),
        }
    }

    /// Makes an attachment of the bound framebuffer, which shows so much of its images, unless the attachment has its name.
    fn make(&mut self, emitter: &mut Emitter, framebuffer: u32, shown: [i32; 2], it: &Attached) {
        // Nothing is read through a framebuffer that does not show all.
        let framebuffer = it.fits(shown).then_some(framebuffer);
        match it.nameless {
            None => {}
            Some(Object::Texture(object)) => self.texture(emitter, framebuffer, it, object),
            Some(Object::Renderbuffer(object)) => {
                self.renderbuffer(emitter, framebuffer, it.point, object);
            }
        }
    }

    fn texture(
        &mut self,
        emitter: &mut Emitter,
        framebuffer: Option<u32>,
        it: &Attached,
        object: Ref<Texture>,
    ) {
        let whose = (self.process, self.context);
        let lacks_pixels = textures::make_nameless(emitter, whose, self.has, object, None);
        let known = textures::Known::of(&self.context.group.lock().textures, object);
        let Some(known) = known.filter(|it| !it.is_view_of_named(self.context)) else { return };
        let framebuffer = framebuffer.filter(|_| !known.is_inner_view());
        let kind = identity::Kind::Texture;
        if lacks_pixels && known.has_several_layers() {
            // A texture unit may hold it, too, and lead to the other ones.
            identity::note_part(self.context, kind, object);
        }
        let at = match it.part {
            Part::Flat { face, level, .. } => At { face, level, layer: 0 },
            Part::Layer { target, level, layer } => At { face: target, level, layer },
            // Commands read the first layer (OpenGL ES 3.2, 16.1.1 and 16.2.1). What the others have only another holder shows.
            Part::Layered { level } => At { face: known.first_face(), level, layer: 0 },
            Part::Views { level, first, .. } => At { face: known.target, level, layer: first },
            Part::Renderbuffer => return,
        };
        // No command reads several views.
        let framebuffer = framebuffer.filter(|_| !matches!(it.part, Part::Views { .. }));
        if self.done.contains(&(object, at)) {
            return;
        }
        // A program can attach a level that it has not defined.
        let Some(image) = known.image(at.face, at.level) else { return };
        let has_layer = !has_layers(known.target) || at.layer < image.depth;
        if !has_layer || !can_show(it.point, image.format, image.pixel_type) {
            // A texture unit may.
            if lacks_pixels {
                identity::note_part(self.context, kind, object);
            }
            return;
        }
        let layout = Layout::of(image.format, image.pixel_type).filter(|_| image.samples == 0);
        let pixels = layout.and_then(|layout| {
            let size = (image.width, image.height);
            let source = source(framebuffer?, it.point, (image.format, layout), size);
            self.read(&source).map(|pixels| (layout, pixels))
        });
        let Some((layout, pixels)) = pixels else {
            identity::note_part(self.context, kind, object);
            self.unread.textures.insert((object, at));
            return;
        };
        self.done.insert((object, at));
        self.unread.textures.remove(&(object, at));
        if !known.has_several_layers() {
            identity::take_part(self.context, kind, object);
        }
        emitter.command(GL_BIND_TEXTURE).arg(known.target).arg(known.name).done();
        emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
        textures::upload(emitter, known.target, at, &image, (layout, Uploaded::of(&pixels)));
    }

    fn renderbuffer(
        &mut self,
        emitter: &mut Emitter,
        framebuffer: Option<u32>,
        point: u32,
        object: Ref<Renderbuffer>,
    ) {
        if self.renderbuffers_done.contains(&object) {
            return;
        }
        let made = renderbuffers::make_nameless(emitter, self.process, self.context, object);
        let Some((known, lacks_all)) = made else { return };
        // Another context may have it bound, which shows nothing of it.
        let lacks_pixels =
            identity::take_part(self.context, identity::Kind::Renderbuffer, object) || lacks_all;
        if known.width <= 0 || known.height <= 0 {
            return;
        }
        if !can_show(point, known.format, 0) {
            // Another framebuffer may show it.
            if lacks_pixels {
                identity::note_part(self.context, identity::Kind::Renderbuffer, object);
            }
            return;
        }
        let pixels = known.staging().filter(|_| known.samples == 0).and_then(|(format, layout)| {
            let size = (known.width, known.height);
            let source = source(framebuffer?, point, (format, layout), size);
            self.read(&source).map(|pixels| (layout, pixels))
        });
        match pixels {
            Some((layout, pixels)) if self.context.has((3, 0), (3, 0)) => {
                emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
                known.blit(emitter, layout, Uploaded::of(&pixels));
                self.renderbuffers_done.insert(object);
                self.unread.renderbuffers.remove(&object);
            }
            _ if lacks_pixels => _ = self.unread.renderbuffers.insert(object),
            _ => {}
        }
    }

    fn read(&self, source: &Source) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        let take = |pixels: &[u8]| all.extend_from_slice(pixels);
        let reader = self.reader?;
        match self.context.has((3, 0), (3, 0)) {
            false => source.read(take),
            true => source.blit(self.context, reader.get()?, take),
        }?;
        Some(all)
    }
}

/// Whether a framebuffer with an image of this format at this point can be complete. No command reads the image through
/// another one.
fn can_show(point: u32, format: u32, pixel_type: u32) -> bool {
    let is_depth_or_stencil = [GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT].contains(&point);
    let Some(layout) = Layout::of(format, pixel_type) else { return true };
    match layout.read {
        Read::AsTheyAre(formats::Part::Depth, _) => point == GL_DEPTH_ATTACHMENT,
        Read::AsTheyAre(formats::Part::Stencil, _) => point == GL_STENCIL_ATTACHMENT,
        Read::AsTheyAre(formats::Part::DepthStencil, _) => is_depth_or_stencil,
        _ => !is_depth_or_stencil,
    }
}

fn source(
    framebuffer: u32,
    point: u32,
    (format, layout): (u32, Layout),
    (width, height): (i32, i32),
) -> Source {
    Source { framebuffer, point, format, layout, width, height }
}

/// Describes the draw and read buffers of the default framebuffer, unless both are the back buffer.
fn describe_surface(emitter: &mut Emitter, commands: &Commands) {
    (commands.set)(GL_FRAMEBUFFER, 0);
    emitter.command(commands.bind).arg(GL_FRAMEBUFFER).arg(0_u32).done();
    if Gl::current().is_some_and(|driver| driver.api() != ContextApi::Es) {
        return describe_buffers_of_desktop(emitter);
    }
    let [drawn, read] = [GL_DRAW_BUFFER0, GL_READ_BUFFER_NAME].map(gl::integer);
    if drawn == 0 || read == 0 {
        describe_buffers(emitter);
    }
}

/// Describes the draw and read buffers of the default framebuffer of OpenGL. GL_BACK and GL_FRONT stand for several buffers, and
/// are no names for glDrawBuffers.
///
/// A surface with two buffers begins with GL_BACK. Of one with a single buffer Mesa 22.3 calls the buffer GL_FRONT or GL_BACK, as
/// the last command did, and the draw buffer GL_BACK at first.
fn describe_buffers_of_desktop(emitter: &mut Emitter) {
    let [drawn, read] = [GL_DRAW_BUFFER0, GL_READ_BUFFER_NAME].map(|name| gl::integer(name) as u32);
    let has_two = gl::integer(GL_DOUBLEBUFFER) != 0;
    if has_two && [drawn, read].iter().any(|buffer| FRONTS.contains(buffer)) {
        emitter.leave_out("the front buffer of a surface");
    }
    let others = (1..gl::integer(GL_MAX_DRAW_BUFFERS).clamp(1, 16) as u32)
        .any(|at| gl::integer(GL_DRAW_BUFFER0 + at) != 0);
    if others {
        return describe_buffers(emitter);
    }
    for (id, buffer) in [(GL_DRAW_BUFFER, drawn), (GL_READ_BUFFER, read)] {
        if !has_two || buffer != GL_BACK {
            emitter.command(id).arg(buffer).done();
        }
    }
}

/// Describes the draw and read buffers of the bound framebuffers of OpenGL, whatever they were before.
pub fn describe_buffers_again(emitter: &mut Emitter) {
    let others = (1..gl::integer(GL_MAX_DRAW_BUFFERS).clamp(1, 16) as u32)
        .any(|at| gl::integer(GL_DRAW_BUFFER0 + at) != 0);
    if others {
        return describe_buffers(emitter);
    }
    for (id, name) in [(GL_DRAW_BUFFER, GL_DRAW_BUFFER0), (GL_READ_BUFFER, GL_READ_BUFFER_NAME)] {
        emitter.command(id).arg(gl::integer(name)).done();
    }
}

/// Describes the parameters that a framebuffer without attachments uses.
fn describe_defaults(emitter: &mut Emitter, context: &Context) {
    for (name, _) in DEFAULTS.iter().filter(|(_, since)| context.has(*since, (4, 3))) {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_framebuffer_parameter(GL_FRAMEBUFFER, *name, &raw mut value) };
        if value != 0 {
            let command = emitter.command(GL_FRAMEBUFFER_PARAMETERI).arg(GL_FRAMEBUFFER);
            command.arg(*name).arg(value).done();
        }
    }
}

/// The framebuffers that are bound.
struct Bound {
    draw: u32,
    /// OpenGL ES 3 has a binding of its own for reading.
    read: Option<u32>,
}

impl Bound {
    fn ask(is_es3: bool) -> Self {
        let draw = gl::integer(GL_FRAMEBUFFER_BINDING) as u32;
        Self { draw, read: is_es3.then(|| gl::integer(GL_READ_FRAMEBUFFER_BINDING) as u32) }
    }

    fn put_back(&self, commands: &Commands) {
        match self.read {
            None => (commands.set)(GL_FRAMEBUFFER, self.draw),
            Some(read) => {
                (commands.set)(GL_DRAW_FRAMEBUFFER, self.draw);
                (commands.set)(GL_READ_FRAMEBUFFER, read);
            }
        }
    }

    fn describe(&self, emitter: &mut Emitter, commands: &Commands) {
        let draw = if self.read.is_some() { GL_DRAW_FRAMEBUFFER } else { GL_FRAMEBUFFER };
        emitter.command(commands.bind).arg(draw).arg(self.draw).done();
        if let Some(read) = self.read {
            emitter.command(commands.bind).arg(GL_READ_FRAMEBUFFER).arg(read).done();
        }
    }
}

fn describe_buffers(emitter: &mut Emitter) {
    let count = gl::integer(GL_MAX_DRAW_BUFFERS).clamp(1, 16) as u32;
    let mut buffers: Vec<u32> =
        (0..count).map(|at| gl::integer(GL_DRAW_BUFFER0 + at) as u32).collect();
    while buffers.len() > 1 && buffers.last() == Some(&0) {
        buffers.pop();
    }
    let bytes: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_le_bytes()).collect();
    emitter
        .command(GL_DRAW_BUFFERS)
        .arg(buffers.len() as i32)
        .arg(bytes.as_ptr())
        .range(1, &bytes)
        .done();
    emitter.command(GL_READ_BUFFER).arg(gl::integer(GL_READ_BUFFER_NAME)).done();
}
