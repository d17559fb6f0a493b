//! Pixel transfers: the memory that an upload reads or a read-back writes, by the tracked pixel parameters. Nothing is
//! observed while a pixel buffer is bound, for an invalid combination of format and type, or for sizes that exceed
//! memory.
//!
//! A rectangle of pixels is observed as one range, from its first pixel to the end of its last. Where rows are
//! further apart than they are long, the range includes the bytes between them.

use gapii_commands::constants::*;

use super::formats;
use crate::{Context, Memory, Observer, Scope, Thread};

/// Observes the memory that a two-dimensional upload reads.
pub fn unpack_2d<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    width: i32,
    height: i32,
    format: u32,
    ty: u32,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let layout = Layout { image_height: 0, skip_images: 0, ..Layout::of_uploads(context) };
    let size = [width, height, 1];
    if context.pixel_unpack_buffer.is_none() {
        observe(seen, param, pointer, layout.extent(size, formats::texel_bits(format, ty)));
    }
}

/// Observes the memory that a three-dimensional upload reads.
pub fn unpack_3d<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    width: i32,
    height: i32,
    depth: i32,
    format: u32,
    ty: u32,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let layout = Layout::of_uploads(context);
    let size = [width, height, depth];
    if context.pixel_unpack_buffer.is_none() {
        observe(seen, param, pointer, layout.extent(size, formats::texel_bits(format, ty)));
    }
}

/// Observes the memory that an upload of compressed pixels reads.
pub fn unpack_compressed<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    size: i32,
) {
    let Some(context) = thread.context.as_deref() else { return };
    if context.pixel_unpack_buffer.is_none() {
        observe(seen, param, pointer, Some((0, number(size))));
    }
}

/// Observes the memory that a read-back wrote.
pub fn pack<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    width: i32,
    height: i32,
    format: u32,
    ty: u32,
) {
    let extent = read_back_2d(thread, [width, height], formats::texel_bits(format, ty));
    observe(seen, param, pointer, extent);
}

/// Observes the memory that a read-back wrote. A read-back that needs more than `size` bytes writes nothing.
pub fn pack_within<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    width: i32,
    height: i32,
    format: u32,
    ty: u32,
    size: i32,
) {
    let extent = read_back_2d(thread, [width, height], formats::texel_bits(format, ty));
    observe(seen, param, pointer, extent.filter(|extent| fits(extent, size)));
}

/// Observes the memory that a three-dimensional read-back wrote.
pub fn pack_3d<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    width: i32,
    height: i32,
    depth: i32,
    format: u32,
    ty: u32,
) {
    let extent = read_back_3d(thread, [width, height, depth], formats::texel_bits(format, ty));
    observe(seen, param, pointer, extent);
}

/// Observes the memory that a three-dimensional read-back wrote, if it needs at most `size` bytes.
pub fn pack_3d_within<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    width: i32,
    height: i32,
    depth: i32,
    format: u32,
    ty: u32,
    size: i32,
) {
    let extent = read_back_3d(thread, [width, height, depth], formats::texel_bits(format, ty));
    observe(seen, param, pointer, extent.filter(|extent| fits(extent, size)));
}

/// Observes an image that a read-back wrote: as [`pack_3d`] if `is_volume`, else as [`pack`].
pub fn pack_image<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    is_volume: bool,
    width: i64,
    height: i64,
    depth: i64,
    format: u32,
    ty: u32,
) {
    let extent = image_read_back(thread, is_volume, [width, height, depth], format, ty);
    observe(seen, param, pointer, extent);
}

/// Observes an image that a read-back wrote, if it needs at most `size` bytes.
pub fn pack_image_within<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    is_volume: bool,
    width: i64,
    height: i64,
    depth: i64,
    format: u32,
    ty: u32,
    size: i32,
) {
    let extent = image_read_back(thread, is_volume, [width, height, depth], format, ty);
    observe(seen, param, pointer, extent.filter(|extent| fits(extent, size)));
}

