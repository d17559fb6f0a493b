//! EGL images, and textures and renderbuffers that have the pixels of one.
//!
//! One of those that share pixels is described as it would be alone, and is what the image is made from
//! in a replay: what the program made it from, while that has the same pixels still, or another texture.
//! An image whose handle is gone is destroyed again.

use std::sync::Arc;

use gapii_commands::constants;
use gapii_commands::constants::{
    EGL_GL_RENDERBUFFER, EGL_GL_TEXTURE_2D, EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, GL_RENDERBUFFER,
    GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D,
};
use gapii_state::{Context, Image, Process, Ref};

use super::emit::Emitter;
use super::gl;
use super::texture_parameters as parameters;
use crate::driver_calls::Gl;
use crate::generated::ids::*;
use gapii_recorder::observe;

const EGL_NONE: i32 = constants::EGL_NONE as i32;
/// Images whose handles are gone have handles from here on meanwhile.
const SPARE_HANDLE: u64 = 0xF000_0000;

/// Those of a share group.
pub struct Images {
    images: Vec<Shared>,
}

/// An image, and who has its pixels.
struct Shared {
    image: Ref<Image>,
    /// What is known of it; of one that was destroyed long ago nothing is.
    made: Option<Image>,
    is_destroyed: bool,
    /// Names and targets.
    textures: Vec<(u32, u32)>,
    renderbuffers: Vec<u32>,
    root: Option<Root>,
}

/// What an image is made from: an object's name, and what EGL calls its kind.
#[derive(Clone, Copy)]
struct Root {
    target: u32,
    name: u32,
    /// The program made the image from it, with attributes of its choice.
    is_original: bool,
}

impl Images {
    pub fn of(process: &Process, context: &Context) -> Self {
        let of_group = contexts_of_group(process, context);
        let state = process.lock();
        let mut images: Vec<Shared> = Vec::new();
        for (image, made) in state.images.named() {
            if of_group.contains(&made.context) {
                shared(&mut images, image);
            }
        }
        let group = context.group.lock();
        for (object, texture) in group.textures.named().filter(|(_, it)| it.image.is_some()) {
            let member = (object.name() as u32, texture.target);
            shared(&mut images, texture.image).textures.push(member);
        }
        for (object, it) in group.renderbuffers.named().filter(|(_, it)| it.image.is_some()) {
            shared(&mut images, it.image).renderbuffers.push(object.name() as u32);
        }
        for shared in &mut images {
            shared.made = state.images.get(shared.image).cloned();
            shared.is_destroyed = state.images.find(shared.image.name()) != shared.image;
        }
        drop((group, state));
        let everybody: Vec<(u64, bool)> = images
            .iter()
            .flat_map(|it| {
                let textures = it.textures.iter().map(|(name, _)| (u64::from(*name), false));
                let buffers = it.renderbuffers.iter().map(|name| (u64::from(*name), true));
                textures.chain(buffers).collect::<Vec<_>>()
            })
            .collect();
        for shared in &mut images {
            shared.root = shared.find_root(&of_group, &everybody);
        }
        Self { images }
    }

    /// Whether a texture has pixels that another object is described with.
    pub fn has_texture(&self, name: u32) -> bool {
        self.images.iter().any(|it| it.siblings().any(|(sibling, _)| sibling == name))
    }

    /// The same of a renderbuffer.
    pub fn has_renderbuffer(&self, name: u32) -> bool {
        self.images.iter().any(|it| it.sibling_renderbuffers().any(|sibling| sibling == name))
    }

    /// After everything that images are made from.
    pub fn describe(&self, emitter: &mut Emitter, context: &Context, driver: &Gl) {
        for (shared, spare) in self.images.iter().zip(SPARE_HANDLE..) {
            let has_siblings = shared.siblings().next().is_some()
                || shared.sibling_renderbuffers().next().is_some();
            if shared.is_destroyed && !has_siblings {
                continue;
            }
            let Some(root) = shared.root else {
                emitter.leave_out("an EGL image of which no texture is left");
                continue;
            };
            let handle = if shared.is_destroyed { spare } else { shared.image.name() };
            let display = shared.make(emitter, context, root, handle);
            shared.bind_siblings(emitter, context, driver, handle);
            if shared.is_destroyed {
                let command = emitter.command(EGL_DESTROY_IMAGE_KHR).arg(display).arg(handle);
                command.returns(1_u32, []);
            }
        }
    }
}

fn contexts_of_group(process: &Process, context: &Context) -> Vec<u64> {
    let contexts = process.contexts();
    let groups = contexts.groups();
    let is_of_it = |handle: &u64| {
        contexts.group(*handle).is_some_and(|group| Arc::ptr_eq(&group, &context.group))
    };
    groups.into_iter().map(|(handle, _)| handle).filter(is_of_it).collect()
}

