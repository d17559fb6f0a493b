//! Payloads of a command's records, from a call. Arguments are taken by position, values by the type of the parameter. A
//! parameter that a record has a slot for gets its memory there; memory of any other is a range. No command is handled by
//! its name.
//!
//! Pointers become addresses of this import's own ([`memory`](super::memory)); handles, offsets and addresses without
//! memory stay as they are. An empty attribute list is a null pointer, as apitrace writes one.

use std::borrow::Cow;
use std::io::{self, Write};

use gapii_abi::atom::{OBSERVED_INLINE, OBSERVED_NUMBER};
use gapii_trace::description::{Function, Kind, Observed, Param, Repr, Type};

use super::calls::Call;
use super::memory::{self, Addresses, INPUTS};
use super::values::Value;
use crate::trace_writer::{BLOB_BYTES_MIN, TraceWriter};

/// Memory that a command reads, though none of its parameters points at it.
pub struct Piece {
    /// Address in the program.
    pub address: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Makes the payloads of a call's records.
pub struct Payloads<'a> {
    pub function: &'a Function,
    pub call: &'a Call,
}

/// An argument as a record has it.
struct Encoded<'v> {
    bits: u64,
    /// The memory at its address.
    memory: Option<Cow<'v, [u8]>>,
    /// Memory to which elements point.
    behind: Vec<(u64, &'v [u8])>,
}

impl Payloads<'_> {
    /// Returns the payload of the enter record. `arrays` is the address of a vertex array whose contents a later draw
    /// reads, in place of the contents.
    pub fn enter<W: Write>(
        &self,
        array: Option<u64>,
        pieces: &[Piece],
        writer: &mut TraceWriter<W>,
        thread: u32,
    ) -> io::Result<Vec<u8>> {
        let mut payload = vec![0; self.function.fixed_len as usize];
        let mut addresses = Addresses::from(INPUTS);
        let mut slots = Vec::new();
        let mut ranges = Vec::new();
        for (index, param) in self.function.params.iter().enumerate() {
            let mut encoded = self.input(index, param, &mut addresses);
            if let (Some(address), Some(_)) = (array, &encoded.memory) {
                (encoded.bits, encoded.memory) = (address, None);
            }
            put(&mut payload, param, encoded.bits);
            match param.observed {
                Observed::In => slots.push(encoded.memory),
                _ => ranges.extend(encoded.memory.map(|memory| (index, encoded.bits, memory))),
            }
            let behind = encoded.behind.into_iter();
            ranges.extend(behind.map(|(address, bytes)| (index, address, Cow::Borrowed(bytes))));
        }
        if slots.is_empty() && ranges.is_empty() && pieces.is_empty() {
            return Ok(payload);
        }
        pad(&mut payload);
        for slot in slots {
            observe(&mut payload, None, slot.as_deref(), writer, thread)?;
        }
        for (index, address, memory) in ranges {
            payload.extend_from_slice(&address.to_le_bytes());
            observe(&mut payload, Some(index as u64 + 1), Some(&memory), writer, thread)?;
        }
        for piece in pieces {
            payload.extend_from_slice(&piece.address.to_le_bytes());
            observe(&mut payload, None, Some(&piece.bytes), writer, thread)?;
        }
        Ok(payload)
    }

    /// Returns the payload of the leave record.
    pub fn leave<W: Write>(&self, writer: &mut TraceWriter<W>, thread: u32) -> io::Result<Vec<u8>> {
        let function = self.function;
        let result = self.call.outputs.as_ref().and_then(|outputs| outputs.result.as_ref());
        let is_text = function.result.kind == Kind::String;
        let mut payload = vec![0; function.result_len()];
        let text = match result {
            Some(Value::Text(text) | Value::Blob(text)) if is_text => Some(text.as_slice()),
            _ => None,
        };
        let bits = match (text, result) {
            (Some(_), _) => memory::output(function.params.len()),
            (None, Some(value)) => bits_of(value, function.result),
            (None, None) => 0,
        };
        let len = payload.len().min(8);
        payload[..len].copy_from_slice(&bits.to_le_bytes()[..len]);
        let mut slots = Vec::new();
        let mut ranges = Vec::new();
        for (index, param) in function.params.iter().enumerate() {
            let value = self.call.output(index);
            let memory = value.and_then(|value| {
                memory_of(value, param, &mut |_| memory::output(index), &mut Vec::new())
            });
            match param.observed {
                Observed::Out => slots.push(memory),
                _ => ranges.extend(memory.map(|memory| (index, memory))),
            }
        }
        if slots.is_empty() && ranges.is_empty() && !is_text {
            return Ok(payload);
        }
        pad(&mut payload);
        for slot in slots {
            observe(&mut payload, None, slot.as_deref(), writer, thread)?;
        }
        if is_text {
            observe(&mut payload, None, text, writer, thread)?;
        }
        for (index, memory) in ranges {
            payload.extend_from_slice(&memory::output(index).to_le_bytes());
            observe(&mut payload, Some(index as u64 + 1), Some(&memory), writer, thread)?;
        }
        Ok(payload)
    }

    /// Returns an argument. An output whose address is not known, because the call has not ended, has memory.
    fn input(&self, index: usize, param: &Param, addresses: &mut Addresses) -> Encoded<'_> {
        let nothing = |bits| Encoded { bits, memory: None, behind: Vec::new() };
        let is_pointer = param.ty.repr == Some(Repr::Pointer);
        let Some(value) = self.call.input(index) else {
            return nothing(match self.call.output(index) {
                Some(Value::Text(_) | Value::Blob(_) | Value::Array(_)) => memory::output(index),
                Some(value) => bits_of(value, param.ty),
                None if self.call.outputs.is_none() && is_pointer => memory::output(index),
                None => 0,
            });
        };
        let mut behind = Vec::new();
        let mut take = |len| addresses.take(len);
        match memory_of(value, param, &mut take, &mut behind) {
            Some(memory) if is_pointer => {
                Encoded { bits: addresses.take(memory.len()), memory: Some(memory), behind }
            }
            _ => nothing(bits_of(value, param.ty)),
        }
    }
}

