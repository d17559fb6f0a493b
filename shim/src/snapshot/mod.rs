//! Snapshot of a program at the beginning of a capture in its middle, and at each keyframe: the order in which the
//! parts are described. One thread at a time describes shared state; another waits for up to the stall limit (default 2
//! s), and then its part is missing. Missing as well are commands that other threads may be in (`seats.rs`), all state
//! before a capture of a program with `--no-monitor`. If a newer keyframe begins meanwhile, a waiting thread describes
//! its state in that one.
//!
//! A capture that begins with the process' first command needs no snapshot. In any other capture each thread writes a
//! part of the snapshot before its first recorded command: the displays, contexts and surfaces of the process, the
//! objects of the thread's share group, and the state of its context, each once per capture. A context that is current
//! in no thread when the capture begins is described when it becomes current.
//!
//! A capture with keyframes writes a snapshot at each keyframe. SUBJECT records name what each part describes, so that a
//! reader that began at an earlier keyframe skips the parts that it has.
//!
//! Objects are described by identity, not by name: see [`identity`].
//!
//! The shim asks the driver for state that it does not keep. A query that can fail is asked in a context of the shim's
//! own ([`sibling`]). The program's context is asked only for state that its version and its extensions have, so that
//! the shim causes no error there and a pending error stays pending. Everything that is set meanwhile is restored.

mod allocations;
mod aside;
mod assembly_programs;
mod attachments;
mod attribute_stacks;
mod block_reader;
mod blocked_signals;
mod bound_framebuffers;
mod bound_textures;
mod buffer_textures;
mod buffer_writes;
mod buffers;
mod canvas;
mod capability;
pub mod client_arrays;
mod color_buffers;
mod context;
mod copied;
mod current;
mod data_store;
mod default_textures;
mod depth_numbers;
mod desktop;
mod destroyed;
mod detached;
mod egl;
mod egl_error;
mod emit;
mod es1;
mod es1_matrices;
mod extension_objects;
mod feedback;
mod fetch;
mod fixed_function;
mod flipped;
mod formats;
mod found;
mod framebuffers;
mod gl;
mod glsl;
mod glx;
mod held;
mod held_buffers;
mod identity;
mod idle_surfaces;
mod image_handles;
mod image_layer;
mod image_storages;
mod images;
mod indexed_blending;
mod kept_commands;
mod labels;
mod late_buffers;
mod late_contents;
mod later;
mod level_zero;
mod level_zero_calls;
mod levels;
mod like;
mod link_parameters;
mod lists;
mod made;
mod memory_objects;
mod missing;
mod nameless_attachments;
mod owed;
mod own_framebuffer;
mod picture;
mod pipelines;
mod pixels;
mod plain_pixels;
mod programs;
mod queries;
mod refusals;
mod renderbuffers;
mod rest;
mod samplers;
mod samples;
mod set_aside;
mod shaders;
mod sibling;
mod signals;
mod spare;
mod spare_context;
mod staging;
mod stencil_bits;
mod subroutines;
mod surface;
mod surface_contents;
mod surface_depth;
mod surface_draw;
mod syncs;
mod texel_buffers;
mod texture_parameters;
mod texture_units;
mod textures;
mod trial_links;
mod turn;
mod unclamped;
mod uncut;
mod unflushed;
mod uniforms;
mod vertex_arrays;
mod vertex_reader;
mod vertex_values;
mod viewports;
mod window_rectangles;
mod x11;

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use gapii_abi::app::API_LEVEL_ZERO;
use gapii_abi::atom::{SUBJECT, SubjectKind};
use gapii_recorder::Recorder;
use gapii_state::gl::lists::is_busy;
use gapii_state::{Context, Process, Thread as State};

