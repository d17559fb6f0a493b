//! Vertex arrays: changes by commands, and the set of enabled arrays in client memory. An array without a buffer and
//! with a null pointer does not count as one in client memory.

use super::formats;
use crate::{Buffer, Context, Memory, Ref, Scope, Thread, VertexArray, VertexArrays};

impl<S: Scope> Context<S> {
    /// Returns the vertex arrays of the bound vertex array object.
    #[inline]
    pub fn arrays(&self) -> &VertexArrays {
        match self.vertex_arrays.get(self.vertex_array) {
            Some(bound) => &bound.arrays,
            None => &self.default_arrays,
        }
    }

    #[inline]
    pub(super) fn arrays_mut(&mut self) -> &mut VertexArrays {
        self.arrays_of(self.vertex_array)
    }

    /// Returns the vertex arrays of a vertex array object; none is the default one.
    #[inline]
    pub(super) fn arrays_of(&mut self, array: Ref<VertexArray>) -> &mut VertexArrays {
        match self.vertex_arrays.get_mut(array) {
            Some(object) => &mut object.arrays,
            None => &mut self.default_arrays,
        }
    }
}

impl crate::VertexAttrib {
    /// Returns the size of one value in bytes, which is what a stride of 0 in a pointer command stands for.
    pub fn bytes(&self) -> i32 {
        i32::try_from(formats::vertex_bytes(self.size, self.kind)).unwrap_or(0)
    }
}

impl VertexArrays {
    /// Returns the binding point of a slot.
    pub fn binding_of(&self, slot: usize) -> Option<&crate::VertexBinding> {
        let shift = isize::try_from(self.attribs.get(slot)?.binding_shift).ok()?;
        self.bindings.get(slot.checked_add_signed(shift)?)
    }

    /// Whether a slot is enabled and its array is in client memory.
    fn is_client(&self, slot: usize) -> bool {
        self.attribs.get(slot).is_some_and(|attrib| attrib.enabled)
            && self.binding_of(slot).is_some_and(|at| at.buffer.is_none() && at.offset != 0)
    }

    /// Sets a slot's array in `buffer`, or in client memory if `buffer` is none. `set` makes the other changes.
    #[inline(always)]
    fn place(
        &mut self,
        slot: usize,
        buffer: Ref<Buffer>,
        (size, ty): (i32, u32),
        (stride, pointer): (i32, u64),
        set: impl FnOnce(&mut crate::VertexAttrib),
    ) {
        let packed = || i32::try_from(formats::vertex_bytes(size, ty)).unwrap_or(0);
        let stride = if stride == 0 { packed() } else { stride };
        let slots = (self.bindings.get_mut(slot), self.attribs.get_mut(slot));
        let (Some(binding), Some(attrib)) = slots else { return };
        binding.buffer = buffer;
        binding.offset = pointer;
        binding.stride = stride;
        attrib.size = size;
        attrib.kind = ty;
        attrib.long = false;
        attrib.relative_offset = 0;
        attrib.binding_shift = 0;
        set(attrib);
        self.find_client(slot);
    }

    /// Updates the mask of arrays in client memory, after a change of a slot or of the binding point with the same
    /// index.
    #[inline]
    fn find_client(&mut self, slot: usize) {
        if self.is_shifted {
            self.find_all_client();
        } else if let (Some(attrib), Some(at)) = (self.attribs.get(slot), self.bindings.get(slot)) {
            let is_client = attrib.enabled && at.buffer.is_none() && at.offset != 0;
            self.client = self.client & !(1 << slot) | u64::from(is_client) << slot;
        }
    }

    #[cold]
    #[inline(never)]
    fn find_all_client(&mut self) {
        let slots = (0..self.attribs.len()).filter(|slot| self.is_client(*slot));
        let client = slots.fold(0, |bits, slot| bits | 1 << slot);
        self.client = client;
    }

    /// Removes a buffer from all binding points.
    pub(super) fn unbind(&mut self, buffer: Ref<Buffer>) {
        for binding in self.bindings.iter_mut().filter(|binding| binding.buffer == buffer) {
            binding.buffer = Ref::NONE;
        }
        if self.element_buffer == buffer {
            self.element_buffer = Ref::NONE;
        }
        self.find_all_client();
    }
}

/// Sets the array of a slot: at an offset in a buffer, or at an address if the buffer is none.
pub fn set_array_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    buffer: Ref<Buffer>,
    slot: u32,
    size: i32,
    ty: u32,
    stride: i32,
    pointer: u64,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    context.arrays_of(array).place(slot as usize, buffer, (size, ty), (stride, pointer), |_| {});
}

/// glVertexAttribPointer: sets the array of a slot like [`set_array_of`], and its format.
#[inline(always)]
pub fn set_pointer_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    buffer: Ref<Buffer>,
    slot: u32,
    size: i32,
    ty: u32,
    normalized: bool,
    integer: bool,
    stride: i32,
    pointer: u64,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    context.arrays_of(array).place(
        slot as usize,
        buffer,
        (size, ty),
        (stride, pointer),
        |attrib| {
            attrib.normalized = normalized;
            attrib.integer = integer;
        },
    );
}

/// Enables or disables a slot.
#[inline]
pub fn enable_array_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    slot: u32,
    enabled: bool,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let slot = slot as usize;
    let arrays = context.arrays_of(array);
    if let Some(attrib) = arrays.attribs.get_mut(slot)
        && attrib.enabled != enabled
    {
        attrib.enabled = enabled;
        arrays.find_client(slot);
    }
}

