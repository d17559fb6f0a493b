//! `Timing`: the extra work of commands while the producer is on hold. Measures when the driver is called for each command and how long it takes, in a capture that asks for it. In such a capture
//! every command has a leave record; a command without a result or output gets one that holds the times alone. Commands
//! of a snapshot are not timed. A command that ends a frame by the capture's rule has a leave record, too, also in a
//! capture without times. Where times on the GPU are measured as well, [`Timing`] says which command the host gets.

use gapii_abi::atom::{HEADER_LEN, Header, LEAVE, LEAVES, META_FIRST};

use crate::clock::clock_ns;
use crate::host::{ARGUMENT_WORDS, Timed};

/// Bytes in front of a leave record's payload that hold the times.
pub const TIME_BYTES: u64 = 16;

/// The timing of a thread's present command. All zeros: no command.
#[derive(Default)]
pub struct Timing {
    /// An enter record is reserved and not published yet.
    is_entering: bool,
    /// The enter record is published, and no leave record is reserved yet.
    is_open: bool,
    has_returned: bool,
    id: u16,
    /// Times are measured.
    is_timed: bool,
    /// Times on the GPU are measured.
    times_gpu: bool,
    /// The next call of this command ends a frame.
    ends_frame: Option<u16>,
    /// Length of the enter record's payload, in words.
    words: u32,
    /// The first words of the command's arguments.
    arguments: [u64; ARGUMENT_WORDS],
    /// When the driver was called, on `CLOCK_MONOTONIC`.
    start_ns: u64,
    driver_ns: u64,
}

impl Timing {
    /// Begins without a command. `times_gpu`: times on the GPU are measured.
    pub fn new(is_timed: bool, times_gpu: bool) -> Self {
        Self { is_timed, times_gpu, ..Self::default() }
    }

    /// Returns whether times are measured.
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Returns whether steps of commands have extra work.
    pub fn has_work(&self) -> bool {
        self.is_timed || self.ends_frame.is_some()
    }

    /// Sets which command ends a frame with its next call.
    pub fn set_frame_end(&mut self, id: Option<u16>) {
        self.ends_frame = id;
    }

    /// Returns which command ends a frame with its next call.
    pub fn frame_end(&self) -> Option<u16> {
        self.ends_frame
    }

    /// Returns whether the leave record with this header ends a frame, once.
    pub fn takes_frame_end(&mut self, header: Header) -> bool {
        let is_it = header.flags() & LEAVE != 0 && self.ends_frame == Some(header.id());
        if is_it {
            self.ends_frame = None;
        }
        is_it
    }

    /// Returns the header that a command's record has while there is extra work. Headers of other records stay as they are.
    pub fn header(&mut self, header: Header) -> Header {
        let is_leave = header.flags() & LEAVE != 0;
        self.is_entering = false;
        if header.id() >= META_FIRST || !self.has_work() {
            return header;
        }
        if is_leave {
            self.is_open = false;
            return if self.is_timed { header.with_times() } else { header };
        }
        (self.is_entering, self.id) = (true, header.id());
        self.words = header.len_untrusted().saturating_sub(HEADER_LEN).div_ceil(8);
        header.with_flags(LEAVES)
    }

    /// Returns how many of the first words of the enter record's payload are to be passed to [`Timing::enter`], if times on
    /// the GPU are measured and a written enter record is about to be published.
    pub fn wants_arguments(&self) -> Option<usize> {
        (self.times_gpu && self.is_entering).then(|| self.arguments.len().min(self.words as usize))
    }

    /// Notes the first words of a command's arguments, and returns the command that is about to be called.
    pub fn enter(&mut self, arguments: &[u64]) -> Timed {
        self.arguments = [0; ARGUMENT_WORDS];
        for (to, from) in self.arguments.iter_mut().zip(arguments) {
            *to = *from;
        }
        Timed { id: self.id, arguments: self.arguments, called_ns: 0 }
    }

