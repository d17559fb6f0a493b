//! The state at a command of a trace: the result of running every command before it through the descriptions.
//!
//! The program's memory is what the trace observed of it. So a description finds everything that it reads; memory
//! that no description reads is zero.

use std::collections::BTreeMap;
use std::sync::Arc;

use gapii_state::{DefaultFramebuffer, Extensions, Limits, Nothing, egl};
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
    /// By function id, for functions that were looked up.
    states: Vec<Option<Option<&'static CommandState>>>,
}

impl Follower {
    /// Brings the state to what it is after `command`.
    ///
    /// A command that never took effect changes nothing; one that has not returned has only begun.
    pub fn follow(&mut self, command: &Command<'_>) {
        self.enter(command);
        self.leave(command);
    }

    /// Does what the command does when it is called.
    pub fn enter(&mut self, command: &Command<'_>) {
        if !counts(command) {
            return;
        }
        let process = self.processes.entry(command.process).or_default();
        let thread = self
            .threads
            .entry(command.thread)
            .or_insert_with(|| Thread::new(process.clone(), u64::from(command.thread)));
        adopt_context(thread, command.context);
        if let Some(limits) = command.limits {
            learn_limits(thread, limits);
        }
        if let Some(enter) = state_of(&mut self.states, command).and_then(|state| state.enter) {
            take_args(&mut self.args, command);
            enter(thread, &Observed::of(command), &self.args, 0);
        }
    }

    /// Does what the command does when the driver has returned. To be called after [`Self::enter`] for the same
    /// command.
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

/// Replaces `args` with the bits of a command's arguments, without the memory that they point at.
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

/// Returns what a command does, looked up once by its name.
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

/// Makes a thread's context current that it may have made current before the trace began.
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
    context.version = (part(limits.version.0), part(limits.version.1));
    context.extensions = Extensions::parse(&limits.extensions);
    let framebuffer = &limits.default_framebuffer;
    context.limits = Limits {
        is_known: true,
        compressed_texture_formats: limits.compressed_texture_formats,
        program_binary_formats: limits.program_binary_formats,
        shader_binary_formats: limits.shader_binary_formats,
        vertex_attribs: limits.vertex_attribs,
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
}
