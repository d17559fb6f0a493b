//! How much of the memory at an address a command may touch, where nothing else says so.

use gapii_commands::CommandId;
use gapii_trace::description::{Kind, Param as Parameter};

use crate::call::Call;
use crate::objects::rows::{Extent, REGION_WORDS, region_rows};
use crate::skip::Skip;

/// Parameters of addresses: the function, the parameter, and how many bytes there are.
type Line = (CommandId, &'static str, Size);

#[derive(Clone, Copy)]
enum Size {
    /// A parameter says.
    Param(&'static str),
    /// A region, and the bytes from row to row and from slice to slice.
    Region(&'static str, &'static str, &'static str),
    Bytes(u64),
    Unknown,
}

use Size::{Bytes, Param, Region, Unknown};

#[rustfmt::skip]
const LINES: &[Line] = &[
    (CommandId::ZE_COMMAND_LIST_APPEND_IMAGE_COPY_FROM_MEMORY, "srcptr", Unknown),
    (CommandId::ZE_COMMAND_LIST_APPEND_IMAGE_COPY_FROM_MEMORY_EXT, "srcptr", Unknown),
    (CommandId::ZE_COMMAND_LIST_APPEND_IMAGE_COPY_TO_MEMORY, "dstptr", Unknown),
    (CommandId::ZE_COMMAND_LIST_APPEND_IMAGE_COPY_TO_MEMORY_EXT, "dstptr", Unknown),
    (CommandId::ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL_INDIRECT, "pLaunchArgumentsBuffer", Bytes(12)),
    (CommandId::ZE_COMMAND_LIST_APPEND_LAUNCH_MULTIPLE_KERNELS_INDIRECT, "pCountBuffer", Bytes(4)),
    (CommandId::ZE_COMMAND_LIST_APPEND_LAUNCH_MULTIPLE_KERNELS_INDIRECT, "pLaunchArgumentsBuffer", Unknown),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEM_ADVISE, "ptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_COPY, "dstptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_COPY, "srcptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_COPY_FROM_CONTEXT, "dstptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_COPY_FROM_CONTEXT, "srcptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_COPY_REGION, "dstptr", Region("dstRegion", "dstPitch", "dstSlicePitch")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_COPY_REGION, "srcptr", Region("srcRegion", "srcPitch", "srcSlicePitch")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_COPY_WITH_PARAMETERS, "dstptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_COPY_WITH_PARAMETERS, "srcptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_FILL, "ptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_FILL_WITH_PARAMETERS, "ptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_MEMORY_PREFETCH, "ptr", Param("size")),
    (CommandId::ZE_COMMAND_LIST_APPEND_QUERY_KERNEL_TIMESTAMPS, "dstptr", Unknown),
    (CommandId::ZE_COMMAND_LIST_APPEND_WRITE_GLOBAL_TIMESTAMP, "dstptr", Bytes(8)),
    (CommandId::ZE_CONTEXT_EVICT_MEMORY, "ptr", Param("size")),
    (CommandId::ZE_CONTEXT_MAKE_MEMORY_RESIDENT, "ptr", Param("size")),
    (CommandId::ZE_DEVICE_SET_CACHE_ADVICE_EXT, "ptr", Param("regionSize")),
    (CommandId::ZE_MEM_GET_ATOMIC_ACCESS_ATTRIBUTE_EXP, "ptr", Param("size")),
    (CommandId::ZE_MEM_SET_ATOMIC_ACCESS_ATTRIBUTE_EXP, "ptr", Param("size")),
    (CommandId::ZE_RTAS_BUILDER_COMMAND_LIST_APPEND_COPY_EXT, "dstptr", Param("size")),
    (CommandId::ZE_RTAS_BUILDER_COMMAND_LIST_APPEND_COPY_EXT, "srcptr", Param("size")),
    (CommandId::ZE_VIRTUAL_MEM_GET_ACCESS_ATTRIBUTE, "ptr", Param("size")),
    (CommandId::ZE_VIRTUAL_MEM_MAP, "ptr", Param("size")),
    (CommandId::ZE_VIRTUAL_MEM_SET_ACCESS_ATTRIBUTE, "ptr", Param("size")),
    (CommandId::ZE_VIRTUAL_MEM_UNMAP, "ptr", Param("size")),
];

/// What the command does with the memory at a parameter; `None`: it is no such parameter, and what it points
/// at is an argument.
pub fn of(call: &Call<'_, '_>, param: &Parameter) -> Result<Option<Extent>, Skip> {
    let known = call.command.known();
    let is_it = |(function, pointer, _): &&Line| Some(*function) == known && *pointer == param.name;
    let Some((.., size)) = LINES.iter().find(is_it) else {
        return Ok(is_memory(param).then_some(Extent::Address));
    };
    Ok(Some(match *size {
        Unknown => Extent::Allocation,
        Bytes(bytes) => Extent::Bytes(bytes),
        Param(size) => Extent::Bytes(argument(call, size)),
        Region(region, pitch, slice_pitch) => {
            let words = region_words(call, region)?;
            region_rows(words, (argument(call, pitch), argument(call, slice_pitch)))
        }
    }))
}

/// Whether a parameter is an address of memory, a `void *`, and not of a structure or an array of arguments.
pub fn is_memory(param: &Parameter) -> bool {
    param.ty.kind == Kind::Pointer && param.element.is_none()
}

fn argument(call: &Call<'_, '_>, name: &str) -> u64 {
    let found = call.command.args().find(|arg| arg.param.name == name);
    found.map_or(0, |arg| arg.value.bits())
}

fn region_words(call: &Call<'_, '_>, name: &str) -> Result<[u32; REGION_WORDS], Skip> {
    let found = call.command.args().find(|arg| arg.param.name == name);
    let bytes = found.and_then(|arg| call.command.bytes_of(arg.observation));
    let (words, _) = bytes.as_deref().unwrap_or_default().as_chunks::<4>();
    let words = words.first_chunk::<REGION_WORDS>();
    let words = words.ok_or_else(|| Skip::from("the trace does not have its region"))?;
    Ok(words.map(u32::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use gapii_commands::descriptions;

    use super::*;

    #[test]
    fn every_name_in_the_table_is_one_of_the_description() {
        for (function, pointer, size) in LINES {
            let params = &descriptions().function(*function).params;
            let has = |name: &str| params.iter().any(|param| param.name == name);
            let is_known = match size {
                Param(size) => has(size),
                Region(region, pitch, slice) => has(region) && has(pitch) && has(slice),
                Bytes(_) | Unknown => true,
            };
            assert!(is_known && has(pointer), "{function} {pointer}");
        }
    }
}
