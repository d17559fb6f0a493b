//! What commands do: `role` items of the descriptions (`docs/apilang.md`), in a table by the ids of commands. A command
//! that this build does not know has no role.

use gapii_commands::{COUNT, CommandId};

pub use crate::generated::roles::Role;

/// By id: a bit for each role of the command.
static ROLES: [u64; COUNT] = {
    let mut table = [0; COUNT];
    let mut role = 0;
    while role < Role::COMMANDS.len() {
        let commands = Role::COMMANDS[role];
        let mut at = 0;
        while at < commands.len() {
            table[commands[at].index()] |= 1 << role;
            at += 1;
        }
        role += 1;
    }
    table
};

impl Role {
    /// Whether a command has the role.
    pub fn is_of(self, command: Option<CommandId>) -> bool {
        command.is_some_and(|command| ROLES[command.index()] & self.bit() != 0)
    }

    /// The bit of the role in a set of roles.
    pub const fn bit(self) -> u64 {
        1 << self as u32
    }

    /// Whether a command has one of the roles of a set.
    pub fn is_any_of(roles: u64, command: Option<CommandId>) -> bool {
        command.is_some_and(|command| ROLES[command.index()] & roles != 0)
    }
}

/// Defines the roles, each with its commands in the order of their ids.
macro_rules! roles {
    ($($role:ident [$($command:ident)*];)*) => {
        /// A role of commands in statistics and differences.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Role {
            $(
                #[doc = concat!("Commands with the role `", stringify!($role), "` of the descriptions.")]
                $role,
            )*
        }

        impl Role {
            /// The commands of each role.
            pub(crate) const COMMANDS: &[&[gapii_commands::CommandId]] =
                &[$(&[$(gapii_commands::CommandId::$command),*]),*];
        }
    };
}
pub(crate) use roles;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_told_by_command() {
        for (name, role, is_of) in [
            ("glGenTextures", Role::Creates, true),
            ("eglCreateContext", Role::Creates, true),
            ("zeKernelCreate", Role::Creates, true),
            ("glTexGeniOES", Role::Creates, false),
            ("glDeleteSync", Role::Deletes, true),
            ("zeKernelDestroy", Role::Deletes, true),
            ("glEnableVertexAttribArray", Role::AboutAttribute, true),
            ("glBindAttribLocation", Role::AboutAttribute, false),
            ("glBeginQueryEXT", Role::AboutQuery, true),
            ("glIsTransformFeedback", Role::AboutQuery, false),
            ("glDrawArrays", Role::Draw, true),
            ("glMultiDrawElementsEXT", Role::Draw, true),
            ("glDrawBuffers", Role::Draw, false),
            ("glDispatchComputeIndirect", Role::Dispatch, true),
            ("glCompressedTexSubImage3DOES", Role::Upload, true),
            ("glBufferSubData", Role::Upload, true),
            ("glTexParameteri", Role::Fills, false),
            ("glTextureParameteri", Role::Fills, false),
            ("glTextureSubImage2D", Role::Fills, true),
            ("glTexCoord2fv", Role::Upload, false),
            ("glNamedBufferSubData", Role::FillsBuffer, true),
            ("glTextureBufferRange", Role::FillsBuffer, false),
            ("glEnd", Role::Draw, true),
            ("glEndList", Role::Draw, false),
            ("glVertex3f", Role::Act, true),
            ("glVertexAttrib3f", Role::Act, false),
            ("glMatrixMode", Role::Act, false),
            ("glCreateProgramObjectARB", Role::CreatesProgram, true),
            ("glBlitNamedFramebuffer", Role::Clears, true),
            ("glCopyTexSubImage2D", Role::Fills, true),
            ("glClearColor", Role::Clears, false),
            ("eglSwapBuffers", Role::Act, false),
        ] {
            let command = CommandId::named(name);
            assert!(command.is_some(), "{name}");
            assert_eq!(role.is_of(command), is_of, "{name}");
        }
    }
}
