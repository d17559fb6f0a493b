//! Selects the drain's records that belong to one client's stream. A stream that begins at a keyframe leaves out a
//! thread's records before the thread introduces itself there; repeated descriptions of a known state are left out; a
//! filter leaves out commands, but never a snapshot's. Both records of a command are in the stream, or neither: a
//! thread's filter is decided once, by its first name. Records that are left out are counted, and are not lost.
//!
//! Several clients may take one program's records, from different moments on. A later client begins at a keyframe,
//! where the program describes its whole state once more, which the earlier clients know already. So a stream
//! has everything once: it leaves out repeated descriptions. If it begins at a keyframe, it also leaves out
//! records of a thread before the thread introduces itself there, because the description covers them. Records
//! that are left out are counted, and are not lost.
//!
//! A client may want only some of a program's commands. Then its stream leaves out the other commands, except for
//! those that describe the program.
//!
//! Uses the rules of [`Story`], as readers of saved traces do. Looks at every record only while one of these
//! rules may apply. Memory is never left out of a stream that has begun, because the program takes it as sent.

use std::sync::Arc;

use gapii_abi::atom::{
    self, CAPTURE_END, EFFECT, GAP, Header, KEYFRAME, META_FIRST, SETUP, SNAPSHOT, SUBJECT, THREAD,
    TIME, TRACED, TimeKind,
};
use gapii_trace::meta::Meta;
use gapii_trace::record::{Record, Records};
use gapii_trace::story::{Begin, Story};

use crate::filtering::Filtering;

/// The stream's view of one process.
pub struct Selection {
    story: Story,
    owners: u32,
    filter: Option<Arc<Filtering>>,
    /// The stream continues behind a gap, at a keyframe that has not come yet and that tells readers.
    resumes: bool,
    /// The earlier content of the stream is unknown, but it exists: at the next keyframe everything is described
    /// anew.
    has_forgotten: bool,
}

/// The stream's view of a ring's owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owner {
    /// Distinguishes the owners of all rings of the process.
    number: u32,
    /// All following records belong to the stream, up to the next landmark.
    is_plain: bool,
    /// Whether the owner has described a new subject to the stream since its last SNAPSHOT record, and whether
    /// it has described a known one.
    tells: bool,
    repeats: bool,
    /// Whether the filter wants the owner's commands. `None`: the owner has not introduced itself.
    is_wanted: Option<bool>,
}

/// Returns whether records of this kind can change which records belong to the stream.
#[inline]
pub fn is_landmark(id: u16) -> bool {
    matches!(id, THREAD | GAP | SNAPSHOT | KEYFRAME | SUBJECT)
}

impl Selection {
    /// Makes the view of a stream that has everything since the process' capture began, or since a keyframe, as far
    /// as the filter wants it.
    pub fn new(begin: Begin, filter: Option<Arc<Filtering>>) -> Self {
        let story = Story::new(begin);
        Self { story, owners: 0, filter, resumes: false, has_forgotten: false }
    }

    /// Makes the view of a stream that another daemon began this way.
    pub fn taken_up(begin: Begin, filter: Option<Arc<Filtering>>) -> Self {
        Self { has_forgotten: true, ..Self::new(begin, filter) }
    }

    /// Makes the view of a stream that continues behind a gap, with unknown earlier content.
    pub fn resuming(filter: Option<Arc<Filtering>>) -> Self {
        Self { resumes: true, ..Self::new(Begin::Keyframe, filter) }
    }

    /// Returns a new owner of a ring.
    pub fn owner(&mut self) -> Owner {
        let number = self.owners;
        self.owners += 1;
        let is_plain = self.is_plain(number);
        Owner { number, is_plain, ..Owner::default() }
    }

    /// Returns an owner for a thread that had its ring before the stream was taken over, and has records in the
    /// stream.
    pub fn known_owner(&mut self, tid: u32, name: [u8; 16]) -> Owner {
        let owner = self.owner();
        let thread = atom::Thread { tid, flags: 0, name };
        self.story.meta(owner.number, 0, &Meta::Thread(thread));
        let is_wanted = self.filter.as_ref().map(|filter| filter.wants_thread(&thread));
        Owner { is_plain: self.is_plain(owner.number), is_wanted, ..owner }
    }

