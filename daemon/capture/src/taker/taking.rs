//! Selects the drain's records that a capture takes, from its first to its last, and those that it misses. A capture
//! that misses records (paused, slow output, daemon's restart) asks for a keyframe only once it is not paused, its
//! blocks are written and its temporary file is empty; it continues at that keyframe, and counts the records before it
//! as lost. Records after an output error, or of a refused ring, are discarded and counted. The frame limit cuts within
//! a run.

use std::num::NonZeroU64;

use gapii_abi::atom::{CaptureEnd, GapCause, ProcessEnd};
use gapii_ringbuf::Emitted;
use gapii_trace::footer::GapEntry;

use crate::armed::Armed;
use crate::end::Cause;
use crate::fault::{self, Fault};
use crate::lane::Lane;
use crate::member::{PassedOn, unslotted_calls};
use crate::selection::{keyframe_in, stretch};
use crate::stream::{Refusal, RingKey, RingPlace, Run};
use crate::taker::Taker;
use crate::taker::membership::{Asked, Membership, MembershipState};
use crate::taker::part::Part;
use crate::taker::share::Share;

impl Taker {
    /// Asks processes for the keyframes at which the stream begins or continues, and for those that the kept frames
    /// need.
    pub fn ask_keyframes(&mut self) {
        let keeps = self.profile.kept.as_ref().is_some_and(|kept| kept.wants_keyframe());
        let spills = self.outlet.spilled_bytes() > 0;
        let may_continue = !self.is_paused && !spills && self.outlet.is_empty();
        for membership in self.memberships.values_mut() {
            let is_armed = membership.is_armed();
            let process = &membership.process;
            match &mut membership.state {
                MembershipState::Waiting { from_frame, asked } => {
                    if *asked == Asked::Now || self.is_paused {
                        continue;
                    }
                    match NonZeroU64::new(*from_frame) {
                        Some(frame) if process.frames() < frame.get() => {
                            *asked = Asked::Ahead;
                            process.ask_keyframe_at(frame);
                        }
                        _ if is_armed => {}
                        _ => {
                            let comes =
                                *asked == Asked::Ahead && process.keeps_keyframe_at(*from_frame);
                            *asked = Asked::Now;
                            if !comes && !fault::is_put_in(Fault::NotAsked) {
                                process.ask_keyframe();
                            }
                        }
                    }
                }
                MembershipState::Missing { has_asked, .. } => {
                    if may_continue && !*has_asked {
                        *has_asked = true;
                        process.ask_keyframe();
                    }
                }
                MembershipState::Taking if keeps => process.ask_keyframe(),
                MembershipState::Taking | MembershipState::Over => {}
            }
        }
    }

    /// Returns whether the capture waits for a trigger in the member.
    pub fn is_armed(&self, member: usize) -> bool {
        self.memberships.get(member).is_some_and(Membership::is_armed)
    }

    /// Tells the trigger, if the capture waits for one in the member, the duration of the member's longest frame since
    /// the last call.
    pub fn hear_of_frames(&mut self, member: usize, longest_ns: u64) {
        self.armed_sees(member, |armed, frames| armed.hear_of_frames(frames, longest_ns));
    }

    /// Passes an event to the member's trigger; `sees` also gets the number of frames that the process has
    /// ended.
    fn armed_sees(&mut self, member: usize, sees: impl FnOnce(&mut Armed, u64)) {
        let capture = self.id();
        let membership = self.memberships.get_mut(member);
        let Some(Membership { armed: Some(armed), process, .. }) = membership else { return };
        let had_come = armed.has_come();
        sees(armed, process.frames());
        if let (Some(when), true) = (&self.profile.plan.when, armed.has_come() && !had_come) {
            let (pid, whom) = (process.pid, process.described());
            tracing::info!(capture, pid, "capture {capture} begins with {whom}: {when} has come");
        }
    }

    /// Misses the records of all processes from now on, for this cause.
    pub(super) fn miss(&mut self, cause: GapCause) {
        let members: Vec<_> = self.members().collect();
        let misses = members.into_iter().fold(false, |any, at| any | self.miss_of(at, cause));
        if misses {
            self.flush();
            self.outlet.give_up_space();
            self.limit_frames();
        }
    }