/// Sets the format of a slot (size, type, normalisation), but not its binding point.
#[inline]
pub fn set_format_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    slot: u32,
    size: i32,
    ty: u32,
    normalized: bool,
    integer: bool,
    relative_offset: u32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    if let Some(attrib) = context.arrays_of(array).attribs.get_mut(slot as usize) {
        attrib.size = size;
        attrib.kind = ty;
        attrib.normalized = normalized;
        attrib.integer = integer;
        attrib.long = false;
        attrib.relative_offset = relative_offset;
    }
}

/// Marks the numbers of a slot as double-precision ones for shaders.
pub fn set_long_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    slot: u32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    if let Some(attrib) = context.arrays_of(array).attribs.get_mut(slot as usize) {
        attrib.long = true;
    }
}

/// Sets the binding point of a slot.
#[inline]
pub fn set_binding_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    slot: u32,
    binding: u32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let arrays = context.arrays_of(array);
    if let Some(attrib) = arrays.attribs.get_mut(slot as usize) {
        attrib.binding_shift = binding.wrapping_sub(slot).cast_signed();
        arrays.is_shifted |= binding != slot;
        arrays.find_client(slot as usize);
    }
}

/// Binds a buffer, with offset and stride, to a binding point.
pub fn bind_buffer_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    binding: u32,
    buffer: Ref<Buffer>,
    offset: i64,
    stride: i32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let place = binding as usize;
    let arrays = context.arrays_of(array);
    if let Some(binding) = arrays.bindings.get_mut(place) {
        binding.buffer = buffer;
        binding.offset = offset.cast_unsigned();
        binding.stride = stride;
        arrays.find_client(place);
    }
}

/// Sets the divisor of a binding point: 0 advances per vertex, n once per n instances.
pub fn set_divisor_of<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    array: Ref<VertexArray>,
    binding: u32,
    divisor: u32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    if let Some(binding) = context.arrays_of(array).bindings.get_mut(binding as usize) {
        binding.divisor = divisor;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        bind_vertex_buffer, context, enable_vertex_array, set_vertex_array, set_vertex_binding,
        thread,
    };
    use super::*;
    use crate::Nothing;
    use crate::Whole;
    use gapii_commands::constants::*;

    fn client(thread: &mut Thread<Whole>) -> u64 {
        context(thread).arrays().client
    }

    #[test]
    fn array_is_in_client_memory_while_it_is_enabled_and_its_pointer_is_not_null() {
        let mut thread = thread((2, 0));
        set_vertex_array(&mut thread, &Nothing, 3, 2, GL_FLOAT, 0, 0x1000);
        assert_eq!(client(&mut thread), 0);
        enable_vertex_array(&mut thread, &Nothing, 3, true);
        assert_eq!(client(&mut thread), 8);
        enable_vertex_array(&mut thread, &Nothing, 4, true);
        assert_eq!(client(&mut thread), 8);
        let buffer = context(&mut thread).group.lock().buffers.create(1);
        context(&mut thread).array_buffer = buffer;
        set_vertex_array(&mut thread, &Nothing, 3, 2, GL_FLOAT, 0, 0x1000);
        assert_eq!(client(&mut thread), 0);
        // OpenGL ES 1.1 has slots of its own.
        context(&mut thread).array_buffer = Ref::NONE;
        set_vertex_array(&mut thread, &Nothing, 45, 2, GL_FLOAT, 0, 0x1000);
        enable_vertex_array(&mut thread, &Nothing, 45, true);
        assert_eq!(client(&mut thread), 1 << 45);
        enable_vertex_array(&mut thread, &Nothing, 50, true);
        assert_eq!(client(&mut thread), 1 << 45);
    }

    #[test]
    fn slot_with_another_binding_point_follows_that() {
        let mut thread = thread((3, 1));
        set_vertex_array(&mut thread, &Nothing, 0, 2, GL_FLOAT, 0, 0x1000);
        set_vertex_binding(&mut thread, &Nothing, 5, 0);
        enable_vertex_array(&mut thread, &Nothing, 5, true);
        assert_eq!(client(&mut thread), 1 << 5);
        set_vertex_binding(&mut thread, &Nothing, 5, 6);
        assert_eq!(client(&mut thread), 0);
        set_vertex_binding(&mut thread, &Nothing, 5, 0);
        let buffer = context(&mut thread).group.lock().buffers.create(1);
        bind_vertex_buffer(&mut thread, &Nothing, 0, buffer, 16, 8);
        assert_eq!(client(&mut thread), 0);
        // A binding point without a buffer has only an offset.
        bind_vertex_buffer(&mut thread, &Nothing, 0, Ref::NONE, 0, 8);
        assert_eq!(client(&mut thread), 0);
        set_vertex_binding(&mut thread, &Nothing, 5, u32::MAX);
        assert_eq!(client(&mut thread), 0);
    }

    #[test]
    fn stride_of_zero_means_packed_vertices() {
        let mut thread = thread((2, 0));
        set_vertex_array(&mut thread, &Nothing, 0, 3, GL_SHORT, 0, 0x1000);
        assert_eq!(context(&mut thread).arrays().bindings[0].stride, 6);
        set_vertex_array(&mut thread, &Nothing, 0, 3, GL_SHORT, 16, 0x1000);
        assert_eq!(context(&mut thread).arrays().bindings[0].stride, 16);
    }

    #[test]
    fn each_vertex_array_object_has_its_own_arrays() {
        let mut thread = thread((2, 0));
        set_vertex_array(&mut thread, &Nothing, 0, 3, GL_FLOAT, 0, 0x1000);
        enable_vertex_array(&mut thread, &Nothing, 0, true);
        let object = context(&mut thread).vertex_arrays.create(1);
        context(&mut thread).vertex_array = object;
        assert_eq!(client(&mut thread), 0);
        enable_vertex_array(&mut thread, &Nothing, 2, true);
        context(&mut thread).vertex_array = Ref::NONE;
        assert_eq!(client(&mut thread), 1);
    }
}
