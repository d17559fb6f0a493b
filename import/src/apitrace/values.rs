//! Values of a `.trace`: a byte for the type, then the value.
//!
//! Numbers are in groups of seven bits, lowest first; the top bit of a byte is set if another byte follows. Signatures of
//! enums, bitmasks and structs stand at their first use; their names are passed over, because values are numbers.
//!
//! A call may have 4,194,304 values (`VALUES_MAX`) and 1 GiB of strings and blobs (`BYTES_MAX`), nested 16 deep
//! (`DEPTH_MAX`). Memory grows with what is there, not with a length that the file claims.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use super::container::Container;
use super::read_error::ReadError;

const VALUES_MAX: usize = 1 << 22;
const BYTES_MAX: u64 = 1 << 30;
const DEPTH_MAX: usize = 16;
/// Signatures that are remembered, of each kind.
const SIGNATURES_MAX: usize = 1 << 16;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A null pointer.
    Null,
    /// An integer, a boolean, an enum or a bitmask: its bits, sign-extended.
    Integer(u64),
    /// A 32-bit float.
    Float(f32),
    /// A 64-bit float.
    Double(f64),
    /// A string, without a NUL.
    Text(Vec<u8>),
    /// Bytes.
    Blob(Vec<u8>),
    /// An array, or the members of a struct.
    Array(Vec<Value>),
    /// An address.
    Address(u64),
}

/// Reads values, and passes over the signatures that they need.
pub struct Values<R> {
    pub input: Container<R>,
    enums: HashSet<u64>,
    bitmasks: HashSet<u64>,
    /// Number of members of each struct.
    structs: HashMap<u64, u64>,
    /// What the call so far has.
    values: usize,
    bytes: u64,
}

impl<R: Read> Values<R> {
    /// Reads the values in `input`.
    pub fn new(input: Container<R>) -> Self {
        Self {
            input,
            enums: HashSet::new(),
            bitmasks: HashSet::new(),
            structs: HashMap::new(),
            values: 0,
            bytes: 0,
        }
    }

    /// Begins the values of an event, which have the limits of a call.
    pub fn begin(&mut self) {
        (self.values, self.bytes) = (0, 0);
    }

    /// Reads a value.
    pub fn value(&mut self) -> Result<Value, ReadError> {
        self.nested(0)
    }

    fn nested(&mut self, depth: usize) -> Result<Value, ReadError> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(self.damaged(format!("a call of more than {VALUES_MAX} values")));
        }
        if depth > DEPTH_MAX {
            return Err(self.damaged(format!("values nested more than {DEPTH_MAX} deep")));
        }
        Ok(match self.input.byte()? {
            0 => Value::Null,
            1 => Value::Integer(0),
            2 => Value::Integer(1),
            3 => Value::Integer(self.number()?.wrapping_neg()),
            4 => Value::Integer(self.number()?),
            5 => Value::Float(f32::from_le_bytes(self.input.array()?)),
            6 => Value::Double(f64::from_le_bytes(self.input.array()?)),
            7 => Value::Text(self.text()?),
            8 => Value::Blob(self.text()?),
            9 => {
                self.enum_signature()?;
                Value::Integer(self.signed()?)
            }
            10 => {
                self.bitmask_signature()?;
                Value::Integer(self.number()?)
            }
            11 => {
                let len = self.number()?;
                Value::Array(self.elements(len, depth)?)
            }
            12 => {
                let members = self.struct_signature()?;
                Value::Array(self.elements(members, depth)?)
            }
            13 => Value::Address(self.number()?),
            14 => {
                // For people, then for machines.
                self.nested(depth + 1)?;
                self.nested(depth + 1)?
            }
            15 => {
                let len = self.number()?;
                for _ in 0..len {
                    self.number()?;
                }
                Value::Text(Vec::new())
            }
            tag => return Err(self.damaged(format!("a value of type {tag}"))),
        })
    }

    fn elements(&mut self, len: u64, depth: usize) -> Result<Vec<Value>, ReadError> {
        let mut elements = Vec::new();
        for _ in 0..len {
            elements.push(self.nested(depth + 1)?);
        }
        Ok(elements)
    }

    /// Reads an integer with its type.
    fn signed(&mut self) -> Result<u64, ReadError> {
        match self.input.byte()? {
            3 => Ok(self.number()?.wrapping_neg()),
            4 => self.number(),
            tag => Err(self.damaged(format!("a number of type {tag}"))),
        }
    }

    fn enum_signature(&mut self) -> Result<(), ReadError> {
        let number = self.number()?;
        if self.enums.contains(&number) {
            return Ok(());
        }
        for _ in 0..self.number()? {
            self.skip_text()?;
            self.signed()?;
        }
        self.enums.insert(number);
        self.limit(self.enums.len())
    }

    fn bitmask_signature(&mut self) -> Result<(), ReadError> {
        let number = self.number()?;
        if self.bitmasks.contains(&number) {
            return Ok(());
        }
        for _ in 0..self.number()? {
            self.skip_text()?;
            self.number()?;
        }
        self.bitmasks.insert(number);
        self.limit(self.bitmasks.len())
    }

    /// Returns the number of members.
    fn struct_signature(&mut self) -> Result<u64, ReadError> {
        let number = self.number()?;
        if let Some(members) = self.structs.get(&number) {
            return Ok(*members);
        }
        self.skip_text()?;
        let members = self.number()?;
        for _ in 0..members {
            self.skip_text()?;
        }
        self.structs.insert(number, members);
        self.limit(self.structs.len())?;
        Ok(members)
    }

    fn limit(&self, signatures: usize) -> Result<(), ReadError> {
        match signatures <= SIGNATURES_MAX {
            true => Ok(()),
            false => Err(self.damaged(format!("more than {SIGNATURES_MAX} signatures"))),
        }
    }

    /// Reads a number without its type.
    pub fn number(&mut self) -> Result<u64, ReadError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.input.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.damaged("a number of more than 64 bits".to_owned()))
    }

    /// Reads a string without its type.
    pub fn text(&mut self) -> Result<Vec<u8>, ReadError> {
        let len = self.number()?;
        self.bytes = self.bytes.saturating_add(len);
        if self.bytes > BYTES_MAX {
            return Err(self.damaged(format!("a call of more than {BYTES_MAX} bytes")));
        }
        let mut text = Vec::new();
        self.input.append(len, &mut text)?;
        Ok(text)
    }

    /// Passes over a string without its type.
    pub fn skip_text(&mut self) -> Result<(), ReadError> {
        let len = self.number()?;
        self.input.skip(len)
    }

    /// Returns the error that says where the file is damaged, and why it counts as damaged.
    pub fn damaged(&self, why: String) -> ReadError {
        ReadError::Damaged { at: self.input.consumed(), why }
    }
}
