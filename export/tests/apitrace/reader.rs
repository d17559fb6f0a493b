//! A reader of `.trace` files for tests. Holds the whole file in memory, each call with its values.
//!
//! Panics if the file violates the format.

use std::collections::HashMap;

/// The contents of a file.
#[derive(Debug)]
pub struct File {
    pub versions: (u64, u64),
    pub properties: Vec<(String, String)>,
    pub calls: Vec<Call>,
}

#[derive(Clone, Debug)]
pub struct Call {
    pub thread: u64,
    pub name: String,
    pub params: Vec<String>,
    /// Arguments by index.
    pub args: HashMap<u64, Value>,
    pub result: Option<Value>,
    pub fake: bool,
    pub returned: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Null,
    Signed(i64),
    Unsigned(u64),
    Float(f32),
    Double(f64),
    Text(String),
    Blob(Vec<u8>),
    /// The name, if the definition has one, and the value.
    Enum(Option<String>, i64),
    /// The definition's names, and the bits.
    Bits(Vec<String>, u64),
    Array(Vec<Value>),
    Address(u64),
}

impl Call {
    /// The argument of the parameter called `name`.
    pub fn arg(&self, name: &str) -> &Value {
        let index = self.params.iter().position(|param| param == name);
        let index = index.unwrap_or_else(|| panic!("no {name} in {:?}", self.params)) as u64;
        self.args.get(&index).unwrap_or_else(|| panic!("no value for {name}"))
    }
}

pub fn read(file: &[u8]) -> File {
    let mut rest = file.strip_prefix(b"at").expect("the letters");
    let mut raw = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let (chunk, after) = after.split_at(u32::from_le_bytes(*len) as usize);
        let chunk = snap::raw::Decoder::new().decompress_vec(chunk).expect("a Snappy block");
        assert!(chunk.len() <= 1 << 20, "a chunk of {} bytes", chunk.len());
        raw.extend_from_slice(&chunk);
        rest = after;
    }
    assert!(rest.is_empty(), "the last chunk is cut");
    let mut parser = Parser { rest: &raw, functions: vec![], enums: vec![], bitmasks: vec![] };
    let versions = (parser.number(), parser.number());
    let mut properties = Vec::new();
    loop {
        let name = parser.text();
        if name.is_empty() {
            break;
        }
        properties.push((name, parser.text()));
    }
    File { versions, properties, calls: parser.calls() }
}

struct Parser<'a> {
    rest: &'a [u8],
    functions: Vec<(String, Vec<String>)>,
    enums: Vec<Vec<(String, i64)>>,
    bitmasks: Vec<Vec<(String, u64)>>,
}

impl Parser<'_> {
    fn calls(&mut self) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        while !self.rest.is_empty() {
            match self.byte() {
                0 => {
                    let mut call = self.enter();
                    self.details(&mut call);
                    calls.push(call);
                }
                1 => {
                    let number = self.number() as usize;
                    let mut call = calls[number].clone();
                    assert!(!call.returned, "call {number} returns twice");
                    self.details(&mut call);
                    call.returned = true;
                    calls[number] = call;
                }
                event => panic!("event {event}"),
            }
        }
        calls
    }

    fn enter(&mut self) -> Call {
        let thread = self.number();
        let function = self.number() as usize;
        assert!(function <= self.functions.len(), "functions are numbered as they come");
        if function == self.functions.len() {
            let name = self.text();
            let count = self.number();
            let params = (0..count).map(|_| self.text()).collect();
            self.functions.push((name, params));
        }
        let (name, params) = self.functions[function].clone();
        Call {
            thread,
            name,
            params,
            args: HashMap::new(),
            result: None,
            fake: false,
            returned: false,
        }
    }

    fn details(&mut self, call: &mut Call) {
        loop {
            match self.byte() {
                0 => return,
                1 => {
                    let index = self.number();
                    assert!(index < call.params.len() as u64, "{index} in {call:?}");
                    let value = self.value();
                    assert_eq!(call.args.insert(index, value), None, "said twice");
                }
                2 => call.result = Some(self.value()),
                5 => call.fake = self.number() == 1,
                detail => panic!("detail {detail}"),
            }
        }
    }

    fn value(&mut self) -> Value {
        match self.byte() {
            0 => Value::Null,
            3 => Value::Signed((self.number() as i64).wrapping_neg()),
            4 => Value::Unsigned(self.number()),
            5 => Value::Float(f32::from_le_bytes(self.array())),
            6 => Value::Double(f64::from_le_bytes(self.array())),
            7 => Value::Text(self.text()),
            8 => {
                let len = self.number() as usize;
                Value::Blob(self.bytes(len).to_vec())
            }
            9 => self.enumerant(),
            10 => self.bitmask(),
            11 => {
                let len = self.number();
                Value::Array((0..len).map(|_| self.value()).collect())
            }
            13 => Value::Address(self.number()),
            tag => panic!("type {tag}"),
        }
    }

    fn enumerant(&mut self) -> Value {
        let number = self.number() as usize;
        if number == self.enums.len() {
            let count = self.number();
            let values = (0..count).map(|_| (self.text(), self.signed())).collect();
            self.enums.push(values);
        }
        let value = self.signed();
        let named = self.enums[number].iter().find(|(_, of)| *of == value);
        Value::Enum(named.map(|(name, _)| name.clone()), value)
    }

    fn bitmask(&mut self) -> Value {
        let number = self.number() as usize;
        if number == self.bitmasks.len() {
            let count = self.number();
            let values = (0..count).map(|_| (self.text(), self.number())).collect();
            self.bitmasks.push(values);
        }
        let value = self.number();
        let set = self.bitmasks[number].iter().filter(|(_, bit)| *bit != 0 && value & bit == *bit);
        Value::Bits(set.map(|(name, _)| name.clone()).collect(), value)
    }

    fn signed(&mut self) -> i64 {
        match self.value() {
            Value::Signed(value) => value,
            Value::Unsigned(value) => value as i64,
            value => panic!("{value:?} is not a number"),
        }
    }

    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte();
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return number;
            }
        }
        panic!("a number of more than 64 bits")
    }

    fn text(&mut self) -> String {
        let len = self.number() as usize;
        String::from_utf8(self.bytes(len).to_vec()).expect("text")
    }

    fn byte(&mut self) -> u8 {
        self.bytes(1)[0]
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().expect("so many")
    }

    fn bytes(&mut self, len: usize) -> &[u8] {
        let (bytes, rest) = self.rest.split_at(len);
        self.rest = rest;
        bytes
    }
}
