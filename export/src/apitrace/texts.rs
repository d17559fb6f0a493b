//! Strings behind an array of addresses, such as the sources of a shader and the names of varyings; the parameters are
//! listed in `PARAMS`. Each string is found by its address and ends at its length, if the program passed one, or at its
//! NUL; a string that the trace lacks is empty, a null address is null.
//!
//! Adjacent pieces of memory were observed as one, so a piece does not tell where a string begins.

use std::io::{self, Write};

use gapii_trace::Command;
use gapii_trace::description::{Param, Repr};

use super::arguments::argument;
use super::ranges::Range;
use super::values::Values;

/// Parameters that point at addresses of strings.
const PARAMS: &[&str] = &["string", "strings", "uniformNames", "varyings"];
/// Parameters that give the number of strings.
const COUNTS: &[&str] = &["count", "uniformCount"];

/// Returns true if a parameter points at addresses of strings.
pub fn are_behind(param: &Param) -> bool {
    let of_addresses = param.element.is_some_and(|element| element.repr == Some(Repr::Pointer));
    of_addresses && PARAMS.contains(&param.name.as_str())
}

/// Writes the strings whose addresses are at `address`.
pub fn write<W: Write>(
    command: &Command<'_>,
    address: u64,
    ranges: &[Range<'_>],
    values: &mut Values<W>,
) -> io::Result<()> {
    let count = COUNTS.iter().find_map(|name| argument(command, name)).unwrap_or(0);
    let addresses = behind(command, ranges, address);
    let (addresses, _) = addresses.as_chunks::<8>();
    let addresses = &addresses[..addresses.len().min(usize::try_from(count).unwrap_or(0))];
    let lengths = lengths(command);
    values.array(addresses.len())?;
    for (index, address) in addresses.iter().enumerate() {
        match u64::from_le_bytes(*address) {
            0 => values.null()?,
            address => {
                let memory = behind(command, ranges, address);
                let ends = || memory.iter().position(|byte| *byte == 0).unwrap_or(memory.len());
                // A negative length means a NUL-terminated string.
                let said = lengths.get(index).and_then(|len| usize::try_from(*len).ok());
                let len = said.unwrap_or_else(ends).min(memory.len());
                values.string(&memory[..len])?;
            }
        }
    }
    Ok(())
}

/// Returns the observed bytes from `address` on.
fn behind(command: &Command<'_>, ranges: &[Range<'_>], address: u64) -> Vec<u8> {
    let range = ranges.iter().find(|range| range.contains(address));
    let bytes = range.and_then(|range| Some((range, command.bytes_of(range.observation)?)));
    bytes.map_or(Vec::new(), |(range, bytes)| bytes[(address - range.address) as usize..].to_vec())
}

/// Returns the lengths that the program passed.
fn lengths(command: &Command<'_>) -> Vec<i32> {
    let arg = command.args().find(|arg| arg.param.name == "length");
    let bytes = arg.and_then(|arg| command.bytes_of(arg.observation));
    let words = bytes.as_deref().map_or(&[][..], |bytes| bytes.as_chunks::<4>().0);
    words.iter().map(|word| i32::from_le_bytes(*word)).collect()
}
