//! Selection of the commands that a capture records, by thread, API and function, never by arguments. Patterns know `*`
//! and `?`. At most 256 words of 1 to 128 bytes; a word that fits no function or API is refused. Commands that end a
//! frame ([`FRAME_ENDS`]) are never left out, so that every trace has frames. A numeric thread word is a thread id, any
//! other a pattern of names.
//!
//! A filter selects by thread, API and function, never by arguments. This module filters no record itself.

use std::fmt;

use gapii_abi::frame_rule;
use gapii_commands::FRAME_ENDS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::description::{Description, Function};

/// Most words of a filter.
pub const WORDS_MAX: usize = 256;
/// Longest word of a filter, in bytes.
pub const WORD_LEN_MAX: usize = 128;
/// Three lists of words. A command is recorded if each list is empty or has a word that matches the
/// command.
///
/// Commands that end a frame are always recorded, because a trace without them has no frames.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Filter {
    /// Thread ids, or patterns of thread names.
    pub threads: Vec<String>,
    /// Names of APIs: `egl`, `gl`, `glx`, `level_zero`.
    pub apis: Vec<String>,
    /// Patterns of function names.
    pub functions: Vec<String>,
}

impl Filter {
    /// Returns true if the filter lets every command through.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty() && self.apis.is_empty() && self.functions.is_empty()
    }

    /// Returns true if the filter lets commands of this thread through.
    pub fn wants_thread(&self, tid: u32, name: &str) -> bool {
        let is_it = |word: &String| match word.parse::<u32>() {
            Ok(number) => number == tid,
            Err(_) => fits(word, name),
        };
        self.threads.is_empty() || self.threads.iter().any(is_it)
    }

    /// Returns true if the filter lets calls of this function through, as far as their thread is wanted.
    pub fn wants_function(&self, function: &Function) -> bool {
        (self.apis.is_empty() || self.apis.contains(&function.api))
            && (self.functions.is_empty()
                || self.functions.iter().any(|word| fits(word, &function.name)))
    }

    /// Returns true if calls of this function are recorded on every thread, whatever the filter says.
    pub fn is_wanted_of_all(function: &Function) -> bool {
        function.known.is_some_and(|known| FRAME_ENDS.contains(&known.number()))
    }

    /// Returns a sentence about what is wrong with the filter: a word that matches no function of the description or of this
    /// build, or too many or too long words. `None` if it is valid.
    pub fn mistake(&self, description: &Description) -> Option<String> {
        let words = || self.threads.iter().chain(&self.apis).chain(&self.functions);
        if words().count() > WORDS_MAX {
            return Some(format!("a filter has {WORDS_MAX} words at most"));
        }
        if let Some(word) = words().find(|word| word.is_empty() || word.len() > WORD_LEN_MAX) {
            return Some(format!(
                "a word of a filter has 1 to {WORD_LEN_MAX} bytes, and {word:?} has {}",
                word.len()
            ));
        }
        // A trace describes only the functions that occur in it.
        let functions =
            || description.functions().iter().chain(Description::built_in().functions());
        if let Some(api) =
            self.apis.iter().find(|api| functions().all(|function| function.api != **api))
        {
            return Some(format!("no function of an API {api:?} is recorded"));
        }
        let is_unknown = |word: &&String| functions().all(|function| !fits(word, &function.name));
        self.functions.iter().find(is_unknown).map(|word| {
            format!("no function {word:?} is recorded; names are written as in glClear")
        })
    }
}

/// The lists that are not empty, in one line.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists =
            [("functions", &self.functions), ("APIs", &self.apis), ("threads", &self.threads)];
        let named = lists.iter().filter(|(_, words)| !words.is_empty());
        let parts: Vec<_> = named
            .map(|(what, words)| {
                let words: Vec<_> =
                    words.iter().map(|word| word.escape_debug().to_string()).collect();
                format!("{what} {}", words.join(", "))
            })
            .collect();
        f.write_str(&parts.join("; "))
    }
}

/// Returns true if a name matches a pattern, in which `*` stands for any characters and `?` for one.
pub fn fits(pattern: &str, name: &str) -> bool {
    frame_rule::fits(pattern.as_bytes(), name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn function(name: &str) -> &'static Function {
        Description::built_in().named(name).unwrap()
    }

    #[test]
    fn command_is_wanted_that_fits_a_word_of_each_list() {
        let filter = Filter {
            threads: words(&["17", "draw*"]),
            apis: words(&["gl"]),
            functions: words(&["glDraw*", "glClear", "eglInitialize"]),
        };
        for (tid, name, expected) in
            [(17, "x", true), (18, "drawer", true), (18, "17", false), (1, "loader", false)]
        {
            assert_eq!(filter.wants_thread(tid, name), expected, "{tid} {name}");
        }
        for (name, expected) in [
            ("glDrawArrays", true),
            ("glClear", true),
            ("glFlush", false),
            ("eglInitialize", false),
        ] {
            assert_eq!(filter.wants_function(function(name)), expected, "{name}");
        }
        let all = Filter::default();
        assert!(
            all.is_empty() && all.wants_thread(1, "x") && all.wants_function(function("glClear"))
        );
    }

    #[test]
    fn frames_end_in_functions_that_are_always_wanted() {
        for name in [
            "eglSwapBuffers",
            "eglSwapBuffersWithDamageEXT",
            "eglSwapBuffersWithDamageKHR",
            "glXSwapBuffers",
            "zeCommandQueueExecuteCommandLists",
        ] {
            assert!(Filter::is_wanted_of_all(function(name)), "{name}");
        }
        assert!(!Filter::is_wanted_of_all(function("eglSwapInterval")));
    }

    #[test]
    fn words_that_fit_nothing_are_named() {
        let check = |filter: Filter, expected: Option<&str>| {
            let mistake = filter.mistake(Description::built_in());
            let is_it = match (&mistake, expected) {
                (Some(mistake), Some(word)) => mistake.contains(word),
                (mistake, expected) => mistake.is_none() && expected.is_none(),
            };
            assert!(is_it, "{mistake:?} {expected:?}");
        };
        let functions = |list: &[&str]| Filter { functions: words(list), ..Filter::default() };
        check(Filter::default(), None);
        check(functions(&["glClear", "glDraw*"]), None);
        check(functions(&["glClear", "glclear"]), Some("glclear"));
        check(functions(&[""]), Some("1 to"));
        check(functions(&["*"; WORDS_MAX + 1]), Some("256"));
        check(Filter { apis: words(&["vulkan"]), ..Filter::default() }, Some("vulkan"));
        check(Filter { threads: words(&["nobody"]), ..Filter::default() }, None);
        check(
            Filter { threads: vec!["x".repeat(WORD_LEN_MAX + 1)], ..Filter::default() },
            Some("129"),
        );
    }

    #[test]
    fn filter_says_what_it_wants_in_one_line() {
        let filter = Filter {
            threads: words(&["17", "a\nb"]),
            apis: words(&["egl"]),
            functions: words(&["glDraw*", "glClear"]),
        };
        assert_eq!(filter.to_string(), "functions glDraw*, glClear; APIs egl; threads 17, a\\nb");
    }
}
