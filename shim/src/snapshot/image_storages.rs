//! Storage that EGL images, textures and renderbuffers share: which objects have it, and of which object a replay makes
//! an EGL image, so that the others can be bound to it. Describes nothing but that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gapii_abi::spare_names;
use gapii_commands::constants;
use gapii_commands::constants::{
    EGL_GL_RENDERBUFFER, EGL_GL_TEXTURE_2D, EGL_GL_TEXTURE_3D, EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
    EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X, EGL_GL_TEXTURE_LEVEL, EGL_GL_TEXTURE_ZOFFSET,
    EGL_LINUX_DMA_BUF_EXT, GL_COLOR_BUFFER_BIT, GL_RENDERBUFFER, GL_TEXTURE_2D,
    GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, GL_TEXTURE_CUBE_MAP_POSITIVE_X,
    GL_TEXTURE_MAX_LEVEL,
};
use gapii_recorder::observe;
use gapii_state::{Context, Group, Image, Process, Ref, Renderbuffer, Texture, TextureImage};

use super::copied::point_and_mask;
use super::emit::Emitter;
use super::formats::{self, Layout};
use super::identity;
use super::image_handles::{self, Handle};
use super::image_layer::has_layers;
use super::like::Like;
use crate::generated::ids::*;
use crate::imports;

const EGL_NONE: i32 = constants::EGL_NONE as i32;
/// The initial value of `GL_TEXTURE_MAX_LEVEL`.
const MAX_LEVEL: i32 = 1000;
/// Spare name of a texture that is the root of a storage which only EGL images have.
pub const SPARE_ROOT: u32 = spare_names::FIRST + 0x20;
/// Spare name of a renderbuffer that is bound to an image, so that an image can be made of it.
pub const SPARE_BOUND: u32 = spare_names::FIRST + 0x20;

/// A texture or renderbuffer that shares storage.
pub struct Member {
    /// Index of its group.
    pub group: usize,
    pub name: u32,
    pub kind: Kind,
    /// Whether it is bound to an image of a bound renderbuffer.
    pub is_of_bound: bool,
    limits: Option<Limits>,
}

/// First and last level of a texture by its parameters, if they are not the initial ones. Drivers make no images of other
/// levels.
#[derive(Clone, Copy)]
pub struct Limits {
    target: u32,
    base: i32,
    max: i32,
}

impl Limits {
    fn of(texture: &Texture) -> Option<Self> {
        let limits =
            Self { target: texture.target, base: texture.base_level, max: texture.max_level };
        ((limits.base, limits.max) != (0, MAX_LEVEL)).then_some(limits)
    }

    /// Sets these parameters of a texture, or the initial ones.
    fn set(&self, emitter: &mut Emitter, texture: u32, is_initial: bool) {
        emitter.command(GL_BIND_TEXTURE).arg(self.target).arg(texture).done();
        // Drivers clamp the last level of an immutable texture to those from the base level on.
        let all =
            [(GL_TEXTURE_MAX_LEVEL, self.max, MAX_LEVEL), (GL_TEXTURE_BASE_LEVEL, self.base, 0)];
        for (name, value, initial) in all.into_iter().filter(|(_, value, initial)| value != initial)
        {
            let value = if is_initial { initial } else { value };
            emitter.command(GL_TEX_PARAMETERI).arg(self.target).arg(name).arg(value).done();
        }
    }
}

/// How an object can have the storage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A texture whose only image can be an EGL image: its target, whether it is immutable, and whether the program bound it to an
    /// image; otherwise images were made of it.
    Bindable { target: u32, is_immutable: bool, is_bound: bool },
    /// A level, a face or all layers of a level, of a texture with other images, or of a texture view.
    Source { face: u32, level: i32 },
    Renderbuffer {
        /// Whether the program bound it to an image; otherwise images were made of it.
        is_bound: bool,
    },
}

impl Kind {
    /// Whether it can be bound to an image.
    fn is_bindable(&self) -> bool {
        !matches!(self, Self::Source { .. })
    }

    /// Whether the program has bound it to an image.
    pub fn has_image(&self) -> bool {
        match self {
            Self::Bindable { is_bound, .. } | Self::Renderbuffer { is_bound } => *is_bound,
            Self::Source { .. } => false,
        }
    }

    /// Whether the program has bound it to an image, and can do so again.
    pub fn is_bound(&self) -> bool {
        self.has_image() && !matches!(self, Self::Bindable { is_immutable: true, .. })
    }

