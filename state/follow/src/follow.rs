//! The state at a command of a trace: the result of running every command before it through the descriptions. The
//! trace's observations stand for the program's memory; all other memory is zero. A command that never took effect, or
//! whose enter record is missing, changes nothing; of one that has not returned only the enter part counts. A context
//! that became current before the trace began is taken as current at its first command.

use std::collections::BTreeMap;
use std::sync::Arc;

use gapii_state::generated::fields::SurfaceKind;
use gapii_state::stored::{Reader, Stored, Writer};
use gapii_state::{ContextApi, DefaultFramebuffer, Extensions, Limits, Nothing, egl};
use gapii_trace::Command;
use gapii_trace::tracker::ContextLimits;
use gapii_trace::value::Value;

use crate::observed::Observed;
use crate::{CommandState, Process, Thread};

/// Follows the commands of a trace in the order in which they took effect.
#[derive(Default)]
pub struct Follower {
    processes: BTreeMap<u32, Arc<Process>>,
    threads: BTreeMap<u32, Thread>,
    args: Vec<u64>,
    /// State parts by function id. The outer `None` means that the function has not been looked up.
    states: Vec<Option<Option<&'static CommandState>>>,
}

impl Follower {
    /// Applies `command` to the state.
    ///
    /// A command that never took effect changes nothing. Of a command that has not returned, only the enter part is
    /// applied.
    pub fn follow(&mut self, command: &Command<'_>) {
        self.enter(command);
        self.leave(command);
    }

    /// Applies the command's enter part.
    pub fn enter(&mut self, command: &Command<'_>) {
        if !counts(command) {
            return;
        }
        let Self { processes, threads, .. } = self;
        let thread = threads.entry(command.thread).or_insert_with(|| {
            let process = processes.entry(command.process).or_default();
            Thread::new(process.clone(), u64::from(command.thread))
        });
        adopt_context(thread, command.context);
        if let Some(limits) = command.limits {
            learn_limits(thread, limits);
        }
        if let Some(frame) = command.observed_frame {
            learn_size(thread, [frame.width, frame.height].map(u32::cast_signed));
        }
        if let Some(enter) = state_of(&mut self.states, command).and_then(|state| state.enter) {
            take_args(&mut self.args, command);
            enter(thread, &Observed::of(command), &self.args, 0);
        }
    }

    /// Applies the command's leave part. Call [`Self::enter`] for the same command first.
    pub fn leave(&mut self, command: &Command<'_>) {
        if !counts(command) || command.in_flight {
            return;
        }
        let Some(thread) = self.threads.get_mut(&command.thread) else { return };
        let Some(leave) = state_of(&mut self.states, command).and_then(|state| state.leave) else {
            return;
        };
        let result = command.result().map(|(value, _)| value.bits());
        let is_void = command.function.is_none_or(|function| function.result.is_void());
        if !is_void && result.is_none() {
            return;
        }
        take_args(&mut self.args, command);
        let mut memory = Observed::of(command);
        memory.prefer_outputs();
        leave(thread, &memory, &self.args, result.unwrap_or(0));
    }

    /// Returns the state of a thread, by the thread's index in the trace.
    pub fn thread(&self, thread: u32) -> Option<&Thread> {
        self.threads.get(&thread)
    }

    /// Threads seen so far, by their index in the trace.
    pub fn threads(&self) -> impl Iterator<Item = (u32, &Thread)> {
        self.threads.iter().map(|(index, thread)| (*index, thread))
    }

    /// Processes seen so far, by their index in the trace.
    pub fn processes(&self) -> impl Iterator<Item = (u32, &Process)> {
        self.processes.iter().map(|(index, process)| (*index, process.as_ref()))
    }
}

/// The functions that were looked up are not stored.
impl Stored for Follower {
    fn store(&self, to: &mut Writer) {
        self.processes.store(to);
        self.threads.store(to);
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        let (processes, threads) = (Stored::restore(from)?, Stored::restore(from)?);
        Some(Self { processes, threads, ..Self::default() })
    }
}

