//! Whole state as bytes, and back, for tools that continue to follow a trace from a stored state. Every field of every
//! struct that the descriptions declare is stored, so a restored state changes like the one that was stored. Bytes that no
//! state was stored as give no state, or one that differs; they never cause a panic, and no length in them is believed:
//! memory is allocated for what is there. Only a program of the same build can restore what it stored.
//!
//! Whole numbers are LEB128, signed ones zigzag-encoded before. State behind an [`Arc`] is stored once, where it is
//! first referred to.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex};

/// State that can be stored.
pub trait Stored: Sized {
    /// Appends the state to `to`.
    fn store(&self, to: &mut Writer);

    /// Takes state from the front of `from`; `None` if it is none.
    fn restore(from: &mut Reader<'_>) -> Option<Self>;

    /// Appends the elements of a list.
    fn store_all(list: &[Self], to: &mut Writer) {
        list.iter().for_each(|element| element.store(to));
    }

    /// Takes the `count` elements of a list; each has one byte at least.
    fn restore_all(count: usize, from: &mut Reader<'_>) -> Option<Vec<Self>> {
        // Not reserved: the count is only a claim.
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(Self::restore(from)?);
        }
        Some(list)
    }
}

/// Stored state.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// Addresses of the shared state that is stored; the index is the number under which it is referred to.
    shared: Vec<usize>,
}

impl Writer {
    /// Returns what was stored.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// Stored state that is being restored.
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// Shared state by its number; `None` while it is being restored.
    shared: Vec<Option<Arc<dyn Any + Send + Sync>>>,
}

impl<'a> Reader<'a> {
    /// A reader of what a [`Writer`] stored.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, shared: Vec::new() }
    }

    /// Whether everything was restored.
    pub fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Takes a number of elements, which is at most the number of bytes that are left.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.bytes.len()).then_some(count)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }
}

macro_rules! unsigned {
    ($($ty:ty),*) => {$(
        impl Stored for $ty {
            fn store(&self, to: &mut Writer) {
                to.number(u64::from(*self));
            }

            fn restore(from: &mut Reader<'_>) -> Option<Self> {
                from.number()?.try_into().ok()
            }
        }
    )*};
}

unsigned!(u16, u32, u64);

impl Stored for u8 {
    fn store(&self, to: &mut Writer) {
        to.bytes.push(*self);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        from.take(1)?.first().copied()
    }

    fn store_all(list: &[Self], to: &mut Writer) {
        to.bytes.extend_from_slice(list);
    }

    fn restore_all(count: usize, from: &mut Reader<'_>) -> Option<Vec<Self>> {
        from.take(count).map(<[u8]>::to_vec)
    }
}