use crate::capture;
use crate::driver_calls::Gl;
use crate::environment;
use crate::process;
use crate::seats;
use crate::tls::words;
use current::{Current, Drawn, ReadApart};
use egl_error::KeptError;
use emit::Emitter;
pub use emit::subject;
pub use owed::wait_until_sent;
pub use rest::{describe_rest, is_incomplete, is_incomplete_in};
use set_aside::SetAside;
use sibling::{OnDemand, Sibling};
use spare_context::SpareContext;
use texture_parameters::Has;
use turn::{OneAtATime, TOO_LONG, Turn};
use unflushed::Stale;

/// Epoch of the last capture whose stream describes the displays, contexts and surfaces of the process.
static PROCESS_IN: AtomicU64 = AtomicU64::new(0);

/// Numbers of the two subjects of a process: objects that are described before a context is current, and fences, which
/// need one.
const OBJECTS: u64 = 0;
const FENCES: u64 = 1;
/// Missing in a program that runs without monitoring.
const ASLEEP: &str =
    "all that was there before: the program runs with --no-monitor, so nobody knows it";

/// A newer epoch has begun: the thread describes its state in that one.
#[derive(Debug)]
pub struct Outdated;

/// Writes the state that the thread's first command of the capture finds, without the parts that the stream has.
/// `state` is the thread's own state.
pub fn describe(recorder: &mut Recorder, state: &mut State, epoch: u64) -> Result<(), Outdated> {
    let mut emitter = Emitter::new(recorder);
    if is_unknown(epoch) {
        forget_unfollowed(state, epoch);
        emitter.leave_out(ASLEEP);
        emitter.finish();
        return Ok(());
    }
    let _error = KeptError::begin(state);
    match OneAtATime::wait(epoch) {
        Turn::Outdated => {
            emitter.finish();
            return Err(Outdated);
        }
        Turn::Mine(_alone) => {
            wait_for_others(&mut emitter, state, epoch);
            let aside = SetAside::begin();
            let is_first = PROCESS_IN.load(Acquire) != epoch;
            if is_first {
                emitter.subject(SubjectKind::Process, OBJECTS);
                egl::describe(&mut emitter, &state.process);
                glx::describe(&mut emitter, &state.process);
                extension_objects::describe_egl(&mut emitter, &state.process);
                idle_surfaces::describe(&mut emitter, state);
                images::describe(&mut emitter, state, epoch);
                if process::apis() & API_LEVEL_ZERO != 0 {
                    level_zero::describe(&mut emitter, state);
                }
                PROCESS_IN.store(epoch, Release);
            }
            emitter.subject(SubjectKind::Thread, 0);
            current::describe(&mut emitter, state);
            if is_first {
                emitter.subject(SubjectKind::Process, FENCES);
                let is_current = state.context.is_some();
                syncs::describe_egl(&mut emitter, &state.process, is_current);
            }
            let since = Since::Before { describes_images: is_first };
            describe_context(&mut emitter, state, epoch, since, &aside);
            current::describe_destroyed(&mut emitter, state);
        }
        Turn::TooLong => emitter.leave_out(TOO_LONG),
    }
    emitter.finish();
    Ok(())
}

/// Writes the state of a context that has become current during the capture. If a newer epoch has begun, the thread
/// describes the context in that one.
pub fn describe_current(recorder: &mut Recorder, state: &mut State, epoch: u64) {
    // A context that was made during the capture may share with one that is not described yet.
    let is_described = |context: &Context| {
        context.described == epoch && context.group.described.load(Relaxed) == epoch
    };
    if !capture::began_in_the_middle(epoch) || state.context.as_deref().is_none_or(is_described) {
        return;
    }
    if is_unknown(epoch) {
        return forget_unfollowed(state, epoch);
    }
    let mut emitter = Emitter::new(recorder);
    if state.context.as_deref().is_some_and(is_busy) {
        emitter.leave_out("all of a context that became current while it compiled a display list");
        emitter.finish();
        return;
    }
    let _error = KeptError::begin(state);
    match OneAtATime::wait(epoch) {
        Turn::Mine(_alone) => {
            wait_for_others(&mut emitter, state, epoch);
            let aside = SetAside::begin();
            describe_context(&mut emitter, state, epoch, Since::Now, &aside);
        }
        Turn::Outdated => {}
        Turn::TooLong => emitter.leave_out(TOO_LONG),
    }
    emitter.finish();
}

