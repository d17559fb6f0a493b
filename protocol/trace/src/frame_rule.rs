//! `FrameRule`: which commands end a frame in a capture with `--frame-end`. Then swaps end frames only if the rule names
//! them. A rule has 1 to 32 words (`WORDS_MAX`) of 1 to 128 bytes, at most 1,023 bytes in all; a word that fits no function
//! is refused.
//!
//! It only says what was asked for. Which commands of a trace ended frames, the records say
//! ([`Command::ends_frame`](crate::Command::ends_frame)).

use std::fmt;

use gapii_abi::frame_rule::{self, FRAME_RULE_BYTES, Word};
use gapii_commands::CommandId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::description::{Description, Function};
use crate::filter::WORD_LEN_MAX;

/// Most words of a rule.
pub const WORDS_MAX: usize = 32;

/// Commands that begin and end debug groups.
const GROUPS: [CommandId; 6] = [
    CommandId::GL_PUSH_DEBUG_GROUP,
    CommandId::GL_PUSH_DEBUG_GROUP_KHR,
    CommandId::GL_PUSH_GROUP_MARKER_EXT,
    CommandId::GL_POP_DEBUG_GROUP,
    CommandId::GL_POP_DEBUG_GROUP_KHR,
    CommandId::GL_POP_GROUP_MARKER_EXT,
];

/// Words that say which commands end a frame: patterns of function names, and `group:` with a pattern of names of debug
/// groups. Without a word, successful swaps end frames.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FrameRule(pub Vec<String>);

impl FrameRule {
    /// Returns true if successful swaps end frames.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if ends of debug groups end frames.
    pub fn has_groups(&self) -> bool {
        self.words().any(|word| matches!(word, Word::Group(_)))
    }

    /// Returns true if the rule needs the calls of this function: they end frames, or begin or end debug groups that it names.
    pub fn needs(&self, function: &Function) -> bool {
        let is_group = function.known.is_some_and(|known| GROUPS.contains(&known));
        self.words().any(|word| match word {
            Word::Function(pattern) => frame_rule::fits(pattern, function.name.as_bytes()),
            Word::Group(_) => is_group,
        })
    }

    /// Returns a sentence about what is wrong with the rule. `None` if it is valid.
    pub fn mistake(&self, description: &Description) -> Option<String> {
        if self.0.len() > WORDS_MAX {
            return Some(format!("frames end at {WORDS_MAX} functions and groups at most"));
        }
        let is_bad =
            |word: &&String| word.is_empty() || word.len() > WORD_LEN_MAX || word.contains('\0');
        if let Some(word) = self.0.iter().find(is_bad) {
            return Some(format!(
                "a function or group that ends frames has 1 to {WORD_LEN_MAX} bytes, none of them NUL, and {word:?} has {}",
                word.len()
            ));
        }
        if self.0.iter().map(|word| word.len() + 1).sum::<usize>() >= FRAME_RULE_BYTES {
            return Some(format!(
                "the functions and groups that end frames have more than {} bytes",
                FRAME_RULE_BYTES - 1
            ));
        }
        let is_unknown = |word: &&String| match Word::of(word.as_bytes()) {
            Word::Function(pattern) => {
                let fits =
                    |function: &Function| frame_rule::fits(pattern, function.name.as_bytes());
                !description.functions().iter().any(fits)
            }
            Word::Group(pattern) => pattern.is_empty(),
        };
        self.0.iter().find(is_unknown).map(|word| {
            format!(
                "no function {word:?} is recorded, at which a frame could end; names are written as in glFlush, and debug \
                 groups as in group:frame"
            )
        })
    }

    /// Returns the rule as the mode page carries it.
    pub fn text(&self) -> Vec<u8> {
        let word = |word: &String| [word.as_bytes(), b"\0"].concat();
        self.0.iter().flat_map(word).collect()
    }

    /// Reads a rule from a mode page.
    pub fn of_text(text: &[u8]) -> Self {
        let words = text.split(|byte| *byte == 0).take_while(|word| !word.is_empty());
        Self(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    }

    fn words(&self) -> impl Iterator<Item = Word<'_>> {
        self.0.iter().map(|word| Word::of(word.as_bytes()))
    }
}

/// The words, in one line.
impl fmt::Display for FrameRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(|word| word.escape_debug().to_string()).collect();
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(words: &[&str]) -> FrameRule {
        FrameRule(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn rule_needs_functions_that_end_frames_and_those_of_groups() {
        let check = |words: &[&str], name: &str, expected| {
            let function = Description::built_in().named(name).unwrap();
            assert_eq!(rule(words).needs(function), expected, "{words:?} {name}");
        };
        check(&["glFlush", "eglCreateSync*"], "glFlush", true);
        check(&["glFlush", "eglCreateSync*"], "eglCreateSyncKHR", true);
        check(&["glFlush"], "glFinish", false);
        check(&["glFlush"], "glPopDebugGroup", false);
        check(&["group:frame"], "glPushDebugGroup", true);
        check(&["group:frame"], "glPopGroupMarkerEXT", true);
        check(&["group:frame"], "glFlush", false);
        check(&[], "eglSwapBuffers", false);
    }

    #[test]
    fn rules_that_end_no_frame_or_have_no_room_are_refused() {
        let check = |words: &[&str], expected: Option<&str>| {
            let mistake = rule(words).mistake(Description::built_in());
            let is_it = match (&mistake, expected) {
                (Some(mistake), Some(word)) => mistake.contains(word),
                (mistake, expected) => mistake.is_none() && expected.is_none(),
            };
            assert!(is_it, "{mistake:?} {expected:?}");
        };
        check(&[], None);
        check(&["glFlush", "group:*", "eglCreateSync*"], None);
        check(&["glflush"], Some("glflush"));
        check(&["group:"], Some("group:"));
        check(&[""], Some("1 to 128"));
        check(&["gl\0"], Some("NUL"));
        check(&["*"; WORDS_MAX + 1], Some("32"));
        let long = format!("group:{}", "x".repeat(122));
        check(&[long.as_str(); 8], Some("1023"));
    }

    #[test]
    fn rule_comes_back_from_the_mode_page() {
        let it = rule(&["glFlush", "group:frame *"]);
        let mut page = it.text();
        assert_eq!(page, b"glFlush\0group:frame *\0");
        page.resize(FRAME_RULE_BYTES, 0);
        assert_eq!(FrameRule::of_text(&page), it);
        assert!(FrameRule::of_text(&[0; 8]).is_empty());
        assert_eq!(it.to_string(), "glFlush, group:frame *");
    }
}
