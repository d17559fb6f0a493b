//! What a program had when a capture began in its middle, as commands that make it.
//!
//! A capture that begins at the process' first command needs none of this. In any other each thread
//! begins, before its first recorded command, with what it finds: the process' displays, contexts and
//! surfaces, once; what its share group has, once; and what its context has for itself, once. So a
//! context that is current nowhere when the capture begins is described when it becomes current.
//!
//! A capture with keyframes begins anew at each of them, and says whom it describes: who reads it from an
//! earlier one passes over what he has heard.
//!
//! What the shim does not keep, the driver is asked; all that is set meanwhile is put back. The driver
//! is asked only what the context's version has, so that no error comes of it and a pending one stays
//! pending.

mod aside;
mod buffers;
mod canvas;
mod context;
mod draw_buffers;
mod egl;
mod emit;
mod es1;
mod es1_matrices;
mod fetch;
mod formats;
mod framebuffers;
mod gl;
mod image_layer;
mod images;
mod labels;
mod missing;
mod picture;
mod pipelines;
mod pixels;
mod programs;
mod queries;
mod renderbuffers;
mod samplers;
mod samples;
mod shaders;
mod sibling;
mod spare;
mod surface;
mod surface_depth;
mod surface_draw;
mod syncs;
mod texture_parameters;
mod textures;
mod uniforms;
mod vertex_arrays;

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use crossbeam_utils::Backoff;
use gapii_abi::app::API_LEVEL_ZERO;
use gapii_abi::atom::{SUBJECT, SubjectKind};
use gapii_recorder::Recorder;
use gapii_state::{Context, Process, Thread as State};

use crate::capture;
use crate::driver_calls::Gl;
use crate::environment;
use crate::process;
use crate::seats;
use crate::tls::words;
use emit::Emitter;
pub use emit::subject;
use images::Images;
use sibling::Sibling;

/// The capture whose stream has the process' displays, contexts and surfaces.
static PROCESS_IN: AtomicU64 = AtomicU64::new(0);

/// Set while a thread describes something that threads share. Others wait, so that what they do comes
/// after it. No mutex: a forked child must be able to begin anew.
static DESCRIBING: AtomicBool = AtomicBool::new(false);
/// What of a process is described before anything is current, and what after: two subjects.
const OBJECTS: u64 = 0;
const FENCES: u64 = 1;
/// What a thread leaves out that has waited in vain.
const TOO_LONG: &str = "what a thread had: another one took too long to say what they share";
/// What a program without monitoring leaves out.
const ASLEEP: &str =
    "all that was there before: the program runs with --no-monitor, so nobody knows it";
/// What a program that computes leaves out.
const LEVEL_ZERO: &str =
    "objects of Level Zero that were there before, and what is in their memory";
/// How often a thread looks that waits for longer.
const LOOK_AGAIN: Duration = Duration::from_micros(100);

/// Writes what the thread's first command of the capture finds, unless it is in the stream already.
/// `state` is the thread's own.
pub fn describe(recorder: &mut Recorder, state: &mut State, epoch: u64) {
    let mut emitter = Emitter::new(recorder);
    if is_unknown(epoch) {
        forget_unfollowed(state, epoch);
        emitter.leave_out(ASLEEP);
        return emitter.finish();
    }
    match OneAtATime::wait() {
        Some(_alone) => {
            wait_for_others(&mut emitter, state, epoch);
            let is_first = PROCESS_IN.load(Acquire) != epoch;
            if is_first {
                emitter.subject(SubjectKind::Process, OBJECTS);
                egl::describe(&mut emitter, &state.process);
                if process::apis() & API_LEVEL_ZERO != 0 {
                    emitter.leave_out(LEVEL_ZERO);
                }
                PROCESS_IN.store(epoch, Release);
            }
            emitter.subject(SubjectKind::Thread, 0);
            egl::describe_thread(&mut emitter, state);
            if is_first {
                emitter.subject(SubjectKind::Process, FENCES);
                let is_current = state.context.is_some();
                syncs::describe_egl(&mut emitter, &state.process, is_current);
            }
            describe_context(&mut emitter, state, epoch);
        }
        None => emitter.leave_out(TOO_LONG),
    }
    emitter.finish();
}

/// The same for a context that has become current since.
pub fn describe_current(recorder: &mut Recorder, state: &mut State, epoch: u64) {
    let is_described =
        |state: &State| state.context.as_deref().is_none_or(|context| context.described == epoch);
    if !capture::began_in_the_middle(epoch) || is_described(state) {
        return;
    }
    if is_unknown(epoch) {
        return forget_unfollowed(state, epoch);
    }
    let mut emitter = Emitter::new(recorder);
    match OneAtATime::wait() {
        Some(_alone) => {
            wait_for_others(&mut emitter, state, epoch);
            describe_context(&mut emitter, state, epoch);
        }
        None => emitter.leave_out(TOO_LONG),
    }
    emitter.finish();
}

