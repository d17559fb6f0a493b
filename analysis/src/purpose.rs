//! What commands are for: `role` items of the descriptions (`docs/apilang.md`), by the ids of commands. A command that
//! this build does not know, or without a role, counts as other and has no role.

use gapii_commands::{COUNT, CommandId};

pub use crate::generated::purposes::*;

/// What a command is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// It draws.
    Draw,
    /// It starts compute shaders.
    Dispatch,
    /// It passes contents of buffers or textures to the driver.
    Upload,
    /// It does something else.
    Other,
}

/// By id: the purpose of a command.
static PURPOSES: [Purpose; COUNT] = {
    let none = [Purpose::Other; COUNT];
    let uploads = marked(none, UPLOAD, Purpose::Upload);
    let dispatches = marked(uploads, DISPATCH, Purpose::Dispatch);
    marked(dispatches, DRAW, Purpose::Draw)
};

/// `table` with `mark` at these commands.
const fn marked<T: Copy>(mut table: [T; COUNT], commands: &[CommandId], mark: T) -> [T; COUNT] {
    let mut at = 0;
    while at < commands.len() {
        table[commands[at].index()] = mark;
        at += 1;
    }
    table
}

impl Purpose {
    /// The purpose of a command; [`Purpose::Other`] if this build does not know the command.
    pub fn of(command: Option<CommandId>) -> Self {
        command.map_or(Self::Other, |command| PURPOSES[command.index()])
    }
}

/// Whether a command is in the list of a role, such as [`ACT`].
pub fn has(role: &[CommandId], command: Option<CommandId>) -> bool {
    command.is_some_and(|command| role.binary_search(&command).is_ok())
}

/// Defines a list of commands for each role.
macro_rules! purposes {
    ($($role:ident [$($command:ident)*];)*) => {$(
        #[doc = concat!("Commands with the role `", stringify!($role), "`, in the order of their ids.")]
        pub const $role: &[gapii_commands::CommandId] = &[$(gapii_commands::CommandId::$command),*];
    )*};
}
pub(crate) use purposes;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_told_by_command() {
        for (name, role, is_of) in [
            ("glGenTextures", CREATES, true),
            ("eglCreateContext", CREATES, true),
            ("zeKernelCreate", CREATES, true),
            ("glTexGeniOES", CREATES, false),
            ("glDeleteSync", DELETES, true),
            ("zeKernelDestroy", DELETES, true),
            ("glEnableVertexAttribArray", ABOUT_ATTRIBUTE, true),
            ("glBindAttribLocation", ABOUT_ATTRIBUTE, false),
            ("glBeginQueryEXT", ABOUT_QUERY, true),
            ("glIsTransformFeedback", ABOUT_QUERY, false),
        ] {
            let command = CommandId::named(name);
            assert!(command.is_some(), "{name}");
            assert_eq!(has(role, command), is_of, "{name}");
        }
    }

    #[test]
    fn purposes_are_told_by_command() {
        for (name, purpose) in [
            ("glDrawArrays", Purpose::Draw),
            ("glMultiDrawElementsEXT", Purpose::Draw),
            ("glDrawBuffers", Purpose::Other),
            ("glDispatchComputeIndirect", Purpose::Dispatch),
            ("glCompressedTexSubImage3DOES", Purpose::Upload),
            ("glBufferSubData", Purpose::Upload),
            ("eglSwapBuffers", Purpose::Other),
        ] {
            let command = CommandId::named(name);
            assert!(command.is_some(), "{name}");
            assert_eq!(Purpose::of(command), purpose, "{name}");
        }
    }
}
