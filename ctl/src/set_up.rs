//! Checks of what a capture needs on this machine; used by `doctor`. A new check is a function here, listed in
//! `check_all`. Limits below 20 GiB on address space or file size are wrong, as are a missing driver or display; a
//! missing daemon is a note, unless `--connect` names one.
//!
//! A check changes nothing and does not depend on other checks.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gapii_control::{SafePath, UnsafePath};
use rustix::fs::{Access, MemfdFlags, SealFlags};
use rustix::process::Resource;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Connect;
use crate::connection::{self, ConnectError, Connection};
use crate::failure::Failure;
use crate::installation;

/// Address space that a process' rings need, in bytes, with a reserve for the rest of the process.
const ADDRESS_SPACE_BYTES: u64 = 20 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Ok,
    /// Not ideal, but captures work.
    Note,
    Wrong,
}

/// Result of one check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Subject of the check.
    pub check: &'static str,
    /// Result: `note` is not ideal, but captures work.
    pub state: State,
    /// Sentence that says what was found.
    pub found: String,
    /// Command that fixes the problem.
    pub mend: Option<String>,
}

/// Checks this machine; with `--via` only the way to the other one, because programs are recorded there.
pub fn check_all(connect: &Connect) -> Vec<Finding> {
    if let Some(via) = &connect.via {
        let found = "its shim, drivers and folders are not checked from here";
        return vec![daemon(connect), note("other machine", found, via.there("doctor"))];
    }
    vec![
        shim(),
        library("libEGL", "libEGL.so.1", "apt-get install libegl1"),
        library("libGLESv2", "libGLESv2.so.2", "apt-get install libgles2"),
        driver(),
        level_zero(),
        daemon(connect),
        configuration(),
        socket_folder(),
        seals(),
        memory(),
        display(),
    ]
}

fn ok(check: &'static str, found: impl Into<String>) -> Finding {
    Finding { check, state: State::Ok, found: found.into(), mend: None }
}

fn note(check: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Finding {
    Finding { check, state: State::Note, found: found.into(), mend: Some(mend.into()) }
}

fn wrong(check: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Finding {
    Finding { check, state: State::Wrong, found: found.into(), mend: Some(mend.into()) }
}

const BUILD: &str = "cargo xtask build";

fn shim() -> Finding {
    let path = match installation::find_shim() {
        Ok(path) => path,
        Err(failure) => return wrong("shim", failure.sentence, BUILD),
    };
    match load(&path) {
        Ok(()) => ok("shim", format!("{} loads", path.display())),
        Err(why) => wrong("shim", format!("{} does not load: {why}", path.display()), BUILD),
    }
}

/// Checks the Level Zero tracing layer, through which Level Zero is recorded.
fn level_zero() -> Finding {
    const CHECK: &str = "Level Zero";
    let layer =
        installation::find_shim().ok().and_then(|shim| installation::installed_layer(&shim));
    match layer.map(|layer| (load(&layer), layer)) {
        Some((Ok(()), layer)) => ok(CHECK, format!("{} loads", layer.display())),
        Some((Err(why), layer)) => {
            wrong(CHECK, format!("{} does not load: {why}", layer.display()), BUILD)
        }
        None => note(CHECK, "its tracing layer is not beside the shim: it is not recorded", BUILD),
    }
}

fn library(check: &'static str, soname: &str, mend: &str) -> Finding {
    match load(Path::new(soname)) {
        Ok(()) => ok(check, format!("{soname} loads")),
        Err(why) => wrong(check, format!("{soname} does not load: {why}"), mend),
    }
}

/// Loads a library in a child process, as the dynamic linker does for a program.
fn load(library: &Path) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .arg("--version")
        .env("LD_PRELOAD", library)
        .env_remove("LD_LIBRARY_PATH")
        .env("LD_BIND_NOW", "1")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    match complaint.lines().find(|line| !line.is_empty()) {
        None if output.status.success() => Ok(()),
        None => Err(output.status.to_string()),
        Some(line) => Err(line.trim_start_matches("ERROR: ld.so: ").to_owned()),
    }
}

/// Checks the EGL vendor libraries: Debian's libEGL only dispatches, and finds no display without one.
fn driver() -> Finding {
    let folders = ["/usr/share/glvnd/egl_vendor.d", "/etc/glvnd/egl_vendor.d"];
    let vendors: Vec<_> = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.ends_with(".json"))
        .collect();
    if std::env::var_os("__EGL_VENDOR_LIBRARY_FILENAMES").is_some() {
        ok("driver", "named by __EGL_VENDOR_LIBRARY_FILENAMES")
    } else if vendors.is_empty() {
        wrong(
            "driver",
            format!("no EGL driver is registered in {}", folders.join(" or ")),
            "apt-get install libegl-mesa0 libgl1-mesa-dri",
        )
    } else {
        ok("driver", vendors.join(", "))
    }
}

