//! Contexts of the driver: created with the trace's attributes, and queried for what they provide. Before the replay up
//! to 256 different contexts (`TRIED_MAX`) are tried; one that the driver does not make, or that lacks a version or
//! extension that the trace's commands need, keeps the replay from beginning.

use std::collections::BTreeMap;

use gapii_commands::constants::{EGL_OPENGL_API, EGL_OPENGL_ES_API};

use super::configs::Configs;
use super::lacks::Lacks;
use crate::driver::{EGL_HEIGHT, EGL_WIDTH, Handle, Offer, Real};
use crate::skip::Skip;
use crate::survey::{ContextFacts, EGL_CONTEXT_MAJOR_VERSION, EGL_CONTEXT_MINOR_VERSION, Survey};

/// Largest number of different contexts that are tried before the replay.
const TRIED_MAX: usize = 256;

/// The driver's configuration for a context; 0 if the recorded context had none and the driver
/// allows that.
pub fn real_config(real: &Real, configs: &Configs, key: (u32, u64)) -> Handle {
    match key.1 == 0 && real.has_extension("EGL_KHR_no_config_context") {
        true => 0,
        false => configs.find(key),
    }
}

/// Creates a context of OpenGL ES or of desktop OpenGL. The error names the requested version and the EGL error.
pub fn make(
    real: &Real,
    is_desktop: bool,
    config: Handle,
    share: Handle,
    list: Option<&[(i32, i32)]>,
) -> Result<Handle, Skip> {
    let mut attributes = list.unwrap_or_default().to_vec();
    if !real.has_minor_versions() {
        attributes.retain(|(name, _)| *name == EGL_CONTEXT_MAJOR_VERSION);
    }
    if is_desktop && !real.bind_api(EGL_OPENGL_API) {
        return Err("the driver has no contexts of desktop OpenGL".into());
    }
    let made = real.create_context(config, share, list.map(|_| &*attributes));
    let made = made.ok_or_else(|| real.error());
    if is_desktop {
        real.bind_api(EGL_OPENGL_ES_API);
    }
    made.map_err(|error| {
        let api = if is_desktop { "desktop OpenGL" } else { "OpenGL ES" };
        let value = |name| attributes.iter().find(|(known, _)| *known == name).map(|it| it.1);
        let major = value(EGL_CONTEXT_MAJOR_VERSION).unwrap_or(1);
        let minor = value(EGL_CONTEXT_MINOR_VERSION).unwrap_or(0);
        format!("the driver made no context of {api} {major}.{minor}: {error}").into()
    })
}

/// Version and extensions that contexts of the trace need and this driver lacks, one sentence each.
/// Creates a context of each kind, and queries it.
pub fn missing(real: &Real, survey: &Survey, configs: &Configs) -> Vec<String> {
    let mut tried = BTreeMap::new();
    let (mut unmade, mut lacks) = (Vec::new(), Lacks::default());
    for facts in &survey.contexts {
        let config = real_config(real, configs, (facts.process, facts.config));
        let key = (facts.is_desktop, config, &facts.attributes);
        if tried.len() >= TRIED_MAX && !tried.contains_key(&key) {
            continue;
        }
        match tried.entry(key).or_insert_with(|| try_context(real, facts, config)) {
            Err(why) if !unmade.contains(why) => unmade.push(why.clone()),
            Ok(Some(offer)) => lacks.compare(&facts.needs, offer),
            Err(_) | Ok(None) => {}
        }
    }
    unmade.extend(lacks.sentences());
    unmade
}

/// Creates a context with these attributes for a moment, and returns its version and extensions;
/// `None` if they can't be queried.
fn try_context(real: &Real, facts: &ContextFacts, config: Handle) -> Result<Option<Offer>, String> {
    let real = &real.unheard();
    let made = make(real, facts.is_desktop, config, 0, Some(&facts.attributes));
    let made = made.map_err(|why| why.to_string())?;
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
