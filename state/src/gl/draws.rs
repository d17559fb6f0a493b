//! Draws: the vertices and indices that they read from client memory. An array is observed from the first vertex that
//! the draw uses to the end of the last; interleaved arrays are observed as one. A draw without a program (from OpenGL
//! ES 2 on), of no vertices, or of an unknown index type reads nothing. If nobody can tell the indices, the range that
//! the program states counts; without one the first array is named as memory of unknown extent, and `unknown_indices`
//! counts the draw.

use super::formats;
use super::indices::{self, Bounds, IndexBytes};
use crate::{Context, Memory, NO_PARAM, Observer, Scalar, Scope, Thread, VertexArrays};

/// Number of slots of a vertex array object.
const SLOTS: usize = 50;

/// Observes `count` vertices from `first` on, for `instances` instances.
#[inline]
pub fn client_arrays<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    first: i64,
    count: i64,
    base_instance: i64,
    instances: i64,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let arrays = context.arrays();
    if arrays.client == 0 || first < 0 || count <= 0 || instances <= 0 || !has_program(context) {
        return;
    }
    let vertices = Some((first, first.saturating_add(count - 1)));
    observe_arrays(arrays, seen, vertices, (base_instance, instances));
}

/// Observes the indices at `address`, or in the element buffer, and their vertices.
pub fn client_elements<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    address: u64,
    count: i64,
    ty: u32,
    base_vertex: i64,
    base_instance: i64,
    instances: i64,
) {
    let draw = Elements { param: NO_PARAM, pointer: address, count, ty, base_vertex, known: None };
    draw.observe(thread, memory, seen, (base_instance, instances));
}

/// Observes the indices at a parameter, and their vertices.
pub fn elements<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    count: i64,
    ty: u32,
    base_vertex: i64,
    base_instance: i64,
    instances: i64,
) {
    let draw = Elements { param, pointer, count, ty, base_vertex, known: None };
    draw.observe(thread, memory, seen, (base_instance, instances));
}

/// Observes indices for which the program states the lowest and the highest.
pub fn ranged_elements<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    start: u32,
    end: u32,
    count: i64,
    ty: u32,
    base_vertex: i64,
) {
    if end < start {
        return;
    }
    let known = Some(Bounds { lowest: start, highest: end });
    let draw = Elements { param, pointer, count, ty, base_vertex, known };
    draw.observe(thread, memory, seen, (0, 1));
}

/// Observes the parameters of `draws` draws that are `stride` bytes apart (0: adjacent) in client memory, and the vertices
/// and indices that they name. An index type of 0 means draws without indices.
pub fn indirect_draws<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    draws: i64,
    stride: i64,
    ty: u32,
) {
    let numbers: u64 = if ty == 0 { 4 } else { 5 };
    let (Ok(draws), Ok(stride)) = (u64::try_from(draws), u64::try_from(stride)) else { return };
    let stride = if stride == 0 { numbers * 4 } else { stride };
    if pointer == 0 || draws == 0 {
        return;
    }
    seen.range(param, pointer, (draws - 1).saturating_mul(stride).saturating_add(numbers * 4));
    for draw in 0..draws.min(DRAWS_MAX) {
        let at = pointer.wrapping_add(draw.wrapping_mul(stride));
        let number = |index: u64| u32::read(memory, at.wrapping_add(index * 4)).map(i64::from);
        let [Some(count), Some(instances), Some(first)] = [0, 1, 2].map(number) else { return };
        if ty == 0 {
            let Some(base_instance) = number(3) else { return };
            client_arrays(thread, memory, seen, first, count, base_instance, instances);
        } else {
            let base_vertex = i32::read(memory, at.wrapping_add(12)).map(i64::from);
            let (Some(base_vertex), Some(base_instance)) = (base_vertex, number(4)) else { return };
            let offset = first.cast_unsigned() * formats::index_bytes(ty);
            let has_buffer = |thread: &Thread<S>| {
                thread.context.as_deref().is_some_and(|it| it.arrays().element_buffer.is_some())
            };
            if has_buffer(thread) {
                let draw = Elements { param, pointer: offset, count, ty, base_vertex, known: None };
                draw.observe(thread, memory, seen, (base_instance, instances));
            }
        }
    }
}