    /// Returns whether the stream begins, or continues, at a keyframe.
    pub fn begins_at_keyframe(&self) -> bool {
        self.story.begins_at_keyframe()
    }

    /// Returns whether the owner's records belong to the stream: it has introduced itself, if that is needed.
    pub fn has_introduced(&self, owner: &Owner) -> bool {
        self.is_introduced(owner.number)
    }

    /// Returns the view to continue with at a keyframe, if this one was taken over from another daemon: nothing is
    /// described yet.
    pub fn anew(&self) -> Option<Self> {
        let begin = if self.begins_at_keyframe() { Begin::Keyframe } else { Begin::Capture };
        self.has_forgotten.then(|| Self::new(begin, self.filter.clone()))
    }

    /// Returns whether a record belongs to the stream. Must be called once for every record that is a landmark, or
    /// whose owner is not plain. `record` is validated and starts at its header.
    pub fn takes(&mut self, owner: &mut Owner, header: Header, record: &[u8]) -> bool {
        let takes = match header.id() {
            id if id < META_FIRST => {
                return !self.story.passes_over(owner.number, header.flags())
                    && self.wants(*owner, header);
            }
            KEYFRAME => return std::mem::take(&mut self.resumes) || self.has_forgotten,
            THREAD | GAP | SUBJECT | SNAPSHOT => self.landmark(owner, header, record),
            CAPTURE_END => return true,
            TRACED => {
                return self.is_introduced(owner.number)
                    && self.wants_word_of(*owner, header, record);
            }
            TIME => {
                return self.is_introduced(owner.number) && self.wants_time(*owner, header, record);
            }
            _ => return self.is_introduced(owner.number),
        };
        owner.is_plain = self.is_plain(owner.number);
        takes
    }

    fn landmark(&mut self, owner: &mut Owner, header: Header, record: &[u8]) -> bool {
        let payload = &record[header.payload_offset()..header.len_untrusted() as usize];
        // A record that cannot be decoded is refused where it is appended.
        let Ok(meta) = Meta::decode(header.id(), payload) else { return true };
        if let (Meta::Thread(thread), Some(filter)) = (&meta, &self.filter) {
            // The answer stays: both records of a command are in the stream, or neither.
            owner.is_wanted.get_or_insert_with(|| filter.wants_thread(thread));
        }
        let introduces = matches!(meta, Meta::Thread(_) | Meta::Gap(_));
        if !introduces && !self.is_introduced(owner.number) {
            return false;
        }
        self.story.meta(owner.number, 0, &meta);
        match meta {
            Meta::Subject(subject) if !subject.is_made() => {
                let is_known = self.story.passes_over(owner.number, SETUP);
                owner.repeats |= is_known;
                owner.tells |= !is_known;
                !is_known
            }
            Meta::Snapshot(_) => {
                let is_repetition = owner.repeats_alone();
                (owner.repeats, owner.tells) = (false, false);
                !is_repetition
            }
            _ => true,
        }
    }

    /// Returns whether the filter wants the record. Records that describe the program are always wanted.
    fn wants(&self, owner: Owner, header: Header) -> bool {
        let is_wanted =
            |filter: &Arc<Filtering>| filter.wants(header.id(), owner.is_wanted.unwrap_or(false));
        header.flags() & SETUP != 0 || self.filter.as_ref().is_none_or(is_wanted)
    }

    /// Returns whether the filter wants the command that a TRACED record is about.
    fn wants_word_of(&self, owner: Owner, header: Header, record: &[u8]) -> bool {
        let payload = &record[header.payload_offset()..header.len_untrusted() as usize];
        match Meta::decode(header.id(), payload) {
            Ok(Meta::Traced(traced)) => self.wants(owner, Header::new(traced.id, 0, 0)),
            // Refused where it is appended.
            _ => true,
        }
    }