/// The entry of an image.
fn shared(images: &mut Vec<Shared>, image: Ref<Image>) -> &mut Shared {
    let at = images.iter().position(|it| it.image == image).unwrap_or(images.len());
    if at == images.len() {
        let (textures, renderbuffers) = (Vec::new(), Vec::new());
        let is_destroyed = true;
        images.push(Shared {
            image,
            made: None,
            is_destroyed,
            textures,
            renderbuffers,
            root: None,
        });
    }
    &mut images[at]
}

impl Shared {
    /// `everybody`: names of objects of the group that have pixels of images, and whether each is a
    /// renderbuffer.
    fn find_root(&self, of_group: &[u64], everybody: &[(u64, bool)]) -> Option<Root> {
        if let Some(made) = self.made.as_ref().filter(|made| of_group.contains(&made.context)) {
            let is_renderbuffer = match made.target {
                EGL_GL_TEXTURE_2D..=EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => Some(false),
                EGL_GL_RENDERBUFFER => Some(true),
                _ => None,
            };
            // Nothing uploads to a renderbuffer: rather a texture.
            let is_best = is_renderbuffer == Some(false) || !self.has_plain_texture();
            let is_there = is_best
                && is_renderbuffer.is_some_and(|kind| everybody.contains(&(made.buffer, kind)));
            let is_part = made.target > EGL_GL_TEXTURE_2D && made.target < EGL_GL_RENDERBUFFER;
            if is_there || is_part {
                let name = made.buffer as u32;
                return Some(Root { target: made.target, name, is_original: true });
            }
        }
        let (name, _) = self.textures.iter().find(|(_, target)| *target == GL_TEXTURE_2D)?;
        Some(Root { target: EGL_GL_TEXTURE_2D, name: *name, is_original: false })
    }

    fn has_plain_texture(&self) -> bool {
        self.textures.iter().any(|(_, target)| *target == GL_TEXTURE_2D)
    }

    /// Textures that are described by binding the image.
    fn siblings(&self) -> impl Iterator<Item = (u32, u32)> {
        let root = self.root.filter(|root| root.target != EGL_GL_RENDERBUFFER);
        let others = self.textures.iter().copied();
        others.filter(move |(name, _)| root.is_some_and(|root| root.name != *name))
    }

    fn sibling_renderbuffers(&self) -> impl Iterator<Item = u32> {
        let root = self.root.filter(|root| root.target == EGL_GL_RENDERBUFFER);
        let is_root = move |name| root.is_some_and(|root| root.name == name);
        let others = self.renderbuffers.iter().copied().filter(|_| self.root.is_some());
        others.filter(move |name| !is_root(*name))
    }

    /// Says of which display it is.
    fn make(&self, emitter: &mut Emitter, context: &Context, root: Root, handle: u64) -> u64 {
        let made = self.made.as_ref();
        let attributes = made.filter(|_| root.is_original).map(|made| &made.attributes);
        let pairs = attributes.into_iter().flatten().map(|(name, value)| (*name, *value));
        let mut list: Vec<i32> =
            pairs.flat_map(|(name, value)| [name as i32, value as i32]).collect();
        list.push(EGL_NONE);
        let display = made.map_or(0, |made| made.display);
        let command = emitter.command(EGL_CREATE_IMAGE_KHR).arg(display).arg(context.handle);
        let command = command.arg(root.target).arg(u64::from(root.name)).arg(list.as_ptr());
        command.reads(observe::attributes_i32(list.as_ptr())).returns(handle, []);
        display
    }

    fn bind_siblings(&self, emitter: &mut Emitter, context: &Context, driver: &Gl, image: u64) {
        for (name, target) in self.siblings() {
            emitter.command(GL_BIND_TEXTURE).arg(target).arg(name).done();
            emitter.command(GL_EGL_IMAGE_TARGET_TEXTURE2D_OES).arg(target).arg(image).done();
            if target == GL_TEXTURE_2D {
                let bound = gl::integer(GL_TEXTURE_BINDING_2D) as u32;
                gl::bind_texture(target, name);
                parameters::describe(emitter, target, context.version, driver);
                gl::bind_texture(target, bound);
            }
        }
        for name in self.sibling_renderbuffers() {
            emitter.command(GL_BIND_RENDERBUFFER).arg(GL_RENDERBUFFER).arg(name).done();
            let id = GL_EGL_IMAGE_TARGET_RENDERBUFFER_STORAGE_OES;
            emitter.command(id).arg(GL_RENDERBUFFER).arg(image).done();
        }
    }
}
