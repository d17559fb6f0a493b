//! An image whose pixels are read, and where they are.

use gapii_commands::constants::GL_TEXTURE_CUBE_MAP_POSITIVE_X;

/// An image, or a layer of one.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    pub of: Of,
    pub width: i32,
    pub height: i32,
}

/// Whose it is.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// The renderbuffer and its internal format.
    Renderbuffer { name: u32, format: u32 },
    /// The renderbuffer, its internal format, how many samples it has, and which of them.
    RenderbufferSample { name: u32, format: u32, samples: i32, sample: i32 },
    /// The texture, its target, the layer and which of its samples.
    Sample { texture: u32, target: u32, layer: i32, sample: i32 },
    /// The texture, its target, and what of it the image is: its target or a face, and the level.
    Flat { texture: u32, target: u32, face: u32, level: i32 },
    /// The texture, its target, the level and the layer.
    Layer { texture: u32, target: u32, level: i32, layer: i32 },
}

/// Faces of a cube are layers to commands that take no face.
pub fn layer_of(target: u32, face: u32) -> i32 {
    if face == target { 0 } else { face.wrapping_sub(GL_TEXTURE_CUBE_MAP_POSITIVE_X) as i32 }
}

/// As many bytes, whatever they are; `None`: there is no memory for them.
pub fn resize(bytes: &mut Vec<u8>, len: usize) -> Option<()> {
    if len > bytes.capacity() {
        bytes.try_reserve_exact(len - bytes.len()).ok()?;
    }
    bytes.resize(len, 0);
    Some(())
}
