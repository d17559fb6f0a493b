//! The files of an installed gapii: the path of each below a prefix, its content, and the Debian package that has it.
//! `cargo xtask package` and `gapii-ctl install` put the same list in place.
//!
//! Reads no file and writes none.

#![forbid(unsafe_code)]

mod layout;
mod pkg_config;
mod unit;

pub use layout::{Layout, triplet};
pub use pkg_config::{Place, SHARED, STATIC};
pub use unit::for_daemon;

use crate::unit::{SYSTEM_UNITS, USER_UNITS};

/// The control tool.
pub const CTL: &str = "gapii-ctl";
/// A shorter name of the control tool, a link.
pub const CTL_SHORT: &str = "gapii";
/// The daemon.
pub const DAEMON: &str = "gapiid";
/// File name of the shim.
pub const SHIM: &str = "libgapii.so";
/// Folder beside the shim with links named like the libraries that the shim replaces.
pub const SONAMES_FOLDER: &str = "sonames";
/// Names under which programs load EGL and OpenGL ES; all are the shim.
pub const SONAMES: [&str; 6] = [
    "libEGL.so",
    "libEGL.so.1",
    "libGLESv1_CM.so",
    "libGLESv1_CM.so.1",
    "libGLESv2.so",
    "libGLESv2.so.2",
];
/// Folder beside the shim in which Level Zero's loader finds the tracing layer, if the folder is on its library path.
pub const LAYER_FOLDER: &str = "level-zero";
/// Name under which Level Zero's loader opens the tracing layer.
pub const LAYER_SONAME: &str = "libze_tracing_layer.so.1";
/// The tracing layer, as cargo builds it.
pub const LAYER: &str = "libze_tracing_layer.so";

/// The server for agents.
pub const MCP: &str = "gapii-mcp";
/// The program that writes traces as tables.
pub const TABLES: &str = "gapii-tables";
/// The program that uploads traces.
pub const UPLOAD: &str = "gapii-upload";
/// Folder below the prefix of programs that `gapii-ctl` becomes, and nobody else starts.
pub const LIBEXEC: &str = "libexec/gapii";

/// Licences of the crates that are linked into a package, in its folder for documents. An archive has them; a source build does not.
pub const LICENCES: &str = "THIRD-PARTY";

/// Folder of the headers beside the built shim.
pub const HEADERS_FOLDER: &str = "include";
/// Headers that tools in C are compiled with.
pub const HEADERS: [&str; 2] = ["gapii.h", "gapii_commands.h"];

/// Pages for users; docs/ has others for those who change gapii.
const DOCUMENTS: [&str; 20] = [
    "README.md",
    "docs/agents.md",
    "docs/anonymise.md",
    "docs/containers.md",
    "docs/export.md",
    "docs/fleet.md",
    "docs/glossary.md",
    "docs/import.md",
    "docs/json.md",
    "docs/level-zero.md",
    "docs/operation.md",
    "docs/programs.md",
    "docs/python.md",
    "docs/replay.md",
    "docs/tables.md",
    "docs/trace-format.md",
    "docs/tracers.md",
    "docs/troubleshooting.md",
    "docs/upload.md",
    "docs/viewer.md",
];

const CONFIGURATION: &str = include_str!("../../systemd/gapiid.toml");
const EXAMPLE: &str = include_str!("../../tool/examples/draws.c");
const DAEMON_PAGE: &str = include_str!("../gapiid.1");
const UPLOAD_PAGE: &str = include_str!("../gapii-upload.1");
const UPLOAD_UNIT: &str = include_str!("../../systemd/gapii-upload.service");
const UPLOAD_USER: &str = include_str!("../../systemd/gapii-upload.sysusers");
const UPLOAD_SPOOL: &str = include_str!("../../systemd/gapii-upload.tmpfiles");
const LICENCE: &str = include_str!("../../LICENSE");

/// A file below the prefix.
#[derive(Debug)]
pub struct File {
    /// Path below the prefix.
    pub path: String,
    pub content: Content,
    /// Whether it can be executed.
    pub is_program: bool,
    /// The Debian package that has it.
    pub package: Package,
}