    /// Misses the records of one process from now on. Returns false if the capture did not take that process' records.
    pub(super) fn miss_of(&mut self, member: usize, cause: GapCause) -> bool {
        let capture = self.id();
        let Some(membership) = self.memberships.get_mut(member) else { return false };
        if membership.state != MembershipState::Taking {
            return false;
        }
        membership.state = MembershipState::Missing { cause, has_asked: false };
        self.stream.set_missing(membership.key);
        // The process counts frames that the stream does not have, so its own limit does not apply any more.
        membership.process.record_for_several();
        let (pid, whom) = (membership.process.pid, membership.process.described());
        match cause {
            GapCause::Paused => {
                tracing::info!(capture, pid, "capture {capture} pauses with {whom}")
            }
            GapCause::Restarted => tracing::warn!(
                capture,
                pid,
                "capture {capture} misses records of {whom}: the daemon that ended had them"
            ),
            _ => tracing::warn!(
                capture,
                pid,
                "capture {capture} misses records of {whom}: its output is too slow"
            ),
        }
        true
    }

    /// Takes the run that the merge gives out next. `lanes` do not count it yet.
    ///
    /// After an error the drain reads that ring no further.
    pub fn take(
        &mut self,
        lanes: &[Lane],
        run: &Emitted<'_, RingKey>,
        now_ns: u64,
    ) -> Result<(), Refusal> {
        let Some(part) = self.wanted_part(lanes, run, now_ns) else { return Ok(()) };
        self.tally.ring_bytes += part.bytes.len() as u64;
        self.append(lanes, run.ring, part, now_ns)
    }

