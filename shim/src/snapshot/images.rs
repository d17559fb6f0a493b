//! EGL images, and the textures and renderbuffers that share storage with them, in all share groups of the process. The
//! first thread that describes anything describes all of them. An image of imported memory is imported again, with the present
//! bytes. Missing are images of other memory that belongs to no texture or renderbuffer, images in a process without a context,
//! and the pixels of an image that no texture can be made of. An image whose handle was destroyed has a spare handle
//! (0xF0000000 and up) for that time.
//!
//! The objects are described in spare contexts of their groups: each storage is made once, and no group has to wait for
//! another one. Of the objects that share a storage one is its *root*: a replay makes it with its pixels, and makes the
//! EGL image from it. The other objects are bound to the image.
//!
//! The descriptions of the groups pass over these objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gapii_commands::constants;
use gapii_commands::constants::{
    EGL_GL_RENDERBUFFER, EGL_GL_TEXTURE_3D, GL_RENDERBUFFER, GL_TEXTURE_2D, GL_UNPACK_ALIGNMENT,
};
use gapii_state::{Group, Process, Ref, Texture, Thread};

use super::egl::contexts_of_group;
use super::emit::Emitter;
use super::formats::{self, Layout};
use super::image_handles;
use super::image_layer::{self, Of};
use super::image_storages::{
    self, Kind, Member, Root, SPARE_BOUND, SPARE_ROOT, Storage, members_of, root_of,
    storages_of_images,
};
use super::like::Like;
use super::owed::Uploaded;
use super::renderbuffers;
use super::sibling::Sibling;
use super::spare_context::SpareContext;
use super::texture_parameters::{Has, Parameters};
use super::textures::{At, Describing, Known, Pixels, lacks_level, upload};
use super::{gl, identity, refusals, spare};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const EGL_CONTEXT_MAJOR_VERSION: u32 = constants::EGL_CONTEXT_MAJOR_VERSION;
const EGL_CONTEXT_MINOR_VERSION: u32 = constants::EGL_CONTEXT_MINOR_VERSION;

/// Describes the process' EGL images, and all objects that share storage with them.
pub fn describe(emitter: &mut Emitter, thread: &Thread, epoch: u64) {
    let process = &*thread.process;
    let mut shared = Shared::of(thread, epoch);
    shared.leave_out_foreign(emitter, process);
    if shared.storages.is_empty() {
        return;
    }
    shared.choose_roots(emitter);
    shared.import(emitter, epoch);
    let spare: Vec<Option<SpareContext>> = (0..)
        .zip(&shared.groups)
        .map(|(number, group)| SpareContext::make(emitter, process, group.context, number))
        .collect();
    let in_groups = |emitter: &mut Emitter, each: &dyn Fn(&mut Emitter, usize, &OfGroup)| {
        for (at, (group, spare)) in shared.groups.iter().zip(&spare).enumerate() {
            if let Some(spare) = spare {
                spare.make_current(emitter);
                each(emitter, at, group);
            }
        }
    };
    let late = shared.of_bound_originals();
    let turns: &[bool] = if late.is_empty() { &[false] } else { &[false, true] };
    for is_late in turns {
        let storages: BTreeMap<u32, &Storage> = shared
            .storages
            .iter()
            .filter(|(number, _)| late.contains(number) == *is_late)
            .map(|(number, storage)| (*number, storage))
            .collect();
        in_groups(emitter, &|emitter, at, group| {
            emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
            let made = if *is_late { shared.textures_besides(&late, at) } else { BTreeSet::new() };
            shared.describe_roots(emitter, at, group, (&storages, made));
        });
        in_groups(emitter, &|emitter, at, group| {
            shared.bind_members(emitter, at, group, &storages);
        });
    }
    for (number, storage) in &shared.storages {
        for spare in storage.spare_images(*number) {
            let command = emitter.command(EGL_DESTROY_IMAGE_KHR).arg(shared.display(storage));
            command.arg(spare).returns(1_u32, []);
        }
    }
    if let Some(spare) = spare.iter().flatten().next() {
        spare.release(emitter);
    }
    for spare in spare.into_iter().flatten() {
        spare.destroy(emitter);
    }
}

/// A share group with objects that share storage, or that an image was made in.
struct OfGroup {
    group: Arc<Group>,
    /// The capture, or its keyframe.
    epoch: u64,
    /// One of its contexts.
    context: u64,
    display: u64,
    is_es3: bool,
    sibling: Option<Sibling>,
    /// `None` if the sibling could not be asked.
    has: Option<Has>,
}

