//! A program on a terminal of its own: a pseudo-terminal whose keys the test types, and whose text it reads.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::process::{LIMIT, ended_within, require, send_signal};
use crate::wait;

/// A program in the foreground of a terminal.
pub struct OnTerminal {
    child: Child,
    controller: OwnedFd,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    modes_before: LocalModes,
}

impl OnTerminal {
    /// Starts `command` as the leader of a session on a terminal of this many columns and rows.
    pub fn start(command: &Command, columns_and_rows: (u16, u16)) -> OnTerminal {
        require("setsid");
        let controller =
            rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let controller = controller.expect("the system has pseudo-terminals");
        rustix::pty::unlockpt(&controller).expect("an own terminal is unlocked");
        let name = rustix::pty::ptsname(&controller, Vec::new()).expect("it has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(&name, flags, Mode::empty()).expect("it opens");
        let modes_before = modes(&controller);
        set_size(&controller, columns_and_rows);
        let copy = || terminal.try_clone().expect("a descriptor");
        let mut leader = Command::new("setsid");
        leader.arg("--ctty").arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => leader.env(name, value),
                None => leader.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            leader.current_dir(folder);
        }
        leader.env("TERM", "xterm").env_remove("NO_COLOR");
        // The new process leads no group, so `setsid` becomes the program and does not start it as a child.
        let child = leader.stdin(copy()).stdout(copy()).stderr(copy()).spawn();
        let child = child.expect("setsid starts");
        // The last descriptors here, so that reading ends with the program.
        drop((leader, terminal));
        let shown = Arc::new(Mutex::new(Vec::new()));
        let reader = std::thread::spawn({
            let (shown, controller) =
                (shown.clone(), controller.try_clone().expect("a descriptor"));
            move || {
                let (mut controller, mut bytes) = (std::fs::File::from(controller), [0; 4096]);
                while let Ok(count @ 1..) = controller.read(&mut bytes) {
                    shown.lock().expect("no panic").extend_from_slice(&bytes[..count]);
                }
            }
        });
        OnTerminal { child, controller, shown, reader: Some(reader), modes_before }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types these bytes.
    pub fn press(&self, keys: &str) {
        let written = rustix::io::write(&self.controller, keys.as_bytes());
        assert_eq!(written, Ok(keys.len()), "the terminal takes keys");
    }

    /// All bytes that the terminal was sent.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().expect("no panic")).into_owned()
    }

    /// Waits until the terminal was sent `words`, behind its first `known` bytes.
    #[track_caller]
    pub fn wait_for(&self, words: &str, known: usize) {
        wait::until(&format!("{words:?} on the terminal"), LIMIT, || {
            self.shown().get(known..).is_some_and(|new| new.contains(words)).then_some(())
        });
    }

    /// Gives the terminal another size.
    pub fn resize(&self, columns_and_rows: (u16, u16)) {
        set_size(&self.controller, columns_and_rows);
    }

    /// Whether the terminal has the modes that it had before the program.
    pub fn has_its_modes(&self) -> bool {
        modes(&self.controller) == self.modes_before
    }

    /// Waits for the program's end. Returns its status, and all that the terminal was sent.
    pub fn finish(mut self) -> (ExitStatus, String) {
        assert!(ended_within(self.pid(), LIMIT), "not ended: {}", self.shown());
        assert!(self.has_its_modes(), "{:?}", modes(&self.controller));
        let status = self.child.wait().expect("a child can be waited for");
        self.reader.take().map(JoinHandle::join).transpose().expect("no panic");
        (status, self.shown())
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        send_signal(self.pid(), Signal::KILL);
        let _ = self.child.wait();
    }
}

fn modes(terminal: &OwnedFd) -> LocalModes {
    tcgetattr(terminal).expect("it is a terminal").local_modes
}

fn set_size(terminal: &OwnedFd, (columns, rows): (u16, u16)) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).expect("it is a terminal");
}
