//! `Slot`: one place in a table of functions.

use crate::types::ze_api_version_t;

/// The function at one place of a table; the place is the slot's position in the table's list.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The function's id.
    pub function: usize,
    /// Tables of this version and of later versions have the slot. Tables of earlier versions end before it, or have
    /// another function at its place.
    pub since: ze_api_version_t,
}