/// Whether the state was not followed until the capture that this epoch is of.
fn is_unknown(epoch: u64) -> bool {
    !environment::monitors() && capture::is_first_of_this_capture(epoch)
}

/// Forgets what an earlier capture knew of the thread's context and its group.
fn forget_unfollowed(state: &mut State, epoch: u64) {
    let Some(context) = state.context.as_deref_mut() else { return };
    if context.group.described.swap(epoch, Relaxed) != epoch {
        context.group.forget();
    }
    if context.described != epoch {
        context.forget();
        context.described = epoch;
    }
}

/// The capture sees all that the thread and the process do.
pub fn note_seen(recorder: &mut Recorder) {
    if capture::has_keyframes() {
        for (kind, id) in [
            (SubjectKind::Process, OBJECTS),
            (SubjectKind::Process, FENCES),
            (SubjectKind::Thread, 0),
        ] {
            recorder.write_meta(SUBJECT, &subject(kind, id, true));
        }
    }
}

/// Waits until what threads share is nobody's to change any more, if it is about to be described.
fn wait_for_others(emitter: &mut Emitter, state: &State, epoch: u64) {
    let group = state.context.as_deref().map(|context| context.group.described.load(Relaxed));
    if PROCESS_IN.load(Acquire) == epoch && group.is_none_or(|described| described == epoch) {
        return;
    }
    for tid in seats::wait_for_others(words().seat(), epoch) {
        emitter.leave_out(&format!(
            "a command that thread {tid} may be in: it came to none while it was waited for"
        ));
    }
}

fn describe_context(emitter: &mut Emitter, state: &mut State, epoch: u64) {
    let surface = egl::drawn(state);
    let Some(context) = state.context.as_deref_mut() else { return };
    if context.group.described.swap(epoch, Relaxed) != epoch {
        emitter.subject(SubjectKind::Group, context.group.number());
        describe_group(emitter, &state.process, context);
    }
    if context.described != epoch {
        context.described = epoch;
        emitter.subject(SubjectKind::Context, context.handle);
        describe_own(emitter, &state.process, context, surface.as_ref());
    }
}

fn describe_group(emitter: &mut Emitter, process: &Process, context: &Context) {
    buffers::describe(emitter, context);
    describe_images(emitter, process, context);
    if context.version.0 >= 2 {
        programs::describe(emitter, context);
        syncs::describe(emitter, context);
        labels::describe_group(emitter, context);
    }
}

fn describe_images(emitter: &mut Emitter, process: &Process, context: &Context) {
    let Some(driver) = Gl::current() else { return };
    let has_images = {
        let group = context.group.lock();
        group.textures.named().next().is_some() || group.renderbuffers.named().next().is_some()
    };
    let sibling = if has_images { Sibling::begin(process, context) } else { None };
    if has_images && sibling.is_none() {
        emitter.leave_out("all pixels: the driver makes no context to read them in");
    }
    let images = Images::of(process, context);
    textures::describe(emitter, context, &driver, sibling.as_ref(), &images);
    samplers::describe(emitter, context, &driver);
    renderbuffers::describe(emitter, context, sibling.as_ref(), &images);
    images.describe(emitter, context, &driver);
    if context.version.0 < 2 {
        es1::describe_textures(emitter, context, &driver);
    }
}

fn describe_own(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    surface: Option<&egl::Drawn>,
) {
    if let Some(drawn) = surface {
        surface::describe(emitter, process, context, drawn);
    }
    if context.version.0 < 2 {
        es1::describe(emitter, context);
        return;
    }
    vertex_arrays::describe(emitter, context);
    pipelines::describe(emitter, context);
    framebuffers::describe(emitter, context);
    queries::describe(emitter, context);
    labels::describe_own(emitter, context);
    labels::describe_messages(emitter, context);
    context::describe(emitter, context);
    pipelines::describe_active_feedback(emitter, context);
    queries::describe_active(emitter, context);
}

/// In a forked child: whoever was at it is not here.
pub fn forget() {
    DESCRIBING.store(false, Relaxed);
    PROCESS_IN.store(0, Relaxed);
}

/// While it lives, the others wait.
struct OneAtATime;

impl OneAtATime {
    /// `None`: the thread that is at it takes longer than a full ring may.
    fn wait() -> Option<Self> {
        let (backoff, began) = (Backoff::new(), Instant::now());
        while DESCRIBING.swap(true, Acquire) {
            if began.elapsed() >= capture::stall_limit() {
                return None;
            }
            match backoff.is_completed() {
                true => std::thread::sleep(LOOK_AGAIN),
                false => backoff.snooze(),
            }
        }
        Some(Self)
    }
}

impl Drop for OneAtATime {
    fn drop(&mut self) {
        DESCRIBING.store(false, Release);
    }
}
