//! `NamesUsed`: the names of textures, buffers and renderbuffers that commands of a part of a trace have. For `gapii-ctl trim
//! --drop-unused`, which leaves the objects with other names out of the part.
//!
//! A name that may stand for an object of several kinds, or of several share groups, counts for all of them. A command that
//! deletes an object does not use it. Programs that reach objects without their names are told by [`NamesUsed::hides`].

use std::collections::BTreeSet;

use gapii_trace::Command;
use gapii_trace::description::{Function, Repr};

use crate::digest;
use crate::mentions::Names;

/// Kinds of objects whose names are noted, as parameters call them.
const KINDS: [&str; 3] = ["texture", "buffer", "renderbuffer"];
/// Other kinds, as parameters call them.
const OTHERS: [&str; 11] = [
    "framebuffer",
    "program",
    "shader",
    "array",
    "sampler",
    "pipeline",
    "list",
    "semaphore",
    "sync",
    "path",
    "memory",
];
/// Parameters whose kind of object is another argument.
const OF_ANY_KIND: [&str; 4] = ["name", "object", "srcName", "dstName"];
/// Parts of the names of functions that give out handles and addresses by which shaders reach objects.
const HIDING: [&str; 4] =
    ["TextureHandle", "TextureSamplerHandle", "ImageHandle", "Parameterui64v"];
/// Functions that keep bindings for a later command.
const SAVING: [&str; 2] = ["glPushAttrib", "glPushClientAttrib"];

/// The names that commands of a part of a trace have.
#[derive(Debug, Default)]
pub struct NamesUsed {
    textures: BTreeSet<u32>,
    buffers: BTreeSet<u32>,
    renderbuffers: BTreeSet<u32>,
    /// By function id; `None` before the function's first command.
    functions: Vec<Option<Use>>,
    hides: Option<String>,
}

/// What a function does with names.
#[derive(Clone, Debug)]
struct Use {
    names: Names,
    /// Positions of parameters whose kind of object is another argument.
    of_any_kind: Vec<usize>,
}

impl NamesUsed {
    /// Looks at the next command of the trace. `is_in_part`: the part has it.
    pub fn look(&mut self, command: &Command<'_>, is_in_part: bool) {
        let Some(function) = command.function else { return };
        let id = usize::from(command.id);
        if self.functions.len() <= id {
            self.functions.resize(id + 1, None);
        }
        let Some(slot) = self.functions.get_mut(id) else { return };
        if slot.is_none() && hides(&function.name) {
            self.hides.get_or_insert_with(|| function.name.to_string());
        }
        let found = slot.get_or_insert_with(|| Use::of(function));
        if !is_in_part || found.names.deletes {
            return;
        }
        let mut named = Vec::new();
        found.names.each(command, |mention| named.push((mention.namespace, mention.name)));
        let any = found.of_any_kind.iter().filter_map(|at| command.args().nth(*at));
        named.extend(any.map(|arg| (0, arg.value.bits())));
        for (namespace, name) in named {
            self.note(namespace, name);
        }
    }

    fn note(&mut self, namespace: u64, name: u64) {
        let Ok(name) = u32::try_from(name) else { return };
        let is_of = |kinds: &[&str]| kinds.iter().any(|kind| digest::of(*kind) == namespace);
        let is_of_any_kind = !is_of(&KINDS) && !is_of(&OTHERS);
        let sets = [&mut self.textures, &mut self.buffers, &mut self.renderbuffers];
        for (kind, set) in KINDS.iter().zip(sets) {
            if is_of_any_kind || is_of(&[kind]) {
                set.insert(name);
            }
        }
    }

    /// Returns the name of a function of the trace because of which objects may be used without their names.
    pub fn hides(&self) -> Option<&str> {
        self.hides.as_deref()
    }

    /// Returns the names of textures, of buffers and of renderbuffers.
    pub fn into_names(self) -> [BTreeSet<u32>; 3] {
        [self.textures, self.buffers, self.renderbuffers]
    }
}

impl Use {
    fn of(function: &Function) -> Self {
        let is_any = |name: &str| OF_ANY_KIND.contains(&name);
        let params = function.params.iter().enumerate();
        let any = params.filter(|(_, it)| is_any(&it.name) && it.ty.repr == Some(Repr::U32));
        Self { names: Names::of(function), of_any_kind: any.map(|(at, _)| at).collect() }
    }
}

fn hides(function: &str) -> bool {
    HIDING.iter().any(|part| function.contains(part)) || SAVING.contains(&function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_counts_for_its_kind_and_for_all_if_the_kind_is_not_known() {
        let check = |kind: Option<&str>, name: u64, expected: [usize; 3]| {
            let mut used = NamesUsed::default();
            used.note(kind.map_or(0, digest::of), name);
            let found = used.into_names().map(|names| names.len());
            assert_eq!(found, expected, "{kind:?} {name}");
        };
        check(Some("texture"), 7, [1, 0, 0]);
        check(Some("buffer"), 7, [0, 1, 0]);
        check(Some("renderbuffer"), 7, [0, 0, 1]);
        check(Some("framebuffer"), 7, [0, 0, 0]);
        check(Some("origtexture"), 7, [1, 1, 1]);
        check(None, 7, [1, 1, 1]);
        check(None, 1 << 32, [0, 0, 0]);
    }

    #[test]
    fn functions_that_give_other_ways_to_objects_hide_names() {
        for function in [
            "glGetTextureHandleARB",
            "glGetTextureSamplerHandleNV",
            "glGetImageHandleARB",
            "glGetNamedBufferParameterui64vNV",
            "glPushAttrib",
            "glPushClientAttrib",
        ] {
            assert!(hides(function), "{function}");
        }
        for function in ["glBindTexture", "glGetBufferParameteriv", "glPopAttrib"] {
            assert!(!hides(function), "{function}");
        }
    }
}