/// Contents of a file, or where they come from.
#[derive(Debug)]
pub enum Content {
    /// A file of the build, by its path in the build's folder.
    Built(String),
    /// A page, by its path in the repository.
    Document(&'static str),
    Text(Vec<u8>),
    /// A symbolic link to this path, from the link's folder.
    Link(String),
}

/// A Debian package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Package {
    Tools,
    Shim,
    Development,
    LevelZero,
    Agents,
    Fleet,
}

impl Package {
    /// All packages.
    pub const ALL: [Package; 6] = [
        Package::Tools,
        Package::Shim,
        Package::Development,
        Package::LevelZero,
        Package::Agents,
        Package::Fleet,
    ];

    /// Name of the package.
    pub fn name(self) -> &'static str {
        match self {
            Package::Tools => "gapii",
            Package::Shim => "libgapii0",
            Package::Development => "libgapii-dev",
            Package::LevelZero => "gapii-level-zero",
            Package::Agents => MCP,
            Package::Fleet => "gapii-fleet",
        }
    }
}

/// A shell that completes command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    Bash,
    Fish,
    Zsh,
}

impl Shell {
    /// All shells.
    pub const ALL: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];

    /// Name of the shell, as `gapii-ctl completions` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Fish => "fish",
            Shell::Zsh => "zsh",
        }
    }
}