/// Notes that no command of this thread that began before `epoch` is in progress, and that their effects are visible to
/// the thread that describes them.
pub fn arrive(epoch: u64) {
    let words = words();
    let Some(seat) = words.seat() else { return };
    let has_context = words.context_api.get() != 0;
    if has_context && seat.is_older_than(epoch) && capture::began_in_the_middle(epoch) {
        gl::finish_program();
    }
    seat.know(epoch);
}

/// Whether the shim tracked no state before the capture of this epoch.
fn is_unknown(epoch: u64) -> bool {
    !environment::monitors() && capture::is_first_of_this_capture(epoch)
}

/// Discards the state that an earlier capture tracked of the thread's context and its group.
fn forget_unfollowed(state: &mut State, epoch: u64) {
    let Some(context) = state.context.as_deref_mut() else { return };
    state.process.contexts().set_described(context.handle, epoch);
    if context.group.described.swap(epoch, Relaxed) != epoch {
        context.group.forget();
    }
    if context.described != epoch {
        context.forget();
        context.described = epoch;
    }
}

/// Notes in the stream that the capture has the process and the thread from their beginning.
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

/// If shared state is about to be described, waits until no other thread is in a command that changes it.
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

/// Since when a context is current.
#[derive(Clone, Copy)]
enum Since {
    /// It has become current in the capture.
    Now,
    /// It may have been current when another thread described objects.
    Before {
        /// Whether this thread has described what EGL images share.
        describes_images: bool,
    },
}

fn describe_context(
    emitter: &mut Emitter,
    state: &mut State,
    epoch: u64,
    since: Since,
    aside: &SetAside,
) {
    let (surface, read_apart) = (Drawn::of(state), ReadApart::of(state));
    let current = Current::of(state);
    let Some(context) = state.context.as_deref_mut() else { return };
    state.process.contexts().set_described(context.handle, epoch);
    let describes_group = context.group.described.swap(epoch, Relaxed) != epoch;
    if describes_group {
        emitter.subject(SubjectKind::Group, context.group.number());
        identity::begin_group(context);
        describe_group(emitter, &state.process, context, current.as_ref());
    }
    let is_new = context.described != epoch;
    // The group's description changes what is bound and set. In a context that the stream has, the context's own state
    // is restored as a part of the group's description.
    if is_new || describes_group {
        context.described = epoch;
        if is_new {
            emitter.subject(SubjectKind::Context, context.handle);
        }
        describe_group_of_fixed_functions(emitter, context);
        if let Since::Before { describes_images } = since {
            let stale = Stale { images: !describes_images, others: !describes_group };
            unflushed::describe(emitter, &state.process, context, stale);
        }
        if let (Some(surface), Some(current)) = (&read_apart, &current) {
            surface::describe_apart(emitter, surface);
            current.make_current_again(emitter);
        }
        if let Some(current) = current.as_ref().filter(|_| is_new) {
            current.settle_viewport(emitter);
        }
        describe_own(emitter, &state.process, context, surface.as_ref(), aside.depths);
        aside.unclamped.describe(emitter);
        identity::leave_out_uses(emitter, context);
        if let Some(current) = &current {
            identity::end_context(emitter, &state.process, context, current);
        }
    }
}