    /// Whether it is a renderbuffer.
    pub fn is_renderbuffer(&self) -> bool {
        matches!(self, Self::Renderbuffer { .. })
    }
}

/// The object of which a replay makes the image.
#[derive(Clone)]
pub struct Root {
    pub group: usize,
    pub name: u32,
    /// Target and attributes of eglCreateImageKHR.
    pub target: u32,
    pub attributes: Vec<i32>,
    /// It is made for the image, and deleted again.
    pub is_spare: bool,
    /// The deleted view that a spare object stands for; none for another one.
    pub view: Ref<Texture>,
    /// `None` for a renderbuffer, for a deleted view, and for a texture in a group without OpenGL ES 3.
    pub limits: Option<Limits>,
}

impl Root {
    /// A renderbuffer.
    pub fn of_renderbuffer(group: usize, name: u32) -> Self {
        let (attributes, view) = (list(&[]), Ref::NONE);
        let target = EGL_GL_RENDERBUFFER;
        Self { group, name, target, attributes, is_spare: false, view, limits: None }
    }

    /// A texture that has a name.
    fn of_member(member: &Member, target: u32, attributes: Vec<i32>) -> Self {
        let Member { group, name, limits, .. } = *member;
        Self { group, name, target, attributes, is_spare: false, view: Ref::NONE, limits }
    }

    /// A texture with the spare name.
    fn spare(group: usize, target: u32, attributes: Vec<i32>) -> Self {
        let (name, view, limits) = (SPARE_ROOT, Ref::NONE, None);
        Self { group, name, target, attributes, is_spare: true, view, limits }
    }

    /// Whether it is this object. A texture and a renderbuffer may have the same name.
    pub fn is(&self, member: &Member) -> bool {
        (self.group, self.name) == (member.group, member.name)
            && (self.target == EGL_GL_RENDERBUFFER) == member.kind.is_renderbuffer()
    }

    /// Makes an image of the object with the handle `image`.
    pub fn make_image(&self, emitter: &mut Emitter, display: u64, context: u64, image: u64) {
        if let Some(limits) = &self.limits {
            limits.set(emitter, self.name, true);
        }
        let list = &self.attributes;
        let command = emitter.command(EGL_CREATE_IMAGE_KHR).arg(display).arg(context);
        let command = command.arg(self.target).arg(u64::from(self.name)).arg(list.as_ptr());
        command.reads(observe::attributes_i32(list.as_ptr())).returns(image, []);
        if let Some(limits) = &self.limits {
            limits.set(emitter, self.name, false);
        }
    }
}

/// A storage that is shared.
#[derive(Default)]
pub struct Storage {
    pub members: Vec<Member>,
    pub handles: Vec<Handle>,
    /// Images of bound renderbuffers, destroyed ones included.
    of_bound: BTreeSet<Ref<Image>>,
    /// What is known of one of its images, destroyed ones included.
    pub image: Option<Image>,
    /// That image.
    pub object: Ref<Image>,
    /// Size and format.
    pub pixels: TextureImage,
    pub root: Option<Root>,
    /// The program has bound the root to an image. The driver may give a renderbuffer another format then, and a texture no
    /// mipmaps.
    pub is_root_bound: bool,
    /// A deleted view of a texture that has its name: index of the group, the view, and the face and level that have the
    /// storage.
    pub deleted_view: Option<(usize, Ref<Texture>, u32, i32)>,
}

impl Storage {
    /// Whether it is imported memory, of which images are made without an object of OpenGL ES.
    pub fn is_imported(&self) -> bool {
        self.image.as_ref().is_some_and(|image| image.target == EGL_LINUX_DMA_BUF_EXT)
    }

    /// Imports the memory of the image, with the handle `image`; names what is missing.
    pub fn import(&self, emitter: &mut Emitter, epoch: u64, image: u64) {
        let Some(known) = &self.image else { return };
        let pairs = known.attributes.iter();
        let mut list: Vec<i32> =
            pairs.flat_map(|(name, value)| [*name as i32, *value as i32]).collect();
        list.push(EGL_NONE);
        let missing = imports::describe(self.object, epoch, |planes| {
            let command = emitter.command(EGL_CREATE_IMAGE_KHR).arg(known.display).arg(0_u64);
            let command = command.arg(EGL_LINUX_DMA_BUF_EXT).arg(0_u64).arg(list.as_ptr());
            let command = command.reads(observe::attributes_i32(list.as_ptr()));
            let whole = planes
                .iter()
                .fold(command, |command, (address, len)| command.memory(*address, *len));
            whole.returns(image, []);
        });
        if let Err(sentence) = missing {
            emitter.leave_out(&sentence);
        }
    }

