//! `Sighting`: what `/proc` says about one process that may draw: its program file, its environment, its namespaces, and the
//! graphics libraries that it has loaded.
//!
//! It changes nothing, and stops no process. A file of `/proc` that cannot be read is a fact that is not known.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use gapii_package::SHIM;
use gapii_trace::Untrusted;
use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::elf::Elf;
use crate::emptiness::reason::{Emptiness, Reason};

/// Why the system loads no library into a program that the environment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    SetId,
    Capabilities,
}

/// A program file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    pub path: PathBuf,
    pub kind: Elf,
    pub privilege: Option<Privilege>,
}

/// Libraries of graphics APIs that a process has loaded, by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Libraries {
    /// One of EGL or OpenGL ES that is in a folder of the system.
    pub driver: Option<PathBuf>,
    /// One of OpenGL, EGL or GLX that is not.
    pub own_driver: Option<PathBuf>,
    pub vulkan: Option<PathBuf>,
    pub has_shim: bool,
}

/// One process at one moment.
#[derive(Clone, Debug)]
pub struct Sighting {
    pub pid: u32,
    pub program: ProgramFile,
    /// Its environment when its program began; `None` if it cannot be read.
    environment: Option<Vec<OsString>>,
    /// It has another mount, process or user namespace than this process.
    pub is_elsewhere: bool,
    /// The shim that its environment names, if it is another file for it than for this process, or none.
    pub hidden_shim: Option<PathBuf>,
    /// The socket that its environment names, if it is another one for it than for this process, or none.
    pub hidden_socket: Option<PathBuf>,
    pub libraries: Libraries,
}

impl ProgramFile {
    /// Looks at a file that may be started, or at the file of a process by the link in `/proc`. `path` is its name.
    pub fn of(file: &Path, path: PathBuf) -> ProgramFile {
        let kind = Elf::of(file).unwrap_or(Elf::Other);
        ProgramFile { path, kind, privilege: privilege(file) }
    }

    /// Returns why the system loads no shim into the program.
    pub fn obstacle(&self) -> Option<Emptiness> {
        let reason = match (self.privilege, self.kind) {
            (Some(Privilege::SetId), _) => Reason::SetId,
            (Some(Privilege::Capabilities), _) => Reason::FileCapabilities,
            (None, Elf::Foreign { is_64: false }) => Reason::OtherWordSize,
            (None, Elf::Foreign { is_64: true }) => Reason::OtherProcessor,
            (None, Elf::Static) => Reason::StaticProgram,
            (None, Elf::Other | Elf::Program | Elf::Library) => return None,
        };
        Some(reason.with(&[("PROGRAM", &shown(&self.path))]))
    }
}

/// Returns why a program would run with other rights than this process.
fn privilege(file: &Path) -> Option<Privilege> {
    let metadata = file.metadata().ok()?;
    let is = |bit: u32| metadata.permissions().mode() & bit != 0;
    let changes_user = is(0o4000) && metadata.uid() != rustix::process::geteuid().as_raw();
    let changes_group = is(0o2000) && metadata.gid() != rustix::process::getegid().as_raw();
    if changes_user || changes_group {
        return Some(Privilege::SetId);
    }
    // Root has these capabilities already.
    let mut value = [0; 64];
    let has_some = rustix::fs::getxattr(file, "security.capability", &mut value[..]).is_ok();
    (has_some && !rustix::process::getuid().is_root()).then_some(Privilege::Capabilities)
}

impl Sighting {
    /// Looks at a process; `None` if it has ended, or runs the program of this process, as a child does that has not become its
    /// own program yet.
    pub fn of(pid: u32) -> Option<Sighting> {
        let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let path = fs::read_link(of("exe")).ok()?;
        if fs::read_link("/proc/self/exe").is_ok_and(|own| own == path) {
            return None;
        }
        let environment = fs::read(of("environ")).ok().map(|bytes| {
            let entries = bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
            entries.map(|entry| OsString::from_vec(entry.to_vec())).collect()
        });
        let is_elsewhere = ["mnt", "pid", "user"].iter().any(|kind| {
            let its = fs::read_link(of(&format!("ns/{kind}")));
            let own = fs::read_link(format!("/proc/self/ns/{kind}"));
            matches!((its, own), (Ok(its), Ok(own)) if its != own)
        });
        let mut sighting = Sighting {
            pid,
            program: ProgramFile::of(&of("exe"), path),
            environment,
            is_elsewhere,
            hidden_shim: None,
            hidden_socket: None,
            libraries: Libraries::default(),
        };
        let maps = fs::read(of("maps")).unwrap_or_default();
        let folders = sighting.variable("LD_LIBRARY_PATH").unwrap_or_default().to_owned();
        sighting.libraries = Libraries::in_maps(&maps, &folders);
        let preloaded = sighting.variable("LD_PRELOAD").unwrap_or_default();
        let shim = std::env::split_paths(preloaded).next();
        let socket = sighting.variable("GAPII_SOCKET").map(PathBuf::from);
        let hides = |path: &PathBuf| is_elsewhere && !sighting.sees(path);
        (sighting.hidden_shim, sighting.hidden_socket) = (shim.filter(hides), socket.filter(hides));
        Some(sighting)
    }

    /// Whether it has loaded a library of a graphics API.
    pub fn has_graphics(&self) -> bool {
        let Libraries { driver, own_driver, vulkan, .. } = &self.libraries;
        [driver, own_driver, vulkan].iter().any(|library| library.is_some())
    }