    /// Returns the part of a run that goes into the stream. Counts the records before it as missing, if they are.
    fn wanted_part<'a>(
        &mut self,
        lanes: &[Lane],
        run: &Emitted<'a, RingKey>,
        now_ns: u64,
    ) -> Option<Part<'a>> {
        let at = run.ring.0 as usize;
        let member = lanes[at].member;
        let membership = self.memberships.get(member)?;
        let (state, has_begun) = (membership.state, membership.has_begun());
        let mut part = Part::of(run, lanes[at].place(), membership.process.ring_bytes());
        if has_begun && let Some(share) = self.shares.get(at) {
            part.pass_to(share.from_index);
            if part.records() == 0 {
                return None;
            }
        }
        match state {
            MembershipState::Over => None,
            MembershipState::Taking => Some(part),
            MembershipState::Waiting { .. } => self.begin_at_keyframe(lanes, at, part, now_ns),
            MembershipState::Missing { cause, has_asked } => {
                let cause = (cause, has_asked);
                self.continue_at_keyframe(run.ring, member, cause, part, now_ns)
            }
        }
    }

    /// Begins with a member if the part has the keyframe that the capture waits for. Returns the rest, from the
    /// keyframe on.
    fn begin_at_keyframe<'a>(
        &mut self,
        lanes: &[Lane],
        at: usize,
        mut part: Part<'a>,
        now_ns: u64,
    ) -> Option<Part<'a>> {
        let member = lanes[at].member;
        self.armed_sees(member, Armed::count_frames);
        let from_frame = self.memberships.get(member)?.begins_behind().filter(|_| !self.is_paused);
        self.armed_sees(member, |armed, frames| armed.look_at(part.bytes, frames));
        let (start, records) = keyframe_in(part.bytes, from_frame?)?;
        part.pass(start, records);
        self.begin_time(now_ns);
        self.begin(lanes, member, (at, part.passed));
        Some(part)
    }

    /// Continues with a member whose records are missing, if the part has the requested keyframe. Counts the records
    /// before it as missing, and returns the rest.
    fn continue_at_keyframe<'a>(
        &mut self,
        ring: RingKey,
        member: usize,
        (cause, has_asked): (GapCause, bool),
        mut part: Part<'a>,
        now_ns: u64,
    ) -> Option<Part<'a>> {
        let found = keyframe_in(part.bytes, 0).filter(|_| has_asked);
        let (end, records) = found.unwrap_or((part.bytes.len(), part.records()));
        let missing = (&part.bytes[..end], part.start.stamp);
        self.count_missing(ring.0 as usize, cause, missing, now_ns);
        part.pass(end, records);
        self.stream.pass_to(ring, part.start);
        found?;
        if let Some(membership) = self.memberships.get_mut(member) {
            membership.state = MembershipState::Taking;
            self.stream.resume(membership.key);
        }
        Some(part)
    }

    /// Appends a part to the stream, up to the process' limit of frames. Records that the stream does not take are
    /// counted as discarded.
    fn append(
        &mut self,
        lanes: &[Lane],
        ring: RingKey,
        mut part: Part<'_>,
        now_ns: u64,
    ) -> Result<(), Refusal> {
        let at = ring.0 as usize;
        let lane = &lanes[at];
        let Some(key) = self.memberships.get(lane.member).map(|it| it.key) else { return Ok(()) };
        let Some(share) = self.shares.get_mut(at) else { return Ok(()) };
        if self.lifetime.cause == Some(Cause::Output) || lane.discards() {
            self.discard(ring, part);
            return Ok(());
        }
        if share.blocks == 0 && !self.stream.has_open(ring) {
            share.written_index = lane.taken_index;
        }
        let Self { stream, outlet, shares, .. } = self;
        let before = stream.records() + stream.left_out(ring);
        let run = Run { ring, records: part.bytes, start: part.start, end_index: part.end_index };
        let result = stream.append(run, now_ns, &mut |block| outlet.send(block, shares));
        let taken = stream.records() + stream.left_out(ring) - before;
        if stream.is_at_limit(key) {
            let frames = stream.process(key).frames;
            let said = Some(CaptureEnd { reason: ProcessEnd::Frames, frames });
            self.cut(lanes, lane.member, said, now_ns);
        } else if taken < part.records() {
            part.pass_records(taken);
            self.discard(ring, part);
        }
        result
    }

    /// Passes over a part, and counts its records as discarded.
    fn discard(&mut self, ring: RingKey, mut part: Part<'_>) {
        let at = ring.0 as usize;
        if let Some(mut share) = self.shares.get(at).copied() {
            share.discarded += part.records();
            self.put_share(at, share);
            part.pass_all();
            self.stream.pass_to(ring, part.start);
        }
    }

    /// Begins with a member. `current` is the lane whose run begins the stream; `passed` records of that run come before
    /// the stream, and the lane does not count them yet.
    fn begin(&mut self, lanes: &[Lane], member: usize, (current, passed): (usize, u64)) {
        let Some(membership) = self.memberships.get_mut(member) else { return };
        membership.state = MembershipState::Taking;
        membership.unslotted_calls_begun = unslotted_calls(&membership.process);
        membership.passed_on_begun = PassedOn::of(&membership.process);
        let (key, segment) = (membership.key, self.segment_of(member));
        let own = |lane: &Lane| lane.member == member && lane.consumer.is_some();
        for (at, lane) in lanes.iter().enumerate().filter(|(_, lane)| own(lane)) {
            let mut begun = match fault::is_put_in(Fault::BegunTooLate) {
                true => lane.counts(),
                false => lane.counts_given(),
            };
            let mut begun_given = lane.given;
            if at == current {
                begun.produced = begun.produced.wrapping_add(passed);
                begun_given += passed;
            }
            let begun_is_low = lane.lacks_records;
            let share =
                Share { begun, begun_given, is_late: true, begun_is_low, ..Share::default() };
            self.set_share(at, lane, key, segment, share);
            if lane.place() != RingPlace::default() {
                self.stream.always_state(RingKey(at as u32));
            }
        }
    }

    /// Counts records of a lane that are missing in the stream; `stamp` is the one before them.
    fn count_missing(
        &mut self,
        at: usize,
        cause: GapCause,
        (bytes, stamp): (&[u8], u64),
        now_ns: u64,
    ) {
        let Some(share) = self.shares.get_mut(at) else { return };
        if fault::is_put_in(Fault::MissedUncounted) {
            return;
        }
        let found = stretch(bytes);
        self.tally.missed_calls += found.calls;
        let begun = GapEntry { cause, first_stamp: stamp, start_ns: now_ns, ..GapEntry::default() };
        let missed = share.missed.get_or_insert(begun);
        missed.records += found.records;
        missed.calls += found.calls;
        missed.bytes += bytes.len() as u64;
        missed.last_stamp = found.last_stamp.unwrap_or(stamp);
        missed.end_ns = now_ns;
        let share = *share;
        self.put_share(at, share);
    }
}