fn daemon(connect: &Connect) -> Finding {
    if let Some(via) = &connect.via {
        let mend = format!("gapii-ctl --via {via} status");
        return match Connection::open(connect) {
            Ok(connection) => {
                let version = &connection.server.daemon_version;
                ok("daemon", format!("gapiid {version} answers on {via}"))
            }
            Err(failure) => wrong("daemon", failure.sentence, mend),
        };
    }
    let path = connection::socket_path(connect);
    match Connection::to_path(&path) {
        Ok(connection) => {
            let server = &connection.server;
            let version = &server.daemon_version;
            ok("daemon", format!("gapiid {version} listens on {}", path.display()))
        }
        Err(ConnectError::Unusable(Failure { sentence, .. })) => {
            // The sentence says what to do about a daemon of another user.
            wrong("daemon", sentence, format!("ss -xlp | grep {}", path.display()))
        }
        Err(ConnectError::Absent(absent)) => match installation::find_daemon() {
            Err(failure) => wrong("daemon", failure.sentence, "cargo xtask build"),
            Ok(_) if connect.connect.is_some() => {
                let mend = connection::starting_command(&path).map(|start| start + " &");
                wrong("daemon", absent.sentence, mend.unwrap_or("gapii-ctl doctor".to_owned()))
            }
            Ok(found) => note(
                "daemon",
                format!("none runs; `gapii-ctl run` starts its own {}", found.display()),
                "gapiid &",
            ),
        },
    }
}

/// Asks the daemon which configuration it would use in this environment.
fn configuration() -> Finding {
    const CHECK: &str = "configuration";
    const ASK: [&str; 2] = ["gapiid", "--check-config"];
    let mend = ASK.join(" ");
    let daemon = match installation::find_daemon() {
        Ok(path) => path,
        Err(failure) => return wrong(CHECK, failure.sentence, "cargo xtask build"),
    };
    match Command::new(&daemon).arg(ASK[1]).stdin(Stdio::null()).output() {
        Err(error) => wrong(CHECK, format!("{} does not start: {error}", daemon.display()), mend),
        Ok(output) if output.status.success() => {
            let held = String::from_utf8_lossy(&output.stdout);
            match held.lines().find_map(not_read) {
                Some(found) => note(CHECK, found, mend),
                None => ok(CHECK, settings(&held)),
            }
        }
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let first = complaint.lines().map(str::trim).find(|line| !line.is_empty());
            let first = first.unwrap_or("it can't be read");
            wrong(CHECK, first.trim_start_matches("× ").trim_start_matches("error: "), mend)
        }
    }
}

/// Returns what the daemon's answer says about a file that it found and did not read.
fn not_read(line: &str) -> Option<String> {
    line.strip_prefix("# ").filter(|line| line.contains(": not read: ")).map(str::to_owned)
}

/// Returns the settings that differ from the defaults in the daemon's answer: lines such as `slots = 3  # FILE:1`.
fn settings(held: &str) -> String {
    let lines = held.lines().filter_map(|line| line.rsplit_once("  # "));
    let others = lines.filter(|(setting, origin)| !setting.is_empty() && *origin != "default");
    let others: Vec<_> = others.map(|(setting, origin)| format!("{setting} ({origin})")).collect();
    if others.is_empty() { "defaults alone".to_owned() } else { others.join(", ") }
}

fn socket_folder() -> Finding {
    const CHECK: &str = "socket folder";
    let folder = connection::socket_folder();
    let name = folder.display();
    let user = rustix::process::geteuid().as_raw();
    let place = match SafePath::of_new(&folder, user) {
        Ok(place) => place,
        Err(UnsafePath::Open { path, mode }) => {
            let path = path.display();
            let found = format!("others can change {path} (mode {mode:o}), and so replace {name}");
            return wrong(CHECK, found, format!("chmod go-w {path}"));
        }
        Err(why @ UnsafePath::Foreign { .. }) => {
            let found = format!("another user can replace {name}: {why}");
            return wrong(CHECK, found, connection::own_folder_command());
        }
        Err(UnsafePath::Io { .. }) => {
            return wrong(CHECK, format!("{name} can't be made"), connection::own_folder_command());
        }
    };
    match fs::symlink_metadata(&place) {
        Ok(found) if !found.is_dir() => {
            wrong(CHECK, format!("{name} is no folder"), format!("rm {name}"))
        }
        Ok(found) if found.uid() != user => wrong(
            CHECK,
            format!("{name} belongs to user {}", found.uid()),
            connection::own_folder_command(),
        ),
        Ok(found) if found.mode() & 0o077 != 0 => wrong(
            CHECK,
            format!("{name} is open to others (mode {:o})", found.mode() & 0o777),
            format!("chmod 700 {name}"),
        ),
        Ok(_) => ok(CHECK, format!("{name} is ours alone")),
        Err(_) => match place.parent() {
            Some(parent) if rustix::fs::access(parent, Access::WRITE_OK).is_ok() => {
                ok(CHECK, format!("{name} can be made"))
            }
            _ => wrong(CHECK, format!("{name} can't be made"), connection::own_folder_command()),
        },
    }
}

