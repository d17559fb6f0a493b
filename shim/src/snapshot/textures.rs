//! Textures: their storage, the pixels in it, and their parameters. Views are made of their originals. Missing are the
//! pixels of a level that cannot be read (`levels.rs`) or whose format is not known (`formats.rs`), samples of depth formats,
//! textures of targets that `binding_of` does not have, and destroyed pbuffers that are images of textures. Textures
//! that share storage with EGL images are in `images.rs`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use gapii_commands::constants::{
    EGL_BACK_BUFFER, GL_DEPTH_COMPONENT, GL_DEPTH_STENCIL, GL_MAX_3D_TEXTURE_SIZE,
    GL_MAX_CUBE_MAP_TEXTURE_SIZE, GL_MAX_TEXTURE_SIZE, GL_RGBA, GL_TEXTURE_1D, GL_TEXTURE_1D_ARRAY,
    GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY,
    GL_TEXTURE_3D, GL_TEXTURE_BINDING_1D, GL_TEXTURE_BINDING_1D_ARRAY, GL_TEXTURE_BINDING_2D,
    GL_TEXTURE_BINDING_2D_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_3D, GL_TEXTURE_BINDING_BUFFER,
    GL_TEXTURE_BINDING_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY,
    GL_TEXTURE_BINDING_EXTERNAL_OES, GL_TEXTURE_BINDING_RECTANGLE, GL_TEXTURE_BUFFER,
    GL_TEXTURE_BUFFER_DATA_STORE_BINDING, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY,
    GL_TEXTURE_CUBE_MAP_POSITIVE_X, GL_TEXTURE_DEPTH, GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_HEIGHT,
    GL_TEXTURE_INTERNAL_FORMAT, GL_TEXTURE_RECTANGLE, GL_TEXTURE_WIDTH, GL_UNPACK_ALIGNMENT,
    GL_UNSIGNED_BYTE,
};
use gapii_state::read_back::Driver as _;
use gapii_state::read_back::NEVER;
use gapii_state::{Context, ContextApi, Objects, Process, Ref, Surface, Texture, TextureImage};

use super::buffer_textures::Shown;
use super::buffers;
use super::emit::{Command, Emitter};
use super::formats::{self, Layout};
use super::found::Found;
use super::image_layer::{Image, Of, has_layers};
use super::image_storages::{self, Holder, Object};
use super::levels::level_integer;
use super::owed::Uploaded;
use super::samples::{self, Multisampled};
use super::sibling::Sibling;
use super::texture_parameters::{Has, Parameters};
use super::{gl, identity, refusals, texel_buffers};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// A texture as the shim knows it.
pub struct Known {
    /// In the stream.
    pub name: u32,
    pub target: u32,
    pub immutable_levels: i32,
    /// With target, or face of a cube map, and level.
    pub images: Vec<(u32, i32, TextureImage)>,
    /// Of a buffer texture.
    buffer: Shown,
    view: Option<View>,
    /// The pbuffer whose color buffer is the image of level 0; none for another texture.
    surface: Ref<Surface>,
}

/// The part of another texture's storage that a texture is a view of.
struct View {
    original: Ref<Texture>,
    /// Name of the original in the stream.
    name: u32,
    /// First level, number of levels, first layer, number of layers.
    part: [i32; 4],
}

/// Whether the pixels of a texture are described with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pixels {
    Described,
    /// Only the sizes and formats of its images.
    LeftToOthers,
}

impl Known {
    /// The texture may be nameless.
    pub fn of(textures: &Objects<Texture>, object: Ref<Texture>) -> Option<Self> {
        let texture = textures.get(object)?;
        let viewed = texture.view;
        let view = viewed.original.is_some().then(|| View {
            original: viewed.original,
            name: identity::name(textures, viewed.original),
            part: [viewed.level, viewed.levels, viewed.layer, viewed.layers],
        });
        Some(Self {
            name: identity::name(textures, object),
            target: texture.target,
            immutable_levels: texture.immutable_levels,
            images: images_of(&texture.images),
            buffer: Shown::of(texture),
            view,
            surface: texture.surface,
        })
    }

    /// The same texture under another name in the stream.
    pub fn named(self, name: u32) -> Self {
        Self { name, ..self }
    }

    /// The images, the last level first. In this order drivers give all levels one storage, as a draw or glGenerateMipmap
    /// does. If the storage of level 0 is replaced later, an EGL image that was made of it loses the texture.
    pub fn smallest_first(&self) -> impl Iterator<Item = &(u32, i32, TextureImage)> {
        self.images.iter().rev()
    }

    /// Whether it has more than one image or layer.
    pub fn has_several_layers(&self) -> bool {
        let layers = |(.., image): &(u32, i32, TextureImage)| layers_of(self.target, image);
        self.images.iter().map(layers).sum::<i32>() > 1
    }

    /// The texture's target, or the first face of a cube map.
    pub fn first_face(&self) -> u32 {
        match self.target {
            GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X,
            target => target,
        }
    }

