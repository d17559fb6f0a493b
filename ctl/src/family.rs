//! `Family`: the descendants of a process at one moment, to end them with it. A script does not pass a signal on to the
//! program that it waits for.

use std::fs;
use std::os::fd::OwnedFd;
use std::str::FromStr;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Descendants of a process that have not ended.
#[derive(Debug, Default)]
pub struct Family(Vec<OwnedFd>);

impl Family {
    /// Finds the descendants of `root`. Processes whose parent has ended already are no descendants any more.
    pub fn of(root: u32) -> Family {
        let open = |(pid, its_parent): (u32, u32)| {
            let descriptor = pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty());
            // The number may have gone to another process meanwhile.
            descriptor.ok().filter(|_| parent(pid) == Some(its_parent))
        };
        Family(descendants(root).into_iter().filter_map(open).collect())
    }

    /// Sends a signal to all of them.
    pub fn signal(&self, signal: Signal) {
        for process in &self.0 {
            // Fails only for a process that has ended.
            let _ = pidfd_send_signal(process, signal);
        }
    }

    /// Whether all of them have ended.
    pub fn has_ended(&mut self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        self.0.retain(|process| {
            let mut watched = [PollFd::new(process, PollFlags::IN)];
            poll(&mut watched, Some(&at_once)) == Ok(0)
        });
        self.0.is_empty()
    }

    /// The processes as descriptors that become readable when they end.
    pub fn watched(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.0.iter().map(|process| PollFd::new(process, PollFlags::IN))
    }
}

/// Returns the process ids of the descendants of `root`, with those of their parents; parents first.
pub fn descendants(root: u32) -> Vec<(u32, u32)> {
    let parents: Vec<(u32, u32)> =
        processes().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![(root, 0)];
    let mut at = 0;
    while let Some(&(known, _)) = found.get(at) {
        found.extend(parents.iter().filter(|(_, its)| *its == known));
        at += 1;
    }
    found.split_off(1)
}

/// The process ids of this machine.
pub fn processes() -> impl Iterator<Item = u32> {
    let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
    listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// When a process began, in ticks of the system's clock since its start; `None` if there is no such process.
pub fn began(pid: u32) -> Option<u64> {
    stat(pid, 19)
}

/// Whether process `pid` is `root` or one of its descendants.
pub fn is_of(pid: u32, root: u32) -> bool {
    // The bound ends a walk that meets numbers which have gone to other processes meanwhile.
    std::iter::successors(Some(pid), |pid| parent(*pid)).take(DEPTH_MAX).any(|it| it == root)
}

/// Largest number of processes between a process and its descendant.
const DEPTH_MAX: usize = 1000;

/// The parent of a process; `None` if there is no such process.
fn parent(pid: u32) -> Option<u32> {
    stat(pid, 1)
}

/// Reads the word `at` behind the name in a process' `stat`.
fn stat<T: FromStr>(pid: u32, at: usize) -> Option<T> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; behind it are the state and the parent.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn child_of_a_child_is_found_and_ended() {
        let mut shell = Command::new("sh");
        let script = "sleep 60 & (sleep 61 & echo begun; wait); wait";
        let mut child = shell
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell can be started");
        let mut line = String::new();
        let output = child.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it says so");
        let mut family = Family::of(child.id());
        // Two that sleep, and the shell of the second one.
        assert_eq!(family.0.len(), 3);
        assert!(!family.has_ended());
        family.signal(Signal::KILL);
        child.wait().expect("a child can be waited for");
        while !family.has_ended() {
            std::thread::yield_now();
        }
        assert!(Family::of(child.id()).0.is_empty());
    }

    #[test]
    fn process_is_of_its_family_and_of_no_other() {
        let (this, parent) = (std::process::id(), std::os::unix::process::parent_id());
        assert!(is_of(this, this) && is_of(this, parent));
        assert!(!is_of(parent, this) && !is_of(this, u32::MAX));
        let (own, its) = (began(this).expect("it runs"), began(parent).expect("it runs"));
        assert!(its <= own && own > 0 && began(u32::MAX).is_none());
    }
}
