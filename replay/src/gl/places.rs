//! Where programs have their uniforms and blocks: numbers of the driver's own, which a program asks
//! for by name and this driver may give otherwise.
//!
//! Only numbers that differ are kept; all others are what they were.

use std::ffi::c_char;

use crate::call::Call;
use crate::names::Kind;
use crate::skip::Outcome;
use gapii_commands::constants::GL_UNIFORM;
use gapii_commands::ids;

/// Elements of an array that are looked up together with its first.
const ARRAY_MAX: i32 = 4096;

impl Call<'_, '_> {
    /// Where the current program has a uniform.
    pub fn location(&mut self, index: usize) -> i32 {
        let recorded = self.i32(index);
        if self.parts.places.is_empty() {
            return recorded;
        }
        let program = (self.scopes.group, self.active_program());
        self.parts.places.location(program, recorded)
    }

    /// Where the program of an argument has a uniform.
    pub fn location_of(&mut self, program: usize, index: usize) -> i32 {
        let program = self.program_key(program);
        self.parts.places.location(program, self.i32(index))
    }

    /// Which of the program's blocks of uniforms is meant.
    pub fn uniform_block(&mut self, program: usize, index: usize) -> u32 {
        let program = self.program_key(program);
        self.parts.places.block(program, self.u32(index))
    }

    /// A program of the trace, among those of all share groups.
    pub(super) fn program_key(&self, index: usize) -> (u32, u32) {
        (self.scopes.group, self.u32(index))
    }

    /// The recorded name of the program whose uniforms are set.
    fn active_program(&self) -> u32 {
        let thread = self.parts.follower.thread(self.command.thread);
        let context = thread.and_then(|thread| thread.context.as_deref());
        let program = context.map(|context| match context.program.is_some() {
            true => context.program.name(),
            false => {
                let pipeline = context.pipelines.get(context.pipeline);
                pipeline.map_or(0, |pipeline| pipeline.active_program.name())
            }
        });
        program.unwrap_or(0) as u32
    }

    /// Notes where a uniform is that the trace has at `recorded`; those of an array follow it.
    fn place_uniform(&mut self, name: &[u8], real: i32) {
        let Some(recorded) = self.recorded_result().map(|bits| bits as i32) else { return };
        if recorded < 0 || real < 0 {
            return;
        }
        let key = self.program_key(0);
        self.parts.places.set_location(key, recorded, real);
        if recorded == real {
            return;
        }
        let program = self.name(Kind::Program, 0);
        let base = name.strip_suffix(b"[0]").unwrap_or(name);
        for element in 1..ARRAY_MAX {
            let element_name = [base, format!("[{element}]\0").as_bytes()].concat();
            let Ok(at) = self.uniform_at(program, &element_name) else { return };
            if at < 0 {
                return;
            }
            self.parts.places.set_location(key, recorded.saturating_add(element), at);
        }
    }

    /// What the driver says of a name that ends with zero.
    fn uniform_at(&self, program: u32, name: &[u8]) -> Result<i32, crate::skip::Skip> {
        type Get = unsafe extern "C" fn(u32, *const c_char) -> i32;
        let get: Get = unsafe { self.own_driver(ids::GL_GET_UNIFORM_LOCATION) }?;
        Ok(unsafe { get(program, name.as_ptr().cast()) })
    }
}

/// Asks, and notes where the driver has what the trace has elsewhere.
pub fn glGetUniformLocation(call: &mut Call<'_, '_>) -> Outcome {
    let program = call.name(Kind::Program, 0);
    let name = call.pointer(1)?;
    let driver: unsafe extern "C" fn(u32, *const c_char) -> i32 =
        unsafe { call.driver(ids::GL_GET_UNIFORM_LOCATION) }?;
    let real = unsafe { driver(program, name) };
    let text = call.observed(1).map(|text| text.to_vec()).unwrap_or_default();
    call.place_uniform(&text, real);
    call.returned(Some(i64::from(real) as u64));
    Ok(())
}

/// The same of an interface of a program, uniforms among others.
pub fn glGetProgramResourceLocation(call: &mut Call<'_, '_>) -> Outcome {
    let program = call.name(Kind::Program, 0);
    let interface = call.u32(1);
    let name = call.pointer(2)?;
    let driver: unsafe extern "C" fn(u32, u32, *const c_char) -> i32 =
        unsafe { call.driver(ids::GL_GET_PROGRAM_RESOURCE_LOCATION) }?;
    let real = unsafe { driver(program, interface, name) };
    if interface == GL_UNIFORM {
        let text = call.observed(2).map(|text| text.to_vec()).unwrap_or_default();
        call.place_uniform(&text, real);
    }
    call.returned(Some(i64::from(real) as u64));
    Ok(())
}
