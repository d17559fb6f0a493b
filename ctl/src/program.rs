//! `Program`: the program that `run` starts, with the shim loaded into it through `LD_PRELOAD`, `LD_LIBRARY_PATH` and
//! the `GAPII_…` variables. A program that is missing or not executable is refused before anything is set up. Its exit
//! status is its own, or 128 plus its signal's number. Its standard output goes to standard error if the trace or
//! an answer in JSON goes to standard output.
//!
//! Arguments and standard streams otherwise stay the program's own.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use gapii_abi::app;
use rustix::fs::{Access, StatVfsMountFlags};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::capture_answer::StatusOf;
use crate::emptiness::sighting::ProgramFile;
use crate::failure::Failure;
use crate::installation;
use crate::launch::Launch;
use crate::scratch::Scratch;
use crate::signals::Signals;
use crate::tools;

/// Makes Level Zero's loader load its tracing layer; gapii's is first on the library path.
const TRACES_LEVEL_ZERO: &str = "ZE_ENABLE_TRACING_LAYER";

pub struct Program {
    name: OsString,
    child: Child,
    exit: OwnedFd,
}

/// What the program does before its first command.
pub enum Beginning<'a> {
    /// It goes on unrecorded.
    Idle,
    /// It goes on unrecorded until the capture of this launch begins.
    Unrecorded(&'a Launch),
    /// It begins in the capture of this launch.
    Recorded(&'a Launch),
    /// It waits for a capture that another client begins, for this many seconds or the shim's default.
    Waits { launch: &'a Launch, seconds: Option<f64> },
}

/// Values that the shim reads from the program's environment.
pub struct Environment {
    shim: PathBuf,
    sonames: PathBuf,
    /// Folder of the Level Zero tracing layer; `None` if it is not installed, so that Level Zero is not recorded.
    layer: Option<PathBuf>,
    app_socket: PathBuf,
    /// Whether the shim tracks state while nothing is recorded.
    pub monitors: bool,
    /// Libraries that are preloaded after the shim.
    tools: Vec<PathBuf>,
    /// File that the shim creates when a tool traces a command.
    traced_mark: PathBuf,
}

impl Environment {
    pub fn new(scratch: &Scratch, app_socket: PathBuf) -> Result<Environment, Failure> {
        let found = installation::find_shim()?;
        let cannot =
            |error: io::Error| Failure::system(format!("can't link {}: {error}", found.display()));
        let shim = scratch.linker_name(&found).map_err(cannot)?;
        let sonames = match installation::installed_sonames(&found) {
            Some(folder) if installation::linker_can_name(&folder) => folder,
            _ => scratch.sonames(&found).map_err(cannot)?,
        };
        let layer = installation::installed_layer(&found);
        let layer = layer.map(|layer| scratch.linker_name(&layer)).transpose().map_err(cannot)?;
        let layer = layer.and_then(|layer| Some(layer.parent()?.to_owned()));
        let (tools, traced_mark) = (Vec::new(), scratch.path().join("traced"));
        Ok(Environment { shim, sonames, layer, app_socket, monitors: true, tools, traced_mark })
    }

    /// Adds the tools that `words` of --tool name. They are preloaded after the shim because they call its functions.
    ///
    /// # Errors
    /// A tool that does not exist, or that the dynamic linker would not load into `program`.
    pub fn add_tools(
        &mut self,
        words: &[PathBuf],
        program: &OsStr,
        scratch: &Scratch,
    ) -> Result<(), Failure> {
        for tool in tools::find(words)? {
            let linked = scratch.linker_name(&tool).map_err(|error| {
                Failure::system(format!("can't link {}: {error}", tool.display()))
            })?;
            self.tools.push(linked);
        }
        tools::check(&self.tools, &self.shim, find(program).as_deref())
    }

    /// Says that the tools did nothing, if there are any, and none traced a command in a program that has ended.
    pub fn why_untraced(&self) -> Option<String> {
        let tools = match &self.tools[..] {
            [] => return None,
            [tool] => format!("the tool {}", tool.file_name().unwrap_or_default().display()),
            several => format!("each of the {} tools", several.len()),
        };
        (!self.traced_mark.exists()).then(|| {
            format!(
                "{tools} traced no command, because it enabled no tracer with callbacks; let it check what \
                 gapii_tracer_register_prologue, gapii_tracer_register_epilogue and gapii_tracer_enable return"
            )
        })
    }

    /// Adds the shim to the environment of `command`.
    fn apply(&self, command: &mut Command, beginning: &Beginning<'_>) {
        let preloaded = [&self.shim].into_iter().chain(&self.tools).map(PathBuf::as_path);
        let folders = [&self.sonames].into_iter().chain(&self.layer).map(PathBuf::as_path);
        command
            .env("LD_PRELOAD", installation::prepended(preloaded, "LD_PRELOAD"))
            .env("LD_LIBRARY_PATH", installation::prepended(folders, "LD_LIBRARY_PATH"))
            .env("GAPII_SOCKET", &self.app_socket);
        if self.layer.is_some() {
            command.env(TRACES_LEVEL_ZERO, "1");
        }
        match self.tools.is_empty() {
            true => command.env_remove(app::TRACED_MARK_VARIABLE),
            false => command.env(app::TRACED_MARK_VARIABLE, &self.traced_mark),
        };
        match self.monitors {
            true => command.env_remove("GAPII_MONITOR"),
            false => command.env("GAPII_MONITOR", "0"),
        };
        match beginning {
            Beginning::Idle => command.env_remove("GAPII_LAUNCH").env_remove("GAPII_WAIT"),
            Beginning::Unrecorded(launch) => {
                command.env("GAPII_LAUNCH", launch.hex()).env_remove("GAPII_WAIT")
            }
            // It waits only if another daemon has taken the place of the one that had its capture.
            Beginning::Recorded(launch) => command
                .env("GAPII_LAUNCH", launch.hex())
                .env("GAPII_WAIT", "1")
                .env("GAPII_WAIT_SECONDS", (app::LOOK_MS / 1000).to_string()),
            Beginning::Waits { launch, seconds } => {
                if let Some(seconds) = seconds {
                    command.env("GAPII_WAIT_SECONDS", seconds.to_string());
                }
                command.env("GAPII_LAUNCH", launch.hex()).env("GAPII_WAIT", "1")
            }
        };
    }
}

impl Program {
    /// Starts the program. With `output_is_taken`, its standard output goes to standard error.
    pub fn start(
        words: &[OsString],
        environment: &Environment,
        beginning: &Beginning<'_>,
        signals: &Signals,
        output_is_taken: bool,
    ) -> Result<Program, Failure> {
        let (name, arguments) =
            words.split_first().ok_or_else(|| Failure::usage("no program is given after --; it begins with its path, as in `gapii-ctl run -- ./game`"))?;
        let mut command = Command::new(name);
        command.args(arguments);
        environment.apply(&mut command, beginning);
        signals.leave_out(&mut command);
        if output_is_taken {
            command.stdout(Stdio::from(
                io::stderr().as_fd().try_clone_to_owned().map_err(|error| {
                    Failure::system(format!("can't use standard error: {error}"))
                })?,
            ));
        }
        let child = command.spawn().map_err(|error| cannot_start(name, &error))?;
        let exit = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty())
            .map_err(|errno| Failure::system(format!("can't watch the program: {errno}")))?;
        Ok(Program { name: name.clone(), child, exit })
    }

    /// The program as it was typed.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, unless the program has ended.
    pub fn signal(&self, signal: Signal) {
        // ESRCH is fine: the program has just ended.
        let _ = rustix::process::pidfd_send_signal(&self.exit, signal);
    }

    /// Returns how the program ended; `None` while it runs.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.child
            .try_wait()
            .map_err(|error| Failure::system(format!("can't wait for the program: {error}")))
    }
}