fn seals() -> Finding {
    const CHECK: &str = "memfd seals";
    let sealed =
        rustix::fs::memfd_create("gapii-doctor", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
            .and_then(|memfd| {
                rustix::fs::fcntl_add_seals(
                    &memfd,
                    SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE,
                )
            });
    match sealed {
        Ok(()) => ok(CHECK, "shared memory can be sealed"),
        Err(errno) => wrong(
            CHECK,
            format!("shared memory can't be sealed: {errno}; Linux 5.1 or later is needed"),
            "uname -r",
        ),
    }
}

fn memory() -> Finding {
    const CHECK: &str = "ring memory";
    let limits = [
        (Resource::As, "address space", "ulimit -v unlimited"),
        (Resource::Fsize, "file size", "ulimit -f unlimited"),
    ];
    for (resource, what, mend) in limits {
        if let Some(bytes) = rustix::process::getrlimit(resource).current
            && bytes < ADDRESS_SPACE_BYTES
        {
            return wrong(CHECK, format!("the limit on {what} is {bytes} bytes"), mend);
        }
    }
    ok(CHECK, "no limit is in the way")
}

/// Checks that the display that the environment names answers.
pub fn display() -> Finding {
    const CHECK: &str = "display";
    const MEND: &str = "Xvfb :99 & export DISPLAY=:99";
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (name, socket) = match (variable("WAYLAND_DISPLAY"), variable("DISPLAY")) {
        (Some(name), _) => {
            let folder = variable("XDG_RUNTIME_DIR").unwrap_or_default();
            (format!("WAYLAND_DISPLAY={name}"), Some(Path::new(&folder).join(&name)))
        }
        (None, Some(name)) => (format!("DISPLAY={name}"), x_socket(&name)),
        (None, None) => {
            let found =
                "neither DISPLAY nor WAYLAND_DISPLAY is set; programs without windows need none";
            return note(CHECK, found, MEND);
        }
    };
    match socket.map(UnixStream::connect) {
        None => ok(CHECK, format!("{name} (on another machine, not tried)")),
        Some(Ok(_)) => ok(CHECK, format!("{name} answers")),
        Some(Err(error)) => wrong(CHECK, format!("{name} does not answer: {error}"), MEND),
    }
}

/// Returns the socket of a local X display such as `:0` or `:0.0`.
fn x_socket(display: &str) -> Option<PathBuf> {
    let number = display.strip_prefix(':').or_else(|| display.strip_prefix("unix:"))?;
    let number = number.split('.').next()?;
    Some(PathBuf::from(format!("/tmp/.X11-unix/X{number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_that_are_no_defaults() {
        let held = "# /etc/f: read\n# /home/f: not there\nslots = 256  # default\n";
        assert_eq!(settings(held), "defaults alone");
        let held =
            format!("{held}level = 3  # /etc/f:2\nlog = \"warn\"  # GAPIID_LOG\n# x is not set\n");
        assert_eq!(settings(&held), "level = 3 (/etc/f:2), log = \"warn\" (GAPIID_LOG)");
    }

    #[test]
    fn local_displays_have_a_socket_and_remote_ones_do_not() {
        for display in [":7", ":7.0", "unix:7"] {
            assert_eq!(x_socket(display), Some(PathBuf::from("/tmp/.X11-unix/X7")), "{display}");
        }
        assert_eq!(x_socket("otherhost:7"), None);
    }

    #[test]
    fn every_wrong_finding_names_a_command() {
        for finding in check_all(&Connect::default()) {
            assert!(finding.state == State::Ok || finding.mend.is_some(), "{finding:?}");
            assert!(!finding.found.is_empty(), "{finding:?}");
        }
    }
}