    /// Returns whether the stream has what the TIME is the time of.
    fn wants_time(&self, owner: Owner, header: Header, record: &[u8]) -> bool {
        let payload = &record[header.payload_offset()..header.len_untrusted() as usize];
        let Ok(Meta::Time(time)) = Meta::decode(header.id(), payload) else { return true };
        match (time.kind, time.command()) {
            (_, Some(command)) => self.wants(owner, Header::new(command, 0, 0)),
            // The stream has the SNAPSHOT that follows, or it lacks both.
            (TimeKind::Hold, _) => !owner.repeats_alone(),
            _ => true,
        }
    }

    fn is_plain(&self, owner: u32) -> bool {
        self.filter.is_none() && !self.story.passes_over(owner, SETUP)
    }

    fn is_introduced(&self, owner: u32) -> bool {
        !self.begins_at_keyframe() || self.story.is_introduced(owner)
    }
}

impl Owner {
    /// Returns whether the owner's records need no look, except for landmarks.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns whether the owner has described known subjects alone since its last SNAPSHOT record.
    fn repeats_alone(&self) -> bool {
        self.repeats && !self.tells
    }
}

/// Returns the offset of the first keyframe in the records that comes behind `from_frame` frames of the process, and the number
/// of records before it.
pub fn keyframe_in(records: &[u8], from_frame: u64) -> Option<(usize, u64)> {
    let is_it = |record: &Record<'_>| {
        let id = record.header.id();
        id == KEYFRAME
            && (from_frame == 0
                || matches!(Meta::decode(id, record.payload), Ok(Meta::Keyframe(it)) if it.frame >= from_frame))
    };
    let (before, found) = (0..).zip(valid(records)).find(|(_, record)| is_it(record))?;
    Some((found.start, before))
}

/// Returns the length in bytes of each record.
pub fn spans(records: &[u8]) -> impl Iterator<Item = usize> {
    valid(records).map(|record| record.header.span_untrusted() as usize)
}

/// Returns a drain's records, which are validated, whole and without padding.
fn valid(records: &[u8]) -> impl Iterator<Item = Record<'_>> {
    Records::new(records).map_while(Result::ok)
}

/// The sums over a stretch of records that are not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stretch {
    pub records: u64,
    pub calls: u64,
    /// The last stamp in the records, if any record has one.
    pub last_stamp: Option<u64>,
}

/// Sums up records that are not taken.
pub fn stretch(records: &[u8]) -> Stretch {
    let mut found = Stretch::default();
    for Record { header, stamp, .. } in valid(records) {
        found.records += 1;
        found.calls += u64::from(header.id() < META_FIRST && header.flags() & EFFECT != 0);
        found.last_stamp = stamp.or(found.last_stamp);
    }
    found
}

#[cfg(test)]
mod tests {
    use gapii_abi::atom::{BLOB, SubjectKind};
    use gapii_trace::Description;
    use gapii_trace::filter::Filter;
    use gapii_trace::frame_rule::FrameRule;

    use super::*;

    const DRAW: u16 = 7;

    fn record(id: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
        let header = Header::new(id, flags, 8 + payload.len() as u32);
        let mut bytes = header.0.to_le_bytes().to_vec();
        bytes.extend(payload);
        bytes.resize(header.span_untrusted() as usize, 0);
        bytes
    }

    fn thread() -> Vec<u8> {
        record(THREAD, 0, &[1; 24])
    }

    fn subject(id: u8, is_made: bool) -> Vec<u8> {
        let kind = SubjectKind::Context;
        let subject = atom::Subject { id: id.into(), kind, made: is_made.into() };
        record(SUBJECT, 0, &subject.encode())
    }

    fn snapshot() -> Vec<u8> {
        record(SNAPSHOT, 0, &[0; 8])
    }

    fn keyframe() -> Vec<u8> {
        record(KEYFRAME, 0, &[0; 8])
    }

    fn draw() -> Vec<u8> {
        record(DRAW, EFFECT, &[])
    }

    fn set_up() -> Vec<u8> {
        record(DRAW, SETUP | EFFECT, &[])
    }

    fn blob() -> Vec<u8> {
        record(BLOB, 0, &[0; 24])
    }

