//! The fake driver's counts, read from its file; the layout is drawn in `fake-driver/page.h`.
//!
//! The file is memory that the driver maps, so the counts survive a SIGKILL of the process.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::process::send_signal;
use crate::programs::{Driver, fake_driver};

const MAGIC: u64 = 0x5649_5244_454b_4146;
const NAMES_AT: usize = 4096;
const NAME_BYTES: usize = 48;
const ROWS_AT: usize = 32768;
const ROW_BYTES: usize = 2048;
const COUNTS_AT: usize = 32;

/// The file with the counts of one process. Dropping the value kills the process if it still runs, because the tool that
/// started it may be gone.
pub struct Page {
    path: PathBuf,
}

/// Counts of one thread.
#[derive(Debug, Clone)]
pub struct Thread {
    pub tid: u32,
    /// The function that the thread is in.
    pub current: Option<String>,
    pub calls: u64,
    pub returned: u64,
    /// Calls entered, by function; those never called are left out.
    pub counts: BTreeMap<String, u64>,
}

impl Page {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// Process that writes the counts; `None` before it has begun.
    pub fn pid(&self) -> Option<u32> {
        let head = self.read(0, 32)?;
        (word(&head, 0) == MAGIC).then(|| word(&head, 24) as u32)
    }

    pub fn threads(&self) -> Vec<Thread> {
        let Some(head) = self.read(0, ROWS_AT) else { return Vec::new() };
        let names: Vec<String> = (0..word(&head, 8) as usize).map(|i| name(&head, i)).collect();
        let rows = (0..word(&head, 16) as usize).map(|i| ROWS_AT + i * ROW_BYTES);
        rows.filter_map(|row| self.read(row, ROW_BYTES)).map(|row| thread(&row, &names)).collect()
    }

    /// Calls by all threads together.
    pub fn calls(&self) -> u64 {
        self.threads().iter().map(|thread| thread.calls).sum()
    }

    /// Returns true if `pid` is still the process that writes this page.
    fn is_process(&self, pid: u32) -> bool {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let path = self.path.as_os_str().as_encoded_bytes();
        environment.split(|&byte| byte == 0).any(|variable| variable.ends_with(path))
    }

    /// `None` before the driver has made the page.
    fn read(&self, at: usize, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        let file = File::open(&self.path).ok()?;
        file.read_exact_at(&mut bytes, at as u64).ok()?;
        Some(bytes)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(pid) = self.pid().filter(|&pid| self.is_process(pid)) {
            send_signal(pid, Signal::KILL);
        }
    }
}

fn thread(row: &[u8], names: &[String]) -> Thread {
    let count = |(f, name): (usize, &String)| (name.clone(), word(row, COUNTS_AT + 8 * f));
    Thread {
        tid: word(row, 0) as u32,
        current: (word(row, 8) as usize).checked_sub(1).map(|f| names[f].clone()),
        calls: word(row, 16),
        returned: word(row, 24),
        counts: names.iter().enumerate().map(count).filter(|(_, count)| *count > 0).collect(),
    }
}

/// Lets `command` find the fake driver in place of the system's driver.
pub fn use_in(command: &mut Command, page: Option<&Path>) {
    command.env("LD_LIBRARY_PATH", fake_driver(Driver::Counting));
    if let Some(page) = page {
        command.env("FAKE_DRIVER_PAGE", page);
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn name(bytes: &[u8], index: usize) -> String {
    let name = &bytes[NAMES_AT + index * NAME_BYTES..][..NAME_BYTES];
    String::from_utf8_lossy(name).trim_end_matches('\0').to_owned()
}
