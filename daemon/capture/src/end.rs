//! The reason for a capture's end. Order of precedence: the daemon ends; a stop, a failed output or the memory limit
//! (all `stop`); a signal reported by the parent, or commands in flight in a dead process (`crash`), unless the signal
//! asked the program to end; a process that says `lost`; the frame limit; a process that died without a word, and without an
//! account of its parent or of the kernel (`lost`); else `exit`. Guesses nothing: a signal is known from the program's parent
//! or from the kernel, or not at all.

use gapii_abi::atom::{CaptureEnd, EndReason, InFlight, ProcessEnd};

/// How a process left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// The process is gone, and how it ended is not known; its pid may be used again.
    Died,
    /// The process has ended like this, by the kernel's account.
    Ended(Exited),
    /// The process became another program.
    Exec,
}

impl Departure {
    /// Whether the process runs no more.
    pub fn is_death(self) -> bool {
        matches!(self, Self::Died | Self::Ended(_))
    }
}

/// Why a capture was told to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A client asked, the client is gone, or the time is up.
    Stop,
    /// The daemon ends.
    Shutdown,
    /// The output failed.
    Output,
    /// The daemon has reached its memory limit, and this capture holds the most memory.
    Memory,
}

/// How a member's part in a capture ended.
#[derive(Clone, Debug, Default)]
pub struct MemberEnd {
    /// Process id; `None` if the process has never been recorded.
    pub pid: Option<u32>,
    /// The process' own CAPTURE_END record.
    pub said: Option<CaptureEnd>,
    /// How the process left, if it is gone.
    pub left: Option<Departure>,
    /// Commands that had not returned when the process died.
    pub in_flight: Vec<InFlight>,
}

/// How a process ended, as its parent or the kernel reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exited {
    pub signal: Option<i32>,
}

impl Exited {
    /// Returns the end reason of a stream that has only this program.
    pub fn reason(self) -> EndReason {
        self.signal.map_or(EndReason::Exit, EndReason::of_signal)
    }
}

