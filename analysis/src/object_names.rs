//! `ObjectNames`: words for handles and names of objects in a trace. Handles of EGL and sync objects are numbered by
//! kind, in the order in which the program got them: `context 2`. Objects of OpenGL ES have the labels that the program
//! gave them (KHR_debug, EXT_debug_label).
//!
//! The commands are learned in their order. A word is asked for a command, and is the one that held then, so that commands
//! may be asked about while later ones are learned. At most 262,144 words are kept; later ones are not learned. Two contexts
//! have the same objects if one was created to share them with the other; objects that contexts do not share, such as vertex
//! arrays, count as shared.

use std::fmt;

use gapii_commands::CommandId;
use gapii_commands::constants::{
    GL_BUFFER, GL_FRAMEBUFFER, GL_PROGRAM, GL_PROGRAM_PIPELINE, GL_QUERY, GL_RENDERBUFFER,
    GL_SAMPLER, GL_SHADER, GL_TEXTURE, GL_TRANSFORM_FEEDBACK, GL_VERTEX_ARRAY,
};
use gapii_state::generated::functions::{has_label, label_identifier};
use gapii_trace::description::{Function, Kind, Param, Repr, Type};
use gapii_trace::value::{Observation, Range, Value};
use gapii_trace::{Command, Untrusted};

use crate::digest::Map;
use crate::identity::{namespace, result_name, result_type};
use crate::role::Role;

/// Most words that are kept.
const WORDS_MAX: usize = 1 << 18;
/// Longest label that is kept, in bytes.
const LABEL_BYTES_MAX: usize = 200;
/// Type of the names of OpenGL ES.
const NAME: Type = Type { repr: Some(Repr::U32), kind: Kind::Handle };

/// Kinds of handles that are numbered, by the commands that return them.
const KINDS: [(Role, &str); 6] = [
    (Role::GivesDisplay, "display"),
    (Role::GivesContext, "context"),
    (Role::GivesSurface, "surface"),
    (Role::GivesImage, "image"),
    (Role::GivesSync, "sync"),
    (Role::GivesStream, "stream"),
];

/// The roles of commands with something to learn.
const TELLING: u64 = {
    let mut roles = Role::Labels.bit() | Role::Deletes.bit();
    let mut kind = 0;
    while kind < KINDS.len() {
        roles |= KINDS[kind].0.bit();
        kind += 1;
    }
    roles
};