    /// Whether it is a view of a texture that has its name, with which the stream has the pixels.
    pub fn is_view_of_named(&self, context: &Context) -> bool {
        let original = self.original();
        identity::has_name(&context.group.lock().textures, original)
    }

    /// Whether it is a view that does not begin with the first level and layer. In Mesa 22.3 a blit from a framebuffer that
    /// has it reads those of the texture (`st_BlitFramebuffer`).
    pub fn is_inner_view(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.part[0] > 0 || view.part[2] > 0)
    }

    /// Whether EGL images share its storage, or the storage of one of its images.
    pub fn is_shared(&self) -> bool {
        self.images.iter().any(|(.., image)| image.shared != 0)
    }

    /// The texture that it is a view of; none if it is no view.
    pub fn original(&self) -> Ref<Texture> {
        self.view.as_ref().map(|view| view.original).unwrap_or_default()
    }

    /// Binds a nameless texture to an EGL image of the storage that it shares. Returns false if it has storage of its own,
    /// or cannot be bound.
    fn bind_to_image(
        &self,
        emitter: &mut Emitter,
        process: &Process,
        context: &Context,
        object: Ref<Texture>,
    ) -> bool {
        let shared = self.images.iter().map(|(.., image)| image.shared).find(|it| *it != 0);
        let object = Object::Texture(object);
        let holder = shared.and_then(|it| Holder::find(process, context, it, object));
        let Some(holder) = holder else { return false };
        let is_bindable = matches!(&self.images[..], [(face, 0, _)] if *face == self.target)
            && !has_layers(self.target);
        if !is_bindable {
            // Only a texture that is made before the image can have other images as well.
            emitter.leave_out("which EGL image a deleted texture shares its storage with");
            return false;
        }
        holder.with_image(emitter, |emitter, image| {
            let is_immutable = self.immutable_levels > 0;
            image_storages::bind_to_texture(emitter, self.name, (self.target, is_immutable), image);
        });
        true
    }

    /// Size and format of the image at a target, or face of a cube map, and level.
    pub fn image(&self, face: u32, level: i32) -> Option<TextureImage> {
        let found = self.images.iter().find(|(target, at, _)| (*target, *at) == (face, level));
        found.map(|(.., image)| *image)
    }
}

/// The sentence for images of textures with the name 0 that are missing.
pub const DEFAULT_IMAGES: &str = "the images of textures with the name 0";
/// Targets of textures with the name 0 in OpenGL ES, the target of their images that is asked about, and the longest side.
const DEFAULT_TARGETS: [(u32, u32, u32); 4] = [
    (GL_TEXTURE_2D, GL_TEXTURE_2D, GL_MAX_TEXTURE_SIZE),
    (GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_POSITIVE_X, GL_MAX_CUBE_MAP_TEXTURE_SIZE),
    (GL_TEXTURE_3D, GL_TEXTURE_3D, GL_MAX_3D_TEXTURE_SIZE),
    (GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_ARRAY, GL_MAX_TEXTURE_SIZE),
];

/// Describes the textures of a share group.
pub fn describe(
    emitter: &mut Emitter,
    (process, context): (&Process, &Context),
    has: Has,
    sibling: Option<&Sibling>,
) {
    let viewed_by_deleted = image_storages::viewed(process, context);
    let (mut known, held) = {
        let group = context.group.lock();
        let textures = &group.textures;
        let all =
            textures.named().filter_map(|(object, _)| Some((object, Known::of(textures, object)?)));
        let (shared, own): (Vec<_>, Vec<_>) = all.partition(|(_, texture)| texture.is_shared());
        // Those of which an EGL image has a view are described with the image.
        let viewed: Vec<_> = shared.iter().map(|(_, texture)| texture.original()).collect();
        let own = own
            .into_iter()
            .filter(|(object, _)| !viewed.contains(object) && !viewed_by_deleted.contains(object));
        let known = own.map(|(_, texture)| texture).collect::<Vec<_>>();
        let held = group.textures.named().map(|(_, texture)| texture.buffer.buffer);
        (known, buffers::nameless(&group, held))
    };
    if let Some(sibling) = sibling {
        follow_driver(&mut known, sibling);
        for texture in known.iter_mut().filter(|it| it.target == GL_TEXTURE_BUFFER) {
            texture.buffer = texture.buffer.asked(context, sibling, texture.name);
        }
    }
    buffers::describe_nameless(emitter, context, held, |buffer, found| {
        texel_buffers::read(context, sibling?, buffer, found)
    });
    // Pixels have no gaps. The context's own pixel parameters are set when the context is described.
    emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
    leave_out_sampling(emitter, process, context, &known);
    let (views, originals): (Vec<_>, Vec<_>) = known.iter().partition(|it| it.view.is_some());
    let mut describing = Describing { emitter, has, sibling, context: Some(context) };
    for texture in originals {
        describing.emitter.make(GL_GEN_TEXTURES, texture.name);
        describing.texture(texture, Pixels::Described);
    }
    for texture in views {
        describing.emitter.make(GL_GEN_TEXTURES, texture.name);
        describing.view(texture);
    }
}

