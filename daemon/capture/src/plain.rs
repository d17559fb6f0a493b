//! The lengths of command records that hold no memory. A longer record of a known command holds some, and is looked at
//! for the trace's totals of memory; a record of an unknown command is not.

use gapii_abi::atom::{Header, LEAVE};
use gapii_trace::Description;

/// Bytes of payload before observations, of enter and of leave records, by the command's id.
#[derive(Debug)]
pub struct PlainPayloads(Vec<[u32; 2]>);

impl PlainPayloads {
    /// Reads the lengths from the descriptions of the commands.
    pub fn of(description: &Description) -> Self {
        Self(description.table([u32::MAX; 2], |function| {
            [
                function.fixed_len.next_multiple_of(8),
                function.result_len().next_multiple_of(8) as u32,
            ]
        }))
    }

    /// Returns whether the record is of a known command, and longer than the command's arguments or result.
    #[inline]
    pub fn are_exceeded(&self, header: Header) -> bool {
        let part = usize::from(header.flags() & LEAVE != 0);
        let payload_len = header.len_untrusted().saturating_sub(header.payload_offset() as u32);
        self.0.get(usize::from(header.id())).is_some_and(|lens| payload_len > lens[part])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gapii_abi::atom::HEADER_LEN;

    #[test]
    fn records_with_memory_are_longer_than_those_without() {
        let description = Description::built_in();
        let plain = PlainPayloads::of(description);
        let check = |name: &str, flags: u16, payload_len: u32, expected: bool| {
            let id = description.named(name).unwrap().id;
            let header = Header::new(id, flags, HEADER_LEN + payload_len);
            let stamped = header.with_stamp();
            for header in [header, stamped, header.with_time(), stamped.with_times()] {
                assert_eq!(plain.are_exceeded(header), expected, "{name}, {payload_len} bytes");
            }
        };
        check("glBufferData", 0, 32, false);
        check("glBufferData", 0, 40, true);
        check("glGetIntegerv", 0, 16, false);
        check("glGetIntegerv", LEAVE, 0, false);
        check("glGetIntegerv", LEAVE, 16, true);
        assert!(!plain.are_exceeded(Header::new(0x7FFF, 0, 4000)));
    }
}
