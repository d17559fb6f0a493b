//! Attachments of the framebuffer that is bound (at most 32 color attachments): which objects the driver has there, and the commands
//! that attach them in a replay.
//!
//! The driver reports an attached object by the name that it had when it was attached. The state tells whether the name
//! was deleted since, or given to another object. Missing are objects that the state does not know, and whether a framebuffer is
//! complete with a level that is no mipmap of level 0.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT, GL_FRAMEBUFFER, GL_MAX_COLOR_ATTACHMENTS,
    GL_RENDERBUFFER, GL_STENCIL_ATTACHMENT, GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP_ARRAY,
};
use gapii_state::read_back::Driver;
use gapii_state::{Context, Framebuffer, Ref, Renderbuffer};

use super::emit::{Command, Emitter};
use super::held::Held;
use super::image_storages::Object;
use super::{gl, identity, levels, refusals};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

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

/// The commands for framebuffers of OpenGL ES 2, or those of GL_OES_framebuffer_object, and the driver's functions.
pub struct Commands {
    pub make: u16,
    pub bind: u16,
    attach_texture: u16,
    attach_renderbuffer: u16,
    pub is_framebuffer: fn(u32) -> u8,
    pub set: fn(u32, u32),
    ask: unsafe fn(u32, u32, u32, *mut i32),
}

/// The commands of OpenGL ES 2 and OpenGL.
pub const CORE: Commands = Commands {
    make: GL_GEN_FRAMEBUFFERS,
    bind: GL_BIND_FRAMEBUFFER,
    attach_texture: GL_FRAMEBUFFER_TEXTURE2D,
    attach_renderbuffer: GL_FRAMEBUFFER_RENDERBUFFER,
    is_framebuffer: gl::is_framebuffer,
    set: gl::bind_framebuffer,
    ask: gl::get_attachment,
};
/// The commands of GL_OES_framebuffer_object.
pub const OES: Commands = Commands {
    make: GL_GEN_FRAMEBUFFERS_OES,
    bind: GL_BIND_FRAMEBUFFER_OES,
    attach_texture: GL_FRAMEBUFFER_TEXTURE2D_OES,
    attach_renderbuffer: GL_FRAMEBUFFER_RENDERBUFFER_OES,
    is_framebuffer: gl::is_framebuffer_oes,
    set: gl::bind_framebuffer_oes,
    ask: gl::get_attachment_oes,
};

/// An attachment of a framebuffer.
pub struct Attached {
    pub point: u32,
    /// In the stream.
    pub name: u32,
    /// The object, if it has lost its name.
    pub nameless: Option<Object>,
    pub part: Part,
    /// Width and height of the image in pixels.
    pub size: [i32; 2],
}

/// The size of an image that the state does not know: no framebuffer is smaller because of it.
pub const UNKNOWN_SIZE: [i32; 2] = [i32::MAX; 2];

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

/// Width and height of the attached part of an object.
fn size_of(context: &Context, object: Object, part: Part) -> Option<[i32; 2]> {
    let group = context.group.lock();
    let texture = match object {
        Object::Texture(it) => group.textures.get(it)?,
        Object::Renderbuffer(it) => {
            return group.renderbuffers.get(it).map(|it| [it.width, it.height]);
        }
    };
    let face = match part {
        Part::Flat { face, .. } => face,
        _ => texture.target,
    };
    // All faces of a cube map that is attached as a whole have one size.
    let levels = texture.images.get(&face).or_else(|| texture.images.values().next())?;
    levels.get(&part.level()).map(|image| [image.width, image.height])
}

/// What a replay may lack of an attachment.
struct Doubt {
    about: &'static str,
    can_attach: bool,
}

impl Doubt {
    /// `None` if a replay has the attached level of the object.
    fn of(context: &Context, object: Object, level: i32) -> Option<Self> {
        let Object::Texture(texture) = object else { return None };
        let group = context.group.lock();
        let texture = group.textures.get(texture)?;
        let is_view = texture.view.original.is_some();
        let levels = if is_view { 0 } else { texture.immutable_levels };
        // It was attached before the texture was given storage. The driver refuses to attach it again.
        if levels > 0 && level >= levels {
            let about = "an attached level that the storage lacks, of texture";
            return Some(Self { about, can_attach: false });
        }
        // The driver may not have looked again since the levels fitted together.
        let about = "whether a framebuffer is complete with a level that does not fit, of texture";
        (level > 0 && levels::are_apart(texture)).then_some(Self { about, can_attach: true })
    }
}

/// The part of an object that is attached.
#[derive(Clone, Copy)]
pub enum Part {
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
    /// Returns the attachments of the bound framebuffer, and whether nothing of them is left out or doubtful.
    pub fn attached(
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
            let name = match object {
                _ if has_name => name,
                Object::Texture(it) => identity::spare_name(it),
                Object::Renderbuffer(it) => {
                    self.follow_driver(point, context, it);
                    identity::spare_name(it)
                }
            };
            let part = self.part((point, &tracked), object, context, driver);
            if let Some(Doubt { about, can_attach }) = Doubt::of(context, object, part.level()) {
                emitter.leave_out_of(about, name);
                is_whole = false;
                if !can_attach {
                    continue;
                }
            }
            let size = size_of(context, object, part).unwrap_or(UNKNOWN_SIZE);
            let nameless = (!has_name).then_some(object);
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

    /// The part of the object at an attachment point, of which the state knows `tracked`.
    fn part(
        &self,
        (point, tracked): (u32, &gapii_state::Attachment),
        object: Object,
        context: &Context,
        driver: &Gl,
    ) -> Part {
        let Object::Texture(texture) = object else { return Part::Renderbuffer };
        let target = context.group.lock().textures.get(texture).map_or(0, |it| it.target);
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
    pub fn attach(&self, emitter: &mut Emitter, it: &Attached) {
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
pub fn has_layer_command() -> bool {
    Gl::current().is_some_and(|driver| driver.is_at_least((3, 0), (3, 0)))
}

/// The context's command that attaches all layers of a level, and the driver's function.
pub fn layered() -> (u16, fn(u32, u32, u32, i32)) {
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