/// All storages that are shared, by their numbers.
struct Shared {
    groups: Vec<OfGroup>,
    storages: BTreeMap<u32, Storage>,
}

impl Shared {
    fn of(thread: &Thread, epoch: u64) -> Self {
        let process = &*thread.process;
        let (mut storages, creators) = storages_of_images(process);
        let mut groups = Vec::new();
        // Not locked in the loop, which asks for the contexts of each group.
        let all = process.contexts().share_groups();
        for (_, group) in all {
            let members = members_of(&group, groups.len(), &mut storages);
            let contexts = contexts_of_group(process, &group);
            if members || contexts.iter().any(|it| creators.contains(it)) {
                groups.extend(OfGroup::new((thread, epoch), group, &contexts));
            }
        }
        for storage in storages.values_mut() {
            let pixels = &storage.pixels;
            let format = formats::of_storage(pixels.format, pixels.pixel_type);
            let has = |it: &Member| groups.get(it.group).is_none_or(|group| group.has(it, format));
            storage.members.retain(has);
        }
        storages.retain(|_, storage| storage.is_described());
        if groups.is_empty() && !storages.is_empty() {
            groups.extend(Self::any_group(thread, epoch));
        }
        Self { groups, storages }
    }

    /// A group that can hold the images of a group without a context: an image outlives the context that made it, and each
    /// context can use it. The one with the highest version, since that can read most formats.
    fn any_group(thread: &Thread, epoch: u64) -> Option<OfGroup> {
        let process = &*thread.process;
        let version = |group: &Arc<Group>| {
            let contexts = contexts_of_group(process, group);
            Some((highest_version(thread, &contexts)?.0, contexts))
        };
        let groups = process.contexts().share_groups();
        let groups = groups.into_iter().map(|(_, group)| group);
        let known = groups.filter_map(|group| Some((version(&group)?, group)));
        let ((_, contexts), group) = known.max_by(|(one, _), (other, _)| one.0.cmp(&other.0))?;
        OfGroup::new((thread, epoch), group, &contexts)
    }

    /// Images of memory that is not OpenGL ES's.
    fn leave_out_foreign(&self, emitter: &mut Emitter, process: &Process) {
        let state = process.lock();
        if state.images.named().any(|(_, image)| image.pixels.shared == 0) {
            emitter.leave_out("EGL images of memory that belongs to no texture or renderbuffer");
        }
    }

    fn choose_roots(&mut self, emitter: &mut Emitter) {
        let roots: Vec<(u32, Option<Root>)> = self
            .storages
            .iter()
            .map(|(number, it)| (*number, root_of(&self.storages, it, self.groups.len())))
            .collect();
        for (number, mut root) in roots {
            if let Some(root) = &mut root {
                let is_es3 = self.groups.get(root.group).is_some_and(|group| group.is_es3);
                root.limits = root.limits.filter(|_| is_es3);
            }
            let is_imported = self.storages.get(&number).is_some_and(Storage::is_imported);
            if root.is_none() && !is_imported {
                emitter.leave_out("an EGL image, since the process has no context");
            }
            let Some(storage) = self.storages.get_mut(&number) else { continue };
            if let Some(root) = root.as_mut().filter(|root| root.target == EGL_GL_RENDERBUFFER) {
                // The first image was made of one that is not bound, if there still is one.
                let is_source = |it: &&Member| it.kind == Kind::Renderbuffer { is_bound: false };
                let source = storage.members.iter().find(is_source);
                storage.is_root_bound = source.is_none();
                if let Some(source) = source {
                    (root.group, root.name) = (source.group, source.name);
                }
            } else if let Some(root) = &root {
                storage.is_root_bound =
                    storage.texture_of(root).is_some_and(|it| it.kind.is_bound());
            }
            storage.root = root;
        }
    }

    /// Makes the images of imported memory.
    fn import(&self, emitter: &mut Emitter, epoch: u64) {
        for (number, storage) in self.storages.iter().filter(|(_, it)| it.is_imported()) {
            for image in image_handles::all(*number, &storage.handles, false) {
                storage.import(emitter, epoch, image);
            }
        }
    }

    fn display(&self, storage: &Storage) -> u64 {
        if storage.is_imported() {
            return storage.image.as_ref().map_or(0, |image| image.display);
        }
        let root = storage.root.as_ref().and_then(|root| self.groups.get(root.group));
        root.map_or(0, |group| group.display)
    }

