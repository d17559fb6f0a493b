//! Functions, versions and extensions that the trace needs and this driver lacks, in sentences that name the first
//! eight commands. A function that the recorded driver lacked, too, is not needed.

use std::collections::{BTreeMap, BTreeSet};

use gapii_commands::{Api, CommandId};

use crate::driver::{Driver, Offer};
use crate::generated::requirements::REQUIREMENTS;
use crate::survey::{Needs, Survey, requirement_of};

/// What contexts lack, each with the commands that need it.
#[derive(Default)]
pub struct Lacks(BTreeMap<Lack, BTreeSet<&'static str>>);

/// A version or extensions that a context lacks. Several commands may need them.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Lack {
    /// Whether the context is one of OpenGL ES, not of desktop OpenGL.
    is_es: bool,
    extensions: &'static [&'static str],
    /// The version that the commands need, and the version that the context has.
    version: Option<[(u16, u16); 2]>,
}

impl Lacks {
    /// Adds what a context with these `needs` lacks if it is replaced by a context with `offer`.
    pub fn compare(&mut self, needs: &Needs, offer: &Offer) {
        for (at, requirement) in REQUIREMENTS.iter().enumerate() {
            if needs.has(at) && !requirement.is_met(offer.is_es, offer.version, &offer.extensions) {
                let lack = Lack {
                    is_es: offer.is_es,
                    extensions: requirement.extensions,
                    version: requirement.least(offer.is_es).map(|least| [least, offer.version]),
                };
                self.0.entry(lack).or_default().insert(requirement.command.name());
            }
        }
    }

    /// One sentence per missing version or extension.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(lack, commands)| lack.sentence(commands))
    }
}

impl Lack {
    fn sentence(&self, commands: &BTreeSet<&str>) -> String {
        let named = enumerated(&commands.iter().copied().collect::<Vec<_>>());
        let (takes, needs) =
            if commands.len() == 1 { ("takes", "needs") } else { ("take", "need") };
        let extensions = self.extensions.join(" or ");
        match self.version {
            None => format!("the driver has no {extensions}, which {named} in the trace {needs}"),
            Some([(major, minor), (has_major, has_minor)]) => {
                let or = if extensions.is_empty() { "" } else { " or " };
                let api = if self.is_es { "OpenGL ES" } else { "desktop OpenGL" };
                format!(
                    "the trace calls {named}, which {takes} {api} \
                     {major}.{minor}{or}{extensions}; the driver has {has_major}.{has_minor}"
                )
            }
        }
    }
}

/// Sentence with the functions that the trace calls and the driver does not have; `None` if it has
/// all.
pub fn absent(survey: &Survey, driver: &Driver) -> Option<String> {
    let is_needed = |known: CommandId| match requirement_of(known) {
        None => known.api() == Api::Gl,
        Some(at) => survey.contexts.iter().any(|context| context.needs.has(at)),
    };
    let is_absent = |name: &&str| {
        let known = CommandId::named(name);
        known.is_some_and(|known| !driver.has(known.number()) && is_needed(known))
    };
    let functions = survey.functions.iter().map(String::as_str);
    let absent: Vec<&str> = functions.filter(is_absent).collect();
    if absent.is_empty() {
        return None;
    }
    Some(format!("the trace calls {}, which the driver does not have", enumerated(&absent)))
}

/// The first eight names, joined for a sentence, and how many more there are.
fn enumerated(names: &[&str]) -> String {
    let listed = names.get(..names.len().min(8)).unwrap_or_default();
    match (names.len() - listed.len(), listed) {
        (0, [first @ .., last]) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        (0, _) => listed.concat(),
        (more, _) => format!("{} and {more} more", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(commands: &[&str], version: (u16, u16), extensions: &str) -> Needs {
        needs_of(true, commands, version, extensions)
    }

    fn needs_of(is_es: bool, commands: &[&str], version: (u16, u16), extensions: &str) -> Needs {
        let mut needs = Needs::default();
        for name in commands {
            let requirement = CommandId::named(name).and_then(requirement_of);
            let requirement = requirement.expect("a command that needs something");
            needs.see(requirement, is_es, version, extensions);
        }
        needs
    }

    fn check(needs: &Needs, version: (u16, u16), extensions: &str, expected: &[&str]) {
        check_in(true, needs, version, extensions, expected);
    }

    fn check_in(
        is_es: bool,
        needs: &Needs,
        version: (u16, u16),
        extensions: &str,
        expected: &[&str],
    ) {
        let mut lacks = Lacks::default();
        lacks.compare(needs, &Offer { is_es, version, extensions: extensions.to_owned() });
        assert_eq!(lacks.sentences().collect::<Vec<_>>(), expected);
    }

    const STORAGE: &str = "glBufferStorageEXT";
    const NO_STORAGE: &str =
        "the driver has no GL_EXT_buffer_storage, which glBufferStorageEXT in the trace needs";

    #[test]
    fn table_is_sorted() {
        assert!(REQUIREMENTS.is_sorted_by(|left, right| left.command < right.command));
    }

    #[test]
    fn extension_that_the_recording_had_is_missed() {
        let needs = needs(&[STORAGE], (3, 1), "GL_OES_mapbuffer GL_EXT_buffer_storage");
        check(&needs, (3, 1), "GL_EXT_buffer_storage", &[]);
        check(&needs, (3, 2), "GL_EXT_buffer_storage_2 GL_OES_mapbuffer", &[NO_STORAGE]);
    }

    #[test]
    fn command_that_the_recorded_context_lacked_is_not_required() {
        check(&needs(&[STORAGE, "glBlendBarrier"], (3, 1), ""), (3, 0), "", &[]);
    }

    #[test]
    fn version_is_missed() {
        let needs = needs(&["glBlendBarrier", "glDispatchCompute", "glDisablei"], (3, 2), "");
        check(&needs, (3, 2), "", &[]);
        let expected = "the trace calls glBlendBarrier and glDisablei, which take OpenGL ES 3.2; \
                        the driver has 3.1";
        check(&needs, (3, 1), "", &[expected]);
    }

    #[test]
    fn contexts_of_desktop_opengl_are_judged_by_its_versions() {
        let commands = ["glDispatchCompute", "glVertexAttribDivisor"];
        let needs = needs_of(false, &commands, (4, 5), "");
        check_in(false, &needs, (4, 3), "", &[]);
        let expected = "the trace calls glDispatchCompute, which takes desktop OpenGL 4.3 or \
                        GL_ARB_compute_shader; the driver has 4.0";
        check_in(false, &needs, (4, 0), "", &[expected]);
        check_in(false, &needs_of(false, &commands, (3, 2), ""), (3, 2), "", &[]);
    }

    #[test]
    fn any_extension_that_has_the_command_will_do() {
        let both = ["GL_EXT_disjoint_timer_query", "GL_EXT_occlusion_query_boolean"];
        let needs = needs(&["glBeginQueryEXT"], (2, 0), both[0]);
        both.iter().for_each(|name| check(&needs, (2, 0), name, &[]));
        let expected = "the driver has no GL_EXT_disjoint_timer_query or \
                        GL_EXT_occlusion_query_boolean, which glBeginQueryEXT in the trace needs";
        check(&needs, (3, 2), "", &[expected]);
    }

    #[test]
    fn names_are_listed_up_to_eight() {
        let check = |count: usize, expected| assert_eq!(enumerated(&vec!["a"; count]), expected);
        check(1, "a");
        check(2, "a and a");
        check(9, "a, a, a, a, a, a, a, a and 1 more");
    }
}