/// Observes compressed pixels that a read-back wrote, if they are at most `size` bytes.
pub fn pack_compressed<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    bytes: i64,
    size: i64,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let written = u64::try_from(bytes).ok().filter(|_| bytes <= size);
    if context.pixel_pack_buffer.is_none() {
        observe(seen, param, pointer, written.map(|bytes| (0, bytes)));
    }
}

/// Whether an extent ends within `size` bytes.
fn fits((offset, len): &(u64, u64), size: i32) -> bool {
    offset.saturating_add(*len) <= number(size)
}

/// Most levels of a texture for whose sizes the driver is asked.
const LEVELS_MAX: i32 = 15;

/// Returns what the driver answers when it is asked for `name` of a level of the texture that is bound to `target`; 0 where
/// there is no driver, where the driver could refuse, and while a pixel pack buffer is bound.
pub fn asked_level<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    target: u32,
    level: i32,
    name: u32,
) -> i64 {
    let levels = match target {
        GL_TEXTURE_RECTANGLE => 1,
        GL_TEXTURE_1D
        | GL_TEXTURE_2D
        | GL_TEXTURE_3D
        | GL_TEXTURE_1D_ARRAY
        | GL_TEXTURE_2D_ARRAY
        | GL_TEXTURE_CUBE_MAP_ARRAY
        | GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z => LEVELS_MAX,
        _ => 0,
    };
    let is_in_memory = |context: &Context<S>| context.pixel_pack_buffer.is_none();
    if !(0..levels).contains(&level) || !thread.context.as_deref().is_some_and(is_in_memory) {
        return 0;
    }
    memory.texture_level(target, level, name).map_or(0, i64::from)
}

/// Returns the size of compressed pixels in bytes; 0 for a format without blocks of fixed size.
pub fn blocks_bytes<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    _memory: &M,
    format: u32,
    width: i32,
    height: i32,
    depth: i32,
) -> i64 {
    let bytes = formats::blocks_bytes(format, [width, height, depth].map(number));
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Returns the size of one pixel in bytes; 0 for an invalid combination of format and type.
pub fn texel_bytes<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    _memory: &M,
    format: u32,
    ty: u32,
) -> i64 {
    formats::texel_bytes(format, ty) as i64
}

/// Returns the size of a row of `width` pixels in a read-back, and the distance between two rows, in bytes.
pub fn packed_rows<S: Scope>(
    context: &Context<S>,
    width: i32,
    format: u32,
    ty: u32,
) -> Option<(u64, u64)> {
    let row = number(width).checked_mul(formats::texel_bytes(format, ty))?;
    let layout = Layout::of_read_backs(context);
    let (_, two_rows) = layout.extent([width, 2, 1], formats::texel_bits(format, ty))?;
    Some((row, two_rows - row))
}

/// Returns the range that a read-back writes; `None` while a pixel pack buffer is bound.
fn read_back_2d<S: Scope>(
    thread: &Thread<S>,
    [width, height]: [i32; 2],
    bits: u64,
) -> Option<(u64, u64)> {
    let context = thread.context.as_deref().filter(|it| it.pixel_pack_buffer.is_none())?;
    let layout = Layout { image_height: 0, skip_images: 0, ..Layout::of_read_backs(context) };
    layout.extent([width, height, 1], bits)
}

/// Returns the range that a read-back of an image writes; `None` while a pixel pack buffer is bound.
fn image_read_back<S: Scope>(
    thread: &Thread<S>,
    is_volume: bool,
    size: [i64; 3],
    format: u32,
    ty: u32,
) -> Option<(u64, u64)> {
    let bits = formats::texel_bits(format, ty);
    let [width, height, depth] = size.map(|number| i32::try_from(number).unwrap_or(0));
    match is_volume {
        true => read_back_3d(thread, [width, height, depth], bits),
        false => read_back_2d(thread, [width, height], bits),
    }
}

