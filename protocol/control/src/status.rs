//! Layout of the daemon's status page: counters in shared memory that any process of the same user can read without a
//! request. A reader copies the page twice and takes it only if the copies are equal, have this version and an even
//! sequence number; otherwise it copies again, because the writer may have died in the middle.
//!
//! The daemon writes the page and tools read it, both by copying bytes. The page is a named object of
//! shared memory ([`name`]). A reader must not trust it, because its writer may have died in the middle of
//! a write: it copies the page twice and passes both copies to [`StatusPage::from_copies`]. This module
//! only converts bytes.
//!
//! ```text
//!   0  magic "GAPIISTA"      8  version u32   12  pid u32
//!  16  sequence u64, odd while the page is being written
//!  24  session [u8; 16]     40  updated_ns u64 (CLOCK_MONOTONIC)
//!  48  apps u32             52  captures u32 (running now)
//!  56  frames  64  calls  72  records  80  raw_bytes  88  file_bytes
//!  96  waits  104  wait_ns  112  lost_calls  120  lost_bytes: u64 each, since the daemon started
//! 128  blob_bytes u64     136  end
//! ```

/// Length of the page's contents, in bytes.
pub const STATUS_LEN: usize = 136;
/// Version of the layout. A new field goes behind the last one and needs no new version; a changed meaning
/// does.
pub const STATUS_VERSION: u32 = 1;
/// First bytes of a page.
pub const STATUS_MAGIC: [u8; 8] = *b"GAPIISTA";
/// Offset of the sequence number, in bytes.
pub const SEQUENCE_OFFSET: usize = 16;

/// Returns the name of the shared-memory object with the status page of user `uid`'s daemon; 0 is the
/// system's daemon.
pub fn name(uid: u32) -> String {
    format!("/gapii-status-{uid}")
}

/// The contents of the page. Counters count from the daemon's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StatusPage {
    /// The daemon's process id. The page is outdated if this process is gone.
    pub pid: u32,
    /// Number of the update: two more with each, and odd while the page is being written.
    pub sequence: u64,
    /// The daemon's session.
    pub session: [u8; 16],
    /// When the page was written, in nanoseconds of `CLOCK_MONOTONIC`.
    pub updated_ns: u64,
    /// Applications connected.
    pub apps: u32,
    /// Captures running.
    pub captures: u32,
    /// Frames ended in captures, over all processes.
    pub frames: u64,
    /// Commands that took effect in captures.
    pub calls: u64,
    /// Records taken from rings.
    pub records: u64,
    /// Bytes of stream before compression.
    pub raw_bytes: u64,
    /// Bytes written to outputs.
    pub file_bytes: u64,
    /// Times that a thread waited for ring space.
    pub waits: u64,
    /// Nanoseconds of these waits.
    pub wait_ns: u64,
    /// Commands that captures should have recorded and did not.
    pub lost_calls: u64,
    /// Bytes of these commands.
    pub lost_bytes: u64,
    /// Bytes of blobs, before compression.
    pub blob_bytes: u64,
}

impl StatusPage {
    /// Returns the page as it is in shared memory.
    pub fn to_bytes(&self) -> [u8; STATUS_LEN] {
        let mut bytes = [0; STATUS_LEN];
        bytes[0..8].copy_from_slice(&STATUS_MAGIC);
        bytes[8..12].copy_from_slice(&STATUS_VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.pid.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.session);
        bytes[40..48].copy_from_slice(&self.updated_ns.to_le_bytes());
        bytes[48..52].copy_from_slice(&self.apps.to_le_bytes());
        bytes[52..56].copy_from_slice(&self.captures.to_le_bytes());
        let counters = [
            self.frames,
            self.calls,
            self.records,
            self.raw_bytes,
            self.file_bytes,
            self.waits,
            self.wait_ns,
            self.lost_calls,
            self.lost_bytes,
            self.blob_bytes,
        ];
        for (bytes, counter) in bytes[56..].chunks_exact_mut(8).zip(counters) {
            bytes.copy_from_slice(&counter.to_le_bytes());
        }
        bytes
    }

    /// Reads one copy of a page. Returns `None` if the bytes are not a page of this version, or if the page
    /// was being written.
    pub fn from_bytes(bytes: &[u8; STATUS_LEN]) -> Option<Self> {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let versioned = bytes[0..8] == STATUS_MAGIC && word(8) as u32 == STATUS_VERSION;
        let sequence = word(SEQUENCE_OFFSET);
        if !versioned || sequence % 2 == 1 {
            return None;
        }
        let mut session = [0; 16];
        session.copy_from_slice(&bytes[24..40]);
        Some(Self {
            pid: (word(8) >> 32) as u32,
            sequence,
            session,
            updated_ns: word(40),
            apps: word(48) as u32,
            captures: (word(48) >> 32) as u32,
            frames: word(56),
            calls: word(64),
            records: word(72),
            raw_bytes: word(80),
            file_bytes: word(88),
            waits: word(96),
            wait_ns: word(104),
            lost_calls: word(112),
            lost_bytes: word(120),
            blob_bytes: word(128),
        })
    }

    /// Reads a page from two copies that were taken one after the other. Returns `None` if they differ, in
    /// which case the reader copies again, or if they are not a page.
    pub fn from_copies(first: &[u8; STATUS_LEN], second: &[u8; STATUS_LEN]) -> Option<Self> {
        if first == second { Self::from_bytes(first) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> StatusPage {
        StatusPage {
            pid: 1,
            sequence: 2,
            session: [3; 16],
            updated_ns: 4,
            apps: 5,
            captures: 6,
            frames: 7,
            calls: 8,
            records: 9,
            raw_bytes: 10,
            file_bytes: 11,
            waits: 12,
            wait_ns: 13,
            lost_calls: 14,
            lost_bytes: 15,
            blob_bytes: 16,
        }
    }

    #[test]
    fn page_written_and_read_is_the_same() {
        assert_eq!(StatusPage::from_bytes(&page().to_bytes()), Some(page()));
        assert_eq!(page().to_bytes()[128], 16);
    }

    #[test]
    fn page_being_written_is_not_believed() {
        let odd = StatusPage { sequence: 3, ..page() };
        assert_eq!(StatusPage::from_bytes(&odd.to_bytes()), None);
        let newer = StatusPage { calls: 9, ..page() };
        assert_eq!(StatusPage::from_copies(&page().to_bytes(), &newer.to_bytes()), None);
        assert_eq!(StatusPage::from_copies(&page().to_bytes(), &page().to_bytes()), Some(page()));
    }

    #[test]
    fn foreign_bytes_are_no_page() {
        assert_eq!(StatusPage::from_bytes(&[0; STATUS_LEN]), None);
        let mut later = page().to_bytes();
        later[8] = 2;
        assert_eq!(StatusPage::from_bytes(&later), None);
    }
}
