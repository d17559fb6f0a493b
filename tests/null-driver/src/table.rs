//! Tables of functions, filled with the functions that the requested version has.

use gapii_ze_api::Slot;
use gapii_ze_api::types::{
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZE_RESULT_SUCCESS,
    ze_api_version_t, ze_result_t,
};

use crate::implemented::implemented;

/// # Safety
/// `table` is null, or has those of `slots` that exist in `version`.
pub unsafe fn fill(
    version: ze_api_version_t,
    table: *mut *const (),
    slots: &[Slot],
) -> ze_result_t {
    let code = |slot: &Slot| implemented(slot.function).unwrap_or(unsupported as *const ());
    // SAFETY: the caller's duty.
    unsafe { write(version, table, slots.iter().map(|slot| (slot.since, code(slot)))) }
}

/// Does the same for a table without implemented functions; `since` has one version per slot.
///
/// # Safety
/// `table` is null, or has those slots that exist in `version`.
pub unsafe fn fill_unsupported(
    version: ze_api_version_t,
    table: *mut *const (),
    since: &[ze_api_version_t],
) -> ze_result_t {
    // SAFETY: the caller's duty.
    unsafe { write(version, table, since.iter().map(|since| (*since, unsupported as *const ()))) }
}

/// `slots` give, for each slot, the version from which it exists and its content.
///
/// # Safety
/// `table` is null, or has those of the slots that exist in `version`.
unsafe fn write(
    version: ze_api_version_t,
    table: *mut *const (),
    slots: impl Iterator<Item = (ze_api_version_t, *const ())>,
) -> ze_result_t {
    if table.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    for (at, (_, function)) in slots.enumerate().filter(|(_, (since, _))| *since <= version) {
        // SAFETY: the caller's duty.
        let place = unsafe { table.add(at) };
        // SAFETY: as above.
        unsafe { place.write(function) };
    }
    ZE_RESULT_SUCCESS
}

/// Takes any arguments, because the caller removes them.
unsafe extern "C" fn unsupported() -> ze_result_t {
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
}

/// Defines the export through which the loader asks for a table.
macro_rules! table {
    ($name:ident, $slots:ident) => {
        /// # Safety
        /// The table is null, or belongs to that version.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            version: gapii_ze_api::types::ze_api_version_t,
            table: *mut *const (),
        ) -> gapii_ze_api::types::ze_result_t {
            // SAFETY: the caller's duty.
            unsafe { $crate::table::fill(version, table, $slots) }
        }
    };
}
pub(crate) use table;

/// Does the same for a table without implemented functions.
macro_rules! unsupported_table {
    ($name:ident, [$($since:literal),* $(,)?]) => {
        /// # Safety
        /// The table is null, or belongs to that version.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            version: gapii_ze_api::types::ze_api_version_t,
            table: *mut *const (),
        ) -> gapii_ze_api::types::ze_result_t {
            // SAFETY: the caller's duty.
            unsafe { $crate::table::fill_unsupported(version, table, &[$($since),*]) }
        }
    };
}
pub(crate) use unsupported_table;