/// Leaves out images that the driver does not have, and gives the others the sizes that it has: it may have refused the
/// command that the state has followed.
fn follow_driver(textures: &mut [Known], sibling: &Sibling) {
    let asked: Vec<_> = textures
        .iter()
        .map(|texture| {
            let images = texture.images.iter().map(|(face, level, _)| (*face, *level));
            (texture.target, texture.name, images.collect::<Vec<_>>())
        })
        .collect();
    let answers = sibling.ask(move |_| {
        if !Gl::of_thread()?.is_at_least((3, 1), (1, 0)) {
            return None;
        }
        let answers = asked.iter().map(|(target, name, images)| {
            if images.is_empty() || binding_of(*target).is_none() {
                return Vec::new();
            }
            gl::bind_texture(*target, *name);
            let ask = |face, level| LEVEL.map(|value| level_integer(face, level, value));
            let answers = images.iter().map(|(face, level)| ask(*face, *level)).collect();
            gl::bind_texture(*target, 0);
            answers
        });
        Some(answers.collect::<Vec<Vec<[i32; 4]>>>())
    });
    for (texture, answers) in textures.iter_mut().zip(answers.into_iter().flatten()) {
        let mut answers = answers.into_iter();
        let is_own = texture.view.is_none() && texture.surface.is_none();
        texture.images.retain_mut(|(.., image)| match answers.next() {
            Some([0, ..]) => false,
            Some(answer) => {
                if is_own {
                    follow_level(image, answer);
                }
                true
            }
            None => true,
        });
    }
}

/// Values of an image that the driver is asked for.
const LEVEL: [u32; 4] =
    [GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH, GL_TEXTURE_INTERNAL_FORMAT];

/// Gives an image the size and format that the driver has, if the sizes differ, and the compressed format that it chose.
fn follow_level(image: &mut TextureImage, [width, height, depth, format]: [i32; 4]) {
    if formats::is_generic(image.format) {
        image.format = format.cast_unsigned();
    }
    if [image.width, image.height, image.depth] != [width, height, depth] {
        let format = format.cast_unsigned();
        *image = TextureImage { width, height, depth, format, pixel_type: 0, ..*image };
    }
}

/// Whether the driver has no such level of the bound texture. `None` before OpenGL ES 3.1, and for targets about which
/// it cannot be asked. In a context of the shim's own.
pub fn lacks_level(face: u32, level: i32) -> Option<bool> {
    let can_ask = face != GL_TEXTURE_EXTERNAL_OES && Gl::of_thread()?.is_at_least((3, 1), (1, 0));
    can_ask.then(|| level_integer(face, level, GL_TEXTURE_WIDTH) == 0)
}

/// Returns the texture that the context has bound to a target of the active unit. `None` if it cannot be bound again, because its
/// name is deleted.
pub fn rebindable(context: &Context, target: u32) -> Option<u32> {
    let bound = gl::integer(binding_of(target)?) as u32;
    let unit = context.texture_units.get(context.active_texture as usize);
    let tracked = unit.and_then(|unit| gapii_state::At::at(&unit.bindings, target)).copied();
    let group = context.group.lock();
    let named = group.textures.find(u64::from(bound));
    (bound == 0 || tracked == Some(named) && named.is_some()).then_some(bound)
}

/// Lists the images of textures with the name 0 in a context of OpenGL ES: no framebuffer can have them attached, and no other
/// context can read them.
/// Drivers of OpenGL ES 3.1 and later tell whether there are any; below that, the state knows whether the program has defined one.
pub fn leave_out_default(emitter: &mut Emitter, context: &Context, has: Has) {
    if context.api != ContextApi::Es {
        return;
    }
    if !has.is((3, 1), NEVER) {
        if context.has_default_images {
            emitter.leave_out(DEFAULT_IMAGES);
        }
        return;
    }
    let describing = Describing { emitter, has, sibling: None, context: Some(context) };
    let has_images = |(target, face, longest): (u32, u32, u32)| {
        let Some(bound) = describing.rebindable(target) else { return false };
        gl::bind_texture(target, 0);
        // A level that no texture can have would be an error of the program.
        let levels = gl::integer(longest).max(1).ilog2() as i32;
        let has_any = (0..=levels).any(|level| level_integer(face, level, GL_TEXTURE_WIDTH) > 0);
        gl::bind_texture(target, bound);
        has_any
    };
    let has_buffer = || {
        let target = GL_TEXTURE_BUFFER;
        let Some(bound) = describing.rebindable(target).filter(|_| has.is((3, 2), NEVER)) else {
            return false;
        };
        gl::bind_texture(target, 0);
        let buffer = level_integer(target, 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING);
        gl::bind_texture(target, bound);
        buffer != 0
    };
    if DEFAULT_TARGETS.into_iter().any(has_images) || has_buffer() {
        describing.emitter.leave_out(DEFAULT_IMAGES);
    }
}

