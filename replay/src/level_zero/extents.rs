//! How much of the memory at an address a command may touch, where nothing else says so.

use gapii_protocol::trace::description::{Kind, Param as Parameter};

use crate::call::{Call, Skip};

/// Of a region: x, y, z, width, height, depth.
const REGION_WORDS: usize = 6;

/// What a command does with memory at an address, now or when a list is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// It means the allocation there, or nothing.
    Address,
    /// Up to so many bytes are read or written.
    Bytes(u64),
    /// Of as many bytes only these rows are.
    Rows { bytes: u64, first: u64, rows: Rows },
    /// It reads or writes as much as an image has, or a count says that only devices see.
    Allocation,
}

/// Parameters of addresses: the function, the parameter, and how many bytes there are.
type Line = (&'static str, &'static str, Size);

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
    ("zeCommandListAppendImageCopyFromMemory", "srcptr", Unknown),
    ("zeCommandListAppendImageCopyFromMemoryExt", "srcptr", Unknown),
    ("zeCommandListAppendImageCopyToMemory", "dstptr", Unknown),
    ("zeCommandListAppendImageCopyToMemoryExt", "dstptr", Unknown),
    ("zeCommandListAppendLaunchKernelIndirect", "pLaunchArgumentsBuffer", Bytes(12)),
    ("zeCommandListAppendLaunchMultipleKernelsIndirect", "pCountBuffer", Bytes(4)),
    ("zeCommandListAppendLaunchMultipleKernelsIndirect", "pLaunchArgumentsBuffer", Unknown),
    ("zeCommandListAppendMemAdvise", "ptr", Param("size")),
    ("zeCommandListAppendMemoryCopy", "dstptr", Param("size")),
    ("zeCommandListAppendMemoryCopy", "srcptr", Param("size")),
    ("zeCommandListAppendMemoryCopyFromContext", "dstptr", Param("size")),
    ("zeCommandListAppendMemoryCopyFromContext", "srcptr", Param("size")),
    ("zeCommandListAppendMemoryCopyRegion", "dstptr", Region("dstRegion", "dstPitch", "dstSlicePitch")),
    ("zeCommandListAppendMemoryCopyRegion", "srcptr", Region("srcRegion", "srcPitch", "srcSlicePitch")),
    ("zeCommandListAppendMemoryCopyWithParameters", "dstptr", Param("size")),
    ("zeCommandListAppendMemoryCopyWithParameters", "srcptr", Param("size")),
    ("zeCommandListAppendMemoryFill", "ptr", Param("size")),
    ("zeCommandListAppendMemoryFillWithParameters", "ptr", Param("size")),
    ("zeCommandListAppendMemoryPrefetch", "ptr", Param("size")),
    ("zeCommandListAppendQueryKernelTimestamps", "dstptr", Unknown),
    ("zeCommandListAppendWriteGlobalTimestamp", "dstptr", Bytes(8)),
    ("zeContextEvictMemory", "ptr", Param("size")),
    ("zeContextMakeMemoryResident", "ptr", Param("size")),
    ("zeDeviceSetCacheAdviceExt", "ptr", Param("regionSize")),
    ("zeMemGetAtomicAccessAttributeExp", "ptr", Param("size")),
    ("zeMemSetAtomicAccessAttributeExp", "ptr", Param("size")),
    ("zeRTASBuilderCommandListAppendCopyExt", "dstptr", Param("size")),
    ("zeRTASBuilderCommandListAppendCopyExt", "srcptr", Param("size")),
    ("zeVirtualMemGetAccessAttribute", "ptr", Param("size")),
    ("zeVirtualMemMap", "ptr", Param("size")),
    ("zeVirtualMemSetAccessAttribute", "ptr", Param("size")),
    ("zeVirtualMemUnmap", "ptr", Param("size")),
];

/// What the command does with the memory at a parameter; `None`: it is no such parameter, and what it points
/// at is an argument.
pub fn of(call: &Call<'_, '_>, param: &Parameter) -> Result<Option<Extent>, Skip> {
    let name = call.command.name();
    let is_it = |(function, pointer, _): &&Line| *function == name && *pointer == param.name;
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

/// Rows of bytes in memory that begins with one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    width: u64,
    height: u64,
    pitch: u64,
    slice_pitch: u64,
}

impl Rows {
    /// The bytes of the rows alone.
    pub fn of(&self, bytes: &[u8]) -> Vec<u8> {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        let slices = match self.slice_pitch {
            0 => bytes.chunks(usize::MAX),
            pitch => bytes.chunks(size(pitch)),
        };
        let rows = slices.flat_map(|it| it.chunks(size(self.pitch)).take(size(self.height)));
        rows.flat_map(|row| &row[..row.len().min(size(self.width))]).copied().collect()
    }
}

/// From the start of the memory up to the last byte of the region, and where its rows begin.
fn region_rows(region: [u32; REGION_WORDS], (pitch, slice_pitch): (u64, u64)) -> Extent {
    let [x, y, z, width, height, depth] = region.map(u64::from);
    let place = |y: u64, z: u64| {
        let slices = z.saturating_mul(slice_pitch);
        x.saturating_add(y.saturating_mul(pitch)).saturating_add(slices)
    };
    // Of a region of two dimensions the third is 0 or 1.
    let last = place(y + height.max(1) - 1, z + depth.max(1) - 1);
    let rows = Rows { width, height: height.max(1), pitch: pitch.max(width), slice_pitch };
    Extent::Rows { bytes: last.saturating_add(width), first: place(y, z), rows }
}

#[cfg(test)]
mod tests {
    use gapii_commands::descriptions;

    use super::*;

    #[test]
    fn every_name_in_the_table_is_one_of_the_description() {
        for (function, pointer, size) in LINES {
            let found = descriptions().functions.iter().find(|known| known.name == *function);
            let params = &found.unwrap_or_else(|| panic!("no {function}")).params;
            let has = |name: &str| params.iter().any(|param| param.name == name);
            let is_known = match size {
                Param(size) => has(size),
                Region(region, pitch, slice) => has(region) && has(pitch) && has(slice),
                Bytes(_) | Unknown => true,
            };
            assert!(is_known && has(pointer), "{function} {pointer}");
        }
    }

    #[test]
    fn region_ends_with_its_last_byte() {
        let check = |region, pitches, expected: (u64, u64)| {
            let Extent::Rows { bytes, first, .. } = region_rows(region, pitches) else {
                panic!("no rows of {region:?}");
            };
            assert_eq!((bytes, first), expected, "{region:?}");
        };
        check([0, 0, 0, 4, 1, 1], (16, 64), (4, 0));
        check([2, 1, 0, 4, 3, 0], (16, 64), (3 * 16 + 6, 18));
        check([0, 0, 1, 4, 2, 2], (16, 64), (2 * 64 + 16 + 4, 64));
        check([u32::MAX; 6], (u64::MAX, u64::MAX), (u64::MAX, u64::MAX));
    }

    #[test]
    fn bytes_between_rows_do_not_count() {
        let bytes: Vec<u8> = (0..20).collect();
        let of = |height, slice_pitch| Rows { width: 2, height, pitch: 4, slice_pitch }.of(&bytes);
        assert_eq!(of(5, 0), [0, 1, 4, 5, 8, 9, 12, 13, 16, 17]);
        assert_eq!(of(1, 12), [0, 1, 12, 13]);
        assert_eq!(of(0, 0), [0, 1]);
    }
}
