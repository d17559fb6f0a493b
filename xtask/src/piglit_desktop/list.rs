//! `List`: the tests of desktop OpenGL in Debian's piglit, and which of them a run takes. Runs nothing but `gzip`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::ensure;

use crate::step;

/// The list of all tests of piglit that are programs, from piglit's folder.
const FILE: &str = "tests/opengl.xml.gz";

/// What stands in the names of tests of OpenGL ES and of EGL alone, which tests/data/piglit.txt has.
const NOT_DESKTOP: &[&str] =
    &["_gles", "gles1", "gles2", "gles3", "opengl es", "spec@egl", "spec@oes_", "glsl-es", "wgl@"];
/// Folders of versions with fixed functions, which have display lists and immediate mode.
const COMPATIBILITY: &[&str] = &["spec@!opengl 1.", "spec@!opengl 2."];
/// What stands in the names of tests of display lists.
const LISTS: &[&str] = &["dlist", "displaylist", "display list", "display-list"];

/// A program with arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// Piglit's name: folders and test, with `@` between them.
    pub name: String,
    pub program: String,
    pub arguments: Vec<String>,
    /// Draws into a framebuffer object, not into a window.
    pub is_offscreen: bool,
    /// Platforms on which alone it runs; empty: on all.
    required: Vec<String>,
}

/// Which part of a run a test belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    Glx,
    DisplayLists,
    Compatibility,
    /// One test of each other program, in an order that the seed decides.
    Sample,
}

impl Part {
    pub const ALL: [Self; 4] = [Self::Glx, Self::DisplayLists, Self::Compatibility, Self::Sample];

    /// As in results and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Glx => "glx",
            Self::DisplayLists => "display lists",
            Self::Compatibility => "compatibility",
            Self::Sample => "sample",
        }
    }
}

/// Returns the tests of a piglit for this platform that are not of OpenGL ES or EGL alone.
pub fn read(piglit: &Path, platform: &str) -> anyhow::Result<Vec<Test>> {
    let file = piglit.join(FILE);
    let text = step::output(step::command("gzip", &["-dc"]).arg(&file))?;
    let all: Vec<_> = text.split("<Test ").skip(1).filter_map(test).collect();
    ensure!(!all.is_empty(), "{} has no test", file.display());
    let is_wanted = |test: &Test| {
        !NOT_DESKTOP.iter().any(|part| test.name.contains(part) || test.program.contains(part))
            && (test.required.is_empty() || test.required.iter().any(|name| name == platform))
            && piglit.join("bin").join(&test.program).exists()
    };
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// Divides tests into parts. The sample is in the order in which it is drawn.
pub fn divide(tests: Vec<Test>, seed: u64) -> BTreeMap<Part, Vec<Test>> {
    let mut parts: BTreeMap<Part, Vec<Test>> = BTreeMap::new();
    let mut others: BTreeMap<String, Vec<Test>> = BTreeMap::new();
    for test in tests {
        match whole(&test.name) {
            Some(part) => parts.entry(part).or_default().push(test),
            None => others.entry(test.program.clone()).or_default().push(test),
        }
    }
    let mut random = Random(seed | 1);
    let mut others: Vec<_> = others.into_values().collect();
    let mut sample = Vec::new();
    while !others.is_empty() {
        let mut of_program = others.swap_remove(random.below(others.len()));
        sample.push(of_program.swap_remove(random.below(of_program.len())));
    }
    parts.insert(Part::Sample, sample);
    parts
}

/// The part that takes all tests of which this is one.
fn whole(name: &str) -> Option<Part> {
    let contains = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if name.starts_with("glx@") {
        Some(Part::Glx)
    } else if contains(LISTS) {
        Some(Part::DisplayLists)
    } else {
        contains(COMPATIBILITY).then_some(Part::Compatibility)
    }
}

/// Reads what follows `<Test `.
fn test(text: &str) -> Option<Test> {
    let name = unescaped(between(text, "name=\"", "\"")?);
    let option = |name: &str| {
        let value = between(text, &format!("<option name=\"{name}\" value=\""), "\"");
        value.map(unescaped)
    };
    let mut words = words(&option("command")?).into_iter();
    let program = words.next()?;
    let is_offscreen = option("run_concurrent")? == "True";
    let required = option("require_platforms").map_or_else(Vec::new, |list| self::words(&list));
    Some(Test { name, program, arguments: words.collect(), is_offscreen, required })
}

fn between<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(behind).map(|(found, _)| found)
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&amp;", "&")
}

/// The strings in a list as Python prints it.
fn words(list: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = list;
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = &rest[at..=at];
        let Some((word, behind)) = rest[at + 1..].split_once(quote) else { break };
        words.push(word.to_owned());
        rest = behind;
    }
    words
}

/// Reproducible numbers (xorshift64*).
struct Random(u64);

impl Random {
    /// A number below `limit`, which is not zero.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16) as usize % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, program: &str) -> Test {
        let arguments = vec![name.to_owned()];
        let (name, program) = (name.to_owned(), program.to_owned());
        Test { name, program, arguments, is_offscreen: true, required: Vec::new() }
    }

    #[test]
    fn test_of_the_list_is_read_with_arguments_and_platforms() {
        let text = r#"type="gl" name="glx@a &gt;b"><option name="command" value="['a', '--size', &quot;it's&quot;]" /><option name="run_concurrent" value="False" /><option name="require_platforms" value="['glx', 'mixed_glx_egl']" /></Test>"#;
        let read = test(text).unwrap();
        assert_eq!((read.name.as_str(), read.program.as_str()), ("glx@a >b", "a"));
        assert_eq!(read.arguments, ["--size", "it's"]);
        assert_eq!(read.required, ["glx", "mixed_glx_egl"]);
        assert!(!read.is_offscreen);
    }

    #[test]
    fn folders_are_taken_whole_and_one_test_of_each_other_program() {
        let tests = || {
            let other = (0..40).map(|number| {
                named(&format!("spec@arb_x@{number}"), &format!("program{}", number / 2))
            });
            let whole = [
                named("glx@dlist", "a"),
                named("spec@arb_y@dlist", "a"),
                named("spec@!opengl 1.1@one", "b"),
                named("spec@!opengl 1.1@two", "b"),
            ];
            whole.into_iter().chain(other).collect::<Vec<_>>()
        };
        let names = |seed: u64, part: Part| {
            let parts = divide(tests(), seed);
            parts[&part].iter().map(|test| test.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(1, Part::Glx), ["glx@dlist"]);
        assert_eq!(names(1, Part::DisplayLists), ["spec@arb_y@dlist"]);
        assert_eq!(names(1, Part::Compatibility).len(), 2);
        assert_eq!(names(1, Part::Sample).len(), 20);
        assert_eq!(names(1, Part::Sample), names(1, Part::Sample));
        assert_ne!(names(1, Part::Sample), names(2, Part::Sample));
    }
}
