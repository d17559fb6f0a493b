//! Objects that only extensions have. Fences of GL_NV_fence are described: a fence that was set is set again, and is finished
//! soon. Semaphores, paths of GL_NV_path_rendering and streams of EGL are missing.

use gapii_state::{Context, Process};

use super::emit::Emitter;
use crate::generated::ids::*;

/// Describes the objects of the context's share group.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let fences: Vec<_> = {
        let group = context.group.lock();
        let named = group.fences.named();
        named.map(|(object, fence)| (object.name() as u32, fence.condition)).collect()
    };
    for (name, condition) in fences {
        emitter.make(GL_GEN_FENCES_NV, name);
        if condition != 0 {
            emitter.command(GL_SET_FENCE_NV).arg(name).arg(condition).done();
        }
    }
    let (semaphores, paths): (Vec<_>, Vec<_>) = {
        let group = context.group.lock();
        let semaphores = group.semaphores.named().map(|(object, _)| object.name() as u32);
        let paths = group.paths.named().map(|(object, _)| object.name() as u32);
        (semaphores.collect(), paths.collect())
    };
    // A trace has neither the other API's half of a semaphore nor the commands that a path was made of.
    semaphores.into_iter().for_each(|name| emitter.leave_out_of("semaphore", name));
    paths.into_iter().for_each(|name| emitter.leave_out_of("path", name));
}

/// Lists the objects of EGL as missing. A stream's images come from a producer that may be another process.
pub fn describe_egl(emitter: &mut Emitter, process: &Process) {
    if process.lock().streams.named().next().is_some() {
        emitter.leave_out("streams of EGL");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Text of all files with this ending in a folder and the folders in it.
    fn text_of(folder: &Path, ending: &str) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                text.push_str(&text_of(&path, ending));
            } else if path.extension().is_some_and(|it| it == ending) {
                text.push_str(&std::fs::read_to_string(&path).expect("text"));
            }
        }
        text
    }

    /// The field of the state that holds the objects of a kind: `memory_objects` of `MemoryObject`.
    fn field_of(kind: &str) -> String {
        let mut field = String::new();
        for letter in kind.chars() {
            if letter.is_uppercase() && !field.is_empty() {
                field.push('_');
            }
            field.extend(letter.to_lowercase());
        }
        match field.strip_suffix("ry") {
            Some(stem) => format!("{stem}ries"),
            None => format!("{field}s"),
        }
    }

    #[test]
    fn snapshots_describe_or_list_every_kind_of_object() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let snapshot = text_of(&root.join("shim/src/snapshot"), "rs");
        let mut count = 0;
        for api in ["apis/egl", "apis/gles"] {
            for line in text_of(&root.join(api), "api").lines() {
                let Some(kind) = line.strip_prefix("object ").and_then(|it| it.split(' ').next())
                else {
                    continue;
                };
                count += 1;
                let field = field_of(kind);
                assert!(
                    snapshot.contains(&format!(".{field}")),
                    "no snapshot has {kind} ({field})"
                );
            }
        }
        assert!(count >= 20, "{count} kinds");
    }
}