    /// The storages whose root is a view of a texture that is bound to an image of another storage. They come last: the texture
    /// must have its image when a view of it is made.
    fn of_bound_originals(&self) -> BTreeSet<u32> {
        let is_late = |root: &Root| {
            let original = self.groups.get(root.group).and_then(|group| group.original_of(root));
            let is_it = |member: &Member| {
                (member.group, Some(member.name)) == (root.group, original)
                    && matches!(member.kind, Kind::Bindable { .. })
            };
            self.storages.values().any(|storage| {
                let other = storage.root.as_ref();
                let is_root =
                    other.is_some_and(|it| (it.group, Some(it.name)) == (root.group, original));
                !is_root && storage.members.iter().any(is_it)
            })
        };
        let roots = self.storages.iter().filter_map(|(at, it)| Some((*at, it.root.as_ref()?)));
        roots.filter(|(_, root)| is_late(root)).map(|(number, _)| number).collect()
    }

    /// The textures of a group that have a storage which is not one of `late`, as [`OfGroup::describe_root`] takes them.
    fn textures_besides(&self, late: &BTreeSet<u32>, group: usize) -> BTreeSet<(u32, bool)> {
        let others = self.storages.iter().filter(|(number, _)| !late.contains(number));
        let members = others.flat_map(|(_, storage)| &storage.members);
        let textures = members.filter(|it| it.group == group && !it.kind.is_renderbuffer());
        textures.map(|it| (it.name, false)).collect()
    }

    /// Makes the roots of a group, and the images. The stream has the objects in `made`.
    fn describe_roots(
        &self,
        emitter: &mut Emitter,
        at: usize,
        group: &OfGroup,
        (storages, mut made): (&BTreeMap<u32, &Storage>, BTreeSet<(u32, bool)>),
    ) {
        for (number, storage) in storages {
            let Some(root) = storage.root.as_ref().filter(|root| root.group == at) else {
                continue;
            };
            let is_renderbuffer = root.target == EGL_GL_RENDERBUFFER;
            if root.view.is_some() {
                group.describe_spare_view(emitter, root.view, &mut made);
            } else if root.is_spare {
                group.describe_spare(emitter, storage);
            } else if made.insert((root.name, is_renderbuffer)) {
                group.describe_root(emitter, (root, storage.pixels.format), &mut made);
            }
            if !storage.needs_image(root) {
                continue;
            }
            for image in image_handles::all(*number, &storage.handles, false) {
                root.make_image(emitter, group.display, group.context, image);
            }
            let first = image_handles::first(*number, &storage.handles, false);
            if storage.is_root_bound && is_renderbuffer {
                image_storages::bind_to_renderbuffer(emitter, root.name, first);
            }
            let mut of_root = first;
            if storage.needs_image_of_bound() {
                emitter.make(GL_GEN_RENDERBUFFERS, SPARE_BOUND);
                image_storages::bind_to_renderbuffer(emitter, SPARE_BOUND, first);
                let bound = Root::of_renderbuffer(at, SPARE_BOUND);
                for image in image_handles::all(*number, &storage.handles, true) {
                    bound.make_image(emitter, group.display, group.context, image);
                }
                spare::delete(emitter, GL_DELETE_RENDERBUFFERS, &[SPARE_BOUND]);
                if storage.texture_of(root).is_some_and(|it| it.is_of_bound) {
                    of_root = image_handles::first(*number, &storage.handles, true);
                }
            }
            if storage.is_root_bound
                && let Some(Kind::Bindable { target, .. }) =
                    storage.texture_of(root).map(|it| it.kind)
            {
                image_storages::bind_to_texture(emitter, root.name, (target, false), of_root);
            }
            if root.is_spare {
                spare::delete(emitter, GL_DELETE_TEXTURES, &[root.name]);
            }
        }
    }

    /// Binds the images to the other objects of a group.
    fn bind_members(
        &self,
        emitter: &mut Emitter,
        at: usize,
        group: &OfGroup,
        storages: &BTreeMap<u32, &Storage>,
    ) {
        for (number, storage) in storages {
            let root = storage.root.as_ref();
            if root.is_none() && !storage.is_imported() {
                continue;
            }
            for member in storage.members.iter().filter(|member| member.group == at) {
                if root.is_some_and(|root| root.is(member)) {
                    continue;
                }
                let image = image_handles::first(*number, &storage.handles, member.is_of_bound);
                match member.kind {
                    Kind::Bindable { target, is_immutable, .. } => {
                        group.bind_texture(emitter, member.name, (target, is_immutable), image);
                    }
                    Kind::Renderbuffer { .. } => {
                        group.bind_renderbuffer(emitter, member.name, image)
                    }
                    Kind::Source { .. } => {
                        if !self.is_root(at, member.name) {
                            emitter.leave_out_of("all of texture", member.name);
                        }
                        if root.is_none_or(|root| root.target != EGL_GL_TEXTURE_3D) {
                            emitter.leave_out_of("the shared storage of texture", member.name);
                        }
                    }
                }
            }
        }
    }

