//! Names of objects: those of the trace, and the driver's names for them, by share group or context. A scope takes at
//! most `Limits::names` (1,048,576) names of a kind; a further one stays unknown. A name whose origin is not in the
//! trace is replaced by one that names no object (`stranger`).
//!
//! A name belongs to a share group or to a context, as the API defines. This module only maps
//! names; whether an object still exists is up to the driver.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use gapii_abi::spare_names;

/// Kind of object that a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Buffer,
    Texture,
    Renderbuffer,
    Sampler,
    /// Programs and shaders, which share one set of names.
    Program,
    Sync,
    Semaphore,
    MemoryObject,
    /// Programs in assembly language (GL_ARB_vertex_program), which have a set of names of their own.
    AssemblyProgram,
    AtiFragmentShader,
    /// Handles of Level Zero, which has one set per process.
    LevelZero,
    /// Kinds from here on belong to a context, except `Path` and `Fence`.
    Framebuffer,
    VertexArray,
    Query,
    /// Queries of GL_NV_occlusion_query.
    OcclusionQuery,
    TransformFeedback,
    ProgramPipeline,
    PerfMonitor,
    PerfQuery,
    Path,
    Fence,
}

impl Kind {
    const COUNT: usize = Self::Fence as usize + 1;

    /// Whether a name belongs to a context rather than to its share group.
    pub fn is_of_context(self) -> bool {
        self as u8 >= Self::Framebuffer as u8 && self != Self::Path && self != Self::Fence
    }

    /// Whether an object can be bound, and answered for a binding, after its name was deleted: in another context, or in an
    /// object that holds it (OpenGL ES 3.2, section 5.1.3).
    fn outlives_its_name(self) -> bool {
        matches!(
            self,
            Self::Buffer | Self::Texture | Self::Renderbuffer | Self::Sampler | Self::Program
        )
    }
}

/// A number that names no object. It replaces a name whose origin is not in the trace.
pub const fn stranger(recorded: u64) -> u64 {
    recorded | 0x4000_0000
}

/// The scopes in which a context looks up names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scopes {
    /// Names of the context's share group.
    pub group: u32,
    /// Names of the context alone.
    pub context: u32,
}

/// All names of a replay.
pub struct Names {
    scopes: Vec<Scope>,
    contexts: HashMap<(u32, u64), Scopes>,
    /// The context that was looked up last.
    last: Option<((u32, u64), Scopes)>,
    most: usize,
}

#[derive(Default)]
struct Scope {
    kinds: [Table; Kind::COUNT],
}

/// The names of one kind in one scope.
#[derive(Default)]
struct Table {
    low: Vec<u32>,
    map: HashMap<u64, u64, BuildHasherDefault<NameHasher>>,
    back: HashMap<u64, u64, BuildHasherDefault<NameHasher>>,
    /// The driver's names of deleted objects, each with its recorded name. Such an object may still be bound, and the driver
    /// answers with its name, even if it has given the name out again since, as NVIDIA's driver does.
    former: HashSet<(u64, u64), BuildHasherDefault<NameHasher>>,
    /// The driver's names of objects that a snapshot made under spare names.
    nameless: HashSet<u64, BuildHasherDefault<NameHasher>>,
}

/// Recorded names below this are found without hashing, if the driver's name has 32 bits.
const LOW: u64 = 1 << 14;

impl Names {
    /// No names yet. A scope takes at most `most` names of a kind.
    pub fn new(most: usize) -> Self {
        Self { scopes: Vec::new(), contexts: HashMap::new(), last: None, most }
    }

    /// Adds a context of a process. It shares with `share` if that context is known.
    pub fn add_context(&mut self, process: u32, context: u64, share: Option<u64>) -> Scopes {
        let shared = share.and_then(|share| self.contexts.get(&(process, share))).copied();
        let group = shared.map_or_else(|| self.new_scope(), |shared| shared.group);
        let scopes = Scopes { group, context: self.new_scope() };
        self.contexts.insert((process, context), scopes);
        self.last = None;
        scopes
    }

    /// The scopes of a context. An unknown context is added.
    pub fn scopes(&mut self, process: u32, context: u64) -> Scopes {
        let key = (process, context);
        if let Some((_, scopes)) = self.last.filter(|(last, _)| *last == key) {
            return scopes;
        }
        let known = self.contexts.get(&key).copied();
        let scopes = known.unwrap_or_else(|| self.add_context(process, context, None));
        self.last = Some((key, scopes));
        scopes
    }

    fn new_scope(&mut self) -> u32 {
        self.scopes.push(Scope::default());
        (self.scopes.len() - 1) as u32
    }