    /// Which of the records of one thread are taken, a character each.
    fn taken(begin: Begin, records: &[Vec<u8>]) -> String {
        let mut selection = Selection::new(begin, None);
        let mut owner = selection.owner();
        let takes = |record: &Vec<u8>| {
            let header = Header(u64::from_le_bytes(*record.first_chunk().unwrap()));
            let looks = !owner.is_plain() || is_landmark(header.id());
            !looks || selection.takes(&mut owner, header, record)
        };
        records.iter().map(takes).map(|taken| if taken { '+' } else { '-' }).collect()
    }

    #[test]
    fn stream_from_the_start_has_no_second_description() {
        let first = [thread(), subject(1, true), draw()];
        let again = [keyframe(), thread(), subject(1, false), blob(), set_up(), snapshot(), draw()];
        let records = [first.as_slice(), &again].concat();
        assert_eq!(taken(Begin::Capture, &records), "+++-+-+--+");
        // Memory counts as sent from then on, also for commands of the program's own.
    }

    #[test]
    fn new_parts_of_a_second_description_are_taken() {
        let first = [thread(), subject(1, false), set_up(), snapshot(), draw()];
        let again = [
            keyframe(),
            thread(),
            subject(1, false),
            set_up(),
            subject(2, false),
            set_up(),
            snapshot(),
        ];
        let records = [first.as_slice(), &again].concat();
        assert_eq!(taken(Begin::Capture, &records), "+++++-+--+++");
    }

    #[test]
    fn description_without_a_subject_is_taken() {
        assert_eq!(taken(Begin::Capture, &[thread(), snapshot(), draw()]), "+++");
    }

    #[test]
    fn stream_from_a_keyframe_begins_with_each_threads_introduction() {
        let before = [draw(), blob(), set_up(), subject(1, true), snapshot()];
        let after = [thread(), subject(1, false), blob(), set_up(), snapshot(), draw()];
        let records = [before.as_slice(), &after].concat();
        assert_eq!(taken(Begin::Keyframe, &records), "-----++++++");
        let third = [keyframe(), thread(), subject(1, false), set_up(), snapshot(), draw()];
        let records = [after.as_slice(), &third].concat();
        assert_eq!(taken(Begin::Keyframe, &records), "++++++-+---+");
    }

    #[test]
    fn continued_stream_has_a_keyframe_and_everything_described() {
        let mut selection = Selection::resuming(None);
        let mut owner = selection.owner();
        let records = [keyframe(), draw(), thread(), subject(1, false), set_up(), keyframe()];
        let takes = records.map(|record| {
            let header = Header(u64::from_le_bytes(*record.first_chunk().unwrap()));
            selection.takes(&mut owner, header, &record)
        });
        assert_eq!(takes, [true, false, true, true, true, false]);
    }

    #[test]
    fn filter_leaves_out_commands_of_threads_that_it_does_not_want_and_describes_all() {
        let description = Description::built_in();
        let swap = description.named("eglSwapBuffers").unwrap();
        let wanted = |thread: &str, records: &[Vec<u8>]| {
            let filter = Filter { threads: vec![thread.to_owned()], ..Filter::default() };
            let filter = Filtering::of(&filter, &FrameRule::default(), description).map(Arc::new);
            let mut selection = Selection::new(Begin::Capture, filter);
            let mut owner = selection.owner();
            let takes = |record: &Vec<u8>| {
                assert!(!owner.is_plain());
                let header = Header(u64::from_le_bytes(*record.first_chunk().unwrap()));
                selection.takes(&mut owner, header, record)
            };
            records.iter().map(takes).map(|taken| if taken { '+' } else { '-' }).collect::<String>()
        };
        let swap = record(swap.id, EFFECT, &[]);
        let records =
            [draw(), thread(), subject(1, false), set_up(), snapshot(), draw(), blob(), swap];
        // The owner of the record is not known before the thread has introduced itself.
        assert_eq!(wanted(&0x0101_0101.to_string(), &records), "-+++++++");
        assert_eq!(wanted("17", &records), "-++++-++");
    }