    /// Whether a texture of a group is a root, perhaps of another storage.
    fn is_root(&self, group: usize, name: u32) -> bool {
        let roots = self.storages.values().filter_map(|it| it.root.as_ref());
        roots
            .filter(|it| it.target != EGL_GL_RENDERBUFFER)
            .any(|it| (it.group, it.name) == (group, name))
    }
}

impl OfGroup {
    /// `None` if none of the contexts is one of OpenGL ES.
    fn new((thread, epoch): (&Thread, u64), group: Arc<Group>, contexts: &[u64]) -> Option<Self> {
        let process = &*thread.process;
        let (known, context) = highest_version(thread, contexts)?;
        let like = Like::of(process, context)?;
        let sibling = Sibling::begin(process, context);
        let asked = sibling.as_ref();
        // The sibling has the version that the driver gives a context with these attributes.
        let given = asked.and_then(|it| it.ask(|_| Some(Gl::of_thread()?.version())));
        let version = known.max(given.unwrap_or(known));
        let has = asked.and_then(|it| it.ask(|_| Some(Has::of(&Gl::of_thread()?))));
        let is_es3 = has.is_some_and(|has| has.is((3, 0), (3, 0))) || version.0 >= 3;
        Some(Self { group, epoch, context, display: like.display, is_es3, sibling, has })
    }

    /// The name of the texture that a root is a view of.
    fn original_of(&self, root: &Root) -> Option<u32> {
        let group = self.group.lock();
        let textures = &group.textures;
        let view = match root.view.is_some() {
            true => root.view,
            false if root.is_spare || root.target == EGL_GL_RENDERBUFFER => return None,
            false => textures.find(u64::from(root.name)),
        };
        let original = textures.get(view)?.view.original;
        identity::has_name(textures, original).then(|| original.name() as u32)
    }

    /// What the state and, if it can be asked, the driver know of a renderbuffer; `None` if the group has none of the name.
    fn renderbuffer(&self, name: u32) -> Option<renderbuffers::Known> {
        let mut known = {
            let group = self.group.lock();
            let object = group.renderbuffers.find(u64::from(name));
            renderbuffers::Known::of(name, group.renderbuffers.get(object)?)
        };
        if let Some(sibling) = &self.sibling {
            known.ask(sibling);
        }
        Some(known)
    }

    /// Makes a texture or renderbuffer with its pixels. The texture that a view is of is made before the view, unless the
    /// stream has it: one that has a name is in `made` then, names, each with whether it is a renderbuffer's. `format` is that of the
    /// storage, 0 if it is unknown.
    fn describe_root(
        &self,
        emitter: &mut Emitter,
        (root, format): (&Root, u32),
        made: &mut BTreeSet<(u32, bool)>,
    ) {
        if root.target == EGL_GL_RENDERBUFFER {
            return self.describe_renderbuffer(emitter, root.name, format);
        }
        let (known, viewed, original, has_mipmaps) = {
            let group = self.group.lock();
            let textures = &group.textures;
            let texture = textures.find(u64::from(root.name));
            let known = Known::of(textures, texture);
            let viewed = known.as_ref().map(Known::original).unwrap_or_default();
            let has_levels = |it: &Texture| it.images.values().any(|levels| levels.len() > 1);
            let bound = textures.get(texture).filter(|it| it.is_bound);
            (known, viewed, Known::of(textures, viewed), bound.is_some_and(has_levels))
        };
        if has_mipmaps {
            // Mesa 22.3 makes levels without memory.
            emitter.leave_out_of(
                "the mipmaps, which drivers may not make for an EGL image, of texture",
                root.name,
            );
        }
        let (Some(known), Some(has)) = (known, self.has) else {
            emitter.leave_out_of("all of texture", root.name);
            return;
        };
        let sibling = self.sibling.as_ref();
        let mut describing = Describing { emitter, has, sibling, context: None };
        let Some(original) = original else {
            if viewed.is_some() {
                let what = "the storage, deleted long ago, of view";
                describing.emitter.leave_out_of(what, root.name);
            }
            describing.emitter.make(GL_GEN_TEXTURES, root.name);
            describing.texture(&known, Pixels::Described);
            return;
        };
        if !identity::has_name(&self.group.lock().textures, viewed) {
            // Its pixels are described with its views, and with a texture unit that holds it.
            let kind = identity::Kind::Texture;
            if identity::is_first_in(self.epoch, &self.group, kind, viewed) {
                describing.emitter.make(GL_GEN_TEXTURES, original.name);
                describing.make(&original, Pixels::LeftToOthers);
                identity::note_part_in(self.epoch, &self.group, kind, viewed);
            }
            describing.emitter.make(GL_GEN_TEXTURES, root.name);
            describing.view_with_pixels(&known);
            return;
        }
        if made.insert((original.name, false)) {
            describing.emitter.make(GL_GEN_TEXTURES, original.name);
            describing.texture(&original, Pixels::Described);
        }
        describing.emitter.make(GL_GEN_TEXTURES, root.name);
        describing.only_view(&known);
    }

