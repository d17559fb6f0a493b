//! Compares the output of `apitrace dump` for two traces, call by call.
//!
//! One trace is an exported recording of gapii, the other is apitrace's own recording of the same program. Compares names,
//! the order of each thread, every argument and result down to the elements of arrays, the lengths of blobs, and calls
//! marked as fake. An enum's name equals its number. Addresses are compared by a one-to-one mapping.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

use crate::enums::Enums;
use crate::process::run;

/// A line of a dump.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    number: u64,
    thread: u32,
    pub name: String,
    /// Arguments, then the result if the call has one; each as its words.
    values: Vec<Vec<String>>,
    has_result: bool,
    /// Marked `// fake`: inserted by a recorder, not made by the program.
    pub fake: bool,
}

impl Call {
    fn result(&self) -> Option<&[String]> {
        self.values.last().filter(|_| self.has_result).map(Vec::as_slice)
    }
}

/// Every call in a trace.
pub fn calls(trace: &Path) -> Vec<Call> {
    let mut command = Command::new("apitrace");
    // Without -v apitrace hides calls without side effects, such as glGetError.
    command.args(["dump", "-v", "--color=never", "--thread-ids=yes", "--multiline=no"]).arg(trace);
    let dump = run(&mut command).ok();
    let lines = lines(&dump.stdout);
    let calls = lines.iter().filter(|line| !line.is_empty() && !line.starts_with("//"));
    let parsed =
        calls.map(|line| parse(line).unwrap_or_else(|| panic!("a line of apitrace dump: {line}")));
    // apitrace inserts it to fix the locations that the driver assigned; gapii's export does not need it.
    parsed.filter(|call| !(call.fake && call.name == "glBindAttribLocation")).collect()
}

/// Returns one sentence per difference between the dump of gapii's trace and the dump of apitrace's.
pub fn differences(ours: &[Call], theirs: &[Call]) -> Vec<String> {
    let mut comparison =
        Comparison { enums: Enums::from_headers(), addresses: HashMap::new(), found: Vec::new() };
    let (ours, theirs) = (by_thread(ours), by_thread(theirs));
    if ours.len() != theirs.len() {
        comparison.found.push(format!("{} threads, not {}", ours.len(), theirs.len()));
    }
    for (ours, theirs) in ours.values().zip(theirs.values()) {
        comparison.thread(ours, theirs);
    }
    comparison.found
}

/// Most calls that are skipped in search of the next pair that fits.
const LOOK_AHEAD: usize = 32;

/// Returns true if two calls may be the same call.
fn fits(our: &Call, their: &Call) -> bool {
    (&our.name, our.fake) == (&their.name, their.fake)
}

/// Returns the smallest numbers of calls to skip on both sides so that the next calls fit.
fn next_that_fits(ours: &[&Call], theirs: &[&Call]) -> Option<(usize, usize)> {
    let pairs = (1..=LOOK_AHEAD).flat_map(|sum| (0..=sum).map(move |own| (own, sum - own)));
    let mut there = pairs.filter(|(own, others)| *own < ours.len() && *others < theirs.len());
    there.find(|(own, others)| fits(ours[*own], theirs[*others]))
}

fn by_thread(calls: &[Call]) -> BTreeMap<u32, Vec<&Call>> {
    let mut threads: BTreeMap<u32, Vec<&Call>> = BTreeMap::new();
    for call in calls {
        threads.entry(call.thread).or_default().push(call);
    }
    threads
}

struct Comparison {
    enums: &'static Enums,
    /// Our address for each address of apitrace.
    addresses: HashMap<String, String>,
    found: Vec<String>,
}

impl Comparison {
    fn thread(&mut self, mut ours: &[&Call], mut theirs: &[&Call]) {
        while let (Some(our), Some(their)) = (ours.first(), theirs.first()) {
            if fits(our, their) {
                self.call(our, their);
                (ours, theirs) = (&ours[1..], &theirs[1..]);
                continue;
            }
            let Some((own, others)) = next_that_fits(ours, theirs) else { break };
            self.only("ours", &ours[..own]);
            self.only("theirs", &theirs[..others]);
            (ours, theirs) = (&ours[own..], &theirs[others..]);
        }
        self.only("ours", ours);
        self.only("theirs", theirs);
    }