impl AsFd for Program {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.exit.as_fd()
    }
}

/// Returns the exit status that represents the program's: its own, or 128 plus the number of the signal that killed
/// it.
pub fn status_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Returns the exit status of a command after its program ended by itself: the program's, unless that is 0 and what was asked
/// for failed, with the status `failed`.
pub fn status_beside(status: ExitStatus, failed: Option<u8>) -> (u8, StatusOf) {
    match (status_code(status), failed) {
        (0, Some(failed)) => (failed, StatusOf::Capture),
        (status, _) => (status, StatusOf::Program),
    }
}

/// Builds the failure of a program that [`check`] has found.
fn cannot_start(name: &OsStr, error: &io::Error) -> Failure {
    let is_no_format = error.raw_os_error() == Some(libc::ENOEXEC);
    let path = find(name).filter(|_| is_no_format);
    if let Some(why) = path.and_then(|path| ProgramFile::of(&path, path.clone()).obstacle()) {
        let sentence = format!("can't start {}: {}", name.display(), why.sentence);
        return Failure::not_executable(sentence).because(why.reason);
    }
    let name = name.display();
    Failure::not_executable(match error.kind() {
        io::ErrorKind::NotFound => format!(
            "can't start {name}: its interpreter does not exist; see its first line if it is a script, and `file {name}` \
             otherwise"
        ),
        _ => return Failure::system(format!("can't start {name}: {error}")),
    })
}

