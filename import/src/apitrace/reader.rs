//! Reads a `.trace`: the head of the file, then events, each the beginning or the end of a call.
//!
//! ```text
//! head  := version | from version 6 on: semantic version | { name, value } properties | empty name
//! enter := 0 | thread | function | signature at its first use | details
//! leave := 1 | number of the call | details
//! details := { 1 index value | 2 result | 3 number | 4 backtrace | 5 flags } 0
//! ```
//!
//! Calls are numbered by their enter events, from 0. Reads the versions 4 to 6. Backtraces are passed over.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::Arc;

use super::container::Container;
use super::read_error::{ReadError, VERSIONS};
use super::values::{Value, Values};

/// Most functions, properties and arguments of a function.
const FUNCTIONS_MAX: usize = 1 << 16;
const PROPERTIES_MAX: usize = 1 << 12;
const PARAMS_MAX: u64 = 256;
/// Most threads: apitrace numbers them from 0.
const THREADS_MAX: u64 = 1 << 16;
/// Most frames of backtraces that are remembered.
const FRAMES_MAX: usize = 1 << 20;

/// A function, as the file names it.
#[derive(PartialEq, Eq, Debug)]
pub struct Signature {
    /// Number in the file.
    pub id: u64,
    /// Name.
    pub name: String,
    /// Names of the parameters.
    pub params: Vec<String>,
}

/// The beginning or the end of a call.
#[derive(Debug)]
pub enum Event {
    /// A call begins.
    Enter {
        /// Number of the thread.
        thread: u64,
        /// The function.
        signature: Arc<Signature>,
        /// What the call has at its beginning.
        details: Details,
    },
    /// A call ends.
    Leave {
        /// Number of the call.
        call: u64,
        /// What the call has at its end.
        details: Details,
    },
}

/// What an event says of a call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// Arguments, by index.
    pub args: Vec<(usize, Value)>,
    /// Result.
    pub result: Option<Value>,
    /// Not a call of the program: apitrace added it.
    pub is_fake: bool,
}

/// Reads events in sequence.
pub struct Reader<R> {
    values: Values<R>,
    functions: HashMap<u64, Arc<Signature>>,
    frames: HashSet<u64>,
    properties: Vec<(String, String)>,
}

impl<R: Read> Reader<R> {
    /// Reads the head of the file.
    pub fn open(input: R) -> Result<Self, ReadError> {
        Self::head(Values::new(Container::open(input)?)).map_err(|error| match error {
            ReadError::Cut => ReadError::Empty,
            error => error,
        })
    }

    fn head(mut values: Values<R>) -> Result<Self, ReadError> {
        let version = values.number()?;
        if !VERSIONS.contains(&version) {
            return Err(ReadError::Version(version));
        }
        let mut properties = Vec::new();
        if version >= 6 {
            values.number()?;
            loop {
                let name = values.text()?;
                if name.is_empty() {
                    break;
                }
                let value = values.text()?;
                properties.push((lossy(&name), lossy(&value)));
                if properties.len() > PROPERTIES_MAX {
                    return Err(values.damaged(format!("more than {PROPERTIES_MAX} properties")));
                }
            }
        }
        Ok(Self { values, functions: HashMap::new(), frames: HashSet::new(), properties })
    }

    /// Returns a property of the file, such as `process.name`.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// Returns how many bytes of the file were read.
    pub fn consumed(&self) -> u64 {
        self.values.input.consumed()
    }

    /// Reads the next event; `None` at the end of the file.
    pub fn event(&mut self) -> Result<Option<Event>, ReadError> {
        if self.values.input.is_at_end()? {
            return Ok(None);
        }
        self.values.begin();
        let event = match self.values.input.byte()? {
            0 => {
                let thread = self.values.number()?;
                if thread >= THREADS_MAX {
                    return Err(self.values.damaged(format!("a call of thread {thread}")));
                }
                let signature = self.signature()?;
                let details = self.details()?;
                Event::Enter { thread, signature, details }
            }
            1 => Event::Leave { call: self.values.number()?, details: self.details()? },
            event => return Err(self.values.damaged(format!("an event of type {event}"))),
        };
        Ok(Some(event))
    }

    fn signature(&mut self) -> Result<Arc<Signature>, ReadError> {
        let id = self.values.number()?;
        if let Some(signature) = self.functions.get(&id) {
            return Ok(Arc::clone(signature));
        }
        let name = lossy(&self.values.text()?);
        let count = self.values.number()?;
        if count > PARAMS_MAX || self.functions.len() >= FUNCTIONS_MAX {
            return Err(self.values.damaged(format!("a function of {count} parameters")));
        }
        let mut params = Vec::new();
        for _ in 0..count {
            params.push(lossy(&self.values.text()?));
        }
        let signature = Arc::new(Signature { id, name, params });
        self.functions.insert(id, Arc::clone(&signature));
        Ok(signature)
    }

    fn details(&mut self) -> Result<Details, ReadError> {
        let mut details = Details::default();
        loop {
            match self.values.input.byte()? {
                0 => return Ok(details),
                1 => {
                    let index = self.values.number()?;
                    let value = self.values.value()?;
                    match usize::try_from(index) {
                        Ok(index) if index < PARAMS_MAX as usize => {
                            details.args.push((index, value));
                        }
                        _ => return Err(self.values.damaged(format!("an argument {index}"))),
                    }
                }
                2 => details.result = Some(self.values.value()?),
                3 => drop(self.values.number()?),
                4 => self.skip_backtrace()?,
                5 => details.is_fake = self.values.number()? & 1 != 0,
                detail => return Err(self.values.damaged(format!("a detail of type {detail}"))),
            }
        }
    }

    fn skip_backtrace(&mut self) -> Result<(), ReadError> {
        for _ in 0..self.values.number()? {
            let frame = self.values.number()?;
            if self.frames.contains(&frame) {
                continue;
            }
            loop {
                match self.values.input.byte()? {
                    0 => break,
                    1..=3 => self.values.skip_text()?,
                    4 | 5 => drop(self.values.number()?),
                    detail => {
                        let why = format!("a detail of type {detail} in a backtrace");
                        return Err(self.values.damaged(why));
                    }
                }
            }
            self.frames.insert(frame);
            if self.frames.len() > FRAMES_MAX {
                return Err(self.values.damaged(format!("more than {FRAMES_MAX} stack frames")));
            }
        }
        Ok(())
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
