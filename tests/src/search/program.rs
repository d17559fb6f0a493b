//! Programs of the search: steps as lines of text, for people, files and `tests/programs/steps.c`.
//!
//! A step is `THREAD [RESULT] COMMAND ARGUMENT...`. The runner knows no names of constants and shaders, so
//! [`Program::add_runner_line`] replaces them.
//!
//! | word | is |
//! |---|---|
//! | `b1=` | the result becomes the value of object `b1`; the answer says whether it is zero |
//! | `?`, `?8` | the result is an answer of 32 or 8 bits |
//! | `12`, `0x10`, `GL_X`, `GL_X\|GL_Y`, `1.5f`, `1.5d` | numbers; the last two are a float and a double |
//! | `b1` | value of an object: its name, handle or address. The letter is the kind |
//! | `new:b1` | memory for one name, which becomes the value of `b1` |
//! | `name:b`, `out:16` | memory for an answer: the name of a buffer, 16 bytes |
//! | `bytes:64:7` | 64 bytes from seed 7 |
//! | `ints:1,b1`, `floats:1,0.5`, `doubles:0.5`, `texts:a,b`, `text:a` | arrays of numbers and of strings, a string |
//! | `shader:NAME` | array of one string: a source of [`shaders`](super::shaders) |
//!
//! A step that begins with `@` is no command: `@attach` is where a capture begins, and `@keyframe` where one begins while
//! another capture runs, with a keyframe. The others are in the runner.
//! Lines that begin with `#` are comments.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::enums::Enums;
use crate::search::generate::aliases;
use crate::search::shaders;

/// The step at which a capture begins.
pub const ATTACH: &str = "@attach";
/// The step at which a capture begins with a keyframe, because another one runs.
pub const KEYFRAME: &str = "@keyframe";

/// Whether a capture begins at this step.
pub fn is_beginning(step: &str) -> bool {
    [ATTACH, KEYFRAME].contains(&step)
}

/// The command of a step, the first word that begins like one, by its first name.
pub fn command_of(step: &str) -> &str {
    let begins =
        |word: &&str| word.starts_with("gl") || word.starts_with("egl") || word.starts_with('@');
    aliases::first(step.split(' ').find(begins).unwrap_or(step))
}

/// A number that no header gives an enumerant, one that is outside of the range of parameters that must not be negative, and a
/// name that no object of the programs has: a step with one of these counts for nothing.
pub const NO_ENUMERANT: &str = "0x1234";
pub const OUT_OF_RANGE: &str = "-77";
pub const NO_NAME: &str = "87654321";

/// Whether a step is one that the driver refuses, because an argument was replaced.
pub fn is_refused(step: &str) -> bool {
    step.split(' ').any(|word| [NO_ENUMERANT, OUT_OF_RANGE, NO_NAME].contains(&word))
}

/// The thread of a step; `None` if the step is no command.
pub fn thread_of(step: &str) -> Option<usize> {
    step.split(' ').next()?.parse().ok()
}

/// The context that a step makes current on its thread, `0` for none; `None` for other steps.
pub fn made_current(step: &str) -> Option<&str> {
    (command_of(step) == "eglMakeCurrent").then(|| step.rsplit(' ').next())?
}

/// Steps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub steps: Vec<String>,
}

impl Program {
    /// The program with a capture that begins before step `at`: in the way of `beginning`, [`ATTACH`] or [`KEYFRAME`].
    pub fn captured_at(&self, at: usize, beginning: &str) -> Program {
        let mut steps = self.steps.clone();
        steps.insert(at.min(steps.len()), beginning.to_owned());
        Program { steps }
    }

    /// The way in which a capture of the program begins; `None` if none does.
    pub fn beginning(&self) -> Option<&str> {
        self.steps.iter().map(String::as_str).find(|step| is_beginning(step))
    }

    /// The program without captures.
    pub fn plain(&self) -> Program {
        Program { steps: self.steps.iter().filter(|step| !is_beginning(step)).cloned().collect() }
    }

    /// Adds a step to the text for the runner, as a line.
    ///
    /// # Panics
    /// If the step has a name that neither the headers nor the shaders have.
    pub fn add_runner_line(step: &str, text: &mut String) {
        for (at, word) in step.split(' ').enumerate() {
            if at > 0 {
                text.push(' ');
            }
            add_runner_word(word, text);
        }
        text.push('\n');
    }
}

fn add_runner_word(word: &str, text: &mut String) {
    if let Some(name) = word.strip_prefix("shader:") {
        let source = shaders::source(name).unwrap_or_else(|| panic!("no shader {name}"));
        text.push_str("hex:");
        for byte in source.bytes() {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
            }
        }
    } else if let Some(numbers) = word.strip_prefix("ints:") {
        text.push_str("ints:");
        for (at, number) in numbers.split(',').enumerate() {
            if at > 0 {
                text.push(',');
            }
            add_constant(number, text);
        }
    } else {
        add_constant(word, text);
    }
}

fn add_constant(word: &str, text: &mut String) {
    if !word.starts_with("GL_") && !word.starts_with("EGL_") {
        return text.push_str(word);
    }
    let value = Enums::from_headers().value(word);
    let value = value.unwrap_or_else(|| panic!("the headers do not have {word}"));
    text.push_str(&value.to_string());
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Program, String> {
        let lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let steps: Vec<String> = lines.map(str::to_owned).collect();
        let is_step = |step: &&String| {
            let mut words = step.split(' ');
            is_beginning(step)
                || (words.next().is_some_and(|word| matches!(word, "0" | "1" | "2" | "3"))
                    && words.next().is_some())
        };
        match steps.iter().find(|step| !is_step(step)) {
            Some(wrong) => Err(format!("not a step: {wrong}")),
            None => Ok(Program { steps }),
        }
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_was_written() {
        let text = "0 new:b1 glGenBuffers 1\n@attach\n1 glFinish\n";
        let program: Program = format!("# why\n\n{text}").parse().expect("steps");
        assert_eq!(program.to_string(), text);
        assert_eq!(program.plain().captured_at(1, ATTACH), program);
    }

    #[test]
    fn line_without_a_thread_is_no_step() {
        assert_eq!("glFinish".parse::<Program>(), Err("not a step: glFinish".into()));
    }

    #[test]
    fn runner_gets_numbers_for_constants() {
        let mut text = String::new();
        Program::add_runner_line("0 glBindBuffer GL_ARRAY_BUFFER b1 ints:GL_RGBA,b2", &mut text);
        assert_eq!(text, "0 glBindBuffer 34962 b1 ints:6408,b2\n");
    }
}
