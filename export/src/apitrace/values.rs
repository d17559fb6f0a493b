//! Values of a `.trace`: a byte for the type, then the value.
//!
//! Numbers are written in groups of seven bits, lowest first; the top bit of a byte is set if another byte follows.
//! Enums, bitmasks and functions are defined at their first use and referred to by number afterwards.

use std::collections::HashMap;
use std::hash::Hash;
use std::io::{self, Write};

use super::container::Container;

/// The byte for the type of a value.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Tag {
    Null = 0,
    Negative = 3,
    Unsigned = 4,
    Float = 5,
    Double = 6,
    String = 7,
    Blob = 8,
    Enum = 9,
    Bitmask = 10,
    Array = 11,
    Opaque = 13,
}

/// The source of the names of an enum or bitmask.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Names {
    /// A group of the trace's description, by its index.
    Group(u16),
    /// `GL_FALSE` and `GL_TRUE`.
    GlBoolean,
    /// `EGL_FALSE` and `EGL_TRUE`.
    EglBoolean,
}

/// Numbers of definitions, in the order of first use.
struct Numbers<K>(HashMap<K, u64>);

impl<K: Hash + Eq> Numbers<K> {
    /// Returns the number of `key`, and whether this is its first use.
    fn of(&mut self, key: K) -> (u64, bool) {
        let next = self.0.len() as u64;
        let mut first = false;
        let number = *self.0.entry(key).or_insert_with(|| {
            first = true;
            next
        });
        (number, first)
    }
}

/// Writes values, and the definitions that they need.
pub struct Values<W> {
    out: Container<W>,
    enums: Numbers<Names>,
    bitmasks: Numbers<Names>,
}

impl<W: Write> Values<W> {
    /// Creates a writer to `out`.
    pub fn new(out: Container<W>) -> Self {
        Self { out, enums: Numbers(HashMap::new()), bitmasks: Numbers(HashMap::new()) }
    }

    /// Writes all buffered bytes and returns the output.
    pub fn finish(self) -> io::Result<W> {
        self.out.finish()
    }

    /// Writes null.
    pub fn null(&mut self) -> io::Result<()> {
        self.byte(Tag::Null as u8)
    }

    /// Writes an unsigned integer.
    pub fn unsigned(&mut self, value: u64) -> io::Result<()> {
        self.byte(Tag::Unsigned as u8)?;
        self.number(value)
    }

    /// Writes a signed integer.
    pub fn signed(&mut self, value: i64) -> io::Result<()> {
        let tag = if value < 0 { Tag::Negative } else { Tag::Unsigned };
        self.byte(tag as u8)?;
        self.number(value.unsigned_abs())
    }

    /// Writes a 32-bit float.
    pub fn float(&mut self, value: f32) -> io::Result<()> {
        self.byte(Tag::Float as u8)?;
        self.out.write_all(&value.to_le_bytes())
    }

    /// Writes a 64-bit float.
    pub fn double(&mut self, value: f64) -> io::Result<()> {
        self.byte(Tag::Double as u8)?;
        self.out.write_all(&value.to_le_bytes())
    }

    /// Writes a string.
    pub fn string(&mut self, text: &[u8]) -> io::Result<()> {
        self.byte(Tag::String as u8)?;
        self.text(text)
    }

    /// Writes an opaque address, or null for 0.
    pub fn address(&mut self, address: u64) -> io::Result<()> {
        if address == 0 {
            return self.null();
        }
        self.byte(Tag::Opaque as u8)?;
        self.number(address)
    }

    /// Begins an array; the caller writes `len` values next.
    pub fn array(&mut self, len: usize) -> io::Result<()> {
        self.byte(Tag::Array as u8)?;
        self.number(len as u64)
    }

    /// Writes an array of `len` zeros.
    pub fn zeros_of(&mut self, len: usize) -> io::Result<()> {
        self.array(len)?;
        (0..len).try_for_each(|_| self.unsigned(0))
    }

    /// Begins a blob; the caller writes `len` bytes next, by [`Self::bytes`] and [`Self::zeros`].
    pub fn blob(&mut self, len: u64) -> io::Result<()> {
        self.byte(Tag::Blob as u8)?;
        self.number(len)
    }

    /// Writes bytes of a blob.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Writes `len` zero bytes of a blob.
    pub fn zeros(&mut self, len: u64) -> io::Result<()> {
        const ZEROS: [u8; 4096] = [0; 4096];
        let mut left = len;
        while left > 0 {
            let part = left.min(ZEROS.len() as u64);
            self.out.write_all(&ZEROS[..part as usize])?;
            left -= part;
        }
        Ok(())
    }

    /// Writes a value of the enum `names`. `values` gives all values and names for the definition at first use.
    pub fn enumerant<'n, I: ExactSizeIterator<Item = (i64, &'n str)>>(
        &mut self,
        names: Names,
        values: impl FnOnce() -> I,
        value: i64,
    ) -> io::Result<()> {
        let (number, first) = self.enums.of(names);
        self.byte(Tag::Enum as u8)?;
        self.number(number)?;
        if first {
            let values = values();
            self.number(values.len() as u64)?;
            for (value, name) in values {
                self.text(name.as_bytes())?;
                self.signed(value)?;
            }
        }
        self.signed(value)
    }

    /// Writes bits of the bitmask `names`.
    pub fn bitmask<'n, I: ExactSizeIterator<Item = (u64, &'n str)>>(
        &mut self,
        names: Names,
        values: impl FnOnce() -> I,
        value: u64,
    ) -> io::Result<()> {
        let (number, first) = self.bitmasks.of(names);
        self.byte(Tag::Bitmask as u8)?;
        self.number(number)?;
        if first {
            let values = values();
            self.number(values.len() as u64)?;
            for (value, name) in values {
                self.text(name.as_bytes())?;
                self.number(value)?;
            }
        }
        self.number(value)
    }

    /// Writes a number without its type.
    pub(super) fn number(&mut self, mut value: u64) -> io::Result<()> {
        let mut bytes = [0; 10];
        let mut len = 0;
        loop {
            let more = value > 0x7F;
            bytes[len] = (value as u8 & 0x7F) | if more { 0x80 } else { 0 };
            len += 1;
            value >>= 7;
            if !more {
                return self.out.write_all(&bytes[..len]);
            }
        }
    }

    /// Writes a string without its type.
    pub(super) fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.out.write_all(text)
    }

    pub(super) fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.out.write_all(&[byte])
    }
}
