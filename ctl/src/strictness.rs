//! `replay --strict`: judges a replay by everything that it left out. Commands that were not played count also if they
//! had failed in the recording, and so do remarks of the replay and commands that the recording lost.

use gapii_replay::Report;

use crate::failure::Failure;
use crate::text::counted;

/// Fails if anything was left out. `lost` is the number of commands that the recording lost.
pub fn judge(report: &Report, lost: u64) -> Result<(), Failure> {
    let parts = [
        (report.skipped, "command", "could not be played"),
        (report.refused, "command", "had failed in the recording and not been played"),
        (lost, "command", "lost by the recording"),
        (report.notes.len() as u64, "remark", "about what could not be done"),
    ];
    let left_out: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, thing, what)| format!("{} {what}", counted(count, thing)))
        .collect();
    match left_out.is_empty() {
        true => Ok(()),
        false => Err(Failure::answer(format!("not complete: {}", left_out.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_was_left_out_makes_the_answer_no() {
        let check = |report: Report, lost, expected: Option<&str>| {
            let sentence = judge(&report, lost).err().map(|failure| failure.to_string());
            assert_eq!(sentence.as_deref(), expected);
        };
        check(Report { played: 9, ..Report::default() }, 0, None);
        let one = "not complete: 1 command could not be played";
        check(Report { skipped: 1, ..Report::default() }, 0, Some(one));
        let refused = "not complete: 2 commands had failed in the recording and not been played";
        check(Report { refused: 2, ..Report::default() }, 0, Some(refused));
        check(Report::default(), 3, Some("not complete: 3 commands lost by the recording"));
        let noted = Report { skipped: 1, notes: vec!["so".into()], ..Report::default() };
        check(noted, 0, Some(&format!("{one}, 1 remark about what could not be done")));
    }
}