/// Binds the color buffers of pbuffers to the textures of which they are the images. The pbuffers are described already.
pub fn bind_surfaces(emitter: &mut Emitter, process: &Process, context: &Context) {
    let bound: Vec<(u32, u32, Ref<Surface>)> = {
        let group = context.group.lock();
        let bound = group.textures.named().filter(|(_, it)| it.surface.is_some());
        bound.map(|(object, it)| (object.name() as u32, it.target, it.surface)).collect()
    };
    for (name, target, surface) in bound {
        emitter.command(GL_BIND_TEXTURE).arg(target).arg(name).done();
        bind_surface(emitter, process, name, surface);
    }
}

/// Binds the color buffer of a pbuffer to the texture that is bound in the replay, `name`.
fn bind_surface(emitter: &mut Emitter, process: &Process, name: u32, surface: Ref<Surface>) {
    let display = {
        let state = process.lock();
        let is_there = state.surfaces.find(surface.name()) == surface;
        state.surfaces.get(surface).filter(|_| is_there).map(|it| it.display)
    };
    let Some(display) = display else {
        emitter.leave_out_of("a destroyed pbuffer as the image of texture", name);
        return;
    };
    let command = emitter.command(EGL_BIND_TEX_IMAGE).arg(display).arg(surface.name());
    command.arg(EGL_BACK_BUFFER as i32).returns(1_u32, []);
}

/// Makes a nameless texture under its spare name, unless the stream has it already. Returns whether it was made without
/// pixels that it has, which are left to the caller.
///
/// `holder` is `None` where nothing depends on the texture's parameters.
pub fn make_nameless(
    emitter: &mut Emitter,
    (process, context): (&Process, &Context),
    has: Has,
    object: Ref<Texture>,
    holder: Option<&InUnit<'_>>,
) -> bool {
    refusals::unbind_if_refused(process, context, Object::Texture(object));
    let texture = Known::of(&context.group.lock().textures, object);
    let Some(mut texture) = texture else { return false };
    if let Some(holder) = holder.filter(|_| texture.target == GL_TEXTURE_BUFFER) {
        texture.buffer = texture.buffer.asked_where_bound(context);
        let shown = texture.buffer;
        let held = buffers::nameless(&context.group.lock(), std::iter::once(shown.buffer()));
        buffers::describe_nameless(emitter, context, held, |_, found| {
            (holder.read_buffer)(shown, found)
        });
    }
    let is_new = identity::is_first(context, identity::Kind::Texture, object);
    let mut lacks_pixels = is_new;
    if is_new {
        emitter.make(GL_GEN_TEXTURES, texture.name);
        lacks_pixels = !texture.bind_to_image(emitter, process, context, object);
    }
    if lacks_pixels {
        let sibling = None;
        let mut describing = Describing { emitter, has, sibling, context: Some(context) };
        describing.make(&texture, Pixels::LeftToOthers);
        if texture.surface.is_some() {
            bind_surface(emitter, process, texture.name, texture.surface);
        }
    }
    if let Some(InUnit { parameters, .. }) = holder {
        emitter.command(GL_BIND_TEXTURE).arg(texture.target).arg(texture.name).done();
        parameters.describe(emitter, texture.target);
    }
    lacks_pixels && !texture.images.is_empty() && !texture.is_view_of_named(context)
}

/// A texture as the texture unit that holds it shows it.
pub struct InUnit<'a> {
    pub parameters: Parameters,
    /// Finds what a buffer texture shows of its buffer; `None` if it cannot be read.
    pub read_buffer: &'a dyn Fn(Shown, &mut Found) -> Option<()>,
}

fn images_of(images: &BTreeMap<u32, BTreeMap<i32, TextureImage>>) -> Vec<(u32, i32, TextureImage)> {
    let of_target = |(target, levels): (&u32, &BTreeMap<i32, TextureImage>)| {
        let target = *target;
        levels.iter().map(move |(level, image)| (target, *level, *image)).collect::<Vec<_>>()
    };
    // An upload that the driver refused, because the image did not exist, leaves an image without a format in the state.
    images.iter().flat_map(of_target).filter(|(.., image)| image.format != 0).collect()
}

/// Lists the textures of depth that may give shaders other components in the replay. A context of the compatibility profile makes them with
/// another GL_DEPTH_TEXTURE_MODE than one of the core profile, which can neither ask for it nor set it.
fn leave_out_sampling(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    known: &[Known],
) {
    let is_compatible = |other: &Context| {
        other.api == ContextApi::Compatibility && Arc::ptr_eq(&other.group, &context.group)
    };
    if context.api != ContextApi::Core || !process.contexts().idle().any(is_compatible) {
        return;
    }
    let has_depth = |(_, _, image): &(u32, i32, TextureImage)| {
        Layout::of(image.format, image.pixel_type)
            .is_some_and(|it| [GL_DEPTH_COMPONENT, GL_DEPTH_STENCIL].contains(&it.format))
    };
    for texture in known.iter().filter(|it| it.images.first().is_some_and(has_depth)) {
        emitter.leave_out_of("how shaders sample the depth of texture", texture.name);
    }
}

