//! `Slot`: one place in a table of functions.

use crate::types::ze_api_version_t;

/// What stands at a place; the place is the slot's own in its list.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The function's id.
    pub function: usize,
    /// A table of this version and of later ones has the slot. Older ones end before it, or have
    /// another function there.
    pub since: ze_api_version_t,
}
