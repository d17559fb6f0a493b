//! The listening sockets: passed by systemd, or made with mode 0600 in the configured folder. The folder must belong to
//! the daemon's user, nobody else may be able to change it or a folder above it ([`SafePath`]), and it is locked: a
//! second daemon fails with "another gapiid serves". The same holds for the folder of the metrics' socket, without a lock. A socket file is removed only if it is a socket of this user that refuses connections; any other file in
//! its place is an error and stays. A private daemon opens neither metrics nor the remote port. systemd must pass both
//! of the sockets app and ctl, or neither.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use gapii_abi::app;
use gapii_control::{SafePath, UnsafePath};
use rustix::fs::{FlockOperation, Mode, OFlags};
use tokio::net::{TcpListener as TokioTcpListener, UnixListener};

use crate::config::Config;
use crate::metrics::address::{MetricsAddress, MetricsListener};

/// Name of the metrics socket in a socket unit.
const METRICS_NAME: &str = "metrics";
/// Name of the remote clients' socket in a socket unit.
const REMOTE_NAME: &str = "remote";

/// All listening sockets.
#[derive(Debug)]
pub struct Sockets {
    pub app: UnixListener,
    pub ctl: UnixListener,
    pub metrics: Option<MetricsListener>,
    pub remote: Option<TokioTcpListener>,
    /// Holds the daemon's places in the file system, and removes its sockets on drop. Sockets from systemd are
    /// systemd's.
    pub place: Place,
}

/// Sockets made in the file system, which are removed on drop, and the lock of their folder.
#[derive(Debug, Default)]
pub struct Place {
    paths: Vec<PathBuf>,
    lock: Option<OwnedFd>,
}

/// The sockets that systemd passes.
#[derive(Debug, Default)]
struct Handed {
    app: Option<StdListener>,
    ctl: Option<StdListener>,
    metrics: Option<OwnedFd>,
    remote: Option<OwnedFd>,
}

impl Drop for Place {
    fn drop(&mut self) {
        for path in &self.paths {
            // A socket that cannot be removed stays: the next daemon replaces it.
            let _ = fs::remove_file(path);
        }
    }
}

impl Sockets {
    /// Takes systemd's sockets, or makes them. Must run inside the runtime.
    pub fn open(config: &Config) -> anyhow::Result<Self> {
        let Handed { app, ctl, metrics, remote } = Handed::from_systemd()?;
        let mut place = Place::default();
        let (app, ctl) = match (app, ctl) {
            (Some(app), Some(ctl)) => (app, ctl),
            (None, None) => {
                let folder = safe(&config.socket_folder()?, &hint(config))?;
                place.lock = Some(own_folder(&folder)?);
                (
                    place.bind(folder.join(app::SOCKET_NAME))?,
                    place.bind(folder.join(gapii_control::SOCKET_NAME))?,
                )
            }
            _ => bail!(
                "systemd passes only one of the sockets app and ctl, and both are needed; `systemctl cat gapiid.socket` shows which it \
                 makes"
            ),
        };
        let metrics = match (metrics, &config.metrics) {
            // A private daemon serves no metrics: its user did not ask for an open port.
            _ if config.private => None,
            (Some(handed), _) => Some(handed),
            (None, Some(MetricsAddress::Unix(path))) => {
                let path = safe(path, "choose another place with --metrics")?;
                Some(place.bind(path)?.into())
            }
            (None, Some(MetricsAddress::Tcp(address))) => Some(
                TcpListener::bind(address)
                    .with_context(|| {
                        format!("cannot serve metrics on {address}, which --metrics names")
                    })?
                    .into(),
            ),
            (None, None) => None,
        };
        let remote = match (remote, config.remote.remote) {
            _ if config.private => None,
            (Some(handed), _) => Some(TcpListener::from(handed)),
            (None, Some(address)) => Some(TcpListener::bind(address).with_context(|| {
                format!("cannot serve remote clients on {address}, which --remote names")
            })?),
            (None, None) => None,
        };
        let remote = remote.map(listen_tcp).transpose()?;
        let listen = |socket: StdListener| {
            socket.set_nonblocking(true)?;
            UnixListener::from_std(socket)
        };
        let metrics = metrics.map(MetricsListener::new).transpose()?;
        Ok(Self { app: listen(app)?, ctl: listen(ctl)?, metrics, remote, place })
    }
}

impl Handed {
    /// Takes the sockets of socket units: by the names that `FileDescriptorName=` gives them, or by their own file
    /// names, since all sockets of one unit have the same name.
    fn from_systemd() -> anyhow::Result<Self> {
        let mut handed = Self::default();
        // The environment stays as it is: the daemon starts no process that could mistake the variables for its own.
        for (fd, name) in sd_notify::listen_fds_with_names(false).context("reading LISTEN_FDS")? {
            // SAFETY: LISTEN_PID is this process, so systemd opened this descriptor for it; and this runs once,
            // before anything else could have taken the descriptor.
            let socket = unsafe { OwnedFd::from_raw_fd(fd) };
            match name.as_str() {
                METRICS_NAME => {
                    handed.metrics = Some(socket);
                    continue;
                }
                REMOTE_NAME => {
                    handed.remote = Some(socket);
                    continue;
                }
                _ => {}
            }
            let socket = StdListener::from(socket);
            let address = socket.local_addr().with_context(|| format!("descriptor {fd}"))?;
            let file = address.as_pathname().and_then(Path::file_name).and_then(OsStr::to_str);
            match (name.as_str(), file) {
                ("app", _) | (_, Some(app::SOCKET_NAME)) => handed.app = Some(socket),
                ("ctl", _) | (_, Some(gapii_control::SOCKET_NAME)) => handed.ctl = Some(socket),
                _ => bail!(
                    "systemd passes a socket {name:?}; app, ctl, {METRICS_NAME} and {REMOTE_NAME} are known"
                ),
            }
        }
        Ok(handed)
    }
}

