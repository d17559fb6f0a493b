//! Messages of the driver that the program read from the debug log (KHR_debug).

use gapii_commands::constants::{
    GL_DEBUG_SEVERITY_HIGH, GL_DEBUG_SEVERITY_MEDIUM, GL_DEBUG_TYPE_ERROR, GL_DEBUG_TYPE_POP_GROUP,
    GL_DEBUG_TYPE_PUSH_GROUP,
};

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::Seen;
use crate::role::Role;

/// Adds the messages that a command reads.
pub fn look(seen: &Seen<'_>, groups: &mut Groups) {
    if !Role::ReadsMessages.is_of(seen.known) {
        return;
    }
    let words = |param| {
        let bytes = seen.output(param);
        let words = bytes.as_deref().map(|bytes| bytes.as_chunks::<4>().0).unwrap_or_default();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<_>>()
    };
    let [types, severities, lengths] = ["types", "severities", "lengths"].map(words);
    let text = seen.output("messageLog");
    let mut text = text.as_deref().unwrap_or_default();
    let count = seen.result().map_or(0, |(count, _)| count);
    for at in 0..usize::try_from(count).unwrap_or(0).min(types.len().max(lengths.len())) {
        let message = match lengths.get(at) {
            Some(length) => text.split_at_checked(*length as usize),
            // Without lengths, each message ends at its NUL.
            None => text
                .iter()
                .position(|byte| *byte == 0)
                .and_then(|end| text.split_at_checked(end + 1)),
        };
        let (message, rest) = message.unwrap_or((text, &[]));
        text = rest;
        let (kind, severity) = (types.get(at).copied(), severities.get(at).copied());
        if matches!(kind, Some(GL_DEBUG_TYPE_PUSH_GROUP | GL_DEBUG_TYPE_POP_GROUP)) {
            continue;
        }
        let severity = match (kind, severity) {
            (Some(GL_DEBUG_TYPE_ERROR), _) | (_, Some(GL_DEBUG_SEVERITY_HIGH)) => Severity::Error,
            (_, Some(GL_DEBUG_SEVERITY_MEDIUM)) => Severity::Warning,
            _ => Severity::Note,
        };
        let message = String::from_utf8_lossy(message);
        let message = message.trim_end_matches('\0').trim();
        let shown = gapii_trace::Untrusted::from(message).cut(300);
        let sentence = format!("the driver said: {}", shown.raw());
        groups.add(Found::one(ProblemKind::DebugMessage, severity, sentence), seen.place());
    }
}
