//! Facts about commands that players need: roles of commands, parameters and fields, extents that a record
//! does not have, and commands that no replay can play.
//!
//! `role`, `reach` and `refuse` items of the descriptions (`docs/apilang.md`) state these facts, and
//! `generated::facts` has them by the ids of commands. No player decides by a name.

use gapii_commands::CommandId;
use gapii_trace::description::{Description, Field};

/// The commands, parameters and fields that have one role.
#[derive(Debug)]
pub struct Role {
    /// Commands by id, each with the index of its parameter that has the role; 0 where the command itself
    /// has it.
    commands: &'static [(CommandId, u8)],
    /// Fields that have the role: indices of the struct in the descriptions, and of the field in it.
    fields: &'static [(u16, u8)],
}

impl Role {
    pub(crate) const fn new(
        commands: &'static [(CommandId, u8)],
        fields: &'static [(u16, u8)],
    ) -> Self {
        Self { commands, fields }
    }

    /// Whether the command itself, or one of its parameters, has this role.
    pub fn has(&self, command: CommandId) -> bool {
        self.param(command).is_some()
    }

    /// Index of the command's first parameter that has this role.
    pub fn param(&self, command: CommandId) -> Option<usize> {
        let at = self.commands.partition_point(|(known, _)| *known < command);
        let (_, param) = self.commands.get(at).filter(|(known, _)| *known == command)?;
        Some(usize::from(*param))
    }

    /// Whether a field of the built-in descriptions has this role.
    pub fn has_field(&self, field: &'static Field) -> bool {
        let built_in = Description::built_in();
        self.fields.iter().any(|(layout, at)| {
            let fields = built_in.layout(*layout).map(|layout| &layout.fields);
            let known = fields.and_then(|fields| fields.get(usize::from(*at)));
            known.is_some_and(|known| std::ptr::eq(known, field))
        })
    }
}

/// How much memory a command reaches at an address. Numbers are indices of parameters, except in `Bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// A constant number of bytes.
    Bytes(u64),
    /// As many bytes as the parameter says.
    Param(usize),
    /// A region; the bytes from row to row; the bytes from slice to slice.
    Region(usize, usize, usize),
    /// The extent is not in the command.
    Unknown,
}

/// Defines the tables of `generated::facts`.
macro_rules! facts {
    (
        roles { $($role:ident [$($of:ident $(.$at:literal)?)*] [$(($layout:literal $field:literal))*];)* }
        reach { $($reaching:ident.$param:literal $size:ident $(($($number:literal),*))?;)* }
        refused { $($refused:ident $reason:literal;)* }
        refused_layouts { $($structure:literal $why:literal;)* }
    ) => {
        /// The commands, parameters and fields that have each role.
        pub mod roles {
            use gapii_commands::CommandId;

            use crate::facts::Role;

            $(#[doc = concat!("The role `", stringify!($role), "`.")]
            pub static $role: Role = Role::new(
                &[$((CommandId::$of, 0 $(+ $at)?)),*],
                &[$(($layout, $field)),*],
            );)*
        }

        /// How much memory commands reach at the parameter of this index.
        pub static REACHES: &[(gapii_commands::CommandId, u8, crate::facts::Reach)] = &[$(
            (gapii_commands::CommandId::$reaching, $param, crate::facts::Reach::$size $(($($number),*))?),
        )*];

        /// Commands that no replay can play, with the reason.
        pub static REFUSED: &[(gapii_commands::CommandId, &str)] =
            &[$((gapii_commands::CommandId::$refused, $reason)),*];

        /// Structs that no replay can pass to a driver, by their index in the descriptions, with the reason.
        pub static REFUSED_LAYOUTS: &[(u16, &str)] = &[$(($structure, $why)),*];
    };
}
pub(crate) use facts;
