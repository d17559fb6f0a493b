//! Records with Debian's apitrace, and reads the output of `apitrace dump`.
//!
//! Knows which calls are apitrace's own and leaves them out.

use std::path::Path;
use std::process::Command;

use crate::process::run;

/// A call that the program made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub number: u64,
    /// apitrace's own count of threads, from 0.
    pub thread: u32,
    pub name: String,
    pub args: Vec<(String, Value)>,
    pub result: Option<Value>,
}

/// An argument or result, as far as apitrace prints it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Number(f64),
    /// An integer; wide enough for every integer type of the API.
    Integer(i128),
    /// Names joined by `|`.
    Names(String),
    Pointer(u64),
    /// A string, an array, a structure or a blob: memory.
    Memory,
}

/// Records `program` into `trace`.
pub fn record(program: &Command, trace: &Path) -> crate::process::Finished {
    let mut command = Command::new("apitrace");
    command.args(["trace", "--api", "egl", "-o"]).arg(trace);
    crate::gapii::append(&mut command, program);
    run(&mut command)
}

/// Returns the number of frames of a trace.
pub fn frames(trace: &Path) -> u64 {
    let mut command = Command::new("apitrace");
    command.args(["dump", "--color=never", "--calls=frame"]).arg(trace);
    let swaps = run(&mut command).ok().stdout;
    swaps.lines().filter(|line| line.contains("SwapBuffers")).count() as u64
}

/// Every call in a trace that the program made itself.
pub fn calls(trace: &Path) -> Vec<Call> {
    let mut command = Command::new("apitrace");
    // Without -v it hides glIs*, glGetString, eglGetConfigAttrib and glGetError without error.
    command.args(["dump", "-v", "--color=never", "--thread-ids=yes", "--multiline=no"]).arg(trace);
    let dump = run(&mut command).ok();
    dump.stdout.lines().filter_map(parse).collect()
}

/// A line of the dump; `None` for remarks and for calls that apitrace made.
fn parse(line: &str) -> Option<Call> {
    if line.is_empty() || line.starts_with("//") || line.ends_with("// fake") {
        return None;
    }
    let call = Parser { rest: line }.call();
    Some(call.unwrap_or_else(|| panic!("a line of apitrace dump: {line}")))
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// `12 @0 glName(a = 1, b = 2) = 3`
    fn call(mut self) -> Option<Call> {
        let number = self.up_to(" @")?.parse().ok()?;
        let thread = self.up_to(" ")?.parse().ok()?;
        let name = self.up_to("(")?.to_owned();
        let mut args = Vec::new();
        while !self.eat(")") {
            let name = self.up_to(" = ")?.to_owned();
            args.push((name, self.value()?));
            self.eat(", ");
        }
        let result = if self.eat(" = ") { Some(self.value()?) } else { None };
        Some(Call { number, thread, name, args, result })
    }

    fn value(&mut self) -> Option<Value> {
        let first = self.rest.chars().next()?;
        match first {
            '"' => self.string(),
            '{' => self.braces(),
            '&' => {
                self.eat("&");
                self.value()?;
                Some(Value::Memory)
            }
            _ => {
                let end = self.rest.find([',', ')', '}', ' ']).unwrap_or(self.rest.len());
                if self.rest[..end].starts_with("blob(") {
                    self.rest = &self.rest[end + 1..];
                    return Some(Value::Memory);
                }
                self.word()
            }
        }
    }

    /// A number, `NULL`, an address, or names joined by ` | `.
    fn word(&mut self) -> Option<Value> {
        let mut end = self.end_of_word(0);
        while self.rest[end..].starts_with(" | ") {
            end = self.end_of_word(end + 3);
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word == "NULL" {
            return Some(Value::Null);
        }
        if let Some(digits) = word.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok().map(Value::Pointer);
        }
        if let Ok(integer) = word.parse() {
            return Some(Value::Integer(integer));
        }
        match word.parse() {
            Ok(number) => Some(Value::Number(number)),
            Err(_) => Some(Value::Names(word.to_owned())),
        }
    }

    fn end_of_word(&self, from: usize) -> usize {
        let length = self.rest[from..].find([',', ')', '}', ' ']);
        length.map_or(self.rest.len(), |length| from + length)
    }

    fn string(&mut self) -> Option<Value> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let closes = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            closes
        })?;
        self.rest = &self.rest[end.0 + 1..];
        Some(Value::Memory)
    }

    fn braces(&mut self) -> Option<Value> {
        self.eat("{");
        while !self.eat("}") {
            if let Some(at) = self.rest.find(" = ")
                && self.rest[..at].chars().all(|c| c.is_alphanumeric() || c == '_')
            {
                self.rest = &self.rest[at + 3..];
            }
            self.value()?;
            self.eat(", ");
        }
        Some(Value::Memory)
    }

    fn up_to(&mut self, end: &str) -> Option<&'a str> {
        let (before, after) = self.rest.split_once(end)?;
        self.rest = after;
        Some(before)
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_a_dump_is_read_whole() {
        let check = |line: &str, args: &[Value], result: Option<Value>| {
            let call = parse(line).unwrap();
            let read: Vec<_> = call.args.into_iter().map(|(_, value)| value).collect();
            assert_eq!((&read[..], call.result), (args, result), "{line}");
        };
        let names = |text: &str| Value::Names(text.to_owned());
        check("7 @0 glFlush()", &[], None);
        check("8 @1 glGetError() = GL_NO_ERROR", &[], Some(names("GL_NO_ERROR")));
        check(
            r#"9 @0 glBindAttribLocation(program = 3, index = 3, name = "pl\"a, (ce")"#,
            &[Value::Integer(3), Value::Integer(3), Value::Memory],
            None,
        );
        check(
            "5 @0 eglChooseConfig(dpy = 0x10, attrib_list = {EGL_NONE, 8}, configs = &0x20, n = -1) = EGL_TRUE",
            &[Value::Pointer(16), Value::Memory, Value::Memory, Value::Integer(-1)],
            Some(names("EGL_TRUE")),
        );
        check(
            "6 @0 glClear(mask = GL_DEPTH_BUFFER_BIT | GL_COLOR_BUFFER_BIT)",
            &[names("GL_DEPTH_BUFFER_BIT | GL_COLOR_BUFFER_BIT")],
            None,
        );
        check(
            "6 @0 glBufferData(size = 18446744073709551615, data = blob(32), x = 0.5)",
            &[Value::Integer(u64::MAX.into()), Value::Memory, Value::Number(0.5)],
            None,
        );
    }

    #[test]
    fn calls_of_apitrace_itself_are_left_out() {
        assert_eq!(parse("7 @0 glViewport(x = 0, y = 0, width = 64, height = 64) // fake"), None);
        assert_eq!(parse("// process.name = \"/tmp/x\""), None);
    }
}
