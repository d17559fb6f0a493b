//! Kinds of EGL objects (syncs, images) that the trace uses and the driver's display lacks; such a lack keeps the
//! replay from beginning.

use std::collections::BTreeSet;

use gapii_commands::CommandId;

use crate::driver::Real;
use crate::facts::Role;
use crate::generated::facts::roles;
use crate::survey::Survey;

/// A kind of objects that not every display has.
struct Optional {
    title: &'static str,
    /// Role of the commands that show that the trace has such an object.
    role: &'static Role,
    /// The extensions that provide the kind before EGL 1.5.
    extensions: &'static [&'static str],
}

static OPTIONAL: [Optional; 2] = [
    Optional {
        title: "EGL syncs",
        role: &roles::TAKES_SYNC,
        extensions: &["EGL_KHR_fence_sync", "EGL_KHR_reusable_sync"],
    },
    Optional {
        title: "EGL images",
        role: &roles::TAKES_IMAGE,
        extensions: &["EGL_KHR_image_base", "EGL_KHR_image"],
    },
];

/// EGL version and extensions of a display.
struct Offer<'a> {
    version: (i32, i32),
    has_extension: &'a dyn Fn(&str) -> bool,
}

/// Kinds of objects that the trace uses and the display lacks, one sentence each.
pub fn missing(real: &Real, survey: &Survey) -> Vec<String> {
    let has_extension = |name: &str| real.has_extension(name);
    lacks(&survey.functions, &Offer { version: real.version(), has_extension: &has_extension })
}

fn lacks(functions: &BTreeSet<String>, offer: &Offer<'_>) -> Vec<String> {
    let is_used = |role: &Role| {
        let mut known = functions.iter().filter_map(|name| CommandId::named(name));
        known.any(|command| role.has(command))
    };
    let is_there = |extensions: &[&str]| {
        offer.version >= (1, 5) || extensions.iter().any(|name| (offer.has_extension)(name))
    };
    let missing = OPTIONAL.iter().filter(|it| is_used(it.role) && !is_there(it.extensions));
    let sentence = |Optional { title, extensions, .. }: &Optional| {
        let (major, minor) = offer.version;
        let extensions = extensions.join(" or ");
        format!(
            "the trace has {title}, which take EGL 1.5 or {extensions}; the driver has {major}.{minor}"
        )
    };
    missing.map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(functions: &[&str], version: (i32, i32), extension: &str, expected: &[&str]) {
        let functions = functions.iter().map(|name| (*name).to_owned()).collect();
        let has_extension = |name: &str| name == extension;
        assert_eq!(lacks(&functions, &Offer { version, has_extension: &has_extension }), expected);
    }

    #[test]
    fn objects_that_a_display_lacks_are_named() {
        let images = "the trace has EGL images, which take EGL 1.5 or EGL_KHR_image_base or \
                      EGL_KHR_image; the driver has 1.4";
        check(&["eglDestroyImageKHR"], (1, 4), "", &[images]);
        check(&["eglDestroyImageKHR"], (1, 4), "EGL_KHR_image_base", &[]);
        check(&["eglDestroyImageKHR"], (1, 5), "", &[]);
        // Creation may have failed in the recording.
        check(&["eglCreateImageKHR", "eglCreateSync"], (1, 4), "", &[]);
    }
}