/// Returns the reason for the stream's END record. `launched` is the process of which the parent told that it `exited`; `None`
/// if the parent did not say.
pub fn reason(
    cause: Option<Cause>,
    exited: Option<Exited>,
    launched: Option<u32>,
    members: &[MemberEnd],
) -> EndReason {
    match cause {
        Some(Cause::Shutdown) => return EndReason::Shutdown,
        Some(Cause::Stop | Cause::Output | Cause::Memory) => return EndReason::Stop,
        None => {}
    }
    let said =
        |reason| members.iter().any(|member| member.said.is_some_and(|end| end.reason == reason));
    let silent =
        |member: &&MemberEnd| member.said.is_none() && member.left == Some(Departure::Died);
    let seen = exited.map(Exited::reason);
    let asked = seen == Some(EndReason::Exit) && exited.and_then(|exited| exited.signal).is_some();
    // The parent knows how its own process ended, and nothing of other processes, such as the program that a shell has
    // started. A request to end goes to them, too.
    let is_launched =
        |member: &MemberEnd| launched.is_none() || member.pid.is_none() || member.pid == launched;
    let is_alone = members.len() <= 1 && members.iter().all(is_launched);
    let seen_to_exit = asked || seen == Some(EndReason::Exit) && is_alone;
    let own = |member: &MemberEnd| match member.left {
        Some(Departure::Ended(exited)) => Some(exited.reason()),
        _ => None,
    };
    let in_flight = members
        .iter()
        .any(|member| !member.in_flight.is_empty() && own(member) != Some(EndReason::Exit));
    // The parent's account is of the program that was started, and its word counts more than that of other processes.
    let crashed =
        exited.is_none() && members.iter().any(|member| own(member) == Some(EndReason::Crash));
    if seen == Some(EndReason::Crash) || crashed || in_flight && !seen_to_exit {
        EndReason::Crash
    } else if said(ProcessEnd::Lost) {
        EndReason::Lost
    } else if said(ProcessEnd::Frames) {
        EndReason::Frames
    } else if exited.is_none() && members.iter().any(|member| silent(&member)) {
        EndReason::Lost
    } else {
        EndReason::Exit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(reason: ProcessEnd) -> MemberEnd {
        MemberEnd { said: Some(CaptureEnd { reason, frames: 0 }), ..MemberEnd::default() }
    }

    fn died(in_flight: usize) -> MemberEnd {
        let in_flight = vec![InFlight { thread: 0, id: 1, stamp: 1 }; in_flight];
        MemberEnd { left: Some(Departure::Died), in_flight, ..MemberEnd::default() }
    }

    fn check(
        cause: Option<Cause>,
        exited: Option<Option<i32>>,
        members: &[MemberEnd],
        expected: EndReason,
    ) {
        let exited = exited.map(|signal| Exited { signal });
        let found = reason(cause, exited, None, members);
        assert_eq!(found, expected, "{cause:?} {exited:?} {members:?}");
    }

    #[test]
    fn reason_follows_from_the_cause() {
        check(Some(Cause::Stop), None, &[said(ProcessEnd::Stop)], EndReason::Stop);
        check(Some(Cause::Output), None, &[said(ProcessEnd::Stop)], EndReason::Stop);
        check(Some(Cause::Memory), None, &[said(ProcessEnd::Stop)], EndReason::Stop);
        check(Some(Cause::Shutdown), None, &[died(1)], EndReason::Shutdown);
        check(Some(Cause::Stop), None, &[], EndReason::Stop);
    }

    #[test]
    fn reason_follows_from_the_processes_ends() {
        check(None, None, &[said(ProcessEnd::Frames)], EndReason::Frames);
        check(None, None, &[said(ProcessEnd::Exit)], EndReason::Exit);
        check(None, None, &[said(ProcessEnd::Lost)], EndReason::Lost);
        check(None, None, &[died(1)], EndReason::Crash);
        check(None, None, &[died(0)], EndReason::Lost);
        check(None, None, &[said(ProcessEnd::Frames), died(0)], EndReason::Frames);
        check(None, None, &[said(ProcessEnd::Frames), died(2)], EndReason::Crash);
        let exec = MemberEnd { left: Some(Departure::Exec), ..MemberEnd::default() };
        check(None, None, &[exec, said(ProcessEnd::Frames)], EndReason::Frames);
    }

    #[test]
    fn reason_follows_from_the_kernels_account() {
        let ended = |signal, in_flight| MemberEnd {
            left: Some(Departure::Ended(Exited { signal })),
            ..died(in_flight)
        };
        for asked in [1, 2, 15] {
            check(None, None, &[ended(Some(asked), 0)], EndReason::Exit);
            check(None, None, &[ended(Some(asked), 1)], EndReason::Exit);
            check(None, None, &[ended(Some(asked), 1), died(0)], EndReason::Lost);
        }
        check(None, None, &[ended(Some(11), 0)], EndReason::Crash);
        check(None, None, &[ended(None, 0)], EndReason::Exit);
        check(None, None, &[said(ProcessEnd::Frames), ended(Some(9), 0)], EndReason::Crash);
        // The launched program's parent knows more of it.
        check(None, Some(None), &[ended(Some(9), 0), said(ProcessEnd::Exit)], EndReason::Exit);
    }

    #[test]
    fn parent_knows_nothing_of_a_program_that_its_shell_has_started() {
        let check = |pid, in_flight, expected| {
            let member = MemberEnd { pid: Some(pid), ..died(in_flight) };
            let found = reason(None, Some(Exited { signal: None }), Some(40), &[member]);
            assert_eq!(found, expected, "{pid}, {in_flight} in flight");
        };
        check(40, 1, EndReason::Exit);
        check(41, 1, EndReason::Crash);
        check(41, 0, EndReason::Exit);
    }

    #[test]
    fn reason_follows_from_the_parents_account() {
        check(None, Some(Some(11)), &[died(0)], EndReason::Crash);
        for asked in [1, 2, 15] {
            check(None, Some(Some(asked)), &[died(0)], EndReason::Exit);
            check(None, Some(Some(asked)), &[died(1), died(2)], EndReason::Exit);
            check(None, Some(Some(asked)), &[said(ProcessEnd::Lost), died(2)], EndReason::Lost);
        }
        for other in [3, 6, 9] {
            check(None, Some(Some(other)), &[died(0)], EndReason::Crash);
        }
        check(None, Some(None), &[died(0)], EndReason::Exit);
        check(None, Some(None), &[died(1)], EndReason::Exit);
        check(None, Some(None), &[died(0), died(1)], EndReason::Crash);
        check(None, Some(None), &[], EndReason::Exit);
        check(None, Some(None), &[said(ProcessEnd::Frames)], EndReason::Frames);
    }
}