    fn table(&self, scopes: Scopes, kind: Kind) -> Option<&Table> {
        let scope = if kind.is_of_context() { scopes.context } else { scopes.group };
        Some(&self.scopes.get(scope as usize)?.kinds[kind as usize])
    }

    fn table_mut(&mut self, scopes: Scopes, kind: Kind) -> Option<&mut Table> {
        let scope = if kind.is_of_context() { scopes.context } else { scopes.group };
        Some(&mut self.scopes.get_mut(scope as usize)?.kinds[kind as usize])
    }

    /// The driver's name of a recorded one. 0 stays 0.
    pub fn find(&self, scopes: Scopes, kind: Kind, recorded: u64) -> Option<u64> {
        if recorded == 0 {
            return Some(0);
        }
        let table = self.table(scopes, kind)?;
        match table.low.get(recorded as usize) {
            Some(&real) if recorded < LOW && real != 0 => Some(u64::from(real)),
            _ => table.map.get(&recorded).copied(),
        }
    }

    /// The recorded name of a driver's one. 0 stays 0.
    pub fn recorded(&self, scopes: Scopes, kind: Kind, real: u64) -> Option<u64> {
        match real {
            0 => Some(0),
            _ => self.table(scopes, kind)?.back.get(&real).copied(),
        }
    }

    /// Whether an object that the recording called `recorded` has, or had, the driver's name `real`. `None` if no object of
    /// this name is known.
    ///
    /// An object that had lost its name when a snapshot described it may have had any name: the trace does not tell.
    pub fn are_one(&self, scopes: Scopes, kind: Kind, recorded: u64, real: u64) -> Option<bool> {
        let last = self.find(scopes, kind, recorded)?;
        let of_deleted = |table: &Table| {
            table.former.contains(&(real, recorded)) || table.nameless.contains(&real)
        };
        Some(last == real || self.table(scopes, kind).is_some_and(of_deleted))
    }

    /// All names of a kind as pairs (recorded, driver's), sorted by the recorded name.
    pub fn all(&self, scopes: Scopes, kind: Kind) -> Vec<(u64, u64)> {
        let back = self.table(scopes, kind).into_iter().flat_map(|table| &table.back);
        let mut all: Vec<_> = back.map(|(real, recorded)| (*recorded, *real)).collect();
        all.sort_unstable();
        all
    }

    /// Notes the driver's name of a new object. A recorded name that had this name of the driver loses it: its
    /// object is deleted. False if the scope has too many names, or if either name is 0.
    pub fn insert(&mut self, scopes: Scopes, kind: Kind, recorded: u64, real: u64) -> bool {
        let most = self.most;
        let Some(table) = self.table_mut(scopes, kind) else { return false };
        if recorded == 0 || real == 0 || table.back.len() >= most {
            return false;
        }
        table.remove(recorded, kind, most);
        if let Some(deleted) = table.back.get(&real).copied() {
            table.remove(deleted, kind, most);
        }
        let is_nameless = spare_names::is_nameless(recorded) && kind.outlives_its_name();
        if is_nameless && table.nameless.len() < most {
            table.nameless.insert(real);
        }
        match u32::try_from(real) {
            Ok(real) if recorded < LOW => {
                let at = recorded as usize;
                if table.low.len() <= at {
                    table.low.resize(at + 1, 0);
                }
                table.low[at] = real;
            }
            _ => {
                table.map.insert(recorded, real);
            }
        }
        table.back.insert(real, recorded);
        true
    }

    /// Forgets a recorded name.
    pub fn remove(&mut self, scopes: Scopes, kind: Kind, recorded: u64) {
        let most = self.most;
        if let Some(table) = self.table_mut(scopes, kind) {
            table.remove(recorded, kind, most);
        }
    }
}

impl Table {
    /// Forgets a recorded name. Up to `most` objects that may still be bound are remembered as former ones.
    fn remove(&mut self, recorded: u64, kind: Kind, most: usize) {
        let low = self.low.get_mut(recorded as usize).map(std::mem::take).unwrap_or_default();
        let high = self.map.remove(&recorded);
        let real = high.unwrap_or(u64::from(low));
        if self.back.get(&real) == Some(&recorded) {
            self.back.remove(&real);
        }
        if real != 0 && kind.outlives_its_name() && self.former.len() < most {
            self.former.insert((real, recorded));
        }
    }
}

