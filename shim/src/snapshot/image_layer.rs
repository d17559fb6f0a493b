//! Images whose pixels are read: which object and which part of it.

use std::alloc::Layout;

use gapii_commands::constants::{
    GL_TEXTURE_1D, GL_TEXTURE_1D_ARRAY, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_3D,
    GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_CUBE_MAP_POSITIVE_X, GL_TEXTURE_RECTANGLE,
};

/// An image, or a layer of one.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    pub of: Of,
    pub width: i32,
    pub height: i32,
    /// It shares its storage with an EGL image.
    pub is_shared: bool,
}

/// The object and its part.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// A renderbuffer and its internal format.
    Renderbuffer { name: u32, format: u32 },
    /// One sample of a renderbuffer: internal format, number of samples, and index of the sample.
    RenderbufferSample { name: u32, format: u32, samples: i32, sample: i32 },
    /// One sample of a multisampled texture: target, layer, and index of the sample.
    Sample { texture: u32, target: u32, layer: i32, sample: i32 },
    /// A level of a texture: its target, its target or a face of a cube map, and the level.
    Flat { texture: u32, target: u32, face: u32, level: i32 },
    /// Texels of a buffer texture from `first` on, in rows without gaps.
    Buffer { texture: u32, first: i32 },
    /// A layer of a level of a texture.
    Layer { texture: u32, target: u32, level: i32, layer: i32 },
}

/// Whether images of a texture with this target have layers or slices.
pub fn has_layers(target: u32) -> bool {
    matches!(target, GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY | GL_TEXTURE_CUBE_MAP_ARRAY)
}

/// Whether only OpenGL has textures with this target. A level of one is read as a whole: the layers of an array of
/// one-dimensional images are its rows.
pub fn is_only_of_desktop(target: u32) -> bool {
    matches!(target, GL_TEXTURE_1D | GL_TEXTURE_1D_ARRAY | GL_TEXTURE_RECTANGLE)
}

/// The layer that stands for a face of a cube map in commands without a face parameter; 0 for other textures.
pub fn layer_of(target: u32, face: u32) -> i32 {
    if face == target { 0 } else { face.wrapping_sub(GL_TEXTURE_CUBE_MAP_POSITIVE_X) as i32 }
}

/// Gives `bytes` a length. What they are is not defined. `None` if there is no memory.
pub fn resize(bytes: &mut Vec<u8>, len: usize) -> Option<()> {
    if len > bytes.capacity() {
        // Nothing is copied, and the kernel's new pages are not written twice.
        *bytes = zeros(len)?;
    }
    bytes.resize(len, 0);
    Some(())
}

fn zeros(len: usize) -> Option<Vec<u8>> {
    let layout = Layout::array::<u8>(len).ok().filter(|_| len > 0)?;
    // SAFETY: the layout has a size.
    let at = unsafe { std::alloc::alloc_zeroed(layout) };
    // SAFETY: as many bytes with this alignment, all written, from the allocator of all vectors.
    (!at.is_null()).then(|| unsafe { Vec::from_raw_parts(at, len, len) })
}
