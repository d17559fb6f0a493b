//! The rule that says which commands end a frame, as the mode page carries it: words, each ended by a NUL byte, and then NUL
//! bytes. A word is a pattern of function names, or `group:` and a pattern of names of debug groups. Text that is not of
//! this form is read as far as it goes.
//!
//! Makes no rule and refuses none: `gapii_trace::frame_rule` does that.

pub use gapii_ringbuf::FRAME_RULE_BYTES;

/// The beginning of a word about debug groups.
pub const GROUP: &[u8] = b"group:";

/// A word of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word<'a> {
    /// Commands whose function has a name that fits this pattern end a frame.
    Function(&'a [u8]),
    /// The end of a debug group whose name fits this pattern ends a frame.
    Group(&'a [u8]),
}

impl<'a> Word<'a> {
    /// Returns the word that is written like this.
    pub fn of(text: &'a [u8]) -> Self {
        match text.strip_prefix(GROUP) {
            Some(pattern) => Self::Group(pattern),
            None => Self::Function(text),
        }
    }
}

/// Returns the words of a rule; none for a capture without one.
pub fn words(text: &[u8]) -> impl Iterator<Item = Word<'_>> {
    text.split(|byte| *byte == 0).take_while(|word| !word.is_empty()).map(Word::of)
}

/// Returns true if a rule ends frames at the commands of the function with this name.
pub fn has_function(text: &[u8], name: &[u8]) -> bool {
    words(text).any(|word| matches!(word, Word::Function(pattern) if fits(pattern, name)))
}

/// Returns true if a rule ends frames at the ends of debug groups with this name.
pub fn has_group(text: &[u8], name: &[u8]) -> bool {
    words(text).any(|word| matches!(word, Word::Group(pattern) if fits(pattern, name)))
}

/// Returns true if a rule ends frames at the ends of any debug groups.
pub fn has_groups(text: &[u8]) -> bool {
    words(text).any(|word| matches!(word, Word::Group(_)))
}

/// Returns true if a name matches a pattern, in which `*` stands for any characters and `?` for one byte.
pub fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    // The place behind the last `*`, and how far the characters that this `*` stands for reach in the name.
    let mut star = None;
    while let Some(next) = name.get(in_name) {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, in_name));
            }
            Some(byte) if *byte == b'?' || byte == next => {
                at += 1;
                in_name += 1;
            }
            _ => match &mut star {
                Some((behind, end)) => {
                    *end += 1;
                    (at, in_name) = (*behind, *end);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_names() {
        let check = |pattern: &str, name: &str, expected| {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        };
        check("glClear", "glClear", true);
        check("glClear", "glClearColor", false);
        check("glClear", "glcLear", false);
        check("glClear*", "glClear", true);
        check("glClear*", "glClearColor", true);
        check("*", "", true);
        check("", "", true);
        check("", "x", false);
        check("gl?lear", "glClear", true);
        check("gl*Array*s", "glDrawArraysInstanceds", true);
        check("*a*b*c", "aXbXbXc", true);
        check("*a*b*c", "aXcXb", false);
        check("a*a*a*a*a*a*b", &"a".repeat(120), false);
    }

    #[test]
    fn words_of_a_rule_are_of_functions_and_of_groups() {
        let text = b"glFlush\0group:frame *\0\0glFinish\0";
        let read: [Option<Word<'_>>; 3] = {
            let mut words = words(text);
            [words.next(), words.next(), words.next()]
        };
        assert_eq!(read, [Some(Word::Function(b"glFlush")), Some(Word::Group(b"frame *")), None]);
        assert!(has_function(text, b"glFlush") && has_group(text, b"frame 7"));
        assert!(!has_function(text, b"glFinish") && !has_group(text, b"glFlush"));
        assert!(!has_function(text, b"frame 7") && !has_group(text, b"frame"));
        assert!(has_groups(text) && !has_groups(b"glFlush\0") && !has_groups(&[0; 8]));
    }
}