fn describe_group(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    current: Option<&Current>,
) {
    let (has_buffers, has_images) = {
        let group = context.group.lock();
        let has_images =
            group.textures.named().next().is_some() || group.renderbuffers.named().next().is_some();
        (group.buffers.named().next().is_some(), has_images)
    };
    let is_needed = has_buffers || has_images;
    let sibling = if is_needed { Sibling::begin(process, context.handle) } else { None };
    if has_images && sibling.is_none() {
        emitter.leave_out("all pixels: the driver makes no context to read them in");
    }
    buffers::describe(emitter, context, sibling.as_ref());
    if buffers::does_a_texture_hold_a_nameless_one(context) {
        // What this context leads to may be more than the texels.
        held_buffers::describe(emitter, process, context);
    }
    memory_objects::describe(emitter, context);
    extension_objects::describe(emitter, context);
    describe_images(emitter, process, context, sibling.as_ref());
    if context.has((2, 0), (2, 0)) {
        describe_programs(emitter, process, context, current);
        syncs::describe(emitter, context);
        labels::describe_group(emitter, context);
    }
    describe_group_of_fixed_functions(emitter, context);
}

/// Describes what a share group has that only contexts of the compatibility profile can make, if the stream does not have it yet.
fn describe_group_of_fixed_functions(emitter: &mut Emitter, context: &Context) {
    if context.api.has_fixed_function(context.version)
        && identity::is_first_of_fixed_functions(context)
    {
        assembly_programs::describe(emitter, context);
        lists::describe(emitter, context);
    }
}

/// Describes the programs of the context's share group in a spare context, so that the replay links none in a context of
/// the program.
///
/// Mesa 22.3 keeps what it compiled for the context that linked a program. If another context links that program again,
/// the first one crashes in its next draw after a flush, whatever program it draws with.
fn describe_programs(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    current: Option<&Current>,
) {
    let current = current.filter(|_| programs::has_any(context));
    let spare = current.and_then(|current| {
        Some((SpareContext::make(emitter, process, context.handle, 0)?, current))
    });
    if let Some((spare, _)) = &spare {
        spare.make_current(emitter);
    }
    programs::describe(emitter, process, context);
    if let Some((spare, current)) = spare {
        current.make_current_again(emitter);
        spare.destroy(emitter);
    }
}

fn describe_images(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    sibling: Option<&Sibling>,
) {
    let Some(driver) = Gl::current() else { return };
    let has = Has::of(&driver);
    textures::describe(emitter, (process, context), has, sibling);
    textures::bind_surfaces(emitter, process, context);
    samplers::describe(emitter, context, has);
    renderbuffers::describe(emitter, context, sibling);
    if !context.has((2, 0), (1, 0)) {
        es1::describe_textures(emitter, context, &driver);
    }
}

fn describe_own(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    surface: Option<&Drawn>,
    depths: [u32; 2],
) {
    if let Some(drawn) = surface {
        surface::describe(emitter, process, context, drawn);
    }
    if !context.has((2, 0), (1, 0)) {
        es1::describe(emitter, process, context);
        return;
    }
    held_buffers::describe(emitter, process, context);
    vertex_arrays::describe(emitter, context);
    pipelines::describe(emitter, process, context);
    let reader = OnDemand::new(process, context.handle);
    let unread = framebuffers::describe(emitter, process, context, Some(&reader));
    queries::describe(emitter, context);
    labels::describe_own(emitter, context);
    labels::describe_messages(emitter, context);
    default_textures::describe(emitter, context);
    fixed_function::describe(emitter, context);
    attribute_stacks::describe(emitter, context, depths);
    context::describe(emitter, process, context);
    unread.leave_out(emitter, context);
    if let Some(driver) = Gl::current() {
        textures::leave_out_default(emitter, context, Has::of(&driver));
    }
    programs::describe_current(emitter, process, context);
    subroutines::describe(emitter, context);
    pipelines::delete_bound(emitter, context);
    pipelines::describe_active_feedback(emitter, context);
    queries::describe_active(emitter, context);
    queries::describe_condition(emitter, context);
    fixed_function::describe_mode(emitter, context);
}

/// For a forked child: the thread that described shared state does not exist in it.
pub fn forget() {
    turn::forget();
    PROCESS_IN.store(0, Relaxed);
    sibling::forget_idle();
    owed::forget();
}
