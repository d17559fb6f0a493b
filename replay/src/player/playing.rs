//! Plays the commands of a trace, one after the other, in the order in which they took effect. Skipped are commands
//! that had not returned when the recording ended, that took no effect, that were entered before the recording began,
//! that this build can't play or the trace does not describe, and GL commands whose context is not current on their
//! thread. A GL command without a context does nothing.
//!
//! The state of a replay is one value that the threads pass to each other: see `threads`.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::{self, Read, Seek};
use std::ops::Range;

use gapii_commands::constants::GL_NO_ERROR;
use gapii_commands::{Api, CommandId};
use gapii_follow::Thread;
use gapii_state::gl::lists;
use gapii_trace::reader::Commands;
use gapii_trace::value::Value;
use gapii_trace::{Bytes, Command};

use super::known::Known;
use super::options::Hold;
use super::repeats::Repeats;
use crate::benchmark::Benchmark;
use crate::call::{self, ARGS_MAX, Call, Play};
use crate::driver::Driver;
use crate::egl::current::regain;
use crate::events::{Events, FrameEnd, Held};
use crate::images::{Checksums, Images};
use crate::parts::Parts;
use crate::skip::{Outcome, Skip};
use crate::tally::SkippedCommand;
use crate::threads::{Plays, Threads, Turn};
use crate::verify::{self, Verifier};
use crate::{egl, gl, images, imports, level_zero};

/// A replay. Threads pass it to each other.
pub(crate) struct Player<'r, 'e, R> {
    commands: Commands<'r, R>,
    pub(super) parts: Parts,
    pub(super) observers: Observers,
    table: Vec<Option<Known>>,
    events: &'e mut dyn Events,
    frames: Option<Range<u64>>,
    /// Processes whose wanted frames have ended.
    ended: BTreeSet<u32>,
    stop_after: Option<u64>,
    gate: Gate,
    repeats: Repeats,
    /// What the trace lacks, while a recorder of this replay is still to hear it.
    untold: Option<CString>,
    /// Number of commands in the trace; 0 if the trace does not say.
    total: u64,
    done: u64,
    /// Number of frames that ended.
    pub(super) frames_ended: u64,
    /// Whether a stop was requested.
    pub(super) is_cancelled: bool,
    /// Whether the present command is still to be played.
    is_pending: bool,
    is_over: bool,
    pub(super) failure: Option<io::Error>,
}

/// The place where a replay is held.
#[derive(Default)]
struct Gate {
    /// `None` once the replay was held.
    hold: Option<Hold>,
    /// Whether it could not be held where it was wanted.
    is_late: bool,
}

/// Observers of each played command. They do not change the replay.
pub(super) struct Observers {
    pub images: Images,
    pub checksums: Checksums,
    pub benchmark: Benchmark,
    pub verify: Verifier,
}

impl<'r, 'e, R: Read + Seek> Player<'r, 'e, R> {
    /// A player at the beginning of `commands`.
    pub(super) fn new(
        commands: Commands<'r, R>,
        table: Vec<Option<Known>>,
        (parts, observers): (Parts, Observers),
        events: &'e mut dyn Events,
    ) -> Self {
        Self {
            commands,
            parts,
            observers,
            table,
            events,
            frames: None,
            ended: BTreeSet::new(),
            stop_after: None,
            gate: Gate::default(),
            repeats: Repeats::default(),
            untold: None,
            total: 0,
            done: 0,
            frames_ended: 0,
            is_cancelled: false,
            is_pending: false,
            is_over: false,
            failure: None,
        }
    }

    /// Limits the replay to these frames of each process, and to commands up to `stop_after`.
    /// `total` is the number of commands for progress reports.
    pub(super) fn limited(
        mut self,
        frames: Option<Range<u64>>,
        stop_after: Option<u64>,
        total: u64,
    ) -> Self {
        (self.frames, self.stop_after, self.total) = (frames, stop_after, total);
        self
    }

    /// Holds the replay once.
    pub(super) fn held(mut self, hold: Option<Hold>) -> Self {
        self.gate.hold = hold;
        self
    }

    /// Has a recorder of this replay hear what the trace lacks, a sentence each.
    pub(super) fn lacking(mut self, sentences: &[String]) -> Self {
        // A text of a trace may have any bytes.
        let lines = sentences.join("\n").replace('\0', "");
        self.untold = CString::new(lines).ok().filter(|lines| !lines.is_empty());
        self
    }

    /// Plays `frame` so many times more.
    pub(super) fn repeating(mut self, frame: Option<(u32, u64)>, times: u64) -> Self {
        if times > 0 {
            self.repeats = Repeats::new(frame, times, self.commands.mark());
        }
        self
    }

