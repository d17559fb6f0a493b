//! `ReplayGuard`: holds a replay to the memory and the time that it may take, because a trace decides how much the driver
//! allocates and how long it computes. A thread looks at the process' memory every 10 ms (`PERIOD`). A replay that takes
//! more stops before its next command; if its command goes on for 0.5 s (`PATIENCE`), or memory grows by another eighth
//! of what is allowed, the process ends at once with status 1.
//!
//! Counts memory of this process, also what is swapped out. Does not count a GPU's own memory, which the kernel does not
//! charge to a process.

use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::BinaryBytes;

use crate::args::Allowance;
use crate::failure::Failure;
use crate::text::{self, counted};

/// How often the guard looks.
const PERIOD: Duration = Duration::from_millis(10);
/// How long a command may go on after the replay was told to stop.
const PATIENCE: Duration = Duration::from_millis(500);

/// The resource of which a replay took too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    /// Bytes in use, and bytes allowed.
    Memory {
        used: u64,
        limit: u64,
    },
    Time {
        limit: Duration,
    },
}

/// What the guard and the replay share.
#[derive(Debug)]
struct Shared {
    trace: PathBuf,
    /// Whether the command line gave the memory, and whether it can.
    memory_from: MemoryFrom,
    excess: OnceLock<Excess>,
    frames: AtomicU64,
}

/// Where the limit on memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryFrom {
    Flag,
    DefaultOfFlag,
    /// The command has no flag.
    Default,
}

/// Guards one replay until it is ended.
pub struct ReplayGuard {
    shared: Arc<Shared>,
    /// The thread ends when this is dropped.
    alive: Sender<()>,
    thread: JoinHandle<()>,
}

/// The replay's view of its guard.
#[derive(Clone)]
pub struct Guarded(Arc<Shared>);

impl Guarded {
    /// Whether the replay has to stop before its next command.
    pub fn is_exceeded(&self) -> bool {
        self.0.excess.get().is_some()
    }

    /// Counts a frame, for the message.
    pub fn note_frame(&self) {
        // Relaxed: a number for people.
        self.0.frames.fetch_add(1, Ordering::Relaxed);
    }
}

impl ReplayGuard {
    /// Starts to guard a replay of `trace`. `allowance` is `None` for a command without the flags.
    pub fn start(trace: &Path, allowance: Option<&Allowance>) -> Result<ReplayGuard, Failure> {
        let (given, time) =
            allowance.map_or((None, None), |allowance| (allowance.memory, allowance.time));
        if given.is_some() && used().is_none() {
            return Err(Failure::unreachable(
                "--memory needs /proc/self/status, which can't be read; `mount -t proc proc /proc` makes it readable",
            ));
        }
        let memory_from = match (allowance, given) {
            (_, Some(_)) => MemoryFrom::Flag,
            (Some(_), None) => MemoryFrom::DefaultOfFlag,
            (None, None) => MemoryFrom::Default,
        };
        let limits = Limits { memory: given.or_else(default_memory), time, began: Instant::now() };
        let shared = Arc::new(Shared {
            trace: trace.to_owned(),
            memory_from,
            excess: OnceLock::new(),
            frames: AtomicU64::new(0),
        });
        let (alive, is_over) = channel::<()>();
        let guarding = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let mut told = None;
            while is_over.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                guarding.look(&limits, &mut told);
            }
        });
        Ok(ReplayGuard { shared, alive, thread })
    }

    pub fn guarded(&self) -> Guarded {
        Guarded(Arc::clone(&self.shared))
    }

    /// Ends the guard. Returns the failure of a replay that took too much.
    pub fn end(self) -> Option<Failure> {
        drop(self.alive);
        // The thread does not panic; without it nothing would be lost but its last look.
        let _ = self.thread.join();
        self.shared.excess.get().map(|excess| Failure::no(self.shared.sentence(*excess)))
    }
}

/// Limits of a replay.
struct Limits {
    memory: Option<u64>,
    time: Option<Duration>,
    began: Instant,
}

impl Limits {
    /// Returns what a replay has too much of if it uses this memory and has taken this time, and whether that is so much
    /// that it must not go on even for the rest of its command.
    fn exceeded(&self, used: Option<u64>, taken: Duration) -> Option<(Excess, bool)> {
        if let (Some(limit), Some(used)) = (self.memory, used)
            && used > limit
        {
            return Some((Excess::Memory { used, limit }, used > limit.saturating_add(limit / 8)));
        }
        let limit = self.time.filter(|limit| taken > *limit)?;
        Some((Excess::Time { limit }, false))
    }
}

impl Shared {
    /// Looks once. Ends the process if the replay has not stopped although it was told to.
    fn look(&self, limits: &Limits, told: &mut Option<Instant>) {
        let found = limits.exceeded(used(), limits.began.elapsed());
        if let Some((excess, _)) = found {
            self.excess.get_or_init(|| excess);
        }
        let Some(first) = self.excess.get() else { return };
        let told = told.get_or_insert_with(Instant::now);
        let is_far_beyond = found.is_some_and(|(_, is_far_beyond)| is_far_beyond);
        if is_far_beyond || told.elapsed() > PATIENCE {
            self.end_process(found.map_or(*first, |(excess, _)| excess));
        }
    }

