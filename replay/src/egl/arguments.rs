//! Arguments of commands of EGL.

use crate::call::Call;
use crate::survey::attributes;

/// Whether it did not fail when it was recorded.
pub(super) fn succeeded(call: &Call<'_, '_>) -> bool {
    call.recorded_result() != Some(0)
}

/// Whether it is a function of EGL itself, and none of an extension.
pub(super) fn is_core(call: &Call<'_, '_>) -> bool {
    call.command.name().ends_with(|last: char| last.is_ascii_lowercase())
}

/// The list of a command, by its parameter.
pub(super) fn attributes_of(call: &Call<'_, '_>, index: usize, width: usize) -> Vec<(i64, i64)> {
    attributes(call.observed(index).as_deref().unwrap_or_default(), width)
}
