//! The header word of a record: its length, its id, its flags.
//!
//! ```text
//!  63      48 47      32 31                  0
//! +----------+----------+---------------------+
//! |  flags   |    id    |  len (bytes)        |  header, little-endian
//! +----------+----------+---------------------+
//! |  stamp, only when flags has STAMPED       |
//! +-------------------------------------------+
//! |  driver_ns, only when flags has TIMED     |
//! +-------------------------------------------+
//! |  begin_ns, only when flags has BEGUN      |
//! +-------------------------------------------+
//! |  payload ...      (zero to seven bytes of padding)
//! +-------------------------------------------+
//! ```
//!
//! `len` counts header, stamp, times and payload, not the padding. This crate gives no meaning to `id` and the
//! other flags, except for [`PAD`].

/// Alignment of every record, in bytes.
pub const RECORD_ALIGN: usize = 8;
/// Length of the header word, in bytes.
pub const HEADER_LEN: u32 = 8;
/// Longest record, in bytes: 1 MiB. In rings smaller than 4 MiB it is a quarter of the ring.
pub const RECORD_LEN_MAX: u32 = 1 << 20;
/// Flag: an 8-byte stamp follows the header word. A record without the flag has the stamp of the record
/// before it in the same ring.
pub const STAMPED: u16 = 1;
/// Flag: an 8-byte word before the payload holds the time in the driver, in nanoseconds.
pub const TIMED: u16 = 32;
/// Flag, beside [`TIMED`]: an 8-byte word before the payload holds when the driver was called, in nanoseconds.
pub const BEGUN: u16 = 128;
/// Flags that a record may have. The others are reserved; a ring that uses them is refused.
pub const FLAGS_KNOWN: u16 = 0xFF;
/// Ids from here on are not ids of functions.
pub const META_IDS_FIRST: u16 = 0xFF00;
/// Ids from here on, except [`PAD`], are the daemon's own; a ring that uses them is refused.
pub const DAEMON_IDS_FIRST: u16 = 0xFF10;
/// Id of the record that fills the rest of a lap. It never leaves the ring.
pub const PAD: u16 = 0xFFFF;

/// The first word of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Header(pub u64);

impl Header {
    /// A header for a record of `len` bytes: header, stamp and time included, padding not.
    #[inline(always)]
    pub const fn new(id: u16, flags: u16, len: u32) -> Self {
        Self(len as u64 | (id as u64) << 32 | (flags as u64) << 48)
    }

    /// The same record with a stamp word: 8 bytes longer.
    #[inline(always)]
    pub const fn with_stamp(self) -> Self {
        Self((self.0 | (STAMPED as u64) << 48) + 8)
    }

    /// The same record with a word for the time in the driver: 8 bytes longer.
    #[inline(always)]
    pub const fn with_time(self) -> Self {
        Self((self.0 | (TIMED as u64) << 48) + 8)
    }

    /// The same record with words for the time in the driver and for its begin: 16 bytes longer.
    #[inline(always)]
    pub const fn with_times(self) -> Self {
        Self((self.0 | ((TIMED | BEGUN) as u64) << 48) + 16)
    }

    /// The same record with these flags added.
    #[inline(always)]
    pub const fn with_flags(self, flags: u16) -> Self {
        Self(self.0 | (flags as u64) << 48)
    }

    /// The same record without these flags.
    #[inline(always)]
    pub const fn without_flags(self, flags: u16) -> Self {
        Self(self.0 & !((flags as u64) << 48))
    }

    /// Function id or meta id.
    #[inline(always)]
    pub const fn id(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// Flags; see the constants.
    #[inline(always)]
    pub const fn flags(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Whether the id is not the id of a function.
    #[inline(always)]
    pub const fn is_meta(self) -> bool {
        self.id() >= META_IDS_FIRST
    }

    /// Whether a stamp word follows.
    #[inline(always)]
    pub const fn is_stamped(self) -> bool {
        self.flags() & STAMPED != 0
    }

    /// Whether a word with the time in the driver precedes the payload.
    #[inline(always)]
    pub const fn is_timed(self) -> bool {
        self.flags() & TIMED != 0
    }

    /// Whether a word with the time at which the driver was called precedes the payload.
    #[inline(always)]
    pub const fn is_begun(self) -> bool {
        self.flags() & BEGUN != 0
    }

    /// Length in bytes, as the record claims it.
    #[inline(always)]
    pub const fn len_untrusted(self) -> u32 {
        self.0 as u32
    }

    /// Ring bytes that the record takes, if its claimed length is true: the length rounded up to
    /// [`RECORD_ALIGN`].
    #[inline(always)]
    pub const fn span_untrusted(self) -> u64 {
        (self.len_untrusted() as u64 + 7) & !7
    }

    /// Bytes from the header to the payload: 8, and as many again for a stamp and for each time.
    #[inline(always)]
    pub const fn payload_offset(self) -> usize {
        8 + 8 * (self.is_stamped() as usize + self.is_timed() as usize + self.is_begun() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_stamped_grows_by_the_stamp_word() {
        let plain = Header::new(0x1234, 4, 28);
        let stamped = plain.with_stamp();
        assert_eq!((stamped.id(), stamped.flags(), stamped.len_untrusted()), (0x1234, 5, 36));
        assert_eq!((plain.span_untrusted(), stamped.span_untrusted()), (32, 40));
        assert_eq!((plain.payload_offset(), stamped.payload_offset()), (8, 16));
        assert_eq!(stamped.without_flags(4).flags(), STAMPED);
    }

    #[test]
    fn header_timed_grows_by_the_time_word_too() {
        let timed = Header::new(0x1234, 2, 12).with_time();
        assert_eq!((timed.id(), timed.flags(), timed.len_untrusted()), (0x1234, 34, 20));
        let both = timed.with_stamp();
        assert_eq!((both.flags(), both.len_untrusted()), (35, 28));
        assert_eq!((timed.payload_offset(), both.payload_offset()), (16, 24));
        let begun = Header::new(0x1234, 2, 12).with_times();
        assert_eq!((begun.flags(), begun.len_untrusted()), (162, 28));
        assert_eq!((begun.payload_offset(), begun.with_stamp().payload_offset()), (24, 32));
    }
}