/// Returns the range that a three-dimensional read-back writes; `None` while a pixel pack buffer is bound.
fn read_back_3d<S: Scope>(thread: &Thread<S>, size: [i32; 3], bits: u64) -> Option<(u64, u64)> {
    let context = thread.context.as_deref().filter(|it| it.pixel_pack_buffer.is_none())?;
    Layout::of_read_backs(context).extent(size, bits)
}

fn observe<O: Observer + ?Sized>(
    seen: &mut O,
    param: u8,
    pointer: u64,
    extent: Option<(u64, u64)>,
) {
    if let Some((offset, len)) = extent
        && pointer != 0
        && len != 0
    {
        seen.range(param, pointer.wrapping_add(offset), len);
    }
}

/// Layout of pixels in memory, set by glPixelStorei.
#[derive(Clone, Copy, Debug)]
struct Layout {
    alignment: i32,
    /// Pixels from one row to the next; 0 for the width of the rectangle.
    row_length: i32,
    /// Rows from one image to the next; 0 for the height of the rectangle.
    image_height: i32,
    skip_pixels: i32,
    skip_rows: i32,
    skip_images: i32,
}

impl Layout {
    fn of_uploads<S: Scope>(context: &Context<S>) -> Self {
        Self {
            alignment: context.unpack_alignment,
            row_length: context.unpack_row_length,
            image_height: context.unpack_image_height,
            skip_pixels: context.unpack_skip_pixels,
            skip_rows: context.unpack_skip_rows,
            skip_images: context.unpack_skip_images,
        }
    }

    fn of_read_backs<S: Scope>(context: &Context<S>) -> Self {
        Self {
            alignment: context.pack_alignment,
            row_length: context.pack_row_length,
            image_height: context.pack_image_height,
            skip_pixels: context.pack_skip_pixels,
            skip_rows: context.pack_skip_rows,
            skip_images: context.pack_skip_images,
        }
    }

    /// Returns offset and length in bytes of `width × height × depth` pixels of `bits` bits. `None` if there are no
    /// pixels, or if they would not fit into memory. A row of bits begins with a whole byte.
    fn extent(&self, size: [i32; 3], bits: u64) -> Option<(u64, u64)> {
        let [width, height, depth] = size.map(number);
        if bits == 0 || width == 0 || height == 0 || depth == 0 {
            return None;
        }
        let row_texels = if self.row_length > 0 { number(self.row_length) } else { width };
        let rows = if self.image_height > 0 { number(self.image_height) } else { height };
        let row = (row_texels * bits).div_ceil(8);
        let row = row.checked_next_multiple_of(number(self.alignment).max(1))?;
        let image = row.checked_mul(rows)?;
        let skipped = number(self.skip_pixels) * bits;
        let offset = image
            .checked_mul(number(self.skip_images))?
            .checked_add(row.checked_mul(number(self.skip_rows))?)?
            .checked_add(skipped / 8)?;
        let len = image
            .checked_mul(depth - 1)?
            .checked_add(row.checked_mul(height - 1)?)?
            .checked_add((skipped % 8 + width * bits).div_ceil(8))?;
        Some((offset, len))
    }
}