/// The words of one trace.
#[derive(Default)]
pub struct ObjectNames {
    /// By process and handle.
    handles: Map<(u32, u64), History<(&'static str, u32)>>,
    labels: Map<Object, History<Option<Untrusted>>>,
    /// Numbers that were given, by process and kind.
    counts: Map<(u32, &'static str), u32>,
    /// Share groups by process and context.
    groups: Map<(u32, u64), u64>,
    words: usize,
}

/// Index of the process, share group, namespace, name.
type Object = (u32, u64, u64, u64);

/// What held from which command on, in order.
type History<T> = Vec<(u64, T)>;

/// A word for an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word<'a> {
    /// Kind and number, from 1.
    pub numbered: Option<(&'static str, u32)>,
    /// Label.
    pub label: Option<&'a Untrusted>,
}

impl ObjectNames {
    /// Whether a command has something to learn.
    pub fn is_told_by(command: &Command<'_>) -> bool {
        Role::is_any_of(TELLING, command.known())
    }

    /// Learns from the next command.
    pub fn learn(&mut self, command: &Command<'_>) {
        let (Some(function), Some(seq)) = (command.function, command.seq) else { return };
        if self.words >= WORDS_MAX {
            return;
        }
        let known = command.known();
        if let Some((_, kind)) = KINDS.iter().find(|(role, _)| role.is_of(known)) {
            self.number(command, seq, kind);
        } else if Role::Labels.is_of(known) {
            self.label(command, seq);
        } else if Role::Deletes.is_of(known) {
            self.delete(command, function, seq);
        }
    }

    /// Returns the plain words for the objects that a command names, by the names of its arguments, and by `result`.
    pub fn words_of(&self, command: &Command<'_>) -> Vec<(String, String)> {
        let mut words = Vec::new();
        let mut add = |name: &str, word: Option<Word<'_>>| {
            words.extend(word.map(|word| (name.to_owned(), word.plain())));
        };
        let is_handle = |param: &Param| param.ty.kind == Kind::Handle;
        if command.function.is_some_and(|function| function.params.iter().any(is_handle)) {
            for arg in command.args().filter(|arg| is_handle(arg.param)) {
                add(&arg.param.name, self.word(command, arg.param.ty, &arg.param.name, arg.value));
            }
        }
        if let Some((value, _)) = command.result() {
            add("result", self.result_word(command, value));
        }
        words
    }

    /// Returns the word for the result of a command; `None` if it is no object, or one without a word.
    pub fn result_word(&self, command: &Command<'_>, value: Value) -> Option<Word<'_>> {
        let function = command.function?;
        self.word(command, result_type(function), result_name(function), value)
    }

    /// Returns the word for the value of a parameter, or of an element of its memory; `None` if the value names no object, or
    /// one without a word.
    pub fn word(
        &self,
        command: &Command<'_>,
        ty: Type,
        name: &str,
        value: Value,
    ) -> Option<Word<'_>> {
        let bits = value.bits();
        if ty.kind != Kind::Handle || bits == 0 {
            return None;
        }
        let seq = command.seq.unwrap_or(u64::MAX);
        let numbered = match ty.repr {
            Some(Repr::Pointer) => at(self.handles.get(&(command.process, bits)), seq).copied(),
            _ => None,
        };
        let label = || {
            let key = self.object(command, namespace(command.known(), ty, name), bits);
            at(self.labels.get(&key), seq).and_then(Option::as_ref)
        };
        // Most programs give no labels.
        let label = if self.labels.is_empty() { None } else { label() };
        (numbered.is_some() || label.is_some()).then_some(Word { numbered, label })
    }

    fn number(&mut self, command: &Command<'_>, seq: u64, kind: &'static str) {
        let Some(handle) = command.result().map(|(value, _)| value.bits()).filter(|it| *it != 0)
        else {
            return;
        };
        let key = (command.process, handle);
        let history = self.handles.entry(key).or_default();
        // A display is got again, and is the same one then (EGL 1.5, 3.2).
        let is_same =
            kind == "display" && history.last().is_some_and(|(_, (last, _))| *last == kind);
        if !is_same {
            let count = self.counts.entry((command.process, kind)).or_default();
            *count += 1;
            history.push((seq, (kind, *count)));
            self.words += 1;
        }
        let shared = command.args().find(|arg| arg.param.name == "share_context");
        if let Some(shared) = shared.map(|arg| arg.value.bits()) {
            let group = match shared {
                0 => seq,
                context => self.group(command.process, context),
            };
            self.groups.insert(key, group);
        }
    }

    fn label(&mut self, command: &Command<'_>, seq: u64) {
        let (mut identifier, mut name, mut label, mut is_pointer) = (None, 0, None, false);
        for arg in command.args() {
            let number = arg.value.bits();
            match arg.param.name.as_str() {
                "identifier" => identifier = Some(number as u32),
                "type" => identifier = Some(label_identifier(number as u32)),
                "name" | "object" => name = number,
                "ptr" => (name, is_pointer) = (number, true),
                "label" => label = command.bytes_of(arg.observation),
                _ => {}
            }
        }
        let of_label = |range: &Range<'_>| command.param_of(range) == Some("label");
        let label = label.or_else(|| {
            let range = command.ranges_read().find(of_label)?;
            command.bytes_of(range.observation)
        });
        let namespace = match (identifier, is_pointer) {
            (_, true) => namespace(None, Type { repr: Some(Repr::Pointer), ..NAME }, ""),
            (Some(identifier), _) if has_label(identifier) => namespace_of(identifier),
            _ => return,
        };
        let label = label.map(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            let text = text.split('\0').next().unwrap_or_default();
            Untrusted::from(text).cut(LABEL_BYTES_MAX)
        });
        let key = self.object(command, namespace, name);
        self.labels.entry(key).or_default().push((seq, label.filter(|label| !label.is_empty())));
        self.words += 1;
    }

