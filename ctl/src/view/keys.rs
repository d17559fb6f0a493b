//! `Keys`: the keys that the bytes of a terminal stand for. An escape byte alone is the Escape key only once nothing
//! followed it for [`ESCAPE_WAIT`], because sequences of other keys begin with it. A sequence or byte without a meaning
//! here is left out.

use std::time::Duration;

/// Time in which the rest of a sequence follows its escape byte.
pub const ESCAPE_WAIT: Duration = Duration::from_millis(50);

const ESCAPE: u8 = 0x1b;
/// Longest sequence that is waited for, in bytes.
const SEQUENCE_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Up,
    Down,
    First,
    Last,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-L: draw everything again.
    Redraw,
    /// A printable character of ASCII.
    Char(char),
}

/// Bytes that are not a whole key yet.
#[derive(Default)]
pub struct Keys {
    pending: Vec<u8>,
}

impl Keys {
    /// Returns the keys that are complete with these bytes.
    pub fn of(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.pending.extend_from_slice(bytes);
        let (mut keys, mut at) = (Vec::new(), 0);
        while let Some((key, len)) = first(&self.pending[at..]) {
            keys.extend(key);
            at += len;
        }
        self.pending.drain(..at);
        keys
    }

    /// Whether the rest of a sequence may follow.
    pub fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Ends the wait for the rest: an escape byte alone is the Escape key.
    pub fn settle(&mut self) -> Option<Key> {
        let is_alone = self.pending == [ESCAPE];
        self.pending.clear();
        is_alone.then_some(Key::Escape)
    }
}

/// Returns the first key, if it has a meaning, and its number of bytes; `None` if it is not complete.
fn first(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    match *bytes {
        [] | [ESCAPE] => None,
        [ESCAPE, ESCAPE, ..] => Some((Some(Key::Escape), 1)),
        [ESCAPE, b'[', ref rest @ ..] => match rest.iter().position(|byte| *byte >= b'@') {
            Some(last) => Some((of_sequence(&rest[..=last]), last + 3)),
            None if bytes.len() > SEQUENCE_MAX => Some((None, bytes.len())),
            None => None,
        },
        [ESCAPE, b'O'] => None,
        [ESCAPE, b'O', last, ..] => Some((of_sequence(&[last]), 3)),
        // A key together with Alt.
        [ESCAPE, ..] => Some((None, 2)),
        [byte, ..] => Some((of_byte(byte), 1)),
    }
}

/// The key of a sequence behind `ESC [` or `ESC O`, as xterm and the Linux console send it.
fn of_sequence(rest: &[u8]) -> Option<Key> {
    match rest {
        b"A" => Some(Key::Up),
        b"B" => Some(Key::Down),
        b"H" | b"1~" | b"7~" | b"5~" => Some(Key::First),
        b"F" | b"4~" | b"8~" | b"6~" => Some(Key::Last),
        _ => None,
    }
}

fn of_byte(byte: u8) -> Option<Key> {
    match byte {
        b'\r' | b'\n' => Some(Key::Enter),
        0x7f | 0x08 => Some(Key::Backspace),
        0x0c => Some(Key::Redraw),
        b' '..=b'~' => Some(Key::Char(char::from(byte))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_keys_however_they_are_split() {
        let check = |bytes: &[u8], expected: &[Key]| {
            assert_eq!(Keys::default().of(bytes), expected, "{bytes:?} at once");
            let mut keys = Keys::default();
            let found: Vec<_> = bytes.iter().flat_map(|byte| keys.of(&[*byte])).collect();
            assert_eq!((found.as_slice(), keys.is_waiting()), (expected, false), "{bytes:?}");
        };
        check(b"jk\r", &[Key::Char('j'), Key::Char('k'), Key::Enter]);
        check(b"\x1b[A\x1b[B", &[Key::Up, Key::Down]);
        check(b"\x1bOA\x1b[5~\x1b[F", &[Key::Up, Key::First, Key::Last]);
        check(b"\x7f\x0c", &[Key::Backspace, Key::Redraw]);
        // A function key, a key with Alt, a letter of another alphabet, Ctrl-A.
        check(b"\x1b[15~\x1bq\xc3\xa9\x01x", &[Key::Char('x')]);
        check(b"\x1b\x1b[A", &[Key::Escape, Key::Up]);
    }

    #[test]
    fn escape_byte_alone_is_a_key_once_nothing_follows() {
        let mut keys = Keys::default();
        assert_eq!((keys.of(b"\x1b"), keys.is_waiting()), (vec![], true));
        assert_eq!((keys.settle(), keys.is_waiting()), (Some(Key::Escape), false));
        assert_eq!(keys.of(b"\x1b["), []);
        assert_eq!((keys.settle(), keys.is_waiting()), (None, false), "half a sequence");
    }

    #[test]
    fn sequence_without_an_end_is_dropped() {
        let mut keys = Keys::default();
        assert_eq!(keys.of(&[b"\x1b[".as_slice(), &[b'1'; SEQUENCE_MAX]].concat()), []);
        assert_eq!(keys.of(b"q"), [Key::Char('q')]);
    }
}