    /// Returns the value of a variable with which its program began.
    fn variable(&self, name: &str) -> Option<&OsStr> {
        let entries = self.environment.as_ref()?.iter();
        let mut values = entries
            .filter_map(|entry| entry.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        values.next().map(OsStr::from_bytes)
    }

    /// Whether its environment has what `run` sets; `None` if that is not known.
    pub fn is_prepared(&self) -> Option<bool> {
        self.environment.as_ref()?;
        Some(self.variable("LD_PRELOAD").is_some() && self.variable("GAPII_SOCKET").is_some())
    }

    /// Whether it finds the same file under a path as this process. An environment in which this cannot be asked hides none.
    fn sees(&self, path: &Path) -> bool {
        let Ok(root) = File::open(format!("/proc/{}/root", self.pid)) else { return true };
        let Ok(own) = path.metadata() else { return true };
        let inside = path.strip_prefix("/").unwrap_or(path);
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let found = rustix::fs::openat2(root, inside, flags, Mode::empty(), ResolveFlags::IN_ROOT);
        let is_same = |its: Metadata| (its.dev(), its.ino()) == (own.dev(), own.ino());
        found.is_ok_and(|found| File::from(found).metadata().is_ok_and(is_same))
    }
}

/// Returns a path for people.
pub fn shown(path: &Path) -> String {
    Untrusted::from(path.to_string_lossy().into_owned()).to_string()
}

impl Libraries {
    /// Finds them in the text of `/proc/PID/maps`. `folders` is the process' `LD_LIBRARY_PATH`.
    fn in_maps(maps: &[u8], folders: &OsStr) -> Libraries {
        let mut found = Libraries::default();
        // The path is the rest of a line behind five words.
        for line in maps.split(|byte| *byte == b'\n') {
            let Some(begin) = line.iter().position(|byte| *byte == b'/') else { continue };
            let path = Path::new(OsStr::from_bytes(&line[begin..]));
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let place = if name.starts_with(SHIM) {
                found.has_shim = true;
                continue;
            } else if is_driver(&name) {
                match is_of_system(path, folders) {
                    true => &mut found.driver,
                    false => &mut found.own_driver,
                }
            } else if name.starts_with("libvulkan.so") {
                &mut found.vulkan
            } else {
                continue;
            };
            place.get_or_insert_with(|| path.to_owned());
        }
        found
    }
}

/// Libraries of OpenGL, EGL and GLX that programs call.
const DRIVERS: [&str; 6] =
    ["libEGL.so", "libGLESv2.so", "libGLESv1_CM.so", "libGL.so", "libGLX.so", "libOpenGL.so"];

/// Whether a library is one of OpenGL, EGL or GLX that programs call, by its file name. Drivers that such a library loads have a
/// name like `libEGL_mesa.so.0`.
fn is_driver(name: &str) -> bool {
    DRIVERS.iter().any(|library| name.starts_with(library))
}

/// Whether a library is in a folder in which the dynamic linker looks for every program, or in one of `folders`, a list like
/// `LD_LIBRARY_PATH`.
fn is_of_system(library: &Path, folders: &OsStr) -> bool {
    let Some(folder) = library.parent() else { return false };
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let of_system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];
    of_system
        .iter()
        .any(|known| folder == Path::new(known) || folder == Path::new(known).join(&triplet))
        || std::env::split_paths(folders)
            .any(|known| folder == known || known.canonicalize().is_ok_and(|known| folder == known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_told_by_name_and_folder() {
        let check = |line: &str, expected: Libraries| {
            let maps =
                format!("7f00-7f01 r-xp 00000000 fe:00 12    {line}\n7f02-7f03 rw-p 0 00:00 0\n");
            let found =
                Libraries::in_maps(maps.as_bytes(), OsStr::new("/opt/gapii/sonames:/opt/mesa/lib"));
            assert_eq!(found, expected, "{line}");
        };
        let none = Libraries::default;
        let own = |path: &str| Libraries { own_driver: Some(path.into()), ..none() };
        check("/usr/lib/x/libgapii.so", Libraries { has_shim: true, ..none() });
        let driver = |path: &str| Libraries { driver: Some(path.into()), ..none() };
        check("/usr/lib/libEGL.so.1.1.0", driver("/usr/lib/libEGL.so.1.1.0"));
        check("/opt/mesa/lib/libGLESv2.so.2", driver("/opt/mesa/lib/libGLESv2.so.2"));
        check("/usr/lib/chromium/libEGL.so", own("/usr/lib/chromium/libEGL.so"));
        check("/opt/my game/libGLESv2.so", own("/opt/my game/libGLESv2.so"));
        check("/usr/lib/nvidia/libEGL_nvidia.so.0", none());
        let vulkan = PathBuf::from("/usr/lib/libvulkan.so.1.3.239");
        check("/usr/lib/libvulkan.so.1.3.239", Libraries { vulkan: Some(vulkan), ..none() });
        let glx = PathBuf::from("/usr/lib/libGLX.so.0.0.0");
        check("/usr/lib/libGLX.so.0.0.0", Libraries { driver: Some(glx), ..none() });
        check("[heap]", none());
    }

    #[test]
    fn program_with_other_rights_is_privileged_and_an_own_one_is_not() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path();
        let set = |mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        // Its own user gets no other rights.
        set(0o4755);
        assert_eq!(privilege(path), None);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).expect("root may");
            for (mode, expected) in
                [(0o755, None), (0o4755, Some(Privilege::SetId)), (0o2755, Some(Privilege::SetId))]
            {
                set(mode);
                assert_eq!(privilege(path), expected, "{mode:o}");
            }
        }
    }
}