    /// Whether it holds depth or stencil.
    fn is_drawn_alone(&self) -> bool {
        let layout = Layout::of(self.pixels.format, self.pixels.pixel_type);
        layout.is_some_and(|layout| point_and_mask(layout).1 != GL_COLOR_BUFFER_BIT)
    }

    /// Whether the program has an image of it, or an object with a name that has it.
    pub fn is_described(&self) -> bool {
        !self.members.is_empty() || !self.handles.is_empty()
    }

    /// Whether the program has an image of a bound renderbuffer, or an object that is bound to one.
    pub fn needs_image_of_bound(&self) -> bool {
        self.handles.iter().any(|it| it.is_of_bound) || self.members.iter().any(|it| it.is_of_bound)
    }

    /// The spare handles of the images that a replay makes of it.
    pub fn spare_images(&self, number: u32) -> Vec<u64> {
        let is_needed =
            self.is_imported() || self.root.as_ref().is_some_and(|it| self.needs_image(it));
        let kinds = [(is_needed, false), (is_needed && self.needs_image_of_bound(), true)];
        let unnamed = kinds.into_iter().filter(|(is_needed, is_of_bound)| {
            *is_needed && image_handles::of_kind(&self.handles, *is_of_bound).is_empty()
        });
        unnamed.map(|(_, is_of_bound)| image_handles::spare_handle(number, is_of_bound)).collect()
    }

    /// The texture that is its root; `None` if the root is a renderbuffer, or made for the image.
    pub fn texture_of(&self, root: &Root) -> Option<&Member> {
        self.members.iter().filter(|it| !it.kind.is_renderbuffer()).find(|it| root.is(it))
    }

    /// Whether the program has an image of it, or an object besides the root, or has bound the root to an
    /// image of which this matters.
    pub fn needs_image(&self, root: &Root) -> bool {
        !self.handles.is_empty()
            || self.members.iter().any(|it| !root.is(it))
            || self.is_root_bound
            || self.needs_image_of_bound()
    }
}

/// A texture or renderbuffer, which may have lost its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Object {
    Texture(Ref<Texture>),
    Renderbuffer(Ref<Renderbuffer>),
}

impl Object {
    /// The image that it is bound to or was the source of.
    fn image(&self, context: &Context) -> Ref<Image> {
        let group = context.group.lock();
        let image = match *self {
            Self::Texture(it) => group.textures.get(it).map(|it| it.image),
            Self::Renderbuffer(it) => group.renderbuffers.get(it).map(|it| it.image),
        };
        image.unwrap_or(Ref::NONE)
    }

    /// Whether it is a renderbuffer that the program has bound to an image.
    fn is_bound(&self, context: &Context) -> bool {
        match *self {
            Self::Texture(_) => false,
            Self::Renderbuffer(it) => {
                let group = context.group.lock();
                group.renderbuffers.get(it).is_some_and(|it| it.is_bound)
            }
        }
    }
}

/// What has a storage in the stream already, so that a nameless object can share it.
pub enum Holder {
    /// An EGL image of the program.
    Image(u64),
    /// An object, of which an image is made for a moment.
    Object { display: u64, context: u64, image: u64, root: Root },
}

impl Holder {
    /// Finds what else the stream has of the storage of a nameless object. The context is current, and its share group
    /// is the object's. `None` if nothing else has it.
    pub fn find(process: &Process, context: &Context, shared: u32, object: Object) -> Option<Self> {
        if shared == 0 {
            return None;
        }
        let mut storages = storages_of_images(process).0;
        let groups = process.contexts().share_groups();
        for (at, (_, group)) in groups.iter().enumerate() {
            members_of(group, at, &mut storages);
        }
        // The stream has what was made for an image no longer.
        storages.values_mut().for_each(|storage| storage.deleted_view = None);
        let storage = storages.get(&shared);
        if let Some(storage) = storage
            && let Some(first) = storage.handles.first()
        {
            // Drivers that bind nothing to an image of depth or stencil do not show whether the object shares its storage.
            if storage.is_drawn_alone() && !object.is_bound(context) {
                return None;
            }
            let is_of_bound = storage.of_bound.contains(&object.image(context));
            let handle = storage.handles.iter().find(|it| it.is_of_bound == is_of_bound);
            return Some(Self::Image(handle.unwrap_or(first).image));
        }
        let named = storage.and_then(|storage| {
            let root = root_of(&storages, storage, 0)?;
            Some((groups.get(root.group)?.0, root))
        });
        let (of, mut root) =
            named.or_else(|| Some((context.handle, nameless_root(context, shared, object)?)))?;
        root.limits = root.limits.filter(|_| context.has((3, 0), (3, 0)));
        let image = image_handles::spare_handle(shared, false);
        Some(Self::Object { display: Like::of(process, of)?.display, context: of, image, root })
    }