    /// Makes a renderbuffer with its pixels. `format` is that of the storage, 0 if it is unknown.
    fn describe_renderbuffer(&self, emitter: &mut Emitter, name: u32, format: u32) {
        let Some(mut known) = self.renderbuffer(name) else { return };
        emitter.make(GL_GEN_RENDERBUFFERS, name);
        // Mesa 22.3 has an unsized format for a renderbuffer of an image.
        known.format = if format == 0 { known.format } else { format };
        known.describe(emitter, self.sibling.as_ref().filter(|_| self.is_es3));
    }

    /// Makes a view that is deleted again under the spare name, of its original. The original is made before, unless it is in
    /// `made`.
    fn describe_spare_view(
        &self,
        emitter: &mut Emitter,
        view: Ref<Texture>,
        made: &mut BTreeSet<(u32, bool)>,
    ) {
        let (known, original) = {
            let group = self.group.lock();
            let known = Known::of(&group.textures, view);
            let original = known.as_ref().map(Known::original).unwrap_or_default();
            (known, Known::of(&group.textures, original))
        };
        let (Some(known), Some(original), Some(has)) = (known, original, self.has) else {
            return emitter.leave_out("the pixels of an EGL image of which no texture is left");
        };
        let sibling = self.sibling.as_ref();
        let mut describing = Describing { emitter, has, sibling, context: None };
        if made.insert((original.name, false)) {
            describing.emitter.make(GL_GEN_TEXTURES, original.name);
            describing.texture(&original, Pixels::Described);
        }
        describing.emitter.make(GL_GEN_TEXTURES, SPARE_ROOT);
        describing.bare_view(&known.named(SPARE_ROOT));
    }

    /// Makes a texture with the pixels of a storage that no object of OpenGL ES has, but images.
    fn describe_spare(&self, emitter: &mut Emitter, storage: &Storage) {
        let image = storage.pixels;
        emitter.make(GL_GEN_TEXTURES, SPARE_ROOT);
        emitter.command(GL_BIND_TEXTURE).arg(GL_TEXTURE_2D).arg(SPARE_ROOT).done();
        let layout = Layout::of(image.format, image.pixel_type);
        if let Some(layout) = layout {
            let command = emitter.command(GL_TEX_IMAGE2D).arg(GL_TEXTURE_2D).arg(0_i32);
            let command = command.arg(image.format).arg(image.width).arg(image.height);
            let command = command.arg(0_i32).arg(layout.format).arg(layout.kind);
            command.arg(0_u64).done();
        }
        let mut read = || {
            let (sibling, layout) = (self.sibling.as_ref()?, layout?);
            let handle = storage.handles.first()?.image;
            let texture = sibling.ask(move |_| bound_to(handle))?;
            let target = GL_TEXTURE_2D;
            let of = Of::Flat { texture, target, face: target, level: 0 };
            let (width, height) = (image.width, image.height);
            let whole = image_layer::Image { of, width, height, is_shared: true };
            let done = sibling.with_pixels(whole, layout, |pixels| {
                let at = At { face: target, level: 0, layer: 0 };
                upload(emitter, target, at, &image, (layout, Uploaded::of(pixels)));
            });
            sibling.ask(move |_| {
                gl::delete_texture(texture);
                Some(())
            });
            done
        };
        if read().is_none() {
            emitter.leave_out("the pixels of an EGL image of which no texture is left");
        }
    }

