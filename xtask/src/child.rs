//! Runs a program to its end and measures it: output, status, wall and CPU seconds. A program that exceeds its limit is
//! killed. Children stay in this program's process group, so Ctrl-C on a terminal ends them too.
//!
//! Prints nothing.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::step;

/// Fields of `/proc/PID/stat` that follow the name in parentheses and precede `utime`.
const FIELDS_BEFORE_TIMES: usize = 11;
/// Linux counts these times in hundredths of a second on every platform that Rust supports.
const TICKS_PER_SECOND: f64 = 100.0;

/// A program that has ended.
pub struct Ended {
    pub status: ExitStatus,
    /// Standard output and standard error, in the order in which they were written.
    pub output: String,
    pub took: Duration,
    /// User and system time of the program and of all descendants that were waited for.
    pub cpu_seconds: f64,
    /// True if the program was killed because it exceeded its limit.
    pub is_late: bool,
}

/// Runs `command` for at most `limit`; its output is collected, not shown.
pub fn run(command: &mut Command, limit: Duration) -> anyhow::Result<Ended> {
    // A file: a pipe would stay open as long as any descendant that outlives the program.
    let mut file = tempfile::tempfile().context("can't make a temporary file")?;
    let both = || anyhow::Ok(Stdio::from(file.try_clone()?));
    let (stdout, stderr) = (both()?, both()?);
    let began = Instant::now();
    let mut child = command
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .with_context(|| format!("can't start `{}`", step::line(command)))?;
    let is_late = !ends_within(&child, limit)?;
    if is_late {
        child.kill().context("can't kill a program that is late")?;
        ends_within(&child, limit)?;
    }
    let cpu_seconds = cpu_seconds(&child.id().to_string());
    let status = child.wait().context("can't wait for a program")?;
    let took = began.elapsed();
    Ok(Ended { status, output: contents(&mut file)?, took, cpu_seconds, is_late })
}

/// CPU seconds of this program and of the children it has waited for, since it began.
pub fn own_cpu_seconds() -> f64 {
    cpu_seconds("self")
}

/// Waits without reaping, so that the times of the ended program can still be read.
fn ends_within(child: &Child, limit: Duration) -> anyhow::Result<bool> {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout =
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn cpu_seconds(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    times_in(&stat) as f64 / TICKS_PER_SECOND
}

/// Sum of `utime`, `stime`, `cutime` and `cstime` in ticks (proc_pid_stat(5)); 0 for other text.
fn times_in(stat: &str) -> u64 {
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let times = fields.split_whitespace().skip(FIELDS_BEFORE_TIMES).take(4);
    times.filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn contents(file: &mut File) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Ended {
        run(step::command("sh", &["-c", script]).stdin(Stdio::null()), limit).unwrap()
    }

    #[test]
    fn output_status_and_both_streams_are_collected() {
        let ended = shell("echo out; echo err >&2; exit 3", Duration::from_secs(60));
        assert_eq!((ended.output.as_str(), ended.status.code()), ("out\nerr\n", Some(3)));
        assert!(!ended.is_late);
    }

    #[test]
    fn late_program_is_killed() {
        let ended = shell("sleep 60", Duration::from_millis(50));
        assert!(ended.is_late && !ended.status.success());
    }

    #[test]
    fn cpu_time_of_a_busy_descendant_is_counted() {
        let busy = "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'";
        assert!(shell(busy, Duration::from_secs(60)).cpu_seconds > 0.0);
    }

    #[test]
    fn times_are_four_fields_after_a_name_with_any_characters() {
        let stat = "7 (a) b c) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 99 99";
        assert_eq!(times_in(stat), 127);
        assert_eq!(times_in(""), 0);
    }
}
