//! Confines this process before it plays a trace, because a trace that was made to break the driver may take the process over.
//! From then on it has no network, starts no programs, and writes no files but in its output folder and to the nodes of
//! graphics devices. It can read files; what it reads can only leave through the output. Landlock and seccomp do this, for
//! this thread and the threads that it starts later. The default, `auto`, confines a process that plays another user's
//! trace.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
};
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::failure::Failure;
use crate::text;

/// The command line's `--sandbox`.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// For a trace that belongs to another user
    #[default]
    Auto,
    Always,
    Never,
}

/// The needs of a process that plays traces.
pub struct Needs<'a> {
    pub traces: &'a [&'a Path],
    /// The folder that it fills, which exists.
    pub folder: Option<&'a Path>,
    /// It opens windows, so it talks to a display server.
    pub windows: bool,
}

/// Nodes of devices that drivers open for writing. Of the entries with a star, all that begin so.
const DEVICES: [&str; 7] = ["dri", "null", "nvidia*", "kfd", "dxg", "mali*", "kgsl*"];

/// Settings that have drivers keep no compiled shaders in files, which would be refused with a warning.
const WITHOUT_CACHES: [(&str, &str); 2] =
    [("MESA_SHADER_CACHE_DISABLE", "true"), ("__GL_SHADER_DISK_CACHE", "0")];

/// Whether a trace belongs to another user, so that it is played in the sandbox by default.
pub fn is_of_another_user(trace: &Path) -> bool {
    stranger(trace).is_some()
}

/// Confines this process if `wish` says so. It must have one thread.
pub fn enter(wish: Wish, needs: &Needs<'_>) -> Result<(), Failure> {
    let stranger = match wish {
        Wish::Never => return Ok(()),
        Wish::Always => None,
        Wish::Auto => match needs.traces.iter().find_map(|trace| stranger(trace)) {
            None => return Ok(()),
            stranger => stranger,
        },
    };
    let confined = confine(needs);
    match (stranger, confined) {
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(Failure::unreachable(format!(
            "this kernel can't confine a replay: {error}; for a trace that you trust, choose `--sandbox=never`"
        ))),
        (Some(user), Ok(())) => {
            text::say(&format!(
                "the trace belongs to user {user}, so it is played without network and writes only its output; \
                 --sandbox=never plays it like your own"
            ));
            Ok(())
        }
        (Some(user), Err(error)) => {
            text::say(&format!(
                "the trace belongs to user {user}, and this kernel can't confine its replay: {error}"
            ));
            Ok(())
        }
    }
}

/// Returns the owner of a trace of another user.
fn stranger(trace: &Path) -> Option<u32> {
    let owner = fs::metadata(trace).ok()?.uid();
    (owner != rustix::process::geteuid().as_raw()).then_some(owner)
}

#[derive(thiserror::Error, Debug)]
enum Refused {
    #[error("Landlock: {0}")]
    Landlock(#[from] RulesetError),
    #[error("{}: {error}", folder.display())]
    Folder { folder: PathBuf, error: landlock::PathFdError },
    #[error("seccomp: {0}")]
    Filter(#[from] seccompiler::BackendError),
    #[error("seccomp: {0}")]
    Seccomp(#[from] seccompiler::Error),
}

fn confine(needs: &Needs<'_>) -> Result<(), Refused> {
    for (name, value) in WITHOUT_CACHES {
        // SAFETY: this process has one thread.
        unsafe { std::env::set_var(name, value) };
    }
    confine_files(needs)?;
    confine_calls(needs)
}

/// Refuses to write and to execute files, and what Landlock knows of the network. Kernels before 6.2, which cannot refuse that a
/// file is cut, are not enough.
fn confine_files(needs: &Needs<'_>) -> Result<(), Refused> {
    let writes = AccessFs::from_write(ABI::V3);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(writes | AccessFs::Execute)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::Signal)?
        .create()?;
    if let Some(folder) = needs.folder {
        let refused = |error| Refused::Folder { folder: folder.to_owned(), error };
        let opened = PathFd::new(folder).map_err(refused)?;
        ruleset = ruleset.add_rule(PathBeneath::new(opened, writes))?;
    }
    for device in devices() {
        // One that cannot be opened is of no use to the driver, either.
        let Ok(opened) = PathFd::new(device) else { continue };
        let rights: BitFlags<AccessFs> = AccessFs::WriteFile.into();
        ruleset = ruleset.add_rule(PathBeneath::new(opened, rights))?;
    }
    ruleset.restrict_self()?;
    Ok(())
}

fn devices() -> Vec<PathBuf> {
    let is_one = |name: &str| {
        DEVICES.iter().any(|device| match device.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == *device,
        })
    };
    let entries = fs::read_dir("/dev").into_iter().flatten().filter_map(Result::ok);
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_one));
    named.map(|entry| entry.path()).collect()
}

