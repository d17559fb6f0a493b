//! `Layout`: the folders of an installation, below its prefix.

use crate::pkg_config::Place;
use crate::{Package, Shell};

/// A kind of installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// For all users of a machine, such as below /usr/local.
    Prefix,
    /// For one user, below ~/.local: without units of the system.
    Home,
    /// A folder that works wherever it lies: without units, which have the daemon's path.
    Archive,
    /// Debian's packages, below /usr.
    Debian,
}

impl Layout {
    /// Whether it is that of Debian's packages.
    pub fn is_debian(&self) -> bool {
        *self == Layout::Debian
    }

    pub(crate) fn libraries(&self) -> String {
        match self.is_debian() {
            true => format!("lib/{}", triplet()),
            false => "lib".to_owned(),
        }
    }

    /// The folder of the shim.
    pub fn shim_folder(&self) -> String {
        format!("{}/gapii", self.libraries())
    }

    /// Folder of the units for the system's manager, if the layout has them.
    pub fn system_units(&self) -> Option<&'static str> {
        match self {
            Layout::Prefix | Layout::Debian => Some("lib/systemd/system"),
            Layout::Home | Layout::Archive => None,
        }
    }

    /// Folder of the units for users' managers, if the layout has them.
    pub fn user_units(&self) -> Option<&'static str> {
        match self {
            Layout::Prefix | Layout::Debian => Some("lib/systemd/user"),
            Layout::Home => Some("share/systemd/user"),
            Layout::Archive => None,
        }
    }

    /// The file from which `shell` reads how to complete `program`.
    pub(crate) fn completions(&self, shell: Shell, program: &str) -> String {
        match shell {
            Shell::Bash => format!("share/bash-completion/completions/{program}"),
            Shell::Fish => format!("share/fish/vendor_completions.d/{program}.fish"),
            Shell::Zsh if self.is_debian() => format!("share/zsh/vendor-completions/_{program}"),
            Shell::Zsh => format!("share/zsh/site-functions/_{program}"),
        }
    }

    /// Returns the folder for documents of a package, below the prefix.
    pub fn documents(&self, package: Package) -> String {
        let name = if self.is_debian() { package.name() } else { Package::Tools.name() };
        format!("share/doc/{name}")
    }

    pub(crate) fn pkg_config(&self) -> Place {
        match self {
            Layout::Debian => Place {
                libraries: format!("/usr/{}", self.shim_folder()),
                headers: "/usr/include".to_owned(),
            },
            Layout::Prefix | Layout::Home | Layout::Archive => Place {
                libraries: "${pcfiledir}/../gapii".to_owned(),
                headers: "${pcfiledir}/../../include".to_owned(),
            },
        }
    }
}

/// Name of this processor and system in the folders of Debian's libraries.
pub fn triplet() -> String {
    format!("{}-linux-gnu", std::env::consts::ARCH)
}