/// Returns the device and the inode of the folder that a socket lies in.
pub fn folder_of(socket: &UnixListener) -> anyhow::Result<(u64, u64)> {
    let address = socket.local_addr()?;
    let folder = address.as_pathname().and_then(Path::parent).context("the socket has no path")?;
    let found =
        fs::metadata(folder).with_context(|| format!("cannot inspect {}", folder.display()))?;
    Ok((found.dev(), found.ino()))
}

fn listen_tcp(socket: TcpListener) -> anyhow::Result<TokioTcpListener> {
    socket.set_nonblocking(true)?;
    TokioTcpListener::from_std(socket).context("cannot serve remote clients")
}

impl Place {
    fn bind(&mut self, path: PathBuf) -> anyhow::Result<StdListener> {
        let socket = bind(&path)?;
        self.paths.push(path);
        Ok(socket)
    }
}

/// Returns the path of a socket or of a folder of sockets without symbolic links. An error if another user can change a
/// folder above it; `hint` says what to do then.
fn safe(path: &Path, hint: &str) -> anyhow::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    SafePath::of_new(path, user).map_err(|error| match error {
        UnsafePath::Io { .. } => anyhow::Error::from(error),
        why => anyhow!(
            "{} is no place for sockets of user {user}: {why}, so others could put theirs there; {hint}",
            path.display(),
        ),
    })
}

/// Returns how to choose another folder for the sockets.
fn hint(config: &Config) -> String {
    let is_roots_default = config.socket_dir.is_none() && rustix::process::geteuid().is_root();
    let other =
        if is_roots_default { "type `unset XDG_RUNTIME_DIR` for /run/gapii, or " } else { "" };
    format!("{other}choose one with `--socket-dir FOLDER`")
}

/// Makes the folder for this user only, or checks that only this user can create files in it. Locks it against a
/// second daemon.
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
    let is_ours = stat.st_uid == rustix::process::geteuid().as_raw();
    let mend = if is_ours {
        format!("type `chmod go-w {}`, or ", folder.display())
    } else {
        String::new()
    };
    ensure!(
        is_ours && stat.st_mode & 0o022 == 0,
        "others can change {}: its owner is user {}, its mode {:o}; {mend}choose another folder with `--socket-dir FOLDER`",
        folder.display(),
        stat.st_uid,
        stat.st_mode & 0o7777,
    );
    match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(fd),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            bail!(
                "another gapiid serves {}; use that one, or choose a folder for this one with `--socket-dir FOLDER`",
                folder.display()
            )
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

/// Removes a socket on which no process answers. Any other file stays and is an error.
fn remove_stale(path: &Path) -> anyhow::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| format!("cannot inspect {}", path.display()))?,
    };
    ensure!(
        found.file_type().is_socket() && found.uid() == rustix::process::geteuid().as_raw(),
        "{0} is not a socket of this user, and the daemon needs the name; type `rm {0}`, or choose another folder with \
         `--socket-dir FOLDER`",
        path.display(),
    );
    match StdStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).with_context(|| format!("cannot replace {}", path.display()))
        }
        Ok(_) => bail!(
            "another daemon answers on {}; use that one, or choose a folder for this one with `--socket-dir FOLDER`",
            path.display()
        ),
        Err(error) => Err(error).with_context(|| format!("cannot connect to {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn folder_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = own_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("others can change"), "{error}");
    }

    #[test]
    fn sockets_below_a_folder_that_others_can_change_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let check = |mode: u32, is_safe: bool| {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            let found = safe(&folder.path().join("gapii"), "do this");
            assert_eq!(found.is_ok(), is_safe, "{mode:o}");
            found.map_err(|error| error.to_string())
        };
        check(0o755, true).unwrap();
        check(0o1777, true).unwrap();
        let error = check(0o777, false).unwrap_err();
        assert!(error.contains("is no place for sockets") && error.ends_with("do this"), "{error}");
    }

    #[test]
    fn second_lock_of_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let _first = own_folder(folder.path()).unwrap();
        let error = own_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another gapiid serves"), "{error}");
    }

    #[test]
    fn stale_socket_is_replaced_and_live_socket_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        drop(StdListener::bind(&path).unwrap());
        // A child that another test starts meanwhile has the first socket, too, until it runs its program.
        let pause = Duration::from_millis(10);
        let bound = std::iter::repeat_with(|| bind(&path).inspect_err(|_| thread::sleep(pause)));
        let live = bound.take(100).find_map(Result::ok).unwrap();
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
        assert!(bind(&path).unwrap_err().to_string().contains("is not a socket of this user"));
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }
}