/// The query for the texture that is bound to a target; `None` for targets that are not described.
pub fn binding_of(target: u32) -> Option<u32> {
    Some(match target {
        GL_TEXTURE_2D => GL_TEXTURE_BINDING_2D,
        GL_TEXTURE_3D => GL_TEXTURE_BINDING_3D,
        GL_TEXTURE_2D_ARRAY => GL_TEXTURE_BINDING_2D_ARRAY,
        GL_TEXTURE_CUBE_MAP => GL_TEXTURE_BINDING_CUBE_MAP,
        GL_TEXTURE_CUBE_MAP_ARRAY => GL_TEXTURE_BINDING_CUBE_MAP_ARRAY,
        GL_TEXTURE_BUFFER => GL_TEXTURE_BINDING_BUFFER,
        GL_TEXTURE_2D_MULTISAMPLE => GL_TEXTURE_BINDING_2D_MULTISAMPLE,
        GL_TEXTURE_2D_MULTISAMPLE_ARRAY => GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
        GL_TEXTURE_EXTERNAL_OES => GL_TEXTURE_BINDING_EXTERNAL_OES,
        GL_TEXTURE_1D => GL_TEXTURE_BINDING_1D,
        GL_TEXTURE_1D_ARRAY => GL_TEXTURE_BINDING_1D_ARRAY,
        GL_TEXTURE_RECTANGLE => GL_TEXTURE_BINDING_RECTANGLE,
        _ => return None,
    })
}

/// Describes textures of one share group.
pub struct Describing<'a, 'r> {
    pub emitter: &'a mut Emitter<'r>,
    pub has: Has,
    /// Reads the group's pixels and parameters.
    pub sibling: Option<&'a Sibling>,
    /// The program's current context, if it is of the group.
    pub context: Option<&'a Context>,
}

impl Describing<'_, '_> {
    /// Describes a texture with storage of its own, whose name the stream has.
    pub fn texture(&mut self, texture: &Known, pixels: Pixels) {
        if texture.target == 0 {
            return;
        }
        if binding_of(texture.target).is_none() {
            self.emitter.leave_out_of("of a target that is not read, texture", texture.name);
            return;
        }
        self.emitter.command(GL_BIND_TEXTURE).arg(texture.target).arg(texture.name).done();
        // A driver may look at the parameters when it is given images.
        let parameters = self.parameters(texture);
        parameters.describe(self.emitter, texture.target);
        if texture.surface.is_none() {
            self.storage_and_pixels(texture, pixels);
        }
        parameters.describe_generation(self.emitter, texture.target);
    }

    /// Describes a texture without its parameters.
    pub fn make(&mut self, texture: &Known, pixels: Pixels) {
        if texture.view.is_some() {
            self.make_view(texture);
            self.emitter.command(GL_BIND_TEXTURE).arg(texture.target).arg(texture.name).done();
        } else if binding_of(texture.target).is_some() {
            self.emitter.command(GL_BIND_TEXTURE).arg(texture.target).arg(texture.name).done();
            self.storage_and_pixels(texture, pixels);
        }
    }

    /// Describes a view. The pixels are those of the original, which is described with them if it has its name.
    fn view(&mut self, texture: &Known) {
        let is_alone = self.make_view(texture);
        self.emitter.command(GL_BIND_TEXTURE).arg(texture.target).arg(texture.name).done();
        let parameters = self.parameters(texture);
        parameters.describe(self.emitter, texture.target);
        if is_alone {
            self.pixels(texture);
        }
        parameters.describe_generation(self.emitter, texture.target);
    }

    /// Returns whether the original is nameless, so that its pixels are described with the views.
    fn make_view(&mut self, texture: &Known) -> bool {
        let (Some(view), Some(context)) = (&texture.view, self.context) else { return false };
        let (is_named, original) = {
            let group = context.group.lock();
            let textures = &group.textures;
            let is_named = textures.find(view.original.name()) == view.original;
            (is_named, Known::of(textures, view.original))
        };
        let Some(original) = original else {
            self.emitter.leave_out_of("the storage, deleted long ago, of view", texture.name);
            return false;
        };
        if !is_named && identity::is_first(context, identity::Kind::Texture, view.original) {
            self.emitter.make(GL_GEN_TEXTURES, original.name);
            self.make(&original, Pixels::LeftToOthers);
            // A texture unit may hold the original, too, and lead to images that no view has.
            identity::note_part(context, identity::Kind::Texture, view.original);
        }
        self.view_of_described(texture, view);
        !is_named
    }

    /// Makes a view of a texture that the stream has.
    fn view_of_described(&mut self, texture: &Known, view: &View) {
        let format = texture.images.first().map_or(0, |(.., image)| image.format);
        let command =
            self.emitter.command(self.has.view_command()).arg(texture.name).arg(texture.target);
        let command = command.arg(view.name).arg(format);
        view.part.into_iter().fold(command, |command, number| command.arg(number)).done();
    }

