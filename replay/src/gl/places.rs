//! Where programs have their uniforms and blocks: numbers of the driver's own, which a program asks
//! for by name and this driver may give otherwise.
//!
//! Only numbers that differ are kept; all others are what they were.

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_char;

use crate::call::{Call, Outcome};
use crate::driver::function;
use crate::generated::ids;
use crate::names::Kind;

/// Elements of an array that are looked up together with its first.
const ARRAY_MAX: i32 = 4096;

const GL_UNIFORM: u32 = 0x92E1;

/// Places in programs that differ from the recorded ones.
#[derive(Default)]
pub(super) struct Places {
    /// By share group and recorded name.
    programs: HashMap<(u32, u32), Program>,
}

#[derive(Default)]
struct Program {
    locations: BTreeMap<i32, i32>,
    blocks: BTreeMap<u32, u32>,
}

impl Places {
    fn location(&self, program: (u32, u32), recorded: i32) -> i32 {
        let found = self.programs.get(&program).and_then(|it| it.locations.get(&recorded));
        found.copied().unwrap_or(recorded)
    }

    fn block(&self, program: (u32, u32), recorded: u32) -> u32 {
        let found = self.programs.get(&program).and_then(|it| it.blocks.get(&recorded));
        found.copied().unwrap_or(recorded)
    }

    fn set_location(&mut self, program: (u32, u32), recorded: i32, real: i32) {
        if recorded == real && !self.programs.contains_key(&program) {
            return;
        }
        self.programs.entry(program).or_default().locations.insert(recorded, real);
    }

    pub fn set_block(&mut self, program: (u32, u32), recorded: u32, real: u32) {
        if recorded == real && !self.programs.contains_key(&program) {
            return;
        }
        self.programs.entry(program).or_default().blocks.insert(recorded, real);
    }

    /// The program is linked anew.
    pub fn forget(&mut self, program: (u32, u32)) {
        self.programs.remove(&program);
    }
}

impl Call<'_, '_> {
    /// Where the current program has a uniform.
    pub fn location(&mut self, index: usize) -> i32 {
        let recorded = self.i32(index);
        if self.parts.gl.places.programs.is_empty() {
            return recorded;
        }
        let program = (self.scopes.group, self.active_program());
        self.parts.gl.places.location(program, recorded)
    }

    /// Where the program of an argument has a uniform.
    pub fn location_of(&mut self, program: usize, index: usize) -> i32 {
        let program = self.program_key(program);
        self.parts.gl.places.location(program, self.i32(index))
    }

    /// Which of the program's blocks of uniforms is meant.
    pub fn uniform_block(&mut self, program: usize, index: usize) -> u32 {
        let program = self.program_key(program);
        self.parts.gl.places.block(program, self.u32(index))
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
        self.parts.gl.places.set_location(key, recorded, real);
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
            self.parts.gl.places.set_location(key, recorded.saturating_add(element), at);
        }
    }

    /// What the driver says of a name that ends with zero.
    fn uniform_at(&self, program: u32, name: &[u8]) -> Result<i32, crate::call::Skip> {
        type Get = unsafe extern "C" fn(u32, *const c_char) -> i32;
        let get: Get = unsafe { self.own_driver(const { function("glGetUniformLocation") }) }?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_do_not_differ_are_not_kept() {
        let mut places = Places::default();
        places.set_location((0, 1), 3, 3);
        assert!(places.programs.is_empty());
        assert_eq!(places.location((0, 1), 3), 3);
    }

    #[test]
    fn place_is_that_of_its_program_until_that_is_linked_anew() {
        let mut places = Places::default();
        places.set_location((0, 1), 3, 7);
        places.set_location((0, 1), 7, 7);
        places.set_block((0, 1), 0, 2);
        for (program, recorded, expected) in
            [((0, 1), 3, 7), ((0, 1), 7, 7), ((0, 1), 4, 4), ((1, 1), 3, 3), ((0, 2), 3, 3)]
        {
            assert_eq!(places.location(program, recorded), expected);
        }
        assert_eq!(places.block((0, 1), 0), 2);
        places.forget((0, 1));
        assert_eq!(places.location((0, 1), 3), 3);
        assert_eq!(places.block((0, 1), 0), 0);
    }
}
