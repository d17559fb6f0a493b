//! Sampler objects.

use gapii_state::Context;

use super::emit::Emitter;
use super::gl;
use super::texture_parameters as parameters;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

pub fn describe(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    let samplers: Vec<u32> =
        context.group.lock().samplers.named().map(|(object, _)| object.name() as u32).collect();
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
            let name = parameters::GL_TEXTURE_BORDER_COLOR;
            let mut border = [0.0_f32; 4];
            // SAFETY: the name has four numbers.
            unsafe { gl::get_sampler_floats(sampler, name, border.as_mut_ptr()) };
            if border != [0.0; 4] {
                let bytes = parameters::bytes_of(border);
                let command = emitter.command(GL_SAMPLER_PARAMETERFV).arg(sampler).arg(name);
                command.arg(bytes.as_ptr()).range(2, &bytes).done();
            }
        }
    }
}