/// Converts a size; 0 for a negative number, for which the driver generates GL_INVALID_VALUE.
fn number(value: i32) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Seen, context, thread};
    use super::*;
    use crate::Nothing;
    use crate::Whole;

    #[test]
    fn upload_reads_the_memory_that_unpack_parameters_determine() {
        let mut thread = thread((3, 0));
        let set = context(&mut thread);
        (set.unpack_row_length, set.unpack_skip_pixels, set.unpack_skip_rows) = (10, 1, 2);
        (set.unpack_image_height, set.unpack_skip_images) = (5, 1);
        let mut seen = Seen::default();
        let (format, ty) = (GL_RGBA, GL_UNSIGNED_BYTE);
        unpack_2d(&mut thread, &Nothing, &mut seen, 8, 0x1000, 4, 2, format, ty);
        unpack_3d(&mut thread, &Nothing, &mut seen, 9, 0x1000, 4, 2, 2, format, ty);
        unpack_compressed(&mut thread, &Nothing, &mut seen, 7, 0x1000, 24);
        let flat = (8, 0x1000 + 2 * 40 + 4, 40 + 16);
        let deep = (9, 0x1000 + 200 + 2 * 40 + 4, 200 + 40 + 16);
        assert_eq!(seen.0, [flat, deep, (7, 0x1000, 24)]);
    }

    #[test]
    fn distance_of_rows_in_a_read_back_follows_pack_parameters() {
        let mut thread = thread((3, 0));
        let set = context(&mut thread);
        assert_eq!(packed_rows(set, 3, GL_RGB, GL_UNSIGNED_BYTE), Some((9, 12)));
        set.pack_row_length = 10;
        assert_eq!(packed_rows(set, 3, GL_RGB, GL_UNSIGNED_BYTE), Some((9, 32)));
        assert_eq!(packed_rows(set, 3, GL_RGB, GL_RGB), None);
    }

    #[test]
    fn upload_reads_nothing_from_null_with_invalid_arguments_or_a_bound_buffer() {
        let (format, ty) = (GL_RGBA, GL_UNSIGNED_BYTE);
        let uploads = |thread: &mut Thread<Whole>, pointer, width, ty| {
            let mut seen = Seen::default();
            unpack_2d(thread, &Nothing, &mut seen, 8, pointer, width, 2, format, ty);
            unpack_3d(thread, &Nothing, &mut seen, 9, pointer, width, 2, 2, format, ty);
            unpack_compressed(thread, &Nothing, &mut seen, 7, pointer, width);
            seen.0.len()
        };
        let mut thread = thread((3, 0));
        assert_eq!(uploads(&mut thread, 0x1000, 4, ty), 3);
        assert_eq!(uploads(&mut thread, 0, 4, ty), 0);
        assert_eq!(uploads(&mut thread, 0x1000, -4, ty), 0);
        assert_eq!(uploads(&mut thread, 0x1000, 4, GL_UNSIGNED_SHORT_5_6_5), 1);
        let buffer = context(&mut thread).group.lock().buffers.create(1);
        context(&mut thread).pixel_unpack_buffer = buffer;
        assert_eq!(uploads(&mut thread, 0x1000, 4, ty), 0);
    }

    #[test]
    fn read_back_writes_the_memory_that_pack_parameters_determine_if_it_fits() {
        let mut thread = thread((3, 0));
        let set = context(&mut thread);
        (set.pack_alignment, set.pack_row_length) = (8, 3);
        (set.pack_skip_pixels, set.pack_skip_rows) = (1, 1);
        let (format, ty) = (GL_RGBA, GL_UNSIGNED_BYTE);
        let mut seen = Seen::default();
        pack(&mut thread, &Nothing, &mut seen, 6, 0x1000, 2, 2, format, ty);
        let end = 16 + 4 + 16 + 8;
        pack_within(&mut thread, &Nothing, &mut seen, 7, 0x1000, 2, 2, format, ty, end - 1);
        pack_within(&mut thread, &Nothing, &mut seen, 7, 0x1000, 2, 2, format, ty, end);
        pack_within(&mut thread, &Nothing, &mut seen, 7, 0x1000, 2, 2, format, ty, -1);
        assert_eq!(seen.0, [(6, 0x1000 + 20, 24), (7, 0x1000 + 20, 24)]);
        let buffer = context(&mut thread).group.lock().buffers.create(1);
        context(&mut thread).pixel_pack_buffer = buffer;
        let mut seen = Seen::default();
        pack(&mut thread, &Nothing, &mut seen, 6, 0, 2, 2, format, ty);
        pack(&mut thread, &Nothing, &mut seen, 6, 0x1000, 2, 2, format, ty);
        assert_eq!(seen, Seen::default());
    }

    const PACKED: Layout = Layout {
        alignment: 4,
        row_length: 0,
        image_height: 0,
        skip_pixels: 0,
        skip_rows: 0,
        skip_images: 0,
    };

    #[test]
    fn extent_follows_every_parameter() {
        let check = |layout: Layout, size, texel: u64, expected| {
            assert_eq!(layout.extent(size, 8 * texel), expected, "{layout:?} {size:?} {texel}");
        };
        check(PACKED, [4, 4, 1], 4, Some((0, 64)));
        // All rows are padded except the last.
        check(PACKED, [3, 2, 1], 3, Some((0, 12 + 9)));
        check(Layout { alignment: 1, ..PACKED }, [3, 2, 1], 3, Some((0, 18)));
        check(Layout { alignment: 2, ..PACKED }, [3, 2, 1], 3, Some((0, 10 + 9)));
        check(Layout { alignment: 8, ..PACKED }, [3, 2, 1], 4, Some((0, 16 + 12)));
        check(Layout { alignment: 8, ..PACKED }, [1, 3, 1], 2, Some((0, 18)));
        check(Layout { row_length: 10, ..PACKED }, [3, 2, 1], 4, Some((0, 40 + 12)));
        check(Layout { row_length: 5, ..PACKED }, [3, 2, 1], 3, Some((0, 16 + 9)));
        check(Layout { skip_pixels: 2, ..PACKED }, [3, 2, 1], 4, Some((8, 24)));
        check(Layout { skip_rows: 2, ..PACKED }, [3, 2, 1], 4, Some((24, 24)));
        let atlas = Layout { row_length: 16, skip_pixels: 4, skip_rows: 3, ..PACKED };
        check(atlas, [8, 8, 1], 4, Some((3 * 64 + 16, 7 * 64 + 32)));
        check(PACKED, [2, 3, 4], 4, Some((0, 96)));
        check(Layout { image_height: 5, ..PACKED }, [2, 3, 4], 4, Some((0, 3 * 40 + 24)));
        let deep =
            Layout { image_height: 5, skip_images: 2, skip_rows: 1, skip_pixels: 1, ..PACKED };
        check(deep, [2, 3, 4], 4, Some((2 * 40 + 8 + 4, 3 * 40 + 24)));
        // Skipped images count even if there is only one image.
        check(Layout { skip_images: 1, ..PACKED }, [2, 2, 1], 4, Some((16, 16)));
    }

    #[test]
    fn rows_of_bits_begin_with_whole_bytes() {
        let bits = |layout: Layout, width, height| layout.extent([width, height, 1], 1);
        let tight = Layout { alignment: 1, ..PACKED };
        assert_eq!(bits(tight, 8, 12), Some((0, 12)));
        assert_eq!(bits(tight, 9, 2), Some((0, 4)));
        assert_eq!(bits(PACKED, 32, 32), Some((0, 128)));
        assert_eq!(bits(PACKED, 8, 2), Some((0, 4 + 1)));
        // Seven bits from the fourth one on are in two bytes.
        assert_eq!(
            bits(Layout { skip_pixels: 12, skip_rows: 1, row_length: 24, ..tight }, 7, 2),
            Some((3 + 1, 3 + 2))
        );
    }

    #[test]
    fn extent_of_no_pixels_or_of_huge_sizes_is_none() {
        let most = Layout {
            alignment: 8,
            row_length: i32::MAX,
            image_height: i32::MAX,
            skip_images: i32::MAX,
            ..PACKED
        };
        for size in [[0, 4, 1], [4, 0, 1], [4, 4, 0], [-1, 4, 1], [4, -1, 1], [4, 4, -1]] {
            assert_eq!(PACKED.extent(size, 32), None, "{size:?}");
        }
        assert_eq!(PACKED.extent([4, 4, 1], 0), None);
        assert_eq!(most.extent([1, 1, i32::MAX], 128), None);
    }
}