/// A draw whose parameters nobody can tell: observes its client arrays as memory of unknown extent.
pub fn unknown_arrays<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    if context.arrays().client != 0 && has_program(context) && !memory.has_vertices() {
        count_unknown(context, seen);
    }
}

/// Largest number of draws in one command whose vertices are observed.
const DRAWS_MAX: u64 = 1 << 16;

/// Counts a draw of unknown vertices, and names the first client array as memory of unknown extent.
fn count_unknown<S: Scope, O: Observer + ?Sized>(context: &mut Context<S>, seen: &mut O) {
    context.unknown_indices = context.unknown_indices.saturating_add(1);
    if let Some(address) = first_per_vertex(context.arrays()) {
        seen.unknown(NO_PARAM, address);
    }
}

/// Returns the index that restarts a primitive, if one does. The fixed index has precedence (OpenGL 4.6, 10.3.6).
fn restart_index<S: Scope>(context: &Context<S>, ty: u32) -> Option<u32> {
    if context.primitive_restart {
        return Some(indices::highest(ty));
    }
    context.has_restart_index.then_some(context.restart_index)
}

/// An indexed draw.
struct Elements {
    /// The parameter that points at the indices.
    param: u8,
    pointer: u64,
    count: i64,
    ty: u32,
    base_vertex: i64,
    /// The bounds that the program states; used if the indices cannot be read.
    known: Option<Bounds>,
}

impl Elements {
    fn observe<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
        &self,
        thread: &mut Thread<S>,
        memory: &M,
        seen: &mut O,
        (base_instance, instances): (i64, i64),
    ) {
        let Some(context) = thread.context.as_deref_mut() else { return };
        let arrays = context.arrays();
        let in_buffer = arrays.element_buffer.is_some();
        if in_buffer && arrays.client == 0 {
            return;
        }
        let index_bytes = formats::index_bytes(self.ty);
        if index_bytes == 0 || self.count <= 0 || instances <= 0 || !has_program(context) {
            return;
        }
        let len = (self.count as u64).saturating_mul(index_bytes);
        if !in_buffer {
            if self.pointer == 0 {
                return;
            }
            seen.range(self.param, self.pointer, len);
        }
        let vertices = if takes_vertices(context.arrays()) {
            let bounds = if in_buffer {
                self.in_buffer(context, memory, seen, len)
            } else {
                let restart = restart_index(context, self.ty);
                indices::in_memory(memory, self.pointer, self.count as u64, self.ty, restart)
            };
            bounds.map(|found| {
                let vertex = |index: u32| i64::from(index).saturating_add(self.base_vertex);
                (vertex(found.lowest), vertex(found.highest))
            })
        } else {
            None
        };
        observe_arrays(context.arrays(), seen, vertices, (base_instance, instances));
    }

    /// Returns the bounds of indices in the element buffer. If nobody can tell them, the draw counts as one of unknown
    /// indices, and names the first vertex array as memory of unknown extent.
    fn in_buffer<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
        &self,
        context: &mut Context<S>,
        memory: &M,
        seen: &mut O,
        len: u64,
    ) -> Option<Bounds> {
        let restart = restart_index(context, self.ty);
        let source = context.arrays().element_buffer;
        {
            let group = context.group.lock();
            let buffer = group.buffers.get(source)?;
            if buffer.size == 0 || buffer.contents.is_some() {
                let contents = buffer.contents.as_deref().unwrap_or_default();
                let from = usize::try_from(self.pointer).ok()?;
                let to = from.checked_add(usize::try_from(len).ok()?)?;
                return indices::in_bytes(contents.get(from..to)?, self.ty, restart);
            }
        }
        if self.known.is_some() {
            return self.known;
        }
        match context.read_back_indices(memory, self.pointer, len) {
            IndexBytes::Known(bytes) => indices::in_bytes(&bytes, self.ty, restart),
            IndexBytes::Outside => None,
            IndexBytes::Unknown => {
                if !memory.has_vertices() {
                    count_unknown(context, seen);
                }
                None
            }
        }
    }
}