    /// Has `bind` write the commands that bind an image.
    pub fn with_image(&self, emitter: &mut Emitter, bind: impl FnOnce(&mut Emitter, u64)) {
        match self {
            Self::Image(image) => bind(emitter, *image),
            Self::Object { display, context, image, root } => {
                root.make_image(emitter, *display, *context, *image);
                bind(emitter, *image);
                let command = emitter.command(EGL_DESTROY_IMAGE_KHR).arg(*display);
                command.arg(*image).returns(1_u32, []);
            }
        }
    }
}

/// A nameless object of the context's share group that the stream has and that has the storage, besides `object`.
fn nameless_root(context: &Context, shared: u32, object: Object) -> Option<Root> {
    let group = context.group.lock();
    let root = |name, target, level, limits| {
        let attributes = list_of_level(level);
        Root { group: 0, name, target, attributes, is_spare: false, view: Ref::NONE, limits }
    };
    let of_texture = || {
        let others = group.textures.deleted();
        let mut others = others.filter(|(it, _)| Object::Texture(*it) != object);
        others.find_map(|(it, texture)| {
            let images = texture.images.iter().flat_map(|(face, levels)| {
                levels.iter().map(move |(level, image)| (*face, *level, image))
            });
            let mut images = images.filter(|(.., image)| image.shared == shared);
            let (face, level, _) = images.next()?;
            let kind = identity::Kind::Texture;
            let name = identity::described_name(context, kind, &group.textures, it)?;
            Some(root(name, target_of(face), level, Limits::of(texture)))
        })
    };
    let of_renderbuffer = || {
        let others = group.renderbuffers.deleted();
        let mut others = others.filter(|(it, renderbuffer)| {
            renderbuffer.shared == shared && Object::Renderbuffer(*it) != object
        });
        others.find_map(|(it, _)| {
            let kind = identity::Kind::Renderbuffer;
            let name = identity::described_name(context, kind, &group.renderbuffers, it)?;
            Some(root(name, EGL_GL_RENDERBUFFER, 0, None))
        })
    };
    of_texture().or_else(of_renderbuffer)
}

/// The storages of all EGL images by their numbers, and the contexts that made the images which the program has.
pub fn storages_of_images(process: &Process) -> (BTreeMap<u32, Storage>, BTreeSet<u64>) {
    let mut storages: BTreeMap<u32, Storage> = BTreeMap::new();
    let mut creators = BTreeSet::new();
    let state = process.lock();
    for (object, image) in state.images.deleted().chain(state.images.named()) {
        if image.pixels.shared == 0 {
            continue;
        }
        let storage = storages.entry(image.pixels.shared).or_default();
        if state.images.find(object.name()) == object {
            let is_of_bound = image.is_of_bound;
            storage.handles.push(Handle { image: object.name(), is_of_bound });
            creators.insert(image.context);
        }
        if image.is_of_bound {
            storage.of_bound.insert(object);
        }
        storage.pixels = image.pixels;
        (storage.image, storage.object) = (Some(image.clone()), object);
    }
    (storages, creators)
}

/// Returns the object of which a replay makes the images of a storage. `groups` is the number of groups in which one can be
/// made for a moment. `None` if there is neither, and for imported memory.
pub fn root_of(
    storages: &BTreeMap<u32, Storage>,
    storage: &Storage,
    groups: usize,
) -> Option<Root> {
    if storage.is_imported() {
        return None;
    }
    let made = storage.layer_of(storages).or_else(|| storage.source());
    let made = made.or_else(|| storage.source_of_deleted_view());
    // A driver need not bind a texture to an image of depth or stencil. A renderbuffer that is bound to an image may have another format
    // than the one of which the image was made.
    let image = storage.image.as_ref();
    let is_of_renderbuffer = image.is_some_and(|image| image.target == EGL_GL_RENDERBUFFER);
    let object = if storage.is_drawn_alone() || is_of_renderbuffer {
        made.or_else(|| storage.renderbuffer()).or_else(|| storage.flat_texture())
    } else {
        made.or_else(|| storage.flat_texture()).or_else(|| storage.renderbuffer())
    };
    object.or_else(|| storage.spare_texture(groups))
}

