//! Sampler objects. A deleted sampler that is still bound gets the parameters of the tracked state; its border color is
//! missing.

use gapii_state::{Context, Ref, Sampler, SamplerState};

use super::emit::Emitter;
use super::texture_parameters::{self as parameters, Has};
use super::{gl, identity};
use crate::generated::ids::*;

/// Describes the samplers of a share group.
pub fn describe(emitter: &mut Emitter, context: &Context, has: Has) {
    let samplers = context.group.lock().samplers.names();
    for sampler in samplers {
        emitter.make(GL_GEN_SAMPLERS, sampler);
        for name in has.integers(true) {
            let mut value = 0;
            // SAFETY: the parameter has one number.
            unsafe { gl::get_sampler_integers(sampler, name, &raw mut value) };
            emitter.command(GL_SAMPLER_PARAMETERI).arg(sampler).arg(name).arg(value).done();
        }
        for name in has.floats() {
            let mut value = 0.0;
            // SAFETY: the parameter has one number.
            unsafe { gl::get_sampler_floats(sampler, name, &raw mut value) };
            emitter.command(GL_SAMPLER_PARAMETERF).arg(sampler).arg(name).arg(value).done();
        }
        if has.border() {
            let mut border = [0.0; 4];
            let name = parameters::GL_TEXTURE_BORDER_COLOR;
            // SAFETY: the parameter has four numbers.
            unsafe { gl::get_sampler_floats(sampler, name, border.as_mut_ptr()) };
            parameters::describe_border(emitter, GL_SAMPLER_PARAMETERFV, sampler, border);
        }
    }
}

/// Makes a nameless sampler under its spare name, unless the stream has it already. The driver takes only names in queries,
/// so the parameters are those that the state has.
pub fn make_nameless(emitter: &mut Emitter, context: &Context, has: Has, object: Ref<Sampler>) {
    let state = context.group.lock().samplers.get(object).map(|sampler| sampler.sampling);
    let Some(state) = state else { return };
    if !identity::is_first(context, identity::Kind::Sampler, object) {
        return;
    }
    let sampler = identity::spare_name(object);
    emitter.make(GL_GEN_SAMPLERS, sampler);
    for name in has.integers(true) {
        let value = parameters::integer_of(&state, name);
        emitter.command(GL_SAMPLER_PARAMETERI).arg(sampler).arg(name).arg(value).done();
    }
    for name in has.floats() {
        let value = parameters::float_of(&state, name);
        emitter.command(GL_SAMPLER_PARAMETERF).arg(sampler).arg(name).arg(value).done();
    }
    if state.border_color != SamplerState::default().border_color || state.has_float_border {
        emitter.leave_out_of("the border colour of deleted sampler", object.name() as u32);
    }
}