/// What the control tool writes about itself.
#[derive(Debug, Default)]
pub struct Written {
    /// Man pages by their file names.
    pub manual: Vec<(String, Vec<u8>)>,
    /// Completions for a shell, of a program.
    pub completions: Vec<(Shell, &'static str, Vec<u8>)>,
}

/// Returns all files of `layout`, by path.
pub fn files(layout: &Layout, written: &Written) -> Vec<File> {
    let mut files = tools(layout);
    files.extend(texts(layout, written));
    files.extend(shim(layout));
    files.extend(development(layout));
    files.push(level_zero(layout));
    files.extend(become_programs());
    files.extend(uploads(layout));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn tools(layout: &Layout) -> Vec<File> {
    let package = Package::Tools;
    let program = |name: &str| File {
        path: format!("bin/{name}"),
        content: Content::Built(name.to_owned()),
        is_program: true,
        package,
    };
    let mut files = vec![program(CTL), program(DAEMON)];
    files.push(link(format!("bin/{CTL_SHORT}"), CTL.to_owned(), package));
    for (folder, units) in
        [(layout.system_units(), SYSTEM_UNITS), (layout.user_units(), USER_UNITS)]
    {
        let Some(folder) = folder else { continue };
        files.extend(
            units.iter().map(|(name, unit)| text(format!("{folder}/{name}"), unit, package)),
        );
    }
    files
}

/// Completions, man pages and documents.
fn texts(layout: &Layout, written: &Written) -> Vec<File> {
    let package = Package::Tools;
    let mut files = Vec::new();
    for (name, page) in &written.manual {
        files.push(text(format!("share/man/man1/{name}"), page, package));
    }
    let same = format!(".so man1/{CTL}.1\n");
    files.push(text(format!("share/man/man1/{CTL_SHORT}.1"), same, package));
    files.push(text(format!("share/man/man1/{DAEMON}.1"), DAEMON_PAGE, package));
    for (shell, program, script) in &written.completions {
        files.push(text(layout.completions(*shell, program), script, package));
    }
    let documents = layout.documents(package);
    for page in DOCUMENTS {
        let path = format!("{documents}/{page}");
        files.push(File { path, content: Content::Document(page), is_program: false, package });
    }
    files.push(text(format!("{documents}/examples/gapiid.toml"), CONFIGURATION, package));
    if !layout.is_debian() {
        files.push(text(format!("{documents}/LICENSE"), LICENCE, package));
    }
    files
}

fn shim(layout: &Layout) -> Vec<File> {
    let package = Package::Shim;
    let folder = layout.shim_folder();
    let soname = |name: &&str| {
        link(format!("{folder}/{SONAMES_FOLDER}/{name}"), format!("../{SHIM}"), package)
    };
    let mut files: Vec<_> = SONAMES.iter().map(soname).collect();
    files.push(built(format!("{folder}/{SHIM}"), SHIM, package));
    files
}

fn development(layout: &Layout) -> Vec<File> {
    let package = Package::Development;
    let folder = layout.shim_folder();
    let mut files = vec![built(format!("{folder}/libgapii.a"), "libgapii.a", package)];
    for name in HEADERS {
        let source = format!("{HEADERS_FOLDER}/{name}");
        files.push(built(format!("include/{name}"), &source, package));
    }
    for name in [SHARED, STATIC] {
        let path = format!("{}/pkgconfig/{name}", layout.libraries());
        files.push(text(path, layout.pkg_config().file(name), package));
    }
    let examples = format!("{}/examples", layout.documents(package));
    files.push(text(format!("{examples}/draws.c"), EXAMPLE, package));
    files
}

fn level_zero(layout: &Layout) -> File {
    let path = format!("{}/{LAYER_FOLDER}/{LAYER_SONAME}", layout.shim_folder());
    built(path, LAYER, Package::LevelZero)
}

/// The programs that the control tool becomes.
fn become_programs() -> [File; 2] {
    [(MCP, Package::Agents), (TABLES, Package::Fleet)].map(|(name, package)| {
        let path = format!("{LIBEXEC}/{name}");
        File { is_program: true, ..built(path, name, package) }
    })
}

/// The program that uploads traces. Its service and its man page are for Debian, where the program lies in /usr/bin.
fn uploads(layout: &Layout) -> Vec<File> {
    let package = Package::Fleet;
    let program = built(format!("bin/{UPLOAD}"), UPLOAD, package);
    let mut files = vec![File { is_program: true, ..program }];
    if layout.is_debian() {
        files.push(text(format!("share/man/man1/{UPLOAD}.1"), UPLOAD_PAGE, package));
        let units = layout.system_units().into_iter();
        files.extend(units.map(|it| text(format!("{it}/{UPLOAD}.service"), UPLOAD_UNIT, package)));
        files.push(text(format!("lib/sysusers.d/{UPLOAD}.conf"), UPLOAD_USER, package));
        files.push(text(format!("lib/tmpfiles.d/{UPLOAD}.conf"), UPLOAD_SPOOL, package));
    }
    files
}

fn built(path: String, source: &str, package: Package) -> File {
    File { path, content: Content::Built(source.to_owned()), is_program: false, package }
}

fn text(path: String, text: impl AsRef<[u8]>, package: Package) -> File {
    let content = Content::Text(text.as_ref().to_owned());
    File { path, content, is_program: false, package }
}

fn link(path: String, target: String, package: Package) -> File {
    File { path, content: Content::Link(target), is_program: false, package }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn paths(layout: &Layout) -> Vec<String> {
        let written = Written {
            manual: vec![("gapii-ctl.1".to_owned(), Vec::new())],
            completions: Shell::ALL.map(|shell| (shell, CTL, Vec::new())).into(),
        };
        files(layout, &written).into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn no_path_is_listed_twice_and_every_package_has_a_file() {
        for layout in [Layout::Prefix, Layout::Home, Layout::Archive, Layout::Debian] {
            let list = paths(&layout);
            let different: BTreeSet<_> = list.iter().collect();
            assert_eq!(different.len(), list.len(), "{list:?}");
            assert!(list.iter().all(|path| !path.starts_with('/')), "{list:?}");
            let packages: BTreeSet<_> =
                files(&layout, &Written::default()).iter().map(|file| file.package).collect();
            assert_eq!(packages.len(), Package::ALL.len());
        }
    }

    #[test]
    fn layouts_differ_in_libraries_units_and_documents() {
        let has = |layout: Layout, path: &str| paths(&layout).contains(&path.to_owned());
        assert!(has(Layout::Prefix, "lib/gapii/libgapii.so"));
        assert!(has(Layout::Prefix, "lib/systemd/system/gapiid.service"));
        assert!(has(Layout::Home, "share/systemd/user/gapiid.socket"));
        assert!(!paths(&Layout::Home).iter().any(|path| path.contains("systemd/system")));
        assert!(!paths(&Layout::Archive).iter().any(|path| path.contains("systemd/")));
        let folder = format!("lib/{}/gapii", triplet());
        assert!(has(Layout::Debian, &format!("{folder}/sonames/libEGL.so.1")));
        assert!(has(Layout::Debian, &format!("{folder}/level-zero/{LAYER_SONAME}")));
        assert!(has(Layout::Debian, "share/doc/libgapii-dev/examples/draws.c"));
    }
}