/// Checks that the program can be started, before anything else is set up.
pub fn check(name: &OsStr) -> Result<(), Failure> {
    if is_path(name) {
        return check_file(Path::new(name));
    }
    find(name).map(drop).ok_or_else(|| {
        let is_here = is_program(Path::new(name));
        let name = name.display();
        Failure::no_program(match is_here {
            true => {
                format!("there is no program {name} on PATH; `./{name}` is the one in this folder")
            }
            false => format!("there is no program {name} on PATH; install it, or type its path: `gapii-ctl run -- PATH/{name}`"),
        })
    })
}

/// Returns the file that is started under this name: a path, or a name that is looked for on `PATH`.
pub fn find(name: &OsStr) -> Option<PathBuf> {
    if is_path(name) {
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_path(name: &OsStr) -> bool {
    name.as_encoded_bytes().contains(&b'/')
}

fn check_file(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    if is_program(path) {
        Ok(())
    } else if path.is_dir() {
        Err(Failure::not_executable(format!(
            "{name} is a folder, not a program; name a file in it: `gapii-ctl run -- {name}/PROGRAM`"
        )))
    } else if let Ok(metadata) = path.metadata() {
        Err(Failure::not_executable(why_not_executable(path, &metadata)))
    } else {
        let folder = path.parent().unwrap_or(path).display();
        Err(Failure::no_program(format!(
            "there is no program {name}; `ls {folder}` lists what is there"
        )))
    }
}

/// Says why a file that exists is not a program, and what helps.
fn why_not_executable(path: &Path, metadata: &Metadata) -> String {
    let name = path.display();
    if !metadata.is_file() {
        return format!(
            "{name} is not a regular file, and so not a program; `file {name}` says what it is"
        );
    }
    let is_no_exec = rustix::fs::statvfs(path)
        .is_ok_and(|file_system| file_system.f_flag.contains(StatVfsMountFlags::NOEXEC));
    if is_no_exec {
        return format!(
            "{name} is on a file system that is mounted with noexec; copy it to another one, as with `cp {name} ~`"
        );
    }
    match metadata.mode() & 0o111 {
        0 => format!("{name} may not be executed; allow it with `chmod +x {name}`"),
        _ => format!(
            "{name} may be executed by other users only (mode {:o}); its owner can allow it with `chmod a+x {name}`",
            metadata.mode() & 0o777
        ),
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::RUN;

    #[test]
    fn status_of_a_killed_program_is_128_and_the_signal() {
        assert_eq!(status_code(ExitStatus::from_raw(0)), 0);
        assert_eq!(status_code(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(status_code(ExitStatus::from_raw(libc::SIGKILL)), 137);
    }

    #[test]
    fn programs_that_cannot_be_started_are_told_apart() {
        assert!(check(OsStr::new("sh")).is_ok());
        assert!(check(OsStr::new("/bin/sh")).is_ok());
        for (name, word, status) in [
            ("no-such-program-here", "PATH", 127),
            ("/no/such", "no program", 127),
            ("/bin", "folder", 126),
            ("/etc/passwd", "chmod +x", 126),
            ("/dev/null", "not a regular file", 126),
        ] {
            let failure = check(OsStr::new(name)).expect_err(name);
            assert_eq!(failure.status_of(RUN), status);
            assert!(failure.sentence.contains(word), "{failure}");
        }
    }
}
