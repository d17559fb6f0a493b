//! Textures and samplers that are bound to the texture units (at most 256) and image units (at most 64) of a context. A
//! deleted texture that a texture unit holds is read by a shader ([`super::bound_textures`]). Missing are the pixels of
//! one that cannot be read so, or that only an image unit holds, and a binding of an object that the state does not know.
//!
//! The driver reports names. The state tells whether the bound object still has the name.

use std::collections::{BTreeMap, BTreeSet};

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_IMAGE_BINDING_ACCESS, GL_IMAGE_BINDING_FORMAT, GL_IMAGE_BINDING_LAYER,
    GL_IMAGE_BINDING_LAYERED, GL_IMAGE_BINDING_LEVEL, GL_IMAGE_BINDING_NAME,
    GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, GL_MAX_IMAGE_UNITS, GL_R8, GL_R32UI, GL_READ_ONLY,
    GL_SAMPLER_BINDING, GL_TEXTURE_1D, GL_TEXTURE_1D_ARRAY, GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_BUFFER,
    GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_RECTANGLE,
    GL_TEXTURE0,
};
use gapii_state::read_back::{Driver, NEVER};
use gapii_state::{At, Context, ContextApi, Process, Ref, Sampler, Texture};

use super::emit::Emitter;
use super::held::Held;
use super::identity::{self, Kind};
use super::texture_parameters::{Has, Parameters};
use super::textures::{InUnit, Known, binding_of, make_nameless};
use super::{bound_textures, gl, samplers};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_ACTIVE_TEXTURE_NAME: u32 = constants::GL_ACTIVE_TEXTURE;

/// A target of textures, the versions of OpenGL ES and of OpenGL that have it first, and the extensions that have it in
/// lower versions.
type Target = (u32, (u8, u8), (u8, u8), &'static [&'static str]);
const TARGETS: [Target; 12] = [
    (GL_TEXTURE_2D, (2, 0), (1, 0), &[]),
    (GL_TEXTURE_CUBE_MAP, (2, 0), (1, 3), &[]),
    (GL_TEXTURE_3D, (3, 0), (1, 2), &["GL_OES_texture_3D"]),
    (GL_TEXTURE_2D_ARRAY, (3, 0), (3, 0), &["GL_EXT_texture_array"]),
    (GL_TEXTURE_2D_MULTISAMPLE, (3, 1), (3, 2), &["GL_ARB_texture_multisample"]),
    (
        GL_TEXTURE_2D_MULTISAMPLE_ARRAY,
        (3, 2),
        (3, 2),
        &["GL_OES_texture_storage_multisample_2d_array", "GL_ARB_texture_multisample"],
    ),
    (GL_TEXTURE_BUFFER, (3, 2), (3, 1), &["GL_OES_texture_buffer", "GL_EXT_texture_buffer"]),
    (
        GL_TEXTURE_CUBE_MAP_ARRAY,
        (3, 2),
        (4, 0),
        &["GL_OES_texture_cube_map_array", "GL_EXT_texture_cube_map_array"],
    ),
    (GL_TEXTURE_EXTERNAL_OES, NEVER, NEVER, &["GL_OES_EGL_image_external"]),
    (GL_TEXTURE_1D, NEVER, (1, 0), &[]),
    (GL_TEXTURE_1D_ARRAY, NEVER, (3, 0), &[]),
    (GL_TEXTURE_RECTANGLE, NEVER, (3, 1), &["GL_ARB_texture_rectangle"]),
];

/// Describes what is bound to the units of the current context, and the active unit.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context) {
    let Some(driver) = Gl::current() else { return };
    let (has, targets) = (Has::of(&driver), targets(context, &driver));
    // Making a nameless texture binds it in the replay, so all of them are made before anything is bound for good.
    let (units, defaults) = units(emitter, (process, context), has, &targets);
    let images = match context.has((3, 1), (4, 2)) {
        true => image_units(emitter, (process, context), has),
        false => Vec::new(),
    };
    for (target, parameters) in defaults.iter().filter(|(_, it)| !it.is_empty()) {
        emitter.command(GL_BIND_TEXTURE).arg(*target).arg(0_u32).done();
        parameters.describe(emitter, *target);
        parameters.describe_generation(emitter, *target);
    }
    for (unit, bound) in (0..).zip(&units) {
        emitter.command(GL_ACTIVE_TEXTURE).arg(GL_TEXTURE0 + unit).done();
        for ((target, _), name) in targets.iter().zip(&bound.textures) {
            emitter.command(GL_BIND_TEXTURE).arg(*target).arg(*name).done();
        }
        if let Some(sampler) = bound.sampler {
            emitter.command(GL_BIND_SAMPLER).arg(unit).arg(sampler).done();
        }
    }
    let is_changed = |(_, image): &(u32, &ImageUnit)| !image.is_initial(context.api);
    for (unit, image) in (0_u32..).zip(&images).filter(is_changed) {
        let command = emitter.command(GL_BIND_IMAGE_TEXTURE).arg(unit).arg(image.name);
        let command = command.arg(image.level).arg(u8::from(image.layered)).arg(image.layer);
        command.arg(image.access).arg(image.format).done();
    }
    let active = gl::integer(GL_ACTIVE_TEXTURE_NAME);
    emitter.command(GL_ACTIVE_TEXTURE).arg(active).done();
}

