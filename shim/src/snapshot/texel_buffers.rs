//! Contents of a buffer whose name was deleted, read through the buffer textures that hold it.

use core::ops::Range;

use gapii_commands::constants::GL_MAX_TEXTURE_BUFFER_SIZE;
use gapii_state::{Buffer, Context, Ref};

use super::buffer_textures::Shown;
use super::formats::Layout;
use super::found::Found;
use super::gl;
use super::image_layer::{Image, Of};
use super::sibling::Sibling;

/// Texels of a row in which texels are read; the last row is shorter.
const ROW: i32 = 1024;

/// A buffer texture: its name, its format, and the range of the buffer, in bytes, that it shows.
struct Holder {
    texture: u32,
    format: u32,
    shown: Range<usize>,
}

/// Reads what the buffer textures of the share group show of a buffer to the same places of `out`, which has the buffer's
/// size. `None` if something cannot be read.
pub fn read(
    context: &Context,
    sibling: &Sibling,
    buffer: Ref<Buffer>,
    out: &mut Found,
) -> Option<()> {
    for holder in holders(context, buffer, out.bytes.len()) {
        holder.read(sibling, out)?;
    }
    Some(())
}

fn holders(context: &Context, buffer: Ref<Buffer>, size: usize) -> Vec<Holder> {
    let group = context.group.lock();
    let textures = group.textures.named().filter(|(_, it)| it.buffer.buffer == buffer);
    let holder = |(object, it): (Ref<gapii_state::Texture>, &gapii_state::Texture)| {
        let shown = Shown::of(it);
        let (texture, format) = (object.name() as u32, shown.format());
        Holder { texture, format, shown: shown.range(size) }
    };
    textures.map(|(object, it)| holder((object, it))).collect()
}

impl Holder {
    fn read(&self, sibling: &Sibling, out: &mut Found) -> Option<()> {
        let layout = Layout::of(self.format, 0)?;
        // One texel tells how many bytes a texel has.
        let mut texel = 0;
        self.with_texels(sibling, layout, 0, [1, 1], |bytes| texel = bytes.len())?;
        let most = sibling.ask(|_| Some(gl::integer(GL_MAX_TEXTURE_BUFFER_SIZE)))?;
        let texels = i32::try_from(self.shown.len().checked_div(texel)?).ok()?.min(most);
        let (rows, rest) = (texels / ROW, texels % ROW);
        for (first, size) in [(0, [ROW, rows]), (rows * ROW, [rest, 1])] {
            if size.contains(&0) {
                continue;
            }
            let at = self.shown.start + first as usize * texel;
            let mut is_whole = false;
            self.with_texels(sibling, layout, first, size, |bytes| {
                is_whole = out.put(at, bytes).is_some();
            })?;
            if !is_whole {
                return None;
            }
        }
        Some(())
    }

    fn with_texels(
        &self,
        sibling: &Sibling,
        layout: Layout,
        first: i32,
        [width, height]: [i32; 2],
        take: impl FnOnce(&[u8]),
    ) -> Option<()> {
        let of = Of::Buffer { texture: self.texture, first };
        sibling.with_pixels(Image { of, width, height, is_shared: false }, layout, take)
    }
}