/// The objects of which images of a storage can be made.
impl Storage {
    /// A texture that has other images, too: a layer of it has the storage.
    fn layer_of(&self, storages: &BTreeMap<u32, Storage>) -> Option<Root> {
        let image = self.image.as_ref()?;
        if image.source_storage == image.pixels.shared {
            return None;
        }
        // The image was made from it, and the texture has the storage still.
        let sources = &storages.get(&image.source_storage)?.members;
        let layer = image.attributes.get(&EGL_GL_TEXTURE_ZOFFSET).map_or(0, |layer| *layer as i32);
        sources.iter().find_map(|source| match source.kind {
            Kind::Source { level, .. } => {
                let attributes = [(EGL_GL_TEXTURE_LEVEL, level), (EGL_GL_TEXTURE_ZOFFSET, layer)];
                Some(Root::of_member(source, EGL_GL_TEXTURE_3D, list(&attributes)))
            }
            _ => None,
        })
    }

    /// A texture of which a level or a face has the storage.
    fn source(&self) -> Option<Root> {
        self.members.iter().find_map(|member| match member.kind {
            Kind::Source { face, level } => {
                Some(Root::of_member(member, target_of(face), list_of_level(level)))
            }
            _ => None,
        })
    }

    /// A texture in place of a deleted view. Textures that are bound to the image have storage of this view's original.
    fn source_of_deleted_view(&self) -> Option<Root> {
        let (group, view, face, level) = self.deleted_view?;
        Some(Root { view, ..Root::spare(group, target_of(face), list_of_level(level)) })
    }

    /// A texture whose only image is the storage. One that no image is bound to is preferred.
    fn flat_texture(&self) -> Option<Root> {
        // The texture that an image of an unsized format was made of was no immutable one (GL_EXT_EGL_image_storage).
        let pixels = self.pixels;
        let is_unsized = formats::of_storage(pixels.format, pixels.pixel_type) != pixels.format;
        let is_flat = |it: &&Member| match it.kind {
            Kind::Bindable { target: GL_TEXTURE_2D, is_immutable, .. } => {
                !is_immutable || !is_unsized || self.handles.is_empty()
            }
            _ => false,
        };
        let flat = self.members.iter().filter(is_flat);
        let first = flat.min_by_key(|it| (it.is_of_bound, it.kind.is_bound()))?;
        Some(Root::of_member(first, EGL_GL_TEXTURE_2D, list(&[])))
    }

    fn renderbuffer(&self) -> Option<Root> {
        let it = self.members.iter().find(|it| it.kind.is_renderbuffer())?;
        Some(Root::of_renderbuffer(it.group, it.name))
    }

    /// A texture that is made for a moment, if there is a group for it.
    fn spare_texture(&self, groups: usize) -> Option<Root> {
        let group = self.members.first().map_or(0, |member| member.group);
        (group < groups).then(|| Root::spare(group, EGL_GL_TEXTURE_2D, list(&[])))
    }
}

/// Adds the members that a group has. Returns whether it has any.
pub fn members_of(group: &Group, at: usize, storages: &mut BTreeMap<u32, Storage>) -> bool {
    let group = group.lock();
    let mut has_members = false;
    let mut add = |pixels: &TextureImage, name: u32, kind: Kind, image: Ref<Image>, limits| {
        let storage = storages.entry(pixels.shared).or_default();
        storage.pixels = *pixels;
        let is_of_bound = kind.is_bindable() && storage.of_bound.contains(&image);
        storage.members.push(Member { group: at, name, kind, is_of_bound, limits });
        has_members = true;
    };
    for (object, texture) in group.textures.named() {
        let name = object.name() as u32;
        for (face, levels) in &texture.images {
            for (level, image) in levels.iter().filter(|(_, image)| image.shared != 0) {
                let kind = kind_of(texture, *face, *level);
                add(image, name, kind, texture.image, Limits::of(texture));
            }
        }
    }
    for (object, it) in group.renderbuffers.named().filter(|(_, it)| it.shared != 0) {
        let kind = Kind::Renderbuffer { is_bound: it.is_bound };
        let bound_to = if it.is_bound { it.image } else { Ref::NONE };
        add(&pixels_of(it), object.name() as u32, kind, bound_to, None);
    }
    let textures = &group.textures;
    for (object, texture) in textures.deleted() {
        if !identity::has_name(textures, texture.view.original) {
            continue;
        }
        for (face, levels) in &texture.images {
            for (level, image) in levels.iter().filter(|(_, image)| image.shared != 0) {
                if let Some(storage) = storages.get_mut(&image.shared) {
                    storage.deleted_view = Some((at, object, *face, *level));
                }
            }
        }
    }
    has_members
}

