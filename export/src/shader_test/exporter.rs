//! Takes the commands of a trace that make shaders and programs.

use std::collections::HashMap;
use std::io;

use gapii_commands::CommandId;
use gapii_commands::constants::{GL_LINK_STATUS, GL_PROGRAM_SEPARABLE};
use gapii_trace::Command;

use super::programs::{Key, Programs, Summary, Write};
use crate::apitrace::arguments::{Texts, argument};

/// Writes the programs of a trace.
pub struct Exporter<'w> {
    programs: Programs,
    /// Share group by process and context: the context that the first one of the group was.
    groups: HashMap<(u32, u64), u64>,
    write: Box<Write<'w>>,
}

impl<'w> Exporter<'w> {
    /// An exporter that passes each file to `write`: its name and its content.
    pub fn begin(write: impl FnMut(&str, &[u8]) -> io::Result<()> + 'w) -> Exporter<'w> {
        let (programs, groups) = (Programs::default(), HashMap::new());
        Exporter { programs, groups, write: Box::new(write) }
    }

    /// Takes a command. The error is that of writing a file.
    pub fn command(&mut self, command: &Command<'_>) -> io::Result<()> {
        let (Some(known), Some(seq)) = (command.known(), command.seq) else { return Ok(()) };
        let arg = |name: &str| argument(command, name).unwrap_or(0);
        let key = |name: u64| self.key(command, name);
        let program = key(arg("program"));
        let shader = key(arg("shader"));
        let programs = &mut self.programs;
        match known {
            CommandId::EGL_CREATE_CONTEXT => self.create_context(command),
            CommandId::GL_CREATE_SHADER => {
                let shader = self.key(command, result(command));
                self.programs.create_shader(shader, arg("type") as u32);
            }
            CommandId::GL_SHADER_SOURCE => programs.set_source(shader, strings(command, "string")),
            CommandId::GL_COMPILE_SHADER => programs.compile(shader),
            CommandId::GL_DELETE_SHADER => programs.delete_shader(shader),
            CommandId::GL_ATTACH_SHADER => programs.attach(program, shader),
            CommandId::GL_DETACH_SHADER => programs.detach(program, shader),
            CommandId::GL_PROGRAM_PARAMETERI | CommandId::GL_PROGRAM_PARAMETERI_EXT
                if arg("pname") == u64::from(GL_PROGRAM_SEPARABLE) =>
            {
                programs.set_separable(program, arg("value") != 0);
            }
            CommandId::GL_LINK_PROGRAM => return programs.link(program, seq, &mut self.write),
            CommandId::GL_PROGRAM_BINARY | CommandId::GL_PROGRAM_BINARY_OES => {
                return programs.load_binary(program, &mut self.write);
            }
            CommandId::GL_CREATE_SHADER_PROGRAMV | CommandId::GL_CREATE_SHADER_PROGRAMV_EXT => {
                let program = self.key(command, result(command));
                let source = strings(command, "strings");
                self.programs.create_program(program, seq, (arg("type") as u32, &source));
            }
            CommandId::GL_GET_PROGRAMIV if arg("pname") == u64::from(GL_LINK_STATUS) => {
                let answer = command.args().find(|arg| arg.param.name == "params");
                let bytes = answer.and_then(|arg| command.bytes_of(arg.observation));
                if bytes.as_deref().and_then(|bytes| bytes.first_chunk()) == Some(&[0; 4]) {
                    programs.link_failed(program);
                }
            }
            CommandId::GL_DELETE_PROGRAM => {
                return programs.delete_program(program, &mut self.write);
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the programs that are left.
    pub fn finish(mut self) -> io::Result<Summary> {
        self.programs.finish(&mut self.write)
    }

    fn create_context(&mut self, command: &Command<'_>) {
        let context = result(command);
        let shared = argument(command, "share_context").unwrap_or(0);
        let group = match shared {
            0 => context,
            shared => self.group(command.process, shared),
        };
        self.groups.insert((command.process, context), group);
    }

    /// The share group of a context; the context itself if its creation is not in the trace.
    fn group(&self, process: u32, context: u64) -> u64 {
        self.groups.get(&(process, context)).copied().unwrap_or(context)
    }

    fn key(&self, command: &Command<'_>, name: u64) -> Key {
        (command.process, self.group(command.process, command.context), name)
    }
}

/// The result as a number; 0 if the trace does not have it.
fn result(command: &Command<'_>) -> u64 {
    command.result().map_or(0, |(value, _)| value.bits())
}

/// The strings behind a parameter, one after the other.
fn strings(command: &Command<'_>, param: &str) -> Vec<u8> {
    let strings = command.args().find(|arg| arg.param.name == param);
    let bytes = strings.and_then(|arg| command.bytes_of(arg.observation));
    Texts(bytes.as_deref().unwrap_or_default()).collect::<Vec<_>>().concat()
}