    #[test]
    fn time_of_a_command_that_is_left_out_is_left_out() {
        let description = Description::built_in();
        let id = |name: &str| description.named(name).unwrap().id;
        let (push, clear) = (id("glPushDebugGroup"), id("glClear"));
        let filter = Filter { functions: vec!["glClear".to_owned()], ..Filter::default() };
        let filter = Filtering::of(&filter, &FrameRule::default(), description).map(Arc::new);
        let mut selection = Selection::new(Begin::Capture, filter);
        let mut owner = selection.owner();
        let time = |time: atom::Time| record(TIME, 0, &time.encode());
        let of_older_shim = atom::Time { function: 0, ..atom::Time::of_command(push, 5) };
        let wait = atom::Time { kind: TimeKind::Wait, ..of_older_shim };
        let of = |id| time(atom::Time::of_command(id, 5));
        let records = [thread(), of(push), of(clear), time(of_older_shim), time(wait)];
        let takes = records.map(|record| {
            let header = Header(u64::from_le_bytes(*record.first_chunk().unwrap()));
            selection.takes(&mut owner, header, &record)
        });
        assert_eq!(takes, [true, false, true, true, true]);
    }

    #[test]
    fn hold_is_in_the_stream_if_its_snapshot_is() {
        let hold = atom::Time { at_ns: 5, kind: TimeKind::Hold, function: 0, duration_ns: 9 };
        let hold = record(TIME, 0, &hold.encode());
        let first = [thread(), subject(1, false), set_up(), hold.clone(), snapshot()];
        let again = [keyframe(), thread(), subject(1, false), set_up(), hold, snapshot()];
        let records = [first.as_slice(), &again].concat();
        assert_eq!(taken(Begin::Capture, &records), "+++++-+----");
    }

    #[test]
    fn thread_of_a_stream_that_is_taken_up_stays_wanted_or_unwanted() {
        let filter = Filter { threads: vec!["17".to_owned()], ..Filter::default() };
        let filter =
            Filtering::of(&filter, &FrameRule::default(), Description::built_in()).map(Arc::new);
        let mut selection = Selection::taken_up(Begin::Capture, filter);
        for (tid, is_wanted) in [(17, true), (18, false)] {
            let mut owner = selection.known_owner(tid, [0; 16]);
            let draw = draw();
            let header = Header(u64::from_le_bytes(*draw.first_chunk().unwrap()));
            assert!(!owner.is_plain());
            assert_eq!(selection.takes(&mut owner, header, &draw), is_wanted, "{tid}");
        }
    }

    #[test]
    fn stream_that_is_taken_up_has_its_next_keyframe() {
        let mut selection = Selection::taken_up(Begin::Keyframe, None);
        let (mut known, mut unknown) = (selection.known_owner(1, [0; 16]), selection.owner());
        assert!(known.is_plain() && !unknown.is_plain());
        let keyframe = keyframe();
        let header = Header(u64::from_le_bytes(*keyframe.first_chunk().unwrap()));
        assert!(selection.takes(&mut known, header, &keyframe) && selection.anew().is_some());
        let draw = draw();
        let header = Header(u64::from_le_bytes(*draw.first_chunk().unwrap()));
        assert!(!selection.takes(&mut unknown, header, &draw));
    }

    #[test]
    fn next_owner_of_a_ring_is_another() {
        let mut selection = Selection::new(Begin::Keyframe, None);
        let mut first = selection.owner();
        let record = thread();
        let header = Header(u64::from_le_bytes(*record.first_chunk().unwrap()));
        assert!(selection.takes(&mut first, header, &record) && first.is_plain());
        assert!(!selection.owner().is_plain());
    }

    #[test]
    fn keyframe_is_found_and_records_before_it_are_counted() {
        let records = [draw(), blob(), keyframe(), draw()].concat();
        assert_eq!(keyframe_in(&records, 0), Some((8 + 32, 2)));
        assert_eq!(keyframe_in(&draw(), 0), None);
        let later = record(KEYFRAME, 0, &atom::Keyframe { frame: 7, at_ns: 0 }.encode());
        let two = [keyframe(), draw(), later].concat();
        assert_eq!(keyframe_in(&two, 7), Some((16 + 8, 2)));
        assert_eq!(keyframe_in(&two, 8), None);
        let Stretch { records, calls, last_stamp } = stretch(&records);
        assert_eq!((records, calls, last_stamp), (4, 2, None));
    }
}
