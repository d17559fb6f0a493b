//! Error flags that the program read. An error of OpenGL ES happened in one of the commands of the context since the
//! last question (OpenGL ES 3.2, 2.3.1), an error of EGL in the last command of the thread (EGL 1.5, 3.1).

use gapii_commands::Api;

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::{Seen, name_of};
use crate::digest::Map;
use crate::role::Role;

/// Most contexts and threads that are told apart.
const ASKERS_MAX: usize = 4096;

/// Commands since the last questions.
#[derive(Default)]
pub struct Errors {
    /// By process and context.
    contexts: Map<(u32, u64), Since>,
    /// Name of the last command of EGL, with its number, by thread.
    threads: Map<u32, (String, Option<u64>)>,
}

/// Commands of a context since the last question.
#[derive(Default)]
struct Since {
    commands: u64,
    /// Number and function id of the first command.
    first: Option<(Option<u64>, u16)>,
    /// Whether the last command was a question: further flags are of the same range (OpenGL ES 3.2, 2.3.1).
    is_asking: bool,
}

impl Errors {
    /// Counts a command, and adds the error that a question tells.
    pub fn look(&mut self, seen: &Seen<'_>, groups: &mut Groups) {
        let Some(function) = seen.command.function else { return };
        let asks = Role::AsksError.is_of(seen.known);
        match Api::named(&function.api) {
            Some(Api::Gl) if Role::AsksReset.is_of(seen.known) => self.reset(seen, groups),
            Some(Api::Gl) if asks => self.of_context(seen, groups),
            Some(Api::Gl) => self.command(seen),
            Some(Api::Egl) if asks => self.of_thread(seen, groups),
            Some(Api::Egl) => self.egl_command(seen),
            _ => {}
        }
    }

    fn command(&mut self, seen: &Seen<'_>) {
        let key = (seen.command.process, seen.command.context);
        if self.contexts.len() >= ASKERS_MAX && !self.contexts.contains_key(&key) {
            return;
        }
        let since = self.contexts.entry(key).or_default();
        if since.is_asking {
            *since = Since::default();
        }
        since.commands += 1;
        since.first.get_or_insert((seen.command.seq, seen.command.id));
    }

    fn egl_command(&mut self, seen: &Seen<'_>) {
        let thread = seen.command.thread;
        if self.threads.len() < ASKERS_MAX || self.threads.contains_key(&thread) {
            let (name, seq) = self.threads.entry(thread).or_default();
            seen.command.name().clone_into(name);
            *seq = seen.command.seq;
        }
    }

    fn of_context(&mut self, seen: &Seen<'_>, groups: &mut Groups) {
        let key = (seen.command.process, seen.command.context);
        let since = self.contexts.get_mut(&key);
        let (commands, first) =
            since.as_ref().map_or((0, None), |since| (since.commands, since.first));
        if let Some(since) = since {
            since.is_asking = true;
        }
        let Some((_, word)) = seen.result().filter(|(code, _)| *code != 0) else { return };
        let name = seen.name();
        let after = match (commands, first) {
            (1, Some((_, id))) => {
                let function = seen.command.description().function(id);
                format!("after {}", name_of(function.map_or("", |function| &function.name)))
            }
            _ => "for one of the commands since the program asked before".to_owned(),
        };
        let found = Found {
            since: first.and_then(|(seq, _)| seq),
            ..Found::one(
                ProblemKind::ApiError,
                Severity::Error,
                format!("{name} answered {word} {after}"),
            )
        };
        if seen.is_wanted {
            groups.add(found, seen.place());
        }
    }

    fn of_thread(&mut self, seen: &Seen<'_>, groups: &mut Groups) {
        const EGL_SUCCESS: u64 = gapii_commands::constants::EGL_SUCCESS as u64;
        let Some((_, word)) = seen.result().filter(|(code, _)| *code != EGL_SUCCESS) else {
            return;
        };
        if !seen.is_wanted {
            return;
        }
        let last = self.threads.get(&seen.command.thread);
        let after = last.map(|(name, _)| format!(" after {}", name_of(name))).unwrap_or_default();
        let sentence = format!("{} answered {word}{after}", seen.name());
        let found = Found {
            since: last.and_then(|(_, seq)| *seq),
            ..Found::one(ProblemKind::ApiError, Severity::Error, sentence)
        };
        groups.add(found, seen.place());
    }

    fn reset(&self, seen: &Seen<'_>, groups: &mut Groups) {
        let Some((_, word)) = seen.result().filter(|(code, _)| *code != 0) else { return };
        if seen.is_wanted {
            let sentence = format!("{} answered {word}: the context was reset", seen.name());
            let found = Found::one(ProblemKind::ApiError, Severity::Error, sentence);
            groups.add(found, seen.place());
        }
    }
}
