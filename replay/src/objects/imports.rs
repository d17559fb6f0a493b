//! Imported memory of the trace, from which EGL images are made here by way of a texture: at most `IMPORTS_MAX` (1,024) images
//! with `BYTES_MAX` (512 MiB). Of images that the trace has destroyed, whose textures may live on, the last
//! `DESTROYED_MAX` (64) are kept.

use gapii_state::egl::DmaBuf;

use crate::driver::Handle;

/// Largest number of images.
const IMPORTS_MAX: usize = 1 << 10;
/// Most bytes of all planes.
const BYTES_MAX: u64 = 512 << 20;
/// Largest number of destroyed images.
const DESTROYED_MAX: usize = 64;

/// Images of imported memory.
#[derive(Default)]
pub struct Imports {
    all: Vec<Import>,
    /// The context, and the surface if it needs one, that has the textures.
    pub maker: Option<(Handle, Handle)>,
}

/// Memory of an image.
pub struct Import {
    /// Index of the process in the trace, and the image's handle there.
    pub key: (u32, u64),
    /// Layout of the memory.
    pub layout: DmaBuf,
    /// The planes.
    pub planes: Vec<Plane>,
    /// The texture with the pixels, in the context that makes images.
    pub texture: u32,
    /// Whether the texture is one of RGBA whatever the format: the driver made no image of another one.
    pub is_rgba: bool,
    /// Whether the trace has destroyed the image.
    pub is_destroyed: bool,
}

/// A plane of imported memory.
pub struct Plane {
    /// Address in the program.
    pub address: u64,
    /// What it holds now.
    pub bytes: Vec<u8>,
}

impl Imports {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether one more with this layout has room.
    pub fn has_room(&self, layout: &DmaBuf) -> bool {
        let more: u64 = layout.planes.iter().map(|plane| plane.bytes).sum();
        let planes = self.all.iter().flat_map(|import| &import.planes);
        let bytes: u64 = planes.map(|plane| plane.bytes.len() as u64).sum();
        self.all.len() < IMPORTS_MAX && bytes + more <= BYTES_MAX
    }

    /// Adds one.
    pub fn add(&mut self, import: Import) {
        self.all.push(import);
    }

    /// Notes that the trace has destroyed an image. Returns the textures that nobody needs any more: those of images that were
    /// destroyed longest ago.
    pub fn destroy(&mut self, key: (u32, u64)) -> Vec<u32> {
        for import in self.all.iter_mut().filter(|it| it.key == key) {
            import.is_destroyed = true;
        }
        let destroyed = self.all.iter().filter(|it| it.is_destroyed).count();
        let mut over = destroyed.saturating_sub(DESTROYED_MAX);
        self.forget(|import| {
            let is_over = import.is_destroyed && over > 0;
            over -= usize::from(is_over);
            is_over
        })
    }

    /// Forgets images whose memory overlaps these planes of a process: the recorder has given up that memory. Returns their
    /// textures.
    pub fn replace(&mut self, process: u32, planes: &[Plane]) -> Vec<u32> {
        let overlaps =
            |one: &Plane, other: &Plane| one.has(other.address) || other.has(one.address);
        self.forget(|import| {
            let mut own = import.planes.iter();
            import.key.0 == process && own.any(|own| planes.iter().any(|new| overlaps(own, new)))
        })
    }

    fn forget(&mut self, mut is_over: impl FnMut(&Import) -> bool) -> Vec<u32> {
        let mut textures = Vec::new();
        self.all.retain(|import| {
            let keeps = !is_over(import);
            textures.extend((!keeps).then_some(import.texture));
            keeps
        });
        textures
    }

    /// Copies what memory of a process holds now. Returns the index of the image if it is imported memory.
    pub fn write(&mut self, process: u32, address: u64, bytes: &[u8]) -> Option<usize> {
        let mut all = self.all.iter_mut().enumerate().filter(|(_, it)| it.key.0 == process);
        all.find_map(|(at, import)| {
            let plane = import.planes.iter_mut().find(|plane| plane.has(address))?;
            let from = usize::try_from(address - plane.address).ok()?;
            let len = bytes.len().min(plane.bytes.len() - from);
            plane.bytes[from..from + len].copy_from_slice(&bytes[..len]);
            Some(at)
        })
    }

    /// An image by its index.
    pub fn get(&self, at: usize) -> Option<&Import> {
        self.all.get(at)
    }
}

impl Plane {
    fn has(&self, address: u64) -> bool {
        let offset = address.checked_sub(self.address);
        offset.is_some_and(|offset| offset < self.bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use gapii_commands::constants::*;

    use super::*;

    fn layout() -> DmaBuf {
        let code = i64::from(u32::from_le_bytes(*b"R8  "));
        let pairs = [
            (EGL_WIDTH, 4),
            (EGL_HEIGHT, 1),
            (EGL_LINUX_DRM_FOURCC_EXT, code),
            (EGL_DMA_BUF_PLANE0_FD_EXT, 0),
            (EGL_DMA_BUF_PLANE0_PITCH_EXT, 4),
        ];
        let find = |name| pairs.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
        DmaBuf::of(find).unwrap()
    }

    fn import(handle: u64, address: u64, texture: u32) -> Import {
        let planes = vec![Plane { address, bytes: vec![0; 4] }];
        let (key, layout) = ((0, handle), layout());
        Import { key, layout, planes, texture, is_rgba: false, is_destroyed: false }
    }

    #[test]
    fn change_is_written_where_it_lies_in_its_plane() {
        let mut all = Imports::default();
        all.add(import(1, 100, 1));
        all.add(import(2, 104, 2));
        assert_eq!(all.write(0, 106, &[7, 8, 9]), Some(1));
        assert_eq!(all.get(1).unwrap().planes[0].bytes, [0, 0, 7, 8]);
        assert_eq!(all.write(0, 108, &[1]), None);
        assert_eq!(all.write(1, 100, &[1]), None, "another process");
    }

    #[test]
    fn memory_of_destroyed_images_is_kept_for_a_while() {
        let mut all = Imports::default();
        for number in 0..=DESTROYED_MAX as u64 {
            all.add(import(number, 100 * number, number as u32));
        }
        let over: Vec<u32> =
            (0..=DESTROYED_MAX as u64).flat_map(|number| all.destroy((0, number))).collect();
        assert_eq!(over, [0]);
        let plane = Plane { address: 301, bytes: vec![0; 2] };
        assert_eq!(all.replace(0, &[plane]), [3]);
    }

    #[test]
    fn images_have_room_up_to_their_number() {
        let mut all = Imports::default();
        for number in 0..IMPORTS_MAX as u64 {
            assert!(all.has_room(&layout()));
            all.add(import(number, 100 * number, 0));
        }
        assert!(!all.has_room(&layout()));
    }
}