/// Refuses sockets, programs, and the ways into other processes. A process with windows may have Unix sockets.
fn confine_calls(needs: &Needs<'_>) -> Result<(), Refused> {
    let always: Vec<SeccompRule> = Vec::new();
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = [
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_io_uring_setup,
        libc::SYS_ptrace,
        libc::SYS_process_vm_writev,
    ]
    .map(|call| (call, always.clone()))
    .into();
    let sockets = match needs.windows {
        false => always.clone(),
        true => {
            let is_other = SeccompCondition::new(
                0,
                SeccompCmpArgLen::Dword,
                SeccompCmpOp::Ne,
                libc::AF_UNIX as u64,
            )?;
            vec![SeccompRule::new(vec![is_other])?]
        }
    };
    refused.insert(libc::SYS_socket, sockets);
    let filter = SeccompFilter::new(
        refused,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EACCES.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: seccompiler::BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};
    use std::net::UdpSocket;
    use std::os::unix::net::{UnixDatagram, UnixStream};
    use std::process::Command;

    use super::*;

    /// Runs `check` in a thread that is confined, if this kernel can do that.
    fn confined(needs: &Needs<'_>, check: impl FnOnce() + Send) {
        std::thread::scope(|scope| {
            scope.spawn(|| match confine_files(needs).and_then(|()| confine_calls(needs)) {
                Ok(()) => check(),
                Err(error) => eprintln!("not checked: {error}"),
            });
        });
    }

    fn is_denied<T>(done: io::Result<T>) -> bool {
        done.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    }

    #[test]
    fn confined_process_writes_only_in_its_folder_and_has_no_network_and_no_programs() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (own, other) = (own.path(), other.path());
        let theirs = other.join("theirs");
        fs::write(&theirs, "precious").unwrap();
        let needs = Needs { traces: &[], folder: Some(own), windows: false };
        confined(&needs, || {
            fs::write(own.join("picture"), "seen").unwrap();
            fs::rename(own.join("picture"), own.join("frame")).unwrap();
            fs::write("/dev/null", "nothing").unwrap();
            assert!(is_denied(fs::write(other.join("new"), "")));
            assert!(is_denied(fs::OpenOptions::new().write(true).open(&theirs)));
            assert!(is_denied(fs::remove_file(&theirs)));
            assert!(is_denied(fs::create_dir(other.join("folder"))));
            assert!(is_denied(UdpSocket::bind("127.0.0.1:0")));
            assert!(is_denied(UnixDatagram::unbound()));
            assert!(is_denied(Command::new("/bin/true").status()));
            assert_eq!(fs::read_to_string(&theirs).unwrap(), "precious");
        });
    }

    #[test]
    fn process_with_windows_has_sockets_of_this_machine_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("display");
        let _display = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let needs = Needs { traces: &[], folder: None, windows: true };
        confined(&needs, || {
            UnixStream::connect(&path).unwrap();
            assert!(is_denied(UdpSocket::bind("127.0.0.1:0")));
        });
    }

    #[test]
    fn own_trace_is_not_a_strangers() {
        let trace = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(stranger(trace.path()), None);
        assert_eq!(stranger(Path::new("/no/such/trace")), None);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(trace.path(), Some(65534), None).unwrap();
            assert_eq!(stranger(trace.path()), Some(65534));
        }
    }
}