/// Replaces `args` with a command's arguments as 64-bit words: pointers are addresses.
fn take_args(args: &mut Vec<u64>, command: &Command<'_>) {
    args.clear();
    if let (Some(function), Some(payload)) = (command.function, command.enter_payload()) {
        let values = function.params.iter();
        args.extend(
            values.map(|param| Value::read(param.ty, payload, param.offset as usize).bits()),
        );
    }
}

fn counts(command: &Command<'_>) -> bool {
    command.seq.is_some() && command.enter_payload().is_some()
}

/// Returns a command's state parts, looked up by name once per function id.
fn state_of(
    states: &mut Vec<Option<Option<&'static CommandState>>>,
    command: &Command<'_>,
) -> Option<&'static CommandState> {
    let id = usize::from(command.id);
    if states.len() <= id {
        states.resize(id + 1, None);
    }
    *states.get_mut(id)?.get_or_insert_with(|| crate::command(command.name()))
}

/// Makes `context` current on the thread if it is not: the thread may have done so before the trace began.
fn adopt_context(thread: &mut Thread, context: u64) {
    let current = thread.context.as_ref().map_or(0, |current| current.handle);
    if context != 0 && context != current {
        egl::release_current(thread, &Nothing);
        egl::make_current(thread, &Nothing, context);
    }
}

/// Applies the limits that the driver reported for the context when it first became current.
fn learn_limits(thread: &mut Thread, limits: &ContextLimits) {
    let Some(context) = thread.context.as_deref_mut().filter(|context| !context.limits.is_known)
    else {
        return;
    };
    let part = |number: u16| u8::try_from(number).unwrap_or(u8::MAX);
    context.api = ContextApi::of_profile(limits.profile.into()).unwrap_or(ContextApi::Es);
    context.version = (part(limits.version.0), part(limits.version.1));
    context.extensions = Extensions::parse(&limits.extensions);
    let framebuffer = &limits.default_framebuffer;
    context.limits = Limits {
        is_known: true,
        compressed_texture_formats: limits.compressed_texture_formats,
        program_binary_formats: limits.program_binary_formats,
        shader_binary_formats: limits.shader_binary_formats,
        vertex_attribs: limits.vertex_attribs,
        vertex_bindings: limits.vertex_bindings,
        vertex_relative_offset: limits.vertex_relative_offset,
        vertex_stride: limits.vertex_stride,
        texture_units: limits.texture_units,
        image_units: limits.image_units,
        uniform_bindings: limits.uniform_bindings,
        uniform_alignment: limits.uniform_alignment,
        storage_bindings: limits.storage_bindings,
        storage_alignment: limits.storage_alignment,
        atomic_bindings: limits.atomic_bindings,
        feedback_bindings: limits.feedback_bindings,
        renderer: limits.renderer.raw().to_owned(),
        version: limits.version_string.raw().to_owned(),
        default_framebuffer: DefaultFramebuffer {
            red_bits: framebuffer.red_bits,
            green_bits: framebuffer.green_bits,
            blue_bits: framebuffer.blue_bits,
            alpha_bits: framebuffer.alpha_bits,
            depth_bits: framebuffer.depth_bits,
            stencil_bits: framebuffer.stencil_bits,
            samples: framebuffer.samples,
            width: framebuffer.width,
            height: framebuffer.height,
        },
    };
    let [width, height] = [framebuffer.width, framebuffer.height];
    if width > 0 && height > 0 {
        // Until the program sets them (glViewport, glScissor), they are as large as the surface.
        for area in [&mut context.viewport, &mut context.scissor] {
            if *area == [0; 4] {
                *area = [0, 0, width, height];
            }
        }
    }
    learn_size(thread, [width, height]);
}

/// Notes the size of the surface that the thread draws to, if the window system determines that size.
fn learn_size(thread: &Thread, [width, height]: [i32; 2]) {
    let mut process = thread.process.lock();
    let surface = process.surfaces.get_mut(thread.draw_surface);
    if let Some(surface) = surface
        && matches!(surface.kind, SurfaceKind::Window | SurfaceKind::Pixmap)
        && width > 0
        && height > 0
    {
        (surface.width, surface.height) = (Some(width), Some(height));
    }
}
