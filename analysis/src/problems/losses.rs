//! Problems of a trace that lacks something, by its summary: lost commands, state that a snapshot leaves out, memory of
//! draws, commands of programs without a daemon; and a program that a signal ended.

use gapii_trace::Info;

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::name_of;

/// Adds what a trace lacks.
pub fn look(info: &Info, groups: &mut Groups) {
    let mut add = |kind, severity, count: u64, sentence: String, detail: Option<String>| {
        groups.add_to_trace(Found { count, detail, ..Found::one(kind, severity, sentence) });
    };
    if let Some(signal) = info.end_of_stream.signal {
        let commands = info.end_of_stream.in_flight.iter();
        let commands: Vec<_> = commands
            .map(|command| format!("{} of thread {}", name_of(&command.name), command.tid))
            .collect();
        let detail = format!("commands that had not returned: {}", commands.join(", "));
        let detail = (!commands.is_empty()).then_some(detail);
        let sentence = format!("signal {signal} ended the program");
        add(ProblemKind::Crash, Severity::Error, 1, sentence, detail);
    }
    if let Some(tail) = &info.tail {
        let sentence = format!("the trace is {tail}");
        add(ProblemKind::Missing, Severity::Error, 1, sentence, None);
    }
    if info.lost.records > 0 {
        let causes = info.lost_by_cause.iter();
        let causes: Vec<_> =
            causes.map(|(cause, lost)| format!("{cause}: {}", lost.records)).collect();
        let sentence = "the trace lacks commands that could not be recorded".to_owned();
        let detail =
            (!causes.is_empty()).then(|| format!("records by cause: {}", causes.join(", ")));
        add(ProblemKind::Missing, Severity::Error, info.lost.calls.max(1), sentence, detail);
    }
    for sentence in &info.missing {
        let sentence = format!("the snapshot is incomplete: {}", sentence.raw());
        add(ProblemKind::Missing, Severity::Warning, 1, sentence, None);
    }
    if info.memory.totals.incomplete > 0 {
        let sentence =
            "the trace lacks vertices of draws, because their indices are unknown".to_owned();
        add(ProblemKind::Missing, Severity::Warning, info.memory.totals.incomplete, sentence, None);
    }
    if !info.seams.is_empty() {
        let sentence = "the capture was continued by another daemon".to_owned();
        add(ProblemKind::Missing, Severity::Note, info.seams.len() as u64, sentence, None);
    }
    for (count, sentence) in [
        (info.reentrant_calls, "the trace lacks commands that other commands called"),
        (
            info.foreign_calls,
            "the trace lacks commands of OpenGL that were made without a recorded context",
        ),
    ] {
        if count > 0 {
            add(ProblemKind::Missing, Severity::Note, count, sentence.to_owned(), None);
        }
    }
    if !info.filter.is_empty() {
        let sentence = "the trace was recorded with a filter".to_owned();
        let detail = Some(format!("it has only {}", info.filter));
        add(ProblemKind::Missing, Severity::Note, 1, sentence, detail);
    }
}