/// Returns the memory that a value has in place of an address. `take` gives addresses to the memory of elements, which
/// goes to `behind`.
fn memory_of<'v>(
    value: &'v Value,
    param: &Param,
    take: &mut dyn FnMut(usize) -> u64,
    behind: &mut Vec<(u64, &'v [u8])>,
) -> Option<Cow<'v, [u8]>> {
    match value {
        Value::Text(bytes) | Value::Blob(bytes) => Some(Cow::Borrowed(bytes)),
        Value::Array(elements) => match param.ty.kind {
            Kind::Attributes(_) if elements.is_empty() => None,
            Kind::Strings => {
                let mut bytes = Vec::new();
                strings(elements, &mut bytes);
                Some(Cow::Owned(bytes))
            }
            _ => {
                let mut bytes = Vec::new();
                append_elements(elements, param.element, take, behind, &mut bytes);
                Some(Cow::Owned(bytes))
            }
        },
        // The API returns a single value where the file has no array.
        Value::Null
        | Value::Address(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Double(_) => None,
    }
}

/// Appends strings, each behind its length; a null string is empty.
fn strings(elements: &[Value], out: &mut Vec<u8>) {
    for element in elements {
        let text = match element {
            Value::Text(text) | Value::Blob(text) => text.as_slice(),
            _ => &[],
        };
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
        out.extend_from_slice(text);
    }
}

fn append_elements<'v>(
    elements: &'v [Value],
    ty: Option<Type>,
    take: &mut dyn FnMut(usize) -> u64,
    behind: &mut Vec<(u64, &'v [u8])>,
    out: &mut Vec<u8>,
) {
    for element in elements {
        let ty = ty.unwrap_or_else(|| natural_type(element));
        let size = usize::from(ty.repr.map_or(1, Repr::size)).clamp(1, 8);
        let bits = match element {
            Value::Array(elements) => {
                append_elements(elements, Some(ty), take, behind, out);
                continue;
            }
            Value::Text(bytes) | Value::Blob(bytes) if ty.repr == Some(Repr::Pointer) => {
                let address = take(bytes.len());
                behind.push((address, bytes));
                address
            }
            value => bits_of(value, ty),
        };
        out.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
}

/// Type of an element whose parameter does not say it.
fn natural_type(value: &Value) -> Type {
    let repr = match value {
        Value::Float(_) => Repr::F32,
        Value::Double(_) => Repr::F64,
        Value::Null | Value::Address(_) | Value::Text(_) | Value::Blob(_) => Repr::Pointer,
        Value::Integer(_) | Value::Array(_) => Repr::U32,
    };
    Type { repr: Some(repr), kind: Kind::Number }
}

/// Returns the bits of a value as a type has them.
fn bits_of(value: &Value, ty: Type) -> u64 {
    match (value, ty.repr) {
        (Value::Integer(bits), Some(Repr::F32)) => u64::from((*bits as i64 as f32).to_bits()),
        (Value::Integer(bits), Some(Repr::F64)) => (*bits as i64 as f64).to_bits(),
        (Value::Float(number), Some(Repr::F64)) => f64::from(*number).to_bits(),
        (Value::Float(number), Some(Repr::F32)) => u64::from(number.to_bits()),
        (Value::Double(number), Some(Repr::F32)) => u64::from((*number as f32).to_bits()),
        (Value::Double(number), Some(Repr::F64)) => number.to_bits(),
        (Value::Float(number), _) => *number as i64 as u64,
        (Value::Double(number), _) => *number as i64 as u64,
        (Value::Integer(bits) | Value::Address(bits), _) => *bits,
        (Value::Null | Value::Text(_) | Value::Blob(_) | Value::Array(_), _) => 0,
    }
}

/// Puts an argument to its place.
fn put(payload: &mut [u8], param: &Param, bits: u64) {
    let size = usize::from(param.ty.repr.map_or(0, Repr::size)).min(8);
    let at = param.offset as usize;
    if let Some(place) = payload.get_mut(at..at + size) {
        place.copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

fn pad(payload: &mut Vec<u8>) {
    payload.resize(payload.len().next_multiple_of(8), 0);
}

/// Appends an observation: a word, and the bytes or the number of their blob. `param` is one more than the index of a
/// range's parameter.
fn observe<W: Write>(
    payload: &mut Vec<u8>,
    param: Option<u64>,
    memory: Option<&[u8]>,
    writer: &mut TraceWriter<W>,
    thread: u32,
) -> io::Result<()> {
    let word = |kind: u8, len: usize| u64::from(kind) << 56 | param.unwrap_or(0) << 48 | len as u64;
    let Some(memory) = memory else {
        payload.extend_from_slice(&0u64.to_le_bytes());
        return Ok(());
    };
    if memory.len() >= BLOB_BYTES_MIN {
        let number = writer.blob(thread, memory)?;
        payload.extend_from_slice(&word(OBSERVED_NUMBER, memory.len()).to_le_bytes());
        payload.extend_from_slice(&number.to_le_bytes());
    } else {
        payload.extend_from_slice(&word(OBSERVED_INLINE, memory.len()).to_le_bytes());
        payload.extend_from_slice(memory);
        pad(payload);
    }
    Ok(())
}
