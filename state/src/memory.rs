//! The program's memory, and the observer that receives the ranges that a command accesses. Unreadable memory reads as
//! zero: a description continues where a driver would report an error. A string or byte array of more than 16 MiB
//! (`BYTES_MAX`) is not kept.

use crate::{ContextApi, number};

/// The memory of the program that is tracked.
pub trait Memory {
    /// Copies `into.len()` bytes from `address`. Returns false if they are not readable; then `into` is unchanged.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;

    /// Length in bytes of the NUL-terminated string at `address`, without the NUL, at most `most`; 0 if nothing
    /// is readable.
    fn text_len(&self, address: u64, most: u64) -> u64;

    /// Copies `into.len()` bytes from `offset` on of the buffer that is bound to `GL_ELEMENT_ARRAY_BUFFER`, as the
    /// driver has them. Returns false if they can't be had without an effect on the program.
    fn element_buffer(&self, buffer: ElementBuffer, offset: u64, into: &mut [u8]) -> bool {
        let _ = (buffer, offset, into);
        false
    }

    /// Whether the transform feedback object that is bound is active, perhaps paused, as the driver has it. `None` without a
    /// driver. The current context has OpenGL ES 3.0 or OpenGL 4.0, or a later version.
    fn is_feeding_back(&self) -> Option<bool> {
        None
    }

    /// What the driver has as the renderbuffer that is bound. `None` without a driver, or if none is bound. The current context
    /// has OpenGL ES 2.0 or OpenGL 3.0, or a later version.
    fn bound_renderbuffer(&self) -> Option<BoundRenderbuffer> {
        None
    }

    /// What the driver answers when it is asked for `name` of a level of the texture that is bound to `target`, which has
    /// this level. `None` without a driver, and if the image has no such size. The current context has desktop OpenGL.
    fn texture_level(&self, target: u32, level: i32, name: u32) -> Option<i32> {
        let _ = (target, level, name);
        None
    }

    /// Whether the vertices of a draw are known although its indices are not, because a recording has them.
    fn has_vertices(&self) -> bool {
        false
    }
}

/// A renderbuffer, as the driver has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoundRenderbuffer {
    /// In pixels.
    pub width: i32,
    /// In pixels.
    pub height: i32,
    /// Whether its format has depth.
    pub has_depth: bool,
    /// Whether its format has stencil.
    pub has_stencil: bool,
}

/// Facts about the buffer of indices that [`Memory::element_buffer`] reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementBuffer {
    /// API of the context.
    pub api: ContextApi,
    /// Version of the API: major, minor.
    pub version: (u8, u8),
    /// Whether the buffer's data store is immutable, so that its flags say whether it can be mapped.
    pub is_immutable: bool,
}

impl ElementBuffer {
    /// Whether its context has at least version `es` of OpenGL ES, or version `desktop` of desktop OpenGL.
    pub fn has(&self, es: (u8, u8), desktop: (u8, u8)) -> bool {
        self.api.is_es(self.version, es) || self.api.is_desktop(self.version, desktop)
    }
}

impl<M: Memory + ?Sized> Memory for &M {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        M::read(self, address, into)
    }

    fn text_len(&self, address: u64, most: u64) -> u64 {
        M::text_len(self, address, most)
    }

    fn element_buffer(&self, buffer: ElementBuffer, offset: u64, into: &mut [u8]) -> bool {
        M::element_buffer(self, buffer, offset, into)
    }

    fn is_feeding_back(&self) -> Option<bool> {
        M::is_feeding_back(self)
    }

    fn bound_renderbuffer(&self) -> Option<BoundRenderbuffer> {
        M::bound_renderbuffer(self)
    }

    fn texture_level(&self, target: u32, level: i32, name: u32) -> Option<i32> {
        M::texture_level(self, target, level, name)
    }

    fn has_vertices(&self) -> bool {
        M::has_vertices(self)
    }
}

/// Typed reads from memory.
pub trait Values: Memory {
    /// The value at `address`; zero if it is not readable.
    fn get<T: Scalar>(&self, address: u64) -> T {
        T::read(self, address).unwrap_or(T::ZERO)
    }

    /// Element `index` of the array at `address`; zero if `address` is null or the element is not readable.
    fn element<T: Scalar>(&self, address: u64, index: i64) -> T {
        self.readable_element(address, index).unwrap_or(T::ZERO)
    }

    /// Element `index` of the array at `address`. None if `address` is null or the element is not readable.
    fn readable_element<T: Scalar>(&self, address: u64, index: i64) -> Option<T> {
        let offset = index.wrapping_mul(T::BYTES as i64);
        match address {
            0 => None,
            _ => T::read(self, address.wrapping_add(offset as u64)),
        }
    }