/// Hasher for names, which are consecutive numbers or addresses; a multiplication spreads both.
#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_found_in_its_scope_alone() {
        let mut names = Names::new(100);
        let one = names.add_context(0, 0x10, None);
        let shared = names.add_context(0, 0x20, Some(0x10));
        let other = names.add_context(0, 0x30, None);
        names.insert(one, Kind::Texture, 1, 7);
        names.insert(one, Kind::Framebuffer, 1, 9);
        for (scopes, texture, framebuffer) in
            [(one, Some(7), Some(9)), (shared, Some(7), None), (other, None, None)]
        {
            assert_eq!(names.find(scopes, Kind::Texture, 1), texture);
            assert_eq!(names.find(scopes, Kind::Framebuffer, 1), framebuffer);
        }
        assert_eq!(names.scopes(0, 0x20), shared);
    }

    #[test]
    fn name_used_again_means_the_last_object() {
        let mut names = Names::new(100);
        let scopes = names.scopes(0, 1);
        for recorded in [3, LOW - 1, LOW, 1 << 40] {
            names.insert(scopes, Kind::Sync, recorded, 70);
            names.insert(scopes, Kind::Sync, recorded, 0x7fff_0000_1000);
            assert_eq!(names.find(scopes, Kind::Sync, recorded), Some(0x7fff_0000_1000));
            assert_eq!(names.recorded(scopes, Kind::Sync, 70), None);
            assert_eq!(names.recorded(scopes, Kind::Sync, 0x7fff_0000_1000), Some(recorded));
            names.remove(scopes, Kind::Sync, recorded);
            assert_eq!(names.find(scopes, Kind::Sync, recorded), None);
        }
    }

    #[test]
    fn name_that_the_driver_uses_again_belongs_to_the_last_object() {
        let mut names = Names::new(100);
        let scopes = names.scopes(0, 1);
        names.insert(scopes, Kind::Sync, 0x1000, 70);
        names.insert(scopes, Kind::Sync, 0x2000, 70);
        assert_eq!(names.find(scopes, Kind::Sync, 0x1000), None);
        assert_eq!(names.find(scopes, Kind::Sync, 0x2000), Some(70));
        assert_eq!(names.recorded(scopes, Kind::Sync, 70), Some(0x2000));
    }

    #[test]
    fn object_before_the_last_of_a_name_is_known_also_if_the_driver_gives_its_name_out_again() {
        let mut names = Names::new(100);
        let scopes = names.scopes(0, 1);
        names.insert(scopes, Kind::Buffer, 1, 7);
        assert_eq!(names.are_one(scopes, Kind::Buffer, 1, 7), Some(true));
        names.remove(scopes, Kind::Buffer, 1);
        names.insert(scopes, Kind::Buffer, 1, 8);
        for (recorded, real, expected) in
            [(1, 7, Some(true)), (1, 8, Some(true)), (1, 9, Some(false)), (2, 7, None)]
        {
            assert_eq!(names.are_one(scopes, Kind::Buffer, recorded, real), expected, "{real}");
        }
        names.insert(scopes, Kind::Buffer, 2, 7);
        assert_eq!(names.are_one(scopes, Kind::Buffer, 1, 7), Some(true));
        assert_eq!(names.are_one(scopes, Kind::Buffer, 2, 7), Some(true));
        assert_eq!(names.are_one(scopes, Kind::Buffer, 2, 8), Some(false));
    }

    #[test]
    fn object_without_a_name_in_a_snapshot_may_have_any_name_that_is_known() {
        let mut names = Names::new(100);
        let scopes = names.scopes(0, 1);
        let spare = u64::from(spare_names::FIRST_NAMELESS) + 3;
        names.insert(scopes, Kind::Buffer, spare, 14);
        names.insert(scopes, Kind::Buffer, 3, 8);
        let check = |names: &Names, recorded, expected| {
            assert_eq!(names.are_one(scopes, Kind::Buffer, recorded, 14), expected);
        };
        check(&names, 3, Some(true));
        check(&names, 4, None);
        names.remove(scopes, Kind::Buffer, spare);
        check(&names, 3, Some(true));
        names.insert(scopes, Kind::Buffer, 5, 14);
        check(&names, 3, Some(true));
        assert_eq!(names.are_one(scopes, Kind::Buffer, 3, 9), Some(false));
    }

    #[test]
    fn name_beyond_the_limit_is_refused() {
        let mut names = Names::new(2);
        let scopes = names.scopes(0, 1);
        assert!(names.insert(scopes, Kind::Buffer, 1, 1));
        assert!(names.insert(scopes, Kind::Buffer, 2, 2));
        assert!(!names.insert(scopes, Kind::Buffer, 3, 3));
    }
}