macro_rules! signed {
    ($($ty:ty),*) => {$(
        impl Stored for $ty {
            fn store(&self, to: &mut Writer) {
                let number = i64::from(*self);
                to.number((number << 1 ^ number >> 63).cast_unsigned());
            }

            fn restore(from: &mut Reader<'_>) -> Option<Self> {
                let number = from.number()?;
                let signed = (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
                signed.try_into().ok()
            }
        }
    )*};
}

signed!(i8, i16, i32, i64);

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl Stored for $ty {
            fn store(&self, to: &mut Writer) {
                to.bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn restore(from: &mut Reader<'_>) -> Option<Self> {
                let bytes = from.take(size_of::<$ty>())?;
                Some(<$ty>::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

floats!(f32, f64);

impl Stored for bool {
    fn store(&self, to: &mut Writer) {
        u8::from(*self).store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        match u8::restore(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Stored for String {
    fn store(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        to.bytes.extend_from_slice(self.as_bytes());
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        let count = from.count()?;
        std::str::from_utf8(from.take(count)?).ok().map(str::to_owned)
    }
}

impl Stored for () {
    fn store(&self, _: &mut Writer) {}

    fn restore(_: &mut Reader<'_>) -> Option<Self> {
        Some(())
    }
}

impl<T: Stored> Stored for Option<T> {
    fn store(&self, to: &mut Writer) {
        self.is_some().store(to);
        if let Some(value) = self {
            value.store(to);
        }
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        match bool::restore(from)? {
            true => Some(Some(T::restore(from)?)),
            false => Some(None),
        }
    }
}

impl<T: Stored> Stored for Box<T> {
    fn store(&self, to: &mut Writer) {
        self.as_ref().store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        T::restore(from).map(Box::new)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn store(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        T::store_all(self, to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        let count = from.count()?;
        T::restore_all(count, from)
    }
}

impl<T: Stored> Stored for VecDeque<T> {
    fn store(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        self.iter().for_each(|element| element.store(to));
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        Vec::restore(from).map(Self::from)
    }
}

impl<T: Stored, const N: usize> Stored for [T; N] {
    fn store(&self, to: &mut Writer) {
        T::store_all(self, to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        T::restore_all(N, from)?.try_into().ok()
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn store(&self, to: &mut Writer) {
        self.0.store(to);
        self.1.store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        Some((A::restore(from)?, B::restore(from)?))
    }
}

impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn store(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        for (key, value) in self {
            key.store(to);
            value.store(to);
        }
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        let count = from.count()?;
        (0..count).map(|_| Some((K::restore(from)?, V::restore(from)?))).collect()
    }
}

impl<T: Stored> Stored for Mutex<T> {
    fn store(&self, to: &mut Writer) {
        self.lock().unwrap_or_else(std::sync::PoisonError::into_inner).store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        T::restore(from).map(Self::new)
    }
}

/// The state behind the reference is stored where it is first referred to.
impl<T: Stored + Send + Sync + 'static> Stored for Arc<T> {
    fn store(&self, to: &mut Writer) {
        let address = Arc::as_ptr(self).addr();
        let known = to.shared.iter().position(|known| *known == address);
        to.number(known.unwrap_or(to.shared.len()) as u64);
        if known.is_none() {
            to.shared.push(address);
            self.as_ref().store(to);
        }
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        let number = usize::try_from(from.number()?).ok()?;
        if let Some(known) = from.shared.get(number) {
            return known.clone()?.downcast().ok();
        }
        if number != from.shared.len() {
            return None;
        }
        from.shared.push(None);
        let restored = Arc::new(T::restore(from)?);
        *from.shared.get_mut(number)? = Some(restored.clone());
        Some(restored)
    }
}

macro_rules! atomics {
    ($($ty:ty),*) => {$(
        impl Stored for $ty {
            fn store(&self, to: &mut Writer) {
                // Relaxed: who stores state has it to himself.
                self.load(Relaxed).store(to);
            }

            fn restore(from: &mut Reader<'_>) -> Option<Self> {
                Stored::restore(from).map(Self::new)
            }
        }
    )*};
}

atomics!(AtomicU32, AtomicU64);

/// Implements [`Stored`] for a struct by its fields, in order. Further fields get the values behind the braces.
#[macro_export]
macro_rules! stored_struct {
    (@functions { $($field:ident,)* } $($more:tt)*) => {
        fn store(&self, _to: &mut $crate::stored::Writer) {
            $($crate::stored::Stored::store(&self.$field, _to);)*
        }

        fn restore(_from: &mut $crate::stored::Reader<'_>) -> Option<Self> {
            Some(Self { $($field: $crate::stored::Stored::restore(_from)?,)* $($more)* })
        }
    };
    (impl<$($param:ident $(: $bound:path)?),*> $name:ty { $($field:ident),* $(,)? } $($more:tt)*) => {
        impl<$($param $(: $bound)?),*> $crate::stored::Stored for $name {
            $crate::stored_struct!(@functions { $($field,)* } $($more)*);
        }
    };
    ($name:ty { $($field:ident),* $(,)? } $($more:tt)*) => {
        impl $crate::stored::Stored for $name {
            $crate::stored_struct!(@functions { $($field,)* } $($more)*);
        }
    };
}

/// Implements [`Stored`] for an enum without fields.
#[macro_export]
macro_rules! stored_enum {
    ($name:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::stored::Stored for $name {
            fn store(&self, to: &mut $crate::stored::Writer) {
                $crate::stored::Stored::store(&(*self as u8), to);
            }

            fn restore(from: &mut $crate::stored::Reader<'_>) -> Option<Self> {
                let code: u8 = $crate::stored::Stored::restore(from)?;
                [$(Self::$variant),*].into_iter().find(|variant| *variant as u8 == code)
            }
        }
    };
}
