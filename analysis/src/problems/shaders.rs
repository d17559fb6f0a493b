//! Shaders that did not compile and programs that did not link, by the program's questions, with the log if the program
//! read it afterwards; and compilations and links in mid-run, which make a frame late.

use gapii_commands::constants::{GL_COMPILE_STATUS, GL_LINK_STATUS};

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::{Seen, first_word};
use crate::digest::Map;
use crate::role::Role;

/// Most threads whose last failure is kept for its log.
const THREADS_MAX: usize = 4096;

/// The failures whose log the program may still read.
#[derive(Default)]
pub struct Shaders {
    /// By thread: name of the shader or program, and position of the problem.
    failed: Map<u32, (u64, usize)>,
}

impl Shaders {
    /// Adds a build that failed or is late, or the log of a failed one.
    pub fn look(&mut self, seen: &Seen<'_>, groups: &mut Groups) {
        if Role::AsksBuilt.is_of(seen.known) {
            self.answer(seen, groups);
        } else if Role::ReadsLog.is_of(seen.known) {
            self.log(seen, groups);
        } else if seen.is_in_mid_run
            && (Role::Compiles.is_of(seen.known) || Role::Links.is_of(seen.known))
        {
            let does = match Role::Links.is_of(seen.known) {
                true => "links",
                false => "compiles",
            };
            let sentence =
                format!("{} {does} in mid-run, which makes the frame longer", seen.name());
            let found = Found::one(ProblemKind::LateBuild, Severity::Warning, sentence);
            groups.add(found, seen.place());
        }
    }

    fn answer(&mut self, seen: &Seen<'_>, groups: &mut Groups) {
        let bytes = seen.output("params");
        if first_word(bytes.as_deref()) != Some(0) {
            return;
        }
        let name = object(seen);
        let sentence = match seen.number("pname").map(|pname| pname as u32) {
            Some(GL_COMPILE_STATUS) => format!("shader {name} did not compile"),
            Some(GL_LINK_STATUS) => format!("program {name} did not link"),
            _ => return,
        };
        let found = Found::one(ProblemKind::FailedBuild, Severity::Error, sentence);
        if let Some(at) = groups.add(found, seen.place())
            && (self.failed.len() < THREADS_MAX || self.failed.contains_key(&seen.command.thread))
        {
            self.failed.insert(seen.command.thread, (name, at));
        }
    }

    fn log(&mut self, seen: &Seen<'_>, groups: &mut Groups) {
        let Some((name, at)) = self.failed.get(&seen.command.thread).copied() else { return };
        if name != object(seen) {
            return;
        }
        let Some(text) = seen.output("infoLog") else { return };
        let text = String::from_utf8_lossy(&text);
        let text = text.split('\0').next().unwrap_or_default().trim();
        if !text.is_empty() {
            groups.explain(at, text.to_owned());
            self.failed.remove(&seen.command.thread);
        }
    }
}

/// The shader or program that the command is about: its first argument.
fn object(seen: &Seen<'_>) -> u64 {
    seen.command.args().next().map_or(0, |arg| arg.value.bits())
}
