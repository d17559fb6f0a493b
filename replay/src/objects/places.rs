//! Locations of uniforms and indices of blocks that differ from the recorded ones, until the program is linked anew. An
//! unknown one is used as recorded.

use std::collections::{BTreeMap, HashMap};

/// Locations and indices that differ from the recorded ones, by program.
#[derive(Default)]
pub struct Places {
    /// By share group and recorded name of the program.
    programs: HashMap<(u32, u32), Program>,
}

#[derive(Default)]
struct Program {
    locations: BTreeMap<i32, i32>,
    blocks: BTreeMap<u32, u32>,
}

impl Places {
    /// Whether no location or index differs.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// The driver's location of a uniform.
    pub fn location(&self, program: (u32, u32), recorded: i32) -> i32 {
        let found = self.programs.get(&program).and_then(|it| it.locations.get(&recorded));
        found.copied().unwrap_or(recorded)
    }

    /// The driver's index of a uniform block.
    pub fn block(&self, program: (u32, u32), recorded: u32) -> u32 {
        let found = self.programs.get(&program).and_then(|it| it.blocks.get(&recorded));
        found.copied().unwrap_or(recorded)
    }

    /// Notes the driver's location of a uniform.
    pub fn set_location(&mut self, program: (u32, u32), recorded: i32, real: i32) {
        if recorded == real && !self.programs.contains_key(&program) {
            return;
        }
        self.programs.entry(program).or_default().locations.insert(recorded, real);
    }

    /// Notes the driver's index of a uniform block.
    pub fn set_block(&mut self, program: (u32, u32), recorded: u32, real: u32) {
        if recorded == real && !self.programs.contains_key(&program) {
            return;
        }
        self.programs.entry(program).or_default().blocks.insert(recorded, real);
    }

    /// Forgets a program that is linked anew.
    pub fn forget(&mut self, program: (u32, u32)) {
        self.programs.remove(&program);
    }
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