/// Whether a draw has an effect: without a program only those of a fixed-function pipeline have one.
fn has_program<S: Scope>(context: &Context<S>) -> bool {
    context.api.has_fixed_function(context.version)
        || context.program.is_some()
        || context.pipeline.is_some()
}

/// Returns the address of the first client array that advances per vertex.
fn first_per_vertex(arrays: &VertexArrays) -> Option<u64> {
    let per_vertex = client_slots(arrays)
        .filter_map(|slot| arrays.binding_of(slot).filter(|binding| binding.divisor == 0));
    let addresses = per_vertex.map(|binding| binding.offset);
    addresses.filter(|address| *address != 0).min()
}

/// Whether any client array advances per vertex.
fn takes_vertices(arrays: &VertexArrays) -> bool {
    client_slots(arrays)
        .any(|slot| arrays.binding_of(slot).is_some_and(|binding| binding.divisor == 0))
}

fn client_slots(arrays: &VertexArrays) -> impl Iterator<Item = usize> {
    let client = arrays.client;
    (0..SLOTS).filter(move |slot| client >> slot & 1 != 0)
}

/// Observes vertices `first` to `last`, and the instances, in all enabled client arrays.
fn observe_arrays<O: Observer + ?Sized>(
    arrays: &VertexArrays,
    seen: &mut O,
    vertices: Option<(i64, i64)>,
    (base_instance, instances): (i64, i64),
) {
    let mut ranges = [(0, 0); SLOTS];
    let mut found = 0;
    for slot in client_slots(arrays) {
        if let Some(range) = array_range(arrays, slot, vertices, (base_instance, instances))
            && let Some(place) = ranges.get_mut(found)
        {
            *place = range;
            found += 1;
        }
    }
    let Some(ranges) = ranges.get_mut(..found) else { return };
    ranges.sort_unstable();
    let mut joined: Option<(u64, u64)> = None;
    for (start, end) in ranges.iter().copied() {
        joined = match joined {
            Some((first, last)) if start <= last => Some((first, last.max(end))),
            before => {
                observe(seen, before);
                Some((start, end))
            }
        };
    }
    observe(seen, joined);
}

fn observe<O: Observer + ?Sized>(seen: &mut O, range: Option<(u64, u64)>) {
    if let Some((start, end)) = range {
        seen.range(NO_PARAM, start, end - start);
    }
}