    /// Takes the labels from the objects that a command deletes; the command itself still shows them.
    fn delete(&mut self, command: &Command<'_>, function: &Function, seq: u64) {
        let Some(param) = function.params.last() else { return };
        let Some(arg) = command.args().last() else { return };
        let (names, ty): (Vec<u64>, Type) = match (param.ty.kind, param.element) {
            (Kind::Handle, _) => (vec![arg.value.bits()], param.ty),
            (_, Some(element)) if element == NAME => {
                let range = || command.ranges_read().next().map(|range| range.observation);
                let seen = match arg.observation {
                    Observation::None => range().unwrap_or(Observation::None),
                    seen => seen,
                };
                let bytes = command.bytes_of(seen);
                let words = bytes.as_deref().map_or(&[][..], |bytes| bytes.as_chunks::<4>().0);
                (words.iter().map(|word| u32::from_le_bytes(*word).into()).collect(), element)
            }
            _ => return,
        };
        let namespace = namespace(function.known, ty, &param.name);
        for name in names {
            let key = self.object(command, namespace, name);
            if let Some(history) = self.labels.get_mut(&key) {
                history.push((seq + 1, None));
                self.words += 1;
            }
        }
    }

    fn object(&self, command: &Command<'_>, namespace: u64, name: u64) -> Object {
        (command.process, self.group(command.process, command.context), namespace, name)
    }

    /// The share group of a context; the context itself if it was created before the trace began.
    fn group(&self, process: u32, context: u64) -> u64 {
        self.groups.get(&(process, context)).copied().unwrap_or(context)
    }
}

/// Namespace of the objects with an identifier, as parameters name them.
fn namespace_of(identifier: u32) -> u64 {
    let name = match identifier {
        GL_BUFFER => "buffer",
        GL_SHADER => "shader",
        GL_PROGRAM => "program",
        GL_VERTEX_ARRAY => "array",
        GL_PROGRAM_PIPELINE => "pipeline",
        GL_SAMPLER => "sampler",
        GL_TEXTURE => "texture",
        GL_RENDERBUFFER => "renderbuffer",
        GL_FRAMEBUFFER => "framebuffer",
        GL_QUERY | GL_TRANSFORM_FEEDBACK => "id",
        _ => "",
    };
    let of_query = (identifier == GL_QUERY).then_some(CommandId::GL_BEGIN_QUERY);
    namespace(of_query, NAME, name)
}

/// What held at a command.
fn at<T>(history: Option<&History<T>>, seq: u64) -> Option<&T> {
    let history = history?;
    let end = history.partition_point(|(from, _)| *from <= seq);
    history.get(end.checked_sub(1)?).map(|(_, word)| word)
}

impl Word<'_> {
    /// Returns the word for a format with escapes of its own: a label that stands alone has no quotes, and no character of
    /// it is escaped.
    pub fn plain(&self) -> String {
        match (self.numbered, self.label) {
            (Some((kind, number)), Some(label)) => format!("{kind} {number} {}", label.raw()),
            (None, Some(label)) => label.raw().to_owned(),
            (_, None) => self.to_string(),
        }
    }
}

/// `context 2`, `"main"` or `sync 1 "upload"`.
impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.numbered, self.label) {
            (Some((kind, number)), None) => write!(f, "{kind} {number}"),
            (Some((kind, number)), Some(label)) => write!(f, "{kind} {number} \"{label}\""),
            (None, Some(label)) => write!(f, "\"{label}\""),
            (None, None) => Ok(()),
        }
    }
}