    fn only(&mut self, whose: &str, calls: &[&Call]) {
        let describe = |call: &&Call| {
            let fake = if call.fake { "fake " } else { "" };
            format!("only {whose}: {fake}{} ({})", call.name, call.number)
        };
        self.found.extend(calls.iter().map(describe));
    }

    fn call(&mut self, ours: &Call, theirs: &Call) {
        if let (Some([their]), Some([our])) = (theirs.result(), ours.result())
            && their.starts_with("0x")
        {
            // A new handle: from now on, theirs stands for ours.
            self.addresses.insert(their.clone(), our.clone());
        }
        let same = (ours.values.len(), ours.has_result) == (theirs.values.len(), theirs.has_result)
            && ours.values.iter().zip(&theirs.values).all(|(our, their)| {
                our.len() == their.len() && our.iter().zip(their).all(|(o, t)| self.same(o, t))
            });
        if !same {
            let name = &ours.name;
            let found = format!(
                "{name}: {:?} ({}) is not {:?} ({})",
                ours.values, ours.number, theirs.values, theirs.number
            );
            self.found.push(found);
        }
    }

    fn same(&self, ours: &str, theirs: &str) -> bool {
        if ours == theirs {
            return true;
        }
        if theirs.starts_with("0x") {
            return match self.addresses.get(theirs) {
                Some(known) => known == ours,
                None => ours.starts_with("0x"),
            };
        }
        match (self.number(ours), self.number(theirs)) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs() <= 1e-5 * theirs.abs(),
            _ => false,
        }
    }

    fn number(&self, word: &str) -> Option<f64> {
        word.parse().ok().or_else(|| match word {
            "true" => Some(1.0),
            "false" => Some(0.0),
            // Names of desktop GL, which the headers of ES have with a suffix.
            names => [names.to_owned(), format!("{names}_EXT")]
                .iter()
                .find_map(|names| self.enums.value(names))
                .map(|value| value as f64),
        })
    }
}