/// Targets that the context has, and the queries for what is bound to them.
fn targets(context: &Context, driver: &Gl) -> Vec<(u32, u32)> {
    let is_here = |(_, es, desktop, extensions): &&Target| {
        context.has(*es, *desktop) || extensions.iter().any(|name| driver.has(name))
    };
    let here = TARGETS.iter().filter(is_here);
    here.filter_map(|(target, ..)| Some((*target, binding_of(*target)?))).collect()
}

/// Describes the textures that are bound to the units of the current context, and their parameters, whatever they were before. A
/// binding of a deleted texture stays as it is in the stream.
pub fn describe_again(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    let (has, targets) = (Has::of(driver), targets(context, driver));
    let active = gl::integer(GL_ACTIVE_TEXTURE_NAME).cast_unsigned();
    let mut described = BTreeSet::new();
    for (number, unit) in units_of_context().enumerate() {
        gl::active_texture(unit);
        emitter.command(GL_ACTIVE_TEXTURE).arg(unit).done();
        for (target, binding) in &targets {
            let bound = gl::integer(*binding).cast_unsigned();
            let tracked = context.texture_units.get(number);
            let tracked = tracked.and_then(|unit| unit.bindings.at(*target)).copied();
            let held =
                Held::find(&context.group.lock().textures, bound, tracked.unwrap_or_default());
            if bound != 0 && !matches!(held, Held::Named(_)) {
                continue;
            }
            emitter.command(GL_BIND_TEXTURE).arg(*target).arg(bound).done();
            if described.insert((*target, bound)) {
                Parameters::of_bound(*target, has).describe_again(emitter, *target, has);
            }
        }
    }
    gl::active_texture(active);
    emitter.command(GL_ACTIVE_TEXTURE).arg(active).done();
}

fn units_of_context() -> impl Iterator<Item = u32> {
    let count = gl::integer(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS).clamp(0, 256);
    (GL_TEXTURE0..).take(count as usize)
}

/// Names in the stream of what is bound to a texture unit.
struct Unit {
    /// In the order of the targets.
    textures: Vec<u32>,
    /// `None` for contexts without samplers.
    sampler: Option<u32>,
}

/// Returns the names that each texture unit has, and the changed parameters of the textures with the name 0, which a driver tells
/// where a unit has one. `targets` are targets and the queries for what is bound to them.
fn units(
    emitter: &mut Emitter,
    (process, context): (&Process, &Context),
    has: Has,
    targets: &[(u32, u32)],
) -> (Vec<Unit>, BTreeMap<u32, Parameters>) {
    let mut defaults = BTreeMap::new();
    let active = gl::integer(GL_ACTIVE_TEXTURE_NAME) as u32;
    let mut units = Vec::new();
    for (unit, name) in (0..).zip(units_of_context()) {
        gl::active_texture(name);
        let tracked = context.texture_units.get(unit as usize);
        let mut textures = Vec::new();
        for (target, binding) in targets {
            let bound = gl::integer(*binding) as u32;
            let object = tracked.and_then(|unit| unit.bindings.at(*target)).copied();
            let parameters = || Parameters::of_bound(*target, has);
            if bound == 0 {
                defaults.entry(*target).or_insert_with(|| parameters().changed(*target));
            }
            let object = object.unwrap_or_default();
            let bound = (bound, object);
            let name = texture(emitter, (process, context), has, bound, parameters, Some(unit));
            textures.push(name);
        }
        let sampler = context.has((3, 0), (3, 3)).then(|| {
            let object = tracked.map(|unit| unit.sampler).unwrap_or_default();
            sampler(emitter, context, has, object)
        });
        units.push(Unit { textures, sampler });
    }
    gl::active_texture(active);
    (units, defaults)
}

