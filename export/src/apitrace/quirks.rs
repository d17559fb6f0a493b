//! Calls that players of the format need or cannot bear. A fake viewport and scissor with the surface's size follow the
//! first `eglMakeCurrent` of a context, because players take the size of surfaces from viewports; only if a pbuffer's
//! attributes or `eglQuerySurface` tell the size. A failed creation of a context is left out, because players stop at it, and
//! so is the end of a context that a snapshot creates, because Mesa crashes after it.

use std::collections::{HashMap, HashSet};

use gapii_commands::{CommandId, constants};
use gapii_trace::Command;
use gapii_trace::value::Observation;

use super::arguments::{argument, number};

const WIDTH: u32 = constants::EGL_WIDTH;
const HEIGHT: u32 = constants::EGL_HEIGHT;
const NONE: u32 = constants::EGL_NONE;

/// Sizes of surfaces, from the commands that create or query them.
#[derive(Default)]
pub struct Surfaces {
    sizes: HashMap<u64, Size>,
    used_contexts: HashSet<u64>,
}

/// Size of a surface in pixels.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

/// Effect of a command on surfaces and contexts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    None,
    CreateContext,
    CreatePbuffer,
    QuerySurface,
    MakeCurrent,
    DestroyContext,
}

impl Role {
    /// Returns the role of a command.
    pub fn of(command: CommandId) -> Self {
        match command {
            CommandId::EGL_CREATE_CONTEXT
            | CommandId::GLX_CREATE_CONTEXT
            | CommandId::GLX_CREATE_CONTEXT_ATTRIBS_ARB
            | CommandId::GLX_CREATE_NEW_CONTEXT => Self::CreateContext,
            CommandId::EGL_CREATE_PBUFFER_SURFACE => Self::CreatePbuffer,
            CommandId::EGL_QUERY_SURFACE => Self::QuerySurface,
            CommandId::EGL_MAKE_CURRENT => Self::MakeCurrent,
            CommandId::EGL_DESTROY_CONTEXT => Self::DestroyContext,
            _ => Self::None,
        }
    }
}

/// Returns true for a failed creation of a context: players stop if they can't create a context, and the program did
/// not get this context either. Also for the end of a context that a snapshot creates: Mesa 22.3 keeps parts of it with the
/// program's objects, and uses them after the context's end.
pub fn must_be_left_out(role: Role, command: &Command<'_>) -> bool {
    let result = command.result().and_then(|(value, _)| number(value));
    match role {
        Role::CreateContext => result == Some(0),
        Role::DestroyContext => command.is_setup,
        _ => false,
    }
}

impl Surfaces {
    /// Applies a command to the state. Returns the size of the surface if a context becomes current for the first
    /// time and the size is known.
    pub fn follow(&mut self, role: Role, command: &Command<'_>) -> Option<Size> {
        let result = || command.result().and_then(|(value, _)| number(value)).unwrap_or(0);
        match role {
            Role::None | Role::CreateContext => {}
            Role::CreatePbuffer => {
                self.sizes.insert(result(), pbuffer_size(command));
            }
            Role::QuerySurface => {
                let size = self.sizes.entry(argument(command, "surface")?).or_default();
                let queried = command.args().find(|arg| arg.param.name == "value")?.observation;
                let Observation::Bytes(value) = queried else { return None };
                let value = value.first_chunk::<4>().map_or(0, |value| u32::from_le_bytes(*value));
                match argument(command, "attribute")? as u32 {
                    WIDTH => size.width = value,
                    HEIGHT => size.height = value,
                    _ => {}
                }
            }
            Role::MakeCurrent => {
                let context = argument(command, "ctx")?;
                if context != 0 && result() != 0 && self.used_contexts.insert(context) {
                    let size = self.sizes.get(&argument(command, "draw")?).copied();
                    return size.filter(|size| size.width != 0 && size.height != 0);
                }
            }
            Role::DestroyContext => {
                self.used_contexts.remove(&argument(command, "ctx")?);
            }
        }
        None
    }
}

fn pbuffer_size(command: &Command<'_>) -> Size {
    let mut size = Size::default();
    let list = command.args().find(|arg| arg.param.name == "attrib_list");
    let list = list.and_then(|arg| command.bytes_of(arg.observation));
    let Some(list) = list else { return size };
    let (words, _) = list.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for pair in words.chunks_exact(2).take_while(|pair| pair[0] != NONE) {
        match pair[0] {
            WIDTH => size.width = pair[1],
            HEIGHT => size.height = pair[1],
            _ => {}
        }
    }
    size
}
