//! Calls of a `.trace`: the head of the file, then events, each the beginning or the end of a call.
//!
//! ```text
//! head  := version 6 | semantic version 6 | { name, value } properties | empty name
//! enter := 0 | thread | function | definition at its first use | details
//! leave := 1 | number of the call | details
//! details := { 1 index value | 2 result | 5 flags } 0
//! ```
//!
//! Calls are numbered by their enter events, from 0. No function is handled by its name.

use std::collections::HashMap;
use std::io::{self, Write};

use super::container::Container;
use super::values::Values;

/// The newest version that apitrace 11 writes and reads.
const VERSION: u64 = 6;

const ENTER: u8 = 0;
const LEAVE: u8 = 1;
const END: u8 = 0;
const ARGUMENT: u8 = 1;
const RESULT: u8 = 2;
const FLAGS: u8 = 5;
const FAKE: u64 = 1;

/// Writes calls in sequence.
pub struct Calls<W> {
    pub values: Values<W>,
    functions: HashMap<String, u64>,
    count: u64,
}

/// The origin of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A call of the program.
    Program,
    /// A call without a command of the program. Players execute it like any other.
    Fake,
}

impl<W: Write> Calls<W> {
    /// Writes the head of the file, with these properties.
    pub fn begin(out: W, properties: &[(&str, &str)]) -> io::Result<Self> {
        let mut values = Values::new(Container::begin(out)?);
        values.number(VERSION)?;
        values.number(VERSION)?;
        for (name, value) in properties {
            values.text(name.as_bytes())?;
            values.text(value.as_bytes())?;
        }
        values.text(b"")?;
        Ok(Self { values, functions: HashMap::new(), count: 0 })
    }

    /// Writes all buffered bytes and returns the output.
    pub fn finish(self) -> io::Result<W> {
        self.values.finish()
    }

    /// Begins a call. The caller then writes inputs by [`Self::argument`], then [`Self::end`].
    pub fn enter<'n>(
        &mut self,
        thread: u64,
        name: &str,
        params: impl ExactSizeIterator<Item = &'n str>,
        origin: Origin,
    ) -> io::Result<()> {
        self.values.byte(ENTER)?;
        self.values.number(thread)?;
        match self.functions.get(name) {
            Some(number) => self.values.number(*number)?,
            None => self.define(name, params)?,
        }
        self.count += 1;
        if origin == Origin::Fake {
            self.values.byte(FLAGS)?;
            self.values.number(FAKE)?;
        }
        Ok(())
    }

    /// Ends the call that began last. The caller then writes outputs and the result, then [`Self::end`].
    pub fn leave(&mut self) -> io::Result<()> {
        self.values.byte(LEAVE)?;
        self.values.number(self.count - 1)
    }

    /// Begins the argument at `index`; the caller writes its value next.
    pub fn argument(&mut self, index: usize) -> io::Result<()> {
        self.values.byte(ARGUMENT)?;
        self.values.number(index as u64)
    }

    /// Begins the result; the caller writes its value next.
    pub fn result(&mut self) -> io::Result<()> {
        self.values.byte(RESULT)
    }

    /// Ends an enter or leave event.
    pub fn end(&mut self) -> io::Result<()> {
        self.values.byte(END)
    }

    /// Writes the definition of a function at its first use.
    fn define<'n>(
        &mut self,
        name: &str,
        params: impl ExactSizeIterator<Item = &'n str>,
    ) -> io::Result<()> {
        let number = self.functions.len() as u64;
        self.functions.insert(name.to_owned(), number);
        self.values.number(number)?;
        self.values.text(name.as_bytes())?;
        self.values.number(params.len() as u64)?;
        for param in params {
            self.values.text(param.as_bytes())?;
        }
        Ok(())
    }
}