    /// Whether an object has a storage of a sized format that the state takes it to share. If the driver has refused the command
    /// that the state has followed, corrects the state: the object is described with its group.
    fn has(&self, member: &Member, format: u32) -> bool {
        let (name, display) = (member.name, self.display);
        let refuses = |target| {
            let ask = move |_: &mut _| refusals::refuses_image(display, format, target);
            member.kind.has_image()
                && self.sibling.as_ref().and_then(|it| it.ask(ask)) == Some(true)
        };
        match member.kind {
            Kind::Bindable { target, .. } => {
                let ask = |sibling: &Sibling| {
                    sibling.ask(move |_| {
                        gl::bind_texture(target, name);
                        let lacks = lacks_level(target, 0);
                        gl::bind_texture(target, 0);
                        lacks
                    })
                };
                let lacks = self.sibling.as_ref().and_then(ask) == Some(true);
                let texture = self.group.lock().textures.find(u64::from(name));
                let is_refused = !lacks && refuses(target);
                if lacks {
                    refusals::empty_texture(&self.group, texture);
                } else if is_refused {
                    refusals::unbind_texture(&self.group, texture);
                }
                !lacks && !is_refused
            }
            Kind::Renderbuffer { .. } => {
                let Some(known) = self.renderbuffer(name) else { return true };
                let renderbuffer = self.group.lock().renderbuffers.find(u64::from(name));
                if refuses(GL_RENDERBUFFER) {
                    refusals::unbind_renderbuffer(&self.group, renderbuffer);
                    return false;
                }
                !refusals::mend_renderbuffer(&self.group, renderbuffer, known.storage())
            }
            Kind::Source { .. } => true,
        }
    }

    fn bind_texture(
        &self,
        emitter: &mut Emitter,
        name: u32,
        (target, is_immutable): (u32, bool),
        image: u64,
    ) {
        emitter.make(GL_GEN_TEXTURES, name);
        image_storages::bind_to_texture(emitter, name, (target, is_immutable), image);
        let asked = self.sibling.as_ref().zip(self.has).and_then(|(sibling, has)| {
            sibling.ask(move |_| {
                gl::bind_texture(target, name);
                let parameters = Parameters::of_bound(target, has);
                gl::bind_texture(target, 0);
                Some(parameters)
            })
        });
        match asked {
            Some(parameters) => {
                parameters.describe(emitter, target);
                parameters.describe_generation(emitter, target);
            }
            None => emitter.leave_out_of("the parameters of texture", name),
        }
    }

    fn bind_renderbuffer(&self, emitter: &mut Emitter, name: u32, image: u64) {
        emitter.make(GL_GEN_RENDERBUFFERS, name);
        image_storages::bind_to_renderbuffer(emitter, name, image);
    }
}

/// The highest version of these contexts, and a context that has it. Contexts that are current on other threads have at
/// least the version that they were asked to have.
fn highest_version(thread: &Thread, contexts: &[u64]) -> Option<((u8, u8), u64)> {
    let current = thread.context.as_deref().filter(|it| contexts.contains(&it.handle));
    let current = current.map(|it| (it.version, it.handle));
    let table = thread.process.contexts();
    let idle = table.idle().filter(|it| contexts.contains(&it.handle));
    let idle = idle.map(|it| (it.version, it.handle)).max();
    drop(table);
    let asked = contexts.iter().filter_map(|it| Some((version_asked(&thread.process, *it)?, *it)));
    current.max(idle).max(asked.max())
}

/// The version that the attributes of a context of OpenGL ES ask for.
fn version_asked(process: &Process, context: u64) -> Option<(u8, u8)> {
    Like::of(process, context)?;
    let state = process.lock();
    let made = state.egl_contexts.get(state.egl_contexts.find(context))?;
    let number = |name| made.attributes.get(&name).and_then(|it| u8::try_from(*it).ok());
    let major = number(EGL_CONTEXT_MAJOR_VERSION).unwrap_or(1);
    Some((major, number(EGL_CONTEXT_MINOR_VERSION).unwrap_or(0)))
}

/// Makes a texture of an image, in the sibling's context.
fn bound_to(image: u64) -> Option<u32> {
    gl::clear_errors();
    let texture = gl::new_texture(GL_TEXTURE_2D);
    gl::image_target_texture_2d(GL_TEXTURE_2D, image);
    let is_made = gl::get_error() == 0;
    gl::bind_texture(GL_TEXTURE_2D, 0);
    if !is_made {
        gl::delete_texture(texture);
    }
    is_made.then_some(texture)
}
