//! Explains a trace without a command or without a frame: the program did not reach the daemon, the event of `--when` did
//! not happen, the filter fits nothing but ends of frames, or the program presents nothing. Why a trace has no frame is read from its
//! beginning; why a program did not reach the daemon, from what an [`Onlooker`] has seen of it.
//!
//! It prints nothing.

pub mod onlooker;
pub mod reason;
pub mod sighting;

use std::io;
use std::path::Path;

use gapii_abi::atom::EndReason;
use gapii_analysis::frame_guess::{FrameGuess, Guesser};
use gapii_analysis::presentation::{NoFrame, Presentation};
use gapii_control::{StartRequest, Summary, Target};
use gapii_trace::Untrusted;

use crate::crash_report;
use crate::emptiness::onlooker::Onlooker;
use crate::emptiness::reason::{Emptiness, Reason};
use crate::failure::Failure;
use crate::output_file::Place;
use crate::text::counted;
use crate::trace_file;

/// Says why a capture has no command. `request` began the capture, and `onlooker` has looked at its program.
pub fn why_no_command(summary: &Summary, request: &StartRequest, onlooker: &Onlooker) -> Emptiness {
    if let Some(when) = &request.when {
        let reason = match summary.when_happened {
            true => Reason::EndedAfterEvent,
            false => Reason::EventDidNotHappen,
        };
        return reason.with(&[("EVENT", &when.to_string())]);
    }
    if summary.processes == 0 && is_run(request) {
        return onlooker.why_unreached();
    }
    if let Some(inside) = why_inside(summary, request) {
        return inside;
    }
    if !request.filter.is_empty() {
        return Reason::Filtered.with(&[("FILTER", &request.filter.to_string())]);
    }
    if summary.foreign > 0 {
        return without_context(summary);
    }
    onlooker.why_no_command().unwrap_or_else(|| Reason::NoCommand.with(&[]))
}

/// Says that the program was inside a command, if it was when the capture ended.
fn why_inside(summary: &Summary, request: &StartRequest) -> Option<Emptiness> {
    let inside = summary.in_flight.first()?;
    let (command, pid) = (inside.name.to_string(), inside.pid.to_string());
    let command = ("COMMAND", &*command);
    Some(match crash(summary) {
        Some(signal) => {
            let program =
                request.command.first().map_or("PROGRAM".to_owned(), Untrusted::to_string);
            Reason::CrashedInCommand.with(&[command, ("SIGNAL", &signal), ("PROGRAM", &program)])
        }
        None => Reason::CommandInFlight.with(&[command, ("PID", &pid)]),
    })
}

/// Returns the signal that the program crashed by.
fn crash(summary: &Summary) -> Option<String> {
    let signal = summary.signal.filter(|_| summary.reason == EndReason::Crash.name());
    signal.map(crash_report::signal)
}

fn without_context(summary: &Summary) -> Emptiness {
    Reason::WithoutContext.with(&[("COUNT", &counted(summary.foreign, "command"))])
}

/// Says why a trace with commands has no frame; `None` if it has frames. `request` began the capture.
pub fn why_no_frame(summary: &Summary, request: &StartRequest, place: &Place) -> Option<Emptiness> {
    if summary.calls == 0 || summary.frames > 0 {
        return None;
    }
    // Of a program that was attached to without a snapshot, the trace does not have the surfaces.
    let has_beginning = summary.snapshot || is_run(request);
    // A pipe must not be opened.
    let path = place.path().filter(|path| path.is_file());
    let (presented, guess) = path.and_then(|path| presentation(path).ok()).unwrap_or_default();
    let why = presented.why_no_frame().filter(|_| has_beginning);
    let mut emptiness = no_frame(summary, why.as_ref(), request, place);
    if let Some(guess) = guess {
        emptiness.sentence += &format!("; {guess}");
    }
    Some(emptiness)
}

fn no_frame(
    summary: &Summary,
    why: Option<&NoFrame>,
    request: &StartRequest,
    place: &Place,
) -> Emptiness {
    // A program that draws without a surface ends no frames, so the command in which it was says nothing.
    let is_headless = matches!(why, Some(NoFrame::Offscreen | NoFrame::NoSurface));
    let is_other = is_headless && crash(summary).is_none();
    if let Some(inside) = why_inside(summary, request).filter(|_| !is_other) {
        return inside;
    }
    let trace = place.path().map_or("TRACE".to_owned(), |path| path.display().to_string());
    let trace = ("TRACE", &*trace);
    let signal = crash(summary);
    let crash = signal.clone().unwrap_or_default();
    let rule = request.frame_rule.to_string();
    let (of_swaps, of_command);
    let (reason, value) = match why {
        _ if signal.is_some() => (Reason::CrashedBeforeFrame, ("SIGNAL", &*crash)),
        _ if !rule.is_empty() => (Reason::NoNamedEnd, ("RULE", &*rule)),
        Some(NoFrame::SwapsFailed(count)) => {
            of_swaps = match count {
                1 => "only swap".to_owned(),
                _ => counted(*count, "swap"),
            };
            (Reason::SwapsFailed, ("COUNT", &*of_swaps))
        }
        Some(NoFrame::Failed(name)) => {
            of_command = name.clone();
            (Reason::SetUpFailed, ("COMMAND", &*of_command))
        }
        Some(NoFrame::NotCurrent) => (Reason::NoContextCurrent, trace),
        Some(NoFrame::Offscreen) => (Reason::Offscreen, trace),
        Some(NoFrame::NoSurface) => (Reason::NoSurface, trace),
        Some(NoFrame::NoContext) => (Reason::NoContext, trace),
        Some(NoFrame::NotSubmitted) => (Reason::NotSubmitted, trace),
        None if summary.foreign > 0 => return without_context(summary),
        Some(NoFrame::NotSwapped) | None if summary.reason == EndReason::Exit.name() => {
            (Reason::EndedBeforeFrame, trace)
        }
        Some(NoFrame::NotSwapped) => (Reason::NotSwapped, trace),
        None => (Reason::NoFrame, trace),
    };
    reason.with(&[trace, value])
}

/// Says that a filter let nothing through but ends of frames, which are always recorded; `None` if it let more through.
pub fn why_only_frames(summary: &Summary, request: &StartRequest) -> Option<String> {
    let is_so = !request.filter.is_empty() && summary.frames > 0 && summary.calls == summary.frames;
    is_so.then(|| {
        format!(
            "the trace has only the ends of frames: no other command that the program made fits the filter ({})",
            request.filter
        )
    })
}

/// The program's way of presenting frames, and a guess at where they end, from the beginning of the trace.
fn presentation(path: &Path) -> io::Result<(Presentation, Option<FrameGuess>)> {
    let failed = |failure: Failure| io::Error::other(failure.sentence);
    let mut reader = trace_file::open(path).map_err(failed)?;
    let (mut presentation, mut guesser) = (Presentation::default(), Guesser::default());
    // A filtered trace may lack the commands that matter.
    if !reader.header().filter.is_empty() {
        return Ok((presentation, None));
    }
    let is_whole = trace_file::look_at_beginning(&mut reader, |command| {
        presentation.look(command);
        guesser.look(command);
    })?;
    Ok((presentation, guesser.guess(is_whole)))
}

fn is_run(request: &StartRequest) -> bool {
    matches!(request.target, Target::Launch(_))
}
