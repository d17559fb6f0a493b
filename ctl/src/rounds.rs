//! `Rounds`: the reports of `replay --loop`, put together. The counts are those of the last round; checksums and times of
//! frames are those of all rounds. A round that was stopped or found differences is the last one.

use std::collections::BTreeMap;

use gapii_replay::Report;

use crate::failure::Failure;

/// What the rounds so far have reported.
#[derive(Default)]
pub struct Rounds {
    so_far: Option<Report>,
}

impl Rounds {
    /// Adds the report of the next round. Returns whether to go on.
    pub fn add(&mut self, mut report: Report) -> bool {
        if let Some(before) = self.so_far.take() {
            report.checksums.splice(0..0, before.checksums);
            report.frame_times.splice(0..0, before.frame_times);
            report.frames_missed += before.frames_missed;
        }
        let is_good = report.verified.as_ref().is_none_or(|verified| verified.different == 0);
        let goes_on = !report.cancelled && is_good;
        self.so_far = Some(report);
        goes_on
    }

    /// The report of all rounds.
    pub fn finish(self) -> Report {
        self.so_far.unwrap_or_default()
    }
}

/// Fails if a frame has two checksums in different rounds.
pub fn judge(report: &Report) -> Result<(), Failure> {
    let mut first = BTreeMap::new();
    for it in &report.checksums {
        let before = first.entry((it.process, it.frame)).or_insert(it);
        if before.blake3 != it.blake3 {
            let of =
                if it.process == 0 { String::new() } else { format!(" of process {}", it.process) };
            return Err(Failure::answer(format!(
                "frame {}{of} differs between round {} and round {}",
                it.frame, before.round, it.round
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gapii_replay::images::FrameChecksum;
    use gapii_replay::verify::Verified;

    use super::*;

    fn report(round: u64, digests: [&str; 2]) -> Report {
        let of = |(digest, frame): (&str, u64)| FrameChecksum {
            round,
            process: 0,
            frame,
            width: 1,
            height: 1,
            blake3: digest.to_owned(),
        };
        let checksums = digests.into_iter().zip(0..).map(of).collect();
        Report { played: 10 + round, checksums, ..Report::default() }
    }

    #[test]
    fn report_has_the_checksums_of_all_rounds_and_the_counts_of_the_last() {
        let mut rounds = Rounds::default();
        assert!(rounds.add(report(0, ["a", "b"])) && rounds.add(report(1, ["a", "b"])));
        let report = rounds.finish();
        let order: Vec<_> = report.checksums.iter().map(|it| (it.round, it.frame)).collect();
        assert_eq!((order, report.played), (vec![(0, 0), (0, 1), (1, 0), (1, 1)], 11));
        assert!(judge(&report).is_ok());
    }

    #[test]
    fn frame_that_differs_between_rounds_is_named() {
        let mut rounds = Rounds::default();
        rounds.add(report(0, ["a", "b"]));
        rounds.add(report(1, ["a", "c"]));
        let failure = judge(&rounds.finish()).unwrap_err();
        assert_eq!(failure.to_string(), "frame 1 differs between round 0 and round 1");
    }

    #[test]
    fn round_that_was_stopped_or_differs_is_the_last() {
        let stopped = Report { cancelled: true, ..Report::default() };
        assert!(!Rounds::default().add(stopped));
        let verified = Some(Verified { different: 1, ..Verified::default() });
        assert!(!Rounds::default().add(Report { verified, ..Report::default() }));
    }
}
