//! Arguments of commands of EGL.

use crate::call::Call;
use crate::survey::attributes;

/// Whether the recorded command succeeded: its result was not 0, or is not in the trace.
pub(crate) fn succeeded(call: &Call<'_, '_>) -> bool {
    call.recorded_result() != Some(0)
}

/// Pairs of the attribute list that a command passes at parameter `index`; each word has `width`
/// bytes.
pub(super) fn attributes_of(call: &Call<'_, '_>, index: usize, width: usize) -> Vec<(i64, i64)> {
    attributes(call.observed(index).as_deref().unwrap_or_default(), width)
}
