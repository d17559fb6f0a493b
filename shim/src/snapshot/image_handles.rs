//! The EGL images that a replay makes of a storage: those of the program, and, for the time of a snapshot, images with spare
//! handles.
//!
//! A storage can have images of two kinds: of an object that has the storage, or of a renderbuffer that was bound to such an
//! image. Mesa gives the second kind, and what is bound to it, an unsized internal format.

use super::image_storages::Storage;

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
pub fn all(number: u32, storage: &Storage, is_of_bound: bool) -> Vec<u64> {
    let known = of_program(storage, is_of_bound);
    if known.is_empty() { vec![spare_handle(number, is_of_bound)] } else { known }
}

/// The first of these images.
pub fn first(number: u32, storage: &Storage, is_of_bound: bool) -> u64 {
    let known = of_program(storage, is_of_bound);
    known.first().copied().unwrap_or(spare_handle(number, is_of_bound))
}

/// The spare handles that a replay has used for a storage.
pub fn spare(number: u32, storage: &Storage) -> Vec<u64> {
    let is_needed = storage.root.as_ref().is_some_and(|root| storage.needs_image(root));
    let kinds = [(is_needed, false), (is_needed && storage.needs_image_of_bound(), true)];
    let unnamed = kinds.into_iter().filter(|(is_needed, is_of_bound)| {
        *is_needed && of_program(storage, *is_of_bound).is_empty()
    });
    unnamed.map(|(_, is_of_bound)| spare_handle(number, is_of_bound)).collect()
}

fn of_program(storage: &Storage, is_of_bound: bool) -> Vec<u64> {
    let wanted = storage.handles.iter().filter(|it| it.is_of_bound == is_of_bound);
    wanted.map(|it| it.image).collect()
}
