//! Sampler objects.

use gapii_state::Context;

use super::emit::Emitter;
use super::gl;
use super::texture_parameters as parameters;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

pub fn describe(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    let samplers = context.group.lock().samplers.names();
    for sampler in samplers {
        emitter.make(GL_GEN_SAMPLERS, sampler);
        for name in parameters::whole(context.version, driver, true) {
            let mut value = 0;
            // SAFETY: the name has one number.
            unsafe { gl::get_sampler_integers(sampler, name, &raw mut value) };
            emitter.command(GL_SAMPLER_PARAMETERI).arg(sampler).arg(name).arg(value).done();
        }
        for name in parameters::fractions(context.version, driver) {
            let mut value = 0.0;
            // SAFETY: the name has one number.
            unsafe { gl::get_sampler_floats(sampler, name, &raw mut value) };
            emitter.command(GL_SAMPLER_PARAMETERF).arg(sampler).arg(name).arg(value).done();
        }
        if parameters::has_border(context.version, driver) {
            let mut border = [0.0; 4];
            let name = parameters::GL_TEXTURE_BORDER_COLOR;
            // SAFETY: the name has four numbers.
            unsafe { gl::get_sampler_floats(sampler, name, border.as_mut_ptr()) };
            parameters::describe_border(emitter, GL_SAMPLER_PARAMETERFV, sampler, border);
        }
    }
}
