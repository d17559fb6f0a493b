//! `Longest`: lines of commands, sorted by the commands' time in the driver. Equal times keep the order in which they
//! were offered, and commands without a time come last. Holds at most `top` lines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

/// Time in the driver in nanoseconds, then the ordinal: of equal times the first one is the longest.
type Rank = (Option<u64>, Reverse<u64>);

pub struct Longest {
    /// The line with the lowest rank comes out first.
    lines: BinaryHeap<Reverse<(Rank, Vec<u8>)>>,
    top: usize,
    offered: u64,
}

impl Longest {
    pub fn new(top: usize) -> Longest {
        Longest { lines: BinaryHeap::new(), top, offered: 0 }
    }

    /// Takes the next command; `write` writes its line, and is called only if the line is among the longest so far.
    pub fn offer(
        &mut self,
        driver_ns: Option<u64>,
        write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let rank = (driver_ns, Reverse(self.offered));
        self.offered += 1;
        if self.lines.len() >= self.top {
            match self.lines.peek() {
                Some(Reverse((lowest, _))) if *lowest < rank => self.lines.pop(),
                _ => return Ok(()),
            };
        }
        let mut line = Vec::new();
        write(&mut line)?;
        self.lines.push(Reverse((rank, line)));
        Ok(())
    }

    /// Writes the lines, the longest time first.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.lines.into_sorted_vec();
        lines.iter().try_for_each(|Reverse((_, line))| out.write_all(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(top: usize, times: &[Option<u64>], expected: &str) {
        let mut longest = Longest::new(top);
        for (letter, time) in (b'a'..).zip(times) {
            longest.offer(*time, |line| line.write_all(&[letter])).expect("memory");
        }
        let mut out = Vec::new();
        longest.write(&mut out).expect("memory");
        assert_eq!(String::from_utf8(out).expect("ASCII"), expected, "{top} of {times:?}");
    }

    #[test]
    fn longest_times_come_first_and_equal_ones_keep_their_order() {
        let times = [Some(5), None, Some(9), Some(5), Some(0), Some(9)];
        check(usize::MAX, &times, "cfadeb");
        check(3, &times, "cfa");
        check(1, &times, "c");
        check(usize::MAX, &[], "");
    }
}
