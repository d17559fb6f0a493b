//! Tables of functions: the loader offers what it would call, and gets the entries to call instead.
//!
//! No version is refused: what a table of that version has and is known gets an entry, and the rest
//! stays as it is and works untraced.

use gapii_ze_api::Slot;
use gapii_ze_api::types::{
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_SUCCESS, ze_api_version_t, ze_result_t,
};

use crate::entry;
use crate::generated::entries::ENTRIES;
use crate::recorder;

/// Puts entries into a table of `version`. Repeated for a table, the last one's callees are called.
///
/// # Safety
/// `table` is null, or has the slots of `slots` that are not later than `version`.
pub unsafe fn wrap(version: ze_api_version_t, table: *mut *mut (), slots: &[Slot]) -> ze_result_t {
    if table.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    for (at, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.since <= version) {
        // SAFETY: the caller's duty.
        let place = unsafe { table.add(at) };
        // SAFETY: as above.
        let callee = unsafe { place.read() };
        let entry = ENTRIES[slot.function].0.cast_mut();
        if callee == entry {
            // A table that was wrapped before: an entry that called itself would never return.
            continue;
        }
        let recorded = recorder::through(slot.function, callee);
        entry::set_callee(slot.function, recorded);
        // SAFETY: as above.
        unsafe { place.write(entry) };
    }
    ZE_RESULT_SUCCESS
}

/// Defines the export by which the loader asks for a table.
macro_rules! table {
    ($name:ident, $slots:ident) => {
        /// # Safety
        /// The table is null, or one of that version.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            version: gapii_ze_api::types::ze_api_version_t,
            table: *mut *mut (),
        ) -> gapii_ze_api::types::ze_result_t {
            // SAFETY: the caller's duty.
            unsafe { $crate::table::wrap(version, table, $slots) }
        }
    };
}
pub(crate) use table;
