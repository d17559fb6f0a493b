//! The id of a command in this build, with the facts that follow from the id: name and API. Ids are in the order of
//! names and differ between builds; a reader of traces maps names to ids when it reads the header. A name or id that
//! this build does not know gives none.
//!
//! [`every_command!`] has one line per command; this file derives every constant and table from that line.

use std::ffi::CStr;
use std::fmt;
use std::ops::Range;

use crate::Api;
use crate::generated::ids::every_command;

/// A command that this build knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(u16);

/// Defines the tables that are indexed by id, and the constants of each command.
macro_rules! define {
    ($($api:ident $api_name:literal $about:literal { $($id:literal $constant:ident $name:literal $is_exported:literal)* })*) => {
        /// The ids as numbers, for record headers and for tables that are indexed by id.
        pub mod ids {
            $($(pub const $constant: u16 = $id;)*)*
        }

        impl CommandId {
            $($(
                #[doc = $name]
                pub const $constant: Self = Self($id);
            )*)*
        }

        /// Names by id as the APIs spell them, NUL-terminated. Sorted.
        pub static NAMES: [&CStr; COUNT] = [$($(c_name(concat!($name, "\0")),)*)*];

        /// Whether a library of the API exports the command, by id. A program gets all other commands
        /// through a look-up function of the API, for example `eglGetProcAddress`.
        pub static EXPORTED: [bool; COUNT] = [$($($is_exported,)*)*];

        /// The names of [`NAMES`] as strings.
        static STR_NAMES: [&str; COUNT] = [$($($name,)*)*];

        const IDS: &[u16] = &[$($($id,)*)*];

        const fn ids_of(api: Api) -> &'static [u16] {
            match api {
                $(Api::$api => &[$($id,)*],)*
            }
        }
    };
}

every_command!(define);

/// Number of commands. Every id is below it.
pub const COUNT: usize = IDS.len();

const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a command's name contains a NUL"),
    }
}

impl CommandId {
    /// The command of this id; `None` if the id is not below [`COUNT`].
    pub const fn new(id: u16) -> Option<Self> {
        if (id as usize) < COUNT { Some(Self(id)) } else { None }
    }

    /// The command of this name, by binary search.
    pub fn named(name: &str) -> Option<Self> {
        let at = STR_NAMES.binary_search(&name).ok()?;
        Some(Self(at as u16))
    }

    /// Every command in the order of ids, which is the order of names.
    pub fn all() -> impl Iterator<Item = Self> {
        IDS.iter().map(|id| Self(*id))
    }

    /// The id as a number, for record headers.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The id as an index into a table of [`COUNT`] entries.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The name as the API spells it, for example `glUniform4f`.
    pub const fn name(self) -> &'static str {
        STR_NAMES[self.index()]
    }

    /// The API that the command belongs to.
    pub fn api(self) -> Api {
        let is_of = |api: &Api| api.ids().contains(&self.0);
        Api::ALL.into_iter().find(is_of).expect("the ids of the APIs cover all ids")
    }
}

impl fmt::Debug for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Api {
    /// The ids of the API's commands. They are contiguous.
    pub const fn ids(self) -> Range<u16> {
        let ids = ids_of(self);
        ids[0]..ids[0] + ids.len() as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_the_index_in_tables_sorted_by_name() {
        assert!(IDS.iter().copied().eq(0..COUNT as u16));
        assert!(STR_NAMES.is_sorted_by(|a, b| a < b));
        for command in CommandId::all() {
            assert_eq!(CommandId::named(command.name()), Some(command));
            assert_eq!(CommandId::new(command.number()), Some(command));
            assert_eq!(NAMES[command.index()].to_str(), Ok(command.name()));
        }
        assert_eq!(CommandId::new(COUNT as u16), None);
        assert_eq!(CommandId::named("glNothing"), None);
    }

    #[test]
    fn ids_of_the_apis_are_contiguous_and_cover_all_ids() {
        let ids: Vec<u16> = Api::ALL.into_iter().flat_map(Api::ids).collect();
        assert_eq!(ids, IDS);
        for api in Api::ALL {
            assert!(ids_of(api).iter().copied().eq(api.ids()), "{api}");
        }
    }

    #[test]
    fn command_belongs_to_the_api_that_has_its_id() {
        let check = |command: CommandId, name: &str, api: Api| {
            assert_eq!((command.name(), command.api()), (name, api));
        };
        check(CommandId::EGL_BIND_API, "eglBindAPI", Api::Egl);
        check(CommandId::GL_VIEWPORT, "glViewport", Api::Gl);
        check(CommandId::ZE_INIT, "zeInit", Api::LevelZero);
        check(CommandId::ZER_GET_DEFAULT_CONTEXT, "zerGetDefaultContext", Api::LevelZero);
    }
}