    /// Describes a view whose original the stream has with its pixels.
    pub fn only_view(&mut self, texture: &Known) {
        self.view_and_then(texture, |_| ());
    }

    fn view_and_then(&mut self, texture: &Known, fill: impl FnOnce(&mut Self)) {
        self.bare_view(texture);
        self.emitter.command(GL_BIND_TEXTURE).arg(texture.target).arg(texture.name).done();
        let parameters = self.parameters(texture);
        parameters.describe(self.emitter, texture.target);
        fill(self);
        parameters.describe_generation(self.emitter, texture.target);
    }

    /// [`Self::only_view`] with the pixels of the view, for one whose original the stream has without them.
    pub fn view_with_pixels(&mut self, texture: &Known) {
        self.view_and_then(texture, |describing| describing.pixels(texture));
    }

    /// [`Self::only_view`] without parameters.
    pub fn bare_view(&mut self, texture: &Known) {
        if let Some(view) = &texture.view {
            self.view_of_described(texture, view);
        }
    }

    /// The parameters of a texture.
    fn parameters(&mut self, texture: &Known) -> Parameters {
        let (name, target, has) = (texture.name, texture.target, self.has);
        let ask = move || {
            gl::bind_texture(target, name);
            Parameters::of_bound(target, has)
        };
        if let Some(sibling) = self.sibling {
            let asked = sibling.ask(move |_| {
                let parameters = ask();
                gl::bind_texture(target, 0);
                Some(parameters)
            });
            if let Some(parameters) = asked {
                return parameters;
            }
        } else if let Some(bound) = self.rebindable(target) {
            let parameters = ask();
            gl::bind_texture(target, bound);
            return parameters;
        }
        self.emitter.leave_out_of("the parameters of texture", name);
        Parameters::default()
    }

    /// As [`rebindable`]; `None` also where no context is given.
    fn rebindable(&self, target: u32) -> Option<u32> {
        rebindable(self.context?, target)
    }

    /// Describes storage and pixels of the texture that is bound in the replay.
    fn storage_and_pixels(&mut self, texture: &Known, pixels: Pixels) {
        match texture.target {
            GL_TEXTURE_BUFFER => {
                let Some(context) = self.context else { return };
                return texture.buffer.describe(self.emitter, context, self.has);
            }
            GL_TEXTURE_2D_MULTISAMPLE | GL_TEXTURE_2D_MULTISAMPLE_ARRAY => {
                return self.samples(texture, pixels);
            }
            _ => {}
        }
        if texture.immutable_levels > 0 {
            self.storage(texture);
        }
        if pixels == Pixels::Described {
            return self.pixels(texture);
        }
        for (face, level, image) in texture.smallest_first() {
            if texture.immutable_levels == 0 {
                let whose = Whose { texture, face: *face, level: *level, image };
                match formats::block(image.format).is_some() || image.compressed_bytes > 0 {
                    false => self.define(&whose),
                    true => self.define_blocks(&whose, &mut Vec::new()),
                }
            }
        }
    }

    /// Describes the images of the texture that is bound in the replay: of an immutable texture the pixels, of another
    /// one the sizes as well.
    pub fn pixels(&mut self, texture: &Known) {
        for (face, level, image) in texture.smallest_first() {
            let whose = Whose { texture, face: *face, level: *level, image };
            match formats::block(image.format) {
                None if image.compressed_bytes > 0 => self.leave_out(&whose),
                None => self.image(&whose),
                Some(block) => self.blocks(&whose, block),
            }
        }
    }

    /// Describes the pixels of a part of a texture that the stream has, again.
    pub fn pixels_again(&mut self, texture: &Known, part: Attached) {
        self.emitter.command(GL_BIND_TEXTURE).arg(texture.target).arg(texture.name).done();
        let targets = [GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY];
        if targets.contains(&texture.target) {
            self.describe_samples(texture);
            return;
        }
        let is_attached =
            |face: u32, level: i32| part.level == level && part.face.is_none_or(|it| it == face);
        for (face, level, image) in &texture.images {
            if is_attached(*face, *level) {
                let whose = Whose { texture, face: *face, level: *level, image };
                // A layer that the image does not have can be attached, too.
                let end = whose.layers();
                let layers = part.layer.map_or(0..end, |layer| layer..end.min(layer + 1));
                // What cannot be read is listed already.
                let _ = self.fill(&whose, layers);
            }
        }
    }