    /// Advances to the next wanted command; false at the end.
    fn advance(&mut self) -> bool {
        loop {
            if self.done.is_multiple_of(256) {
                self.events.progress(self.done, self.total);
            }
            // Before each command: one command can take much time and memory.
            if self.events.is_cancelled() {
                self.is_cancelled = true;
                return false;
            }
            if self.observers.images.is_over() {
                return false;
            }
            self.done += u64::from(!self.repeats.are_on());
            match self.commands.advance() {
                Ok(true) if self.repeats.passes_over(&self.commands.command()) => {}
                Ok(true) if self.is_wanted() => return true,
                Ok(true) if self.ended.len() < self.parts.survey.processes.len() => {}
                Ok(_) => return false,
                Err(error) => {
                    self.failure = Some(error);
                    return false;
                }
            }
        }
    }

    /// Whether the command belongs to a frame that is played. Each process has its own frames.
    fn is_wanted(&mut self) -> bool {
        let Some(frames) = &self.frames else { return true };
        let command = self.commands.command();
        let is_wanted = command.frame < frames.end;
        if !is_wanted {
            self.ended.insert(command.process);
        }
        is_wanted
    }
}

impl<R: Read + Seek + Send> Plays for Player<'_, '_, R> {
    fn threads(&mut self) -> &mut Threads {
        &mut self.parts.threads
    }

    fn play(&mut self, thread: u32) -> Turn {
        while !self.is_over {
            if !self.is_pending && !self.advance() {
                self.is_over = true;
                break;
            }
            self.is_pending = true;
            let command = self.commands.command();
            let known = self.table.get(usize::from(command.id)).and_then(Option::as_ref);
            match playable(&command, known) {
                Err(why) => skip(&mut self.parts, &mut self.observers, &command, &why),
                Ok(_) if command.thread != thread => {
                    match self.parts.threads.admits(command.thread) {
                        true => return Turn::Of(command.thread),
                        false => {
                            let why = Skip::from("this machine runs no more threads at once");
                            skip(&mut self.parts, &mut self.observers, &command, &why);
                        }
                    }
                }
                Ok((known, play)) => {
                    self.events.command(command.seq);
                    self.gate.pass(&mut self.parts, &command, self.events);
                    play_one(&mut self.parts, &mut self.observers, &command, (known, play));
                    self.gate.tell(&self.parts.driver, &mut self.untold);
                    if command.ends_frame
                        && let Some(seq) = command.seq
                    {
                        let (process, frame) = (command.process, command.frame);
                        self.frames_ended += 1;
                        self.parts.pending_errors.frame_ended();
                        self.observers.benchmark.frame_ended(process, frame);
                        self.events.frame(&FrameEnd { process, frame, seq });
                    }
                }
            }
            self.is_over |= self.stop_after.is_some_and(|last| command.seq >= Some(last));
            self.is_pending = false;
            let is_last = self.parts.survey.is_last_of_thread(command.thread, self.done);
            if is_last && !self.repeats.keep_thread(&command) {
                if command.thread == thread {
                    self.observers.benchmark.thread_ends(&self.parts, thread);
                }
                egl::end_thread(&mut self.parts, thread, command.thread);
                self.parts.threads.end(command.thread);
            }
            let ended = (command.process, command.frame);
            if command.ends_frame
                && command.seq.is_some()
                && let Some(begin) = self.repeats.frame_ended(ended, || self.commands.mark())
            {
                self.commands.go_back(begin);
                self.observers.checksums.next_round();
                self.observers.benchmark.next_round();
            }
        }
        if self.parts.threads.end(thread) {
            self.observers.benchmark.thread_ends(&self.parts, thread);
            egl::end_thread(&mut self.parts, thread, thread);
        }
        self.parts.threads.next_to_end()
    }

    fn first_thread(&mut self) -> Option<u32> {
        if !self.advance() {
            return None;
        }
        self.is_pending = true;
        Some(self.commands.command().thread)
    }
}

impl Gate {
    /// Tells a recorder of the replay what the trace lacks, once, when the recording has begun.
    fn tell(&self, driver: &Driver, untold: &mut Option<CString>) {
        if self.hold.is_none() && untold.as_deref().is_some_and(|lines| driver.note_missing(lines))
        {
            *untold = None;
        }
    }

    /// Holds the replay before `command`, if that is the place.
    fn pass(&mut self, parts: &mut Parts, command: &Command<'_>, events: &mut dyn Events) {
        let Some(hold) = &self.hold else { return };
        let Some(seq) = command.seq.filter(|seq| *seq >= hold.before) else { return };
        let is_busy = |thread: &Thread| thread.context.as_deref().is_some_and(lists::is_busy);
        if hold.is_for_snapshot
            && (command.is_setup || parts.follower.threads().any(|(_, it)| is_busy(it)))
        {
            self.is_late = true;
            return;
        }
        let used = hold.used.as_ref();
        let dropped = used.map_or(0, |used| gl::unused::delete(parts, command, used));
        parts.pending_errors.begin(hold.is_for_snapshot);
        self.hold = None;
        events.held(&Held { seq, is_late: self.is_late, dropped });
    }
}