    /// `len` bytes at `address`; empty if they are not readable or more than `most`.
    fn bytes(&self, address: u64, len: i64, most: usize) -> Vec<u8> {
        let Some(len) = usize::try_from(len).ok().filter(|len| *len <= most && address != 0) else {
            return Vec::new();
        };
        let mut bytes = vec![0; len];
        if self.read(address, &mut bytes) { bytes } else { Vec::new() }
    }

    /// The NUL-terminated string at `address`, without the NUL, cut after `most` bytes. Invalid UTF-8 is
    /// replaced.
    fn text(&self, address: u64, most: u64) -> String {
        let len = if address == 0 { 0 } else { self.text_len(address, most) };
        let bytes = self.bytes(address, number::int(len), BYTES_MAX);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl<M: Memory + ?Sized> Values for M {}

/// Longest string or byte array that the state keeps, in bytes.
pub const BYTES_MAX: usize = 16 << 20;

/// Memory in which nothing is readable.
pub struct Nothing;

impl Memory for Nothing {
    fn read(&self, _address: u64, _into: &mut [u8]) -> bool {
        false
    }

    fn text_len(&self, _address: u64, _most: u64) -> u64 {
        0
    }
}

/// The parameter index of a range that belongs to no parameter.
pub const NO_PARAM: u8 = 255;

/// Receives the ranges of memory that a command accesses, in the order of its description.
pub trait Observer {
    /// Whether commands that it observes may be compiled into a display list. What such commands change depends on the mode
    /// of the list.
    const COMPILES: bool = true;

    /// The command reads (at enter) or has written (at leave) `len` bytes at `address`, for parameter `param` or
    /// for none ([`NO_PARAM`]).
    fn range(&mut self, param: u8, address: u64, len: u64);

    /// The command reads memory from `address` on, for parameter `param` or for none. How much is not known.
    fn unknown(&mut self, param: u8, address: u64) {
        let _ = (param, address);
    }

    /// The next range must not be merged with the previous one, even if they are adjacent.
    fn apart(&mut self) {}

    /// The driver may read memory of other programs that EGL images were imported from.
    #[inline]
    fn reads_imports(&mut self) {}

    /// A frame ended.
    fn frame(&mut self) {}

    /// A chain of structs ended at a struct without a known layout; `stype` is its first field.
    fn unknown_struct(&mut self, stype: u64) {
        let _ = stype;
    }
}

/// An observer that ignores everything.
pub struct Ignore;

impl Observer for Ignore {
    fn range(&mut self, _param: u8, _address: u64, _len: u64) {}
}

/// A number in C's representation, little-endian.
pub trait Scalar: Copy {
    const ZERO: Self;
    const BYTES: usize;

    /// The value at `address`. None if it is not readable.
    fn read<M: Memory + ?Sized>(memory: &M, address: u64) -> Option<Self>;
}

macro_rules! scalar {
    ($($ty:ty),*) => {$(
        impl Scalar for $ty {
            const ZERO: Self = 0 as $ty;
            const BYTES: usize = size_of::<$ty>();

            fn read<M: Memory + ?Sized>(memory: &M, address: u64) -> Option<Self> {
                let mut bytes = [0; size_of::<$ty>()];
                memory.read(address, &mut bytes).then(|| <$ty>::from_le_bytes(bytes))
            }
        }
    )*};
}

scalar!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An address, and the bytes there.
    pub struct Bytes(pub u64, pub Vec<u8>);

    impl Memory for Bytes {
        fn read(&self, address: u64, into: &mut [u8]) -> bool {
            let from = address.checked_sub(self.0).and_then(|from| usize::try_from(from).ok());
            let found = from.and_then(|from| self.1.get(from..)?.get(..into.len()));
            found.map(|found| into.copy_from_slice(found)).is_some()
        }

        fn text_len(&self, address: u64, most: u64) -> u64 {
            (0..most).take_while(|at| self.get::<u8>(address + at) != 0).count() as u64
        }
    }

    #[test]
    fn element_of_an_array_is_read_by_its_size() {
        let memory = Bytes(0x1000, vec![1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(memory.element::<u32>(0x1000, 1), 2);
    }

    #[test]
    fn unreadable_memory_is_zero() {
        let memory = Bytes(0x1000, vec![1, 2]);
        assert_eq!(memory.element::<u32>(0x1000, 0), 0);
        assert_eq!(memory.element::<u8>(0, 0x1001), 0);
        assert!(memory.bytes(0x1000, 3, 64).is_empty());
        assert!(memory.bytes(0x1000, -1, 64).is_empty());
    }

    #[test]
    fn text_ends_at_its_zero_byte_or_at_the_limit() {
        let memory = Bytes(0x1000, b"abc\0def".to_vec());
        assert_eq!(memory.text(0x1000, 100), "abc");
        assert_eq!(memory.text(0x1000, 2), "ab");
        assert_eq!(memory.text(0, 100), "");
    }
}