    fn samples(&mut self, texture: &Known, pixels: Pixels) {
        let Some((_, _, image)) = texture.images.first() else { return };
        let is_array = texture.target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY;
        // OpenGL has them with storage that can be replaced, too.
        let is_mutable = self.has.is(NEVER, (3, 2)) && texture.immutable_levels == 0;
        let id = match is_array {
            false if is_mutable => GL_TEX_IMAGE2D_MULTISAMPLE,
            true if is_mutable => GL_TEX_IMAGE3D_MULTISAMPLE,
            false => GL_TEX_STORAGE2D_MULTISAMPLE,
            true if self.has.is((3, 2), (4, 3)) => GL_TEX_STORAGE3D_MULTISAMPLE,
            true => GL_TEX_STORAGE3D_MULTISAMPLE_OES,
        };
        let command = self.emitter.command(id).arg(texture.target).arg(image.samples);
        let command = command.arg(image.format).arg(image.width).arg(image.height);
        let command = if is_array { command.arg(image.depth) } else { command };
        command.arg(1_u8).done();
        if pixels == Pixels::Described && !self.describe_samples(texture) {
            self.emitter.leave_out_of("the samples of texture", texture.name);
        }
    }

    /// Returns false if the samples cannot be read.
    fn describe_samples(&mut self, texture: &Known) -> bool {
        let Some((_, _, image)) = texture.images.first() else { return true };
        let (name, target) = (texture.name, texture.target);
        let is_array = target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY;
        let layers = if is_array { image.depth } else { 1 };
        for layer in 0..layers {
            let whose = match is_array {
                true => samples::Whose::Layer(name, target, layer),
                false => samples::Whose::Texture(name, target),
            };
            let (width, height) = (image.width, image.height);
            let (format, samples) = (image.format, image.samples);
            let image = Multisampled { whose, format, samples, width, height };
            if !image.describe(self.emitter, self.sibling) {
                return false;
            }
        }
        true
    }

    fn storage(&mut self, texture: &Known) {
        let Some((_, _, image)) = texture.images.iter().find(|(_, level, _)| *level == 0) else {
            return;
        };
        let (target, sides) = (texture.target, Sides::of(texture.target));
        let id = sides.choose([GL_TEX_STORAGE1D, GL_TEX_STORAGE2D, GL_TEX_STORAGE3D]);
        let command = self.emitter.command(id).arg(target).arg(texture.immutable_levels);
        let command = command.arg(formats::of_storage(image.format, image.pixel_type));
        sides.size(command, image).done();
    }

    /// Defines a mutable image without pixels.
    fn define(&mut self, whose: &Whose<'_>) {
        let Whose { texture, face, level, image } = *whose;
        let layout = Layout::of(image.format, image.pixel_type);
        let (format, kind) =
            layout.map_or((GL_RGBA, GL_UNSIGNED_BYTE), |layout| (layout.format, layout.kind));
        let sides = Sides::of(texture.target);
        let id = sides.choose([GL_TEX_IMAGE1D, GL_TEX_IMAGE2D, GL_TEX_IMAGE3D]);
        let command = self.emitter.command(id).arg(face).arg(level).arg(image.format as i32);
        sides.size(command, image).arg(0_i32).arg(format).arg(kind).arg(0_u64).done();
    }

    fn image(&mut self, whose: &Whose<'_>) {
        if whose.texture.immutable_levels == 0 {
            self.define(whose);
        }
        if self.fill(whose, 0..whose.layers()).is_none() {
            self.leave_out(whose);
        }
    }

    /// Uploads layers of an image. `None` if one of them cannot be read.
    fn fill(&mut self, whose: &Whose<'_>, layers: Range<i32>) -> Option<()> {
        let Whose { texture, image, .. } = *whose;
        let (layout, sibling) = (Layout::of(image.format, image.pixel_type)?, self.sibling?);
        for layer in layers {
            let emitter = &mut *self.emitter;
            let at = At { face: whose.face, level: whose.level, layer };
            sibling.send_pixels(emitter, whose.layer(layer), layout, |emitter, pixels| {
                upload(emitter, texture.target, at, image, (layout, pixels));
            })?;
        }
        Some(())
    }

    /// An image in a compressed format.
    fn blocks(&mut self, whose: &Whose<'_>, block: (i32, i32, usize)) {
        let is_immutable = whose.texture.immutable_levels > 0;
        let mut all = Vec::new();
        for layer in 0..whose.layers() {
            let (emitter, image) = (&mut *self.emitter, whose.layer(layer));
            let read = |sibling: &Sibling| match is_immutable {
                true => sibling.send_blocks(emitter, image, block, |emitter, blocks| {
                    fill_with_blocks(emitter, whose, layer, blocks);
                }),
                false => sibling.with_blocks(image, block, |blocks| all.extend_from_slice(blocks)),
            };
            if self.sibling.and_then(read).is_none() {
                self.leave_out(whose);
                all.clear();
                break;
            }
        }
        if !is_immutable {
            self.define_blocks(whose, &mut all);
        }
    }

    /// Defines a mutable image in a compressed format. Without blocks its pixels are undefined.
    fn define_blocks(&mut self, whose: &Whose<'_>, blocks: &mut Vec<u8>) {
        let Whose { texture, face, level, image } = *whose;
        let has_layers = has_layers(texture.target);
        let id = if has_layers { GL_COMPRESSED_TEX_IMAGE3D } else { GL_COMPRESSED_TEX_IMAGE2D };
        let (bytes, uploaded) = match blocks.len() {
            0 => (image.compressed_bytes, Uploaded::at(0, 0)),
            bytes => (bytes as i32, self.emitter.uploaded(blocks)),
        };
        let command = self.emitter.command(id).arg(face).arg(level).arg(image.format);
        let command = command.arg(image.width).arg(image.height);
        let command = if has_layers { command.arg(image.depth) } else { command };
        let command = command.arg(0_i32).arg(bytes).arg(uploaded.address);
        command.uploaded(if has_layers { 8 } else { 7 }, uploaded).done();
    }

