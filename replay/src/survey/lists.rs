//! Attribute lists of EGL commands, up to `EGL_NONE` or 256 attributes. `OF_CONTEXTS` has the attributes of contexts
//! that the driver gets; `EGL_CONTEXT_OPENGL_NO_ERROR_KHR` is not among them, since a trace's commands may be wrong.

use gapii_commands::constants;
use std::collections::BTreeSet;

/// Pairs of attribute and value.
pub type Attributes = Vec<(i64, i64)>;

/// `EGL_CONTEXT_MAJOR_VERSION`: the requested major version.
pub const EGL_CONTEXT_MAJOR_VERSION: i32 = constants::EGL_CONTEXT_MAJOR_VERSION as i32;
/// `EGL_CONTEXT_MINOR_VERSION`: the requested minor version.
pub const EGL_CONTEXT_MINOR_VERSION: i32 = constants::EGL_CONTEXT_MINOR_VERSION as i32;
const EGL_CONTEXT_OPENGL_DEBUG: i32 = constants::EGL_CONTEXT_OPENGL_DEBUG as i32;
const EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE: i32 =
    constants::EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE as i32;
const EGL_CONTEXT_OPENGL_PROFILE_MASK: i32 = constants::EGL_CONTEXT_OPENGL_PROFILE_MASK as i32;
const EGL_CONTEXT_OPENGL_ROBUST_ACCESS: i32 = constants::EGL_CONTEXT_OPENGL_ROBUST_ACCESS as i32;
const EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT: i32 =
    constants::EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT as i32;
const EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY: i32 =
    constants::EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY as i32;
const EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT: i32 =
    constants::EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT as i32;
/// `EGL_CONTEXT_OPENGL_NO_ERROR_KHR`: the context does not check for errors
/// (`EGL_KHR_create_context_no_error`).
pub const EGL_CONTEXT_OPENGL_NO_ERROR_KHR: i32 = constants::EGL_CONTEXT_OPENGL_NO_ERROR_KHR as i32;
const EGL_CONTEXT_FLAGS_KHR: i32 = constants::EGL_CONTEXT_FLAGS_KHR as i32;

/// Attributes of a context that the driver gets. `EGL_CONTEXT_OPENGL_NO_ERROR_KHR` is not among
/// them: a trace's commands may be wrong, and the driver must check them.
pub const OF_CONTEXTS: [i32; 10] = [
    EGL_CONTEXT_MAJOR_VERSION,
    EGL_CONTEXT_MINOR_VERSION,
    EGL_CONTEXT_OPENGL_DEBUG,
    EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE,
    EGL_CONTEXT_OPENGL_PROFILE_MASK,
    EGL_CONTEXT_OPENGL_ROBUST_ACCESS,
    EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT,
    EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
    EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
    EGL_CONTEXT_FLAGS_KHR,
];

/// Attributes and values of a list up to `EGL_NONE`, at most 256. Words of the list have `width`
/// bytes, 4 or 8.
pub fn attributes(bytes: &[u8], width: usize) -> Vec<(i64, i64)> {
    const EGL_NONE: i64 = constants::EGL_NONE as i64;
    let number = |bytes: &[u8]| match width {
        8 => bytes.first_chunk().map_or(EGL_NONE, |bytes| i64::from_le_bytes(*bytes)),
        _ => bytes.first_chunk().map_or(EGL_NONE, |bytes| i64::from(i32::from_le_bytes(*bytes))),
    };
    let pairs = bytes.chunks_exact(width * 2);
    let pairs = pairs.map(|pair| (number(pair), number(&pair[width..])));
    pairs.take_while(|(attribute, _)| *attribute != EGL_NONE).take(256).collect()
}

/// The attributes that are in `known`, with 32-bit values.
pub fn only(attributes: &[(i64, i64)], known: &[i32]) -> Vec<(i32, i32)> {
    let narrow = |(name, value): &(i64, i64)| Some((*name as i32, i32::try_from(*value).ok()?));
    attributes.iter().filter_map(narrow).filter(|(name, _)| known.contains(name)).collect()
}

/// The attributes of a context that the driver gets, each once.
pub fn of_context(of_trace: &[(i64, i64)]) -> Vec<(i32, i32)> {
    let mut known = only(of_trace, &OF_CONTEXTS);
    let mut names = BTreeSet::new();
    known.retain(|(name, _)| names.insert(*name));
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_end_at_none_and_where_the_bytes_do() {
        let list = |words: &[i32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
        let check = |bytes: &[u8], width, expected: &[(i64, i64)]| {
            assert_eq!(attributes(bytes, width), expected);
        };
        check(&list(&[0x3057, 64, 0x3038]), 4, &[(0x3057, 64)]);
        check(&list(&[0x3057, -1, 0x3056]), 4, &[(0x3057, -1)]);
        check(&list(&[0x3057, 0, 64, 0, 0x3038, 0, 7, 0]), 8, &[(0x3057, 64)]);
        check(&[1, 2, 3], 8, &[]);
    }
}
