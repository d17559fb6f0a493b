//! Walks over C structs in the program's memory: the structs, the memory behind their pointers, and their chains. A
//! chain may be cyclic, and nested counts multiply, so a walk visits at most 65,536 structs (`STRUCTS_MAX`), nested at
//! most 64 deep (`DEPTH_MAX`); what lies beyond is not observed. A chain ends at a struct without a known layout.

use std::ops::Range;

use crate::memory::{Memory, Observer, Values};
use crate::observe;

/// A C struct. Generated code has one for every `layout` of the descriptions.
pub struct Layout {
    /// In bytes.
    size: u64,
    /// Fields that are pointers or structs.
    fields: &'static [Field],
}

/// The structs that a chain may consist of, by the value of their first field, in ascending order.
pub type Links = [(u32, &'static Layout)];

/// Computes a count from the struct at an address.
pub type Count = fn(&dyn Memory, u64) -> i64;

/// A field that a walk follows.
pub struct Field {
    /// In bytes from the beginning of the struct.
    offset: u64,
    holds: Holds,
}

/// The content of a field that a walk follows.
enum Holds {
    /// Structs.
    Inline(&'static Layout, u64),
    /// A pointer to the next struct of the chain.
    Chain,
    /// A pointer to a NUL-terminated string.
    Text,
    /// A pointer to pointers to NUL-terminated strings.
    Strings(Count),
    /// A pointer to numbers of a size in bytes.
    Numbers(i64, Count),
    /// A pointer to pointers, each to `each` numbers of a size in bytes.
    Pointers { element_bytes: i64, each: Count, count: Count },
    /// A pointer to structs.
    Structs(&'static Layout, Count),
}

/// The offset of a field whose content is not set yet.
pub struct Offset(u64);

impl Layout {
    /// A struct of `size` bytes.
    pub const fn new(size: u64, fields: &'static [Field]) -> Self {
        Self { size, fields }
    }

    /// A field at an offset in bytes.
    pub const fn at(offset: u64) -> Offset {
        Offset(offset)
    }
}

impl Offset {
    const fn holds(self, holds: Holds) -> Field {
        Field { offset: self.0, holds }
    }

    /// An inline array of `count` structs.
    pub const fn inline(self, layout: &'static Layout, count: u64) -> Field {
        self.holds(Holds::Inline(layout, count))
    }

    /// A pointer to the next struct of the chain.
    pub const fn chain(self) -> Field {
        self.holds(Holds::Chain)
    }

    /// A pointer to a NUL-terminated string.
    pub const fn text(self) -> Field {
        self.holds(Holds::Text)
    }

    /// A pointer to `count` pointers to NUL-terminated strings.
    pub const fn strings(self, count: Count) -> Field {
        self.holds(Holds::Strings(count))
    }

    /// A pointer to `count` numbers of `element_bytes` bytes.
    pub const fn numbers(self, element_bytes: i64, count: Count) -> Field {
        self.holds(Holds::Numbers(element_bytes, count))
    }

    /// A pointer to `count` pointers, each to `each` numbers of `element_bytes` bytes.
    pub const fn pointers(self, element_bytes: i64, each: Count, count: Count) -> Field {
        self.holds(Holds::Pointers { element_bytes, each, count })
    }

    /// A pointer to `count` structs.
    pub const fn structs(self, layout: &'static Layout, count: Count) -> Field {
        self.holds(Holds::Structs(layout, count))
    }
}

/// Observes `count` structs at `pointer`, the memory behind their pointers, and their chains.
pub fn structs<M: Memory + ?Sized, O: Observer + ?Sized>(
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    count: i64,
    layout: &Layout,
    links: &Links,
) {
    let mut walk = Visit { memory: &memory, seen, param, links, walk: Walk::default() };
    walk.structs(pointer, count, layout);
}

/// Observes the struct at `pointer`, the memory behind its pointers, and its chain. Its first field identifies its
/// layout.
pub fn chain<M: Memory + ?Sized, O: Observer + ?Sized>(
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    links: &Links,
) {
    Visit { memory: &memory, seen, param, links, walk: Walk::default() }.chain(pointer);
}

/// A walk on behalf of parameter `param` of a command.
struct Visit<'a, O: ?Sized> {
    memory: &'a dyn Memory,
    seen: &'a mut O,
    param: u8,
    links: &'a Links,
    walk: Walk,
}

impl<O: Observer + ?Sized> Visit<'_, O> {
    fn structs(&mut self, pointer: u64, count: i64, layout: &Layout) {
        self.elements(pointer, count, layout.size as i64);
        for index in self.walk.elements(pointer, count) {
            self.inside(pointer.wrapping_add(index as u64 * layout.size), layout);
        }
    }

    fn elements(&mut self, pointer: u64, count: i64, element_bytes: i64) {
        self.seen.apart();
        observe::elements(self.seen, self.param, pointer, count, element_bytes);
    }

    /// Observes the memory behind the pointers of the struct at `at`.
    fn inside(&mut self, at: u64, layout: &Layout) {
        if !self.walk.enter(at) {
            return;
        }
        for field in layout.fields {
            self.field(at, at.wrapping_add(field.offset), &field.holds);
        }
        self.walk.leave();
    }

    /// Observes the memory behind a field of the struct at `at`.
    fn field(&mut self, at: u64, field: u64, holds: &Holds) {
        let memory = self.memory;
        let pointer = || memory.get::<u64>(field);
        match holds {
            Holds::Inline(layout, count) => {
                for index in 0..*count {
                    self.inside(field.wrapping_add(index * layout.size), layout);
                }
            }
            Holds::Chain => self.chain(pointer()),
            Holds::Text => {
                self.seen.apart();
                observe::text(memory, self.seen, self.param, pointer(), i64::MAX);
            }
            Holds::Strings(count) => {
                self.seen.apart();
                observe::strings(memory, self.seen, self.param, pointer(), count(memory, at), 0);
            }
            Holds::Numbers(element_bytes, count) => {
                self.elements(pointer(), count(memory, at), *element_bytes);
            }
            Holds::Pointers { element_bytes, each, count } => {
                let (first, count, each) = (pointer(), count(memory, at), each(memory, at));
                self.elements(first, count, 8);
                for index in self.walk.elements(first, count) {
                    self.elements(memory.element::<u64>(first, index), each, *element_bytes);
                }
            }
            Holds::Structs(layout, count) => self.structs(pointer(), count(memory, at), layout),
        }
    }

    /// Observes the next struct of a chain. A struct without a known layout ends the chain.
    fn chain(&mut self, next: u64) {
        if next == 0 {
            return;
        }
        let stype = self.memory.get::<u32>(next);
        match self.links.binary_search_by_key(&stype, |(stype, _)| *stype) {
            Ok(found) => {
                let Some((_, layout)) = self.links.get(found) else { return };
                self.elements(next, 1, layout.size as i64);
                self.inside(next, layout);
            }
            Err(_) => self.seen.unknown_struct(u64::from(stype)),
        }
    }
}

/// Maximum number of structs that one walk visits.
const STRUCTS_MAX: u32 = 1 << 16;
/// Maximum nesting depth of structs in a walk.
const DEPTH_MAX: u32 = 64;

/// Progress of a walk: the number of visited structs, and the current depth.
#[derive(Default)]
pub struct Walk {
    seen: u32,
    depth: u32,
}

impl Walk {
    /// Returns whether to visit the struct at `address`; if so, the caller calls [`Walk::leave`] afterwards.
    pub fn enter(&mut self, address: u64) -> bool {
        let goes_on = address != 0 && self.seen < STRUCTS_MAX && self.depth < DEPTH_MAX;
        if goes_on {
            self.seen += 1;
            self.depth += 1;
        }
        goes_on
    }

    /// Ends the visit that [`Walk::enter`] began.
    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The indices of an array of `count` structs at `first`, cut at the limit of the walk.
    pub fn elements(&self, first: u64, count: i64) -> Range<i64> {
        let left = i64::from(STRUCTS_MAX.saturating_sub(self.seen));
        0..if first == 0 { 0 } else { count.min(left) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_over_a_cyclic_chain_ends() {
        let mut walk = Walk::default();
        assert_eq!((0..).take_while(|_| walk.enter(0x1000)).count(), DEPTH_MAX as usize);
    }

    #[test]
    fn walk_over_many_structs_ends() {
        let mut walk = Walk::default();
        let mut looked_into = 0;
        while walk.enter(0x1000) {
            looked_into += 1;
            walk.leave();
        }
        assert_eq!(looked_into, STRUCTS_MAX);
    }

    #[test]
    fn array_of_huge_length_is_cut_and_null_is_empty() {
        let walk = Walk::default();
        assert_eq!(walk.elements(0x1000, i64::MAX).count(), STRUCTS_MAX as usize);
        assert_eq!(walk.elements(0, 3).count(), 0);
        assert_eq!(walk.elements(0x1000, -3).count(), 0);
    }
}