    fn leave_out(&mut self, whose: &Whose<'_>) {
        let (name, level) = (whose.texture.name, whose.level);
        self.emitter.leave_out_of(&format!("the pixels on level {level} of texture"), name);
    }
}

/// Uploads a layer of an immutable image in a compressed format to the texture that is bound in the replay.
fn fill_with_blocks(emitter: &mut Emitter, whose: &Whose<'_>, layer: i32, blocks: Uploaded) {
    let Whose { texture, face, level, image } = *whose;
    let has_layers = has_layers(texture.target);
    let id = match has_layers {
        true => GL_COMPRESSED_TEX_SUB_IMAGE3D,
        false => GL_COMPRESSED_TEX_SUB_IMAGE2D,
    };
    let command = emitter.command(id).arg(face).arg(level).arg(0_i32).arg(0_i32);
    let command = if has_layers { command.arg(layer) } else { command };
    let command = command.arg(image.width).arg(image.height);
    let command = if has_layers { command.arg(1_i32) } else { command };
    let command = command.arg(image.format).arg(blocks.len as i32).arg(blocks.address);
    command.uploaded(if has_layers { 10 } else { 8 }, blocks).done();
}

/// The part of a texture that is attached to a framebuffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attached {
    /// A face of a cube map, or the target of a texture without layers.
    pub face: Option<u32>,
    pub level: i32,
    /// `None` for all layers.
    pub layer: Option<i32>,
}

/// Place of a layer in the texture that is bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// A face of a cube map, or the texture's target.
    pub face: u32,
    pub level: i32,
    /// 0 for textures without layers.
    pub layer: i32,
}

/// Number of layers or slices of an image of a texture with this target.
pub fn layers_of(target: u32, image: &TextureImage) -> i32 {
    if has_layers(target) { image.depth } else { 1 }
}

/// Uploads the pixels of one layer to the texture that is bound to `target` in the replay.
pub fn upload(
    emitter: &mut Emitter,
    target: u32,
    at: At,
    image: &TextureImage,
    (layout, pixels): (Layout, Uploaded),
) {
    let sides = Sides::of(target);
    let id = sides.choose([GL_TEX_SUB_IMAGE1D, GL_TEX_SUB_IMAGE2D, GL_TEX_SUB_IMAGE3D]);
    let command = emitter.command(id).arg(at.face).arg(at.level).arg(0_i32);
    let (command, param) = match sides {
        Sides::One => (command.arg(image.width), 6),
        Sides::Two => (command.arg(0_i32).arg(image.width).arg(image.height), 8),
        Sides::Three => {
            let command = command.arg(0_i32).arg(at.layer).arg(image.width).arg(image.height);
            (command.arg(1_i32), 10)
        }
    };
    let command = command.arg(layout.format).arg(layout.kind).arg(pixels.address);
    command.uploaded(param, pixels).done();
}

/// Number of sides of an image in the commands for a target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    One,
    Two,
    Three,
}

impl Sides {
    /// Returns the number for a target.
    pub fn of(target: u32) -> Self {
        match target {
            GL_TEXTURE_1D => Self::One,
            target if has_layers(target) => Self::Three,
            _ => Self::Two,
        }
    }

    /// Chooses the command for as many sides.
    pub fn choose(self, [one, two, three]: [u16; 3]) -> u16 {
        match self {
            Self::One => one,
            Self::Two => two,
            Self::Three => three,
        }
    }

    /// The next arguments: the sides of an image.
    pub fn size<'e>(self, command: Command<'e>, image: &TextureImage) -> Command<'e> {
        let command = command.arg(image.width);
        match self {
            Self::One => command,
            Self::Two => command.arg(image.height),
            Self::Three => command.arg(image.height).arg(image.depth),
        }
    }
}

/// An image of a texture, and where it is.
struct Whose<'a> {
    texture: &'a Known,
    /// A face of a cube, or the texture's target.
    face: u32,
    level: i32,
    image: &'a TextureImage,
}

impl Whose<'_> {
    fn layers(&self) -> i32 {
        layers_of(self.texture.target, self.image)
    }

    fn layer(&self, layer: i32) -> Image {
        let (texture, target, level) = (self.texture.name, self.texture.target, self.level);
        let of = match has_layers(target) {
            true => Of::Layer { texture, target, level, layer },
            false => Of::Flat { texture, target, face: self.face, level },
        };
        let (width, height) = (self.image.width, self.image.height);
        Image { of, width, height, is_shared: self.image.shared != 0 }
    }
}
