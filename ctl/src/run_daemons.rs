//! `RunDaemon`: a private daemon that this user's `gapii-ctl run` has started, in this environment, and that listens. A
//! command uses the only one if no daemon was named and the usual socket has none. Looks where `run` here would have put
//! the files of its run, so another `XDG_RUNTIME_DIR` or `TMPDIR` hides them. Passes over every folder that another user
//! owns, can enter or could replace, and every socket of another user; the kernel's word on the peer is asked for as
//! always. Opens no connection.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use gapii_trace::Untrusted;

use crate::failure::Failure;
use crate::scratch;

/// A socket that listens has this bit in its flags in `/proc/net/unix` (`__SO_ACCEPTCON`).
const ACCEPTS: u32 = 1 << 16;

pub struct RunDaemon {
    /// Its socket for clients.
    pub socket: PathBuf,
    /// The program of the run, with its arguments; empty if the run did not say.
    command: Untrusted,
}

/// Returns the daemons of this user's runs, sorted by their sockets.
pub fn listening() -> Vec<RunDaemon> {
    let user = rustix::process::geteuid().as_raw();
    let listening = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let mut daemons: Vec<_> = scratch::folders_of_runs()
        .into_iter()
        .map(|folder| (folder.join(gapii_control::SOCKET_NAME), folder))
        .filter(|(socket, folder)| is_own(folder, socket, user) && listens(&listening, socket))
        .map(|(socket, folder)| RunDaemon { socket, command: scratch::command_of(&folder) })
        .collect();
    daemons.sort_by(|a, b| a.socket.cmp(&b.socket));
    daemons
}

impl RunDaemon {
    /// Returns the address for `--connect`.
    pub fn address(&self) -> String {
        format!("unix:{}", self.socket.display())
    }

    /// Returns a noun that says which daemon it is.
    pub fn description(&self) -> String {
        match self.command.is_empty() {
            true => "the daemon of a `gapii-ctl run`".to_owned(),
            false => format!("the daemon of `gapii-ctl run -- {}`", self.command),
        }
    }
}

/// Builds the refusal for a command that could mean each of `daemons`: what to type for each. `arguments` are those of this
/// process.
pub fn several(daemons: &[RunDaemon], arguments: &[String]) -> Failure {
    let choice = |daemon: &RunDaemon| {
        let words = ["gapii-ctl".to_owned(), "--connect".to_owned(), daemon.address()];
        let words = words.iter().chain(arguments);
        let line = words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let line = Untrusted::from(line);
        match daemon.command.is_empty() {
            true => format!("`{line}`"),
            false => format!("for {} `{line}`", daemon.command),
        }
    };
    Failure::usage(format!(
        "{} runs of this user have a daemon each; choose one: {}",
        daemons.len(),
        daemons.iter().map(choice).collect::<Vec<_>>().join(", or ")
    ))
}

/// Whether `folder` and `socket` belong to `user`, who alone can enter the folder.
fn is_own(folder: &Path, socket: &Path, user: u32) -> bool {
    let found = |path: &Path| fs::symlink_metadata(path).ok();
    let is_closed = |found: &Metadata| found.is_dir() && found.mode() & 0o077 == 0;
    found(folder).is_some_and(|found| found.uid() == user && is_closed(&found))
        && found(socket).is_some_and(|found| found.uid() == user && found.file_type().is_socket())
}

/// Whether a process listens on `socket`, by the text of `/proc/net/unix`: the flags are the fourth word of a line, and the
/// path is what follows the seventh one and a space.
fn listens(listening: &str, socket: &Path) -> bool {
    let flags_of_socket = |line: &str| {
        let mut rest = line;
        let mut flags = None;
        for number in 1..=7 {
            let (word, behind) = rest.trim_start_matches(' ').split_once(' ')?;
            rest = behind;
            if number == 4 {
                flags = u32::from_str_radix(word, 16).ok();
            }
        }
        flags.filter(|_| Path::new(rest) == socket)
    };
    listening.lines().filter_map(flags_of_socket).any(|flags| flags & ACCEPTS != 0)
}

/// Returns a word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn folder_that_others_can_enter_and_socket_of_another_user_are_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let (folder, user) = (folder.path(), rustix::process::geteuid().as_raw());
        let socket = folder.join("ctl.sock");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        let set_mode = |mode| {
            fs::set_permissions(folder, Permissions::from_mode(mode)).expect("it is ours");
        };
        for (mode, expected) in [(0o700, true), (0o770, false), (0o701, false), (0o777, false)] {
            set_mode(mode);
            assert_eq!(is_own(folder, &socket, user), expected, "{mode:o}");
        }
        set_mode(0o700);
        assert!(!is_own(folder, &socket, user + 1), "another user's");
        assert!(!is_own(folder, folder, user), "no socket");
        let link = folder.join("link");
        std::os::unix::fs::symlink(&socket, &link).expect("a link");
        assert!(!is_own(folder, &link, user), "a link");
    }

    #[test]
    fn socket_listens_if_the_kernel_says_that_it_accepts_connections() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                     0000: 00000002 00000000 00010000 0001 01 11 /r/gapii-run-1/ctl.sock\n\
                     0000: 00000003 00000000 00000000 0001 03 12 /r/gapii-run-2/ctl.sock\n\
                     0000: 00000003 00000000 00010000 0001 03    13\n\
                     0000: 00000002 00000000 00010000 0001 01   104 /a  b/ c/ctl.sock\n";
        let check = |path: &str, expected| assert_eq!(listens(table, Path::new(path)), expected);
        check("/r/gapii-run-1/ctl.sock", true);
        check("/r/gapii-run-2/ctl.sock", false);
        check("/r/gapii-run-3/ctl.sock", false);
        check("/a  b/ c/ctl.sock", true);
        check("c/ctl.sock", false);
    }

    #[test]
    fn refusal_has_a_whole_command_for_each_daemon() {
        let daemon = |name: &str, command: &str| RunDaemon {
            socket: PathBuf::from(format!("/r/{name}/ctl.sock")),
            command: command.into(),
        };
        let daemons = [daemon("a", "gears"), daemon("b", "")];
        let typed = ["start", "--function", "gl*", "-o", "it's.gapii"].map(str::to_owned);
        let failure = several(&daemons, &typed);
        let rest = r"start --function 'gl*' -o 'it'\''s.gapii'";
        let expected =
            ["a", "b"].map(|name| format!("gapii-ctl --connect unix:/r/{name}/ctl.sock {rest}"));
        assert_eq!(failure.to_type(), expected);
        assert!(failure.sentence.contains("for gears `gapii-ctl"), "{failure}");
    }
}
