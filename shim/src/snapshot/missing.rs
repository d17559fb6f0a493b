//! List of the state that a snapshot leaves out, as sentences for people, at most `BYTES_MAX` (4,096 bytes) in all; if
//! sentences do not fit, the last one says so. A sentence names at most 16 ranges of object names (`RANGES_MAX`) and
//! then counts the rest.

use core::fmt::Write;

/// Maximum size of the list in bytes.
const BYTES_MAX: usize = 4096;
/// Maximum number of ranges of object names in a sentence.
const RANGES_MAX: usize = 16;
const MORE: &str = "and more that there was no room to list";

/// Sentences, each with the names of the objects that it is about.
#[derive(Debug, Default)]
pub struct Missing {
    sentences: Vec<(String, Vec<u32>)>,
}

impl Missing {
    /// Adds a sentence.
    pub fn add(&mut self, what: &str) {
        self.of(what);
    }

    /// Adds an object to the sentence `what`. The names of its objects follow the sentence.
    pub fn add_of(&mut self, what: &str, name: u32) {
        let names = self.of(what);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }

    fn of(&mut self, what: &str) -> &mut Vec<u32> {
        let at = self.sentences.iter().position(|(said, _)| said == what).unwrap_or_else(|| {
            self.sentences.push((what.to_owned(), Vec::new()));
            self.sentences.len() - 1
        });
        &mut self.sentences[at].1
    }

    /// Returns one line per sentence.
    pub fn text(mut self) -> String {
        let mut text = String::new();
        for (what, names) in &mut self.sentences {
            let mut line = core::mem::take(what);
            if !names.is_empty() {
                line.push(' ');
                line.push_str(&ranges(names));
            }
            if text.len() + line.len() + MORE.len() + 2 > BYTES_MAX {
                text.push_str(MORE);
                text.push('\n');
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

/// Formats names as `1-3, 5`.
fn ranges(names: &mut Vec<u32>) -> String {
    names.sort_unstable();
    names.dedup();
    let mut text = String::new();
    let follows = |a: &u32, b: &u32| a.checked_add(1) == Some(*b);
    let mut left = names.len();
    for (at, range) in names.chunk_by(follows).enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        if at == RANGES_MAX {
            let _ = write!(text, "{separator}and {left} more");
            break;
        }
        left -= range.len();
        let _ = match range {
            [one] => write!(text, "{separator}{one}"),
            [first, .., last] => write!(text, "{separator}{first}-{last}"),
            [] => Ok(()),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_lack_the_same_share_a_sentence() {
        let mut missing = Missing::default();
        for name in [3, 1, 2, 9] {
            missing.add_of("the pixels of texture", name);
        }
        missing.add("matrix palettes");
        missing.add("matrix palettes");
        missing.add_of("the pixels of texture", 9);
        assert_eq!(missing.text(), "the pixels of texture 1-3, 9\nmatrix palettes\n");
    }

    #[test]
    fn what_there_is_no_room_for_is_said_to_be_missing_too() {
        let mut missing = Missing::default();
        for name in 0..100 {
            missing.add_of("the pixels of texture", 2 * name);
        }
        let text = missing.text();
        assert!(text.ends_with("30, and 84 more\n"), "{text}");
        let mut missing = Missing::default();
        (0..1000).for_each(|number| missing.add(&format!("sentence number {number}")));
        let text = missing.text();
        assert!(text.len() <= BYTES_MAX && text.ends_with(&format!("{MORE}\n")), "{text}");
    }
}
