//! Requirement of a command: the versions and extensions that provide it.

use gapii_commands::CommandId;

/// A command, and what provides it: at least this version, or any of these extensions.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Requirement {
    /// The command.
    pub command: CommandId,
    /// Lowest version of OpenGL ES that provides the command; `None` if no version does.
    pub version: Option<(u16, u16)>,
    /// Lowest version of desktop OpenGL that provides it, in the core or the compatibility profile.
    pub desktop: Option<(u16, u16)>,
    /// Names of the extensions.
    pub extensions: &'static [&'static str],
}

impl Requirement {
    /// Lowest version of OpenGL ES, or of desktop OpenGL, that provides the command.
    pub(crate) fn least(&self, is_es: bool) -> Option<(u16, u16)> {
        if is_es { self.version } else { self.desktop }
    }

    /// Whether a context of this version, of OpenGL ES or of desktop OpenGL, provides the command. `extensions` are names
    /// separated by spaces.
    pub(crate) fn is_met(&self, is_es: bool, version: (u16, u16), extensions: &str) -> bool {
        self.least(is_es).is_some_and(|least| version >= least)
            || extensions.split(' ').any(|name| self.extensions.contains(&name))
    }
}

/// Defines a table of requirements. Each line has the command, both versions and the extensions.
macro_rules! requirements {
    ($(#[$doc:meta])* $table:ident $len:literal; $($command:ident $version:tt $desktop:tt $extensions:tt;)*) => {
        $(#[$doc])*
        pub static $table: [$crate::survey::Requirement; $len] = [$(
            $crate::survey::Requirement {
                command: gapii_commands::CommandId::$command,
                version: $crate::survey::version!($version),
                desktop: $crate::survey::version!($desktop),
                extensions: &$extensions,
            },
        )*];
    };
}

/// The version of a requirement; `-` if no version provides the command.
macro_rules! version {
    (-) => {
        None
    };
    ($version:tt) => {
        Some($version)
    };
}
pub(crate) use {requirements, version};
