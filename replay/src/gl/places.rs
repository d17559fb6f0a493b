//! Locations of uniforms and indices of blocks. A program asks for them by name, and this driver may assign others than
//! the recorded driver. Only programs where some differ are noted, and with a uniform up to 4,096 elements of its array
//! (`ARRAY_MAX`). A location that the program never asked for is used as recorded.

use std::ffi::c_char;

use crate::call::Call;
use crate::names::Kind;
use crate::skip::Outcome;
use gapii_commands::constants::GL_UNIFORM;
use gapii_commands::ids;

/// Number of array elements that are looked up together with the first.
const ARRAY_MAX: i32 = 4096;

impl Call<'_, '_> {
    /// The driver's location of a uniform of the current program.
    pub fn location(&mut self, index: usize) -> i32 {
        let recorded = self.i32(index);
        if self.parts.places.is_empty() {
            return recorded;
        }
        let program = (self.scopes.group, self.active_program());
        self.parts.places.location(program, recorded)
    }

    /// The driver's location of a uniform of the program that an argument names.
    pub fn location_of(&mut self, program: usize, index: usize) -> i32 {
        let program = self.program_key(program);
        self.parts.places.location(program, self.i32(index))
    }

    /// The driver's index of a uniform block of the program that an argument names.
    pub fn uniform_block(&mut self, program: usize, index: usize) -> u32 {
        let program = self.program_key(program);
        self.parts.places.block(program, self.u32(index))
    }

    /// Key of a program: its share group and its recorded name.
    pub(super) fn program_key(&self, index: usize) -> (u32, u32) {
        (self.scopes.group, self.u32(index))
    }

    /// Recorded name of the program whose uniforms `glUniform…` sets: the current program, or the
    /// active program of the bound pipeline.
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

    /// Notes the driver's location of a uniform. If it differs from the recorded one, also looks up
    /// the array elements that follow.
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

    /// The driver's location of a uniform. `name` is NUL-terminated.
    fn uniform_at(&self, program: u32, name: &[u8]) -> Result<i32, crate::skip::Skip> {
        type Get = unsafe extern "C" fn(u32, *const c_char) -> i32;
        let get: Get = unsafe { self.own_driver(ids::GL_GET_UNIFORM_LOCATION) }?;
        Ok(unsafe { get(program, name.as_ptr().cast()) })
    }
}

/// Plays `glGetUniformLocation`, and notes the driver's location.
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

/// Plays `glGetProgramResourceLocation`, and notes the driver's location of a uniform.
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