/// Lines of a dump; text in quotes may have line breaks.
fn lines(dump: &str) -> Vec<&str> {
    let (mut lines, mut begin) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in dump.bytes().enumerate() {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b'\n' if !quoted => {
                lines.push(&dump[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
    }
    lines
}

/// `12 @0 glName(a = 1, b = {2, 3}) = 4 // fake`
fn parse(line: &str) -> Option<Call> {
    let (line, fake) = match line.strip_suffix(" // fake") {
        Some(line) => (line, true),
        None => (line.strip_suffix(" // incomplete").unwrap_or(line), false),
    };
    let (number, rest) = line.split_once(" @")?;
    let (thread, rest) = rest.split_once(' ')?;
    let (name, rest) = rest.split_once('(')?;
    let mut scanner = Scanner { rest };
    let mut values = Vec::new();
    while !scanner.eat(")") {
        scanner.skip_name()?;
        values.push(scanner.value());
        scanner.eat(", ");
    }
    let has_result = scanner.eat(" = ");
    if has_result {
        values.push(scanner.value());
    }
    let (number, thread) = (number.parse().ok()?, thread.parse().ok()?);
    let name = name.to_owned();
    let call = Call { number, thread, name, values, has_result, fake };
    scanner.rest.is_empty().then_some(call)
}

struct Scanner<'a> {
    rest: &'a str,
}

impl Scanner<'_> {
    fn skip_name(&mut self) -> Option<()> {
        self.rest = self.rest.split_once(" = ")?.1;
        Some(())
    }

    /// The words of a value: elements of arrays, whole texts, names joined by `|`.
    fn value(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        let (mut depth, mut word) = (0, String::new());
        while let Some(next) = self.rest.chars().next() {
            match next {
                '"' => word.push_str(self.quoted()),
                '{' => depth += 1,
                '}' => depth -= 1,
                '&' => {}
                '(' => word.push_str(self.bracketed()),
                ',' | ')' if depth == 0 => break,
                ',' => words.push(std::mem::take(&mut word)),
                ' ' if word.is_empty() => {}
                ' ' if depth == 0 && !self.rest.starts_with(" | ") && !word.ends_with('|') => break,
                other => word.push(other),
            }
            if !matches!(next, '"' | '(') {
                self.rest = &self.rest[next.len_utf8()..];
            }
        }
        words.push(word);
        words
    }

    fn quoted(&mut self) -> &str {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let closes = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            closes
        });
        self.split(end.map_or(self.rest.len(), |(at, _)| at + 1))
    }

    fn bracketed(&mut self) -> &str {
        self.split(self.rest.find(')').map_or(self.rest.len(), |at| at + 1))
    }

    fn split(&mut self, at: usize) -> &str {
        let (head, rest) = self.rest.split_at(at);
        self.rest = rest;
        head
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

    fn call(line: &str) -> Call {
        parse(line).unwrap_or_else(|| panic!("{line}"))
    }

    #[test]
    fn values_of_a_line_are_its_words() {
        let check = |line: &str, expected: &[&[&str]]| {
            let values = call(line).values;
            let expected: Vec<Vec<_>> = expected
                .iter()
                .map(|words| words.iter().map(|w| (*w).to_owned()).collect())
                .collect();
            assert_eq!(values, expected, "{line}");
        };
        check("7 @0 glFlush()", &[]);
        check("8 @1 glGetError() = GL_NO_ERROR", &[&["GL_NO_ERROR"]]);
        check(
            r#"9 @0 glBindAttribLocation(program = 3, index = 3, name = "pl\"a, (ce") // fake"#,
            &[&["3"], &["3"], &[r#""pl\"a, (ce""#]],
        );
        check(
            "5 @0 eglChooseConfig(dpy = 0x10, list = {EGL_NONE, 8}, n = &-1) = EGL_TRUE",
            &[&["0x10"], &["EGL_NONE", "8"], &["-1"], &["EGL_TRUE"]],
        );
        check(
            "6 @0 glClear(mask = GL_A | GL_B, data = blob(24))",
            &[&["GL_A | GL_B"], &["blob(24)"]],
        );
    }

    #[test]
    fn argument_that_differs_is_found() {
        let check = |ours: &str, theirs: &str, same: bool| {
            let [ours, theirs] =
                [ours, theirs].map(|value| call(&format!("1 @0 glX(x = {value})")));
            assert_eq!(differences(&[ours], &[theirs]).is_empty(), same);
        };
        check("GL_TRIANGLES", "4", true);
        check("GL_TRIANGLES", "5", false);
        check("{GL_TRIANGLES, 1}", "{4, 1}", true);
        check("{4}", "{4, 1}", false);
        check("blob(24)", "blob(24)", true);
        check("blob(24)", "blob(32)", false);
        check("blob(24)", "0x1234", false);
        check("0x5678", "0x1234", true);
        check("NULL", "0x1234", false);
        check("\"a\"", "\"b\"", false);
        check("GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT", "GL_DEPTH_BUFFER_BIT | 0x4000", true);
    }

    #[test]
    fn call_that_one_has_is_found() {
        let [one, two] = ["1 @0 glFlush()", "2 @0 glFinish()"].map(call);
        assert_eq!(differences(std::slice::from_ref(&one), std::slice::from_ref(&two)).len(), 2);
        assert_eq!(differences(std::slice::from_ref(&one), &[one.clone(), two.clone()]).len(), 1);
        let fake = Call { fake: true, ..one.clone() };
        assert_eq!(differences(std::slice::from_ref(&fake), std::slice::from_ref(&one)).len(), 2);
        // Later calls are compared too.
        let found = differences(&[fake, one.clone(), two.clone()], &[one, two]);
        assert_eq!(found, ["only ours: fake glFlush (1)"]);
    }
}