/// The command's player, or the reason why the command is skipped.
fn playable<'k>(
    command: &Command<'_>,
    known: Option<&'k Known>,
) -> Result<(&'k Known, Play), Skip> {
    let Some(known) = known else {
        return Err(Skip::from("the trace does not describe it"));
    };
    if command.in_flight {
        return Err(Skip::from("it had not returned when the recording ended"));
    }
    if command.seq.is_none() {
        return Err(Skip::from("it took no effect, or its record is lost"));
    }
    if command.enter_payload().is_none() {
        return Err(Skip::from("it was entered before the recording began"));
    }
    let play = known.play.ok_or_else(|| Skip::from("this build can't play it"))?;
    Ok((known, play))
}

fn play_one(
    parts: &mut Parts,
    observers: &mut Observers,
    command: &Command<'_>,
    (known, play): (&Known, Play),
) {
    parts.memory.reset();
    parts.outputs.reset();
    parts.level_zero.reset();
    let payload = command.enter_payload().unwrap_or_default();
    let mut args = [0; ARGS_MAX];
    for (arg, (ty, offset)) in args.iter_mut().zip(&known.args) {
        *arg = Value::read(*ty, payload, *offset).bits();
    }
    parts.follower.enter(command);
    parts.driver.set_in_setup(command.is_setup);
    if let Err(why) = try_play(parts, observers, command, (known, play), args) {
        skip(parts, observers, command, &why);
    } else {
        parts.tally.played += 1;
    }
    judge_skipped(parts, command);
    parts.follower.leave(command);
}

fn try_play(
    parts: &mut Parts,
    observers: &mut Observers,
    command: &Command<'_>,
    (known, play): (&Known, Play),
    args: [u64; ARGS_MAX],
) -> Outcome {
    if known.is_gl && command.context == 0 {
        // Without a current context a driver does nothing.
        return Ok(());
    }
    if (known.is_gl || known.is_swap) && parts.egl.current(command.thread).is_none() {
        regain(parts, command.thread)?;
    }
    if known.is_gl && parts.egl.current(command.thread) != Some(command.context) {
        return Err(Skip::from("the context that it was called in is not current on its thread"));
    }
    if known.is_gl {
        gl::pending_errors::keep(parts, command);
    }
    let has_memory = command.enter_payload().is_some_and(|payload| payload.len() > known.fixed_len);
    if has_memory && !known.is_level_zero {
        let mut pieces: Vec<(u64, Bytes<'_>)> = Vec::new();
        call::read_memory(command, &mut pieces);
        parts.memory.load(&pieces)?;
        imports::update(parts, command);
        // Commands of EGL, too, make the driver read what the program wrote to persistent mappings.
        if command.context != 0 && parts.egl.current(command.thread) == Some(command.context) {
            let scopes = parts.names.scopes(command.process, command.context);
            gl::update_mappings(parts, scopes, command);
        }
    }
    let mut call = Call::new(parts, command, args);
    if known.is_swap {
        let Observers { images, checksums, benchmark, verify } = observers;
        benchmark.before_swap(&mut call);
        images::before_swap(images, checksums, verify, &mut call);
    } else if known.is_gl {
        observers.benchmark.before_gl(&mut call);
    } else {
        observers.benchmark.before_egl(&mut call);
    }
    // A frame that ends at a draw has the draw in it; other commands may bind something else.
    let ends_frame = command.ends_frame && !known.is_swap && !known.is_level_zero;
    if ends_frame && !known.draws {
        let Observers { images, checksums, benchmark, .. } = observers;
        benchmark.before_frame_end(&mut call);
        images::frame_end(images, checksums, &mut call);
    }
    if images::before(&mut observers.images, &mut call) {
        return Ok(());
    }
    let played = play(&mut call);
    if known.is_gl {
        call.settle_bound_name()?;
    }
    played?;
    if ends_frame && known.draws {
        let Observers { images, checksums, benchmark, .. } = observers;
        images::frame_end(images, checksums, &mut call);
        benchmark.before_frame_end(&mut call);
    }
    verify::after(&mut observers.verify, &call);
    if known.is_level_zero {
        level_zero::after(&mut call);
    }
    images::after(&mut observers.images, &mut call);
    Ok(())
}

/// Notes a command that was not played.
fn skip(parts: &mut Parts, observers: &mut Observers, command: &Command<'_>, why: &Skip) {
    let most = parts.limits.listed_skips;
    let (function, why_not) = (command.name().to_owned(), why.to_string());
    let skipped = SkippedCommand { seq: command.seq, function, why: why_not };
    let sets_errors = command.known().is_some_and(|known| known.api() == Api::Gl)
        && command.context != 0
        && command.seq.is_some()
        && !command.in_flight;
    match sets_errors {
        true => {
            let context = (command.process, command.context);
            parts.tally.skip_unless_refused(most, context, skipped);
        }
        false => parts.tally.skip(most, skipped),
    }
    observers.verify.skipped(command, why);
}

/// Judges the commands that were not played before a `glGetError`, by the recorded answer.
fn judge_skipped(parts: &mut Parts, command: &Command<'_>) {
    if command.known() == Some(CommandId::GL_GET_ERROR)
        && let Some((error, _)) = command.result()
    {
        let was_one = error.bits() != u64::from(GL_NO_ERROR);
        let context = (command.process, command.context);
        parts.tally.error_asked(parts.limits.listed_skips, context, was_one);
    }
}
