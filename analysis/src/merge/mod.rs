//! `merge`: writes traces of one session as one trace, in the order of their stamps. All threads of a session take stamps from
//! one counter, and no stamp is taken twice, so records with equal stamps are of one thread.
//!
//! A process that several captures recorded at the same time is one process: each record comes once. The captures must have the
//! same commands where both run; the description of a capture that began later is left out, because the earlier one has what it
//! describes. A capture of a process that began after the others had ended is a process of its own in the result, since it begins
//! with a description and nothing is known of the time between.
//!
//! Opens no file. Holds a block of each trace, and the names of the blobs.

mod about;
mod error;
mod output;
mod source;
#[cfg(test)]
mod tests;

use std::io::{Read, Seek, Write};

use gapii_abi::atom::InFlight;
use gapii_trace::footer::{GapEntry, ProcessEntry, RefusedRing, ThreadLedger};
use gapii_trace::reader::TraceReader;
use gapii_trace::{Footer, TraceHeader, Untrusted};

pub use about::{Refusal, refusal};
pub use error::MergeError;

use output::Output;
use source::{Head, Kind, Source};

/// Totals of a trace that was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merged {
    /// Processes.
    pub processes: u64,
    /// Threads.
    pub threads: u64,
    /// Commands that took effect.
    pub commands: u64,
    /// Frames that ended, of all processes.
    pub frames: u64,
    /// Records of captures that overlap, which other traces have, too.
    pub repeated_records: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
}

/// Writes the traces as one trace to `out`. [`refusal`] must have found nothing. `writer` is the name of the program that does
/// it, and `command` its command line. Calls `progress` with the number of blocks that were read.
///
/// # Errors
/// [`MergeError`]. What was written then is no trace.
pub fn merge<R: Read + Seek, W: Write>(
    traces: &mut [TraceReader<R>],
    out: W,
    (writer, command): (&str, Vec<Untrusted>),
    mut progress: impl FnMut(u64),
) -> Result<Merged, MergeError> {
    let header = about::header(traces.iter().map(TraceReader::header), writer);
    let footers: Vec<_> =
        traces.iter().map(|it| it.footer().cloned().unwrap_or_default()).collect();
    let mut sources = traces
        .iter_mut()
        .zip(footers)
        .enumerate()
        .map(|(number, (reader, footer))| Source::new(number, reader, footer))
        .collect::<Result<Vec<_>, _>>()?;
    // Of a process that several have, the first describes it.
    sources.sort_by_key(|source| source.started_ns);
    let (parts, threads) = (Vec::new(), Vec::new());
    let output = Output::begin(out, &header)?;
    let mut merger = Merger { sources, parts, threads, output, repeated: 0 };
    merger.merge(&mut progress)?;
    merger.finish(&header, command)
}

/// A process of the result.
struct Part {
    /// The traces that have it, by source and index of the process there; the first describes it.
    members: Vec<(usize, u32)>,
    entry: ProcessEntry,
    start_ns: u64,
}

/// A thread of the result.
struct Thread {
    part: u32,
    tid: u32,
    name: [u8; 16],
    /// Stamp of the thread's last record.
    stamp: u64,
    /// The traces that have it.
    members: Vec<Member>,
    /// Which of the members is the one whose records are taken.
    lead: usize,
}

/// A thread in one of the traces.
#[derive(Clone, Copy)]
struct Member {
    /// The source.
    at: usize,
    /// Index of the thread there.
    index: u32,
    begins: Begins,
}

/// Where a trace begins in a thread that an earlier trace has, too: at a stamp. A thread that works alone has one stamp for many
/// commands, so some of them may come before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// With the first equal command.
    Somewhere(u64),
    /// Behind the keyframe that the thread is to have next.
    BehindKeyframe(u64),
    /// It has begun: all commands are equal.
    Begun,
}

struct Merger<'r, R, W> {
    sources: Vec<Source<'r, R>>,
    parts: Vec<Part>,
    threads: Vec<Thread>,
    output: Output<W>,
    repeated: u64,
}

