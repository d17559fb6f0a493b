//! A capture that another daemon began: the processes that were in it, those of them that hand their rings over, and
//! the seam in the trace. Waits only for processes with rings in the file that are alive. The seam states from when
//! (the first process missed its daemon) to when, and how many processes came and how many did not.

use gapii_abi::atom::Seam;
use gapii_trace::rings::RingState;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::process::Process;
use crate::recover::Recovered;

/// The state in which another daemon left its capture.
#[derive(Debug)]
pub struct Takeover {
    pub file: Recovered,
    began_ns: u64,
    /// Pids of the living processes that have rings in the file.
    expected: Vec<u32>,
    /// Pids of the processes that have handed their rings over, and the monotonic time at which the first of them
    /// missed its daemon.
    came: Vec<u32>,
    lost_ns: Option<u64>,
    is_told: bool,
}

impl Takeover {
    /// Begins to take over the capture of this file. Looks up which of its processes are alive.
    pub fn new(file: Recovered, now_ns: u64) -> Self {
        let has_rings = |process: u32| {
            file.rings.rings.iter().any(|ring| ring.process == process && !ring.is_over)
        };
        let expected = file.processes.iter().filter(|(process, _)| has_rings(*process));
        let expected = expected.map(|(_, track)| track.pid).filter(|pid| is_alive(*pid)).collect();
        Self { file, began_ns: now_ns, expected, came: Vec::new(), lost_ns: None, is_told: false }
    }

    /// Returns whether an expected process is not among these pids.
    pub fn lacks(&self, here: &[u32]) -> bool {
        self.expected.iter().any(|pid| !here.contains(pid))
    }

    /// Notes that a process has handed its rings over.
    pub fn came(&mut self, pid: u32, lost_ns: Option<u64>) {
        self.came.push(pid);
        self.lost_ns = self.lost_ns.into_iter().chain(lost_ns).min();
    }

    /// Returns the process' rings, as the file states them.
    pub fn states(&self, process: &Process) -> Vec<RingState> {
        self.file.rings_of(process.segment()).copied().collect()
    }

    /// Returns the seam for the stream, the first time it is called.
    pub fn seam(&mut self) -> Option<Seam> {
        if std::mem::replace(&mut self.is_told, true) {
            return None;
        }
        let absent = self.expected.iter().filter(|pid| !self.came.contains(pid)).count() as u32;
        let from_ns = self.lost_ns.unwrap_or(self.file.last_ns).min(self.began_ns);
        Some(Seam { from_ns, to_ns: self.began_ns, processes: self.came.len() as u32, absent })
    }

    /// Returns a description for the log.
    pub fn described(&self) -> String {
        let Recovered { blocks, seq, .. } = &self.file;
        format!("continues behind block {blocks} and command {seq} of another daemon")
    }
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| pidfd_open(pid, PidfdFlags::NONBLOCK).is_ok())
}
