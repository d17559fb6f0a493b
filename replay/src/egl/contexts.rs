//! Contexts and who shares with whom.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::{Call, Outcome, Skip};
use crate::requirements::{Lacks, Offer};
use crate::survey::Survey;

use super::configs::Configs;
use super::objects::{Context, OBJECTS_MAX};
use super::real::{EGL_HEIGHT, EGL_WIDTH, Handle, Real};
use super::{attributes_of, only, succeeded};

const EGL_CONTEXT_MAJOR_VERSION: i32 = 0x3098;
const EGL_CONTEXT_MINOR_VERSION: i32 = 0x30FB;
const EGL_CONTEXT_OPENGL_DEBUG: i32 = 0x31B0;
const EGL_CONTEXT_OPENGL_ROBUST_ACCESS: i32 = 0x31B2;
const EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT: i32 = 0x30BF;
const EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY: i32 = 0x31BD;
const EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT: i32 = 0x3138;
const EGL_CONTEXT_OPENGL_NO_ERROR_KHR: i32 = 0x31B3;
const EGL_CONTEXT_FLAGS_KHR: i32 = 0x30FC;

/// Attributes that the driver is told. That errors need not be found is not among them: a trace's
/// commands are not trusted to be right.
const KNOWN: [i32; 8] = [
    EGL_CONTEXT_MAJOR_VERSION,
    EGL_CONTEXT_MINOR_VERSION,
    EGL_CONTEXT_OPENGL_DEBUG,
    EGL_CONTEXT_OPENGL_ROBUST_ACCESS,
    EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT,
    EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
    EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
    EGL_CONTEXT_FLAGS_KHR,
];

/// Most sorts of contexts that are tried beforehand.
const TRIED_MAX: usize = 256;

/// eglCreateContext.
pub fn create(call: &mut Call<'_, '_>) -> Outcome {
    let Some(handle) = call.recorded_result().filter(|handle| *handle != 0) else { return Ok(()) };
    let process = call.command.process;
    let (display, share) = (call.u64(0), call.u64(2));
    let facts = call.command.seq.and_then(|seq| call.parts.survey.context(seq));
    let config = facts.map_or(u64::MAX, |facts| facts.config);
    if facts.is_some_and(|facts| facts.is_desktop) {
        return Err("contexts of desktop OpenGL are not played".into());
    }
    let attributes = attributes_of(call, 3, 4);
    let finds_no_errors =
        attributes.iter().any(|it| *it == (i64::from(EGL_CONTEXT_OPENGL_NO_ERROR_KHR), 1));
    let attributes = only(&attributes, &KNOWN);
    let has_list = call.bits(3) != 0;
    let egl = &mut call.parts.egl;
    let real = egl.real.as_ref().ok_or("there is no display")?;
    let old = egl.contexts.remove(&(process, handle));
    if let Some(old) = old {
        real.destroy_context(old.real);
    }
    if egl.contexts.len() >= OBJECTS_MAX {
        return Err("the trace has more contexts than replay takes".into());
    }
    let shared = egl.contexts.get(&(process, share)).map(|shared| shared.real);
    if share != 0 && shared.is_none() {
        return Err("the context that it shares with is not known".into());
    }
    let config = real_config(real, &egl.configs, (process, config));
    let made = make(real, config, shared.unwrap_or(0), Some(&*attributes).filter(|_| has_list))?;
    egl.contexts
        .insert((process, handle), Context { display, real: made, config, finds_no_errors });
    call.parts.names.add_context(process, handle, (share != 0).then_some(share));
    Ok(())
}

/// The driver's configuration of a context, which may have none.
fn real_config(real: &Real, configs: &Configs, key: (u32, u64)) -> Handle {
    match key.1 == 0 && real.has_extension("EGL_KHR_no_config_context") {
        true => 0,
        false => configs.find(key),
    }
}

fn make(
    real: &Real,
    config: Handle,
    share: Handle,
    list: Option<&[(i32, i32)]>,
) -> Result<Handle, Skip> {
    let mut attributes = list.unwrap_or_default().to_vec();
    if !real.has_minor_versions() {
        attributes.retain(|(name, _)| *name == EGL_CONTEXT_MAJOR_VERSION);
    }
    let made = real.create_context(config, share, list.map(|_| &*attributes));
    made.ok_or_else(|| {
        let value = |name| attributes.iter().find(|(known, _)| *known == name).map(|it| it.1);
        let major = value(EGL_CONTEXT_MAJOR_VERSION).unwrap_or(1);
        let minor = value(EGL_CONTEXT_MINOR_VERSION).unwrap_or(0);
        format!("the driver made no context of OpenGL ES {major}.{minor}: {}", real.error()).into()
    })
}

/// What the driver is told of the attributes of a context, each once.
pub fn attributes(of_trace: &[(i64, i64)]) -> Vec<(i32, i32)> {
    let mut known = only(of_trace, &KNOWN);
    let mut names = BTreeSet::new();
    known.retain(|(name, _)| names.insert(*name));
    known
}

/// What contexts of the trace need and this driver has not, in sentences: contexts are made as they
/// will be, and asked.
pub fn missing(real: &Real, survey: &Survey, configs: &Configs) -> Vec<String> {
    let mut tried = BTreeMap::new();
    let (mut unmade, mut lacks) = (Vec::new(), Lacks::default());
    for facts in survey.contexts.iter().filter(|facts| !facts.is_desktop) {
        let config = real_config(real, configs, (facts.process, facts.config));
        let key = (config, &facts.attributes);
        if tried.len() >= TRIED_MAX && !tried.contains_key(&key) {
            continue;
        }
        match tried.entry(key).or_insert_with(|| try_context(real, config, &facts.attributes)) {
            Err(why) if !unmade.contains(why) => unmade.push(why.clone()),
            Ok(Some(offer)) => lacks.compare(&facts.needs, offer),
            Err(_) | Ok(None) => {}
        }
    }
    unmade.extend(lacks.sentences());
    unmade
}

/// What a context with these attributes has, if the driver says so.
fn try_context(
    real: &Real,
    config: Handle,
    attributes: &[(i32, i32)],
) -> Result<Option<Offer>, String> {
    let real = &real.unheard();
    let made = make(real, config, 0, Some(attributes)).map_err(|why| why.to_string())?;
    let is_surfaceless = real.has_extension("EGL_KHR_surfaceless_context");
    let surface = match is_surfaceless || config == 0 {
        true => None,
        false => real.create_pbuffer(config, &[(EGL_WIDTH, 1), (EGL_HEIGHT, 1)]),
    };
    let drawn = surface.unwrap_or(0);
    let mut offer = None;
    if (is_surfaceless || drawn != 0) && real.make_current(drawn, drawn, made) {
        offer = real.offer();
        real.make_current(0, 0, 0);
    }
    if let Some(surface) = surface {
        real.destroy_surface(surface);
    }
    real.destroy_context(made);
    Ok(offer)
}

/// eglDestroyContext: the driver keeps it while it is current.
pub fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(1));
    let egl = &mut call.parts.egl;
    if call.command.result().is_none_or(|(value, _)| value.bits() != 0)
        && let Some(context) = egl.contexts.remove(&key)
        && let Some(real) = &egl.real
    {
        real.destroy_context(context.real);
    }
    Ok(())
}

/// eglSwapInterval: only windows wait for anything, pbuffers let it be.
pub fn swap_interval(call: &mut Call<'_, '_>) -> Outcome {
    if succeeded(call)
        && let Some(real) = &call.parts.egl.real
    {
        real.set_swap_interval(call.i32(1).clamp(0, 4));
    }
    Ok(())
}