    /// Ends this process in the middle of a command.
    fn end_process(&self, excess: Excess) -> ! {
        if io::stderr().is_terminal() {
            // The line of progress.
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
        text::say_failure("replay", &Failure::no(self.sentence(excess)));
        // SAFETY: ends the process. Exit handlers of the driver would wait for the driver's threads, which are busy.
        unsafe { libc::_exit(1) }
    }

    fn sentence(&self, excess: Excess) -> String {
        let frames = counted(self.frames.load(Ordering::Relaxed), "frame");
        let trace = self.trace.display();
        let (took, more) = match excess {
            Excess::Memory { used, limit } => {
                let (used, limit) = (BinaryBytes(used), BinaryBytes(limit));
                let (allowed, more) = match self.memory_from {
                    MemoryFrom::Flag => ("by --memory", "`--memory SIZE`"),
                    MemoryFrom::DefaultOfFlag => {
                        ("by default, half of the available memory", "`--memory SIZE`")
                    }
                    MemoryFrom::Default => (
                        "by default, half of the available memory",
                        "`gapii-ctl replay --memory SIZE`",
                    ),
                };
                (format!("it used {used} of memory, and {limit} are allowed {allowed}"), more)
            }
            Excess::Time { limit } => {
                (format!("it took longer than the {limit:?} of --time"), "`--time TIME`")
            }
        };
        format!(
            "the replay of {trace} was ended after {frames}: {took}; if you trust the trace, allow more with {more}"
        )
    }
}

impl fmt::Debug for ReplayGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}

/// Returns the bytes of memory that this process uses, without those of files.
fn used() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let parts = ["RssAnon:", "RssShmem:", "VmSwap:"].map(|name| field(&status, name));
    parts[0]?;
    Some(parts.into_iter().flatten().sum())
}

/// Returns a field in bytes of a text with lines such as `MemAvailable:  1234 kB`.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns half of the memory that this process could get: what the machine has available, or less if control groups
/// (version 2) allow less.
fn default_memory() -> Option<u64> {
    let machine = field(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let root = Path::new("/sys/fs/cgroup");
    let own = group.map(|group| root.join(group));
    let above = own.iter().flat_map(|own| own.ancestors()).take_while(|it| it.starts_with(root));
    let of_groups = above.filter_map(left_in_group).min();
    Some(of_groups.map_or(machine, |left| left.min(machine)) / 2)
}

/// Returns the memory that a control group has left: its limit without what is used and is not a file's cached content.
fn left_in_group(folder: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    // Without a limit, the file has the word "max".
    let (limit, used) = (number("memory.max")?, number("memory.current")?);
    let stat = read("memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let cached = cached.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replay_is_told_to_stop_first_and_ended_far_beyond_its_memory() {
        let limits = |memory, time| Limits { memory, time, began: Instant::now() };
        let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
        let both = limits(Some(800), Some(second));
        let memory = |used| Excess::Memory { used, limit: 800 };
        assert_eq!(both.exceeded(Some(800), second), None);
        assert_eq!(both.exceeded(Some(801), second), Some((memory(801), false)));
        assert_eq!(both.exceeded(Some(900), second), Some((memory(900), false)));
        assert_eq!(both.exceeded(Some(901), hour), Some((memory(901), true)));
        let time = Excess::Time { limit: second };
        assert_eq!(both.exceeded(None, 2 * second), Some((time, false)));
        assert_eq!(limits(None, None).exceeded(Some(u64::MAX), hour), None);
    }

    #[test]
    fn sentence_says_what_why_and_what_to_type() {
        let check = |memory_from, excess, parts: [&str; 3]| {
            let shared = Shared {
                trace: "a.gapii".into(),
                memory_from,
                excess: OnceLock::new(),
                frames: AtomicU64::new(1),
            };
            let sentence = shared.sentence(excess);
            assert!(sentence.starts_with("the replay of a.gapii was ended after 1 frame: "));
            for part in parts {
                assert!(sentence.contains(part), "{part}: {sentence}");
            }
        };
        let memory = Excess::Memory { used: 3 << 30, limit: 2 << 30 };
        let given =
            ["used 3.00 GiB of memory", "2.00 GiB are allowed by --memory", "`--memory SIZE`"];
        check(MemoryFrom::Flag, memory, given);
        let default = ["3.00 GiB", "half of the available memory", "with `--memory SIZE`"];
        check(MemoryFrom::DefaultOfFlag, memory, default);
        let without =
            ["3.00 GiB", "half of the available memory", "`gapii-ctl replay --memory SIZE`"];
        check(MemoryFrom::Default, memory, without);
        let time = Excess::Time { limit: Duration::from_millis(1500) };
        check(MemoryFrom::Flag, time, ["longer than the 1.5s of --time", "--time TIME", ""]);
    }

    #[test]
    fn replay_within_its_limits_ends_without_a_failure() {
        let allowance =
            Allowance { memory: Some(u64::MAX), time: Some(Duration::MAX), ..Allowance::default() };
        let guard = ReplayGuard::start(Path::new("a.gapii"), Some(&allowance)).expect("/proc");
        assert!(!guard.guarded().is_exceeded());
        assert!(guard.end().is_none());
        assert!(used() > Some(0) && default_memory() > Some(0));
    }

    #[test]
    fn control_group_leaves_its_limit_without_what_is_used_and_not_cached() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("the folder is ours");
        };
        assert_eq!(left_in_group(folder.path()), None, "the root group has no limit");
        write("memory.max", "max\n");
        write("memory.current", "700\n");
        assert_eq!(left_in_group(folder.path()), None);
        write("memory.max", "1000\n");
        assert_eq!(left_in_group(folder.path()), Some(300));
        write("memory.stat", "anon 100\ninactive_file 600\n");
        assert_eq!(left_in_group(folder.path()), Some(900));
        write("memory.max", "50\n");
        assert_eq!(left_in_group(folder.path()), Some(0));
    }

    #[test]
    fn fields_are_in_bytes() {
        let text = "MemTotal:       16 kB\nMemAvailable:    8 kB\nHugePages: 3\n";
        assert_eq!(field(text, "MemAvailable:"), Some(8192));
        assert_eq!(field(text, "HugePages:"), None);
    }
}