/// The name in the stream of a texture that the driver reports as `bound`. A nameless one is made; `parameters` asks for
/// its parameters. `unit` is the texture unit that holds it, which is active.
fn texture(
    emitter: &mut Emitter,
    (process, context): (&Process, &Context),
    has: Has,
    (bound, tracked): (u32, Ref<Texture>),
    parameters: impl FnOnce() -> Parameters,
    unit: Option<u32>,
) -> u32 {
    if bound == 0 {
        return 0;
    }
    let held = Held::find(&context.group.lock().textures, bound, tracked);
    match held {
        Held::Named(name) => name,
        Held::Nameless(object) => {
            let whose = (process, context);
            // See `Aside::and_what_is_sampled`: nothing discards what Mesa keeps of a buffer texture.
            let may_draw = !process.contexts().may_hold(context.handle, object);
            let read_buffer = |shown, found: &mut _| {
                bound_textures::read_buffer(whose, shown, unit.filter(|_| may_draw)?, found)
            };
            let holder = InUnit { parameters: parameters(), read_buffer: &read_buffer };
            let lacks_all = make_nameless(emitter, whose, has, object, Some(&holder));
            // A framebuffer may have shown a part of it.
            let lacks_pixels = identity::take_part(context, Kind::Texture, object) || lacks_all;
            let mut read = || {
                let known = Known::of(&context.group.lock().textures, object)?;
                bound_textures::describe(emitter, whose, &known, unit?).then_some(())
            };
            if lacks_pixels && read().is_none() {
                emitter.leave_out_of("the pixels of deleted texture", bound);
            }
            let target = context.group.lock().textures.get(object).map_or(0, |it| it.target);
            holder.parameters.describe_generation(emitter, target);
            identity::spare_name(object)
        }
        Held::Unknown => {
            emitter.leave_out_of("the binding of deleted texture", bound);
            0
        }
    }
}

/// The name in the stream of the sampler that is bound to the active unit; a nameless one is made.
fn sampler(emitter: &mut Emitter, context: &Context, has: Has, tracked: Ref<Sampler>) -> u32 {
    let bound = gl::integer(GL_SAMPLER_BINDING) as u32;
    if bound == 0 {
        return 0;
    }
    let held = Held::find(&context.group.lock().samplers, bound, tracked);
    match held {
        Held::Named(name) => name,
        Held::Nameless(object) => {
            samplers::make_nameless(emitter, context, has, object);
            identity::spare_name(object)
        }
        Held::Unknown => {
            emitter.leave_out_of("the binding of deleted sampler", bound);
            0
        }
    }
}

/// What is bound to an image unit.
struct ImageUnit {
    /// In the stream.
    name: u32,
    level: i32,
    layered: bool,
    layer: i32,
    access: i32,
    format: i32,
}

impl ImageUnit {
    /// Whether the unit is as in a new context. One without a texture has a format and an access, too.
    fn is_initial(&self, api: ContextApi) -> bool {
        let place = (self.name, self.level, self.layered, self.layer);
        // Each API has another initial format.
        let format = if api == ContextApi::Es { GL_R32UI } else { GL_R8 };
        let kind = (self.access as u32, self.format as u32);
        place == (0, 0, false, 0) && kind == (GL_READ_ONLY, format)
    }
}

/// What is bound to each image unit.
fn image_units(
    emitter: &mut Emitter,
    (process, context): (&Process, &Context),
    has: Has,
) -> Vec<ImageUnit> {
    // Name, level, whether all layers, layer, access, format.
    const NUMBERS: [u32; 6] = [
        GL_IMAGE_BINDING_NAME,
        GL_IMAGE_BINDING_LEVEL,
        GL_IMAGE_BINDING_LAYERED,
        GL_IMAGE_BINDING_LAYER,
        GL_IMAGE_BINDING_ACCESS,
        GL_IMAGE_BINDING_FORMAT,
    ];
    let mut units = Vec::new();
    for unit in 0..gl::integer(GL_MAX_IMAGE_UNITS).clamp(0, 64) as u32 {
        let [bound, level, layered, layer, access, format] =
            NUMBERS.map(|what| gl::integer_at(what, unit));
        let object = context.images.get(unit as usize).map(|unit| unit.texture);
        let object = object.unwrap_or_default();
        let bound = (bound as u32, object);
        let name = texture(emitter, (process, context), has, bound, Parameters::default, None);
        units.push(ImageUnit { name, level, layered: layered != 0, layer, access, format });
    }
    units
}