/// The textures of the context's share group that are described with EGL images, because an image was made of a view of
/// them that is deleted.
pub fn viewed(process: &Process, context: &Context) -> BTreeSet<Ref<Texture>> {
    let mut storages = storages_of_images(process).0;
    if storages.is_empty() {
        return BTreeSet::new();
    }
    let groups = process.contexts().share_groups();
    for (at, (_, group)) in groups.iter().enumerate() {
        members_of(group, at, &mut storages);
    }
    let is_here = |root: &Root| {
        groups.get(root.group).is_some_and(|(_, group)| Arc::ptr_eq(group, &context.group))
    };
    let described = storages.values().filter(|storage| storage.is_described());
    let roots = described.filter_map(|storage| root_of(&storages, storage, groups.len()));
    let views: Vec<_> = roots.filter(is_here).map(|root| root.view).collect();
    let group = context.group.lock();
    views.into_iter().filter_map(|view| Some(group.textures.get(view)?.view.original)).collect()
}

fn kind_of(texture: &Texture, face: u32, level: i32) -> Kind {
    let images: usize = texture.images.values().map(BTreeMap::len).sum();
    let has_layers = has_layers(texture.target);
    let is_view = texture.view.original.is_some();
    if images == 1 && level == 0 && face == texture.target && !has_layers && !is_view {
        let (is_immutable, is_bound) = (texture.immutable_levels > 0, texture.is_bound);
        return Kind::Bindable { target: face, is_immutable, is_bound };
    }
    Kind::Source { face, level }
}

fn pixels_of(it: &Renderbuffer) -> TextureImage {
    TextureImage {
        width: it.width,
        height: it.height,
        format: it.format,
        samples: it.samples,
        shared: it.shared,
        ..TextureImage::default()
    }
}

/// What EGL calls the target of an image.
fn target_of(face: u32) -> u32 {
    match face {
        GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => {
            let target = EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_X + face - GL_TEXTURE_CUBE_MAP_POSITIVE_X;
            debug_assert!(target <= EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z);
            target
        }
        GL_TEXTURE_2D => EGL_GL_TEXTURE_2D,
        _ => EGL_GL_TEXTURE_3D,
    }
}

/// The attributes of an image of this level.
fn list_of_level(level: i32) -> Vec<i32> {
    if level == 0 { list(&[]) } else { list(&[(EGL_GL_TEXTURE_LEVEL, level)]) }
}

fn list(attributes: &[(u32, i32)]) -> Vec<i32> {
    let mut list: Vec<i32> =
        attributes.iter().flat_map(|(name, value)| [*name as i32, *value]).collect();
    list.push(EGL_NONE);
    list
}

/// Makes an EGL image the only image of a texture that the stream has.
pub fn bind_to_texture(
    emitter: &mut Emitter,
    name: u32,
    (target, is_immutable): (u32, bool),
    image: u64,
) {
    emitter.command(GL_BIND_TEXTURE).arg(target).arg(name).done();
    match is_immutable {
        false => {
            emitter.command(GL_EGL_IMAGE_TARGET_TEXTURE2D_OES).arg(target).arg(image).done();
        }
        true => {
            let command = emitter.command(GL_EGL_IMAGE_TARGET_TEX_STORAGE_EXT).arg(target);
            command.arg(image).arg(0_u64).reads(observe::none()).done();
        }
    }
}

/// Makes an EGL image the storage of a renderbuffer that the stream has.
pub fn bind_to_renderbuffer(emitter: &mut Emitter, name: u32, image: u64) {
    emitter.command(GL_BIND_RENDERBUFFER).arg(GL_RENDERBUFFER).arg(name).done();
    let id = GL_EGL_IMAGE_TARGET_RENDERBUFFER_STORAGE_OES;
    emitter.command(id).arg(GL_RENDERBUFFER).arg(image).done();
}
