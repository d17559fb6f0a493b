//! What commands do, and what some of their parameters are: `role` items of the descriptions (`docs/apilang.md`), in tables by
//! the ids of commands. A command that this build does not know has no role, and its parameters have none.

use gapii_commands::{COUNT, CommandId};

pub use crate::generated::roles::{ParamRole, Role};

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

impl ParamRole {
    /// Whether the parameter of this index has the role.
    pub fn is_of(self, command: Option<CommandId>, param: usize) -> bool {
        let params = Self::PARAMS[self as usize];
        command.is_some_and(|command| params.binary_search(&(command, param)).is_ok())
    }
}

/// Defines the roles of parameters, each with its parameters in the order of their commands' ids.
macro_rules! params {
    ($($role:ident [$($command:ident $param:literal)*];)*) => {
        /// A role of parameters in a trace without contents.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ParamRole {
            $(
                #[doc = concat!("Parameters with the role `", stringify!($role), "` of the descriptions.")]
                $role,
            )*
        }

        impl ParamRole {
            /// The parameters of each role.
            pub(crate) const PARAMS: &[&[(gapii_commands::CommandId, usize)]] =
                &[$(&[$((gapii_commands::CommandId::$command, $param)),*]),*];
        }
    };
}
pub(crate) use params;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_parameters_are_told_by_their_indices() {
        for (name, param, role, is_of) in [
            ("glShaderSource", 3, ParamRole::Structure, true),
            ("glShaderSource", 2, ParamRole::Structure, false),
            ("glTexParameteriv", 2, ParamRole::Structure, true),
            ("glUniform4iv", 2, ParamRole::Structure, false),
            ("glGetUniformiv", 2, ParamRole::Structure, false),
            ("zeDriverGet", 0, ParamRole::Structure, true),
            ("glVertex3i", 1, ParamRole::Content, true),
            ("glVertexAttribI4i", 0, ParamRole::Content, false),
            ("glVertexAttribI4i", 4, ParamRole::Content, true),
        ] {
            let command = CommandId::named(name);
            assert!(command.is_some(), "{name}");
            assert_eq!(role.is_of(command, param), is_of, "{name} {param}");
        }
        for params in ParamRole::PARAMS {
            assert!(params.is_sorted(), "the search is binary");
        }
    }

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