/// Returns start and end of the part of one array that the draw uses.
fn array_range(
    arrays: &VertexArrays,
    slot: usize,
    vertices: Option<(i64, i64)>,
    (base_instance, instances): (i64, i64),
) -> Option<(u64, u64)> {
    let attrib = arrays.attribs.get(slot)?;
    let binding = arrays.binding_of(slot)?;
    let bytes = formats::vertex_bytes(attrib.size, attrib.kind);
    let (first, last) = match i64::from(binding.divisor) {
        0 => vertices?,
        divisor => (base_instance, base_instance.saturating_add((instances - 1) / divisor)),
    };
    let stride = i128::from(binding.stride);
    let base = i128::from(binding.offset) + i128::from(attrib.relative_offset);
    let start = base + i128::from(first) * stride;
    let end = base + i128::from(last) * stride + i128::from(bytes);
    if bytes == 0 || end <= start {
        return None;
    }
    Some((u64::try_from(start).ok()?, u64::try_from(end).ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        Seen, bind_element_buffer, context, define_buffer, enable_vertex_array, set_vertex_array,
        set_vertex_divisor, thread,
    };
    use super::*;
    use crate::Nothing;
    use crate::Whole;
    use crate::memory::tests::Bytes;
    use gapii_commands::constants::*;

    /// A vertex array: slot, size, type, stride, pointer, divisor.
    type Array = (u32, i32, u32, i32, u64, u32);

    fn drawing(version: (u8, u8), arrays: &[Array]) -> Thread<Whole> {
        let mut thread = thread(version);
        for (slot, size, ty, stride, pointer, divisor) in arrays.iter().copied() {
            set_vertex_array(&mut thread, &Nothing, slot, size, ty, stride, pointer);
            enable_vertex_array(&mut thread, &Nothing, slot, true);
            set_vertex_divisor(&mut thread, &Nothing, slot, divisor);
        }
        thread
    }

    const POSITION: Array = (0, 3, GL_FLOAT, 0, 0x1000, 0);

    #[test]
    fn arrays_are_observed_from_the_first_vertex_to_the_last() {
        let check = |arrays: &[Array], draw: (i64, i64, i64, i64), expected: &[(u64, u64)]| {
            let mut thread = drawing((3, 0), arrays);
            let mut seen = Seen::default();
            let (first, count, base_instance, instances) = draw;
            client_arrays(&mut thread, &Nothing, &mut seen, first, count, base_instance, instances);
            let expected: Vec<_> = expected.iter().map(|(at, len)| (NO_PARAM, *at, *len)).collect();
            assert_eq!(seen.0, expected, "{arrays:?} {draw:?}");
        };
        check(&[POSITION], (0, 4, 0, 1), &[(0x1000, 48)]);
        check(&[POSITION], (2, 4, 0, 1), &[(0x1018, 48)]);
        check(&[POSITION], (0, 1, 0, 1), &[(0x1000, 12)]);
        check(&[POSITION], (0, 0, 0, 1), &[]);
        check(&[POSITION], (0, -1, 0, 1), &[]);
        check(&[POSITION], (-1, 3, 0, 1), &[]);
        check(&[POSITION], (0, 3, 0, 0), &[]);
        check(&[POSITION], (0, 3, 0, -1), &[]);
        // The last vertex ends with its numbers, not with its stride.
        check(&[(0, 2, GL_FLOAT, 100, 0x1000, 0)], (0, 3, 0, 1), &[(0x1000, 208)]);
        check(&[(0, 4, GL_UNSIGNED_BYTE, 0, 0x1000, 0)], (0, 3, 0, 1), &[(0x1000, 12)]);
        check(&[(0, 3, GL_SHORT, 8, 0x1000, 0)], (0, 3, 0, 1), &[(0x1000, 22)]);
        check(&[(0, 4, GL_INT_2_10_10_10_REV, 0, 0x1000, 0)], (1, 2, 0, 1), &[(0x1004, 8)]);
        // Interleaved arrays are one range, separate arrays are two.
        let color = (1, 4, GL_UNSIGNED_BYTE, 16, 0x100C, 0);
        let interleaved = [(0, 3, GL_FLOAT, 16, 0x1000, 0), color];
        check(&interleaved, (0, 3, 0, 1), &[(0x1000, 48)]);
        check(&interleaved, (0, 1, 0, 1), &[(0x1000, 16)]);
        check(
            &[(1, 2, GL_FLOAT, 0, 0x4000, 0), POSITION],
            (0, 2, 0, 1),
            &[(0x1000, 24), (0x4000, 16)],
        );
        check(&[POSITION, (1, 3, GL_FLOAT, 0, 0x1000, 0)], (0, 2, 0, 1), &[(0x1000, 24)]);
        // A null pointer has no memory.
        check(&[(0, 3, GL_FLOAT, 0, 0, 0)], (0, 4, 0, 1), &[]);
        check(
            &[(0, 3, GL_FLOAT, 0, 0, 0), (2, 1, GL_FLOAT, 0, 0x2000, 0)],
            (0, 4, 0, 1),
            &[(0x2000, 16)],
        );
        // A divisor advances once per that many instances.
        let instanced = |divisor| (1, 1, GL_FLOAT, 0, 0x2000, divisor);
        check(&[POSITION, instanced(1)], (0, 2, 0, 5), &[(0x1000, 24), (0x2000, 20)]);
        check(&[POSITION, instanced(2)], (0, 2, 0, 5), &[(0x1000, 24), (0x2000, 12)]);
        check(&[POSITION, instanced(5)], (0, 2, 0, 5), &[(0x1000, 24), (0x2000, 4)]);
        check(&[POSITION, instanced(6)], (0, 2, 0, 5), &[(0x1000, 24), (0x2000, 4)]);
        check(&[POSITION, instanced(1)], (0, 2, 3, 2), &[(0x1000, 24), (0x200C, 8)]);
        check(&[POSITION, instanced(2)], (0, 2, 3, 4), &[(0x1000, 24), (0x200C, 8)]);
        check(&[instanced(1)], (7, 2, 0, 1), &[(0x2000, 4)]);
        // Huge numbers cause no panic.
        check(
            &[POSITION],
            (i64::from(i32::MAX), 1, 0, 1),
            &[(0x1000 + 12 * (i32::MAX as u64), 12)],
        );
        check(&[(0, 4, GL_FLOAT, i32::MAX, u64::MAX - 8, 0)], (0, 2, 0, 1), &[]);
    }

    #[test]
    fn arrays_that_are_disabled_or_in_a_buffer_are_not_observed() {
        let mut thread = drawing((3, 0), &[POSITION]);
        enable_vertex_array(&mut thread, &Nothing, 0, false);
        let buffer = context(&mut thread).group.lock().buffers.create(5);
        context(&mut thread).array_buffer = buffer;
        set_vertex_array(&mut thread, &Nothing, 1, 2, GL_FLOAT, 0, 0x40);
        enable_vertex_array(&mut thread, &Nothing, 1, true);
        let mut seen = Seen::default();
        client_arrays(&mut thread, &Nothing, &mut seen, 0, 3, 0, 1);
        assert_eq!(seen, Seen::default());
        assert_eq!(context(&mut thread).arrays().client, 0);
    }

    #[test]
    fn draw_without_a_program_reads_vertices_in_es_1_only() {
        for (version, expected) in [((2, 0), 0), ((3, 2), 0), ((1, 1), 1)] {
            let mut thread = drawing(version, &[POSITION]);
            context(&mut thread).program = crate::Ref::NONE;
            let mut seen = Seen::default();
            client_arrays(&mut thread, &Nothing, &mut seen, 0, 3, 0, 1);
            assert_eq!(seen.0.len(), expected, "{version:?}");
        }
    }

    const INDICES: u64 = 0x8000;

    fn shorts(indices: &[u16]) -> Bytes {
        Bytes(INDICES, indices.iter().flat_map(|index| index.to_le_bytes()).collect())
    }

    #[test]
    fn client_indices_are_observed_with_the_vertices_that_they_name() {
        let check = |indices: &[u16], restart, base_vertex, expected: &[(u64, u64)]| {
            let mut thread = drawing((3, 2), &[POSITION]);
            context(&mut thread).primitive_restart = restart;
            let mut seen = Seen::default();
            let (memory, count) = (shorts(indices), indices.len() as i64);
            let ty = GL_UNSIGNED_SHORT;
            elements(&mut thread, &memory, &mut seen, 3, INDICES, count, ty, base_vertex, 0, 1);
            let mut all = vec![(3, INDICES, 2 * indices.len() as u64)];
            all.extend(expected.iter().map(|(at, len)| (NO_PARAM, *at, *len)));
            assert_eq!(seen.0, all, "{indices:?} {restart} {base_vertex}");
        };
        check(&[0, 1, 2], false, 0, &[(0x1000, 36)]);
        check(&[7, 5, 6], false, 0, &[(0x1000 + 5 * 12, 36)]);
        check(&[0, 1, 2], false, 4, &[(0x1000 + 4 * 12, 36)]);
        check(&[7, 5, 6], false, -5, &[(0x1000, 36)]);
        check(&[2, 0xFFFF, 3], true, 0, &[(0x1000 + 24, 24)]);
        check(&[2, 0xFFFF, 3], false, 0, &[(0x1000 + 24, 12 * 0xFFFE)]);
        check(&[0xFFFF, 0xFFFF], true, 0, &[]);
    }

    #[test]
    fn indices_of_invalid_draws_are_not_read() {
        let check = |count, ty, pointer, instances| {
            let mut thread = drawing((3, 2), &[POSITION]);
            let mut seen = Seen::default();
            let memory = shorts(&[0, 1, 2]);
            elements(&mut thread, &memory, &mut seen, 3, pointer, count, ty, 0, 0, instances);
            assert_eq!(seen, Seen::default(), "{count} {ty:#x} {pointer:#x} {instances}");
        };
        check(-1, GL_UNSIGNED_SHORT, INDICES, 1);
        check(0, GL_UNSIGNED_SHORT, INDICES, 1);
        check(3, GL_FLOAT, INDICES, 1);
        check(3, GL_UNSIGNED_SHORT, 0, 1);
        check(3, GL_UNSIGNED_SHORT, INDICES, 0);
    }

    #[test]
    fn unreadable_indices_are_observed_without_vertices() {
        let mut thread = drawing((3, 2), &[POSITION]);
        let mut seen = Seen::default();
        elements(&mut thread, &Nothing, &mut seen, 3, INDICES, 3, GL_UNSIGNED_BYTE, 0, 0, 1);
        assert_eq!(seen.0, [(3, INDICES, 3)]);
    }

    /// Returns a thread that draws with an element buffer of these contents.
    fn with_element_buffer(indices: &[u16]) -> Thread<Whole> {
        let mut thread = drawing((3, 2), &[POSITION]);
        let buffer = context(&mut thread).group.lock().buffers.create(9);
        bind_element_buffer(&mut thread, &Nothing, buffer);
        let size = 2 * indices.len() as i64;
        define_buffer(&mut thread, &shorts(indices), GL_ELEMENT_ARRAY_BUFFER, size, INDICES);
        thread
    }

    #[test]
    fn indices_in_a_buffer_are_read_from_the_offset_of_the_draw() {
        let mut thread = with_element_buffer(&[40, 41, 5, 6, 7]);
        let mut seen = Seen::default();
        elements(&mut thread, &Nothing, &mut seen, 3, 4, 3, GL_UNSIGNED_SHORT, 0, 0, 1);
        assert_eq!(seen.0, [(NO_PARAM, 0x1000 + 5 * 12, 36)]);
        // Beyond the end of the buffer the driver draws nothing defined.
        elements(&mut thread, &Nothing, &mut seen, 3, 6, 3, GL_UNSIGNED_SHORT, 0, 0, 1);
        assert_eq!(seen.0.len(), 1);
    }

    #[test]
    fn unknown_indices_are_counted_unless_the_draw_states_their_range() {
        let mut thread = with_element_buffer(&[1, 2, 3]);
        let buffer = context(&mut thread).arrays().element_buffer;
        super::super::buffers::lose_contents(&mut thread, &Nothing, buffer);
        let mut seen = Seen::default();
        elements(&mut thread, &Nothing, &mut seen, 3, 0, 3, GL_UNSIGNED_SHORT, 0, 0, 1);
        assert_eq!(seen, Seen::default());
        assert_eq!(context(&mut thread).unknown_indices, 1);
        ranged_elements(&mut thread, &Nothing, &mut seen, 5, 0, 1, 4, 3, GL_UNSIGNED_SHORT, 0);
        assert_eq!(seen.0, [(NO_PARAM, 0x1000 + 12, 48)]);
        assert_eq!(context(&mut thread).unknown_indices, 1);
    }

    #[test]
    fn ranged_draw_reads_the_vertices_of_its_indices() {
        let mut thread = drawing((3, 2), &[POSITION]);
        let memory = shorts(&[3, 4]);
        let mut seen = Seen::default();
        ranged_elements(&mut thread, &memory, &mut seen, 5, INDICES, 0, 9, 2, GL_UNSIGNED_SHORT, 0);
        assert_eq!(seen.0, [(5, INDICES, 4), (NO_PARAM, 0x1000 + 36, 24)]);
        let mut seen = Seen::default();
        ranged_elements(&mut thread, &memory, &mut seen, 5, INDICES, 9, 0, 2, GL_UNSIGNED_SHORT, 0);
        assert_eq!(seen, Seen::default());
    }

    #[test]
    fn draw_with_instanced_arrays_alone_does_not_read_indices() {
        let mut thread = drawing((3, 2), &[(0, 1, GL_FLOAT, 0, 0x2000, 1)]);
        let mut seen = Seen::default();
        elements(&mut thread, &Nothing, &mut seen, 3, INDICES, 3, GL_UNSIGNED_INT, 0, 0, 4);
        assert_eq!(seen.0, [(3, INDICES, 12), (NO_PARAM, 0x2000, 16)]);
    }
}
