//! Deletes textures, buffers and renderbuffers that the rest of a trace does not use, before a part of it is recorded.
//!
//! An object is deleted only if no later command has its name and nothing in the state leads to it: no binding of any
//! context, no other object, no mapping, no EGL image, no pbuffer. Objects of share groups without a context that is current on
//! the calling thread stay, and so does everything in a share group with display lists, which have names in their commands.

use std::collections::HashSet;

use gapii_commands::ids;
use gapii_follow::value::{Describe, Value};
use gapii_follow::{Group, Process};
use gapii_trace::Command;

use crate::names::{Kind, Scopes};
use crate::parts::Parts;

/// Deletes the objects that are not `used`, by their names in the trace, before `command` is played. Returns their number.
pub fn delete(parts: &mut Parts, command: &Command<'_>, used: &HashSet<(Kind, u64)>) -> u64 {
    let Some(context) =
        parts.follower.thread(command.thread).and_then(|thread| thread.context.as_deref())
    else {
        return 0;
    };
    let (handle, group) = (context.handle, context.group.clone());
    if parts.egl.current(command.thread) != Some(handle) {
        return 0;
    }
    let unused = unused(&group, &held(parts), used);
    let scopes = parts.names.scopes(command.process, handle);
    [Kind::Texture, Kind::Buffer, Kind::Renderbuffer]
        .into_iter()
        .zip(unused)
        .map(|(kind, names)| delete_of(parts, scopes, kind, &names))
        .sum()
}

/// Deletes objects of a kind by their names in the trace, and returns their number.
fn delete_of(parts: &mut Parts, scopes: Scopes, kind: Kind, names: &[u64]) -> u64 {
    let function = match kind {
        Kind::Texture => ids::GL_DELETE_TEXTURES,
        Kind::Buffer => ids::GL_DELETE_BUFFERS,
        _ => ids::GL_DELETE_RENDERBUFFERS,
    };
    let found = names.iter().filter_map(|name| parts.names.find(scopes, kind, *name));
    let real: Vec<u32> = found.filter_map(|name| u32::try_from(name).ok()).collect();
    let Ok(count) = i32::try_from(real.len()) else { return 0 };
    // SAFETY: the type of the three functions.
    let driver = unsafe { parts.driver.get::<unsafe extern "C" fn(i32, *const u32)>(function) };
    let Ok(driver) = driver else { return 0 };
    // SAFETY: `real` has `count` names, and a context is current.
    unsafe { driver(count, real.as_ptr()) };
    for name in names {
        parts.names.remove(scopes, kind, *name);
    }
    real.len() as u64
}

/// Names of textures, of buffers and of renderbuffers that are neither used nor held.
fn unused(group: &Group, held: &Held, used: &HashSet<(Kind, u64)>) -> [Vec<u64>; 3] {
    let group = group.lock();
    if group.display_lists.named().next().is_some() {
        return [const { Vec::new() }; 3];
    }
    let is_free = |kind: (Kind, &'static str), name: u64, serial: u32| {
        !used.contains(&(kind.0, name)) && !held.0.contains(&(kind.1, serial))
    };
    let textures = group.textures.named().filter(|(object, texture)| {
        texture.image.is_none()
            && texture.surface.is_none()
            && texture.view.original.is_none()
            && is_free((Kind::Texture, "Texture"), object.name(), object.serial())
    });
    let buffers = group.buffers.named().filter(|(object, buffer)| {
        buffer.mapping.pointer == 0
            && is_free((Kind::Buffer, "Buffer"), object.name(), object.serial())
    });
    let renderbuffers = group.renderbuffers.named().filter(|(object, renderbuffer)| {
        renderbuffer.image.is_none()
            && is_free((Kind::Renderbuffer, "Renderbuffer"), object.name(), object.serial())
    });
    [
        textures.map(|(object, _)| object.name()).collect(),
        buffers.map(|(object, _)| object.name()).collect(),
        renderbuffers.map(|(object, _)| object.name()).collect(),
    ]
}

/// Objects to which the state leads, by kind and serial number. Two share groups may have objects of the same number; then both
/// count.
#[derive(Default)]
struct Held(HashSet<(&'static str, u32)>);

/// Returns all objects to which the state of any context, share group, thread or process leads.
fn held(parts: &Parts) -> Held {
    let mut held = Held::default();
    let mut groups: Vec<u64> = Vec::new();
    for (_, process) in parts.follower.processes() {
        let process: &Process = process;
        held.see(&process.lock().describe());
        for context in process.contexts().idle() {
            held.see(&context.describe());
            held.see_group(&context.group, &mut groups);
        }
    }
    for (_, thread) in parts.follower.threads() {
        held.see(&thread.describe());
        if let Some(context) = thread.context.as_deref() {
            held.see(&context.describe());
            held.see_group(&context.group, &mut groups);
        }
    }
    held
}

impl Held {
    fn see_group(&mut self, group: &Group, seen: &mut Vec<u64>) {
        if !seen.contains(&group.number()) {
            seen.push(group.number());
            self.see(&group.lock().describe());
        }
    }

    fn see(&mut self, value: &Value) {
        match value {
            Value::Object { kind, serial, .. } => {
                self.0.insert((kind, *serial));
            }
            Value::List(elements) => elements.iter().for_each(|it| self.see(it)),
            Value::Record(fields) => fields.iter().for_each(|(_, it)| self.see(it)),
            Value::Map(entries) => {
                for (key, value) in entries {
                    // A table of objects leads to none of them.
                    let is_table = matches!((key, value), (Value::Object { .. }, Value::Record(_)));
                    if !is_table {
                        self.see(key);
                    }
                    self.see(value);
                }
            }
            _ => {}
        }
    }
}
