//! How much of the memory at an address a command may use, where the record does not have that memory: `reach` items of
//! the descriptions say so. A parameter without such an item counts as an address only. A region that the trace does
//! not have skips the command.

use gapii_trace::description::{Kind, Param as Parameter};

use crate::call::Call;
use crate::facts::Reach;
use crate::generated::facts::REACHES;
use crate::objects::rows::{Extent, REGION_WORDS, region_rows};
use crate::skip::Skip;

/// The memory that the command uses at the parameter of this index. `None` if the parameter is no address
/// of memory, so that the record has what it points at.
pub fn of(call: &Call<'_, '_>, index: usize, param: &Parameter) -> Result<Option<Extent>, Skip> {
    let reach = call.command.known().and_then(|command| {
        let is_it = |known: &&(_, u8, _)| (known.0, usize::from(known.1)) == (command, index);
        REACHES.iter().find(is_it)
    });
    let Some((.., reach)) = reach else {
        return Ok(is_memory(param).then_some(Extent::Address));
    };
    Ok(Some(match *reach {
        // A setup command has the memory in its record.
        Reach::Unknown => match recorded_bytes(call, index) {
            Some(bytes) => Extent::Bytes(bytes),
            None => Extent::Allocation,
        },
        Reach::Bytes(bytes) => Extent::Bytes(bytes),
        Reach::Param(size) => Extent::Bytes(call.bits(size)),
        Reach::Region(region, pitch, slice_pitch) => {
            let words = region_words(call, region)?;
            region_rows(words, (call.bits(pitch), call.bits(slice_pitch)))
        }
    }))
}

/// Whether a parameter is an address of memory (`void *`), and does not point at a structure or an array
/// of arguments.
pub fn is_memory(param: &Parameter) -> bool {
    param.ty.kind == Kind::Pointer && param.element.is_none()
}

/// Size of the memory that the record has for a parameter, if it has any.
fn recorded_bytes(call: &Call<'_, '_>, index: usize) -> Option<u64> {
    let mut ranges = call.command.ranges_read();
    let is_it = |param: Option<u8>| param.map(usize::from) == Some(index);
    let range = ranges.find(|range| is_it(range.param) && range.address == call.bits(index))?;
    Some(call.command.bytes_of(range.observation)?.len() as u64)
}

fn region_words(call: &Call<'_, '_>, index: usize) -> Result<[u32; REGION_WORDS], Skip> {
    let bytes = call.arg(index).and_then(|arg| call.command.bytes_of(arg.observation));
    let (words, _) = bytes.as_deref().unwrap_or_default().as_chunks::<4>();
    let words = words.first_chunk::<REGION_WORDS>();
    let words = words.ok_or_else(|| Skip::from("the trace does not have its region"))?;
    Ok(words.map(u32::from_le_bytes))
}
