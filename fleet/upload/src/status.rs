//! What the service does, as a file in the spool that `gapii-upload status` reads, and as the line that systemd shows.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use crate::options::Asked;
use crate::spool;

/// Folder of the service in the spool.
const FOLDER: &str = ".gapii-upload";
const STATUS: &str = "status.json";
const LOCK: &str = "lock";
/// Files that are listed by name.
pub const LISTED_MAX: usize = 50;

/// What the service does. The counts of uploaded and dropped files go on after a restart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    pub to: String,
    pub spool_bytes: u64,
    pub spool_limit_bytes: u64,
    /// Finished files that are not in the store yet.
    pub waiting_files: u64,
    /// Files that captures write.
    pub written_files: u64,
    pub unfinished_files: u64,
    /// Files that are neither traces nor tables.
    pub other_files: u64,
    /// The first of the unfinished files, and of those that cannot be read.
    pub unfinished: Vec<Unfinished>,
    pub uploading: Vec<Uploading>,
    pub trouble: Option<Trouble>,
    pub uploaded_files: u64,
    pub uploaded_bytes: u64,
    pub dropped_files: u64,
    pub dropped_bytes: u64,
}

/// A file that is not finished, and that nobody writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unfinished {
    pub name: String,
    pub why: String,
}

/// A file on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uploading {
    pub name: String,
    pub bytes: u64,
    pub sent_bytes: u64,
}

/// Why nothing gets into the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trouble {
    pub why: String,
    pub since_unix: u64,
    pub failures: u32,
    /// Whether the log has it.
    #[serde(skip)]
    pub is_said: bool,
}

impl Status {
    pub fn is_full(&self) -> bool {
        self.spool_bytes > self.spool_limit_bytes
    }

    /// Returns one line.
    pub fn line(&self) -> String {
        let mut line = format!(
            "{} uploading, {} waiting, {} being written; the spool has {} of {}",
            counted(self.uploading.len() as u64, "file"),
            self.waiting_files,
            self.written_files,
            size(self.spool_bytes),
            size(self.spool_limit_bytes)
        );
        if self.is_full() {
            line.push_str(" AND IS FULL");
        }
        if self.unfinished_files > 0 {
            line.push_str(&format!("; {} unfinished", self.unfinished_files));
        }
        if self.dropped_files > 0 {
            line.push_str(&format!("; {} DROPPED", counted(self.dropped_files, "file")));
        }
        if let Some(trouble) = &self.trouble {
            line.push_str(&format!("; FAILING: {}", trouble.why));
        }
        line
    }
}

/// The service's folder, which one process has at a time.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes the folder of a spool, and makes it the first time.
    pub fn take(spool: &Path) -> Result<Folder, String> {
        let path = spool.join(FOLDER);
        let failed =
            |error: io::Error| format!("can't write the folder {}: {error}", path.display());
        if !spool.is_dir() {
            return Err(format!(
                "there is no folder {0}; make it with `mkdir -p {0}`",
                spool.display()
            ));
        }
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => must_be_own_folder(&path)?,
        }
        let lock = File::create(path.join(LOCK)).map_err(failed)?;
        // Whoever records into the spool may ask for the status.
        for (path, mode) in [(path.clone(), 0o755), (path.join(LOCK), 0o644)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).map_err(failed)?;
        }
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Folder { path, _lock: lock }),
            Err(_) => Err(format!(
                "another gapii-upload has this spool; see `gapii-upload status --spool {}`",
                spool.display()
            )),
        }
    }

    /// Returns what an earlier process has left.
    pub fn load(&self) -> Status {
        let text = fs::read(self.path.join(STATUS)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub fn save(&self, status: &Status) -> io::Result<()> {
        let draft = self.path.join(format!("{STATUS}.part"));
        fs::write(&draft, serde_json::to_vec_pretty(status)?)?;
        fs::set_permissions(&draft, Permissions::from_mode(0o644))?;
        fs::rename(draft, self.path.join(STATUS))
    }
}

/// Fails if somebody else has made the folder, in a spool into which every user may write.
fn must_be_own_folder(path: &Path) -> Result<(), String> {
    let own = rustix::process::geteuid().as_raw();
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() && metadata.uid() == own => Ok(()),
        _ => Err(format!(
            "{0} is not this user's folder; remove it with `rm -r {0}`",
            path.display()
        )),
    }
}

/// Prints what the service of a spool does. Returns the exit status: 1 if the spool is full.
pub fn print(asked: &Asked) -> Result<u8, String> {
    let folder = asked.spool.join(FOLDER);
    let text = fs::read(folder.join(STATUS)).map_err(|error| {
        format!(
            "no gapii-upload has used the spool {0}: {error}; start one with `gapii-upload --spool {0} --to URL`",
            asked.spool.display()
        )
    })?;
    let mut status: Status = serde_json::from_slice(&text).map_err(|error| {
        format!("can't read {}: {error}; delete it with `rm`", folder.join(STATUS).display())
    })?;
    // The service may have ended since, and a folder into which all may write need not be readable.
    if let Ok(contents) = spool::contents(&asked.spool) {
        status.spool_bytes = contents.bytes;
    }
    let is_running = File::open(folder.join(LOCK))
        .is_ok_and(|lock| rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared).is_err());
    if asked.json {
        let mut value = serde_json::to_value(&status).map_err(|error| error.to_string())?;
        value["is_running"] = is_running.into();
        value["is_full"] = status.is_full().into();
        println!("{value:#}");
    } else {
        println!("{}", text_of(&status, is_running));
    }
    Ok(u8::from(status.is_full()))
}

fn text_of(status: &Status, is_running: bool) -> String {
    let mut lines = vec![
        match is_running {
            true => format!("uploads to {}", status.to),
            false => format!("NOT RUNNING; uploaded to {}", status.to),
        },
        status.line(),
        format!(
            "uploaded so far: {}, {}",
            counted(status.uploaded_files, "file"),
            size(status.uploaded_bytes)
        ),
    ];
    if status.dropped_files > 0 {
        let (files, bytes) = (counted(status.dropped_files, "file"), size(status.dropped_bytes));
        lines.push(format!("dropped so far, because the spool was full: {files}, {bytes}"));
    }
    if status.other_files > 0 {
        lines.push(format!(
            "{} left alone: neither traces nor tables",
            counted(status.other_files, "file")
        ));
    }
    if let Some(trouble) = &status.trouble {
        let ago = now().saturating_sub(trouble.since_unix);
        lines.push(format!("failing for {ago} s ({} tries): {}", trouble.failures, trouble.why));
    }
    for Uploading { name, bytes, sent_bytes } in &status.uploading {
        lines.push(format!("uploading  {name}: {} of {}", size(*sent_bytes), size(*bytes)));
    }
    for Unfinished { name, why } in &status.unfinished {
        lines.push(format!("unfinished {name}: {why}"));
    }
    lines.join("\n")
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs())
}

/// Returns a number of bytes for people.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
