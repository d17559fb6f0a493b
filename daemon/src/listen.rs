//! The two listening sockets: handed over by systemd, or made in a folder of our own.
//!
//! Never takes a place that somebody answers on, never touches what is not this user's.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use gapii_protocol::{app, control};
use rustix::fs::{FlockOperation, Mode, OFlags};
use tokio::net::UnixListener;

use crate::config::Config;

/// Both sockets, listening.
#[derive(Debug)]
pub struct Sockets {
    pub app: UnixListener,
    pub ctl: UnixListener,
    /// Keeps the place ours, and cleans it up; none when systemd owns the sockets.
    pub place: Option<Place>,
}

/// A locked folder and the sockets made in it, which go when this does.
#[derive(Debug)]
pub struct Place {
    paths: [PathBuf; 2],
    _lock: OwnedFd,
}

impl Drop for Place {
    fn drop(&mut self) {
        for path in &self.paths {
            // Nothing is left to do about a socket that stays: the next daemon replaces it.
            let _ = fs::remove_file(path);
        }
    }
}

impl Sockets {
    /// Takes systemd's sockets, or makes them. Must run inside the runtime.
    pub fn open(config: &Config) -> anyhow::Result<Self> {
        match from_systemd()? {
            Some((app, ctl)) => Self::new(app, ctl, None),
            None => {
                let folder = config.socket_folder()?;
                let lock = own_folder(&folder)?;
                let paths = [folder.join(app::SOCKET_NAME), folder.join(control::SOCKET_NAME)];
                let app = bind(&paths[0])?;
                let ctl = bind(&paths[1])?;
                Self::new(app, ctl, Some(Place { paths, _lock: lock }))
            }
        }
    }

    fn new(app: StdListener, ctl: StdListener, place: Option<Place>) -> anyhow::Result<Self> {
        let listen = |socket: StdListener| {
            socket.set_nonblocking(true)?;
            UnixListener::from_std(socket)
        };
        Ok(Self { app: listen(app)?, ctl: listen(ctl)?, place })
    }
}

/// The sockets of a socket unit: by the names that `FileDescriptorName=` gives them, or by their
/// own, since all sockets of one unit have the same.
fn from_systemd() -> anyhow::Result<Option<(StdListener, StdListener)>> {
    // The environment stays as it is: nothing is started that could mistake it for its own.
    let handed = sd_notify::listen_fds_with_names(false).context("reading LISTEN_FDS")?;
    let (mut app, mut ctl) = (None, None);
    for (fd, name) in handed {
        // SAFETY: LISTEN_PID is us, so systemd opened this descriptor for us, and this runs once,
        // before anything else could have taken it.
        let socket = StdListener::from(unsafe { OwnedFd::from_raw_fd(fd) });
        let address = socket.local_addr().with_context(|| format!("descriptor {fd}"))?;
        let file = address.as_pathname().and_then(Path::file_name).and_then(OsStr::to_str);
        match (name.as_str(), file) {
            ("app", _) | (_, Some(app::SOCKET_NAME)) => app = Some(socket),
            ("ctl", _) | (_, Some(control::SOCKET_NAME)) => ctl = Some(socket),
            _ => bail!("systemd hands over a socket {name:?}; only app and ctl are known"),
        }
    }
    match (app, ctl) {
        (Some(app), Some(ctl)) => Ok(Some((app, ctl))),
        (None, None) => Ok(None),
        _ => bail!("systemd hands over one of the sockets app and ctl; both are needed"),
    }
}

/// Makes the folder, for us alone, or checks that only we can put something there; locks it against
/// a second daemon.
fn own_folder(folder: &Path) -> anyhow::Result<OwnedFd> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error).with_context(|| format!("cannot make {}", folder.display()));
        }
        _ => {}
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(folder, flags, Mode::empty())
        .with_context(|| format!("cannot open {}", folder.display()))?;
    let stat = rustix::fs::fstat(&fd)?;
    ensure!(
        stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o022 == 0,
        "others can change {}: its owner is {}, its mode {:o}",
        folder.display(),
        stat.st_uid,
        stat.st_mode & 0o7777,
    );
    match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(fd),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            bail!("another gapiid serves {}", folder.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot lock {}", folder.display())),
    }
}

fn bind(path: &Path) -> anyhow::Result<StdListener> {
    remove_stale(path)?;
    let socket =
        StdListener::bind(path).with_context(|| format!("cannot bind {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(socket)
}

/// Removes a socket that nobody answers on; whatever else is there stays and is an error.
fn remove_stale(path: &Path) -> anyhow::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| format!("cannot look at {}", path.display()))?,
    };
    ensure!(
        found.file_type().is_socket() && found.uid() == rustix::process::geteuid().as_raw(),
        "{} is in the way and not a socket of this user",
        path.display(),
    );
    match StdStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).with_context(|| format!("cannot replace {}", path.display()))
        }
        Ok(_) => bail!("another daemon answers on {}", path.display()),
        Err(error) => Err(error).with_context(|| format!("cannot try {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = own_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("others can change"), "{error}");
    }

    #[test]
    fn second_lock_of_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let _first = own_folder(folder.path()).unwrap();
        let error = own_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another gapiid serves"), "{error}");
    }

    #[test]
    fn stale_socket_is_replaced_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        drop(StdListener::bind(&path).unwrap());
        let live = bind(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let error = bind(&path).unwrap_err().to_string();
        assert!(error.contains("another daemon answers"), "{error}");
        drop(live);
    }

    #[test]
    fn file_in_the_way_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "mine").unwrap();
        assert!(bind(&path).unwrap_err().to_string().contains("in the way"));
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }
}
