//! Tables of functions: the loader offers its callees, and gets the entries to call in their place. No version is
//! refused. The functions that this layer knows get an entry; those of newer loaders stay as they are, untraced and
//! unrecorded. If a table comes again, its newest callees are called. In secure execution all tables stay as they are.

use gapii_ze_api::Slot;
use gapii_ze_api::types::{
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_SUCCESS, ze_api_version_t, ze_result_t,
};

use crate::entry::{self, ENTRIES};
use crate::recorder;
use crate::secure::is_secure;

/// Puts entries into a table of `version`. If the same table comes again, the newest callees are called.
///
/// # Safety
/// `table` is null, or has those of `slots` that exist in `version`.
pub unsafe fn wrap(version: ze_api_version_t, table: *mut *mut (), slots: &[Slot]) -> ze_result_t {
    if table.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if is_secure() {
        return ZE_RESULT_SUCCESS;
    }
    for (at, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.since <= version) {
        // SAFETY: the caller's duty.
        let place = unsafe { table.add(at) };
        // SAFETY: as above.
        let callee = unsafe { place.read() };
        let entry = ENTRIES[slot.function].0.cast_mut();
        if callee == entry {
            // This table was wrapped before. An entry that called itself would never return.
            continue;
        }
        let recorded = recorder::through(slot.function, callee);
        entry::set_callee(slot.function, recorded);
        // SAFETY: as above.
        unsafe { place.write(entry) };
    }
    ZE_RESULT_SUCCESS
}

/// Defines the export through which the loader asks for a table.
macro_rules! table {
    ($name:ident, $slots:ident) => {
        /// # Safety
        /// The table is null, or belongs to that version.
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
