//! The EGL images that a replay makes of a storage: those of the program, and, for the time of a snapshot, images with spare
//! handles.
//!
//! A storage can have images of two kinds: of an object that has the storage, or of a renderbuffer that was bound to such an
//! image. Mesa gives the second kind, and what is bound to it, an unsized internal format.

/// Images whose handles are gone have handles from here on meanwhile. The number of the storage is added.
const SPARE_HANDLE: u64 = 0xF000_0000;
/// [`SPARE_HANDLE`] for images of bound renderbuffers.
const SPARE_HANDLE_OF_BOUND: u64 = 0xF800_0000;

/// An EGL image of the program.
#[derive(Clone, Copy)]
pub struct Handle {
    pub image: u64,
    /// Whether it was made of a renderbuffer that was bound to another image.
    pub is_of_bound: bool,
}

/// A handle that no image of the program has.
pub fn spare_handle(storage: u32, is_of_bound: bool) -> u64 {
    let first = if is_of_bound { SPARE_HANDLE_OF_BOUND } else { SPARE_HANDLE };
    first + u64::from(storage)
}

/// The images of one kind that a replay makes: those of the program, or one with a spare handle.
pub fn all(storage: u32, program: &[Handle], is_of_bound: bool) -> Vec<u64> {
    let known = of_kind(program, is_of_bound);
    if known.is_empty() { vec![spare_handle(storage, is_of_bound)] } else { known }
}

/// The first of these images.
pub fn first(storage: u32, program: &[Handle], is_of_bound: bool) -> u64 {
    let known = of_kind(program, is_of_bound);
    known.first().copied().unwrap_or(spare_handle(storage, is_of_bound))
}

/// The program's images of one kind.
pub fn of_kind(program: &[Handle], is_of_bound: bool) -> Vec<u64> {
    let wanted = program.iter().filter(|it| it.is_of_bound == is_of_bound);
    wanted.map(|it| it.image).collect()
}
