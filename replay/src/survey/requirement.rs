//! What a command needs that not every context has.

/// A command, and what provides it: that version, or any of these extensions.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Requirement {
    pub name: &'static str,
    pub version: Option<(u16, u16)>,
    pub extensions: &'static [&'static str],
}

impl Requirement {
    /// `extensions`: names with spaces between them.
    pub(crate) fn is_met(&self, version: (u16, u16), extensions: &str) -> bool {
        self.version.is_some_and(|least| version >= least)
            || extensions.split(' ').any(|name| self.extensions.contains(&name))
    }
}

/// Defines a table of requirements, one line for each: the command, the version, and the extensions.
macro_rules! requirements {
    ($(#[$doc:meta])* $table:ident $len:literal; $($name:ident $version:tt $extensions:tt;)*) => {
        $(#[$doc])*
        pub static $table: [$crate::survey::Requirement; $len] = [$(
            $crate::survey::Requirement {
                name: stringify!($name),
                version: $crate::survey::version!($version),
                extensions: &$extensions,
            },
        )*];
    };
}

/// A version of a requirement; `-`: no version provides the command.
macro_rules! version {
    (-) => {
        None
    };
    ($version:tt) => {
        Some($version)
    };
}
pub(crate) use {requirements, version};
