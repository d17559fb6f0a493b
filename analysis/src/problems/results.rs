//! Commands whose result says that they failed: 0 where the role `fails_with_zero` says so, codes of Level Zero, and an
//! attempt to wait that timed out is none.

use gapii_commands::constants::{
    ZE_RESULT_ERROR_NOT_AVAILABLE, ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
    ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ZE_RESULT_EXP_RTAS_BUILD_DEFERRED,
    ZE_RESULT_EXP_RTAS_BUILD_RETRY, ZE_RESULT_EXT_RTAS_BUILD_DEFERRED,
    ZE_RESULT_EXT_RTAS_BUILD_RETRY, ZE_RESULT_NOT_READY, ZE_RESULT_QUERY_FALSE,
    ZE_RESULT_QUERY_TRUE, ZE_RESULT_SUCCESS,
};

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::Seen;
use crate::role::Role;

/// Codes that are no failure.
const ANSWERS: [u32; 8] = [
    ZE_RESULT_SUCCESS,
    ZE_RESULT_NOT_READY,
    ZE_RESULT_QUERY_TRUE,
    ZE_RESULT_QUERY_FALSE,
    ZE_RESULT_EXP_RTAS_BUILD_DEFERRED,
    ZE_RESULT_EXP_RTAS_BUILD_RETRY,
    ZE_RESULT_EXT_RTAS_BUILD_DEFERRED,
    ZE_RESULT_EXT_RTAS_BUILD_RETRY,
];

/// Codes with which a driver says that it lacks something, as programs ask it.
const REFUSALS: [u32; 5] = [
    ZE_RESULT_ERROR_NOT_AVAILABLE,
    ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
    ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
    ZE_RESULT_ERROR_UNSUPPORTED_VERSION,
];

/// Adds a command that failed.
pub fn look(seen: &Seen<'_>, groups: &mut Groups) {
    let is_zero = Role::FailsWithZero.is_of(seen.known);
    if !is_zero && !Role::ReturnsResult.is_of(seen.known) {
        return;
    }
    let Some((code, word)) = seen.result() else { return };
    let is_one_of = |codes: &[u32]| u32::try_from(code).is_ok_and(|code| codes.contains(&code));
    let (severity, sentence) = match is_zero {
        true if code == 0 => (Severity::Error, format!("{} failed", seen.name())),
        false if is_one_of(&REFUSALS) => {
            (Severity::Warning, format!("{} was refused with {word}", seen.name()))
        }
        false if !is_one_of(&ANSWERS) => {
            (Severity::Error, format!("{} failed with {word}", seen.name()))
        }
        _ => return,
    };
    groups.add(Found::one(ProblemKind::FailedResult, severity, sentence), seen.place());
}

#[cfg(test)]
mod tests {
    use gapii_commands::Api;
    use gapii_trace::Description;
    use gapii_trace::description::Kind;

    use super::*;

    /// A new command of EGL that returns a boolean has to be in `apis/egl/roles.api`, or here.
    #[test]
    fn booleans_of_egl_that_are_no_failure_are_few() {
        let functions = Description::built_in().functions().iter();
        let egl = functions.filter(|it| Api::named(&it.api) == Some(Api::Egl));
        let without: Vec<_> = egl
            .filter(|it| it.result.kind == Kind::Bool && !Role::FailsWithZero.is_of(it.known))
            .map(|it| it.name.as_str())
            .collect();
        let expected = [
            "eglGetCompositorTimingSupportedANDROID",
            "eglGetFrameTimestampSupportedANDROID",
            "eglQueryWaylandBufferWL",
            "eglStreamAcquireImageNV",
            "eglStreamConsumerAcquireAttribKHR",
            "eglStreamConsumerAcquireKHR",
        ];
        assert_eq!(without, expected);
    }
}