    /// Starts the clock if the published record is an enter record, because the driver is called next.
    pub fn published(&mut self) {
        if core::mem::take(&mut self.is_entering) {
            (self.is_open, self.has_returned) = (true, false);
            self.start_ns = clock_ns();
        }
    }

    /// Stops the clock when the driver returns for the first time. Returns the command if times on the GPU are measured.
    pub fn returned(&mut self) -> Option<Timed> {
        if self.is_open && !self.has_returned {
            self.driver_ns = clock_ns().saturating_sub(self.start_ns);
            self.has_returned = true;
            let (id, arguments, called_ns) = (self.id, self.arguments, self.start_ns);
            return self.times_gpu.then_some(Timed { id, arguments, called_ns });
        }
        None
    }

    /// Returns the words of a leave record: the time that the driver took for the present command, and when it was
    /// called; in nanoseconds.
    pub fn words(&self) -> [u64; 2] {
        [self.driver_ns, self.start_ns]
    }

    /// Returns the header of a leave record that holds the times or nothing, if the present command has no leave record yet.
    pub fn missing_leave(&self) -> Option<Header> {
        self.is_open.then(|| Header::new(self.id, LEAVE, HEADER_LEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_records_are_timed_and_others_stay() {
        let mut timing = Timing::new(true, false);
        let meta = Header::new(META_FIRST, 0, 24);
        assert_eq!(timing.header(meta), meta);
        let enter = timing.header(Header::new(7, 4, 24));
        assert_eq!((enter.flags(), enter.len_untrusted()), (4 | LEAVES, 24));
        let leave = timing.header(Header::new(7, LEAVE, 12));
        assert!(leave.is_timed());
        assert_eq!((leave.flags() & LEAVE, leave.len_untrusted()), (LEAVE, 28));
    }

    #[test]
    fn command_ends_a_frame_once_and_without_times() {
        let mut timing = Timing::new(false, false);
        assert!(!timing.has_work());
        timing.set_frame_end(Some(7));
        assert!(timing.has_work() && timing.frame_end() == Some(7));
        let enter = timing.header(Header::new(7, 4, 24));
        assert_eq!(enter.flags(), 4 | LEAVES);
        timing.published();
        let leave = timing.missing_leave().unwrap();
        assert!(
            !timing.takes_frame_end(enter) && !timing.takes_frame_end(Header::new(8, LEAVE, 8))
        );
        assert!(timing.takes_frame_end(leave) && !timing.takes_frame_end(leave));
        assert_eq!(timing.header(leave), leave);
        assert!(!timing.has_work());
    }

    #[test]
    fn clock_runs_from_the_enter_record_to_the_first_return() {
        let mut timing = Timing::new(true, false);
        timing.published();
        assert!(!timing.is_open);
        timing.header(Header::new(7, 0, 8));
        timing.published();
        timing.returned();
        let first = timing.driver_ns;
        assert!(timing.is_open && timing.has_returned);
        std::thread::sleep(std::time::Duration::from_millis(2));
        timing.returned();
        assert_eq!(timing.driver_ns, first);
        timing.header(Header::new(7, LEAVE, 8));
        assert!(!timing.is_open);
    }

    #[test]
    fn command_is_told_before_the_driver_and_once_after_it() {
        let mut timing = Timing::new(true, true);
        assert_eq!(timing.wants_arguments(), None);
        timing.header(Header::new(7, 0, HEADER_LEN + 16));
        assert_eq!(timing.wants_arguments(), Some(2));
        let before = timing.enter(&[5, 6]);
        let arguments = [5, 6, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(before, Timed { id: 7, arguments, called_ns: 0 });
        timing.published();
        assert_eq!(timing.wants_arguments(), None);
        let after = timing.returned();
        assert_eq!(after, Some(Timed { called_ns: timing.start_ns, ..before }));
        assert_eq!(timing.returned(), None);
        timing.header(Header::new(7, LEAVE, HEADER_LEN));
        assert_eq!(timing.wants_arguments(), None);
    }
}
