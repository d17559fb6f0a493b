//! Programs with the set-uid bit of root, which another user runs, and files and daemons of that user.
//!
//! Needs root: no other user may make such programs and files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::artifacts::artifact;
use crate::gapii::Session;
use crate::process::{LIMIT, Running};
use crate::wait::until;

/// The user and the group of "nobody".
pub const NOBODY: u32 = 65534;

/// A copy of a program that runs with root's rights, whoever starts it. Removed when the value is dropped.
pub struct SetUid {
    folder: TempDir,
}

impl SetUid {
    /// Copies a program.
    pub fn copy(program: &Path) -> Self {
        let copy = Self { folder: public_folder() };
        fs::copy(program, copy.path()).expect("a copy");
        fs::set_permissions(copy.path(), Permissions::from_mode(0o4755)).expect("the bit");
        copy
    }

    /// The program as root starts it: without rights that its caller lacks.
    pub fn as_owner(&self) -> Command {
        Command::new(self.path())
    }

    /// The program as "nobody" starts it: in secure execution.
    pub fn as_nobody(&self) -> Command {
        let mut command = self.as_owner();
        be_nobody(&mut command);
        command
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }
}

/// Makes a process run as "nobody".
pub fn be_nobody(command: &mut Command) {
    command.uid(NOBODY).gid(NOBODY);
}

/// A folder that everybody may enter and only root may change.
pub fn public_folder() -> TempDir {
    need_root();
    let folder = TempDir::with_prefix("gapii-test-").expect("a folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

/// A folder that belongs to "nobody".
pub fn folder_of_nobody() -> TempDir {
    need_root();
    let folder = TempDir::with_prefix("gapii-test-").expect("a folder");
    std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("root may");
    folder
}

/// Starts a daemon of "nobody" whose sockets are in `folder`, and waits until it listens.
pub fn daemon_of_nobody(session: &Session, folder: &Path) -> Running {
    let mut daemon = Command::new(artifact("gapiid"));
    session.adopt(&mut daemon);
    daemon.arg("--socket-dir").arg(folder).args(["--ready-fd", "1"]);
    be_nobody(&mut daemon);
    let daemon = Running::start(&mut daemon);
    until("their daemon to listen", LIMIT, || daemon.stdout_line());
    daemon
}

fn need_root() {
    let is_root = rustix::process::geteuid().is_root();
    assert!(
        is_root,
        "needs root, who alone may make files of other users: run this test with sudo"
    );
}