impl<R: Read + Seek, W: Write> Merger<'_, R, W> {
    fn merge(&mut self, progress: &mut impl FnMut(u64)) -> Result<(), MergeError> {
        let mut blocks = 0;
        while let Some((first, head)) = self.first() {
            let read = self.sources.iter().map(|source| source.next_block as u64).sum();
            if read != blocks {
                blocks = read;
                progress(blocks);
            }
            self.check_order(first, &head)?;
            if let Kind::Seam(seam) = head.kind {
                self.output.seam(seam)?;
                self.sources[first].advance()?;
                continue;
            }
            let others: Vec<usize> = (first + 1..self.sources.len())
                .filter(|at| self.sources[*at].is_at(head.stamp))
                .collect();
            self.step(first, &others)?;
        }
        Ok(())
    }

    /// Returns the source whose next record has the lowest stamp, and the record. Of several the first.
    fn first(&self) -> Option<(usize, Head)> {
        let heads = self.sources.iter().enumerate().filter_map(|(at, it)| Some((at, it.head?)));
        heads.min_by_key(|(_, head)| head.stamp)
    }

    /// Fails if a trace that ended before another began has a later stamp.
    fn check_order(&self, at: usize, head: &Head) -> Result<(), MergeError> {
        let source = &self.sources[at];
        let later = self.sources.iter().find(|it| {
            let is_later = source.ended_ns != 0 && it.started_ns > source.ended_ns;
            is_later && it.first_stamp.is_some_and(|first| first < head.stamp)
        });
        match later {
            Some(other) => Err(MergeError::Counters { traces: [source.number, other.number] }),
            None => Ok(()),
        }
    }

    /// Takes or passes over the head of one of the sources whose heads have the same stamp, or the heads of all of them.
    fn step(&mut self, first: usize, others: &[usize]) -> Result<(), MergeError> {
        let thread = self.thread_at(first)?;
        for at in others {
            if self.thread_at(*at)? != thread {
                let traces = [first, *at].map(|it| self.sources[it].number);
                return Err(MergeError::Counters { traces });
            }
        }
        let lead = self.lead(thread);
        let all = || std::iter::once(first).chain(others.iter().copied());
        // Of a trace that follows, commands alone are compared.
        if let Some(at) = all().find(|at| *at != lead && !self.head(*at).is_own_command()) {
            return self.pass_described(at, thread);
        }
        if !all().any(|at| at == lead) {
            // A command that the trace lacks whose records are taken.
            return Err(self.differ([lead, first], thread, first));
        }
        if !self.head(lead).is_own_command() {
            if let Kind::Keyframe = self.head(lead).kind {
                let members = self.threads[thread as usize].members.iter_mut();
                let waiting = members.filter(|it| matches!(it.begins, Begins::BehindKeyframe(_)));
                waiting.for_each(|it| it.begins = Begins::Begun);
            }
            return match self.is_known(lead, thread) {
                true => self.pass(lead),
                false => self.take(lead, thread),
            };
        }
        self.begin_lead(thread)?;
        for member in 0..self.threads[thread as usize].members.len() {
            let Member { at, index, begins } = self.threads[thread as usize].members[member];
            if at == lead || self.sources[at].left_of_thread(index) == 0 {
                continue;
            }
            self.pass_description(at)?;
            let is_equal = self.is_of(at, thread)
                && self.head(at).stamp == self.head(lead).stamp
                && self.are_equal(lead, at);
            let is_before = match begins {
                Begins::Somewhere(stamp) => !is_equal && self.head(lead).stamp <= stamp,
                Begins::BehindKeyframe(stamp) => self.head(lead).stamp <= stamp,
                Begins::Begun => false,
            };
            if is_before {
                continue;
            }
            if !is_equal {
                return Err(self.differ([lead, at], thread, lead));
            }
            self.threads[thread as usize].members[member].begins = Begins::Begun;
            self.pass(at)?;
        }
        self.take(lead, thread)
    }

    /// Passes over what describes at the place of a source whose commands are compared. It may stand before a command with a lower
    /// stamp, which its thread has published late, and the other traces do not have it.
    fn pass_description(&mut self, at: usize) -> Result<(), MergeError> {
        let is_description = |head: &Head| !matches!(head.kind, Kind::Command | Kind::Seam(_));
        while self.sources[at].head.as_ref().is_some_and(is_description) {
            let thread = self.thread_at(at)?;
            if self.lead(thread) == at {
                break;
            }
            self.pass_described(at, thread)?;
        }
        Ok(())
    }

    /// Whether the next record of a source is of this thread.
    fn is_of(&self, at: usize, thread: u32) -> bool {
        let head = self.sources[at].head.filter(|head| !matches!(head.kind, Kind::Seam(_)));
        head.is_some_and(|head| self.sources[at].thread(head.thread) == Some(thread))
    }

    /// Passes over the head of a source, which is no command of the program. If it is the first keyframe, the trace begins behind it.
    fn pass_described(&mut self, at: usize, thread: u32) -> Result<(), MergeError> {
        let Head { kind, stamp, thread: index, .. } = self.head(at);
        let mut members = self.threads[thread as usize].members.iter_mut();
        if let Kind::Keyframe = kind
            && let Some(member) = members.find(|it| (it.at, it.index) == (at, index))
            && let Begins::Somewhere(_) = member.begins
        {
            member.begins = Begins::BehindKeyframe(stamp);
        }
        self.pass(at)
    }

    /// Begins with the trace whose commands are taken from now on. Fails if it should have begun before, since it has commands with
    /// a stamp for which others were taken.
    fn begin_lead(&mut self, thread: u32) -> Result<(), MergeError> {
        let Thread { lead, ref members, stamp, .. } = self.threads[thread as usize];
        let Member { at, begins, .. } = members[lead];
        if begins != Begins::Begun && self.head(at).stamp <= stamp {
            return Err(self.differ([members[0].at, at], thread, at));
        }
        self.threads[thread as usize].members[lead].begins = Begins::Begun;
        Ok(())
    }

    /// Whether the head of a source describes what the result has: the first trace of a process has what the others describe.
    fn is_known(&self, at: usize, thread: u32) -> bool {
        let first = self.parts[self.threads[thread as usize].part as usize].members[0];
        let Head { process, kind, .. } = self.head(at);
        first != (at, process) && matches!(kind, Kind::SetUp | Kind::Describes | Kind::Keyframe)
    }

    fn head(&self, at: usize) -> Head {
        self.sources[at].head.expect("the source was chosen by its head")
    }

    fn are_equal(&self, one: usize, other: usize) -> bool {
        self.sources[one].content() == self.sources[other].content()
    }

    fn differ(&self, traces: [usize; 2], thread: u32, at: usize) -> MergeError {
        let traces = traces.map(|it| self.sources[it].number);
        let (tid, stamp) = (self.threads[thread as usize].tid, self.head(at).stamp);
        MergeError::Differ { traces, tid, stamp }
    }

    /// The source whose records of a thread are taken: the first that has it, until it has no more.
    fn lead(&mut self, thread: u32) -> usize {
        let Self { sources, threads, .. } = self;
        let Thread { members, lead, .. } = &mut threads[thread as usize];
        let has_more = |Member { at, index, .. }: &Member| sources[*at].left_of_thread(*index) > 0;
        if !has_more(&members[*lead])
            && let Some(next) = members.iter().position(has_more)
        {
            *lead = next;
        }
        members[*lead].at
    }

    /// The part of the process to which the head of a source belongs.
    fn part_at(&mut self, at: usize) -> Result<u32, MergeError> {
        let process = self.head(at).process;
        if let Some(part) = self.sources[at].parts[process as usize] {
            return Ok(part);
        }
        let entry = self.sources[at].process(process);
        let is_it = |part: &Part| {
            let Part { entry: ProcessEntry { pid, name, exe, .. }, members, .. } = part;
            (*pid, name, exe) == (entry.pid, &entry.name, &entry.exe)
                && members.iter().any(|(it, process)| {
                    *it != at && self.sources[*it].left_of_process(*process) > 0
                })
        };
        let part = match self.parts.iter().position(is_it) {
            None => {
                let start_ns = self.sources[at].start_ns(process);
                self.parts.push(Part { members: vec![(at, process)], entry, start_ns });
                self.parts.len() - 1
            }
            Some(part) => {
                let Part { entry: of_part, members, .. } = &mut self.parts[part];
                members.push((at, process));
                let lossy =
                    members.iter().find(|(it, process)| self.sources[*it].has_lost(*process));
                if let Some((it, _)) = lossy {
                    let trace = self.sources[*it].number;
                    return Err(MergeError::Lossy { trace, pid: entry.pid });
                }
                about::add_process(of_part, &entry);
                part
            }
        };
        self.sources[at].parts[process as usize] = Some(part as u32);
        Ok(part as u32)
    }

    /// The thread of the result to which the head of a source belongs.
    fn thread_at(&mut self, at: usize) -> Result<u32, MergeError> {
        let Head { thread: index, stamp, is_stamped, .. } = self.head(at);
        if let Some(thread) = self.sources[at].threads[index as usize] {
            return Ok(thread);
        }
        let part = self.part_at(at)?;
        let (tid, name) = self.sources[at].name_of(index);
        let is_it = |thread: &Thread| {
            // The same trace has two threads with one id if it has the process twice, or the system has used the id again.
            (thread.part, thread.tid) == (part, tid)
                && thread.members.iter().all(|Member { at: it, index: other, .. }| {
                    *it != at || self.sources[at].process_of(*other) != self.head(at).process
                })
        };
        let thread = match self.threads.iter().rposition(is_it) {
            None => {
                // The first record says the stamp, unless the thread had it before.
                let stamp = if is_stamped { 0 } else { stamp };
                let members = vec![Member { at, index, begins: Begins::Begun }];
                self.threads.push(Thread { part, tid, name, stamp, members, lead: 0 });
                self.threads.len() - 1
            }
            Some(thread) => {
                let begins = Begins::Somewhere(stamp);
                self.threads[thread].members.push(Member { at, index, begins });
                let left = |Member { at: it, index, .. }: &Member| {
                    self.sources[*it].left_of_thread(*index) == 0
                        && self.sources[*it].is_in_flight(*index)
                };
                // No trace has the return of a command in which the one before ended.
                if let Some(it) = self.threads[thread].members.iter().find(|it| left(it)) {
                    return Err(self.differ([it.at, at], thread as u32, at));
                }
                thread
            }
        };
        self.sources[at].threads[index as usize] = Some(thread as u32);
        Ok(thread as u32)
    }

    /// Writes the head of a source.
    fn take(&mut self, at: usize, thread: u32) -> Result<(), MergeError> {
        let of_thread = &mut self.threads[thread as usize];
        let part = &self.parts[of_thread.part as usize];
        let who = output::Who {
            process: of_thread.part,
            pid: part.entry.pid,
            start_ns: part.start_ns,
            process_name: part.entry.name.raw().as_bytes(),
            thread,
            tid: of_thread.tid,
            name: of_thread.name,
        };
        let source = &self.sources[at];
        let head = source.head.expect("the source was chosen by its head");
        self.output.record(
            &who,
            &mut of_thread.stamp,
            (&head, source.record_bytes(), source.block_ns),
        )?;
        self.sources[at].consume()
    }

    /// Leaves the head of a source out.
    fn pass(&mut self, at: usize) -> Result<(), MergeError> {
        self.repeated += 1;
        self.sources[at].consume()
    }

    /// Writes the end of the stream, index and footer.
    fn finish(
        mut self,
        header: &TraceHeader,
        command: Vec<Untrusted>,
    ) -> Result<Merged, MergeError> {
        self.add_silent();
        let footers: Vec<&Footer> = self.sources.iter().map(|source| &source.footer).collect();
        let mut footer = about::footer(&footers, header, command);
        footer.in_flight = self.in_flight();
        self.output.end(footer.reason, footer.in_flight.clone())?;
        self.fill(&mut footer);
        let counts = (self.parts.len() as u64, self.threads.len() as u64);
        let (commands, frames) = (self.output.census.calls, self.output.census.frame_ends.len());
        let file_bytes = self.output.finish(footer)?;
        Ok(Merged {
            processes: counts.0,
            threads: counts.1,
            commands,
            frames: frames as u64,
            repeated_records: self.repeated,
            file_bytes,
        })
    }

    /// Adds the processes and threads of which no trace has a record.
    fn add_silent(&mut self) {
        for at in 0..self.sources.len() {
            for entry in self.sources[at].footer.processes.clone() {
                let ProcessEntry { process, pid, .. } = entry;
                let known = self.sources[at].parts.get(process as usize).copied().flatten();
                if known.is_none() {
                    let is_it =
                        |part: &Part| (part.entry.pid, &part.entry.exe) == (pid, &entry.exe);
                    let part = self.parts.iter().position(is_it).unwrap_or_else(|| {
                        self.parts.push(Part { members: vec![(at, process)], entry, start_ns: 0 });
                        self.parts.len() - 1
                    });
                    self.sources[at].set_part(process, part as u32);
                }
            }
            for ledger in self.sources[at].footer.threads.clone() {
                let ThreadLedger { thread: index, process, tid, lost, .. } = ledger;
                let part = self.sources[at].parts.get(process as usize).copied().flatten();
                let known = self.sources[at].threads.get(index as usize).copied().flatten();
                let (Some(part), None) = (part, known) else { continue };
                let is_it = |it: &Thread| lost == 0 && (it.part, it.tid) == (part, tid);
                let thread = self.threads.iter().rposition(is_it).unwrap_or_else(|| {
                    let members = vec![Member { at, index, begins: Begins::Begun }];
                    let thread = Thread { part, tid, name: [0; 16], stamp: 0, members, lead: 0 };
                    self.threads.push(thread);
                    self.threads.len() - 1
                });
                self.sources[at].set_thread(index, thread as u32);
            }
        }
    }

    /// The commands in which the trace ends: of each thread, those of the trace whose records were taken last.
    fn in_flight(&self) -> Vec<InFlight> {
        let of = |at: usize, command: &InFlight| {
            let thread = self.sources[at].thread(command.thread)?;
            let Thread { members, lead, .. } = &self.threads[thread as usize];
            (members[*lead].at == at).then_some(InFlight { thread, ..*command })
        };
        let mut commands: Vec<InFlight> = Vec::new();
        for (at, source) in self.sources.iter().enumerate() {
            commands.extend(source.footer.in_flight.iter().filter_map(|it| of(at, it)));
        }
        commands.sort_by_key(|command| command.thread);
        commands
    }

    /// Fills in what the footer says of the stream, its processes and threads.
    fn fill(&self, footer: &mut Footer) {
        let census = &self.output.census;
        (footer.snapshot, footer.held_us) = (census.snapshot, census.held_us);
        footer.seams.clone_from(&census.seams);
        about::add_new(&mut footer.missing, &census.missing);
        for (process, part) in (0..).zip(&self.parts) {
            let frames = census.tracker().process_at(process).map_or(0, |it| it.frames);
            footer.processes.push(ProcessEntry { process, frames, ..part.entry.clone() });
        }
        for (thread, of_thread) in (0..).zip(&self.threads) {
            let Member { at, index, .. } = of_thread.members[0];
            let ledgers = &self.sources[at].footer.threads;
            let ledger = ledgers.iter().find(|it| it.thread == index).cloned().unwrap_or_default();
            let emitted = census.threads.get(&thread).map_or(0, |count| count.records);
            let mut ledger = ThreadLedger { thread, process: of_thread.part, emitted, ..ledger };
            if of_thread.members.len() > 1 {
                ledger.produced = emitted + ledger.left_out;
            }
            footer.threads.push(ledger);
        }
        for source in &self.sources {
            let is_shared = |part: &u32| self.parts[*part as usize].members.len() > 1;
            if !source.parts.iter().flatten().any(is_shared) {
                about::add_new(&mut footer.missing, &source.footer.missing);
            }
            let gaps = source.footer.gaps.iter();
            footer.gaps.extend(gaps.map(|gap| {
                let thread = source.thread(gap.thread).unwrap_or(GapEntry::NO_THREAD);
                GapEntry { thread, ..*gap }
            }));
            let refused = source.footer.refused.iter();
            footer.refused.extend(refused.filter_map(|ring| {
                let process = source.parts.get(ring.process as usize).copied().flatten()?;
                Some(RefusedRing { process, ..ring.clone() })
            }));
        }
    }
}
